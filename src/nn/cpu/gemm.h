/* gemm.h: matrix multiplication on one thread, for kernels of the cpu column.
 *
 * C (m x n) = op(A) op(B), or C += op(A) op(B). Each element of C is one chain of fused multiply-adds over k in blocks
 * of a fixed size, so the result of an element does not depend on the division of C into tiles, nor on its position in
 * one: any number of threads and any block of rows or columns gives the same bytes. */
#ifndef DIS_NN_CPU_GEMM_H
#define DIS_NN_CPU_GEMM_H
#include "core/kernel.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    bool ta, tb; /* A is (k x m), B is (n x k) in memory */
    bool add;    /* C += instead of C = */
    size_t m, n, k;
    const float *a, *b;
    float *c;
    size_t lda, ldb, ldc; /* floats from one row in memory to the next */
    /* Called when m rows and n columns of C are complete, while they are in the cache; NULL: nothing to do. */
    void (*finish)(const void *arg, size_t row, size_t col, size_t m, size_t n);
    const void *arg;
} dis__gemm;

enum {
    DIS_GEMM_KC = 512, /* of k at a time */
    DIS_GEMM_MC = 192, /* rows of A at a time */
    DIS_GEMM_NC = 384, /* columns of B at a time */
    DIS_GEMM_NR = 64,  /* columns of the widest tiles */
    DIS_GEMM_SCRATCH = (DIS_GEMM_KC * DIS_GEMM_MC + 16 * DIS_GEMM_MC + DIS_GEMM_KC * DIS_GEMM_NC + 64) * 4, /* bytes */
};

DIS_KERNEL_DECLARE(void, dis__sgemm, (const dis__gemm *g, void *scratch));
/* Floats of B packed once for several multiplications. */
DIS_KERNEL_DECLARE(size_t, dis__sgemm_packed_size, (size_t k, size_t n));
DIS_KERNEL_DECLARE(void, dis__sgemm_pack, (const dis__gemm *g, float *packed));
/* The same with g->b packed already; g->b, g->ldb and g->tb are ignored. */
DIS_KERNEL_DECLARE(void, dis__sgemm_with_packed, (const dis__gemm *g, const float *packed, void *scratch));

#endif
