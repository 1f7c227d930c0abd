/* Votes: a table of votes as a Python object, made of columns, of counts or of files. */
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

const dis_votes *core_votes_look(core_state *state, PyObject *object)
{
    if (!PyObject_TypeCheck(object, state->votes)) {
        PyErr_SetString(PyExc_TypeError, "expected a table of votes");
        return NULL;
    }
    return ((votes_object *)object)->votes;
}

static PyObject *wrap(core_state *state, dis_votes *votes)
{
    votes_object *v = (votes_object *)PyType_GenericAlloc(state->votes, 0);
    if (v)
        v->votes = votes;
    else
        dis_votes_destroy(votes);
    return (PyObject *)v;
}

static int duplicates_of(const char *word, dis_duplicates *out)
{
    static const char *const words[] = {"error", "first", "last", "all"};
    for (int i = 0; i < 4; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (dis_duplicates)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "duplicates must be \"error\", \"first\", \"last\" or \"all\", not \"%.50s\"", word);
    return -1;
}

static int scale_of(const char *word, dis_scale *out)
{
    const dis_scale_row *row;
    for (size_t i = 0; (row = dis_scale_at(i)); i++)
        if (strcmp(word, row->name) == 0) {
            *out = (dis_scale)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "there is no scale \"%.50s\"; dissent.scales() lists them", word);
    return -1;
}

static PyObject *votes_from_columns(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"task",    "worker",    "label",   "classes",  "na",    "duplicates",
                            "lenient", "min_votes", "threads", "progress", "scale", NULL};
    PyObject *task, *worker, *label, *classes = NULL, *na = NULL, *progress = NULL;
    const char *duplicates = "error", *scale = "nominal";
    int lenient = 0, threads = 0;
    Py_ssize_t min_votes = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO|$OOspniOs:votes_from_columns", names, &task, &worker, &label,
                                     &classes, &na, &duplicates, &lenient, &min_votes, &threads, &progress, &scale))
        return NULL;
    core_state *state = core_state_of_module(module);
    dis_votes_columns columns;
    dis_votes_options options = dis_votes_options_default();
    if (core_column_look(state, task, "task", &columns.task) < 0 ||
        core_column_look(state, worker, "worker", &columns.worker) < 0 ||
        core_column_look(state, label, "label", &columns.label) < 0 ||
        duplicates_of(duplicates, &options.duplicates) < 0 || scale_of(scale, &options.scale) < 0)
        return NULL;
    core_texts class_list, na_list;
    if (core_texts_get(classes, "classes", &class_list) < 0) return NULL;
    if (core_texts_get(na, "na", &na_list) < 0) {
        core_texts_free(&class_list);
        return NULL;
    }
    options.classes = class_list.text;
    options.n_classes = class_list.n;
    options.na = na_list.text;
    options.n_na = na_list.n;
    options.lenient = lenient != 0;
    options.min_votes = min_votes > 0 ? (size_t)min_votes : 0;

    PyObject *result = NULL;
    dis_votes *votes = NULL;
    core_call call;
    if (core_begin(&call, state, threads, progress) == 0) {
        core_release(&call);
        const dis_status status = dis_votes_from_columns(call.ctx, &columns, &options, &votes);
        core_retake(&call);
        const int failed = core_end(&call, status);
        if (!failed)
            result = wrap(state, votes);
        else
            dis_votes_destroy(votes);
    }
    core_texts_free(&class_list);
    core_texts_free(&na_list);
    return result;
}

static int input_of(const char *word, dis_input *out)
{
    static const char *const words[] = {"votes", "counts", "mace", "soft", "wide"};
    for (int i = 0; i < 5; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (dis_input)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "input must be \"votes\", \"counts\", \"mace\", \"soft\" or \"wide\", not \"%.50s\"",
                 word);
    return -1;
}

enum { CORE_RULES = 64 };

static int several_of(const char *word, dis_several *out)
{
    static const char *const words[] = {"error", "all", "join"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (dis_several)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "several must be \"error\", \"all\" or \"join\", not \"%.50s\"", word);
    return -1;
}

static int delimiter_of(const char *text, int *out)
{
    if (!text) return 0;
    *out = (unsigned char)text[0];
    if (text[0] && !text[1]) return 0;
    PyErr_Format(PyExc_ValueError, "delimiter must be one character, not \"%.50s\"", text);
    return -1;
}

/* A path and a value in turn. */
static void rules_of(const core_texts *texts, dis_drop_rule *rules, size_t *n)
{
    for (*n = 0; *n < CORE_RULES && 2 * *n + 1 < texts->n; ++*n)
        rules[*n] = (dis_drop_rule){.column = texts->text[2 * *n], .value = texts->text[2 * *n + 1]};
}

/* Reads, with the lists that are given. */
static PyObject *read_files(core_state *state, dis_votes_options *o, PyObject *const given[5], int threads,
                            PyObject *progress)
{
    static const char *const what[] = {"paths", "classes", "na", "keep", "drop"};
    PyObject *result = NULL;
    core_texts lists[5] = {{0}};
    dis_drop_rule keep[CORE_RULES], drop[CORE_RULES];
    int n = 0;
    while (n < 5 && core_texts_get(given[n], what[n], &lists[n]) == 0) n++;
    if (n == 5 && (lists[3].n > 2 * CORE_RULES || lists[4].n > 2 * CORE_RULES)) {
        PyErr_Format(PyExc_ValueError, "more than %d rules", (int)CORE_RULES);
        n = 0;
    }
    core_call call;
    if (n == 5 && core_begin(&call, state, threads, progress) == 0) {
        o->classes = lists[1].text;
        o->n_classes = lists[1].n;
        o->na = lists[2].text;
        o->n_na = lists[2].n;
        o->keep = keep;
        o->drop = drop;
        rules_of(&lists[3], keep, &o->n_keep);
        rules_of(&lists[4], drop, &o->n_drop);
        dis_votes *votes = NULL;
        core_release(&call);
        const dis_status status = dis_votes_read(call.ctx, lists[0].text, lists[0].n, o, &votes);
        core_retake(&call);
        if (core_end(&call, status) == 0)
            result = wrap(state, votes);
        else
            dis_votes_destroy(votes);
    }
    for (int i = 0; i < 5; i++) core_texts_free(&lists[i]);
    return result;
}

static PyObject *votes_from_files(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"paths",    "input",   "format",     "preset",  "task",        "worker",    "label",
                            "time",     "records", "keep",       "drop",    "several",     "delimiter", "header",
                            "classes",  "na",      "duplicates", "lenient", "renormalise", "min_votes", "threads",
                            "progress", "scale",   "pair_a",     "pair_b",  "span_start",  "span_end",  NULL};
    PyObject *given[5] = {NULL, NULL, NULL, NULL, NULL}, *progress = NULL; /* paths, classes, na, keep, drop */
    const char *input = NULL, *duplicates = "error", *several = "error", *delimiter = NULL, *scale = "nominal";
    int lenient = 0, renormalise = 0, threads = 0, header = 1;
    Py_ssize_t min_votes = 0;
    dis_votes_options o = dis_votes_options_default();
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$zzzzzzzzOOszpOOsppniOszzzz:votes_from_files", names, &given[0],
                                     &input, &o.format, &o.preset, &o.task, &o.worker, &o.label, &o.time, &o.records,
                                     &given[3], &given[4], &several, &delimiter, &header, &given[1], &given[2],
                                     &duplicates, &lenient, &renormalise, &min_votes, &threads, &progress, &scale,
                                     &o.pair_a, &o.pair_b, &o.span_start, &o.span_end))
        return NULL;
    if (input && input_of(input, &o.input) < 0) return NULL;
    if (duplicates_of(duplicates, &o.duplicates) < 0 || several_of(several, &o.several) < 0 ||
        delimiter_of(delimiter, &o.delimiter) < 0 || scale_of(scale, &o.scale) < 0)
        return NULL;
    o.no_header = !header;
    o.lenient = lenient != 0;
    o.renormalise = renormalise != 0;
    o.min_votes = min_votes > 0 ? (size_t)min_votes : 0;
    return read_files(core_state_of_module(module), &o, given, threads, progress);
}

/* (name, what it reads) of each. */
static PyObject *get_presets(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    const dis_votes_preset *p;
    for (size_t i = 0; list && (p = dis_votes_preset_at(i)); i++) {
        PyObject *pair = Py_BuildValue("(ss)", p->name, p->summary);
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* A list of names, or NULL for None; -1 with an exception. */
static int names_of(core_state *state, PyObject *object, const char *what, dis_names **out)
{
    *out = NULL;
    if (!object || object == Py_None) return 0;
    core_texts texts;
    if (core_texts_get(object, what, &texts) < 0) return -1;
    const dis_status status = dis_names_create(texts.text, texts.n, out);
    core_texts_free(&texts);
    return status == DIS_OK ? 0 : core_fail(state, status);
}

static PyObject *votes_from_counts(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"counts", "n_items", "n_classes", "tasks", "classes", NULL};
    PyObject *counts, *tasks = NULL, *classes = NULL;
    Py_ssize_t n_items, n_classes;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "Onn|$OO:votes_from_counts", names, &counts, &n_items, &n_classes,
                                     &tasks, &classes))
        return NULL;
    core_state *state = core_state_of_module(module);
    if (n_items < 0 || n_classes < 0 || (n_classes && n_items > PY_SSIZE_T_MAX / n_classes)) {
        PyErr_SetString(PyExc_ValueError, "impossible sizes");
        return NULL;
    }
    Py_buffer view;
    if (core_get_buffer(counts, "counts", CORE_FLOAT64, n_items * n_classes, &view) < 0) return NULL;
    PyObject *result = NULL;
    dis_names *task_names = NULL, *class_names = NULL;
    if (names_of(state, tasks, "tasks", &task_names) == 0 && names_of(state, classes, "classes", &class_names) == 0) {
        dis_votes *votes;
        const dis_status status =
            dis_votes_from_counts(NULL, view.buf, (size_t)n_items, (size_t)n_classes, task_names, class_names, &votes);
        if (status == DIS_OK)
            result = wrap(state, votes);
        else
            core_fail(state, status);
    }
    dis_names_destroy(task_names);
    dis_names_destroy(class_names);
    PyBuffer_Release(&view);
    return result;
}

/* A table as arrays() and names() gave it, to the last index. */
static PyObject *votes_from_arrays(PyObject *module, PyObject *args)
{
    PyObject *given[3], *texts[3];
    const char *word = "nominal";
    dis_scale scale;
    if (!PyArg_ParseTuple(args, "OOOOOO|s:votes_from_arrays", &given[0], &given[1], &given[2], &texts[0], &texts[1],
                          &texts[2], &word) ||
        scale_of(word, &scale) < 0)
        return NULL;
    static const char *const what[] = {"task", "worker", "label"};
    core_state *state = core_state_of_module(module);
    const Py_ssize_t n = PyObject_Size(given[0]);
    Py_buffer view[3] = {0};
    dis_names *names[3] = {0};
    PyObject *result = NULL;
    int failed = n < 0;
    for (int i = 0; i < 3 && !failed; i++) {
        failed = core_get_buffer(given[i], what[i], i == 2 ? CORE_UINT16 : CORE_UINT32, n, &view[i]) < 0 ||
                 names_of(state, texts[i], what[i], &names[i]) < 0;
        if (!failed && !names[i]) {
            PyErr_SetString(PyExc_ValueError, "names are needed");
            failed = 1;
        }
    }
    if (!failed) {
        const dis_votes_arrays arrays = {.n_votes = (size_t)n,
                                         .n_items = dis_names_count(names[0]),
                                         .n_workers = dis_names_count(names[1]),
                                         .n_classes = dis_names_count(names[2]),
                                         .task = view[0].buf,
                                         .worker = view[1].buf,
                                         .label = view[2].buf,
                                         .scale = scale,
                                         .tasks = names[0],
                                         .workers = names[1],
                                         .classes = names[2],
                                         .duplicates = DIS_DUPLICATES_ALL};
        dis_votes *votes;
        const dis_status status = dis_votes_from_arrays(NULL, &arrays, &votes);
        if (status == DIS_OK)
            result = wrap(state, votes);
        else
            core_fail(state, status);
    }
    for (int i = 0; i < 3; i++) {
        dis_names_destroy(names[i]);
        if (view[i].obj) PyBuffer_Release(&view[i]);
    }
    return result;
}

/* ---- looking at a table ---- */

static dis_votes_view look(PyObject *object)
{
    return dis_votes_look(((votes_object *)object)->votes);
}

static const dis_names *names_by(PyObject *object, PyObject *axis)
{
    const dis_votes_view v = look(object);
    if (PyUnicode_Check(axis)) {
        if (PyUnicode_CompareWithASCIIString(axis, "task") == 0) return v.tasks;
        if (PyUnicode_CompareWithASCIIString(axis, "worker") == 0) return v.workers;
        if (PyUnicode_CompareWithASCIIString(axis, "label") == 0) return v.classes;
    }
    PyErr_Format(PyExc_ValueError, "names are those of \"task\", \"worker\" or \"label\", not of %R", axis);
    return NULL;
}

const dis_names *core_votes_names(core_state *state, PyObject *object, PyObject *axis)
{
    return core_votes_look(state, object) ? names_by(object, axis) : NULL;
}

static PyObject *get_names(PyObject *object, PyObject *axis)
{
    const dis_names *names = names_by(object, axis);
    return names ? core_names_list(names) : NULL;
}

/* None when a name is no integer of 64 bits. */
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
    const dis_votes_view v = look(object);
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
    const dis_votes_notes n = dis_votes_read_notes(((votes_object *)object)->votes);
    return Py_BuildValue("{sKsKsKsKsKsKsKsKsO}", "rows", (unsigned long long)n.rows, "bad_rows",
                         (unsigned long long)n.bad_rows, "na", (unsigned long long)n.na, "dropped",
                         (unsigned long long)n.dropped, "duplicates", (unsigned long long)n.duplicates, "renormalised",
                         (unsigned long long)n.renormalised, "items_left_out", (unsigned long long)n.items_left_out,
                         "ties", (unsigned long long)n.ties, "look_alike_classes",
                         n.look_alike_classes ? Py_True : Py_False);
}

static PyObject *get_skipped(PyObject *object, PyObject *unused)
{
    (void)unused;
    const dis_votes *votes = ((votes_object *)object)->votes;
    PyObject *list = PyList_New(0);
    const char *message;
    for (size_t i = 0; list && (message = dis_votes_skipped(votes, i)); i++) {
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
    const dis_votes_view v = look(object);
    const size_t sizes[] = {v.n_items, v.n_workers, v.n_classes, v.n_votes};
    return PyLong_FromSize_t(sizes[(intptr_t)which]);
}

static PyObject *get_scale(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(dis_scale_at(dis_votes_scale(((votes_object *)object)->votes))->name);
}

static PyObject *get_scales(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    const dis_scale_row *row;
    for (size_t i = 0; list && (row = dis_scale_at(i)); i++) {
        PyObject *pair = Py_BuildValue("(ssz)", row->name, row->summary, row->method);
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
static PyMethodDef methods[] = {
    {"names", get_names, METH_O, "names(axis)\n\nThe names of \"task\", \"worker\" or \"label\"."},
    {"integers", get_integers, METH_O, "integers(axis)\n\nNames as int64; None when they are not."},
    {"order", get_order, METH_O, "order(axis)\n\nIndices that sort the names."},
    {"arrays", get_arrays, METH_NOARGS, "arrays()\n\n(start, worker, label) of votes grouped by task, or counts."},
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

#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
    {"votes_from_columns", WITH_KEYWORDS(votes_from_columns), "A table of three columns."},
    {"votes_from_files", WITH_KEYWORDS(votes_from_files), "A table of one or more files."},
    {"presets", get_presets, METH_NOARGS, "presets()\n\nNames of presets and what they read."},
    {"scales", get_scales, METH_NOARGS, "scales()\n\nNames of scales, what they are, their label methods."},
    {"votes_from_counts", WITH_KEYWORDS(votes_from_counts), "A table of counts: an array (items, classes) of float64."},
    {"votes_from_arrays", votes_from_arrays, METH_VARARGS,
     "votes_from_arrays(task, worker, label, tasks, workers, classes, scale=\"nominal\")\n\nA table of indices and "
     "names."},
    {NULL, NULL, 0, NULL},
};

int core_add_votes(PyObject *module)
{
    if (core_add_type(module, &spec, &core_state_of_module(module)->votes) < 0) return -1;
    return core_add_functions(module, functions);
}
