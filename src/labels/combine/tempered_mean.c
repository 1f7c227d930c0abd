/* The weighted mean of tempered views, shared by temperature (one temperature per view) and calibrated (one per item).
 *
 * Cost: one pass; a logarithm and an exponential per value. */
#include "labels/combine/tempering.h"
#include <string.h>

enum { BLOCK = 64 }; /* items per block of tempered views */

typedef struct {
    const dis__combine_args *args;
    const dis__temperatures *temperatures;
    size_t n_jobs, n_scratch, n_block;
    double *scratch; /* (threads, n_scratch + 2 n_block): scratch, one tempered view, the mean */
} mean_work;

static dis_status mean_job(void *arg, size_t j, int thread)
{
    const mean_work *w = arg;
    const dis__combine_args *a = w->args;
    const dis__temperatures *t = w->temperatures;
    double *scratch = w->scratch + (size_t)thread * (w->n_scratch + 2 * w->n_block), *view = scratch + w->n_scratch,
           *mean = view + w->n_block;
    const size_t last = dis__job_first(a->n_items, w->n_jobs, j + 1);
    for (size_t i = dis__job_first(a->n_items, w->n_jobs, j); i < last; i += BLOCK) {
        const size_t many = last - i < BLOCK ? last - i : BLOCK, n = many * a->n_classes;
        memset(mean, 0, n * sizeof *mean);
        for (size_t m = 0; m < a->n_views; m++) {
            DIS_KERNEL_SELECT(dis__tempered_rows_compute)
            (a->p[m] + i * a->n_classes, t->value + m * t->by_view + i * t->by_item, t->by_item, t->floor, a->n_classes,
             many, scratch, view);
            for (size_t k = 0; k < n; k++) mean[k] += a->weight[m] * view[k];
        }
        memcpy(a->out + i * a->n_classes, mean, n * sizeof *mean);
    }
    return DIS_OK;
}

dis_status dis__tempered_mean_compute(const dis__combine_args *args, const dis__temperatures *temperatures)
{
    mean_work w = {.args = args,
                   .temperatures = temperatures,
                   .n_jobs = dis__n_jobs(args->n_items, 2048, 256),
                   .n_scratch = dis__tempering_scratch(1, args->n_classes),
                   .n_block = dis__saturating_size(args->n_classes, BLOCK, 0)};
    const size_t each = dis__saturating_size(dis__saturating_size(2, w.n_block, w.n_scratch), sizeof(double), 0);
    DIS_TRY(dis__alloc_array(&w.scratch, (size_t)dis_context_n_threads(args->ctx), each));
    const dis_status status = dis__run_jobs(args->ctx, w.n_jobs, mean_job, &w);
    dis__free(w.scratch);
    return status;
}
