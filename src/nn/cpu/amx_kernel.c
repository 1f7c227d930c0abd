/* Matrix multiplication with weights in bfloat16 on CPUs with tile registers (AMX): tdpbf16ps multiplies 16 x 32 by 32
 * x 16 and adds to 16 x 16 floats.
 *
 * B is packed as for vdpbf16ps (bf16_kernel.c): a tile of it is 16 pairs of rows and 16 columns of a panel, read in
 * place. HIGH rows of A are rounded at a time, KC values of each, and stay in the L1 cache while the panels are
 * streamed. Four tiles of C are accumulated together: four loads for four multiplications. Tiles that extend beyond C
 * use a separate buffer.
 *
 * Each element of C is one chain over k, for any assignment to tiles and threads. If k is not a multiple of 32,
 * vdpbf16ps is used.
 *
 * Cost: 2 m n k operations; A is rounded once per strip of C. */
#include "nn/cpu/bf16.h"
#if defined(DIS_ISA_avx512)
#include "nn/cpu/bf16_rows.h"
#include "nn/cpu/gemm.h"
#include <stdalign.h>

#ifndef DIS_AMX_INSTEAD /* other tests may use other sizes */
#define AMX                          __attribute__((target("amx-tile,amx-bf16,avx512bf16")))
#define TILE_CONFIGURE(config)       _tile_loadconfig(config)
#define TILE_RELEASE()               _tile_release()
#define TILE_ZERO(tile)              _tile_zero(tile)
#define TILE_LOAD(tile, from, apart) _tile_loadd(tile, from, apart)
#define TILE_STORE(tile, to, apart)  _tile_stored(tile, to, apart)
#define TILE_MULTIPLY(sum, one, two) _tile_dpbf16ps(sum, one, two)
#endif
#define IN_ORDER() __asm__ volatile("" ::: "memory") /* some compilers do not know that tiles are read and written */

enum { SIDE = 16, HIGH = 2 * SIDE, STEP = 32, KC = 384, ROW = KC + 32, STRIPS = 4 };
_Static_assert(HIGH *ROW * sizeof(uint16_t) <= DIS_GEMM_SCRATCH, "rounded rows fit into what products get");
_Static_assert(KC % STEP == 0 && DIS_BF16_NR % HIGH == 0 && (int)SIDE == (int)L, "blocks of whole tiles");

typedef struct {
    const uint16_t *a;
    const uint32_t *b;
    size_t wide, k; /* wide: stride between pairs of rows of the panel */
    bool add;
    float *c[4]; /* tiles of C: 2 x 2 */
    size_t apart[4];
} amx_block;

/* Tiles 0 to 3 are C, 4 and 5 rows of A, 6 and 7 columns of B. */
#define BEGIN(tile, t)                                                       \
    do {                                                                     \
        if ((t)->add)                                                        \
            TILE_LOAD(tile, (t)->c[tile], (t)->apart[tile] * sizeof(float)); \
        else                                                                 \
            TILE_ZERO(tile);                                                 \
    } while (0)
#define END(tile, t) TILE_STORE(tile, (t)->c[tile], (t)->apart[tile] * sizeof(float))

static inline __attribute__((always_inline)) AMX void multiply(const bool two_high, const bool two_wide,
                                                               const amx_block *t)
{
    const uint16_t *a = t->a;
    const uint32_t *b = t->b;
    const size_t row = ROW * sizeof *a, pairs = t->wide * sizeof *b;
    IN_ORDER();
    BEGIN(0, t);
    if (two_wide) BEGIN(1, t);
    if (two_high) BEGIN(2, t);
    if (two_high && two_wide) BEGIN(3, t);
    for (size_t k = 0; k < t->k; k += STEP, a += STEP, b += SIDE * t->wide) {
        TILE_LOAD(4, a, row);
        TILE_LOAD(6, b, pairs);
        TILE_MULTIPLY(0, 4, 6);
        if (two_wide) {
            TILE_LOAD(7, b + SIDE, pairs);
            TILE_MULTIPLY(1, 4, 7);
        }
        if (two_high) {
            TILE_LOAD(5, a + SIDE * ROW, row);
            TILE_MULTIPLY(2, 5, 6);
            if (two_wide) TILE_MULTIPLY(3, 5, 7);
        }
    }
    END(0, t);
    if (two_wide) END(1, t);
    if (two_high) END(2, t);
    if (two_high && two_wide) END(3, t);
    IN_ORDER();
}

static AMX void multiply_any(size_t rows, size_t cols, const amx_block *t)
{
    const bool high = rows > SIDE, wide = cols > SIDE;
    if (high && wide)
        multiply(true, true, t);
    else if (high)
        multiply(true, false, t);
    else if (wide)
        multiply(false, true, t);
    else
        multiply(false, false, t);
}

static void copy_tile(const float *from, size_t from_apart, float *to, size_t to_apart, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++) memcpy(to + i * to_apart, from + i * from_apart, cols * sizeof *to);
}

/* Up to HIGH x HIGH of C; tiles that extend beyond it use `own`. */
static AMX void one_block(amx_block *t, float *c, size_t ldc, size_t rows, size_t cols)
{
    alignas(64) float own[4][SIDE * SIDE];
    size_t inside_rows[4], inside_cols[4];
    for (size_t q = 0; q < 4; q++) {
        const size_t i = q / 2 * SIDE, j = q % 2 * SIDE;
        float *at = c + i * ldc + j;
        inside_rows[q] = rows > i ? smaller(SIDE, rows - i) : 0;
        inside_cols[q] = cols > j ? smaller(SIDE, cols - j) : 0;
        const bool full_tile = inside_rows[q] == SIDE && inside_cols[q] == SIDE;
        t->c[q] = full_tile ? at : own[q];
        t->apart[q] = full_tile ? ldc : SIDE;
        if (full_tile || !inside_rows[q] || !inside_cols[q]) continue;
        memset(own[q], 0, sizeof own[q]);
        if (t->add) copy_tile(at, ldc, own[q], SIDE, inside_rows[q], inside_cols[q]);
    }
    multiply_any(rows, cols, t);
    for (size_t q = 0; q < 4; q++)
        if (t->c[q] == own[q])
            copy_tile(own[q], SIDE, c + q / 2 * SIDE * ldc + q % 2 * SIDE, ldc, inside_rows[q], inside_cols[q]);
}

/* HIGH rows of C or fewer, n columns of it, and k values of A's rows from k0 on. */
static AMX void stripe(const dis__product_args *a, size_t row, size_t col, size_t m, size_t n, size_t k0, size_t k,
                       uint16_t *rows)
{
    const size_t pairs = a->k / 2;
    round_rows((const float *)a->a + row * a->lda + k0, a->lda, m, m > SIDE ? HIGH : SIDE, k, rows, ROW);
    for (size_t j = 0; j < n; j += HIGH) {
        const size_t at = col + j, panel = at / DIS_BF16_NR * DIS_BF16_NR;
        const size_t wide = (smaller(DIS_BF16_NR, a->n - panel) + L - 1) / L * L;
        amx_block t = {.a = rows,
                       .b = (const uint32_t *)a->work + panel * pairs + k0 / 2 * wide + (at - panel),
                       .wide = wide,
                       .k = k,
                       .add = a->add || k0};
        one_block(&t, (float *)a->c + row * a->ldc + at, a->ldc, m, smaller(HIGH, n - j));
    }
}

static void strip(const dis__product_args *a, size_t row, size_t col, size_t m, size_t n, void *scratch)
{
    const bool ends = a->bias || a->bias2 || a->act != DIS_ACT_NONE;
    for (size_t k0 = 0; k0 < a->k; k0 += KC) {
        const size_t k = smaller(KC, a->k - k0);
        for (size_t i = 0; i < m; i += HIGH) {
            const size_t high = smaller(HIGH, m - i);
            stripe(a, row + i, col, high, n, k0, k, scratch);
            if (ends && k0 + k == a->k) DIS_KERNEL(dis__cpu_end_product)(a, row + i, col, high, n);
        }
    }
}

/* Eight tiles of 16 rows of 64 bytes, in the layout of the instruction. */
static AMX void configure(void)
{
    alignas(64) uint8_t config[64] = {1};
    for (size_t tile = 0; tile < 8; tile++) {
        config[16 + 2 * tile] = 64;
        config[48 + tile] = SIDE;
    }
    TILE_CONFIGURE(config);
}

AMX void dis__amx_product(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__product_args *a = args;
    if (!a->work || a->ta || a->k == 0 || a->k % STEP) {
        dis__bf16_product_avx512(args, first, last, scratch);
        return;
    }
    const size_t across = (a->n + a->tile_cols - 1) / a->tile_cols;
    configure();
    for (size_t t = first, n = 1; t < last; t += n) {
        const size_t left = smaller(last - t, across - t % across), row = t / across * a->tile_rows;
        const size_t col = t % across * a->tile_cols;
        n = smaller(STRIPS, left); /* as wide as the L2 cache allows, so that rows are rounded once per strip */
        strip(a, row, col, smaller(a->tile_rows, a->m - row), smaller(n * a->tile_cols, a->n - col), scratch);
    }
    TILE_RELEASE();
}
#else
typedef int dis__amx_nothing; /* not supported by this instruction set */
#endif
