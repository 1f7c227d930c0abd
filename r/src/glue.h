/* glue.h: what the entry points share. Results go to R as lists of plain vectors; the R functions make data frames.
 *
 * R can leave a C function at any allocation (longjmp). So every object of the library belongs to an external pointer
 * with a finalizer before R allocates anything, and scratch arrays come from R_alloc(). */
#ifndef GLUE_H
#define GLUE_H
#include <dissent/dissent.h>
#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

/* How a member of a struct becomes a column. */
typedef enum {
    COLUMN_DOUBLE, /* double */
    COLUMN_COUNT,  /* uint64_t, as double */
    COLUMN_COUNT32,
    COLUMN_INDEX, /* size_t, an index from 0, as integer from 1; NA beyond the integers */
    COLUMN_INDEX32,
    COLUMN_FLAG,   /* bool */
    COLUMN_CHOICE, /* an enum, as integer from 0 */
    COLUMN_METRIC  /* dis_metric: three columns, NAME, NAME_low and NAME_high */
} column_kind;

typedef struct {
    const char *name;
    column_kind kind;
    size_t offset;
} column;
#define COLUMN(type, kind, member)            \
    {                                         \
#member, kind, offsetof(type, member) \
    }

/* A list with a vector for each column of `rows` (n), an array of structs of `stride` bytes. */
SEXP glue_columns(const void *rows, size_t n, size_t stride, const column *columns, size_t n_columns);
#define GLUE_TABLE(rows, n, columns) glue_columns(rows, n, sizeof *(rows), columns, sizeof(columns) / sizeof *(columns))
/* A list of `n` elements with these names; of an array of names. */
SEXP glue_list(const char *const *names, int n);
#define GLUE_LIST(names) glue_list(names, (int)(sizeof(names) / sizeof *(names)))
/* A table (n, k) in row order as a matrix. */
SEXP glue_matrix(const double *p, size_t n, size_t k);
SEXP glue_text(const char *text);
/* Texts 0 .. n - 1; NULL is NA. `text` may return the same buffer for every i. */
typedef const char *glue_text_at(void *of, size_t i);
SEXP glue_texts(size_t n, glue_text_at *text, void *of);
/* Columns metric, value, low, high, n, degenerate, reason; `names` (n). */
SEXP glue_metrics(const dis_metric *metric, const char *const *names, size_t n);

/* The result of a call that failed: its status and message. A call that the user interrupted: NULL. */
SEXP glue_failure(dis_status status);

SEXP glue_new_handle(R_CFinalizer_t finalizer);
/* Defines finalize_NAME, which destroys the dis_NAME of a handle. */
#define GLUE_FINALIZER(name)                             \
    static void finalize_##name(SEXP handle)             \
    {                                                    \
        dis_##name##_destroy(R_ExternalPtrAddr(handle)); \
        R_ClearExternalPtr(handle);                      \
    }
/* Destroys what the handle owns, now instead of at a garbage collection. */
void glue_release(SEXP handle, R_CFinalizer_t finalizer);

/* A call that computes one result. glue_begin() creates the context and protects two objects of R. The caller runs the
 * library unless `status` is a failure, gives the result to `result` with R_SetExternalPtrAddr(), and makes an object of
 * R from it. glue_end() destroys result and context, unprotects, and returns the object, or the failure. */
typedef struct {
    SEXP context, result;
    R_CFinalizer_t finalizer; /* of the result */
    dis_context *ctx;
    dis_status status;
} glue_call;
void glue_begin(glue_call *call, SEXP threads, R_CFinalizer_t finalizer);
SEXP glue_end(glue_call *call, SEXP out);

dis_votes *glue_votes(SEXP votes);
/* Known classes from integers, NULL for R's NULL. The array is an integer vector of R. */
const int32_t *glue_gold(SEXP gold);
/* A plan from names of methods; the texts belong to `methods` and `combine`. */
dis_status glue_plan(SEXP methods, SEXP combine, bool workers, dis_label_plan *out);

SEXP dissent_r_votes(SEXP task, SEXP worker, SEXP label, SEXP tasks, SEXP workers, SEXP classes, SEXP duplicates,
                     SEXP ordered);
SEXP dissent_r_counts(SEXP counts, SEXP tasks, SEXP classes);
SEXP dissent_r_find_column(SEXP role, SEXP names);
SEXP dissent_r_methods(void);
SEXP dissent_r_version(void);
SEXP dissent_r_labels(SEXP votes, SEXP methods, SEXP combine, SEXP seed, SEXP gold, SEXP threads);
SEXP dissent_r_agreement(SEXP votes, SEXP gold, SEXP ordinal, SEXP resamples, SEXP seed, SEXP min_common, SEXP threads);
SEXP dissent_r_review(SEXP votes, SEXP methods, SEXP combine, SEXP seed, SEXP gold, SEXP labels, SEXP budget,
                      SEXP threads);
SEXP dissent_r_panel(SEXP votes, SEXP person, SEXP options, SEXP seed, SEXP threads);
#endif
