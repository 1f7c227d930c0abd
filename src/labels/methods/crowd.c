/* The crowd model as a label method: confusion matrices shrunk towards that of the crowd if a worker has few votes, and
 * three levels of difficulty (crowd_model.h has the model, docs/evidence/review.md the measurements behind its
 * constants).
 *
 * Starts from vote shares. The number of rounds is part of the model: the shrinkage is a rule, not a prior of an
 * optimised posterior, and further rounds make labels overconfident. So 5 rounds are a complete fit, and only with
 * tolerance above 0 can the method stop earlier or report that it has not converged.
 *
 * No objective: rounds nearly always increase the marginal likelihood of the votes, but not necessarily.
 *
 * Cost: a round passes over the votes twice, item by item; one K x K matrix for each worker. */
#include "labels/crowd/crowd_model.h"
#include "labels/method.h"
#include <math.h>
#include <string.h>

typedef struct {
    int64_t iterations;
    double tolerance;
} crowd_options;

static const dis_option options_table[] = {
    DIS_OPTION_ITERATIONS(crowd_options, "5"),
    {.key = "tolerance",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(crowd_options, tolerance),
     .default_value = "0",
     .low = 0,
     .high = 1,
     .summary = "stop when the relative change of the likelihood is smaller; 0: never"},
};

static dis_status shares_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__crowd_model *m = arg;
    const size_t K = m->n_classes, n = m->votes.n_items, n_jobs = dis__n_jobs(n, 4096, 64);
    for (size_t i = dis__job_first(n, n_jobs, j); i < dis__job_first(n, n_jobs, j + 1); i++) {
        double *p = m->p + i * K, total = 0;
        dis__item_count_votes(&m->votes, i, p);
        for (size_t t = 0; t < K; t++) total += p[t];
        for (size_t t = 0; t < K; t++) p[t] = total > 0 ? p[t] / total : 1 / (double)K;
        if (m->gold && m->gold[i] >= 0)
            for (size_t t = 0; t < K; t++) p[t] = (int32_t)t == m->gold[i];
    }
    return DIS_OK;
}

static dis_status start(const dis__fit_args *args, dis__crowd_model *m, double *confusion, double *prior)
{
    const size_t K = m->n_classes;
    bool found = false, has_prior;
    if (args->start) {
        for (size_t x = 0; x < m->n_workers * K * K; x++)
            confusion[x] = x / K % K == x % K ? (K > 1 ? .7 : 1) : .3 / (double)(K - 1);
        for (size_t t = 0; t < K; t++) prior[t] = 1 / (double)K;
        DIS_TRY(dis__state_get(args->start, "crowd", "confusion", "wvt", &args->votes, confusion, &found));
        DIS_TRY(dis__state_get(args->start, "crowd", "prior", "t", &args->votes, prior, &has_prior));
    }
    if (found) return dis__crowd_model_set_parameters(m, confusion, prior);
    DIS_TRY(dis__run_jobs(args->ctx, dis__n_jobs(args->votes.n_items, 4096, 64), shares_job, m));
    return dis__crowd_model_init_priors(m);
}

static dis_status rounds(const dis__fit_args *args, dis__crowd_model *m, dis_fit *fit)
{
    const crowd_options *o = args->options;
    double before = -INFINITY;
    fit->converged = o->tolerance == 0;
    for (int64_t n = 1; n <= o->iterations; n++) {
        DIS_TRY(dis__check_stop(args->ctx));
        DIS_TRY(dis__crowd_model_update_matrices(m));
        DIS_TRY(dis__crowd_model_update_posteriors(m));
        fit->iterations = (int)n;
        dis__progress(args->ctx, "crowd", (double)n / (double)o->iterations);
        if (o->tolerance > 0 && fabs(m->log_likelihood - before) <= o->tolerance * fabs(before)) {
            fit->converged = true;
            break;
        }
        before = m->log_likelihood;
    }
    return o->iterations == 0 ? dis__crowd_model_update_matrices(m) : DIS_OK;
}

static dis_status fit_crowd(const dis__fit_args *args, dis_fit *fit)
{
    dis__crowd_model m;
    double *confusion, *prior;
    DIS_TRY(dis__fit_add_parameter(fit, "confusion", "wvt", &confusion));
    DIS_TRY(dis__fit_add_parameter(fit, "prior", "t", &prior));
    double *p = fit->p;
    fit->p = NULL; /* the model's while it runs */
    DIS_TRY(dis__crowd_model_create(args->ctx, &args->votes, &args->part, args->gold, p, &m));
    dis_status status = start(args, &m, confusion, prior);
    if (status == DIS_OK) status = rounds(args, &m, fit);
    const size_t K = m.n_classes, n = m.n_workers * K * K;
    if (status == DIS_OK) {
        memcpy(confusion, m.log_confusion, n * sizeof *confusion);
        memcpy(prior, m.log_prior, K * sizeof *prior);
        m.special.exp(confusion, n);
        m.special.exp(prior, K);
        fit->p = m.p;
        m.p = NULL;
    }
    dis__crowd_model_destroy(&m);
    return status;
}

static size_t memory(const dis_votes_view *votes, const void *options)
{
    (void)options;
    return dis__saturating_size(dis__saturating_size(votes->n_workers, votes->n_classes, 0),
                                votes->n_classes * sizeof(double), dis__crowd_model_memory(votes));
}

const dis__method dis__method_crowd = {
    .info = {.name = "crowd",
             .summary = "model of dissent review: shrunken confusion matrices and item difficulty",
             .source = "dissent: Dawid & Skene 1979 with partial pooling, levels after Whitehill et al. 2009",
             .objective = "none",
             .needs_workers = true,
             .options = options_table,
             .n_options = sizeof options_table / sizeof *options_table},
    .options_size = sizeof(crowd_options),
    .memory = memory,
    .fit = fit_crowd,
    .starts = true,
    .ranks = true,
};
