/* table_columns.h: roles of columns, and small tables that commands read. Not part of the public interface. */
#ifndef DIS_TOOL_TABLE_COLUMNS_H
#define DIS_TOOL_TABLE_COLUMNS_H
#include "dissent/align.h"
#include "dissent/export.h"
#include "dissent/train.h"
#include "dissent/votes.h"
#include "dissent/worker_table.h"

/* The columns task and worker of a table (CSV, TSV, JSONL), row by row; the caller destroys both lists. */
dis_status dis__task_worker_pairs_read(dis_context *ctx, const char *path, dis_names **tasks, dis_names **workers);
/* The group of each of `tasks` (the sentence of a token), from a file of task and group (or sentence). group (n
 * tasks) counts from 0 in order of appearance in the file, and *n_groups is the number of groups. Other tasks of the
 * file are skipped. DIS_EDATA: a task without a group, or with two. */
dis_status dis__item_groups_read(dis_context *ctx, const char *path, const dis_names *tasks, uint32_t *group,
                                 size_t *n_groups);
/* The votes of some workers as a table of its own: keep (n_workers). All classes stay; items without votes, and workers
 * left out, are gone. DIS_EDATA: no votes remain, or the votes name no workers. */
dis_status dis__votes_gather_workers(dis_context *ctx, const dis_votes *votes, const bool *keep, dis_votes **out);
/* "task", "worker", "label", "gold label"; NULL: there is no such role. */
const char *dis__role_name(dis_role role);
/* Synonym i of a role, best first; false past the end. */
bool dis__role_synonym(dis_role role, size_t i, dis_synonym *out);
const dis_export_target *dis__export_target_get(size_t i);

#endif
