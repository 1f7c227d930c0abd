/* worker_features.h: annotator metadata, as numbers: columns of a worker table. Of a category there is a number
 * per value that the training workers have and one for "not said" (also of values never seen); of a number the number
 * itself, with the mean 0 and standard deviation 1 over the training workers, 0 where it is not said, and 1 after it
 * there. */
#ifndef DIS_TRAIN_WORKER_FEATURES_H
#define DIS_TRAIN_WORKER_FEATURES_H
#include "dissent/worker_table.h"
#include "tool/json_writer.h"
#include "core/text/sha256.h"
#include "train/files/model_json.h"

typedef struct {
    char *name;
    dis_names *values; /* of a category, in their order; NULL: a number */
    double mean, sd;   /* of a number */
    size_t at, width;  /* its numbers among those of a worker */
} dis__worker_column;

typedef struct {
    size_t n_columns, width; /* width: numbers per worker; 0: nothing is known */
    dis__worker_column *column;
    float *known;      /* (workers of the model, width) */
    dis_names *others; /* workers that were told of since; NULL: none */
    float *of_others;  /* (others, width) */
    float *nothing;    /* (width): of whom nothing is said */
} dis__worker_features;

/* columns: names with commas between them. DIS_EUSAGE: no such column. DIS_EDATA: none of the workers is in the
 * table. */
dis_status dis__worker_features_fit(const dis_worker_table *table, const char *columns, const dis_names *workers,
                                    dis__worker_features *out);
/* All workers of the table besides those of the model; replaces the others. */
dis_status dis__worker_features_set_new_workers(dis__worker_features *f, const dis_worker_table *table,
                                                const dis_names *workers);
void dis__worker_features_free(dis__worker_features *f);

/* The member "worker_features" of model.json. */
void dis__worker_features_write(const dis__worker_features *f, size_t n_workers, dis__json_writer *j);
dis_status dis__worker_features_read(const dis__model_json *s, size_t n_workers, dis__worker_features *out);
void dis__worker_features_hash(const dis__worker_features *f, size_t n_workers, dis__sha256 *sha);

#endif
