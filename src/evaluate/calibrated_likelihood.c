/* Calibrated log-likelihood (Ashukha et al. 2020, as Wright and Augenstein 2022 use it): the items are split in half at
 * random, a temperature is fitted on one half, and the mean negative log-likelihood of the other half is computed. The
 * result is the average over several splits.
 *
 * In b = 1 / T the negative log-likelihood is convex. Its minimum is found by Halley's method on the derivative, within
 * a bracket that shrinks with the sign of the derivative (bisection of log b if a step would leave it). All splits are
 * searched together, so that they share the logarithms of a pass. With many items the search starts from the minimum on
 * a sixteenth of them. The last step is small (1e-6), so it needs no further pass: the value of the other half follows
 * from its derivatives, with an error far below rounding.
 *
 * Cost: about three passes, each one logarithm and n_splits exponentials for each item and class. */
#include "evaluate/calibrated_likelihood.h"
#include "core/random/rng.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/random/random.h"
#include <math.h>
#include <string.h>

enum {
    SAMPLE = 16,     /* the first search uses one item in this many */
    MANY = 1 << 16,  /* if there are at least this many items */
    MAX_PASSES = 200 /* bisection alone would need 60 */
};
#define MIN_BETA   .01
#define MAX_BETA   100.0
#define SMALL_STEP 1e-6 /* of b, relative */

/* ---- halves ---- */

/* Marks half of n elements (one less if n is odd) with a bit, each subset equally likely (selection sampling, Knuth
 * 1969, algorithm S). */
static void mark_half(uint16_t *mark, size_t n, unsigned bit, uint64_t seed)
{
    dis__rng source = dis__rng_at(seed, DIS_STREAM_HALVES, bit);
    uint64_t wanted = n / 2;
    for (size_t i = 0; i < n; i++) {
        const bool in = dis__rng_below(&source, n - i) < wanted;
        wanted -= in;
        mark[i] |= (uint16_t)(in << bit);
    }
}

static dis_status halves(const dis__calibration *c, uint16_t *fitted)
{
    memset(fitted, 0, c->n * sizeof *fitted);
    if (!c->group) {
        for (unsigned s = 0; s < c->n_splits; s++) mark_half(fitted, c->n, s, c->seed);
        return DIS_OK;
    }
    /* Groups with items are numbered in order of appearance, so that empty groups have no effect. */
    uint32_t *place;
    uint16_t *mark = NULL;
    DIS_TRY(dis__alloc_array(&place, c->n_groups, sizeof *place));
    for (size_t g = 0; g < c->n_groups; g++) place[g] = UINT32_MAX;
    uint32_t n_groups = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint32_t *p = &place[c->group[c->item ? c->item[i] : i]];
        if (*p == UINT32_MAX) *p = n_groups++;
    }
    const dis_status status = dis__alloc_zeroed(&mark, n_groups, sizeof *mark);
    if (status == DIS_OK) {
        for (unsigned s = 0; s < c->n_splits; s++) mark_half(mark, n_groups, s, c->seed);
        for (size_t i = 0; i < c->n; i++) fitted[i] = mark[place[c->group[c->item ? c->item[i] : i]]];
    }
    dis__free(place);
    dis__free(mark);
    return status;
}

/* ---- passes ---- */

typedef struct {
    const dis__calibrated_args *args;
    size_t n, stride, n_jobs, scratch_size, sums_size;
    double *scratch;            /* per thread */
    dis__calibrated_sums *sums; /* per job: (n_splits, 2) */
} passing;

static dis_status pass_job(void *arg, size_t j, int thread)
{
    const passing *p = arg;
    dis__calibrated_sums *sums = p->sums + j * p->sums_size;
    memset(sums, 0, p->sums_size * sizeof *sums);
    DIS_KERNEL_SELECT(dis__calibrated_pass)
    (p->args, dis__job_first(p->n, p->n_jobs, j), dis__job_first(p->n, p->n_jobs, j + 1), p->stride,
     p->scratch + (size_t)thread * p->scratch_size, sums);
    return DIS_OK;
}

static dis_status items_job(void *arg, size_t j, int thread)
{
    const passing *p = arg;
    DIS_KERNEL_SELECT(dis__calibrated_items)
    (p->args, dis__job_first(p->n, p->n_jobs, j), dis__job_first(p->n, p->n_jobs, j + 1),
     p->scratch + (size_t)thread * p->scratch_size);
    return DIS_OK;
}

static dis_status passing_open(dis_context *ctx, const dis__calibration *c, passing *p)
{
    p->scratch_size = dis__saturating_size(c->n_classes, 8, 0); /* doubles: the widest vector has eight */
    p->sums_size = 2 * DIS_EVALUATION_MAX_SPLITS;
    p->n_jobs = dis__n_jobs(c->n, 16384, 64);
    DIS_TRY(dis__alloc_array(&p->scratch, dis__saturating_size((size_t)dis_context_n_threads(ctx), p->scratch_size, 0),
                             sizeof *p->scratch));
    return dis__alloc_array(&p->sums, dis__saturating_size(p->n_jobs, p->sums_size, 0), sizeof *p->sums);
}

static void passing_close(passing *p)
{
    dis__free(p->scratch);
    dis__free(p->sums);
}

/* Sums of one pass into p->sums[0 ..]. */
static dis_status pass(dis_context *ctx, passing *p)
{
    DIS_TRY(dis__run_jobs(ctx, p->n_jobs, pass_job, p));
    for (size_t j = 1; j < p->n_jobs; j++)
        for (size_t s = 0; s < 2 * p->args->n_splits; s++) {
            const dis__calibrated_sums *from = &p->sums[j * p->sums_size + s];
            p->sums[s].f += from->f;
            p->sums[s].f1 += from->f1;
            p->sums[s].f2 += from->f2;
            p->sums[s].f3 += from->f3;
        }
    return DIS_OK;
}

/* ---- the search ---- */

typedef struct {
    double beta, low, high; /* bracket of the minimum */
    double step;            /* the last step, to be added to beta */
    bool done, on_bound;
} search;

/* One step from the sums at s->beta, which is also where the next pass is computed, unless the search is done. */
static void advance(search *s, const dis__calibrated_sums *sums)
{
    const double g = sums->f1, h = sums->f2, curl = 2 * h * h - g * sums->f3;
    s->step = 0;
    if ((s->beta <= MIN_BETA && g >= 0) || (s->beta >= MAX_BETA && g <= 0)) {
        s->done = s->on_bound = g != 0;
        s->done = true;
        return;
    }
    if (g == 0) {
        s->done = true;
        return;
    }
    *(g > 0 ? &s->high : &s->low) = s->beta;
    double step = h > 0 && curl > h * h ? -2 * g * h / curl : h > 0 ? -g / h : g > 0 ? -1e9 : 1e9;
    double next = s->beta + step;
    if (fabs(step) <= SMALL_STEP * s->beta && next >= MIN_BETA && next <= MAX_BETA) {
        s->step = step;
        s->done = true;
        return;
    }
    if (next <= MIN_BETA && s->low == MIN_BETA)
        next = MIN_BETA;
    else if (next >= MAX_BETA && s->high == MAX_BETA)
        next = MAX_BETA;
    else if (next <= s->low || next >= s->high)
        next = sqrt(s->low * s->high);
    if (s->high - s->low <= 1e-14 * s->high) s->done = true; /* the bracket is empty */
    if (!s->done) s->beta = next;
}

/* The minimum for all items, estimated from a sixteenth of them; a good starting point. */
static dis_status start(dis_context *ctx, passing *p, const dis__calibration *c, double *beta)
{
    *beta = 1;
    if (c->n < MANY) return DIS_OK;
    dis__calibrated_args args = {.c = c, .fitted = p->args->fitted, .n_splits = 1, .bit = {0}};
    passing few = *p;
    few.args = &args;
    few.stride = SAMPLE;
    few.n = c->n / SAMPLE;
    few.n_jobs = dis__n_jobs(few.n, 16384, p->n_jobs);
    search s = {.beta = 1, .low = MIN_BETA, .high = MAX_BETA};
    for (int i = 0; i < MAX_PASSES && !s.done; i++) {
        args.beta[0] = s.beta;
        DIS_TRY(pass(ctx, &few));
        const dis__calibrated_sums both = {.f1 = few.sums[0].f1 + few.sums[1].f1,
                                           .f2 = few.sums[0].f2 + few.sums[1].f2,
                                           .f3 = few.sums[0].f3}; /* of half of them: a second-order step suffices */
        const double before = s.beta;
        advance(&s, &both);
        if (fabs(s.beta - before) < 1e-4 * before) break;
    }
    *beta = s.beta + s.step;
    return DIS_OK;
}

static dis_status fit(dis_context *ctx, passing *p, const dis__calibration *c, dis__fitted_temperatures *out)
{
    double beta, held[DIS_EVALUATION_MAX_SPLITS] = {0}, n_held[DIS_EVALUATION_MAX_SPLITS] = {0};
    search all[DIS_EVALUATION_MAX_SPLITS];
    DIS_TRY(start(ctx, p, c, &beta));
    for (size_t s = 0; s < c->n_splits; s++) all[s] = (search){.beta = beta, .low = MIN_BETA, .high = MAX_BETA};
    for (size_t i = 0; i < c->n; i++)
        for (size_t s = 0; s < c->n_splits; s++) n_held[s] += !(out->fitted[i] >> s & 1);
    dis__calibrated_args args = {.c = c, .fitted = out->fitted};
    p->args = &args;
    p->n = c->n;
    p->stride = 1;
    for (int i = 0; i < MAX_PASSES; i++) {
        args.n_splits = 0;
        for (unsigned s = 0; s < c->n_splits; s++)
            if (!all[s].done) {
                args.bit[args.n_splits] = s;
                args.beta[args.n_splits++] = all[s].beta;
            }
        if (args.n_splits == 0) break;
        DIS_TRY(pass(ctx, p));
        for (size_t a = 0; a < args.n_splits; a++) {
            const size_t s = args.bit[a];
            advance(&all[s], &p->sums[2 * a]);
            const dis__calibrated_sums *other = &p->sums[2 * a + 1];
            const double step = all[s].step;
            held[s] = (other->f + step * (other->f1 + step * other->f2 / 2)) / n_held[s];
        }
    }
    out->value = 0;
    for (size_t s = 0; s < c->n_splits; s++) {
        out->value += held[s] / (double)c->n_splits;
        out->temperature[s] = 1 / (all[s].beta + all[s].step);
        out->on_bound[s] = all[s].on_bound;
    }
    return DIS_OK;
}

dis_status dis__temperatures_fit(dis_context *ctx, const dis__calibration *c, dis__fitted_temperatures *out,
                                 const char **reason)
{
    *reason = NULL;
    if (c->n < 2) {
        *reason = "two halves need at least two items with gold labels";
        return DIS_OK;
    }
    if (c->n_classes < 2) {
        *reason = "there is one class";
        return DIS_OK;
    }
    dis__calibrated_args none = {.c = c};
    passing p = {.args = &none};
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&out->fitted, c->n, sizeof *out->fitted), end);
    DIS_TRY_GOTO(status, halves(c, out->fitted), end);
    uint16_t any = 0, every = UINT16_MAX;
    for (size_t i = 0; i < c->n; i++) {
        any |= out->fitted[i];
        every &= out->fitted[i];
    }
    if (any == 0 || every != 0) {
        *reason = "two halves need at least two groups of items with gold labels";
        goto end;
    }
    none.fitted = out->fitted;
    DIS_TRY_GOTO(status, passing_open(ctx, c, &p), end);
    status = fit(ctx, &p, c, out);
end:
    passing_close(&p);
    return status;
}

dis_status dis__calibrated_losses_compute(dis_context *ctx, const dis__calibration *c,
                                          const dis__fitted_temperatures *at, double *const *loss)
{
    dis__calibrated_args args = {.c = c, .fitted = at->fitted, .n_splits = c->n_splits, .loss = loss};
    for (unsigned s = 0; s < c->n_splits; s++) {
        args.bit[s] = s;
        args.beta[s] = 1 / at->temperature[s];
    }
    passing p = {.args = &args, .n = c->n};
    dis_status status = passing_open(ctx, c, &p);
    if (status == DIS_OK) status = dis__run_jobs(ctx, p.n_jobs, items_job, &p);
    passing_close(&p);
    return status;
}
