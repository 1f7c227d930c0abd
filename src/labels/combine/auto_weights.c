/* Weights of views without gold labels (an open question of MULTI-VIEW; docs/evidence/auto-weights.md has the
 * measurements).
 *
 * The votes of every item are split into two halves, and each method is fitted to each half. The label that one half of
 * the crowd gives an item (by the equally weighted average of all views fitted to that half) scores the views fitted to
 * the other half. With P_mi the probability that view m gives to that label, the weights maximise
 *
 *     mean_i log(sum_m w_m P_mi) + .3 * mean_m log w_m,
 *
 * the log score of the weighted average plus a Dirichlet prior with .3 of the weight of the data, so that no view falls
 * below .23 of its equal share. The function is concave; its maximum is the fixed point of
 *
 *     w_m <- (mean_i w_m P_mi / sum_n w_n P_ni + .3 / M) / 1.3,
 *
 * an EM iteration, which never decreases it. Scoring by the label that several held-out votes agree on, rather than by
 * single votes, penalizes overconfident views; the prior prevents views that merely fit the same crowd better from
 * dominating.
 *
 * The split must not depend on names or on the order of rows. Items and workers get colours: a hash of the labels and
 * colours of their votes, refined three times (Weisfeiler-Leman), so that two of them share a colour only if the votes
 * do not distinguish them. The votes of an item are assigned to the halves in the order of their colours; votes that
 * cannot be distinguished stay together.
 *
 * Ranks: an item is split and scored by its owner. Half of the votes have a different partition into shards, so they
 * are redistributed before a fit, and the labels are returned to the owners.
 *
 * Cost: per round two fits of every method to half of the votes; four rounds with different splits, one above a million
 * votes. On ranks each half crosses the network once per round, and 4 bytes per view, item and class are returned. */
#include "labels/combiner.h"
#include "core/parallel/comm.h"
#include "core/names/names_internal.h"
#include "core/memory/spill.h"
#include "core/options/sized_structs.h"
#include "labels/method.h"
#include "labels/methods.h"
#include "labels/passes/item_passes.h"
#include "votes/table/votes_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4, REFINEMENTS = 3, MAX_STEPS = 500, MAX_JOBS = 64 };
#define MANY_VOTES 1000000
#define PRIOR      .3
#define CONVERGED  1e-12
#define NEAR_TIE   1e-6 /* above the rounding errors of float */

typedef struct {
    dis_context *ctx;
    const dis__comm *comm;
    const dis_votes *votes;
    dis_votes_view v;
    dis__fit_args items; /* the votes as an argument of sums */
    size_t n_views, n_rounds;
    uint64_t n_terms;        /* of the current score */
    uint64_t *item_colour;   /* (n_items) */
    uint64_t *worker_colour; /* (n_workers) */
    uint8_t *half;           /* (n_votes): 0 or 1 */
    float *p[2];             /* (n_views, n_items, n_classes) for each half */
    float *score;            /* (n_items, 2 * n_rounds, n_views): P; below 0: one of the halves has no votes */
} auto_work;

/* A hash of x (splitmix64). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Colours of items and workers. Votes are summed, so their order does not matter. */
static dis_status colour(auto_work *a)
{
    const dis_votes_view *v = &a->v;
    uint64_t *sum;
    DIS_TRY(dis__alloc_array(&sum, v->n_workers, sizeof *sum));
    memset(a->item_colour, 0, v->n_items * sizeof *a->item_colour);
    memset(a->worker_colour, 0, v->n_workers * sizeof *a->worker_colour);
    for (int r = 0; r < REFINEMENTS; r++) {
        memset(sum, 0, v->n_workers * sizeof *sum);
        for (size_t i = 0; i < v->n_items; i++) {
            uint64_t own = 0;
            for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++)
                own += mix(a->worker_colour[v->worker[k]] + mix(dis__vote_label(v, k)));
            a->item_colour[i] = mix(a->item_colour[i] + mix(own));
            for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++)
                sum[v->worker[k]] += mix(a->item_colour[i] + mix(dis__vote_label(v, k)));
        }
        const dis_status status = dis__comm_sum_counts(a->comm, sum, v->n_workers);
        if (status != DIS_OK) {
            dis__free(sum);
            return status;
        }
        for (size_t w = 0; w < v->n_workers; w++) a->worker_colour[w] = mix(a->worker_colour[w] + mix(sum[w]));
    }
    dis__free(sum);
    return DIS_OK;
}

typedef struct {
    uint64_t key, vote;
} keyed_vote;

static int by_key(const void *x, const void *y)
{
    const keyed_vote *a = x, *b = y;
    return (a->key > b->key) - (a->key < b->key);
}

/* Splits the votes of each item into two halves, as evenly as groups of indistinguishable votes allow. */
static dis_status split(auto_work *a, uint64_t seed, size_t round)
{
    const dis_votes_view *v = &a->v;
    size_t max = 1;
    for (size_t i = 0; i < v->n_items; i++) {
        const size_t n = (size_t)(v->start[i + 1] - v->start[i]);
        max = n > max ? n : max;
    }
    keyed_vote *keyed;
    DIS_TRY(dis__alloc_array(&keyed, max, sizeof *keyed));
    const uint64_t salt = mix(seed + mix(round + 1));
    for (size_t i = 0; i < v->n_items; i++) {
        const size_t n = (size_t)(v->start[i + 1] - v->start[i]);
        const uint64_t own = mix(salt ^ a->item_colour[i]);
        for (size_t k = 0; k < n; k++) {
            const uint64_t at = v->start[i] + k;
            keyed[k] = (keyed_vote){mix(own + mix(a->worker_colour[v->worker[at]] + mix(dis__vote_label(v, at)))), at};
        }
        qsort(keyed, n, sizeof *keyed, by_key);
        size_t count[2] = {0, 0};
        for (size_t k = 0, end; k < n; k = end) {
            for (end = k + 1; end < n && keyed[end].key == keyed[k].key;) end++;
            const uint8_t half = count[0] == count[1] ? (uint8_t)(keyed[k].key >> 63) : count[1] < count[0];
            for (size_t g = k; g < end; g++) a->half[keyed[g].vote] = half;
            count[half] += end - k;
        }
    }
    dis__free(keyed);
    return DIS_OK;
}

/* The votes of one half of the crowd, with the gold labels and predictions of their items; on ranks, partitioned like
 * other votes. */
typedef struct {
    dis_votes votes;
    bool shared; /* names are owned, otherwise borrowed */
    dis_fit_options options;
    int32_t *gold;       /* (n_items) or NULL: as passed by the caller */
    double *predictions; /* (n_items, n_classes) or NULL, likewise */
} half_work;

static void select_votes(const auto_work *a, uint8_t half, dis_votes *part)
{
    const dis_votes_view *v = &a->v;
    size_t n = 0;
    for (size_t i = 0; i < v->n_items; i++) {
        part->start[i] = n;
        for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
            if (a->half[k] != half) continue;
            part->worker[n] = v->worker[k];
            if (part->label8)
                part->label8[n++] = v->label8[k];
            else
                part->label16[n++] = v->label16[k];
        }
    }
    part->start[v->n_items] = n;
    part->n_votes = n;
}

static dis__comm_range range_of(const dis_votes *votes)
{
    return (dis__comm_range){.first = votes->part.first_item, .n = votes->n_items};
}

/* Sends the half to the ranks that own its items, with the gold labels and predictions of these. */
static dis_status share_half(const auto_work *a, half_work *h)
{
    const dis__comm_range have = range_of(a->votes);
    const size_t row = a->v.n_classes * sizeof(double);
    DIS_TRY(dis__votes_redistribute(a->ctx, true, &h->votes));
    const dis__comm_range want = range_of(&h->votes);
    if (h->options.gold) {
        DIS_TRY(dis__alloc_array(&h->gold, want.n, sizeof *h->gold));
        DIS_TRY(dis__comm_redistribute_rows(a->comm, have, h->options.gold, sizeof *h->gold, want, h->gold));
        h->options.gold = h->gold;
    }
    if (h->options.predictions) {
        DIS_TRY(dis__alloc_array(&h->predictions, want.n, row));
        DIS_TRY(dis__comm_redistribute_rows(a->comm, have, h->options.predictions, row, want, h->predictions));
        h->options.predictions = h->predictions;
    }
    return DIS_OK;
}

static dis_status select_half(const auto_work *a, uint8_t half, half_work *h)
{
    const dis_votes_view *v = &a->v;
    dis_votes *part = &h->votes;
    *part = (dis_votes){.n_items = v->n_items, .n_workers = v->n_workers, .n_classes = v->n_classes};
    h->shared = dis__comm_is_parallel(a->comm);
    if (h->shared) {
        DIS_TRY(dis__names_copy(v->tasks, &part->tasks));
        DIS_TRY(dis__names_copy(v->workers, &part->workers));
        DIS_TRY(dis__names_copy(v->classes, &part->classes));
    } else {
        part->tasks = a->votes->tasks;
        part->workers = a->votes->workers;
        part->classes = a->votes->classes;
    }
    DIS_TRY(dis__alloc_array(&part->start, v->n_items + 1, sizeof *part->start));
    DIS_TRY(dis__alloc_array(&part->worker, v->n_votes, sizeof *part->worker));
    if (v->label8)
        DIS_TRY(dis__alloc_array(&part->label8, v->n_votes, sizeof *part->label8));
    else
        DIS_TRY(dis__alloc_array(&part->label16, v->n_votes, sizeof *part->label16));
    select_votes(a, half, part);
    return h->shared ? share_half(a, h) : DIS_OK;
}

static void drop_half(half_work *h)
{
    if (h->shared) {
        dis_names_destroy(h->votes.tasks);
        dis_names_destroy(h->votes.workers);
        dis_names_destroy(h->votes.classes);
    }
    dis__free(h->votes.start);
    dis__free(h->votes.worker);
    dis__free(h->votes.label8);
    dis__free(h->votes.label16);
    dis__free(h->gold);
    dis__free(h->predictions);
}

/* Returns labels of the half's items to the ranks that score them. */
static dis_status share_labels(const auto_work *a, const half_work *h, const double *p, float *out)
{
    const size_t K = a->v.n_classes, n = h->votes.n_items * K;
    float *own = out;
    if (h->shared) DIS_TRY(dis__alloc_array(&own, n, sizeof *own));
    for (size_t k = 0; k < n; k++) own[k] = (float)p[k];
    if (own == out) return DIS_OK;
    const dis_status status =
        dis__comm_redistribute_rows(a->comm, range_of(&h->votes), own, K * sizeof *own, range_of(a->votes), out);
    dis__free(own);
    return status;
}

static dis_status fit_half(const auto_work *a, const half_work *h, const char *spec, float *out)
{
    dis_fit *fit;
    const dis__method *method;
    DIS_TRY(dis__method_find(spec, &method));
    dis_fit_options own = h->options;
    if (method->info.predictions == DIS_PREDICTIONS_UNUSED) own.predictions = NULL;
    DIS_TRY(dis_fit_run(a->ctx, &h->votes, spec, &own, &fit));
    const dis_status status = share_labels(a, h, dis_fit_p(fit), out);
    dis_fit_destroy(fit);
    return status;
}

/* Fits every method to both halves, into a->p. */
static dis_status fit_halves(auto_work *a, const char *const *specs, const dis_fit_options *options, size_t round)
{
    const size_t n = a->v.n_items * a->v.n_classes;
    for (uint8_t half = 0; half < 2; half++) {
        half_work h = {.options = *options};
        dis_status status = select_half(a, half, &h);
        for (size_t m = 0; m < a->n_views && status == DIS_OK; m++) {
            status = fit_half(a, &h, specs[m], a->p[half] + m * n);
            dis__progress(a->ctx, "weights",
                          (double)(round * 2 * a->n_views + half * a->n_views + m + 1) /
                              (double)(a->n_rounds * 2 * a->n_views));
        }
        drop_half(&h);
        DIS_TRY(status);
    }
    return DIS_OK;
}

/* P of every view for items with votes in both halves: the mean over the most probable classes of the scoring half,
 * which is one class unless there is a tie. */
static void judge(auto_work *a, size_t round)
{
    const dis_votes_view *v = &a->v;
    const size_t n_classes = v->n_classes, n = v->n_items * n_classes;
    for (size_t i = 0; i < v->n_items; i++) {
        size_t count[2] = {0, 0};
        for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) count[a->half[k]]++;
        float *score = a->score + (i * a->n_rounds + round) * 2 * a->n_views;
        score[0] = score[a->n_views] = -1;
        for (int half = 0; half < 2 && count[0] && count[1]; half++, score += a->n_views) {
            const float *judging = a->p[1 - half] + i * n_classes, *judged = a->p[half] + i * n_classes;
            double max = 0, n_best = 0, sum[DIS_MAX_VIEWS];
            for (size_t k = 0; k < n_classes; k++) {
                double mean = 0;
                for (size_t m = 0; m < a->n_views; m++) mean += (double)judging[m * n + k];
                max = mean > max ? mean : max;
            }
            memset(sum, 0, a->n_views * sizeof *sum);
            for (size_t k = 0; k < n_classes; k++) {
                double mean = 0;
                for (size_t m = 0; m < a->n_views; m++) mean += (double)judging[m * n + k];
                if (mean < max * (1 - NEAR_TIE)) continue;
                for (size_t m = 0; m < a->n_views; m++) sum[m] += (double)judged[m * n + k];
                n_best++;
            }
            for (size_t m = 0; m < a->n_views; m++) score[m] = (float)(sum[m] / n_best);
            a->n_terms++;
        }
    }
}

typedef struct {
    const auto_work *a;
    const double *weight;
} step_work;

/* Each view's share of the terms of a range of items. */
static void step_job(void *arg, size_t first, size_t last, double *sum, int thread)
{
    (void)thread;
    const step_work *w = arg;
    const size_t n_views = w->a->n_views, row = 2 * w->a->n_rounds;
    double own[DIS_MAX_VIEWS];
    for (size_t t = first * row; t < last * row; t++) {
        const float *p = w->a->score + t * n_views;
        double all = 0;
        if (p[0] < 0) continue;
        for (size_t m = 0; m < n_views; m++) all += own[m] = w->weight[m] * (double)p[m];
        if (!(all > 0)) continue; /* all views give it probability 0: no information */
        for (size_t m = 0; m < n_views; m++) sum[m] += own[m] / all;
    }
}

static dis_status climb(const auto_work *a, dis__item_sums *pass, double *weight)
{
    const size_t n_views = a->n_views;
    double moved = 1;
    for (int step = 0; step < MAX_STEPS && moved > CONVERGED && a->n_terms; step++) {
        double sum[DIS_MAX_VIEWS], total = 0;
        DIS_TRY(dis__item_sums_run(pass, sum));
        for (size_t m = 0; m < n_views; m++) total += sum[m];
        if (!(total > 0)) break;
        moved = 0;
        for (size_t m = 0; m < n_views; m++) {
            const double next = (sum[m] / total + PRIOR / (double)n_views) / (1 + PRIOR);
            moved = fmax(moved, fabs(next - weight[m]));
            weight[m] = next;
        }
    }
    return DIS_OK;
}

static dis_status maximise(auto_work *a, double *weight)
{
    DIS_TRY(dis__comm_sum_counts(a->comm, &a->n_terms, 1));
    step_work w = {.a = a, .weight = weight};
    dis__item_sums pass = {.args = &a->items,
                           .n_jobs = dis__n_jobs((size_t)a->n_terms, 4096, MAX_JOBS),
                           .n_sums = a->n_views,
                           .job = step_job,
                           .arg = &w};
    for (size_t m = 0; m < a->n_views; m++) weight[m] = 1 / (double)a->n_views;
    DIS_TRY(dis__item_sums_create(&pass));
    const dis_status status = climb(a, &pass, weight);
    dis__item_sums_destroy(&pass);
    return status;
}

static dis_status allocate(auto_work *a)
{
    const dis_votes_view *v = &a->v;
    const size_t table = dis__saturating_size(a->n_views, dis__saturating_size(v->n_items, v->n_classes, 0), 0);
    const size_t terms = dis__saturating_size(2 * a->n_rounds, dis__saturating_size(v->n_items, a->n_views, 0), 0);
    const size_t numbers = dis__saturating_size(2, table, terms == SIZE_MAX ? 0 : terms);
    DIS_TRY(dis__check_memory(a->ctx,
                              terms == SIZE_MAX ? SIZE_MAX
                                                : dis__saturating_size(numbers, sizeof(float),
                                                                       dis__saturating_size(v->n_votes, 6, 0)),
                              "choosing weights for so many views of so many items"));
    DIS_TRY(dis__alloc_array(&a->item_colour, v->n_items, sizeof *a->item_colour));
    DIS_TRY(dis__alloc_array(&a->worker_colour, v->n_workers, sizeof *a->worker_colour));
    DIS_TRY(dis__alloc_array(&a->half, v->n_votes, sizeof *a->half));
    for (int half = 0; half < 2; half++) DIS_TRY(dis__alloc_array(&a->p[half], table, sizeof *a->p[half]));
    return dis__alloc_array(&a->score, terms, sizeof *a->score);
}

static dis_status choose(auto_work *a, const char *const *specs, const dis_fit_options *options, double *weight)
{
    DIS_TRY(allocate(a));
    DIS_TRY(colour(a));
    for (size_t round = 0; round < a->n_rounds; round++) {
        DIS_TRY(split(a, options->seed, round));
        DIS_TRY(fit_halves(a, specs, options, round));
        judge(a, round);
    }
    return maximise(a, weight);
}

dis_status dis_views_auto_weights(dis_context *ctx, const dis_votes *votes, const char *const *specs, size_t n_specs,
                                  const dis_fit_options *options, double *weight)
{
    DIS_MEMORY_SCOPE(ctx);
    dis_fit_options o = dis_fit_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_fit_options, &o, options));
    if (n_specs < 1 || n_specs > DIS_MAX_VIEWS)
        return dis__fail(DIS_EUSAGE, "weights=auto: %zu views; 1 to %d are possible", n_specs, DIS_MAX_VIEWS);
    for (size_t m = 0; m < n_specs; m++) DIS_TRY(dis_method_check(specs[m]));
    auto_work a = {
        .ctx = ctx, .comm = dis__context_comm(ctx), .votes = votes, .v = dis_votes_get_view(votes), .n_views = n_specs};
    if (!a.v.start)
        return dis__fail(DIS_EDATA, "weights=auto needs single votes to split the crowd in two; give the weights");
    a.items = (dis__fit_args){.ctx = ctx, .votes = a.v, .part = dis__votes_part_of(votes)};
    a.n_rounds = a.items.part.n_votes > MANY_VOTES ? 1 : ROUNDS;
    o.initial_state = NULL; /* an earlier fit may have used both halves */
    double chosen[DIS_MAX_VIEWS] = {1};
    const dis_status status = n_specs > 1 ? choose(&a, specs, &o, chosen) : DIS_OK;
    dis__free(a.item_colour);
    dis__free(a.worker_colour);
    dis__free(a.half);
    for (int half = 0; half < 2; half++) dis__free(a.p[half]);
    dis__free(a.score);
    if (status == DIS_OK) memcpy(weight, chosen, n_specs * sizeof *weight);
    return status;
}
