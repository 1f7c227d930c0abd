/* The table of metrics: names, meanings, which direction is better, ranges, and how those that are means over items
 * come from what the pass over items adds up. */
#include "evaluate/evaluation_internal.h"
#include <math.h>
#include <string.h>

static const dis_eval_row table[] = {
#define ROW(id, name_, better_, unit_, needs_, summary_) \
    [DIS_EVAL_##id] = {.name = name_, .summary = summary_, .better = better_, .needs = needs_, .unit = unit_},
    DIS_EVAL_LIST(ROW)
#undef ROW
};

const dis_eval_row *dis_eval_metric_at(size_t i)
{
    return i < DIS_EVAL_METRICS ? &table[i] : NULL;
}

dis_eval_metric dis_eval_metric_find(const char *name)
{
    size_t i = 0;
    while (i < DIS_EVAL_METRICS && strcmp(table[i].name, name) != 0) i++;
    return (dis_eval_metric)i;
}

const char *dis_eval_arrow(size_t i)
{
    const char *better = i < DIS_EVAL_METRICS ? table[i].better : "";
    return strcmp(better, "higher") == 0 ? "\xE2\x86\x91" : strcmp(better, "lower") == 0 ? "\xE2\x86\x93" : "";
}

void dis_eval_range(size_t i, double *low, double *high)
{
    /* 0 .. 1 unless it stands here; high 0: no end */
    static const struct {
        dis_eval_metric metric;
        double low, high;
    } others[] = {{DIS_EVAL_LOG_LOSS, 0, 0},
                  {DIS_EVAL_CALIBRATED_LOG_LIKELIHOOD, 0, 0},
                  {DIS_EVAL_BRIER, 0, 2},
                  {DIS_EVAL_ABSOLUTE_ERROR, 0, 0},
                  {DIS_EVAL_RANKED_PROBABILITY_SCORE, 0, 0},
                  {DIS_EVAL_CROSS_ENTROPY, 0, 0},
                  {DIS_EVAL_HUMAN_ENTROPY, 0, 0},
                  {DIS_EVAL_KL, 0, 0},
                  {DIS_EVAL_INVERSE_KL, 0, 0},
                  {DIS_EVAL_JSD, 0, 0.69314718055994530942},
                  {DIS_EVAL_MANHATTAN, 0, 2},
                  {DIS_EVAL_WASSERSTEIN, 0, 0},
                  {DIS_EVAL_HUMAN_BRIER, 0, 2},
                  {DIS_EVAL_ENTROPY_CORRELATION, -1, 1},
                  {DIS_EVAL_ENTROPY_SPEARMAN, -1, 1},
                  {DIS_EVAL_MODEL_ENTROPY, 0, 0},
                  {DIS_EVAL_PERSPECTIVE_DISTANCE, 0, 0}};
    *low = 0;
    *high = 1;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (others[k].metric == i) {
            *low = others[k].low;
            *high = others[k].high > 0 ? others[k].high : (double)INFINITY;
        }
}

const dis__column_metric dis__column_metrics[DIS_EVAL_MEANS] = {
    {DIS_EVAL_MODEL_ENTROPY, DIS_ITEM_MODEL_ENTROPY, 1, 0, false},
    {DIS_EVAL_CONFIDENCE, DIS_ITEM_CONFIDENCE, 1, 0, false},
    {DIS_EVAL_LOG_LOSS, DIS_ITEM_LOG_LOSS, 1, 0, false},
    {DIS_EVAL_BRIER, DIS_ITEM_BRIER, 1, 0, false},
    {DIS_EVAL_ABSOLUTE_ERROR, DIS_ITEM_ABSOLUTE_ERROR, 1, 0, false},
    {DIS_EVAL_RANKED_PROBABILITY_SCORE, DIS_ITEM_RANKED_PROBABILITY_SCORE, 1, 0, false},
    {DIS_EVAL_TOP_K_ACCURACY, DIS_ITEM_IN_TOP_K, 1, 0, false},
    {DIS_EVAL_HUMAN_ENTROPY, DIS_ITEM_HUMAN_ENTROPY, 1, 0, false},
    {DIS_EVAL_CROSS_ENTROPY, DIS_ITEM_CROSS_ENTROPY, 1, 0, false},
    {DIS_EVAL_KL, DIS_ITEM_KL, 1, 0, false},
    {DIS_EVAL_INVERSE_KL, DIS_ITEM_INVERSE_KL, 1, 0, false},
    {DIS_EVAL_JSD, DIS_ITEM_JSD, 1, 0, false},
    {DIS_EVAL_TOTAL_VARIATION, DIS_ITEM_TOTAL_VARIATION, 1, 0, false},
    {DIS_EVAL_MANHATTAN, DIS_ITEM_TOTAL_VARIATION, 2, 0, false},
    {DIS_EVAL_WASSERSTEIN, DIS_ITEM_WASSERSTEIN, 1, 0, false},
    {DIS_EVAL_HUMAN_BRIER, DIS_ITEM_HUMAN_BRIER, 1, 0, false},
    {DIS_EVAL_ENTROPY_SIMILARITY, DIS_ITEM_ENTROPY_GAP, -1, 1, true},
};

double dis__column_metric_value(const dis__column_metric *row, double mean, size_t n_classes)
{
    return row->shift + row->scale * (row->of_log_k ? mean / log((double)n_classes) : mean);
}
