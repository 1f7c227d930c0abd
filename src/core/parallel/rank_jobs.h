/* rank_jobs.h: jobs shared by ranks that all hold the same data: each runs its part of them, and all receive the rows
 * that the jobs of all ranks have computed. Results equal those of one process.
 *
 *     const dis__rank_rows rows = {.table = values, .row_size = sizeof *values, .n = 1000, .per_job = 16};
 *     DIS_TRY(dis__run_rank_jobs(ctx, 63, job, &arg, &rows, 1)); */
#ifndef DIS_CORE_PARALLEL_RANK_JOBS_H
#define DIS_CORE_PARALLEL_RANK_JOBS_H
#include "core/parallel/pool.h"

/* The output of jobs: job j fills rows [j per_job, (j + 1) per_job), the last one up to n; per_job 0: the rows of
 * dis__job_first(). */
typedef struct {
    void *table;
    size_t row_size, n, per_job;
} dis__rank_rows;

/* As dis__run_jobs(). Collective: all ranks call it. */
dis_status dis__run_rank_jobs(dis_context *ctx, size_t n_jobs, dis_status (*job)(void *arg, size_t j, int thread),
                              void *arg, const dis__rank_rows *tables, size_t n_tables);
/* Only the exchange of rows that jobs have already computed. */
dis_status dis__gather_rank_rows(dis_context *ctx, size_t n_jobs, const dis__rank_rows *rows);

#endif
