/* The weighted mean of the views, q = sum_m w_m p_m (Wright & Augenstein 2022 eq. 1).
 *
 * Cost: one pass over the views, at memory speed. */
#include "labels/combiner.h"
#include <string.h>

typedef struct {
    dis_reals weights;
} average_options;

static const dis_option options[] = {DIS_OPTION_WEIGHTS};

enum { BLOCK = 512 }; /* values that stay in the L1 cache while all views are added */

typedef struct {
    const dis__combine_args *args;
    size_t n_jobs;
} average_work;

static dis_status average_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const average_work *w = arg;
    const dis__combine_args *a = w->args;
    const size_t n = a->n_items * a->n_classes, last = dis__job_first(n, w->n_jobs, j + 1);
    double sum[BLOCK];
    for (size_t at = dis__job_first(n, w->n_jobs, j); at < last; at += BLOCK) {
        const size_t many = last - at < BLOCK ? last - at : BLOCK;
        dis__views_compute_mean_row(a->p, a->weight, a->n_views, many, at, sum);
        memcpy(a->out + at, sum, many * sizeof *sum); /* after all inputs are read: `out` may be a view */
    }
    return DIS_OK;
}

static dis_status run_average(const dis__combine_args *args)
{
    average_work w = {.args = args, .n_jobs = dis__n_jobs(args->n_items * args->n_classes, 1 << 15, 256)};
    return dis__run_jobs(args->ctx, w.n_jobs, average_job, &w);
}

const dis__combiner dis__combiner_average = {
    .info = {.name = "average",
             .summary = "weighted mean of the label sets",
             .source = "Wright & Augenstein 2022 eq. 1",
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(average_options),
    .run = run_average,
};
