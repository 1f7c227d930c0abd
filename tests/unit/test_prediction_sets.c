/* Prediction sets: p-values against sums over all pairs of votes, split conformal prediction for one vote per item,
 * annotators left out, order of items, threads, errors, faults. */
#include "support/em_support.h"
#include "support/fault_walk.h"
#include "core/random/random.h"
#include "dissent/prediction_sets.h"

enum { ITEMS = 60, NEW = 20, ROWS = ITEMS + NEW, WORKERS = 7, CLASSES = 4 };

static uint32_t task_of[ROWS * WORKERS], worker_of[ROWS * WORKERS];
static uint16_t label_of[ROWS * WORKERS];
static double q_of[ROWS * CLASSES], counts_of[ROWS * CLASSES];
static size_t item_of[ROWS], class_of[CLASSES];
static bool calibrates[ROWS];

/* Predictions in steps of 1/20, so that scores tie; votes on the first ITEMS items, or on all. */
static dis_votes *make(bool test_votes, size_t max_votes)
{
    size_t n = 0;
    memset(counts_of, 0, sizeof counts_of);
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0;
        for (size_t k = 0; k < CLASSES; k++) {
            q_of[i * CLASSES + k] = (double)(1 + dis__random_below(1, 1, i * CLASSES + k, 20));
            sum += q_of[i * CLASSES + k];
        }
        for (size_t k = 0; k < CLASSES; k++) q_of[i * CLASSES + k] /= sum;
        item_of[i] = i < ITEMS || test_votes ? i : SIZE_MAX;
        calibrates[i] = i < ITEMS;
        size_t voted = 0;
        for (uint32_t w = 0; w < WORKERS && voted < max_votes && item_of[i] != SIZE_MAX; w++) {
            const uint64_t at = (uint64_t)i * WORKERS + w;
            if (w + 1 < WORKERS && dis__random_uniform(1, 2, at) < .4) continue;
            task_of[n] = (uint32_t)i;
            worker_of[n] = w;
            label_of[n] = (uint16_t)dis__random_below(1, 3, at, CLASSES);
            counts_of[i * CLASSES + label_of[n++]]++;
            voted++;
        }
    }
    for (size_t k = 0; k < CLASSES; k++) class_of[k] = k;
    const dis_votes_arrays a = {.size = sizeof(dis_votes_arrays),
                                .n_votes = n,
                                .n_items = test_votes ? ROWS : ITEMS,
                                .n_workers = WORKERS,
                                .n_classes = CLASSES,
                                .task = task_of,
                                .worker = worker_of,
                                .label = label_of};
    dis_votes *votes;
    assert_int_equal(dis_votes_create_from_arrays(NULL, &a, &votes), DIS_OK);
    return votes;
}

static dis_prediction_sets_input input_of(const dis_votes *votes)
{
    return (dis_prediction_sets_input){.size = sizeof(dis_prediction_sets_input),
                                       .n_items = ROWS,
                                       .n_classes = CLASSES,
                                       .q = q_of,
                                       .calibrates = calibrates,
                                       .votes = votes,
                                       .item_map = item_of,
                                       .class_map = class_of};
}

static dis_prediction_sets *sets_of(dis_context *ctx, const dis_votes *votes, double coverage, dis_set_score score)
{
    const dis_prediction_sets_input in = input_of(votes);
    dis_prediction_sets_options o = dis_prediction_sets_options_default();
    o.coverage = coverage;
    o.score = score;
    o.allow_empty = true;
    dis_prediction_sets *sets;
    if (dis_prediction_sets_run(ctx, &in, &o, &sets) != DIS_OK) fail_msg("%s", dis_last_error());
    return sets;
}

static double n_votes_of(size_t i)
{
    double n = 0;
    for (size_t k = 0; k < CLASSES; k++) n += counts_of[i * CLASSES + k];
    return n;
}

/* The definition, over all calibration items but `without`. */
static double p_of(size_t row, size_t class, size_t without)
{
    double sum = 1, n = 1;
    for (size_t i = 0; i < ITEMS; i++) {
        if (i == without) continue;
        n++;
        for (size_t k = 0; k < CLASSES; k++)
            if (1 - q_of[i * CLASSES + k] >= 1 - q_of[row * CLASSES + class])
                sum += counts_of[i * CLASSES + k] / n_votes_of(i);
    }
    return sum / n;
}

static void test_p_values(void **state)
{
    (void)state;
    dis_votes *votes = make(false, WORKERS);
    dis_prediction_sets *sets = sets_of(NULL, votes, .8, DIS_SET_SCORE_LAC);
    const dis_prediction_sets_view v = dis_prediction_sets_get_view(sets);
    assert_int_equal(v.n_calibration, ITEMS);
    assert_int_equal(v.n_tested, 0);
    assert_int_equal(v.n_annotators, WORKERS);
    assert_int_equal(v.min_items, 4);
    for (size_t r = 0; r < ROWS; r++) {
        size_t size = 0;
        for (size_t k = 0; k < CLASSES; k++) {
            const double p = p_of(r, k, r);
            em_assert_close(v.p_value[r * CLASSES + k], p, 1e-12);
            if (fabs(p - .2) > 1e-9) assert_int_equal(v.in_set[r * CLASSES + k], p > .2);
            if (r >= ITEMS) assert_int_equal(v.in_set[r * CLASSES + k], 1 - q_of[r * CLASSES + k] <= v.threshold);
            size += v.in_set[r * CLASSES + k];
        }
        assert_int_equal(v.set_size[r], size);
    }
    dis_prediction_sets_destroy(sets);
    dis_votes_destroy(votes);
}

/* With one vote per item, the threshold is the ceil((n + 1) coverage)-th smallest score. */
static void test_one_vote(void **state)
{
    (void)state;
    dis_votes *votes = make(false, 1);
    double score[ITEMS];
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t k = 0; k < CLASSES; k++)
            if (counts_of[i * CLASSES + k] > 0) score[i] = 1 - q_of[i * CLASSES + k];
    for (size_t i = 1; i < ITEMS; i++)
        for (size_t j = i; j > 0 && score[j] < score[j - 1]; j--) {
            const double other = score[j];
            score[j] = score[j - 1];
            score[j - 1] = other;
        }
    static const double coverage[] = {.5, .75, .8, .9, .95};
    for (size_t c = 0; c < sizeof coverage / sizeof *coverage; c++) {
        dis_prediction_sets *sets = sets_of(NULL, votes, coverage[c], DIS_SET_SCORE_LAC);
        const size_t rank = (size_t)ceil((ITEMS + 1) * coverage[c] - 1e-9);
        em_assert_close(dis_prediction_sets_get_view(sets).threshold, score[rank - 1], 0);
        dis_prediction_sets_destroy(sets);
    }
    dis_prediction_sets *all = sets_of(NULL, votes, .99, DIS_SET_SCORE_LAC); /* it would take 99 items */
    const dis_prediction_sets_view v = dis_prediction_sets_get_view(all);
    assert_true(isinf(v.threshold) && v.min_items == 99);
    for (size_t r = 0; r < ROWS; r++) assert_int_equal(v.set_size[r], CLASSES);
    dis_prediction_sets_destroy(all);
    dis_votes_destroy(votes);
}

static const dis_coverage_row *row_of(const dis_prediction_sets_view *v, dis_coverage_kind kind, size_t index)
{
    for (size_t r = 0; r < v->n_rows; r++)
        if (v->rows[r].kind == kind && v->rows[r].index == index) return &v->rows[r];
    return NULL;
}

static void test_tested(void **state)
{
    (void)state;
    dis_votes *votes = make(true, WORKERS);
    dis_prediction_sets *sets = sets_of(NULL, votes, .7, DIS_SET_SCORE_LAC);
    const dis_prediction_sets_view v = dis_prediction_sets_get_view(sets);
    double inside = 0, of_class = 0, all_of_class = 0;
    assert_int_equal(v.n_calibration, ITEMS);
    assert_int_equal(v.n_tested, NEW);
    for (size_t r = ITEMS; r < ROWS; r++)
        for (size_t k = 0; k < CLASSES; k++) {
            const double share = counts_of[r * CLASSES + k] / n_votes_of(r);
            inside += v.in_set[r * CLASSES + k] ? share : 0;
            of_class += v.in_set[r * CLASSES + k] && k == 2 ? share : 0;
            all_of_class += k == 2 ? share : 0;
        }
    const dis_coverage_row *all = row_of(&v, DIS_COVERAGE_ALL, 0), *class = row_of(&v, DIS_COVERAGE_CLASS, 2);
    em_assert_close(all->coverage.value, inside / NEW, 1e-12);
    em_assert_close(class->coverage.value, of_class / all_of_class, 1e-12);
    assert_true(all->coverage.ci_low < all->coverage.value && all->coverage.value < all->coverage.ci_high);
    size_t items = 0, quarters = 0;
    for (size_t size = 0; size <= CLASSES; size++) {
        const dis_coverage_row *x = row_of(&v, DIS_COVERAGE_SIZE, size);
        items += x ? x->n_items : 0;
        if (x) em_assert_close(x->mean_size, (double)size, 1e-12);
    }
    for (size_t i = 0; i < 4; i++) {
        const dis_coverage_row *x = row_of(&v, DIS_COVERAGE_ENTROPY, i);
        quarters += x->n_items;
        assert_true(x->low <= x->high);
    }
    assert_int_equal(items, NEW);
    assert_int_equal(quarters, NEW);
    dis_prediction_sets_destroy(sets);
    dis_votes_destroy(votes);
}

/* Votes of each annotator, with p-values from the votes of others on other items. */
static void test_new_annotators(void **state)
{
    (void)state;
    const double coverage = .83;
    dis_votes *votes = make(false, WORKERS);
    const dis_votes_view t = dis_votes_get_view(votes);
    dis_prediction_sets *sets = sets_of(NULL, votes, coverage, DIS_SET_SCORE_LAC);
    const dis_prediction_sets_view v = dis_prediction_sets_get_view(sets);
    double mean = 0, inside[WORKERS] = {0}, all[WORKERS] = {0};
    for (size_t i = 0; i < ITEMS; i++)
        for (uint64_t x = t.start[i]; x < t.start[i + 1]; x++) {
            const uint32_t w = t.worker[x];
            double sum = 1, n = 1;
            for (size_t j = 0; j < ITEMS; j++) {
                double above = 0, count = 0;
                for (uint64_t y = t.start[j]; y < t.start[j + 1] && j != i; y++) {
                    if (t.worker[y] == w) continue;
                    count++;
                    above += q_of[j * CLASSES + t.label8[y]] <= q_of[i * CLASSES + t.label8[x]];
                }
                if (count == 0) continue;
                n++;
                sum += above / count;
            }
            const bool covered = sum / n > 1 - coverage;
            mean += covered / (double)(t.start[i + 1] - t.start[i]) / ITEMS;
            inside[w] += covered;
            all[w]++;
        }
    for (size_t w = 0; w < WORKERS; w++) {
        const dis_coverage_row *x = row_of(&v, DIS_COVERAGE_ANNOTATOR, w);
        em_assert_close(x->coverage.value, inside[w] / all[w], 1e-12);
        em_assert_close(x->n_votes, all[w], 0);
    }
    const dis_coverage_row *x = row_of(&v, DIS_COVERAGE_NEW_ANNOTATORS, 0);
    em_assert_close(x->coverage.value, mean, 1e-12);
    assert_true(x->coverage.has_interval && x->coverage.ci_low < mean && x->coverage.ci_high > mean);
    dis_prediction_sets_destroy(sets);
    dis_votes_destroy(votes);
}

static void test_counts(void **state)
{
    (void)state;
    dis_votes *votes = make(false, WORKERS), *counts;
    assert_int_equal(dis_votes_create_from_counts(NULL, counts_of, ITEMS, CLASSES, NULL, NULL, &counts), DIS_OK);
    dis_prediction_sets *a = sets_of(NULL, votes, .8, DIS_SET_SCORE_APS),
                        *b = sets_of(NULL, counts, .8, DIS_SET_SCORE_APS);
    const dis_prediction_sets_view x = dis_prediction_sets_get_view(a), y = dis_prediction_sets_get_view(b);
    assert_memory_equal(x.p_value, y.p_value, ROWS * CLASSES * sizeof(double));
    assert_int_equal(y.n_annotators, 0);
    assert_null(row_of(&y, DIS_COVERAGE_NEW_ANNOTATORS, 0));
    dis_prediction_sets_destroy(a);
    dis_prediction_sets_destroy(b);
    dis_votes_destroy(votes);
    dis_votes_destroy(counts);
}

/* Of an item: classes by probability, and the same random share for all. */
static void test_aps(void **state)
{
    (void)state;
    dis_votes *votes = make(false, WORKERS);
    dis_prediction_sets *sets = sets_of(NULL, votes, .6, DIS_SET_SCORE_APS);
    const dis_prediction_sets_view v = dis_prediction_sets_get_view(sets);
    size_t partial = 0;
    for (size_t r = 0; r < ROWS; r++)
        for (size_t k = 0; k < CLASSES; k++)
            for (size_t j = 0; j < CLASSES; j++)
                if (q_of[r * CLASSES + j] > q_of[r * CLASSES + k]) {
                    assert_true(v.in_set[r * CLASSES + j] >= v.in_set[r * CLASSES + k]);
                    partial += v.in_set[r * CLASSES + j] > v.in_set[r * CLASSES + k];
                }
    assert_true(partial > ROWS);
    dis_prediction_sets_destroy(sets);
    dis_votes_destroy(votes);
}

/* Named items in another order, and three threads: the same p-values. */
static void test_order_and_threads(void **state)
{
    (void)state;
    dis_votes *votes = make(false, WORKERS);
    static double q[ROWS * CLASSES];
    static size_t item[ROWS];
    static bool use[ROWS];
    char text[ROWS][8];
    const char *forward[ROWS], *backward[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        snprintf(text[r], sizeof text[r], "t%zu", r);
        forward[r] = text[r];
        backward[ROWS - 1 - r] = text[r];
        memcpy(q + (ROWS - 1 - r) * CLASSES, q_of + r * CLASSES, CLASSES * sizeof *q);
        item[ROWS - 1 - r] = item_of[r];
        use[ROWS - 1 - r] = calibrates[r];
    }
    dis_names *names[2];
    assert_int_equal(dis_names_create(forward, ROWS, &names[0]), DIS_OK);
    assert_int_equal(dis_names_create(backward, ROWS, &names[1]), DIS_OK);
    dis_prediction_sets_options o = dis_prediction_sets_options_default();
    o.score = DIS_SET_SCORE_APS;
    o.seed = 3;
    dis_prediction_sets *sets[2];
    for (int pass = 0; pass < 2; pass++) {
        dis_prediction_sets_input in = input_of(votes);
        dis_context_options threads = dis_context_options_default();
        dis_context *ctx;
        threads.threads = pass ? 3 : 1;
        in.tasks = names[pass];
        if (pass) {
            in.q = q;
            in.item_map = item;
            in.calibrates = use;
        }
        assert_int_equal(dis_context_create(&threads, &ctx), DIS_OK);
        assert_int_equal(dis_prediction_sets_run(ctx, &in, &o, &sets[pass]), DIS_OK);
        dis_context_destroy(ctx);
    }
    const dis_prediction_sets_view a = dis_prediction_sets_get_view(sets[0]), b = dis_prediction_sets_get_view(sets[1]);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t k = 0; k < CLASSES; k++)
            em_assert_close(a.p_value[r * CLASSES + k], b.p_value[(ROWS - 1 - r) * CLASSES + k], 1e-12);
    for (int pass = 0; pass < 2; pass++) {
        dis_prediction_sets_destroy(sets[pass]);
        dis_names_destroy(names[pass]);
    }
    dis_votes_destroy(votes);
}

/* Votes for a class without predictions are never covered, and raise the threshold. */
static void test_unmatched(void **state)
{
    (void)state;
    dis_votes *votes = make(false, WORKERS);
    double share = 0;
    for (size_t i = 0; i < ITEMS; i++) share += counts_of[i * CLASSES + 3] / n_votes_of(i) / ITEMS;
    class_of[3] = SIZE_MAX;
    dis_prediction_sets *sets = sets_of(NULL, votes, .6, DIS_SET_SCORE_LAC),
                        *none = sets_of(NULL, votes, .95, DIS_SET_SCORE_LAC);
    const dis_prediction_sets_view v = dis_prediction_sets_get_view(sets);
    em_assert_close(v.unmatched, share, 1e-12);
    assert_true(share > .05 && isfinite(v.threshold));
    assert_true(isinf(dis_prediction_sets_get_view(none).threshold));
    assert_true(row_of(&v, DIS_COVERAGE_ALL, 0)->coverage.value <= 1 - share + 1e-12);
    dis_prediction_sets_destroy(sets);
    dis_prediction_sets_destroy(none);
    dis_votes_destroy(votes);
}

static void test_empty_sets(void **state)
{
    (void)state;
    dis_votes *votes = make(false, WORKERS);
    const dis_prediction_sets_input in = input_of(votes);
    dis_prediction_sets_options o = dis_prediction_sets_options_default();
    dis_prediction_sets *filled, *empty = sets_of(NULL, votes, .1, DIS_SET_SCORE_LAC);
    o.coverage = .1;
    assert_int_equal(dis_prediction_sets_run(NULL, &in, &o, &filled), DIS_OK);
    const dis_prediction_sets_view a = dis_prediction_sets_get_view(filled), b = dis_prediction_sets_get_view(empty);
    size_t n = 0;
    for (size_t r = 0; r < ROWS; r++) {
        assert_true(a.set_size[r] == (b.set_size[r] ? b.set_size[r] : 1));
        n += r >= ITEMS && b.set_size[r] == 0;
    }
    assert_true(n > 0 && a.n_filled == n && b.n_filled == 0);
    dis_prediction_sets_destroy(filled);
    dis_prediction_sets_destroy(empty);
    dis_votes_destroy(votes);
}

static void test_errors(void **state)
{
    (void)state;
    dis_votes *votes = make(false, WORKERS);
    dis_prediction_sets_input in = input_of(votes);
    dis_prediction_sets_options o = dis_prediction_sets_options_default();
    dis_prediction_sets *sets = NULL;
    o.coverage = 1;
    assert_int_equal(dis_prediction_sets_run(NULL, &in, &o, &sets), DIS_EUSAGE);
    assert_non_null(strstr(dis_last_error(), "coverage is 1"));
    o.coverage = .9;
    o.score = DIS_SET_SCORES;
    assert_int_equal(dis_prediction_sets_run(NULL, &in, &o, &sets), DIS_EUSAGE);
    in.votes = NULL;
    assert_int_equal(dis_prediction_sets_run(NULL, &in, NULL, &sets), DIS_EUSAGE);
    in.votes = votes;
    memset(calibrates, 0, sizeof calibrates);
    assert_int_equal(dis_prediction_sets_run(NULL, &in, NULL, &sets), DIS_EDATA);
    assert_null(sets);
    dis_votes_destroy(votes);
}

static dis_status run_all(void *votes)
{
    const dis_prediction_sets_input in = input_of(votes);
    dis_prediction_sets_options o = dis_prediction_sets_options_default();
    dis_prediction_sets *sets = NULL;
    o.score = DIS_SET_SCORE_APS;
    const dis_status status = dis_prediction_sets_run(NULL, &in, &o, &sets);
    dis_prediction_sets_destroy(sets);
    return status;
}

static void test_faults(void **state)
{
    (void)state;
    dis_votes *votes = make(true, WORKERS);
    walk_faults(run_all, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_p_values),
        cmocka_unit_test(test_one_vote),
        cmocka_unit_test(test_tested),
        cmocka_unit_test(test_new_annotators),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_aps),
        cmocka_unit_test(test_order_and_threads),
        cmocka_unit_test(test_unmatched),
        cmocka_unit_test(test_empty_sets),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
