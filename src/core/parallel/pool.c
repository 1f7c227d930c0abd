/* The thread pool. Between calls threads sleep on a condition variable, but spin for about 50 microseconds first: calls
 * often follow each other, and waking a thread takes as long. Within a call threads take jobs from one atomic counter,
 * which balances jobs of different lengths. */
#include "core/parallel/pool.h"
#include "core/memory/memory.h"
#include "core/memory/spill.h"
#include "core/os/os.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { MAX_SPINS = 1000 };

typedef struct {
    dis__pool *pool;
    pthread_t id;
    int index;
} worker;

struct dis__pool {
    int n_threads;
    worker *workers; /* n_threads - 1: the caller is thread 0 */
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    _Atomic uint64_t round; /* incremented to start a call */
    _Atomic int busy;       /* workers still in the round */
    int max_spins;          /* before sleeping; 0 when there are more threads than cores */
    bool quit;

    /* the current call */
    dis_context *ctx;
    dis_status (*job)(void *arg, size_t j, int thread);
    void *arg;
    size_t n_jobs;
    uint64_t memory; /* the limit of the calling thread, which all threads use */
    _Atomic size_t next;
    _Atomic bool stopping;
    size_t failed_job; /* lowest job that failed; guarded by mutex, like the next two */
    dis_status failure;
    char message[DIS_MESSAGE];
};

static void record_failure(dis__pool *pool, size_t j, dis_status status)
{
    atomic_store(&pool->stopping, true);
    pthread_mutex_lock(&pool->mutex);
    if (pool->failure == DIS_OK || j < pool->failed_job) {
        pool->failure = status;
        pool->failed_job = j;
        snprintf(pool->message, sizeof pool->message, "%s", dis_last_error());
    }
    pthread_mutex_unlock(&pool->mutex);
}

static void work(dis__pool *pool, int thread)
{
    for (;;) {
        if (thread == 0 && dis__check_stop(pool->ctx) != DIS_OK) record_failure(pool, SIZE_MAX, DIS_ECANCELLED);
        if (atomic_load(&pool->stopping)) return;
        const size_t j = atomic_fetch_add(&pool->next, 1);
        if (j >= pool->n_jobs) return;
        const dis_status status = pool->job(pool->arg, j, thread);
        if (status != DIS_OK) record_failure(pool, j, status);
    }
}

static void spin_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Waits for the round after `seen`; false: the pool is being destroyed. */
static bool wait_for_round(dis__pool *pool, uint64_t seen)
{
    for (int i = 0; i < pool->max_spins && atomic_load(&pool->round) == seen; i++) spin_once();
    if (atomic_load(&pool->round) != seen) return true;
    pthread_mutex_lock(&pool->mutex);
    while (!pool->quit && atomic_load(&pool->round) == seen) pthread_cond_wait(&pool->wake, &pool->mutex);
    const bool more = !pool->quit;
    pthread_mutex_unlock(&pool->mutex);
    return more;
}

static void *thread_main(void *arg)
{
    worker *me = arg;
    dis__pool *pool = me->pool;
    for (uint64_t seen = 0; wait_for_round(pool, seen); seen++) {
        dis__memory_set_limit(pool->memory);
        work(pool, me->index);
        if (atomic_fetch_sub(&pool->busy, 1) > 1) continue;
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->mutex);
    }
    return NULL;
}

int dis__usable_cpus(void)
{
    const int n = dis__os_usable_cpus();
    return n > DIS__MAX_THREADS ? DIS__MAX_THREADS : n;
}

dis_status dis__pool_create(int n_threads, dis__pool **out)
{
    dis__pool *pool;
    DIS_TRY(dis__alloc_zeroed(&pool, 1, sizeof *pool));
    const dis_status status = dis__alloc_zeroed(&pool->workers, (size_t)n_threads, sizeof *pool->workers);
    if (status != DIS_OK) {
        dis__free(pool);
        return status;
    }
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->max_spins = n_threads <= dis__usable_cpus() ? MAX_SPINS : 0;
    for (pool->n_threads = 1; pool->n_threads < n_threads; pool->n_threads++) {
        worker *w = &pool->workers[pool->n_threads - 1];
        *w = (worker){.pool = pool, .index = pool->n_threads};
        if (dis__os_start_thread(&w->id, thread_main, w) != 0) {
            const int got = pool->n_threads;
            dis__pool_destroy(pool);
            return dis__fail(DIS_ELIMIT, "the system provides only %d threads; request fewer", got);
        }
    }
    *out = pool;
    return DIS_OK;
}

void dis__pool_destroy(dis__pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->mutex);
    pool->quit = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (int t = 1; t < pool->n_threads; t++) pthread_join(pool->workers[t - 1].id, NULL);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->done);
    dis__free(pool->workers);
    dis__free(pool);
}

int dis__pool_threads(const dis__pool *pool)
{
    return pool->n_threads;
}

static dis_status run_in_caller(dis_context *ctx, size_t n_jobs, dis_status (*job)(void *arg, size_t j, int thread),
                                void *arg)
{
    for (size_t j = 0; j < n_jobs; j++) {
        DIS_TRY(dis__check_stop(ctx));
        DIS_TRY(job(arg, j, 0));
    }
    return DIS_OK;
}

/* Returns when the workers have finished the round. */
static void wait_for_workers(dis__pool *pool)
{
    for (int i = 0; i < pool->max_spins && atomic_load(&pool->busy); i++) spin_once();
    if (!atomic_load(&pool->busy)) return;
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->busy)) pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

dis_status dis__run_jobs(dis_context *ctx, size_t n_jobs, dis_status (*job)(void *arg, size_t j, int thread), void *arg)
{
    dis__pool *pool = dis__context_pool(ctx);
    if (!pool || pool->n_threads == 1 || n_jobs <= 1) return run_in_caller(ctx, n_jobs, job, arg);
    pool->ctx = ctx;
    pool->job = job;
    pool->arg = arg;
    pool->n_jobs = n_jobs;
    pool->memory = dis__memory_limit();
    atomic_store(&pool->next, 0);
    atomic_store(&pool->stopping, false);
    pool->failure = DIS_OK;
    atomic_store(&pool->busy, pool->n_threads - 1);
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->round, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    work(pool, 0);
    wait_for_workers(pool);
    if (pool->failure != DIS_OK) dis__set_error(pool->message);
    return pool->failure;
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
