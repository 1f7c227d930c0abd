/* loops.h: what the loops of all operations stand on. Included, after `real` and OP are set, by ref_ops.c (double,
 * plain mathematics of libm) and ops_kernel.c (float, once for each instruction set).
 *
 * Sums over a row run in vectors of 64 bytes and are added up in one fixed order, so they do not depend on the width of
 * the machine's registers. */
#ifndef DIS_NN_LOOPS_LOOPS_H
#define DIS_NN_LOOPS_LOOPS_H
#include "core/random/philox.h"
#include "nn/ops.h"
#include <string.h>

typedef real vreal __attribute__((vector_size(64)));
enum { LANES = 64 / sizeof(real) };

/* The sum of all lanes, halves first. */
static inline real lane_sum(vreal *v)
{
    real lane[LANES];
    memcpy(lane, v, sizeof lane);
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) lane[i] += lane[i + half];
    return lane[0];
}

static inline real sum(const real *x, size_t n)
{
    vreal total = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vreal v;
        memcpy(&v, x + i, sizeof v);
        total += v;
    }
    for (size_t j = 0; i < n; i++, j++) total[j] += x[i];
    return lane_sum(&total);
}

static inline real dot(const real *x, const real *y, size_t n)
{
    vreal total = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vreal v, w;
        memcpy(&v, x + i, sizeof v);
        memcpy(&w, y + i, sizeof w);
        total += v * w;
    }
    for (size_t j = 0; i < n; i++, j++) total[j] += x[i] * y[i];
    return lane_sum(&total);
}

static inline void store_or_add(real *restrict to, const real *restrict from, size_t n, bool add)
{
    if (!add)
        memcpy(to, from, n * sizeof *to);
    else
        for (size_t i = 0; i < n; i++) to[i] += from[i];
}

/* A GEMM within an operation: C (m x n) = op(A) op(B), or +=. times() is defined by the including file. */
typedef struct {
    bool ta, tb, add;
    size_t m, n, k;
    const real *a;
    size_t lda;
    const real *b;
    size_t ldb;
    real *c;
    size_t ldc;
    /* Called when m rows and n columns of C are complete; NULL: nothing to do. */
    void (*finish)(const void *arg, size_t row, size_t col, size_t m, size_t n);
    const void *arg;
} matrices;

/* q = softmax(z), returns the log of the sum of exp(z). */
static inline real softmax(const real *restrict z, real *restrict q, size_t n)
{
    real max = z[0], total = 0;
    for (size_t k = 1; k < n; k++) max = z[k] > max ? z[k] : max;
    for (size_t k = 0; k < n; k++) q[k] = EXP(z[k] - max);
    total = sum(q, n);
    const real scale = 1 / total;
    for (size_t k = 0; k < n; k++) q[k] *= scale;
    return max + LOG(total);
}

/* dis__philox for n counters, in place. */
static inline __attribute__((always_inline)) void philox_rounds(uint64_t seed, size_t n, uint32_t *restrict c0,
                                                                uint32_t *restrict c1, uint32_t *restrict c2,
                                                                uint32_t *restrict c3)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < DIS_PHILOX_ROUNDS; round++) {
        for (size_t i = 0; i < n; i++) dis__philox_round(&c0[i], &c1[i], &c2[i], &c3[i], k0, k1);
        k0 += DIS_PHILOX_WEYL0;
        k1 += DIS_PHILOX_WEYL1;
    }
}

#endif
