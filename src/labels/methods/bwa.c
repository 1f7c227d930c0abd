/* Bayesian weighted average: class by class, an item's label is a mean of its votes, weighted by the precision of each
 * worker around such means (Li, Rubinstein & Cohn 2019, Truth inference at scale; update rules as the authors' bwa.py).
 *
 *     y = 1 for a vote for class k, else 0;   y ~ N(z[i], 1 / v[w]),   z[i] ~ N(mu, 1 / lambda),   v[w] ~ Gamma
 *     mu   = mean of z
 *     v[w] = (a + n[w]) / (b + sum over w's votes of (z - y)^2)
 *     z[i] = (lambda mu + sum over votes of v y) / (lambda + sum over votes of v)
 *
 * for each class separately; the label is z over the classes, normalised. a is `weight-prior`, lambda `mean-prior`; b
 * is a times the mean over votes of z (1 - z) at the start, times 4 (1 - 1 / K) with correction=yes. Starts from vote
 * shares. Items without votes get the mean. A class on which no two workers ever differ has b = 0: its z stay the
 * shares.
 *
 * Objective: the log posterior of z, v and mu up to its constant, summed over the classes; every update is its maximum
 * in what it changes.
 *
 * Cost: an iteration is one pass over the votes with K values each. Items are divided into a fixed number of jobs with
 * separate sums, added in order (item_passes.h). */
#include "core/numbers/elementary.h"
#include "labels/passes/item_passes.h"
#include "core/parallel/comm.h"
#include <math.h>
#include <string.h>

typedef struct {
    int64_t iterations;
    double tolerance, weight_prior, mean_prior;
    int correction;
} bwa_options;
enum { CORRECTION_YES, CORRECTION_NO };

static const dis_option options_table[] = {
    DIS_OPTION_ITERATIONS(bwa_options, "500"),
    DIS_OPTION_TOLERANCE(bwa_options, "1e-6"),
    {.key = "weight-prior",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(bwa_options, weight_prior),
     .default_value = "15",
     .low = 1e-6,
     .high = 1e9,
     .summary = "pseudo-votes per annotator with the variance of the crowd"},
    {.key = "mean-prior",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(bwa_options, mean_prior),
     .default_value = "1",
     .low = 1e-6,
     .high = 1e9,
     .summary = "weight of the mean over items in each item's average"},
    {.key = "correction",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(bwa_options, correction),
     .default_value = "yes",
     .choices = "yes|no",
     .summary = "multiply the prior variance by 4 (1 - 1/K)"},
};

enum { MAX_JOBS = 16 };

typedef struct {
    const dis__fit_args *args;
    const bwa_options *o;
    size_t K;
    double *z;                 /* (n_items, K): fit->p */
    double *weight;            /* (n_workers, K): v */
    uint64_t *n_votes;         /* (n_workers) */
    dis__item_sums pass;       /* of (n_workers, K) (z - y)^2, then (3, K) z, z^2, z (1 - z) times votes */
    double *total;             /* (n_workers + 3, K): the sums of a pass */
    double *squares, *sums;    /* its two parts */
    double *room;              /* (threads, K) */
    double *mean, *b, *lambda; /* (K) */
    bool first;                /* vote shares are requested */
} bwa;

static size_t count_jobs(const dis_votes_view *v, size_t n_votes)
{
    return dis__n_jobs(n_votes, dis__saturating_size(4 * v->n_workers, v->n_classes, 50000), MAX_JOBS);
}

/* New z of an item; room: (K). */
static void weigh_item(const bwa *b, size_t i, double *restrict z, double *restrict room)
{
    const dis_votes_view *v = &b->args->votes;
    const size_t K = b->K;
    const uint64_t begin = v->start[i], end = v->start[i + 1];
    const int32_t gold = dis__item_gold(b->args, i);
    if (gold >= 0 || begin == end) {
        for (size_t k = 0; k < K; k++) z[k] = gold < 0 ? b->mean[k] : k == (size_t)gold;
        return;
    }
    for (size_t k = 0; k < K; k++) {
        z[k] = b->lambda[k] * b->mean[k];
        room[k] = b->lambda[k];
    }
    for (uint64_t n = begin; n < end; n++) {
        const double *weight = b->weight + v->worker[n] * K;
        const size_t l = dis__vote_label(v, n);
        for (size_t k = 0; k < K; k++) room[k] += weight[k];
        z[l] += weight[l];
    }
    for (size_t k = 0; k < K; k++) z[k] /= room[k];
}

static void pass_job(void *arg, size_t first, size_t last, double *squares, int thread)
{
    const bwa *b = arg;
    const dis_votes_view *v = &b->args->votes;
    const size_t K = b->K;
    double *sum = squares + v->n_workers * K, *square = b->room + (size_t)thread * K;
    for (size_t i = first; i < last; i++) {
        double *z = b->z + i * K;
        const double n_votes = (double)(v->start[i + 1] - v->start[i]);
        weigh_item(b, i, z, square);
        for (size_t k = 0; k < K; k++) {
            square[k] = z[k] * z[k];
            sum[k] += z[k];
            sum[K + k] += square[k];
            sum[2 * K + k] += n_votes * (z[k] - square[k]);
        }
        for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++) {
            const size_t l = dis__vote_label(v, n);
            double *s = squares + v->worker[n] * K;
            for (size_t k = 0; k < K; k++) s[k] += square[k];
            s[l] += 1 - 2 * z[l];
        }
    }
}

/* One pass; new means and weights; the objective at these and the labels of the pass. */
static dis_status step(bwa *b, double *objective)
{
    const dis_votes_view *v = &b->args->votes;
    const dis__votes_part *all = &b->args->part;
    const size_t K = b->K;
    DIS_TRY(dis__item_sums_run(&b->pass, b->total));
    for (size_t k = 0; b->first && k < K; k++) {
        const double correction = b->o->correction == CORRECTION_YES ? 4 * (1 - 1 / (double)K) : 1;
        b->b[k] = all->n_votes ? b->o->weight_prior * b->sums[2 * K + k] / (double)all->n_votes * correction : 0;
        b->lambda[k] = b->b[k] > 0 ? b->o->mean_prior : 0;
    }
    double sum = 0;
    for (size_t k = 0; k < K; k++) {
        b->mean[k] = b->sums[k] / (double)all->n_items;
        sum -= b->lambda[k] * (b->sums[K + k] - (double)all->n_items * b->mean[k] * b->mean[k]);
    }
    for (size_t w = 0; w < v->n_workers; w++) {
        const double n = b->o->weight_prior + (double)b->n_votes[w];
        for (size_t k = 0; k < K; k++) {
            double *weight = &b->weight[w * K + k];
            const double squares = b->squares[w * K + k];
            *weight = b->b[k] > 0 ? n / (b->b[k] + (squares > 0 ? squares : 0)) : 1;
            if (b->b[k] > 0) sum += n * (dis__log(*weight) - 1);
        }
    }
    *objective = sum / 2;
    return DIS_OK;
}

/* Sums of vote shares, and the number of items with votes. */
static void share_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    (void)thread;
    const bwa *b = arg;
    const dis_votes_view *v = &b->args->votes;
    for (size_t i = first; i < last; i++) {
        const uint64_t votes = v->start[i + 1] - v->start[i];
        for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++) sums[dis__vote_label(v, n)] += 1 / (double)votes;
        sums[b->K] += votes > 0;
    }
}

/* Vote shares: weights of 1 and no prior mean. Items without votes get the mean of the others. */
static dis_status begin(bwa *b)
{
    const dis_votes_view *v = &b->args->votes;
    const size_t K = b->K;
    double total = 0, ignored, *shares = b->total; /* (K + 1) */
    for (size_t i = 0; i < v->n_workers * K; i++) b->weight[i] = 1;
    for (size_t n = 0; n < v->n_votes; n++) b->n_votes[v->worker[n]]++;
    DIS_TRY(dis__comm_sum_counts(dis__context_comm(b->args->ctx), b->n_votes, v->n_workers));
    DIS_TRY(dis__item_sums_run_in_order(b->args, K + 1, share_job, b, NULL, shares));
    const double n_voted = shares[K];
    for (size_t k = 0; k < K; k++) b->mean[k] = shares[k];
    for (size_t k = 0; k < K; k++) total += b->mean[k] = n_voted > 0 ? b->mean[k] / n_voted : 1 / (double)K;
    for (size_t k = 0; k < K; k++) b->mean[k] /= total;
    b->first = true;
    DIS_TRY(step(b, &ignored));
    b->first = false;
    bool found = false;
    if (b->args->start) DIS_TRY(dis__state_get(b->args->start, "bwa", "weight", "wv", v, b->weight, &found));
    for (size_t i = 0; found && i < v->n_workers * K; i++)
        b->weight[i] = b->weight[i] > 1e-9 ? b->weight[i] < 1e12 ? b->weight[i] : 1e12 : 1e-9;
    return DIS_OK;
}

static dis_status run(bwa *b, dis_fit *fit)
{
    double before = -INFINITY, objective;
    DIS_TRY(begin(b));
    fit->converged = b->o->iterations == 0;
    for (int64_t n = 1; n <= b->o->iterations && !fit->converged; n++) {
        DIS_TRY(dis__check_stop(b->args->ctx));
        DIS_TRY(step(b, &objective));
        DIS_TRY(dis__fit_add_objective(fit, objective));
        fit->converged = b->o->tolerance > 0 && fabs(objective - before) <= b->o->tolerance * fabs(objective);
        fit->iterations = (int)n;
        before = objective;
        dis__progress(b->args->ctx, "bwa", (double)n / (double)b->o->iterations);
    }
    dis__progress(b->args->ctx, "bwa", 1);
    for (size_t i = 0; i < fit->n_items; i++) {
        double sum = 0, *z = b->z + i * b->K;
        for (size_t k = 0; k < b->K; k++) sum += z[k];
        for (size_t k = 0; k < b->K; k++) z[k] = sum > 0 ? z[k] / sum : 1 / (double)b->K;
    }
    return DIS_OK;
}

static dis_status allocate(bwa *b)
{
    const size_t n_workers = b->args->votes.n_workers, K = b->K, threads = (size_t)dis_context_n_threads(b->args->ctx);
    DIS_TRY(dis__alloc_array(&b->total, dis__saturating_size(n_workers + 3, K, 0), sizeof *b->total));
    DIS_TRY(dis__alloc_zeroed(&b->b, dis__saturating_size(threads + 2, K, 0), sizeof *b->b));
    DIS_TRY(dis__alloc_zeroed(&b->n_votes, n_workers, sizeof *b->n_votes));
    b->squares = b->total;
    b->sums = b->total + n_workers * K;
    b->lambda = b->b + K;
    b->room = b->b + 2 * K;
    return dis__item_sums_create(&b->pass);
}

static dis_status fit_bwa(const dis__fit_args *args, dis_fit *fit)
{
    const dis_votes_view *v = &args->votes;
    const size_t K = v->n_classes;
    bwa b = {.args = args, .o = args->options, .K = K, .z = fit->p};
    b.pass = (dis__item_sums){.args = args,
                              .n_jobs = count_jobs(v, args->part.n_votes),
                              .n_sums = dis__saturating_size(v->n_workers + 3, K, 0),
                              .job = pass_job,
                              .arg = &b};
    DIS_TRY(dis__fit_add_parameter(fit, "weight", "wv", &b.weight));
    DIS_TRY(dis__fit_add_parameter(fit, "mean", "t", &b.mean));
    dis_status status = allocate(&b);
    if (status == DIS_OK) status = run(&b, fit);
    dis__item_sums_destroy(&b.pass);
    dis__free(b.total);
    dis__free(b.b);
    dis__free(b.n_votes);
    return status;
}

static size_t memory(const dis_votes_view *votes, const void *options)
{
    (void)options;
    const size_t n = dis__saturating_size(votes->n_workers, votes->n_classes + 1, 4 * votes->n_classes);
    return dis__saturating_size(n, (count_jobs(votes, votes->n_votes) + 2) * sizeof(double), 0);
}

const dis__method dis__method_bwa = {
    .info = {.name = "bwa",
             .summary = "Bayesian weighted average of votes; annotators close to the averages weigh more",
             .source = "Li, Rubinstein & Cohn 2019",
             .objective = "log posterior",
             .needs_workers = true,
             .options = options_table,
             .n_options = sizeof options_table / sizeof *options_table},
    .options_size = sizeof(bwa_options),
    .memory = memory,
    .fit = fit_bwa,
    .ranks = true,
    .starts = true,
};
