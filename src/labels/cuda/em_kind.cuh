/* em_kind.cuh: template parameters of the kernels of the EM pass: how many lanes share an item's states, and how many
 * states each lane has. */
#ifndef DIS_LABELS_CUDA_EM_KIND_CUH
#define DIS_LABELS_CUDA_EM_KIND_CUH
#include "labels/cuda/em_vote.cuh"

enum { ALL = 32 };
static const unsigned EVERY = 0xffffffffu;

/* The constants of one expansion. */
template <int LANES_, int PER_, bool PAIRS_> struct kind {
    enum {
        LANES = LANES_, /* lanes of a group */
        PER = PER_,     /* states per lane */
        PAIRS = PAIRS_,
        THREADS = PER_ >= 8 ? 128 : 256,
        GROUPS = THREADS / LANES_,
        VOTES = LANES_ < 4 ? 4 : LANES_, /* votes that a group loads at a time */
        FEW = PER_ > 2   ? 1
              : PER_ > 1 ? 2
                         : 4, /* of these, rows loaded concurrently */
    };
};

/* X(lanes, states per lane): the first row with room for all states is used. */
#define EM_KINDS(X) X(2, 1) X(4, 1) X(8, 1) X(16, 1) X(32, 1) X(32, 2) X(32, 4) X(32, 8) X(32, 32)

#endif
