/* worker_table.h: annotator metadata, and the groups that it defines.
 *
 * A worker table is read once (CSV, TSV, JSONL, or JSON: an object by worker, or a list of objects) and never changes.
 * Groups are the workers of a votes table by the values of one column. Small groups are merged, or hidden, so that no
 * figure identifies a person.
 *
 *     dis_worker_table *table;
 *     dis_names *value = NULL;
 *     dis_worker_groups *groups = NULL;
 *     if (dis_worker_table_read(NULL, "workers.csv", NULL, &table) != DIS_OK) return 1;
 *     if (dis_worker_table_values(table, "gender", votes, &value) == DIS_OK &&
 *         dis_worker_groups_create(votes, value, NULL, &groups) == DIS_OK)
 *         printf("%zu groups\n", dis_worker_groups_get_view(groups).n_groups);
 *     dis_worker_groups_destroy(groups);
 *     dis_names_destroy(value);
 *     dis_worker_table_destroy(table);
 *
 * Threads: tables and groups may be read by any number of threads at once. */
#ifndef DIS_WORKER_TABLE_H
#define DIS_WORKER_TABLE_H
#include "dissent/votes.h"

#define DIS_MAX_GROUPS 64u /* of workers */

typedef struct dis_worker_table dis_worker_table;

typedef struct {
    size_t size;           /* of this struct */
    const char *format;    /* "csv", "tsv", "json", "jsonl"; NULL: by the file's name, csv when that says nothing */
    const char *id_column; /* column of the ids; NULL: worker (or performer, annotator, annotator_id, user, id) */
    const char *id_prefix; /* put before every id of the file; NULL: nothing */
} dis_worker_table_options;
DIS_OPTIONS_API(dis_worker_table_options);

/* `options` NULL: the defaults. DIS_EDATA with file:line:column (malformed, a worker twice), DIS_EIO, DIS_EUSAGE. */
DIS_API dis_status dis_worker_table_read(dis_context *ctx, const char *path, const dis_worker_table_options *options,
                                         dis_worker_table **out);
DIS_API void dis_worker_table_destroy(dis_worker_table *table);

typedef struct {
    size_t n_workers, n_columns;
    const dis_names *workers, *columns;
    const dis_names *values; /* (n_workers, n_columns) texts; empty: not said */
} dis_worker_table_view;
DIS_VIEW_API(dis_worker_table);

/* The value of a column for each worker of `votes`, in their order, empty if the table has none. The caller destroys
 * it. DIS_EUSAGE: no such column. DIS_EDATA: none of the workers is in the table, or the votes name none. */
DIS_API dis_status dis_worker_table_values(const dis_worker_table *table, const char *column, const dis_votes *votes,
                                           dis_names **out);

typedef struct dis_worker_groups dis_worker_groups;

typedef struct {
    size_t size;        /* of this struct */
    size_t min_group;   /* workers that a group must have to be shown */
    bool hide_small;    /* smaller groups are hidden at once instead of merged into "other" */
    const double *cuts; /* (n_cuts) rising: values are numbers, and groups lie between cuts ("nan", "NA": not said);
                        * NULL: values are names */
    size_t n_cuts;
} dis_worker_groups_options;
DIS_OPTIONS_API(dis_worker_groups_options);

/* value: (workers of `votes`) texts, empty: not said. Small groups are merged into "other"; where that is small too,
 * its workers are hidden, that is, in no group. Groups come in the order of their names (numbers by value), "other"
 * last. DIS_EUSAGE, DIS_EDATA: nothing but small groups, a value that is not a number where there are cuts. DIS_ELIMIT:
 * more than DIS_MAX_GROUPS. */
DIS_API dis_status dis_worker_groups_create(const dis_votes *votes, const dis_names *value,
                                            const dis_worker_groups_options *options, dis_worker_groups **out);
DIS_API void dis_worker_groups_destroy(dis_worker_groups *groups);

typedef struct {
    size_t n_groups, n_workers;
    const dis_names *names;              /* (n_groups) */
    const int32_t *group;                /* (n_workers of the votes) -1: in none */
    const uint64_t *workers;             /* (n_groups) how many */
    const uint64_t *votes;               /* (n_groups) of theirs */
    uint64_t min_group;                  /* as asked */
    uint64_t n_merged;                   /* small groups within "other" */
    uint64_t n_hidden, n_hidden_workers; /* small groups that are not shown, and their workers */
    uint64_t n_unknown;                  /* workers of whom the table says nothing */
} dis_worker_groups_view;
DIS_VIEW_API(dis_worker_groups);

#endif
