/* Panels of people and models. */
#include "measure/py_measure.h"
#include <stddef.h>
#include <string.h>

static int put_judges(core_state *state, PyObject *d, const dis_panel_view *v)
{
    static const core_field judges[] = {CORE_FIELD(dis_panel_judge, worker, CORE_FIELD_U32),
                                        CORE_FIELD(dis_panel_judge, votes, CORE_FIELD_U64),
                                        CORE_FIELD(dis_panel_judge, shared, CORE_FIELD_U64),
                                        CORE_FIELD(dis_panel_judge, chance, CORE_FIELD_REAL),
                                        CORE_FIELD(dis_panel_judge, p_chance, CORE_FIELD_REAL),
                                        CORE_FIELD(dis_panel_judge, above_chance, CORE_FIELD_BOOL),
                                        {"people", offsetof(dis_panel_judge, n_people_compared), CORE_FIELD_U64},
                                        {"won", offsetof(dis_panel_judge, n_people_represented), CORE_FIELD_U64},
                                        CORE_FIELD(dis_panel_judge, winning_rate, CORE_FIELD_REAL),
                                        CORE_FIELD(dis_panel_judge, passed, CORE_FIELD_BOOL),
                                        CORE_FIELD(dis_panel_judge, error_group, CORE_FIELD_U32)};
    static const core_field pairs[] = {CORE_FIELD(dis_panel_pair, a, CORE_FIELD_U32),
                                       CORE_FIELD(dis_panel_pair, b, CORE_FIELD_U32),
                                       CORE_FIELD(dis_panel_pair, n, CORE_FIELD_U64),
                                       CORE_FIELD(dis_panel_pair, correlation, CORE_FIELD_REAL)};
    static const core_field copies[] = {CORE_FIELD(dis_panel_copied_votes, judge, CORE_FIELD_U32),
                                        CORE_FIELD(dis_panel_copied_votes, worker, CORE_FIELD_U32),
                                        CORE_FIELD(dis_panel_copied_votes, n, CORE_FIELD_U64),
                                        {"same", offsetof(dis_panel_copied_votes, observed), CORE_FIELD_REAL},
                                        CORE_FIELD(dis_panel_copied_votes, expected, CORE_FIELD_REAL),
                                        {"copied", offsetof(dis_panel_copied_votes, copied_share), CORE_FIELD_REAL},
                                        CORE_FIELD(dis_panel_copied_votes, p, CORE_FIELD_REAL)};
    if (core_put(d, "judges", CORE_FIELDS(state, v->judges, v->n_judges, judges)) < 0 ||
        core_put(d, "agreement", CORE_METRICS(v->judges, v->n_judges, dis_panel_judge, agreement)) < 0 ||
        core_put(d, "error", CORE_METRICS(v->judges, v->n_judges, dis_panel_judge, error)) < 0 ||
        core_put(d, "as_good", CORE_METRICS(v->judges, v->n_judges, dis_panel_judge, advantage_probability)) < 0 ||
        core_put(d, "copies", CORE_FIELDS(state, v->copies, v->n_copies, copies)) < 0)
        return -1;
    return core_put(d, "pairs", CORE_FIELDS(state, v->pairs, v->n_pairs, pairs));
}

static int put_rates(core_state *state, PyObject *d, const dis_panel_view *v)
{
    static const core_field rates[] = {CORE_FIELD(dis_panel_rate, judge, CORE_FIELD_U32),
                                       {"class", offsetof(dis_panel_rate, class_index), CORE_FIELD_U32},
                                       CORE_FIELD(dis_panel_rate, n_people, CORE_FIELD_U64),
                                       {"n_alone", offsetof(dis_panel_rate, n_judge_only), CORE_FIELD_U64},
                                       CORE_FIELD(dis_panel_rate, raw, CORE_FIELD_REAL),
                                       CORE_FIELD(dis_panel_rate, sensitivity, CORE_FIELD_REAL),
                                       CORE_FIELD(dis_panel_rate, specificity, CORE_FIELD_REAL),
                                       {"lambda", offsetof(dis_panel_rate, tuning_weight), CORE_FIELD_REAL},
                                       {"needed", offsetof(dis_panel_rate, n_needed), CORE_FIELD_REAL},
                                       {"needed_alone", offsetof(dis_panel_rate, n_needed_without_judge),
                                        CORE_FIELD_REAL}};
    static const core_field items[] = {CORE_FIELD(dis_panel_item, item, CORE_FIELD_SIZE),
                                       CORE_FIELD(dis_panel_item, people, CORE_FIELD_U32),
                                       {"buy", offsetof(dis_panel_item, votes_to_buy), CORE_FIELD_U32},
                                       CORE_FIELD(dis_panel_item, gain, CORE_FIELD_REAL)};
    if (core_put(d, "rates", CORE_FIELDS(state, v->rates, v->n_rates, rates)) < 0 ||
        core_put(d, "rate_bias", CORE_METRICS(v->rates, v->n_rates, dis_panel_rate, bias)) < 0 ||
        core_put(d, "rate_people", CORE_METRICS(v->rates, v->n_rates, dis_panel_rate, people)) < 0 ||
        core_put(d, "rate_rogan_gladen", CORE_METRICS(v->rates, v->n_rates, dis_panel_rate, rogan_gladen)) < 0 ||
        core_put(d, "rate_powered", CORE_METRICS(v->rates, v->n_rates, dis_panel_rate, prediction_powered)) < 0)
        return -1;
    return core_put(d, "items", CORE_FIELDS(state, v->items, v->n_items, items));
}

static PyObject *panel_of(core_state *state, const dis_panel_view *v)
{
    PyObject *d = PyDict_New();
    if (!d) return NULL;
    if (put_judges(state, d, v) < 0 || put_rates(state, d, v) < 0 ||
        core_put(d, "p", core_reals(state, v->p, v->n_items * v->n_classes)) < 0 ||
        core_put(d, "correlation", core_metric(&v->correlation)) < 0 ||
        core_put(d, "effective", core_metric(&v->effective)) < 0 ||
        core_put(d, "unknown", core_text(v->missing_reason)) < 0 ||
        core_put(d, "n_error_groups", core_count(v->n_error_groups)) < 0 ||
        core_put(d, "n_above_chance", core_count(v->n_above)) < 0 ||
        core_put(d, "p_people", core_real(v->p_people)) < 0 ||
        core_put(d, "p_labelled", core_real(v->p_labelled)) < 0 ||
        core_put(d, "labelled_differ", PyBool_FromLong(v->labelled_items_differ)) < 0 ||
        core_put(d, "few_people", PyBool_FromLong(v->few_people)) < 0 ||
        core_put(d, "copies_tested", PyBool_FromLong(v->copies_tested)) < 0 ||
        core_put(d, "items_with_two_people", core_count(v->n_items_with_two)) < 0 ||
        core_put(d, "n_people", core_count(v->n_people)) < 0 ||
        core_put(d, "items_with_people", core_count(v->n_items_with_people)) < 0 ||
        core_put(d, "exponent", core_real(v->exponent)) < 0 ||
        core_put(d, "strength", core_real(v->judge_strength)) < 0 ||
        core_put(d, "loss_rates", core_metric(&v->loss_rates)) < 0 ||
        core_put(d, "loss_shares", core_metric(&v->loss_shares)) < 0 ||
        core_put(d, "loss_calibrated", core_metric(&v->loss_calibrated)) < 0 ||
        core_put(d, "spent", core_count(v->budget_spent)) < 0)
        Py_CLEAR(d);
    return d;
}

static PyObject *panel(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes",       "person",    "epsilon", "fdr",  "min_people", "min_items", "numbers",
                            "same_errors", "precision", "budget",  "seed", "threads",    "progress",  NULL};
    PyObject *table, *who, *progress = NULL, *result = NULL;
    dis_panel_options o = dis_panel_options_default();
    Py_ssize_t min_people = (Py_ssize_t)o.min_people, min_items = (Py_ssize_t)o.min_items;
    unsigned long long budget = 0, seed = 0;
    int numbers = 0, threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$ddnnpddKKiO:panel", names, &table, &who, &o.epsilon, &o.fdr,
                                     &min_people, &min_items, &numbers, &o.error_correlation, &o.half_width, &budget,
                                     &seed, &threads, &progress))
        return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    if (!votes) return NULL;
    if (min_people < 0 || min_items < 0) {
        PyErr_SetString(PyExc_ValueError, "min_people and min_items must be 0 or more");
        return NULL;
    }
    Py_buffer person = {0};
    if (core_get_buffer(who, "person", CORE_UINT8, (Py_ssize_t)dis_votes_get_view(votes).n_workers, &person) < 0)
        return NULL;
    o.min_people = (size_t)min_people;
    o.min_items = (size_t)min_items;
    o.numeric_classes = numbers != 0;
    o.budget = budget;
    o.seed = seed;
    core_call call;
    if (core_begin(&call, state, threads, progress) == 0) {
        dis_panel *found = NULL;
        core_release(&call);
        const dis_status status = dis_panel_run(call.ctx, votes, person.buf, &o, &found);
        core_retake(&call);
        if (core_end(&call, status) == 0) {
            const dis_panel_view v = dis_panel_get_view(found);
            result = panel_of(state, &v);
        }
        dis_panel_destroy(found);
    }
    PyBuffer_Release(&person);
    return result;
}

static PyObject *panel_swaps(PyObject *module, PyObject *args)
{
    static const core_field fields[] = {CORE_FIELD(dis_position_bias, worker, CORE_FIELD_U32),
                                        CORE_FIELD(dis_position_bias, n, CORE_FIELD_U64),
                                        {"first", offsetof(dis_position_bias, flips_to_first), CORE_FIELD_U64},
                                        {"second", offsetof(dis_position_bias, flips_to_second), CORE_FIELD_U64},
                                        CORE_FIELD(dis_position_bias, p, CORE_FIELD_REAL)};
    PyObject *one, *other, *turned, *result = NULL;
    Py_ssize_t first;
    if (!PyArg_ParseTuple(args, "OOOn:panel_swaps", &one, &other, &turned, &first)) return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, one), *swapped = votes ? core_votes_get(state, other) : NULL;
    if (!swapped) return NULL;
    const size_t n_classes = dis_votes_get_view(votes).n_classes;
    Py_buffer mirror = {0};
    if (turned != Py_None && core_get_buffer(turned, "mirror", CORE_UINT64, (Py_ssize_t)n_classes, &mirror) < 0)
        return NULL;
    const uint64_t *to = mirror.buf;
    for (size_t k = 0; to && k < n_classes; k++)
        if (to[k] >= n_classes) {
            PyErr_SetString(PyExc_ValueError, "mirror names a class that the votes do not have");
            core_buffer_free(&mirror);
            return NULL;
        }
    dis_position_bias *rows = NULL;
    size_t n = 0;
    const dis_status status =
        dis_position_bias_run(votes, swapped, mirror.buf, first < 0 ? SIZE_MAX : (size_t)first, &rows, &n);
    if (status != DIS_OK)
        core_fail(state, status);
    else if ((result = PyDict_New()) &&
             (core_put(result, "rows", CORE_FIELDS(state, rows, n, fields)) < 0 ||
              core_put(result, "consistent", CORE_METRICS(rows, n, dis_position_bias, consistency)) < 0))
        Py_CLEAR(result);
    dis_free(rows);
    core_buffer_free(&mirror);
    return result;
}

static PyMethodDef functions[] = {
    {"panel", CORE_KEYWORDS(panel), "People and models as voters."},
    {"panel_swaps", panel_swaps, METH_VARARGS,
     "panel_swaps(votes, swapped, mirror, first)\n\nPairs judged in both orders."},
    {NULL, NULL, 0, NULL},
};

int core_add_panel(PyObject *module)
{
    return core_add_functions(module, functions);
}
