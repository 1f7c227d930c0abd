/* Whether annotators fall into two camps that read the items differently.
 *
 * Items are split into two halves. The camps are found on one half (camp_search.c) and tested on the other, so the search
 * does not affect the level of the test. Several splits make the result depend less on chance: p is the median of
 * their p-values, and camps are reported if it is at most .05 and more than a third of the splits meet the other conditions.
 *
 * The test. If all annotators read the items in the same way, an annotator of the other camp A predicts a vote of camp B as
 * well as another annotator of B with the same accuracy. For b, b' in B, with S the other votes of B on the item,
 * and means over the votes of A,
 *
 *     d_ibb' = [x_b = x_b'] - mean [x_b = x_a] - (P(x_b = x_b' | S) - mean P(x_b = x_a | S))
 *
 * has mean 0. S is the same in both terms, so errors of the model largely cancel. z is the sum of d over both camps, divided
 * by its standard error between items.
 *
 * People who copy each other also agree beyond the model, but seldom look like two camps. Camps are therefore reported only
 * if
 *
 *     - within each camp, agreement is significantly higher than between the camps
 *     - most annotators agree more with their own camp
 *     - no camp agrees within itself far more than the other, as people do who give one person's votes
 *     - no camp itself falls into two, as it does if a few of its members copy each other
 *
 * Cost: votes of an item x K^2 + pairs of its votes x K, for all items or as many as the budget permits.
 * bench/truth/annotator_camps.py measures level and power. */
#include "review/camps/annotator_camps.h"
#include "core/memory/memory.h"
#include "core/numbers/erfc.h"
#include "core/parallel/pool.h"
#include "review/camps/camp_finder.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MIN_ITEMS = 20, /* held out, with votes of both camps */
    MIN_WORKERS = 4,
    SPLITS = 7 /* into halves, at most 8 */
};
#define LEVEL       .05
#define SPLIT_LEVEL .05               /* at which a camp itself falls into two */
#define Z_AGREEMENT 1.644853626951473 /* of the differences in agreement, in standard errors */
#define MOST        .75               /* share of annotators who agree more with their own camp */
#define UNIFORM     .65               /* ratio of the shares of unequal pairs in the two camps */
#define SMALLEST    .15               /* camp, as a share of the annotators */

/* Means over the votes of the other camp: q->mean by state and label; share (K) of their labels. Their number. */
static size_t average_others(const dis__camp_finder *x, dis__camp_item *q, int camp, double *share)
{
    const size_t K = q->K, width = q->n_states * K;
    size_t n = 0;
    memset(q->mean, 0, width * sizeof *q->mean);
    memset(share, 0, K * sizeof *share);
    for (size_t a = 0; a < q->n; a++) {
        if (x->camp[q->vote[a].worker] == camp) continue;
        for (size_t i = 0; i < width; i++) q->mean[i] += q->p[a * width + i];
        share[q->vote[a].label]++;
        n++;
    }
    for (size_t i = 0; i < width && n; i++) q->mean[i] /= (double)n;
    for (size_t k = 0; k < K && n; k++) share[k] /= (double)n;
    return n;
}

static void test_item(dis__camp_finder *x, size_t s, int camp, dis__camp_item *q)
{
    const size_t K = q->K, width = q->n_states * K;
    double *share = q->mean + width, sum = 0;
    size_t n = 0;
    for (size_t a = 0; a < q->n; a++) n += x->camp[q->vote[a].worker] == camp;
    if (n < 2 || n == q->n || average_others(x, q, camp, share) == 0) return;
    for (size_t a = 0; a < q->n; a++) {
        if (x->camp[q->vote[a].worker] != camp) continue;
        double own = 0;
        for (size_t b = 0; b < q->n; b++) {
            if (b == a || x->camp[q->vote[b].worker] != camp) continue;
            const double *p = q->p + a * width, *r = q->p + b * width;
            double expected = 0;
            dis__camp_compute_states(x, q, camp, a, b);
            for (size_t t = 0; t < q->n_states; t++) {
                double more = 0;
                for (size_t k = 0; k < K; k++) more += p[t * K + k] * (r[t * K + k] - q->mean[t * K + k]);
                expected += q->state[t] * more;
            }
            own += (q->vote[a].label == q->vote[b].label) - share[q->vote[a].label] - expected;
        }
        sum += own / (double)n;
    }
    x->tally[s].difference += sum;
    x->tally[s].n = 1;
}

static void count_agreement(dis__camp_finder *x, size_t s, const dis__camp_item *q)
{
    dis__camp_tally *tally = &x->tally[s];
    for (size_t a = 0; a < q->n; a++)
        for (size_t b = 0; b < a; b++) {
            const size_t kind = dis__camp_pair_kind(x, q->vote[a].worker, q->vote[b].worker);
            tally->n_equal[kind] += q->vote[a].label == q->vote[b].label;
            tally->n_pairs[kind]++;
        }
}

static dis_status test_job(void *arg, size_t j, int thread)
{
    dis__camp_finder *x = arg;
    dis__camp_item q;
    dis__camp_bind_scratch(x, thread, &q);
    const size_t n_jobs = dis__n_jobs(x->n_items, DIS_CAMP_GRAIN, DIS_CAMP_MAX_JOBS);
    for (size_t s = dis__job_first(x->n_items, n_jobs, j); s < dis__job_first(x->n_items, n_jobs, j + 1); s++) {
        if (!dis__camp_is_held_out(x, s)) continue;
        dis__camp_gather_votes(x, s, &q);
        dis__camp_compute_labels(x, &q);
        test_item(x, s, 0, &q);
        test_item(x, s, 1, &q);
        count_agreement(x, s, &q);
    }
    return DIS_OK;
}

static dis__camp_tally add_tallies(const dis__camp_finder *x, double *variance)
{
    dis__camp_tally sum = {.n = 0};
    double squares = 0;
    for (size_t s = 0; s < x->n_items; s++) {
        const dis__camp_tally *one = &x->tally[s];
        for (size_t k = 0; k < 3; k++) {
            sum.n_pairs[k] += one->n_pairs[k];
            sum.n_equal[k] += one->n_equal[k];
        }
        sum.difference += one->difference;
        squares += one->difference * one->difference;
        sum.n += one->n;
    }
    *variance = sum.n > 1 ? (squares - sum.difference * sum.difference / sum.n) * sum.n / (sum.n - 1) : 0;
    return sum;
}

/* Smaller share, of the two camps, of annotators who agree more with their own camp than with the other. */
static dis_status share_loyal(const dis__camp_finder *x, double *share)
{
    double *sum, n[2] = {0, 0}, loyal[2] = {0, 0}; /* sum (n_workers, 4): equal pairs, pairs; within, between */
    dis__camp_item q;
    DIS_TRY(dis__alloc_zeroed(&sum, dis__saturating_size(x->n_workers + 1, 4, 0), sizeof *sum));
    for (size_t s = 0; s < x->n_items; s++) {
        if (!dis__camp_is_held_out(x, s)) continue;
        dis__camp_gather_votes(x, s, &q);
        for (size_t a = 0; a < q.n; a++)
            for (size_t b = 0; b < q.n; b++) {
                const uint32_t v = q.vote[a].worker, w = q.vote[b].worker;
                double *own = sum + 4 * v + 2 * (x->camp[v] != x->camp[w]);
                if (a == b) continue;
                own[0] += q.vote[a].label == q.vote[b].label;
                own[1]++;
            }
    }
    for (size_t w = 0; w < x->n_workers; w++) {
        const double *own = sum + 4 * w;
        if (!(own[1] > 0 && own[3] > 0)) continue;
        n[x->camp[w]]++;
        loyal[x->camp[w]] += own[0] / own[1] > own[2] / own[3];
    }
    dis__free(sum);
    *share = n[0] > 0 && n[1] > 0 ? fmin(loyal[0] / n[0], loyal[1] / n[1]) : 0;
    return DIS_OK;
}

static bool sizes_are_sufficient(const dis__camp_finder *x)
{
    size_t n = 0;
    for (size_t w = 0; w < x->n_workers; w++) n += x->camp[w];
    const double least = fmax(2, SMALLEST * (double)x->n_workers);
    return (double)n >= least && (double)(x->n_workers - n) >= least;
}

/* Finds camps on one half of the items and tests them on the other; p. NaN: too few votes. 1: no camps of sufficient
 * size. */
static dis_status test_split(dis__camp_finder *x, dis__camp_tally *sum, double *p)
{
    double variance;
    dis__camp_search(x);
    *p = 1;
    if (!sizes_are_sufficient(x)) return DIS_OK;
    memset(x->tally, 0, x->n_items * sizeof *x->tally);
    DIS_TRY(dis__run_jobs(x->m->ctx, dis__n_jobs(x->n_items, DIS_CAMP_GRAIN, DIS_CAMP_MAX_JOBS), test_job, x));
    *sum = add_tallies(x, &variance);
    *p = sum->n >= MIN_ITEMS && variance > 0 ? dis__erfc(sum->difference / sqrt(2 * variance)) / 2 : (double)NAN;
    return DIS_OK;
}

/* Whether a camp itself falls into two, as if some of its annotators copied each other. */
static dis_status camp_is_split(const dis__camp_finder *x, uint8_t camp, bool *is_split)
{
    dis__camp_finder part = {.m = x->m,
                             .seed = x->seed,
                             .is_part = true,
                             .n_items = x->n_items,
                             .item = x->item,
                             .halves = x->halves,
                             .split = x->split,
                             .worker_key = x->worker_key};
    dis__camp_tally sum;
    double p = (double)NAN;
    dis_status status = dis__camp_sample_members(x, camp, &part);
    if (status == DIS_OK && part.n_workers >= MIN_WORKERS) {
        status = dis__camp_prepare_search(&part);
        if (status == DIS_OK) status = test_split(&part, &sum, &p);
    }
    *is_split = p <= SPLIT_LEVEL;
    dis__camp_finder_free(&part);
    return status;
}

/* By how many standard errors two annotators of a camp agree more than two of different camps. */
static double agreement_z(const dis__camp_finder *x, const dis__camp_tally *sum, size_t camp)
{
    const double within = sum->n_equal[camp] / sum->n_pairs[camp],
                 between = sum->n_equal[DIS_CAMP_BETWEEN] / sum->n_pairs[DIS_CAMP_BETWEEN];
    double variance = 0;
    for (size_t s = 0; s < x->n_items; s++) {
        const dis__camp_tally *one = &x->tally[s];
        const double d = (one->n_equal[camp] - within * one->n_pairs[camp]) / sum->n_pairs[camp] -
                         (one->n_equal[DIS_CAMP_BETWEEN] - between * one->n_pairs[DIS_CAMP_BETWEEN]) /
                             sum->n_pairs[DIS_CAMP_BETWEEN];
        variance += d * d;
    }
    return variance > 0 ? (within - between) / sqrt(variance) : 0;
}

/* Two annotators of the same camp agree more than two of different camps, in both camps; and no camp is much more uniform
 * than the other. */
static bool agreement_fits(const dis__camp_finder *x, const dis__camp_tally *sum)
{
    const double apart[2] = {1 - sum->n_equal[0] / sum->n_pairs[0], 1 - sum->n_equal[1] / sum->n_pairs[1]};
    if (!(fmin(apart[0], apart[1]) >= UNIFORM * fmax(apart[0], apart[1]))) return false;
    return agreement_z(x, sum, 0) >= Z_AGREEMENT && agreement_z(x, sum, 1) >= Z_AGREEMENT;
}

/* Whether the camps of a split are two camps by all conditions. */
static dis_status decide(const dis__camp_finder *x, const dis__camp_tally *sum, double p, bool *has_two)
{
    double share;
    bool is_split[2];
    *has_two = false;
    if (!(p <= LEVEL) || !agreement_fits(x, sum)) return DIS_OK;
    DIS_TRY(share_loyal(x, &share));
    if (share < MOST) return DIS_OK;
    DIS_TRY(camp_is_split(x, 0, &is_split[0]));
    if (is_split[0]) return DIS_OK;
    DIS_TRY(camp_is_split(x, 1, &is_split[1]));
    *has_two = !is_split[1];
    return DIS_OK;
}

static int by_size(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

/* All splits. The median of p-values of one null hypothesis is at most .05 in at most .1 of the cases whatever their
 * dependence, and far less often if they depend on each other as here. */
static dis_status run_splits(dis__camp_finder *x, dis_review_camps *out)
{
    dis__camp_tally all = {.n = 0};
    double p[SPLITS];
    size_t n_two = 0, n_tested = 0;
    for (x->split = 0; x->split < SPLITS; x->split++) {
        dis__camp_tally sum = {.n = 0};
        bool has_two;
        DIS_TRY(dis__check_stop(x->m->ctx));
        DIS_TRY(test_split(x, &sum, &p[x->split]));
        if (isnan(p[x->split])) {
            p[x->split] = 1;
            continue;
        }
        n_tested++;
        for (size_t k = 0; k < 3; k++) {
            all.n_equal[k] += sum.n_equal[k];
            all.n_pairs[k] += sum.n_pairs[k];
        }
        DIS_TRY(decide(x, &sum, p[x->split], &has_two));
        n_two += has_two;
    }
    if (n_tested == 0) return DIS_OK;
    qsort(p, SPLITS, sizeof *p, by_size);
    out->p = p[SPLITS / 2];
    out->has_two = out->p <= LEVEL && 3 * n_two > SPLITS;
    if (all.n_pairs[0] + all.n_pairs[1] > 0 && all.n_pairs[DIS_CAMP_BETWEEN] > 0) {
        out->agreement_within = (all.n_equal[0] + all.n_equal[1]) / (all.n_pairs[0] + all.n_pairs[1]);
        out->agreement_across = all.n_equal[DIS_CAMP_BETWEEN] / all.n_pairs[DIS_CAMP_BETWEEN];
    }
    return DIS_OK;
}

/* ---- the result ---- */

/* Camps of all annotators, found on all items, the larger camp first. */
static void write_camps(const dis__camp_finder *x, uint8_t *camp, dis_review_camps *out)
{
    size_t n = 0;
    for (size_t w = 0; w < x->n_workers; w++) n += x->camp[w];
    const bool second_is_larger = 2 * n > x->n_workers;
    out->n[0] = second_is_larger ? n : x->n_workers - n;
    out->n[1] = x->n_workers - out->n[0];
    for (size_t w = 0; w < x->m->votes.n_workers; w++)
        camp[w] = x->number[w] == UINT32_MAX ? 0 : x->camp[x->number[w]] == second_is_larger ? 1 : 2;
}

static dis_status run(dis__camp_finder *x, uint8_t *camp, dis_review_camps *out)
{
    DIS_TRY(dis__camp_sample_items(x));
    DIS_TRY(dis__camp_sample_workers(x));
    if (x->n_workers < MIN_WORKERS) return DIS_OK;
    DIS_TRY(dis__camp_prepare_search(x));
    DIS_TRY(run_splits(x, out));
    if (isnan(out->p)) return DIS_OK;
    x->finding_on_all = true;
    dis__camp_search(x);
    out->has_two &= sizes_are_sufficient(x);
    write_camps(x, camp, out);
    return DIS_OK;
}

dis_status dis__review_find_camps(const dis__crowd_model *m, uint64_t seed, uint8_t *camp, dis_review_camps *out)
{
    dis__camp_finder x = {.m = m, .seed = seed};
    *out = (dis_review_camps){.p = NAN, .agreement_within = NAN, .agreement_across = NAN, .camp = camp};
    const dis_status status = run(&x, camp, out);
    dis__camp_finder_free(&x);
    return status;
}
