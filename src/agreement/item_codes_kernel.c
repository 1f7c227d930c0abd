/* Packs the labels of an item into one short integer. Eight labels are loaded at once and the relevant bits of each
 * byte are compacted, by one instruction where it is fast (all CPUs with AVX-512), otherwise by three shifts that halve
 * the gaps. Labels of following items that were loaded too are masked off. A few cycles per item. Counts are packed
 * into bytes, so the counts of an item are one word. */
#include "agreement/item_codes.h"
#include <string.h>

size_t DIS_KERNEL(dis__code_items)(const uint64_t *start, const uint8_t *label, size_t first, size_t last,
                                   unsigned bits, size_t max, uint32_t *table)
{
    const unsigned gap = 8 - bits;
    const uint64_t one = ((uint64_t)1 << bits) - 1, two = ((uint64_t)1 << (2 * bits)) - 1,
                   four = ((uint64_t)1 << (4 * bits)) - 1;
    const uint64_t ones = one * 0x0101010101010101u, twos = two * 0x0001000100010001u,
                   fours = four * 0x0000000100000001u;
    (void)gap, (void)ones, (void)twos, (void)fours;
    uint64_t at = start[first];
    for (size_t i = first; i < last; i++) {
        const uint64_t next = start[i + 1], r = next - at;
        if (r > max) return i;
        uint64_t word;
        memcpy(&word, label + at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
#if defined(DIS_ISA_avx512)
        word = __builtin_ia32_pext_di(word, ones);
#else
        word = (word | word >> gap) & twos;
        word = (word | word >> (2 * gap)) & fours;
        word |= word >> (4 * gap);
#endif
        const uint32_t end = (uint32_t)1 << (bits * (unsigned)r);
        table[((uint32_t)word & (end - 1)) | end]++;
        at = next;
    }
    return last;
}

typedef double reals __attribute__((vector_size(8 * DIS_LANES)));
typedef int64_t longs __attribute__((vector_size(8 * DIS_LANES)));
typedef int32_t ints __attribute__((vector_size(4 * DIS_LANES)));
typedef uint8_t bytes __attribute__((vector_size(DIS_LANES)));

int DIS_KERNEL(dis__counts_to_bytes)(const double *count, size_t n, uint8_t *out)
{
    longs wrong = {0};
    size_t i = 0;
    for (; i + DIS_LANES <= n; i += DIS_LANES) {
        reals c;
        memcpy(&c, count + i, sizeof c);
        const longs small = c < 256;
        c = (reals)((longs)c & small); /* larger values would not fit an int */
        const ints x = __builtin_convertvector(c, ints);
        wrong |= ~small | (__builtin_convertvector(x, reals) != c);
        const bytes b = __builtin_convertvector(x, bytes);
        memcpy(out + i, &b, sizeof b);
    }
    int fine = 1;
    for (size_t j = 0; j < DIS_LANES; j++) fine &= wrong[j] == 0;
    for (; i < n; i++) {
        out[i] = (uint8_t)(count[i] < 256 ? count[i] : 0);
        fine &= count[i] == out[i];
    }
    return fine;
}
