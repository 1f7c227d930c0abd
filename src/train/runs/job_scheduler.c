/* Worker threads take jobs from one queue. The calling thread finishes jobs, reports progress and polls the stop
 * callback. `limit` is the number of jobs that may run at once now; it shrinks when memory runs out. */
#include "train/runs/job_scheduler.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "core/parallel/pool.h"
#include "nn/devices.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    MESSAGE = 2048,
    MAX_AT_ONCE = 1024,
    GPU_AT_ONCE = 12 /* more encoders at once are not faster; smaller models gain nothing either */
};
#define MIN_MEMORY   ((uint64_t)32 << 20) /* a context fails below this limit */
#define TICK_SECONDS .1                   /* between two polls of the stop callback */
#define BUSY_SECONDS .25                  /* between two claims of a busy job */

typedef enum { WAITING, BUSY, RUNNING, ENDED } job_state;

/* A job whose result waits for `finish`. */
typedef struct {
    size_t i;
    dis_status status;
    char message[MESSAGE];
} ended_job;

typedef struct {
    const dis__jobs *jobs;
    dis_context *ctx;
    bool automatic;
    size_t at_once;
    _Atomic bool stop; /* running jobs stop */

    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    job_state *state; /* (n) */
    size_t first;     /* no job in front of it waits */
    size_t limit, running, busy, left, workers;
    size_t starts;    /* so far */
    size_t successes; /* since `limit` has changed */
    bool closed;      /* no job starts any more */
    ended_job *queue; /* (at_once) */
    size_t n_queue;
    dis_status failure;
    size_t failed; /* the job that `failure` is of */
    char message[MESSAGE];
    struct timespec reported;
} scheduler;

/* One attempt at a job. */
typedef struct {
    size_t i;
    bool was_busy; /* it was busy */
    bool alone;    /* no other job ran when it started */
    size_t start;  /* its number among the starts */
    size_t share;  /* of the resources: one part of so many */
} attempt;

static size_t number_of(const dis__jobs *jobs, size_t i)
{
    return jobs->job ? jobs->job[i] : i;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- with the mutex held ---- */

static void wait_for_change(scheduler *s, double seconds)
{
    dis__os_wait(&s->changed, &s->mutex, seconds);
}

/* The failure of the first job counts; one without a job (i = SIZE_MAX) only if there is no other. */
static void note_failure(scheduler *s, size_t i, dis_status status, const char *message)
{
    s->closed = true;
    if (s->failure != DIS_OK && s->failed <= i) return;
    s->failure = status;
    s->failed = i;
    snprintf(s->message, sizeof s->message, "%s", message);
}

static void set_state(scheduler *s, size_t i, job_state state)
{
    s->left -= state == ENDED;
    s->state[i] = state;
    if (state == WAITING || state == BUSY) s->first = 0;
    pthread_cond_broadcast(&s->changed);
}

/* The next job to claim: one that waits, else one that is busy. false: none. */
static bool find_next(scheduler *s, attempt *a)
{
    const size_t n = s->jobs->n;
    while (s->first < n && (s->state[s->first] == RUNNING || s->state[s->first] == ENDED)) s->first++;
    for (int busy = 0; busy < 2; busy++)
        for (size_t i = s->first; i < n; i++)
            if (s->state[i] == (busy ? BUSY : WAITING)) {
                *a = (attempt){.i = i, .was_busy = busy};
                return true;
            }
    return false;
}

static void start(scheduler *s, attempt *a)
{
    a->alone = s->running == 0;
    a->start = ++s->starts;
    a->share = least(s->limit, s->left);
    s->state[a->i] = RUNNING;
    s->busy -= a->was_busy;
    s->running++;
}

/* Whether a job that has run out of memory should be tried again, when fewer jobs run. */
static bool is_worth_retrying(const scheduler *s, const attempt *a)
{
    const bool was_alone = a->alone && a->start == s->starts && a->share == 1;
    return s->automatic && !s->closed && !was_alone;
}

/* running: without the job that did not fit. */
static void shrink(scheduler *s)
{
    s->limit = s->running ? s->running : 1;
    s->successes = 0;
}

static void note_success(scheduler *s)
{
    if (s->limit == s->at_once || ++s->successes < s->limit) return;
    s->limit++;
    s->successes = 0;
}

/* ---- workers; without the mutex but where noted ---- */

static int is_stopped(void *user)
{
    return atomic_load(&((scheduler *)user)->stop);
}

static uint64_t memory_share(const scheduler *s, size_t share)
{
    const uint64_t all = dis__context_memory(s->ctx), part = all / share;
    return part >= MIN_MEMORY ? part : all < MIN_MEMORY ? all : MIN_MEMORY;
}

/* A context with a part of the threads and the memory; *ctx is kept if it fits. */
static dis_status prepare_context(scheduler *s, size_t share, dis_context **ctx)
{
    const int part = dis_context_n_threads(s->ctx) / (int)share;
    const int threads = part > 0 ? part : 1;
    const uint64_t memory = memory_share(s, share);
    if (*ctx && dis_context_n_threads(*ctx) == threads && dis__context_memory(*ctx) == memory) return DIS_OK;
    dis_context_destroy(*ctx);
    *ctx = NULL;
    dis_context_options o = dis_context_options_default();
    o.threads = threads;
    o.memory = memory;
    o.precision = dis__context_precision(s->ctx);
    o.device = dis__context_device(s->ctx);
    o.stop = is_stopped;
    o.user = s;
    return dis_context_create(&o, ctx);
}

static dis_status finish(const scheduler *s, const ended_job *e)
{
    if (e->status != DIS_OK) dis__set_error(e->message);
    return s->jobs->finish ? s->jobs->finish(s->jobs->user, number_of(s->jobs, e->i), e->status) : e->status;
}

/* With the mutex held. status: what `finish` has returned. */
static void end_job(scheduler *s, size_t i, dis_status status)
{
    if (status != DIS_OK) note_failure(s, i, status, dis_last_error());
    set_state(s, i, ENDED);
}

/* Why an explicit number of jobs may be too large. */
static void explain_share(const scheduler *s, const attempt *a, ended_job *e)
{
    if (e->status != DIS_ELIMIT || s->automatic || a->share == 1 || !dis__context_memory(s->ctx)) return;
    const size_t n = strlen(e->message);
    snprintf(e->message + n, sizeof e->message - n, "; the limit is `memory` divided by `jobs`, which is %zu here",
             a->share);
}

/* Runs an owned job and hands it to `finish`, or puts it back into the queue. */
static void run_job(scheduler *s, dis_context *ctx, const attempt *a)
{
    ended_job e = {.i = a->i};
    e.status = s->jobs->run(ctx, s->jobs->user, number_of(s->jobs, a->i));
    if (e.status != DIS_OK) snprintf(e.message, sizeof e.message, "%s", dis_last_error());
    explain_share(s, a, &e);
    pthread_mutex_lock(&s->mutex);
    s->running--;
    if (e.status == DIS_OK) note_success(s);
    const bool again = e.status == DIS_ELIMIT && is_worth_retrying(s, a);
    if (again) {
        shrink(s);
        e.status = DIS_ECANCELLED;
    }
    const bool queued = !again && s->jobs->finish && s->n_queue < s->at_once;
    if (queued) s->queue[s->n_queue++] = e;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    if (queued) return;
    dis_status status = again && !s->jobs->finish ? DIS_OK : finish(s, &e);
    if (again && status == DIS_ECANCELLED) status = DIS_OK;
    pthread_mutex_lock(&s->mutex);
    if (again && status == DIS_OK && !s->closed)
        set_state(s, a->i, WAITING);
    else
        end_job(s, a->i, status);
    pthread_mutex_unlock(&s->mutex);
}

/* A job that has been started does not run: it is over, busy, or `status` is a failure. */
static void leave_job(scheduler *s, const attempt *a, dis_status status, dis__job_claim claim)
{
    pthread_mutex_lock(&s->mutex);
    s->running--;
    if (status == DIS_OK && claim == DIS__JOB_BUSY) {
        s->busy++;
        set_state(s, a->i, BUSY);
        if (a->was_busy && !s->closed) wait_for_change(s, BUSY_SECONDS);
    } else
        end_job(s, a->i, status);
    pthread_mutex_unlock(&s->mutex);
}

static void do_job(scheduler *s, dis_context **ctx, const attempt *a)
{
    dis__job_claim claim = DIS__JOB_OWNED;
    dis_status status = prepare_context(s, a->share, ctx);
    if (status == DIS_OK && s->jobs->claim) status = s->jobs->claim(s->jobs->user, number_of(s->jobs, a->i), &claim);
    if (status == DIS_OK && claim == DIS__JOB_OWNED)
        run_job(s, *ctx, a);
    else
        leave_job(s, a, status, claim);
}

static void *work(void *arg)
{
    scheduler *s = arg;
    dis_context *ctx = NULL;
    pthread_mutex_lock(&s->mutex);
    while (!s->closed && s->left) {
        attempt a;
        if (s->running >= s->limit || !find_next(s, &a)) {
            pthread_cond_wait(&s->changed, &s->mutex);
            continue;
        }
        start(s, &a);
        pthread_mutex_unlock(&s->mutex);
        do_job(s, &ctx, &a);
        pthread_mutex_lock(&s->mutex);
    }
    s->workers--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    dis_context_destroy(ctx);
    return NULL;
}

/* ---- the calling thread ---- */

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

/* With the mutex held, which is unlocked meanwhile. */
static void report(scheduler *s)
{
    if (s->workers && seconds_since(&s->reported) < TICK_SECONDS) return;
    clock_gettime(CLOCK_MONOTONIC, &s->reported);
    const dis__jobs *jobs = s->jobs;
    const dis__jobs_progress progress = {.running = s->running,
                                         .busy = s->busy,
                                         .left = s->left,
                                         .at_once = s->at_once};
    pthread_mutex_unlock(&s->mutex);
    if (jobs->watch)
        jobs->watch(jobs->user, &progress);
    else
        dis__progress(s->ctx, jobs->what, (double)(jobs->n - progress.left) / (double)jobs->n);
    const dis_status status = progress.left ? dis__check_stop(s->ctx) : DIS_OK;
    pthread_mutex_lock(&s->mutex);
    if (status == DIS_OK) return;
    atomic_store(&s->stop, true);
    note_failure(s, SIZE_MAX, status, dis_last_error());
    pthread_cond_broadcast(&s->changed);
}

/* The job at the front of the queue; with the mutex held, which is unlocked meanwhile. */
static void finish_first(scheduler *s)
{
    const ended_job e = s->queue[0];
    memmove(s->queue, s->queue + 1, --s->n_queue * sizeof *s->queue);
    pthread_mutex_unlock(&s->mutex);
    const dis_status status = finish(s, &e);
    pthread_mutex_lock(&s->mutex);
    end_job(s, e.i, status);
}

static void watch_workers(scheduler *s)
{
    pthread_mutex_lock(&s->mutex);
    while (s->workers || s->n_queue) {
        while (s->n_queue) finish_first(s);
        report(s);
        if (s->workers && !s->n_queue) wait_for_change(s, TICK_SECONDS);
    }
    report(s);
    pthread_mutex_unlock(&s->mutex);
}

static dis_status run_workers(scheduler *s)
{
    pthread_t *thread;
    DIS_TRY(dis__alloc_array(&thread, s->at_once, sizeof *thread));
    size_t n = 0;
    s->workers = s->at_once; /* before one of them reads it */
    while (n < s->at_once && dis__os_start_thread(&thread[n], work, s) == 0) n++;
    pthread_mutex_lock(&s->mutex);
    s->workers -= s->at_once - n;
    if (n == 0) note_failure(s, SIZE_MAX, DIS_ELIMIT, "the system cannot start a thread");
    pthread_mutex_unlock(&s->mutex);
    watch_workers(s);
    for (size_t i = 0; i < n; i++) pthread_join(thread[i], NULL);
    dis__free(thread);
    return DIS_OK;
}

static dis_status run_parallel(scheduler *s)
{
    pthread_mutex_init(&s->mutex, NULL);
    dis__os_init_condition(&s->changed);
    dis_status status = dis__alloc_zeroed(&s->state, s->jobs->n, sizeof *s->state);
    if (status == DIS_OK) status = dis__alloc_array(&s->queue, s->at_once, sizeof *s->queue);
    if (status == DIS_OK) status = run_workers(s);
    pthread_mutex_destroy(&s->mutex);
    pthread_cond_destroy(&s->changed);
    dis__free(s->state);
    dis__free(s->queue);
    if (status != DIS_OK || s->failure == DIS_OK) return status;
    dis__set_error(s->message);
    return s->failure;
}

/* One job after the other, in this thread. */
static dis_status run_in_turn(scheduler *s)
{
    const dis__jobs *jobs = s->jobs;
    for (size_t i = 0; i < jobs->n; i++) {
        const dis_status status = jobs->run(s->ctx, jobs->user, number_of(jobs, i));
        DIS_TRY(jobs->finish ? jobs->finish(jobs->user, number_of(jobs, i), status) : status);
    }
    return DIS_OK;
}

static size_t automatic_number(const dis_context *ctx)
{
    const dis__device *device;
    const size_t threads = (size_t)dis_context_n_threads(ctx);
    const bool gpu = *dis__context_device(ctx) && dis__device_for(ctx, &dis__device_cpu, false, &device) == DIS_OK &&
                     device->row != &dis__device_row_cpu;
    return gpu && threads > GPU_AT_ONCE ? GPU_AT_ONCE : threads;
}

dis_status dis__jobs_run(dis_context *ctx, const dis__jobs *jobs)
{
    if (jobs->at_once > MAX_AT_ONCE)
        return dis__fail(DIS_EUSAGE, "%zu jobs; at most %d are possible", jobs->at_once, MAX_AT_ONCE);
    if (jobs->n == 0) return DIS_OK;
    const size_t at_once = least(jobs->at_once ? jobs->at_once : automatic_number(ctx), jobs->n);
    scheduler s = {.jobs = jobs,
                   .ctx = ctx,
                   .automatic = jobs->at_once == 0,
                   .at_once = at_once,
                   .limit = at_once,
                   .left = jobs->n};
    return at_once == 1 && !jobs->watch && !jobs->claim ? run_in_turn(&s) : run_parallel(&s);
}
