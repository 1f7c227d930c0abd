/* Combining views: several tables of soft labels into one, and weights for them without gold labels. */
#include "measure/py_measure.h"

typedef struct {
    Py_buffer view[DIS_MAX_VIEWS], weight;
    const double *p[DIS_MAX_VIEWS];
    Py_ssize_t n;
} inputs;

static void release(inputs *in)
{
    for (Py_ssize_t i = 0; i < in->n; i++) PyBuffer_Release(&in->view[i]);
    if (in->weight.obj) PyBuffer_Release(&in->weight);
}

static int parse_inputs(PyObject *views, PyObject *weight, Py_ssize_t n_numbers, inputs *in)
{
    const Py_ssize_t n = PyTuple_Size(views);
    if (n < 1 || n > DIS_MAX_VIEWS) {
        PyErr_Format(PyExc_ValueError, "got %zd views; 1 to %d are possible", n, DIS_MAX_VIEWS);
        return -1;
    }
    for (; in->n < n; in->n++) {
        if (core_get_buffer(PyTuple_GetItem(views, in->n), "a view", CORE_FLOAT64, n_numbers, &in->view[in->n]) < 0)
            return -1;
        in->p[in->n] = in->view[in->n].buf;
    }
    if (weight == Py_None) return 0;
    return core_get_buffer(weight, "weights", CORE_FLOAT64, n, &in->weight);
}

/* Which numbers of each view a list has room for. */
static PyObject *numbers(const double *x, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *item = PyFloat_FromDouble(x[i]);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *describe(const dis_combination *did, size_t n)
{
    PyObject *bound = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; bound && i < n; i++)
        if (PyList_SetItem(bound, (Py_ssize_t)i, PyBool_FromLong(did->at_bound[i])) < 0) Py_CLEAR(bound);
    PyObject *weight = numbers(did->weight, n), *temperature = numbers(did->temperature, n);
    if (!bound || !weight || !temperature) {
        Py_XDECREF(bound);
        Py_XDECREF(weight);
        Py_XDECREF(temperature);
        return NULL;
    }
    return Py_BuildValue("{sNsNsNsdsisdsd}", "weights", weight, "temperatures", temperature, "on_bound", bound,
                         "objective", did->objective, "max_steps", did->max_steps, "power", did->power,
                         "overdispersion", did->overdispersion);
}

static PyObject *combine(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"views", "n_items", "n_classes", "spec", "weights", "votes", "threads", "progress", NULL};
    PyObject *views, *weight = Py_None, *table = Py_None, *progress = NULL, *result = NULL;
    Py_ssize_t n_items, n_classes;
    const char *spec;
    int threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!nns|$OOiO:combine", names, &PyTuple_Type, &views, &n_items,
                                     &n_classes, &spec, &weight, &table, &threads, &progress))
        return NULL;
    if (n_items < 0 || n_classes < 1 || n_items > PY_SSIZE_T_MAX / n_classes) {
        PyErr_SetString(PyExc_ValueError, "impossible sizes");
        return NULL;
    }
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = table == Py_None ? NULL : core_votes_get(state, table);
    if (table != Py_None && !votes) return NULL;
    inputs in = {0};
    void *data = NULL;
    PyObject *array = NULL;
    core_call call;
    if (parse_inputs(views, weight, n_items * n_classes, &in) == 0)
        array = core_array_create(state, CORE_FLOAT64, n_items, n_classes, &data);
    if (array && core_begin(&call, state, threads, progress) == 0) {
        const dis_views all = {.size = sizeof(dis_views),
                               .n_items = (size_t)n_items,
                               .n_classes = (size_t)n_classes,
                               .n_views = (size_t)in.n,
                               .p = in.p,
                               .weight = in.weight.buf,
                               .votes = votes};
        dis_combination did = dis_combination_default();
        core_release(&call);
        const dis_status status = dis_views_combine(call.ctx, &all, spec, data, &did);
        core_retake(&call);
        PyObject *info = core_end(&call, status) == 0 ? describe(&did, (size_t)in.n) : NULL;
        if (info) result = Py_BuildValue("(ON)", array, info);
    }
    Py_XDECREF(array);
    release(&in);
    return result;
}

static PyObject *view_weights(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes", "specs", "by_votes", "seed", "threads", "progress", NULL};
    PyObject *table, *list, *progress = NULL, *array = NULL;
    unsigned long long seed = 0;
    int threads = 0, by_votes = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$pKiO:view_weights", names, &table, &list, &by_votes, &seed,
                                     &threads, &progress))
        return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    core_texts specs;
    if (!votes || core_texts_get(list, "specs", &specs) < 0) return NULL;
    dis_fit_options options = dis_fit_options_default();
    options.seed = seed;
    void *data;
    core_call call;
    if (specs.n == 0 || specs.n > DIS_MAX_VIEWS)
        PyErr_Format(PyExc_ValueError, "got %zu methods; 1 to %d are possible", specs.n, DIS_MAX_VIEWS);
    else
        array = core_array_create(state, CORE_FLOAT64, (Py_ssize_t)specs.n, -1, &data);
    if (array && core_begin(&call, state, threads, progress) < 0) {
        Py_CLEAR(array);
    } else if (array) {
        core_release(&call);
        const dis_status status = by_votes
                                      ? dis_views_vote_weights(votes, specs.text, specs.n, data)
                                      : dis_views_auto_weights(call.ctx, votes, specs.text, specs.n, &options, data);
        core_retake(&call);
        if (core_end(&call, status) < 0) Py_CLEAR(array);
    }
    core_texts_free(&specs);
    return array;
}

/* ---- labels in one call ---- */

dis_status core_choose_labels(const dis_votes *votes, const core_texts *methods, const char *combine,
                              dis_label_plan *out)
{
    const bool workers = dis_votes_get_view(votes).start != NULL;
    *out = dis_label_plan_default();
    const char *usual = dis_scale_get(dis_votes_scale(votes))->method;
    if (methods->n == 0 && usual && workers) return dis_label_plan_parse(&usual, 1, combine, workers, out);
    return dis_label_plan_parse(methods->text, methods->n, combine, workers, out);
}

static dis_status run_labels(core_call *call, const dis_votes *votes, const core_texts *methods,
                             const char *combination, const dis_fit_options *fit, double *p)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    dis_label_plan choice = dis_label_plan_default();
    dis_label_result_options how = dis_label_result_options_default();
    how.fit = fit;
    dis_label_result *result = NULL;
    dis_status status = core_choose_labels(votes, methods, combination, &choice);
    if (status == DIS_OK) status = dis_label_result_run(call->ctx, votes, &choice, &how, &result);
    if (status == DIS_OK) memcpy(p, dis_label_result_get_view(result).p, v.n_items * v.n_classes * sizeof *p);
    dis_label_result_destroy(result);
    return status;
}

static PyObject *make_labels(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes", "methods", "combine", "gold", "seed", "threads", "progress", NULL};
    PyObject *table, *list = Py_None, *gold = Py_None, *progress = NULL, *array = NULL;
    const char *combination = NULL;
    unsigned long long seed = 0;
    int threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OzOKiO:make_labels", names, &table, &list, &combination, &gold,
                                     &seed, &threads, &progress))
        return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    core_texts methods;
    if (!votes || core_texts_get(list, "methods", &methods) < 0) return NULL;
    const dis_votes_view v = dis_votes_get_view(votes);
    dis_fit_options fit = dis_fit_options_default();
    Py_buffer known = {0};
    void *p;
    core_call call;
    if (core_gold_get(gold, "gold", v.n_items, v.n_classes, &known) == 0)
        array = core_array_create(state, CORE_FLOAT64, (Py_ssize_t)v.n_items, (Py_ssize_t)v.n_classes, &p);
    fit.seed = seed;
    fit.gold = known.buf;
    if (array && core_begin(&call, state, threads, progress) < 0) {
        Py_CLEAR(array);
    } else if (array) {
        core_release(&call);
        const dis_status status = run_labels(&call, votes, &methods, combination, &fit, p);
        core_retake(&call);
        if (core_end(&call, status) < 0) Py_CLEAR(array);
    }
    core_buffer_free(&known);
    core_texts_free(&methods);
    return array;
}

static PyMethodDef functions[] = {
    {"make_labels", (PyCFunction)(void (*)(void))make_labels, METH_VARARGS | METH_KEYWORDS,
     "Soft labels by methods, or by the default recipe."},
    {"combine", (PyCFunction)(void (*)(void))combine, METH_VARARGS | METH_KEYWORDS,
     "One table of several, and what was done."},
    {"view_weights", (PyCFunction)(void (*)(void))view_weights, METH_VARARGS | METH_KEYWORDS,
     "A weight for each method."},
    {NULL, NULL, 0, NULL},
};

int core_add_combine(PyObject *module)
{
    return core_add_functions(module, functions);
}
