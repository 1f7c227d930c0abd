/* Predictions as the prior of each item: what they may change, and what they may not. Crowds and models are made up, so
 * that the truth is known. */
#include "tool/arrays.h"
#include "support/em_support.h"
#include "support/fault_walk.h"

static const char *const methods[] = {"dawid-skene:smoothing=.5,diagonal=2", "one-coin:prior=uniform,smoothing=1",
                                      "ibcc", "mace:restarts=3", "fast-dawid-skene:smoothing=.5,diagonal=2"};
enum { N_METHODS = 5, K = 3, VOTES = 3 };

typedef struct {
    size_t n_items, n_workers;
    uint16_t *truth;
    uint32_t *task, *worker;
    uint16_t *label;
    double *q; /* (n_items, K): right so often as it says */
    dis_votes *votes;
} crowd;

static uint64_t state;

static double draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* Three votes per item, right with .5 to .8; predictions that give .9, .7 or .5 to one class, and are right so
 * often. */
static crowd make_crowd(size_t n_items, uint64_t seed)
{
    state = seed;
    crowd c = {.n_items = n_items, .n_workers = 20};
    c.truth = calloc(n_items, sizeof *c.truth);
    c.task = calloc(n_items * VOTES, sizeof *c.task);
    c.worker = calloc(n_items * VOTES, sizeof *c.worker);
    c.label = calloc(n_items * VOTES, sizeof *c.label);
    c.q = calloc(n_items * K, sizeof *c.q);
    for (size_t i = 0; i < n_items; i++) {
        c.truth[i] = (uint16_t)(draw() * K);
        for (size_t v = 0; v < VOTES; v++) {
            const size_t w = (size_t)(draw() * (double)c.n_workers), at = i * VOTES + v;
            const double skill = .5 + .3 * (double)w / (double)c.n_workers;
            c.task[at] = (uint32_t)i;
            c.worker[at] = (uint32_t)w;
            c.label[at] = draw() < skill ? c.truth[i] : (uint16_t)((c.truth[i] + 1 + (size_t)(draw() * (K - 1))) % K);
        }
        const double sure = .5 + .2 * (double)(size_t)(3 * draw());
        const size_t predicted = draw() < sure ? c.truth[i] : (c.truth[i] + 1 + (size_t)(draw() * (K - 1))) % K;
        for (size_t k = 0; k < K; k++) c.q[i * K + k] = k == predicted ? sure : (1 - sure) / (K - 1);
    }
    c.votes = em_make_votes(n_items * VOTES, c.task, c.worker, c.label, n_items, c.n_workers, K);
    return c;
}

static void free_crowd(crowd *c)
{
    free(c->truth);
    free(c->task);
    free(c->worker);
    free(c->label);
    free(c->q);
    dis_votes_destroy(c->votes);
}

static dis_fit *fit(dis_context *ctx, const crowd *c, const char *spec, const double *q, double weight)
{
    dis_fit_options o = dis_fit_options_default();
    dis_fit *out = NULL;
    o.predictions = q;
    o.predictions_weight = weight;
    if (dis_fit_run(ctx, c->votes, spec, &o, &out) != DIS_OK) fail_msg("%s: %s", spec, dis_last_error());
    return out;
}

static double accuracy(const crowd *c, const double *p)
{
    size_t right = 0;
    for (size_t i = 0; i < c->n_items; i++) right += dis__argmax(p + i * K, K) == c->truth[i];
    return (double)right / (double)c->n_items;
}

static double *sharpened(const crowd *c, double power)
{
    double *q = calloc(c->n_items * K, sizeof *q);
    for (size_t i = 0; i < c->n_items; i++) {
        double sum = 0;
        for (size_t k = 0; k < K; k++) sum += q[i * K + k] = pow(c->q[i * K + k], power);
        for (size_t k = 0; k < K; k++) q[i * K + k] /= sum;
    }
    return q;
}

static void good_predictions_help(void **unused)
{
    (void)unused;
    crowd c = make_crowd(2000, 7);
    double *sure = sharpened(&c, 5);
    for (size_t m = 0; m < N_METHODS; m++) {
        dis_fit *without = fit(NULL, &c, methods[m], NULL, -1), *with = fit(NULL, &c, methods[m], c.q, -1),
                *over = fit(NULL, &c, methods[m], sure, -1);
        const double before = accuracy(&c, dis_fit_p(without)), after = accuracy(&c, dis_fit_p(with));
        const double weight = dis_fit_get_view(with).predictions_weight,
                     less = dis_fit_get_view(over).predictions_weight;
        if (!(after > before + .05)) fail_msg("%s: %g without and %g with predictions", methods[m], before, after);
        assert_true(isnan(dis_fit_get_view(without).predictions_weight));
        if (!(weight > .6 && weight < 1.4)) fail_msg("%s: calibrated predictions get %g", methods[m], weight);
        /* A model that is five times as sure gets a fifth of the weight, and is as good for the labels. */
        if (!(less > .12 && less < .3)) fail_msg("%s: overconfident predictions get %g", methods[m], less);
        if (!(accuracy(&c, dis_fit_p(over)) > after - .01))
            fail_msg("%s: overridden by an overconfident model", methods[m]);
        dis_fit_destroy(without);
        dis_fit_destroy(with);
        dis_fit_destroy(over);
    }
    free(sure);
    free_crowd(&c);
}

static void useless_predictions_change_nothing(void **unused)
{
    (void)unused;
    crowd c = make_crowd(1000, 11);
    double *q = calloc(c.n_items * K, sizeof *q);
    for (size_t i = 0; i < c.n_items; i++) memcpy(q + i * K, c.q + (i + 500) % c.n_items * K, K * sizeof *q);
    for (size_t m = 0; m < N_METHODS; m++) {
        dis_fit *without = fit(NULL, &c, methods[m], NULL, -1), *with = fit(NULL, &c, methods[m], q, -1);
        em_assert_close(dis_fit_get_view(with).predictions_weight, 0, 0);
        assert_memory_equal(dis_fit_p(without), dis_fit_p(with), c.n_items * K * sizeof *q);
        assert_int_equal(dis_fit_get_view(without).iterations, dis_fit_get_view(with).iterations);
        dis_fit_destroy(without);
        dis_fit_destroy(with);
    }
    free(q);
    free_crowd(&c);
}

static void certainty_pins_an_item(void **unused)
{
    (void)unused;
    crowd c = make_crowd(200, 3);
    /* All are certain of a class that two of three did not vote for; the last has no prediction. */
    for (size_t i = 0; i < c.n_items; i++)
        for (size_t k = 0; k < K; k++)
            c.q[i * K + k] = i + 1 < c.n_items && k == (size_t)(c.truth[i] + (i % 7 == 0)) % K;
    for (size_t m = 0; m < N_METHODS; m++) {
        dis_fit *f = fit(NULL, &c, methods[m], c.q, 1);
        for (size_t i = 0; i + 1 < c.n_items; i++)
            if (!(dis_fit_p(f)[i * K + (size_t)(c.truth[i] + (i % 7 == 0)) % K] > .99))
                fail_msg("%s: item %zu", methods[m], i);
        em_assert_close(dis_fit_get_view(f).predictions_weight, 1, 0);
        dis_fit_destroy(f);
    }
    free_crowd(&c);
}

static void objectives_never_fall(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        crowd c = make_crowd(20 + 10 * seed, seed);
        double *q = sharpened(&c, (double)(seed % 4) * 2);
        for (size_t m = 0; m < N_METHODS; m++) {
            dis_fit *f = fit(NULL, &c, methods[m], q, -1);
            const dis_fit_view v = dis_fit_get_view(f);
            for (size_t t = 1; t < v.n_trace; t++)
                if (v.trace[t] < v.trace[t - 1] - 1e-10 * fabs(v.trace[t - 1]))
                    fail_msg("%s, seed %llu: %.17g after %.17g", methods[m], (unsigned long long)seed, v.trace[t],
                             v.trace[t - 1]);
            dis_fit_destroy(f);
        }
        free(q);
        free_crowd(&c);
    }
}

static void threads_change_nothing(void **unused)
{
    (void)unused;
    crowd c = make_crowd(30000, 5);
    dis_context_options o = dis_context_options_default();
    dis_context *one, *four;
    o.threads = 1;
    assert_int_equal(dis_context_create(&o, &one), DIS_OK);
    o.threads = 4;
    assert_int_equal(dis_context_create(&o, &four), DIS_OK);
    for (size_t m = 0; m < N_METHODS; m++) {
        char spec[96];
        snprintf(spec, sizeof spec, "%s%citerations=5", methods[m], strchr(methods[m], ':') ? ',' : ':');
        dis_fit *a = fit(one, &c, spec, c.q, -1), *b = fit(four, &c, spec, c.q, -1);
        assert_memory_equal(dis_fit_p(a), dis_fit_p(b), c.n_items * K * sizeof *c.q);
        em_assert_close(dis_fit_get_view(a).predictions_weight, dis_fit_get_view(b).predictions_weight, 0);
        dis_fit_destroy(a);
        dis_fit_destroy(b);
    }
    dis_context_destroy(one);
    dis_context_destroy(four);
    free_crowd(&c);
}

/* The same items in reverse, their predictions with them. */
static void order_does_not_matter(void **unused)
{
    (void)unused;
    crowd c = make_crowd(500, 9), d = make_crowd(500, 9);
    const size_t n = c.n_items;
    for (size_t v = 0; v < n * VOTES; v++) {
        d.task[v] = (uint32_t)(n - 1 - c.task[n * VOTES - 1 - v]);
        d.worker[v] = c.worker[n * VOTES - 1 - v];
        d.label[v] = c.label[n * VOTES - 1 - v];
    }
    for (size_t i = 0; i < n; i++) memcpy(d.q + i * K, c.q + (n - 1 - i) * K, K * sizeof *d.q);
    dis_votes_destroy(d.votes);
    d.votes = em_make_votes(n * VOTES, d.task, d.worker, d.label, n, d.n_workers, K);
    for (size_t m = 0; m < N_METHODS; m++) {
        dis_fit *a = fit(NULL, &c, methods[m], c.q, -1), *b = fit(NULL, &d, methods[m], d.q, -1);
        assert_int_equal(dis_fit_get_view(a).iterations, dis_fit_get_view(b).iterations);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < K; k++)
                em_assert_close(dis_fit_p(a)[i * K + k], dis_fit_p(b)[(n - 1 - i) * K + k], 1e-10);
        dis_fit_destroy(a);
        dis_fit_destroy(b);
    }
    free_crowd(&c);
    free_crowd(&d);
}

/* The values of cleanlab 2.9.0 for 6 items, 4 workers and 3 classes: python/parity/cleanlab_parity.py prints them. */
static void crowdlab_is_cleanlabs(void **unused)
{
    (void)unused;
    static const uint32_t task[] = {0, 0, 0, 1, 1, 2, 2, 3, 4, 4, 4, 5, 5},
                          worker[] = {0, 1, 2, 0, 1, 1, 2, 3, 0, 1, 2, 0, 2};
    static const uint16_t label[] = {0, 0, 1, 1, 1, 2, 0, 2, 2, 2, 1, 0, 0};
    static const double q[] = {.7, .1, .2, .3, .4, .3, .5, .2, .3, .1, .8, .1, .3, .2, .5, .3, .1, .6};
    static const double first_round[] = {0.7123088793747926,  0.10307811997235841, 0.18461300065284902,
                                         0.26614876704011114, 0.4677024659197776,  0.26614876704011114,
                                         0.499999841481646,   0.19999977354520856, 0.30000038497314546,
                                         0.10000002264550992, 0.7999990715340936,  0.10000090582039656,
                                         0.2661486014362678,  0.18461372075577726, 0.5492376778079548,
                                         0.3861667748069897,  0.10307738481453535, 0.5107558403784749};
    static const double second_round[] = {0.6608837549443081,  0.1342267354263623,  0.20488950962932947,
                                          0.2755524801220856,  0.4488950397558288,  0.2755524801220856,
                                          0.4711818905812646,  0.20169519547129902, 0.32712291394743637,
                                          0.10558976975117587, 0.7720511512441207,  0.12235907900470343,
                                          0.2755524518533526,  0.20488967765038543, 0.5195578704962619,
                                          0.3618443120161184,  0.1270568865070518,  0.5110988014768298};
    static const double weights[] = {0.4444444444444443, 0.16666666666666663, 1e-06, 0.07407407407407396};
    dis_votes *votes = em_make_votes(13, task, worker, label, 6, 4, 3);
    dis_fit_options o = dis_fit_options_default();
    dis_fit *f = NULL;
    assert_int_equal(dis_fit_run(NULL, votes, "crowdlab", &o, &f), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "give them as `predictions`"));
    o.predictions = q;
    assert_int_equal(dis_fit_run(NULL, votes, "crowdlab", &o, &f), DIS_OK);
    for (size_t i = 0; i < 18; i++) em_assert_close(dis_fit_p(f)[i], first_round[i], 1e-12);
    dis_fit_destroy(f);
    assert_int_equal(dis_fit_run(NULL, votes, "crowdlab:rounds=2", &o, &f), DIS_OK);
    for (size_t i = 0; i < 18; i++) em_assert_close(dis_fit_p(f)[i], second_round[i], 1e-12);
    for (size_t w = 0; w < 4; w++) em_assert_close(dis_fit_find_parameter(f, "weight")->values[w], weights[w], 1e-12);
    em_assert_close(dis_fit_get_view(f).predictions_weight, 1.4719601443879744, 1e-12);
    dis_fit_destroy(f);
    dis_votes_destroy(votes);
    /* No one voted with anybody. */
    static const uint32_t alone[] = {0, 1};
    votes = em_make_votes(2, alone, alone, label, 2, 2, 3);
    assert_int_equal(dis_fit_run(NULL, votes, "crowdlab", &o, &f), DIS_EDATA);
    dis_votes_destroy(votes);
}

static void refusals(void **unused)
{
    (void)unused;
    crowd c = make_crowd(20, 2);
    dis_fit_options o = dis_fit_options_default();
    dis_fit *f = NULL;
    o.predictions = c.q;
    assert_int_equal(dis_fit_run(NULL, c.votes, "majority", &o, &f), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "cannot use predictions"));
    o.predictions_weight = NAN;
    assert_int_equal(dis_fit_run(NULL, c.votes, "ibcc", &o, &f), DIS_EUSAGE);
    assert_null(f);
    free_crowd(&c);
}

/* ---- matching by name ---- */

static dis_labels *table(const char *const *tasks, size_t n, const char *const *classes, size_t k, const double *p)
{
    dis_names *t, *s;
    dis_labels *labels;
    assert_int_equal(dis_names_create(tasks, n, &t), DIS_OK);
    assert_int_equal(dis_names_create(classes, k, &s), DIS_OK);
    const dis_labels_view v = {
        .size = sizeof(dis_labels_view), .n_items = n, .n_classes = k, .p = p, .tasks = t, .classes = s};
    assert_int_equal(dis_labels_create(NULL, &v, &labels), DIS_OK);
    dis_names_destroy(t);
    dis_names_destroy(s);
    return labels;
}

static dis_votes *two_votes(void)
{
    static const uint32_t task[] = {0, 1, 2}, worker[] = {0, 0, 1};
    static const uint16_t label[] = {0, 1, 1};
    return em_make_votes(3, task, worker, label, 3, 2, 2);
}

static void matches_by_name(void **unused)
{
    (void)unused;
    static const char *const tasks[] = {"2", "other", "0"}, *const classes[] = {"1", "0"},
                             *const more[] = {"1", "0", "2"}, *const strange[] = {"other", "x", "y"};
    static const double p[] = {.9, .1, .5, .5, .2, .8}, three[] = {.9, .1, 0, .5, .5, 0, .2, .8, 0};
    dis_votes *votes = two_votes();
    double *q = NULL;
    dis_predictions_counts n = {0};
    dis_labels *labels = table(tasks, 3, classes, 2, p);
    dis_labels_view v = dis_labels_get_view(labels);
    assert_int_equal(dis_predictions_align(NULL, &v, votes, &q, &n), DIS_OK);
    static const double expected[] = {.8, .2, 0, 0, .1, .9};
    assert_memory_equal(q, expected, sizeof expected);
    assert_int_equal(n.n_matched, 2);
    assert_int_equal(n.n_missing, 1);
    assert_int_equal(n.n_without_votes, 1);
    dis_free(q);
    q = NULL;
    dis_labels_destroy(labels);
    struct {
        const char *const *tasks, *const *classes;
        size_t k;
        const double *p;
        const char *message;
    } bad[] = {{tasks, more, 3, three, "no vote is for the class \"2\""},
               {tasks, classes, 1, (const double[]){1, 1, 1}, "lack the class \"0\""},
               {strange, classes, 2, p, "no task of the votes"}};
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        labels = table(bad[b].tasks, 3, bad[b].classes, bad[b].k, bad[b].p);
        v = dis_labels_get_view(labels);
        assert_int_equal(dis_predictions_align(NULL, &v, votes, &q, &n), DIS_EDATA);
        assert_non_null(strstr(dis_last_error(), bad[b].message));
        assert_null(q);
        dis_labels_destroy(labels);
    }
    dis_votes_destroy(votes);
}

static dis_status match_and_fit(void *arg)
{
    const dis_votes *votes = arg;
    static const char *const tasks[] = {"2", "1", "0"}, *const classes[] = {"1", "0"};
    static const double p[] = {.9, .1, .5, .5, .2, .8};
    dis_names *t = NULL, *s = NULL;
    double *q = NULL;
    dis_predictions_counts n;
    dis_fit *f = NULL;
    dis_status status = dis_names_create(tasks, 3, &t);
    if (status == DIS_OK) status = dis_names_create(classes, 2, &s);
    const dis_labels_view v = {
        .size = sizeof(dis_labels_view), .n_items = 3, .n_classes = 2, .p = p, .tasks = t, .classes = s};
    if (status == DIS_OK) status = dis_predictions_align(NULL, &v, votes, &q, &n);
    dis_fit_options o = dis_fit_options_default();
    o.predictions = q;
    for (size_t m = 0; m < N_METHODS && status == DIS_OK; m++) {
        status = dis_fit_run(NULL, votes, methods[m], &o, &f);
        if (status == DIS_OK) dis_fit_destroy(f);
    }
    dis_free(q);
    dis_names_destroy(t);
    dis_names_destroy(s);
    return status;
}

static void faults(void **unused)
{
    (void)unused;
    dis_votes *votes = two_votes();
    walk_faults(match_and_fit, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_predictions_help),
        cmocka_unit_test(useless_predictions_change_nothing),
        cmocka_unit_test(certainty_pins_an_item),
        cmocka_unit_test(objectives_never_fall),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(refusals),
        cmocka_unit_test(crowdlab_is_cleanlabs),
        cmocka_unit_test(matches_by_name),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
