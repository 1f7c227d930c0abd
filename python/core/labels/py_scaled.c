/* Votes of a scale of its own: measures and tables as Python's dicts of arrays and lists. */
#include "py_core.h"
#include "measure/py_measure.h"
#include <math.h>
#include <string.h>

static PyObject *column_of(core_state *state, const dis_scaled_column *x, size_t n)
{
    if (!x->names) {
        void *data;
        PyObject *array = core_array_create(state, CORE_FLOAT64, (Py_ssize_t)n, -1, &data);
        if (array && n) memcpy(data, x->values, n * sizeof *x->values);
        return array;
    }
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        size_t length;
        const char *text = dis_names_get(x->names, x->index ? x->index[i] : i, &length);
        PyObject *item = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *table_of(core_state *state, const dis_scaled_table *t)
{
    PyObject *dict = PyDict_New();
    for (size_t c = 0; dict && c < t->n_columns; c++) {
        PyObject *column = column_of(state, &t->columns[c], t->n_rows);
        if (!column || PyDict_SetItemString(dict, t->columns[c].name, column) < 0) Py_CLEAR(dict);
        Py_XDECREF(column);
    }
    return dict;
}

static PyObject *put(PyObject *dict, const char *key, PyObject *value)
{
    if (dict && (!value || PyDict_SetItemString(dict, key, value) < 0)) Py_CLEAR(dict);
    Py_XDECREF(value);
    return dict;
}

static PyObject *result_of(core_state *state, const dis_scaled *scaled)
{
    const dis_scaled_view view = dis_scaled_get_view(scaled);
    PyObject *tables = PyDict_New(), *measures = PyDict_New(), *notes = PyList_New(0);
    for (size_t i = 0; i < view.n_tables; i++)
        tables = put(tables, view.tables[i].name, table_of(state, &view.tables[i]));
    for (size_t m = 0; m < view.n_measures; m++)
        measures = put(measures, view.measures[m].name, core_metric(&view.measures[m].value));
    for (size_t i = 0; notes && i < view.n_notes; i++) {
        PyObject *text = PyUnicode_FromString(view.notes[i]);
        if (!text || PyList_Append(notes, text) < 0) Py_CLEAR(notes);
        Py_XDECREF(text);
    }
    if (!tables || !measures || !notes) {
        Py_XDECREF(tables);
        Py_XDECREF(measures);
        Py_XDECREF(notes);
        return NULL;
    }
    return Py_BuildValue("{sNsNsNsssiszsO}", "tables", tables, "measures", measures, "notes", notes, "scale",
                         dis_scale_get(view.scale)->name, "n_iter", view.iterations, "method", view.method, "converged",
                         view.converged ? Py_True : Py_False);
}

enum { MAX_COVARIATES = 64 };

/* Covariates from a list of (name, values by item). */
typedef struct {
    dis_scaled_covariate row[MAX_COVARIATES];
    Py_buffer view[MAX_COVARIATES];
    size_t n;
} covariate_args;

static int get_covariates(PyObject *list, size_t n_items, covariate_args *to)
{
    const Py_ssize_t n = list && list != Py_None ? PyList_Size(list) : 0;
    if (n < 0) return -1;
    if (n > MAX_COVARIATES) {
        PyErr_Format(PyExc_ValueError, "covariates: %zd of them, and at most %d are possible", n, MAX_COVARIATES);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *values;
        dis_scaled_covariate *row = &to->row[to->n];
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sO:covariates", &row->name, &values)) return -1;
        if (core_get_buffer(values, row->name, CORE_FLOAT64, (Py_ssize_t)n_items, &to->view[to->n]) < 0) return -1;
        row->value = to->view[to->n++].buf;
    }
    return 0;
}

static PyObject *run_scaled(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes",    "method", "combine",    "resamples", "seed",       "threads",
                            "progress", "groups", "covariates", "append",    "save_state", NULL};
    PyObject *object, *method = NULL, *progress = NULL, *groups = NULL, *covariates = NULL, *result = NULL;
    dis_scaled_options o = dis_scaled_options_default();
    Py_ssize_t resamples = 1000;
    unsigned long long seed = 0;
    int threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OznKiOOOzz:scaled", names, &object, &method, &o.combine,
                                     &resamples, &seed, &threads, &progress, &groups, &covariates, &o.append,
                                     &o.state_file))
        return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, object);
    core_texts list;
    if (!votes || core_texts_get(method, "method", &list) < 0) return NULL;
    covariate_args x = {.n = 0};
    dis_worker_groups *group = NULL;
    o.method = list.text;
    o.n_methods = list.n;
    o.resamples = resamples > 0 ? (size_t)resamples : 0;
    o.seed = seed;
    core_call call;
    if (get_covariates(covariates, dis_votes_n_items(votes), &x) == 0 &&
        (!groups || groups == Py_None || core_groups_get(state, votes, groups, &group) == 0) &&
        core_begin(&call, state, threads, progress) == 0) {
        dis_scaled *scaled = NULL;
        o.covariates = x.row;
        o.n_covariates = x.n;
        o.groups = group;
        core_release(&call);
        const dis_status status = dis_scaled_run(call.ctx, votes, &o, &scaled);
        core_retake(&call);
        if (core_end(&call, status) == 0) result = result_of(state, scaled);
        dis_scaled_destroy(scaled);
    }
    for (size_t i = 0; i < x.n; i++) core_buffer_free(&x.view[i]);
    dis_worker_groups_destroy(group);
    core_texts_free(&list);
    return result;
}

static PyMethodDef functions[] = {
    {"scaled", (PyCFunction)(void (*)(void))run_scaled, METH_VARARGS | METH_KEYWORDS,
     "Labels, agreement and review of votes of a scale of its own."},
    {NULL, NULL, 0, NULL},
};

int core_add_scaled(PyObject *module)
{
    return core_add_functions(module, functions);
}
