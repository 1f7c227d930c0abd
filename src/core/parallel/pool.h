/* pool.h: the threads of a context, which run numbered jobs.
 *
 * Any thread may take any job, so what a job does must depend on its number alone. Results are then the same for any
 * number of threads. Cut work into a number of jobs that depends on the data only: dis__n_jobs().
 *
 *     static dis_status job(void *arg, size_t j, int thread) { ... }
 *     DIS_TRY(dis__run_jobs(ctx, n_jobs, job, &arg)); */
#ifndef DIS_CORE_PARALLEL_POOL_H
#define DIS_CORE_PARALLEL_POOL_H
#include "core/context_internal.h"

enum { DIS__MAX_THREADS = 1024 };

/* Runs job 0 .. n_jobs - 1, returns when all are done. `thread` is 0 .. dis_context_n_threads() - 1: for scratch memory
 * only. After a failure no new jobs start; the failure of the lowest-numbered failed job is the result, its message
 * this thread's. Polls ctx->stop between jobs. Not to be called from within a job. */
dis_status dis__run_jobs(dis_context *ctx, size_t n_jobs, dis_status (*job)(void *arg, size_t j, int thread),
                         void *arg);

/* The number of jobs for n pieces of work when a job should have at least `grain` of them: 1 .. max. Depends on n
 * alone. */
size_t dis__n_jobs(size_t n, size_t grain, size_t max);
/* The first piece of job j; job j has pieces [first(j), first(j + 1)). */
size_t dis__job_first(size_t n, size_t n_jobs, size_t j);

/* n_threads - 1 threads beside the caller's. DIS_ELIMIT: the system gives fewer. */
typedef struct dis__pool dis__pool;
dis_status dis__pool_create(int n_threads, dis__pool **out);
void dis__pool_destroy(dis__pool *pool);
int dis__pool_threads(const dis__pool *pool);
/* The pool of a context; NULL for NULL. */
dis__pool *dis__context_pool(dis_context *ctx);
/* Cores that this process may run on, at most DIS__MAX_THREADS. */
int dis__usable_cpus(void);

#endif
