/* Vote shares: p = c / sum c (SOFT-LOSS eq. 3, MULTI-VIEW eq. 9). An item that nobody voted on gets the uniform
 * distribution.
 *
 * Cost: one pass over the votes. */
#include "labels/method.h"

typedef struct {
    char none;
} standard_options;

static dis_status job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__fit_args *a = ((void **)arg)[0];
    dis_fit *fit = ((void **)arg)[1];
    const size_t n_jobs = *(size_t *)((void **)arg)[2], n_classes = fit->n_classes;
    const size_t last = dis__job_first(fit->n_items, n_jobs, j + 1);
    for (size_t i = dis__job_first(fit->n_items, n_jobs, j); i < last; i++) {
        double *p = fit->p + i * n_classes, sum = 0;
        dis__item_counts(&a->votes, i, p);
        for (size_t k = 0; k < n_classes; k++) sum += p[k];
        for (size_t k = 0; k < n_classes; k++) p[k] = sum > 0 ? p[k] / sum : 1 / (double)n_classes;
        const int32_t gold = dis__gold(a, i);
        if (gold >= 0)
            for (size_t k = 0; k < n_classes; k++) p[k] = (int32_t)k == gold;
    }
    return DIS_OK;
}

static dis_status fit_standard(const dis__fit_args *args, dis_fit *fit)
{
    size_t n_jobs = dis__n_jobs(fit->n_items, 4096, 256);
    void *work[] = {(void *)(uintptr_t)args, fit, &n_jobs};
    return dis__run_jobs(args->ctx, n_jobs, job, work);
}

const dis__method dis__method_standard = {
    .info = {.name = "standard",
             .summary = "vote shares",
             .source = "SOFT-LOSS eq. 3, MULTI-VIEW eq. 9",
             .objective = "none"},
    .options_size = sizeof(standard_options),
    .fit = fit_standard,
};
