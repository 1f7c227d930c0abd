/* execute_run.h: carries out single runs of a plan: data, split, labels, training, prediction, measures.
 *
 * A cache holds what runs share: items, votes, gold labels, label sets, splits. Each is made when the first run needs
 * it, once, whichever thread asks first. Runs are independent of each other and of their order.
 *
 *     dis__cache *shop;
 *     dis__result result;
 *     DIS_TRY(dis__cache_open(plan, "cache", &shop));
 *     dis_status status = dis__execute(ctx, shop, 0, &result);   // run 0 of the plan
 *     if (status == DIS_OK) dis__result_free(&result);
 *     dis__cache_close(shop);
 *
 * Threads: any number may execute runs of one cache at once, each with a context of its own. */
#ifndef DIS_EXPERIMENT_EXECUTE_RUN_H
#define DIS_EXPERIMENT_EXECUTE_RUN_H
#include "dissent/align.h"
#include "dissent/train.h"
#include "experiment/plan/plan.h"

typedef struct dis__cache dis__cache;

/* Label sets are also stored in `folder` (NULL: in memory only) under the key of everything that determines them. */
dis_status dis__cache_open(const dis__plan *plan, const char *folder, dis__cache **out);
void dis__cache_close(dis__cache *cache);

/* The results of a run on one set of items. */
typedef struct {
    const char *set;       /* name, of the plan */
    dis_labels *predicted; /* of the items that were measured */
    int32_t *gold;         /* (n_items of predicted) class, -1: none; NULL: no gold labels */
    double *human;         /* (n_items, n_classes), zeros for items without labels of people; NULL: none */
} dis__predicted_set;

typedef struct {
    double *value; /* (n_measures of the plan), NaN: undefined */
    size_t n_sets;
    dis__predicted_set *set;
    size_t n_epochs, best_epoch;
    dis_epoch *epoch; /* (n_epochs); none for a cell that trains nothing */
    size_t n_parameters, n_examples;
} dis__result;

/* Run number `run` of the plan. DIS_EDATA, DIS_EUSAGE, DIS_ELIMIT, DIS_EIO with a message; DIS_ECANCELLED. */
dis_status dis__execute(dis_context *ctx, dis__cache *cache, size_t run, dis__result *out);
void dis__result_free(dis__result *result);

#endif
