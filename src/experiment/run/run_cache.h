/* run_cache.h: data shared by runs, each computed once: by the first thread that needs it, while others wait. */
#ifndef DIS_EXPERIMENT_RUN_CACHE_H
#define DIS_EXPERIMENT_RUN_CACHE_H
#include "experiment/run/execute_run.h"
#include "experiment/run/dataset.h"

/* `set` SIZE_MAX: the data set itself. Valid as long as the cache. */
dis_status dis__cache_dataset(dis_context *ctx, dis__cache *cache, size_t data, size_t set, const dis__dataset **out);

/* Labels of the tasks of that data set; release them with dis__cache_release. */
typedef struct dis__cache_entry dis__cache_entry;
dis_status dis__cache_labels(dis_context *ctx, dis__cache *cache, size_t data, size_t set,
                             const dis__labels_part *labels, const dis__vote_draw *draw, dis__cache_entry **out);
const dis__label_set *dis__cache_entry_labels(const dis__cache_entry *entry);
void dis__cache_release(dis__cache *cache, dis__cache_entry *entry); /* NULL is allowed */

const dis__plan_internal *dis__cache_plan(const dis__cache *cache);

#endif
