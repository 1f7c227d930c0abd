/* combine.h: combines several sets of soft labels into one.
 *
 * A view is a table of distributions, one row per item, one column per class. Combining reads M views of the same items
 * and writes one table of the same shape.
 *
 *     const double *p[] = {dis_fit_p(a), dis_fit_p(b)};
 *     dis_views views = {.size = sizeof(dis_views), .n_items = n, .n_classes = k, .n_views = 2, .p = p};
 *     dis_combination c = dis_combination_default();
 *     if (dis_views_combine(ctx, &views, "centroid", out, &c) != DIS_OK) return 1;
 *
 * Threads: no call keeps state; items are independent, so any number of threads gives the same bytes. */
#ifndef DIS_COMBINE_H
#define DIS_COMBINE_H
#include "dissent/fit.h"

#define DIS_MAX_VIEWS 64
enum { DIS_MIN_GOLD = 10 }; /* known labels that can choose weights; fewer are only pinned */

/* A row of the table of combinations; static. */
typedef struct {
    const char *name, *summary, *source;
    const dis_option *options;
    size_t n_options;
    bool needs_votes; /* dis_views.votes must be there */
} dis_combiner;
DIS_API const dis_combiner *dis_combiner_get(size_t i);
DIS_API dis_status dis_combiner_check(const char *spec);

/* M views of the same items. The arrays stay the caller's. */
typedef struct {
    size_t size; /* of this struct */
    size_t n_items, n_classes, n_views;
    const double *const *p; /* n_views tables of (n_items, n_classes), rows summing to 1 */
    const double *weight;   /* n_views, positive, any scale; NULL: what the spec says, else equal */
    const dis_votes *votes; /* that the views were made from, for combinations that count them; NULL: not known */
    /* (n_items) known class, -1: not known. They are pinned, and choose for a combination with `gold=choose`; the views
     * must then be fitted without them. NULL: none. */
    const int32_t *gold;
} dis_views;
DIS_OPTIONS_API(dis_views);

/* What was done. */
typedef struct {
    size_t size;           /* of this struct */
    double objective;      /* of the temperatures; NaN without temperatures */
    int max_steps;         /* of the slowest item */
    double power;          /* of the number of votes in the temperature of an item; NaN: not used */
    double overdispersion; /* estimated from the votes (see `calibrated`); NaN: not estimated */
    size_t n_gold;         /* known labels that chose the weights and the power; 0: none did */
    double gold_loss;      /* mean -log p of these labels, each predicted by the choice of the others; NaN: no choice */
    double gold_loss_base; /* the same with the weights and the power that apply without known labels */
    double weight[DIS_MAX_VIEWS];      /* as used, summing to 1 */
    double temperature[DIS_MAX_VIEWS]; /* 0 for combinations without temperatures */
    bool at_bound[DIS_MAX_VIEWS];      /* the temperature is at the bound of the search */
} dis_combination;
DIS_OPTIONS_API(dis_combination);

/* Writes the combined table to `out` (n_items, n_classes), which may be one of the views. `did` may be NULL.
 * DIS_EUSAGE: no views, unknown name or option, a number of weights other than n_views, weights=auto without
 * views->weight, no views->votes where the combination needs them. On failure `out` is untouched, unless the caller
 * stopped the work half-way (DIS_ECANCELLED). */
DIS_API dis_status dis_views_combine(dis_context *ctx, const dis_views *views, const char *spec, double *out,
                                     dis_combination *did);

/* Weights for views without any gold label: each method is fitted without some of the votes and judged by how well it
 * predicts those (docs/evidence/auto-weights.md). weight: (n_specs), summing to 1. */
DIS_API dis_status dis_views_auto_weights(dis_context *ctx, const dis_votes *votes, const char *const *specs,
                                          size_t n_specs, const dis_fit_options *options, double *weight);

/* Weights by the number of votes per parameter: methods with one matrix per annotator count less if annotators have few
 * votes (docs/concepts/default-labels.md). weight: (n_specs), summing to 1. */
DIS_API dis_status dis_views_vote_weights(const dis_votes *votes, const char *const *specs, size_t n_specs,
                                          double *weight);

#endif
