/* pool.h: the inside of a context: threads that share out numbered jobs.
 *
 * Which thread takes which job is open; what a job does must depend on its number alone. Results are then the same for
 * any number of threads. Cut work into a number of jobs that depends on the data only: dis__n_jobs().
 *
 *     static dis_status job(void *arg, size_t j, int thread) { ... }
 *     DIS_TRY(dis__run_jobs(ctx, n_jobs, job, &arg)); */
#ifndef DIS_CORE_POOL_H
#define DIS_CORE_POOL_H
#include "dissent/context.h"
#include "core/error.h"

/* Runs job 0 .. n_jobs - 1, returns when all are done. `thread` is 0 .. dis_context_threads() - 1: for scratch memory
 * only. After a failure no new jobs start; the failure of the lowest-numbered failed job is the result, its message
 * this thread's. Polls ctx->stop between jobs. Not to be called from within a job. */
dis_status dis__run_jobs(dis_context *ctx, size_t n_jobs, dis_status (*job)(void *arg, size_t j, int thread),
                         void *arg);

/* How many jobs n pieces of work are cut into when a job should have at least `grain` of them: 1 .. most. Depends on n
 * alone. */
size_t dis__n_jobs(size_t n, size_t grain, size_t max);
/* The first piece of job j; job j has pieces [first(j), first(j + 1)). */
size_t dis__job_first(size_t n, size_t n_jobs, size_t j);

/* The bytes that a call with this context may need, as its maker said; 0: what the machine has. */
uint64_t dis__context_memory(const dis_context *ctx);

/* How nets multiply; as the device does best for NULL. */
dis_precision dis__context_precision(const dis_context *ctx);
/* Where nets run, in the caller's words; "": nobody said. */
const char *dis__context_device(const dis_context *ctx);

/* Tells the watcher, if any. */
void dis__progress(dis_context *ctx, const char *what, double done);
/* DIS_ECANCELLED when the caller wants to stop. */
dis_status dis__check_stop(dis_context *ctx);
/* While held, nothing is cancelled: for work that is short and must not be left half done. */
void dis__hold_stop(dis_context *ctx, bool held);
/* DIS_ELIMIT with both figures when `bytes` (SIZE_MAX: overflow) is more than the context allows or the machine has.
 * `what` reads like "dawid-skene with 5000 classes and 80000 workers". */
dis_status dis__check_resident(const dis_context *ctx, size_t bytes, const char *what);
/* The same for arrays that may lie in temporary files: fine within a scope (spill.h). */
dis_status dis__check_memory(const dis_context *ctx, size_t bytes, const char *what);

#endif
