/* random.h: random numbers as a function of their purpose and index, not of previous draws.
 *
 * dis__random(seed, stream, index) is the same on every machine, for any number of threads, in any order. Streams
 * separate purposes: give each purpose its own constant from the list below. */
#ifndef DIS_CORE_RANDOM_RANDOM_H
#define DIS_CORE_RANDOM_RANDOM_H
#include "dissent/status.h"

/* Purposes; add at the end. The high 32 bits of a stream are free for an additional key. */
typedef enum {
    DIS_STREAM_TIES = 1,
    DIS_STREAM_MACE_START,
    DIS_STREAM_HOLD_OUT,
    DIS_STREAM_SYNTH_WORKER,
    DIS_STREAM_SYNTH_ITEM,
    DIS_STREAM_SYNTH_VOTE,
    DIS_STREAM_SYNTH_ORDER,
    DIS_STREAM_SYNTH_CONTENT,
    DIS_STREAM_BOOTSTRAP,
    DIS_STREAM_HALVES,
    DIS_STREAM_WEIGHTS,
    DIS_STREAM_DROPOUT,
    DIS_STREAM_TRAIN_ORDER,
    DIS_STREAM_SPLIT,
    DIS_STREAM_AUGMENT,
    DIS_STREAM_SUBSAMPLE,
    DIS_STREAM_EBCC_START,
    DIS_STREAM_GROUPS = 21, /* 18 to 20 are free */
    DIS_STREAM_RANDOM_WORKER,
    DIS_STREAM_RANDOM_VOTE,
    DIS_STREAM_PANEL,
    DIS_STREAM_ANNOTATOR_SUBSET,
    DIS_STREAM_MIXUP,
    DIS_STREAM_CONTRAST,
    DIS_STREAM_ANNOTATORS,
    DIS_STREAM_JUDGE_SAMPLE,
    DIS_STREAM_PLAN,
    DIS_STREAM_PAIR_ERRORS,
    DIS_STREAM_PAIR_RANKS,
    DIS_STREAM_PAIR_CAMPS,
    DIS_STREAM_PAIR_GROUPS,
    DIS_STREAM_PAIR_FOLDS,
    DIS_STREAM_PREDICTION_SETS,
    DIS_STREAM_ANNOTATOR_CAMPS,
} dis_stream;

typedef struct {
    uint32_t word[4];
} dis_random_block;

/* Philox 4x32-10 (Salmon et al. 2011): 128 bits from a 128-bit counter and a 64-bit key. */
dis_random_block dis__philox(uint64_t counter_low, uint64_t counter_high, uint64_t key);

static inline uint64_t dis__random(uint64_t seed, uint64_t stream, uint64_t index)
{
    const dis_random_block b = dis__philox(index, stream, seed);
    return (uint64_t)b.word[1] << 32 | b.word[0];
}

/* In [0, 1): 53 random bits. */
static inline double dis__random_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
    return (double)(dis__random(seed, stream, index) >> 11) * 0x1p-53;
}

/* In [0, n), n > 0, with negligible bias (2^-64 n). */
static inline uint64_t dis__random_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t n)
{
    return (uint64_t)((unsigned __int128)dis__random(seed, stream, index) * n >> 64);
}

/* An index for a text, such as the name of an item: FNV-1a, 64 bits. Texts chosen to collide only draw the same
 * numbers. */
static inline uint64_t dis__random_key(const char *text, size_t n)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h;
}

/* Standard normal (Box-Muller on one block). */
double dis__random_normal(uint64_t seed, uint64_t stream, uint64_t index);

#endif
