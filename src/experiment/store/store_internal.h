/* store_internal.h: shared by the files of the store. */
#ifndef DIS_EXPERIMENT_STORE_STORE_INTERNAL_H
#define DIS_EXPERIMENT_STORE_STORE_INTERNAL_H
#include "experiment/store/store_owner.h"
#include "experiment/store/sql.h"
#include "experiment/store/store.h"
#include <pthread.h>

struct dis__store {
    char *folder, *cache, *owners;
    dis__sql *db;
    dis__owner owner;
    pthread_mutex_t mutex; /* around the database */
};

/* FOLDER/PART, and FOLDER/PART/NAME when there is a name, then the suffix. The caller frees it. */
dis_status dis__store_path(const dis__store *store, const char *part, const char *name, const char *suffix, char **out);

/* store_schema.c. */
dis_status dis__schema_create(dis__sql *db);
/* Identifies a database; *empty: it has no tables. DIS_EDATA: it has other tables, views, triggers or indices. */
dis_status dis__schema_check(dis__sql *db, const char *path, bool *empty);
/* The same for the database that is attached as `other`. */
dis_status dis__schema_check_other(dis__sql *db, const char *path);

/* store_paths.c. Paths are relative to the store, and never followed out of it. */
enum { DIS__STORE_PATH = 240 };
bool dis__store_is_hash(const char *text);
bool dis__store_is_prediction(const char *path, const char *key); /* predictions/KEY/NAME.npy */
/* *out is -1 if there is no such file. DIS_EDATA: a link, or no regular file. DIS_EIO. */
dis_status dis__store_open_file(const dis__store *store, const char *path, int *out);
dis_status dis__store_check_file(const dis__store *store, const char *path, bool *exists);
/* All files of a set of predictions, by the names that the database has for them. DIS_EDATA, DIS_EIO. */
dis_status dis__store_check_set(const dis__store *store, const char *key, const char *path, const char *truth);

/* store_files.c. A set's predictions and truth on the disk; *file is its path relative to the store, *truth the SHA-256
 * of what is known of its items. The caller frees *file. */
dis_status dis__write_set(dis__store *store, const char *key, const dis__predicted_set *set, char **file,
                          char truth[65]);
/* FILE.tasks.txt and FILE.classes.txt, `file` relative to the store, as links to the lists of a truth. */
dis_status dis__link_lists(const dis__store *store, const char *file, const char *truth);
/* Removes files of an earlier attempt of a run. */
dis_status dis__remove_predictions(const dis__store *store, const char *key);

#endif
