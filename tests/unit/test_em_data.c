/* The EM methods on real crowds (shared/data): the published accuracies (MULTI-VIEW table 1), the same answer
 * for shuffled rows and renamed workers, the choice of MACE's restart, and warm starts. */
#include "tool/arrays.h"
#include "support/em_support.h"
#include "support/sanitized.h"

enum { SETS = 3 };
static const char *const names[SETS] = {"RTE", "MRE", "POS"};
static const char *const vote_files[SETS] = {"rte_snow/annotations.csv",
                                             "mre_crowdtruth/annotations_cause_expert_subset.csv",
                                             "pos_gimpel/annotations.csv"};
static const char *const gold_files[SETS] = {"rte_snow/gold.csv", "mre_crowdtruth/gold_cause.csv",
                                             "pos_gimpel/gold.csv"};
static em_set sets[SETS];
static bool have[SETS];

static int setup(void **state)
{
    (void)state;
    char path[4096];
    for (int d = 0; d < (SANITIZED ? 1 : SETS); d++) {
        have[d] = em_set_read(em_shared("data", path, sizeof path, vote_files[d]), &sets[d]);
        if (!have[d]) printf("skipped: no %s\n", path);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int d = 0; d < SETS; d++)
        if (have[d]) em_set_free(&sets[d]);
    return 0;
}

static void published_accuracies(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double want[SETS];
    } table[] = {{"dawid-skene:smoothing=0", {.9275, .760, .7789}}, {"mace", {.9262, .7651, .7986}}};
    char path[4096];
    for (size_t m = 0; m < sizeof table / sizeof *table; m++)
        for (int d = 0; d < SETS; d++) {
            if (!have[d]) continue;
            dis_fit *fit = em_fit(NULL, sets[d].votes, table[m].method, NULL);
            const dis_fit_view v = dis_fit_get_view(fit);
            const double got =
                em_accuracy(&sets[d], dis_fit_p(fit), em_shared("data", path, sizeof path, gold_files[d]));
            printf("%s %s: accuracy %.4f (table: %.4f), %d iterations, objective %.6f\n", names[d], table[m].method,
                   got, table[m].want[d], v.iterations, v.objective);
            em_assert_close(got, table[m].want[d], .003);
            dis_fit_destroy(fit);
        }
}

/* The same votes with rows in another order and workers, tasks under other numbers. order: (n_votes), task_to:
 * (n_items). */
static dis_votes *shuffled(const em_set *s, uint64_t seed, uint32_t *task_to)
{
    const size_t n = s->n_votes;
    uint32_t *task = malloc(n * sizeof *task), *worker = malloc(n * sizeof *worker), *order = malloc(n * sizeof *order);
    uint32_t *worker_to = malloc(s->workers.n * sizeof *worker_to);
    uint16_t *label = malloc(n * sizeof *label);
    uint32_t *lists[3] = {order, task_to, worker_to};
    const size_t sizes[3] = {n, s->tasks.n, s->workers.n};
    for (int l = 0; l < 3; l++) {
        for (size_t i = 0; i < sizes[l]; i++) lists[l][i] = (uint32_t)i;
        for (size_t i = sizes[l]; i > 1; i--) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const size_t j = (seed >> 33) % i;
            const uint32_t t = lists[l][j];
            lists[l][j] = lists[l][i - 1];
            lists[l][i - 1] = t;
        }
    }
    for (size_t v = 0; v < n; v++) {
        task[v] = task_to[s->task[order[v]]];
        worker[v] = worker_to[s->worker[order[v]]];
        label[v] = s->label[order[v]];
    }
    dis_votes *votes = em_make_votes(n, task, worker, label, s->tasks.n, s->workers.n, s->classes.n);
    free(task);
    free(worker);
    free(order);
    free(worker_to);
    free(label);
    return votes;
}

static void order_and_names_do_not_matter(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "dawid-skene:iterations=30,tolerance=0",
        "fast-dawid-skene:iterations=5,tolerance=0",
        "one-coin:iterations=30,tolerance=0",
        "ibcc:iterations=30,tolerance=0",
        "mace:iterations=30,tolerance=0,restarts=3",
        "mace:method=em,iterations=30,tolerance=0,restarts=3",
        "dawid-skene",
        "one-coin",
        "ibcc",
    };
    for (int d = 0; d < SETS; d++) {
        if (!have[d]) continue;
        const em_set *s = &sets[d];
        uint32_t *task_to = malloc(s->tasks.n * sizeof *task_to);
        dis_votes *other = shuffled(s, 7, task_to);
        for (size_t m = 0; m < sizeof specs / sizeof *specs; m++) {
            dis_fit *a = em_fit(NULL, s->votes, specs[m], NULL), *b = em_fit(NULL, other, specs[m], NULL);
            double worst = 0;
            for (size_t i = 0; i < s->tasks.n; i++)
                for (size_t k = 0; k < s->classes.n; k++)
                    worst = fmax(worst, fabs(dis_fit_p(a)[i * s->classes.n + k] -
                                             dis_fit_p(b)[task_to[i] * s->classes.n + k]));
            printf("%s %s: shuffled rows and other names move posteriors by %.2g at most (%d iterations)\n", names[d],
                   specs[m], worst, dis_fit_get_view(a).iterations);
            assert_int_equal(dis_fit_get_view(a).iterations, dis_fit_get_view(b).iterations);
            assert_int_equal(dis_fit_get_view(a).restart, dis_fit_get_view(b).restart);
            assert_true(worst <= 1e-12);
            dis_fit_destroy(a);
            dis_fit_destroy(b);
        }
        dis_votes_destroy(other);
        free(task_to);
    }
}

/* Restarts that are screened for a few iterations lead to the optimum that the best of ten full runs finds. */
static void screening_finds_the_winner(void **state)
{
    (void)state;
    for (int d = 0; d < SETS; d++) {
        if (!have[d]) continue;
        const char *methods[] = {"vb", "em"};
        for (int m = 0; m < 2; m++) {
            char spec[128];
            double objective[2];
            for (int full = 0; full < 2; full++) {
                snprintf(spec, sizeof spec, "mace:method=%s,iterations=400,tolerance=1e-9,screen=%d", methods[m],
                         full ? (d == 2 ? 60 : 400) : 5);
                dis_fit *fit = em_fit(NULL, sets[d].votes, spec, NULL);
                const dis_fit_view v = dis_fit_get_view(fit);
                objective[full] = v.objective;
                printf("%s %s: restart %d, %d iterations, objective %.6f\n", names[d], spec, v.restart, v.iterations,
                       v.objective);
                dis_fit_destroy(fit);
            }
            /* vb has one optimum that nearly all starts lead to; em has many, close together */
            em_assert_close(objective[0], objective[1], (m == 0 ? 1e-6 : 1e-3) * fabs(objective[1]));
        }
    }
}

/* A fit from the state of an earlier one on nine tenths of the votes needs fewer iterations than one from scratch, for
 * the same answer. */
static void warm_starts(void **state)
{
    (void)state;
    static const char *const specs[] = {"dawid-skene:tolerance=1e-9,iterations=1000",
                                        "one-coin:tolerance=1e-9,iterations=1000",
                                        "ibcc:tolerance=1e-9,iterations=1000",
                                        "mace:tolerance=1e-9,iterations=1000,restarts=1"};
    const char *path = "test_em_data.state.safetensors";
    for (int d = 0; d < 1; d++) {
        if (!have[d]) continue;
        const em_set *s = &sets[d];
        uint32_t *task = malloc(s->n_votes * sizeof *task), *worker = malloc(s->n_votes * sizeof *worker);
        uint16_t *label = malloc(s->n_votes * sizeof *label);
        size_t n = 0;
        for (size_t v = 0; v < s->n_votes; v++)
            if (v % 10 != 7) {
                task[n] = s->task[v];
                worker[n] = s->worker[v];
                label[n++] = s->label[v];
            }
        dis_votes *fewer = em_make_votes(n, task, worker, label, s->tasks.n, s->workers.n, s->classes.n);
        free(task);
        free(worker);
        free(label);
        for (size_t m = 0; m < sizeof specs / sizeof *specs; m++) {
            dis_fit *early = em_fit(NULL, fewer, specs[m], NULL), *cold = em_fit(NULL, s->votes, specs[m], NULL);
            const dis_fit *list[] = {early};
            if (dis_state_write(NULL, fewer, list, 1, path) != DIS_OK) fail_msg("%s", dis_last_error());
            dis_state *saved;
            if (dis_state_read(NULL, path, &saved) != DIS_OK) fail_msg("%s", dis_last_error());
            dis_fit_options o = dis_fit_options_default();
            o.initial_state = saved;
            dis_fit *warm = em_fit(NULL, s->votes, specs[m], &o);
            const dis_fit_view c = dis_fit_get_view(cold), w = dis_fit_get_view(warm);
            size_t same = 0;
            for (size_t i = 0; i < s->tasks.n; i++)
                same += dis__argmax(dis_fit_p(cold) + i * s->classes.n, s->classes.n) ==
                        dis__argmax(dis_fit_p(warm) + i * s->classes.n, s->classes.n);
            printf("%s %s: %d iterations from scratch, %d warm; objectives %.6f, %.6f; %zu of %zu labels the same\n",
                   names[d], specs[m], c.iterations, w.iterations, c.objective, w.objective, same, s->tasks.n);
            assert_true(w.iterations < c.iterations);
            em_assert_close(w.objective, c.objective, 1e-6 * fabs(c.objective));
            assert_true(same >= s->tasks.n - s->tasks.n / 500 - 1);
            dis_state_destroy(saved);
            dis_fit_destroy(warm);
            dis_fit_destroy(cold);
            dis_fit_destroy(early);
        }
        dis_votes_destroy(fewer);
    }
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_accuracies),
        cmocka_unit_test(order_and_names_do_not_matter),
        cmocka_unit_test(screening_finds_the_winner),
        cmocka_unit_test(warm_starts),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
