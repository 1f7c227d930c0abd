/* How far views are apart, and the report: one page of what votes, labels and models say. */
#include "measure/py_measure.h"

/* ---- distances ---- */

static PyObject *metric_list(const dis_metric *m, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *one = core_metric(&m[i]);
        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one) < 0) Py_CLEAR(list);
    }
    return list;
}

typedef struct {
    Py_buffer view[DIS_MAX_VIEWS];
    const double *p[DIS_MAX_VIEWS];
    size_t n;
} view_list;

static int few_enough(Py_ssize_t n)
{
    if (n <= DIS_MAX_VIEWS) return 1;
    PyErr_Format(PyExc_ValueError, "%zd tables; at most %d are possible", n, DIS_MAX_VIEWS);
    return 0;
}

static int parse_views(PyObject *tuple, size_t n_items, size_t n_classes, view_list *views)
{
    const Py_ssize_t n = PyTuple_Size(tuple);
    if (!few_enough(n)) return -1;
    for (; views->n < (size_t)n; views->n++) {
        PyObject *one = PyTuple_GetItem(tuple, (Py_ssize_t)views->n);
        if (core_rows_must(one, "a view", n_items, n_classes, &views->view[views->n]) < 0) return -1;
        views->p[views->n] = views->view[views->n].buf;
    }
    return 0;
}

static void free_views(view_list *views)
{
    for (size_t i = 0; i < DIS_MAX_VIEWS; i++) core_buffer_free(&views->view[i]);
}

static PyObject *distances_of(const dis_views_distances_view *v)
{
    return Py_BuildValue("{sNsNsNsNsNsNsN}", "n_items", core_count(v->n_items), "jsd",
                         metric_list(v->jsd, v->n_views * v->n_views), "entropy", metric_list(v->entropy, v->n_views),
                         "to_others", metric_list(v->to_others, v->n_views), "to_centroid",
                         metric_list(v->to_centroid, v->n_views), "hub_over_items", core_metric(&v->hubness_over_items),
                         "hub_over_views", core_metric(&v->hubness_over_views));
}

static PyObject *distances(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"views",    "n_items", "n_classes", "seed", "resamples",
                            "fraction", "threads", "progress",  NULL};
    PyObject *tuple, *progress = NULL, *result = NULL;
    Py_ssize_t n_items, n_classes;
    dis_views_distances_options o = dis_views_distances_options_default();
    unsigned long long seed = 0, resamples = o.resamples;
    int threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!nn|$KKdiO:distances", names, &PyTuple_Type, &tuple, &n_items,
                                     &n_classes, &seed, &resamples, &o.fraction, &threads, &progress))
        return NULL;
    if (!core_sizes_ok(n_items, n_classes)) return NULL;
    core_state *state = core_state_of_module(module);
    view_list *views = PyMem_Calloc(1, sizeof *views);
    if (!views) return PyErr_NoMemory();
    o.seed = seed;
    o.resamples = resamples;
    core_call call;
    if (parse_views(tuple, (size_t)n_items, (size_t)n_classes, views) == 0 &&
        core_begin(&call, state, threads, progress) == 0) {
        const dis_views all = {.size = sizeof(dis_views),
                               .n_items = (size_t)n_items,
                               .n_classes = (size_t)n_classes,
                               .n_views = views->n,
                               .p = views->p};
        dis_views_distances *d = NULL;
        core_release(&call);
        const dis_status status = dis_views_distances_run(call.ctx, &all, &o, &d);
        core_retake(&call);
        if (core_end(&call, status) == 0) {
            const dis_views_distances_view view = dis_views_distances_get_view(d);
            result = distances_of(&view);
        }
        dis_views_distances_destroy(d);
    }
    free_views(views);
    PyMem_Free(views);
    return result;
}

/* ---- the report ---- */

/* What stays alive until the page is written. */
typedef struct {
    dis_report *report;
    dis_names *tasks, *classes, *test_classes, *texts;
    dis_worker_groups *groups;
    const dis_votes *panel_votes; /* NULL: no panel */
    dis_panel *panel;
    Py_buffer gold, test_gold, human, person;
    view_list labels, predictions;
} job;

static void free_job(job *j)
{
    dis_report_destroy(j->report);
    dis_names_destroy(j->tasks);
    dis_names_destroy(j->classes);
    dis_names_destroy(j->test_classes);
    dis_names_destroy(j->texts);
    dis_worker_groups_destroy(j->groups);
    dis_panel_destroy(j->panel);
    core_buffer_free(&j->person);
    core_buffer_free(&j->gold);
    core_buffer_free(&j->test_gold);
    core_buffer_free(&j->human);
    free_views(&j->labels);
    free_views(&j->predictions);
    PyMem_Free(j);
}

static int names_of(core_state *state, PyObject *list, const char *what, dis_names **out)
{
    core_texts texts;
    if (core_texts_get(list, what, &texts) < 0) return -1;
    const dis_status status = dis_names_create(texts.text, texts.n, out);
    core_texts_free(&texts);
    return status == DIS_OK ? 0 : core_fail(state, status);
}

/* (votes or None, tasks, classes, gold or None, ((name, fit or None, p), ...), texts or None) */
static int add_labels(core_state *state, job *j, PyObject *part)
{
    PyObject *table, *tasks, *classes, *gold, *list, *texts;
    if (!PyArg_ParseTuple(part, "OOOOO!O:labels", &table, &tasks, &classes, &gold, &PyTuple_Type, &list, &texts))
        return -1;
    if (texts != Py_None && names_of(state, texts, "texts", &j->texts) < 0) return -1;
    if (names_of(state, tasks, "tasks", &j->tasks) < 0 || names_of(state, classes, "classes", &j->classes) < 0)
        return -1;
    const size_t n = dis_names_count(j->tasks), k = dis_names_count(j->classes);
    if (!core_sizes_ok((Py_ssize_t)n, (Py_ssize_t)k)) return -1;
    dis_status status = DIS_OK;
    if (table != Py_None) {
        const dis_votes *votes = core_votes_get(state, table);
        if (!votes) return -1;
        const dis_votes_view v = dis_votes_get_view(votes);
        if (v.n_items != n || v.n_classes != k) {
            PyErr_SetString(PyExc_ValueError, "labels and votes have different sizes");
            return -1;
        }
        status = dis_report_add_votes(j->report, votes, NULL);
    }
    if (core_gold_get(gold, "gold", n, k, &j->gold) < 0) return -1;
    if (status == DIS_OK && j->gold.buf) status = dis_report_add_gold(j->report, j->gold.buf);
    if (status == DIS_OK && j->texts) status = dis_report_add_texts(j->report, j->texts);
    const Py_ssize_t n_views = PyTuple_Size(list);
    if (!few_enough(n_views)) return -1;
    for (Py_ssize_t i = 0; i < n_views && status == DIS_OK; i++) {
        PyObject *fit_object, *p;
        const char *name;
        if (!PyArg_ParseTuple(PyTuple_GetItem(list, i), "sOO:view", &name, &fit_object, &p)) return -1;
        Py_buffer *view = &j->labels.view[i];
        if (core_rows_must(p, "labels", n, k, view) < 0) return -1;
        const dis_labels_view labels = {.size = sizeof(dis_labels_view),
                                        .n_items = n,
                                        .n_classes = k,
                                        .p = view->buf,
                                        .tasks = j->tasks,
                                        .classes = j->classes};
        const dis_fit *fit = fit_object == Py_None ? NULL : core_fit_get(state, fit_object);
        if (PyErr_Occurred()) return -1;
        status =
            fit ? dis_report_add_fit(j->report, name, fit, view->buf) : dis_report_add_labels(j->report, name, &labels);
    }
    return status == DIS_OK ? 0 : core_fail(state, status);
}

/* (votes, groups as core_groups_get takes them, column) */
static int add_groups(core_state *state, job *j, PyObject *part)
{
    PyObject *table, *groups;
    const char *column;
    if (!PyArg_ParseTuple(part, "OO!s:groups", &table, &PyTuple_Type, &groups, &column)) return -1;
    const dis_votes *votes = core_votes_get(state, table);
    if (!votes || core_groups_get(state, votes, groups, &j->groups) < 0) return -1;
    const dis_status status = dis_report_add_groups(j->report, j->groups, column);
    return status == DIS_OK ? 0 : core_fail(state, status);
}

/* (votes, whether each of their workers is a person) */
static int add_people(core_state *state, job *j, PyObject *part)
{
    PyObject *table, *who;
    if (!PyArg_ParseTuple(part, "OO:panel", &table, &who)) return -1;
    const dis_votes *votes = core_votes_get(state, table);
    if (!votes ||
        core_get_buffer(who, "person", CORE_UINT8, (Py_ssize_t)dis_votes_get_view(votes).n_workers, &j->person) < 0)
        return -1;
    j->panel_votes = votes;
    return 0;
}

/* (n_items, classes, gold or None, human or None, ((name, q), ...)) */
static int add_predictions(core_state *state, job *j, PyObject *part)
{
    PyObject *classes, *gold, *human, *list;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(part, "nOOOO!:predictions", &n, &classes, &gold, &human, &PyTuple_Type, &list) ||
        names_of(state, classes, "classes", &j->test_classes) < 0)
        return -1;
    const size_t k = dis_names_count(j->test_classes);
    if (!core_sizes_ok(n, (Py_ssize_t)k) || core_gold_get(gold, "gold", (size_t)n, k, &j->test_gold) < 0 ||
        core_rows_get(human, "human", (size_t)n, k, &j->human) < 0)
        return -1;
    const dis_report_test test = {.size = sizeof(dis_report_test),
                                  .n_items = (size_t)n,
                                  .n_classes = k,
                                  .classes = j->test_classes,
                                  .gold = j->test_gold.buf,
                                  .human = j->human.buf};
    dis_status status = dis_report_add_test(j->report, &test);
    const Py_ssize_t n_models = PyTuple_Size(list);
    if (!few_enough(n_models)) return -1;
    for (Py_ssize_t i = 0; i < n_models && status == DIS_OK; i++) {
        PyObject *q;
        const char *name;
        if (!PyArg_ParseTuple(PyTuple_GetItem(list, i), "sO:prediction", &name, &q)) return -1;
        if (core_rows_must(q, "predictions", (size_t)n, k, &j->predictions.view[i]) < 0) return -1;
        status = dis_report_add_predictions(j->report, name, j->predictions.view[i].buf);
    }
    return status == DIS_OK ? 0 : core_fail(state, status);
}

/* (name, model) */
static int add_curve(core_state *state, job *j, PyObject *pair)
{
    const char *name;
    PyObject *object;
    if (!PyArg_ParseTuple(pair, "sO:curve", &name, &object)) return -1;
    const dis_model *model = core_model_get(state, object);
    if (!model) return -1;
    const dis_model_view m = dis_model_get_view(model);
    const dis_curve curve = {
        .seed = m.seed, .epoch = m.epoch, .n_epochs = m.n_epochs, .best_epoch = m.best_epoch, .dev_metric = m.keep};
    const dis_status status = dis_report_add_curve(j->report, name, &curve);
    return status == DIS_OK ? 0 : core_fail(state, status);
}

static int fill(core_state *state, job *j, const dis_report_options *o, PyObject *labels, PyObject *predictions,
                PyObject *curves, PyObject *groups, PyObject *panel)
{
    const dis_status status = dis_report_create(o, &j->report);
    if (status != DIS_OK) return core_fail(state, status);
    if (labels != Py_None && add_labels(state, j, labels) < 0) return -1;
    if (groups && groups != Py_None && add_groups(state, j, groups) < 0) return -1;
    if (panel && panel != Py_None && add_people(state, j, panel) < 0) return -1;
    if (predictions != Py_None && add_predictions(state, j, predictions) < 0) return -1;
    for (Py_ssize_t i = 0; i < PyTuple_Size(curves); i++)
        if (add_curve(state, j, PyTuple_GetItem(curves, i)) < 0) return -1;
    return 0;
}

/* The page, and what it still has to find out. */
static dis_status write_page(dis_context *ctx, job *j, const dis_report_options *o, const char *path)
{
    dis_panel_options how = dis_panel_options_default();
    how.numeric_classes = o->ordinal;
    how.seed = o->seed;
    dis_status status = DIS_OK;
    if (j->panel_votes) status = dis_panel_run(ctx, j->panel_votes, j->person.buf, &how, &j->panel);
    if (status == DIS_OK && j->panel) status = dis_report_add_panel(j->report, j->panel);
    return status == DIS_OK ? dis_report_write(ctx, j->report, path) : status;
}

static PyObject *report(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path",    "labels", "predictions", "curves",  "title",    "seed", "resamples",
                            "ordinal", "groups", "panel",       "threads", "progress", NULL};
    PyObject *labels = Py_None, *predictions = Py_None, *curves = NULL, *progress = NULL, *groups = NULL, *panel = NULL;
    const char *path, *title = NULL;
    dis_report_options o = dis_report_options_default();
    unsigned long long seed = 0;
    Py_ssize_t resamples = (Py_ssize_t)o.resamples;
    int ordinal = 0, threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sOOO!|$zKnpOOiO:report", names, &path, &labels, &predictions,
                                     &PyTuple_Type, &curves, &title, &seed, &resamples, &ordinal, &groups, &panel,
                                     &threads, &progress))
        return NULL;
    if ((labels != Py_None && !PyTuple_Check(labels)) || (predictions != Py_None && !PyTuple_Check(predictions))) {
        PyErr_SetString(PyExc_TypeError, "labels and predictions must be tuples or None");
        return NULL;
    }
    core_state *state = core_state_of_module(module);
    job *j = PyMem_Calloc(1, sizeof *j);
    if (!j) return PyErr_NoMemory();
    o.title = title;
    o.seed = seed;
    o.resamples = resamples > 0 ? (size_t)resamples : 0;
    o.ordinal = ordinal != 0;
    core_call call;
    int failed = fill(state, j, &o, labels, predictions, curves, groups, panel) < 0 ||
                 core_begin(&call, state, threads, progress) < 0;
    if (!failed) {
        core_release(&call);
        const dis_status status = write_page(call.ctx, j, &o, path);
        core_retake(&call);
        failed = core_end(&call, status) < 0;
    }
    free_job(j);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* ---- files of labels ---- */

static PyObject *read_labels(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "format", "renormalise", "threads", "multi_label", NULL};
    const char *path;
    dis_labels_read_options o = dis_labels_read_options_default();
    int renormalise = 0, threads = 0, multi_label = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|$zpip:read_labels", names, &path, &o.format, &renormalise,
                                     &threads, &multi_label))
        return NULL;
    core_state *state = core_state_of_module(module);
    o.renormalise = renormalise != 0;
    o.multi_label = multi_label != 0;
    core_call call;
    if (core_begin(&call, state, threads, NULL) < 0) return NULL;
    dis_labels *labels = NULL;
    core_release(&call);
    const dis_status status = dis_labels_read(call.ctx, path, &o, &labels);
    core_retake(&call);
    if (core_end(&call, status) < 0) return NULL;
    const dis_labels_view v = dis_labels_get_view(labels);
    void *data;
    PyObject *p = core_array_create(state, CORE_FLOAT64, (Py_ssize_t)v.n_items, (Py_ssize_t)v.n_classes, &data),
             *result = NULL;
    if (p) {
        memcpy(data, v.p, v.n_items * v.n_classes * sizeof *v.p);
        result = Py_BuildValue("(NNN)", core_names_list(v.tasks), core_names_list(v.classes), p);
    }
    dis_labels_destroy(labels);
    return result;
}

static PyObject *write_labels(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "tasks", "classes", "p", "format", "threads", NULL};
    const char *path, *format = NULL;
    PyObject *tasks, *classes, *p;
    int threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sOOO|$zi:write_labels", names, &path, &tasks, &classes, &p,
                                     &format, &threads))
        return NULL;
    core_state *state = core_state_of_module(module);
    dis_names *rows = NULL, *columns = NULL;
    Py_buffer view = {0};
    core_call call;
    int failed = names_of(state, tasks, "tasks", &rows) < 0 || names_of(state, classes, "classes", &columns) < 0;
    failed = failed || core_rows_must(p, "labels", dis_names_count(rows), dis_names_count(columns), &view) < 0 ||
             core_begin(&call, state, threads, NULL) < 0;
    if (!failed) {
        const dis_labels_view v = {.size = sizeof(dis_labels_view),
                                   .n_items = dis_names_count(rows),
                                   .n_classes = dis_names_count(columns),
                                   .p = view.buf,
                                   .tasks = rows,
                                   .classes = columns};
        core_release(&call);
        const dis_status status = dis_labels_write(call.ctx, &v, path, format);
        core_retake(&call);
        failed = core_end(&call, status) < 0;
    }
    core_buffer_free(&view);
    dis_names_destroy(rows);
    dis_names_destroy(columns);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"distances", CORE_KEYWORDS(distances), "How far views are apart."},
    {"report", CORE_KEYWORDS(report), "Writes the report."},
    {"read_labels", CORE_KEYWORDS(read_labels), "(tasks, classes, p) of a file of soft labels."},
    {"write_labels", CORE_KEYWORDS(write_labels), "Writes a file of soft labels."},
    {NULL, NULL, 0, NULL},
};

int core_add_report(PyObject *module)
{
    return core_add_functions(module, functions);
}
