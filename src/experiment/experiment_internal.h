/* experiment_internal.h: internals of an experiment: its plan, its store, and the selected runs. */
#ifndef DIS_EXPERIMENT_EXPERIMENT_INTERNAL_H
#define DIS_EXPERIMENT_EXPERIMENT_INTERNAL_H
#include "report/markup.h"
#include "experiment/store/store.h"

struct dis_experiment {
    dis__plan *plan;
    char *store;    /* path of the folder */
    bool *selected; /* (n_runs) */
    size_t n_selected;
};

/* Timeout for the database of a store. */
enum { DIS__STORE_PATIENCE_MS = 30000 };

/* (n_runs, ...) arrays of the known results; the caller frees them with dis__known_free, also on failure. */
dis_status dis__known_read(const dis_experiment *e, dis__store *store, dis__known *out);
void dis__known_free(dis__known *known);

/* An experiment with a given plan, which it then owns; on failure the caller keeps the plan. */
dis_status dis__experiment_make(dis__plan *plan, const dis_experiment_options *options, dis_experiment **out);

/* x such that Student's t with n degrees of freedom is within -x .. x with this probability. */
double dis__student_quantile(double share, size_t n);

dis_status dis__table_make(dis_context *ctx, const dis_experiment *e, dis__store *store, const dis__known *known,
                           dis_experiment_table **out);

/* Rows of a table, as `dissent experiment table --format latex` writes them. */
dis_status dis__experiment_table_format_latex(const dis_experiment *e, dis_experiment_table_view part,
                                              dis__markup *out);

/* Of the seed of run r, measured on all its folds together: value (n_measures), as it was where a measure does not
 * pool. */
dis_status dis__pooled_values(dis_context *ctx, const dis__plan *plan, dis__store *store, const dis__known *known,
                              size_t r, double *value);

#endif
