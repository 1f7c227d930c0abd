/* Experiments: a file of conditions is run, its table is made, its report is written. */
#include "measure/py_measure.h"
#include <stdlib.h>

/* Opens the file, does one thing with it, gives it back. `work` is called without Python's lock. */
typedef struct {
    core_call call;
    dis_experiment *experiment;
    /* what it may need, and what comes of it */
    dis_experiment_run_options run;
    dis_experiment_counts counts;
    dis_experiment_table *table;
    dis_run_state *state;
    const char *output;
} job;

typedef dis_status work(job *j);

static void watch(void *user, const dis_experiment_counts *counts)
{
    job *j = user;
    if (counts->total) core_show(&j->call, "runs", (double)counts->done / (double)counts->total);
}

static dis_status do_run(job *j)
{
    return dis_experiment_run(j->call.ctx, j->experiment, &j->run, &j->counts);
}

static dis_status do_table(job *j)
{
    return dis_experiment_table_create(j->call.ctx, j->experiment, &j->table);
}

static dis_status do_states(job *j)
{
    const size_t n = dis_experiment_get_view(j->experiment).n_runs;
    j->state = malloc((n + 1) * sizeof *j->state);
    return j->state ? dis_experiment_get_states(j->call.ctx, j->experiment, j->state, NULL) : DIS_ELIMIT;
}

static dis_status do_report(job *j)
{
    return dis_experiment_write_report(j->call.ctx, j->experiment, j->output);
}

/* ---- what comes of it ---- */

static PyObject *counts_of(const job *j)
{
    const dis_experiment_counts *n = &j->counts;
    return Py_BuildValue("{sNsNsNsNsN}", "total", core_count(n->total), "done", core_count(n->done), "failed",
                         core_count(n->failed), "computed", core_count(n->computed), "seconds", core_real(n->seconds));
}

static PyObject *figure_of(const dis_experiment_view *e, const dis_experiment_row *r, size_t m)
{
    const dis_experiment_value *f = &r->values[m];
    const dis_experiment_measure *measure = &e->measure[m];
    PyObject *seeds = PyList_New(0);
    for (size_t i = 0; seeds && i < f->n; i++) {
        PyObject *x = core_real(f->seed[i]);
        if (!x || PyList_Append(seeds, x) < 0) Py_CLEAR(seeds);
        Py_XDECREF(x);
    }
    if (!seeds) return NULL;
    return Py_BuildValue("{sNsNsNsNsNsNsNsNsNsNsNsOsNsNsisN}", "cell", core_text(e->cell[r->cell].name), "data",
                         core_text(e->cell[r->cell].data), "set", core_text(measure->set), "metric",
                         core_text(dis_evaluation_metric_get(measure->metric)->name), "n", core_count(f->n), "mean",
                         core_real(f->mean), "sd", core_real(f->sd), "ci_low", core_real(f->ci_low), "ci_high",
                         core_real(f->ci_high), "published", core_real(f->published), "runs_done",
                         core_count(r->n_done), "best", f->best ? Py_True : Py_False, "difference",
                         core_real(f->has_comparison ? f->difference : Py_NAN), "p",
                         core_real(f->has_comparison ? f->p : Py_NAN), "stars", f->has_comparison ? f->stars : 0,
                         "seeds", seeds);
}

static PyObject *table_of(const job *j)
{
    const dis_experiment_view e = dis_experiment_get_view(j->experiment);
    const dis_experiment_table_view t = dis_experiment_table_get_view(j->table);
    PyObject *list = PyList_New(0);
    for (size_t r = 0; list && r < t.n_rows; r++)
        for (size_t m = 0; list && m < t.n_measures; m++) {
            PyObject *row = figure_of(&e, &t.row[r], m);
            if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
            Py_XDECREF(row);
        }
    return list;
}

static PyObject *states_of(const job *j)
{
    const dis_experiment_view e = dis_experiment_get_view(j->experiment);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < e.n_runs; i++) {
        if (!e.selected[i]) continue;
        const dis_run *run = &e.run[i];
        PyObject *row = Py_BuildValue("{sNsNsNsNsN}", "cell", core_text(e.cell[run->cell].name), "fold",
                                      core_count(run->fold), "seed", core_count(run->seed), "key", core_text(run->key),
                                      "state", core_text(dis_run_state_name(j->state[i])));
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *nothing(const job *j)
{
    (void)j;
    Py_RETURN_NONE;
}

/* ---- calls ---- */

typedef PyObject *answer(const job *j);

static PyObject *with(PyObject *module, PyObject *args, PyObject *keywords, work *act, answer *convert)
{
    static char *names[] = {"path",   "store",   "data_folder", "filters", "jobs",      "retry_failed",
                            "output", "threads", "progress",    "device",  "precision", NULL};
    const char *path, *output = NULL, *device = NULL, *precision = NULL;
    dis_experiment_options o = dis_experiment_options_default();
    PyObject *filters = NULL, *progress = NULL, *result = NULL;
    Py_ssize_t jobs = 0;
    int retry = 0, threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|$zzOnpziOzz:experiment", names, &path, &o.store, &o.data_folder,
                                     &filters, &jobs, &retry, &output, &threads, &progress, &device, &precision))
        return NULL;
    core_state *state = core_state_of_module(module);
    core_texts texts;
    if (core_texts_get(filters, "filters", &texts) < 0) return NULL;
    o.filter = texts.text;
    o.n_filters = texts.n;
    job j = {.run = dis_experiment_run_options_default(), .output = output ? output : ""};
    j.run.jobs = jobs > 0 ? (size_t)jobs : 0;
    j.run.retry_failed = retry != 0;
    j.run.progress = watch;
    j.run.user = &j;
    if (core_begin_on(&j.call, state, threads, progress, device, precision) == 0) {
        core_release(&j.call);
        dis_status status = dis_experiment_read(j.call.ctx, path, &o, &j.experiment);
        if (status == DIS_OK) status = act(&j);
        core_retake(&j.call);
        if (core_end(&j.call, status) == 0) result = convert(&j);
    }
    free(j.state);
    dis_experiment_table_destroy(j.table);
    dis_experiment_destroy(j.experiment);
    core_texts_free(&texts);
    return result;
}

static PyObject *experiment_run(PyObject *module, PyObject *args, PyObject *keywords)
{
    return with(module, args, keywords, do_run, counts_of);
}

static PyObject *experiment_table(PyObject *module, PyObject *args, PyObject *keywords)
{
    return with(module, args, keywords, do_table, table_of);
}

static PyObject *experiment_states(PyObject *module, PyObject *args, PyObject *keywords)
{
    return with(module, args, keywords, do_states, states_of);
}

static PyObject *experiment_report(PyObject *module, PyObject *args, PyObject *keywords)
{
    return with(module, args, keywords, do_report, nothing);
}

static PyObject *experiment_merge(PyObject *module, PyObject *args)
{
    const char *into;
    PyObject *from;
    if (!PyArg_ParseTuple(args, "sO:experiment_merge", &into, &from)) return NULL;
    core_state *state = core_state_of_module(module);
    core_texts texts;
    if (core_texts_get(from, "stores", &texts) < 0) return NULL;
    dis_merge_counts counts = {0};
    core_call call;
    int code = core_begin(&call, state, 1, NULL);
    if (code == 0) {
        core_release(&call);
        const dis_status status = dis_experiment_merge(call.ctx, into, texts.text, texts.n, &counts);
        core_retake(&call);
        code = core_end(&call, status);
    }
    core_texts_free(&texts);
    if (code < 0) return NULL;
    return Py_BuildValue("{sNsNsNsN}", "added", core_count(counts.added), "known", core_count(counts.present), "differ",
                         core_count(counts.conflicting), "waiting", core_count(counts.unfinished));
}

static PyMethodDef functions[] = {
    {"experiment_run", CORE_KEYWORDS(experiment_run), "Does what is missing."},
    {"experiment_table", CORE_KEYWORDS(experiment_table), "One row per cell and measure."},
    {"experiment_states", CORE_KEYWORDS(experiment_states), "One row per run."},
    {"experiment_report", CORE_KEYWORDS(experiment_report), "Writes the page."},
    {"experiment_merge", experiment_merge, METH_VARARGS, "experiment_merge(into, stores)\n\nJoins stores."},
    {NULL, NULL, 0, NULL},
};

int core_add_experiment(PyObject *module)
{
    return core_add_functions(module, functions);
}
