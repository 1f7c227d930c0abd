/* Fit: what one label method made of the votes. */
#include "py_core.h"

typedef struct {
    PyObject_HEAD dis_fit *fit;
    PyObject *p; /* the posteriors, an Array */
    size_t n_workers, n_items, n_classes;
} fit_object;

static void fit_dealloc(PyObject *object)
{
    fit_object *f = (fit_object *)object;
    Py_XDECREF(f->p);
    dis_fit_destroy(f->fit);
    core_free_object(object);
}

const dis_fit *core_fit_get(core_state *state, PyObject *object)
{
    if (!PyObject_TypeCheck(object, state->fit)) {
        PyErr_SetString(PyExc_TypeError, "expected a fit");
        return NULL;
    }
    return ((fit_object *)object)->fit;
}

static PyObject *wrap(core_state *state, dis_fit *fit, const dis_votes *votes)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    fit_object *f = (fit_object *)PyType_GenericAlloc(state->fit, 0);
    if (!f) {
        dis_fit_destroy(fit);
        return NULL;
    }
    f->fit = fit;
    f->n_workers = v.n_workers;
    f->n_items = v.n_items;
    f->n_classes = v.n_classes;
    f->p =
        core_array_new(state, dis_fit_move_p(fit), CORE_FLOAT64, (Py_ssize_t)v.n_items, (Py_ssize_t)v.n_classes, NULL);
    if (!f->p) Py_CLEAR(f);
    return (PyObject *)f;
}

static PyObject *run(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes",   "spec",     "seed",   "gold", "start", "predictions", "predictions_weight",
                            "threads", "progress", "device", NULL};
    PyObject *table, *gold = NULL, *predictions = NULL, *progress = NULL;
    const char *start = NULL, *device = NULL;
    Py_ssize_t n_start = 0;
    const char *spec;
    unsigned long long seed = 0;
    int threads = 0;
    double weight = -1;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "Os|$KOz#OdiOz:fit", names, &table, &spec, &seed, &gold, &start,
                                     &n_start, &predictions, &weight, &threads, &progress, &device))
        return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    if (!votes) return NULL;
    dis_fit_options options = dis_fit_options_default();
    options.seed = seed;
    options.predictions_weight = weight;
    Py_buffer view = {0}, rows = {0};
    if (gold && gold != Py_None) {
        const dis_votes_view v = dis_votes_get_view(votes);
        if (core_get_buffer(gold, "gold", CORE_INT32, (Py_ssize_t)v.n_items, &view) < 0) return NULL;
        for (size_t i = 0; i < v.n_items; i++)
            if (((const int32_t *)view.buf)[i] >= (int32_t)v.n_classes) {
                PyErr_SetString(PyExc_ValueError, "gold has a class that the votes do not have");
                PyBuffer_Release(&view);
                return NULL;
            }
        options.gold = view.buf;
    }
    if (predictions && predictions != Py_None) {
        const dis_votes_view v = dis_votes_get_view(votes);
        if (core_get_buffer(predictions, "predictions", CORE_FLOAT64, (Py_ssize_t)(v.n_items * v.n_classes), &rows) <
            0) {
            if (view.obj) PyBuffer_Release(&view);
            return NULL;
        }
        options.predictions = rows.buf;
    }
    PyObject *result = NULL;
    dis_state *begin = NULL;
    const dis_status read = start ? dis_state_parse(start, (size_t)n_start, &begin) : DIS_OK;
    if (read != DIS_OK) core_fail(state, read);
    options.initial_state = begin;
    core_call call;
    if (read == DIS_OK && core_begin_on(&call, state, threads, progress, device, NULL) == 0) {
        dis_fit *fit = NULL;
        core_release(&call);
        const dis_status status = dis_fit_run(call.ctx, votes, spec, &options, &fit);
        core_retake(&call);
        if (core_end(&call, status) == 0)
            result = wrap(state, fit, votes);
        else
            dis_fit_destroy(fit);
    }
    dis_state_destroy(begin);
    if (view.obj) PyBuffer_Release(&view);
    if (rows.obj) PyBuffer_Release(&rows);
    return result;
}

static PyObject *get_p(PyObject *object, void *unused)
{
    (void)unused;
    return Py_NewRef(((fit_object *)object)->p);
}

static PyObject *get_summary(PyObject *object, PyObject *unused)
{
    (void)unused;
    const dis_fit_view v = dis_fit_get_view(((fit_object *)object)->fit);
    return Py_BuildValue("{sssisOsisdsdsssd}", "method", v.method->name, "iterations", v.iterations, "converged",
                         v.converged ? Py_True : Py_False, "restart", v.restart, "objective", v.objective,
                         "predictions_weight", v.predictions_weight, "device", v.device, "strength", v.prior_strength);
}

static PyObject *get_trace(PyObject *object, void *unused)
{
    (void)unused;
    const dis_fit_view v = dis_fit_get_view(((fit_object *)object)->fit);
    return core_array_new(core_state_of_object(object), (void *)(uintptr_t)v.trace, CORE_FLOAT64, (Py_ssize_t)v.n_trace,
                          -1, object);
}

/* {name: (axes, numbers)} */
static PyObject *get_parameters(PyObject *object, PyObject *unused)
{
    (void)unused;
    const fit_object *f = (fit_object *)object;
    PyObject *all = PyDict_New();
    const dis_parameter *p;
    for (size_t i = 0; all && (p = dis_fit_get_parameter(f->fit, i)); i++) {
        PyObject *values = core_array_new(core_state_of_object(object), (void *)(uintptr_t)p->values, CORE_FLOAT64,
                                          (Py_ssize_t)p->n, -1, object);
        PyObject *pair = values ? Py_BuildValue("(sN)", p->axes, values) : NULL;
        if (!pair || PyDict_SetItemString(all, p->name, pair) < 0) Py_CLEAR(all);
        Py_XDECREF(pair);
    }
    return all;
}

static PyObject *get_warnings(PyObject *object, PyObject *unused)
{
    (void)unused;
    PyObject *all = PyList_New(0);
    const char *text;
    for (size_t i = 0; all && (text = dis_fit_get_warning(((fit_object *)object)->fit, i)); i++) {
        PyObject *sentence = PyUnicode_FromString(text);
        if (!sentence || PyList_Append(all, sentence) < 0) Py_CLEAR(all);
        Py_XDECREF(sentence);
    }
    return all;
}

/* The share of each worker's votes that is right if p is believed. */
static PyObject *worker_quality(PyObject *module, PyObject *args)
{
    PyObject *table, *p;
    if (!PyArg_ParseTuple(args, "OO:worker_quality", &table, &p)) return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    if (!votes) return NULL;
    const dis_votes_view v = dis_votes_get_view(votes);
    Py_buffer view;
    if (core_get_buffer(p, "p", CORE_FLOAT64, (Py_ssize_t)(v.n_items * v.n_classes), &view) < 0) return NULL;
    void *data;
    PyObject *array = core_array_create(state, CORE_FLOAT64, (Py_ssize_t)v.n_workers, -1, &data);
    if (array) {
        const dis_status status = dis_votes_worker_quality(NULL, votes, view.buf, data, NULL);
        if (status != DIS_OK) {
            core_fail(state, status);
            Py_CLEAR(array);
        }
    }
    PyBuffer_Release(&view);
    return array;
}

static PyGetSetDef getters[] = {
    {"p", get_p, NULL, "Posterior of the true class (items, classes).", NULL},
    {"trace", get_trace, NULL, "The objective after each iteration.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef methods[] = {
    {"summary", get_summary, METH_NOARGS, "summary()\n\nMethod, iterations, converged, restart, objective."},
    {"warnings", get_warnings, METH_NOARGS, "warnings()\n\nWhat is odd about the labels, one sentence each"},
    {"parameters", get_parameters, METH_NOARGS, "parameters()\n\n{name: (axes, numbers)}"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, fit_dealloc},
    {Py_tp_getset, getters},
    {Py_tp_methods, methods},
    {Py_tp_doc, "What a label method made of votes."},
    {0, NULL},
};
static PyType_Spec spec = {.name = "dissent._core.Fit",
                           .basicsize = sizeof(fit_object),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

static PyMethodDef functions[] = {
    {"fit", (PyCFunction)(void (*)(void))run, METH_VARARGS | METH_KEYWORDS, "Runs a label method."},
    {"worker_quality", worker_quality, METH_VARARGS, "worker_quality(votes, p)"},
    {NULL, NULL, 0, NULL},
};

int core_add_fit(PyObject *module)
{
    if (core_add_type(module, &spec, &core_state_of_module(module)->fit) < 0) return -1;
    return core_add_functions(module, functions);
}
