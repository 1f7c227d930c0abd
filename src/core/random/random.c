/* Philox 4x32-10, a block at a time. */
#include "core/random/random.h"
#include "core/random/philox.h"
#include <math.h>

dis_random_block dis__philox(uint64_t counter_low, uint64_t counter_high, uint64_t key)
{
    dis_random_block block;
    dis__philox_block(counter_low, counter_high, key, block.word);
    return block;
}

double dis__random_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    const dis_random_block b = dis__philox(index, stream, seed);
    const double u = ((double)b.word[0] + 1) * 0x1p-32, v = (double)b.word[1] * 0x1p-32;
    return sqrt(-2 * log(u)) * cos(6.283185307179586477 * v);
}
