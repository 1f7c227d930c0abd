/* Predictions for single workers against their votes. */
#include "measure/py_measure.h"
#include "tool/value_names.h"

static PyObject *metrics_of(const dis_metric *const *m)
{
    static const char *const names[] = {"model", "worker_most_frequent", "majority_of_others"};
    PyObject *dict = PyDict_New();
    for (size_t s = 0; dict && s < DIS_PREDICTION_SOURCES; s++) {
        PyObject *row = PyDict_New();
        for (dis_average over = 0; row && over < DIS_AVERAGES; over++)
            if (core_put(row, dis__average_name(over), core_metric(&m[s][over])) < 0) Py_CLEAR(row);
        if (!row || core_put(dict, names[s], row) < 0) Py_CLEAR(dict);
    }
    return dict;
}

/* (workers): votes, and error and distance of each of the three. */
static PyObject *rows_of(const dis_perspectives_view *v)
{
    const size_t n = dis_names_count(v->workers);
    PyObject *list = PyList_New(0);
    for (size_t w = 0; list && w < n; w++) {
        const dis_perspectives_row *x = &v->row[w];
        PyObject *row = Py_BuildValue("(NNNNNNN)", core_count(x->votes), core_real(x->error[0]), core_real(x->error[1]),
                                      core_real(x->error[2]), core_real(x->distance[0]), core_real(x->distance[1]),
                                      core_real(x->distance[2]));
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *perspectives(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes",     "predictions", "history", "ordered",  "lenient",
                            "resamples", "seed",        "threads", "progress", NULL};
    PyObject *given[3], *progress = NULL, *result = NULL;
    dis_perspectives_options o = dis_perspectives_options_default();
    unsigned long long seed = 0;
    Py_ssize_t resamples = 0;
    int ordered = 0, lenient = 0, threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO|$ppnKiO:perspectives", names, &given[0], &given[1], &given[2],
                                     &ordered, &lenient, &resamples, &seed, &threads, &progress))
        return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes[3] = {NULL, NULL, NULL};
    for (size_t i = 0; i < 3; i++) {
        if (i == 2 && given[i] == Py_None) continue;
        votes[i] = core_votes_get(state, given[i]);
        if (!votes[i]) return NULL;
    }
    o.ordered = ordered != 0;
    o.lenient = lenient != 0;
    o.resamples = resamples > 0 ? (size_t)resamples : 0;
    o.seed = seed;
    core_call call;
    dis_perspectives *found = NULL;
    if (core_begin(&call, state, threads, progress) < 0) return NULL;
    core_release(&call);
    const dis_status status = dis_perspectives_run(call.ctx, votes[0], votes[1], votes[2], &o, &found);
    core_retake(&call);
    if (core_end(&call, status) == 0) {
        const dis_perspectives_view v = dis_perspectives_get_view(found);
        result =
            Py_BuildValue("{sNsNsNsNsNsNsN}", "votes", core_count(v.n_votes), "items", core_count(v.n_items), "workers",
                          core_count(v.n_workers), "left_out", core_count(v.n_votes_unpredicted), "error_rate",
                          metrics_of(v.error), "absolute_distance", metrics_of(v.distance), "rows", rows_of(&v));
    }
    dis_perspectives_destroy(found);
    return result;
}

static PyMethodDef functions[] = {
    {"perspectives", (PyCFunction)(void (*)(void))perspectives, METH_VARARGS | METH_KEYWORDS,
     "perspectives(votes, said, history, ...)\n\nPredictions for single workers against their votes."},
    {NULL, NULL, 0, NULL},
};

int core_add_perspectives(PyObject *module)
{
    return core_add_functions(module, functions);
}
