/* Fisher's exact test of two rows of counts, over any number of classes (Freeman and Halton 1951).
 *
 * Given the sums of rows and columns, the first row is hypergeometric: its probability is the product of C(c_k, a_k)
 * over classes, divided by C(n, r). The p-value is the probability of all rows that are at most as probable as the
 * observed one. Rows are enumerated depth first, the last class receiving the remaining votes. With more than a million
 * rows (many votes on many classes), Pearson's chi-square is used. Cost: the number of rows. */
#include "core/numbers/elementary.h"
#include "stats/distributions.h"
#include "core/memory/memory.h"
#include <math.h>

#define MAX_TABLES 1e6

typedef struct {
    size_t n;
    const uint32_t *sum;   /* (n) of the columns */
    const double *log_all; /* (n) lgamma(c_k + 1) */
    uint64_t *remaining;   /* (n + 1) suffix sums of the column votes */
    double seen, total;    /* log-probability of the observed row; sum over the rows that count */
} walk;

static double log_arrangements(const walk *w, size_t k, uint32_t a)
{
    return w->log_all[k] - lgamma((double)a + 1) - lgamma((double)(w->sum[k] - a) + 1);
}

static void visit(walk *w, size_t k, uint64_t left, double so_far)
{
    if (k + 1 == w->n) {
        const double p = so_far + log_arrangements(w, k, (uint32_t)left);
        if (p <= w->seen + 1e-7) w->total += dis__exp(p);
        return;
    }
    const uint64_t min_count = left > w->remaining[k + 1] ? left - w->remaining[k + 1] : 0;
    const uint64_t max_count = left < w->sum[k] ? left : w->sum[k];
    for (uint64_t a = min_count; a <= max_count; a++)
        visit(w, k + 1, left - a, so_far + log_arrangements(w, k, (uint32_t)a));
}

static double pearson_p(const uint32_t *a, const uint32_t *sum, size_t n, double row, double all)
{
    double statistic = 0;
    for (size_t k = 0; k < n; k++) {
        const double expected = sum[k] * row / all, other = sum[k] - expected, apart = a[k] - expected;
        statistic += apart * apart * (1 / expected + 1 / other);
    }
    return dis__chi_square_tail(statistic, (double)n - 1);
}

static double exact_p(walk *w, const uint32_t *first, uint64_t row)
{
    const double n = (double)w->remaining[0],
                 all = lgamma(n + 1) - lgamma((double)row + 1) - lgamma(n - (double)row + 1);
    double tables = 1;
    for (size_t k = 0; k < w->n; k++) tables *= (double)w->sum[k] + 1;
    if (tables > MAX_TABLES) return pearson_p(first, w->sum, w->n, (double)row, n);
    w->seen = -all;
    for (size_t k = 0; k < w->n; k++) w->seen += log_arrangements(w, k, first[k]);
    visit(w, 0, row, -all);
    return w->total > 1 - 1e-9 ? 1 : w->total; /* all rows: 1 but for rounding, which differs between C libraries */
}

dis_status dis__fisher_exact_test(const uint32_t *a, const uint32_t *b, size_t n, double *p)
{
    uint32_t *counts = NULL; /* classes with votes: the first row, and sums */
    double *logs = NULL;
    uint64_t *remaining = NULL, row = 0;
    size_t m = 0;
    dis_status status = dis__alloc_array(&counts, dis__saturating_size(n, 2, 0), sizeof *counts);
    if (status == DIS_OK) status = dis__alloc_array(&logs, n, sizeof *logs);
    if (status == DIS_OK) status = dis__alloc_array(&remaining, n + 1, sizeof *remaining);
    if (status == DIS_OK) {
        uint32_t *first = counts, *sum = counts + n;
        for (size_t k = 0; k < n; k++) {
            if (a[k] + b[k] == 0) continue;
            first[m] = a[k];
            sum[m] = a[k] + b[k];
            logs[m] = lgamma((double)sum[m] + 1);
            row += a[k];
            m++;
        }
        remaining[m] = 0;
        for (size_t k = m; k-- > 0;) remaining[k] = remaining[k + 1] + sum[k];
        walk w = {.n = m, .sum = sum, .log_all = logs, .remaining = remaining};
        *p = m < 2 || row == 0 || row == remaining[0] ? 1 : exact_p(&w, first, row);
    }
    dis__free(counts);
    dis__free(logs);
    dis__free(remaining);
    return status;
}
