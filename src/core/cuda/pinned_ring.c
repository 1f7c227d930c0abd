/* A ring of pinned memory. The event of a piece is recorded when the next piece is started. */
#include "core/cuda/pinned_ring.h"
#include "core/cuda/cuda_memory.h"

cudaError_t dis__cuda_ring_open(dis__cuda_ring *ring, size_t n, size_t bytes, char *memory)
{
    *ring = (dis__cuda_ring){.at = memory, .n = n, .bytes = bytes};
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < n && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&ring->done[i], cudaEventDisableTiming);
    return error;
}

void dis__cuda_ring_close(dis__cuda_ring *ring)
{
    for (size_t i = 0; i < ring->n; i++)
        if (ring->done[i]) cudaEventDestroy(ring->done[i]);
    *ring = (dis__cuda_ring){0};
}

cudaError_t dis__cuda_ring_room(dis__cuda_ring *ring, cudaStream_t stream, size_t bytes, char **room)
{
    if (ring->used + bytes > ring->bytes) {
        cudaError_t error = dis__cuda_ring_record(ring, ring->piece, stream);
        ring->piece = (ring->piece + 1) % ring->n;
        ring->used = 0;
        if (error == cudaSuccess) error = dis__cuda_ring_wait(ring, ring->piece);
        if (error != cudaSuccess) return error;
    }
    *room = dis__cuda_carve(dis__cuda_ring_piece(ring, ring->piece), &ring->used, bytes);
    return cudaSuccess;
}

cudaError_t dis__cuda_ring_record(dis__cuda_ring *ring, size_t i, cudaStream_t stream)
{
    return cudaEventRecord(ring->done[i], stream);
}

cudaError_t dis__cuda_ring_wait(dis__cuda_ring *ring, size_t i)
{
    return cudaEventSynchronize(ring->done[i]);
}
