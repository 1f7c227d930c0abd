/* The table of metrics. Only its row knows a metric by name: the tool, the report, experiments and Python read its
 * texts, range and unit here, and the evaluation reads how it is computed. */
#include "core/numbers/elementary.h"
#include "evaluate/metrics.h"
#include "tool/value_names.h"
#include <math.h>
#include <string.h>

#define LOG_2         0.69314718055994530942
#define SQRT_2        1.41421356237309504880
#define MEAN(column_) .aggregate = DIS_MEAN_OF_ITEMS, .column = (column_), .scale = 1
#define SCORE(score_) .aggregate = DIS_CLASS_SCORE, .score = (score_)
#define OWN(code_)    .aggregate = DIS_OWN_CODE, .code = (code_)

static const char *no_top_k(size_t n_classes, size_t top_k)
{
    return top_k >= n_classes ? "k is not below the number of classes: always 1" : NULL;
}

static const char *no_entropy(size_t n_classes, size_t top_k)
{
    (void)top_k;
    return n_classes < 2 ? "there is one class" : NULL;
}

/* {name, texts, summary, better, unit, needs, low, high}, how it is computed */
const dis__metric dis__metrics[DIS_EVALUATION_METRICS] = {
    [DIS_EVALUATION_ACCURACY] = {{"accuracy", "accuracy", "share of items whose most probable class is the gold label",
                                  "higher", "", DIS_NEEDS_GOLD, 0, 1},
                                 SCORE(DIS_SCORE_ACCURACY)},
    [DIS_EVALUATION_MAJORITY_ACCURACY] = {{"majority_accuracy", "majority accuracy",
                                           "accuracy of always answering the most frequent gold label", "baseline", "",
                                           DIS_NEEDS_GOLD, 0, 1},
                                          SCORE(DIS_SCORE_MAJORITY_ACCURACY)},
    [DIS_EVALUATION_TOP_K_ACCURACY] = {{"top_k_accuracy", "top k accuracy",
                                        "share of items whose gold label is among the k most probable classes",
                                        "higher", "", DIS_NEEDS_GOLD, 0, 1},
                                       MEAN(DIS_ITEM_IN_TOP_K),
                                       .undefined = no_top_k},
    [DIS_EVALUATION_MACRO_F1] = {{"macro_f1", "macro-F1", "mean F1 of the classes that occur in gold or predictions",
                                  "higher", "", DIS_NEEDS_GOLD, 0, 1},
                                 SCORE(DIS_SCORE_MACRO_F1)},
    [DIS_EVALUATION_MAJORITY_MACRO_F1] = {{"majority_macro_f1", "majority macro-F1",
                                           "macro F1 of always answering the most frequent gold label", "baseline", "",
                                           DIS_NEEDS_GOLD, 0, 1},
                                          SCORE(DIS_SCORE_MAJORITY_MACRO_F1)},
    [DIS_EVALUATION_MICRO_F1] = {{"micro_f1", "micro-F1",
                                  "F1 of all decisions pooled; with one label per item, accuracy", "higher", "",
                                  DIS_NEEDS_GOLD, 0, 1},
                                 SCORE(DIS_SCORE_ACCURACY)},
    [DIS_EVALUATION_WEIGHTED_F1] = {{"weighted_f1", "weighted F1",
                                     "mean F1 of the classes, weighted by their gold labels", "higher", "",
                                     DIS_NEEDS_GOLD, 0, 1},
                                    SCORE(DIS_SCORE_WEIGHTED_F1)},
    [DIS_EVALUATION_LOG_LOSS] = {{"log_loss", "log-loss", "mean -log q at the gold label, nats", "lower", "nats",
                                  DIS_NEEDS_GOLD, 0, INFINITY},
                                 MEAN(DIS_ITEM_LOG_LOSS)},
    [DIS_EVALUATION_CALIBRATED_LOG_LIKELIHOOD] =
        {{"calibrated_log_likelihood", "calibrated log-likelihood",
          "mean -log q at the gold label of one half after fitting a temperature on "
          "the other, mean of the splits, nats",
          "lower", "nats", DIS_NEEDS_GOLD, 0, INFINITY},
         OWN(&dis__calibrated_log_likelihood)},
    [DIS_EVALUATION_BRIER] = {{"brier", "Brier", "mean squared distance of q from the gold label as a one-hot row",
                               "lower", "", DIS_NEEDS_GOLD, 0, 2},
                              MEAN(DIS_ITEM_BRIER)},
    [DIS_EVALUATION_ECE] = {{"ece", "ECE", "expected calibration error: mean |accuracy - confidence| over equal bins",
                             "lower", "", DIS_NEEDS_GOLD, 0, 1},
                            OWN(&dis__calibration_error)},
    [DIS_EVALUATION_ABSOLUTE_ERROR] = {{"absolute_error", "absolute error",
                                        "mean number of steps from the median of q to the gold label", "lower", "steps",
                                        DIS_NEEDS_GOLD | DIS_NEEDS_ORDER, 0, INFINITY},
                                       MEAN(DIS_ITEM_ABSOLUTE_ERROR)},
    [DIS_EVALUATION_RANKED_PROBABILITY_SCORE] =
        {{"ranked_probability_score", "ranked probability score",
          "mean over items of the sum of squared differences of q and the gold label, both cumulated in class order",
          "lower", "", DIS_NEEDS_GOLD | DIS_NEEDS_ORDER, 0, INFINITY},
         MEAN(DIS_ITEM_RANKED_PROBABILITY_SCORE)},
    [DIS_EVALUATION_CROSS_ENTROPY] = {{"cross_entropy", "cross-entropy",
                                       "mean -sum p log q, nats; never below human_entropy", "lower", "nats",
                                       DIS_NEEDS_HUMAN, 0, INFINITY},
                                      MEAN(DIS_ITEM_CROSS_ENTROPY)},
    [DIS_EVALUATION_HUMAN_ENTROPY] = {{"human_entropy", "human entropy",
                                       "mean entropy of p, nats: the floor of cross-entropy", "floor", "nats",
                                       DIS_NEEDS_HUMAN, 0, INFINITY},
                                      MEAN(DIS_ITEM_HUMAN_ENTROPY)},
    [DIS_EVALUATION_KL] = {{"kl", "KL", "mean KL(p || q), nats", "lower", "nats", DIS_NEEDS_HUMAN, 0, INFINITY},
                           MEAN(DIS_ITEM_KL)},
    [DIS_EVALUATION_INVERSE_KL] = {{"inverse_kl", "inverse KL",
                                    "mean KL(q || p), nats, with the same minimum for p as for q", "lower", "nats",
                                    DIS_NEEDS_HUMAN, 0, INFINITY},
                                   MEAN(DIS_ITEM_INVERSE_KL)},
    [DIS_EVALUATION_JSD] = {{"jsd", "JSD", "mean Jensen-Shannon divergence of p and q, nats", "lower", "nats",
                             DIS_NEEDS_HUMAN, 0, LOG_2},
                            MEAN(DIS_ITEM_JSD)},
    [DIS_EVALUATION_TOTAL_VARIATION] = {{"total_variation", "total variation", "mean of half the sum of |p - q|",
                                         "lower", "", DIS_NEEDS_HUMAN, 0, 1},
                                        MEAN(DIS_ITEM_TOTAL_VARIATION)},
    [DIS_EVALUATION_MANHATTAN] = {{"manhattan", "manhattan", "mean of the sum of |p - q|", "lower", "", DIS_NEEDS_HUMAN,
                                   0, 2},
                                  .aggregate = DIS_MEAN_OF_ITEMS,
                                  .column = DIS_ITEM_TOTAL_VARIATION,
                                  .scale = 2},
    [DIS_EVALUATION_WASSERSTEIN] = {{"wasserstein", "wasserstein",
                                     "mean earth mover's distance, one step from a class to the next", "lower", "steps",
                                     DIS_NEEDS_HUMAN | DIS_NEEDS_ORDER, 0, INFINITY},
                                    MEAN(DIS_ITEM_WASSERSTEIN)},
    [DIS_EVALUATION_HUMAN_BRIER] = {{"human_brier", "human brier", "mean squared distance of q from p", "lower", "",
                                     DIS_NEEDS_HUMAN, 0, 2},
                                    MEAN(DIS_ITEM_HUMAN_BRIER)},
    [DIS_EVALUATION_ENTROPY_CORRELATION] = {{"entropy_correlation", "entropy correlation",
                                             "Pearson correlation over items of the entropies of q and p", "higher", "",
                                             DIS_NEEDS_HUMAN, -1, 1},
                                            OWN(&dis__entropy_correlation)},
    [DIS_EVALUATION_ENTROPY_SPEARMAN] = {{"entropy_spearman", "entropy spearman",
                                          "Spearman correlation over items of the entropies of q and p", "higher", "",
                                          DIS_NEEDS_HUMAN, -1, 1},
                                         OWN(&dis__entropy_spearman)},
    [DIS_EVALUATION_ENTROPY_SIMILARITY] = {{"entropy_similarity", "entropy similarity",
                                            "1 - mean |H(p) - H(q)| / log K", "higher", "", DIS_NEEDS_HUMAN, 0, 1},
                                           .aggregate = DIS_MEAN_OF_ITEMS,
                                           .column = DIS_ITEM_ENTROPY_GAP,
                                           .scale = -1,
                                           .shift = 1,
                                           .in_log_k = true,
                                           .undefined = no_entropy},
    [DIS_EVALUATION_MODEL_ENTROPY] = {{"model_entropy", "model entropy", "mean entropy of q, nats", "none", "nats", 0,
                                       0, INFINITY},
                                      MEAN(DIS_ITEM_MODEL_ENTROPY)},
    [DIS_EVALUATION_CONFIDENCE] = {{"confidence", "confidence", "mean of the largest probability of q", "none", "", 0,
                                    0, 1},
                                   MEAN(DIS_ITEM_CONFIDENCE)},
    [DIS_EVALUATION_PERSPECTIVE_ERROR] =
        {{"perspective_error", "perspective error",
          "mean over items of the share of votes that differ from the prediction for their annotator", "lower", "",
          DIS_NEEDS_WORKERS, 0, 1},
         OWN(NULL)},
    [DIS_EVALUATION_PERSPECTIVE_DISTANCE] =
        {{"perspective_distance", "perspective distance",
          "mean over items of the distance, in classes, from votes to the median of the prediction for their annotator",
          "lower", "steps", DIS_NEEDS_WORKERS | DIS_NEEDS_ORDER, 0, INFINITY},
         OWN(NULL)},
    [DIS_EVALUATION_SOFT_MICRO_F1] = {{"soft_micro_f1", "soft micro-F1",
                                       "F1 of class shares: mean of the sum of min(p, q); 1 - total_variation",
                                       "higher", "", DIS_NEEDS_HUMAN, 0, 1},
                                      .aggregate = DIS_MEAN_OF_ITEMS,
                                      .column = DIS_ITEM_TOTAL_VARIATION,
                                      .scale = -1,
                                      .shift = 1,
                                      .soft = DIS_SOFT_F1},
    [DIS_EVALUATION_PO_JSD] = {{"po_jsd", "PO-JSD", "1 - mean Jensen-Shannon divergence of p and q in bits", "higher",
                                "", DIS_NEEDS_HUMAN, 0, 1},
                               .aggregate = DIS_MEAN_OF_ITEMS,
                               .column = DIS_ITEM_JSD,
                               .scale = -1 / LOG_2,
                               .shift = 1},
    [DIS_EVALUATION_ENTROPY_EXCESS] = {{"entropy_excess", "entropy excess",
                                        "mean H(q) - H(p), nats: above 0, the model is less certain than people",
                                        "none", "nats", DIS_NEEDS_HUMAN, -INFINITY, INFINITY},
                                       MEAN(DIS_ITEM_ENTROPY_EXCESS)},
    [DIS_EVALUATION_SOFT_MACRO_F1] = {{"soft_macro_f1", "soft macro-F1", "mean over classes of the F1 of class shares",
                                       "higher", "", DIS_NEEDS_HUMAN, 0, 1},
                                      OWN(NULL),
                                      .soft = DIS_SOFT_MACRO_F1},
    [DIS_EVALUATION_HUMAN_CALIBRATION_ERROR] =
        {{"human_calibration_error", "distribution calibration error",
          "root of the mean squared gap of shares of people and predictions, per class and bin, without noise", "lower",
          "", DIS_NEEDS_HUMAN, 0, SQRT_2},
         OWN(&dis__distribution_calibration),
         .root = true},
    [DIS_EVALUATION_ENTROPY_CALIBRATION_ERROR] =
        {{"entropy_calibration_error", "entropy calibration error",
          "root of the mean squared gap of H(p) and H(q) per bin of H(q), without noise, nats", "lower", "nats",
          DIS_NEEDS_HUMAN, 0, INFINITY},
         OWN(&dis__entropy_calibration),
         .root = true},
    [DIS_EVALUATION_SOFT_PRECISION] = {{"soft_precision", "soft precision",
                                        "sets of classes: sum of min(p, q) over the sum of q, all classes pooled",
                                        "higher", "", DIS_NEEDS_HUMAN | DIS_NEEDS_SETS, 0, 1},
                                       OWN(NULL),
                                       .soft = DIS_SOFT_PRECISION},
    [DIS_EVALUATION_SOFT_RECALL] = {{"soft_recall", "soft recall",
                                     "sets of classes: sum of min(p, q) over the sum of p, all classes pooled",
                                     "higher", "", DIS_NEEDS_HUMAN | DIS_NEEDS_SETS, 0, 1},
                                    OWN(NULL),
                                    .soft = DIS_SOFT_RECALL},
    [DIS_EVALUATION_SOFT_JACCARD] = {{"soft_jaccard", "soft Jaccard",
                                      "sets of classes: mean over items of the sum of min(p, q) over that of max(p, q)",
                                      "higher", "", DIS_NEEDS_HUMAN | DIS_NEEDS_SETS, 0, 1},
                                     MEAN(DIS_ITEM_SOFT_JACCARD)},
};

const dis__item_column_row dis__item_columns[DIS_ITEM_COLUMNS] = {
#define ROW(id, name, needs_, listed_) {.needs = needs_, .listed = listed_},
    DIS__ITEM_COLUMN_LIST(ROW)
#undef ROW
};

const dis_evaluation_metric_row *dis_evaluation_metric_get(size_t i)
{
    return i < DIS_EVALUATION_METRICS ? &dis__metrics[i].row : NULL;
}

dis_evaluation_metric dis_evaluation_metric_find(const char *name)
{
    size_t i = 0;
    while (i < DIS_EVALUATION_METRICS && strcmp(dis__metrics[i].row.name, name) != 0) i++;
    return (dis_evaluation_metric)i;
}

const char *dis__evaluation_metric_arrow(size_t i)
{
    const char *better = i < DIS_EVALUATION_METRICS ? dis__metrics[i].row.better : "";
    return strcmp(better, "higher") == 0 ? "\xE2\x86\x91" : strcmp(better, "lower") == 0 ? "\xE2\x86\x93" : "";
}

dis_evaluation_metric dis__metric_of_column(dis__item_column column)
{
    size_t m = 0;
    while (m < DIS_EVALUATION_METRICS && (dis__metrics[m].aggregate != DIS_MEAN_OF_ITEMS ||
                                          dis__metrics[m].column != column || dis__metrics[m].scale != 1))
        m++;
    return (dis_evaluation_metric)m;
}

double dis__metric_from_mean(const dis__metric *metric, double mean, size_t n_classes)
{
    return metric->shift + metric->scale * (metric->in_log_k ? mean / dis__log((double)n_classes) : mean);
}
