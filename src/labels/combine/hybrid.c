/* Temperature scaling of the views, then their Jensen-Shannon centroid (Wright & Augenstein 2022 eq. 8).
 *
 * Tempered views are computed for a block of items at a time and passed to the centroid, so no second copy of the views
 * is stored.
 *
 * Cost: that of temperature_search.c and of centroid.c. */
#include "labels/combine/centroid.h"
#include "labels/combine/tempering.h"
#include <math.h>
#include <string.h>

typedef struct {
    dis_reals weights;
    dis__temperature_search_options temper;
    double tolerance;
    int64_t steps;
} hybrid_options;

static const dis_option options[] = {
    DIS_OPTION_WEIGHTS,
    DIS_OPTIONS_TEMPERATURE_SEARCH(hybrid_options),
    DIS_OPTION_CENTROID_TOLERANCE(hybrid_options),
    DIS_OPTION_CENTROID_STEPS(hybrid_options),
};

enum { BLOCK = 64 }; /* items per block of tempered views */

typedef struct {
    const dis__combine_args *args;
    const hybrid_options *options;
    size_t n_jobs, n_scratch, n_block;
    double *scratch; /* (threads, n_scratch + (n_views + 1) n_block): scratch, tempered views, centroids */
    int *n_steps;    /* (n_jobs) */
} hybrid_work;

static dis_status hybrid_job(void *arg, size_t j, int thread)
{
    const hybrid_work *w = arg;
    const dis__combine_args *a = w->args;
    double *scratch = w->scratch + (size_t)thread * (w->n_scratch + (a->n_views + 1) * w->n_block);
    double *q = scratch + w->n_scratch + a->n_views * w->n_block;
    const double *views[DIS_MAX_VIEWS];
    for (size_t m = 0; m < a->n_views; m++) views[m] = scratch + w->n_scratch + m * w->n_block;
    const dis__centroid_problem problem = dis__centroid_problem_init(views, a->weight, a->n_views, a->n_classes,
                                                                     w->options->tolerance, w->options->steps);
    const size_t last = dis__job_first(a->n_items, w->n_jobs, j + 1);
    for (size_t i = dis__job_first(a->n_items, w->n_jobs, j); i < last; i += BLOCK) {
        const size_t many = last - i < BLOCK ? last - i : BLOCK;
        for (size_t m = 0; m < a->n_views; m++) DIS_KERNEL_SELECT(dis__tempered_rows_compute)
        (a->p[m] + i * a->n_classes, &a->temperature[m], 0, DIS_LOG_FLOOR, a->n_classes, many, scratch,
         scratch + w->n_scratch + m * w->n_block);
        const int n_done = DIS_KERNEL_SELECT(dis__centroid_compute)(&problem, 0, many, scratch, q);
        w->n_steps[j] = n_done > w->n_steps[j] ? n_done : w->n_steps[j];
        memcpy(a->out + i * a->n_classes, q, many * a->n_classes * sizeof *q);
    }
    return DIS_OK;
}

static dis_status run_hybrid(const dis__combine_args *args)
{
    const hybrid_options *o = args->options;
    DIS_TRY(dis__temperature_search_run(args, &o->temper));
    const size_t temper = dis__tempering_scratch(1, args->n_classes),
                 centroid = dis__centroid_scratch(args->n_views, args->n_classes);
    hybrid_work w = {.args = args,
                     .options = o,
                     .n_jobs = dis__n_jobs(args->n_items, 2048, 256),
                     .n_scratch = temper > centroid ? temper : centroid,
                     .n_block = dis__saturating_size(args->n_classes, BLOCK, 0)};
    const size_t each =
        dis__saturating_size(dis__saturating_size(args->n_views + 1, w.n_block, w.n_scratch), sizeof(double), 0);
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&w.scratch, (size_t)dis_context_n_threads(args->ctx), each), end);
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&w.n_steps, w.n_jobs, sizeof *w.n_steps), end);
    DIS_TRY_GOTO(status, dis__run_jobs(args->ctx, w.n_jobs, hybrid_job, &w), end);
    dis__combine_max_steps(args, w.n_steps, w.n_jobs);
end:
    dis__free(w.scratch);
    dis__free(w.n_steps);
    return status;
}

const dis__combiner dis__combiner_hybrid = {
    .info = {.name = "hybrid",
             .summary = "Jensen-Shannon centroid after temperature scaling that makes the label sets agree",
             .source = "Wright & Augenstein 2022 eq. 8",
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(hybrid_options),
    .run = run_hybrid,
};
