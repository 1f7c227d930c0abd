/* Votes as they come: one call per vote, the rows that it led to as a list of tuples. Calls keep Python's lock: a vote
 * takes less than a microsecond. */
#include "py_core.h"

typedef struct {
    PyObject_HEAD dis_watch *watch;
    PyObject *rows; /* of the current call */
} watch_object;

static void watch_dealloc(PyObject *object)
{
    dis_watch_destroy(((watch_object *)object)->watch);
    core_free_object(object);
}

static dis_status append_row(void *user, const dis_watch_row *row)
{
    watch_object *self = user;
    PyObject *tuple =
        Py_BuildValue("(s#s#dKs)", row->task, (Py_ssize_t)row->n_task, row->label, (Py_ssize_t)row->n_label, row->p,
                      (unsigned long long)row->votes, dis_watch_reason_name(row->reason));
    const int failed = !tuple || PyList_Append(self->rows, tuple) < 0;
    Py_XDECREF(tuple);
    return failed ? DIS_ECANCELLED : DIS_OK;
}

/* The rows so far, or the exception of the status. */
static PyObject *end_rows(watch_object *self, dis_status status)
{
    PyObject *rows = self->rows;
    self->rows = NULL;
    if (status == DIS_OK) return rows;
    Py_DECREF(rows);
    if (!PyErr_Occurred()) core_fail(core_state_of_object((PyObject *)self), status);
    return NULL;
}

static PyObject *add(PyObject *object, PyObject *args)
{
    watch_object *self = (watch_object *)object;
    dis_watch_vote v = dis_watch_vote_default();
    Py_ssize_t n_task, n_worker, n_label;
    if (!PyArg_ParseTuple(args, "s#s#s#:add", &v.task, &n_task, &v.worker, &n_worker, &v.label, &n_label)) return NULL;
    v.n_task = (size_t)n_task;
    v.n_worker = (size_t)n_worker;
    v.n_label = (size_t)n_label;
    self->rows = PyList_New(0);
    return self->rows ? end_rows(self, dis_watch_add(self->watch, &v)) : NULL;
}

static PyObject *finalize(PyObject *object, PyObject *unused)
{
    (void)unused;
    watch_object *self = (watch_object *)object;
    self->rows = PyList_New(0);
    return self->rows ? end_rows(self, dis_watch_finalize(self->watch)) : NULL;
}

static PyObject *get_info(PyObject *object, PyObject *unused)
{
    (void)unused;
    const dis_watch_view v = dis_watch_get_view(((watch_object *)object)->watch);
    return Py_BuildValue("{sKsKsKsKsKsnsnsn}", "votes", (unsigned long long)v.votes, "late", (unsigned long long)v.late,
                         "duplicates", (unsigned long long)v.duplicates, "confident", (unsigned long long)v.n_confident,
                         "at_vote_limit", (unsigned long long)v.n_at_vote_limit, "open", (Py_ssize_t)v.open,
                         "n_workers", (Py_ssize_t)v.n_workers, "n_classes", (Py_ssize_t)v.n_classes);
}

static PyObject *write_open(PyObject *object, PyObject *args)
{
    PyObject *path;
    if (!PyArg_ParseTuple(args, "O&:write", PyUnicode_FSConverter, &path)) return NULL;
    const dis_status status = dis_watch_write(((watch_object *)object)->watch, PyBytes_AsString(path), NULL);
    Py_DECREF(path);
    if (status != DIS_OK) {
        core_fail(core_state_of_object(object), status);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Texts of a list; they stay the list's. */
static int parse_classes(PyObject *list, const char ***out, size_t *n)
{
    if (list == Py_None) return 0;
    *n = (size_t)PyList_Size(list);
    *out = PyMem_Calloc(*n + 1, sizeof **out);
    if (!*out) PyErr_NoMemory();
    for (size_t k = 0; *out && k < *n; k++) {
        PyObject *item = PyList_GetItem(list, (Py_ssize_t)k);
        (*out)[k] = item ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
        if (!(*out)[k]) return -1;
    }
    return *out ? 0 : -1;
}

static PyObject *watch_open(PyObject *module, PyObject *args)
{
    core_state *state = core_state_of_module(module);
    dis_watch_options o = dis_watch_options_default();
    unsigned long long min_votes, ask_from, max_votes, remember, memory;
    int duplicates;
    PyObject *list;
    const char **classes = NULL;
    if (!PyArg_ParseTuple(args, "dKKKKddiOK:watch_open", &o.confidence, &min_votes, &ask_from, &max_votes, &remember,
                          &o.power, &o.limit, &duplicates, &list, &memory))
        return NULL;
    watch_object *self = (watch_object *)PyType_GenericAlloc(state->watch, 0);
    if (self && parse_classes(list, &classes, &o.n_classes) == 0) {
        o.min_votes = min_votes;
        o.request_from = ask_from;
        o.max_votes = max_votes;
        o.n_remembered = remember;
        o.memory = memory;
        o.duplicates = (dis_duplicates)duplicates;
        o.classes = classes;
        o.on_row = append_row;
        o.user = self;
        const dis_status status = dis_watch_create(&o, &self->watch);
        if (status != DIS_OK) core_fail(state, status);
    }
    PyMem_Free((void *)classes);
    if (self && !self->watch) {
        Py_DECREF(self);
        self = NULL;
    }
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    {"add", add, METH_VARARGS, "A vote: task, worker, label; the rows that it led to."},
    {"finalize", finalize, METH_NOARGS, "Updates all open items; returns the rows of the confident ones."},
    {"view", get_info, METH_NOARGS, "Counts."},
    {"write", write_open, METH_VARARGS, "The labels of open items into a file."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, watch_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Votes as they come."},
    {0, NULL},
};
static PyType_Spec spec = {.name = "dissent._core.Watch",
                           .basicsize = sizeof(watch_object),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

static PyMethodDef functions[] = {
    {"watch_open", watch_open, METH_VARARGS, "A watch over votes as they come."},
    {NULL, NULL, 0, NULL},
};

int core_add_watch(PyObject *module)
{
    if (core_add_type(module, &spec, &core_state_of_module(module)->watch) < 0) return -1;
    return core_add_functions(module, functions);
}
