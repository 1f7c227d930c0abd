/* crossed_intervals.h: intervals for other items and other annotators, when every vote is that of one annotator on one item.
 *
 * A figure varies with the items that were drawn, with the annotators who were drawn, and with single votes. Its
 * variance over annotators (a jackknife that leaves out each of them) and that over items (the bootstrap) both contain
 * the variance over single votes (a jackknife that leaves out each vote), which is therefore subtracted once:
 *
 *     V = annotators + items - votes       (Owen 2007; Cameron, Gelbach and Miller 2011)
 *
 * but never less than the variance over items, nor than half of that over annotators: the jackknife doubles the variance
 * of a figure that depends on pairs of votes alone. The interval is symmetric in log(max - value), where max is the
 * largest possible value: t sqrt(V) wide to either side, with Satterthwaite's degrees of freedom. So it never reaches
 * beyond max, and it is longer towards less agreement, as the distribution of a variance is.
 *
 *     dis__crossed_variances v = {.annotators = dis__jackknife(values, n, stride, at, NULL), .items = ..., .votes = ..., ...};
 *     dis__crossed_interval(&v, -1, 1, &metric); */
#ifndef DIS_STATS_CROSSED_H
#define DIS_STATS_CROSSED_H
#include "dissent/metric.h"

typedef struct {
    double annotators, items, votes; /* variances; NaN: unknown */
    double df_annotators, df_items;  /* degrees of freedom of the first two */
    bool net; /* degrees of freedom of V rather than of annotators + items: fewer, for figures of pairs of votes */
} dis__crossed_variances;

/* The variance of a figure from its values with one of n units left out, every `stride`-th number of `left_out`. NaN
 * where one of them is NaN or n is below 2. */
double dis__jackknife(const double *left_out, size_t n, size_t stride);
/* Annotators who were drawn group by group: how a figure changes without each annotator of one group. */
typedef struct {
    double n, sum, squares; /* annotators left out, their changes, the squares of these */
} dis__left_out_group;
/* The variance over the annotators of all groups; of group g, `effective` (n_groups) has the effective number. df: the
 * degrees of freedom. NaN where a change is NaN, or only annotator of a group changes the figure. */
double dis__grouped_jackknife(const dis__left_out_group *groups, const double *effective, size_t n_groups,
                              size_t stride, double *df);
/* The variance of n resampled figures, every `stride`-th number; NaN is left out, and the result where fewer than half
 * are defined. */
double dis__resampled_variance(const double *figures, size_t n, size_t stride);
/* How many annotators with so many votes each weigh as much as equal ones would: (sum n)^2 / sum n^2. */
double dis__effective_number(const double *votes, size_t n);
/* Degrees of freedom of a jackknife over so many annotators: two fewer, since agreement is itself a spread among
 * annotators; one fewer where only two or three are left. 0 below two annotators. */
double dis__annotator_df(double effective);

/* V and its degrees of freedom. */
double dis__crossed_variance_sum(const dis__crossed_variances *v, double *df);
/* The interval of metric->value, or why there is none. A metric with a reason is left alone. */
void dis__crossed_interval(const dis__crossed_variances *v, double min, double max, dis_metric *metric);
/* The same, symmetric in the value and cut to its range: for means and differences. */
void dis__crossed_interval_linear(const dis__crossed_variances *v, double min, double max, dis_metric *metric);

#endif
