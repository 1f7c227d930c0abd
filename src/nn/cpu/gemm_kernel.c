/* Matrix multiplication on one core, after Goto & van de Geijn (2008).
 *
 * A strip of op(B) (KC x NC) is packed into panels a few vectors wide with k outermost, so that the inner kernel reads
 * it sequentially, and stays in the L2 cache while all rows of A are streamed. The kernel keeps a tile of C in
 * registers and adds one outer product per step: with AVX-512 6 x 64, that is 24 accumulators, 4 vectors of B and one
 * broadcast of A; with 10 loads for 24 multiply-adds, loads are not the bottleneck. Rows of A are read in place,
 * several at a time; only a transposed A is packed, a block (MC x KC) at a time.
 *
 * Tiles at the lower edge have fewer rows, at the right edge fewer columns; all run the same chain of operations for an
 * element. Packing a transposed matrix transposes squares in registers.
 *
 * Columns of A that are zero in all MR rows of a tile add nothing: after a ReLU these are a third to a half in trained
 * networks, since many units are rarely active. If there are some, the other columns are listed once for the panels of
 * a strip, and tiles use only these: the sums are identical.
 *
 * Cost: 2 m n k operations; packing reads B once per strip of C, a transposed A n / NC times. */
#include "nn/cpu/gemm.h"
#include "nn/cpu/vecf.h"
#if defined(DIS_ISA_avx512)
#include <immintrin.h>
#endif
#if defined(DIS_ISA_avx512) || defined(__aarch64__)
#define WIDE 4 /* 32 registers */
#else
#define WIDE 2
#endif

enum { STEP = 2, MR = 6 }; /* heights of tiles are multiples of STEP up to MR, widths up to WIDE vectors */
enum { L = DIS_FLANES, NR = WIDE * L, KC = DIS_GEMM_KC, MC = DIS_GEMM_MC, NC = DIS_GEMM_NC };
enum { APART = MR * KC + 16 };
enum { AHEAD = 64, ROWS_AHEAD = 8 }; /* rows are in separate pages, so the next elements of each are prefetched */
enum { LINE = 16 };                  /* floats per cache line */
enum { FURTHER = 8 };                /* listed columns of A whose rows of B are prefetched */
_Static_assert(MC % MR == 0 && NC % DIS_GEMM_NR == 0 && DIS_GEMM_NR % NR == 0, "blocks of whole panels");

static inline size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t tile_height(size_t left)
{
    return left >= MR ? MR : (left + STEP - 1) / STEP * STEP;
}

/* Vectors of the panel with `left` columns to go. Three and two are faster than four and one. */
static inline size_t panel_vectors(size_t left)
{
    const size_t vectors = (left + L - 1) / L;
    if (WIDE == 4 && (vectors == 5 || vectors == 6)) return 3;
    return smaller(vectors, WIDE);
}

/* `n_rows` rows of x (each `k` long, `ld` apart) become columns of a panel `width` wide, whole vectors: to[p * width +
 * i]. */
static void pack_across(const float *x, size_t ld, size_t n_rows, size_t k, size_t width, float *to)
{
    for (size_t i0 = 0; i0 < width; i0 += L) {
        const float *from = x + i0 * ld;
        size_t p = 0;
        for (; p + L <= k; p += L) {
            dis__vecf row[L];
            if (i0 + L <= n_rows) {
#pragma GCC unroll 16
                for (size_t i = 0; i < L; i++) {
                    row[i] = dis__loadf(from + i * ld + p);
                    __builtin_prefetch(from + i * ld + p + AHEAD);
                }
            } else {
                for (size_t i = 0; i < L; i++)
                    row[i] = i0 + i < n_rows ? dis__loadf(from + i * ld + p) : (dis__vecf){0};
            }
            dis__transposef(row);
#pragma GCC unroll 16
            for (size_t j = 0; j < L; j++) dis__storef(to + (p + j) * width + i0, row[j]);
        }
        for (; p < k; p++)
            for (size_t i = 0; i < L; i++) to[p * width + i0 + i] = i0 + i < n_rows ? from[i * ld + p] : 0;
    }
}

/* `n_cols` columns of x, whose rows are `ld` apart, copied into a panel `width` wide, padded with zeros. */
static void pack_along(const float *x, size_t ld, size_t n_cols, size_t k, size_t width, float *to)
{
    if (n_cols == width && width % L == 0) {
        for (size_t p = 0; p < k; p++)
            for (size_t i = 0; i < width; i += L) {
                __builtin_prefetch(x + (p + ROWS_AHEAD) * ld + i);
                dis__storef(to + p * width + i, dis__loadf(x + p * ld + i));
            }
        return;
    }
    for (size_t p = 0; p < k; p++) {
        for (size_t i = 0; i < n_cols; i++) to[p * width + i] = x[p * ld + i];
        for (size_t i = n_cols; i < width; i++) to[p * width + i] = 0;
    }
}

/* Rows [row, row + m) of a transposed A: panels MR high, APART floats from one to the next. Four panels at a time:
 * full cache lines are read, and few streams written. */
static void pack_a(const dis__gemm *g, size_t row, size_t m, size_t k0, size_t k, float *to)
{
    enum { FOUR = 4 * MR };
    const float *from = g->a + k0 * g->lda + row;
    size_t i = 0;
    for (; i + FOUR <= m; i += FOUR, to += 4 * APART)
        for (size_t p = 0; p < k; p++) {
            const float *x = from + p * g->lda + i;
            __builtin_prefetch(x + ROWS_AHEAD * g->lda);
            __builtin_prefetch(x + ROWS_AHEAD * g->lda + 16);
#pragma GCC unroll 4
            for (size_t j = 0; j < 4; j++) memcpy(to + j * APART + p * MR, x + j * MR, MR * sizeof *to);
        }
    for (; i < m; i += MR, to += APART) pack_along(from + i, g->lda, smaller(MR, m - i), k, MR, to);
}

/* Rows [row, row + m), fewer than MR, of an A that is not transposed: one panel, padded with zeros. */
static void pack_tail(const dis__gemm *g, size_t row, size_t m, size_t k0, size_t k, float *to)
{
    const float *from = g->a + row * g->lda + k0;
    for (size_t p = 0; p < k; p++)
        for (size_t i = 0; i < MR; i++) to[p * MR + i] = i < m ? from[i * g->lda + p] : 0;
}

/* B's rows [k0, k0 + k), columns [col, col + n). */
static void pack_b(const dis__gemm *g, size_t col, size_t n, size_t k0, size_t k, float *to)
{
    for (size_t j = 0; j < n;) {
        const size_t width = panel_vectors(n - j) * L, cols = smaller(width, n - j);
        if (g->tb)
            pack_across(g->b + (col + j) * g->ldb + k0, g->ldb, cols, k, width, to);
        else
            pack_along(g->b + k0 * g->ldb + col + j, g->ldb, cols, k, width, to);
        to += width * k;
        j += width;
    }
}

/* The rows of A for a tile: element (i, p) at a[i * row + p * step]. */
typedef struct {
    const float *a;
    size_t row, step;
} left;

/* Arguments of a tile besides its rows of A. */
typedef struct {
    const float *b; /* a panel */
    size_t k;
    bool add;
    float *c;
    size_t ldc, rows, cols; /* rows x cols of it are within C */
    const float *next[2];   /* rows of A to prefetch */
    const uint32_t *listed; /* the k columns of A in use, and FURTHER more; unused if all are */
} right;

/* One step of the sums: a column of A, every third row of which is at a[], times a row of B. */
static inline __attribute__((always_inline)) void add_outer(const int height, const int vectors,
                                                            dis__vecf sum[MR][WIDE], const float *const a[], size_t row,
                                                            const float *b)
{
    dis__vecf y[WIDE];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) y[v] = dis__loadf(b + v * L);
#pragma GCC unroll 8
    for (int i = 0; i < height; i++) {
        const float x = a[i / 3][(size_t)(i % 3) * row];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sum[i][v] += x * y[v];
    }
}

/* One tile of C. */
static inline __attribute__((always_inline)) void tile(const int height, const int vectors, const bool listed, left x,
                                                       const right *y)
{
    dis__vecf sum[MR][WIDE];
    const float *a[(MR + 2) / 3]; /* every third row; those between are one and two rows further */
    const size_t k = y->k, ldc = y->ldc;
    float *const c = y->c;
#pragma GCC unroll 8
    for (int i = 0; i < height; i += 3) a[i / 3] = x.a + (size_t)i * x.row;
    for (size_t i = 0; i < y->rows; i++) /* prefetched for the end */
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) __builtin_prefetch(c + i * ldc + v * L, 1);
#pragma GCC unroll 8
    for (int i = 0; i < height; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sum[i][v] = (dis__vecf){0};
    const float *b = y->b, *next = y->next[0], *next2 = y->next[1];
    if (listed) {
        enum { SOME = LINE / 2 }; /* about half are listed, and all of the next rows are prefetched */
        const uint32_t *at = y->listed;
        for (size_t done = 0; done < k; done += SOME, next += LINE, next2 += LINE) {
            const size_t steps = smaller(SOME, k - done);
            __builtin_prefetch(next);
            __builtin_prefetch(next2);
#pragma GCC unroll 2
            for (size_t q = 0; q < steps; q++, at++) {
                const size_t p = *at;
                const float *here[(MR + 2) / 3];
#pragma GCC unroll 4
                for (int v = 0; v < vectors; v++)
                    __builtin_prefetch(b + ((size_t)at[FURTHER] * (size_t)vectors + (size_t)v) * L);
#pragma GCC unroll 8
                for (int i = 0; i < height; i += 3) here[i / 3] = a[i / 3] + p;
                add_outer(height, vectors, sum, here, x.row, b + p * (size_t)vectors * L);
            }
        }
    } else
        for (size_t done = 0; done < k; done += LINE) {
            const size_t steps = smaller(LINE, k - done);
            __builtin_prefetch(next + done);
            __builtin_prefetch(next2 + done);
#pragma GCC unroll 4
            for (size_t p = 0; p < steps; p++, b += vectors * L) {
                add_outer(height, vectors, sum, a, x.row, b);
#pragma GCC unroll 8
                for (int i = 0; i < height; i += 3) a[i / 3] += x.step;
            }
        }
    if (y->rows == (size_t)height && y->cols == (size_t)(vectors * L)) {
#pragma GCC unroll 8
        for (int i = 0; i < height; i++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) {
                float *to = c + (size_t)i * ldc + v * L;
                dis__storef(to, y->add ? dis__loadf(to) + sum[i][v] : sum[i][v]);
            }
        return;
    }
    float edge[MR][NR];
#pragma GCC unroll 8
    for (int i = 0; i < height; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) dis__storef(edge[i] + v * L, sum[i][v]);
    for (size_t i = 0; i < y->rows; i++)
        for (size_t j = 0; j < y->cols; j++) c[i * ldc + j] = y->add ? c[i * ldc + j] + edge[i][j] : edge[i][j];
}

/* For a packed A, and for one read in place, all of it or the listed columns. */
#define TILE(height, vectors)                                         \
    static void packed_##height##_##vectors(left x, const right *y)   \
    {                                                                 \
        tile(height *STEP, vectors, false, (left){x.a, 1, MR}, y);    \
    }                                                                 \
    static void in_place_##height##_##vectors(left x, const right *y) \
    {                                                                 \
        tile(height *STEP, vectors, false, (left){x.a, x.row, 1}, y); \
    }
#define TILES_WIDE(vectors)                                \
    TILE(1, vectors)                                       \
    TILE(2, vectors)                                       \
    TILE(3, vectors)                                       \
    static void listed_##vectors(left x, const right *y)   \
    {                                                      \
        tile(MR, vectors, true, (left){x.a, x.row, 1}, y); \
    }
TILES_WIDE(1)
TILES_WIDE(2)
#if WIDE == 4
TILES_WIDE(3)
TILES_WIDE(4)
#define TILES(kind)                            \
    {                                          \
        kind##_1, kind##_2, kind##_3, kind##_4 \
    }
#else
#define TILES(kind)        \
    {                      \
        kind##_1, kind##_2 \
    }
#endif
typedef void tile_function(left x, const right *y);
static tile_function *const tiles[2][MR / STEP][WIDE] = {
    {TILES(in_place_1), TILES(in_place_2), TILES(in_place_3)},
    {TILES(packed_1), TILES(packed_2), TILES(packed_3)},
};
static tile_function *const listed_tiles[WIDE] = TILES(listed);

/* Lists the columns of MR rows that are not zero in all of them; returns their number. If none of the first columns is
 * zero, most likely none is, and the function returns k without a list. */
static size_t list_columns(left x, size_t k, uint32_t *at)
{
    enum { FIRST = 32 };
    typedef uint32_t bits __attribute__((vector_size(sizeof(dis__vecf))));
    size_t n = 0, p = 0;
    for (; p + L <= k; p += L) {
        if (p == FIRST && n == FIRST) return k;
        bits any = {0};
#pragma GCC unroll 8
        for (size_t i = 0; i < MR; i++) any |= (bits)dis__loadf(x.a + i * x.row + p);
        any <<= 1; /* without the sign */
#if defined(DIS_ISA_avx512)
        const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        const __mmask16 some = _mm512_test_epi32_mask((__m512i)any, (__m512i)any);
        _mm512_mask_compressstoreu_epi32(at + n, some, _mm512_add_epi32(lanes, _mm512_set1_epi32((int)p)));
        n += (size_t)__builtin_popcount(some);
#else
        for (size_t j = 0; j < L; j++) {
            at[n] = (uint32_t)(p + j);
            n += any[j] != 0;
        }
#endif
    }
    for (; p < k; p++) {
        bool zero = true;
        for (size_t i = 0; i < MR; i++) zero &= x.a[i * x.row + p] == 0;
        at[n] = (uint32_t)p;
        n += !zero;
    }
    for (size_t i = 0; i <= FURTHER; i++) at[n + i] = 0;
    return n;
}

/* C block (m x n) at c: some rows of A stay in the L1 cache while the panels of B are streamed, and each panel
 * prefetches a share of the following rows. `high` is the distance between groups of MR rows of A. */
static void product(left x, size_t high, const float *b, size_t m, size_t n, size_t k, bool add, float *c, size_t ldc)
{
    const bool packed = x.step == MR;
    const size_t share = packed ? k : x.row, far = n >= MR * NR ? 0 : MR / 2 * share;
    uint32_t at[KC + L + FURTHER];
    for (size_t i = 0; i < m; i += MR, x.a += high) {
        const size_t height = tile_height(m - i);
        const size_t n_listed = !packed && m - i >= MR ? list_columns(x, k, at) : k;
        const bool listed = n_listed < k - k / 16;
        right y = {
            .b = b, .k = listed ? n_listed : k, .add = add, .ldc = ldc, .rows = smaller(MR, m - i), .listed = at};
        size_t part = 0;
        for (size_t j = 0; j < n;) {
            const size_t vectors = panel_vectors(n - j);
            y.c = c + i * ldc + j;
            y.cols = smaller(vectors * L, n - j);
            y.next[0] = x.a + high + part++ % MR * share;
            y.next[1] = y.next[0] + far;
            (listed ? listed_tiles[vectors - 1] : tiles[packed][height / STEP - 1][vectors - 1])(x, &y);
            y.b += vectors * L * k;
            j += vectors * L;
        }
    }
}

/* The result for k = 0. */
static void nothing(const dis__gemm *g)
{
    for (size_t i = 0; !g->add && i < g->m; i++) memset(g->c + i * g->ldc, 0, g->n * sizeof *g->c);
    if (g->finish) g->finish(g->arg, 0, 0, g->m, g->n);
}

/* C's columns [col, col + n) += A's columns [k0, k0 + k) times a packed strip. */
static void strip(const dis__gemm *g, size_t col, size_t n, size_t k0, size_t k, const float *b, float *a)
{
    const bool add = g->add || k0, last = k0 + k == g->k;
    for (size_t i = 0; i < g->m; i += MC) {
        const size_t m = smaller(MC, g->m - i);
        float *c = g->c + i * g->ldc + col;
        if (g->ta) {
            pack_a(g, i, m, k0, k, a);
            product((left){a, 1, MR}, APART, b, m, n, k, add, c, g->ldc);
        } else {
            const size_t full_rows = m / MR * MR;
            product((left){g->a + i * g->lda + k0, g->lda, 1}, MR * g->lda, b, full_rows, n, k, add, c, g->ldc);
            if (m > full_rows) {
                pack_tail(g, i + full_rows, m - full_rows, k0, k, a);
                product((left){a, 1, MR}, APART, b, m - full_rows, n, k, add, c + full_rows * g->ldc, g->ldc);
            }
        }
        if (g->finish && last) g->finish(g->arg, i, col, m, n);
    }
}

void DIS_KERNEL(dis__sgemm)(const dis__gemm *g, void *scratch)
{
    if (g->k == 0) nothing(g);
    float *const a = scratch, *const b = a + MC / MR * APART;
    for (size_t j = 0; j < g->n; j += NC) {
        const size_t n = smaller(NC, g->n - j);
        for (size_t p = 0; p < g->k; p += KC) {
            const size_t k = smaller(KC, g->k - p);
            pack_b(g, j, n, p, k, b);
            strip(g, j, n, p, k, b, a);
        }
    }
}

size_t DIS_KERNEL(dis__sgemm_packed_size)(size_t k, size_t n)
{
    return k * ((n + L - 1) / L * L);
}

/* Blocks of KC rows, each with all columns. */
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
    if (g->k == 0) nothing(g);
    for (size_t p = 0; p < g->k; p += KC) {
        const size_t k = smaller(KC, g->k - p);
        strip(g, 0, g->n, p, k, packed, scratch);
        packed += DIS_KERNEL(dis__sgemm_packed_size)(k, g->n);
    }
}
