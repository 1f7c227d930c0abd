/* cache.h: what runs share, made once. Between threads: whoever needs a thing first makes it, others wait. */
#ifndef DIS_EXPERIMENT_RUN_CACHE_H
#define DIS_EXPERIMENT_RUN_CACHE_H
#include "experiment/run/execute.h"
#include "experiment/run/dataset.h"

/* `set` SIZE_MAX: the data set itself. Valid as long as the workshop. */
dis_status dis__workshop_material(dis_context *ctx, dis__workshop *shop, size_t data, size_t set,
                                  const dis__material **out);

/* Labels of the tasks of that material; given back with dis__workshop_return. */
typedef struct dis__shelf dis__shelf;
dis_status dis__workshop_labels(dis_context *ctx, dis__workshop *shop, size_t data, size_t set,
                                const dis__labels_part *labels, uint64_t votes_per_item, uint64_t seed,
                                dis__shelf **out);
const dis__label_set *dis__shelf_labels(const dis__shelf *shelf);
void dis__workshop_return(dis__workshop *shop, dis__shelf *shelf); /* NULL is fine */

const dis__plan_inside *dis__workshop_plan(const dis__workshop *shop);

#endif
