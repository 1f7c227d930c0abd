/* pinned_ring.h: a ring of pinned memory for asynchronous copies to a GPU, in pieces with one event each. A caller that
 * requests space only waits until the next piece has been read.
 *
 *     TRY(dis__cuda_ring_open(&ring, 4, 16 << 20, memory));
 *     TRY(dis__cuda_ring_room(&ring, stream, bytes, &from));
 *     memcpy(from, numbers, bytes);
 *     TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
 *
 * Threads: one at a time, with the device set. */
#ifndef DIS_CORE_CUDA_PINNED_RING_H
#define DIS_CORE_CUDA_PINNED_RING_H
#include <cuda_runtime_api.h>

enum { DIS_CUDA_PIECES = 4 }; /* maximum number of pieces */

typedef struct {
    char *at;           /* the pieces, contiguous */
    size_t n, bytes;    /* number and size of pieces */
    size_t piece, used; /* the current piece, and its used bytes */
    cudaEvent_t done[DIS_CUDA_PIECES];
} dis__cuda_ring;

/* memory: n times bytes; the caller owns it. */
cudaError_t dis__cuda_ring_open(dis__cuda_ring *ring, size_t n, size_t bytes, char *memory);
void dis__cuda_ring_close(dis__cuda_ring *ring);
/* Space of at most one piece, to be read only by `stream`, before the next request that does not fit. */
cudaError_t dis__cuda_ring_room(dis__cuda_ring *ring, cudaStream_t stream, size_t bytes, char **room);

/* The opposite direction: a stream writes to a piece, dis__cuda_ring_record() marks that all copies were submitted,
 * dis__cuda_ring_wait() waits for them. */
static inline char *dis__cuda_ring_piece(const dis__cuda_ring *ring, size_t i)
{
    return ring->at + i * ring->bytes;
}
cudaError_t dis__cuda_ring_record(dis__cuda_ring *ring, size_t i, cudaStream_t stream);
cudaError_t dis__cuda_ring_wait(dis__cuda_ring *ring, size_t i);

#endif
