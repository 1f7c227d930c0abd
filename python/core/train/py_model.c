/* Model: a trained model as a Python object: predicting, what it is, folders of models. */
#include "measure/py_measure.h"

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

const dis_model *core_model_get(core_state *state, PyObject *object)
{
    if (!PyObject_TypeCheck(object, state->model)) {
        PyErr_SetString(PyExc_TypeError, "expected a model");
        return NULL;
    }
    return ((model_object *)object)->model;
}

PyObject *core_model_wrap(core_state *state, dis_model *model)
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

PyObject *core_labels_array(core_state *state, const dis_labels *labels)
{
    const dis_labels_view v = dis_labels_get_view(labels);
    void *data;
    PyObject *array = core_array_create(state, CORE_FLOAT64, (Py_ssize_t)v.n_items, (Py_ssize_t)v.n_classes, &data);
    if (array) memcpy(data, v.p, v.n_items * v.n_classes * sizeof *v.p);
    return array;
}

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
    const dis_items *items = core_items_get(state, given);
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
        array = core_labels_array(state, labels);
    }
    dis_labels_destroy(labels);
    return array;
}

static dis_status load_workers(dis_context *ctx, dis_model *model, const char *path)
{
    dis_worker_table *table = NULL;
    dis_status status = dis_worker_table_read(ctx, path, NULL, &table);
    if (status == DIS_OK) status = dis_model_set_workers(model, table);
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
    const dis_items *items = core_items_get(state, given);
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
        if (table_path) status = load_workers(call.ctx, m->model, table_path);
        if (status == DIS_OK)
            status = dis_model_predict_workers(call.ctx, m->model, items, names[0], names[1], &labels, NULL);
        PyThread_release_lock(m->lock);
        core_retake(&call);
        if (core_end(&call, status) == 0) array = core_labels_array(state, labels);
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

static PyObject *get_info(PyObject *object, PyObject *unused)
{
    (void)unused;
    const dis_model_view v = dis_model_get_view(((model_object *)object)->model);
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
    return core_model_wrap(state, model);
}

static PyMethodDef methods[] = {
    {"predict_workers", predict_workers, METH_VARARGS,
     "predict_workers(items, tasks, workers, threads, worker_table=None)\n\nOne distribution per task and worker."},
    {"predict", CORE_KEYWORDS(predict), "predict(items)\n\nOne distribution per item."},
    {"save", save, METH_VARARGS, "save(folder)"},
    {"export", export_folder, METH_VARARGS, "export(folder)\n\nAs transformers has it."},
    {"view", get_info, METH_NOARGS, "view()\n\nWhat the model is and how it was trained."},
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
    {"load_model", load, METH_VARARGS, "load_model(folder)"},
    {NULL, NULL, 0, NULL},
};

int core_add_model(PyObject *module)
{
    if (core_add_type(module, &spec, &core_state_of_module(module)->model) < 0) return -1;
    return core_add_functions(module, functions);
}
