/* views.h: distances between several sets of soft labels of the same items.
 *
 * The Jensen-Shannon divergence (nats) of every pair of views, the entropy of each, and the correlation of the distance
 * to the centroid with the distance to the other views.
 *
 *     const double *p[] = {dis_fit_p(a), dis_fit_p(b)};
 *     const dis_views views = {.size = sizeof(dis_views), .n_items = n, .n_classes = k, .n_views = 2, .p = p};
 *     dis_views_distances *d;
 *     if (dis_views_distances_run(ctx, &views, NULL, &d) == DIS_OK) {
 *         printf("%g nats apart\n", dis_views_distances_get_view(d).jsd[1].value);
 *         dis_views_distances_destroy(d);
 *     }
 *
 * Threads: no call keeps state; the same seed gives the same numbers for any number of threads. */
#ifndef DIS_VIEWS_H
#define DIS_VIEWS_H
#include "dissent/combine.h"
#include "dissent/metric.h"

typedef struct {
    size_t size; /* of this struct */
    uint64_t seed;
    uint64_t resamples; /* for the intervals: 1,000; 0: none */
    double fraction;    /* of the items drawn for a resample: 1 */
} dis_views_distances_options;
DIS_OPTIONS_API(dis_views_distances_options);

typedef struct {
    size_t n_items, n_classes, n_views;
    const dis_metric *jsd;         /* (n_views, n_views): mean over items */
    const dis_metric *entropy;     /* (n_views): mean over items, nats */
    const dis_metric *to_others;   /* (n_views): mean JSD to the other views */
    const dis_metric *to_centroid; /* (n_views): mean JSD to the Jensen-Shannon centroid of all */
    /* Pearson correlation of JSD(centroid, view) with the view's mean JSD to the others: over all (item, view), and
     * over the views by their means. */
    dis_metric hubness_over_items, hubness_over_views;
} dis_views_distances_view;

typedef struct dis_views_distances dis_views_distances;

/* options NULL: the defaults; weights of the views are ignored. DIS_EUSAGE: fewer than two views or more than
 * DIS_MAX_VIEWS, no items, a fraction outside (0, 1]. DIS_ELIMIT, DIS_ECANCELLED. */
DIS_API dis_status dis_views_distances_run(dis_context *ctx, const dis_views *views,
                                           const dis_views_distances_options *options, dis_views_distances **out);
DIS_VIEW_API(dis_views_distances);
DIS_API void dis_views_distances_destroy(dis_views_distances *distances);

#endif
