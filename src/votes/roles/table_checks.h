/* table_checks.h: what is odd about a table that was read, for the user. */
#ifndef DIS_VOTES_ROLES_TABLE_CHECKS_H
#define DIS_VOTES_ROLES_TABLE_CHECKS_H
#include "votes/read/reader.h"

/* DIS_EDATA: most labels are different, so that they can hardly be classes (unless `classes` or `allow_many_classes`
 * say so). Else notes are added to reader->votes: labels that differ in case or spaces alone, labels that look like
 * missing values, one worker alone, tasks and workers that look swapped. */
dis_status dis__votes_add_table_notes(dis__reader *reader);

#endif
