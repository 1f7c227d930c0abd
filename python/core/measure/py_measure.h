/* py_measure.h: what the parts that measure share: metrics and tables of the library as Python objects. */
#ifndef DISSENT_PYTHON_MEASURE_H
#define DISSENT_PYTHON_MEASURE_H
#include "py_core.h"
#include <stddef.h>

#define CORE_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS

/* Puts a new value, which may be NULL with an exception, under a key; the reference is taken. */
int core_put(PyObject *dict, const char *key, PyObject *value);
/* A number; None for NaN. */
PyObject *core_real(double x);
PyObject *core_count(uint64_t n);
/* A static text; None for NULL. */
PyObject *core_text(const char *text);
/* {"value", "ci_low", "ci_high", "n", "reason", "degenerate"}; None where there is nothing. */
/* What intervals hold for, by its name (NULL: leaves it); -1: an exception was set. */
int core_over(const char *text, dis_interval_scope *over);
PyObject *core_metric(const dis_metric *metric);

/* Columns of an array of structs: what each field is and where. */
typedef enum { CORE_FIELD_REAL, CORE_FIELD_U64, CORE_FIELD_U32, CORE_FIELD_SIZE, CORE_FIELD_BOOL } core_field_kind;
typedef struct {
    const char *name;
    size_t offset;
    core_field_kind kind;
} core_field;
#define CORE_FIELD(type, member, kind)        \
    {                                         \
#member, offsetof(type, member), kind \
    }
/* {name: array}, n numbers each: float64, int64, or uint8 for bools. */
PyObject *core_fields(core_state *state, const void *rows, size_t n, size_t stride, const core_field *fields,
                      size_t n_fields);
#define CORE_FIELDS(state, rows, n, fields) \
    core_fields(state, rows, n, sizeof *(rows), fields, sizeof(fields) / sizeof *(fields))
/* A list of core_metric() of one field of each row. */
PyObject *core_metrics(const void *rows, size_t n, size_t stride, size_t offset);
#define CORE_METRICS(rows, n, type, member) core_metrics(rows, n, sizeof(type), offsetof(type, member))
/* A copy of n numbers, None for NULL. */
PyObject *core_reals(core_state *state, const double *x, size_t n);
PyObject *core_counts(core_state *state, const uint64_t *x, size_t n);

/* Classes of n_items items as int32, -1: not known. None: view->buf stays NULL, where it need not be there (_must:
 * TypeError). ValueError for a class that is not there. */
int core_gold_get(PyObject *object, const char *what, size_t n_items, size_t n_classes, Py_buffer *view);
int core_gold_must(PyObject *object, const char *what, size_t n_items, size_t n_classes, Py_buffer *view);
/* A table (n_items, n_classes) of distributions; None likewise. ValueError that names the row. */
int core_rows_get(PyObject *object, const char *what, size_t n_items, size_t n_classes, Py_buffer *view);
/* The same for a probability of each class; rows need not sum to 1. */
int core_shares_get(PyObject *object, const char *what, size_t n_items, size_t n_classes, Py_buffer *view);
/* The same for a table that must be there: TypeError for None. */
int core_rows_must(PyObject *object, const char *what, size_t n_items, size_t n_classes, Py_buffer *view);
void core_buffer_free(Py_buffer *view);
/* Votes on items of predictions. */
typedef struct {
    dis_comparison_votes votes;
    size_t *place; /* of items, then of classes: PyMem_Free() */
} core_vote_places;
/* table None: there are none. `item`: of each item among the votes, `class`: of each class of the votes; -1: none. */
int core_parse_vote_places(core_state *state, PyObject *table, PyObject *item, PyObject *class, size_t n_items,
                           size_t n_classes, core_vote_places *out);
/* (values, min_group, hide, cuts) as groups of the workers of the votes. */
int core_groups_get(core_state *state, const dis_votes *votes, PyObject *tuple, dis_worker_groups **out);
/* 0 with an exception: sizes that no table has. */
int core_sizes_ok(Py_ssize_t n_items, Py_ssize_t n_classes);

#endif
