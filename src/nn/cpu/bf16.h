/* bf16.h: matrix multiplication with weights in bfloat16 and sums in float32, for CPUs that have vdpbf16ps or, faster,
 * tiles (AMX).
 *
 *     if (dis__bf16_lacks()) ...                                    // the missing CPU feature
 *     for (size_t j = 0; j < dis__bf16_panels(args.n); j++) dis__bf16_pack(&args, j);   // B to args.work, once
 *     table[DIS_OP_product](&args, 0, n_tiles, scratch);            // dis__ops_bf16: reads A, args.work
 *
 * Each element of C is one chain over pairs of k in blocks of a fixed size, for any assignment to tiles and threads:
 * any number of threads gives the same bytes. AMX tiles add in another order than vdpbf16ps. */
#ifndef DIS_NN_CPU_BF16_H
#define DIS_NN_CPU_BF16_H
#include "core/kernel.h"
#include "nn/ops.h"

const char *dis__bf16_lacks(void); /* NULL: supported */
/* Whether tiles can be used. Requests them from the system, which must have granted them before the first product. */
bool dis__bf16_has_tiles(void);

size_t dis__bf16_size(size_t n, size_t k); /* bytes of B (k x n) packed; SIZE_MAX: overflow */
size_t dis__bf16_panels(size_t n);         /* number of parts in which B's columns are packed, in any order */
void dis__bf16_pack(const dis__product_args *args, size_t panel);

#if defined(__x86_64__)
void dis__bf16_pack_avx512(const dis__product_args *args, size_t panel);
void dis__bf16_product_avx512(const void *args, size_t first, size_t last, void *scratch);
void dis__amx_product(const void *args, size_t first, size_t last, void *scratch);
#endif
/* Adds biases and applies the activation to m rows and n columns of C, from (row, col) on. */
DIS_KERNEL_DECLARE(void, dis__cpu_end_product,
                   (const dis__product_args *args, size_t row, size_t col, size_t m, size_t n));

enum { DIS_BF16_NR = 64 }; /* columns of a panel */

#endif
