/* A review: the labels and their probabilities (review_labels.c), the model of the crowd (crowd_model.h), statistics of
 * items and workers (review_items.c, review_workers.c), the budget (review_budget.c), the ordinal model of ordered
 * classes (review_ordinal.c), and the ranking. */
#include "review/review_internal.h"
#include "review/camps/annotator_camps.h"
#include "core/options/enum_names.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include "dissent/fit.h"
#include "labels/method.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_review_options, .size = sizeof(dis_review_options), .order = DIS_REVIEW_BY_DEFAULT)

DIS_ENUM_NAMES(dis_review_verdict, "fine", "constant", "random", "confuses", "weak", "unjudged")

bool dis__review_verdict_is_unreliable(dis_review_verdict verdict)
{
    return verdict == DIS_REVIEW_CONSTANT || verdict == DIS_REVIEW_RANDOM || verdict == DIS_REVIEW_CONFUSES;
}

/* ---- ranking ---- */

typedef struct {
    int group;            /* smaller first */
    double first, second; /* larger first */
    size_t at;
} rank;

static int compare(const void *x, const void *y)
{
    const rank *a = x, *b = y;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    if (a->first != b->first) return a->first > b->first ? -1 : 1;
    if (a->second != b->second) return a->second > b->second ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static rank rank_of_item(const dis_review_item *row, dis_review_order by)
{
    const double gain = dis__review_round(row->gain), surprise = dis__review_round(row->surprise),
                 doubt = isnan(row->p_correct) ? 0 : dis__review_round(1 - row->p_correct);
    switch (by) {
    case DIS_REVIEW_BY_GAIN: return (rank){row->is_gold, gain, doubt, row->item};
    case DIS_REVIEW_BY_SURPRISE: return (rank){row->is_gold, surprise, doubt, row->item};
    default: return (rank){row->is_gold, doubt, gain, row->item};
    }
}

/* rows (n, size bytes each) in the order of `order`. */
static void arrange(const rank *order, size_t n, size_t size, const void *rows, void *out)
{
    for (size_t r = 0; r < n; r++) memcpy((char *)out + r * size, (const char *)rows + order[r].at * size, size);
}

static dis_status rank_items(dis_review *review, const dis_review_item *rows, dis_review_order by)
{
    const size_t n = review->view.n_items;
    rank *order;
    DIS_TRY(dis__alloc_array(&review->items, n, sizeof *review->items));
    DIS_TRY(dis__alloc_array(&order, n, sizeof *order));
    for (size_t i = 0; i < n; i++) order[i] = rank_of_item(rows + i, by);
    qsort(order, n, sizeof *order, compare);
    arrange(order, n, sizeof *rows, rows, review->items);
    dis__free(order);
    return DIS_OK;
}

/* First the doubtful workers by evidence, then the weak ones by their difference to the others; those without votes
 * last. */
static rank rank_of_worker(const dis_review_worker *row, size_t w)
{
    static const int group[DIS_REVIEW_VERDICTS] = {
        [DIS_REVIEW_WEAK] = 1, [DIS_REVIEW_FINE] = 2, [DIS_REVIEW_NO_VERDICT] = 3};
    const double evidence = dis__review_round(row->evidence), behind = dis__review_round(-row->difference);
    if (row->votes == 0) return (rank){.group = DIS_REVIEW_VERDICTS, .at = w};
    return row->verdict == DIS_REVIEW_WEAK ? (rank){group[row->verdict], behind, evidence, w}
                                           : (rank){.group = group[row->verdict], .first = evidence, .at = w};
}

static dis_status rank_workers(dis_review *review, const dis_review_worker *rows)
{
    const size_t n = review->view.n_workers;
    rank *order;
    DIS_TRY(dis__alloc_array(&review->workers, n, sizeof *review->workers));
    DIS_TRY(dis__alloc_array(&review->row_of_worker, n, sizeof *review->row_of_worker));
    DIS_TRY(dis__alloc_array(&order, n, sizeof *order));
    for (size_t w = 0; w < n; w++) order[w] = rank_of_worker(rows + w, w);
    qsort(order, n, sizeof *order, compare);
    arrange(order, n, sizeof *rows, rows, review->workers);
    for (size_t r = 0; r < n; r++) review->row_of_worker[order[r].at] = r;
    dis__free(order);
    return DIS_OK;
}

/* ---- from votes to the review ---- */

static void sum_up(const dis_review_item *rows, double gain, dis_review_view *v)
{
    double right = 0, accepted = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        right += rows[i].p_correct;
        v->n_accepted += rows[i].accepted;
        accepted += rows[i].accepted ? rows[i].p_correct : 0;
    }
    v->expected_accuracy = v->n_items ? right / (double)v->n_items : 0;
    v->expected_accuracy_after = v->n_items ? (right + gain) / (double)v->n_items : 0;
    v->expected_accuracy_accepted = v->n_accepted ? accepted / (double)v->n_accepted : 0;
}

static dis_review_order order_of(const dis_review_options *o)
{
    if (o->order != DIS_REVIEW_BY_DEFAULT) return o->order;
    return o->budget ? DIS_REVIEW_BY_GAIN : DIS_REVIEW_BY_UNCERTAINTY;
}

/* Votes that cannot be compared, are all equal, or agree no more than chance have no information on labels. */
static bool labels_can_be_judged(const dis__crowd_model *m, const dis_review_view *v)
{
    if (m->votes.start && !v->n_compared) return false;
    return v->beyond_chance && (v->chance.standard_error > 0 || m->gold || !m->votes.start);
}

/* p: (n_items, K) the labels' probabilities. */
static dis_status review_items(const dis__crowd_model *m, const double *p, const dis_review_options *o,
                               dis_review *review)
{
    const size_t n = m->votes.n_items;
    dis_review_view *v = &review->view;
    const bool judged = labels_can_be_judged(m, v);
    dis_review_item *rows;
    double gain = 0;
    DIS_TRY(dis__alloc_array(&rows, n, sizeof *rows));
    dis_status status = dis__review_compute_items(m, p, o->labels, rows);
    if (status == DIS_OK) dis__review_apply_ordinal(review, m->n_classes, rows);
    for (size_t i = 0; status == DIS_OK && i < n; i++) {
        if (!judged && !rows[i].is_gold) rows[i].p_correct = NAN;
        rows[i].accepted = o->accept > 0 && rows[i].p_correct >= o->accept;
    }
    if (status == DIS_OK && o->budget)
        status = dis__review_allocate_budget(m, rows, o->budget, &v->budget_spent, &gain);
    v->order = order_of(o);
    if (status == DIS_OK) status = rank_items(review, rows, v->order);
    if (status == DIS_OK) sum_up(rows, gain, v);
    dis__free(rows);
    return status;
}

static void count_verdicts(const dis_review_worker *rows, dis_review_view *v)
{
    for (size_t w = 0; w < v->n_workers; w++) {
        if (!rows[w].votes) continue;
        v->n_unreliable += dis__review_verdict_is_unreliable(rows[w].verdict);
        v->n_weak += rows[w].verdict == DIS_REVIEW_WEAK;
        v->n_without_verdict += rows[w].verdict == DIS_REVIEW_NO_VERDICT;
    }
}

static dis_status review_workers(const dis__crowd_model *m, const double *p, dis_review *review)
{
    if (!m->votes.start) return DIS_OK;
    dis_review_worker *rows;
    DIS_TRY(dis__alloc_array(&rows, m->n_workers, sizeof *rows));
    dis_status status = dis__review_compute_workers(m, p, labels_can_be_judged(m, &review->view), rows);
    if (status == DIS_OK) status = rank_workers(review, rows);
    if (status == DIS_OK) count_verdicts(rows, &review->view);
    dis__free(rows);
    return status;
}

/* Expected share of correct votes among those on items that can be checked. */
static double typical_share(const dis__crowd_model *m, const double *p)
{
    const dis_votes_view *v = &m->votes;
    const size_t K = m->n_classes;
    double sum = 0, n = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        if (v->start && !dis__review_is_comparable(m, i)) continue;
        for (uint64_t a = v->start ? v->start[i] : 0; v->start && a < v->start[i + 1]; a++) {
            sum += p[i * K + dis__vote_label(v, a)];
            n++;
        }
        for (size_t k = 0; v->counts && k < K; k++) {
            sum += v->counts[i * K + k] * p[i * K + k];
            n += v->counts[i * K + k];
        }
    }
    return n > 0 ? sum / n : NAN;
}

/* The crowd model starts from vote shares: it does not depend on the labels under review. */
static dis_status fit_crowd(dis_context *ctx, const dis_votes *votes, const dis_review_options *o, dis__crowd_model *m)
{
    const dis_votes_view view = dis_votes_get_view(votes);
    dis_fit_options how = dis_fit_options_default();
    how.gold = o->gold;
    dis_fit *fit;
    DIS_TRY(dis_fit_run(ctx, votes, "standard", &how, &fit));
    double *p = dis_fit_move_p(fit);
    dis_fit_destroy(fit);
    DIS_TRY(dis__crowd_model_create(ctx, &view, NULL, o->gold, p, m));
    DIS_TRY(view.start ? dis__crowd_model_index_votes(m) : DIS_OK);
    return dis__crowd_model_fit(m);
}

static dis_status test_chance(dis_context *ctx, const dis_votes *votes, dis_review_view *v)
{
    DIS_TRY(dis_votes_chance_test(ctx, votes, &v->chance));
    v->agreement = v->chance.coefficient;
    v->agreement_z = v->chance.z;
    v->beyond_chance = v->chance.verdict != DIS_CHANCE_NOISE;
    return DIS_OK;
}

/* Votes of unknown annotators count as those of different ones. */
static bool has_two_votes(const dis__crowd_model *m, size_t i)
{
    double n = 0;
    for (size_t k = 0; k < m->n_classes; k++) n += m->votes.counts[i * m->n_classes + k];
    return n >= 2 || (m->gold && m->gold[i] >= 0);
}

static dis_status judge(const dis__crowd_model *m, const double *p, const dis_review_options *o, dis_review *review)
{
    dis_review_view *v = &review->view;
    for (size_t i = 0; i < m->votes.n_items; i++)
        v->n_compared += m->votes.start ? dis__review_is_comparable(m, i) : has_two_votes(m, i);
    v->typical_accuracy = labels_can_be_judged(m, v) ? typical_share(m, p) : NAN;
    DIS_TRY(review_items(m, p, o, review));
    return review_workers(m, p, review);
}

static dis_status find_camps(const dis__crowd_model *m, const dis_review_options *o, dis_review *review)
{
    if (!m->votes.start || m->n_classes < 2) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&review->camp, m->votes.n_workers + 1, sizeof *review->camp));
    DIS_TRY(dis__review_find_camps(m, o->seed, review->camp, &review->camps));
    review->view.camps = &review->camps;
    return DIS_OK;
}

static dis_status fill(dis_context *ctx, const dis_votes *votes, const dis_review_options *o, dis_review *review)
{
    const dis_votes_view view = dis_votes_get_view(votes);
    double *p = NULL;
    dis__crowd_model m = {0};
    dis_review_view *v = &review->view;
    v->n_items = view.n_items;
    v->n_workers = view.start ? view.n_workers : 0;
    DIS_TRY(test_chance(ctx, votes, v));
    if (view.start && view.n_classes > 1 && dis_votes_scale(votes) == DIS_SCALE_ORDINAL)
        DIS_TRY(dis__review_fit_ordinal(ctx, votes, o, review));
    DIS_TRY(dis__review_create_labels(ctx, votes, o, review, &p));
    dis_status status = fit_crowd(ctx, votes, o, &m);
    if (status == DIS_OK) status = judge(&m, p, o, review);
    if (status == DIS_OK && o->camps && v->beyond_chance) status = find_camps(&m, o, review);
    dis__crowd_model_destroy(&m);
    dis__free(p);
    v->method = review->method;
    v->items = review->items;
    v->workers = review->workers;
    v->ordinal_items = review->ordinal_items;
    v->ordinal_workers = review->ordinal_workers;
    if (status == DIS_OK && o->causes && v->beyond_chance)
        status = dis__review_find_causes(ctx, votes, o->groups, review);
    return status;
}

/* Likelihoods of more votes exceed the range of a double. */
static dis_status check_counts(const dis_votes_view *v)
{
    for (size_t i = 0; v->counts && i < v->n_items; i++) {
        double sum = 0;
        for (size_t k = 0; k < v->n_classes; k++) sum += v->counts[i * v->n_classes + k];
        if (sum > UINT32_MAX)
            return dis__fail(DIS_ELIMIT, "item \"%.200s\": more than %u votes", dis_names_get(v->tasks, i, NULL),
                             UINT32_MAX);
    }
    return DIS_OK;
}

static dis_status check(dis_context *ctx, const dis_votes *votes, const dis_review_options *o)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    char what[128];
    DIS_TRY(check_counts(&v));
    if ((int)o->order < DIS_REVIEW_BY_GAIN || (int)o->order > DIS_REVIEW_BY_DEFAULT)
        return dis__fail(DIS_EUSAGE, "items can be ordered by gain, uncertainty or surprise");
    if (o->causes && !v.start)
        return dis__fail(DIS_EDATA, "causes of votes need annotator ids; give one row per vote with a worker column");
    if (!(o->accept >= 0 && o->accept <= 1))
        return dis__fail(DIS_EUSAGE, "the probability to accept labels must be between 0 and 1, not %g", o->accept);
    for (size_t i = 0; o->gold && i < v.n_items; i++)
        if (o->gold[i] >= 0 && (size_t)o->gold[i] >= v.n_classes)
            return dis__fail(DIS_EDATA, "item %zu: gold class %d; there are %zu", i, o->gold[i], v.n_classes);
    for (size_t i = 0; o->labels && i < v.n_items; i++)
        if (o->labels[i] >= 0 && (size_t)o->labels[i] >= v.n_classes)
            return dis__fail(DIS_EDATA, "item %zu: label %d; there are %zu classes", i, o->labels[i], v.n_classes);
    snprintf(what, sizeof what, "a review with %zu classes and %zu workers", v.n_classes, v.n_workers);
    const size_t rows =
        dis__saturating_size(v.n_items, 2 * sizeof(dis_review_item) + sizeof(rank) + 2 * v.n_classes * sizeof(double),
                             dis__saturating_size(v.n_workers, 2 * sizeof(dis_review_worker) + sizeof(rank), 0));
    const size_t by_worker = v.start ? dis__saturating_size(v.n_votes, 6, 0) : 0;
    const size_t model = dis__saturating_size(1, dis__crowd_model_memory(&v), by_worker);
    return dis__check_memory(ctx, dis__saturating_size(1, rows, model), what);
}

dis_status dis_review_run(dis_context *ctx, const dis_votes *votes, const dis_review_options *options, dis_review **out)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_review_options o = dis_review_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_review_options, &o, options));
    DIS_TRY(check(ctx, votes, &o));
    dis_review *review;
    DIS_TRY(dis__alloc_zeroed(&review, 1, sizeof *review));
    const dis_status status = fill(ctx, votes, &o, review);
    if (status != DIS_OK) {
        dis_review_destroy(review);
        return status;
    }
    *out = review;
    return DIS_OK;
}

void dis_review_destroy(dis_review *review)
{
    if (!review) return;
    dis__free(review->items);
    dis__free(review->workers);
    dis__free(review->row_of_worker);
    dis__free(review->method);
    dis__free(review->ordinal_items);
    dis__free(review->truth);
    dis__free(review->ordinal_p);
    dis__free(review->ordinal_workers);
    dis__free(review->votes);
    dis__free(review->slip_rate);
    dis__free(review->reading_p);
    dis__free(review->camp);
    dis__free(review);
}

static dis_review_view view_of(const dis_review *review)
{
    return review->view;
}
DIS_VIEW_DEFINE(dis_review, review, view_of(review))

const dis_review_worker *dis_review_find_worker(const dis_review *review, size_t worker)
{
    for (size_t i = 0; i < review->view.n_workers; i++)
        if (review->view.workers[i].worker == worker) return &review->view.workers[i];
    return NULL;
}

const dis_review_item *dis_review_find_item(const dis_review *review, size_t item)
{
    for (size_t i = 0; i < review->view.n_items; i++)
        if (review->view.items[i].item == item) return &review->view.items[i];
    return NULL;
}
