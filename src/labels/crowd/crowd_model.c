/* Fits the model of crowd_model.h to votes by a few rounds of EM from the first labels of a label method:
 *
 *     worker   n[v][t] = sum of p(t | item) over the worker's votes for v
 *              skill   = (right + 4 usual) / (votes + 4), usual: expected under the crowd's matrix
 *              base    = the crowd's matrix with the odds on its diagonal moved by logit(skill) - logit(usual)
 *              confusion[v][t] = (n[v][t] + STRENGTH base[v][t]) / (n[t] + STRENGTH)
 *              (crowd_matrices.c)
 *     item     p(t, e) ~ prior[t] level[e] prod over votes of P(v | w, t, e)
 *     crowd    level[e], prior[t]: means of p, with pseudo-counts of 100 and of 5 items
 *
 * So a worker with three votes behaves like the crowd, one with thirty has an own skill, one with hundreds an own
 * matrix. The constants (10 votes per column, 5 rounds) worked well on simulated and real crowds; results are not
 * sensitive to them.
 *
 * Ranks: each rank continues the sums of the previous one, so they equal those of one process. This concerns the
 * expected counts of workers, and the sums of a job whose items two ranks share.
 *
 * Cost: O(votes K) per round, O(n_workers K^2) doubles and exponentials. */
#include "core/numbers/elementary.h"
#include "labels/crowd/crowd_model.h"
#include "core/parallel/comm.h"
#include "core/memory/spill.h"
#include "labels/method.h"
#include "labels/passes/item_passes.h"
#include "core/kernel.h"
#include <math.h>
#include <string.h>

#define LEVEL_DOUBT 100.0 /* items */
#define PRIOR_DOUBT 5.0   /* items */
enum { ROUNDS_ANONYMOUS = 30, MAX_JOBS = 64, GRAIN = 4096 };

const double dis__crowd_ease[DIS_CROWD_LEVELS] = {.25, 1, 2};
static const double first_level[DIS_CROWD_LEVELS] = {.1, .8, .1};

size_t dis__crowd_model_memory(const dis_votes_view *votes)
{
    const size_t K = votes->n_classes, W = votes->start ? votes->n_workers : 1;
    const size_t tables =
        dis__saturating_size(dis__saturating_size(W, K, 0), K + DIS_CROWD_LEVELS, dis__saturating_size(K, 3 * K, 0));
    return dis__saturating_size(tables, sizeof(double), 0);
}

/* Contribution of the joint posterior of item i to its class probabilities and to the sums over items: levels,
 * classes. */
static void sum_item(const dis__crowd_model *m, size_t i, const double *joint, double *level, double *class_sum)
{
    const size_t K = m->n_classes;
    double *p = m->p + i * K;
    memset(p, 0, K * sizeof *p);
    for (size_t e = 0; e < DIS_CROWD_LEVELS; e++)
        for (size_t t = 0; t < K; t++) {
            p[t] += joint[e * K + t];
            level[e] += joint[e * K + t];
        }
    if (m->gold && m->gold[i] >= 0) p[m->gold[i]] = 1; /* clip rounding errors */
    for (size_t t = 0; t < K; t++) class_sum[t] += p[t];
}

typedef struct {
    const dis__crowd_model *m;
    double *scratch; /* (threads, n_scratch) */
    size_t n_scratch;
} item_pass;

/* New posteriors of a range of items; sums: levels, classes, log-likelihood. */
static void item_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const item_pass *c = arg;
    const dis__crowd_model *m = c->m;
    const size_t K = m->n_classes;
    double *joint = c->scratch + (size_t)thread * c->n_scratch, log_total[DIS_CROWD_BLOCK];
    double *level = sums, *class_sum = level + DIS_CROWD_LEVELS, *likelihood = class_sum + K;
    for (size_t i = first, n; i < last; i += n) {
        n = dis__crowd_block_size(K) < last - i ? dis__crowd_block_size(K) : last - i;
        dis__crowd_compute_joints(m, i, n, joint, joint + DIS_CROWD_LEVELS * K * n, log_total);
        for (size_t b = 0; b < n; b++) {
            *likelihood += log_total[b];
            sum_item(m, i + b, joint + b * DIS_CROWD_LEVELS * K, level, class_sum);
        }
    }
}

static void update_priors(dis__crowd_model *m, const double *sums)
{
    const size_t K = m->n_classes;
    const double n = (double)m->part.n_items;
    for (size_t e = 0; e < DIS_CROWD_LEVELS; e++)
        m->log_level[e] = dis__log((sums[e] + LEVEL_DOUBT * first_level[e]) / (n + LEVEL_DOUBT));
    for (size_t t = 0; t < K; t++)
        m->log_prior[t] = dis__log((sums[DIS_CROWD_LEVELS + t] + PRIOR_DOUBT / (double)K) / (n + PRIOR_DOUBT));
}

/* Sums over the items of all ranks (n_sums), in their order. */
static dis_status sum_items(const dis__crowd_model *m,
                            void (*job)(void *arg, size_t first, size_t last, double *sums, int thread), void *arg,
                            size_t n_sums, const double *start, double *total)
{
    const dis__fit_args items = {.ctx = m->ctx, .votes = m->votes, .part = m->part};
    dis__item_sums s = {.args = &items,
                        .n_jobs = dis__n_jobs(m->part.n_items, GRAIN, MAX_JOBS),
                        .n_sums = n_sums,
                        .job = job,
                        .arg = arg,
                        .start = start};
    DIS_TRY(dis__item_sums_create(&s));
    const dis_status status = dis__item_sums_run(&s, total);
    dis__item_sums_destroy(&s);
    return status;
}

dis_status dis__crowd_model_update_posteriors(dis__crowd_model *m)
{
    const size_t K = m->n_classes, threads = (size_t)dis_context_n_threads(m->ctx);
    item_pass c = {.m = m, .n_scratch = (DIS_CROWD_LEVELS + 1) * K * dis__crowd_block_size(K)};
    double *sums = NULL;
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&sums, DIS_CROWD_LEVELS + K + 1, sizeof *sums), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&c.scratch, dis__saturating_size(threads, c.n_scratch, 0), sizeof *c.scratch),
                 end);
    DIS_TRY_GOTO(status, sum_items(m, item_job, &c, DIS_CROWD_LEVELS + K + 1, NULL, sums), end);
    m->log_likelihood = sums[DIS_CROWD_LEVELS + K];
    update_priors(m, sums);
end:
    dis__free(c.scratch);
    dis__free(sums);
    return status;
}

/* The first labels of a range of items, summed by class. */
static void first_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    (void)thread;
    const dis__crowd_model *m = arg;
    const size_t K = m->n_classes;
    for (size_t i = first; i < last; i++)
        for (size_t t = 0; t < K; t++) sums[t] += m->p[i * K + t];
}

/* Class prior of the first labels. */
dis_status dis__crowd_model_init_priors(dis__crowd_model *m)
{
    const size_t K = m->n_classes;
    double *sum;
    DIS_TRY(dis__alloc_array(&sum, K, sizeof *sum));
    for (size_t e = 0; e < DIS_CROWD_LEVELS; e++) m->log_level[e] = dis__log(first_level[e]);
    for (size_t t = 0; t < K; t++) sum[t] = PRIOR_DOUBT / (double)K;
    const dis_status status = sum_items(m, first_job, m, K, sum, sum);
    for (size_t t = 0; status == DIS_OK && t < K; t++)
        m->log_prior[t] = dis__log(sum[t] / ((double)m->part.n_items + PRIOR_DOUBT));
    dis__free(sum);
    return status;
}

static dis_status allocate(dis__crowd_model *m)
{
    const size_t K = m->n_classes;
    DIS_TRY(dis__alloc_array(&m->log_confusion, dis__saturating_size(m->n_workers, K * K, 0), sizeof(double)));
    DIS_TRY(
        dis__alloc_array(&m->log_norm, dis__saturating_size(m->n_workers, DIS_CROWD_LEVELS * K, 0), sizeof(double)));
    DIS_TRY(dis__alloc_array(&m->crowd, DIS_CROWD_LEVELS * K * K, sizeof(double)));
    DIS_TRY(dis__alloc_array(&m->log_prior, K, sizeof(double)));
    return DIS_OK;
}

dis_status dis__crowd_model_create(dis_context *ctx, const dis_votes_view *votes, const dis__votes_part *part,
                                   const int32_t *gold, double *p, dis__crowd_model *m)
{
    const dis__votes_part all_votes = {.n_items = votes->n_items, .n_votes = votes->n_votes, .n_owners = 1};
    *m = (dis__crowd_model){.ctx = ctx,
                            .votes = *votes,
                            .part = part ? *part : all_votes,
                            .gold = gold,
                            .n_workers = votes->start ? votes->n_workers : 1,
                            .n_classes = votes->n_classes,
                            .special = dis__special_functions_select(),
                            .p = p};
    const dis_status status = allocate(m);
    if (status != DIS_OK) dis__crowd_model_destroy(m);
    return status;
}

dis_status dis__crowd_model_fit(dis__crowd_model *m)
{
    DIS_TRY(dis__crowd_model_init_priors(m));
    const int rounds = m->votes.start ? DIS_CROWD_ROUNDS : ROUNDS_ANONYMOUS;
    for (int r = 0; r < rounds; r++) {
        dis__progress(m->ctx, "review", (double)r / rounds);
        DIS_TRY(dis__check_stop(m->ctx));
        DIS_TRY(dis__crowd_model_update_matrices(m));
        DIS_TRY(dis__crowd_model_update_posteriors(m));
    }
    return DIS_OK;
}

void dis__crowd_model_destroy(dis__crowd_model *m)
{
    dis__free(m->p);
    dis__free(m->log_confusion);
    dis__free(m->log_norm);
    dis__free(m->crowd);
    dis__free(m->log_prior);
    dis__free(m->worker_start);
    dis__free(m->item_of);
    dis__free(m->label_of);
    *m = (dis__crowd_model){0};
}

/* ---- what votes say of items ---- */

/* Posteriors of items under the crowd model, a block of items at a time: the votes of each item are summed by a kernel
 * (crowd_kernel.c), then all exponentials of the block are computed at once.
 *
 * Cost: 4 K additions per vote, 3 K exponentials per item. */
DIS_KERNEL_DECLARE(void, dis__crowd_add_votes,
                   (const dis__crowd_model *m, size_t first, size_t n, double *sums, double *norm));

/* Counts: all votes belong to the same worker. */
static void add_counts(const dis__crowd_model *m, size_t i, double *sums, double *norm)
{
    const size_t K = m->n_classes;
    memset(sums, 0, K * sizeof *sums);
    memset(norm, 0, DIS_CROWD_LEVELS * K * sizeof *norm);
    for (size_t l = 0; l < K; l++) {
        const double n = m->votes.counts[i * K + l];
        if (!(n > 0)) continue;
        for (size_t t = 0; t < K; t++) sums[t] += n * m->log_confusion[l * K + t];
        for (size_t x = 0; x < DIS_CROWD_LEVELS * K; x++) norm[x] += n * m->log_norm[x];
    }
}

static void add_votes(const dis__crowd_model *m, size_t first, size_t n, double *sums, double *norm)
{
    const size_t K = m->n_classes;
    if (m->votes.start)
        DIS_KERNEL_SELECT(dis__crowd_add_votes)(m, first, n, sums, norm);
    else
        for (size_t b = 0; b < n; b++) add_counts(m, first + b, sums + b * K, norm + b * DIS_CROWD_LEVELS * K);
}

/* Log-probabilities of one item's joint posterior, minus their maximum, which is returned. */
static double put_together(const dis__crowd_model *m, size_t i, const double *sums, double *joint)
{
    const size_t K = m->n_classes;
    const int32_t gold = m->gold ? m->gold[i] : -1;
    double max = -INFINITY;
    for (size_t e = 0; e < DIS_CROWD_LEVELS; e++) {
        double *x = joint + e * K;
        for (size_t t = 0; t < K; t++) x[t] = m->log_level[e] + m->log_prior[t] + dis__crowd_ease[e] * sums[t] - x[t];
        for (size_t t = 0; t < K && gold >= 0; t++) x[t] = (size_t)gold == t ? x[t] : -INFINITY;
        for (size_t t = 0; t < K; t++) max = x[t] > max ? x[t] : max;
    }
    for (size_t x = 0; x < DIS_CROWD_LEVELS * K; x++) joint[x] -= max;
    return max;
}

void dis__crowd_compute_joints(const dis__crowd_model *m, size_t first, size_t n, double *joint, double *sums,
                               double *log_likelihood)
{
    const size_t K = m->n_classes, width = DIS_CROWD_LEVELS * K;
    double max[DIS_CROWD_BLOCK];
    add_votes(m, first, n, sums, joint);
    for (size_t b = 0; b < n; b++) max[b] = put_together(m, first + b, sums + b * K, joint + b * width);
    m->special.exp(joint, n * width);
    for (size_t b = 0; b < n; b++) {
        double *x = joint + b * width, total = 0;
        for (size_t k = 0; k < width; k++) total += x[k];
        for (size_t k = 0; k < width; k++) x[k] /= total;
        log_likelihood[b] = total;
    }
    m->special.log(log_likelihood, n);
    for (size_t b = 0; b < n; b++) log_likelihood[b] += max[b];
}

double dis__crowd_compute_joint(const dis__crowd_model *m, size_t i, double *joint, double *sums)
{
    double log_likelihood;
    dis__crowd_compute_joints(m, i, 1, joint, sums, &log_likelihood);
    return log_likelihood;
}
