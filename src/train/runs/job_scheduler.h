/* job_scheduler.h: runs numbered jobs, several at once: the trainings of `--runs` and `--folds`, the runs of an
 * experiment. All questions of scheduling are answered here and nowhere else.
 *
 *     static dis_status train_one(dis_context *ctx, void *user, size_t job) { ... }
 *     const dis__jobs jobs = {.n = 10, .what = "models", .run = train_one, .user = &arg};
 *     DIS_TRY(dis__jobs_run(ctx, &jobs));
 *
 * Order      Jobs start in the order of `job`. A job's result must depend on its number alone.
 * How many   `at_once` jobs run at the same time. 0 (automatic): one per thread, on a GPU at most 12.
 * Threads    A job gets an equal share of the context's threads; the last jobs get more.
 * Memory     A job gets an equal share of the context's memory limit, if there is one. If `at_once` is automatic and a
 *            job fails with DIS_ELIMIT while others run, it is put back to the front of the queue, and fewer jobs run
 *            at once from then on. The number grows again by one after that many jobs have succeeded. A job that fails
 *            with DIS_ELIMIT although it ran alone with all memory has failed. So the call always ends.
 * Failure    After a failure no new job starts; those that run finish. The failure of the first job, in the order of
 *            `job`, is returned with its message. A `finish` that returns DIS_OK for a failed job lets the others run.
 * Stopping   The context's stop callback is polled in the calling thread; the jobs' contexts then stop too.
 * Progress   The share of jobs that have ended, as progress `what` of the context, from the calling thread.
 * Context    One job at a time without `watch` and `claim` runs in the calling thread, with the caller's context. Else
 *            each worker thread creates a context with the caller's device and precision, which has no MPI ranks. */
#ifndef DIS_TRAIN_RUNS_JOB_SCHEDULER_H
#define DIS_TRAIN_RUNS_JOB_SCHEDULER_H
#include "core/context_internal.h"

/* What `claim` found. */
typedef enum {
    DIS__JOB_OWNED, /* this process runs it */
    DIS__JOB_OVER,  /* there is nothing left to do */
    DIS__JOB_BUSY   /* another process runs it: `claim` is called again later */
} dis__job_claim;

typedef struct {
    size_t running, busy; /* jobs in this process and in others */
    size_t left;          /* jobs that have not ended */
    size_t at_once;       /* the largest number of jobs that run at the same time */
} dis__jobs_progress;

/* The functions are called by several threads at once, `watch` by the calling thread alone. */
typedef struct {
    size_t n;
    const size_t *job; /* (n) the numbers of the jobs; NULL: 0 .. n - 1 */
    size_t at_once;    /* 0: automatic */
    const char *what;  /* name of the progress */
    void *user;
    dis_status (*run)(dis_context *ctx, void *user, size_t job);
    /* NULL: all jobs are owned. A failure ends the call as that of a job does. */
    dis_status (*claim)(void *user, size_t job, dis__job_claim *out);
    /* After each run, with its status and, as dis_last_error(), its message. DIS_ECANCELLED: the job was given up; it
     * may be claimed and run again. The calling thread does it when it can, so that workers do not wait for files.
     * A failure ends the call. NULL: returns `status`. */
    dis_status (*finish)(void *user, size_t job, dis_status status);
    /* About ten times per second, and at the end. NULL: progress goes to the context. */
    void (*watch)(void *user, const dis__jobs_progress *progress);
} dis__jobs;

/* DIS_EUSAGE: more than 1,024 jobs at once. DIS_ECANCELLED: stopped. Else the failure of a job, of `claim` or `finish`,
 * or of creating a context or threads. */
dis_status dis__jobs_run(dis_context *ctx, const dis__jobs *jobs);

#endif
