/* recipe.h: estimates labels from votes in one call, with a named recipe.
 *
 * A recipe is a row of a table: the views that are fitted and how they are combined. The first row is what happens when
 * nothing is asked for; "papers" is the papers' choice. The command line, reports, experiments and Python all go
 * through dis_label_plan_parse() and dis_label_result_run().
 *
 *     dis_label_plan choice = dis_label_plan_default();
 *     dis_label_result *made;
 *     if (dis_label_plan_parse(NULL, 0, NULL, true, &choice) != DIS_OK) return 1;          // nothing named: the default
 *     if (dis_label_result_run(ctx, votes, &choice, NULL, &made) != DIS_OK) return 1;
 *     const double *p = dis_label_result_get_view(made).p;                                          // (n_items, n_classes)
 *     dis_label_result_destroy(made);
 *
 * Threads: no call keeps state; any number of threads gives the same bytes. */
#ifndef DIS_RECIPE_H
#define DIS_RECIPE_H
#include "dissent/combine.h"

/* A row of the table of recipes; static. */
typedef struct {
    const char *name, *summary, *source;
    const char *const *views; /* specs of methods */
    size_t n_views;
    const char *const *views_for_counts; /* for votes without workers */
    size_t n_views_for_counts;
    const char *combine, *combine_for_counts; /* specs of the combination */
    /* With known labels (DIS_MIN_GOLD or more): `views` and further ones, and a combination in which the known labels
     * choose (`gold=choose`). NULL: as without; known labels are only pinned. */
    const char *const *views_for_gold;
    size_t n_views_for_gold;
    const char *combine_for_gold;
} dis_recipe;

/* Row i, NULL past the end; row 0 is the default. The row of a name, NULL if it is unknown. */
DIS_API const dis_recipe *dis_recipe_get(size_t i);
DIS_API const dis_recipe *dis_recipe_find(const char *name);

/* What is to be fitted and combined. The texts stay those of the table or of the caller. */
typedef struct {
    size_t size;              /* of this struct */
    const dis_recipe *recipe; /* NULL: methods named one by one */
    const char *combine;      /* NULL: one view, used unchanged */
    size_t n_views;
    const char *views[DIS_MAX_VIEWS];
} dis_label_plan;
DIS_OPTIONS_API(dis_label_plan);

/* No specs: the default recipe. The name of a recipe: that recipe. Otherwise methods: a single one is used unchanged,
 * several are combined by `combine` (NULL: the recipe's, else "centroid"). `workers`: whether votes have workers;
 * without them, recipes have other views. DIS_EUSAGE: an unknown name or option, a recipe together with other methods,
 * a combination of one view, too many views. */
DIS_API dis_status dis_label_plan_parse(const char *const *specs, size_t n_specs, const char *combine, bool workers,
                                        dis_label_plan *out);

/* One view. */
typedef struct {
    const char *spec;
    const dis_fit *fit; /* without parameters and trace unless keep_fits was asked for */
    const double *p;    /* (n_items, n_classes), NULL: given up for the combination */
} dis_label_result_part;

typedef struct {
    size_t size;                /* of this struct */
    const dis_fit_options *fit; /* NULL: the defaults; predictions and a state go to the methods that use them */
    bool keep_fits;             /* parameters and traces are kept */
    bool keep_views;            /* the labels of every view are kept in addition to the combined ones */
    /* Called after each fit, when not NULL; any other status than DIS_OK ends the work and is given back. */
    dis_status (*on_fit)(void *user, size_t m, const dis_label_result_part *part);
    void *user;
} dis_label_result_options;
DIS_OPTIONS_API(dis_label_result_options);

typedef struct {
    size_t n_views;
    const dis_label_result_part *parts;
    const double *p; /* the labels: combined, or of the one view */
    const dis_combination *combination;
    const char *combine;        /* spec of the combination; NULL: one view, taken as it is */
    const double *class_weight; /* (n_classes) factors of the classes that known labels chose; NULL: none */
} dis_label_result_view;

typedef struct dis_label_result dis_label_result;

/* Fits every view and combines them. With fit->gold, these items are pinned to their class. If the combination of
 * dis__label_plan_for_gold() has gold=choose, every view is also fitted without the known labels, which then choose weights,
 * power and class weights. Only the views with weight are fitted again, passed to `each`, and kept. Fails with the
 * errors of dis_fit_run and dis_views_combine, before the first fit where that is possible. The caller destroys it. */
DIS_API dis_status dis_label_result_run(dis_context *ctx, const dis_votes *votes, const dis_label_plan *choice,
                                        const dis_label_result_options *options, dis_label_result **out);
DIS_VIEW_API(dis_label_result);
/* The labels, (n_items, n_classes), valid as long as the result; NULL once they were moved. */
DIS_API const double *dis_label_result_p(const dis_label_result *result);
/* Writes the labels to `path`, in the order of the items of `votes`, which they were estimated from. `path` and `format`
 * as in dis_labels_write(). DIS_EUSAGE: the labels were moved to the caller. */
DIS_API dis_status dis_label_result_write_labels(dis_context *ctx, const dis_label_result *result,
                                                 const dis_votes *votes, const char *path, const char *format);
/* The labels, given away: the caller frees them with dis_free(). */
DIS_API double *dis_label_result_move_p(dis_label_result *result);
DIS_API void dis_label_result_destroy(dis_label_result *result);

#endif
