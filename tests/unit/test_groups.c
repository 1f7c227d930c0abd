/* Groups of workers: tables about them, small groups, agreement within and between groups against a count of all pairs
 * of votes, tests, threads, faults; the tails and corrections after the tests. */
#include "support/em_support.h"
#include "tool/table_columns.h"
#include "support/fault_walk.h"
#include "support/scratch.h"
#include "core/random/random.h"
#include "agreement/group_sums.h"
#include "stats/distributions.h"

enum { ITEMS = 120, WORKERS = 24, CLASSES = 4 };

/* ---- statistics: values of SciPy 1.14 ---- */

static void test_tails(void **state)
{
    (void)state;
    em_assert_close(dis__chi_square_tail(3.84, 1), 0.05004352124870519, 1e-14);
    em_assert_close(dis__chi_square_tail(10, 4), 0.04042768199451279, 1e-14);
    em_assert_close(dis__chi_square_tail(.5, 3), 0.9188914116546758, 1e-14);
    em_assert_close(dis__student_tail(2, 5), 0.050969739414929174, 1e-14);
    em_assert_close(dis__student_tail(-1.3, 12), 0.8909914144582429, 1e-13);
    em_assert_close(dis__student_tail(0, 3), .5, 1e-15);
    em_assert_close(dis__student_tail(12, 2), 0.00343646683857923, 1e-15);
    em_assert_close(dis__normal_quantile(.975), 1.959963984540054, 1e-14);
    em_assert_close(dis__normal_quantile(1e-10), -6.361340902404056, 1e-13);
    em_assert_close(dis__normal_quantile(.3), -0.5244005127080409, 1e-14);
}

static void test_corrections(void **state)
{
    (void)state;
    const double p[5] = {.01, .04, .03, .2, .5}, hochberg[5] = {.05, .2 / 3, .2 / 3, .25, .5};
    double q[5];
    assert_int_equal(dis__false_discovery(p, 5, false, q), DIS_OK);
    for (int i = 0; i < 5; i++) em_assert_close(q[i], hochberg[i], 1e-15);
    assert_int_equal(dis__false_discovery(p, 5, true, q), DIS_OK);
    for (int i = 0; i < 5; i++) em_assert_close(q[i], fmin(1, hochberg[i] * 137 / 60), 1e-14);
    const double some[3] = {.01, NAN, .02};
    assert_int_equal(dis__false_discovery(some, 3, false, q), DIS_OK);
    em_assert_close(q[0], .02, 1e-15);
    assert_true(isnan(q[1]));
}

static void test_two_rows(void **state)
{
    (void)state;
    const uint32_t a[2] = {3, 1}, b[2] = {1, 4}, c[3] = {3, 0, 1}, d[3] = {0, 4, 2}, e[4] = {5, 1, 0, 2},
                   f[4] = {1, 2, 4, 1};
    double p;
    assert_int_equal(dis__fisher_exact_test(a, b, 2, &p), DIS_OK);
    em_assert_close(p, 0.20634920634920634, 1e-12);
    assert_int_equal(dis__fisher_exact_test(c, d, 3, &p), DIS_OK);
    em_assert_close(p, 0.03333333333333333, 1e-12);
    assert_int_equal(dis__fisher_exact_test(e, f, 4, &p), DIS_OK);
    em_assert_close(p, 0.04568764568764569, 1e-12);
    const uint32_t none[2] = {0, 0}, many[2] = {4000, 6000}, others[2] = {4100, 5900};
    assert_int_equal(dis__fisher_exact_test(none, b, 2, &p), DIS_OK);
    em_assert_close(p, 1, 0);
    assert_int_equal(dis__fisher_exact_test(many, others, 2, &p), DIS_OK); /* by chi-square */
    em_assert_close(p, 0.14973935758431073, 1e-9);
}

/* ---- a crowd ---- */

static uint32_t task_of[ITEMS * WORKERS], worker_of[ITEMS * WORKERS];
static uint16_t label_of[ITEMS * WORKERS];

/* Workers of even number see the classes the other way round on a share of the items. */
static dis_votes *crowd(uint64_t seed, double split)
{
    size_t n = 0;
    for (uint32_t i = 0; i < ITEMS; i++)
        for (uint32_t w = 0; w < WORKERS; w++) {
            const uint64_t at = (uint64_t)i * WORKERS + w;
            if (dis__random_uniform(seed, 1, at) < .5) continue;
            const size_t truth = i % CLASSES;
            const bool turned = w % 2 == 0 && dis__random_uniform(seed, 2, i) < split;
            const size_t answer = dis__random_uniform(seed, 3, at) < .7 ? (turned ? CLASSES - 1 - truth : truth)
                                                                        : dis__random_below(seed, 4, at, CLASSES);
            task_of[n] = i;
            worker_of[n] = w;
            label_of[n++] = (uint16_t)answer;
        }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = ITEMS,
                                .n_workers = WORKERS,
                                .n_classes = CLASSES,
                                .task = task_of,
                                .worker = worker_of,
                                .label = label_of};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    return votes;
}

static dis_worker_groups *grouped(const dis_votes *votes, const char *(*value)(size_t w), size_t min_group)
{
    const char *texts[WORKERS];
    for (size_t w = 0; w < WORKERS; w++) texts[w] = value(w);
    dis_names *names;
    dis_worker_groups *groups;
    dis_worker_groups_options o = dis_worker_groups_options_default();
    o.min_group = min_group;
    assert_int_equal(dis_names_create(texts, WORKERS, &names), DIS_OK);
    assert_int_equal(dis_worker_groups_create(votes, names, &o, &groups), DIS_OK);
    dis_names_destroy(names);
    return groups;
}

static const char *by_parity(size_t w)
{
    return w % 2 == 0 ? "even" : "odd";
}

static const char *by_three(size_t w)
{
    static const char *const names[] = {"a", "b", "c"};
    return w == WORKERS - 1 ? "" : names[w % 3];
}

/* ---- agreement ---- */

static double distance(size_t k, size_t l, const double *rank)
{
    if (rank) return (rank[k] - rank[l]) * (rank[k] - rank[l]);
    return k != l;
}

/* xRR of groups a and b (b < 0: all others) from all pairs of votes. */
static double across_reference(const dis_votes *votes, const int32_t *group, int32_t a, int32_t b, const double *rank)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    double weight = 0, apart = 0, x[CLASSES] = {0}, y[CLASSES] = {0}, nx = 0, ny = 0, expected = 0;
    for (size_t i = 0; i < v.n_items; i++) {
        double sum = 0, r = 0, s = 0;
        for (uint64_t t = v.start[i]; t < v.start[i + 1]; t++)
            for (uint64_t u = v.start[i]; u < v.start[i + 1]; u++) {
                const int32_t g = group[v.worker[t]], h = group[v.worker[u]];
                if (g != a || h < 0 || (b >= 0 ? h != b : h == a)) continue;
                sum += distance(v.label8[t], v.label8[u], rank);
            }
        for (uint64_t t = v.start[i]; t < v.start[i + 1]; t++) {
            const int32_t g = group[v.worker[t]];
            r += g == a;
            s += g >= 0 && (b >= 0 ? g == b : g != a);
        }
        if (r == 0 || s == 0) continue;
        weight += r + s;
        apart += (r + s) * sum / (r * s);
        for (uint64_t t = v.start[i]; t < v.start[i + 1]; t++) {
            const int32_t g = group[v.worker[t]];
            x[v.label8[t]] += g == a;
            y[v.label8[t]] += g >= 0 && (b >= 0 ? g == b : g != a);
        }
        nx += r;
        ny += s;
    }
    for (size_t k = 0; k < CLASSES; k++)
        for (size_t l = 0; l < CLASSES; l++) expected += x[k] * y[l] * distance(k, l, rank) / (nx * ny);
    return 1 - apart / weight / expected;
}

static void ranks_of(const dis_votes *votes, const int32_t *group, double *rank)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    double n[CLASSES] = {0}, before = 0;
    for (size_t t = 0; t < v.n_votes; t++)
        if (group[v.worker[t]] >= 0) n[v.label8[t]]++;
    for (size_t k = 0; k < CLASSES; k++) {
        rank[k] = before + n[k] / 2;
        before += n[k];
    }
}

static void test_within_is_alpha(void **state)
{
    (void)state;
    dis_votes *votes = crowd(3, .3), *part;
    dis_worker_groups *groups = grouped(votes, by_three, 2);
    dis_group_agreement *found;
    dis_group_agreement_options o = dis_group_agreement_options_default();
    o.permutations = 0;
    assert_int_equal(dis_group_agreement_run(NULL, votes, groups, &o, &found), DIS_OK);
    const dis_group_agreement_view v = dis_group_agreement_get_view(found);
    const dis_worker_groups_view g = dis_worker_groups_get_view(groups);
    assert_int_equal(v.n_groups, 3);
    assert_int_equal(g.n_unknown, 1);
    for (size_t k = 0; k < 3; k++) {
        bool keep[WORKERS];
        dis_agreement *alone;
        for (size_t w = 0; w < WORKERS; w++) keep[w] = g.group[w] == (int32_t)k;
        assert_int_equal(dis__votes_gather_workers(NULL, votes, keep, &part), DIS_OK);
        assert_int_equal(dis_agreement_run(NULL, part, NULL, &alone), DIS_OK);
        const dis_metric *alpha = dis_agreement_find(alone, "alpha_nominal");
        em_assert_close(v.groups[k].within.value, alpha->value, 1e-12);
        em_assert_close(v.groups[k].percent.value, dis_agreement_find(alone, "percent")->value, 1e-12);
        em_assert_close(v.groups[k].within.ci_low, alpha->ci_low, .04); /* other resamples, the same law */
        em_assert_close(v.groups[k].within.ci_high, alpha->ci_high, .04);
        em_assert_close(v.groups[k].across.value, across_reference(votes, g.group, (int32_t)k, -1, NULL), 1e-12);
        assert_true(isnan(v.groups[k].p_within));
        assert_int_equal(dis_votes_get_view(part).n_votes, g.votes[k]);
        dis_agreement_destroy(alone);
        dis_votes_destroy(part);
    }
    for (size_t p = 0; p < v.n_pairs; p++)
        em_assert_close(v.pairs[p].across.value,
                        across_reference(votes, g.group, (int32_t)v.pairs[p].a, (int32_t)v.pairs[p].b, NULL), 1e-12);
    dis_group_agreement_destroy(found);
    dis_worker_groups_destroy(groups);
    dis_votes_destroy(votes);
}

/* The example that the authors of xRR test their own program with: items with 2 or 3 votes of one side and 2 of the
 * other, and two items of one side alone, which do not count. */
static void test_published(void **state)
{
    (void)state;
    static const uint8_t even[][2] = {{0, 2}, {0, 3}, {2, 0}, {3, 0}, {1, 1}, {3, 0}, {2, 1}},
                         odd[][2] = {{0, 2}, {1, 1}, {1, 1}, {1, 1}, {2, 0}, {0, 0}, {0, 0}};
    size_t n = 0;
    for (uint32_t i = 0; i < 7; i++)
        for (uint32_t side = 0; side < 2; side++) {
            const uint8_t *count = side ? odd[i] : even[i];
            for (uint32_t k = 0; k < (uint32_t)count[0] + count[1]; k++) {
                task_of[n] = i;
                worker_of[n] = 2 * k + side;
                label_of[n++] = k >= count[0];
            }
        }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = 7,
                                .n_workers = WORKERS,
                                .n_classes = 2,
                                .task = task_of,
                                .worker = worker_of,
                                .label = label_of};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    dis_worker_groups *groups = grouped(votes, by_parity, 2);
    dis_group_agreement *found;
    dis_group_agreement_options o = dis_group_agreement_options_default();
    o.permutations = o.resamples = 0;
    assert_int_equal(dis_group_agreement_run(NULL, votes, groups, &o, &found), DIS_OK);
    em_assert_close(dis_group_agreement_get_view(found).pairs[0].across.value, .1818182, 1e-7);
    dis_group_agreement_destroy(found);
    dis_worker_groups_destroy(groups);
    dis_votes_destroy(votes);
}

static void test_ordered(void **state)
{
    (void)state;
    dis_votes *votes = crowd(4, .3);
    dis_worker_groups *groups = grouped(votes, by_parity, 2);
    dis_group_agreement *found;
    dis_group_agreement_options o = dis_group_agreement_options_default();
    o.permutations = o.resamples = 0;
    o.ordinal = true;
    double rank[CLASSES];
    assert_int_equal(dis_group_agreement_run(NULL, votes, groups, &o, &found), DIS_OK);
    const dis_group_agreement_view v = dis_group_agreement_get_view(found);
    const dis_worker_groups_view g = dis_worker_groups_get_view(groups);
    ranks_of(votes, g.group, rank);
    em_assert_close(v.pairs[0].across.value, across_reference(votes, g.group, 0, 1, rank), 1e-12);
    em_assert_close(v.groups[0].across.value, v.pairs[0].across.value, 1e-12); /* the others are the one other group */
    dis_group_agreement_destroy(found);
    dis_worker_groups_destroy(groups);
    dis_votes_destroy(votes);
}

/* The values with groups `group`, of votes without that of number `without`. */
static void values_without(const dis_votes *votes, const double *rank, const int32_t *group, size_t without,
                           double *values)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    size_t n = 0;
    for (size_t i = 0; i < v.n_items; i++)
        for (uint64_t t = v.start[i]; t < v.start[i + 1]; t++) {
            if (t == without) continue;
            task_of[n] = (uint32_t)i;
            worker_of[n] = v.worker[t];
            label_of[n++] = v.label8[t];
        }
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = v.n_items,
                                .n_workers = WORKERS,
                                .n_classes = CLASSES,
                                .task = task_of,
                                .worker = worker_of,
                                .label = label_of};
    dis_votes *rest;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &rest), DIS_OK);
    const dis_votes_view r = dis_votes_get_view(rest);
    dis__group_sums s;
    assert_int_equal(dis__group_sums_create(&r, rank, 3, &s), DIS_OK);
    dis__group_sums_compute(&s, group, NULL);
    dis__group_sums_compute_values(&s, values);
    dis__group_sums_destroy(&s);
    dis_votes_destroy(rest);
}

/* Against the values computed again without each annotator, and without each vote. */
static void check_left_out(const dis_votes *votes, const int32_t *group, const double *rank)
{
    enum { MAX_VALUES = 3 * DIS_GROUP_VALUES + 3 * DIS_PAIR_VALUES + 1 };
    const dis_votes_view v = dis_votes_get_view(votes);
    dis__group_sums s;
    dis__group_jackknife found;
    double value[MAX_VALUES], rest[MAX_VALUES], sum[MAX_VALUES][3] = {{0}}, squares[MAX_VALUES][3] = {{0}}, n[3] = {0};
    double annotators[MAX_VALUES] = {0}, each[MAX_VALUES] = {0};
    dis_context *ctx;
    dis_context_options one = dis_context_options_default();
    one.threads = 1;
    assert_int_equal(dis_context_create(&one, &ctx), DIS_OK);
    assert_int_equal(dis__group_sums_create(&v, rank, 3, &s), DIS_OK);
    values_without(votes, rank, group, SIZE_MAX, value);
    assert_int_equal(dis__group_jackknife_run(ctx, &s, group, value, &found), DIS_OK);
    for (size_t w = 0; w < WORKERS; w++) {
        int32_t others[WORKERS];
        if (group[w] < 0) continue;
        memcpy(others, group, sizeof others);
        others[w] = -1;
        values_without(votes, rank, others, SIZE_MAX, rest);
        n[group[w]]++;
        for (size_t x = 0; x < s.n_values; x++) {
            sum[x][group[w]] += rest[x] - value[x];
            squares[x][group[w]] += (rest[x] - value[x]) * (rest[x] - value[x]);
        }
    }
    for (uint64_t t = 0; t < v.n_votes; t++) {
        values_without(votes, rank, group, t, rest);
        for (size_t x = 0; x < s.n_values; x++) each[x] += (rest[x] - value[x]) * (rest[x] - value[x]);
    }
    for (size_t x = 0; x < s.n_values; x++) {
        for (int g = 0; g < 3; g++) annotators[x] += (squares[x][g] - sum[x][g] * sum[x][g] / n[g]) * (n[g] - 1) / n[g];
        em_assert_close(found.annotators[x], annotators[x], 1e-10 * annotators[x]);
        em_assert_close(found.votes[x], each[x], 1e-10 * each[x]);
    }
    dis__group_jackknife_destroy(&found);
    dis__group_sums_destroy(&s);
    dis_context_destroy(ctx);
}

static void test_left_out(void **state)
{
    (void)state;
    dis_votes *votes = crowd(7, .3);
    dis_worker_groups *groups = grouped(votes, by_three, 2);
    const dis_worker_groups_view g = dis_worker_groups_get_view(groups);
    double rank[CLASSES];
    ranks_of(votes, g.group, rank);
    check_left_out(votes, g.group, NULL);
    check_left_out(votes, g.group, rank);
    dis_worker_groups_destroy(groups);
    dis_votes_destroy(votes);
}

/* Intervals over annotators are wider where annotators differ, and say what they hold for. */
static void test_over(void **state)
{
    (void)state;
    dis_votes *votes = crowd(8, .3);
    dis_worker_groups *groups = grouped(votes, by_three, 2);
    dis_group_agreement *found[2];
    dis_group_agreement_options o = dis_group_agreement_options_default();
    o.permutations = 0;
    for (int over = 0; over < 2; over++) {
        o.interval_scope = (dis_interval_scope)over;
        assert_int_equal(dis_group_agreement_run(NULL, votes, groups, &o, &found[over]), DIS_OK);
        assert_int_equal(dis_group_agreement_get_view(found[over]).interval_scope, over);
    }
    const dis_group_agreement_view a = dis_group_agreement_get_view(found[0]),
                                   b = dis_group_agreement_get_view(found[1]);
    for (size_t g = 0; g < 3; g++) { /* each has annotators of both kinds */
        const dis_metric *x = &a.groups[g].within, *y = &b.groups[g].within;
        assert_true(x->has_interval && y->has_interval && x->ci_high <= 1);
        assert_true(x->ci_high - x->ci_low > 1.05 * (y->ci_high - y->ci_low));
    }
    for (size_t p = 0; p < a.n_pairs; p++) {
        const dis_group_pair *x = &a.pairs[p];
        em_assert_close(x->difference.value, a.groups[x->a].within.value - a.groups[x->b].within.value, 1e-15);
        assert_true(x->difference.ci_low < 0 && x->difference.ci_high > 0);
    }
    dis_group_agreement_destroy(found[0]);
    dis_group_agreement_destroy(found[1]);
    dis_worker_groups_destroy(groups);
    dis_votes_destroy(votes);
}

/* p-values are small where groups differ and uniform, as far as 60 crowds tell, where they do not. */
static void test_tests(void **state)
{
    (void)state;
    dis_group_agreement_options o = dis_group_agreement_options_default();
    o.permutations = 199;
    o.resamples = 0;
    o.items = true;
    dis_votes *votes = crowd(5, .3);
    dis_worker_groups *groups = grouped(votes, by_parity, 2);
    dis_group_agreement *found;
    assert_int_equal(dis_group_agreement_run(NULL, votes, groups, &o, &found), DIS_OK);
    dis_group_agreement_view v = dis_group_agreement_get_view(found);
    em_assert_close(v.p_separation, 1. / 200, 1e-15);
    em_assert_close(v.pairs[0].p, 2. / 200, 1e-15);
    assert_true(v.groups[0].association_index.value > 1.2);
    assert_true(v.n_items > 100 && v.items[0].p <= v.items[v.n_items - 1].p);
    assert_true(v.items[0].q < .05 && v.items[0].majority_class_a != v.items[0].majority_class_b);
    dis_group_agreement_destroy(found);
    dis_worker_groups_destroy(groups);
    dis_votes_destroy(votes);
    double sum = 0;
    int low = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        votes = crowd(100 + seed, 0);
        groups = grouped(votes, by_parity, 2);
        o.items = false;
        o.permutations = 99;
        assert_int_equal(dis_group_agreement_run(NULL, votes, groups, &o, &found), DIS_OK);
        v = dis_group_agreement_get_view(found);
        sum += v.p_separation / 60;
        low += v.p_separation <= .1;
        dis_group_agreement_destroy(found);
        dis_worker_groups_destroy(groups);
        dis_votes_destroy(votes);
    }
    em_assert_close(sum, .5, .15);
    assert_true(low <= 14); /* 6 expected; more has a chance of 1e-3 */
}

static void test_threads(void **state)
{
    (void)state;
    dis_votes *votes = crowd(6, .2);
    dis_worker_groups *groups = grouped(votes, by_three, 2);
    dis_group_agreement *found[2];
    for (int t = 0; t < 2; t++) {
        dis_context_options how = dis_context_options_default();
        dis_context *ctx;
        dis_group_agreement_options o = dis_group_agreement_options_default();
        o.permutations = o.resamples = 200;
        o.items = true;
        how.threads = t ? 3 : 1;
        assert_int_equal(dis_context_create(&how, &ctx), DIS_OK);
        assert_int_equal(dis_group_agreement_run(ctx, votes, groups, &o, &found[t]), DIS_OK);
        dis_context_destroy(ctx);
    }
    const dis_group_agreement_view a = dis_group_agreement_get_view(found[0]),
                                   b = dis_group_agreement_get_view(found[1]);
    for (size_t g = 0; g < a.n_groups; g++) {
        assert_true(a.groups[g].p_association_index == b.groups[g].p_association_index);
        assert_true(a.groups[g].within.ci_low == b.groups[g].within.ci_low);
    }
    assert_int_equal(a.n_items, b.n_items);
    assert_memory_equal(a.items, b.items, a.n_items * sizeof *a.items);
    dis_group_agreement_destroy(found[0]);
    dis_group_agreement_destroy(found[1]);
    dis_worker_groups_destroy(groups);
    dis_votes_destroy(votes);
}

/* ---- predictions ---- */

/* Predictions that are what the odd workers say: the even ones are served worse, and the test says so. */
static void test_evaluation(void **state)
{
    (void)state;
    dis_votes *votes = crowd(11, .5);
    dis_worker_groups *groups = grouped(votes, by_parity, 2);
    const dis_votes_view v = dis_votes_get_view(votes);
    const dis_worker_groups_view g = dis_worker_groups_get_view(groups);
    static double q[ITEMS * CLASSES];
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t k = 0; k < CLASSES; k++) q[i * CLASSES + k] = k == i % CLASSES ? .7 : .1;
    const dis_group_evaluation_input in = {
        .n_items = ITEMS, .n_classes = CLASSES, .q = q, .tasks = v.tasks, .classes = v.classes};
    dis_group_agreement_options o = dis_group_agreement_options_default();
    o.permutations = 199;
    o.resamples = 100;
    dis_group_evaluation *found;
    assert_int_equal(dis_group_evaluation_run(NULL, votes, groups, &in, &o, &found), DIS_OK);
    const dis_group_evaluation_view e = dis_group_evaluation_get_view(found);
    for (size_t k = 0; k < 2; k++) {
        double loss = 0, right = 0, n = 0;
        for (size_t i = 0; i < ITEMS; i++)
            for (uint64_t t = v.start[i]; t < v.start[i + 1]; t++) {
                if (g.group[v.worker[t]] != (int32_t)k) continue;
                n++;
                right += v.label8[t] == i % CLASSES;
                loss -= log(v.label8[t] == i % CLASSES ? .7 : .1);
            }
        em_assert_close(e.groups[k].log_loss.value, loss / n, 1e-12);
        em_assert_close(e.groups[k].agreement.value, right / n, 1e-12);
        assert_true(e.groups[k].log_loss.has_interval);
    }
    assert_true(e.groups[0].excess_log_loss.value > .1); /* even */
    em_assert_close(e.groups[0].excess_log_loss.value, -e.groups[1].excess_log_loss.value, 1e-12);
    em_assert_close(e.groups[0].p, 2. / 200, 1e-15);
    dis_group_evaluation *fixed;
    o.interval_scope = DIS_INTERVAL_ITEMS;
    assert_int_equal(dis_group_evaluation_run(NULL, votes, groups, &in, &o, &fixed), DIS_OK);
    const dis_group_evaluation_view f = dis_group_evaluation_get_view(fixed);
    assert_true(e.interval_scope == DIS_INTERVAL_ANNOTATORS && f.interval_scope == DIS_INTERVAL_ITEMS);
    for (size_t k = 0; k < 2; k++) { /* annotators of a group differ by chance alone: about the same */
        const dis_metric *x = &e.groups[k].log_loss, *y = &f.groups[k].log_loss;
        const double ratio = (x->ci_high - x->ci_low) / (y->ci_high - y->ci_low);
        assert_true(x->value == y->value && ratio > .8 && ratio < 2);
        em_assert_close(x->ci_high - x->value, x->value - x->ci_low, 1e-12);
    }
    dis_group_evaluation_destroy(fixed);
    dis_group_evaluation_destroy(found);
    dis_worker_groups_destroy(groups);
    dis_votes_destroy(votes);
}

/* ---- groups ---- */

static const char *of_sizes(size_t w)
{
    return w < 10 ? "x" : w < 18 ? "y" : w < 20 ? "p" : w < 22 ? "q" : w < 23 ? "r" : "";
}

static void test_small_groups(void **state)
{
    (void)state;
    dis_votes *votes = crowd(7, 0);
    dis_worker_groups *groups = grouped(votes, of_sizes, 5);
    dis_worker_groups_view g = dis_worker_groups_get_view(groups);
    assert_int_equal(g.n_groups, 3); /* p, q and r are five people together */
    assert_string_equal(dis_names_get(g.names, 2, NULL), "other");
    assert_int_equal(g.workers[2], 5);
    assert_int_equal(g.n_merged, 3);
    assert_int_equal(g.n_hidden, 0);
    assert_int_equal(g.n_unknown, 1);
    dis_worker_groups_destroy(groups);
    groups = grouped(votes, of_sizes, 6);
    g = dis_worker_groups_get_view(groups);
    assert_int_equal(g.n_groups, 2);
    assert_int_equal(g.n_hidden, 3);
    assert_int_equal(g.n_hidden_workers, 5);
    for (size_t w = 18; w < WORKERS; w++) assert_int_equal(g.group[w], -1);
    dis_worker_groups_destroy(groups);
    dis_votes_destroy(votes);
}

static void test_cuts(void **state)
{
    (void)state;
    static const double cuts[] = {30, 45};
    char ages[WORKERS][8];
    const char *texts[WORKERS];
    for (size_t w = 0; w < WORKERS; w++) {
        snprintf(ages[w], sizeof ages[w], "%zu", 20 + 2 * w);
        texts[w] = w == 0 ? "nan" : w == 1 ? "DATA_EXPIRED" : w == 2 ? "CONSENT_REVOKED" : ages[w];
    }
    dis_votes *votes = crowd(8, 0);
    dis_names *names;
    dis_worker_groups *groups = NULL;
    dis_worker_groups_options o = dis_worker_groups_options_default();
    o.min_group = 1;
    o.cuts = cuts;
    o.n_cuts = 2;
    assert_int_equal(dis_names_create(texts, WORKERS, &names), DIS_OK);
    assert_int_equal(dis_worker_groups_create(votes, names, &o, &groups), DIS_OK);
    const dis_worker_groups_view g = dis_worker_groups_get_view(groups);
    assert_int_equal(g.n_groups, 3);
    assert_string_equal(dis_names_get(g.names, 0, NULL), "below 30");
    assert_string_equal(dis_names_get(g.names, 1, NULL), "30 to below 45");
    assert_int_equal(g.workers[0], 2);
    assert_int_equal(g.group[5], 1); /* 30 */
    assert_int_equal(g.n_unknown, 3);
    dis_names_destroy(names);
    texts[3] = "young";
    dis_worker_groups *none = NULL;
    assert_int_equal(dis_names_create(texts, WORKERS, &names), DIS_OK);
    assert_int_equal(dis_worker_groups_create(votes, names, &o, &none), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "\"young\" is not a number"));
    assert_null(none);
    dis_names_destroy(names);
    dis_worker_groups_destroy(groups);
    dis_votes_destroy(votes);
}

/* ---- tables ---- */

static void check_table(const char *name, const char *text, const char *prefix)
{
    dis_worker_table_options o = dis_worker_table_options_default();
    dis_worker_table *table;
    dis_names *values;
    o.id_prefix = prefix;
    assert_int_equal(dis_worker_table_read(NULL, put_text(name, text), &o, &table), DIS_OK);
    const dis_worker_table_view v = dis_worker_table_get_view(table);
    assert_int_equal(v.n_workers, 3);
    dis_votes *votes = crowd(9, 0);
    assert_int_equal(dis_worker_table_values(table, "sex", votes, &values), DIS_OK);
    assert_int_equal(dis_names_count(values), WORKERS);
    assert_string_equal(dis_names_get(values, 1, NULL), "f");
    assert_string_equal(dis_names_get(values, 2, NULL), "");
    assert_string_equal(dis_names_get(values, 3, NULL), "m, other");
    assert_int_equal(dis_worker_table_values(table, "sexx", votes, &values), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "did you mean sex?"));
    dis_names_destroy(values);
    dis_worker_table_destroy(table);
    dis_votes_destroy(votes);
}

static void test_tables(void **state)
{
    (void)state;
    check_table("w.csv", "worker,age,sex\n1,30,f\n2,31,\n3,,\"m, other\"\n", NULL);
    check_table("w.tsv", "age\tid\tsex\n30\t1\tf\n31\t2\t\n\t3\tm, other\n", NULL);
    check_table("w.jsonl",
                "{\"worker\":1,\"sex\":\"f\"}\n{\"worker\":\"2\",\"sex\":null}\n{\"age\":3,\"worker\":3,\"sex\":\"m, "
                "other\"}\n",
                NULL);
    check_table("w.json", "{\n \"1\":{\"sex\":\"f\"},\n \"2\":{\"age\":4},\n \"3\":{\"sex\":\"m, other\"}\n}\n", NULL);
    check_table("l.json",
                "[{\"annotator\":1,\"sex\":\"f\"}, {\"annotator\":2}, {\"annotator\":3,\"sex\":\"m, other\"}]", NULL);
}

static void test_prefix(void **state)
{
    (void)state;
    dis_worker_table_options o = dis_worker_table_options_default();
    dis_worker_table *table;
    o.id_prefix = "Ann";
    assert_int_equal(dis_worker_table_read(NULL, put_text("p.json", "{\"0\": {\"age\": 3.0}}"), &o, &table), DIS_OK);
    const dis_worker_table_view v = dis_worker_table_get_view(table);
    assert_string_equal(dis_names_get(v.workers, 0, NULL), "Ann0");
    assert_string_equal(dis_names_get(v.values, 0, NULL), "3.0");
    dis_votes *votes = crowd(9, 0);
    dis_names *values = NULL;
    assert_int_equal(dis_worker_table_values(table, "age", votes, &values), DIS_EDATA);
    assert_non_null(strstr(dis_last_error(), "none of the 24 workers"));
    assert_null(values);
    dis_votes_destroy(votes);
    dis_worker_table_destroy(table);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } cases[] = {
        {"a.csv", "worker,sex\n,f\n", "a.csv:2:1: an empty worker id"},
        {"b.csv", "worker,sex\n1,f\n2,f\n1,m\n", "b.csv:4: worker \"1\" is in line 2, too; keep one row"},
        {"k.jsonl", "{\"id\": 7}\n{\"id\": 7}\n", "k.jsonl:2: worker \"7\" is in line 1, too; keep one row"},
        {"l.json", "[{\"id\": 7}, {\"id\": 7}]", "worker \"7\" is repeated; keep one"},
        {"c.csv", "who,sex\n1,f\n", "no column \"worker\" with the ids of workers; there are: who, sex"},
        {"d.json", "{\"1\": {\"sex\": \"f\",}}", "d.json:1:19: a key is missing; is there a comma too many?"},
        {"e.json", "{\"1\": {\"age\": NaN}}", "e.json:1:15: JSON has no NaN or Infinity; write null"},
        {"f.json", "{\"1\": 3}", "the entry of worker \"1\" must be an object"},
        {"g.json", "{\"1\": {\"age\": [3]}}", "\"age\" of a worker must be a text or a number"},
        {"h.json", "[{\"sex\": \"f\"}]", "no key \"worker\" with the id of the worker; the keys are: sex"},
        {"i.json", "{}", "the table has no workers"},
        {"j.jsonl", "{\"id\": 1}\n[2]\n", "j.jsonl:2:1: a worker must be an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dis_worker_table *table = NULL;
        assert_int_equal(dis_worker_table_read(NULL, put_text(cases[i].name, cases[i].text), NULL, &table), DIS_EDATA);
        if (!strstr(dis_last_error(), cases[i].message))
            fail_msg("\"%s\" lacks \"%s\"", dis_last_error(), cases[i].message);
        assert_null(table);
    }
}

/* ---- faults ---- */

static dis_status all_of_it(void *arg)
{
    const char *path = arg;
    dis_worker_table *table = NULL;
    dis_names *values = NULL;
    dis_worker_groups *groups = NULL;
    dis_group_agreement *found = NULL;
    dis_votes *part = NULL;
    dis_worker_groups_options how = dis_worker_groups_options_default();
    dis_group_agreement_options o = dis_group_agreement_options_default();
    bool keep[3] = {true, false, true};
    static const uint32_t task[4] = {0, 0, 0, 1}, worker[4] = {0, 1, 2, 0};
    static const uint16_t label[4] = {0, 1, 0, 1};
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = 4,
                                .n_items = 2,
                                .n_workers = 3,
                                .n_classes = 2,
                                .task = task,
                                .worker = worker,
                                .label = label};
    how.min_group = 1;
    o.resamples = o.permutations = 2;
    o.ordinal = o.items = true;
    o.min_side = 1;
    dis_votes *votes = NULL;
    dis_status status = dis_votes_create_from_arrays(NULL, &a, &votes);
    if (status == DIS_OK) status = dis_worker_table_read(NULL, path, NULL, &table);
    if (status == DIS_OK) status = dis_worker_table_values(table, "sex", votes, &values);
    if (status == DIS_OK) status = dis_worker_groups_create(votes, values, &how, &groups);
    if (status == DIS_OK) status = dis_group_agreement_run(NULL, votes, groups, &o, &found);
    if (status == DIS_OK) status = dis__votes_gather_workers(NULL, votes, keep, &part);
    dis_votes_destroy(part);
    dis_group_agreement_destroy(found);
    dis_worker_groups_destroy(groups);
    dis_names_destroy(values);
    dis_worker_table_destroy(table);
    dis_votes_destroy(votes);
    return status;
}

static void test_faults(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", put_text("f.csv", "worker,sex\n0,f\n1,m\n2,f\n"));
    walk_faults(all_of_it, NULL, path);
    snprintf(path, sizeof path, "%s", put_text("f.json", "{\"0\": {\"sex\": \"f\"}, \"1\": {\"sex\": \"m\"}}"));
    walk_faults(all_of_it, NULL, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tails),        cmocka_unit_test(test_corrections),
        cmocka_unit_test(test_two_rows),     cmocka_unit_test(test_within_is_alpha),
        cmocka_unit_test(test_published),    cmocka_unit_test(test_ordered),
        cmocka_unit_test(test_tests),        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_small_groups), cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_tables),       cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_evaluation),
        cmocka_unit_test(test_faults),       cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_over),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
