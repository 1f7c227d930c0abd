/* Dawid-Skene: a class prior and one confusion matrix a worker, by EM (Dawid & Skene 1979; update rules as
 * crowd-kit 1.4.1).
 *
 *     E   p(t | item)  ~  prior[t] * product over votes of confusion[worker][label][t]          (in logs)
 *     M   confusion[w][l][t] = sum of p(t | item) over w's votes for l, normalised over l;  prior = mean of p
 *
 * Starts from vote shares. A class in which a worker has no mass at all gets the uniform distribution over the labels
 * that this worker used. Options turn the estimates into posterior modes: `smoothing` and `diagonal` are pseudo-counts
 * of a Dirichlet prior on each column of each matrix (every cell; the diagonal besides), `prior-count` of one on the
 * class prior. `floor` is crowd-kit's rule (1e-10 there): soft counts of used labels and the class prior are raised to
 * it; with it the likelihood may fall by tiny amounts.
 *
 * Objective: the marginal log-likelihood, plus the log-prior up to its constant.
 *
 * Defaults: no smoothing and no floor, which gives the published accuracies (RTE .9275, MRE .760, POS .779; measured in
 * tests/unit/test_em_data.c).
 *
 * Cost: one pass over the votes an iteration (labels/em.h); tables of n_workers * K * K. */
#include "labels/em.h"
#include <math.h>
#include <string.h>

typedef struct {
    int64_t iterations;
    double tolerance, smoothing, diagonal, floor, prior_count;
    int prior;
} ds_options;
enum { PRIOR_ESTIMATE, PRIOR_UNIFORM };

static const dis_option options_table[] = {
    DIS_OPTION_ITERATIONS(ds_options, "100"),
    DIS_OPTION_TOLERANCE(ds_options, "1e-7"),
    DIS_OPTION_SMOOTHING(ds_options, "0"),
    {.key = "diagonal",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ds_options, diagonal),
     .fallback = "0",
     .low = 0,
     .high = 1e9,
     .summary = "pseudo-count added on the diagonal: workers are believed to be right"},
    DIS_OPTION_FLOOR(ds_options, "0"),
    {.key = "prior",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(ds_options, prior),
     .fallback = "estimate",
     .choices = "estimate|uniform",
     .summary = "class prior"},
    {.key = "prior-count",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ds_options, prior_count),
     .fallback = "0",
     .low = 0,
     .high = 1e9,
     .summary = "pseudo-count added to every class in its estimate"},
};

typedef struct {
    const ds_options *o;
    dis__em em;
    double *confusion; /* (n_workers, K voted, K true) */
    double *prior;     /* (K) */
    bool warm;         /* the parameters stand in the two arrays above */
} ds;

/* Soft counts x (K, row) of one worker to probabilities: P(label | true). */
static void normalise(const ds *d, double *x, double *scratch)
{
    const size_t K = d->em.n_classes, row = d->em.row;
    double *total = scratch, *used = scratch + row; /* (K) each */
    size_t n_used = 0;
    memset(total, 0, row * sizeof *total);
    for (size_t l = 0; l < K; l++) {
        double *c = x + l * row, sum = 0;
        for (size_t t = 0; t < K; t++) sum += c[t];
        used[l] = sum > 0;
        n_used += sum > 0;
        if (d->o->smoothing > 0)
            for (size_t t = 0; t < K; t++) c[t] += d->o->smoothing;
        c[l] += d->o->diagonal;
        if (d->o->floor > 0 && sum > 0)
            for (size_t t = 0; t < K; t++) c[t] = c[t] > d->o->floor ? c[t] : d->o->floor;
        for (size_t t = 0; t < row; t++) total[t] += c[t];
    }
    bool empty = false;
    for (size_t t = 0; t < K; t++) empty |= !(total[t] > 0);
    for (size_t l = 0; l < K; l++)
        for (size_t t = 0; t < K; t++) x[l * row + t] /= total[t];
    for (size_t t = 0; empty && t < K; t++)
        for (size_t l = 0; !(total[t] > 0) && l < K; l++)
            x[l * row + t] = n_used ? used[l] / (double)n_used : 1 / (double)K;
}

static double update_worker(void *arg, size_t w, double *x, double *scratch, bool keep)
{
    ds *d = arg;
    const size_t K = d->em.n_classes, row = d->em.row;
    double *confusion = d->confusion + w * K * K;
    if (d->warm)
        for (size_t l = 0; l < K; l++) memcpy(x + l * row, confusion + l * K, K * sizeof *x);
    else
        normalise(d, x, scratch);
    if (keep)
        for (size_t l = 0; l < K; l++) memcpy(confusion + l * K, x + l * row, K * sizeof *x);
    dis__em_log(&d->em, x, K * row);
    double penalty = 0;
    if (d->o->smoothing > 0 || d->o->diagonal > 0)
        for (size_t l = 0; l < K; l++) {
            if (d->o->smoothing > 0)
                for (size_t t = 0; t < K; t++) penalty += d->o->smoothing * x[l * row + t];
            penalty += d->o->diagonal * x[l * row + l];
        }
    return penalty;
}

static double update_classes(void *arg, const double *sum, size_t n_items, double *log_prior, bool keep)
{
    ds *d = arg;
    const size_t K = d->em.n_classes;
    double penalty = 0;
    for (size_t k = 0; k < K; k++) {
        double prior = 1 / (double)K;
        if (d->warm)
            prior = d->prior[k];
        else if (d->o->prior == PRIOR_ESTIMATE && n_items)
            prior = (sum[k] + d->o->prior_count) / ((double)n_items + (double)K * d->o->prior_count);
        if (keep) d->prior[k] = prior;
        if (prior < d->o->floor) prior = d->o->floor;
        log_prior[k] = prior > 0 ? log(prior) : DIS_EM_NEVER;
        if (d->o->prior_count > 0 && d->o->prior == PRIOR_ESTIMATE) penalty += d->o->prior_count * log_prior[k];
    }
    return penalty;
}

static dis_status run(dis_fit *fit, ds *d)
{
    const dis__em_rules rules = {
        .name = "dawid-skene", .worker = update_worker, .classes = update_classes, .update_last = true, .arg = d};
    DIS_TRY(dis__em_start(&d->em, &rules, d->o->iterations == 0));
    if (d->o->iterations == 0) return DIS_OK;
    int64_t passes;
    DIS_TRY(dis__em_loop(&d->em, &rules, d->o->iterations, d->o->tolerance, &passes));
    fit->iterations = (int)passes;
    return DIS_OK;
}

static dis_status fit_dawid_skene(const dis__fit_args *args, dis_fit *fit)
{
    ds d = {.o = args->options};
    DIS_TRY(dis__fit_parameter(fit, "confusion", "wvt", &d.confusion));
    DIS_TRY(dis__fit_parameter(fit, "prior", "t", &d.prior));
    DIS_TRY(dis__em_create(args, fit, DIS_EM_ROWS, &d.em));
    const dis_status status = run(fit, &d);
    dis__em_destroy(&d.em);
    return status;
}

static size_t memory(const dis_votes_view *votes, const void *options)
{
    (void)options;
    return dis__size(votes->n_workers, dis__size(votes->n_classes, votes->n_classes * sizeof(double), 0),
                     dis__em_memory(votes, DIS_EM_ROWS));
}

const dis__method dis__method_dawid_skene = {
    .info = {.name = "dawid-skene",
             .summary = "EM with one confusion matrix a worker",
             .source = "Dawid & Skene 1979",
             .objective = "marginal likelihood, plus prior where there are pseudo-counts",
             .needs_workers = true,
             .options = options_table,
             .n_options = sizeof options_table / sizeof *options_table},
    .options_size = sizeof(ds_options),
    .memory = memory,
    .fit = fit_dawid_skene,
};
