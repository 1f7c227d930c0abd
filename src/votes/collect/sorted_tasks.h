/* sorted_tasks.h: tasks in ascending order need no table.
 *
 * Most files that are grouped by item are sorted by task, by bytes ("t10" before "t2") or by length and bytes (t2
 * before t10). While every task is equal to the previous one or greater in one of these orders, a task that differs
 * from the previous one is new. So no lookups are needed for the 2e6 tasks of a large file, and no table of 50 MB. This
 * file has the state between rounds in addition to the names; its row is dis__tasks_sorted (numbering.h). */
#ifndef DIS_VOTES_SORTED_TASKS_H
#define DIS_VOTES_SORTED_TASKS_H
#include "core/names/name_order.h"

typedef struct {
    bool broken[DIS_NAME_ORDERS]; /* orders in which tasks did not ascend */
} dis__sorted_tasks;

#endif
