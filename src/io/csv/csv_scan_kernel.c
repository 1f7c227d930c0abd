/* Finds separators and line ends with vector comparisons: five masks of 64 bits per step, then one entry per set
 * bit. AVX-512 writes entries sixteen bytes of text at a time by compression; otherwise bits are extracted one by one.
 * Cost: about 12 instructions per step and 3 per entry. */
#include "io/csv/csv_scan.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef struct {
    uint64_t separator, lf, cr, difficult, high;
} masks;

#if defined(DIS_ISA_avx512)
static inline masks scan_block(const char *text, char separator)
{
    const __m512i x = _mm512_loadu_si512(text);
    return (masks){.separator = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(separator)),
                   .lf = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\n')),
                   .cr = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\r')),
                   .difficult = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('"')) | _mm512_testn_epi8_mask(x, x),
                   .high = _mm512_movepi8_mask(x)};
}

static inline uint32_t *enter(uint32_t *list, uint32_t base, uint64_t set, uint64_t lf)
{
    __m512i at = _mm512_add_epi32(_mm512_set1_epi32((int)base),
                                  _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m512i flag = _mm512_set1_epi32((int)DIS_SCAN_LF);
    for (int i = 0; i < 4; i++) {
        const __mmask16 m = (__mmask16)(set >> 16 * i);
        const __m512i entry = _mm512_mask_or_epi32(at, (__mmask16)(lf >> 16 * i), at, flag);
        _mm512_storeu_si512(list, _mm512_maskz_compress_epi32(m, entry));
        list += __builtin_popcount(m);
        at = _mm512_add_epi32(at, _mm512_set1_epi32(16));
    }
    return list;
}
#else
#if defined(DIS_ISA_avx2)
static inline uint64_t equal(__m256i a, __m256i b, char c)
{
    const __m256i x = _mm256_set1_epi8(c);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, x)) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, x)) << 32;
}

static inline masks scan_block(const char *text, char separator)
{
    const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)text);
    const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(text + 32));
    return (masks){.separator = equal(a, b, separator),
                   .lf = equal(a, b, '\n'),
                   .cr = equal(a, b, '\r'),
                   .difficult = equal(a, b, '"') | equal(a, b, 0),
                   .high = (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32};
}
#elif defined(__x86_64__)
static inline masks scan_block(const char *text, char separator)
{
    masks m = {0};
    for (int i = 0; i < 4; i++) {
        const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(text + 16 * i));
#define EQUAL(c) ((uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(c))) << 16 * i)
        m.separator |= EQUAL(separator);
        m.lf |= EQUAL('\n');
        m.cr |= EQUAL('\r');
        m.difficult |= EQUAL('"') | EQUAL(0);
        m.high |= (uint64_t)(uint32_t)_mm_movemask_epi8(x) << 16 * i;
#undef EQUAL
    }
    return m;
}
#elif defined(__ARM_NEON) && defined(__aarch64__)
/* One bit per byte of four vectors of 0 and 255: each byte keeps the bit of its position, three rounds add neighbours. */
static inline uint64_t bits(const uint8x16_t x[4])
{
    const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t low = vpaddq_u8(vandq_u8(x[0], weight), vandq_u8(x[1], weight)),
                     high = vpaddq_u8(vandq_u8(x[2], weight), vandq_u8(x[3], weight)), sum = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
}

static inline uint64_t equal(const uint8x16_t x[4], char c)
{
    const uint8x16_t all = vdupq_n_u8((uint8_t)c);
    return bits(
        (const uint8x16_t[]){vceqq_u8(x[0], all), vceqq_u8(x[1], all), vceqq_u8(x[2], all), vceqq_u8(x[3], all)});
}

/* `difficult` and `high` are only tested for 0. */
static inline masks scan_block(const char *text, char separator)
{
    const uint8x16_t quote = vdupq_n_u8('"');
    uint8x16_t x[4], difficult = vdupq_n_u8(0), high = difficult;
    for (int i = 0; i < 4; i++) {
        x[i] = vld1q_u8((const uint8_t *)text + 16 * i);
        difficult = vorrq_u8(difficult, vorrq_u8(vceqq_u8(x[i], quote), vceqzq_u8(x[i])));
        high = vorrq_u8(high, x[i]);
    }
    return (masks){.separator = equal(x, separator),
                   .lf = equal(x, '\n'),
                   .cr = equal(x, '\r'),
                   .difficult = vmaxvq_u8(difficult),
                   .high = vmaxvq_u8(high) >> 7};
}
#else
static inline masks scan_block(const char *text, char separator)
{
    masks m = {0};
    for (int i = 0; i < DIS_SCAN_STEP; i++) {
        const char c = text[i];
        m.separator |= (uint64_t)(c == separator) << i;
        m.lf |= (uint64_t)(c == '\n') << i;
        m.cr |= (uint64_t)(c == '\r') << i;
        m.difficult |= (uint64_t)(c == '"' || c == 0) << i;
        m.high |= (uint64_t)((unsigned char)c >> 7) << i;
    }
    return m;
}
#endif

static inline uint32_t *enter(uint32_t *list, uint32_t base, uint64_t set, uint64_t lf)
{
    for (; set; set &= set - 1) {
        const int bit = __builtin_ctzll(set);
        *list++ = (base + (uint32_t)bit) | (uint32_t)(lf >> bit & 1) << 31;
    }
    return list;
}
#endif

dis__csv_scan DIS_KERNEL(dis__csv_scan_text)(const char *text, size_t n, char separator, uint32_t *list)
{
    dis__csv_scan scan = {0};
    uint32_t *to = list;
    uint64_t high = 0, all_cr = 0, cr_before = 0; /* the last byte of the previous step was a CR */
    size_t i = 0;
    while (i < n) {
        masks m;
        if (n - i >= DIS_SCAN_STEP) {
            __builtin_prefetch(text + i + 4096, 0, 2); /* lookahead stays within a page */
            m = scan_block(text + i, separator);
        } else { /* never read past the text */
            char rest[DIS_SCAN_STEP];
            memset(rest, ' ', sizeof rest);
            memcpy(rest, text + i, n - i);
            m = scan_block(rest, separator);
            const uint64_t within = (1ull << (n - i)) - 1;
            m.separator &= within; /* the separator could be a space */
        }
        const uint64_t lone = (m.cr << 1 | cr_before) & ~m.lf;
        if (m.difficult | lone) break;
        high |= m.high;
        all_cr |= m.cr;
        cr_before = m.cr >> 63;
        to = enter(to, (uint32_t)i, m.separator | m.lf, m.lf);
        i += DIS_SCAN_STEP;
    }
    scan.n = (size_t)(to - list);
    scan.scanned = i < n ? i : n;
    scan.crlf = all_cr != 0;
    scan.not_ascii = high != 0;
    return scan;
}
