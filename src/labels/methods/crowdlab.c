/* CROWDLAB: a model and the votes on an item, averaged with weights for their reliability (Goh, Tkachenko & Mueller
 * 2022; rules as cleanlab 2.9, multiannotator, quality_method="crowdlab"). With n_i
 * the votes on item i, z the class that a vote is for, q the prediction and c the consensus,
 *
 *     L     mean over items with 2 votes or more of the share of their votes for c
 *     E0    share of these items whose c is not the most frequent c, at least 1e-6
 *     A_j   sum over j's votes of the other votes on the item that are for the same class, over the sum of n_i - 1;
 *           the mean of all other workers for one who shares no items
 *     w_j   max(1e-6, 1 - (1 - A_j) / E0)
 *     w_M   max(1e-6, 1 - (share of these items where the best class of q is not c) / E0) * sqrt(mean n)
 *     p_i  ~  w_M q_i + sum_j w_j (L at z_ij, (1 - L) / (K - 1) elsewhere)
 *
 * First c is the majority (ties: the most probable class under q, then the one with fewer votes in total, then the
 * first one; cleanlab breaks remaining ties by agreement with the consensus and at random). A second round uses the most
 * probable class of p as c, if it is unique. The most probable classes after round 1 are cleanlab's consensus labels; p
 * after round 2 has their quality scores. The second round has a larger w_M, because the prediction is part of c, and its
 * labels are less accurate (docs/evidence/predictions.md); so the default is one round.
 *
 * Items without a prediction use their votes only, and the model is judged by the items with one. Items with a gold
 * label have it as consensus, and as label. If all items have the same class, E0 is meaningless: every weight is then
 * 1e-6 or 1.
 *
 * Cost: one pass over the votes for the workers, and three over the items. Memory: a few values per worker and item. */
#include "labels/passes/item_passes.h"
#include "core/parallel/comm.h"
#include "dissent/labels.h"
#include "tool/arrays.h"
#include <math.h>
#include <string.h>

typedef struct {
    int64_t rounds;
} crowdlab_options;

static const dis_option options[] = {
    {.key = "rounds",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(crowdlab_options, rounds),
     .default_value = "1",
     .low = 1,
     .high = 2,
     .summary = "1: cleanlab's consensus labels; 2: the probabilities of its quality scores"},
};

#define MIN 1e-6

typedef struct {
    const dis__fit_args *args;
    dis_fit *fit;
    uint32_t *consensus;   /* (n_items) */
    uint64_t *class_votes; /* (n_classes): total votes for each class */
    uint64_t *count;       /* (n_classes + 3): votes of one item, or counts of the consensus with those of
                            * count_items() */
    double *agreement;     /* (n_workers): A */
    double *weight;        /* (n_workers): w */
    double likely, model;  /* L, w_M */
    int64_t n_rounds;
} crowdlab;

static uint64_t n_votes(const dis_votes_view *v, size_t i)
{
    return v->start[i + 1] - v->start[i];
}

/* The largest element of q, the first on a tie; *n receives the number of equal ones. */
static size_t best_of(const double *q, size_t n_classes, size_t *n)
{
    const size_t best = dis__argmax(q, n_classes);
    *n = 0;
    for (size_t k = 0; k < n_classes; k++) *n += q[k] == q[best];
    return best;
}

static bool is_predicted(const double *q, size_t n_classes)
{
    for (size_t k = 0; k < n_classes; k++)
        if (q[k] > 0) return true;
    return false;
}

/* Whether class a wins a tie against b. */
static bool wins_tie(const crowdlab *c, const double *q, size_t a, size_t b)
{
    if (q[a] != q[b]) return q[a] > q[b];
    if (c->class_votes[a] != c->class_votes[b]) return c->class_votes[a] < c->class_votes[b];
    return a < b;
}

static size_t majority(const crowdlab *c, size_t i)
{
    const dis_votes_view *v = &c->args->votes;
    const double *q = c->args->predictions + i * v->n_classes;
    memset(c->count, 0, v->n_classes * sizeof *c->count);
    for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) c->count[dis__vote_label(v, k)]++;
    size_t best = 0;
    for (size_t k = 1; k < v->n_classes; k++)
        if (c->count[k] > c->count[best] || (c->count[k] == c->count[best] && wins_tie(c, q, k, best))) best = k;
    return best;
}

/* A of every worker, from integers, so that the order of votes does not matter. */
static dis_status judge_workers(crowdlab *c)
{
    const dis_votes_view *v = &c->args->votes;
    uint64_t *same, *all;
    DIS_TRY(dis__alloc_zeroed(&same, dis__saturating_size(2, v->n_workers, 0), sizeof *same));
    all = same + v->n_workers;
    for (size_t i = 0; i < v->n_items; i++) {
        memset(c->count, 0, v->n_classes * sizeof *c->count);
        for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) c->count[dis__vote_label(v, k)]++;
        for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
            same[v->worker[k]] += c->count[dis__vote_label(v, k)] - 1;
            all[v->worker[k]] += n_votes(v, i) - 1;
        }
    }
    const dis_status sum_status = dis__comm_sum_counts(dis__context_comm(c->args->ctx), same, 2 * v->n_workers);
    double sum = 0, n = 0;
    for (size_t w = 0; w < v->n_workers; w++)
        if (all[w]) {
            sum += c->agreement[w] = (double)same[w] / (double)all[w];
            n++;
        }
    for (size_t w = 0; w < v->n_workers; w++)
        if (!all[w]) c->agreement[w] = sum / n;
    dis__free(same);
    DIS_TRY(sum_status);
    return n > 0 ? DIS_OK
                 : dis__fail(DIS_EDATA, "crowdlab compares annotators, and no item has two votes; use another method");
}

/* Integer counts over the items with 2 votes or more, after the counts of their consensus by class. */
enum { ITEMS, PREDICTED, WRONG, NUMBERS };

/* The sum of the shares of their votes for the consensus. */
static void share_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    (void)thread;
    const crowdlab *c = arg;
    const dis_votes_view *v = &c->args->votes;
    for (size_t i = first; i < last; i++) {
        if (n_votes(v, i) < 2) continue;
        uint64_t for_it = 0;
        for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) for_it += dis__vote_label(v, k) == c->consensus[i];
        *sums += (double)for_it / (double)n_votes(v, i);
    }
}

static dis_status count_items(crowdlab *c)
{
    const dis_votes_view *v = &c->args->votes;
    const size_t K = v->n_classes;
    uint64_t *n = c->count + K;
    memset(c->count, 0, (K + NUMBERS) * sizeof *c->count);
    for (size_t i = 0; i < v->n_items; i++) {
        if (n_votes(v, i) < 2) continue;
        const double *q = c->args->predictions + i * K;
        c->count[c->consensus[i]]++;
        n[ITEMS]++;
        if (!is_predicted(q, K)) continue;
        n[PREDICTED]++;
        n[WRONG] += dis__argmax(q, K) != c->consensus[i];
    }
    return dis__comm_sum_counts(dis__context_comm(c->args->ctx), c->count, K + NUMBERS);
}

/* L, w_M and the weights of workers for the current consensus. */
static dis_status weigh(crowdlab *c)
{
    const dis_votes_view *v = &c->args->votes;
    const dis__votes_part *all = &c->args->part;
    double agree;
    DIS_TRY(dis__item_sums_run_in_order(c->args, 1, share_job, c, NULL, &agree));
    DIS_TRY(count_items(c));
    const uint64_t *n = c->count + v->n_classes;
    uint64_t max = 0;
    for (size_t k = 0; k < v->n_classes; k++) max = c->count[k] > max ? c->count[k] : max;
    const double items = (double)n[ITEMS], other = fmax((double)(n[ITEMS] - max) / items, MIN);
    c->likely = agree / items;
    c->model = n[PREDICTED] ? fmax(1 - (double)n[WRONG] / (double)n[PREDICTED] / other, MIN) : MIN;
    c->model *= sqrt((double)all->n_votes / (double)all->n_items);
    for (size_t w = 0; w < v->n_workers; w++) c->weight[w] = fmax(1 - (1 - c->agreement[w]) / other, MIN);
    return DIS_OK;
}

static void item_posterior(const crowdlab *c, size_t i, double *p)
{
    const dis_votes_view *v = &c->args->votes;
    const size_t K = v->n_classes;
    const double *q = c->args->predictions + i * K;
    const int32_t gold = dis__item_gold(c->args, i);
    for (size_t k = 0; k < K; k++) p[k] = gold >= 0 ? k == (size_t)gold : c->model * q[k];
    if (gold >= 0) return;
    const double other_class = K > 1 ? (1 - c->likely) / (double)(K - 1) : 0;
    double spread = 0, sum = 0;
    for (uint64_t j = v->start[i]; j < v->start[i + 1]; j++) {
        const double w = c->weight[v->worker[j]];
        spread += w * other_class;
        p[dis__vote_label(v, j)] += w * (c->likely - other_class);
    }
    for (size_t k = 0; k < K; k++) sum += p[k] = fmax(p[k] + spread, 0);
    for (size_t k = 0; k < K; k++) p[k] = sum > 0 ? p[k] / sum : 1 / (double)K;
}

enum { GRAIN = 4096, MAX_JOBS = 64 };

static size_t count_jobs(const crowdlab *c)
{
    return dis__n_jobs(c->args->votes.n_items, GRAIN, MAX_JOBS);
}

static dis_status posterior_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const crowdlab *c = arg;
    const size_t n = c->args->votes.n_items, last = dis__job_first(n, count_jobs(c), j + 1);
    for (size_t i = dis__job_first(n, count_jobs(c), j); i < last; i++)
        item_posterior(c, i, c->fit->p + i * c->fit->n_classes);
    return DIS_OK;
}

static dis_status posteriors(crowdlab *c)
{
    return dis__run_jobs(c->args->ctx, count_jobs(c), posterior_job, c);
}

static dis_status run(crowdlab *c)
{
    const dis_votes_view *v = &c->args->votes;
    for (size_t k = 0; k < v->n_votes; k++) c->class_votes[dis__vote_label(v, k)]++;
    DIS_TRY(dis__comm_sum_counts(dis__context_comm(c->args->ctx), c->class_votes, v->n_classes));
    for (size_t i = 0; i < v->n_items; i++) {
        const int32_t gold = dis__item_gold(c->args, i);
        c->consensus[i] = (uint32_t)(gold >= 0 ? (size_t)gold : majority(c, i));
    }
    DIS_TRY(judge_workers(c));
    DIS_TRY(dis__check_stop(c->args->ctx));
    DIS_TRY(weigh(c));
    DIS_TRY(posteriors(c));
    for (int64_t round = 1; round < c->n_rounds; round++) {
        for (size_t i = 0; i < v->n_items; i++) {
            size_t n;
            const size_t best = best_of(c->fit->p + i * v->n_classes, v->n_classes, &n);
            if (n == 1) c->consensus[i] = (uint32_t)best;
        }
        DIS_TRY(weigh(c));
        DIS_TRY(posteriors(c));
    }
    c->fit->predictions_weight = c->model;
    return DIS_OK;
}

static dis_status allocate(crowdlab *c)
{
    const dis_votes_view *v = &c->args->votes;
    DIS_TRY(dis__fit_add_parameter(c->fit, "agreement", "w", &c->agreement));
    DIS_TRY(dis__fit_add_parameter(c->fit, "weight", "w", &c->weight));
    DIS_TRY(dis__alloc_array(&c->consensus, v->n_items, sizeof *c->consensus));
    DIS_TRY(dis__alloc_zeroed(&c->class_votes, v->n_classes, sizeof *c->class_votes));
    return dis__alloc_array(&c->count, v->n_classes + NUMBERS, sizeof *c->count);
}

static dis_status fit_crowdlab(const dis__fit_args *args, dis_fit *fit)
{
    const crowdlab_options *o = args->options;
    crowdlab c = {.args = args, .fit = fit, .n_rounds = o->rounds};
    dis_status status = allocate(&c);
    if (status == DIS_OK) status = run(&c);
    dis__free(c.consensus);
    dis__free(c.class_votes);
    dis__free(c.count);
    return status;
}

static size_t memory(const dis_votes_view *votes, const void *parsed)
{
    (void)parsed;
    return dis__saturating_size(votes->n_workers, 4 * sizeof(double),
                                dis__saturating_size(votes->n_items, sizeof(uint32_t), 0));
}

const dis__method dis__method_crowdlab = {
    .info = {.name = "crowdlab",
             .summary = "weighted average of votes and model predictions; weights by agreement with the others",
             .source = "Goh, Tkachenko & Mueller 2022; cleanlab 2.9",
             .objective = "none",
             .needs_workers = true,
             .predictions = DIS_PREDICTIONS_REQUIRED,
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(crowdlab_options),
    .memory = memory,
    .fit = fit_crowdlab,
    .ranks = true,
};
