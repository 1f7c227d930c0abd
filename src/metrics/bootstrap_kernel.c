/* The inner loops of the bootstrap.
 *
 * Poisson numbers, 64 items at a time: each item gets 16 random bits, and its number is how many of the thresholds they
 * reach. The bits come from eight xoshiro256++ generators side by side, the same ones for every instruction set. */
#include "metrics/bootstrap_kernel.h"
#include "core/vmath.h"

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

/* One more in every lane where x > bound. */
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

typedef uint8_t few_bytes __attribute__((vector_size(DIS_LANES)));
typedef int32_t few_ints __attribute__((vector_size(4 * DIS_LANES)));

static inline dis__vec load_counts(const uint8_t *count)
{
    few_bytes v;
    memcpy(&v, count, sizeof v);
    return __builtin_convertvector(__builtin_convertvector(v, few_ints), dis__vec);
}

static inline double across(dis__vec x)
{
    double sum = 0;
    for (int lane = 0; lane < DIS_LANES; lane++) sum += x[lane];
    return sum;
}

/* As many columns at once as share the work of turning counts into numbers. */
#define DOT(name, width)                                                                                       \
    static void name(const uint8_t *count, const double *const *columns, size_t first, size_t n, double *sums) \
    {                                                                                                          \
        dis__vec a[width] = {{0}}, b[width] = {{0}};                                                           \
        size_t i = 0;                                                                                          \
        for (; i + 2 * DIS_LANES <= n; i += 2 * DIS_LANES) {                                                   \
            const dis__vec m = load_counts(count + i), k = load_counts(count + i + DIS_LANES);                 \
            for (int c = 0; c < (width); c++) {                                                                \
                a[c] += m * dis__vload(columns[c] + first + i);                                                \
                b[c] += k * dis__vload(columns[c] + first + i + DIS_LANES);                                    \
            }                                                                                                  \
        }                                                                                                      \
        for (int c = 0; c < (width); c++) {                                                                    \
            double sum = across(a[c] + b[c]);                                                                  \
            for (size_t j = i; j < n; j++) sum += count[j] * columns[c][first + j];                            \
            sums[c] += sum;                                                                                    \
        }                                                                                                      \
    }
DOT(dot_four, 4)
DOT(dot_two, 2)
DOT(dot_one, 1)

void DIS_KERNEL(dis__bootstrap_dot)(const uint8_t *count, const double *const *columns, size_t n_columns, size_t first,
                                    size_t n, double *sums)
{
    size_t c = 0;
    for (; c + 4 <= n_columns; c += 4) dot_four(count, columns + c, first, n, sums + c);
    for (; c + 2 <= n_columns; c += 2) dot_two(count, columns + c, first, n, sums + c);
    if (c < n_columns) dot_one(count, columns + c, first, n, sums + c);
}
