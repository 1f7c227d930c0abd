/* cuda_em.h: shared by the host code and the kernels of EM passes on CUDA devices. */
#ifndef DIS_LABELS_CUDA_CUDA_EM_H
#define DIS_LABELS_CUDA_CUDA_EM_H
#include "labels/em/em_device.h"
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DIS_CUDA_EM_STATES = 1024,
    DIS_CUDA_EM_UNIT = 2048,
    DIS_CUDA_EM_COUNTED = 8,
    DIS_CUDA_EM_LONG = 2048,
    DIS_CUDA_EM_PART = 1024
};

/* A second copy of the votes, sorted by (tile of items, worker, label), items ascending, from which sums are computed.
 * The posteriors of a tile's items fit into the L2 cache. A segment is the votes of one (tile, worker, label), a unit a
 * piece of at most DIS_CUDA_EM_UNIT votes of one segment. */
typedef struct {
    size_t n_tiles, tile; /* items of a tile */
    size_t n_segments;    /* n_tiles * n_workers * n_classes */
    size_t n_units;       /* maximum; the actual number is unit_start[n_segments] */
    uint32_t *item;       /* (n_votes) */
    uint64_t *segment;    /* (n_segments + 1): start of the votes of each */
    uint32_t *unit_start; /* (n_segments + 1): start of the units of each */
    uint32_t *unit;       /* (n_units): the segment of each */
} dis__cuda_em_order;

/* Arguments of a pass; pointers are device pointers. */
typedef struct {
    dis__em_shape shape;
    dis__em_step step;
    bool sum, keep;
    const uint64_t *start;
    const uint32_t *votes;
    const int32_t *gold;       /* NULL: no gold labels */
    const uint64_t *signature; /* of random shares */
    uint64_t key;
    const double *rates, *prior;
    const uint32_t *long_item, *long_part; /* (n_long), (n_long + 1) */
    double *part_x;                        /* (n_parts, n_states): products of the votes of a part, 1 to 2 */
    long long *part_e;                     /* with separate powers of 2; for shares, counts of votes */
    double *x;                             /* (n_items, n_states): posteriors */
    double *p;                             /* (n_items, n_classes): class posteriors; equal to x without groups */
    double *part;                          /* (blocks, n_states + 1): class sums, log normalisers */
    dis__cuda_em_order order;
    double *unit_sum; /* (n_units, row) */
    double *out;      /* (n_rows * row + n_states + 1): sums, class sums, the log normaliser */
} dis__cuda_em_pass;

/* Number of tiles, segments, and maximum number of units. */
void dis__cuda_em_tile(const dis__em_shape *shape, dis__cuda_em_order *order);
/* Scratch bytes of the sort. */
cudaError_t dis__cuda_em_order_bytes(const dis__em_shape *shape, const dis__cuda_em_order *order, size_t *bytes);
cudaError_t dis__cuda_em_make_order(const dis__cuda_em_pass *pass, void *scratch, size_t bytes, cudaStream_t stream);

/* Number of thread blocks for this many states, which determines the size of `part`. */
cudaError_t dis__cuda_em_blocks(const dis__em_shape *shape, int ordinal, unsigned *blocks);
/* counts (2 n_classes + 2) as in dis__em_device, for at most DIS_CUDA_EM_COUNTED classes. */
cudaError_t dis__cuda_em_count(const dis__cuda_em_pass *pass, uint64_t *counts, cudaStream_t stream);
/* Before a pass: computes the parts of long items. */
cudaError_t dis__cuda_em_parts(const dis__cuda_em_pass *pass, cudaStream_t stream);
/* After a pass: sums of the posteriors, and of the results of all blocks in `part`. */
cudaError_t dis__cuda_em_sums(const dis__cuda_em_pass *pass, unsigned blocks, cudaStream_t stream);
cudaError_t dis__cuda_em_run(const dis__cuda_em_pass *pass, unsigned blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
