/* sorted_ids.h: tasks that come in ascending order need no table.
 *
 * Most files that list one item after the other are sorted by their tasks, by bytes ("t10" before "t2") or by length
 * and bytes (t2 before t10). As long as every task is the one before or greater in one of these orders, each that
 * differs from the one before is new. Of 2e6 tasks of a large file nothing is looked up then, and no table of 50 MB is
 * made.
 *
 *     DIS_TRY(dis__sorted_ids_follow(ctx, &ascent, batches, n_batches, &still));
 *     ... if (still): share[DIS_COLUMN_TASK] of each batch says how many ids it brings; room made for them ...
 *     dis__sorted_ids_number(batch, id, at); */
#ifndef DIS_VOTES_IDS_SORTED_IDS_H
#define DIS_VOTES_IDS_SORTED_IDS_H
#include "dissent/context.h"
#include "votes/batch.h"

enum { DIS_SORTED_ORDERS = 2 };
typedef struct {
    bool broken[DIS_SORTED_ORDERS]; /* orders in which tasks did not ascend */
    uint64_t last;                  /* the word of the last task; 0: none yet */
} dis__sorted_ids;

/* Goes on with the tasks of batches that keep words. *still: they ascend; else nothing has changed. */
dis_status dis__sorted_ids_follow(dis_context *ctx, dis__sorted_ids *sorted, dis__batch *const *batches,
                                  size_t n_batches, bool *still);
/* Gives the runs of a batch their tasks' numbers, new ones from `id` on, and puts their names where `at` says. */
void dis__sorted_ids_number(dis__batch *batch, size_t id, size_t at);

#endif
