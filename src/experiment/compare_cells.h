/* compare_cells.h: compares two cells, using stored predictions. */
#ifndef DIS_EXPERIMENT_COMPARE_CELLS_H
#define DIS_EXPERIMENT_COMPARE_CELLS_H
#include "experiment/store/store.h"

/* `cell` is A, `against` B. Seeds that both sides have are used, or all of one side where the other has one alone; *out
 * is NULL when there is none, or no predictions or gold labels of the set. `state` (n_runs). The caller destroys
 * *out. */
dis_status dis__pairwise(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                         size_t cell, size_t against, const char *set, dis_comparison **out);

/* compare_item_means.c: the same for metrics that are means over items. */
typedef struct {
    bool is_tested;
    double difference, p;
    int stars; /* 2: p <= .01, 1: p <= .05 */
} dis__item_test;
bool dis__item_mean_is_testable(dis_evaluation_metric metric);
/* tests (n_measures of the plan): those of the set that are testable are filled, others keep `is_tested` false. */
dis_status dis__item_means_test(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                                size_t cell, size_t against, const char *set, dis__item_test *tests);

/* compare_swapped.c: the same for metrics that are computed from all items at once: ECE, correlations of entropy,
 * weighted and micro F1. */
bool dis__swap_is_testable(dis_evaluation_metric metric);
dis_status dis__swap_test(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                          size_t cell, size_t against, const char *set, dis__item_test *tests);

/* All folds of one seed, concatenated. */
typedef struct {
    size_t n_items, n_classes;
    int32_t *label;   /* (n_items) predicted class */
    int32_t *gold;    /* (n_items) -1: none */
    double *p;        /* (n_items, n_classes) predictions; NULL unless requested */
    double *human;    /* (n_items, n_classes); NULL: missing for some */
    dis_names *tasks; /* FOLD and a unit separator before names that occur in several folds */
    dis_names *classes;
} dis__pooled;

/* *found false: a fold is incomplete, or has no predictions. */
dis_status dis__pool_folds(dis_context *ctx, dis__store *store, const dis__plan *plan, const dis_run_state *state,
                           size_t cell, uint64_t seed, const char *set, bool want_p, dis__pooled *out, bool *found);
void dis__pooled_free(dis__pooled *pooled);

#endif
