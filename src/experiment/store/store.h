/* store.h: results of runs, in a folder.
 *
 *     results.sqlite     a row per run, its measures, its curve, its sets of predictions (store.c has the tables)
 *     predictions/KEY/   SET.npy with lists of tasks and classes: ordinary label files
 *     truth/             gold labels and soft labels of people of the sets, by their SHA-256, kept once
 *     cache/             label sets, made by the runs themselves
 *     owners/            lock files of the processes at work
 *
 * Files are on the disk before the row that names them. A run that is at work has a row with the name of its owner;
 * when the owner is dead the claim is void. Threads: any number; calls are serialized. */
#ifndef DIS_EXPERIMENT_STORE_STORE_H
#define DIS_EXPERIMENT_STORE_STORE_H
#include "experiment/run/execute_run.h"

typedef struct dis__store dis__store;

/* `create` false: *out is NULL when there is no store. `wait_ms`: how long to wait for other processes at the database.
 * DIS_EIO; DIS_EDATA: a database that is damaged, somebody else's or of a later version; DIS_EUSAGE: no SQLite. */
dis_status dis__store_open(const char *folder, bool create, int wait_ms, dis__store **out);
/* Releases remaining claims. */
void dis__store_close(dis__store *store);
/* The folder for label sets; valid as long as the store. */
const char *dis__store_cache(const dis__store *store);

typedef enum { DIS__CLAIMED, DIS__IS_DONE, DIS__HAS_FAILED, DIS__RUNS_REMOTELY } dis__claim;

/* Takes a run unless it is done (with all measures of the plan), at work elsewhere or, without `retry`, failed. What an
 * earlier try left of its files is removed. */
dis_status dis__store_claim(dis__store *store, const dis__plan *plan, size_t run, bool retry, dis__claim *out);
/* Ends a claim: with a result; as failed; without either. */
dis_status dis__store_put_result(dis__store *store, const dis__plan *plan, size_t run, const dis__result *result,
                                 double seconds);
dis_status dis__store_fail(dis__store *store, const dis__plan *plan, size_t run, const char *message, double seconds);
dis_status dis__store_release(dis__store *store, const dis__plan *plan, size_t run);

/* The known results of the runs of a plan, (n_runs) each. NULL arrays are skipped. */
typedef struct {
    dis_run_state *state;
    double *seconds; /* NaN: not known */
    double *value;   /* (n_runs, n_measures), NaN: undefined, or not there */
} dis__known;
/* store NULL: no results. */
dis_status dis__store_get_view(dis__store *store, const dis__plan *plan, const dis__known *out);

/* The curve of a done run. *out has n epochs (none: NULL), *best is the one that was kept; the caller frees it. */
dis_status dis__store_curve(dis__store *store, const char *key, dis_epoch **out, size_t *n, size_t *best);

/* Predictions of a done run and what is known of the items. */
typedef struct {
    dis_labels *predicted;
    int32_t *gold; /* (n_items) -1: none; NULL: no gold labels */
    double *human; /* (n_items, n_classes); NULL: none */
} dis__stored_set;
/* *found false: none are stored. DIS_EDATA: inconsistent files. */
dis_status dis__store_predictions(dis__store *store, dis_context *ctx, const char *key, const char *set,
                                  dis__stored_set *out, bool *found);
void dis__stored_set_free(dis__stored_set *set);

/* Adds the runs of another store: dis_experiment_merge. */
dis_status dis__store_merge(dis__store *into, const char *from, dis_merge_counts *counts);

/* Everything about the run whose key has this prefix; *n: number of matches (one: *out is filled). For `show`. */
dis_status dis__store_record(dis__store *store, const char *prefix, dis_run_record **out, size_t *n);

#endif
