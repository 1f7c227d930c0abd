/* label_calls.h: what the program computes from labels and votes for its summaries. Not part of the public interface. */
#ifndef DIS_TOOL_LABEL_CALLS_H
#define DIS_TOOL_LABEL_CALLS_H
#include "dissent/context.h"
#include "dissent/labels.h"
#include "dissent/metric.h"
#include "dissent/votes.h"

/* Mean entropy in nats and mean largest probability of labels p (n_items, n_classes), with normal 95 % intervals. All
 * ranks call it, each with its items; n_all is the number of items of all ranks. */
dis_status dis__labels_compute_means(dis_context *ctx, const double *p, size_t n_items, size_t n_classes, size_t n_all,
                                     dis_metric *entropy, dis_metric *largest);
/* The mean distribution of all rows of an item; items in the order of their first rows. */
dis_status dis__labels_average_items(dis_context *ctx, const dis_labels_view *rows, dis_labels **out);
/* The share of votes that agree with the gold label of their item (gold (n_items), -1: none), and the share that is
 * expected by chance. *below: the share is more than two standard errors below chance. */
dis_status dis__gold_compare_with_chance(const dis_votes_view *votes, const int32_t *gold, double *share,
                                         double *chance, bool *below);

#endif
