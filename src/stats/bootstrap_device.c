/* Sums over resamples on a device (stats/bootstrap_device.h): chooses the device and copies data to it and back.
 *
 * Cost: 8 bytes per item and column to the device, 12 per resample and block of 8,192 items; a binomial variable for
 * each of these; 8 bytes per resample and column back. */
#include "stats/bootstrap_device.h"
#include "core/context_internal.h"
#include "core/device/device_upload.h"
#include "core/memory/memory.h"
#include "core/numbers/elementary.h"
#include "core/parallel/comm.h"
#include "core/parallel/pool.h"
#include <math.h>
#include <string.h>

enum { MAX_JOBS = 64, PLANNED = 1 << 19 /* blocks of all resamples of a plan */, TOGETHER = 32 };
#define FEW ((size_t)1 << 26) /* draws that the CPU can make in the time of the copies */

dis_status dis__bootstrap_device_for(dis_context *ctx, const dis__bootstrap *b, const dis__bootstrap_device **out)
{
    const char *words = dis__context_device(ctx);
    const dis__device_row *row;
    dis__device_name name;
    const void *functions;
    *out = NULL;
    DIS_TRY(dis__device_name_parse(words, &name));
    if (dis__device_name_is_cpu(&name) || dis__saturating_size(b->n_items, b->n_resamples, 0) < FEW ||
        dis_context_n_ranks(ctx) > 1)
        return DIS_OK;
    DIS_TRY(dis__device_row_find(words, &row));
    DIS_TRY(dis__device_functions(row, &row->bootstrap, sizeof(dis__bootstrap_device), &functions));
    *out = functions;
    return DIS_OK;
}

/* ---- a run ---- */

typedef struct {
    dis_context *ctx;
    const dis__bootstrap_device *device;
    void *session;
    const dis__bootstrap *b;
    size_t n_blocks;
    /* a plan */
    size_t first, n, n_jobs;
    uint32_t *total;
    double *mass;
    uint64_t *drawn; /* per thread: (n_blocks) */
} work;

static dis_status plan_job(void *arg, size_t j, int thread)
{
    const work *w = arg;
    const dis__bootstrap *b = w->b;
    uint64_t *drawn = w->drawn + (size_t)thread * w->n_blocks;
    const size_t last = dis__job_first(w->n, w->n_jobs, j + 1);
    for (size_t r = dis__job_first(w->n, w->n_jobs, j); r < last; r++) {
        dis__bootstrap_totals(b, w->first + r, w->n_blocks, drawn);
        for (size_t i = 0; i < w->n_blocks; i++) {
            const size_t left = b->n_items - i * DIS_BOOTSTRAP_BLOCK,
                         n = left < DIS_BOOTSTRAP_BLOCK ? left : DIS_BOOTSTRAP_BLOCK;
            const double total = (double)drawn[i], aim = total - DIS_BOOTSTRAP_SHORT_BY * sqrt(total);
            w->total[r * w->n_blocks + i] = (uint32_t)drawn[i];
            w->mass[r * w->n_blocks + i] = dis__exp(-(aim / (double)n));
        }
    }
    return DIS_OK;
}

static dis_status draw_all(work *w, size_t chunk)
{
    for (w->first = 0; w->first < w->b->n_resamples; w->first += w->n) {
        w->n = w->b->n_resamples - w->first < chunk ? w->b->n_resamples - w->first : chunk;
        w->n_jobs = dis__n_jobs(w->n, 1, MAX_JOBS);
        DIS_TRY(w->device->plan(w->session, &w->total, &w->mass));
        DIS_TRY(dis__run_jobs(w->ctx, w->n_jobs, plan_job, w));
        DIS_TRY(w->device->draw(w->session, w->first, w->n));
    }
    return DIS_OK;
}

/* Few enough resamples for a small plan; a multiple of TOGETHER, which the device processes in parallel. */
static size_t chunk_for(const dis__bootstrap *b, size_t n_blocks)
{
    const size_t fit = PLANNED / n_blocks / TOGETHER * TOGETHER, chunk = fit < TOGETHER ? TOGETHER : fit;
    return chunk < b->n_resamples ? chunk : b->n_resamples;
}

dis_status dis__bootstrap_device_run(dis_context *ctx, const dis__bootstrap_device *device, const dis__bootstrap *b,
                                     const double *const *columns, size_t n_columns, const uint8_t *bin, size_t n_bins,
                                     double *sums)
{
    work w = {.ctx = ctx,
              .device = device,
              .b = b,
              .n_blocks = (b->n_items + DIS_BOOTSTRAP_BLOCK - 1) / DIS_BOOTSTRAP_BLOCK};
    const dis__bootstrap_shape shape = {.n_items = b->n_items,
                                        .n_blocks = w.n_blocks,
                                        .n_resamples = b->n_resamples,
                                        .n_columns = n_columns,
                                        .n_bins = bin ? n_bins : 0,
                                        .chunk = chunk_for(b, w.n_blocks),
                                        .seed = b->seed};
    dis_status status;
    DIS_TRY_GOTO(status,
                 dis__alloc_array(&w.drawn, dis__saturating_size(w.n_blocks, (size_t)dis_context_n_threads(ctx), 0),
                                  sizeof *w.drawn),
                 end);
    DIS_TRY_GOTO(status, device->open(device, &shape, &w.session), end);
    const dis__device_upload to = {.buffer = device->buffer, .send = device->send, .session = w.session};
    for (size_t c = 0; c < n_columns; c++)
        DIS_TRY_GOTO(status, dis__device_upload_array(ctx, &to, c, columns[c], sizeof(double), b->n_items), end);
    if (bin) DIS_TRY_GOTO(status, dis__device_upload_array(ctx, &to, n_columns, bin, 1, b->n_items), end);
    DIS_TRY_GOTO(status, draw_all(&w, shape.chunk), end);
    status = device->sums(w.session, sums);
end:
    device->close(w.session);
    dis__free(w.drawn);
    return status;
}
