/* Column `ref` of the kernel table: the loops in double, with the mathematics of libm and products in plain loops. What
 * the other columns are compared with, and what finite differences are taken of; speed is no aim. */
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
#include "nn/loops/dense_loops.h"
#include "nn/loops/norm_loops.h"
#include "nn/loops/head_loops.h"
#include "nn/loops/update_loops.h"

static double element(const double *x, bool transposed, size_t ld, size_t i, size_t j)
{
    return transposed ? x[j * ld + i] : x[i * ld + j];
}

void dis__ref_product(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__product_args *a = args;
    const size_t across = (a->n + a->tile_cols - 1) / a->tile_cols;
    const double *bias = a->bias;
    for (size_t t = first; t < last; t++) {
        const size_t row = t / across * a->tile_rows, col = t % across * a->tile_cols;
        for (size_t i = row; i < a->m && i < row + a->tile_rows; i++)
            for (size_t j = col; j < a->n && j < col + a->tile_cols; j++) {
                double *c = (double *)a->c + i * a->ldc + j, total = a->add ? *c : 0;
                for (size_t p = 0; p < a->k; p++)
                    total += element(a->a, a->ta, a->lda, i, p) * element(a->b, a->tb, a->ldb, p, j);
                if (bias) total += bias[j];
                activate_row(a->act, &total, c, 1);
            }
    }
}
