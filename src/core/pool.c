/* The thread pool behind a context. Between calls threads sleep on a condition variable, but look out for the next call
 * for some 50 microseconds first: calls often follow each other, and to wake a thread takes as long. Within a call jobs
 * are taken from one atomic counter, so uneven jobs even out. */
#include "core/pool.h"
#include "core/comm.h"
#include "core/cuda_library.h"
#include "core/memory.h"
#include "core/sized_options.h"
#include "core/spill.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MAX_THREADS = 1024, LOOKS = 1000 };

typedef struct {
    dis_context *ctx;
    pthread_t id;
    int index;
} worker;

enum { DEVICE = 24 };

struct dis_context {
    dis_context_options options;
    dis__comm comm;
    uint64_t sent; /* bytes to other ranks */
    char device[DEVICE];
    pthread_t starting; /* the device */
    bool started;
    int n_threads;
    worker *workers; /* n_threads - 1: the caller is thread 0 */
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    _Atomic uint64_t round; /* bumped to start a call */
    _Atomic int busy;       /* workers still in the round */
    int looks;              /* at these two before sleeping; 0 when there are more threads than processors */
    bool quit;
    bool held; /* the caller's wish to stop is not looked at */

    /* the call at hand */
    dis_status (*job)(void *arg, size_t j, int thread);
    void *arg;
    size_t n_jobs;
    uint64_t memory; /* the limit of the calling thread, which is that of all */
    _Atomic size_t next;
    _Atomic bool stopping;
    size_t failed_job; /* lowest job that failed; guarded by mutex, like the next two */
    dis_status failure;
    char message[DIS_MESSAGE];
};

DIS_OPTIONS_DEFAULTS(dis_context_options, .size = sizeof(dis_context_options))

static void record_failure(dis_context *ctx, size_t j, dis_status status)
{
    atomic_store(&ctx->stopping, true);
    pthread_mutex_lock(&ctx->mutex);
    if (ctx->failure == DIS_OK || j < ctx->failed_job) {
        ctx->failure = status;
        ctx->failed_job = j;
        snprintf(ctx->message, sizeof ctx->message, "%s", dis_last_error());
    }
    pthread_mutex_unlock(&ctx->mutex);
}

static void work(dis_context *ctx, int thread)
{
    for (;;) {
        if (thread == 0 && dis__check_stop(ctx) != DIS_OK) record_failure(ctx, SIZE_MAX, DIS_ECANCELLED);
        if (atomic_load(&ctx->stopping)) return;
        const size_t j = atomic_fetch_add(&ctx->next, 1);
        if (j >= ctx->n_jobs) return;
        const dis_status status = ctx->job(ctx->arg, j, thread);
        if (status != DIS_OK) record_failure(ctx, j, status);
    }
}

static void look_away(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Waits for the round after `seen`; false: there will be none. */
static bool wait_for_round(dis_context *ctx, uint64_t seen)
{
    for (int i = 0; i < ctx->looks && atomic_load(&ctx->round) == seen; i++) look_away();
    if (atomic_load(&ctx->round) != seen) return true;
    pthread_mutex_lock(&ctx->mutex);
    while (!ctx->quit && atomic_load(&ctx->round) == seen) pthread_cond_wait(&ctx->wake, &ctx->mutex);
    const bool more = !ctx->quit;
    pthread_mutex_unlock(&ctx->mutex);
    return more;
}

static void *thread_main(void *arg)
{
    worker *me = arg;
    dis_context *ctx = me->ctx;
    for (uint64_t seen = 0; wait_for_round(ctx, seen); seen++) {
        dis__memory_set_limit(ctx->memory);
        work(ctx, me->index);
        if (atomic_fetch_sub(&ctx->busy, 1) > 1) continue;
        pthread_mutex_lock(&ctx->mutex);
        pthread_cond_signal(&ctx->done);
        pthread_mutex_unlock(&ctx->mutex);
    }
    return NULL;
}

static int usable_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    const int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
}

static void *starting_main(void *arg)
{
    dis__cuda_start(arg);
    return NULL;
}

/* Files are read meanwhile. Without a thread for it, whoever uses the device waits. */
static void start_device(dis_context *ctx)
{
    if (!*ctx->device || strcmp(ctx->device, "cpu") == 0) return;
    ctx->started = pthread_create(&ctx->starting, NULL, starting_main, ctx->device) == 0;
}

dis_status dis_context_create(const dis_context_options *options, dis_context **out)
{
    dis_context_options o = dis_context_options_default();
    DIS_TRY(DIS_OPTIONS_TAKE(dis_context_options, &o, options));
    if (o.threads < 0 || o.threads > MAX_THREADS)
        return dis__fail(DIS_EUSAGE, "threads must be between 0 (all) and %d, not %d", MAX_THREADS, o.threads);

    if ((int)o.precision < 0 || o.precision > DIS_PRECISION_BF16)
        return dis__fail(DIS_EUSAGE, "precision must be float32 or bf16, not number %d", (int)o.precision);

    if (o.device && strlen(o.device) >= DEVICE)
        return dis__fail(DIS_EUSAGE, "no device \"%.40s\"; `device` may be cpu, cuda, cuda:N or auto", o.device);

    dis_context *ctx;
    DIS_TRY(dis__alloc_zeroed(&ctx, 1, sizeof *ctx));
    ctx->options = o;
    if (o.device) strcpy(ctx->device, o.device);
    const int wanted = o.threads ? o.threads : usable_cpus();
    dis_status status = dis__alloc_zeroed(&ctx->workers, (size_t)wanted, sizeof *ctx->workers);
    if (status == DIS_OK) status = dis__comm_open(o.ranks, &ctx->comm);
    ctx->comm.sent = &ctx->sent;
    if (status != DIS_OK) {
        dis__free(ctx->workers);
        dis__free(ctx);
        return status;
    }
    pthread_mutex_init(&ctx->mutex, NULL);
    pthread_cond_init(&ctx->wake, NULL);
    pthread_cond_init(&ctx->done, NULL);
    ctx->looks = wanted <= usable_cpus() ? LOOKS : 0;
    for (ctx->n_threads = 1; ctx->n_threads < wanted; ctx->n_threads++) {
        worker *w = &ctx->workers[ctx->n_threads - 1];
        *w = (worker){.ctx = ctx, .index = ctx->n_threads};
        if (pthread_create(&w->id, NULL, thread_main, w) != 0) {
            const int got = ctx->n_threads;
            dis_context_destroy(ctx);
            return dis__fail(DIS_ELIMIT, "the system gives no more than %d threads; ask for fewer", got);
        }
    }
    start_device(ctx);
    *out = ctx;
    return DIS_OK;
}

void dis_context_destroy(dis_context *ctx)
{
    if (!ctx) return;
    pthread_mutex_lock(&ctx->mutex);
    ctx->quit = true;
    pthread_cond_broadcast(&ctx->wake);
    pthread_mutex_unlock(&ctx->mutex);
    for (int t = 1; t < ctx->n_threads; t++) pthread_join(ctx->workers[t - 1].id, NULL);
    if (ctx->started) pthread_join(ctx->starting, NULL);
    pthread_mutex_destroy(&ctx->mutex);
    pthread_cond_destroy(&ctx->wake);
    pthread_cond_destroy(&ctx->done);
    dis__comm_close(&ctx->comm);
    dis__free(ctx->workers);
    dis__free(ctx);
}

int dis_context_threads(const dis_context *ctx)
{
    return ctx ? ctx->n_threads : 1;
}

dis_precision dis__context_precision(const dis_context *ctx)
{
    return ctx ? ctx->options.precision : DIS_PRECISION_DEFAULT;
}

static const dis__comm alone = {.size = 1};

const dis__comm *dis__context_comm(const dis_context *ctx)
{
    return ctx && !ctx->options.whole ? &ctx->comm : &alone;
}

const dis__comm *dis__context_team(const dis_context *ctx)
{
    return ctx ? &ctx->comm : &alone;
}

int dis_context_rank(const dis_context *ctx)
{
    return dis__context_team(ctx)->rank;
}

int dis_context_ranks(const dis_context *ctx)
{
    return dis__context_team(ctx)->size;
}

void dis_context_fail(dis_context *ctx, int code)
{
    if (ctx && dis__comm_is_shared(&ctx->comm)) ctx->comm.row.abort(code);
}

dis_status dis_context_agree(dis_context *ctx, dis_status so_far)
{
    return dis__comm_agree(dis__context_team(ctx), so_far);
}

uint64_t dis_context_sent(const dis_context *ctx)
{
    return ctx ? ctx->sent : 0;
}

dis_status dis_context_broadcast(dis_context *ctx, int from, void *bytes, size_t n)
{
    const dis__comm *team = dis__context_team(ctx);
    return dis__comm_is_shared(team) ? dis__comm_broadcast(team, bytes, n, from) : DIS_OK;
}

const char *dis__context_device(const dis_context *ctx)
{
    return ctx ? ctx->device : "";
}

uint64_t dis__context_memory(const dis_context *ctx)
{
    return ctx ? ctx->options.memory : 0;
}

dis_status dis__run_jobs(dis_context *ctx, size_t n_jobs, dis_status (*job)(void *arg, size_t j, int thread), void *arg)
{
    if (!ctx || ctx->n_threads == 1 || n_jobs <= 1) {
        for (size_t j = 0; j < n_jobs; j++) {
            DIS_TRY(dis__check_stop(ctx));
            DIS_TRY(job(arg, j, 0));
        }
        return DIS_OK;
    }
    ctx->job = job;
    ctx->arg = arg;
    ctx->n_jobs = n_jobs;
    ctx->memory = dis__memory_limit();
    atomic_store(&ctx->next, 0);
    atomic_store(&ctx->stopping, false);
    ctx->failure = DIS_OK;
    atomic_store(&ctx->busy, ctx->n_threads - 1);
    pthread_mutex_lock(&ctx->mutex);
    atomic_fetch_add(&ctx->round, 1);
    pthread_cond_broadcast(&ctx->wake);
    pthread_mutex_unlock(&ctx->mutex);

    work(ctx, 0);

    for (int i = 0; i < ctx->looks && atomic_load(&ctx->busy); i++) look_away();
    if (atomic_load(&ctx->busy)) {
        pthread_mutex_lock(&ctx->mutex);
        while (atomic_load(&ctx->busy)) pthread_cond_wait(&ctx->done, &ctx->mutex);
        pthread_mutex_unlock(&ctx->mutex);
    }
    if (ctx->failure != DIS_OK) dis__set_error(ctx->message);
    return ctx->failure;
}

size_t dis__n_jobs(size_t n, size_t grain, size_t max)
{
    const size_t jobs = n / (grain ? grain : 1);
    return jobs < 1 ? 1 : jobs > max ? max : jobs;
}

size_t dis__job_first(size_t n, size_t n_jobs, size_t j)
{
    return (size_t)((unsigned __int128)n * j / n_jobs);
}

void dis__progress(dis_context *ctx, const char *what, double done)
{
    if (ctx && ctx->options.progress) ctx->options.progress(ctx->options.user, what, done);
}

dis_status dis__check_stop(dis_context *ctx)
{
    if (ctx && !ctx->held && ctx->options.stop && ctx->options.stop(ctx->options.user))
        return dis__fail(DIS_ECANCELLED, "stopped");
    return DIS_OK;
}

void dis__hold_stop(dis_context *ctx, bool held)
{
    if (ctx) ctx->held = held;
}

dis_status dis__check_memory(const dis_context *ctx, size_t bytes, const char *what)
{
    if (bytes < SIZE_MAX / 2 && dis__memory_limit()) return DIS_OK; /* what is too much goes to files */
    return dis__check_resident(ctx, bytes, what);
}

enum { SIZE_TEXT = 32 };

/* "360 MiB": four digits, so that what is asked and what there is differ to the eye. */
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
    const bool asked = ctx && ctx->options.memory;
    return dis__fail(DIS_ELIMIT,
                     asked ? "%s would need %s, and `memory` allows %s; raise it"
                           : "%s would need %s; %s are available",
                     what, size_text(bytes, needed), size_text(limit, allowed));
}
