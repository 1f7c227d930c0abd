/* tempering.h: views sharpened or flattened by one temperature each, shared by temperature and hybrid. */
#ifndef DIS_LABELS_TEMPERING_H
#define DIS_LABELS_TEMPERING_H
#include "labels/combiner.h"
#include "core/kernel.h"

/* The fields of an options struct that choose the temperatures. */
typedef struct {
    double lambda, bound, start, fixed;
} dis__temperature_search_options;

#define DIS_OPTIONS_TEMPERATURE_SEARCH(type)                                                                      \
    {.key = "lambda",                                                                                             \
     .kind = DIS_OPTION_REAL,                                                                                     \
     .offset = offsetof(type, temper.lambda),                                                                     \
     .default_value = "1e-3",                                                                                     \
     .low = 0,                                                                                                    \
     .high = 1e6,                                                                                                 \
     .summary = "weight of the penalty on squared temperatures"},                                                 \
        {.key = "bound",                                                                                          \
         .kind = DIS_OPTION_REAL,                                                                                 \
         .offset = offsetof(type, temper.bound),                                                                  \
         .default_value = "1",                                                                                    \
         .low = .01,                                                                                              \
         .high = 100,                                                                                             \
         .summary = "minimum temperature"},                                                                       \
        {.key = "start",                                                                                          \
         .kind = DIS_OPTION_REAL,                                                                                 \
         .offset = offsetof(type, temper.start),                                                                  \
         .default_value = "1.5",                                                                                  \
         .low = .01,                                                                                              \
         .high = 100,                                                                                             \
         .summary = "initial temperature of the search"},                                                         \
    {                                                                                                             \
        .key = "fixed", .kind = DIS_OPTION_REAL, .offset = offsetof(type, temper.fixed), .low = .01, .high = 100, \
        .summary = "use this temperature for every label set, without a search"                                   \
    }

/* Computes the temperatures of all views into args->temperature, with on_bound, the objective and the number of
 * steps. */
dis_status dis__temperature_search_run(const dis__combine_args *args, const dis__temperature_search_options *options);

/* Pairs of views: adds sum_{a < b} w_a w_b JSD(a, b) at temperatures T, and its derivatives by T, of items first ..
 * end - 1 to sums (1 + n_views), item by item. scratch: dis__tempering_scratch doubles. (tempering_kernel.c) */
DIS_KERNEL_DECLARE(void, dis__temperatures_evaluate,
                   (const dis__combine_args *args, const double *temperature, size_t first, size_t end, double *scratch,
                    double *sums));
/* softmax(log p / T) of n rows at p, to out, which may be p. Row i has temperature[i * step]; log p is at least `floor`
 * (-INFINITY: probabilities of 0 stay 0). */
DIS_KERNEL_DECLARE(void, dis__tempered_rows_compute,
                   (const double *p, const double *temperature, size_t step, double floor, size_t n_classes, size_t n,
                    double *scratch, double *out));

/* Temperatures: of view m and item i, value[m * by_view + i * by_item]. */
typedef struct {
    const double *value;
    size_t by_view, by_item;
    double floor; /* of log p */
} dis__temperatures;

/* The weighted mean of the tempered views, into args->out. */
dis_status dis__tempered_mean_compute(const dis__combine_args *args, const dis__temperatures *temperatures);

static inline size_t dis__tempering_scratch(size_t n_views, size_t n_classes)
{
    return dis__saturating_size(dis__saturating_size(n_views, n_classes, 2), 3 * 8, 0);
}

#define DIS_LOG_FLOOR (-15.0) /* of log p, as in the released code of Wright & Augenstein 2022 */

#endif
