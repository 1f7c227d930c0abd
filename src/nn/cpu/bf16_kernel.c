/* Matrix multiplication with weights in bfloat16: vdpbf16ps multiplies pairs of bfloat16 and adds both products to a
 * float32, twice the operations of a fused multiply-add of the same width.
 *
 * As in gemm_kernel.c a tile of C (6 x 64) stays in registers, with k outermost, here two at a time. B is packed once
 * for all calls, in panels of 64 columns: for each pair of rows of B, the pairs of all columns. A is rounded to
 * bfloat16 on the fly, MC rows and KC columns at a time, to the nearest even; numbers below the smallest normal one
 * become 0. 10 loads for 24 vdpbf16ps.
 *
 * Cost: 2 m n k operations; A is rounded once per strip of C. */
#include "nn/cpu/bf16.h"
#if defined(DIS_ISA_avx512)
#include "nn/cpu/bf16_rows.h"
#include "nn/cpu/gemm.h"

enum { MR = 6, WIDE = 4, NR = DIS_BF16_NR, KC = 768, MC = 96, ROW = KC + 32 };
_Static_assert(MC % MR == 0 && NR == WIDE * L && KC % 2 == 0, "blocks of whole tiles");
_Static_assert(MC *ROW * sizeof(uint16_t) <= DIS_GEMM_SCRATCH, "rounded rows fit into what products get");

/* ---- B, once ---- */

/* Packs up to 16 columns of B (rows in memory if it is transposed) into a panel `wide` pairs wide. */
static BF16 void pack_lanes(const dis__product_args *a, size_t col, uint32_t *to, size_t wide)
{
    const size_t n = a->n > col ? smaller(L, a->n - col) : 0;
    const float *b = (const float *)a->b + (a->tb ? col * a->ldb : col);
    for (size_t k = 0; k < a->k; k += 2 * L) {
        const size_t left = smaller(2 * L, a->k - k), pairs = (left + 1) / 2;
        dis__vecf row[L];
        for (size_t i = 0; i < L; i++) {
            float column[2 * L] = {0};
            if (!a->tb && i < n)
                for (size_t p = 0; p < left; p++) column[p] = b[(k + p) * a->ldb + i];
            row[i] =
                i < n ? (dis__vecf)(a->tb ? rounded(b + i * a->ldb + k, left) : rounded(column, left)) : (dis__vecf){0};
        }
        dis__transposef(row);
        for (size_t p = 0; p < pairs; p++) dis__storef((float *)(to + (k / 2 + p) * wide), row[p]);
    }
}

void dis__bf16_pack_avx512(const dis__product_args *a, size_t panel)
{
    const size_t col = panel * NR, wide = (smaller(NR, a->n - col) + L - 1) / L * L, pairs = (a->k + 1) / 2;
    uint32_t *to = (uint32_t *)a->work + col * pairs;
    for (size_t j = 0; j < wide; j += L) pack_lanes(a, col + j, to + j, wide);
}

/* ---- tiles ---- */

typedef struct {
    const uint16_t *a; /* rounded rows, ROW apart */
    const uint32_t *b; /* a panel, from the first of its pairs on */
    size_t pairs;
    bool add;
    float *c;
    size_t ldc, rows, cols; /* rows x cols of it are within C */
} bf16_tile;

static inline __attribute__((always_inline)) BF16 void tile(const int height, const int vectors, const bf16_tile *t)
{
    __m512 sum[MR][WIDE];
    const uint16_t *a = t->a;
    const uint32_t *b = t->b;
    for (size_t i = 0; i < t->rows; i++) /* prefetched for the end */
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) __builtin_prefetch(t->c + i * t->ldc + v * L, 1);
#pragma GCC unroll 8
    for (int i = 0; i < height; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sum[i][v] = _mm512_setzero_ps();
#pragma GCC unroll 4
    for (size_t p = 0; p < t->pairs; p++, a += 2, b += vectors * L) {
        __m512bh y[WIDE];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) y[v] = (__m512bh)_mm512_loadu_si512(b + v * L);
#pragma GCC unroll 8
        for (int i = 0; i < height; i++) {
            int32_t pair;
            memcpy(&pair, a + i * ROW, sizeof pair);
            const __m512bh x = (__m512bh)_mm512_set1_epi32(pair);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) sum[i][v] = _mm512_dpbf16_ps(sum[i][v], x, y[v]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < height; i++) {
        if ((size_t)i >= t->rows) break;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            const size_t left = t->cols - (size_t)v * L;
            const __mmask16 mask = left >= L ? 0xffff : (__mmask16)((1u << left) - 1);
            float *to = t->c + (size_t)i * t->ldc + v * L;
            const __m512 before = t->add ? _mm512_maskz_loadu_ps(mask, to) : _mm512_setzero_ps();
            _mm512_mask_storeu_ps(to, mask, _mm512_add_ps(before, sum[i][v]));
        }
    }
}

#define TILE(height, vectors)                                      \
    static BF16 void tile_##height##_##vectors(const bf16_tile *t) \
    {                                                              \
        tile(height, vectors, t);                                  \
    }
#define TILES(height) TILE(height, 1) TILE(height, 2) TILE(height, 3) TILE(height, 4)
TILES(2)
TILES(4)
TILES(6)
#define ROW_OF(height)                                                             \
    {                                                                              \
        tile_##height##_1, tile_##height##_2, tile_##height##_3, tile_##height##_4 \
    }
static void (*const tiles[MR / 2][WIDE])(const bf16_tile *t) = {ROW_OF(2), ROW_OF(4), ROW_OF(6)};

/* ---- the product ---- */

/* C's columns [col, col + n) of MC rows or fewer += A's columns [k0, k0 + k) times their panels. */
static void block(const dis__product_args *a, size_t row, size_t col, size_t m, size_t n, size_t k0, size_t k,
                  uint16_t *rounded_rows)
{
    const size_t pairs = (a->k + 1) / 2;
    round_rows((const float *)a->a + row * a->lda + k0, a->lda, m, (m + 1) / 2 * 2, k, rounded_rows, ROW);
    for (size_t i = 0; i < m; i += MR)
        for (size_t j = 0; j < n; j += NR) {
            const size_t rows = smaller(MR, m - i), cols = smaller(NR, n - j), vectors = (cols + L - 1) / L;
            const size_t wide = (smaller(NR, a->n - col - j) + L - 1) / L * L;
            const bf16_tile t = {.a = rounded_rows + i * ROW,
                                 .b = (const uint32_t *)a->work + (col + j) * pairs + k0 / 2 * wide,
                                 .pairs = (k + 1) / 2,
                                 .add = a->add || k0,
                                 .c = (float *)a->c + (row + i) * a->ldc + col + j,
                                 .ldc = a->ldc,
                                 .rows = rows,
                                 .cols = cols};
            tiles[(rows + 1) / 2 - 1][vectors - 1](&t);
        }
}

static void strip(const dis__product_args *a, size_t row, size_t col, size_t m, size_t n, void *scratch)
{
    const bool ends = a->bias || a->bias2 || a->act != DIS_ACT_NONE;
    for (size_t k0 = 0; k0 < a->k; k0 += KC) {
        const size_t k = smaller(KC, a->k - k0);
        for (size_t i = 0; i < m; i += MC) {
            const size_t high = smaller(MC, m - i);
            block(a, row + i, col, high, n, k0, k, scratch);
            if (ends && k0 + k == a->k) DIS_KERNEL(dis__cpu_end_product)(a, row + i, col, high, n);
        }
    }
}

void DIS_KERNEL(dis__cpu_product)(const void *args, size_t first, size_t last, void *scratch);

void dis__bf16_product_avx512(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__product_args *a = args;
    if (!a->work || a->ta || a->k == 0) { /* nothing was packed */
        DIS_KERNEL(dis__cpu_product)(args, first, last, scratch);
        return;
    }
    const size_t across = (a->n + a->tile_cols - 1) / a->tile_cols;
    for (size_t t = first; t < last; t++) {
        const size_t row = t / across * a->tile_rows, col = t % across * a->tile_cols;
        strip(a, row, col, smaller(a->tile_rows, a->m - row), smaller(a->tile_cols, a->n - col), scratch);
    }
}
#else
typedef int dis__bf16_nothing; /* not supported by this instruction set */
#endif
