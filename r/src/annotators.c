/* Agreement, review and panel. Names of columns are those of the members of the library's structs. */
#include "glue.h"
#include <string.h>

static const char *measure_title(void *unused, size_t i)
{
    (void)unused;
    return dis_agreement_measure_get(i)->title;
}

static SEXP chance_of(const dis_chance_test *chance)
{
    static const column columns[] = {COLUMN(dis_chance_test, COLUMN_DOUBLE, coefficient),
                                     COLUMN(dis_chance_test, COLUMN_DOUBLE, standard_error),
                                     COLUMN(dis_chance_test, COLUMN_DOUBLE, z),
                                     COLUMN(dis_chance_test, COLUMN_DOUBLE, p)};
    SEXP out = PROTECT(GLUE_TABLE(chance, 1, columns));
    SEXP verdict = PROTECT(glue_text(dis_chance_name(chance->verdict)));
    Rf_setAttrib(out, Rf_install("verdict"), verdict);
    UNPROTECT(2);
    return out;
}

GLUE_FINALIZER(agreement)

SEXP dissent_r_agreement(SEXP votes, SEXP gold, SEXP ordinal, SEXP resamples, SEXP seed, SEXP min_common, SEXP threads)
{
    static const char *const names[] = {"measures", "titles", "classes", "items",
                                        "workers",  "pairs",  "chance",  "scope"};
    static const column class_columns[] = {COLUMN(dis_agreement_class, COLUMN_COUNT, votes),
                                           COLUMN(dis_agreement_class, COLUMN_DOUBLE, share),
                                           COLUMN(dis_agreement_class, COLUMN_METRIC, agreement),
                                           COLUMN(dis_agreement_class, COLUMN_METRIC, fleiss),
                                           COLUMN(dis_agreement_class, COLUMN_METRIC, alpha)};
    static const column item_columns[] = {COLUMN(dis_agreement_item, COLUMN_COUNT, votes),
                                          {"majority", COLUMN_INDEX32, offsetof(dis_agreement_item, majority_class)},
                                          COLUMN(dis_agreement_item, COLUMN_DOUBLE, agreement)};
    static const column worker_columns[] = {COLUMN(dis_agreement_worker, COLUMN_COUNT, votes),
                                            COLUMN(dis_agreement_worker, COLUMN_COUNT, compared),
                                            COLUMN(dis_agreement_worker, COLUMN_DOUBLE, agreement),
                                            COLUMN(dis_agreement_worker, COLUMN_DOUBLE, alpha_without_worker),
                                            COLUMN(dis_agreement_worker, COLUMN_DOUBLE, accuracy)};
    static const column pair_columns[] = {COLUMN(dis_agreement_pair, COLUMN_INDEX32, a),
                                          COLUMN(dis_agreement_pair, COLUMN_INDEX32, b),
                                          COLUMN(dis_agreement_pair, COLUMN_COUNT, n),
                                          COLUMN(dis_agreement_pair, COLUMN_DOUBLE, agreement),
                                          COLUMN(dis_agreement_pair, COLUMN_DOUBLE, scott),
                                          COLUMN(dis_agreement_pair, COLUMN_DOUBLE, cohen),
                                          COLUMN(dis_agreement_pair, COLUMN_DOUBLE, cohen_linear),
                                          COLUMN(dis_agreement_pair, COLUMN_DOUBLE, cohen_quadratic),
                                          COLUMN(dis_agreement_pair, COLUMN_FLAG, degenerate)};
    const dis_votes *table = glue_votes(votes);
    dis_agreement_options options = dis_agreement_options_default();
    dis_agreement *agreement = NULL;
    SEXP out = R_NilValue;
    glue_call call;
    options.parts = DIS_AGREEMENT_ALL;
    options.gold = glue_gold(gold);
    options.ordinal = Rf_asLogical(ordinal) == TRUE;
    options.resamples = (size_t)Rf_asReal(resamples);
    options.seed = (uint64_t)Rf_asReal(seed);
    options.min_common = (size_t)Rf_asReal(min_common);
    glue_begin(&call, threads, finalize_agreement);
    if (call.status == DIS_OK) call.status = dis_agreement_run(call.ctx, table, &options, &agreement);
    if (call.status == DIS_OK) {
        R_SetExternalPtrAddr(call.result, agreement);
        const dis_agreement_view v = dis_agreement_get_view(agreement);
        const char **measure = (const char **)R_alloc(v.n_metrics + 1, sizeof *measure);
        out = PROTECT(GLUE_LIST(names));
        for (size_t i = 0; i < v.n_metrics; i++) measure[i] = dis_agreement_measure_get(i)->name;
        SET_VECTOR_ELT(out, 1, glue_texts(v.n_metrics, measure_title, NULL));
        SET_VECTOR_ELT(out, 0, glue_metrics(v.metric, measure, v.n_metrics));
        SET_VECTOR_ELT(out, 2, GLUE_TABLE(v.classes, v.n_classes, class_columns));
        SET_VECTOR_ELT(out, 3, GLUE_TABLE(v.items, v.items ? v.n_items : 0, item_columns));
        SET_VECTOR_ELT(out, 4, GLUE_TABLE(v.workers, v.workers ? v.n_workers : 0, worker_columns));
        SET_VECTOR_ELT(out, 5, GLUE_TABLE(v.pairs, v.pairs ? v.n_pairs : 0, pair_columns));
        SET_VECTOR_ELT(out, 6, chance_of(&v.chance));
        SET_VECTOR_ELT(out, 7, glue_text(dis_interval_scope_name(v.interval_scope)));
        UNPROTECT(1);
    }
    return glue_end(&call, out);
}

GLUE_FINALIZER(review)

typedef const char *format_reason(const dis_review *, const dis_votes *, size_t, char *, size_t);

typedef struct {
    const dis_review *review;
    const dis_votes *votes;
    format_reason *format;
    char text[DIS_REVIEW_REASON_SIZE];
} reasons;

static const char *reason_at(void *of, size_t i)
{
    reasons *r = of;
    return r->format(r->review, r->votes, i, r->text, sizeof r->text);
}

static const char *verdict_at(void *of, size_t i)
{
    const dis_review_view *v = of;
    return dis_review_verdict_name(v->workers[i].verdict);
}

SEXP dissent_r_review(SEXP votes, SEXP methods, SEXP combine, SEXP seed, SEXP gold, SEXP labels, SEXP budget,
                      SEXP threads)
{
    static const char *const names[] = {"items",          "item_reasons", "workers", "verdicts",
                                        "worker_reasons", "summary",      "chance",  "method"};
    static const column item_columns[] = {
        COLUMN(dis_review_item, COLUMN_INDEX, item),          COLUMN(dis_review_item, COLUMN_INDEX, label),
        COLUMN(dis_review_item, COLUMN_INDEX, most_probable), COLUMN(dis_review_item, COLUMN_DOUBLE, p_correct),
        COLUMN(dis_review_item, COLUMN_DOUBLE, votes),        COLUMN(dis_review_item, COLUMN_DOUBLE, votes_for_label),
        COLUMN(dis_review_item, COLUMN_DOUBLE, gain),         COLUMN(dis_review_item, COLUMN_DOUBLE, surprise),
        COLUMN(dis_review_item, COLUMN_DOUBLE, p_hard),       COLUMN(dis_review_item, COLUMN_COUNT32, votes_to_buy),
        COLUMN(dis_review_item, COLUMN_FLAG, is_gold)};
    static const column worker_columns[] = {COLUMN(dis_review_worker, COLUMN_INDEX, worker),
                                            COLUMN(dis_review_worker, COLUMN_COUNT, votes),
                                            COLUMN(dis_review_worker, COLUMN_COUNT, shared),
                                            COLUMN(dis_review_worker, COLUMN_DOUBLE, accuracy),
                                            COLUMN(dis_review_worker, COLUMN_DOUBLE, accuracy_low),
                                            COLUMN(dis_review_worker, COLUMN_DOUBLE, accuracy_high),
                                            COLUMN(dis_review_worker, COLUMN_DOUBLE, peer_accuracy),
                                            COLUMN(dis_review_worker, COLUMN_DOUBLE, evidence),
                                            COLUMN(dis_review_worker, COLUMN_DOUBLE, difference),
                                            COLUMN(dis_review_worker, COLUMN_DOUBLE, p_adjusted)};
    static const column summary_columns[] = {COLUMN(dis_review_view, COLUMN_DOUBLE, expected_accuracy),
                                             COLUMN(dis_review_view, COLUMN_DOUBLE, expected_accuracy_after),
                                             COLUMN(dis_review_view, COLUMN_DOUBLE, typical_accuracy),
                                             COLUMN(dis_review_view, COLUMN_FLAG, beyond_chance)};
    const dis_votes *table = glue_votes(votes);
    const dis_votes_view view = dis_votes_get_view(table);
    dis_review_options options = dis_review_options_default();
    dis_label_plan plan = dis_label_plan_default();
    dis_review *review = NULL;
    SEXP out = R_NilValue;
    glue_call call;
    options.plan = &plan;
    options.seed = (uint64_t)Rf_asReal(seed);
    options.gold = glue_gold(gold);
    options.labels = glue_gold(labels);
    options.budget = (uint64_t)Rf_asReal(budget);
    glue_begin(&call, threads, finalize_review);
    if (call.status == DIS_OK) call.status = glue_plan(methods, combine, view.n_workers > 0, &plan);
    if (call.status == DIS_OK) call.status = dis_review_run(call.ctx, table, &options, &review);
    if (call.status == DIS_OK) {
        R_SetExternalPtrAddr(call.result, review);
        dis_review_view v = dis_review_get_view(review);
        reasons items = {.review = review, .votes = table, .format = dis_review_format_item_reason};
        reasons workers = {.review = review, .votes = table, .format = dis_review_format_worker_reason};
        out = PROTECT(GLUE_LIST(names));
        SET_VECTOR_ELT(out, 0, GLUE_TABLE(v.items, v.n_items, item_columns));
        SET_VECTOR_ELT(out, 1, glue_texts(v.n_items, reason_at, &items));
        SET_VECTOR_ELT(out, 2, GLUE_TABLE(v.workers, v.n_workers, worker_columns));
        SET_VECTOR_ELT(out, 3, glue_texts(v.n_workers, verdict_at, &v));
        SET_VECTOR_ELT(out, 4, glue_texts(v.n_workers, reason_at, &workers));
        SET_VECTOR_ELT(out, 5, GLUE_TABLE(&v, 1, summary_columns));
        SET_VECTOR_ELT(out, 6, chance_of(&v.chance));
        SET_VECTOR_ELT(out, 7, glue_text(v.method));
        UNPROTECT(1);
    }
    return glue_end(&call, out);
}

GLUE_FINALIZER(panel)

/* options: epsilon, fdr, min_people, min_items, numeric (0 or 1), budget. */
SEXP dissent_r_panel(SEXP votes, SEXP person, SEXP options, SEXP seed, SEXP threads)
{
    static const char *const names[] = {"judges", "pairs", "rates",   "items",
                                        "copies", "p",     "summary", "missing_reason"};
    static const column judge_columns[] = {{"judge", COLUMN_INDEX32, offsetof(dis_panel_judge, worker)},
                                           COLUMN(dis_panel_judge, COLUMN_COUNT, votes),
                                           COLUMN(dis_panel_judge, COLUMN_COUNT, shared),
                                           COLUMN(dis_panel_judge, COLUMN_METRIC, agreement),
                                           COLUMN(dis_panel_judge, COLUMN_DOUBLE, chance),
                                           COLUMN(dis_panel_judge, COLUMN_DOUBLE, p_chance),
                                           COLUMN(dis_panel_judge, COLUMN_FLAG, above_chance),
                                           COLUMN(dis_panel_judge, COLUMN_METRIC, error),
                                           COLUMN(dis_panel_judge, COLUMN_DOUBLE, winning_rate),
                                           COLUMN(dis_panel_judge, COLUMN_METRIC, advantage_probability),
                                           COLUMN(dis_panel_judge, COLUMN_FLAG, passed),
                                           COLUMN(dis_panel_judge, COLUMN_INDEX32, error_group)};
    static const column pair_columns[] = {COLUMN(dis_panel_pair, COLUMN_INDEX32, a),
                                          COLUMN(dis_panel_pair, COLUMN_INDEX32, b),
                                          COLUMN(dis_panel_pair, COLUMN_COUNT, n),
                                          COLUMN(dis_panel_pair, COLUMN_DOUBLE, correlation)};
    static const column rate_columns[] = {COLUMN(dis_panel_rate, COLUMN_INDEX32, judge),
                                          {"class", COLUMN_INDEX32, offsetof(dis_panel_rate, class_index)},
                                          COLUMN(dis_panel_rate, COLUMN_COUNT, n_people),
                                          COLUMN(dis_panel_rate, COLUMN_COUNT, n_judge_only),
                                          COLUMN(dis_panel_rate, COLUMN_DOUBLE, raw),
                                          COLUMN(dis_panel_rate, COLUMN_METRIC, bias),
                                          COLUMN(dis_panel_rate, COLUMN_METRIC, people),
                                          COLUMN(dis_panel_rate, COLUMN_METRIC, rogan_gladen),
                                          COLUMN(dis_panel_rate, COLUMN_METRIC, prediction_powered)};
    static const column item_columns[] = {COLUMN(dis_panel_item, COLUMN_INDEX, item),
                                          COLUMN(dis_panel_item, COLUMN_COUNT32, people),
                                          COLUMN(dis_panel_item, COLUMN_COUNT32, votes_to_buy),
                                          COLUMN(dis_panel_item, COLUMN_DOUBLE, gain)};
    static const column copy_columns[] = {COLUMN(dis_panel_copied_votes, COLUMN_INDEX32, judge),
                                          COLUMN(dis_panel_copied_votes, COLUMN_INDEX32, worker),
                                          COLUMN(dis_panel_copied_votes, COLUMN_COUNT, n),
                                          COLUMN(dis_panel_copied_votes, COLUMN_DOUBLE, observed),
                                          COLUMN(dis_panel_copied_votes, COLUMN_DOUBLE, expected),
                                          COLUMN(dis_panel_copied_votes, COLUMN_DOUBLE, copied_share),
                                          COLUMN(dis_panel_copied_votes, COLUMN_DOUBLE, p)};
    static const column summary_columns[] = {COLUMN(dis_panel_view, COLUMN_DOUBLE, p_people),
                                             COLUMN(dis_panel_view, COLUMN_METRIC, correlation),
                                             COLUMN(dis_panel_view, COLUMN_METRIC, effective),
                                             COLUMN(dis_panel_view, COLUMN_DOUBLE, judge_strength),
                                             COLUMN(dis_panel_view, COLUMN_FLAG, few_people)};
    const dis_votes *table = glue_votes(votes);
    const R_xlen_t n_workers = Rf_xlength(person);
    bool *is_person = (bool *)R_alloc((size_t)n_workers + 1, sizeof *is_person);
    dis_panel_options o = dis_panel_options_default();
    dis_panel *panel = NULL;
    SEXP out = R_NilValue;
    glue_call call;
    for (R_xlen_t w = 0; w < n_workers; w++) is_person[w] = LOGICAL(person)[w] == TRUE;
    const double *x = REAL(options);
    o.epsilon = x[0];
    o.fdr = x[1];
    o.min_people = (size_t)x[2];
    o.min_items = (size_t)x[3];
    o.numeric_classes = x[4] > 0;
    o.budget = (uint64_t)x[5];
    o.seed = (uint64_t)Rf_asReal(seed);
    glue_begin(&call, threads, finalize_panel);
    if (call.status == DIS_OK) call.status = dis_panel_run(call.ctx, table, is_person, &o, &panel);
    if (call.status == DIS_OK) {
        R_SetExternalPtrAddr(call.result, panel);
        const dis_panel_view v = dis_panel_get_view(panel);
        out = PROTECT(GLUE_LIST(names));
        SET_VECTOR_ELT(out, 0, GLUE_TABLE(v.judges, v.n_judges, judge_columns));
        SET_VECTOR_ELT(out, 1, GLUE_TABLE(v.pairs, v.n_pairs, pair_columns));
        SET_VECTOR_ELT(out, 2, GLUE_TABLE(v.rates, v.n_rates, rate_columns));
        SET_VECTOR_ELT(out, 3, GLUE_TABLE(v.items, v.n_items, item_columns));
        SET_VECTOR_ELT(out, 4, GLUE_TABLE(v.copies, v.n_copies, copy_columns));
        SET_VECTOR_ELT(out, 5, v.p ? glue_matrix(v.p, v.n_items, v.n_classes) : R_NilValue);
        SET_VECTOR_ELT(out, 6, GLUE_TABLE(&v, 1, summary_columns));
        SET_VECTOR_ELT(out, 7, glue_text(v.missing_reason));
        UNPROTECT(1);
    }
    return glue_end(&call, out);
}
