/* cuda_em.h: what the host code and the kernels of EM passes on CUDA devices share. */
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

/* Votes once more, by (tile of items, worker, label), items ascending: what sums are made from. A tile has as many
 * items as the L2 cache holds posteriors of. A segment is the votes of one (tile, worker, label), a unit a piece
 * of at most DIS_CUDA_EM_UNIT votes of one. */
typedef struct {
    size_t n_tiles, tile; /* items of a tile */
    size_t n_segments;    /* n_tiles * n_workers * n_classes */
    size_t n_units;       /* at most; how many there are: unit_start[n_segments] */
    uint32_t *item;       /* (n_votes) */
    uint64_t *segment;    /* (n_segments + 1): where the votes of each begin */
    uint32_t *unit_start; /* (n_segments + 1): where the units of each begin */
    uint32_t *unit;       /* (n_units): the segment of each */
} dis__cuda_em_order;

/* Arguments of a pass; pointers are the device's. */
typedef struct {
    dis__em_shape shape;
    dis__em_step step;
    bool sum, keep;
    const uint64_t *start;
    const uint32_t *votes;
    const int32_t *gold;       /* NULL: nothing is known */
    const uint64_t *signature; /* of random shares */
    uint64_t key;
    const double *rates, *prior;
    const uint32_t *long_item, *long_part; /* (n_long), (n_long + 1) */
    double *part_x;                        /* (n_parts, n_states): products of the votes of a part, 1 to 2 */
    long long *part_e;                     /* and powers of 2 alongside them; of shares, counts of votes */
    double *x;                             /* (n_items, n_states): posteriors */
    double *p;                             /* (n_items, n_classes): those of classes; x where there are no groups */
    double *part;                          /* (blocks, n_states + 1): class sums, log normalisers */
    dis__cuda_em_order order;
    double *unit_sum; /* (n_units, row) */
    double *out;      /* (n_rows * row + n_states + 1): sums, class sums, the log normaliser */
} dis__cuda_em_pass;

/* Tiles, segments, and how many units there are at most. */
void dis__cuda_em_tile(const dis__em_shape *shape, dis__cuda_em_order *order);
/* Bytes of memory that making the order takes for itself. */
cudaError_t dis__cuda_em_order_bytes(const dis__em_shape *shape, const dis__cuda_em_order *order, size_t *bytes);
cudaError_t dis__cuda_em_make_order(const dis__cuda_em_pass *pass, void *scratch, size_t bytes, cudaStream_t stream);

/* Blocks of the kernel for so many states: what `part` must have room for. */
cudaError_t dis__cuda_em_blocks(const dis__em_shape *shape, int ordinal, unsigned *blocks);
/* counts (2 n_classes + 2) as dis__em_device has them, of at most DIS_CUDA_EM_COUNTED classes. */
cudaError_t dis__cuda_em_count(const dis__cuda_em_pass *pass, uint64_t *counts, cudaStream_t stream);
/* Before a pass: the parts of long items. */
cudaError_t dis__cuda_em_parts(const dis__cuda_em_pass *pass, cudaStream_t stream);
/* What a pass leaves: sums of the posteriors, and of what so many blocks have left in `part`. */
cudaError_t dis__cuda_em_sums(const dis__cuda_em_pass *pass, unsigned blocks, cudaStream_t stream);
cudaError_t dis__cuda_em_run(const dis__cuda_em_pass *pass, unsigned blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
