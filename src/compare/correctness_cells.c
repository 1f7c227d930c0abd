/* On which items do two models differ? Soft labels of annotators in four cells: both correct, both wrong, only A
 * correct, only B correct (Fornaciari et al. 2021, table 3).
 *
 * Each item has three statistics: the excess kurtosis of its soft label's K probabilities (high: one class stands out),
 * its entropy and its largest probability. A cell has their means, over (item, pair of seeds); the two mixed cells are
 * compared by a Mann-Whitney test. Values are rounded to 10 decimals before they are ranked, so that equal shares on
 * different classes tie and rounding errors do not separate them.
 *
 * The kurtosis of two values is always -2 and of three always -1.5: for K = 2 it is undefined here, for K = 3 a
 * constant without a test. A uniform soft label has none. */
#include "compare/compare_internal.h"
#include "dissent/labels.h"
#include "tool/value_names.h"
#include "tool/arrays.h"
#include "stats/significance.h"
#include "core/memory/memory.h"
#include <math.h>

static double max_probability(const double *p, size_t n_classes)
{
    return p[dis__argmax(p, n_classes)];
}

static const struct {
    const char *name;
    double (*of)(const double *p, size_t n_classes);
} statistics[DIS_CELL_STATISTICS] = {
    [DIS_CELL_KURTOSIS] = {"kurtosis", dis__excess_kurtosis},
    [DIS_CELL_ENTROPY] = {"entropy", dis__entropy},
    [DIS_CELL_MAX_PROBABILITY] = {"max_probability", max_probability},
};

static const char *const cell_names[DIS_CELLS] = {
    [DIS_CELL_BOTH_CORRECT] = "both_right",
    [DIS_CELL_BOTH_WRONG] = "both_wrong",
    [DIS_CELL_ONLY_A] = "only_a_correct",
    [DIS_CELL_ONLY_B] = "only_b_correct",
};

const char *dis__comparison_statistic_name(size_t i)
{
    return i < DIS_CELL_STATISTICS ? statistics[i].name : NULL;
}

const char *dis__comparison_cell_name(size_t i)
{
    return i < DIS_CELLS ? cell_names[i] : NULL;
}

static size_t cell_of(const dis_comparison_input *in, const size_t pair[2], size_t i)
{
    const bool a = in->a[pair[0]][i] == in->gold[i], b = in->b[pair[1]][i] == in->gold[i];
    return a ? b ? DIS_CELL_BOTH_CORRECT : DIS_CELL_ONLY_A : b ? DIS_CELL_ONLY_B : DIS_CELL_BOTH_WRONG;
}

static double rounded(double x)
{
    return nearbyint(x * 1e10) / 1e10;
}

/* Sums and mixed cells of one statistic; value (n_items), NaN: none. mixed[0] and mixed[1] receive the items that only
 * A and only B answered correctly. */
static void sum_cells(const dis_comparison_input *in, const size_t (*pairs)[2], size_t n_pairs, const double *value,
                      double *mixed[2], size_t n_mixed[2], dis_metric *mean)
{
    double sum[DIS_CELLS] = {0};
    size_t n[DIS_CELLS] = {0};
    n_mixed[0] = n_mixed[1] = 0;
    for (size_t q = 0; q < n_pairs; q++)
        for (size_t i = 0; i < in->n_items; i++) {
            if (in->gold[i] < 0 || isnan(value[i])) continue;
            const size_t c = cell_of(in, pairs[q], i);
            sum[c] += value[i];
            n[c]++;
            if (c == DIS_CELL_ONLY_A) mixed[0][n_mixed[0]++] = rounded(value[i]);
            if (c == DIS_CELL_ONLY_B) mixed[1][n_mixed[1]++] = rounded(value[i]);
        }
    for (size_t c = 0; c < DIS_CELLS; c++)
        mean[c] = n[c] ? (dis_metric){.value = sum[c] / (double)n[c], .n = n[c]}
                       : dis__metric_undefined("no item in this cell");
}

static void set_constant_kurtosis(size_t n_classes, dis_metric *mean, dis_cell_statistic *out)
{
    const char *reason = n_classes == 2   ? "the kurtosis of two numbers is always -2"
                         : n_classes == 3 ? "the kurtosis of three numbers is always -1.5"
                                          : "one class has no spread";
    for (size_t c = 0; c < DIS_CELLS; c++) {
        if (n_classes == 3 && !mean[c].reason) {
            mean[c].value = -1.5;
            mean[c].degenerate = true;
        } else if (n_classes < 3)
            mean[c] = dis__metric_undefined(reason);
    }
    out->test = (dis_rank_test){
        .u = NAN, .p = NAN, .n_x = mean[DIS_CELL_ONLY_A].n, .n_y = mean[DIS_CELL_ONLY_B].n, .reason = reason};
}

dis_status dis__correctness_cells_compute(const dis_comparison_input *in, const size_t (*pairs)[2], size_t n_pairs,
                                          dis_alternative alternative, dis_comparison *out)
{
    for (size_t q = 0; q < n_pairs; q++)
        for (size_t i = 0; i < in->n_items; i++)
            if (in->gold[i] >= 0) out->cell[cell_of(in, pairs[q], i)]++;
    if (!in->human) return DIS_OK;
    double *value = NULL, *mixed[2] = {NULL, NULL};
    size_t n_mixed[2];
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&value, in->n_items, sizeof *value), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&mixed[0], (size_t)out->cell[DIS_CELL_ONLY_A], sizeof *mixed[0]), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&mixed[1], (size_t)out->cell[DIS_CELL_ONLY_B], sizeof *mixed[1]), end);
    for (size_t s = 0; s < DIS_CELL_STATISTICS; s++) {
        dis_cell_statistic *o = &out->statistic[s];
        for (size_t i = 0; i < in->n_items; i++) {
            value[i] = statistics[s].of(in->human + i * in->n_classes, in->n_classes);
            o->n_excluded += in->gold[i] >= 0 && isnan(value[i]);
        }
        sum_cells(in, pairs, n_pairs, value, mixed, n_mixed, out->mean[s]);
        if (s == DIS_CELL_KURTOSIS && in->n_classes <= 3)
            set_constant_kurtosis(in->n_classes, out->mean[s], o);
        else
            DIS_TRY_GOTO(status,
                         dis__mann_whitney_test(mixed[0], n_mixed[0], mixed[1], n_mixed[1], alternative, &o->test),
                         end);
    }
    out->view.has_statistics = true;
end:
    dis__free(value);
    dis__free(mixed[0]);
    dis__free(mixed[1]);
    return status;
}
