/* Votes: a table of votes as a Python object, and what it shows of itself. py_votes_in.c makes it. */
#include "py_core.h"
#include <errno.h>
#include <stdlib.h>

typedef struct {
    PyObject_HEAD dis_votes *votes;
} votes_object;

static void votes_dealloc(PyObject *object)
{
    dis_votes_destroy(((votes_object *)object)->votes);
    core_free_object(object);
}

const dis_votes *core_votes_get(core_state *state, PyObject *object)
{
    if (!PyObject_TypeCheck(object, state->votes)) {
        PyErr_SetString(PyExc_TypeError, "expected a table of votes");
        return NULL;
    }
    return ((votes_object *)object)->votes;
}

PyObject *core_votes_wrap(core_state *state, dis_votes *votes)
{
    votes_object *v = (votes_object *)PyType_GenericAlloc(state->votes, 0);
    if (v)
        v->votes = votes;
    else
        dis_votes_destroy(votes);
    return (PyObject *)v;
}

static dis_votes_view get_view(PyObject *object)
{
    return dis_votes_get_view(((votes_object *)object)->votes);
}

static const dis_names *names_by(PyObject *object, PyObject *axis)
{
    const dis_votes_view v = get_view(object);
    if (PyUnicode_Check(axis)) {
        if (PyUnicode_CompareWithASCIIString(axis, "task") == 0) return v.tasks;
        if (PyUnicode_CompareWithASCIIString(axis, "worker") == 0) return v.workers;
        if (PyUnicode_CompareWithASCIIString(axis, "label") == 0) return v.classes;
    }
    PyErr_Format(PyExc_ValueError, "expected \"task\", \"worker\" or \"label\", not of %R", axis);
    return NULL;
}

const dis_names *core_votes_names(core_state *state, PyObject *object, PyObject *axis)
{
    return core_votes_get(state, object) ? names_by(object, axis) : NULL;
}

static PyObject *get_names(PyObject *object, PyObject *axis)
{
    const dis_names *names = names_by(object, axis);
    return names ? core_names_list(names) : NULL;
}

/* None when a name is not an integer of 64 bits. */
static PyObject *get_integers(PyObject *object, PyObject *axis)
{
    const dis_names *names = names_by(object, axis);
    if (!names) return NULL;
    const size_t n = dis_names_count(names);
    void *data;
    PyObject *array = core_array_create(core_state_of_object(object), CORE_INT64, (Py_ssize_t)n, -1, &data);
    if (!array) return NULL;
    int64_t *out = data;
    for (size_t i = 0; i < n; i++) {
        char *end;
        size_t length;
        const char *text = dis_names_get(names, i, &length);
        errno = 0;
        out[i] = strtoll(text, &end, 10);
        if (errno || length == 0 || end != text + length) {
            Py_DECREF(array);
            Py_RETURN_NONE;
        }
    }
    return array;
}

typedef struct {
    const char *text;
    size_t n, index;
} sorted_name;

static int by_bytes(const void *a, const void *b)
{
    const sorted_name *x = a, *y = b;
    const int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
    return order ? order : x->n < y->n ? -1 : x->n > y->n;
}

/* Where each name stands among them all; bytes of UTF-8 are in the order of characters, which is Python's. */
static PyObject *get_order(PyObject *object, PyObject *axis)
{
    const dis_names *names = names_by(object, axis);
    if (!names) return NULL;
    const size_t n = dis_names_count(names);
    void *data;
    PyObject *array = core_array_create(core_state_of_object(object), CORE_INT64, (Py_ssize_t)n, -1, &data);
    sorted_name *sorted = array ? PyMem_Malloc((n + 1) * sizeof *sorted) : NULL;
    if (!sorted) {
        Py_XDECREF(array);
        return PyErr_NoMemory();
    }
    for (size_t i = 0; i < n; i++) {
        sorted[i].text = dis_names_get(names, i, &sorted[i].n);
        sorted[i].index = i;
    }
    qsort(sorted, n, sizeof *sorted, by_bytes);
    for (size_t i = 0; i < n; i++) ((int64_t *)data)[i] = (int64_t)sorted[i].index;
    PyMem_Free(sorted);
    return array;
}

/* The votes as arrays over the table's memory, or None where it has none. */
static PyObject *get_arrays(PyObject *object, PyObject *unused)
{
    (void)unused;
    core_state *state = core_state_of_object(object);
    const dis_votes_view v = get_view(object);
    const Py_ssize_t n = (Py_ssize_t)v.n_votes, items = (Py_ssize_t)v.n_items, K = (Py_ssize_t)v.n_classes;
    if (v.counts) return core_array_new(state, (void *)(uintptr_t)v.counts, CORE_FLOAT64, items, K, object);
    PyObject *start = core_array_new(state, (void *)(uintptr_t)v.start, CORE_UINT64, items + 1, -1, object),
             *worker = core_array_new(state, (void *)(uintptr_t)v.worker, CORE_UINT32, n, -1, object),
             *label = v.label8 ? core_array_new(state, (void *)(uintptr_t)v.label8, CORE_UINT8, n, -1, object)
                               : core_array_new(state, (void *)(uintptr_t)v.label16, CORE_UINT16, n, -1, object);
    PyObject *result = start && worker && label ? PyTuple_Pack(3, start, worker, label) : NULL;
    Py_XDECREF(start);
    Py_XDECREF(worker);
    Py_XDECREF(label);
    return result;
}

static PyObject *get_notes(PyObject *object, PyObject *unused)
{
    (void)unused;
    const dis_votes_notes n = dis_votes_get_notes(((votes_object *)object)->votes);
    char cause[64] = "";
    if (n.reader_cause) core_name_arguments(n.reader_cause, cause, sizeof cause);
    return Py_BuildValue("{sKsKsKsKsKsKsKsKsOszsz}", "rows", (unsigned long long)n.rows, "bad_rows",
                         (unsigned long long)n.bad_rows, "na", (unsigned long long)n.missing_labels, "dropped",
                         (unsigned long long)n.dropped, "duplicates", (unsigned long long)n.duplicates, "renormalised",
                         (unsigned long long)n.renormalised, "items_left_out", (unsigned long long)n.items_left_out,
                         "ties", (unsigned long long)n.ties, "similar_classes", n.similar_classes ? Py_True : Py_False,
                         "reader", n.reader, "reader_cause", *cause ? cause : NULL);
}

static PyObject *get_skipped(PyObject *object, PyObject *unused)
{
    (void)unused;
    const dis_votes *votes = ((votes_object *)object)->votes;
    PyObject *list = PyList_New(0);
    const char *message;
    for (size_t i = 0; list && (message = dis_votes_get_skipped_row(votes, i)); i++) {
        char named[4096];
        core_name_arguments(message, named, sizeof named);
        PyObject *text = PyUnicode_FromString(named);
        if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *get_size(PyObject *object, void *which)
{
    const dis_votes_view v = get_view(object);
    const size_t sizes[] = {v.n_items, v.n_workers, v.n_classes, v.n_votes};
    return PyLong_FromSize_t(sizes[(intptr_t)which]);
}

static PyObject *get_scale(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(dis_scale_get(dis_votes_scale(((votes_object *)object)->votes))->name);
}

static PyObject *get_scales(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    const dis_scale_row *row;
    for (size_t i = 0; list && (row = dis_scale_get(i)); i++) {
        char summary[512];
        core_name_arguments(row->summary, summary, sizeof summary);
        PyObject *pair = Py_BuildValue("(ssz)", row->name, summary, row->method);
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyGetSetDef getters[] = {
    {"n_items", get_size, NULL, "How many tasks there are.", (void *)0},
    {"n_workers", get_size, NULL, "How many workers there are; 0 for counts.", (void *)1},
    {"n_classes", get_size, NULL, "How many classes there are.", (void *)2},
    {"n_votes", get_size, NULL, "How many votes there are; rows for counts.", (void *)3},
    {"scale", get_scale, NULL, "What labels are: the name of a scale.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
/* Notes as (suspicious, text). */
static PyObject *get_messages(PyObject *object, PyObject *unused)
{
    (void)unused;
    const dis_votes *votes = ((votes_object *)object)->votes;
    PyObject *list = PyList_New(0);
    dis_note_kind kind;
    const char *text;
    for (size_t i = 0; list && (text = dis_votes_get_note(votes, i, &kind)); i++) {
        char named[1024];
        core_name_arguments(text, named, sizeof named);
        PyObject *pair = Py_BuildValue("(Os)", kind == DIS_NOTE_SUSPICIOUS ? Py_True : Py_False, named);
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyMethodDef methods[] = {
    {"names", get_names, METH_O, "names(axis)\n\nThe names of \"task\", \"worker\" or \"label\"."},
    {"integers", get_integers, METH_O, "integers(axis)\n\nNames as int64; None when they are not."},
    {"order", get_order, METH_O, "order(axis)\n\nIndices that sort the names."},
    {"arrays", get_arrays, METH_NOARGS, "arrays()\n\n(start, worker, label) of votes grouped by task, or counts."},
    {"messages", get_messages, METH_NOARGS, "messages()\n\nNotes of reading: whether each is suspicious, its text."},
    {"notes", get_notes, METH_NOARGS, "notes()\n\nWhat reading let pass."},
    {"skipped", get_skipped, METH_NOARGS, "skipped()\n\nMessages of the first rows that were skipped."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, votes_dealloc},
    {Py_tp_getset, getters},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A table of votes."},
    {0, NULL},
};
static PyType_Spec spec = {.name = "dissent._core.Votes",
                           .basicsize = sizeof(votes_object),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

static PyMethodDef functions[] = {
    {"scales", get_scales, METH_NOARGS, "scales()\n\nNames of scales, what they are, their label methods."},
    {NULL, NULL, 0, NULL},
};

int core_add_votes(PyObject *module)
{
    if (core_add_type(module, &spec, &core_state_of_module(module)->votes) < 0) return -1;
    return core_add_functions(module, functions);
}
