/* The runner. Worker threads take runs seed by seed, claim each in the store and execute it. What came out waits in a
 * short queue for the calling thread, which keeps it in the store, so that nobody computes less because a disk is slow;
 * when the queue is full a worker keeps its result itself. Meanwhile the calling thread tells the watcher and asks
 * whether to stop. A run has one thread of its own, or an equal share of the threads when fewer runs are left than
 * there are workers: threads never change a result.
 *
 * A run in flight elsewhere is put back and asked about again: in the end it is done, failed, or its process has died
 * and it is ours. A failure of the store stops everything; a failure of a run is noted in the store. */
#include "experiment/runner.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "dissent/device_list.h"
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MESSAGE = 2048, MAX_JOBS = 1024 };
#define TICK_SECONDS .1  /* between looks at the wish to stop */
#define ASK_SECONDS  .25 /* between looks at runs in flight elsewhere */

typedef enum { WAITING, ELSEWHERE, AT_WORK, DONE, FAILED } progress_of;

/* What came out of a run, until it is kept. */
typedef struct {
    size_t run;
    dis_status status;
    dis__result result; /* with DIS_OK */
    double seconds;
    char message[MESSAGE]; /* otherwise */
} outcome;

typedef struct {
    const dis__runner *r;
    size_t jobs;
    int threads;
    uint64_t memory;
    const dis_context *ctx; /* the caller's: its device and precision */
    struct timespec begin, told;

    pthread_mutex_t mutex; /* all below */
    pthread_cond_t changed;
    progress_of *progress; /* (n_runs) */
    double *seconds;       /* (n_runs) that a run took, NaN: not known */
    size_t next;           /* in plan->order: no run before it is waiting */
    size_t left;           /* neither done nor failed */
    size_t workers;        /* alive */
    size_t starved, ended; /* runs that wait for memory, that are over */
    outcome **queue;       /* (jobs) to be kept by the calling thread */
    size_t n_queue;
    dis_experiment_counts counts;
    dis_status broken;  /* the store's failure */
    dis_status failure; /* of the first run that failed, in the order of the plan */
    size_t failed_run;
    char message[MESSAGE], failed_message[MESSAGE];
    _Atomic bool stop;
} job;

static double since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

static void wait_for_change(job *j, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double nanoseconds = (double)until.tv_nsec + seconds * 1e9;
    until.tv_sec += (time_t)(nanoseconds / 1e9);
    until.tv_nsec = (long)fmod(nanoseconds, 1e9);
    pthread_cond_timedwait(&j->changed, &j->mutex, &until);
}

/* ---- workers ---- */

static int asked_to_stop(void *user)
{
    return atomic_load(&((job *)user)->stop);
}

/* With the mutex held. */
static void note_broken(job *j, dis_status status)
{
    if (j->broken == DIS_OK) {
        j->broken = status;
        snprintf(j->message, sizeof j->message, "%s", dis_last_error());
    }
    atomic_store(&j->stop, true);
    pthread_cond_broadcast(&j->changed);
}

static void settle(job *j, size_t run, progress_of how)
{
    j->progress[run] = how;
    j->left -= how == DONE || how == FAILED;
    j->counts.done += how == DONE;
    j->counts.failed += how == FAILED;
    if (how == WAITING || how == ELSEWHERE) j->next = 0;
    pthread_cond_broadcast(&j->changed);
}

static void note_failure(job *j, size_t run, dis_status status, const char *message)
{
    if (j->failure != DIS_OK && j->failed_run < run) return;
    j->failure = status;
    j->failed_run = run;
    snprintf(j->failed_message, sizeof j->failed_message, "%s", message);
}

/* The next run that is worth a claim; SIZE_MAX: none now. *ask: it was in flight elsewhere a moment ago. */
static size_t take(job *j, bool *ask)
{
    const size_t n = j->r->plan->n_runs, *order = j->r->plan->order;
    while (j->next < n && j->progress[order[j->next]] != WAITING && j->progress[order[j->next]] != ELSEWHERE) j->next++;
    for (int elsewhere = 0; elsewhere < 2; elsewhere++)
        for (size_t i = j->next; i < n; i++)
            if (j->progress[order[i]] == (elsewhere ? ELSEWHERE : WAITING)) {
                *ask = elsewhere;
                return order[i];
            }
    return SIZE_MAX;
}

/* A context with this worker's share of the threads, made anew when the share has changed. */
static dis_status share_threads(job *j, int threads, dis_context **ctx)
{
    if (*ctx && dis_context_n_threads(*ctx) == threads) return DIS_OK;
    dis_context_destroy(*ctx);
    *ctx = NULL;
    dis_context_options o = dis_context_options_default();
    o.threads = threads;
    o.memory = j->memory;
    o.precision = dis__context_precision(j->ctx);
    o.device = dis__context_device(j->ctx);
    o.stop = asked_to_stop;
    o.user = j;
    return dis_context_create(&o, ctx);
}

/* Puts an outcome into the store and frees it; without the mutex. The failure of a run is no failure here. */
static dis_status keep(job *j, outcome *o, progress_of *how)
{
    const dis__runner *r = j->r;
    const size_t run = o->run;
    const bool has_result = o->status == DIS_OK;
    dis_status kept;
    if (o->status == DIS_ECANCELLED)
        kept = dis__store_release(r->store, r->plan, run);
    else if (o->status != DIS_OK)
        kept = dis__store_fail(r->store, r->plan, run, o->message, o->seconds);
    else
        kept = dis__store_keep(r->store, r->plan, run, &o->result, o->seconds);
    if (has_result &&
        kept == DIS_EDATA) { /* what cannot be written (an id with a line break) is a failure of this run */
        o->status = kept;
        snprintf(o->message, sizeof o->message, "%s", dis_last_error());
        kept = dis__store_fail(r->store, r->plan, run, o->message, o->seconds);
    }
    *how = kept != DIS_OK || o->status == DIS_ECANCELLED ? WAITING : o->status == DIS_OK ? DONE : FAILED;
    if (*how != WAITING) {
        pthread_mutex_lock(&j->mutex);
        j->counts.run_seconds += o->seconds;
        j->counts.computed += o->status == DIS_OK;
        j->seconds[run] = o->seconds;
        if (o->status != DIS_OK) note_failure(j, run, o->status, o->message);
        pthread_mutex_unlock(&j->mutex);
    }
    if (has_result) dis__result_free(&o->result);
    dis__free(o);
    return kept;
}

/* After a run found the memory used up: waits for another one to end. 0: there is no other; 1: all others wait too. */
static int wait_for_room(job *j)
{
    pthread_mutex_lock(&j->mutex);
    const size_t ended = j->ended;
    const int others = j->counts.running > j->starved + 1 ? 2 : j->counts.running > 1;
    j->starved++;
    while (others > 1 && j->ended == ended && !atomic_load(&j->stop)) pthread_cond_wait(&j->changed, &j->mutex);
    if (j->ended == ended) j->starved--;
    pthread_mutex_unlock(&j->mutex);
    return others;
}

/* Where nobody said how many run side by side, what does not fit beside the others is tried again when one of them has
 * ended, and once alone. */
static dis_status execute(job *j, dis_context *ctx, size_t run, dis__result *result)
{
    const dis__runner *r = j->r;
    dis_status status = r->execute(ctx, r->user, run, result);
    for (int others = 2; status == DIS_ELIMIT && !r->options.jobs && others > 1;) {
        others = wait_for_room(j);
        if (!others || atomic_load(&j->stop)) break;
        status = r->execute(ctx, r->user, run, result);
    }
    return status;
}

/* Executes a claimed run; *how is AT_WORK when somebody else keeps what came out. Without the mutex. */
static dis_status carry_out(job *j, dis_context *ctx, size_t run, progress_of *how)
{
    struct timespec begin;
    outcome *o;
    DIS_TRY(dis__alloc_zeroed(&o, 1, sizeof *o));
    clock_gettime(CLOCK_MONOTONIC, &begin);
    o->run = run;
    o->status = execute(j, ctx, run, &o->result);
    o->seconds = since(&begin);
    if (o->status != DIS_OK) snprintf(o->message, sizeof o->message, "%s", dis_last_error());
    pthread_mutex_lock(&j->mutex);
    const bool room = j->n_queue < j->jobs;
    if (room) {
        j->queue[j->n_queue++] = o;
        pthread_cond_broadcast(&j->changed);
    }
    pthread_mutex_unlock(&j->mutex);
    *how = AT_WORK;
    return room ? DIS_OK : keep(j, o, how);
}

/* One run, from claim to outcome; without the mutex. */
static dis_status do_run(job *j, dis_context **ctx, size_t run, int threads, progress_of *how)
{
    static const progress_of answers[] = {
        [DIS__CLAIMED] = AT_WORK, [DIS__IS_DONE] = DONE, [DIS__HAS_FAILED] = FAILED, [DIS__IS_ELSEWHERE] = ELSEWHERE};
    const dis__runner *r = j->r;
    dis__claim claim = DIS__IS_ELSEWHERE;
    DIS_TRY(share_threads(j, threads, ctx));
    dis_status status = dis__store_claim(r->store, r->plan, run, r->options.retry_failed, &claim);
    *how = answers[claim];
    if (status != DIS_OK || claim != DIS__CLAIMED) return status;
    pthread_mutex_lock(&j->mutex);
    j->counts.running++;
    pthread_mutex_unlock(&j->mutex);
    status = carry_out(j, *ctx, run, how);
    pthread_mutex_lock(&j->mutex);
    j->counts.running--;
    j->ended++;
    j->starved = 0; /* they try again, whether they have woken up yet or not */
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->mutex);
    return status;
}

/* The end of a run, for now; with the mutex held. */
static void end_run(job *j, size_t run, dis_status status, progress_of how)
{
    if (status != DIS_OK) note_broken(j, status);
    settle(j, run, status == DIS_OK ? how : WAITING);
}

static void *work(void *arg)
{
    job *j = arg;
    dis_context *ctx = NULL;
    pthread_mutex_lock(&j->mutex);
    while (!atomic_load(&j->stop) && j->left) {
        bool ask = false;
        const size_t run = take(j, &ask);
        if (run == SIZE_MAX) { /* all that is left is at work in other threads */
            pthread_cond_wait(&j->changed, &j->mutex);
            continue;
        }
        const size_t side_by_side = j->left < j->jobs ? j->left : j->jobs;
        const int threads = j->threads / (int)side_by_side;
        j->progress[run] = AT_WORK;
        j->counts.elsewhere -= ask;
        pthread_mutex_unlock(&j->mutex);
        progress_of how = WAITING;
        const dis_status status = do_run(j, &ctx, run, threads > 0 ? threads : 1, &how);
        pthread_mutex_lock(&j->mutex);
        j->counts.elsewhere += how == ELSEWHERE;
        if (status != DIS_OK || how != AT_WORK) end_run(j, run, status, how);
        if (how == ELSEWHERE && ask && !atomic_load(&j->stop)) wait_for_change(j, ASK_SECONDS);
    }
    j->workers--;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->mutex);
    dis_context_destroy(ctx);
    return NULL;
}

/* ---- the calling thread ---- */

/* Mean seconds of the runs of a cell, or of all when it has none yet, for each run that is left. */
static double estimate(const job *j)
{
    const dis__plan *plan = j->r->plan;
    double all = 0, left = 0;
    size_t n_all = 0, unknown = 0;
    for (size_t r = 0; r < plan->n_runs;) {
        const size_t cell = plan->run[r].cell;
        double sum = 0;
        size_t n = 0, missing = 0;
        for (; r < plan->n_runs && plan->run[r].cell == cell; r++) {
            if (!isnan(j->seconds[r])) sum += j->seconds[r], n++;
            missing += j->progress[r] == WAITING || j->progress[r] == ELSEWHERE;
            if (j->progress[r] == AT_WORK) missing++; /* half of it, on average; rather too long than too short */
        }
        all += sum;
        n_all += n;
        if (n)
            left += (double)missing * sum / (double)n;
        else
            unknown += missing;
    }
    if (n_all == 0) return (double)NAN;
    left += (double)unknown * all / (double)n_all;
    return left / (double)(j->left && j->left < j->jobs ? j->left : j->jobs);
}

/* With the mutex held, which is let go of meanwhile; not more often than is worth it. */
static void tell(dis_context *ctx, job *j)
{
    if (j->workers && since(&j->told) < TICK_SECONDS) return;
    clock_gettime(CLOCK_MONOTONIC, &j->told);
    j->counts.seconds = since(&j->begin);
    j->counts.seconds_left = estimate(j);
    const dis_experiment_counts counts = j->counts;
    pthread_mutex_unlock(&j->mutex);
    if (j->r->options.watch) j->r->options.watch(j->r->options.user, &counts);
    const bool stop = dis__check_stop(ctx) != DIS_OK;
    pthread_mutex_lock(&j->mutex);
    if (stop) note_broken(j, DIS_ECANCELLED);
}

/* The oldest outcome of the queue; with the mutex held, which is let go of meanwhile. */
static void keep_first(job *j)
{
    outcome *o = j->queue[0];
    const size_t run = o->run;
    memmove(j->queue, j->queue + 1, --j->n_queue * sizeof(outcome *));
    pthread_mutex_unlock(&j->mutex);
    progress_of how;
    const dis_status status = keep(j, o, &how);
    pthread_mutex_lock(&j->mutex);
    end_run(j, run, status, how);
}

static void watch_workers(dis_context *ctx, job *j)
{
    pthread_mutex_lock(&j->mutex);
    while (j->workers || j->n_queue) {
        while (j->n_queue) keep_first(j);
        tell(ctx, j);
        if (j->workers && !j->n_queue) wait_for_change(j, TICK_SECONDS);
    }
    tell(ctx, j);
    pthread_mutex_unlock(&j->mutex);
}

static dis_status start_workers(dis_context *ctx, job *j)
{
    pthread_t *thread;
    DIS_TRY(dis__alloc_array(&thread, j->jobs, sizeof *thread));
    size_t n = 0;
    j->workers = j->jobs; /* before any of them looks */
    while (n < j->jobs && pthread_create(&thread[n], NULL, work, j) == 0) n++;
    pthread_mutex_lock(&j->mutex);
    j->workers -= j->jobs - n;
    pthread_mutex_unlock(&j->mutex);
    const bool none = n == 0;
    if (!none) watch_workers(ctx, j);
    for (size_t i = 0; i < n; i++) pthread_join(thread[i], NULL);
    dis__free(thread);
    return none ? dis__fail(DIS_ELIMIT, "the system gives no thread") : DIS_OK;
}

/* What the store has of the runs that are meant. */
static dis_status look_first(job *j)
{
    const dis__runner *r = j->r;
    const size_t n = r->plan->n_runs;
    dis_run_state *state;
    DIS_TRY(dis__alloc_array(&state, n, sizeof *state));
    const dis_status status =
        dis__store_get_view(r->store, r->plan, &(dis__known){.state = state, .seconds = j->seconds});
    for (size_t i = 0; i < n && status == DIS_OK; i++) {
        const bool meant = !r->selected || r->selected[i];
        const bool failed = state[i] == DIS_RUN_FAILED && !r->options.retry_failed;
        j->counts.total += meant;
        j->progress[i] = !meant || state[i] == DIS_RUN_DONE ? DONE : failed ? FAILED : WAITING;
        j->counts.done += meant && state[i] == DIS_RUN_DONE;
        j->counts.failed += meant && failed;
        j->left += j->progress[i] == WAITING;
    }
    dis__free(state);
    return status;
}

static dis_status run_all(dis_context *ctx, job *j)
{
    const size_t n = j->r->plan->n_runs;
    DIS_TRY(dis__alloc_zeroed(&j->progress, n, sizeof *j->progress));
    DIS_TRY(dis__alloc_array(&j->seconds, n, sizeof *j->seconds));
    DIS_TRY(look_first(j));
    if (j->jobs > j->left) j->jobs = j->left;
    DIS_TRY(dis__alloc_array(&j->queue, j->jobs, sizeof *j->queue));
    if (j->left) DIS_TRY(start_workers(ctx, j));
    if (j->broken != DIS_OK) {
        dis__set_error(j->message);
        return j->broken;
    }
    if (j->failure != DIS_OK) {
        const dis__run *run = &j->r->plan->run[j->failed_run];
        return dis__fail(j->failure, "%zu of %zu runs failed, the first one %.12s (%s, fold %zu, seed %llu): %s",
                         j->counts.failed, j->counts.total, run->key, j->r->plan->cell[run->cell].name, run->fold,
                         (unsigned long long)run->seed, j->failed_message);
    }
    if (j->counts.failed)
        return dis__fail(DIS_EDATA, "%zu of %zu runs failed earlier and were not tried again", j->counts.failed,
                         j->counts.total);
    return DIS_OK;
}

dis_status dis__runner_run(dis_context *ctx, const dis__runner *runner, dis_experiment_counts *counts)
{
    const size_t asked = runner->options.jobs;
    if (asked > MAX_JOBS) return dis__fail(DIS_EUSAGE, "%zu jobs; at most %d are possible", asked, MAX_JOBS);
    job j = {.r = runner,
             .threads = dis_context_n_threads(ctx),
             .jobs = asked,
             .memory = dis__context_memory(ctx),
             .ctx = ctx};
    if (j.jobs == 0) j.jobs = dis_device_max_runs(ctx);
    if ((size_t)j.threads < j.jobs) j.threads = (int)j.jobs;
    clock_gettime(CLOCK_MONOTONIC, &j.begin);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&j.mutex, NULL);
    pthread_cond_init(&j.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    const dis_status status = run_all(ctx, &j);
    j.counts.seconds = since(&j.begin);
    *counts = j.counts;
    pthread_mutex_destroy(&j.mutex);
    pthread_cond_destroy(&j.changed);
    dis__free(j.queue);
    dis__free(j.progress);
    dis__free(j.seconds);
    return status;
}
