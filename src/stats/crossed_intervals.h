/* crossed_intervals.h: intervals for new items and new annotators, if every vote is by one annotator on one item.
 *
 * An estimate varies with the sampled items, with the sampled annotators, and with single votes. Its
 * variance over annotators (a jackknife that leaves out each of them) and that over items (the bootstrap) both contain
 * the variance over single votes (a jackknife that leaves out each vote), which is therefore subtracted once:
 *
 *     V = annotators + items - votes       (Owen 2007; Cameron, Gelbach and Miller 2011)
 *
 * but at least the variance over items, and half of that over annotators: the jackknife doubles the variance of an
 * estimate that depends on pairs of votes only. The interval is symmetric in log(max - value), where max is the largest
 * possible value: t sqrt(V) to either side, with Satterthwaite's degrees of freedom. So it never exceeds max, and it is
 * longer towards less agreement, like the distribution of a variance.
 *
 *     dis__crossed_variances v = {.annotators = dis__jackknife(values, n, stride, at, NULL), .items = ..., .votes =
 *     ..., ...};
 *     dis__crossed_interval(&v, -1, 1, &metric); */
#ifndef DIS_STATS_CROSSED_INTERVALS_H
#define DIS_STATS_CROSSED_INTERVALS_H
#include "dissent/metric.h"

typedef struct {
    double annotators, items, votes; /* variances; NaN: unknown */
    double df_annotators, df_items;  /* degrees of freedom of the first two */
    bool net; /* degrees of freedom of V instead of annotators + items: fewer, for estimates from pairs of votes */
} dis__crossed_variances;

/* The variance of an estimate from its values with one of n units left out, every `stride`-th value of `left_out`. NaN
 * if one of them is NaN or n is below 2. */
double dis__jackknife(const double *left_out, size_t n, size_t stride);
/* Annotators sampled group by group: the changes of an estimate without each annotator of one group. */
typedef struct {
    double n, sum, squares; /* annotators left out, sum of their changes, sum of the squares */
} dis__left_out_group;
/* The variance over the annotators of all groups; of group g, `effective` (n_groups) has the effective number. df: the
 * degrees of freedom. NaN if a change is NaN, or if the only annotator of a group changes the estimate. */
double dis__grouped_jackknife(const dis__left_out_group *groups, const double *effective, size_t n_groups,
                              size_t stride, double *df);
/* The variance of n resampled values, every `stride`-th element. NaN is skipped; the result is NaN if fewer than half
 * are defined. */
double dis__resampled_variance(const double *figures, size_t n, size_t stride);
/* Effective number of annotators with unequal numbers of votes: (sum n)^2 / sum n^2. */
double dis__effective_number(const double *votes, size_t n);
/* Degrees of freedom of a jackknife over this many annotators: two fewer, since agreement is itself a spread among
 * annotators; one fewer for two or three annotators; 0 for fewer than two. */
double dis__annotator_df(double effective);

/* V and its degrees of freedom. */
double dis__crossed_variance_sum(const dis__crossed_variances *v, double *df);
/* The interval of metric->value, or the reason why there is none. A metric that has a reason is not changed. */
void dis__crossed_interval(const dis__crossed_variances *v, double min, double max, dis_metric *metric);
/* The same, symmetric around the value and clipped to its range: for means and differences. */
void dis__crossed_interval_linear(const dis__crossed_variances *v, double min, double max, dis_metric *metric);
/* The interval of a share with this variance: Wilson's for as many observations as have it, with Student's t. `n`: how many
 * there are if the variance is 0. */
void dis__share_interval(double variance, double df, double n, dis_metric *metric);

#endif
