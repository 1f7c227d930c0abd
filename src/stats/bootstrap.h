/* bootstrap.h: how much an estimate would change with other items of the same kind.
 *
 * A resample draws n_draws items with replacement and is represented by the count of each item. For resample r of a
 * seed these counts are always the same, independent of the statistic and of the number of threads. Three functions,
 * from fast to general:
 *
 *     dis__bootstrap_cells   the statistic depends on how many items fall into each of a few cells (accuracy, F1):
 *                            counts of cells are drawn directly (same distribution, different values)
 *     dis__bootstrap_sums    the statistic is computed from sums over items (means, correlations): sums of several
 *                            columns; dis__bootstrap_bins sums one column by bins. Both also run on a device
 *     dis__bootstrap_run     any statistic: a function receives the counts of all items
 *
 *     dis__bootstrap b = {.n_items = n, .n_draws = n, .n_resamples = 1000, .seed = seed};
 *     DIS_TRY(dis__bootstrap_sums(ctx, &b, &column, 1, sums));
 *     dis__bootstrap_interval(sums, b.n_resamples, &low, &high);
 *
 * Threads: the results do not depend on their number. */
#ifndef DIS_STATS_BOOTSTRAP_H
#define DIS_STATS_BOOTSTRAP_H
#include "dissent/context.h"
#include "core/error.h"

typedef struct {
    size_t n_items;     /* at least 1 */
    size_t n_draws;     /* at least 1, at most n_items */
    size_t n_resamples; /* at least 1 */
    uint64_t seed;
} dis__bootstrap;

enum { DIS_BOOTSTRAP_MAX_VALUES = 64 };

/* n_draws for a share of the items: rounded, at least 1. */
size_t dis__bootstrap_draws(size_t n_items, double fraction);

/* sums (n_resamples, n_columns): the sum over the drawn items of columns[c][i]. */
dis_status dis__bootstrap_sums(dis_context *ctx, const dis__bootstrap *b, const double *const *columns,
                               size_t n_columns, double *sums);

/* sums (n_resamples, n_bins): the sum over the drawn items of a column, by the bin of the item, below n_bins. */
enum { DIS_BOOTSTRAP_MAX_BINS = 256 };
dis_status dis__bootstrap_bins(dis_context *ctx, const dis__bootstrap *b, const double *column, const uint8_t *bin,
                               size_t n_bins, double *sums);

/* Calls statistic(arg, count, resample, thread, values) once per resample, from any thread: count (n_items) has the
 * number of draws of each item. The function writes n_values values, NaN if undefined. values (n_resamples,
 * n_values). */
typedef dis_status (*dis__bootstrap_statistic)(void *arg, const uint8_t *count, size_t resample, int thread,
                                               double *values);
dis_status dis__bootstrap_run(dis_context *ctx, const dis__bootstrap *b, dis__bootstrap_statistic statistic, void *arg,
                              size_t n_values, double *values);

/* The same for a table of cells whose counts sum to n_items: `drawn` (n_cells) is how many drawn items are in each. */
typedef dis_status (*dis__bootstrap_cell_statistic)(void *arg, const uint64_t *drawn, size_t resample, int thread,
                                                    double *values);
dis_status dis__bootstrap_cells(dis_context *ctx, const dis__bootstrap *b, const uint64_t *cells, size_t n_cells,
                                dis__bootstrap_cell_statistic statistic, void *arg, size_t n_values, double *values);

/* The 95 % percentile interval of n values: quantiles .025 and .975, interpolated linearly at position q (n - 1) of the
 * sorted values counted from 0 (NumPy's default, type 7 of Hyndman and Fan 1996). Undefined values (NaN) are skipped;
 * false, and nothing written, if fewer than half are defined. Reorders `figures`. */
bool dis__bootstrap_interval(double *figures, size_t n, double *low, double *high);
/* The same for column v of a table (n_resamples, n_values); scratch (n_resamples). */
bool dis__bootstrap_interval_of(const double *values, size_t n_resamples, size_t n_values, size_t v, double *scratch,
                                double *low, double *high);

#endif
