/* M-MSR: skills from a robust rank-one completion of the agreement between workers (Ma and Olshevsky 2020, Adversarial
 * crowdsourcing through robust rank-one matrix completion). With K classes, c(i, j) the share of common items on which
 * workers i and j agree, and s(i) in [-1 / (K - 1), 1] the skill of worker i,
 *
 *     E[K / (K - 1) c(i, j) - 1 / (K - 1)] = s(i) s(j)   for i != j.
 *
 * |s| is the fixed point of u(i) = trimmed mean over j of |C(i, j)| / v(j), and the same for v, where the mean leaves
 * out the F largest values above u(i) and the F smallest below it; F is half the smallest number of partners, less 1.
 * Signs are those of the leading eigenvector of sign(C), each row divided by its number of pairs; most skills are
 * positive. The soft label is the posterior for workers who are correct with probability 1 / K + s (K - 1) / K and
 * otherwise choose any other class. Its most probable class is the one of the published weighted vote.
 *
 * The iterations also stop if the change has not decreased for 50 of them.
 *
 * Cost: the pairs of annotators on each item once, then a sort of the pairs of workers per iteration. Memory:
 * workers^2. */
#include "core/numbers/elementary.h"
#include "labels/method.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t iterations;
    double tolerance;
} mmsr_options;

static const dis_option options[] = {
    DIS_OPTION_ITERATIONS(mmsr_options, "10000"),
    {.key = "tolerance",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(mmsr_options, tolerance),
     .default_value = "1e-10",
     .low = 0,
     .high = 1,
     .summary = "stop when the completed matrix changes by less (Frobenius norm)"},
};

enum {
    SIGN_STEPS = 1000,
    STALLED = 50 /* iterations without a smaller change: the trimmed means can cycle */
};

typedef struct {
    size_t n, n_classes, n_items, trim;
    double *times;                              /* (n, n_classes) votes of one item */
    size_t *cell;                               /* (n * n_classes) */
    double *common;                             /* (n, n) common items */
    double *c;                                  /* (n, n) covariance; 0 where there are no common items */
    double *u, *v, *before_u, *before_v, *some; /* (n) */
} mmsr;

static void free_mmsr(mmsr *m)
{
    dis__free(m->times);
    dis__free(m->cell);
    dis__free(m->common);
    dis__free(m->c);
    dis__free(m->u);
}

/* Votes of one item by worker and label, so that an item with very many votes costs no more than the pairs of workers:
 * times (n * n_classes) counts them, cell lists those above 0. */
static size_t collect(mmsr *m, const dis_votes_view *votes, size_t item)
{
    size_t n = 0;
    for (uint64_t v = votes->start[item]; v < votes->start[item + 1]; v++) {
        const size_t at = votes->worker[v] * m->n_classes + dis__vote_label(votes, v);
        if (m->times[at]++ == 0) m->cell[n++] = at;
    }
    return n;
}

static void count_agreement(mmsr *m, const dis_votes_view *votes)
{
    for (size_t i = 0; i < votes->n_items; i++) {
        const size_t n = collect(m, votes, i);
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++) {
                const size_t x = m->cell[a], y = m->cell[b], wx = x / m->n_classes, wy = y / m->n_classes;
                if (wx == wy) continue;
                m->common[wx * m->n + wy] += m->times[x] * m->times[y];
                if (x % m->n_classes == y % m->n_classes) m->c[wx * m->n + wy] += m->times[x] * m->times[y];
            }
        for (size_t a = 0; a < n; a++) m->times[m->cell[a]] = 0;
    }
    const double k = (double)m->n_classes;
    size_t fewest = m->n;
    for (size_t i = 0; i < m->n; i++) {
        size_t partners = 0;
        for (size_t j = 0; j < m->n; j++) {
            double *c = &m->c[i * m->n + j];
            const double n = m->common[i * m->n + j];
            if (n == 0) continue;
            *c = (k * *c / n - 1) / (k - 1);
            partners++;
        }
        if (partners < fewest) fewest = partners;
    }
    m->trim = fewest / 2 > 1 ? fewest / 2 - 1 : 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The trimmed mean of row i of |C| over `by`; its current value if no elements remain. */
static double trimmed_mean(const mmsr *m, size_t i, const double *by, double now)
{
    size_t n = 0, low = 0, high = 0;
    for (size_t j = 0; j < m->n; j++)
        if (m->common[i * m->n + j] > 0 && by[j] != 0) m->some[n++] = fabs(m->c[i * m->n + j]) / by[j];
    qsort(m->some, n, sizeof *m->some, by_value);
    while (low < n && low < m->trim && m->some[low] < now) low++;
    while (high < n - low && high < m->trim && m->some[n - 1 - high] > now) high++;
    if (low + high == n) return now;
    if (n - low - high == 1 && m->some[low] == 0) return 1 / sqrt((double)m->n_items);
    double sum = 0;
    for (size_t j = low; j < n - high; j++) sum += m->some[j];
    return sum / (double)(n - low - high);
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Frobenius norm of u v' minus its previous value: du v' + before_u dv'. */
static double change(const mmsr *m)
{
    double du2 = 0, dv2 = 0, du_u = 0, dv_v = 0;
    for (size_t i = 0; i < m->n; i++) {
        const double du = m->u[i] - m->before_u[i], dv = m->v[i] - m->before_v[i];
        du2 += du * du;
        dv2 += dv * dv;
        du_u += du * m->before_u[i];
        dv_v += dv * m->v[i];
    }
    const double square = du2 * dot(m->v, m->v, m->n) + dv2 * dot(m->before_u, m->before_u, m->n) + 2 * du_u * dv_v;
    return sqrt(square > 0 ? square : 0);
}

/* |s|, into u. */
static dis_status complete(mmsr *m, const dis__fit_args *args, dis_fit *fit)
{
    const mmsr_options *o = args->options;
    for (size_t i = 0; i < m->n; i++) m->u[i] = m->v[i] = .5;
    double smallest = INFINITY;
    int64_t last = 0; /* iteration of the smallest change */
    fit->converged = false;
    for (int64_t step = 1; step <= o->iterations && !fit->converged && step - last <= STALLED; step++) {
        DIS_TRY(dis__check_stop(args->ctx));
        memcpy(m->before_u, m->u, m->n * sizeof *m->u);
        memcpy(m->before_v, m->v, m->n * sizeof *m->v);
        for (size_t i = 0; i < m->n; i++) m->v[i] = trimmed_mean(m, i, m->u, m->v[i]);
        for (size_t i = 0; i < m->n; i++) m->u[i] = trimmed_mean(m, i, m->v, m->u[i]);
        const double moved = change(m);
        if (moved < smallest) {
            smallest = moved;
            last = step;
        }
        fit->converged = moved < o->tolerance;
        fit->iterations = (int)step;
        dis__progress(args->ctx, "mmsr", (double)step / (double)o->iterations);
    }
    const double scale = sqrt(sqrt(dot(m->u, m->u, m->n)) / sqrt(dot(m->v, m->v, m->n)));
    for (size_t i = 0; i < m->n && scale > 0; i++) m->u[i] /= scale;
    return DIS_OK;
}

/* Signs of the skills, into v: power iteration on (D^-1 sign(C) + 1) / 2, where D has the number of pairs per row. */
static void find_signs(mmsr *m)
{
    double *x = m->v, *next = m->before_v, moved = 1;
    for (size_t i = 0; i < m->n; i++) {
        x[i] = 0;
        for (size_t j = 0; j < m->n; j++) x[i] += m->c[i * m->n + j] * m->u[j];
        if (x[i] == 0 && m->u[i] != 0) x[i] = m->u[i];
    }
    for (int step = 0; step < SIGN_STEPS && moved > 1e-12; step++) {
        double largest = 0;
        for (size_t i = 0; i < m->n; i++) {
            double sum = 0, pairs = 0;
            for (size_t j = 0; j < m->n; j++) {
                const double c = m->c[i * m->n + j];
                sum += c > 0 ? x[j] : c < 0 ? -x[j] : 0;
                pairs += c != 0;
            }
            next[i] = pairs > 0 ? (x[i] + sum / pairs) / 2 : 0;
            if (fabs(next[i]) > largest) largest = fabs(next[i]);
        }
        moved = 0;
        for (size_t i = 0; i < m->n; i++) {
            if (largest > 0) next[i] /= largest;
            moved += fabs(next[i] - x[i]);
        }
        memcpy(x, next, m->n * sizeof *x);
    }
    double balance = 0;
    for (size_t i = 0; i < m->n; i++) balance += (x[i] > 0) - (x[i] < 0);
    for (size_t i = 0; i < m->n; i++) x[i] = ((x[i] > 0) - (x[i] < 0)) * (balance < 0 ? -1 : 1);
}

/* skill: the log-odds that a worker's vote adds to its class. */
static void weigh(const mmsr *m, double *skill)
{
    const double k = (double)m->n_classes, margin = 1 / sqrt((double)m->n_items);
    for (size_t i = 0; i < m->n; i++) {
        double s = m->u[i] * m->v[i];
        if (s > 1 - margin) s = 1 - margin;
        if (s < margin - 1 / (k - 1)) s = margin - 1 / (k - 1);
        const double right = s * (k - 1) / k + 1 / k;
        skill[i] = dis__log(right * (k - 1) / (1 - right));
    }
}

static void label_items(const dis__fit_args *args, const double *skill, size_t k, double *p)
{
    const dis_votes_view *votes = &args->votes;
    for (size_t i = 0; i < votes->n_items; i++, p += k) {
        const int32_t gold = dis__item_gold(args, i);
        double best = 0, sum = 0;
        for (size_t c = 0; c < k; c++) p[c] = 0;
        for (uint64_t v = votes->start[i]; v < votes->start[i + 1]; v++)
            p[dis__vote_label(votes, v)] += skill[votes->worker[v]];
        for (size_t c = 0; c < k; c++)
            if (c == 0 || p[c] > best) best = p[c];
        for (size_t c = 0; c < k; c++) sum += p[c] = gold >= 0 ? (size_t)gold == c : dis__exp(p[c] - best);
        for (size_t c = 0; c < k; c++) p[c] /= sum;
    }
}

static dis_status allocate(mmsr *m)
{
    const size_t pairs = dis__saturating_size(m->n, m->n, 0), cells = dis__saturating_size(m->n, m->n_classes, 0);
    DIS_TRY(dis__alloc_zeroed(&m->times, cells, sizeof *m->times));
    DIS_TRY(dis__alloc_array(&m->cell, cells, sizeof *m->cell));
    DIS_TRY(dis__alloc_zeroed(&m->common, pairs, sizeof *m->common));
    DIS_TRY(dis__alloc_zeroed(&m->c, pairs, sizeof *m->c));
    DIS_TRY(dis__alloc_zeroed(&m->u, dis__saturating_size(m->n, 5, 0), sizeof *m->u));
    m->v = m->u + m->n;
    m->before_u = m->v + m->n;
    m->before_v = m->before_u + m->n;
    m->some = m->before_v + m->n;
    return DIS_OK;
}

static dis_status fit_mmsr(const dis__fit_args *args, dis_fit *fit)
{
    mmsr m = {.n = fit->n_workers, .n_classes = fit->n_classes, .n_items = fit->n_items};
    double *skill;
    DIS_TRY(dis__fit_add_parameter(fit, "skill", "w", &skill));
    if (fit->n_classes < 2) { /* no pairs of workers */
        label_items(args, skill, fit->n_classes, fit->p);
        return DIS_OK;
    }
    dis_status status = allocate(&m);
    if (status == DIS_OK) {
        count_agreement(&m, &args->votes);
        status = complete(&m, args, fit);
    }
    if (status == DIS_OK) {
        find_signs(&m);
        weigh(&m, skill);
        label_items(args, skill, fit->n_classes, fit->p);
    }
    free_mmsr(&m);
    return status;
}

static size_t memory_of(const dis_votes_view *votes, const void *o)
{
    (void)o;
    return dis__saturating_size(votes->n_workers, votes->n_workers * 2 * sizeof(double), 0);
}

const dis__method dis__method_mmsr = {
    .info = {.name = "mmsr",
             .summary = "skills from a robust rank-one completion of the agreement between annotators",
             .source = "Ma and Olshevsky 2020",
             .objective = "none",
             .needs_workers = true,
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(mmsr_options),
    .memory = memory_of,
    .fit = fit_mmsr,
};
