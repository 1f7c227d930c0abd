/* The scores of Le-Wi-Di 2025. */
#include "tool/lewidi.h"
#include "measure/py_measure.h"

typedef struct {
    const char *official, *soft, *annotators, *soft_out, *annotators_out;
    const dis__lewidi_set *set;
    bool has_soft;
    double soft_score, score;
    size_t n_items, n_annotations;
} lewidi_job;

static dis_status score(dis_context *ctx, lewidi_job *job)
{
    dis__lewidi *official = NULL;
    double *p = NULL;
    int32_t *value = NULL;
    dis_status status = dis__lewidi_read(ctx, job->official, job->set, &official);
    if (status != DIS_OK) return status;
    const dis__lewidi_view v = dis__lewidi_get_view(official);
    job->n_items = v.n_items;
    job->n_annotations = v.n_annotations;
    if (job->soft) status = dis__lewidi_read_soft(ctx, official, job->soft, &p);
    if (status == DIS_OK && job->annotators)
        status = dis__lewidi_read_perspectives(ctx, official, job->annotators, &value);
    job->has_soft = p && v.soft;
    if (status == DIS_OK && job->has_soft) status = dis__lewidi_soft_score(official, p, &job->soft_score);
    if (status == DIS_OK && value) job->score = dis__lewidi_perspective_score(official, value);
    if (status == DIS_OK && p && job->soft_out) status = dis__lewidi_write_soft(official, p, job->soft_out);
    if (status == DIS_OK && value && job->annotators_out)
        status = dis__lewidi_write_perspectives(official, value, job->annotators_out);
    dis_free(p);
    dis_free(value);
    dis__lewidi_destroy(official);
    return status;
}

static PyObject *lewidi(PyObject *module, PyObject *args)
{
    const char *name;
    lewidi_job job = {0};
    if (!PyArg_ParseTuple(args, "sszzzz:lewidi", &name, &job.official, &job.soft, &job.annotators, &job.soft_out,
                          &job.annotators_out))
        return NULL;
    job.set = dis__lewidi_set_find(name);
    if (!job.set) {
        PyErr_Format(PyExc_ValueError, "no set \"%.50s\"; there are MP, CSC, Paraphrase and VariErrNLI", name);
        return NULL;
    }
    core_state *state = core_state_of_module(module);
    core_call call;
    if (core_begin(&call, state, 1, NULL) < 0) return NULL;
    core_release(&call);
    const dis_status status = score(call.ctx, &job);
    core_retake(&call);
    if (core_end(&call, status) < 0) return NULL;
    return Py_BuildValue("{sNsNsNsN}", "items", core_count(job.n_items), "annotations", core_count(job.n_annotations),
                         "soft_score", job.has_soft ? core_real(job.soft_score) : Py_NewRef(Py_None),
                         "perspective_score", job.annotators ? core_real(job.score) : Py_NewRef(Py_None));
}

static PyMethodDef functions[] = {
    {"lewidi", lewidi, METH_VARARGS,
     "lewidi(set, official, soft, annotators, soft_out, annotators_out)\n\nScores of Le-Wi-Di 2025."},
    {NULL, NULL, 0, NULL},
};

int core_add_lewidi(PyObject *module)
{
    return core_add_functions(module, functions);
}
