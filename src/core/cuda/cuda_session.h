/* cuda_session.h: resources for work on a GPU other than networks: a stream, a block of device memory, a block of
 * pinned memory that contains a ring, and error messages. Both blocks are kept for the next session
 * (core/cuda/cuda_memory.h).
 *
 *     dis__cuda_lock();
 *     DIS_TRY(dis__cuda_session_open(&s, ordinal, fail));
 *     DIS_TRY(dis__cuda_session_allocate(&s, there, here, "resamples of 1000 items"));
 *     dis__cuda_unlock();
 *     ... s.memory.at, s.pinned.at, s.stream ...
 *     dis__cuda_session_close(&s);    // also after a failure
 *
 * Threads: one thread at a time may use a session. */
#ifndef DIS_CORE_CUDA_CUDA_SESSION_H
#define DIS_CORE_CUDA_CUDA_SESSION_H
#include "core/cuda/cuda_devices.h"
#include "core/cuda/cuda_memory.h"
#include "core/cuda/pinned_ring.h"
#include "core/error.h"

typedef dis_status dis__cuda_failer(dis_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct {
    int ordinal;
    dis__cuda_failer *fail;
    cudaStream_t stream;
    dis__cuda_block memory, pinned;
    dis__cuda_ring ring; /* at the beginning of `pinned` */
} dis__cuda_base;

/* A status with a message: what failed, on which device, and the remedy. cudaSuccess: DIS_OK. `hint`: what needs less
 * memory. */
dis_status dis__cuda_error_status(dis__cuda_failer *fail, int ordinal, cudaError_t error, const char *doing,
                                  const char *hint);
dis_status dis__cuda_lost(dis__cuda_failer *fail, int ordinal, const char *error, const char *doing);
/* DIS_ELIMIT: fewer bytes are free on the device than `what` needs. Requires dis__cuda_lock(). */
dis_status dis__cuda_check_free(dis__cuda_failer *fail, int ordinal, size_t bytes, const char *what, const char *hint);

/* Creates stream and events; requires dis__cuda_lock(). */
dis_status dis__cuda_session_open(dis__cuda_base *s, int ordinal, dis__cuda_failer *fail);
/* Allocates device bytes and pinned bytes after the ring. DIS_ELIMIT, with the purpose and the free memory: too many.
 * Requires dis__cuda_lock(). */
dis_status dis__cuda_session_allocate(dis__cuda_base *s, size_t device_bytes, size_t host_bytes, const char *what);
/* The pinned bytes after the ring. */
char *dis__cuda_session_pinned(const dis__cuda_base *s);
/* Waits for the stream; takes the lock. */
void dis__cuda_session_close(dis__cuda_base *s);

/* Returns a piece of the ring to fill completely; the previously filled one is copied to `to`. session: a struct that
 * begins with a dis__cuda_base, as required by the tables of devices (`buffer`). */
dis_status dis__cuda_session_buffer(void *session, void **at, size_t *bytes);
dis_status dis__cuda_session_send(dis__cuda_base *s, void *to, size_t bytes);

/* A status with a message: what failed, on which device, and the remedy. cudaSuccess: DIS_OK. */
dis_status dis__cuda_session_status(const dis__cuda_base *s, cudaError_t error, const char *doing);

#endif
