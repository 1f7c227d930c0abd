/* Runs of a plan as jobs of the scheduler (train/runs/job_scheduler.h), seed by seed. A run is claimed in the store,
 * executed by a worker thread, and stored by the calling thread. A run that another process has claimed is asked about
 * again: in the end it is done, has failed, or its process has died and this one takes it.
 *
 * A failure of the store ends the call. A failure of a run is noted in the store, and the other runs go on. */
#include "experiment/runner.h"
#include "core/memory/memory.h"
#include "train/runs/job_scheduler.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MESSAGE = 2048 };

/* The result of a run, until it is stored. */
typedef struct {
    dis__result result;
    double seconds;
} outcome;

typedef struct {
    const dis__runner *r;
    struct timespec begin;
    size_t *todo; /* (n_todo) runs missing from the store */
    size_t n_todo;
    outcome *outcome; /* (n_runs) each is written by one thread at a time */

    pthread_mutex_t mutex; /* of all below */
    bool *ended;           /* (n_runs) done, failed, or not selected */
    double *seconds;       /* (n_runs) that a run took, NaN: unknown */
    dis_experiment_counts counts;
    dis_status failure; /* of the first run that failed, in the order of the plan */
    size_t failed_run;
    char message[MESSAGE];
} run_set;

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

/* ---- one run ---- */

static dis_status claim(void *user, size_t run, dis__job_claim *out)
{
    static const dis__job_claim jobs[] = {[DIS__CLAIMED] = DIS__JOB_OWNED,
                                          [DIS__IS_DONE] = DIS__JOB_OVER,
                                          [DIS__HAS_FAILED] = DIS__JOB_OVER,
                                          [DIS__RUNS_REMOTELY] = DIS__JOB_BUSY};
    run_set *s = user;
    const dis__runner *r = s->r;
    dis__claim found;
    DIS_TRY(dis__store_claim(r->store, r->plan, run, r->options.retry_failed, &found));
    *out = jobs[found];
    if (*out != DIS__JOB_OVER) return DIS_OK;
    pthread_mutex_lock(&s->mutex);
    s->ended[run] = true;
    s->counts.done += found == DIS__IS_DONE;
    s->counts.failed += found == DIS__HAS_FAILED;
    pthread_mutex_unlock(&s->mutex);
    return DIS_OK;
}

static dis_status execute(dis_context *ctx, void *user, size_t run)
{
    run_set *s = user;
    outcome *o = &s->outcome[run];
    struct timespec begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const dis_status status = s->r->execute(ctx, s->r->user, run, &o->result);
    o->seconds = seconds_since(&begin);
    return status;
}

static void note_failure(run_set *s, size_t run, dis_status status)
{
    if (s->failure != DIS_OK && s->failed_run < run) return;
    s->failure = status;
    s->failed_run = run;
    snprintf(s->message, sizeof s->message, "%s", dis_last_error());
}

/* Counts a run that is in the store, with its status. */
static void note_end(run_set *s, size_t run, dis_status status)
{
    pthread_mutex_lock(&s->mutex);
    s->ended[run] = true;
    s->seconds[run] = s->outcome[run].seconds;
    s->counts.run_seconds += s->seconds[run];
    s->counts.computed += status == DIS_OK;
    s->counts.done += status == DIS_OK;
    s->counts.failed += status != DIS_OK;
    if (status != DIS_OK) note_failure(s, run, status);
    pthread_mutex_unlock(&s->mutex);
}

/* Records that a run has failed; dis_last_error() is the reason. */
static dis_status store_failure(run_set *s, size_t run, dis_status status)
{
    char message[MESSAGE];
    snprintf(message, sizeof message, "%s", dis_last_error());
    DIS_TRY(dis__store_fail(s->r->store, s->r->plan, run, message, s->outcome[run].seconds));
    dis__set_error(message);
    note_end(s, run, status);
    return DIS_OK;
}

/* DIS_EDATA: the result cannot be written, for instance an id with a line break: only this run fails. */
static dis_status store_result(run_set *s, size_t run)
{
    outcome *o = &s->outcome[run];
    const dis_status status = dis__store_put_result(s->r->store, s->r->plan, run, &o->result, o->seconds);
    dis__result_free(&o->result);
    if (status == DIS_EDATA) return store_failure(s, run, status);
    if (status == DIS_OK) note_end(s, run, DIS_OK);
    return status;
}

static dis_status finish(void *user, size_t run, dis_status status)
{
    run_set *s = user;
    if (status == DIS_ECANCELLED) return dis__store_release(s->r->store, s->r->plan, run);
    return status == DIS_OK ? store_result(s, run) : store_failure(s, run, status);
}

/* ---- progress ---- */

/* Estimated seconds for the remaining runs: the mean of the runs of the same cell, or of all runs if the cell has
 * none. */
static double estimate(const run_set *s, const dis__jobs_progress *progress)
{
    const dis__plan *plan = s->r->plan;
    double all = 0, left = 0;
    size_t n_all = 0, unknown = 0;
    for (size_t r = 0; r < plan->n_runs;) {
        const size_t cell = plan->run[r].cell;
        double sum = 0;
        size_t n = 0, missing = 0;
        for (; r < plan->n_runs && plan->run[r].cell == cell; r++) {
            if (!isnan(s->seconds[r])) sum += s->seconds[r], n++;
            missing += !s->ended[r];
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
    return left / (double)(progress->left && progress->left < progress->at_once ? progress->left : progress->at_once);
}

static void watch(void *user, const dis__jobs_progress *progress)
{
    run_set *s = user;
    const dis_experiment_run_options *o = &s->r->options;
    pthread_mutex_lock(&s->mutex);
    s->counts.running = progress->running;
    s->counts.running_remotely = progress->busy;
    s->counts.seconds = seconds_since(&s->begin);
    s->counts.seconds_left = estimate(s, progress);
    const dis_experiment_counts counts = s->counts;
    pthread_mutex_unlock(&s->mutex);
    if (o->progress) o->progress(o->user, &counts);
}

/* ---- all runs ---- */

/* Which of the selected runs the store has. */
static dis_status read_store(run_set *s)
{
    const dis__runner *r = s->r;
    const size_t n = r->plan->n_runs;
    dis_run_state *state;
    DIS_TRY(dis__alloc_array(&state, n, sizeof *state));
    const dis_status status =
        dis__store_get_view(r->store, r->plan, &(dis__known){.state = state, .seconds = s->seconds});
    for (size_t i = 0; i < n && status == DIS_OK; i++) {
        const bool selected = !r->selected || r->selected[i], done = state[i] == DIS_RUN_DONE;
        const bool failed = state[i] == DIS_RUN_FAILED && !r->options.retry_failed;
        s->ended[i] = !selected || done || failed;
        s->counts.total += selected;
        s->counts.done += selected && done;
        s->counts.failed += selected && failed;
    }
    dis__free(state);
    for (size_t i = 0; i < n && status == DIS_OK; i++)
        if (!s->ended[r->plan->order[i]]) s->todo[s->n_todo++] = r->plan->order[i];
    return status;
}

static dis_status run_all(dis_context *ctx, run_set *s)
{
    const dis__plan *plan = s->r->plan;
    DIS_TRY(dis__alloc_array(&s->todo, plan->n_runs, sizeof *s->todo));
    DIS_TRY(dis__alloc_zeroed(&s->outcome, plan->n_runs, sizeof *s->outcome));
    DIS_TRY(dis__alloc_zeroed(&s->ended, plan->n_runs, sizeof *s->ended));
    DIS_TRY(dis__alloc_array(&s->seconds, plan->n_runs, sizeof *s->seconds));
    DIS_TRY(read_store(s));
    const dis__jobs jobs = {.n = s->n_todo,
                            .job = s->todo,
                            .at_once = s->r->options.jobs,
                            .user = s,
                            .run = execute,
                            .claim = claim,
                            .finish = finish,
                            .watch = watch};
    DIS_TRY(dis__jobs_run(ctx, &jobs));
    if (s->failure != DIS_OK) {
        const dis__run *run = &plan->run[s->failed_run];
        return dis__fail(s->failure, "%zu of %zu runs failed, the first one %.12s (%s, fold %zu, seed %llu): %s",
                         s->counts.failed, s->counts.total, run->key, plan->cell[run->cell].name, run->fold,
                         (unsigned long long)run->seed, s->message);
    }
    if (s->counts.failed)
        return dis__fail(DIS_EDATA, "%zu of %zu runs failed earlier and were not tried again", s->counts.failed,
                         s->counts.total);
    return DIS_OK;
}

dis_status dis__runner_run(dis_context *ctx, const dis__runner *runner, dis_experiment_counts *counts)
{
    run_set s = {.r = runner};
    clock_gettime(CLOCK_MONOTONIC, &s.begin);
    pthread_mutex_init(&s.mutex, NULL);
    const dis_status status = run_all(ctx, &s);
    s.counts.seconds = seconds_since(&s.begin);
    *counts = s.counts;
    pthread_mutex_destroy(&s.mutex);
    dis__free(s.todo);
    dis__free(s.outcome);
    dis__free(s.ended);
    dis__free(s.seconds);
    return status;
}
