/* Tables of votes made of columns, of counts, of arrays or of files. */
#include "py_core.h"
#include "tool/table_columns.h"
#include <errno.h>
#include <stdlib.h>

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
    for (size_t i = 0; (row = dis_scale_get(i)); i++)
        if (strcmp(word, row->name) == 0) {
            *out = (dis_scale)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "there is no scale \"%.50s\"; dissent.scales() lists them", word);
    return -1;
}

static PyObject *votes_from_columns(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {
        "task",    "worker",   "label", "classes",   "na",   "duplicates",         "lenient", "min_votes",
        "threads", "progress", "scale", "fold_case", "trim", "allow_many_classes", NULL};
    PyObject *task, *worker, *label, *classes = NULL, *na = NULL, *progress = NULL;
    const char *duplicates = "error", *scale = "nominal";
    int lenient = 0, threads = 0, fold_case = 0, trim = 0, many = 0;
    Py_ssize_t min_votes = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO|$OOspniOsppp:votes_from_columns", names, &task, &worker,
                                     &label, &classes, &na, &duplicates, &lenient, &min_votes, &threads, &progress,
                                     &scale, &fold_case, &trim, &many))
        return NULL;
    core_state *state = core_state_of_module(module);
    dis_votes_columns columns = dis_votes_columns_default();
    dis_votes_options options = dis_votes_options_default();
    if (core_column_get(state, task, "task", &columns.task) < 0 ||
        core_column_get(state, worker, "worker", &columns.worker) < 0 ||
        core_column_get(state, label, "label", &columns.label) < 0 ||
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
    options.fold_case = fold_case != 0;
    options.trim = trim != 0;
    options.allow_many_classes = many != 0;
    options.min_votes = min_votes > 0 ? (size_t)min_votes : 0;

    PyObject *result = NULL;
    dis_votes *votes = NULL;
    core_call call;
    if (core_begin(&call, state, threads, progress) == 0) {
        core_release(&call);
        const dis_status status = dis_votes_create_from_columns(call.ctx, &columns, &options, &votes);
        core_retake(&call);
        const int failed = core_end(&call, status);
        if (!failed)
            result = core_votes_wrap(state, votes);
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

static int several_of(const char *word, dis_multiple_labels *out)
{
    static const char *const words[] = {"error", "all", "join"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (dis_multiple_labels)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "several must be \"error\", \"all\" or \"join\", not \"%.50s\"", word);
    return -1;
}

static int delimiter_of(const char *text, int *out)
{
    if (!text) return 0;
    *out = strcmp(text, "tab") == 0 ? '\t' : strcmp(text, "space") == 0 ? ' ' : (unsigned char)text[0];
    if (text[0] && (!text[1] || *out != (unsigned char)text[0])) return 0;
    PyErr_Format(PyExc_ValueError, "delimiter must be one character, \"tab\" or \"space\", not \"%.50s\"", text);
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
            result = core_votes_wrap(state, votes);
        else
            dis_votes_destroy(votes);
    }
    for (int i = 0; i < 5; i++) core_texts_free(&lists[i]);
    return result;
}

static PyObject *votes_from_files(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"paths",       "input",      "format",   "preset",    "task",       "worker",
                            "label",       "time",       "records",  "keep",      "drop",       "several",
                            "delimiter",   "header",     "classes",  "na",        "duplicates", "lenient",
                            "renormalise", "min_votes",  "threads",  "progress",  "scale",      "pair_a",
                            "pair_b",      "span_start", "span_end", "fold_case", "trim",       "allow_many_classes",
                            "skip",        NULL};
    PyObject *given[5] = {NULL, NULL, NULL, NULL, NULL}, *progress = NULL; /* paths, classes, na, keep, drop */
    const char *input = NULL, *duplicates = "error", *several = "error", *delimiter = NULL, *scale = "nominal";
    int lenient = 0, renormalise = 0, threads = 0, header = 1, fold_case = 0, trim = 0, many = 0;
    Py_ssize_t min_votes = 0, skip = 0;
    dis_votes_options o = dis_votes_options_default();
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$zzzzzzzzOOszpOOsppniOszzzzpppn:votes_from_files", names,
                                     &given[0], &input, &o.format, &o.preset, &o.task, &o.worker, &o.label, &o.time,
                                     &o.records, &given[3], &given[4], &several, &delimiter, &header, &given[1],
                                     &given[2], &duplicates, &lenient, &renormalise, &min_votes, &threads, &progress,
                                     &scale, &o.pair_a, &o.pair_b, &o.span_start, &o.span_end, &fold_case, &trim, &many,
                                     &skip))
        return NULL;
    if (input && input_of(input, &o.input) < 0) return NULL;
    if (duplicates_of(duplicates, &o.duplicates) < 0 || several_of(several, &o.multiple_labels) < 0 ||
        delimiter_of(delimiter, &o.delimiter) < 0 || scale_of(scale, &o.scale) < 0)
        return NULL;
    o.no_header = !header;
    o.fold_case = fold_case != 0;
    o.trim = trim != 0;
    o.allow_many_classes = many != 0;
    o.skip = skip > 0 ? (size_t)skip : 0;
    o.lenient = lenient != 0;
    o.renormalise = renormalise != 0;
    o.min_votes = min_votes > 0 ? (size_t)min_votes : 0;
    return read_files(core_state_of_module(module), &o, given, threads, progress);
}

/* find_column(role, names): the positions of the columns that could play a role, none, one or two. */
static PyObject *find_column(PyObject *module, PyObject *args)
{
    (void)module;
    enum { MAX_COLUMNS = 1024 };
    const char *role;
    PyObject *names;
    core_texts texts;
    dis_column_name list[MAX_COLUMNS];
    size_t found[2], n = 0;
    int r = DIS_ROLE_TASK;
    if (!PyArg_ParseTuple(args, "sO:find_column", &role, &names) || core_texts_get(names, "names", &texts) < 0)
        return NULL;
    while (r < DIS_ROLE_GOLD && strcmp(role, dis__role_name((dis_role)r)) != 0) r++;
    for (; n < texts.n && n < MAX_COLUMNS; n++) list[n] = (dis_column_name){texts.text[n], strlen(texts.text[n])};
    n = dis_role_find((dis_role)r, list, n, found);
    core_texts_free(&texts);
    if (n == 0) return PyTuple_New(0);
    return n == 1 ? Py_BuildValue("(n)", (Py_ssize_t)found[0])
                  : Py_BuildValue("(nn)", (Py_ssize_t)found[0], (Py_ssize_t)found[1]);
}

/* (name, what it reads) of each. */
static PyObject *get_presets(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PyObject *list = PyList_New(0);
    const dis_votes_preset *p;
    for (size_t i = 0; list && (p = dis_votes_preset_get(i)); i++) {
        char summary[512];
        core_name_arguments(p->summary, summary, sizeof summary);
        PyObject *pair = Py_BuildValue("(ss)", p->name, summary);
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
        const dis_status status = dis_votes_create_from_counts(NULL, view.buf, (size_t)n_items, (size_t)n_classes,
                                                               task_names, class_names, &votes);
        if (status == DIS_OK)
            result = core_votes_wrap(state, votes);
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
        const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                         .n_votes = (size_t)n,
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
        const dis_status status = dis_votes_create_from_arrays(NULL, &arrays, &votes);
        if (status == DIS_OK)
            result = core_votes_wrap(state, votes);
        else
            core_fail(state, status);
    }
    for (int i = 0; i < 3; i++) {
        dis_names_destroy(names[i]);
        if (view[i].obj) PyBuffer_Release(&view[i]);
    }
    return result;
}

#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
    {"votes_from_columns", WITH_KEYWORDS(votes_from_columns), "A table of three columns."},
    {"votes_from_files", WITH_KEYWORDS(votes_from_files), "A table of one or more files."},
    {"find_column", find_column, METH_VARARGS,
     "find_column(role, names)\n\nPlaces of the columns that could play a role by their names: none, one or two."},
    {"presets", get_presets, METH_NOARGS, "presets()\n\nNames of presets and what they read."},
    {"votes_from_counts", WITH_KEYWORDS(votes_from_counts), "A table of counts: an array (items, classes) of float64."},
    {"votes_from_arrays", votes_from_arrays, METH_VARARGS,
     "votes_from_arrays(task, worker, label, tasks, workers, classes, scale=\"nominal\")\n\nA table of indices and "
     "names."},
    {NULL, NULL, 0, NULL},
};

int core_add_votes_in(PyObject *module)
{
    return core_add_functions(module, functions);
}
