/* Philox 4x32-10. Ten rounds of two 32 x 32 -> 64 multiplications; the key is bumped by Weyl constants between rounds.
 */
#include "core/random.h"
#include <math.h>

dis_random_block dis__philox(uint64_t counter_low, uint64_t counter_high, uint64_t key)
{
    uint32_t c0 = (uint32_t)counter_low, c1 = (uint32_t)(counter_low >> 32);
    uint32_t c2 = (uint32_t)counter_high, c3 = (uint32_t)(counter_high >> 32);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)b;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (dis_random_block){{c0, c1, c2, c3}};
}

double dis__normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    const dis_random_block b = dis__philox(index, stream, seed);
    const double u = ((double)b.word[0] + 1) * 0x1p-32, v = (double)b.word[1] * 0x1p-32;
    return sqrt(-2 * log(u)) * cos(6.283185307179586477 * v);
}
