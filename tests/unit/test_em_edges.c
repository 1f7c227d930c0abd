/* Every method of the table: edge cases and random tiny problems. Whatever the votes, posteriors
 * are finite and sum to 1 within 1e-12, and the objective never falls by more than 1e-10 relative to itself. */
#include "support/sanitized.h"
#include "support/em_support.h"
#include "support/fault_walk.h"

enum { MAX_VOTES = 200 };

typedef struct {
    const char *name;
    size_t n_items, n_workers, n_classes, n_votes;
    uint32_t task[MAX_VOTES], worker[MAX_VOTES];
    uint16_t label[MAX_VOTES];
} problem;

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static void add(problem *p, size_t task, size_t worker, size_t label)
{
    p->task[p->n_votes] = (uint32_t)task;
    p->worker[p->n_votes] = (uint32_t)worker;
    p->label[p->n_votes++] = (uint16_t)label;
}

static void describe(const problem *p)
{
    printf("%zu items, %zu workers, %zu classes:", p->n_items, p->n_workers, p->n_classes);
    for (size_t v = 0; v < p->n_votes && v < 100; v++) printf(" %u,%u,%u", p->task[v], p->worker[v], p->label[v]);
    printf("\n");
}

/* NULL when all holds, else what does not. */
static const char *wrong_with(const dis_fit *fit, size_t n_items, size_t n_classes, const int32_t *gold)
{
    const double *p = dis_fit_p(fit);
    for (size_t i = 0; i < n_items; i++) {
        double sum = 0;
        for (size_t k = 0; k < n_classes; k++) {
            const double x = p[i * n_classes + k];
            if (!isfinite(x)) return "a posterior is not finite";
            if (x < 0 || x > 1 + 1e-12) return "a posterior is not a probability";
            sum += x;
        }
        if (!(fabs(sum - 1) <= 1e-12)) return "a row does not sum to 1";
        if (gold && gold[i] >= 0 && p[i * n_classes + (size_t)gold[i]] != 1) return "gold is not pinned";
    }
    const dis_fit_view v = dis_fit_get_view(fit);
    for (size_t t = 0; t < v.n_trace; t++) {
        if (!isfinite(v.trace[t])) return "the objective is not finite";
        if (t && v.trace[t] < v.trace[t - 1] - 1e-10 * fmax(1, fabs(v.trace[t - 1]))) return "the objective falls";
    }
    const dis_parameter *q;
    for (size_t n = 0; (q = dis_fit_get_parameter(fit, n)); n++)
        for (size_t j = 0; j < q->n; j++)
            if (!isfinite(q->values[j])) return "a parameter is not finite";
    return NULL;
}

static dis_predictions_use use_of(const char *spec)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    return dis_method_find(name)->predictions;
}

/* Predictions of every kind: none, certain ones, right or wrong, and vague ones. */
static double *make_predictions(const problem *p)
{
    const size_t K = p->n_classes;
    double *q = calloc(p->n_items * K + 1, sizeof *q);
    assert_non_null(q);
    for (size_t i = 0; i < p->n_items; i++) {
        const uint64_t kind = next_random() % 3;
        double sum = 0;
        if (kind == 1) q[i * K + next_random() % K] = 1;
        for (size_t k = 0; k < K && kind == 2; k++) sum += q[i * K + k] = (double)(1 + next_random() % 9);
        for (size_t k = 0; k < K && kind == 2; k++) q[i * K + k] /= sum;
    }
    return q;
}

static void check_fit(const problem *p, const dis_votes *votes, const char *spec, const int32_t *gold,
                      const double *predictions)
{
    dis_fit_options o = dis_fit_options_default();
    o.gold = gold;
    o.predictions = predictions;
    dis_fit *fit = NULL;
    if (predictions && use_of(spec) == DIS_PREDICTIONS_REQUIRED) { /* it may have nothing to judge workers by */
        const dis_status status = dis_fit_run(NULL, votes, spec, &o, &fit);
        assert_true(status == DIS_OK || status == DIS_EDATA);
        if (status != DIS_OK) return;
    } else {
        fit = em_fit(NULL, votes, spec, &o);
    }
    const char *wrong = wrong_with(fit, p->n_items, p->n_classes, gold);
    if (wrong) {
        describe(p);
        const dis_fit_view v = dis_fit_get_view(fit);
        for (size_t t = 0; t < v.n_trace && t < 30; t++) printf(" %.17g", v.trace[t]);
        fail_msg("%s (%s): %s", spec, p->name ? p->name : "random", wrong);
    }
    dis_fit_destroy(fit);
}

static void check(const problem *p, const dis_votes *votes, const char *spec, const int32_t *gold)
{
    if (strcmp(spec, "kos") == 0 && p->n_classes > 2) { /* for two classes */
        dis_fit *fit = NULL;
        assert_int_equal(dis_fit_run(NULL, votes, spec, NULL, &fit), DIS_EDATA);
        return;
    }
    if (use_of(spec) != DIS_PREDICTIONS_REQUIRED) check_fit(p, votes, spec, gold, NULL);
    /* With pseudo-counts of classes the class prior beside predictions is not the best one, only near it. */
    if (use_of(spec) == DIS_PREDICTIONS_UNUSED || strstr(spec, "prior-count")) return;
    double *q = make_predictions(p);
    check_fit(p, votes, spec, gold, q);
    free(q);
}

/* Specs beyond the defaults of each method. */
static const char *const extra[] = {
    "dawid-skene:smoothing=.5,diagonal=1,prior-count=1,tolerance=0,iterations=20",
    "dawid-skene:prior=uniform,tolerance=0,iterations=20",
    "dawid-skene:iterations=0",
    "dawid-skene:smoothing=0",
    "one-coin:smoothing=0,prior=estimate",
    "mace:prior=estimate",
    "mace:prior=estimate,method=em,iterations=20,tolerance=0",
    "fast-dawid-skene:method=hybrid",
    "fast-dawid-skene:smoothing=.01",
    "one-coin:smoothing=1,prior=uniform",
    "one-coin:iterations=0",
    "ibcc:diagonal=.1,off-diagonal=.1,class-prior=.1,iterations=30,tolerance=0",
    "ibcc:iterations=0",
    "ebcc:groups=1",
    "ebcc:groups=3,restarts=2,combine=mean,iterations=20,tolerance=0",
    "ebcc:groups=2,iterations=0",
    "mace:method=em",
    "mace:method=em,start=uniform,iterations=20,tolerance=0",
    "mace:start=uniform,iterations=20,tolerance=0",
    "mace:restarts=1,iterations=0",
    "bwa:correction=no,tolerance=0,iterations=20",
    "bwa:iterations=0",
};
enum { N_EXTRA = sizeof extra / sizeof *extra };

static size_t n_methods(void)
{
    size_t n = 0;
    while (dis_method_get(n)) n++;
    return n;
}

static const char *spec_at(size_t m)
{
    return m < n_methods() ? dis_method_get(m)->name : extra[m - n_methods()];
}

static void check_all(const problem *p)
{
    dis_votes *votes = em_make_votes(p->n_votes, p->task, p->worker, p->label, p->n_items, p->n_workers, p->n_classes);
    int32_t *gold = malloc((p->n_items + 1) * sizeof *gold);
    for (size_t i = 0; i < p->n_items; i++) gold[i] = i % 3 ? -1 : (int32_t)((i / 3) % p->n_classes);
    for (size_t m = 0; m < n_methods() + N_EXTRA; m++) {
        check(p, votes, spec_at(m), NULL);
        if (!SANITIZED || p->n_classes < 100) check(p, votes, spec_at(m), gold); /* many classes take seconds there */
    }
    free(gold);
    dis_votes_destroy(votes);
}

static void edge_cases(void **state)
{
    (void)state;
    problem one_class = {.name = "one class", .n_items = 5, .n_workers = 3, .n_classes = 1};
    for (size_t i = 0; i < 5; i++)
        for (size_t w = 0; w < 3; w++) add(&one_class, i, w, 0);
    check_all(&one_class);

    problem one_worker = {.name = "one worker", .n_items = 6, .n_workers = 1, .n_classes = 3};
    for (size_t i = 0; i < 6; i++) add(&one_worker, i, 0, i % 3);
    check_all(&one_worker);

    problem one_item = {.name = "one item", .n_items = 1, .n_workers = 5, .n_classes = 3};
    for (size_t w = 0; w < 5; w++) add(&one_item, 0, w, w % 3);
    check_all(&one_item);

    problem one_vote = {.name = "one vote", .n_items = 1, .n_workers = 1, .n_classes = 2};
    add(&one_vote, 0, 0, 1);
    check_all(&one_vote);

    problem silent = {.name = "items without votes, a worker without votes",
                      .n_items = 7,
                      .n_workers = 4,
                      .n_classes = 3};
    for (size_t i = 0; i < 7; i += 2)
        for (size_t w = 0; w < 3; w++) add(&silent, i, w, (i + w) % 3);
    check_all(&silent);

    problem never = {.name = "a class never voted", .n_items = 6, .n_workers = 3, .n_classes = 4};
    for (size_t i = 0; i < 6; i++)
        for (size_t w = 0; w < 3; w++) add(&never, i, w, (i + (w == 2)) % 3);
    check_all(&never);

    problem ties = {.name = "all ties", .n_items = 8, .n_workers = 4, .n_classes = 2};
    for (size_t i = 0; i < 8; i++)
        for (size_t w = 0; w < 4; w++) add(&ties, i, w, w % 2);
    check_all(&ties);

    problem wrong = {.name = "a worker never right", .n_items = 10, .n_workers = 4, .n_classes = 3};
    for (size_t i = 0; i < 10; i++)
        for (size_t w = 0; w < 4; w++) add(&wrong, i, w, w == 3 ? (i + 1) % 3 : i % 3);
    check_all(&wrong);

    problem unanimous = {.name = "everybody agrees on everything", .n_items = 9, .n_workers = 4, .n_classes = 5};
    for (size_t i = 0; i < 9; i++)
        for (size_t w = 0; w < 4; w++) add(&unanimous, i, w, 2);
    check_all(&unanimous);

    problem wide = {.name = "more classes than a byte holds", .n_items = 9, .n_workers = 3, .n_classes = 258};
    for (size_t i = 0; i < 9; i++)
        for (size_t w = 0; w < 3; w++) add(&wide, i, w, (i * 37 + (w == 2)) % 258);
    check_all(&wide);

    problem many = {.name = "classes between the sizes that are special",
                    .n_items = 20,
                    .n_workers = 5,
                    .n_classes = 23};
    for (size_t i = 0; i < 20; i++)
        for (size_t w = 0; w < 5; w++) add(&many, i, w, (i + (w == i % 5)) % 23);
    check_all(&many);
}

/* Nearly all votes on one item. */
static void crowded_item(void **state)
{
    (void)state;
    enum { VOTES = SANITIZED ? 3000 : 100000, WORKERS = 500 };
    const size_t n = VOTES + 10;
    uint32_t *task = malloc(n * sizeof *task), *worker = malloc(n * sizeof *worker);
    uint16_t *label = malloc(n * sizeof *label);
    for (size_t v = 0; v < n; v++) {
        task[v] = v < VOTES ? 0 : (uint32_t)(v - VOTES) % 4 + 1;
        worker[v] = (uint32_t)(v % WORKERS);
        label[v] = (uint16_t)(next_random() % 10 < 6 ? 1 : next_random() % 3);
    }
    const problem p = {.name = "nearly all votes on one item", .n_items = 5, .n_workers = WORKERS, .n_classes = 3};
    dis_votes *votes = em_make_votes(n, task, worker, label, 5, WORKERS, 3);
    for (size_t m = 0; m < n_methods() + N_EXTRA; m++) check(&p, votes, spec_at(m), NULL);
    dis_votes_destroy(votes);
    free(task);
    free(worker);
    free(label);
}

static void random_problem(problem *p)
{
    *p = (problem){.n_items = 1 + next_random() % 6,
                   .n_workers = 1 + next_random() % 4,
                   .n_classes = 1 + next_random() % 4};
    if (next_random() % 64 == 0) p->n_classes = 1 + next_random() % 20;
    const uint64_t style = next_random() % 4;
    for (size_t i = 0; i < p->n_items; i++) {
        const size_t truth = next_random() % p->n_classes;
        for (size_t w = 0; w < p->n_workers; w++) {
            if (next_random() % 4 == 0) continue;
            size_t label = next_random() % p->n_classes;
            if (style == 1 || (style == 2 && next_random() % 3)) label = truth;
            if (style == 3 && w == 0) label = (truth + 1) % p->n_classes;
            add(p, i, w, label);
        }
    }
    if (!p->n_votes) add(p, 0, 0, 0);
}

/* Problems shared out over the methods, far fewer under sanitizers; DISSENT_PROBLEMS=1000000 (make long) asks for
 * more. */
static void random_problems(void **state)
{
    (void)state;
    size_t n_problems = SANITIZED ? 2000 : 16000;
    const char *wanted = getenv("DISSENT_PROBLEMS");
    if (wanted) n_problems = strtoull(wanted, NULL, 10);
    const size_t n_specs = n_methods() + N_EXTRA;
    for (size_t n = 0; n < n_problems;) {
        problem p;
        random_problem(&p);
        dis_votes *votes = em_make_votes(p.n_votes, p.task, p.worker, p.label, p.n_items, p.n_workers, p.n_classes);
        /* Eight of the methods each: votes are made once for them. */
        for (size_t j = 0; j < 8; j++, n++) check(&p, votes, spec_at((n / 8 * 5 + j * 3) % n_specs), NULL);
        dis_votes_destroy(votes);
    }
}

typedef struct {
    const dis_votes *votes;
    const char *spec;
} faulty_call;

static dis_status run_faulty(void *arg)
{
    const faulty_call *c = arg;
    dis_fit *fit = NULL;
    const dis_status status = dis_fit_run(NULL, c->votes, c->spec, NULL, &fit);
    if (status != DIS_OK) assert_null(fit);
    dis_fit_destroy(fit);
    return status;
}

/* Every allocation of every method fails once: an error, nothing left behind (the sanitizers look for that). */
static void failing_allocations(void **state)
{
    (void)state;
    problem p = {.n_items = 6, .n_workers = 3, .n_classes = 3};
    for (size_t i = 0; i < 6; i++)
        for (size_t w = 0; w < 3; w++) add(&p, i, w, (i + (w == i % 3)) % 3);
    dis_votes *votes = em_make_votes(p.n_votes, p.task, p.worker, p.label, p.n_items, p.n_workers, p.n_classes);
    problem two = {.n_items = 6, .n_workers = 3, .n_classes = 2}; /* for kos */
    for (size_t i = 0; i < 6; i++)
        for (size_t w = 0; w < 3; w++) add(&two, i, w, (i + (w == i % 3)) % 2);
    dis_votes *of_two =
        em_make_votes(two.n_votes, two.task, two.worker, two.label, two.n_items, two.n_workers, two.n_classes);
    for (size_t m = 0; m < n_methods() + N_EXTRA; m++) {
        if (use_of(spec_at(m)) == DIS_PREDICTIONS_REQUIRED) continue;
        faulty_call c = {.votes = strcmp(spec_at(m), "kos") == 0 ? of_two : votes, .spec = spec_at(m)};
        walk_faults(run_faulty, NULL, &c);
    }
    dis_votes_destroy(of_two);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edge_cases),
        cmocka_unit_test(crowded_item),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(random_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
