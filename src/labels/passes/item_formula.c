/* The loop that majority, standard, softmax and smoothed share: counts of an item in, soft label out, gold pinned.
 *
 * Cost: one pass over the votes; items are cut into jobs by their number alone. */
#include "labels/passes/item_formula.h"

typedef struct {
    const dis__fit_args *args;
    dis_fit *fit;
    const dis__item_formula *rule;
    size_t n_jobs;
} item_work;

static dis_status item_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const item_work *w = arg;
    const size_t n_classes = w->fit->n_classes, last = dis__job_first(w->fit->n_items, w->n_jobs, j + 1);
    for (size_t i = dis__job_first(w->fit->n_items, w->n_jobs, j); i < last; i++) {
        double *p = w->fit->p + i * n_classes, max = 0;
        const int32_t gold = dis__item_gold(w->args, i);
        if (gold >= 0) {
            for (size_t k = 0; k < n_classes; k++) p[k] = (int32_t)k == gold;
            continue;
        }
        dis__item_count_votes(&w->args->votes, i, p);
        for (size_t k = 0; k < n_classes; k++) max = p[k] > max ? p[k] : max;
        if (max > 0)
            w->rule->item(w->args, w->rule->arg, i, p);
        else
            for (size_t k = 0; k < n_classes; k++)
                p[k] = w->rule->unvoted ? w->rule->unvoted[k] : 1 / (double)n_classes;
    }
    return DIS_OK;
}

dis_status dis__item_formula_fit(const dis__fit_args *args, dis_fit *fit, const dis__item_formula *rule)
{
    item_work w = {.args = args, .fit = fit, .rule = rule, .n_jobs = dis__n_jobs(fit->n_items, 4096, 256)};
    return dis__run_jobs(args->ctx, w.n_jobs, item_job, &w);
}
