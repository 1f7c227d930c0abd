/* Resamples on CUDA devices: sessions, memory, copies. A session (core/cuda/cuda_session.h) has two plans in addition
 * to its ring: one is filled while the other is processed.
 *
 * Memory of the device: 8 bytes per item and column; 12 per resample and block of items of a plan, twice; 64 per
 * resample and block of items for their sums. */
#include "stats/cuda/cuda_bootstrap.h"
#include "core/cuda/cuda_session.h"
#include <stdio.h>

enum { PLANS = 2, ALIGN = 256 };

typedef struct {
    uint32_t *total, *host_total; /* (chunk, n_blocks) */
    double *mass, *host_mass;
    cudaEvent_t free; /* it may be filled again */
} plan_room;

typedef struct {
    dis__cuda_base base;
    const dis__bootstrap_device *device;
    dis__bootstrap_shape shape;
    dis__cuda_bootstrap b;
    plan_room plan[PLANS];
    double *column;
    uint8_t *bin;
    size_t at;     /* the current plan */
    size_t n_sums; /* of a resample */
} session_of;

#define TRY(call, doing)                                                                           \
    do {                                                                                           \
        const cudaError_t try_error = (call);                                                      \
        if (try_error != cudaSuccess) return dis__cuda_session_status(&s->base, try_error, doing); \
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
    for (int i = 0; i < PLANS; i++) {
        s->plan[i].host_total = dis__cuda_carve(memory, &used, planned * sizeof *s->plan[i].host_total);
        s->plan[i].host_mass = dis__cuda_carve(memory, &used, planned * sizeof *s->plan[i].host_mass);
    }
    return used;
}

static dis_status allocate(session_of *s)
{
    const size_t device_bytes = lay_out(s, NULL), pinned_bytes = lay_out_pinned(s, NULL);
    char what[100];
    snprintf(what, sizeof what, "resamples of %zu columns of %zu items", s->shape.n_columns, s->shape.n_items);
    DIS_TRY(dis__cuda_session_allocate(&s->base, device_bytes, pinned_bytes, what));
    lay_out(s, s->base.memory.at);
    lay_out_pinned(s, dis__cuda_session_pinned(&s->base));
    return DIS_OK;
}

/* ---- sessions ---- */

static void close_session(void *session)
{
    session_of *s = session;
    if (!s) return;
    dis__cuda_session_close(&s->base);
    for (int i = 0; i < PLANS; i++)
        if (s->plan[i].free) cudaEventDestroy(s->plan[i].free);
    s->device->row->host->free(s);
}

static dis_status open_parts(session_of *s)
{
    static const char doing[] = "opening";
    DIS_TRY(dis__cuda_session_open(&s->base, s->device->row->ordinal, s->device->row->host->fail));
    for (int i = 0; i < PLANS; i++) TRY(cudaEventCreateWithFlags(&s->plan[i].free, cudaEventDisableTiming), doing);
    DIS_TRY(allocate(s));
    const size_t behind = s->b.stride - s->shape.n_items;
    for (size_t c = 0; c < s->shape.n_columns && behind; c++) /* uninitialized memory may hold NaN, and 0 times NaN is
                                                               * NaN */
        TRY(cudaMemsetAsync(s->column + c * s->b.stride + s->shape.n_items, 0, behind * sizeof *s->column,
                            s->base.stream),
            doing);
    if (s->shape.n_bins && behind) TRY(cudaMemsetAsync(s->bin + s->shape.n_items, 0, behind, s->base.stream), doing);
    return DIS_OK;
}

static dis_status open_session(const dis__bootstrap_device *device, const dis__bootstrap_shape *shape, void **session)
{
    session_of *s;
    DIS_TRY(device->row->host->alloc_zeroed(&s, 1, sizeof *s));
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

static const char drawing[] = "drawing resamples";

static dis_status send(void *session, size_t column, size_t offset, size_t bytes)
{
    session_of *s = session;
    char *to = column < s->shape.n_columns ? (char *)(s->column + column * s->b.stride) : (char *)s->bin;
    return dis__cuda_session_send(&s->base, to + offset, bytes);
}

static dis_status next_plan(void *session, uint32_t **total, double **mass)
{
    session_of *s = session;
    const plan_room *plan = &s->plan[s->at];
    TRY(cudaSetDevice(s->device->row->ordinal), drawing);
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
                        s->base.stream),
        drawing);
    TRY(cudaMemcpyAsync(plan->mass, plan->host_mass, planned * sizeof *plan->mass, cudaMemcpyHostToDevice,
                        s->base.stream),
        drawing);
    s->b.first = first;
    s->b.n = n;
    s->b.total = plan->total;
    s->b.mass = plan->mass;
    for (s->b.first_sum = 0; s->b.first_sum < s->n_sums; s->b.first_sum += s->b.n_sums) {
        const size_t left = s->n_sums - s->b.first_sum;
        s->b.n_sums = left < DIS_CUDA_BOOTSTRAP_SUMS ? left : DIS_CUDA_BOOTSTRAP_SUMS;
        TRY(dis__cuda_bootstrap_draw(&s->b, s->base.stream), drawing);
    }
    TRY(cudaEventRecord(plan->free, s->base.stream), drawing);
    s->at = (s->at + 1) % PLANS;
    return DIS_OK;
}

static dis_status sums(void *session, double *out)
{
    session_of *s = session;
    TRY(cudaSetDevice(s->device->row->ordinal), drawing);
    TRY(cudaMemcpyAsync(out, s->b.sums, s->shape.n_resamples * s->n_sums * sizeof *out, cudaMemcpyDeviceToHost,
                        s->base.stream),
        drawing);
    TRY(cudaStreamSynchronize(s->base.stream), drawing);
    return DIS_OK;
}

/* ---- rows ---- */

void dis__cuda_add_bootstrap(dis__device_row *row)
{
    static dis__bootstrap_device devices[DIS_CUDA_GPUS]; /* written once, when rows are discovered */
    dis__bootstrap_device *device = &devices[row->ordinal];
    *device = (dis__bootstrap_device){.row = row,
                                      .open = open_session,
                                      .buffer = dis__cuda_session_buffer,
                                      .send = send,
                                      .plan = next_plan,
                                      .draw = draw,
                                      .sums = sums,
                                      .close = close_session};
    row->bootstrap = (dis__device_table){.functions = device, .size = sizeof *device};
}
