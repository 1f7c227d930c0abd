/* Means over soft labels for the summary of `dissent labels`. */
#include "core/memory/memory.h"
#include "core/parallel/comm.h"
#include "tool/arrays.h"
#include "tool/label_calls.h"
#include "tool/rank_calls.h"
#include <math.h>

typedef struct {
    double entropy, entropy2, largest, largest2;
} label_sums;

static dis_metric mean_of(double sum, double squares, size_t n)
{
    const double mean = n ? sum / (double)n : (double)NAN;
    const double variance = n > 1 ? (squares - sum * mean) / (double)(n - 1) : (double)NAN;
    const double half = 1.959963984540054 * sqrt((variance < 0 ? 0 : variance) / (double)n);
    return (dis_metric){.value = mean,
                        .ci_low = mean - half,
                        .ci_high = mean + half,
                        .has_interval = n > 1,
                        .n = n,
                        .reason = n > 1 ? NULL
                                  : n   ? "one item has no interval"
                                        : "there are no items"};
}

/* The ranks add their items in order, so that the sums do not depend on their number. */
dis_status dis__labels_compute_means(dis_context *ctx, const double *p, size_t n_items, size_t n_classes, size_t n_all,
                                     dis_metric *entropy, dis_metric *largest)
{
    label_sums s = {0};
    for (int r = 0; r < dis_context_n_ranks(ctx); r++) {
        for (size_t i = 0; r == dis_context_rank(ctx) && i < n_items; i++) {
            const double *row = p + i * n_classes, h = dis__entropy(row, n_classes),
                         max = row[dis__argmax(row, n_classes)];
            s.entropy += h;
            s.entropy2 += h * h;
            s.largest += max;
            s.largest2 += max * max;
        }
        DIS_TRY(dis__context_broadcast(ctx, r, &s, sizeof s));
    }
    *entropy = mean_of(s.entropy, s.entropy2, n_all);
    *largest = mean_of(s.largest, s.largest2, n_all);
    return DIS_OK;
}
