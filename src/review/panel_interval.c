/* Intervals of a panel: for new items, and for new people where there are enough.
 *
 * An average over votes has one influence value per vote. Its variance with new items and new people is the sum of
 * squares of the sums per item, plus that of the sums per person (J / (J - 1) for J people), minus that of single votes
 * (two-way clustering: Cameron, Gelbach and Miller 2011; Owen 2007). Cost: O(votes). */
#include "review/panel_internal.h"
#include "core/memory/memory.h"
#include "stats/distributions.h"
#include <math.h>

dis_status dis__panel_variance_create(const dis__panel_data *d, dis__panel_variance *v)
{
    *v = (dis__panel_variance){.n_workers = d->votes->n_workers, .n_people = d->n_people};
    return dis__alloc_zeroed(&v->person, v->n_workers, sizeof *v->person);
}

void dis__panel_variance_add(dis__panel_variance *v, size_t worker, double influence)
{
    v->item += influence;
    v->person[worker] += influence;
    v->votes += influence * influence;
}

void dis__panel_variance_end_item(dis__panel_variance *v)
{
    v->items += v->item * v->item;
    v->item = 0;
}

double dis__panel_variance_compute_people(const dis__panel_variance *v)
{
    double sum = 0;
    if (v->n_people < DIS_PANEL_MIN_PEOPLE) return 0;
    for (size_t w = 0; w < v->n_workers; w++) sum += v->person[w] * v->person[w];
    const double people = (double)v->n_people;
    return fmax(0, sum * people / (people - 1) - v->votes);
}

void dis__panel_variance_destroy(dis__panel_variance *v)
{
    dis__free(v->person);
    v->person = NULL;
}

dis_metric dis__panel_compute_share(double value, double variance, double quantile, size_t n)
{
    const double m = (double)n, share = fmin(1, fmax(0, value));
    double low = value - quantile * sqrt(fmax(0, variance)), high = value + quantile * sqrt(fmax(0, variance));
    if (!(variance > 0) || m * share * (1 - share) < 5) {
        low = fmin(low, dis__wilson_bound(share, m, quantile, -1));
        high = fmax(high, dis__wilson_bound(share, m, quantile, 1));
    }
    return (dis_metric){.value = share, .ci_low = fmax(0, low), .ci_high = fmin(1, high), .n = n, .has_interval = true};
}
