/* Independent Bayesian classifier combination: dawid-skene with Dirichlet priors, by variational Bayes (Kim &
 * Ghahramani 2012; update rules as the iBCC of Li, Rubinstein & Cohn 2019).
 *
 *     q(pi[w][., t]) = Dirichlet(nu[., t]),  nu[l, t] = prior[l, t] + sum of p(t | item) over w's votes for l
 *     q(t | item)   ~  exp( E log kappa[t] + sum over votes of E log pi[w][l, t] ),  E log pi[l, t] = psi(nu[l, t]) -
 * psi(sum_l nu)
 *
 * and the same for the class proportions kappa. Priors: `diagonal` where label = true, `off-diagonal` elsewhere,
 * `class-prior`. Starts from vote shares. The parameters returned are posterior means.
 *
 * Objective: the evidence lower bound. With q(t) optimal for the given q(pi), q(kappa) it is the sum over items of the
 * log normaliser minus KL(q || prior) of every Dirichlet; both halves of an iteration increase it.
 *
 * Cost: one pass over the votes per iteration, 2 special functions for each of n_workers * K * K values. */
#include "labels/em/confusion.h"
#include <math.h>
#include <string.h>

typedef struct {
    int64_t iterations;
    double tolerance, diagonal, off_diagonal, class_prior;
} ibcc_options;

static const dis_option options_table[] = {
    DIS_OPTION_ITERATIONS(ibcc_options, "500"),
    DIS_OPTION_TOLERANCE(ibcc_options, "1e-8"),
    {.key = "diagonal",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ibcc_options, diagonal),
     .default_value = "4",
     .low = 1e-6,
     .high = 1e9,
     .summary = "prior count of correct votes"},
    {.key = "off-diagonal",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ibcc_options, off_diagonal),
     .default_value = "1",
     .low = 1e-6,
     .high = 1e9,
     .summary = "prior count of each wrong class"},
    {.key = "class-prior",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ibcc_options, class_prior),
     .default_value = "1",
     .low = 1e-6,
     .high = 1e9,
     .summary = "prior count of each class"},
};

typedef struct {
    dis__confusion c; /* for its tables and its warm start */
    const ibcc_options *o;
    double prior_constant; /* log normaliser of one column's prior */
    double *scratch;       /* (2 K) for the classes */
} ibcc;

/* KL of one column: lgamma(total) - sum lgamma(nu) + sum (nu - prior) E log pi + the constant of the prior. */
static double update_worker(void *arg, size_t w, double *x, double *scratch, bool keep)
{
    ibcc *b = arg;
    const dis__special_functions *f = &b->c.em.special;
    const size_t K = b->c.em.n_classes, row = b->c.em.row;
    if (b->c.warm) return dis__confusion_update_worker(&b->c, w, x, scratch, keep);
    double *nu = scratch, *total = scratch + K * row, *psi_total = total + row;
    memset(total, 0, row * sizeof *total);
    for (size_t l = 0; l < K; l++)
        for (size_t t = 0; t < row; t++) {
            x[l * row + t] += t == l ? b->o->diagonal : b->o->off_diagonal;
            total[t] += x[l * row + t];
        }
    if (keep)
        for (size_t l = 0; l < K; l++)
            for (size_t t = 0; t < K; t++) b->c.confusion[(w * K + l) * K + t] = x[l * row + t] / total[t];
    memcpy(nu, x, K * row * sizeof *nu);
    memcpy(psi_total, total, row * sizeof *total);
    f->digamma(x, K * row);
    f->digamma(psi_total, row);
    double kl = (double)K * b->prior_constant;
    for (size_t l = 0; l < K; l++)
        for (size_t t = 0; t < K; t++) {
            x[l * row + t] -= psi_total[t];
            kl += (nu[l * row + t] - (t == l ? b->o->diagonal : b->o->off_diagonal)) * x[l * row + t];
        }
    f->lgamma(nu, K * row);
    f->lgamma(total, row);
    for (size_t t = 0; t < K; t++) {
        kl += total[t];
        for (size_t l = 0; l < K; l++) kl -= nu[l * row + t];
    }
    f->exp(x, K * row);
    return -kl;
}

static double update_classes(void *arg, const double *sum, size_t n_items, double *prior, bool keep)
{
    ibcc *b = arg;
    const dis__special_functions *f = &b->c.em.special;
    const size_t K = b->c.em.n_classes;
    /* With predictions the class prior is estimated without a Dirichlet prior: its posterior would not be a
     * Dirichlet. */
    if (b->c.warm || b->c.em.items) return dis__confusion_update_prior(&b->c, sum, n_items, prior, keep);
    const double a = b->o->class_prior, prior_total = a * (double)K, total = prior_total + (double)n_items;
    double ends[3] = {total, a, prior_total}, psi_total = total, *nu = b->scratch;
    for (size_t k = 0; k < K; k++) nu[k] = prior[k] = sum[k] + a;
    if (keep)
        for (size_t k = 0; k < K; k++) b->c.prior[k] = nu[k] / total;
    f->digamma(prior, K);
    f->digamma(&psi_total, 1);
    double kl = 0;
    for (size_t k = 0; k < K; k++) {
        prior[k] -= psi_total;
        kl += (nu[k] - a) * prior[k];
    }
    f->lgamma(nu, K);
    f->lgamma(ends, 3);
    for (size_t k = 0; k < K; k++) kl += ends[1] - nu[k];
    f->exp(prior, K);
    return -(kl + ends[0] - ends[2]);
}

static dis_status run(ibcc *b)
{
    const size_t K = b->c.em.n_classes;
    const dis__em_rules rules = {
        .name = "ibcc", .worker = update_worker, .classes = update_classes, .update_last = true, .arg = b};
    double prior[3] = {b->o->diagonal, b->o->off_diagonal, b->o->diagonal + (double)(K - 1) * b->o->off_diagonal};
    b->c.em.special.lgamma(prior, 3);
    b->prior_constant = prior[0] + (double)(K - 1) * prior[1] - prior[2];
    DIS_TRY(dis__confusion_init(&b->c, &rules, "ibcc", b->o->iterations == 0));
    return dis__em_loop(&b->c.em, &rules, b->o->iterations, b->o->tolerance);
}

static dis_status fit_ibcc(const dis__fit_args *args, dis_fit *fit)
{
    ibcc b = {.o = args->options, .c = {.soften = 1}};
    DIS_TRY(dis__confusion_create(&b.c, args, fit));
    dis_status status = dis__alloc_array(&b.scratch, args->votes.n_classes, sizeof *b.scratch);
    if (status == DIS_OK) status = run(&b);
    dis__free(b.scratch);
    dis__em_destroy(&b.c.em);
    return status;
}

const dis__method dis__method_ibcc = {
    .info = {.name = "ibcc",
             .summary = "Bayesian Dawid-Skene: Dirichlet priors, variational inference",
             .source = "Kim & Ghahramani 2012",
             .objective = "evidence lower bound",
             .needs_workers = true,
             .predictions = DIS_PREDICTIONS_PRIOR,
             .options = options_table,
             .n_options = sizeof options_table / sizeof *options_table},
    .options_size = sizeof(ibcc_options),
    .memory = dis__confusion_memory,
    .fit = fit_ibcc,
    .matrices = true,
    .starts = true,
    .ranks = true,
    .devices = true,
};
