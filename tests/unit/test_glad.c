/* GLAD: an objective at least as good as the reference's, never falling; finite on anything; order and threads do not
 * count. */
#include "dissent/dissent.h"
#include "core/random/random.h"
#include "support/golden_csv.h"
#include "support/golden_votes.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "support/fault_walk.h"

enum { N_RANDOM = SANITIZED ? 300 : 5000 };

static dis_fit *fit(dis_context *ctx, const dis_votes *votes, const char *spec, const dis_fit_options *options)
{
    dis_fit *f = NULL;
    if (dis_fit_run(ctx, votes, spec, options, &f) != DIS_OK) fail_msg("%s: %s", spec, dis_last_error());
    return f;
}

/* The objective by its definition: log marginal likelihood + log priors. b (n_items): the logarithm of easiness. */
static double by_definition(const dis_votes_view *v, const double *ability, const double *b, const int32_t *gold)
{
    const double n_classes = (double)v->n_classes;
    double total = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        double max = -INFINITY, sum = 0, score[64];
        for (size_t t = 0; t < v->n_classes; t++) {
            score[t] = -log(n_classes);
            for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
                const double x = ability[v->worker[k]] * exp(b[i]);
                const size_t label = v->label8[k];
                score[t] += label == t ? -log1p(exp(-x)) : -log1p(exp(x)) - (v->n_classes > 2 ? log(n_classes - 1) : 0);
            }
            if (gold && gold[i] >= 0 && gold[i] != (int32_t)t) score[t] = -INFINITY;
            max = fmax(max, score[t]);
        }
        for (size_t t = 0; t < v->n_classes; t++) sum += exp(score[t] - max);
        total += max + log(sum) - .5 * (b[i] - 1) * (b[i] - 1) - .5 * log(2 * acos(-1));
    }
    for (size_t w = 0; w < v->n_workers; w++)
        total -= .5 * (ability[w] - 1) * (ability[w] - 1) + .5 * log(2 * acos(-1));
    return total;
}

static void check_fit(const dis_fit *f, const dis_votes_view *v, const int32_t *gold)
{
    const dis_fit_view seen = dis_fit_get_view(f);
    for (size_t i = 0; i < v->n_items; i++) {
        double sum = 0;
        for (size_t k = 0; k < v->n_classes; k++) {
            const double p = dis_fit_p(f)[i * v->n_classes + k];
            assert_true(p >= 0 && p <= 1 + 1e-12);
            sum += p;
        }
        assert_true(fabs(sum - 1) < 1e-12);
    }
    for (size_t t = 1; t < seen.n_trace; t++)
        if (!(seen.trace[t] >= seen.trace[t - 1] - 1e-10 * fabs(seen.trace[t - 1])))
            fail_msg("the objective fell from %.17g to %.17g", seen.trace[t - 1], seen.trace[t]);
    const dis_parameter *ability = dis_fit_find_parameter(f, "ability"),
                        *difficulty = dis_fit_find_parameter(f, "difficulty");
    assert_non_null(ability);
    assert_non_null(difficulty);
    double *b = malloc((v->n_items + 1) * sizeof *b);
    for (size_t i = 0; i < v->n_items; i++) {
        assert_true(difficulty->values[i] > 0 && isfinite(difficulty->values[i]));
        b[i] = -log(difficulty->values[i]);
    }
    for (size_t w = 0; w < v->n_workers; w++) assert_true(isfinite(ability->values[w]));
    const double expected = by_definition(v, ability->values, b, gold);
    if (!(fabs(seen.objective - expected) < 1e-10 * (1 + fabs(expected))))
        fail_msg("objective %.17g, by its definition %.17g", seen.objective, expected);
    free(b);
}

static dis_votes *random_votes(uint64_t seed, size_t n_items, size_t n_workers, size_t n_classes, size_t n_votes,
                               double noise)
{
    uint32_t *task = malloc((n_votes + 1) * sizeof *task), *worker = malloc((n_votes + 1) * sizeof *worker);
    uint16_t *label = malloc((n_votes + 1) * sizeof *label);
    for (size_t v = 0; v < n_votes; v++) {
        task[v] = (uint32_t)dis__random_below(seed, 1000, v, n_items);
        worker[v] = (uint32_t)dis__random_below(seed, 1001, v, n_workers);
        label[v] = (uint16_t)(dis__random_uniform(seed, 1002, v) < noise ? dis__random_below(seed, 1003, v, n_classes)
                                                                         : task[v] % n_classes);
    }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n_votes,
                                .n_items = n_items,
                                .n_workers = n_workers,
                                .n_classes = n_classes,
                                .task = task,
                                .worker = worker,
                                .label = label,
                                .duplicates = DIS_DUPLICATES_ALL};
    dis_votes *votes = NULL;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    free(task);
    free(worker);
    free(label);
    return votes;
}

static void random_problems(void **state)
{
    (void)state;
    for (uint64_t t = 0; t < N_RANDOM; t++) {
        const size_t n_items = 1 + dis__random_below(t, 2000, 0, 6), n_workers = 1 + dis__random_below(t, 2000, 1, 5),
                     n_classes = 1 + dis__random_below(t, 2000, 2, 5), n_votes = dis__random_below(t, 2000, 3, 25);
        dis_votes *votes = random_votes(t, n_items, n_workers, n_classes, n_votes, dis__random_uniform(t, 2000, 4));
        const dis_votes_view v = dis_votes_get_view(votes);
        int32_t gold[8];
        for (size_t i = 0; i < n_items; i++) gold[i] = (int32_t)dis__random_below(t, 2001, i, n_classes + 3) - 3;
        for (size_t i = 0; i < n_items; i++) gold[i] = gold[i] < 0 ? -1 : gold[i];
        dis_fit_options o = dis_fit_options_default();
        o.gold = t % 3 == 0 ? gold : NULL;
        dis_fit *f = fit(NULL, votes, t % 2 ? "glad" : "glad:iterations=7,tolerance=0", &o);
        check_fit(f, &v, o.gold);
        if (o.gold)
            for (size_t i = 0; i < n_items; i++)
                if (gold[i] >= 0) assert_true(dis_fit_p(f)[i * n_classes + (size_t)gold[i]] == 1);
        dis_fit_destroy(f);
        dis_votes_destroy(votes);
    }
}

static void many_votes_on_one_item(void **state)
{
    (void)state;
    enum { N = 100000 };
    for (int r = 0; r < 2; r++) {
        dis_votes *votes = random_votes(5, 1, r ? 7 : N, 3, N, .5);
        const dis_votes_view v = dis_votes_get_view(votes);
        dis_fit *f = fit(NULL, votes, "glad:iterations=50", NULL);
        check_fit(f, &v, NULL);
        assert_true(dis_fit_p(f)[0] > .99);
        dis_fit_destroy(f);
        dis_votes_destroy(votes);
    }
}

/* Neither threads (bytes) nor the order of rows and numbering (1e-12) change the answer, nor the number of iterations.
 */
static void order_and_threads_do_not_matter(void **state)
{
    (void)state;
    enum { ITEMS = 6000, WORKERS = 150, K = 3, N = 5 * ITEMS };
    uint32_t *task = malloc(2 * N * sizeof *task), *worker = malloc(2 * N * sizeof *worker);
    uint16_t *label = malloc(2 * N * sizeof *label);
    for (uint32_t v = 0; v < N; v++) {
        task[v] = v / 5;
        worker[v] = (v * 7919u + v / 5) % WORKERS;
        label[v] = dis__random_uniform(1, 1000, v) < .2 + .6 * worker[v] / WORKERS
                       ? (uint16_t)(task[v] % K)
                       : (uint16_t)dis__random_below(2, 1000, v, K);
    }
    for (uint32_t v = 0; v < N; v++) {
        const uint32_t from = (uint32_t)((uint64_t)v * 7 % N);
        task[N + v] = ITEMS - 1 - task[from];
        worker[N + v] = WORKERS - 1 - worker[from];
        label[N + v] = label[from];
    }
    dis_votes *votes[2];
    for (int r = 0; r < 2; r++) {
        const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                    .n_votes = N,
                                    .n_items = ITEMS,
                                    .n_workers = WORKERS,
                                    .n_classes = K,
                                    .task = task + r * N,
                                    .worker = worker + r * N,
                                    .label = label + r * N,
                                    .duplicates = DIS_DUPLICATES_ALL};
        assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes[r]), DIS_OK);
    }
    static const char *const specs[] = {"glad:iterations=10,tolerance=0", "glad"};
    for (int s = 0; s < 2; s++) {
        dis_fit *f = fit(NULL, votes[0], specs[s], NULL), *g = fit(NULL, votes[1], specs[s], NULL);
        assert_int_equal(dis_fit_get_view(f).iterations, dis_fit_get_view(g).iterations);
        double worst = 0;
        for (size_t i = 0; i < ITEMS; i++)
            for (size_t k = 0; k < K; k++)
                worst = fmax(worst, fabs(dis_fit_p(f)[i * K + k] - dis_fit_p(g)[(ITEMS - 1 - i) * K + k]));
        print_message("%s: %d iterations; shuffled and renumbered: largest difference %.2g\n", specs[s],
                      dis_fit_get_view(f).iterations, worst);
        assert_true(worst < 1e-12);
        dis_fit_destroy(g);
        for (int threads = 2; threads <= 7; threads += 5) {
            dis_context_options o = dis_context_options_default();
            o.threads = threads;
            dis_context *ctx;
            assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
            g = fit(ctx, votes[0], specs[s], NULL);
            assert_memory_equal(dis_fit_p(f), dis_fit_p(g), ITEMS * K * sizeof(double));
            assert_memory_equal(dis_fit_find_parameter(f, "ability")->values,
                                dis_fit_find_parameter(g, "ability")->values, WORKERS * sizeof(double));
            dis_fit_destroy(g);
            dis_context_destroy(ctx);
        }
        dis_fit_destroy(f);
    }
    for (int r = 0; r < 2; r++) dis_votes_destroy(votes[r]);
    free(task);
    free(worker);
    free(label);
}

static void golden_files(void **state)
{
    (void)state;
    dis_votes *votes = golden_votes("golden/rte/votes.csv", NULL);
    if (!votes) {
        print_message("skipped: no golden files beside the source tree\n");
        skip();
    }
    const dis_votes_view v = dis_votes_get_view(votes);
    golden_csv alphas, betas, expected;
    assert_true(golden_read("golden/rte/crowdkit_glad.alphas.csv", &alphas));
    assert_true(golden_read("golden/rte/crowdkit_glad.betas.csv", &betas));
    assert_true(golden_read("golden/rte/crowdkit_glad.csv", &expected));
    double *ability = calloc(v.n_workers, sizeof *ability), *b = calloc(v.n_items, sizeof *b), mean = 0;
    for (size_t w = 0; w < v.n_workers; w++)
        ability[w] = alphas.value[golden_row(&alphas, dis_names_get(v.workers, w, NULL))];
    for (size_t i = 0; i < v.n_items; i++) b[i] = betas.value[golden_row(&betas, dis_names_get(v.tasks, i, NULL))];
    const double theirs = by_definition(&v, ability, b, NULL);
    dis_fit *f = fit(NULL, votes, "glad", NULL);
    check_fit(f, &v, NULL);
    const double worst = golden_difference(&expected, &v, dis_fit_p(f), &mean);
    print_message("objective %.6f after %d iterations, the reference's %.6f; largest difference %.3g, mean %.3g\n",
                  dis_fit_get_view(f).objective, dis_fit_get_view(f).iterations, theirs, worst, mean);
    assert_true(dis_fit_get_view(f).objective >= theirs);
    int32_t *truth = golden_truth("golden/rte/gold.csv", votes);
    double right = 0;
    for (size_t i = 0; i < v.n_items; i++) right += (dis_fit_p(f)[2 * i + 1] > .5) == truth[i];
    print_message("accuracy %.4f\n", right / (double)v.n_items);
    assert_true(right / (double)v.n_items > .92);
    dis_fit_destroy(f);
    free(truth);
    free(ability);
    free(b);
    golden_free(&alphas);
    golden_free(&betas);
    golden_free(&expected);
    dis_votes_destroy(votes);
}

/* A refit from a saved state arrives in fewer iterations at the same answer. */
static void warm_start(void **state)
{
    (void)state;
    char path[] = "/tmp/dissent-glad-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    dis_votes *votes = random_votes(77, 300, 20, 3, 2400, .4);
    dis_fit *cold = fit(NULL, votes, "glad:tolerance=1e-12", NULL);
    const dis_fit *fits[] = {cold};
    assert_int_equal(dis_state_write(NULL, votes, fits, 1, path), DIS_OK);
    dis_fit_options o = dis_fit_options_default();
    dis_state *saved;
    assert_int_equal(dis_state_read(NULL, path, &saved), DIS_OK);
    o.initial_state = saved;
    dis_fit *warm = fit(NULL, votes, "glad:tolerance=1e-12", &o);
    print_message("from the start %d iterations, from the state %d\n", dis_fit_get_view(cold).iterations,
                  dis_fit_get_view(warm).iterations);
    assert_true(dis_fit_get_view(warm).iterations < dis_fit_get_view(cold).iterations / 2);
    for (size_t i = 0; i < 900; i++) assert_true(fabs(dis_fit_p(cold)[i] - dis_fit_p(warm)[i]) < 1e-5);
    dis_fit_destroy(cold);
    dis_fit_destroy(warm);
    dis_state_destroy(saved);
    dis_votes_destroy(votes);
    unlink(path);
}

static dis_status run_once(void *votes)
{
    dis_fit *f;
    const dis_status status = dis_fit_run(NULL, votes, "glad:iterations=3", NULL, &f);
    if (status == DIS_OK) dis_fit_destroy(f);
    return status;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    dis_votes *votes = random_votes(1, 4, 3, 3, 12, .3);
    walk_faults(run_once, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems),
        cmocka_unit_test(many_votes_on_one_item),
        cmocka_unit_test(order_and_threads_do_not_matter),
        cmocka_unit_test(golden_files),
        cmocka_unit_test(warm_start),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
