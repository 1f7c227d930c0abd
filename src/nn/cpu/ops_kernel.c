/* Column `cpu` of the kernel table: the loops in float, compiled for each instruction set, with vector exp and log and
 * the matrix product of gemm_kernel.c. */
#include <math.h>
#include "nn/cpu/gemm.h"
#include "nn/cpu/mathf.h"
#include "nn/ops.h"
typedef float real;
#define OP(f)         DIS_KERNEL(dis__cpu_##f)
#define EXP(x)        dis__expf(x)
#define LOG(x)        dis__logf(x)
#define SQRT(x)       sqrtf(x)
#define ERF(x)        dis__erff(x)
#define DECLARE(name) void OP(name)(const void *args, size_t first, size_t last, void *scratch);
DIS_OPS(DECLARE)
#undef DECLARE
#include "nn/loops/loops.h"
#include "nn/loops/dense_loops.h"
#include "nn/loops/norm_loops.h"
#include "nn/loops/head_loops.h"
#include "nn/loops/update_loops.h"

void OP(product)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__product_args *a = args;
    const size_t across = (a->n + a->tile_cols - 1) / a->tile_cols;
    const float *bias = a->bias;
    for (size_t t = first; t < last; t++) {
        const size_t row = t / across * a->tile_rows, col = t % across * a->tile_cols;
        const size_t m = a->m - row < a->tile_rows ? a->m - row : a->tile_rows;
        const size_t n = a->n - col < a->tile_cols ? a->n - col : a->tile_cols;
        const dis__gemm g = {
            .ta = a->ta,
            .tb = a->tb,
            .add = a->add,
            .m = m,
            .n = n,
            .k = a->k,
            .a = (const float *)a->a + (a->ta ? row : row * a->lda),
            .b = (const float *)a->b + (a->tb ? col * a->ldb : col),
            .c = (float *)a->c + row * a->ldc + col,
            .lda = a->lda,
            .ldb = a->ldb,
            .ldc = a->ldc,
        };
        DIS_KERNEL(dis__sgemm)(&g, scratch);
        if (!bias && a->act == DIS_ACT_NONE) continue;
        for (size_t i = 0; i < m; i++) {
            float *c = g.c + i * g.ldc;
            if (bias)
                for (size_t j = 0; j < n; j++) c[j] += bias[col + j];
            activate_row(a->act, c, c, n);
        }
    }
}
