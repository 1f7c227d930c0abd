/* Votes compared with gold labels: agreement below chance means a wrong column or other names of classes, more often
 * than wrong people. Chance: any vote against any gold label. */
#include "core/memory/memory.h"
#include "tool/label_calls.h"
#include <math.h>

dis_status dis__gold_compare_with_chance(const dis_votes_view *v, const int32_t *gold, double *share, double *chance,
                                         bool *below)
{
    const size_t K = v->n_classes;
    double n = 0, same = 0, expected = 0, *rate;
    DIS_TRY(dis__alloc_zeroed(&rate, dis__saturating_size(2, K, 1), sizeof *rate));
    for (size_t i = 0; v->start && i < v->n_items; i++) {
        if (gold[i] < 0) continue;
        for (uint64_t a = v->start[i]; a < v->start[i + 1]; a++) {
            const size_t label = v->label8 ? v->label8[a] : v->label16[a];
            n++;
            same += (int32_t)label == gold[i];
            rate[label]++;
            rate[K + (size_t)gold[i]]++;
        }
    }
    for (size_t k = 0; k < K && n > 0; k++) expected += rate[k] / n * rate[K + k] / n;
    dis__free(rate);
    *share = same / n;
    *chance = expected;
    *below = n > 0 && same / n < expected - 2 * sqrt(expected * (1 - expected) / n);
    return DIS_OK;
}
