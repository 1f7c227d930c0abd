/* sorted_tasks.h: tasks that come in ascending order need no table.
 *
 * Most files that list one item after the other are sorted by their tasks, by bytes ("t10" before "t2") or by length
 * and bytes (t2 before t10). As long as every task is the one before or greater in one of these orders, each that
 * differs from the one before is new. Of 2e6 tasks of a large file nothing is looked up then, and no table of 50 MB is
 * made. Here is what it must remember between rounds, beside the names; its row is dis__tasks_sorted (numbering.h). */
#ifndef DIS_VOTES_IDS_SORTED_IDS_H
#define DIS_VOTES_IDS_SORTED_IDS_H
#include "core/names/name_order.h"

typedef struct {
    bool broken[DIS_NAME_ORDERS]; /* orders in which tasks did not ascend */
} dis__sorted_tasks;

#endif
