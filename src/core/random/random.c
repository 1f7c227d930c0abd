/* Philox 4x32-10, a block at a time; Weyl constants are added to the key between rounds. */
#include "core/random/random.h"
#include "core/random/philox.h"
#include <math.h>

dis_random_block dis__philox(uint64_t counter_low, uint64_t counter_high, uint64_t key)
{
    uint32_t c0 = (uint32_t)counter_low, c1 = (uint32_t)(counter_low >> 32);
    uint32_t c2 = (uint32_t)counter_high, c3 = (uint32_t)(counter_high >> 32);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < DIS_PHILOX_ROUNDS; round++) {
        dis__philox_round(&c0, &c1, &c2, &c3, k0, k1);
        k0 += DIS_PHILOX_WEYL0;
        k1 += DIS_PHILOX_WEYL1;
    }
    return (dis_random_block){{c0, c1, c2, c3}};
}

double dis__random_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    const dis_random_block b = dis__philox(index, stream, seed);
    const double u = ((double)b.word[0] + 1) * 0x1p-32, v = (double)b.word[1] * 0x1p-32;
    return sqrt(-2 * log(u)) * cos(6.283185307179586477 * v);
}
