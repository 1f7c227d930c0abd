/* scaled_internal.h: what a scale of its own is made of: internal interface.
 *
 * One scale per file: its options, its row
 *
 *     const dis__scaled_row dis__scaled_numeric = {.model = {.name = "random-effects", ...}, .run = run};
 *
 * which scaled.c lists. run() finds the votes of its scale and options parsed; it adds tables and measures to the
 * result, which owns whatever dis__scaled_allocate() gives. It may fail at any point. */
#ifndef DIS_SCALED_SCALED_INTERNAL_H
#define DIS_SCALED_SCALED_INTERNAL_H
#include "dissent/recipe.h"
#include "dissent/scaled.h"
#include "core/error.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/parallel/pool.h"

enum { DIS_SCALED_TABLES = 10, DIS_SCALED_MEASURES = 24, DIS_SCALED_NOTES = 8, DIS_SCALED_NOTE = 240 };

struct dis_scaled {
    dis_scale scale;
    const char *method;
    char *method_text;
    int iterations;
    bool converged;
    dis_scaled_table table[DIS_SCALED_TABLES];
    size_t n_tables;
    dis_scaled_measure measure[DIS_SCALED_MEASURES];
    size_t n_measures;
    char note_text[DIS_SCALED_NOTES][DIS_SCALED_NOTE];
    const char *note[DIS_SCALED_NOTES];
    size_t n_notes;
    void **owned;
    size_t n_owned, owned_capacity;
    dis_names **lists;
    size_t n_lists, lists_capacity;
};

typedef struct {
    dis_context *ctx;
    const dis_votes *votes;
    dis_votes_view view;
    const dis_scaled_options *o;
    const void *options; /* of the model */
} dis__scaled_args;

typedef struct {
    dis_scaled_model model; /* name NULL: label methods are used */
    size_t options_size;
    dis_status (*run)(const dis__scaled_args *args, dis_scaled *out);
} dis__scaled_row;

/* n * size bytes of zeros that live as long as the result. */
dis_status dis__scaled_allocate(dis_scaled *s, void *out, size_t n, size_t size);
/* Labels of these votes by the label methods, (n_items, n_classes), for dis_free. */
dis_status dis__scaled_run_labels(const dis__scaled_args *args, const dis_votes_arrays *arrays,
                                  const dis_label_plan *choice, double **p);
/* A list that lives as long as the result. */
dis_status dis__scaled_add_names(dis_scaled *s, const char *const *texts, size_t n, const dis_names **out);
/* Moves a list into the result. */
dis_status dis__scaled_move_names(dis_scaled *s, dis__name_list *list, const dis_names **out);
/* Adds a table with room for n_columns; name and summary must be static. */
dis_status dis__scaled_add_table(dis_scaled *s, const char *name, const char *summary, size_t n_rows, size_t n_columns,
                                 dis_scaled_column **columns);
/* Adds a column of numbers to a table with n rows, and returns its array. */
dis_status dis__scaled_init_column(dis_scaled *s, dis_scaled_column *column, const char *name, size_t n,
                                   double **values);
void dis__scaled_add_measure(dis_scaled *s, const char *name, const char *title, dis_metric metric);
__attribute__((format(printf, 2, 3))) void dis__scaled_add_note(dis_scaled *s, const char *format, ...);

/* Puts the rows of a table into the order of `key`, the largest first, equal ones as they stand. Columns of texts need
 * an index. */
dis_status dis__scaled_sort_table(dis_scaled *s, dis_scaled_table *table, const double *key);

/* krippendorff_alpha.c: Krippendorff's alpha from sums of items.
 *
 * Item i with r votes in units u (class of a vote, weight 1): D_o = sum_i sum_kl c_k c_l d_kl / (r - 1), D_e = sum_kl
 * n_k n_l d_kl / (n - 1) over items with two votes or more. */
typedef struct {
    size_t n_items, n_kinds;
    const uint64_t *start; /* (n_items + 1) */
    const uint32_t *kind;  /* of each vote */
    double (*distance)(const void *arg, size_t k, size_t l);
    const void *arg;
} dis__alpha_input;
dis_metric dis__alpha_compute(dis_context *ctx, const dis__alpha_input *in, size_t resamples, uint64_t seed,
                              dis_status *status);
/* A mean of one column over items with an interval; NaN entries are left out. */
dis_metric dis__mean_metric_compute(dis_context *ctx, const double *x, size_t n, size_t resamples, uint64_t seed,
                                    dis_status *status);

#endif
