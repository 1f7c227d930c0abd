/* pinned_ring.h: pinned memory through which numbers go to a GPU while it computes: pieces that take turns, each
 * with an event. A caller that asks for room waits only until the piece that comes next has been read.
 *
 *     TRY(dis__cuda_ring_open(&ring, 4, 16 << 20, memory));
 *     TRY(dis__cuda_ring_room(&ring, stream, bytes, &from));
 *     memcpy(from, numbers, bytes);
 *     TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
 *
 * Threads: one at a time, with its device set. */
#ifndef DIS_CORE_CUDA_PINNED_RING_H
#define DIS_CORE_CUDA_PINNED_RING_H
#include <cuda_runtime_api.h>

enum { DIS_CUDA_PIECES = 4 }; /* at most */

typedef struct {
    char *at;           /* the pieces, one after another */
    size_t n, bytes;    /* pieces, and bytes of each */
    size_t piece, used; /* the current one, and how much of it is given out */
    cudaEvent_t done[DIS_CUDA_PIECES];
} dis__cuda_ring;

/* memory: n times bytes, the caller's. */
cudaError_t dis__cuda_ring_open(dis__cuda_ring *ring, size_t n, size_t bytes, char *memory);
void dis__cuda_ring_close(dis__cuda_ring *ring);
/* Room for at most a piece, which `stream` alone will read, before it is asked for what does not fit any more. */
cudaError_t dis__cuda_ring_room(dis__cuda_ring *ring, cudaStream_t stream, size_t bytes, char **room);

/* The way back: a stream writes to a piece, dis__cuda_ring_record() says that all is on its way, dis__cuda_ring_wait()
 * waits for it. */
static inline char *dis__cuda_ring_piece(const dis__cuda_ring *ring, size_t i)
{
    return ring->at + i * ring->bytes;
}
cudaError_t dis__cuda_ring_record(dis__cuda_ring *ring, size_t i, cudaStream_t stream);
cudaError_t dis__cuda_ring_wait(dis__cuda_ring *ring, size_t i);

#endif
