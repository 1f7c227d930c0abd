/* em_posteriors.h: step 3 of em_kernel.c: products of a block of items become posteriors, and the logarithms of their
 * sums are accumulated as exponents and mantissas. Items whose sum is beyond the range of a double are recomputed by
 * careful(). */
#ifndef DIS_LABELS_EM_POSTERIORS_H
#define DIS_LABELS_EM_POSTERIORS_H
#include "labels/em/em_votes.h"

#define MIN 0x1p-700
#define MAX 0x1p700

/* x = mantissa * 2^exponent with 1 <= mantissa < 2; the exponent is added to e. 0: see above. */
INLINE double split(double x, double *e)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const bool zero = x < 0x1p-1022;
    *e += zero ? DIS_EM_LOG2_ZERO : (double)(int64_t)(bits >> 52) - 1023;
    bits = zero ? 0x3ff0000000000000u : (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The product of item i into x, for any magnitude; returns the power of 2 by which it is scaled. */
static double careful(arrays a, size_t i, double *x, const shape *s)
{
    double *e = a.line;
    for (size_t k = 0; k < s->n_states; k++) {
        e[k] = 0;
        x[k] = split(a.prior[k], &e[k]);
        if (a.item) x[k] = split(x[k] * split(a.item[i * s->n_classes + k], &e[k]), &e[k]);
    }
    for (uint64_t v = a.start[i]; v < a.start[i + 1]; v++) {
        const double *row = a.table + place_of(&a, v, s);
        if (s->pairs) {
            const size_t k = label_of(&a, v, s);
            x[k] = split(x[k] * split(row[0], &e[k]), &e[k]);
        } else {
            for (size_t k = 0; k < s->n_states; k++) x[k] = split(x[k] * split(row[k], &e[k]), &e[k]);
        }
    }
    const bool pinned = a.gold && a.gold[i] >= 0;
    const size_t from = pinned ? (size_t)a.gold[i] * a.n_groups : 0, to = pinned ? from + a.n_groups : s->n_states;
    double top = -1e300;
    for (size_t k = 0; k < s->n_states; k++)
        if (k >= from && k < to && e[k] > top) top = e[k];
    for (size_t k = 0; k < s->n_states; k++) {
        const uint64_t bits = (uint64_t)(e[k] - top < -1000 ? 0 : 1023 + e[k] - top) << 52;
        double scale;
        memcpy(&scale, &bits, sizeof scale);
        x[k] = k >= from && k < to && e[k] - top >= -1000 ? x[k] * scale : 0;
    }
    for (size_t k = s->n_states; k < s->row; k++) x[k] = 0;
    return top;
}

/* Sums of log normalisers: multiplies mantissas, adds exponents (including the bias of 1023). */
typedef struct {
    dis__vec product;
    dis__uvec exponent;
    double n;     /* count per lane */
    double extra; /* additional powers of 2 */
} logs;

INLINE void add_exponent(logs *l, dis__vec x, bool fresh)
{
    const dis__uvec bits = (dis__uvec)x;
    const dis__vec mantissa = (dis__vec)((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    l->exponent += bits >> 52;
    l->product = fresh ? mantissa : l->product * mantissa;
    l->n += 1;
}

static double finish_logs(const logs *l)
{
    double exponents = l->extra, sum = 0;
    const dis__vec mantissas = dis__vlog(l->product);
    for (size_t j = 0; j < DIS_LANES; j++) {
        exponents += (double)l->exponent[j] - 1023 * l->n;
        sum += mantissas[j];
    }
    return sum + exponents * 0.693147180559945309417;
}

INLINE size_t padded_size(size_t n)
{
    return (n + DIS_LANES - 1) / DIS_LANES * DIS_LANES;
}

/* The normaliser of one item: the sum of its products, under DIS_EM_HARD the largest. */
INLINE double total_of(const double *x, bool hard, const shape *s)
{
    if (hard) {
        double top = x[0];
        for (size_t k = 1; k < s->n_classes; k++) top = x[k] > top ? x[k] : top;
        return top;
    }
    if (s->row == 2) return x[0] + x[1];
    double y[4] = {x[0], x[1], x[2], x[3]};
    for (size_t k = 4; k < s->row; k += 4)
        for (size_t j = 0; j < 4; j++) y[j] += x[k + j];
    return (y[0] + y[1]) + (y[2] + y[3]);
}

/* Assigns the item to its best class, the first one on a tie. */
INLINE void harden(double *x, double top, const shape *s)
{
    bool found = false;
    for (size_t k = 0; k < s->row; k++) {
        const bool best = !found && x[k] == top;
        found |= best;
        x[k] = best;
    }
}

/* x / y given 1 / y: a multiplication and its correction (Markstein 1990), so that x / x is 1. */
INLINE double quotient(double x, double y, double inverse)
{
#ifdef __FMA__
    const double q = x * inverse;
    return __builtin_fma(__builtin_fma(-q, y, x), inverse, q);
#else
    (void)inverse;
    return x / y;
#endif
}

/* Normalises products to posteriors. Items past n, up to full vectors, have log normaliser 0. */
INLINE void share(arrays a, size_t first, size_t n, const shape *s, bool hard, logs *l)
{
    const size_t padded = padded_size(n);
    double *restrict sum = a.sum, *restrict x = a.scratch;
    for (size_t b = n; b < padded; b++)
        for (size_t k = 0; k < s->row; k++) x[b * s->row + k] = k == 0;
    for (size_t b = 0; b < padded; b++) sum[b] = total_of(x + b * s->row, hard, s);
    dis__ivec fit = ~(dis__ivec){0};
    for (size_t b = 0; b < padded; b += DIS_LANES)
        fit &= (dis__ivec)(dis__vload(sum + b) > MIN) & (dis__ivec)(dis__vload(sum + b) < MAX);
    bool fits = true;
    for (size_t j = 0; j < DIS_LANES; j++) fits &= fit[j] != 0;
    for (size_t b = 0; !fits && b < n; b++)
        if (!(sum[b] > MIN && sum[b] < MAX)) {
            l->extra += careful(a, first + b, x + b * s->row, s);
            sum[b] = total_of(x + b * s->row, hard, s);
        }
    for (size_t b = 0; b < padded; b += DIS_LANES) add_exponent(l, dis__vload(sum + b), false);
    add_exponent(l, l->product, true); /* the product stays small */
    if (hard) {
        for (size_t b = 0; b < n; b++) harden(x + b * s->row, sum[b], s);
        return;
    }
    double *restrict inverse = a.sum + DIS_EM_BLOCK;
    for (size_t b = 0; b < padded; b++) inverse[b] = 1 / sum[b];
    for (size_t b = 0; b < n; b++)
        for (size_t k = 0; k < s->row; k++) x[b * s->row + k] = quotient(x[b * s->row + k], sum[b], inverse[b]);
}

#endif
