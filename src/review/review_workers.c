/* Statistics of each worker.
 *
 * Every vote is compared with the posterior of the true class without it (marginal p over the levels, divided by the
 * probability of the vote): a vote does not confirm itself, which matters for items with three votes. With C the
 * crowd's matrix, three hypotheses about a worker's votes are compared by their likelihood:
 *
 *     like the others      prod over votes of sum over t of truth[t] C[v][t]
 *     ignores the item     the worker's own label rates, for any true class: Dirichlet-multinomial, prior 1/2 per class
 *     own matrix           each column Dirichlet-multinomial with prior 2 C[.][t]
 *
 * evidence = log10 of "ignores the item" over "like the others". It grows with the number of votes: three wrong votes
 * of four are little evidence, thirty of forty are strong evidence. A worker who always answers the frequent class is
 * detected although most of these votes are correct. C is first computed from all votes, then from the workers weighted
 * by the probability (at prior odds of 1) that they are like the others, so that many spammers do not dominate the
 * crowd. "Own matrix" only affects the reason: confusing two classes is not random answering. A worker with 20 votes or
 * more for one class only, which a typical worker would be unlikely to give, is `constant`, whatever the evidence.
 *
 * The accuracy with its interval and the comparison with the others come from annotator_accuracy.c and
 * annotator_difference.c. Votes on items without other votes carry no evidence and are left out.
 *
 * Cost: two passes, O(K) per vote and probable class; K^2 values per thread and job. */
#include "core/numbers/elementary.h"
#include "core/parallel/rank_jobs.h"
#include "review/review_parts.h"
#include "labels/method.h"
#include <math.h>
#include <string.h>

enum { MAX_JOBS = 64, GRAIN = 4096, EM_ROUNDS = 50 };
#define NEGLIGIBLE     1e-9
#define RATE_PRIOR     .5
#define OWN_PRIOR      2.0
#define STRONG         1.0 /* log10: ten to one */
#define SMALLEST_SHARE 1e-6
#define FAVOURITE_Z    3.0
#define WEAK_RATE      .05 /* false discovery rate among annotators called weak */
#define MATTERS        .02 /* smallest difference in agreement that is called weak */
#define MONOTONE       20  /* minimum number of votes of a worker who is called constant, */
#define MONOTONE_P     2.5 /* if a typical worker would do so with a probability below 10^-2.5 */

typedef struct {
    const dis__crowd_model *m;
    bool judged;
    dis_review_worker *rows;
    const double *crowd; /* (K voted, K true) */
    size_t n_jobs, n_scratch;
    double *scratch; /* (threads, n_scratch) */
    double *sums;    /* (n_jobs, K, K): counts of workers, weighted by the probability that they are like the others */
    bool last;       /* second pass: also computes reasons, no sums */
    double doubtful; /* evidence above which an annotator is doubtful */
} worker_work;

/* Accumulators over the votes of one worker. */
typedef struct {
    double *truth;    /* (K) of the current vote */
    double *q;        /* (K) a typical worker's answers to it */
    double *given;    /* (K) votes for each class */
    double *expected; /* (K) of a typical worker on the same items */
    double *count;    /* (K, K) expected counts by the true class without the vote */
    double *believed; /* (K, K) expected counts by the posterior with all votes: estimates a matrix */
    double *gamma;    /* (2 K + 2) */
    double like;      /* log-likelihood of the votes, like the others */
} tally;

enum { TALLY_ROWS = 6, TALLY_TABLES = 2 };

static tally tally_of(double *scratch, size_t K)
{
    return (tally){.truth = scratch,
                   .q = scratch + K,
                   .given = scratch + 2 * K,
                   .expected = scratch + 3 * K,
                   .gamma = scratch + 4 * K,
                   .count = scratch + TALLY_ROWS * K + 2,
                   .believed = scratch + TALLY_ROWS * K + 2 + K * K};
}

static void truth_without(const dis__crowd_model *m, const double *p, const double *row, double *truth)
{
    const size_t K = m->n_classes;
    double total = 0;
    for (size_t t = 0; t < K; t++) truth[t] = -row[t];
    m->special.exp(truth, K);
    for (size_t t = 0; t < K; t++) total += truth[t] *= p[t];
    for (size_t t = 0; t < K; t++) truth[t] /= total;
}

static void add_vote(const worker_work *work, const double *p, const double *row, size_t label, tally *y)
{
    const size_t K = work->m->n_classes;
    truth_without(work->m, p, row, y->truth);
    memset(y->q, 0, K * sizeof *y->q);
    for (size_t t = 0; t < K; t++) {
        if (y->truth[t] < NEGLIGIBLE) continue;
        for (size_t v = 0; v < K; v++) y->q[v] += y->truth[t] * work->crowd[v * K + t];
    }
    y->like += dis__log(y->q[label]);
    y->given[label] += 1;
    for (size_t t = 0; t < K; t++) {
        y->expected[t] += y->q[t];
        y->count[label * K + t] += y->truth[t];
        y->believed[label * K + t] += p[t];
    }
}

/* log of the Dirichlet-multinomial probability of a sequence with these counts (n, stride apart), prior[k] = scale *
 * share[k * stride], or scale where share is NULL. gamma: (2 n + 2). */
static double log_sequence(const dis__special_functions *f, const double *count, const double *share, double scale,
                           size_t n, size_t stride, double *gamma)
{
    double total = 0, prior = 0, sum;
    for (size_t k = 0; k < n; k++) {
        const double a = share ? scale * share[k * stride] : scale;
        gamma[k] = a + count[k * stride];
        gamma[n + k] = a;
        prior += a;
        total += gamma[k];
    }
    gamma[2 * n] = prior;
    gamma[2 * n + 1] = total;
    f->lgamma(gamma, 2 * n + 2);
    sum = gamma[2 * n] - gamma[2 * n + 1];
    for (size_t k = 0; k < n; k++) sum += gamma[k] - gamma[n + k];
    return sum;
}

/* log Bayes factor of an own matrix over ignoring the item, both for the same expected counts. */
static double own_way(const worker_work *work, const tally *y)
{
    const size_t K = work->m->n_classes;
    const dis__special_functions *f = &work->m->special;
    double sum = -log_sequence(f, y->given, NULL, RATE_PRIOR, K, 1, y->gamma);
    for (size_t t = 0; t < K; t++) sum += log_sequence(f, y->count + t, work->crowd + t, OWN_PRIOR, K, K, y->gamma);
    return sum;
}

/* The class whose frequency exceeds that of a typical worker most. */
static void find_favourite(const tally *y, size_t K, double n, dis_review_worker *out)
{
    double best = -INFINITY;
    for (size_t v = 0; v < K; v++) {
        const double e = y->expected[v], z = (y->given[v] - e) / sqrt(fmax(e * (1 - e / n), .25));
        if (z <= best) continue;
        best = z;
        out->chosen_class = v;
    }
    out->true_class = out->chosen_class;
    out->n_share_votes = n;
    out->chosen_share = y->given[out->chosen_class] / n;
    out->expected_share = y->expected[out->chosen_class] / n;
    const bool constant = out->chosen_share >= .95 || (best >= FAVOURITE_Z && out->chosen_share >= .5);
    out->verdict = constant ? DIS_REVIEW_CONSTANT : DIS_REVIEW_RANDOM;
}

/* The confusion whose frequency exceeds that of a typical worker most. */
static void find_confusion(const worker_work *work, const tally *y, dis_review_worker *out)
{
    const size_t K = work->m->n_classes;
    double best = -INFINITY;
    for (size_t t = 0; t < K; t++) {
        double n = 0;
        for (size_t v = 0; v < K; v++) n += y->count[v * K + t];
        for (size_t v = 0; v < K && n > 0; v++) {
            const double x = y->count[v * K + t], e = n * work->crowd[v * K + t];
            if (v == t || x <= e || x * dis__log(x / e) <= best) continue;
            best = x * dis__log(x / e);
            out->chosen_class = v;
            out->true_class = t;
            out->n_share_votes = n;
            out->chosen_share = x / n;
            out->expected_share = work->crowd[v * K + t];
        }
    }
    if (best > 0) out->verdict = DIS_REVIEW_CONFUSES;
}

/* Whether all votes are for one class although a typical worker would be unlikely to do so on these items. */
static bool is_monotone(const dis_review_worker *out)
{
    return out->n_share_votes >= MONOTONE && out->chosen_share >= 1 &&
           out->n_share_votes * log10(fmin(fmax(out->expected_share, 1e-9), 1)) < -MONOTONE_P;
}

static bool is_weak(const dis_review_worker *out)
{
    return out->p_adjusted <= WEAK_RATE && out->difference <= -MATTERS;
}

static void judge(const worker_work *work, const tally *y, dis_review_worker *out)
{
    if (!work->judged) return;
    find_favourite(y, work->m->n_classes, (double)out->shared, out);
    if (is_monotone(out))
        out->verdict = DIS_REVIEW_CONSTANT;
    else if (out->evidence < work->doubtful)
        out->verdict = is_weak(out) ? DIS_REVIEW_WEAK : DIS_REVIEW_FINE;
    else if (own_way(work, y) > STRONG * dis__log(10))
        find_confusion(work, y, out);
}

static void review_worker(const worker_work *work, size_t w, double *scratch, dis_review_worker *out)
{
    enum { AHEAD = 16 };
    const dis__crowd_model *m = work->m;
    const size_t K = m->n_classes;
    const double *matrix = dis__crowd_matrix_at(m, w);
    memset(scratch, 0, work->n_scratch * sizeof *scratch);
    tally y = tally_of(scratch, K);
    const uint64_t end = m->worker_start[w + 1];
    for (uint64_t a = m->worker_start[w]; a < end; a++) {
        if (end - a > AHEAD) { /* items are accessed at random */
            __builtin_prefetch(m->votes.start + m->item_of[a + AHEAD]);
            __builtin_prefetch(m->p + m->item_of[a + AHEAD] * K);
        }
        if (!dis__review_is_comparable(m, m->item_of[a])) continue;
        add_vote(work, m->p + m->item_of[a] * K, matrix + m->label_of[a] * K, m->label_of[a], &y);
    }
    if (!out->shared || K < 2) return;
    const double blind = log_sequence(&m->special, y.given, NULL, RATE_PRIOR, K, 1, y.gamma) - y.like;
    out->evidence = blind / dis__log(10);
    if (work->last) judge(work, &y, out);
}

static dis_status worker_job(void *arg, size_t j, int thread)
{
    const worker_work *work = arg;
    const dis__crowd_model *m = work->m;
    const size_t K = m->n_classes, last = dis__job_first(m->n_workers, work->n_jobs, j + 1);
    double *scratch = work->scratch + (size_t)thread * work->n_scratch, *sums = work->sums + j * K * K;
    const tally y = tally_of(scratch, K);
    memset(sums, 0, K * K * sizeof *sums);
    for (size_t w = dis__job_first(m->n_workers, work->n_jobs, j); w < last; w++) {
        review_worker(work, w, scratch, work->rows + w);
        const double like = 1 / (1 + dis__pow(10, work->rows[w].evidence));
        for (size_t x = 0; x < K * K && work->rows[w].shared; x++) sums[x] += like * y.believed[x];
    }
    return DIS_OK;
}

/* With many annotators, some exceed any fixed bound by chance. So the bound accounts for the share of annotators who
 * ignore the items, estimated by maximum likelihood from all evidence (EM): posterior odds of ten to one. */
static double doubtful_from(const dis_review_worker *rows, size_t n_workers)
{
    double share = .5;
    for (int round = 0; round < EM_ROUNDS && share > SMALLEST_SHARE; round++) {
        double sum = 0, n = 0;
        for (size_t w = 0; w < n_workers; w++) {
            if (!rows[w].shared) continue;
            sum += 1 / (1 + (1 - share) / share * dis__pow(10, -rows[w].evidence));
            n++;
        }
        const double last = share;
        share = n > 0 ? sum / n : 0;
        if (fabs(share - last) < 1e-4 * last) break;
    }
    return STRONG + fmax(0, log10((1 - share) / fmax(share, SMALLEST_SHARE)));
}

static dis_status two_passes(worker_work *work)
{
    const size_t K = work->m->n_classes;
    const dis__rank_rows tables[] = {
        {.table = work->rows, .row_size = sizeof *work->rows, .n = work->m->n_workers},
        {.table = work->sums, .row_size = K * K * sizeof *work->sums, .n = work->n_jobs, .per_job = 1}};
    DIS_TRY(dis__run_rank_jobs(work->m->ctx, work->n_jobs, worker_job, work, tables, 2));
    for (size_t j = 1; j < work->n_jobs; j++)
        for (size_t x = 0; x < K * K; x++) work->sums[x] += work->sums[j * K * K + x];
    double *others = work->sums + work->n_jobs * K * K;
    dis__crowd_matrix_normalize(work->sums, K, others);
    work->crowd = others;
    work->doubtful = doubtful_from(work->rows, work->m->n_workers);
    work->last = true;
    return dis__run_rank_jobs(work->m->ctx, work->n_jobs, worker_job, work, tables, 1);
}

static dis_status find_evidence(const dis__crowd_model *m, bool judged, dis_review_worker *rows)
{
    const size_t K = m->n_classes, threads = (size_t)dis_context_n_threads(m->ctx);
    size_t n_jobs = dis__n_jobs(m->votes.n_votes, GRAIN + 16 * K * K, MAX_JOBS);
    n_jobs = n_jobs < m->n_workers ? n_jobs : m->n_workers ? m->n_workers : 1;
    worker_work work = {.m = m,
                        .judged = judged,
                        .rows = rows,
                        .crowd = m->crowd + DIS_CROWD_NORMAL * K * K,
                        .n_jobs = n_jobs,
                        .n_scratch = TALLY_ROWS * K + 2 + TALLY_TABLES * K * K};
    dis_status status;
    DIS_TRY_GOTO(status,
                 dis__alloc_array(&work.scratch, dis__saturating_size(threads, work.n_scratch, 0), sizeof(double)),
                 end);
    DIS_TRY_GOTO(status, dis__alloc_array(&work.sums, dis__saturating_size(n_jobs + 1, K * K, 0), sizeof(double)), end);
    status = two_passes(&work);
end:
    dis__free(work.scratch);
    dis__free(work.sums);
    return status;
}

dis_status dis__review_compute_workers(const dis__crowd_model *m, const double *p, bool judged, dis_review_worker *rows)
{
    for (size_t w = 0; w < m->n_workers; w++)
        rows[w] = (dis_review_worker){.worker = w,
                                      .votes = m->worker_start[w + 1] - m->worker_start[w],
                                      .accuracy = NAN,
                                      .accuracy_low = NAN,
                                      .accuracy_high = NAN,
                                      .peer_accuracy = NAN,
                                      .difference = NAN,
                                      .difference_low = NAN,
                                      .difference_high = NAN,
                                      .p_adjusted = NAN,
                                      .gold_accuracy = NAN,
                                      .gold_low = NAN,
                                      .gold_high = NAN,
                                      .verdict = DIS_REVIEW_NO_VERDICT};
    DIS_TRY(dis__review_compute_accuracy(m, p, judged, rows));
    if (judged && m->n_classes > 1) DIS_TRY(dis__review_compute_differences(m, rows));
    return find_evidence(m, judged, rows);
}
