/* pool.h: the threads of a context, which run numbered jobs.
 *
 * Any thread may run any job, so the result of a job must depend on its number only. Results are then the same for any
 * number of threads. Divide work into a number of jobs that depends on the data only: dis__n_jobs().
 *
 *     static dis_status job(void *arg, size_t j, int thread) { ... }
 *     DIS_TRY(dis__run_jobs(ctx, n_jobs, job, &arg)); */
#ifndef DIS_CORE_PARALLEL_POOL_H
#define DIS_CORE_PARALLEL_POOL_H
#include "core/context_internal.h"

enum { DIS__MAX_THREADS = 1024 };

/* Runs job 0 .. n_jobs - 1, returns when all are done. `thread` is 0 .. dis_context_n_threads() - 1: for scratch memory
 * only. After a failure no new jobs start; the failure of the lowest-numbered failed job is returned, with its message
 * set in the calling thread. Polls ctx->stop between jobs. Not to be called from within a job. */
dis_status dis__run_jobs(dis_context *ctx, size_t n_jobs, dis_status (*job)(void *arg, size_t j, int thread),
                         void *arg);

/* The number of jobs for n units of work with at least `grain` units per job: 1 .. max. Depends on n only. */
size_t dis__n_jobs(size_t n, size_t grain, size_t max);
/* The first unit of job j, which has units [first(j), first(j + 1)). */
size_t dis__job_first(size_t n, size_t n_jobs, size_t j);

/* n_threads - 1 threads in addition to the caller's. DIS_ELIMIT: the system provides fewer. */
typedef struct dis__pool dis__pool;
dis_status dis__pool_create(int n_threads, dis__pool **out);
void dis__pool_destroy(dis__pool *pool);
int dis__pool_threads(const dis__pool *pool);
/* The pool of a context; NULL for NULL. */
dis__pool *dis__context_pool(dis_context *ctx);
/* Cores that this process may run on, at most DIS__MAX_THREADS. */
int dis__usable_cpus(void);

#endif
