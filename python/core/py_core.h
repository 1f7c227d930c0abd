/* py_core.h: what the parts of dissent._core share.
 *
 * A part is a file py_NAME.c with one function that adds its functions and types to the module; py_module.c has the
 * list. The module keeps to the limited C API of Python 3.11, so that one binary serves 3.11 and everything after.
 *
 * How a function that works for long looks:
 *
 *     core_call call;
 *     if (core_begin(&call, module, threads, progress) < 0) return NULL;
 *     core_release(&call);                                  // no Python object may be touched from here ...
 *     dis_status status = dis_fit_run(call.ctx, ...);
 *     core_retake(&call);                                   // ... to here
 *     if (core_end(&call, status) < 0) return NULL;         // raises what went wrong, Ctrl-C included
 *
 * Only public headers of the library are used. */
#ifndef DISSENT_PYTHON_CORE_H
#define DISSENT_PYTHON_CORE_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>
#include "dissent/dissent.h"

/* ---- the module (py_module.c) ---- */

enum { CORE_N_ERRORS = 8 };

typedef struct {
    PyObject *error[CORE_N_ERRORS]; /* by dis_status; [0] is the base class */
    PyTypeObject *array, *arrow, *column, *votes, *fit, *items, *model, *tokenizer, *watch;
} core_state;

/* The state, from the module or from an object of one of its types. */
core_state *core_state_of_module(PyObject *module);
core_state *core_state_of_object(PyObject *object);

int core_add_functions(PyObject *module, PyMethodDef *functions);
/* A new type of the module under its name, kept in *place. */
int core_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **place);
/* What tp_dealloc ends with. */
void core_free_object(PyObject *object);

/* Each part; -1 with an exception on failure. */
int core_add_array(PyObject *module);
int core_add_arrow(PyObject *module);
int core_add_arrow_out(PyObject *module);
int core_add_column(PyObject *module);
int core_add_dictionary(PyObject *module);
int core_add_votes(PyObject *module);
int core_add_votes_in(PyObject *module);
int core_add_fit(PyObject *module);
int core_add_combine(PyObject *module);
int core_add_tables(PyObject *module);
int core_add_evaluate(PyObject *module);
int core_add_agreement(PyObject *module);
int core_add_groups(PyObject *module);
int core_add_panel(PyObject *module);
int core_add_judge(PyObject *module);
int core_add_plan(PyObject *module);
int core_add_prediction_sets(PyObject *module);
int core_add_lewidi(PyObject *module);
int core_add_perspectives(PyObject *module);
int core_add_scaled(PyObject *module);
int core_add_report(PyObject *module);
int core_add_items(PyObject *module);
int core_add_model(PyObject *module);
int core_add_train(PyObject *module);
int core_add_experiment(PyObject *module);
int core_add_tokens(PyObject *module);
int core_add_watch(PyObject *module);
int core_add_synth(PyObject *module);

/* ---- calls (py_call.c) ---- */

typedef struct {
    core_state *state;
    dis_context *ctx;
    PyThreadState *thread;     /* while Python may run elsewhere */
    PyObject *progress;        /* callable(what, done), or NULL */
    int64_t checked_at, shown; /* when signals were last looked at and progress last shown, in ms */
    int raised;                /* a callback or a signal left an exception */
} core_call;

/* threads: 0 for all CPUs. progress: None, or callable(what: str, done: float). -1 with an exception. */
int core_begin(core_call *call, core_state *state, int threads, PyObject *progress);
/* The same on a device (NULL: the CPU) in a precision: "auto" (NULL too), "float32" or "bf16". */
int core_begin_on(core_call *call, core_state *state, int threads, PyObject *progress, const char *device,
                  const char *precision);
void core_release(core_call *call);
void core_retake(core_call *call);
/* Tells `progress`, as a context does; user: the call, whose thread has let go of Python's lock. */
void core_show(void *user, const char *what, double done);
/* Gives back the context. -1 with the exception that fits the status, or that a callback raised. */
int core_end(core_call *call, dis_status status);
/* The exception of a status with the library's last message; always -1. */
int core_fail(core_state *state, dis_status status);
/* A message of the library for Python: fields and options are arguments here, of the same names (`lenient` and
 * --lenient become lenient). What stands in quotes is the user's own. */
void core_name_arguments(const char *message, char *out, size_t size);

/* ---- memory with a shape (py_array.c) ---- */

typedef enum {
    CORE_FLOAT64,
    CORE_FLOAT32,
    CORE_INT64,
    CORE_INT32,
    CORE_UINT64,
    CORE_UINT32,
    CORE_UINT16,
    CORE_UINT8
} core_kind;

/* An object with the buffer protocol over `data`, in row-major order, two dimensions when n_columns >= 0. owner: the
 * object that keeps the memory (then it is read-only), NULL: it is the array's own and given back with dis_free(). */
PyObject *core_array_new(core_state *state, void *data, core_kind kind, Py_ssize_t n_rows, Py_ssize_t n_columns,
                         PyObject *owner);
/* A new array to be filled; *data is its memory. */
PyObject *core_array_create(core_state *state, core_kind kind, Py_ssize_t n_rows, Py_ssize_t n_columns, void **data);
/* The memory of an object with the buffer protocol: contiguous, of that kind, n elements (-1: any number). On success
 * the caller releases the view with PyBuffer_Release(). TypeError or ValueError that name `what`. */
int core_get_buffer(PyObject *object, const char *what, core_kind kind, Py_ssize_t n, Py_buffer *view);

/* ---- columns (py_column.c) ---- */

/* The cells of a Column; TypeError that names `what` for another object. Valid as long as it. */
int core_column_get(core_state *state, PyObject *object, const char *what, dis_column *column);

/* ---- votes and fits (py_votes.c, py_fit.c) ---- */

/* The table of a Votes object; TypeError for anything else. Valid as long as the object. */
const dis_votes *core_votes_get(core_state *state, PyObject *object);
/* A new object that owns the table; NULL with an exception, and the table destroyed. */
PyObject *core_votes_wrap(core_state *state, dis_votes *votes);
/* Its names of "task", "worker" or "label"; NULL with an exception. */
const dis_names *core_votes_names(core_state *state, PyObject *object, PyObject *axis);

/* The same for a Fit, an Items and a Model. */
const dis_fit *core_fit_get(core_state *state, PyObject *object);
const dis_items *core_items_get(core_state *state, PyObject *object);
const dis_model *core_model_get(core_state *state, PyObject *object);
/* A new object that owns the model; NULL with an exception, and the model destroyed. */
PyObject *core_model_wrap(core_state *state, dis_model *model);
/* The distributions of labels as an array (n_items, n_classes). */
PyObject *core_labels_array(core_state *state, const dis_labels *labels);

/* Texts of a sequence of str for calls that take lists of texts; NULL-terminated UTF-8 that the `keep` list owns. */
typedef struct {
    const char **text;
    size_t n;
    PyObject *keep;
} core_texts;
/* None is an empty list. -1 with a TypeError that names `what`. */
int core_texts_get(PyObject *object, const char *what, core_texts *texts);
void core_texts_free(core_texts *texts);
/* The choice that specs of methods and a combination (NULL: the usual one) make for these votes; the texts stay the
 * caller's. No specs: the default of the command line. */
dis_status core_choose_labels(const dis_votes *votes, const core_texts *methods, const char *combine,
                              dis_label_plan *out);
/* A list of names as Python texts. */
PyObject *core_names_list(const dis_names *names);
/* A list of options as dictionaries, for the tables of methods, combinations and models. */
PyObject *core_options_list(const dis_option *options, size_t n);

#endif
