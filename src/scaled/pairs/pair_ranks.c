/* Which ranks a thing can have, with 95 % confidence: for each thing, and for all things at once.
 *
 * A thing is clearly better than another if the difference of their scores exceeds q standard errors. Rank intervals
 * count clearly better and clearly worse things (Mogstad et al. 2024; Klein, Wright & Wieczorek 2020). q is the 95 %
 * quantile of the largest studentized difference under equal scores, by draws from the estimated covariance (multivariate
 * t, if annotators or tasks have tastes: the degrees of freedom are those of their number, Satterthwaite 1946): over the
 * comparisons of one thing for its own interval, and over all pairs for intervals that hold together.
 *
 * Above DIS_PAIRS_DENSE parameters, both come from simultaneous intervals of scores (Bonferroni over things), which is
 * wider. They come from the model without parameters of annotators: where all things are equal, estimated reliabilities
 * fit the noise, and differences look more certain than they are (bench/truth/pairwise.py).
 *
 * Cost: draws x things^2 below, a sort above. */
#include "scaled/pairs/pairs.h"
#include "core/random/random.h"
#include "stats/distributions.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIE 1e-9 /* difference of scores that is rounding */

enum { MIN_DRAWS = 1000, MAX_DRAWS = 2500 };

typedef struct {
    const dis__pairs *m;
    size_t n, n_parameters, n_draws;
    double *error;    /* (n, n) of differences */
    double *largest;  /* (n + 1, n_draws): of one thing; the last row: of all */
    double *quantile; /* (n + 1) */
} rank_draws;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_comparable(const dis__pairs *m, size_t k, size_t l)
{
    return k != l && m->component[k] == m->component[l];
}

/* A draw of sqrt(df / chi^2) makes normal draws multivariate t (approximation of Wilson & Hilferty 1931). */
static double draw_spread(const rank_draws *r, size_t d)
{
    const double df = r->m->plain_errors.score_df, part = 2 / (9 * df);
    if (isinf(df)) return 1;
    const double z = dis__random_normal(r->m->args->o->seed, (uint64_t)DIS_STREAM_PAIR_RANKS | 1ull << 32, d);
    const double root = fmax(.05, 1 - part + z * sqrt(part));
    return 1 / sqrt(root * root * root);
}

static void draw_largest(rank_draws *r, const double *factor, double *z)
{
    const size_t n = r->n;
    for (size_t d = 0; d < r->n_draws; d++) {
        double normal[DIS_PAIRS_DENSE];
        double *all = r->largest + n * r->n_draws + d;
        const double spread = draw_spread(r, d);
        for (size_t k = 0; k < n; k++)
            normal[k] = dis__random_normal(r->m->args->o->seed, DIS_STREAM_PAIR_RANKS, d * n + k);
        for (size_t k = 0; k < n; k++) {
            z[k] = 0;
            for (size_t l = 0; l <= k; l++) z[k] += factor[k * n + l] * normal[l];
        }
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < k; l++) {
                if (!is_comparable(r->m, k, l)) continue;
                const double size = spread * fabs(z[k] - z[l]) / r->error[k * n + l];
                double *of_k = r->largest + k * r->n_draws + d, *of_l = r->largest + l * r->n_draws + d;
                if (size > *of_k) *of_k = size;
                if (size > *of_l) *of_l = size;
                if (size > *all) *all = size;
            }
    }
}

/* The ceil((n + 1) .95)-th of n draws, so that the level is 95 % on average over draws. */
static double quantile_of(double *draws, size_t n)
{
    qsort(draws, n, sizeof *draws, ascending);
    return draws[(size_t)ceil(.95 * (double)(n + 1)) - 1];
}

static dis_status find_quantiles(rank_draws *r)
{
    const size_t n = r->n;
    const dis__pair_errors *e = &r->m->plain_errors;
    double *factor, *z;
    DIS_TRY(dis__alloc_zeroed(&factor, n * n + n, sizeof *factor));
    z = factor + n * n;
    for (size_t k = 0; k < n; k++) memcpy(factor + k * n, e->covariance + k * r->n_parameters, n * sizeof *factor);
    dis__cholesky(factor, n);
    draw_largest(r, factor, z);
    for (size_t k = 0; k <= n; k++) r->quantile[k] = quantile_of(r->largest + k * r->n_draws, r->n_draws);
    dis__free(factor);
    return DIS_OK;
}

typedef struct {
    double *rank, *low, *high, *joint_low, *joint_high; /* (n_things) */
} rank_columns;

static dis_status rank_by_draws(dis__pairs *m, const rank_columns *c, const double *size, dis_scaled *out)
{
    const size_t n = m->n_things;
    rank_draws r = {.m = m, .n = n, .n_parameters = dis__pair_n_parameters(&m->plain)};
    const double work = 2e8 / (double)(n * n);
    r.n_draws = work > MAX_DRAWS ? MAX_DRAWS : work < MIN_DRAWS ? MIN_DRAWS : (size_t)work;
    DIS_TRY(dis__scaled_allocate(out, &r.error, n * n, sizeof *r.error));
    DIS_TRY(dis__scaled_allocate(out, &r.largest, (n + 1) * r.n_draws, sizeof *r.largest));
    DIS_TRY(dis__scaled_allocate(out, &r.quantile, n + 1, sizeof *r.quantile));
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < n; l++)
            r.error[k * n + l] = fmax(1e-300, dis__pair_difference_error(&m->plain_errors, r.n_parameters, k, l));
    DIS_TRY(find_quantiles(&r));
    for (size_t k = 0; k < n; k++) {
        c->high[k] = c->joint_high[k] = size[m->component[k]];
        c->low[k] = c->joint_low[k] = 1;
        for (size_t l = 0; l < n; l++) {
            if (!is_comparable(m, k, l)) continue;
            const double x = (m->plain_parameter[l] - m->plain_parameter[k]) / r.error[k * n + l];
            c->low[k] += x > r.quantile[k];
            c->high[k] -= x < -r.quantile[k];
            c->joint_low[k] += x > r.quantile[n];
            c->joint_high[k] -= x < -r.quantile[n];
        }
    }
    return DIS_OK;
}

typedef struct {
    double bound;
    uint32_t component;
} rank_bound;

static int by_bound(const void *a, const void *b)
{
    const rank_bound *x = a, *y = b;
    if (x->component != y->component) return x->component < y->component ? -1 : 1;
    return (x->bound > y->bound) - (x->bound < y->bound);
}

/* How many of the sorted bounds of a component are below x. */
static size_t count_below(const rank_bound *sorted, size_t from, size_t to, double x)
{
    const size_t first = from;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (sorted[middle].bound < x)
            from = middle + 1;
        else
            to = middle;
    }
    return from - first;
}

static dis_status rank_by_intervals(dis__pairs *m, const rank_columns *c, const double *size, dis_scaled *out)
{
    const size_t n = m->n_things;
    const double df = m->plain_errors.score_df, tail = .025 / (double)n;
    const double z = isinf(df) || df > 1e6 ? dis__normal_quantile(1 - tail) : dis__student_critical(tail, fmax(1, df));
    rank_bound *low, *high;
    size_t *start;
    DIS_TRY(dis__scaled_allocate(out, &low, 2 * n, sizeof *low));
    DIS_TRY(dis__scaled_allocate(out, &start, m->n_components + 1, sizeof *start));
    high = low + n;
    for (size_t k = 0; k < n; k++) {
        const double half = z * sqrt(m->plain_errors.variance[k]);
        low[k] = (rank_bound){m->plain_parameter[k] - half, m->component[k]};
        high[k] = (rank_bound){m->plain_parameter[k] + half, m->component[k]};
        start[m->component[k] + 1]++;
    }
    for (size_t g = 0; g < m->n_components; g++) start[g + 1] += start[g];
    qsort(low, n, sizeof *low, by_bound);
    qsort(high, n, sizeof *high, by_bound);
    for (size_t k = 0; k < n; k++) {
        const size_t g = m->component[k];
        const double half = z * sqrt(m->plain_errors.variance[k]);
        const size_t worse = count_below(high, start[g], start[g + 1], m->plain_parameter[k] - half);
        const size_t not_better =
            count_below(low, start[g], start[g + 1], nextafter(m->plain_parameter[k] + half, INFINITY));
        c->low[k] = c->joint_low[k] = 1 + size[g] - (double)not_better;
        c->high[k] = c->joint_high[k] = size[g] - (double)worse;
    }
    return DIS_OK;
}

typedef struct {
    double score;
    uint32_t component, thing;
} scored;

/* By component, the best first. */
static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    if (x->component != y->component) return x->component < y->component ? -1 : 1;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->thing < y->thing ? -1 : x->thing > y->thing;
}

dis_status dis__pairs_center(const dis__pairs *m, const double *score, dis_scaled *out, double *centered, double *rank)
{
    const size_t n = m->n_things;
    scored *sorted;
    DIS_TRY(dis__scaled_allocate(out, &sorted, n, sizeof *sorted));
    for (size_t k = 0; k < n; k++) sorted[k] = (scored){score[k], m->component[k], (uint32_t)k};
    qsort(sorted, n, sizeof *sorted, by_score);
    for (size_t from = 0, to; from < n; from = to) {
        double sum = 0;
        for (to = from; to < n && sorted[to].component == sorted[from].component; to++) sum += sorted[to].score;
        for (size_t i = from, best = from; i < to; i++) {
            while (sorted[best].score > sorted[i].score + TIE) best++;
            centered[sorted[i].thing] = sorted[i].score - sum / (double)(to - from);
            rank[sorted[i].thing] = (double)(best - from) + 1;
        }
    }
    return DIS_OK;
}

dis_status dis__pairs_add_ranks(dis__pairs *m, dis_scaled *out)
{
    const size_t n = m->n_things;
    dis_scaled_column *c;
    rank_columns r;
    double *size, *score, *key;
    DIS_TRY(dis__scaled_add_table(out, "ranks", "ranks of things with 95 % intervals, the best first", n, 6, &c));
    c[0] = (dis_scaled_column){.name = "thing", .names = m->things};
    DIS_TRY(dis__scaled_init_column(out, &c[1], "rank", n, &r.rank));
    DIS_TRY(dis__scaled_init_column(out, &c[2], "rank_low", n, &r.low));
    DIS_TRY(dis__scaled_init_column(out, &c[3], "rank_high", n, &r.high));
    DIS_TRY(dis__scaled_init_column(out, &c[4], "joint_low", n, &r.joint_low));
    DIS_TRY(dis__scaled_init_column(out, &c[5], "joint_high", n, &r.joint_high));
    DIS_TRY(dis__scaled_allocate(out, &size, 3 * n, sizeof *size));
    score = size + n;
    key = score + n;
    for (size_t k = 0; k < n; k++) size[m->component[k]]++;
    DIS_TRY(m->plain_errors.covariance ? rank_by_draws(m, &r, size, out) : rank_by_intervals(m, &r, size, out));
    DIS_TRY(dis__pairs_center(m, m->parameter, out, score, r.rank));
    for (size_t k = 0; k < n; k++) {
        r.low[k] = fmin(r.low[k], r.rank[k]);
        r.high[k] = fmax(r.high[k], r.rank[k]);
        r.joint_low[k] = fmin(r.joint_low[k], r.low[k]);
        r.joint_high[k] = fmax(r.joint_high[k], r.high[k]);
        key[k] = -((double)m->component[k] * (double)(n + 1) + r.rank[k]);
    }
    return dis__scaled_sort_table(out, &out->table[out->n_tables - 1], key);
}
