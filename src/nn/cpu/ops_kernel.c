/* Column `cpu` of the kernel table: the loops in float, compiled for each instruction set, with vectorized exp and log
 * and the GEMM of gemm_kernel.c. */
#include <math.h>
#include "nn/cpu/bf16.h"
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

static dis__gemm gemm_of(const matrices *x)
{
    return (dis__gemm){x->ta, x->tb, x->add, x->m,   x->n,   x->k,      x->a,
                       x->b,  x->c,  x->lda, x->ldb, x->ldc, x->finish, x->arg};
}

static void times(const matrices *x, void *scratch)
{
    const dis__gemm g = gemm_of(x);
    DIS_KERNEL(dis__sgemm)(&g, scratch);
}

static void pack(const matrices *x, float *packed)
{
    const dis__gemm g = gemm_of(x);
    DIS_KERNEL(dis__sgemm_pack)(&g, packed);
}

static void times_packed(const matrices *x, const float *packed, void *scratch)
{
    const dis__gemm g = gemm_of(x);
    DIS_KERNEL(dis__sgemm_with_packed)(&g, packed, scratch);
}

enum { TIMES_SCRATCH = DIS_GEMM_SCRATCH };

#include "nn/loops/dense_loops.h"

void DIS_KERNEL(dis__cpu_end_product)(const dis__product_args *args, size_t row, size_t col, size_t m, size_t n)
{
    end_product(&(product_tile){args, row, col}, 0, 0, m, n);
}

#include "nn/loops/norm_loops.h"
#include "nn/loops/head_loops.h"
#include "nn/loops/annotator_loops.h"
#include "nn/loops/update_loops.h"
#include "nn/loops/recurrent_loops.h"
#include "nn/loops/padded_attention_loops.h"
#include "nn/loops/packed_attention_loops.h"
#include "nn/loops/image_loops.h"
#include "nn/loops/lookup_loops.h"
#include "nn/loops/batchnorm_loops.h"
#include "nn/loops/batch_rows_loops.h"
