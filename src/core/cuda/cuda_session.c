/* Sessions on GPUs for work other than networks. */
#include "core/cuda/cuda_session.h"

enum { PIECES = DIS_CUDA_PIECES, PIECE = 16 << 20 };

static const char on_cpu[] = "`device` cpu needs none";

dis_status dis__cuda_lost(dis__cuda_failer *fail, int ordinal, const char *error, const char *doing)
{
    return fail(DIS_EIO, "%s on device cuda:%d: %s; nothing was written; if the device is lost, start again", doing,
                ordinal, error);
}

dis_status dis__cuda_error_status(dis__cuda_failer *fail, int ordinal, cudaError_t error, const char *doing,
                                  const char *hint)
{
    size_t left = 0, all = 0;
    if (error == cudaSuccess) return DIS_OK;
    cudaGetLastError(); /* so that it is reported once */
    if (error != cudaErrorMemoryAllocation) return dis__cuda_lost(fail, ordinal, cudaGetErrorString(error), doing);
    if (cudaMemGetInfo(&left, &all) != cudaSuccess || all == 0)
        return fail(DIS_ELIMIT,
                    "%s: device cuda:%d has no memory or hardware queues (MPS) for another process; run fewer "
                    "processes in parallel",
                    doing, ordinal);
    return fail(DIS_ELIMIT, "%s: the memory of device cuda:%d is used up (%zu of %zu MiB are free); %s", doing, ordinal,
                left >> 20, all >> 20, hint);
}

dis_status dis__cuda_check_free(dis__cuda_failer *fail, int ordinal, size_t bytes, const char *what, const char *hint)
{
    size_t left = 0, all = 0;
    const cudaError_t error = cudaMemGetInfo(&left, &all);
    if (error != cudaSuccess) return dis__cuda_error_status(fail, ordinal, error, "querying its memory", hint);
    left += dis__cuda_cached_bytes(ordinal);
    if (bytes <= left) return DIS_OK;
    return fail(DIS_ELIMIT, "%s: %zu MiB of the memory of device cuda:%d are needed, and %zu of %zu MiB are free; %s",
                what, (bytes >> 20) + 1, ordinal, left >> 20, all >> 20, hint);
}

dis_status dis__cuda_session_status(const dis__cuda_base *s, cudaError_t error, const char *doing)
{
    return dis__cuda_error_status(s->fail, s->ordinal, error, doing, on_cpu);
}

dis_status dis__cuda_session_open(dis__cuda_base *s, int ordinal, dis__cuda_failer *fail)
{
    *s = (dis__cuda_base){.ordinal = ordinal, .fail = fail};
    cudaError_t error = cudaSetDevice(ordinal);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
    return dis__cuda_session_status(s, error, "opening");
}

dis_status dis__cuda_session_allocate(dis__cuda_base *s, size_t device_bytes, size_t host_bytes, const char *what)
{
    const size_t pinned = host_bytes + PIECES * (size_t)PIECE;
    DIS_TRY(dis__cuda_check_free(s->fail, s->ordinal, device_bytes, what, on_cpu));
    cudaError_t error = dis__cuda_memory_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, device_bytes, &s->memory);
    DIS_TRY(dis__cuda_session_status(s, error, "allocating memory"));
    error = dis__cuda_memory_allocate(DIS_CUDA_PINNED_MEMORY, s->ordinal, pinned, &s->pinned);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return s->fail(DIS_ELIMIT,
                       "%s need %zu MiB of pinned memory, which the system does not provide; `device` cpu "
                       "needs none",
                       what, (pinned >> 20) + 1);
    }
    if (error == cudaSuccess) error = dis__cuda_ring_open(&s->ring, PIECES, PIECE, s->pinned.at);
    return dis__cuda_session_status(s, error, "allocating memory");
}

char *dis__cuda_session_pinned(const dis__cuda_base *s)
{
    return (char *)s->pinned.at + PIECES * (size_t)PIECE;
}

void dis__cuda_session_close(dis__cuda_base *s)
{
    cudaSetDevice(s->ordinal);
    if (s->stream) cudaStreamSynchronize(s->stream);
    dis__cuda_lock();
    dis__cuda_ring_close(&s->ring);
    dis__cuda_memory_return(&s->memory);
    dis__cuda_memory_return(&s->pinned);
    if (s->stream) cudaStreamDestroy(s->stream);
    dis__cuda_unlock();
    cudaGetLastError();
    *s = (dis__cuda_base){0};
}

dis_status dis__cuda_session_buffer(void *session, void **at, size_t *bytes)
{
    dis__cuda_base *s = session;
    char *room = NULL;
    cudaError_t error = cudaSetDevice(s->ordinal); /* the current device is per thread */
    if (error == cudaSuccess) error = dis__cuda_ring_room(&s->ring, s->stream, PIECE, &room);
    DIS_TRY(dis__cuda_session_status(s, error, "copying to the device"));
    *at = room;
    *bytes = PIECE;
    return DIS_OK;
}

dis_status dis__cuda_session_send(dis__cuda_base *s, void *to, size_t bytes)
{
    const char *from = dis__cuda_ring_piece(&s->ring, s->ring.piece);
    return dis__cuda_session_status(s, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s->stream),
                                    "copying to the device");
}
