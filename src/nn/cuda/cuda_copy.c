/* Copies between the host and the device through pinned memory. On the way in, numbers go to the next free place of a
 * ring, from where the device fetches them when it comes to it; the host waits only when the ring is full, half of it
 * at a time. On the way out it must wait. */
#include "nn/cuda/cuda_host.h"
#include <string.h>

enum { HALF = 4 << 20, ALIGN = 256 };

struct dis__cuda_ring {
    char *at;    /* two halves, and one for the way out */
    size_t used; /* of the half in use */
    int half;
    cudaEvent_t done[2]; /* what was put into each half has arrived */
};

dis_status dis__cuda_ring_open(dis__cuda_session *s)
{
    DIS_TRY(s->host->alloc_zeroed(&s->ring, 1, sizeof *s->ring));
    CUDA_TRY(s, cudaMallocHost((void **)&s->ring->at, 3 * (size_t)HALF), "taking pinned memory");
    for (int i = 0; i < 2; i++)
        CUDA_TRY(s, cudaEventCreateWithFlags(&s->ring->done[i], cudaEventDisableTiming), "opening");
    return DIS_OK;
}

void dis__cuda_ring_close(dis__cuda_session *s)
{
    if (!s->ring) return;
    for (int i = 0; i < 2; i++)
        if (s->ring->done[i]) cudaEventDestroy(s->ring->done[i]);
    cudaFreeHost(s->ring->at);
    s->host->free(s->ring);
}

/* A place for `bytes`, at most half a ring, that nobody reads any more. */
static cudaError_t next_place(dis__cuda_session *s, size_t bytes, char **place)
{
    dis__cuda_ring *r = s->ring;
    if (r->used + bytes > HALF) {
        cudaError_t error = cudaEventRecord(r->done[r->half], s->stream);
        r->half = !r->half;
        r->used = 0;
        if (error == cudaSuccess) error = cudaEventSynchronize(r->done[r->half]);
        if (error != cudaSuccess) return error;
    }
    *place = r->at + (size_t)r->half * HALF + r->used;
    r->used += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return cudaSuccess;
}

dis_status dis__cuda_copy_in(void *session, void *to, const void *from, size_t bytes)
{
    static const char doing[] = "copying to the device";
    dis__cuda_session *s = session;
    cudaSetDevice(s->ordinal);
    CUDA_TRY(s, dis__cuda_flush(s), doing);
    for (size_t at = 0; at < bytes; at += HALF) {
        const size_t n = bytes - at < HALF ? bytes - at : HALF;
        char *place;
        CUDA_TRY(s, next_place(s, n, &place), doing);
        memcpy(place, (const char *)from + at, n);
        CUDA_TRY(s, cudaMemcpyAsync((char *)to + at, place, n, cudaMemcpyHostToDevice, s->stream), doing);
    }
    return DIS_OK;
}

dis_status dis__cuda_copy_out(void *session, void *to, const void *from, size_t bytes)
{
    static const char doing[] = "copying from the device";
    dis__cuda_session *s = session;
    cudaSetDevice(s->ordinal);
    char *place = s->ring->at + 2 * (size_t)HALF;
    CUDA_TRY(s, dis__cuda_flush(s), doing);
    for (size_t at = 0; at < bytes; at += HALF) {
        const size_t n = bytes - at < HALF ? bytes - at : HALF;
        CUDA_TRY(s, cudaMemcpyAsync(place, (const char *)from + at, n, cudaMemcpyDeviceToHost, s->stream), doing);
        CUDA_TRY(s, cudaStreamSynchronize(s->stream), doing);
        memcpy((char *)to + at, place, n);
    }
    return DIS_OK;
}
