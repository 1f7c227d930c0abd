/* Draws truths, workers and the crowd from their joint posterior by Gibbs sweeps.
 *
 *     item     truth t ~ kappa, level e ~ lambda
 *     vote     right with probability d = 1 / (1 + (K - 1) exp(-ease[e] x[w][t])); a wrong one is v with probability
 *              mistake[w][v][t], drawn towards the crowd's shares
 *     worker   x[w][t] ~ N(mu[t] + theta[w], tau^2), theta[w] ~ N(0, sigma^2)
 *     crowd    mu[t] ~ N(all, rho^2); kappa, lambda Dirichlet; variances scaled inverse chi-squared
 *
 * x = 0 is guessing. A worker with few votes is drawn from the crowd, one with many from their votes; how much workers
 * and classes differ is learned too. A sweep draws (t, e) of every item given the rest, then each worker, then the
 * crowd (review_sample_workers.c). In every sweep that counts, the votes of a worker that equal the truth drawn are
 * counted: the share of right votes in these very votes, as the data leave it open. Its interval is that of the 2.5 and
 * 97.5 per cent points, widened by a quarter and half a vote for what the model does not know (docs/review.md has the
 * coverage).
 *
 * Votes that nobody else's votes can be set against judge nobody and are left out of the counts of workers.
 *
 * Ranks that hold all votes each draw their share of the items, then of the workers, and tell the others: 3 bytes per
 * item and 8 (K^2 + 6 K) per worker and sweep.
 *
 * Random numbers are keyed by what an item's or a worker's votes are (review_keys.c), counts are whole numbers, sums go
 * in the order of jobs: any number of threads gives the same bytes.
 *
 * Cost: about 20 ns per vote and sweep with 4 classes; 500 sweeps up to 200,000 votes, fewer beyond and with more
 * classes, never fewer than 60. */
#include "review/review_sample.h"
#include "core/draw.h"
#include "core/kernel.h"
#include "core/random.h"
#include "core/rank_jobs.h"
#include "labels/method.h"
#include "review/review_sampler.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = DIS_SAMPLER_LEVELS, ITEM_GRAIN = 1024, VOTE_GRAIN = 8192, MAX_JOBS = 64 };
enum { MAX_SWEEPS = 500, MIN_SWEEPS = 60 };
DIS_KERNEL_DECLARE(void, dis__sampler_products, (const dis__sampler *s, size_t i, double *joint, double *mistakes));

#define VOTES_VISITED 1e8          /* with 4 classes */
#define WORKER_BYTES  (256u << 20) /* of counts over sweeps, at most, while there are MIN_SWEEPS */
#define BURN_IN       .25
#define WIDENED       1.25
#define LEVEL_DOUBT   50.0 /* items */
static const double first_level[LEVELS] = {.1, .8, .1};

static size_t sweeps_of(const dis_votes_view *v)
{
    const double classes = fmax(1, (double)v->n_classes / 4);
    const double n = fmin(VOTES_VISITED / (classes * (double)(v->n_votes + 1)),
                          (double)WORKER_BYTES / (double)(sizeof(uint32_t) * (v->n_workers + 1)));
    return n > MAX_SWEEPS ? MAX_SWEEPS : n < MIN_SWEEPS ? MIN_SWEEPS : (size_t)n;
}

static size_t kept_of(const dis_votes_view *v)
{
    const size_t n = sweeps_of(v);
    return n - (size_t)(BURN_IN * (double)n);
}

/* ---- items ---- */

/* Probability of (level, truth) and the votes of item i, up to a factor. mistakes: (K) scratch. */
static void item_products(const dis__sampler *s, size_t i, double *joint, double *mistakes)
{
    const size_t K = s->K, n = LEVELS * K;
    s->products(s, i, joint, mistakes);
    const int32_t gold = s->m->gold ? s->m->gold[i] : -1;
    for (size_t x = 0; gold >= 0 && x < n; x++)
        if (x % K != (size_t)gold) joint[x] = 0;
}

static dis_status item_job(void *arg, size_t j, int thread)
{
    const dis__sampler *s = arg;
    const size_t K = s->K, n = LEVELS * K, n_items = s->m->votes.n_items;
    const size_t last = dis__job_first(n_items, s->n_item_jobs, j + 1);
    double *joint = s->scratch + (size_t)thread * s->n_scratch, *mistakes = joint + n;
    uint64_t *level = s->item_sums + j * (LEVELS + K), *class_sum = level + LEVELS;
    memset(level, 0, (LEVELS + K) * sizeof *level);
    for (size_t i = dis__job_first(n_items, s->n_item_jobs, j); i < last; i++) {
        item_products(s, i, joint, mistakes);
        double total = 0;
        for (size_t x = 0; x < n; x++) total += joint[x];
        if (s->keep)
            for (size_t e = 0; e < LEVELS; e++)
                for (size_t t = 0; t < K; t++) s->p[i * K + t] += joint[e * K + t] / total;
        double u = dis__uniform(s->seed ^ s->item_key[i], DIS_STREAM_REVIEW_ITEM, s->sweep) * total;
        size_t x = 0;
        for (; x + 1 < n && (u >= joint[x] || joint[x] == 0); x++) u -= joint[x];
        s->truth[i] = (uint16_t)(x % K);
        s->level[i] = (uint8_t)(x / K) | (dis__review_shared(s->m, i) ? 0 : DIS_SAMPLER_ALONE);
        level[x / K]++;
        class_sum[x % K]++;
    }
    return DIS_OK;
}

static dis_status draw_items(dis__sampler *s)
{
    const size_t K = s->K, n = LEVELS + K;
    const size_t n_items = s->m->votes.n_items;
    const dis__rank_rows tables[] = {
        {.table = s->truth, .row_size = sizeof *s->truth, .n = n_items},
        {.table = s->level, .row_size = sizeof *s->level, .n = n_items},
        {.table = s->item_sums, .row_size = n * sizeof *s->item_sums, .n = s->n_item_jobs, .per_job = 1}};
    DIS_TRY(dis__run_rank_jobs(s->m->ctx, s->n_item_jobs, item_job, s, tables, sizeof tables / sizeof *tables));
    for (size_t j = 1; j < s->n_item_jobs; j++)
        for (size_t x = 0; x < n; x++) s->item_sums[x] += s->item_sums[j * n + x];
    dis__source source = dis__source_at(s->seed, DIS_STREAM_REVIEW_CROWD, 2 * s->sweep);
    double level[LEVELS], levels = 0, classes = 0;
    for (size_t e = 0; e < LEVELS; e++)
        levels += level[e] = dis__draw_gamma(&source, (double)s->item_sums[e] + LEVEL_DOUBT * first_level[e]);
    for (size_t t = 0; t < K; t++)
        classes += s->prior[t] = dis__draw_gamma(&source, (double)s->item_sums[LEVELS + t] + 1);
    for (size_t e = LEVELS; e-- > 0;) /* level 0, which holds the draws, last */
        for (size_t t = 0; t < K; t++) s->prior[e * K + t] = level[e] / levels * s->prior[t] / classes;
    return DIS_OK;
}

/* ---- start and end ---- */

static double log_odds(const dis__sampler *s, double right)
{
    const double min = 1e-4;
    right = fmin(fmax(right, min), 1 - min);
    return log(right / (1 - right)) + s->chance;
}

/* The parameters of the fitted model. */
static void start(dis__sampler *s)
{
    const dis__crowd_model *m = s->m;
    const size_t K = s->K;
    const double *crowd = m->crowd + DIS_CROWD_USUAL * K * K;
    for (size_t t = 0; t < K; t++) {
        double wrong = 0;
        for (size_t v = 0; v < K; v++) wrong += v == t ? 0 : crowd[v * K + t];
        for (size_t v = 0; v < K; v++) s->common[v * K + t] = v == t ? 1 : crowd[v * K + t] / wrong;
        s->mean[t] = log_odds(s, crowd[t * K + t]);
        s->all += s->mean[t] / (double)K;
    }
    memset(s->scratch, 0, K * K * sizeof *s->scratch);
    for (size_t w = 0; w < s->W; w++) {
        for (size_t t = 0; t < K; t++) s->skill[w * K + t] = log_odds(s, exp(dis__crowd_matrix(m, w)[t * K + t]));
        dis__sampler_fill(s, w, s->scratch);
    }
    for (size_t x = 0; x < LEVELS * K; x++) s->prior[x] = exp(m->log_level[x / K] + m->log_prior[x % K]);
}

static int by_size(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

/* Sorts the counts of worker w. */
static dis__review_share share_of(const dis__sampler *s, size_t w)
{
    const dis__crowd_model *m = s->m;
    uint32_t *right = s->right + w * s->n_kept;
    dis__review_share out = {.mean = NAN, .low = NAN, .high = NAN};
    for (uint64_t a = m->worker_start[w]; a < m->worker_start[w + 1]; a++)
        out.shared += dis__review_shared(m, m->item_of[a]);
    if (!out.shared) return out;
    const double n = (double)out.shared, kept = (double)s->n_kept;
    double sum = 0;
    for (size_t k = 0; k < s->n_kept; k++) sum += right[k];
    qsort(right, s->n_kept, sizeof *right, by_size);
    out.mean = sum / kept / n;
    const double low = right[(size_t)floor(.025 * (kept - 1))] / n, high = right[(size_t)ceil(.975 * (kept - 1))] / n;
    out.low = fmax(out.mean - WIDENED * (out.mean - low) - .5 / n, 0);
    out.high = fmin(out.mean + WIDENED * (high - out.mean) + .5 / n, 1);
    return out;
}

typedef struct {
    const dis__sampler *s;
    dis__review_share *worker;
} share_work;

static dis_status share_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const share_work *x = arg;
    const size_t n_jobs = x->s->n_worker_jobs, last = dis__job_first(x->s->W, n_jobs, j + 1);
    for (size_t w = dis__job_first(x->s->W, n_jobs, j); w < last; w++) x->worker[w] = share_of(x->s, w);
    return DIS_OK;
}

static dis_status finish(dis__sampler *s, dis__review_sample *out)
{
    const size_t n_items = s->m->votes.n_items;
    share_work x = {.s = s, .worker = out->worker};
    const dis__rank_rows p = {.table = s->p, .row_size = s->K * sizeof *s->p, .n = n_items},
                         workers = {.table = out->worker, .row_size = sizeof *out->worker, .n = s->W};
    DIS_TRY(dis__gather_rank_rows(s->m->ctx, s->n_item_jobs, &p));
    for (size_t i = 0; i < n_items * s->K; i++) s->p[i] /= (double)s->n_kept;
    DIS_TRY(dis__run_rank_jobs(s->m->ctx, s->n_worker_jobs, share_job, &x, &workers, 1));
    out->spread = s->spread / (double)s->n_kept;
    return DIS_OK;
}

static dis_status allocate(dis__sampler *s)
{
    const size_t K = s->K, W = s->W, n = s->m->votes.n_items, threads = (size_t)dis_context_threads(s->m->ctx);
    s->n_worker_sums = 3 * K + 2 + K * K;
    s->n_scratch = K * K + (2 * LEVELS + 1) * K;
    DIS_TRY(dis__alloc_array(&s->truth, n, sizeof *s->truth));
    DIS_TRY(dis__alloc_array(&s->level, n, sizeof *s->level));
    DIS_TRY(dis__alloc_array(&s->item_key, n, sizeof *s->item_key));
    DIS_TRY(dis__alloc_array(&s->worker_key, W, sizeof *s->worker_key));
    DIS_TRY(dis__alloc_array(&s->skill, dis__size(W, K, 0), sizeof *s->skill));
    DIS_TRY(dis__alloc_zeroed(&s->talent, W, sizeof *s->talent));
    DIS_TRY(dis__alloc_array(&s->wrong, dis__size(W, LEVELS * K, 0), sizeof *s->wrong));
    DIS_TRY(dis__alloc_array(&s->odds, dis__size(W, LEVELS * K, 0), sizeof *s->odds));
    DIS_TRY(dis__alloc_array(&s->mistake, dis__size(W, K * K, 0), sizeof *s->mistake));
    DIS_TRY(dis__alloc_array(&s->right, dis__size(W, s->n_kept, 0), sizeof *s->right));
    DIS_TRY(dis__alloc_array(&s->prior, LEVELS * K, sizeof *s->prior));
    DIS_TRY(dis__alloc_array(&s->mean, K, sizeof *s->mean));
    DIS_TRY(dis__alloc_array(&s->common, K * K, sizeof *s->common));
    DIS_TRY(dis__alloc_array(&s->item_sums, s->n_item_jobs * (LEVELS + K), sizeof *s->item_sums));
    DIS_TRY(dis__alloc_array(&s->worker_sums, dis__size(s->n_worker_jobs, s->n_worker_sums, 0), sizeof(double)));
    return dis__alloc_array(&s->scratch, dis__size(threads, s->n_scratch, 0), sizeof *s->scratch);
}

static void release(dis__sampler *s)
{
    void *const all[] = {s->truth,  s->level,     s->item_key,    s->worker_key, s->skill, s->talent,
                         s->wrong,  s->odds,      s->mistake,     s->right,      s->prior, s->mean,
                         s->common, s->item_sums, s->worker_sums, s->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) dis__free(all[i]);
}

static size_t worker_jobs(const dis_votes_view *v)
{
    const size_t n = dis__n_jobs(v->n_votes, VOTE_GRAIN + 8 * v->n_classes * v->n_classes, MAX_JOBS);
    return n < v->n_workers ? n : v->n_workers ? v->n_workers : 1;
}

static dis_status run(dis__sampler *s, dis__review_sample *out)
{
    const size_t n = sweeps_of(&s->m->votes);
    s->products = DIS_KERNEL_PICK(dis__sampler_products);
    DIS_TRY(allocate(s));
    DIS_TRY(dis__sampler_keys(s));
    start(s);
    for (s->sweep = 0; s->sweep < n; s->sweep++) {
        dis__progress(s->m->ctx, "review", (double)s->sweep / (double)n);
        DIS_TRY(dis__check_stop(s->m->ctx));
        s->keep = s->sweep >= n - s->n_kept;
        DIS_TRY(draw_items(s));
        DIS_TRY(dis__sampler_workers(s));
        s->kept += s->keep;
    }
    return finish(s, out);
}

dis_status dis__review_sample_draw(const dis__crowd_model *m, uint64_t seed, dis__review_sample *out)
{
    *out = (dis__review_sample){0};
    DIS_TRY(dis__alloc_zeroed(&out->p, dis__size(m->votes.n_items, m->n_classes, 0), sizeof *out->p));
    DIS_TRY(dis__alloc_array(&out->worker, m->n_workers, sizeof *out->worker));
    dis__sampler s = {.m = m,
                      .K = m->n_classes,
                      .W = m->n_workers,
                      .seed = seed,
                      .n_kept = kept_of(&m->votes),
                      .p = out->p,
                      .chance = log((double)(m->n_classes - 1)),
                      .rho2 = .25,
                      .sigma2 = .5,
                      .tau2 = .25,
                      .n_item_jobs = dis__n_jobs(m->votes.n_items, ITEM_GRAIN, MAX_JOBS),
                      .n_worker_jobs = worker_jobs(&m->votes)};
    const dis_status status = run(&s, out);
    release(&s);
    return status;
}

size_t dis__review_sample_memory(const dis_votes_view *v)
{
    if (!v->start || v->n_classes < 2) return 0;
    const size_t K = v->n_classes, W = v->n_workers;
    const size_t doubles = dis__size(dis__size(W, K, 0), K + 2 * LEVELS + 1, dis__size(v->n_items, K + 5, 0));
    return dis__size(doubles, sizeof(double), dis__size(W, kept_of(v) * sizeof(uint32_t) + 64, 0));
}

void dis__review_sample_free(dis__review_sample *sample)
{
    dis__free(sample->p);
    dis__free(sample->worker);
    *sample = (dis__review_sample){0};
}
