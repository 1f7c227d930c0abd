/* device_upload.h: copies host arrays to a device through buffers in fast memory. All threads of the context fill a
 * buffer while the device copies the previous one.
 *
 *     const dis__device_upload to = {.buffer = device->buffer, .send = device->send, .session = session};
 *     DIS_TRY(dis__device_upload_array(ctx, &to, ARRAY_COLUMN, x, sizeof *x, n)); */
#ifndef DIS_CORE_DEVICE_DEVICE_UPLOAD_H
#define DIS_CORE_DEVICE_DEVICE_UPLOAD_H
#include "core/error.h"
#include "dissent/context.h"

typedef struct {
    /* A buffer of *bytes bytes to fill. */
    dis_status (*buffer)(void *session, void **at, size_t *bytes);
    /* Copies the first `bytes` of that buffer to `offset` of the device's array. */
    dis_status (*send)(void *session, size_t array, size_t offset, size_t bytes);
    void *session;
} dis__device_upload;

/* Writes elements [first, first + n) of an array to `to`. */
typedef void dis__device_fill(const void *arg, void *to, size_t first, size_t n);

/* n elements of `size` bytes, written by `fill`. */
dis_status dis__device_upload_filled(dis_context *ctx, const dis__device_upload *to, size_t array, size_t size,
                                     size_t n, dis__device_fill *fill, const void *arg);
/* The elements at `from`. */
dis_status dis__device_upload_array(dis_context *ctx, const dis__device_upload *to, size_t array, const void *from,
                                    size_t size, size_t n);
/* Copies `bytes` bytes from `from` to `to` with all threads. */
dis_status dis__parallel_copy(dis_context *ctx, void *to, const void *from, size_t bytes);

#endif
