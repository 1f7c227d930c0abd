/* Column `ref` of the kernel table: the loops in double, with the mathematics of libm and products in plain loops. What
 * the other columns are compared with, and what finite differences are taken of; speed is not an aim. */
#include <math.h>
#include "nn/ops.h"
typedef double real;
#define OP(f)         dis__ref_##f
#define EXP(x)        exp(x)
#define LOG(x)        log(x)
#define SQRT(x)       sqrt(x)
#define ERF(x)        erf(x)
#define DECLARE(name) void OP(name)(const void *args, size_t first, size_t last, void *scratch);
DIS_OPS(DECLARE)
#undef DECLARE
#include "nn/loops/loops.h"

static double element(const double *x, bool transposed, size_t ld, size_t i, size_t j)
{
    return transposed ? x[j * ld + i] : x[i * ld + j];
}

static void times(const matrices *x, void *scratch)
{
    (void)scratch;
    for (size_t i = 0; i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            double total = x->add ? x->c[i * x->ldc + j] : 0;
            for (size_t p = 0; p < x->k; p++)
                total += element(x->a, x->ta, x->lda, i, p) * element(x->b, x->tb, x->ldb, p, j);
            x->c[i * x->ldc + j] = total;
        }
    if (x->finish) x->finish(x->arg, 0, 0, x->m, x->n);
}

/* Packing only matters for speed: here the matrix is copied, k rows of n. */
static void pack(const matrices *x, double *packed)
{
    for (size_t p = 0; p < x->k; p++)
        for (size_t j = 0; j < x->n; j++) packed[p * x->n + j] = element(x->b, x->tb, x->ldb, p, j);
}

static void times_packed(const matrices *x, const double *packed, void *scratch)
{
    matrices y = *x;
    y.tb = false;
    y.b = packed;
    y.ldb = x->n;
    times(&y, scratch);
}

enum { TIMES_SCRATCH = 64 };

#include "nn/loops/dense_loops.h"
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
