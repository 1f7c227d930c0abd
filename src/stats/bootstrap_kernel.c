/* The inner loops of the bootstrap.
 *
 * Poisson counts, 64 items at a time: each item gets 16 random bits, and its count is the number of bounds below them.
 * The bits come from eight interleaved xoshiro256++ generators, the same ones for every instruction set. */
#include "stats/bootstrap_kernel.h"
#include "core/numbers/vector_math.h"
#include <stdbool.h>

enum { GENERATORS = 8 };

typedef int16_t halves __attribute__((vector_size(8 * DIS_LANES)));
typedef uint8_t bytes __attribute__((vector_size(4 * DIS_LANES)));

static inline dis__uvec turn(dis__uvec x, int by)
{
    return x << by | x >> (64 - by);
}

static inline halves step(dis__uvec s[4])
{
    const dis__uvec out = turn(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = turn(s[3], 45);
    return (halves)out;
}

/* Adds 1 in every lane where x > bound. */
static inline halves count_above(halves count, halves x, int16_t bound)
{
#if defined(DIS_ISA_avx512)
    const __m512i b = _mm512_set1_epi16(bound), one = _mm512_set1_epi16(1);
    return (halves)_mm512_mask_add_epi16((__m512i)count, _mm512_cmpgt_epi16_mask((__m512i)x, b), (__m512i)count, one);
#else
    return count - (halves)(x > bound);
#endif
}

static inline void store(uint8_t *to, halves count)
{
    const bytes b = __builtin_convertvector(count, bytes);
    memcpy(to, &b, sizeof b);
}

/* As many generators at once as fit into registers, over all items; then the next ones. */
void DIS_KERNEL(dis__bootstrap_poisson)(uint64_t state[4 * GENERATORS], const int16_t *bound, size_t n_bounds,
                                        uint8_t *count, size_t n)
{
    for (size_t g = 0; g < GENERATORS; g += DIS_LANES) {
        dis__uvec s[4];
        for (size_t w = 0; w < 4; w++) memcpy(&s[w], state + w * GENERATORS + g, sizeof s[w]);
        for (uint8_t *to = count + 4 * g; to < count + n; to += 64) {
            const halves x = step(s), y = step(s);
            halves a = {0}, b = {0};
            for (size_t t = 0; t < n_bounds; t++) {
                a = count_above(a, x, bound[t]);
                b = count_above(b, y, bound[t]);
            }
            store(to, a);
            store(to + 32, b);
        }
        for (size_t w = 0; w < 4; w++) memcpy(state + w * GENERATORS + g, &s[w], sizeof s[w]);
    }
}

uint64_t DIS_KERNEL(dis__bootstrap_total)(const uint8_t *count, size_t n)
{
    uint32_t sum = 0; /* n is at most a block */
    for (size_t i = 0; i < n; i++) sum += count[i];
    return sum;
}

enum { TILE = 1024, ROWS = 4 }; /* items whose columns stay in the L1 cache; resamples processed together */

static inline dis__vec load_counts(const uint8_t *count)
{
#if defined(DIS_ISA_avx512)
    return (dis__vec)_mm512_cvtepi64_pd(_mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)count)));
#elif defined(DIS_ISA_avx2)
    int32_t four;
    memcpy(&four, count, sizeof four);
    return (dis__vec)_mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)));
#else
    return (dis__vec){count[0], count[1]};
#endif
}

static inline double across(dis__vec x)
{
    double sum = 0;
    for (int lane = 0; lane < DIS_LANES; lane++) sum += x[lane];
    return sum;
}

/* sums[r][c] += count[r] . column[c] for ROWS resamples and `width` columns. */
#define DOT(name, width)                                                                                      \
    static void name(const uint8_t *const *count, const double *const *column, size_t n, double *const *sums) \
    {                                                                                                         \
        dis__vec a[ROWS][width] = {{{0}}};                                                                    \
        size_t i = 0;                                                                                         \
        for (; i + DIS_LANES <= n; i += DIS_LANES)                                                            \
            for (int r = 0; r < ROWS; r++) {                                                                  \
                const dis__vec m = load_counts(count[r] + i);                                                 \
                for (int c = 0; c < (width); c++) a[r][c] += m * dis__vload(column[c] + i);                   \
            }                                                                                                 \
        for (int r = 0; r < ROWS; r++)                                                                        \
            for (int c = 0; c < (width); c++) {                                                               \
                double sum = across(a[r][c]);                                                                 \
                for (size_t j = i; j < n; j++) sum += count[r][j] * column[c][j];                             \
                sums[r][c] += sum;                                                                            \
            }                                                                                                 \
    }
DOT(dot_two, 2)
DOT(dot_one, 1)

void DIS_KERNEL(dis__bootstrap_dot)(const uint8_t *count, size_t stride, size_t n_resamples,
                                    const double *const *columns, size_t n_columns, size_t first, size_t n,
                                    double *sums)
{
    for (size_t at = 0; at < n; at += TILE) {
        const size_t items = n - at < TILE ? n - at : TILE;
        for (size_t c = 0; c < n_columns; c += 2)
            for (size_t r = 0; r < n_resamples; r += ROWS) {
                const double *const column[] = {columns[c] + first + at,
                                                columns[c + 1 < n_columns ? c + 1 : c] + first + at};
                const uint8_t *row[ROWS];
                double *to[ROWS], unwanted[2];
                for (size_t j = 0; j < ROWS; j++) { /* the last resample is repeated to fill the group; its result is
                                                     * discarded */
                    const bool in_range = r + j < n_resamples;
                    row[j] = count + (in_range ? r + j : r) * stride + at;
                    to[j] = in_range ? sums + (r + j) * n_columns + c : unwanted;
                }
                unwanted[0] = unwanted[1] = 0;
                if (c + 1 < n_columns)
                    dot_two(row, column, items, to);
                else
                    dot_one(row, column, items, to);
            }
    }
}
