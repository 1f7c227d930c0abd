/* Certificates of judges, later votes against a certificate, samples of items to label. */
#include "measure/py_measure.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- results ---- */

static int put_tables(core_state *state, PyObject *d, const dis_judge_view *v)
{
    static const core_field coefficients[] = {CORE_FIELD(dis_judge_coefficient, constant, CORE_FIELD_REAL)};
    static const core_field rates[] = {{"class", offsetof(dis_panel_rate, class_index), CORE_FIELD_U32},
                                       CORE_FIELD(dis_panel_rate, raw, CORE_FIELD_REAL)};
    static const core_field contrasts[] = {CORE_FIELD(dis_judge_contrast, covariate, CORE_FIELD_SIZE),
                                           {"class", offsetof(dis_judge_contrast, class_index), CORE_FIELD_SIZE},
                                           {"items_low", offsetof(dis_judge_contrast, n_low), CORE_FIELD_U64},
                                           {"items_high", offsetof(dis_judge_contrast, n_high), CORE_FIELD_U64},
                                           CORE_FIELD(dis_judge_contrast, split, CORE_FIELD_REAL),
                                           CORE_FIELD(dis_judge_contrast, p, CORE_FIELD_REAL)};
    const dis_judge_coefficient *c = v->coefficients;
    const size_t n = DIS_JUDGE_COEFFICIENTS;
    if (core_put(d, "coefficients", CORE_FIELDS(state, c, n, coefficients)) < 0 ||
        core_put(d, "judge", CORE_METRICS(c, n, dis_judge_coefficient, judge)) < 0 ||
        core_put(d, "people", CORE_METRICS(c, n, dis_judge_coefficient, people)) < 0 ||
        core_put(d, "difference", CORE_METRICS(c, n, dis_judge_coefficient, difference)) < 0 ||
        core_put(d, "rates", CORE_FIELDS(state, v->rates, v->n_classes, rates)) < 0 ||
        core_put(d, "bias", CORE_METRICS(v->rates, v->n_classes, dis_panel_rate, bias)) < 0 ||
        core_put(d, "powered", CORE_METRICS(v->rates, v->n_classes, dis_panel_rate, prediction_powered)) < 0 ||
        core_put(d, "rogan_gladen", CORE_METRICS(v->rates, v->n_classes, dis_panel_rate, rogan_gladen)) < 0 ||
        core_put(d, "contrasts", CORE_FIELDS(state, v->contrasts, v->n_contrasts, contrasts)) < 0)
        return -1;
    return core_put(d, "contrast", CORE_METRICS(v->contrasts, v->n_contrasts, dis_judge_contrast, difference));
}

static PyObject *judge_of(core_state *state, const dis_judge_view *v)
{
    PyObject *d = PyDict_New();
    if (!d) return NULL;
    if (put_tables(state, d, v) < 0 || core_put(d, "worker", core_count(v->worker)) < 0 ||
        core_put(d, "n_people", core_count(v->n_people)) < 0 || core_put(d, "n_votes", core_count(v->n_votes)) < 0 ||
        core_put(d, "n_shared", core_count(v->n_shared)) < 0 || core_put(d, "n_two", core_count(v->n_two)) < 0 ||
        core_put(d, "n_repeated", core_count(v->n_repeated)) < 0 ||
        core_put(d, "consistency", core_metric(&v->consistency)) < 0 ||
        core_put(d, "unknown", core_text(v->missing_reason)) < 0 ||
        core_put(d, "few_people", PyBool_FromLong(v->few_people)) < 0 ||
        core_put(d, "above_chance", PyBool_FromLong(v->test.above_chance)) < 0 ||
        core_put(d, "p_chance", core_real(v->test.p_chance)) < 0 ||
        core_put(d, "people_compared", core_count(v->test.n_people_compared)) < 0 ||
        core_put(d, "people_represented", core_count(v->test.n_people_represented)) < 0 ||
        core_put(d, "passed", PyBool_FromLong(v->test.n_people_compared > 0 && v->test.passed)) < 0)
        Py_CLEAR(d);
    return d;
}

/* ---- requirements ---- */

/* A dict of name: bound. *n: how many. -1: an exception is set. */
static int parse_requirements(PyObject *bounds, dis_requirement *rows, size_t *n)
{
    *n = 0;
    for (size_t k = 0; dis_requirement_kind_name((dis_requirement_kind)k); k++) {
        PyObject *bound = PyDict_GetItemString(bounds, dis_requirement_kind_name((dis_requirement_kind)k));
        if (!bound) continue;
        const double x = PyFloat_AsDouble(bound);
        if (x == -1 && PyErr_Occurred()) return -1;
        rows[(*n)++] = (dis_requirement){.kind = (dis_requirement_kind)k, .bound = x};
    }
    return 0;
}

static PyObject *requirements_of(const dis_requirement *rows, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t r = 0; list && r < n; r++) {
        PyObject *d = PyDict_New();
        if (!d || core_put(d, "name", core_text(dis_requirement_kind_name(rows[r].kind))) < 0 ||
            core_put(d, "bound", core_real(rows[r].bound)) < 0 ||
            core_put(d, "outcome", core_text(dis_requirement_outcome_name(rows[r].outcome))) < 0 ||
            core_put(d, "figure", core_metric(&rows[r].figure)) < 0 ||
            core_put(d, "items_needed", core_real(rows[r].items_needed)) < 0) {
            Py_XDECREF(d);
            Py_CLEAR(list);
            break;
        }
        PyList_SetItem(list, (Py_ssize_t)r, d);
    }
    return list;
}

/* ---- certify ---- */

typedef struct {
    const dis_votes *votes;
    Py_buffer person, weight, values;
    dis_judge_covariate covariate[8];
    dis_judge_options o;
} request;

static void request_free(request *q)
{
    core_buffer_free(&q->person);
    core_buffer_free(&q->weight);
    core_buffer_free(&q->values);
}

/* names: a tuple of texts; values: (n_names, n_items) doubles. */
static int parse_covariates(request *q, PyObject *names, PyObject *values)
{
    const size_t n_items = dis_votes_get_view(q->votes).n_items;
    const Py_ssize_t n = PyTuple_Size(names);
    if (n < 0 || n > 8) {
        if (n > 8) PyErr_SetString(PyExc_ValueError, "at most 8 properties of items are possible");
        return -1;
    }
    if (n && core_get_buffer(values, "covariates", CORE_FLOAT64, n * (Py_ssize_t)n_items, &q->values) < 0) return -1;
    for (Py_ssize_t x = 0; x < n; x++) {
        q->covariate[x].name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, x), NULL);
        if (!q->covariate[x].name) return -1;
        q->covariate[x].value = (const double *)q->values.buf + (size_t)x * n_items;
    }
    q->o.covariates = q->covariate;
    q->o.n_covariates = (size_t)n;
    return 0;
}

static dis_status write_files(const dis_judge *judge, const request *q, const dis_requirement *rows, size_t n,
                              const char *certificate, const char *page)
{
    const dis_votes_view v = dis_votes_get_view(q->votes);
    const char *names[8];
    dis_certificate_facts facts = dis_certificate_facts_default();
    for (size_t x = 0; x < q->o.n_covariates; x++) names[x] = q->covariate[x].name;
    facts.judge = dis_names_get(v.workers, dis_judge_get_view(judge).worker, NULL);
    facts.classes = v.classes;
    facts.requirements = rows;
    facts.n_requirements = n;
    facts.covariates = names;
    dis_status status = certificate ? dis_certificate_write(judge, &facts, certificate) : DIS_OK;
    if (status == DIS_OK && page) status = dis_certificate_write_page(judge, &facts, page);
    return status;
}

static PyObject *certify(core_state *state, request *q, PyObject *bounds, const char *certificate, const char *page,
                         int threads, PyObject *progress)
{
    dis_requirement rows[DIS_REQUIREMENT_KINDS];
    dis_judge *judge = NULL;
    PyObject *result = NULL;
    core_call call;
    size_t n;
    if (parse_requirements(bounds, rows, &n) < 0 || core_begin(&call, state, threads, progress) != 0) return NULL;
    core_release(&call);
    dis_status status = dis_judge_run(call.ctx, q->votes, q->person.buf, &q->o, &judge);
    if (status == DIS_OK) status = dis_judge_evaluate_requirements(judge, rows, n);
    if (status == DIS_OK) status = write_files(judge, q, rows, n, certificate, page);
    core_retake(&call);
    if (core_end(&call, status) == 0) {
        const dis_judge_view v = dis_judge_get_view(judge);
        result = judge_of(state, &v);
        if (result && core_put(result, "requirements", requirements_of(rows, n)) < 0) Py_CLEAR(result);
    }
    dis_judge_destroy(judge);
    return result;
}

static PyObject *judge_certify(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes",        "person",      "judge", "weights", "names",   "covariates", "epsilon",
                            "requirements", "certificate", "page",  "seed",    "threads", "progress",   NULL};
    PyObject *table, *who, *weights, *properties, *values, *bounds, *progress = NULL;
    const char *certificate, *page;
    unsigned long long seed;
    int threads = 0;
    request q = {.o = dis_judge_options_default()};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOzOOOdO!zzK|$iO:judge_certify", names, &table, &who, &q.o.name,
                                     &weights, &properties, &values, &q.o.epsilon, &PyDict_Type, &bounds, &certificate,
                                     &page, &seed, &threads, &progress))
        return NULL;
    core_state *state = core_state_of_module(module);
    q.votes = core_votes_get(state, table);
    if (!q.votes) return NULL;
    const dis_votes_view v = dis_votes_get_view(q.votes);
    PyObject *result = NULL;
    q.o.seed = seed;
    if (core_get_buffer(who, "person", CORE_UINT8, (Py_ssize_t)v.n_workers, &q.person) == 0 &&
        (weights == Py_None ||
         core_get_buffer(weights, "weights", CORE_FLOAT64, (Py_ssize_t)v.n_items, &q.weight) == 0) &&
        parse_covariates(&q, properties, values) == 0) {
        q.o.weight = q.weight.buf;
        result = certify(state, &q, bounds, certificate, page, threads, progress);
    }
    request_free(&q);
    return result;
}

/* ---- check ---- */

static PyObject *drift_of(core_state *state, const dis_certificate_view *c, const dis_drift_view *v)
{
    static const core_field rows[] = {{"class", offsetof(dis_drift_row, class_index), CORE_FIELD_U32},
                                      CORE_FIELD(dis_drift_row, n, CORE_FIELD_U64),
                                      CORE_FIELD(dis_drift_row, certified, CORE_FIELD_REAL),
                                      CORE_FIELD(dis_drift_row, p, CORE_FIELD_REAL),
                                      CORE_FIELD(dis_drift_row, drifted, CORE_FIELD_BOOL),
                                      CORE_FIELD(dis_drift_row, since, CORE_FIELD_SIZE)};
    const size_t n = dis_names_count(c->classes);
    PyObject *d = PyDict_New(), *classes = PyList_New((Py_ssize_t)n);
    for (size_t k = 0; classes && k < n; k++)
        PyList_SetItem(classes, (Py_ssize_t)k, core_text(dis_names_get(c->classes, k, NULL)));
    if (d &&
        (core_put(d, "classes", classes) < 0 || core_put(d, "rows", CORE_FIELDS(state, v->rows, v->n_rows, rows)) < 0 ||
         core_put(d, "now", CORE_METRICS(v->rows, v->n_rows, dis_drift_row, now)) < 0 ||
         core_put(d, "n_items", core_count(v->n_items)) < 0 || core_put(d, "n_shared", core_count(v->n_shared)) < 0 ||
         core_put(d, "drifted", PyBool_FromLong(v->drifted)) < 0))
        Py_CLEAR(d);
    return d;
}

static PyObject *judge_check(PyObject *module, PyObject *args)
{
    PyObject *table, *who, *result = NULL;
    const char *path;
    dis_drift_options o = dis_drift_options_default();
    if (!PyArg_ParseTuple(args, "sOOzd:judge_check", &path, &table, &who, &o.name, &o.level)) return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    Py_buffer person = {0};
    if (!votes ||
        core_get_buffer(who, "person", CORE_UINT8, (Py_ssize_t)dis_votes_get_view(votes).n_workers, &person) < 0)
        return NULL;
    dis_certificate *certificate = NULL;
    dis_drift *drift = NULL;
    dis_status status = dis_certificate_read(NULL, path, &certificate);
    if (status == DIS_OK) status = dis_drift_run(NULL, certificate, votes, person.buf, &o, &drift);
    if (status == DIS_OK) {
        const dis_certificate_view c = dis_certificate_get_view(certificate);
        const dis_drift_view v = dis_drift_get_view(drift);
        result = drift_of(state, &c, &v);
    } else {
        core_fail(state, status);
    }
    dis_drift_destroy(drift);
    dis_certificate_destroy(certificate);
    core_buffer_free(&person);
    return result;
}

/* ---- sample ---- */

static PyObject *judge_sample(PyObject *module, PyObject *args)
{
    static const core_field fields[] = {CORE_FIELD(dis_judge_sample_row, item, CORE_FIELD_SIZE),
                                        {"class", offsetof(dis_judge_sample_row, class_index), CORE_FIELD_U32},
                                        CORE_FIELD(dis_judge_sample_row, probability, CORE_FIELD_REAL),
                                        CORE_FIELD(dis_judge_sample_row, weight, CORE_FIELD_REAL)};
    PyObject *table, *who, *scores, *result = NULL;
    unsigned long long seed;
    Py_ssize_t wanted;
    dis_judge_sample_options o = dis_judge_sample_options_default();
    if (!PyArg_ParseTuple(args, "OOzOnK:judge_sample", &table, &who, &o.name, &scores, &wanted, &seed)) return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    if (!votes) return NULL;
    const dis_votes_view v = dis_votes_get_view(votes);
    Py_buffer person = {0}, score = {0};
    dis_judge_sample_row *rows = NULL;
    size_t n = 0;
    if (core_get_buffer(who, "person", CORE_UINT8, (Py_ssize_t)v.n_workers, &person) == 0 &&
        (scores == Py_None || core_get_buffer(scores, "score", CORE_FLOAT64, (Py_ssize_t)v.n_items, &score) == 0)) {
        o.score = score.buf;
        o.n = wanted > 0 ? (size_t)wanted : 0;
        o.seed = seed;
        const dis_status status = dis_judge_sample(NULL, votes, person.buf, &o, &rows, &n);
        if (status == DIS_OK)
            result = CORE_FIELDS(state, rows, n, fields);
        else
            core_fail(state, status);
    }
    dis_free(rows);
    core_buffer_free(&person);
    core_buffer_free(&score);
    return result;
}

static PyMethodDef functions[] = {
    {"judge_certify", CORE_KEYWORDS(judge_certify), "A judge compared with people."},
    {"judge_check", judge_check, METH_VARARGS,
     "judge_check(certificate, votes, person, judge, level)\n\nLater votes against a certificate."},
    {"judge_sample", judge_sample, METH_VARARGS,
     "judge_sample(votes, person, judge, score, n, seed)\n\nItems that people should label next."},
    {NULL, NULL, 0, NULL},
};

int core_add_judge(PyObject *module)
{
    return core_add_functions(module, functions);
}
