/* Prediction sets. */
#include "measure/py_measure.h"
#include <stddef.h>

static PyObject *matrix(core_state *state, const bool *x, size_t n, size_t k)
{
    void *data;
    PyObject *array = core_array_create(state, CORE_UINT8, (Py_ssize_t)(n * k), -1, &data);
    for (size_t i = 0; array && i < n * k; i++) ((uint8_t *)data)[i] = x[i];
    return array;
}

static PyObject *kinds_of(const dis_prediction_sets_view *v)
{
    PyObject *list = PyList_New(0);
    for (size_t r = 0; list && r < v->n_rows; r++) {
        PyObject *name = core_text(dis_coverage_kind_name(v->rows[r].kind));
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *describe(core_state *state, const dis_prediction_sets_view *v)
{
    static const core_field fields[] = {CORE_FIELD(dis_coverage_row, index, CORE_FIELD_SIZE),
                                        CORE_FIELD(dis_coverage_row, low, CORE_FIELD_REAL),
                                        CORE_FIELD(dis_coverage_row, high, CORE_FIELD_REAL),
                                        {"items", offsetof(dis_coverage_row, n_items), CORE_FIELD_SIZE},
                                        {"votes", offsetof(dis_coverage_row, n_votes), CORE_FIELD_REAL},
                                        CORE_FIELD(dis_coverage_row, mean_size, CORE_FIELD_REAL)};
    PyObject *d = PyDict_New();
    if (d &&
        (core_put(d, "n_calibration", core_count(v->n_calibration)) < 0 ||
         core_put(d, "n_tested", core_count(v->n_tested)) < 0 || core_put(d, "n_votes", core_real(v->n_votes)) < 0 ||
         core_put(d, "unmatched", core_real(v->unmatched)) < 0 ||
         core_put(d, "n_annotators", core_count(v->n_annotators)) < 0 ||
         core_put(d, "min_items", core_count(v->min_items)) < 0 ||
         core_put(d, "threshold", core_real(v->threshold)) < 0 ||
         core_put(d, "n_filled", core_count(v->n_filled)) < 0 ||
         core_put(d, "p_values", core_reals(state, v->p_value, v->n_items * v->n_classes)) < 0 ||
         core_put(d, "in_set", matrix(state, v->in_set, v->n_items, v->n_classes)) < 0 ||
         core_put(d, "kinds", kinds_of(v)) < 0 ||
         core_put(d, "rows", CORE_FIELDS(state, v->rows, v->n_rows, fields)) < 0 ||
         core_put(d, "coverage", CORE_METRICS(v->rows, v->n_rows, dis_coverage_row, coverage)) < 0))
        Py_CLEAR(d);
    return d;
}

static int score_of(const char *text, dis_set_score *out)
{
    for (unsigned s = 0; s < DIS_SET_SCORES; s++)
        if (strcmp(dis_set_score_name((dis_set_score)s), text) == 0) {
            *out = (dis_set_score)s;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "score must be \"lac\" or \"aps\", not \"%.50s\"", text);
    return -1;
}

static PyObject *prediction_sets(PyObject *module, PyObject *args)
{
    PyObject *q, *tasks, *calibrates, *table, *item, *class, *result = NULL;
    Py_ssize_t n_items, n_classes;
    const char *score;
    int allow_empty, threads;
    unsigned long long seed;
    dis_prediction_sets_options o = dis_prediction_sets_options_default();
    if (!PyArg_ParseTuple(args, "OnnOOOOOdspKi:prediction_sets", &q, &n_items, &n_classes, &tasks, &calibrates, &table,
                          &item, &class, &o.coverage, &score, &allow_empty, &seed, &threads))
        return NULL;
    core_state *state = core_state_of_module(module);
    if (!core_sizes_ok(n_items, n_classes) || score_of(score, &o.score) < 0) return NULL;
    o.allow_empty = allow_empty != 0;
    o.seed = seed;
    const size_t n = (size_t)n_items, k = (size_t)n_classes;
    Py_buffer rows = {0}, chosen = {0};
    core_texts texts = {0};
    core_vote_places votes = {.place = NULL};
    core_call call;
    dis_names *names = NULL;
    if (core_rows_must(q, "predictions", n, k, &rows) == 0 && core_texts_get(tasks, "tasks", &texts) == 0 &&
        core_get_buffer(calibrates, "calibrates", CORE_UINT8, n_items, &chosen) == 0 &&
        core_parse_vote_places(state, table, item, class, n, k, &votes) == 0 &&
        core_begin(&call, state, threads, NULL) == 0) {
        dis_prediction_sets_input in = {.size = sizeof(dis_prediction_sets_input),
                                        .n_items = n,
                                        .n_classes = k,
                                        .q = rows.buf,
                                        .calibrates = chosen.buf,
                                        .votes = votes.votes.votes,
                                        .item_map = votes.votes.item_map,
                                        .class_map = votes.votes.class_map};
        dis_prediction_sets *sets = NULL;
        core_release(&call);
        dis_status status = dis_names_create(texts.text, texts.n, &names);
        in.tasks = names;
        if (status == DIS_OK) status = dis_prediction_sets_run(call.ctx, &in, &o, &sets);
        core_retake(&call);
        if (core_end(&call, status) == 0) {
            const dis_prediction_sets_view view = dis_prediction_sets_get_view(sets);
            result = describe(state, &view);
        }
        dis_prediction_sets_destroy(sets);
        dis_names_destroy(names);
    }
    core_texts_free(&texts);
    core_buffer_free(&rows);
    core_buffer_free(&chosen);
    PyMem_Free(votes.place);
    return result;
}

static PyMethodDef functions[] = {
    {"prediction_sets", prediction_sets, METH_VARARGS,
     "prediction_sets(q, n_items, n_classes, tasks, calibrates, votes, item, class_, coverage, score, allow_empty, "
     "seed, "
     "threads)\n\nSets of classes that contain an annotator's answer."},
    {NULL, NULL, 0, NULL},
};

int core_add_prediction_sets(PyObject *module)
{
    return core_add_functions(module, functions);
}
