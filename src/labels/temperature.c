/* Temperature scaling of the views, then their weighted mean (Wright & Augenstein 2022 eq. 5-7): views that are surer
 * than the others agree with are flattened before they are averaged. temper.c says how the temperatures are chosen;
 * `fixed=1.5` is where the released code stops.
 *
 * Cost: that of temper.c and one more pass. */
#include "labels/temper.h"
#include <string.h>

typedef struct {
    dis_reals weights;
    dis__temper_options temper;
} temperature_options;

static const dis_option options[] = {
    DIS_OPTION_WEIGHTS,
    DIS_OPTIONS_TEMPER(temperature_options),
};

enum { BLOCK = 64 }; /* items whose tempered views are held at a time */

typedef struct {
    const dis__combine_args *args;
    size_t n_jobs, n_scratch, n_block;
    double *scratch; /* (threads, n_scratch + 2 n_block): scratch, one tempered view, the mean */
} mean_work;

static dis_status mean_job(void *arg, size_t j, int thread)
{
    const mean_work *w = arg;
    const dis__combine_args *a = w->args;
    double *scratch = w->scratch + (size_t)thread * (w->n_scratch + 2 * w->n_block), *view = scratch + w->n_scratch,
           *mean = view + w->n_block;
    const size_t last = dis__job_first(a->n_items, w->n_jobs, j + 1);
    for (size_t i = dis__job_first(a->n_items, w->n_jobs, j); i < last; i += BLOCK) {
        const size_t many = last - i < BLOCK ? last - i : BLOCK, n = many * a->n_classes;
        memset(mean, 0, n * sizeof *mean);
        for (size_t m = 0; m < a->n_views; m++) {
            DIS_KERNEL_PICK(dis__temper_rows)
            (a->p[m] + i * a->n_classes, a->temperature[m], a->n_classes, many, scratch, view);
            for (size_t k = 0; k < n; k++) mean[k] += a->weight[m] * view[k];
        }
        memcpy(a->out + i * a->n_classes, mean, n * sizeof *mean);
    }
    return DIS_OK;
}

static dis_status run_temperature(const dis__combine_args *args)
{
    const temperature_options *o = args->options;
    DIS_TRY(dis__temper_choose(args, &o->temper));
    mean_work w = {.args = args,
                   .n_jobs = dis__n_jobs(args->n_items, 2048, 256),
                   .n_scratch = dis__temper_scratch(1, args->n_classes),
                   .n_block = dis__size(args->n_classes, BLOCK, 0)};
    const size_t each = dis__size(dis__size(2, w.n_block, w.n_scratch), sizeof(double), 0);
    DIS_TRY(dis__alloc_array(&w.scratch, (size_t)dis_context_threads(args->ctx), each));
    const dis_status status = dis__run_jobs(args->ctx, w.n_jobs, mean_job, &w);
    dis__free(w.scratch);
    return status;
}

const dis__combiner dis__combiner_temperature = {
    .info = {.name = "temperature",
             .summary = "views scaled by a temperature each so that they agree, then averaged",
             .source = "Wright & Augenstein 2022 eq. 5-7 and its released code",
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(temperature_options),
    .run = run_temperature,
};
