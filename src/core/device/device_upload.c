/* Copies arrays to devices, one buffer at a time. */
#include "core/device/device_upload.h"
#include "core/parallel/pool.h"
#include <string.h>

enum { GRAIN = 1 << 18 /* bytes per job */, MAX_JOBS = 64 };

typedef struct {
    dis__device_fill *fill;
    const void *arg;
    char *to;
    size_t size, first, n, n_jobs;
} piece;

static dis_status fill_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const piece *g = arg;
    const size_t begin = dis__job_first(g->n, g->n_jobs, j), end = dis__job_first(g->n, g->n_jobs, j + 1);
    g->fill(g->arg, g->to + begin * g->size, g->first + begin, end - begin);
    return DIS_OK;
}

static dis_status fill_piece(dis_context *ctx, piece *g)
{
    g->n_jobs = dis__n_jobs(g->n, GRAIN / g->size, MAX_JOBS);
    return dis__run_jobs(ctx, g->n_jobs, fill_job, g);
}

dis_status dis__device_upload_filled(dis_context *ctx, const dis__device_upload *to, size_t array, size_t size,
                                     size_t n, dis__device_fill *fill, const void *arg)
{
    piece g = {.fill = fill, .arg = arg, .size = size};
    for (size_t bytes; g.first < n; g.first += g.n) {
        void *at;
        DIS_TRY(to->buffer(to->session, &at, &bytes));
        g.to = at;
        g.n = n - g.first < bytes / size ? n - g.first : bytes / size;
        DIS_TRY(fill_piece(ctx, &g));
        DIS_TRY(to->send(to->session, array, g.first * size, g.n * size));
    }
    return DIS_OK;
}

typedef struct {
    const char *from;
    size_t size;
} source;

static void copy_elements(const void *arg, void *to, size_t first, size_t n)
{
    const source *s = arg;
    memcpy(to, s->from + first * s->size, n * s->size);
}

dis_status dis__device_upload_array(dis_context *ctx, const dis__device_upload *to, size_t array, const void *from,
                                    size_t size, size_t n)
{
    const source s = {.from = from, .size = size};
    return dis__device_upload_filled(ctx, to, array, size, n, copy_elements, &s);
}

dis_status dis__parallel_copy(dis_context *ctx, void *to, const void *from, size_t bytes)
{
    const source s = {.from = from, .size = 1};
    piece g = {.fill = copy_elements, .arg = &s, .to = to, .size = 1, .n = bytes};
    return fill_piece(ctx, &g);
}
