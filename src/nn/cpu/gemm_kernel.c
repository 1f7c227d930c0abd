/* Matrix product on one core, after Goto & van de Geijn (2008).
 *
 * A block of op(B) (KC x NC) is packed into panels of NR columns, a block of op(A) (MC x KC) into panels of MR rows,
 * both with k outermost, so that the inner kernel reads them in order: it keeps an MR x NR tile of C in registers and
 * adds one outer product a step. With AVX-512 a tile is 12 x 32: 24 accumulators, 2 vectors of B, one broadcast of A.
 * Panels at the lower edge are a third or two thirds as high, at the right edge half as wide; both run the same chain
 * of operations for an element as the full ones.
 *
 * Packing a matrix against its grain goes through squares transposed in registers.
 *
 * Cost: 2 m n k operations; packing touches A n / NC times and B m / MC times. */
#include "nn/cpu/gemm.h"
#include "nn/cpu/vecf.h"

#if defined(DIS_ISA_avx512)
#define THIRD 4
#else
#define THIRD 2
#endif
enum { MR = 3 * THIRD, L = DIS_FLANES, NR = 2 * L, KC = DIS_GEMM_KC, MC = DIS_GEMM_MC, NC = DIS_GEMM_NC };
enum { AHEAD = 64 }; /* floats: rows are far apart, and the next squares of each are fetched early */
_Static_assert(MC % MR == 0 && NC % NR == 0 && MR <= L + 2, "blocks of whole panels");

static inline size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Height of the panel that has `left` rows to go: a multiple of THIRD. */
static inline size_t panel_height(size_t left)
{
    return left >= MR ? MR : (left + THIRD - 1) / THIRD * THIRD;
}

/* `n_rows` rows of x (each `k` long, `ld` apart) become columns of a panel `width` wide: to[p * width + i]. Where the
 * panel is narrower than a vector each step writes over what the one before spilled; the last spills behind the panel. */
static void pack_across(const float *x, size_t ld, size_t n_rows, size_t k, size_t width, float *to)
{
    size_t p = 0;
    for (; p + L <= k; p += L)
        for (size_t i0 = 0; i0 < width; i0 += L) {
            dis__vecf row[L];
            if (i0 + L <= n_rows) {
#pragma GCC unroll 16
                for (size_t i = 0; i < L; i++) {
                    row[i] = dis__loadf(x + (i0 + i) * ld + p);
                    __builtin_prefetch(x + (i0 + i) * ld + p + AHEAD);
                }
            } else {
                for (size_t i = 0; i < L; i++)
                    row[i] = i0 + i < n_rows ? dis__loadf(x + (i0 + i) * ld + p) : (dis__vecf){0};
            }
            dis__transposef(row);
            if (width <= L || width - i0 >= L) {
#pragma GCC unroll 16
                for (size_t j = 0; j < L; j++) dis__storef(to + (p + j) * width + i0, row[j]);
            } else {
                for (size_t j = 0; j < L; j++) memcpy(to + (p + j) * width + i0, &row[j], (width - i0) * sizeof *to);
            }
        }
    for (; p < k; p++)
        for (size_t i = 0; i < width; i++) to[p * width + i] = i < n_rows ? x[i * ld + p] : 0;
}

/* `n_cols` columns of x, whose rows are `ld` apart, copied into a panel `width` wide, padded with zeros. */
static void pack_along(const float *x, size_t ld, size_t n_cols, size_t k, size_t width, float *to)
{
    if (n_cols == width && width % L == 0) {
        for (size_t p = 0; p < k; p++)
            for (size_t i = 0; i < width; i += L) dis__storef(to + p * width + i, dis__loadf(x + p * ld + i));
        return;
    }
    if (n_cols == MR && width == MR) {
        for (size_t p = 0; p < k; p++) memcpy(to + p * MR, x + p * ld, MR * sizeof *to);
        return;
    }
    for (size_t p = 0; p < k; p++) {
        for (size_t i = 0; i < n_cols; i++) to[p * width + i] = x[p * ld + i];
        for (size_t i = n_cols; i < width; i++) to[p * width + i] = 0;
    }
}

static void pack_a(const dis__gemm *g, size_t row, size_t m, size_t k0, size_t k, float *to)
{
    for (size_t i = 0; i < m; i += MR) {
        const size_t rows = smaller(MR, m - i), height = panel_height(m - i);
        if (g->ta)
            pack_along(g->a + k0 * g->lda + row + i, g->lda, rows, k, height, to);
        else
            pack_across(g->a + (row + i) * g->lda + k0, g->lda, rows, k, height, to);
        to += height * k;
    }
}

static inline size_t panel_width(size_t left)
{
    return left > L ? NR : L;
}

static void pack_b(const dis__gemm *g, size_t col, size_t n, size_t k0, size_t k, float *to)
{
    for (size_t j = 0; j < n; j += NR) {
        const size_t cols = smaller(NR, n - j), width = panel_width(n - j);
        if (g->tb)
            pack_across(g->b + (col + j) * g->ldb + k0, g->ldb, cols, k, width, to);
        else
            pack_along(g->b + k0 * g->ldb + col + j, g->ldb, cols, k, width, to);
        to += width * k;
    }
}

/* One tile of C: rows x cols of it lie within C. */
static inline __attribute__((always_inline)) void tile(const int height, const int vectors, const float *a,
                                                       const float *b, size_t k, bool add, float *c, size_t ldc,
                                                       size_t rows, size_t cols)
{
    dis__vecf sum[MR][2];
#pragma GCC unroll 12
    for (int i = 0; i < height; i++) /* C is needed at the end: its lines are on their way while k runs */
        if ((size_t)i < rows) {
            __builtin_prefetch(c + (size_t)i * ldc, 1);
            if (vectors == 2) __builtin_prefetch(c + (size_t)i * ldc + L, 1);
        }
#pragma GCC unroll 12
    for (int i = 0; i < height; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) sum[i][v] = (dis__vecf){0};
#pragma GCC unroll 4
    for (size_t p = 0; p < k; p++) {
        dis__vecf right[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            right[v] = dis__loadf(b + v * L);
            __builtin_prefetch(b + (v + 16 * vectors) * L);
        }
#pragma GCC unroll 12
        for (int i = 0; i < height; i++) {
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) sum[i][v] += a[i] * right[v];
        }
        a += height;
        b += vectors * L;
    }
    if (rows == (size_t)height && cols == (size_t)(vectors * L)) {
#pragma GCC unroll 12
        for (int i = 0; i < height; i++)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) {
                float *to = c + (size_t)i * ldc + v * L;
                dis__storef(to, add ? dis__loadf(to) + sum[i][v] : sum[i][v]);
            }
        return;
    }
    float edge[MR][NR];
#pragma GCC unroll 12
    for (int i = 0; i < height; i++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) dis__storef(edge[i] + v * L, sum[i][v]);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) c[i * ldc + j] = add ? c[i * ldc + j] + edge[i][j] : edge[i][j];
}

#define TILE_ARGS const float *a, const float *b, size_t k, bool add, float *c, size_t ldc, size_t rows, size_t cols
#define TILE(name, height, vectors)                              \
    static void name(TILE_ARGS)                                  \
    {                                                            \
        tile(height, vectors, a, b, k, add, c, ldc, rows, cols); \
    }
TILE(tile_1_1, THIRD, 1)
TILE(tile_2_1, 2 * THIRD, 1)
TILE(tile_3_1, MR, 1)
TILE(tile_1_2, THIRD, 2)
TILE(tile_2_2, 2 * THIRD, 2)
TILE(tile_3_2, MR, 2)

static void (*const tiles[3][2])(TILE_ARGS) = {{tile_1_1, tile_1_2}, {tile_2_1, tile_2_2}, {tile_3_1, tile_3_2}};

/* C block (m x n) at c from packed panels: a panel of A stays in the first cache while those of B pass by. */
static void product(const float *a, const float *b, size_t m, size_t n, size_t k, bool add, float *c, size_t ldc)
{
    for (size_t i = 0; i < m; i += MR) {
        const size_t height = panel_height(m - i), rows = smaller(MR, m - i);
        const float *panel = b;
        for (size_t j = 0; j < n; j += NR) {
            const size_t width = panel_width(n - j), cols = smaller(NR, n - j);
            tiles[height / THIRD - 1][width / L - 1](a, panel, k, add, c + i * ldc + j, ldc, rows, cols);
            panel += width * k;
        }
        a += height * k;
    }
}

static void zero(const dis__gemm *g)
{
    if (g->add) return;
    for (size_t i = 0; i < g->m; i++) memset(g->c + i * g->ldc, 0, g->n * sizeof *g->c);
}

void DIS_KERNEL(dis__sgemm)(const dis__gemm *g, void *scratch)
{
    if (g->k == 0) zero(g);
    float *const a = scratch, *const b = a + KC * MC + 32;
    for (size_t j = 0; j < g->n; j += NC) {
        const size_t n = smaller(NC, g->n - j);
        for (size_t p = 0; p < g->k; p += KC) {
            const size_t k = smaller(KC, g->k - p);
            pack_b(g, j, n, p, k, b);
            for (size_t i = 0; i < g->m; i += MC) {
                const size_t m = smaller(MC, g->m - i);
                pack_a(g, i, m, p, k, a);
                product(a, b, m, n, k, g->add || p, g->c + i * g->ldc + j, g->ldc);
            }
        }
    }
}

size_t DIS_KERNEL(dis__sgemm_packed_size)(size_t k, size_t n)
{
    return k * ((n + L - 1) / L * L);
}

/* Blocks of KC rows, each with all its columns. */
void DIS_KERNEL(dis__sgemm_pack)(const dis__gemm *g, float *packed)
{
    for (size_t p = 0; p < g->k; p += KC) {
        const size_t k = smaller(KC, g->k - p);
        pack_b(g, 0, g->n, p, k, packed);
        packed += DIS_KERNEL(dis__sgemm_packed_size)(k, g->n);
    }
}

void DIS_KERNEL(dis__sgemm_with_packed)(const dis__gemm *g, const float *packed, void *scratch)
{
    if (g->k == 0) zero(g);
    float *const a = scratch;
    for (size_t p = 0; p < g->k; p += KC) {
        const size_t k = smaller(KC, g->k - p);
        for (size_t i = 0; i < g->m; i += MC) {
            const size_t m = smaller(MC, g->m - i);
            pack_a(g, i, m, p, k, a);
            product(a, packed, m, g->n, k, g->add || p, g->c + i * g->ldc, g->ldc);
        }
        packed += DIS_KERNEL(dis__sgemm_packed_size)(k, g->n);
    }
}
