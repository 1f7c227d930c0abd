/* Training: what to learn from, options, and the tables of models and objectives. */
#include "measure/py_measure.h"
#include "tool/method_checks.h"

/* ---- what to learn from ---- */

typedef struct {
    dis_examples e;
    dis_labels *labels;
    dis_gold *gold;
    Py_buffer weights; /* of the items; buf is NULL without any */
} examples;

static void free_examples(examples *x)
{
    dis_labels_destroy(x->labels);
    dis_gold_destroy(x->gold);
    core_buffer_free(&x->weights);
}

static dis_status gold_of(const dis_names *tasks, const dis_names *classes, const int32_t *label, dis_gold **out)
{
    const size_t n = dis_names_count(tasks);
    const char **text = PyMem_Malloc((n + 1) * sizeof *text);
    int32_t *known = PyMem_Malloc((n + 1) * sizeof *known);
    dis_names *some = NULL;
    dis_status status = text && known ? DIS_OK : DIS_ELIMIT;
    size_t m = 0;
    for (size_t i = 0; i < n && status == DIS_OK; i++)
        if (label[i] >= 0) {
            text[m] = dis_names_get(tasks, i, NULL);
            known[m++] = label[i];
        }
    if (status == DIS_OK) status = dis_names_create(text, m, &some);
    if (status == DIS_OK) {
        const dis_gold_view view = {
            .size = sizeof(dis_gold_view), .n_items = m, .label = known, .tasks = some, .classes = classes};
        status = dis_gold_create(NULL, &view, out);
    }
    dis_names_destroy(some);
    PyMem_Free(text);
    PyMem_Free(known);
    return status;
}

/* (items, soft (n, classes) or None, gold (n) or None, votes or None) in the order of the items. */
static int parse_examples(core_state *state, PyObject *tuple, const dis_names *classes, examples *out)
{
    PyObject *items, *soft, *gold, *votes;
    if (!PyArg_ParseTuple(tuple, "OOOO:examples", &items, &soft, &gold, &votes)) return -1;
    out->e.items = core_items_get(state, items);
    if (!out->e.items) return -1;
    const dis_items_view v = dis_items_get_view(out->e.items);
    const size_t k = dis_names_count(classes);
    Py_buffer p = {0}, known = {0};
    dis_status status = DIS_OK;
    if (!core_sizes_ok((Py_ssize_t)v.n_items, (Py_ssize_t)k) ||
        core_rows_get(soft, "soft labels", v.n_items, k, &p) < 0 ||
        core_gold_get(gold, "gold", v.n_items, k, &known) < 0) {
        core_buffer_free(&p);
        return -1;
    }
    if (p.buf) {
        const dis_labels_view view = {.size = sizeof(dis_labels_view),
                                      .n_items = v.n_items,
                                      .n_classes = k,
                                      .p = p.buf,
                                      .tasks = v.tasks,
                                      .classes = classes};
        status = dis_labels_create(NULL, &view, &out->labels);
    }
    if (known.buf && status == DIS_OK) status = gold_of(v.tasks, classes, known.buf, &out->gold);
    core_buffer_free(&p);
    core_buffer_free(&known);
    if (status != DIS_OK) return core_fail(state, status);
    out->e.labels = out->labels;
    out->e.gold = out->gold;
    if (votes == Py_None) return 0;
    out->e.votes = core_votes_get(state, votes);
    return out->e.votes ? 0 : -1;
}

/* None or a weight for each item. */
static int parse_weights(PyObject *object, examples *x)
{
    if (!object || object == Py_None) return 0;
    const size_t n = dis_items_get_view(x->e.items).n_items;
    if (core_get_buffer(object, "item_weights", CORE_FLOAT64, (Py_ssize_t)n, &x->weights) == 0) return 0;
    x->weights.obj = NULL;
    return -1;
}

/* ---- training ---- */

/* One option of the table from its value; -1 with an exception. Texts are the caller's. */
static int parse_option(const dis_train_option *row, PyObject *value, dis_model_train_options *o)
{
    void *to = (char *)o + row->offset;
    if (row->kind == DIS_TRAIN_COUNT) {
        const Py_ssize_t n = PyLong_AsSsize_t(value);
        if (n < 0 && !PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%s is 0 or more", row->field);
        if (n < 0) return -1;
        *(size_t *)to = (size_t)n;
    } else if (row->kind == DIS_TRAIN_REAL) {
        *(double *)to = PyFloat_AsDouble(value);
    } else if (row->kind == DIS_TRAIN_FLAG) {
        *(bool *)to = PyObject_IsTrue(value) == 1;
    } else if (value != Py_None) {
        *(const char **)to = PyUnicode_AsUTF8AndSize(value, NULL);
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* The options of the table out of the keywords; returns the others. */
static PyObject *parse_options(PyObject *keywords, dis_model_train_options *o)
{
    PyObject *rest = keywords ? PyDict_Copy(keywords) : PyDict_New();
    const dis_train_option *row;
    for (size_t i = 0; rest && (row = dis__train_option_get(i)); i++) {
        PyObject *value = PyDict_GetItemString(rest, row->field);
        if (value && (parse_option(row, value, o) < 0 || PyDict_DelItemString(rest, row->field) < 0)) Py_CLEAR(rest);
    }
    return rest;
}

/* With folds: what they say of all items, else the model. The lock is free meanwhile. */
static PyObject *run_training(core_call *call, core_state *state, const char *table_path, const dis_examples *learned,
                              const dis_examples *judge, dis_model_train_options *o, const dis_folds_options *folds)
{
    dis_worker_table *table = NULL;
    dis_model *model = NULL;
    dis_labels *labels = NULL;
    PyObject *result = NULL;
    core_release(call);
    dis_status status = table_path ? dis_worker_table_read(call->ctx, table_path, NULL, &table) : DIS_OK;
    o->worker_table = table;
    if (status == DIS_OK)
        status = folds->n_folds ? dis_folds_predict(call->ctx, learned, judge, o, folds, &labels)
                                : dis_model_train(call->ctx, learned, judge, o, &model);
    core_retake(call);
    if (core_end(call, status) < 0)
        dis_model_destroy(model);
    else
        result = folds->n_folds ? core_labels_array(state, labels) : core_model_wrap(state, model);
    dis_labels_destroy(labels);
    dis_worker_table_destroy(table);
    return result;
}

/* A model, or with folds what they say of all items. */
static PyObject *train(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"examples",     "classes",  "dev",    "model",     "objective",    "seed",
                            "lenient",      "folder",   "resume", "folds",     "fold_dev",     "fold_jobs",
                            "threads",      "progress", "device", "precision", "worker_table", "worker_features",
                            "item_weights", NULL};
    const char *table_path = NULL;
    PyObject *given, *list, *dev = Py_None, *progress = NULL, *weights = NULL, *result = NULL;
    dis_model_train_options o = dis_model_train_options_default();
    unsigned long long seed = 0;
    int lenient = 0, resume = 0, threads = 0;
    dis_folds_options folds = dis_folds_options_default();
    Py_ssize_t n_folds = 0, fold_jobs = 1;
    const char *device = NULL, *precision = NULL;
    PyObject *rest = parse_options(keywords, &o);
    const int parsed =
        rest && PyArg_ParseTupleAndKeywords(args, rest, "O!O|$OssKpzpndniOzzzzO:train", names, &PyTuple_Type, &given,
                                            &list, &dev, &o.model, &o.objective, &seed, &lenient, &o.folder, &resume,
                                            &n_folds, &folds.dev, &fold_jobs, &threads, &progress, &device, &precision,
                                            &table_path, &o.worker_features, &weights);
    Py_XDECREF(rest);
    if (!parsed) return NULL;
    core_state *state = core_state_of_module(module);
    if (n_folds < 0 || fold_jobs < 0 || (dev != Py_None && !PyTuple_Check(dev))) {
        PyErr_SetString(PyExc_ValueError, "folds and fold_jobs must be 0 or more, dev None or examples");
        return NULL;
    }
    core_texts texts;
    dis_names *classes = NULL;
    if (core_texts_get(list, "classes", &texts) < 0) return NULL;
    const dis_status named = dis_names_create(texts.text, texts.n, &classes);
    core_texts_free(&texts);
    if (named != DIS_OK) {
        core_fail(state, named);
        return NULL;
    }
    o.seed = seed;
    o.lenient = lenient != 0;
    o.resume = resume != 0;
    o.classes = classes;
    examples train_on = {.e = dis_examples_default()}, judge_by = {.e = dis_examples_default()};
    core_call call;
    if (parse_examples(state, given, classes, &train_on) == 0 && parse_weights(weights, &train_on) == 0 &&
        (dev == Py_None || parse_examples(state, dev, classes, &judge_by) == 0) &&
        core_begin_on(&call, state, threads, progress, device, precision) == 0) {
        o.item_weights = train_on.weights.buf;
        folds.n_folds = (size_t)n_folds;
        folds.jobs = (size_t)fold_jobs;
        result = run_training(&call, state, table_path, &train_on.e, dev == Py_None ? NULL : &judge_by.e, &o, &folds);
    }
    free_examples(&train_on);
    free_examples(&judge_by);
    dis_names_destroy(classes);
    return result;
}

/* NULL: an exception is set. */
static PyObject *recipes_list(const dis_model_kind *m)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < m->n_recipes; i++) {
        const dis_model_recipe *r = &m->recipes[i];
        PyObject *row = Py_BuildValue("{ssssss}", "name", r->name, "summary", r->summary, "settings", r->options);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *models(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    static const char *const kinds[] = {[DIS_ITEMS_TEXT] = "texts",
                                        [DIS_ITEMS_TOKENS] = "tokens",
                                        [DIS_ITEMS_FEATURES] = "features",
                                        [DIS_ITEMS_IMAGES] = "images"};
    PyObject *list = PyList_New(0);
    const dis_model_kind *m;
    for (size_t i = 0; list && (m = dis_model_kind_get(i)); i++) {
        PyObject *options = core_options_list(m->options, m->n_options);
        PyObject *row = options
                            ? Py_BuildValue("{sssssssssNsNsnsnsdss}", "name", m->name, "summary", m->summary, "source",
                                            m->source ? m->source : "", "items", kinds[m->items_kind], "options",
                                            options, "recipes", recipes_list(m), "epochs", (Py_ssize_t)m->epochs,
                                            "batch", (Py_ssize_t)m->batch, "rate", m->rate, "optimizer", m->optimizer)
                            : NULL;
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *objectives(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const dis_objective *o;
    for (size_t i = 0; list && (o = dis_objective_get(i)); i++) {
        PyObject *options = core_options_list(o->options, o->n_options);
        PyObject *row = options ? Py_BuildValue("{sssssOsOsOsN}", "name", o->name, "summary", o->summary, "needs_gold",
                                                o->needs_gold ? Py_True : Py_False, "needs_labels",
                                                o->needs_labels ? Py_True : Py_False, "needs_votes",
                                                o->needs_votes ? Py_True : Py_False, "options", options)
                                : NULL;
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyMethodDef functions[] = {
    {"train", CORE_KEYWORDS(train), "Trains a model."},
    {"models", models, METH_NOARGS, "models()\n\nThe rows of the table of models."},
    {"objectives", objectives, METH_NOARGS, "objectives()\n\nThe rows of the table of objectives."},
    {NULL, NULL, 0, NULL},
};

int core_add_train(PyObject *module)
{
    return core_add_functions(module, functions);
}
