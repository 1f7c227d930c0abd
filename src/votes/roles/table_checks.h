/* table_checks.h: warnings about a table that was read. */
#ifndef DIS_VOTES_ROLES_TABLE_CHECKS_H
#define DIS_VOTES_ROLES_TABLE_CHECKS_H
#include "votes/read/reader.h"

/* DIS_EDATA: most labels are distinct, so that they are unlikely to be classes (unless `classes` or
 * `allow_many_classes` is set). Otherwise notes are added to reader->votes: labels that differ in case or spaces only,
 * labels that look like missing values, a single worker, tasks and workers that look swapped. */
dis_status dis__votes_add_table_notes(dis__reader *reader);

#endif
