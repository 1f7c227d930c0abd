/* Names of metrics as people write them: "macro-F1", "calibrated log-likelihood". A name that the table does not have
 * is that of the command line with spaces. */
#include "report/report_internal.h"
#include <stdio.h>

/* clang-format off */
static const struct {
    dis_eval_metric metric;
    const char *words;
} written[] = {
    {DIS_EVAL_MACRO_F1, "macro-F1"},          {DIS_EVAL_MAJORITY_MACRO_F1, "majority macro-F1"},
    {DIS_EVAL_MICRO_F1, "micro-F1"},          {DIS_EVAL_WEIGHTED_F1, "weighted F1"},
    {DIS_EVAL_LOG_LOSS, "log-loss"},          {DIS_EVAL_CALIBRATED_LOG_LIKELIHOOD, "calibrated log-likelihood"},
    {DIS_EVAL_BRIER, "Brier"},          {DIS_EVAL_ECE, "ECE"},
    {DIS_EVAL_CROSS_ENTROPY, "cross-entropy"}, {DIS_EVAL_KL, "KL"},
    {DIS_EVAL_INVERSE_KL, "inverse KL"},      {DIS_EVAL_JSD, "JSD"},
};
/* clang-format on */

void dis__metric_words(size_t metric, char out[DIS__METRIC_WORDS])
{
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (written[i].metric == metric) {
            snprintf(out, DIS__METRIC_WORDS, "%s", written[i].words);
            return;
        }
    snprintf(out, DIS__METRIC_WORDS, "%s", dis_eval_metric_at(metric)->name);
    for (char *s = out; *s; s++)
        if (*s == '_') *s = ' ';
}

const char *dis__metric_unit(size_t metric, char out[DIS__METRIC_UNIT])
{
    const char *unit = dis_eval_metric_at(metric)->unit;
    snprintf(out, DIS__METRIC_UNIT, *unit ? " (%s)" : "%s", unit);
    return out;
}
