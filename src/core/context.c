/* A context: its checked options, with the threads, the communicator and the device that they request. */
#include "core/context_internal.h"
#include "core/os/os.h"
#include "tool/rank_calls.h"
#include "core/parallel/comm.h"
#include "core/device/device_registry.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include "core/memory/spill.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { DEVICE = 24 }; /* longer than any words that are accepted */

struct dis_context {
    dis_context_options options;
    dis__pool *pool;
    dis__comm comm;
    uint64_t sent; /* bytes to other ranks */
    char device[DEVICE];
    pthread_t device_start; /* the thread that starts the device */
    bool device_starting;
    bool on_cpu;    /* calls use the CPU temporarily */
    bool stop_held; /* the stop callback is not polled */
};

DIS_OPTIONS_DEFAULTS(dis_context_options, .size = sizeof(dis_context_options))

static dis_status check_options(const dis_context_options *o)
{
    if (o->threads < 0 || o->threads > DIS__MAX_THREADS)
        return dis__fail(DIS_EUSAGE, "threads must be between 0 (all) and %d, not %d", DIS__MAX_THREADS, o->threads);
    if ((int)o->precision < 0 || o->precision > DIS_PRECISION_BF16)
        return dis__fail(DIS_EUSAGE, "precision must be float32 or bf16, not the value %d", (int)o->precision);
    dis__device_name name;
    return dis__device_name_parse(o->device, &name);
}

static void *start_device_main(void *arg)
{
    dis__device_start(arg);
    return NULL;
}

/* In a thread, so that files can be read meanwhile. If no thread can be created, the first use of the device starts
 * it. */
static void start_device(dis_context *ctx)
{
    dis__device_name name;
    if (dis__device_name_parse(ctx->device, &name) != DIS_OK || dis__device_name_is_cpu(&name)) return;
    ctx->device_starting = dis__os_start_thread(&ctx->device_start, start_device_main, ctx->device) == 0;
}

dis_status dis_context_create(const dis_context_options *options, dis_context **out)
{
    dis_context_options o = dis_context_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_context_options, &o, options));
    DIS_TRY(check_options(&o));
    dis_context *ctx;
    DIS_TRY(dis__alloc_zeroed(&ctx, 1, sizeof *ctx));
    ctx->options = o;
    if (o.device) snprintf(ctx->device, sizeof ctx->device, "%s", o.device);
    dis_status status = dis__pool_create(o.threads ? o.threads : dis__usable_cpus(), &ctx->pool);
    if (status == DIS_OK) status = dis__comm_open(o.ranks, &ctx->comm);
    ctx->comm.sent = &ctx->sent;
    if (status != DIS_OK) {
        dis__pool_destroy(ctx->pool);
        dis__free(ctx);
        return status;
    }
    start_device(ctx);
    *out = ctx;
    return DIS_OK;
}

void dis_context_destroy(dis_context *ctx)
{
    if (!ctx) return;
    dis__pool_destroy(ctx->pool);
    if (ctx->device_starting) pthread_join(ctx->device_start, NULL);
    dis__comm_close(&ctx->comm);
    dis__free(ctx);
}

int dis_context_n_threads(const dis_context *ctx)
{
    return ctx ? dis__pool_threads(ctx->pool) : 1;
}

dis__pool *dis__context_pool(dis_context *ctx)
{
    return ctx ? ctx->pool : NULL;
}

dis_precision dis__context_precision(const dis_context *ctx)
{
    return ctx ? ctx->options.precision : DIS_PRECISION_DEFAULT;
}

const char *dis__context_device(const dis_context *ctx)
{
    return ctx && !ctx->on_cpu ? ctx->device : "";
}

void dis__context_use_cpu(dis_context *ctx, bool on)
{
    if (ctx) ctx->on_cpu = on;
}

uint64_t dis__context_memory(const dis_context *ctx)
{
    return ctx ? ctx->options.memory : 0;
}

/* ---- ranks ---- */

static const dis__comm alone = {.size = 1};

const dis__comm *dis__context_comm(const dis_context *ctx)
{
    return ctx && !ctx->options.replicate_data ? &ctx->comm : &alone;
}

const dis__comm *dis__context_all_ranks(const dis_context *ctx)
{
    return ctx ? &ctx->comm : &alone;
}

int dis_context_rank(const dis_context *ctx)
{
    return dis__context_all_ranks(ctx)->rank;
}

int dis_context_n_ranks(const dis_context *ctx)
{
    return dis__context_all_ranks(ctx)->size;
}

void dis__context_abort(dis_context *ctx, int code)
{
    if (ctx && dis__comm_is_parallel(&ctx->comm)) ctx->comm.row.abort(code);
}

dis_status dis__context_reduce_status(dis_context *ctx, dis_status so_far)
{
    return dis__comm_first_failure(dis__context_all_ranks(ctx), so_far);
}

uint64_t dis__context_bytes_sent(const dis_context *ctx)
{
    return ctx ? ctx->sent : 0;
}

dis_status dis__context_broadcast(dis_context *ctx, int from, void *bytes, size_t n)
{
    const dis__comm *team = dis__context_all_ranks(ctx);
    return dis__comm_is_parallel(team) ? dis__comm_broadcast(team, bytes, n, from) : DIS_OK;
}

/* ---- progress and stopping ---- */

void dis__progress(dis_context *ctx, const char *what, double done)
{
    if (ctx && ctx->options.progress) ctx->options.progress(ctx->options.user, what, done);
}

dis_status dis__check_stop(dis_context *ctx)
{
    if (ctx && !ctx->stop_held && ctx->options.stop && ctx->options.stop(ctx->options.user))
        return dis__fail(DIS_ECANCELLED, "stopped");
    return DIS_OK;
}

void dis__suspend_stop(dis_context *ctx, bool held)
{
    if (ctx) ctx->stop_held = held;
}

/* ---- memory ---- */

dis_status dis__check_memory(const dis_context *ctx, size_t bytes, const char *what)
{
    if (bytes < SIZE_MAX / 2 && dis__memory_limit()) return DIS_OK; /* the excess is spilled to files */
    return dis__check_resident(ctx, bytes, what);
}

enum { SIZE_TEXT = 32 };

/* "360 MiB": four digits, so that the required size and the limit are visibly different. */
static const char *size_text(uint64_t n, char out[SIZE_TEXT])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double x = (double)n;
    size_t u = 0;
    for (; x >= 10000 && u + 1 < sizeof units / sizeof *units; u++) x /= 1024;
    snprintf(out, SIZE_TEXT, "%.4g %s", x, n == 1 ? "byte" : units[u]);
    return out;
}

dis_status dis__check_resident(const dis_context *ctx, size_t bytes, const char *what)
{
    enum { SURELY_FINE = 64 << 20 };
    if (bytes <= SURELY_FINE && !(ctx && ctx->options.memory)) return DIS_OK;
    const uint64_t limit = ctx && ctx->options.memory ? ctx->options.memory : dis__memory_available();
    if (limit == 0 || bytes <= limit) return DIS_OK;
    if (bytes == SIZE_MAX) return dis__fail(DIS_ELIMIT, "%s would need more memory than any machine has", what);
    char needed[SIZE_TEXT], allowed[SIZE_TEXT];
    const bool is_limited = ctx && ctx->options.memory;
    return dis__fail(DIS_ELIMIT,
                     is_limited ? "%s would need %s, and `memory` allows %s; raise it"
                                : "%s would need %s; %s are available",
                     what, size_text(bytes, needed), size_text(limit, allowed));
}
