/* Whether votes on one item agree more than chance, at any class balance.
 *
 * Null hypothesis: the labels of each annotator are randomly permuted over this annotator's items, so the annotator's
 * label rates r_a stay fixed. With X_a the one-hot label of annotator a on an item, the statistic is
 *
 *     T = sum over items, over pairs of votes a < b of (X_a - r_a) . (X_b - r_b)
 *
 * Under the null its terms have mean 0 and are uncorrelated within an item. With C_a = diag(r_a) - r_a r_a',
 *
 *     var T = sum over pairs of <C_a, C_b>,     third cumulant = sum over pairs of E[d^3] + 6 sum over triples of
 *                                                                tr(C_a C_b C_c)
 *
 * (terms between items are smaller by a factor of the votes per annotator and are ignored; the third cumulant is
 * computed from the rates of all votes). Rare classes make T skewed, so p is a tail probability of the gamma
 * distribution with these three moments (Pearson's type III), not of the normal distribution. Annotators with fewer
 * than FEW_VOTES votes share the rates of all such annotators. So do all votes if the annotators are unknown.
 *
 * The coefficient is T / sum over pairs of sqrt(tr C_a tr C_b): 1 if pairs always agree, 0 by chance. Votes are noise
 * if p is at least LEVEL and the upper end of the coefficient's 95 % interval, for new items, is below LITTLE.
 * Otherwise there are too few votes to decide. bench/truth/noise.py measures level and power.
 *
 * Cost: O(K) per vote, and per item the smaller of O(n K^2) and O(n^2 K) for the variance; O(n K) with more than
 * MATRIX_CLASSES classes. */
#include "core/parallel/comm.h"
#include "core/options/enum_names.h"
#include "core/memory/memory.h"
#include "core/numbers/erfc.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "dissent/agreement.h"
#include "labels/passes/item_passes.h"
#include "stats/distributions.h"
#include <math.h>
#include <string.h>

enum {
    FEW_VOTES = 5,
    MIN_ITEMS = 20,
    GRAIN = 1024,
    MAX_JOBS = 64,
    MATRIX_CLASSES = 64,
    FEW_PAIRS = 8,
    MAX_TABLE = 1 << 26
};
#define LEVEL  .005
#define LITTLE .15
#define Z_95   1.959963984540054
#define NORMAL .01 /* skewness below which T counts as normal */

/* A group of votes with common rates: an annotator, or all annotators with few votes. */
typedef struct {
    double square; /* sum of r^2 */
    double norm;   /* <C, C> */
    double spread; /* sqrt(tr C) */
} rates_of;

typedef struct {
    double t, variance, scale; /* T, its variance, its value at full agreement */
    double pairs, triples;     /* values, ordered triples */
    double few;                /* pairs of votes that share rates */
    double items, t2, ts, s2;  /* items, and sums over them of T^2, T times scale, scale^2 */
} sums_of;

typedef struct {
    dis_context *ctx;
    dis_votes_view v;
    dis__votes_part part;
    size_t n_groups;
    uint32_t *group; /* (n_workers) */
    double *rate;    /* (n_groups, K); the last group has the annotators with few votes */
    double *n_votes; /* (n_groups) */
    rates_of *of;    /* (n_groups) */
    double *overall; /* (K): rates of all votes */
    size_t n_scratch;
    double *scratch; /* (threads, n_scratch) */
} work;

/* ---- rates ---- */

static dis_status make_groups(work *w)
{
    const dis_votes_view *v = &w->v;
    uint64_t *count;
    DIS_TRY(dis__alloc_array(&w->group, v->n_workers + 1, sizeof *w->group));
    DIS_TRY(dis__alloc_zeroed(&count, v->n_workers + 1, sizeof *count));
    for (size_t a = 0; a < v->n_votes; a++) count[v->worker[a]]++;
    const dis_status status = dis__comm_sum_counts(dis__context_comm(w->ctx), count, v->n_workers);
    size_t n = 0;
    for (size_t k = 0; k < v->n_workers; k++) n += count[k] >= FEW_VOTES;
    const bool alike = n >= MAX_TABLE / v->n_classes; /* the table of rates would be too large: all share one group */
    n = 0;
    for (size_t k = 0; k < v->n_workers; k++)
        w->group[k] = !alike && count[k] >= FEW_VOTES ? (uint32_t)n++ : UINT32_MAX;
    for (size_t k = 0; k < v->n_workers; k++)
        if (w->group[k] == UINT32_MAX) w->group[k] = (uint32_t)n;
    w->n_groups = n + 1;
    dis__free(count);
    return status;
}

/* Integers, so that sums over ranks are exact. */
static void add_counts(work *w)
{
    const dis_votes_view *v = &w->v;
    const size_t K = v->n_classes;
    for (size_t a = 0; v->start && a < v->n_votes; a++)
        w->rate[w->group[v->worker[a]] * K + dis__vote_label(v, a)] += 1;
    for (size_t x = 0; v->counts && x < v->n_items * K; x++) w->rate[x % K] += v->counts[x];
}

static void summarise_group(work *w, size_t g)
{
    const size_t K = w->v.n_classes;
    double *r = w->rate + g * K, n = 0, square = 0, cube = 0;
    for (size_t k = 0; k < K; k++) {
        n += r[k];
        w->overall[k] += r[k];
    }
    for (size_t k = 0; k < K; k++) {
        r[k] = n > 0 ? r[k] / n : 0;
        square += r[k] * r[k];
        cube += r[k] * r[k] * r[k];
    }
    w->n_votes[g] = n;
    w->of[g] = (rates_of){.square = square,
                          .norm = fmax(square - 2 * cube + square * square, 0),
                          .spread = n > 0 ? sqrt(fmax(1 - square, 0)) : 0};
}

static dis_status make_rates(work *w)
{
    const size_t K = w->v.n_classes;
    w->n_groups = 1;
    if (w->v.start) DIS_TRY(make_groups(w));
    DIS_TRY(dis__alloc_zeroed(&w->rate, dis__saturating_size(w->n_groups, K, 0), sizeof *w->rate));
    DIS_TRY(dis__alloc_array(&w->n_votes, w->n_groups, sizeof *w->n_votes));
    DIS_TRY(dis__alloc_array(&w->of, w->n_groups, sizeof *w->of));
    DIS_TRY(dis__alloc_zeroed(&w->overall, K, sizeof *w->overall));
    add_counts(w);
    DIS_TRY(dis__comm_sum_reals(dis__context_comm(w->ctx), w->rate, w->n_groups * K));
    double total = 0;
    for (size_t g = 0; g < w->n_groups; g++) summarise_group(w, g);
    for (size_t k = 0; k < K; k++) total += w->overall[k];
    for (size_t k = 0; k < K; k++) w->overall[k] /= total > 0 ? total : 1;
    return DIS_OK;
}

/* ---- items ---- */

static size_t group_of(const work *w, uint64_t vote)
{
    return w->group[w->v.worker[vote]];
}

/* Sum of <C_a, C_b> over pairs, from the sum of the matrices: matrix (K, K) scratch. */
static double variance_by_matrix(const work *w, uint64_t first, uint64_t end, double *matrix)
{
    const size_t K = w->v.n_classes;
    double own = 0, all = 0;
    memset(matrix, 0, K * K * sizeof *matrix);
    for (uint64_t a = first; a < end; a++) {
        const size_t g = group_of(w, a);
        const double *r = w->rate + g * K;
        own += w->of[g].norm;
        for (size_t k = 0; k < K; k++) {
            matrix[k * K + k] += r[k] - r[k] * r[k];
            for (size_t l = 0; l < k; l++) matrix[k * K + l] -= r[k] * r[l];
        }
    }
    for (size_t k = 0; k < K; k++) {
        all += matrix[k * K + k] * matrix[k * K + k];
        for (size_t l = 0; l < k; l++) all += 2 * matrix[k * K + l] * matrix[k * K + l];
    }
    return fmax(all - own, 0) / 2;
}

static double variance_by_pairs(const work *w, uint64_t first, uint64_t end)
{
    const size_t K = w->v.n_classes;
    double sum = 0;
    for (uint64_t a = first; a < end; a++)
        for (uint64_t b = first; b < a; b++) {
            const double *r = w->rate + group_of(w, a) * K, *s = w->rate + group_of(w, b) * K;
            double dot = 0, rest = 0;
            for (size_t k = 0; k < K; k++) {
                dot += r[k] * s[k];
                rest += r[k] * s[k] * (r[k] + s[k]);
            }
            sum += fmax(dot - rest + dot * dot, 0);
        }
    return sum;
}

/* The same with the squares of r . s replaced by the square of their mean, a negligible difference with many classes:
 * O(n K). sums (2 K) scratch. */
static double variance_by_sums(const work *w, uint64_t first, uint64_t end, double *sums)
{
    const size_t K = w->v.n_classes;
    const double n = (double)(end - first), pairs = n * (n - 1) / 2;
    double *of_squares = sums + K, dot = 0, rest = 0;
    memset(sums, 0, 2 * K * sizeof *sums);
    for (uint64_t a = first; a < end; a++) {
        const double *r = w->rate + group_of(w, a) * K;
        for (size_t k = 0; k < K; k++) {
            sums[k] += r[k];
            of_squares[k] += r[k] * r[k];
            rest -= r[k] * r[k] * r[k];
        }
    }
    for (size_t k = 0; k < K; k++) {
        dot += (sums[k] * sums[k] - of_squares[k]) / 2;
        rest += of_squares[k] * sums[k];
    }
    return fmax(dot - rest + dot * dot / pairs, 0);
}

static double item_variance(const work *w, uint64_t first, uint64_t end, double *scratch)
{
    const size_t K = w->v.n_classes, n = end - first;
    if (K > MATRIX_CLASSES)
        return n > FEW_PAIRS ? variance_by_sums(w, first, end, scratch) : variance_by_pairs(w, first, end);
    return K <= 3 * n ? variance_by_matrix(w, first, end, scratch) : variance_by_pairs(w, first, end);
}

/* T and scale of one item. */
static void add_statistic(double t, double scale, sums_of *out)
{
    out->t += t;
    out->scale += scale;
    out->items += 1;
    out->t2 += t * t;
    out->ts += t * scale;
    out->s2 += scale * scale;
}

static void add_item(const work *w, size_t i, double *scratch, sums_of *out)
{
    const dis_votes_view *v = &w->v;
    const size_t K = v->n_classes, few = w->n_groups - 1;
    const uint64_t first = v->start[i], end = v->start[i + 1];
    const double n = (double)(end - first);
    double *excess = scratch, own = 0, square = 0, spread = 0, spread2 = 0, n_few = 0;
    if (end - first < 2) return;
    memset(excess, 0, K * sizeof *excess);
    for (uint64_t a = first; a < end; a++) {
        const size_t g = group_of(w, a), label = dis__vote_label(v, a);
        const double *r = w->rate + g * K;
        for (size_t k = 0; k < K; k++) excess[k] -= r[k];
        excess[label] += 1;
        own += 1 - 2 * r[label] + w->of[g].square;
        spread += w->of[g].spread;
        spread2 += w->of[g].spread * w->of[g].spread;
        n_few += g == few;
    }
    for (size_t k = 0; k < K; k++) square += excess[k] * excess[k];
    add_statistic((square - own) / 2, (spread * spread - spread2) / 2, out);
    out->pairs += n * (n - 1) / 2;
    out->triples += n * (n - 1) * (n - 2);
    out->few += n_few * (n_few - 1) / 2;
    out->variance += item_variance(w, first, end, scratch + K);
}

/* Votes of unknown annotators: all share the rates. */
static void add_counted_item(const work *w, size_t i, sums_of *out)
{
    const size_t K = w->v.n_classes;
    const double *count = w->v.counts + i * K;
    double n = 0, square = 0, own = 0;
    for (size_t k = 0; k < K; k++) n += count[k];
    if (n < 2) return;
    for (size_t k = 0; k < K; k++) {
        const double x = count[k] - n * w->rate[k];
        square += x * x;
        own -= 2 * count[k] * w->rate[k];
    }
    const double pairs = n * (n - 1) / 2;
    own += n + n * w->of[0].square;
    add_statistic((square - own) / 2, pairs * w->of[0].spread * w->of[0].spread, out);
    out->variance += pairs * w->of[0].norm;
    out->pairs += pairs;
    out->triples += n * (n - 1) * (n - 2);
    out->few += pairs;
}

static void item_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const work *w = arg;
    double *scratch = w->scratch + (size_t)thread * w->n_scratch;
    sums_of own;
    memcpy(&own, sums, sizeof own);
    for (size_t i = first; i < last; i++)
        if (w->v.start)
            add_item(w, i, scratch, &own);
        else
            add_counted_item(w, i, &own);
    memcpy(sums, &own, sizeof own);
}

static dis_status add_items(work *w, sums_of *out)
{
    const size_t K = w->v.n_classes;
    const dis__fit_args items = {.ctx = w->ctx, .votes = w->v, .part = w->part};
    dis__item_sums pass = {.args = &items,
                           .n_jobs = dis__n_jobs(w->part.n_items, GRAIN, MAX_JOBS),
                           .n_sums = sizeof *out / sizeof(double),
                           .job = item_job,
                           .arg = w};
    double sums[sizeof *out / sizeof(double)];
    w->n_scratch = K + (K <= MATRIX_CLASSES ? K * K : 2 * K);
    DIS_TRY(dis__alloc_array(&w->scratch, dis__saturating_size((size_t)dis_context_n_threads(w->ctx), w->n_scratch, 0),
                             sizeof *w->scratch));
    dis_status status = dis__item_sums_create(&pass);
    if (status == DIS_OK) status = dis__item_sums_run(&pass, sums);
    dis__item_sums_destroy(&pass);
    memcpy(out, sums, sizeof *out);
    return status;
}

/* ---- the verdict ---- */

/* Skewness of T, from the rates r of all votes: E[d^3] of a pair, and tr C^3 = sum over k, l, m of C C C, which for
 * this C is sum r^3 - 3 sum r^4 + 3 sum r^2 sum r^3 - (sum r^2)^3. */
static double skewness(const work *w, const sums_of *s)
{
    const size_t K = w->v.n_classes;
    const double *r = w->overall;
    double p2 = 0, p3 = 0, p4 = 0, cube = 0;
    for (size_t k = 0; k < K; k++) {
        p2 += r[k] * r[k];
        p3 += r[k] * r[k] * r[k];
        p4 += r[k] * r[k] * r[k] * r[k];
    }
    for (size_t k = 0; k < K; k++)
        for (size_t l = 0; l < K; l++) {
            const double d = (k == l) - r[k] - r[l] + p2;
            cube += r[k] * r[l] * d * d * d;
        }
    const double trace = p3 - 3 * p4 + 3 * p2 * p3 - p2 * p2 * p2, variance = s->pairs * (p2 - 2 * p3 + p2 * p2);
    return variance > 0 ? (s->pairs * cube + s->triples * trace) / (variance * sqrt(variance)) : 0;
}

static double upper_tail(double z, double skew)
{
    if (skew < NORMAL) return dis__erfc(z / sqrt(2)) / 2;
    const double shape = 4 / (skew * skew), at = shape + 2 * z / skew;
    return at > 0 ? dis__chi_square_tail(2 * at, 2 * shape) : 1;
}

/* Upper end of the coefficient's 95 % interval; its variance is that between items, by chance and by their votes. */
static double upper_end(const sums_of *s, double coefficient)
{
    const double apart = s->t2 - 2 * coefficient * s->ts + coefficient * coefficient * s->s2;
    return coefficient + Z_95 * sqrt(fmax(s->variance, apart)) / s->scale;
}

static void judge(const work *w, sums_of s, dis_chance_test *out)
{
    const size_t last = w->n_groups - 1;
    const double few = w->n_votes[last], alike = w->of[last].spread * w->of[last].spread;
    *out = (dis_chance_test){.verdict = DIS_CHANCE_UNKNOWN, .p = 1, .n_pairs = s.pairs};
    if (!(s.variance > 0 && s.scale > 0)) return;
    if (few > 1)
        s.t += s.few * alike / (few - 1); /* without replacement, votes of one group are negatively
                                                    * correlated */
    const double error = sqrt(s.variance);
    out->z = s.t / error;
    out->p = upper_tail(out->z, skewness(w, &s));
    out->coefficient = s.t / s.scale;
    out->standard_error = error / s.scale;
    if (out->p < LEVEL)
        out->verdict = DIS_CHANCE_BEYOND;
    else if (s.items >= MIN_ITEMS && upper_end(&s, out->coefficient) < LITTLE)
        out->verdict = DIS_CHANCE_NOISE;
}

/* Votes that are distributions have no labels to permute. */
static dis_status check_integers(const work *w, bool *is_integer)
{
    uint64_t broken = 0;
    for (size_t x = 0; w->v.counts && x < w->v.n_items * w->v.n_classes; x++)
        broken += w->v.counts[x] != floor(w->v.counts[x]);
    DIS_TRY(dis__comm_sum_counts(dis__context_comm(w->ctx), &broken, 1));
    *is_integer = broken == 0;
    return DIS_OK;
}

DIS_ENUM_NAMES(dis_chance, "beyond", "unknown", "noise")

dis_status dis_votes_chance_test(dis_context *ctx, const dis_votes *votes, dis_chance_test *out)
{
    DIS_MEMORY_SCOPE(ctx);
    work w = {.ctx = ctx, .v = dis_votes_get_view(votes), .part = dis__votes_part_of(votes)};
    sums_of sums;
    bool is_integer;
    dis_status status;
    *out = (dis_chance_test){.verdict = DIS_CHANCE_UNKNOWN, .p = 1};
    DIS_TRY(check_integers(&w, &is_integer));
    if (w.part.n_items == 0 || !is_integer) return DIS_OK;
    DIS_TRY_GOTO(status, make_rates(&w), end);
    DIS_TRY_GOTO(status, add_items(&w, &sums), end);
    judge(&w, sums, out);
end:
    dis__free(w.group);
    dis__free(w.rate);
    dis__free(w.n_votes);
    dis__free(w.of);
    dis__free(w.overall);
    dis__free(w.scratch);
    return status;
}
