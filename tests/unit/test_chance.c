/* The test of agreement against chance: on noise of any class balance it errs as often as it says, and calls it noise
 * where there are votes enough; agreement is found; nothing depends on names, order of rows or threads; small cases.
 * DISSENT_SLOW=1: more crowds, and the level within its bounds. */
#include "support/em_support.h"
#include "core/random/random.h"
#include "dissent/agreement.h"
#include <stdlib.h>

enum { WORKERS = 20, MOST = 1 << 16 };
static uint32_t task[MOST], worker[MOST];
static uint16_t label[MOST];

static dis_chance_test tested(size_t n, size_t n_items, size_t n_classes, int threads)
{
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = n_items,
                                .n_workers = WORKERS,
                                .n_classes = n_classes,
                                .task = task,
                                .worker = worker,
                                .label = label};
    dis_context_options o = dis_context_options_default();
    dis_context *ctx;
    dis_votes *votes;
    dis_chance_test t;
    o.threads = threads;
    assert_int_equal(dis_context_create(&o, &ctx), DIS_OK);
    assert_int_equal(dis_votes_create_from_arrays(ctx, &a, &votes), DIS_OK);
    assert_int_equal(dis_votes_chance_test(ctx, votes, &t), DIS_OK);
    dis_votes_destroy(votes);
    dis_context_destroy(ctx);
    return t;
}

/* Each vote is for the class of the item with probability `follow`, else by the rates (2 classes: `rare` of the second;
 * more: all alike). Returns the number of votes. */
static size_t draw(uint64_t seed, size_t n_items, size_t each, size_t n_classes, double rare, double follow)
{
    size_t n = 0;
    for (size_t i = 0; i < n_items; i++)
        for (size_t q = 0; q < each; q++, n++) {
            const double u = dis__random_uniform(seed, 3, i * WORKERS + q);
            const bool own = dis__random_uniform(seed, 4, i * WORKERS + q) >= follow;
            const uint64_t at = own ? i * WORKERS + q : i;
            const double of = own ? u : dis__random_uniform(seed, 5, at);
            task[n] = (uint32_t)i;
            worker[n] = (uint32_t)((dis__random_below(seed, 6, i, WORKERS) + q * 7) % WORKERS);
            label[n] = (uint16_t)(n_classes == 2 ? of < rare : (size_t)(of * (double)n_classes));
        }
    return n;
}

static void noise_is_called_noise(void **state)
{
    (void)state;
    static const double rare[] = {.5, .2, .05, .02};
    static const size_t sizes[][2] = {{50, 10}, {300, 2}, {300, 5}, {1000, 2}, {1000, 10}}, classes[] = {2, 4, 8};
    const size_t repeats = getenv("DISSENT_SLOW") ? 400 : 20;
    double beyond = 0, all = 0;
    for (size_t k = 0; k < 3; k++)
        for (size_t b = 0; b < (classes[k] == 2 ? 4 : 1); b++)
            for (size_t s = 0; s < 5; s++) {
                double wrong = 0, noise = 0;
                for (size_t r = 0; r < repeats; r++) {
                    const size_t n = draw(1000 * s + r + 1, sizes[s][0], sizes[s][1], classes[k], rare[b], 0);
                    const dis_chance_test t = tested(n, sizes[s][0], classes[k], 1);
                    wrong += t.verdict == DIS_CHANCE_BEYOND;
                    noise += t.verdict == DIS_CHANCE_NOISE;
                }
                beyond += wrong;
                all += (double)repeats;
                print_message("%zu classes, %.2f rare, %4zu items, %2zu votes: beyond %.4f, noise %.3f\n", classes[k],
                              rare[b], sizes[s][0], sizes[s][1], wrong / (double)repeats, noise / (double)repeats);
                if (repeats > 100) assert_true(wrong <= .02 * (double)repeats);
                if (sizes[s][0] * sizes[s][1] >= 10000)
                    assert_true(noise >= (repeats > 100 ? .98 : .9) * (double)repeats);
            }
    print_message("all: beyond %.4f\n", beyond / all);
    assert_true(beyond <= (repeats > 100 ? .007 : .02) * all);
}

static void agreement_is_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        size_t n = draw(seed, 300, 5, 2, .5, .6); /* pairs follow the item in .36 of the cases */
        const dis_chance_test even = tested(n, 300, 2, 1);
        assert_int_equal(even.verdict, DIS_CHANCE_BEYOND);
        assert_true(fabs(even.coefficient - .36) < .12);
        n = draw(seed, 1000, 5, 2, .05, .6);
        assert_int_equal(tested(n, 1000, 2, 1).verdict, DIS_CHANCE_BEYOND);
        n = draw(seed, 30, 2, 2, .5, .6); /* too few to tell is not noise */
        assert_int_not_equal(tested(n, 30, 2, 1).verdict, DIS_CHANCE_NOISE);
    }
}

/* T and its variance from their definitions, by votes: 4 annotators of 5 votes and more, 3 classes. */
static void statistic_is_as_defined(void **state)
{
    (void)state;
    enum { N = 12, EACH = 4, K = 3 };
    double rate[EACH][K] = {{0}}, t = 0, variance = 0, scale = 0;
    for (size_t i = 0, n = 0; i < N; i++)
        for (size_t w = 0; w < EACH; w++, n++) {
            task[n] = (uint32_t)i;
            worker[n] = (uint32_t)w;
            label[n] = (uint16_t)dis__random_below(11, w, i, K);
            rate[w][label[n]] += 1. / N;
        }
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a < EACH; a++)
            for (size_t b = 0; b < a; b++) {
                double tr_a = 0, tr_b = 0;
                for (size_t k = 0; k < K; k++) {
                    t += ((label[i * EACH + a] == k) - rate[a][k]) * ((label[i * EACH + b] == k) - rate[b][k]);
                    tr_a += rate[a][k] * (1 - rate[a][k]);
                    tr_b += rate[b][k] * (1 - rate[b][k]);
                    for (size_t l = 0; l < K; l++)
                        variance += (rate[a][k] * (k == l) - rate[a][k] * rate[a][l]) *
                                    (rate[b][k] * (k == l) - rate[b][k] * rate[b][l]);
                }
                scale += sqrt(tr_a * tr_b);
            }
    const dis_chance_test found = tested(N * EACH, N, K, 1);
    em_assert_close(found.z, t / sqrt(variance), 1e-12);
    em_assert_close(found.coefficient, t / scale, 1e-12);
    em_assert_close(found.standard_error, sqrt(variance) / scale, 1e-12);
    assert_true(found.n_pairs == N * EACH * (EACH - 1) / 2.);
}

static void threads_and_names_do_not_matter(void **state)
{
    (void)state;
    enum { N = 4000, EACH = 4, K = 3 };
    static uint32_t other_task[MOST], other_worker[MOST];
    static uint16_t other_label[MOST];
    const size_t n = draw(7, N, EACH, K, .5, .1);
    const dis_chance_test one = tested(n, N, K, 1), many = tested(n, N, K, 7);
    assert_memory_equal(&one, &many, sizeof one);
    for (size_t a = 0; a < n; a++) { /* 7 and 3 have no divisor in common with 4000 and 20 */
        const size_t to = a * 7 % n;
        other_task[to] = task[a] * 7 % N;
        other_worker[to] = worker[a] * 3 % WORKERS;
        other_label[to] = (uint16_t)((label[a] + 1) % K);
    }
    memcpy(task, other_task, n * sizeof *task);
    memcpy(worker, other_worker, n * sizeof *worker);
    memcpy(label, other_label, n * sizeof *label);
    const dis_chance_test renamed = tested(n, N, K, 1);
    em_assert_close(renamed.z, one.z, 1e-9);
    em_assert_close(renamed.coefficient, one.coefficient, 1e-12);
}

static void set(size_t n, uint32_t i, uint32_t w, uint16_t k)
{
    task[n] = i, worker[n] = w, label[n] = k;
}

static void small_cases_are_unknown(void **state)
{
    (void)state;
    set(0, 0, 0, 0);
    dis_chance_test t = tested(1, 1, 2, 1); /* one vote */
    assert_true(t.verdict == DIS_CHANCE_UNKNOWN && t.standard_error == 0 && t.n_pairs == 0 && t.p == 1);
    for (uint32_t w = 0; w < 5; w++) set(w, 0, w, w < 3);
    t = tested(5, 1, 2, 1); /* one item */
    assert_true(t.verdict == DIS_CHANCE_UNKNOWN && fabs(t.coefficient) < 1e-12 && t.p > .3);
    for (uint32_t i = 0; i < 40; i++)
        for (uint32_t w = 0; w < 3; w++) set(3 * i + w, i, w, 0);
    t = tested(120, 40, 2, 1); /* all votes alike */
    assert_true(t.verdict == DIS_CHANCE_UNKNOWN && t.standard_error == 0 && t.n_pairs == 120);
    for (uint32_t i = 0; i < 40; i++) set(i, i, 0, i % 2);
    t = tested(40, 40, 2, 1); /* one annotator */
    assert_true(t.verdict == DIS_CHANCE_UNKNOWN && t.n_pairs == 0);
    for (uint32_t i = 0; i < 100; i++) set(i, i / 5, i % WORKERS, (uint16_t)(i / WORKERS % 2));
    t = tested(100, 20, 2, 1); /* all agree; each annotator has five votes */
    assert_true(t.verdict == DIS_CHANCE_BEYOND && t.coefficient > .95);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_called_noise),   cmocka_unit_test(agreement_is_found),
        cmocka_unit_test(statistic_is_as_defined), cmocka_unit_test(threads_and_names_do_not_matter),
        cmocka_unit_test(small_cases_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
