/* Predictions against gold labels and people, and two models against each other. */
#include "measure/py_measure.h"
#include "tool/value_names.h"

/* ---- one set of predictions ---- */

static PyObject *metrics_of(const dis_evaluation_view *v)
{
    PyObject *dict = PyDict_New();
    for (size_t m = 0; dict && m < DIS_EVALUATION_METRICS; m++)
        if (core_put(dict, dis_evaluation_metric_get(m)->name, core_metric(&v->metric[m])) < 0) Py_CLEAR(dict);
    return dict;
}

static PyObject *classes_of(const dis_evaluation_view *v)
{
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && v->classes && k < v->n_classes; k++) {
        const dis_class_scores *s = &v->classes[k];
        PyObject *row =
            Py_BuildValue("{sNsNsNsNsNsN}", "gold", core_count(s->n_gold), "predicted", core_count(s->n_predicted),
                          "correct", core_count(s->n_correct), "precision", core_metric(&s->precision), "recall",
                          core_metric(&s->recall), "f1", core_metric(&s->f1));
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *soft_classes_of(const dis_evaluation_view *v)
{
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && v->soft_classes && k < v->n_classes; k++) {
        const dis_soft_class_scores *s = &v->soft_classes[k];
        PyObject *row = Py_BuildValue("{sNsNsNsNsNsNsN}", "human", core_real(s->human), "predicted",
                                      core_real(s->predicted), "precision", core_metric(&s->precision), "recall",
                                      core_metric(&s->recall), "f1", core_metric(&s->f1), "brier",
                                      core_metric(&s->brier), "cross_entropy", core_metric(&s->cross_entropy));
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *human_bins_of(core_state *state, const dis_evaluation_view *v)
{
    static const core_field fields[] = {{"class", offsetof(dis_human_bin, class_index), CORE_FIELD_SIZE},
                                        {"above", offsetof(dis_human_bin, low), CORE_FIELD_REAL},
                                        {"up_to", offsetof(dis_human_bin, high), CORE_FIELD_REAL},
                                        {"n", offsetof(dis_human_bin, n), CORE_FIELD_U64},
                                        CORE_FIELD(dis_human_bin, predicted, CORE_FIELD_REAL),
                                        CORE_FIELD(dis_human_bin, human, CORE_FIELD_REAL)};
    return CORE_FIELDS(state, v->human_bin, v->n_human_bins, fields);
}

static PyObject *bins_of(core_state *state, const dis_evaluation_view *v)
{
    static const core_field fields[] = {{"above", offsetof(dis_reliability_bin, low), CORE_FIELD_REAL},
                                        {"up_to", offsetof(dis_reliability_bin, high), CORE_FIELD_REAL},
                                        {"n", offsetof(dis_reliability_bin, n), CORE_FIELD_U64},
                                        {"confidence", offsetof(dis_reliability_bin, confidence), CORE_FIELD_REAL},
                                        {"accuracy", offsetof(dis_reliability_bin, accuracy), CORE_FIELD_REAL}};
    return core_fields(state, v->bin, v->bin ? v->n_bins : 0, sizeof *v->bin, fields, sizeof fields / sizeof *fields);
}

static PyObject *temperatures_of(const dis_evaluation_view *v)
{
    PyObject *list = PyList_New(0);
    for (size_t s = 0; list && s < v->n_splits; s++) {
        PyObject *row = Py_BuildValue("{sNsO}", "value", core_real(v->temperature[s]), "on_bound",
                                      v->at_bound[s] ? Py_True : Py_False);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *items_of(core_state *state, const dis_evaluation_view *v)
{
    const dis_evaluation_items *x = &v->items;
    if (!x->predicted) return Py_NewRef(Py_None);
    void *data;
    PyObject *dict = PyDict_New(),
             *predicted = dict ? core_array_create(state, CORE_INT32, (Py_ssize_t)v->n_items, -1, &data) : NULL;
    if (predicted) memcpy(data, x->predicted, v->n_items * sizeof *x->predicted);
    if (dict && core_put(dict, "predicted", predicted) < 0) Py_CLEAR(dict);
    for (size_t c = 0; dict && c < x->n_columns; c++) {
        const char *name = dis_evaluation_metric_get(x->column[c].metric)->name;
        const double *values = x->column[c].values;
        if (values && core_put(dict, name, core_reals(state, values, v->n_items)) < 0) Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *describe(core_state *state, const dis_evaluation_view *v)
{
    PyObject *d = PyDict_New();
    if (!d) return NULL;
    const size_t k = v->n_classes;
    if (core_put(d, "n_items", core_count(v->n_items)) < 0 || core_put(d, "n_gold", core_count(v->n_gold)) < 0 ||
        core_put(d, "resamples", core_count(v->resamples)) < 0 || core_put(d, "metrics", metrics_of(v)) < 0 ||
        core_put(d, "over", core_text(dis_interval_scope_name(v->interval_scope))) < 0 ||
        core_put(d, "n_annotators", core_count(v->n_annotators)) < 0 ||
        core_put(d, "few_annotators", PyBool_FromLong(v->few_annotators)) < 0 ||
        core_put(d, "floored", core_count(v->n_floored)) < 0 ||
        core_put(d, "human_floored", core_count(v->n_human_floored)) < 0 ||
        core_put(d, "majority", v->majority_class == SIZE_MAX ? Py_NewRef(Py_None) : core_count(v->majority_class)) <
            0 ||
        core_put(d, "classes", classes_of(v)) < 0 ||
        core_put(d, "confusion", core_counts(state, v->confusion, k * k)) < 0 ||
        core_put(d, "bins", bins_of(state, v)) < 0 || core_put(d, "soft_classes", soft_classes_of(v)) < 0 ||
        core_put(d, "human_bins", human_bins_of(state, v)) < 0 || core_put(d, "temperatures", temperatures_of(v)) < 0 ||
        core_put(d, "items", items_of(state, v)) < 0)
        Py_CLEAR(d);
    return d;
}

/* Which metrics are asked for by name. */
static int choose(PyObject *list, bool wanted[DIS_EVALUATION_METRICS], bool *some)
{
    core_texts names;
    *some = list && list != Py_None;
    if (core_texts_get(list, "metrics", &names) < 0) return -1;
    int result = 0;
    for (size_t i = 0; i < names.n && result == 0; i++) {
        const dis_evaluation_metric m = dis_evaluation_metric_find(names.text[i]);
        if (m == DIS_EVALUATION_METRICS) {
            PyErr_Format(PyExc_ValueError, "no metric \"%.60s\"; dissent.metrics() lists them", names.text[i]);
            result = -1;
        } else
            wanted[m] = true;
    }
    core_texts_free(&names);
    return result;
}

typedef struct {
    Py_buffer q, gold, human, group;
} tables;

static void free_tables(tables *t)
{
    core_buffer_free(&t->q);
    core_buffer_free(&t->gold);
    core_buffer_free(&t->human);
    core_buffer_free(&t->group);
}

static int put_places(PyObject *from, const char *what, size_t n, size_t limit, size_t *to)
{
    Py_buffer codes = {0};
    if (core_gold_must(from, what, n, limit, &codes) < 0) return -1;
    for (size_t i = 0; i < n; i++) {
        const int32_t code = ((const int32_t *)codes.buf)[i];
        to[i] = code < 0 ? SIZE_MAX : (size_t)code;
    }
    core_buffer_free(&codes);
    return 0;
}

int core_parse_vote_places(core_state *state, PyObject *table, PyObject *item, PyObject *class, size_t n_items,
                           size_t n_classes, core_vote_places *out)
{
    *out = (core_vote_places){.votes = {.size = sizeof out->votes}};
    if (!table || table == Py_None) return 0;
    out->votes.votes = core_votes_get(state, table);
    if (!out->votes.votes) return -1;
    const dis_votes_view v = dis_votes_get_view(out->votes.votes);
    out->place = PyMem_Calloc(n_items + v.n_classes + 1, sizeof *out->place);
    if (!out->place) {
        PyErr_NoMemory();
        return -1;
    }
    out->votes.item_map = out->place;
    out->votes.class_map = out->place + n_items;
    if (put_places(item, "item", n_items, v.n_items, out->place) < 0) return -1;
    return put_places(class, "class", v.n_classes, n_classes, out->place + n_items);
}

static PyObject *evaluate(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"q",        "n_items", "n_classes", "gold",        "human",   "group",      "n_groups",
                            "metrics",  "seed",    "resamples", "fraction",    "ordinal", "keep_items", "top_k",
                            "n_splits", "n_bins",  "threads",   "progress",    "device",  "votes",      "labels",
                            "item",     "class_",  "over",      "multi_label", NULL};
    const char *device = NULL, *labels = NULL, *over = NULL;
    PyObject *table = NULL, *item = NULL, *class = NULL;
    core_vote_places votes = {.place = NULL};
    PyObject *q, *gold = NULL, *human = NULL, *group = NULL, *list = NULL, *progress = NULL, *result = NULL;
    Py_ssize_t n_items, n_classes, n_groups = 0, top_k = 3, n_splits = 5, n_bins = 15;
    unsigned long long seed = 0, resamples = 0;
    dis_evaluation_options o = dis_evaluation_options_default();
    int ordinal = 0, keep_items = 0, threads = 0, multi_label = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "Onn|$OOOnOKKdppnnniOzOzOOzp:evaluate", names, &q, &n_items,
                                     &n_classes, &gold, &human, &group, &n_groups, &list, &seed, &resamples,
                                     &o.fraction, &ordinal, &keep_items, &top_k, &n_splits, &n_bins, &threads,
                                     &progress, &device, &table, &labels, &item, &class, &over, &multi_label))
        return NULL;
    core_state *state = core_state_of_module(module);
    bool wanted[DIS_EVALUATION_METRICS] = {false}, some;
    if (!core_sizes_ok(n_items, n_classes) || choose(list, wanted, &some) < 0 || core_over(over, &o.interval_scope) < 0)
        return NULL;
    const size_t n = (size_t)n_items, k = (size_t)n_classes;
    tables t = {0};
    core_call call;
    const int groups = group && group != Py_None;
    int (*const get)(PyObject *, const char *, size_t, size_t, Py_buffer *) =
        multi_label ? core_shares_get : core_rows_get;
    if (q == Py_None) {
        PyErr_SetString(PyExc_TypeError, "predictions must be an array");
        return NULL;
    }
    if (get(q, "predictions", n, k, &t.q) == 0 && core_gold_get(gold, "gold", n, k, &t.gold) == 0 &&
        get(human, "human", n, k, &t.human) == 0 &&
        (!groups || core_get_buffer(group, "groups", CORE_UINT32, n_items, &t.group) == 0) &&
        core_parse_vote_places(state, table, item, class, n, k, &votes) == 0 &&
        core_begin_on(&call, state, threads, progress, device, NULL) == 0) {
        const dis_evaluation_votes from = {.size = sizeof(dis_evaluation_votes),
                                           .votes = votes.votes.votes,
                                           .labels = labels,
                                           .item_map = votes.votes.item_map,
                                           .class_map = votes.votes.class_map};
        const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                         .n_items = n,
                                         .n_classes = k,
                                         .q = t.q.buf,
                                         .gold = t.gold.buf,
                                         .human = t.human.buf,
                                         .group = t.group.buf,
                                         .n_groups = n_groups > 0 ? (size_t)n_groups : 0,
                                         .votes = votes.place ? &from : NULL,
                                         .multi_label = multi_label != 0};
        o.seed = seed;
        o.resamples = resamples;
        o.ordinal = ordinal != 0;
        o.keep_items = keep_items != 0;
        o.top_k = top_k > 0 ? (size_t)top_k : 0;
        o.n_splits = n_splits > 0 ? (size_t)n_splits : 0;
        o.n_bins = n_bins > 0 ? (size_t)n_bins : 0;
        o.n_metrics = DIS_EVALUATION_METRICS;
        if (some) o.metrics = wanted;
        dis_evaluation *e = NULL;
        core_release(&call);
        const dis_status status = dis_evaluation_run(call.ctx, &in, &o, &e);
        core_retake(&call);
        if (core_end(&call, status) == 0) {
            const dis_evaluation_view view = dis_evaluation_get_view(e);
            result = describe(state, &view);
        }
        dis_evaluation_destroy(e);
    }
    free_tables(&t);
    PyMem_Free(votes.place);
    return result;
}

/* ---- two sides ---- */

static PyObject *significance_of(const dis_significance *s)
{
    return Py_BuildValue("{sNsNsNsNsNsNsNsi}", "a", core_metric(&s->a), "b", core_metric(&s->b), "difference",
                         core_metric(&s->difference), "sd_a", core_real(s->sd_a), "sd_b", core_real(s->sd_b), "p",
                         core_real(s->p), "p_two_sided", core_real(s->p_two_sided), "stars", s->stars);
}

static PyObject *statistic_of(const dis_cell_statistic *s)
{
    PyObject *mean = PyDict_New();
    for (size_t c = 0; mean && c < DIS_CELLS; c++)
        if (core_put(mean, dis__comparison_cell_name(c), core_metric(&s->mean[c])) < 0) Py_CLEAR(mean);
    if (!mean) return NULL;
    const dis_rank_test *t = &s->test;
    return Py_BuildValue("{sNs{sNsNsNsNsOsN}sN}", "mean", mean, "test", "u", core_real(t->u), "p", core_real(t->p),
                         "n_a", core_count(t->n_x), "n_b", core_count(t->n_y), "exact", t->exact ? Py_True : Py_False,
                         "reason", core_text(t->reason), "left_out", core_count(s->n_excluded));
}

static PyObject *mcnemar_of(const dis_comparison_view *v)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < v->n_pairs; i++) {
        const dis_mcnemar *m = &v->mcnemar[i];
        PyObject *row =
            Py_BuildValue("{sNsNsNsNsO}", "only_a", core_count(m->only_a), "only_b", core_count(m->only_b), "statistic",
                          core_real(m->statistic), "p", core_real(m->p), "exact", m->exact ? Py_True : Py_False);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *comparison_of(const dis_comparison_view *v)
{
    PyObject *d = PyDict_New(), *metrics = PyDict_New(), *cells = PyDict_New(), *statistics = PyDict_New();
    int failed = !d || !metrics || !cells || !statistics;
    for (size_t m = 0; m < DIS_COMPARE_METRICS && !failed; m++)
        failed = core_put(metrics, dis_comparison_metric_get(m)->name, significance_of(&v->metric[m])) < 0;
    for (size_t c = 0; c < DIS_CELLS && !failed; c++)
        failed = core_put(cells, dis__comparison_cell_name(c), core_count(v->cell[c])) < 0;
    for (size_t s = 0; s < DIS_CELL_STATISTICS && v->has_statistics && !failed; s++)
        failed = core_put(statistics, dis__comparison_statistic_name(s), statistic_of(&v->statistic[s])) < 0;
    failed = failed || core_put(d, "over", core_text(dis_interval_scope_name(v->interval_scope))) < 0 ||
             core_put(d, "n_annotators", core_count(v->n_annotators)) < 0 ||
             core_put(d, "few_annotators", PyBool_FromLong(v->few_annotators)) < 0 ||
             core_put(d, "n_items", core_count(v->n_items)) < 0 || core_put(d, "n_a", core_count(v->n_a)) < 0 ||
             core_put(d, "n_b", core_count(v->n_b)) < 0 || core_put(d, "n_resample", core_count(v->n_resample)) < 0 ||
             core_put(d, "mcnemar", mcnemar_of(v)) < 0 || core_put(d, "metrics", Py_XNewRef(metrics)) < 0 ||
             core_put(d, "cells", Py_XNewRef(cells)) < 0 || core_put(d, "statistics", Py_XNewRef(statistics)) < 0;
    Py_XDECREF(metrics);
    Py_XDECREF(cells);
    Py_XDECREF(statistics);
    if (failed) Py_CLEAR(d);
    return d;
}

typedef struct {
    Py_buffer view[DIS_COMPARE_MAX_SEEDS];
    const int32_t *label[DIS_COMPARE_MAX_SEEDS];
    size_t n;
} side;

static int parse_side(PyObject *tuple, const char *what, size_t n_items, size_t n_classes, side *s)
{
    const Py_ssize_t n = PyTuple_Size(tuple);
    if (n < 1 || n > DIS_COMPARE_MAX_SEEDS) {
        PyErr_Format(PyExc_ValueError, "side %s has %zd sets of predictions; 1 to %d are possible", what, n,
                     DIS_COMPARE_MAX_SEEDS);
        return -1;
    }
    for (; s->n < (size_t)n; s->n++) {
        if (core_gold_must(PyTuple_GetItem(tuple, (Py_ssize_t)s->n), "predictions", n_items, n_classes,
                           &s->view[s->n]) < 0)
            return -1;
        s->label[s->n] = s->view[s->n].buf;
    }
    return 0;
}

static void free_side(side *s)
{
    for (size_t i = 0; i < DIS_COMPARE_MAX_SEEDS; i++) core_buffer_free(&s->view[i]);
}

static int alternative_of(const char *word, dis_alternative *out)
{
    static const char *const words[] = {[DIS_TWO_SIDED] = "two-sided", [DIS_LESS] = "less", [DIS_GREATER] = "greater"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (dis_alternative)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "alternative must be \"two-sided\", \"less\" or \"greater\", not \"%.50s\"", word);
    return -1;
}

static PyObject *compare(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"a",         "b",        "gold",       "n_classes",   "human",   "seed",
                            "resamples", "fraction", "pool_seeds", "alternative", "threads", "progress",
                            "device",    "votes",    "item",       "class_",      "over",    NULL};
    PyObject *table = NULL, *item = NULL, *class = NULL;
    const char *over = NULL;
    core_vote_places votes = {.place = NULL};
    PyObject *a, *b, *gold, *human = NULL, *progress = NULL, *result = NULL;
    Py_ssize_t n_classes;
    unsigned long long seed = 0, resamples = 10000;
    dis_comparison_options o = dis_comparison_options_default();
    int pool = 0, threads = 0;
    const char *alternative = "two-sided", *device = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!On|$OKKdpsiOzOOOz:compare", names, &PyTuple_Type, &a,
                                     &PyTuple_Type, &b, &gold, &n_classes, &human, &seed, &resamples, &o.fraction,
                                     &pool, &alternative, &threads, &progress, &device, &table, &item, &class, &over))
        return NULL;
    core_state *state = core_state_of_module(module);
    if (core_over(over, &o.interval_scope) < 0) return NULL;
    const Py_ssize_t n_items = gold == Py_None ? 0 : PyObject_Size(gold);
    if (n_items < 0 || !core_sizes_ok(n_items, n_classes) || alternative_of(alternative, &o.alternative) < 0)
        return NULL;
    const size_t n = (size_t)n_items, k = (size_t)n_classes;
    side *sides = PyMem_Calloc(2, sizeof *sides);
    if (!sides) return PyErr_NoMemory();
    Py_buffer known = {0}, people = {0};
    core_call call;
    if (core_gold_must(gold, "gold", n, k, &known) == 0 && core_rows_get(human, "human", n, k, &people) == 0 &&
        parse_side(a, "a", n, k, &sides[0]) == 0 && parse_side(b, "b", n, k, &sides[1]) == 0 &&
        core_parse_vote_places(state, table, item, class, n, k, &votes) == 0 &&
        core_begin_on(&call, state, threads, progress, device, NULL) == 0) {
        const dis_comparison_input in = {.size = sizeof(dis_comparison_input),
                                         .n_items = n,
                                         .n_classes = k,
                                         .gold = votes.place ? NULL : known.buf,
                                         .n_a = sides[0].n,
                                         .n_b = sides[1].n,
                                         .a = sides[0].label,
                                         .b = sides[1].label,
                                         .human = people.buf,
                                         .votes = votes.place ? &votes.votes : NULL};
        o.seed = seed;
        o.resamples = resamples;
        o.pool_seeds = pool != 0;
        dis_comparison *c = NULL;
        core_release(&call);
        const dis_status status = dis_comparison_run(call.ctx, &in, &o, &c);
        core_retake(&call);
        if (core_end(&call, status) == 0) {
            const dis_comparison_view view = dis_comparison_get_view(c);
            result = comparison_of(&view);
        }
        dis_comparison_destroy(c);
    }
    free_side(&sides[0]);
    free_side(&sides[1]);
    PyMem_Free(sides);
    PyMem_Free(votes.place);
    core_buffer_free(&known);
    core_buffer_free(&people);
    return result;
}

static PyObject *metric_rows(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const dis_evaluation_metric_row *r;
    for (size_t i = 0; list && (r = dis_evaluation_metric_get(i)); i++) {
        PyObject *row = Py_BuildValue("{sssssssssOsOsOsO}", "name", r->name, "summary", r->summary, "better", r->better,
                                      "unit", r->unit, "needs_gold", r->needs & DIS_NEEDS_GOLD ? Py_True : Py_False,
                                      "needs_human", r->needs & DIS_NEEDS_HUMAN ? Py_True : Py_False, "needs_order",
                                      r->needs & DIS_NEEDS_ORDER ? Py_True : Py_False, "needs_sets",
                                      r->needs & DIS_NEEDS_SETS ? Py_True : Py_False);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyMethodDef functions[] = {
    {"evaluate", CORE_KEYWORDS(evaluate), "Predictions against gold labels and people."},
    {"compare", CORE_KEYWORDS(compare), "Two sides, each with one or more sets of predicted classes."},
    {"metrics", metric_rows, METH_NOARGS, "metrics()\n\nThe rows of the table of metrics."},
    {NULL, NULL, 0, NULL},
};

int core_add_evaluate(PyObject *module)
{
    return core_add_functions(module, functions);
}
