/* Model: training, predicting, and folders of models. */
#include "py_measure.h"

typedef struct {
    PyObject_HEAD dis_model *model;
    PyThread_type_lock lock; /* a model serves one call at a time, and Python's lock is free while it works */
} model_object;

static void model_dealloc(PyObject *object)
{
    model_object *m = (model_object *)object;
    dis_model_destroy(m->model);
    if (m->lock) PyThread_free_lock(m->lock);
    core_free_object(object);
}

const dis_model *core_model_look(core_state *state, PyObject *object)
{
    if (!PyObject_TypeCheck(object, state->model)) {
        PyErr_SetString(PyExc_TypeError, "expected a model");
        return NULL;
    }
    return ((model_object *)object)->model;
}

static PyObject *wrap(core_state *state, dis_model *model)
{
    model_object *m = (model_object *)PyType_GenericAlloc(state->model, 0);
    if (!m) {
        dis_model_destroy(model);
        return NULL;
    }
    m->model = model;
    m->lock = PyThread_allocate_lock();
    if (m->lock) return (PyObject *)m;
    Py_DECREF(m);
    return PyErr_NoMemory();
}

/* ---- what to learn from ---- */

typedef struct {
    dis_examples e;
    dis_labels *labels;
    dis_gold *gold;
} examples;

static void free_examples(examples *x)
{
    dis_labels_destroy(x->labels);
    dis_gold_destroy(x->gold);
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
        const dis_gold_view view = {.n_items = m, .label = known, .tasks = some, .classes = classes};
        status = dis_gold_from_memory(NULL, &view, out);
    }
    dis_names_destroy(some);
    PyMem_Free(text);
    PyMem_Free(known);
    return status;
}

/* (items, soft (n, classes) or None, gold (n) or None, votes or None) in the order of the items. */
static int take_examples(core_state *state, PyObject *tuple, const dis_names *classes, examples *out)
{
    PyObject *items, *soft, *gold, *votes;
    if (!PyArg_ParseTuple(tuple, "OOOO:examples", &items, &soft, &gold, &votes)) return -1;
    out->e.items = core_items_look(state, items);
    if (!out->e.items) return -1;
    const dis_items_view v = dis_items_look(out->e.items);
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
        const dis_labels_view view = {
            .n_items = v.n_items, .n_classes = k, .p = p.buf, .tasks = v.tasks, .classes = classes};
        status = dis_labels_from_memory(NULL, &view, &out->labels);
    }
    if (known.buf && status == DIS_OK) status = gold_of(v.tasks, classes, known.buf, &out->gold);
    core_buffer_free(&p);
    core_buffer_free(&known);
    if (status != DIS_OK) return core_fail(state, status);
    out->e.labels = out->labels;
    out->e.gold = out->gold;
    if (votes == Py_None) return 0;
    out->e.votes = core_votes_look(state, votes);
    return out->e.votes ? 0 : -1;
}

/* ---- training ---- */

static PyObject *array_of(core_state *state, const dis_labels *labels)
{
    const dis_labels_view v = dis_labels_look(labels);
    void *data;
    PyObject *array = core_array_create(state, CORE_FLOAT64, (Py_ssize_t)v.n_items, (Py_ssize_t)v.n_classes, &data);
    if (array) memcpy(data, v.p, v.n_items * v.n_classes * sizeof *v.p);
    return array;
}

/* One option of the table from its value; -1 with an exception. Texts are the caller's. */
static int take_option(const dis_train_option *row, PyObject *value, dis_model_train_options *o)
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
static PyObject *take_options(PyObject *keywords, dis_model_train_options *o)
{
    PyObject *rest = keywords ? PyDict_Copy(keywords) : PyDict_New();
    const dis_train_option *row;
    for (size_t i = 0; rest && (row = dis_train_option_at(i)); i++) {
        PyObject *value = PyDict_GetItemString(rest, row->field);
        if (value && (take_option(row, value, o) < 0 || PyDict_DelItemString(rest, row->field) < 0)) Py_CLEAR(rest);
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
        status = folds->n_folds ? dis_out_of_fold(call->ctx, learned, judge, o, folds, &labels)
                                : dis_model_train(call->ctx, learned, judge, o, &model);
    core_retake(call);
    if (core_end(call, status) < 0)
        dis_model_destroy(model);
    else
        result = folds->n_folds ? array_of(state, labels) : wrap(state, model);
    dis_labels_destroy(labels);
    dis_worker_table_destroy(table);
    return result;
}

/* A model, or with folds what they say of all items. */
static PyObject *train(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"examples", "classes", "dev",       "model",        "objective",       "seed",
                            "lenient",  "folder",  "resume",    "folds",        "fold_dev",        "threads",
                            "progress", "device",  "precision", "worker_table", "worker_features", NULL};
    const char *table_path = NULL;
    PyObject *given, *list, *dev = Py_None, *progress = NULL, *result = NULL;
    dis_model_train_options o = dis_model_train_options_default();
    unsigned long long seed = 0;
    int lenient = 0, resume = 0, threads = 0;
    dis_folds_options folds = dis_folds_options_default();
    Py_ssize_t n_folds = 0;
    const char *device = NULL, *precision = NULL;
    PyObject *rest = take_options(keywords, &o);
    const int parsed =
        rest &&
        PyArg_ParseTupleAndKeywords(args, rest, "O!O|$OssKpzpndiOzzzz:train", names, &PyTuple_Type, &given, &list, &dev,
                                    &o.model, &o.objective, &seed, &lenient, &o.folder, &resume, &n_folds, &folds.dev,
                                    &threads, &progress, &device, &precision, &table_path, &o.worker_features);
    Py_XDECREF(rest);
    if (!parsed) return NULL;
    core_state *state = core_state_of_module(module);
    if (n_folds < 0 || (dev != Py_None && !PyTuple_Check(dev))) {
        PyErr_SetString(PyExc_ValueError, "folds is 0 or more, dev None or examples");
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
    examples train_on = {0}, judge_by = {0};
    core_call call;
    if (take_examples(state, given, classes, &train_on) == 0 &&
        (dev == Py_None || take_examples(state, dev, classes, &judge_by) == 0) &&
        core_begin_on(&call, state, threads, progress, device, precision) == 0) {
        folds.n_folds = (size_t)n_folds;
        result = run_training(&call, state, table_path, &train_on.e, dev == Py_None ? NULL : &judge_by.e, &o, &folds);
    }
    free_examples(&train_on);
    free_examples(&judge_by);
    dis_names_destroy(classes);
    return result;
}

static PyObject *load(PyObject *module, PyObject *args)
{
    const char *folder;
    if (!PyArg_ParseTuple(args, "s:load_model", &folder)) return NULL;
    core_state *state = core_state_of_module(module);
    core_call call;
    if (core_begin(&call, state, 1, NULL) < 0) return NULL;
    dis_model *model = NULL;
    core_release(&call);
    const dis_status status = dis_model_read(call.ctx, folder, &model);
    core_retake(&call);
    if (core_end(&call, status) < 0) return NULL;
    return wrap(state, model);
}

/* ---- a model that is there ---- */

static PyObject *predict(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"items", "head", "threads", "progress", "device", "precision", NULL};
    PyObject *given, *progress = NULL, *array = NULL;
    const char *head = NULL, *device = NULL, *precision = NULL;
    int threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$ziOzz:predict", names, &given, &head, &threads, &progress,
                                     &device, &precision))
        return NULL;
    core_state *state = core_state_of_object(object);
    const dis_items *items = core_items_look(state, given);
    core_call call;
    if (!items || core_begin_on(&call, state, threads, progress, device, precision) < 0) return NULL;
    const model_object *m = (model_object *)object;
    dis_labels *labels = NULL;
    core_release(&call);
    PyThread_acquire_lock(m->lock, WAIT_LOCK);
    const dis_status status = dis_model_predict(call.ctx, m->model, items, head, &labels);
    PyThread_release_lock(m->lock);
    core_retake(&call);
    if (core_end(&call, status) == 0) {
        array = array_of(state, labels);
    }
    dis_labels_destroy(labels);
    return array;
}

static dis_status tell_workers(dis_context *ctx, dis_model *model, const char *path)
{
    dis_worker_table *table = NULL;
    dis_status status = dis_worker_table_read(ctx, path, NULL, &table);
    if (status == DIS_OK) status = dis_model_tell_workers(model, table);
    dis_worker_table_destroy(table);
    return status;
}

/* (items, tasks, workers): what each worker would say of the item of each task. */
static PyObject *predict_workers(PyObject *object, PyObject *args)
{
    PyObject *given, *lists[2], *array = NULL;
    const char *table_path = NULL;
    int threads = 0;
    if (!PyArg_ParseTuple(args, "OOOi|z:predict_workers", &given, &lists[0], &lists[1], &threads, &table_path))
        return NULL;
    core_state *state = core_state_of_object(object);
    const dis_items *items = core_items_look(state, given);
    core_texts texts[2] = {{0}};
    dis_names *names[2] = {NULL, NULL};
    core_call call;
    if (!items) return NULL;
    dis_status status = DIS_OK;
    int failed = core_texts_get(lists[0], "tasks", &texts[0]) < 0 || core_texts_get(lists[1], "workers", &texts[1]) < 0;
    for (int i = 0; i < 2 && !failed && status == DIS_OK; i++)
        status = dis_names_create(texts[i].text, texts[i].n, &names[i]);
    if (!failed && status != DIS_OK) failed = core_fail(state, status) < 0;
    if (!failed && core_begin(&call, state, threads, NULL) == 0) {
        const model_object *m = (model_object *)object;
        dis_labels *labels = NULL;
        core_release(&call);
        PyThread_acquire_lock(m->lock, WAIT_LOCK);
        if (table_path) status = tell_workers(call.ctx, m->model, table_path);
        if (status == DIS_OK)
            status = dis_model_predict_workers(call.ctx, m->model, items, names[0], names[1], &labels, NULL);
        PyThread_release_lock(m->lock);
        core_retake(&call);
        if (core_end(&call, status) == 0) array = array_of(state, labels);
        dis_labels_destroy(labels);
    }
    for (int i = 0; i < 2; i++) {
        dis_names_destroy(names[i]);
        core_texts_free(&texts[i]);
    }
    return array;
}

static dis_status export_model(dis_context *ctx, const dis_model *model, const char *folder)
{
    (void)ctx;
    return dis_model_export(model, folder);
}

static PyObject *write_folder(PyObject *object, PyObject *args, const char *format,
                              dis_status (*write)(dis_context *ctx, const dis_model *model, const char *folder))
{
    const char *folder;
    if (!PyArg_ParseTuple(args, format, &folder)) return NULL;
    core_call call;
    if (core_begin(&call, core_state_of_object(object), 1, NULL) < 0) return NULL;
    const model_object *m = (model_object *)object;
    core_release(&call);
    PyThread_acquire_lock(m->lock, WAIT_LOCK);
    const dis_status status = write(call.ctx, m->model, folder);
    PyThread_release_lock(m->lock);
    core_retake(&call);
    if (core_end(&call, status) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *save(PyObject *object, PyObject *args)
{
    return write_folder(object, args, "s:save", dis_model_write);
}

static PyObject *export_folder(PyObject *object, PyObject *args)
{
    return write_folder(object, args, "s:export", export_model);
}

static PyObject *look(PyObject *object, PyObject *unused)
{
    (void)unused;
    const dis_model_view v = dis_model_look(((model_object *)object)->model);
    PyObject *epochs = PyList_New(0), *heads = PyList_New(0);
    for (size_t e = 0; epochs && e < v.n_epochs; e++) {
        PyObject *row =
            Py_BuildValue("{sNsNsNsN}", "loss", core_real(v.epoch[e].loss), "rate", core_real(v.epoch[e].rate), "dev",
                          core_real(v.epoch[e].dev), "dev_cross_entropy", core_real(v.epoch[e].dev_cross_entropy));
        if (!row || PyList_Append(epochs, row) < 0) Py_CLEAR(epochs);
        Py_XDECREF(row);
    }
    for (size_t h = 0; heads && h < v.n_heads; h++) {
        PyObject *name = PyUnicode_FromString(v.head[h]);
        if (!name || PyList_Append(heads, name) < 0) Py_CLEAR(heads);
        Py_XDECREF(name);
    }
    PyObject *classes = core_names_list(v.classes);
    if (!epochs || !heads || !classes) {
        Py_XDECREF(epochs);
        Py_XDECREF(heads);
        Py_XDECREF(classes);
        return NULL;
    }
    return Py_BuildValue("{sNsNsNsNsNsNsNsNsNsNsNsNsN}", "model", core_text(v.spec), "kind", core_text(v.kind->name),
                         "objective", core_text(v.objective), "seed", core_count(v.seed), "classes", classes,
                         "n_parameters", core_count(v.n_parameters), "heads", heads, "epochs", epochs, "best_epoch",
                         core_count(v.best_epoch), "keep", core_text(v.keep), "n_examples", core_count(v.n_examples),
                         "n_left_out", core_count(v.n_left_out), "n_words", core_count(v.n_words));
}

/* ---- tables ---- */

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
    for (size_t i = 0; list && (m = dis_model_kind_at(i)); i++) {
        PyObject *options = core_options_list(m->options, m->n_options);
        PyObject *row = options ? Py_BuildValue("{sssssssssNsnsnsdss}", "name", m->name, "summary", m->summary,
                                                "source", m->source ? m->source : "", "items", kinds[m->items],
                                                "options", options, "epochs", (Py_ssize_t)m->epochs, "batch",
                                                (Py_ssize_t)m->batch, "rate", m->rate, "optimizer", m->optimizer)
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
    for (size_t i = 0; list && (o = dis_objective_at(i)); i++) {
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

static PyMethodDef methods[] = {
    {"predict_workers", predict_workers, METH_VARARGS,
     "predict_workers(items, tasks, workers, threads, worker_table=None)\n\nOne distribution per task and worker."},
    {"predict", CORE_KEYWORDS(predict), "predict(items)\n\nOne distribution per item."},
    {"save", save, METH_VARARGS, "save(folder)"},
    {"export", export_folder, METH_VARARGS, "export(folder)\n\nAs transformers has it."},
    {"look", look, METH_NOARGS, "look()\n\nWhat the model is and how it was trained."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, model_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A trained model."},
    {0, NULL},
};
static PyType_Spec spec = {.name = "dissent._core.Model",
                           .basicsize = sizeof(model_object),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           .slots = slots};

static PyMethodDef functions[] = {
    {"train", CORE_KEYWORDS(train), "Trains a model."},
    {"load_model", load, METH_VARARGS, "load_model(folder)"},
    {"models", models, METH_NOARGS, "models()\n\nThe rows of the table of models."},
    {"objectives", objectives, METH_NOARGS, "objectives()\n\nThe rows of the table of objectives."},
    {NULL, NULL, 0, NULL},
};

int core_add_train(PyObject *module)
{
    if (core_add_type(module, &spec, &core_state_of_module(module)->model) < 0) return -1;
    return core_add_functions(module, functions);
}
