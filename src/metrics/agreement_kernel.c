/* The labels of an item as one short number: eight are loaded at once, and the bits that matter of each byte pushed
 * together, by one instruction where that is fast (all processors with AVX-512), else by three shifts that halve the gaps.
 * Labels of the next items that were loaded along are cut off behind. A few cycles an item. */
#include "metrics/agreement_kernel.h"
#include <string.h>

size_t DIS_KERNEL(dis__code_items)(const uint64_t *start, const uint8_t *label, size_t first, size_t last,
                                   unsigned bits, size_t most, uint32_t *table)
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
        if (r > most) return i;
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
