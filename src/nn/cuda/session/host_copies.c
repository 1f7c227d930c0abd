/* Copies between the host and the device through pinned memory. Copies to the device are staged in a ring, from which
 * the device reads them asynchronously; the host waits only if the ring is full, half of it at a time. A batch has a
 * dozen arrays of a few kilobytes: they are collected until an operation runs, and one kernel copies them all
 * (batch_upload.cu), since each separate copy would delay the stream by some microseconds. For copies to the host, the
 * host must wait. */
#include "nn/cuda/common/cuda_host.h"
#include "core/cuda/cuda_memory.h"
#include "core/cuda/pinned_ring.h"
#include "nn/cuda/session/batch_upload.h"
#include <string.h>

enum { HALF = 4 << 20, SMALL = 256 << 10 };

struct dis__cuda_copies {
    char *pinned; /* the ring of two halves, and as much for copies to the host */
    dis__cuda_ring ring;
    dis__cuda_upload_list waiting;
};

dis_status dis__cuda_copies_open(dis__cuda_session *s)
{
    DIS_TRY(s->host->alloc_zeroed(&s->copies, 1, sizeof *s->copies));
    CUDA_TRY(s, dis__cuda_allocate(DIS_CUDA_PINNED_MEMORY, s->ordinal, 3 * (size_t)HALF, (void **)&s->copies->pinned),
             "taking pinned memory");
    CUDA_TRY(s, dis__cuda_ring_open(&s->copies->ring, 2, HALF, s->copies->pinned), "opening");
    return DIS_OK;
}

void dis__cuda_copies_close(dis__cuda_session *s)
{
    if (!s->copies) return;
    dis__cuda_ring_close(&s->copies->ring);
    dis__cuda_release(s->copies->pinned);
    s->host->free(s->copies);
}

cudaError_t dis__cuda_upload_batch(dis__cuda_session *s)
{
    dis__cuda_upload_list *w = &s->copies->waiting;
    if (w->n == 0) return cudaSuccess;
    const cudaError_t error = dis__cuda_run_upload(w, s->stream);
    w->n = 0;
    return error;
}

/* Copies must complete before the same address is written again. */
static bool overlaps(const dis__cuda_upload_list *w, const char *to, size_t bytes)
{
    for (unsigned i = 0; i < w->n; i++)
        if (to < w->to[i] + w->bytes[i] && w->to[i] < to + bytes) return true;
    return false;
}

static cudaError_t put_piece(dis__cuda_session *s, char *to, const char *from, size_t bytes)
{
    dis__cuda_copies *c = s->copies;
    dis__cuda_upload_list *w = &c->waiting;
    cudaError_t error = cudaSuccess;
    char *room;
    if (bytes > SMALL || w->n == DIS_CUDA_UPLOADS || c->ring.used + bytes > HALF || overlaps(w, to, bytes))
        error = dis__cuda_upload_batch(s);
    if (error == cudaSuccess) error = dis__cuda_ring_room(&c->ring, s->stream, bytes, &room);
    if (error != cudaSuccess) return error;
    memcpy(room, from, bytes);
    if (bytes > SMALL) return cudaMemcpyAsync(to, room, bytes, cudaMemcpyHostToDevice, s->stream);
    w->to[w->n] = to;
    w->from[w->n] = room;
    w->bytes[w->n++] = (unsigned)bytes;
    return cudaSuccess;
}

dis_status dis__cuda_copy_in(void *session, void *to, const void *from, size_t bytes)
{
    static const char doing[] = "copying to the device";
    dis__cuda_session *s = session;
    cudaSetDevice(s->ordinal);
    CUDA_TRY(s, dis__cuda_run_deferred(s), doing);
    for (size_t at = 0; at < bytes; at += HALF) {
        const size_t n = bytes - at < HALF ? bytes - at : HALF;
        CUDA_TRY(s, put_piece(s, (char *)to + at, (const char *)from + at, n), doing);
    }
    return DIS_OK;
}

dis_status dis__cuda_copy_out(void *session, void *to, const void *from, size_t bytes)
{
    static const char doing[] = "copying from the device";
    dis__cuda_session *s = session;
    cudaSetDevice(s->ordinal);
    char *room = s->copies->pinned + 2 * (size_t)HALF;
    CUDA_TRY(s, dis__cuda_flush(s), doing);
    for (size_t at = 0; at < bytes; at += HALF) {
        const size_t n = bytes - at < HALF ? bytes - at : HALF;
        CUDA_TRY(s, cudaMemcpyAsync(room, (const char *)from + at, n, cudaMemcpyDeviceToHost, s->stream), doing);
        CUDA_TRY(s, cudaStreamSynchronize(s->stream), doing);
        memcpy((char *)to + at, room, n);
    }
    return DIS_OK;
}
