/* How far voters agree, and what to look at again. */
#include "measure/py_measure.h"
#include <math.h>

/* ---- agreement ---- */

static PyObject *metrics_of(const dis_agreement_view *v)
{
    PyObject *dict = PyDict_New();
    for (size_t m = 0; dict && m < v->n_metrics; m++)
        if (core_put(dict, dis_agreement_measure_get(m)->name, core_metric(&v->metric[m])) < 0) Py_CLEAR(dict);
    return dict;
}

static PyObject *classes_of(const dis_agreement_view *v)
{
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < v->n_classes; k++) {
        const dis_agreement_class *c = &v->classes[k];
        PyObject *row = Py_BuildValue("{sNsNsNsNsN}", "votes", core_count(c->votes), "share", core_real(c->share),
                                      "agreement", core_metric(&c->agreement), "fleiss", core_metric(&c->fleiss),
                                      "alpha", core_metric(&c->alpha));
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *core_chance(const dis_chance_test *t)
{
    return Py_BuildValue("{sssNsNsNsN}", "verdict", dis_chance_name(t->verdict), "coefficient",
                         core_real(t->coefficient), "standard_error", core_real(t->standard_error), "z",
                         core_real(t->z), "p", core_real(t->p));
}

/* None for a table that was not asked for. */
#define FIELDS(state, rows, n, fields) ((rows) ? CORE_FIELDS(state, rows, n, fields) : Py_NewRef(Py_None))

static PyObject *agreement_of(core_state *state, const dis_agreement_view *v)
{
    static const core_field items[] = {CORE_FIELD(dis_agreement_item, votes, CORE_FIELD_U64),
                                       {"chosen", offsetof(dis_agreement_item, n_chosen_classes), CORE_FIELD_U32},
                                       {"top", offsetof(dis_agreement_item, majority_class), CORE_FIELD_U32},
                                       CORE_FIELD(dis_agreement_item, agreement, CORE_FIELD_REAL)};
    static const core_field workers[] = {CORE_FIELD(dis_agreement_worker, votes, CORE_FIELD_U64),
                                         CORE_FIELD(dis_agreement_worker, compared, CORE_FIELD_U64),
                                         CORE_FIELD(dis_agreement_worker, agreement, CORE_FIELD_REAL),
                                         {"alpha_without", offsetof(dis_agreement_worker, alpha_without_worker),
                                          CORE_FIELD_REAL},
                                         CORE_FIELD(dis_agreement_worker, gold_votes, CORE_FIELD_U64),
                                         CORE_FIELD(dis_agreement_worker, accuracy, CORE_FIELD_REAL)};
    static const core_field pairs[] = {CORE_FIELD(dis_agreement_pair, a, CORE_FIELD_U32),
                                       CORE_FIELD(dis_agreement_pair, b, CORE_FIELD_U32),
                                       CORE_FIELD(dis_agreement_pair, n, CORE_FIELD_U64),
                                       CORE_FIELD(dis_agreement_pair, agreement, CORE_FIELD_REAL),
                                       CORE_FIELD(dis_agreement_pair, scott, CORE_FIELD_REAL),
                                       CORE_FIELD(dis_agreement_pair, cohen, CORE_FIELD_REAL),
                                       CORE_FIELD(dis_agreement_pair, cohen_linear, CORE_FIELD_REAL),
                                       CORE_FIELD(dis_agreement_pair, cohen_quadratic, CORE_FIELD_REAL),
                                       CORE_FIELD(dis_agreement_pair, degenerate, CORE_FIELD_BOOL)};
    PyObject *d = PyDict_New();
    if (!d) return NULL;
    if (core_put(d, "n_items", core_count(v->n_items)) < 0 || core_put(d, "n_workers", core_count(v->n_workers)) < 0 ||
        core_put(d, "compared", core_count(v->n_compared)) < 0 ||
        core_put(d, "singles", core_count(v->n_single_votes)) < 0 || core_put(d, "empty", core_count(v->n_empty)) < 0 ||
        core_put(d, "votes", core_count(v->votes)) < 0 ||
        core_put(d, "votes_compared", core_count(v->votes_compared)) < 0 ||
        core_put(d, "pair_workers", core_count(v->n_pair_workers)) < 0 ||
        core_put(d, "pairs_too_small", core_count(v->n_pairs_too_small)) < 0 ||
        core_put(d, "pairs_degenerate", core_count(v->n_pairs_degenerate)) < 0 ||
        core_put(d, "over", core_text(dis_interval_scope_name(v->interval_scope))) < 0 ||
        core_put(d, "chance", core_chance(&v->chance)) < 0 || core_put(d, "metrics", metrics_of(v)) < 0 ||
        core_put(d, "classes", classes_of(v)) < 0 ||
        core_put(d, "items", FIELDS(state, v->items, v->n_items, items)) < 0 ||
        core_put(d, "workers", FIELDS(state, v->workers, v->n_workers, workers)) < 0 ||
        core_put(d, "pairs", FIELDS(state, v->pairs, v->n_pairs, pairs)) < 0)
        Py_CLEAR(d);
    return d;
}

static PyObject *agreement(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes",     "gold",      "items",      "workers", "pairs",    "ordinal", "singles", "seed",
                            "resamples", "max_pairs", "min_common", "threads", "progress", "device",  "over",    NULL};
    const char *device = NULL, *over = NULL;
    PyObject *table, *gold = NULL, *progress = NULL, *result = NULL;
    int items = 1, workers = 1, pairs = 1, ordinal = 0, singles = 0, threads = 0;
    dis_agreement_options o = dis_agreement_options_default();
    unsigned long long seed = 0;
    Py_ssize_t resamples = (Py_ssize_t)o.resamples, max_pairs = (Py_ssize_t)o.max_pairs,
               min_common = (Py_ssize_t)o.min_common;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OpppppKnnniOzz:agreement", names, &table, &gold, &items,
                                     &workers, &pairs, &ordinal, &singles, &seed, &resamples, &max_pairs, &min_common,
                                     &threads, &progress, &device, &over))
        return NULL;
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    if (!votes || core_over(over, &o.interval_scope) < 0) return NULL;
    if (resamples < 0 || max_pairs < 0 || min_common < 0) {
        PyErr_SetString(PyExc_ValueError, "resamples, max_pairs and min_common must be 0 or more");
        return NULL;
    }
    const dis_votes_view v = dis_votes_get_view(votes);
    Py_buffer known = {0};
    if (core_gold_get(gold, "gold", v.n_items, v.n_classes, &known) < 0) return NULL;
    o.parts = (unsigned)(items ? DIS_AGREEMENT_ITEMS : 0) | (unsigned)(workers ? DIS_AGREEMENT_WORKERS : 0) |
              (unsigned)(pairs ? DIS_AGREEMENT_PAIRS : 0);
    o.gold = known.buf;
    o.ordinal = ordinal != 0;
    o.include_single_votes = singles != 0;
    o.seed = seed;
    o.resamples = (size_t)resamples;
    o.max_pairs = (size_t)max_pairs;
    o.min_common = (size_t)min_common;
    core_call call;
    if (core_begin_on(&call, state, threads, progress, device, NULL) == 0) {
        dis_agreement *a = NULL;
        core_release(&call);
        const dis_status status = dis_agreement_run(call.ctx, votes, &o, &a);
        core_retake(&call);
        if (core_end(&call, status) == 0) {
            const dis_agreement_view view = dis_agreement_get_view(a);
            result = agreement_of(state, &view);
        }
        dis_agreement_destroy(a);
    }
    core_buffer_free(&known);
    return result;
}

static PyObject *measures(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const dis_agreement_measure *m;
    for (size_t i = 0; list && (m = dis_agreement_measure_get(i)); i++) {
        PyObject *row = Py_BuildValue("{sssssssssOsO}", "name", m->name, "title", m->title, "missing", m->missing_votes,
                                      "source", m->source, "crowd", m->describes_crowd ? Py_True : Py_False,
                                      "needs_gold", m->needs_gold ? Py_True : Py_False);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* ---- review ---- */

static const char *const orders[] = {[DIS_REVIEW_BY_GAIN] = "gain",
                                     [DIS_REVIEW_BY_UNCERTAINTY] = "uncertainty",
                                     [DIS_REVIEW_BY_SURPRISE] = "surprise",
                                     [DIS_REVIEW_BY_DEFAULT] = "auto"};

/* What the reason of row r is, as a text; names may be cut within a character. */
typedef const char *reason_of(const dis_review *review, const dis_votes *votes, size_t r, char *out, size_t size);

static PyObject *reasons(const dis_review *review, const dis_votes *votes, size_t n, reason_of *format)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t r = 0; list && r < n; r++) {
        char text[DIS_REVIEW_REASON_SIZE];
        format(review, votes, r, text, sizeof text);
        PyObject *item = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
        if (!item || PyList_SetItem(list, (Py_ssize_t)r, item) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *cause_list(const dis_review_view *v)
{
    PyObject *list = PyList_New((Py_ssize_t)v->n_workers);
    for (size_t r = 0; list && r < v->n_workers; r++)
        if (PyList_SetItem(list, (Py_ssize_t)r, PyUnicode_FromString(dis_review_verdict_name(v->workers[r].verdict))) <
            0)
            Py_CLEAR(list);
    return list;
}

static int put_figures(PyObject *d, const dis_review_view *v)
{
    if (core_put(d, "method", core_text(v->method)) < 0 || core_put(d, "n_items", core_count(v->n_items)) < 0 ||
        core_put(d, "expected_accuracy", core_real(v->expected_accuracy)) < 0 ||
        core_put(d, "expected_accuracy_after", core_real(v->expected_accuracy_after)) < 0 ||
        core_put(d, "spent", core_count(v->budget_spent)) < 0 ||
        core_put(d, "typical_accuracy", core_real(v->typical_accuracy)) < 0 ||
        core_put(d, "by", core_text(orders[v->order])) < 0 ||
        core_put(d, "n_compared", core_count(v->n_compared)) < 0 ||
        core_put(d, "beyond_chance", core_count(v->beyond_chance)) < 0 ||
        core_put(d, "chance", core_chance(&v->chance)) < 0 ||
        core_put(d, "n_unreliable", core_count(v->n_unreliable)) < 0 ||
        core_put(d, "n_weak", core_count(v->n_weak)) < 0 ||
        core_put(d, "n_unjudged", core_count(v->n_without_verdict)) < 0 ||
        core_put(d, "n_accepted", core_count(v->n_accepted)) < 0 ||
        core_put(d, "expected_accuracy_accepted", core_real(v->expected_accuracy_accepted)) < 0)
        return -1;
    return core_put(d, "n_biased", core_count(v->n_biased));
}

static int put_tables(core_state *state, PyObject *d, const dis_review_view *v, size_t n)
{
    static const core_field items[] = {CORE_FIELD(dis_review_item, item, CORE_FIELD_SIZE),
                                       CORE_FIELD(dis_review_item, label, CORE_FIELD_SIZE),
                                       {"other", offsetof(dis_review_item, second_class), CORE_FIELD_SIZE},
                                       CORE_FIELD(dis_review_item, votes, CORE_FIELD_REAL),
                                       {"for_label", offsetof(dis_review_item, votes_for_label), CORE_FIELD_REAL},
                                       {"for_other", offsetof(dis_review_item, votes_for_second), CORE_FIELD_REAL},
                                       CORE_FIELD(dis_review_item, p_correct, CORE_FIELD_REAL),
                                       CORE_FIELD(dis_review_item, gain, CORE_FIELD_REAL),
                                       CORE_FIELD(dis_review_item, surprise, CORE_FIELD_REAL),
                                       CORE_FIELD(dis_review_item, p_hard, CORE_FIELD_REAL),
                                       {"buy", offsetof(dis_review_item, votes_to_buy), CORE_FIELD_U32},
                                       {"known", offsetof(dis_review_item, is_gold), CORE_FIELD_BOOL},
                                       {"best", offsetof(dis_review_item, most_probable), CORE_FIELD_SIZE},
                                       CORE_FIELD(dis_review_item, accepted, CORE_FIELD_BOOL)};
    static const core_field workers[] = {CORE_FIELD(dis_review_worker, worker, CORE_FIELD_SIZE),
                                         CORE_FIELD(dis_review_worker, votes, CORE_FIELD_U64),
                                         CORE_FIELD(dis_review_worker, shared, CORE_FIELD_U64),
                                         {"quality", offsetof(dis_review_worker, accuracy), CORE_FIELD_REAL},
                                         {"low", offsetof(dis_review_worker, accuracy_low), CORE_FIELD_REAL},
                                         {"high", offsetof(dis_review_worker, accuracy_high), CORE_FIELD_REAL},
                                         {"peers", offsetof(dis_review_worker, peer_accuracy), CORE_FIELD_REAL},
                                         CORE_FIELD(dis_review_worker, difference, CORE_FIELD_REAL),
                                         CORE_FIELD(dis_review_worker, difference_low, CORE_FIELD_REAL),
                                         CORE_FIELD(dis_review_worker, difference_high, CORE_FIELD_REAL),
                                         CORE_FIELD(dis_review_worker, p_adjusted, CORE_FIELD_REAL),
                                         CORE_FIELD(dis_review_worker, gold_votes, CORE_FIELD_U64),
                                         CORE_FIELD(dis_review_worker, gold_accuracy, CORE_FIELD_REAL),
                                         CORE_FIELD(dis_review_worker, gold_low, CORE_FIELD_REAL),
                                         CORE_FIELD(dis_review_worker, gold_high, CORE_FIELD_REAL),
                                         CORE_FIELD(dis_review_worker, evidence, CORE_FIELD_REAL),
                                         CORE_FIELD(dis_review_worker, chosen_class, CORE_FIELD_SIZE),
                                         CORE_FIELD(dis_review_worker, true_class, CORE_FIELD_SIZE),
                                         CORE_FIELD(dis_review_worker, chosen_share, CORE_FIELD_REAL),
                                         CORE_FIELD(dis_review_worker, expected_share, CORE_FIELD_REAL),
                                         CORE_FIELD(dis_review_worker, n_share_votes, CORE_FIELD_REAL)};
    static const core_field ordinal_items[] = {CORE_FIELD(dis_review_ordinal_item, position, CORE_FIELD_REAL),
                                               CORE_FIELD(dis_review_ordinal_item, position_se, CORE_FIELD_REAL)};
    static const core_field ordinal_workers[] = {CORE_FIELD(dis_review_ordinal_worker, bias, CORE_FIELD_REAL),
                                                 CORE_FIELD(dis_review_ordinal_worker, bias_low, CORE_FIELD_REAL),
                                                 CORE_FIELD(dis_review_ordinal_worker, bias_high, CORE_FIELD_REAL),
                                                 CORE_FIELD(dis_review_ordinal_worker, spread, CORE_FIELD_REAL),
                                                 CORE_FIELD(dis_review_ordinal_worker, spread_low, CORE_FIELD_REAL),
                                                 CORE_FIELD(dis_review_ordinal_worker, spread_high, CORE_FIELD_REAL),
                                                 {"lapse", offsetof(dis_review_ordinal_worker, lapse_rate),
                                                  CORE_FIELD_REAL}};
    if (core_put(d, "items", FIELDS(state, v->items, n, items)) < 0 ||
        core_put(d, "workers", FIELDS(state, v->n_workers ? v->workers : NULL, v->n_workers, workers)) < 0 ||
        core_put(d, "ordinal_items", FIELDS(state, v->ordinal_items, v->n_items, ordinal_items)) < 0)
        return -1;
    return core_put(d, "ordinal_workers", FIELDS(state, v->ordinal_workers, v->n_workers, ordinal_workers));
}

/* Causes of votes: rows, and (n_items, K) soft labels without slips; None without them. */
static int put_vote_causes(core_state *state, PyObject *d, const dis_review_view *v, size_t n_classes)
{
    static const core_field votes[] = {{"item", offsetof(dis_review_vote, item), CORE_FIELD_SIZE},
                                       {"worker", offsetof(dis_review_vote, worker), CORE_FIELD_SIZE},
                                       {"label", offsetof(dis_review_vote, label), CORE_FIELD_SIZE},
                                       {"slip", offsetof(dis_review_vote, p_slip), CORE_FIELD_REAL},
                                       {"reading", offsetof(dis_review_vote, p_reading), CORE_FIELD_REAL},
                                       {"group", offsetof(dis_review_vote, p_group), CORE_FIELD_REAL}};
    if (!v->votes) return 0;
    void *data;
    PyObject *p = core_array_create(state, CORE_FLOAT64, (Py_ssize_t)v->n_items, (Py_ssize_t)n_classes, &data);
    if (p) memcpy(data, v->reading_p, v->n_items * n_classes * sizeof(double));
    if (core_put(d, "readings", p) < 0) return -1;
    PyObject *rate = core_array_create(state, CORE_FLOAT64, (Py_ssize_t)v->n_workers, -1, &data);
    if (rate) memcpy(data, v->slip_rate, v->n_workers * sizeof(double));
    return core_put(d, "slip_rate", rate) < 0 ? -1 : core_put(d, "votes", FIELDS(state, v->votes, v->n_votes, votes));
}

/* Two camps of annotators: the test, and the camp of each annotator (0: none). */
static int put_camps(core_state *state, PyObject *d, const dis_review_view *v)
{
    const dis_review_camps *camps = v->camps;
    void *data;
    if (!camps) return 0;
    PyObject *camp = core_array_create(state, CORE_INT32, (Py_ssize_t)v->n_workers, -1, &data);
    for (size_t w = 0; camp && w < v->n_workers; w++) ((int32_t *)data)[w] = camps->has_two ? camps->camp[w] : 0;
    PyObject *one = Py_BuildValue("{sNsNsNsNsN}", "found", PyBool_FromLong(camps->has_two), "p", core_real(camps->p),
                                  "agreement_within", core_real(camps->agreement_within), "agreement_across",
                                  core_real(camps->agreement_across), "camp", camp);
    return core_put(d, "camps", one);
}

static PyObject *review_of(core_state *state, const dis_review *review, const dis_votes *votes, size_t top)
{
    const dis_review_view v = dis_review_get_view(review);
    const size_t n = v.n_items < top ? v.n_items : top;
    PyObject *d = PyDict_New();
    if (!d) return NULL;
    if (put_figures(d, &v) < 0 || put_tables(state, d, &v, n) < 0 ||
        core_put(d, "item_reasons", reasons(review, votes, n, dis_review_format_item_reason)) < 0 ||
        core_put(d, "causes", cause_list(&v)) < 0 || put_vote_causes(state, d, &v, dis_votes_n_classes(votes)) < 0 ||
        put_camps(state, d, &v) < 0 ||
        core_put(d, "worker_reasons", reasons(review, votes, v.n_workers, dis_review_format_worker_reason)) < 0)
        Py_CLEAR(d);
    return d;
}

/* What a review is given beside the votes. */
typedef struct {
    Py_buffer gold, labels, p;
    core_texts methods;
    dis_label_plan choice;
    dis_worker_groups *groups;
} review_input;

static void free_review_input(review_input *in)
{
    core_buffer_free(&in->gold);
    core_buffer_free(&in->labels);
    core_buffer_free(&in->p);
    core_texts_free(&in->methods);
    dis_worker_groups_destroy(in->groups);
}

static int order_of(const char *by, dis_review_order *out)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(by, orders[i]) == 0) {
            *out = (dis_review_order)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "by must be \"auto\", \"uncertainty\", \"gain\" or \"surprise\", not \"%.50s\"", by);
    return -1;
}

static PyObject *run_review(core_state *state, const dis_votes *votes, const dis_review_options *o, size_t top,
                            int threads, PyObject *progress)
{
    PyObject *result = NULL;
    core_call call;
    if (core_begin(&call, state, threads, progress) < 0) return NULL;
    dis_review *r = NULL;
    core_release(&call);
    const dis_status status = dis_review_run(call.ctx, votes, o, &r);
    core_retake(&call);
    if (core_end(&call, status) == 0) result = review_of(state, r, votes, top);
    dis_review_destroy(r);
    return result;
}

static PyObject *review(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"votes",    "methods",     "combine", "gold",  "budget", "by",
                            "top",      "seed",        "labels",  "p",     "accept", "threads",
                            "progress", "vote_causes", "groups",  "camps", NULL};
    PyObject *groups = NULL, *table, *methods = Py_None, *gold = NULL, *labels = NULL, *p = Py_None, *progress = NULL,
             *result = NULL;
    const char *combine = NULL, *by = "auto";
    unsigned long long seed = 0, budget = 0;
    Py_ssize_t top = PY_SSIZE_T_MAX;
    int threads = 0, causes = 0, camps = 0;
    dis_review_options o = dis_review_options_default();
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OzOKsnKOOdiOpOp:review", names, &table, &methods, &combine,
                                     &gold, &budget, &by, &top, &seed, &labels, &p, &o.accept, &threads, &progress,
                                     &causes, &groups, &camps) ||
        order_of(by, &o.order) < 0)
        return NULL;
    if (top < 0) return PyErr_Format(PyExc_ValueError, "top must be 0 or more");
    core_state *state = core_state_of_module(module);
    const dis_votes *votes = core_votes_get(state, table);
    review_input in = {0};
    if (!votes || core_texts_get(methods, "methods", &in.methods) < 0) return NULL;
    if (groups && groups != Py_None && core_groups_get(state, votes, groups, &in.groups) < 0) return NULL;
    const dis_votes_view v = dis_votes_get_view(votes);
    o.causes = causes != 0;
    o.camps = camps != 0;
    o.groups = in.groups;
    o.seed = seed;
    o.budget = budget;
    dis_status chosen = DIS_OK;
    if (in.methods.n || combine) {
        chosen = core_choose_labels(votes, &in.methods, combine, &in.choice);
        o.plan = &in.choice;
    }
    if (chosen != DIS_OK) {
        core_fail(state, chosen);
    } else if (core_gold_get(gold, "gold", v.n_items, v.n_classes, &in.gold) == 0 &&
               core_gold_get(labels, "labels", v.n_items, v.n_classes, &in.labels) == 0 &&
               (p == Py_None ||
                core_get_buffer(p, "p", CORE_FLOAT64, (Py_ssize_t)(v.n_items * v.n_classes), &in.p) == 0)) {
        o.gold = in.gold.buf;
        o.labels = in.labels.buf;
        o.p = in.p.buf;
        result = run_review(state, votes, &o, (size_t)top, threads, progress);
    }
    free_review_input(&in);
    return result;
}

static PyMethodDef functions[] = {
    {"agreement", CORE_KEYWORDS(agreement), "Coefficients, and tables of items, workers, pairs and classes."},
    {"agreement_measures", measures, METH_NOARGS, "agreement_measures()\n\nThe rows of the table of coefficients."},
    {"review", CORE_KEYWORDS(review), "Items and workers, ranked."},
    {NULL, NULL, 0, NULL},
};

int core_add_agreement(PyObject *module)
{
    return core_add_functions(module, functions);
}
