/* Resamples on CUDA devices: sessions, memory, what goes there and back. A session has a stream of its own, a block of
 * device memory and one of pinned host memory, which are kept for the next (core/cuda/cuda_memory.h): pieces through
 * which columns go, and two plans, one to be filled while the other is worked on.
 *
 * Memory of the device: 8 bytes per item and column; 12 per resample and block of items of a plan, twice; 64 per
 * resample and block of items for their sums. */
#include "stats/cuda/cuda_bootstrap.h"
#include "core/cuda/cuda_find.h"
#include "core/cuda/cuda_memory.h"
#include "dissent/version.h"
#include <stdio.h>
#include <string.h>

enum { PIECES = 4, PIECE = 16 << 20, PLANS = 2, ALIGN = 256 };

typedef struct {
    uint32_t *total, *host_total; /* (chunk, n_blocks) */
    double *mass, *host_mass;
    cudaEvent_t free; /* it may be filled anew */
} plan_room;

typedef struct {
    const dis__bootstrap_device *device;
    dis__bootstrap_shape shape;
    dis__cuda_bootstrap b;
    cudaStream_t stream;
    cudaEvent_t moved[PIECES];
    char *host_piece[PIECES];
    plan_room plan[PLANS];
    double *column;
    uint8_t *bin;
    size_t piece, at; /* the next piece, the plan at hand */
    size_t n_sums;    /* of a resample */
    dis__cuda_block memory, pinned;
} session_of;

/* ---- errors ---- */

static dis_status told(session_of *s, cudaError_t error, const char *doing)
{
    if (error == cudaSuccess) return DIS_OK;
    cudaGetLastError(); /* so that it is told once */
    return s->device->host->fail(error == cudaErrorMemoryAllocation ? DIS_ELIMIT : DIS_EIO,
                                 "%s on device %s: %s; `device` cpu does without it", doing, s->device->name,
                                 cudaGetErrorString(error));
}

#define TRY(call, doing)                                                \
    do {                                                                \
        const cudaError_t try_error = (call);                           \
        if (try_error != cudaSuccess) return told(s, try_error, doing); \
    } while (0)

/* ---- memory ---- */

static size_t lay_out(session_of *s, char *memory)
{
    const dis__bootstrap_shape *g = &s->shape;
    const size_t planned = g->chunk * g->n_blocks;
    size_t used = 0;
    s->column = dis__cuda_carve(memory, &used, g->n_columns * s->b.stride * sizeof *s->column);
    s->bin = dis__cuda_carve(memory, &used, g->n_bins ? s->b.stride : 0);
    for (int i = 0; i < PLANS; i++) {
        s->plan[i].total = dis__cuda_carve(memory, &used, planned * sizeof *s->plan[i].total);
        s->plan[i].mass = dis__cuda_carve(memory, &used, planned * sizeof *s->plan[i].mass);
    }
    s->b.part = dis__cuda_carve(memory, &used, planned * DIS_CUDA_BOOTSTRAP_SUMS * sizeof *s->b.part);
    s->b.sums = dis__cuda_carve(memory, &used, g->n_resamples * s->n_sums * sizeof *s->b.sums);
    return used;
}

static size_t lay_out_pinned(session_of *s, char *memory)
{
    const size_t planned = s->shape.chunk * s->shape.n_blocks;
    size_t used = 0;
    for (int i = 0; i < PIECES; i++) s->host_piece[i] = dis__cuda_carve(memory, &used, PIECE);
    for (int i = 0; i < PLANS; i++) {
        s->plan[i].host_total = dis__cuda_carve(memory, &used, planned * sizeof *s->plan[i].host_total);
        s->plan[i].host_mass = dis__cuda_carve(memory, &used, planned * sizeof *s->plan[i].host_mass);
    }
    return used;
}

static dis_status take_memory(session_of *s)
{
    static const char doing[] = "taking memory for resamples";
    const size_t there = lay_out(s, NULL), here = lay_out_pinned(s, NULL);
    size_t left = 0, all = 0;
    TRY(cudaMemGetInfo(&left, &all), doing);
    left += dis__cuda_kept(s->device->ordinal);
    if (there > left)
        return s->device->host->fail(DIS_ELIMIT,
                                     "resamples of %zu columns of %zu items need %zu MiB of the memory of device %s, "
                                     "and %zu of %zu MiB are free; `device` cpu needs none",
                                     s->shape.n_columns, s->shape.n_items, (there >> 20) + 1, s->device->name,
                                     left >> 20, all >> 20);
    TRY(dis__cuda_take(DIS_CUDA_THERE, s->device->ordinal, there, &s->memory), doing);
    TRY(dis__cuda_take(DIS_CUDA_PINNED, s->device->ordinal, here, &s->pinned), doing);
    lay_out(s, s->memory.at);
    lay_out_pinned(s, s->pinned.at);
    return DIS_OK;
}

/* ---- sessions ---- */

static void close_session(void *session)
{
    session_of *s = session;
    if (!s) return;
    cudaSetDevice(s->device->ordinal);
    if (s->stream) cudaStreamSynchronize(s->stream);
    dis__cuda_lock();
    for (int i = 0; i < PIECES; i++)
        if (s->moved[i]) cudaEventDestroy(s->moved[i]);
    for (int i = 0; i < PLANS; i++)
        if (s->plan[i].free) cudaEventDestroy(s->plan[i].free);
    dis__cuda_give(&s->memory);
    dis__cuda_give(&s->pinned);
    if (s->stream) cudaStreamDestroy(s->stream);
    dis__cuda_unlock();
    cudaGetLastError();
    s->device->host->free(s);
}

static dis_status open_parts(session_of *s)
{
    static const char doing[] = "opening";
    TRY(cudaSetDevice(s->device->ordinal), doing);
    TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), doing);
    for (int i = 0; i < PIECES; i++) TRY(cudaEventCreateWithFlags(&s->moved[i], cudaEventDisableTiming), doing);
    for (int i = 0; i < PLANS; i++) TRY(cudaEventCreateWithFlags(&s->plan[i].free, cudaEventDisableTiming), doing);
    DIS_TRY(take_memory(s));
    const size_t behind = s->b.stride - s->shape.n_items;
    for (size_t c = 0; c < s->shape.n_columns && behind; c++) /* 0 times anything that lies there may be NaN */
        TRY(cudaMemsetAsync(s->column + c * s->b.stride + s->shape.n_items, 0, behind * sizeof *s->column, s->stream),
            doing);
    if (s->shape.n_bins && behind) TRY(cudaMemsetAsync(s->bin + s->shape.n_items, 0, behind, s->stream), doing);
    return DIS_OK;
}

static dis_status open_session(const dis__bootstrap_device *device, const dis__bootstrap_shape *shape, void **session)
{
    session_of *s;
    DIS_TRY(device->host->alloc_zeroed(&s, 1, sizeof *s));
    s->device = device;
    s->shape = *shape;
    s->n_sums = shape->n_bins ? shape->n_bins : shape->n_columns;
    s->b.stride = (shape->n_items + ALIGN - 1) / ALIGN * ALIGN;
    dis__cuda_lock();
    const dis_status status = open_parts(s);
    dis__cuda_unlock();
    if (status != DIS_OK) {
        close_session(s);
        return status;
    }
    s->b.seed = shape->seed;
    s->b.n_items = shape->n_items;
    s->b.n_blocks = shape->n_blocks;
    s->b.column = s->column;
    s->b.bin = shape->n_bins ? s->bin : NULL;
    s->b.n_all_sums = s->n_sums;
    *session = s;
    return DIS_OK;
}

/* ---- there and back ---- */

static const char copying[] = "copying columns", drawing[] = "drawing resamples";

static dis_status next_buffer(void *session, void **at, size_t *bytes)
{
    session_of *s = session;
    TRY(cudaSetDevice(s->device->ordinal), copying);
    TRY(cudaEventSynchronize(s->moved[s->piece]), copying);
    *at = s->host_piece[s->piece];
    *bytes = PIECE;
    return DIS_OK;
}

static dis_status send(void *session, size_t column, size_t offset, size_t bytes)
{
    session_of *s = session;
    char *to = column < s->shape.n_columns ? (char *)(s->column + column * s->b.stride) : (char *)s->bin;
    TRY(cudaMemcpyAsync(to + offset, s->host_piece[s->piece], bytes, cudaMemcpyHostToDevice, s->stream), copying);
    TRY(cudaEventRecord(s->moved[s->piece], s->stream), copying);
    s->piece = (s->piece + 1) % PIECES;
    return DIS_OK;
}

static dis_status next_plan(void *session, uint32_t **total, double **mass)
{
    session_of *s = session;
    const plan_room *plan = &s->plan[s->at];
    TRY(cudaSetDevice(s->device->ordinal), drawing);
    TRY(cudaEventSynchronize(plan->free), drawing);
    *total = plan->host_total;
    *mass = plan->host_mass;
    return DIS_OK;
}

static dis_status draw(void *session, size_t first, size_t n)
{
    session_of *s = session;
    plan_room *plan = &s->plan[s->at];
    const size_t planned = n * s->shape.n_blocks;
    TRY(cudaMemcpyAsync(plan->total, plan->host_total, planned * sizeof *plan->total, cudaMemcpyHostToDevice,
                        s->stream),
        drawing);
    TRY(cudaMemcpyAsync(plan->mass, plan->host_mass, planned * sizeof *plan->mass, cudaMemcpyHostToDevice, s->stream),
        drawing);
    s->b.first = first;
    s->b.n = n;
    s->b.total = plan->total;
    s->b.mass = plan->mass;
    for (s->b.first_sum = 0; s->b.first_sum < s->n_sums; s->b.first_sum += s->b.n_sums) {
        const size_t left = s->n_sums - s->b.first_sum;
        s->b.n_sums = left < DIS_CUDA_BOOTSTRAP_SUMS ? left : DIS_CUDA_BOOTSTRAP_SUMS;
        TRY(dis__cuda_bootstrap_draw(&s->b, s->stream), drawing);
    }
    TRY(cudaEventRecord(plan->free, s->stream), drawing);
    s->at = (s->at + 1) % PLANS;
    return DIS_OK;
}

static dis_status sums(void *session, double *out)
{
    session_of *s = session;
    TRY(cudaSetDevice(s->device->ordinal), drawing);
    TRY(cudaMemcpyAsync(out, s->b.sums, s->shape.n_resamples * s->n_sums * sizeof *out, cudaMemcpyDeviceToHost,
                        s->stream),
        drawing);
    TRY(cudaStreamSynchronize(s->stream), drawing);
    return DIS_OK;
}

/* ---- rows ---- */

__attribute__((visibility("default"))) dis__bootstrap_devices dis_plugin_bootstrap_devices;

size_t dis_plugin_bootstrap_devices(const dis__bootstrap_host *host, dis__bootstrap_device *rows, size_t room,
                                    char *why)
{
    static const char *const names[DIS_BOOTSTRAP_DEVICES] = {"cuda:0",  "cuda:1",  "cuda:2",  "cuda:3",
                                                             "cuda:4",  "cuda:5",  "cuda:6",  "cuda:7",
                                                             "cuda:8",  "cuda:9",  "cuda:10", "cuda:11",
                                                             "cuda:12", "cuda:13", "cuda:14", "cuda:15"};
    if (host->size != sizeof *host || host->device_size != sizeof *rows || strcmp(host->version, DIS_VERSION) != 0) {
        snprintf(why, DIS_BOOTSTRAP_WHY, "it was built for another version of dissent than %s", host->version);
        return 0;
    }
    const int n = dis__cuda_count(why);
    size_t made = 0;
    for (int i = 0; i < n && i < DIS_BOOTSTRAP_DEVICES && made < room; i++)
        if (dis__cuda_new_enough(i, why))
            rows[made++] = (dis__bootstrap_device){.name = names[i],
                                                   .ordinal = i,
                                                   .host = host,
                                                   .open = open_session,
                                                   .buffer = next_buffer,
                                                   .send = send,
                                                   .plan = next_plan,
                                                   .draw = draw,
                                                   .sums = sums,
                                                   .close = close_session};
    return made;
}
