/* Scores of class shares and calibration against people: against sums over all pairs of items, hard labels as a special
 * case, sets of classes, annotators left out, errors, faults. */
#include "support/em_support.h"
#include "support/fault_walk.h"
#include "core/random/random.h"
#include "evaluate/evaluation_internal.h"

enum { ITEMS = 90, CLASSES = 3, WORKERS = 6, BINS = 5 };

static double q_of[ITEMS * CLASSES], human_of[ITEMS * CLASSES];
static uint32_t task_of[ITEMS * WORKERS], worker_of[ITEMS * WORKERS];
static uint16_t label_of[ITEMS * WORKERS];
static size_t items[ITEMS], classes[CLASSES] = {0, 1, 2};

static void predict(void)
{
    for (size_t i = 0; i < ITEMS; i++) {
        double sum = 0;
        items[i] = i;
        for (size_t k = 0; k < CLASSES; k++) {
            q_of[i * CLASSES + k] = .02 + dis__random_uniform(1, 1, i * CLASSES + k);
            sum += q_of[i * CLASSES + k];
        }
        for (size_t k = 0; k < CLASSES; k++) q_of[i * CLASSES + k] /= sum;
    }
}

/* Votes of the workers but one, and their shares. */
static dis_votes *crowd(size_t without)
{
    size_t n = 0;
    predict();
    memset(human_of, 0, sizeof human_of);
    for (size_t i = 0; i < ITEMS; i++) {
        const size_t first = n;
        for (uint32_t w = 0; w < WORKERS; w++) {
            const uint64_t at = i * WORKERS + w;
            if (w == without || dis__random_uniform(1, 2, at) < .3) continue;
            task_of[n] = (uint32_t)i;
            worker_of[n] = w;
            const double x = dis__random_uniform(1, 3, at);
            label_of[n] = (uint16_t)(x < .2 + .1 * w ? 0 : x < .8 ? dis__argmax(q_of + i * CLASSES, CLASSES) : 2);
            n++;
        }
        for (size_t v = first; v < n; v++) human_of[i * CLASSES + label_of[v]] += 1. / (double)(n - first);
        for (size_t k = 0; k < CLASSES && first == n; k++) human_of[i * CLASSES + k] = 1. / CLASSES;
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

static dis_evaluation_input input_of(void)
{
    return (dis_evaluation_input){
        .size = sizeof(dis_evaluation_input), .n_items = ITEMS, .n_classes = CLASSES, .q = q_of, .human = human_of};
}

static dis_evaluation *evaluate(const dis_evaluation_input *in, uint64_t resamples, dis_status *status)
{
    dis_evaluation_options o = dis_evaluation_options_default();
    dis_evaluation *e = NULL;
    o.resamples = resamples;
    o.n_bins = BINS;
    *status = dis_evaluation_run(NULL, in, &o, &e);
    return e;
}

static double f1_of(const double *p, const double *q, size_t k, double *precision, double *recall)
{
    double both = 0, all_p = 0, all_q = 0;
    for (size_t i = 0; i < ITEMS; i++) {
        both += fmin(p[i * CLASSES + k], q[i * CLASSES + k]);
        all_p += p[i * CLASSES + k];
        all_q += q[i * CLASSES + k];
    }
    *precision = both / all_q;
    *recall = both / all_p;
    return 2 * both / (all_p + all_q);
}

static void test_class_shares(void **state)
{
    (void)state;
    dis_votes_destroy(crowd(SIZE_MAX));
    dis_status status;
    const dis_evaluation_input in = input_of();
    dis_evaluation *e = evaluate(&in, 200, &status);
    const dis_evaluation_view v = dis_evaluation_get_view(e);
    double macro = 0, brier = 0;
    for (size_t k = 0; k < CLASSES; k++) {
        const dis_soft_class_scores *s = &v.soft_classes[k];
        double precision, recall, error = 0, cross = 0;
        em_assert_close(s->f1.value, f1_of(human_of, q_of, k, &precision, &recall), 1e-12);
        em_assert_close(s->precision.value, precision, 1e-12);
        em_assert_close(s->recall.value, recall, 1e-12);
        for (size_t i = 0; i < ITEMS; i++) {
            const double p = human_of[i * CLASSES + k], q = q_of[i * CLASSES + k];
            error += (q - p) * (q - p) / ITEMS;
            cross -= (p * log(q) + (1 - p) * log(1 - q)) / ITEMS;
        }
        em_assert_close(s->brier.value, error, 1e-12);
        em_assert_close(s->cross_entropy.value, cross, 1e-12);
        const dis_metric *const of[] = {&s->precision, &s->recall, &s->f1, &s->brier, &s->cross_entropy};
        for (size_t m = 0; m < 5; m++)
            assert_true(of[m]->has_interval && of[m]->ci_low < of[m]->value && of[m]->value < of[m]->ci_high);
        macro += s->f1.value / CLASSES;
        brier += error;
    }
    em_assert_close(dis_evaluation_value(e, "soft_macro_f1"), macro, 1e-12);
    em_assert_close(dis_evaluation_value(e, "human_brier"), brier, 1e-12);
    assert_string_equal(v.metric[DIS_EVALUATION_SOFT_JACCARD].reason, "labels are not sets of classes");
    dis_evaluation_destroy(e);
}

/* Shares of 0 and 1 give the usual scores. */
static void test_hard_labels(void **state)
{
    (void)state;
    int32_t gold[ITEMS];
    dis_votes_destroy(crowd(SIZE_MAX));
    for (size_t i = 0; i < ITEMS; i++) {
        const size_t top = dis__argmax(q_of + i * CLASSES, CLASSES);
        gold[i] = (int32_t)((i * 7 + top) % CLASSES);
        for (size_t k = 0; k < CLASSES; k++) {
            q_of[i * CLASSES + k] = k == top;
            human_of[i * CLASSES + k] = k == (size_t)gold[i];
        }
    }
    dis_status status;
    dis_evaluation_input in = input_of();
    in.gold = gold;
    dis_evaluation *e = evaluate(&in, 0, &status);
    const dis_evaluation_view v = dis_evaluation_get_view(e);
    for (size_t k = 0; k < CLASSES; k++) {
        em_assert_close(v.soft_classes[k].precision.value, v.classes[k].precision.value, 1e-12);
        em_assert_close(v.soft_classes[k].recall.value, v.classes[k].recall.value, 1e-12);
        em_assert_close(v.soft_classes[k].f1.value, v.classes[k].f1.value, 1e-12);
    }
    em_assert_close(dis_evaluation_value(e, "soft_macro_f1"), dis_evaluation_value(e, "macro_f1"), 1e-12);
    dis_evaluation_destroy(e);
}

static size_t bin_of(double x)
{
    const double b = ceil(x * BINS) - 1;
    return b < 0 ? 0 : b >= BINS ? BINS - 1 : (size_t)b;
}

/* Products of the gaps of different items in one bin. */
static double error_of(const double *p, const double *q, size_t stride, double range, size_t without)
{
    double sum = 0;
    for (size_t i = 0; i < ITEMS; i++) {
        double of_item = 0, others = 0;
        for (size_t j = 0; j < ITEMS; j++) {
            if (i == without || j == without || i == j ||
                bin_of(q[i * stride] / range) != bin_of(q[j * stride] / range))
                continue;
            of_item += (p[i * stride] - q[i * stride]) * (p[j * stride] - q[j * stride]);
            others++;
        }
        sum += others > 0 ? of_item / others : 0;
    }
    return sum;
}

static void test_calibration(void **state)
{
    (void)state;
    dis_votes_destroy(crowd(SIZE_MAX));
    dis_status status;
    const dis_evaluation_input in = input_of();
    dis_evaluation *e = evaluate(&in, 500, &status);
    const dis_evaluation_view v = dis_evaluation_get_view(e);
    double sum = 0, human[ITEMS], model[ITEMS];
    for (size_t k = 0; k < CLASSES; k++) sum += error_of(human_of + k, q_of + k, CLASSES, 1, SIZE_MAX);
    em_assert_close(e->squared[DIS_EVALUATION_HUMAN_CALIBRATION_ERROR], sum / ITEMS, 1e-12);
    em_assert_close(dis_evaluation_value(e, "human_calibration_error"), sqrt(fmax(sum / ITEMS, 0)), 1e-12);
    for (size_t i = 0; i < ITEMS; i++) {
        human[i] = dis__entropy(human_of + i * CLASSES, CLASSES);
        model[i] = dis__entropy(q_of + i * CLASSES, CLASSES);
    }
    em_assert_close(e->squared[DIS_EVALUATION_ENTROPY_CALIBRATION_ERROR],
                    error_of(human, model, 1, log(CLASSES), SIZE_MAX) / ITEMS, 1e-9);
    const dis_metric *m = &v.metric[DIS_EVALUATION_HUMAN_CALIBRATION_ERROR];
    assert_true(m->has_interval && m->ci_low <= m->value && m->value <= m->ci_high && m->ci_low < m->ci_high);
    assert_int_equal(v.n_human_bins, (CLASSES + 1) * BINS);
    uint64_t n = 0;
    double predicted = 0;
    for (size_t b = 0; b < BINS; b++) {
        assert_int_equal(v.human_bin[b].class_index, 0);
        n += v.human_bin[b].n;
        if (v.human_bin[b].n) predicted += (double)v.human_bin[b].n * v.human_bin[b].predicted;
        assert_true(v.human_bin[CLASSES * BINS + b].class_index == SIZE_MAX);
    }
    assert_int_equal(n, ITEMS);
    em_assert_close(predicted / ITEMS, v.soft_classes[0].predicted, 1e-12);
    dis_evaluation_destroy(e);
    memcpy(q_of, human_of, sizeof q_of); /* nothing to correct */
    e = evaluate(&in, 100, &status);
    em_assert_close(dis_evaluation_value(e, "human_calibration_error"), 0, 0);
    em_assert_close(dis_evaluation_value(e, "entropy_calibration_error"), 0, 1e-9);
    dis_evaluation_destroy(e);
}

/* With votes: the interval is wider, by the spread of values without each annotator. */
static void test_annotators(void **state)
{
    (void)state;
    dis_votes *votes = crowd(SIZE_MAX);
    dis_status status;
    const dis_evaluation_votes from = {.size = sizeof(dis_evaluation_votes),
                                       .votes = votes,
                                       .labels = "standard",
                                       .item_map = items,
                                       .class_map = classes};
    dis_evaluation_input in = input_of();
    dis_evaluation *narrow = evaluate(&in, 100, &status);
    in.votes = &from;
    dis_evaluation *wide = evaluate(&in, 100, &status);
    const dis_evaluation_view a = dis_evaluation_get_view(narrow), b = dis_evaluation_get_view(wide);
    for (size_t k = 0; k < CLASSES; k++) {
        const dis_metric *x = &a.soft_classes[k].f1, *y = &b.soft_classes[k].f1;
        em_assert_close(x->value, y->value, 0);
        assert_true(y->ci_high - y->ci_low > x->ci_high - x->ci_low);
    }
    const dis_metric *x = &a.metric[DIS_EVALUATION_SOFT_MACRO_F1], *y = &b.metric[DIS_EVALUATION_SOFT_MACRO_F1];
    assert_true(y->ci_high - y->ci_low > x->ci_high - x->ci_low);
    dis_evaluation_destroy(narrow);
    dis_evaluation_destroy(wide);
    dis_votes_destroy(votes);
}

static double binary(double p, double q)
{
    return -(p * log(q) + (1 - p) * log(1 - q));
}

static void test_sets(void **state)
{
    (void)state;
    double both = 0, all_p = 0, all_q = 0, jaccard = 0, cross = 0, brier = 0, jsd = 0;
    for (size_t i = 0; i < ITEMS; i++) {
        double min = 0, max = 0;
        for (size_t k = 0; k < CLASSES; k++) {
            const size_t at = i * CLASSES + k;
            const double q = q_of[at] = .05 + .9 * dis__random_uniform(4, 1, at);
            const double p = human_of[at] = (double)dis__random_below(4, 2, at, 5) / 4, m = (p + q) / 2;
            min += fmin(p, q);
            max += fmax(p, q);
            both += fmin(p, q);
            all_p += p;
            all_q += q;
            cross += binary(p, q) / CLASSES / ITEMS;
            brier += 2 * (p - q) * (p - q) / CLASSES / ITEMS;
            const double of_p = p > 0 && p < 1 ? binary(p, p) : 0;
            jsd += (binary(m, m) - (of_p + binary(q, q)) / 2) / CLASSES / ITEMS;
        }
        jaccard += min / max / ITEMS;
    }
    dis_status status;
    dis_evaluation_input in = input_of();
    in.multi_label = true;
    dis_evaluation *e = evaluate(&in, 200, &status);
    assert_int_equal(status, DIS_OK);
    em_assert_close(dis_evaluation_value(e, "soft_precision"), both / all_q, 1e-12);
    em_assert_close(dis_evaluation_value(e, "soft_recall"), both / all_p, 1e-12);
    em_assert_close(dis_evaluation_value(e, "soft_micro_f1"), 2 * both / (all_p + all_q), 1e-12);
    em_assert_close(dis_evaluation_value(e, "soft_jaccard"), jaccard, 1e-12);
    em_assert_close(dis_evaluation_value(e, "cross_entropy"), cross, 1e-9);
    em_assert_close(dis_evaluation_value(e, "human_brier"), brier, 1e-12);
    em_assert_close(dis_evaluation_value(e, "po_jsd"), 1 - jsd / log(2), 1e-9);
    double low, high;
    assert_true(dis_evaluation_interval(e, "soft_jaccard", &low, &high) && low < jaccard && jaccard < high);
    assert_true(dis_evaluation_interval(e, "soft_micro_f1", &low, &high) && low < high && high < 1);
    dis_evaluation_destroy(e);
    int32_t gold[ITEMS] = {0};
    in.gold = gold;
    assert_null(evaluate(&in, 0, &status));
    assert_int_equal(status, DIS_EUSAGE);
}

static dis_status run_all(void *votes)
{
    const dis_evaluation_votes from = {.size = sizeof(dis_evaluation_votes),
                                       .votes = votes,
                                       .labels = "standard",
                                       .item_map = items,
                                       .class_map = classes};
    dis_status status;
    dis_evaluation_input in = input_of();
    in.votes = &from;
    dis_evaluation_destroy(evaluate(&in, 20, &status));
    if (status != DIS_OK) return status;
    in.multi_label = true;
    dis_evaluation_destroy(evaluate(&in, 20, &status));
    return status;
}

static void test_faults(void **state)
{
    (void)state;
    dis_votes *votes = crowd(SIZE_MAX);
    walk_faults(run_all, NULL, votes);
    dis_votes_destroy(votes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_shares), cmocka_unit_test(test_hard_labels), cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_annotators),   cmocka_unit_test(test_sets),        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
