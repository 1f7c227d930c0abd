/* Enhanced Bayesian classifier combination: every class has several subtypes, which models correlated errors of workers
 * (Li, Rubinstein & Cohn, ICML 2019; update rules and priors as the authors' ebcc.py).
 *
 *     class t ~ tau,  kind m | t ~ pi[t],  label of worker w | t, m ~ v[w][., t, m]        M = `groups` kinds per class
 *     q(t, m | item) ~ exp( E log tau[t] + E log pi[t, m] + sum over votes of E log v[w][l, t, m] )
 *
 * and Dirichlet posteriors for tau, pi[t] and v[w][., t, m]: prior counts `class-prior`, `group-prior` / M, and
 * `diagonal` where label = class, `off-diagonal` elsewhere. With few prior counts, most kinds stay empty.
 * The label is q(t | item), the sum over kinds. groups=1 is ibcc.
 *
 * Start: vote shares, each class's share split over its kinds at random, by a signature of the item that depends on its
 * votes only (each worker is represented by label counts), not on names or the order of rows. combine=best: each of
 * `restarts` starts runs `screen` iterations, then the best one is run from its start. combine=mean: all run to the
 * end, and the labels are their mean; everything else is from the best one. Starts converge to different optima, and
 * their mean is better calibrated than any of them (docs/evidence/methods.md).
 *
 * Parameters: `confusion` and `prior` as in ibcc, posterior means, averaged over the kinds of a class by their shares;
 * `group_confusion` and `group_share` are those of each kind.
 *
 * Objective: the evidence lower bound, as in ibcc.c: the sum of log normalisers minus KL(q || prior) of every
 * Dirichlet.
 *
 * Cost: an iteration is one pass over the votes with rows of K * M values, and 2 special functions for each of
 * n_workers * K * K * M values. */
#include "labels/em/em.h"
#include "core/parallel/comm.h"
#include "core/random/random.h"
#include <math.h>
#include <string.h>

typedef struct {
    int64_t iterations, groups, restarts, screen;
    double tolerance, diagonal, off_diagonal, class_prior, group_prior;
    int combine;
    dis_seed seed;
} ebcc_options;
enum { COMBINE_BEST, COMBINE_MEAN };

static const dis_option options_table[] = {
    DIS_OPTION_ITERATIONS(ebcc_options, "500"),
    DIS_OPTION_TOLERANCE(ebcc_options, "1e-7"),
    {.key = "groups",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(ebcc_options, groups),
     .default_value = "10",
     .low = 1,
     .high = 1000,
     .summary = "maximum number of item types per class"},
    DIS_OPTION_RESTARTS(ebcc_options, "10"),
    DIS_OPTION_SCREEN(ebcc_options, "10"),
    {.key = "combine",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(ebcc_options, combine),
     .default_value = "best",
     .choices = "best|mean",
     .summary = "use the labels of the best restart, or the mean over all restarts run to convergence"},
    {.key = "group-prior",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ebcc_options, group_prior),
     .default_value = ".1",
     .low = 1e-6,
     .high = 1e9,
     .summary = "prior count per class, divided among its item types"},
    {.key = "diagonal",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ebcc_options, diagonal),
     .default_value = "4",
     .low = 1e-6,
     .high = 1e9,
     .summary = "prior count of correct votes"},
    {.key = "off-diagonal",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ebcc_options, off_diagonal),
     .default_value = "1",
     .low = 1e-6,
     .high = 1e9,
     .summary = "prior count of each wrong class"},
    {.key = "class-prior",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(ebcc_options, class_prior),
     .default_value = "1",
     .low = 1e-6,
     .high = 1e9,
     .summary = "prior count of each class"},
    DIS_OPTION_SEED_ROW(ebcc_options),
};

typedef struct {
    const ebcc_options *o;
    const dis__em_rules *rules;
    dis__em em;
    size_t n_groups;
    uint64_t seed;
    double *confusion, *prior;       /* (n_workers, K voted, K true), (K) */
    double *group_confusion, *share; /* (n_workers, K voted, K true, groups), (K, groups) */
    double prior_constant;           /* log normaliser of one column's prior */
    double *scratch;                 /* (states + K + 4) for the classes */
    uint64_t *signature;             /* (n_items) */
    double *sum;                     /* (n_items, K) sum of the labels of all restarts; NULL: combine=best */
    bool warm;                       /* the next update uses the current parameters */
} ebcc;

/* ---- the update ---- */

/* Writes the current parameters to the table: their posterior is unknown, so there is no objective yet. */
static void copy_worker(const ebcc *b, size_t w, double *x)
{
    const size_t K = b->em.n_classes, S = b->em.n_states, row = b->em.row;
    memset(x, 0, K * row * sizeof *x);
    for (size_t l = 0; l < K; l++) memcpy(x + l * row, b->group_confusion + (w * K + l) * S, S * sizeof *x);
}

static void keep_worker(const ebcc *b, size_t w, const double *nu, const double *total)
{
    const size_t K = b->em.n_classes, S = b->em.n_states, row = b->em.row;
    for (size_t l = 0; l < K; l++)
        for (size_t s = 0; s < S; s++) b->group_confusion[(w * K + l) * S + s] = nu[l * row + s] / total[s];
}

/* As in ibcc.c, for states. */
static double update_worker(void *arg, size_t w, double *x, double *scratch, bool keep)
{
    const ebcc *b = arg;
    const dis__special_functions *f = &b->em.special;
    const size_t K = b->em.n_classes, S = b->em.n_states, M = b->n_groups, row = b->em.row;
    if (b->warm) {
        copy_worker(b, w, x);
        return 0;
    }
    const double wrong = b->o->off_diagonal, more = b->o->diagonal - wrong;
    double *nu = scratch, *total = scratch + K * row, *psi_total = total + row;
    memset(total, 0, row * sizeof *total);
    for (size_t l = 0; l < K; l++) {
        for (size_t s = 0; s < row; s++) x[l * row + s] += wrong;
        for (size_t s = l * M; s < (l + 1) * M; s++) x[l * row + s] += more;
        for (size_t s = 0; s < row; s++) total[s] += x[l * row + s];
    }
    if (keep) keep_worker(b, w, x, total);
    memcpy(nu, x, K * row * sizeof *nu);
    memcpy(psi_total, total, row * sizeof *total);
    f->digamma(x, K * row);
    f->digamma(psi_total, row);
    double kl = (double)S * b->prior_constant;
    for (size_t l = 0; l < K; l++)
        for (size_t s = 0; s < S; s++) {
            x[l * row + s] -= psi_total[s];
            kl += (nu[l * row + s] - wrong - (s / M == l ? more : 0)) * x[l * row + s];
        }
    f->lgamma(nu, K * row);
    f->lgamma(total, row);
    for (size_t s = 0; s < S; s++) kl += total[s];
    for (size_t l = 0; l < K; l++)
        for (size_t s = 0; s < S; s++) kl -= nu[l * row + s];
    f->exp(x, K * row);
    return -kl;
}

/* One Dirichlet of n counts: sum[j] + a is replaced by E log of its probabilities; returns KL from the prior with a
 * each. mean: the posterior mean, NULL: not requested. scratch: n + 3 doubles. */
static double expect(const dis__special_functions *f, const double *sum, double a, size_t n, double *out, double *mean,
                     double *scratch)
{
    double total = a * (double)n, *nu = scratch, *ends = scratch + n;
    for (size_t j = 0; j < n; j++) total += sum[j];
    for (size_t j = 0; j < n; j++) nu[j] = out[j] = sum[j] + a;
    for (size_t j = 0; mean && j < n; j++) mean[j] = nu[j] / total;
    double psi_total = total, kl = 0;
    f->digamma(out, n);
    f->digamma(&psi_total, 1);
    for (size_t j = 0; j < n; j++) {
        out[j] -= psi_total;
        kl += sum[j] * out[j];
    }
    ends[0] = total, ends[1] = a, ends[2] = a * (double)n;
    f->lgamma(nu, n);
    f->lgamma(ends, 3);
    for (size_t j = 0; j < n; j++) kl += ends[1] - nu[j];
    return kl + ends[0] - ends[2];
}

static double update_classes(void *arg, const double *sum, size_t n_items, double *out, bool keep)
{
    (void)n_items;
    const ebcc *b = arg;
    const size_t K = b->em.n_classes, M = b->n_groups, S = K * M;
    if (b->warm) {
        for (size_t s = 0; s < S; s++) out[s] = b->prior[s / M] * b->share[s];
        return 0;
    }
    double *of_class = b->scratch, *log_class = of_class + K, *room = log_class + K;
    for (size_t k = 0; k < K; k++) {
        of_class[k] = 0;
        for (size_t m = 0; m < M; m++) of_class[k] += sum[k * M + m];
    }
    double kl = expect(&b->em.special, of_class, b->o->class_prior, K, log_class, keep ? b->prior : NULL, room);
    for (size_t k = 0; k < K; k++) {
        kl += expect(&b->em.special, sum + k * M, b->o->group_prior / (double)M, M, out + k * M,
                     keep ? b->share + k * M : NULL, room);
        for (size_t m = 0; m < M; m++) out[k * M + m] += log_class[k];
    }
    b->em.special.exp(out, S);
    return -kl;
}

/* ---- starts ---- */

static uint64_t mix(uint64_t key, uint64_t value)
{
    return dis__random(key, DIS_STREAM_EBCC_START, value);
}

typedef struct {
    const dis_votes_view *votes;
    const uint64_t *worker; /* signatures */
    uint64_t *item;
    size_t n_jobs;
} signing;

static dis_status sign_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const signing *g = arg;
    const dis_votes_view *v = g->votes;
    const size_t last = dis__job_first(v->n_items, g->n_jobs, j + 1);
    for (size_t i = dis__job_first(v->n_items, g->n_jobs, j); i < last; i++) {
        g->item[i] = 0;
        for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++)
            g->item[i] += mix(g->worker[v->worker[n]], dis__vote_label(v, n));
    }
    return DIS_OK;
}

/* Hash of an item's votes and their workers. Sums of integers, so the order of rows does not matter. */
static dis_status sign_items(const ebcc *b)
{
    const dis_votes_view *v = &b->em.args->votes;
    uint64_t *worker;
    DIS_TRY(dis__alloc_zeroed(&worker, v->n_workers, sizeof *worker));
    for (size_t n = 0; n < v->n_votes; n++) worker[v->worker[n]] += mix(1, dis__vote_label(v, n));
    signing g = {.votes = v, .worker = worker, .item = b->signature, .n_jobs = dis__n_jobs(v->n_votes, 10000, 64)};
    dis_status status = dis__comm_sum_counts(b->em.comm, worker, v->n_workers);
    if (status == DIS_OK) status = dis__run_jobs(b->em.args->ctx, g.n_jobs, sign_job, &g);
    dis__free(worker);
    return status;
}

/* Initial parameters of restart r. */
static dis_status begin(void *arg, int64_t r, bool only)
{
    ebcc *b = arg;
    b->em.signature = b->signature;
    b->em.key = mix(b->seed, (uint64_t)r);
    DIS_TRY(dis__em_pass(&b->em, DIS_EM_SHARES, true, only));
    return dis__em_update(&b->em, b->rules, only);
}

/* Parameters of an earlier fit with the same number of groups; unknown workers and classes start from the prior's mean.
 * Posterior means are never 0, so nothing is impossible. */
static dis_status read_state(ebcc *b, const dis__fit_args *args)
{
    const size_t K = b->em.n_classes, M = b->n_groups, S = K * M, n = args->votes.n_workers * K;
    const double total = b->o->diagonal + (double)(K - 1) * b->o->off_diagonal;
    for (size_t i = 0; i < n * S; i++)
        b->group_confusion[i] = (i / S % K == i % S / M ? b->o->diagonal : b->o->off_diagonal) / total;
    for (size_t s = 0; s < S; s++) b->share[s] = 1 / (double)M;
    for (size_t k = 0; k < K; k++) b->prior[k] = 1 / (double)K;
    bool confusion, share, prior;
    DIS_TRY(dis__state_get_groups(args->start, "ebcc", "group_confusion", "wvtg", &args->votes, M, b->group_confusion,
                                  &confusion));
    DIS_TRY(dis__state_get_groups(args->start, "ebcc", "group_share", "tg", &args->votes, M, b->share, &share));
    DIS_TRY(dis__state_get(args->start, "ebcc", "prior", "t", &args->votes, b->prior, &prior));
    b->warm = confusion && share && prior;
    return DIS_OK;
}

/* Averages the kinds of a class by their shares. */
static void average_groups(const ebcc *b)
{
    const size_t K = b->em.n_classes, M = b->n_groups, n = b->em.args->votes.n_workers * K * K;
    for (size_t i = 0; i < n; i++) {
        const double *x = b->group_confusion + i * M, *share = b->share + i % K * M;
        b->confusion[i] = 0;
        for (size_t m = 0; m < M; m++) b->confusion[i] += x[m] * share[m];
    }
}

static dis_status run_warm(ebcc *b, const dis__em_rules *rules)
{
    const bool only = b->o->iterations == 0;
    DIS_TRY(dis__em_update(&b->em, rules, false));
    b->warm = false;
    DIS_TRY(dis__em_pass(&b->em, DIS_EM_SOFT, true, only));
    DIS_TRY(dis__em_update(&b->em, rules, only));
    return dis__em_loop(&b->em, rules, b->o->iterations, b->o->tolerance);
}

/* The mean of the labels of all restarts into fit->p, the rest of the fit from the best one. */
static dis_status run_all(ebcc *b, const dis__em_rules *rules, dis_fit *fit)
{
    const size_t n = fit->n_items * fit->n_classes;
    const double share = 1 / (double)b->o->restarts;
    double top = -INFINITY, *sum = b->sum;
    int64_t best = 0;
    memset(sum, 0, n * sizeof *sum);
    for (int64_t r = 0; r < b->o->restarts; r++) {
        DIS_TRY(begin(b, r, false));
        fit->n_trace = 0;
        DIS_TRY(dis__em_loop(&b->em, rules, b->o->iterations, b->o->tolerance));
        for (size_t i = 0; i < n; i++) sum[i] += share * fit->p[i];
        if (fit->objective > top) {
            top = fit->objective;
            best = r;
        }
    }
    fit->restart = (int)best;
    fit->n_trace = 0;
    DIS_TRY(begin(b, best, false));
    DIS_TRY(dis__em_loop(&b->em, rules, b->o->iterations, b->o->tolerance));
    fit->counted = false; /* the labels differ from those of the last pass */
    for (size_t i = 0; i < fit->n_items; i++) {
        double total = 0, *p = fit->p + i * fit->n_classes;
        for (size_t k = 0; k < fit->n_classes; k++) total += p[k] = sum[i * fit->n_classes + k];
        for (size_t k = 0; k < fit->n_classes; k++) p[k] /= total;
    }
    return DIS_OK;
}

static bool averages(const ebcc_options *o)
{
    return o->combine == COMBINE_MEAN && o->groups > 1 && o->restarts > 1 && o->iterations > 0;
}

static dis_status run(ebcc *b, dis_fit *fit)
{
    const ebcc_options *o = b->o;
    const size_t K = b->em.n_classes;
    const dis__em_rules rules = {.name = "ebcc",
                                 .worker = update_worker,
                                 .classes = update_classes,
                                 .begin = begin,
                                 .update_last = true,
                                 .arg = b};
    b->rules = &rules;
    double prior[3] = {o->diagonal, o->off_diagonal, o->diagonal + (double)(K - 1) * o->off_diagonal};
    b->em.special.lgamma(prior, 3);
    b->prior_constant = prior[0] + (double)(K - 1) * prior[1] - prior[2];
    if (b->em.args->start) DIS_TRY(read_state(b, b->em.args));
    if (b->warm) return run_warm(b, &rules);
    DIS_TRY(sign_items(b));
    if (b->sum) return run_all(b, &rules, fit);
    return dis__em_run_best_restart(&b->em, &rules, b->n_groups > 1 ? o->restarts : 1, o->screen, o->iterations,
                                    o->tolerance);
}

static dis_status allocate(ebcc *b, const dis_votes_view *v)
{
    const size_t K = v->n_classes, room = dis__saturating_size(K, 2, b->n_groups > K ? b->n_groups + 3 : K + 3);
    DIS_TRY(dis__alloc_array(&b->scratch, room, sizeof *b->scratch));
    if (averages(b->o)) DIS_TRY(dis__alloc_array(&b->sum, dis__saturating_size(v->n_items, K, 0), sizeof *b->sum));
    return dis__alloc_array(&b->signature, v->n_items, sizeof *b->signature);
}

static dis_status fit_ebcc(const dis__fit_args *args, dis_fit *fit)
{
    const ebcc_options *o = args->options;
    ebcc b = {.o = o, .n_groups = (size_t)o->groups, .seed = args->seed};
    fit->n_groups = b.n_groups;
    DIS_TRY(dis__fit_add_parameter(fit, "confusion", "wvt", &b.confusion));
    DIS_TRY(dis__fit_add_parameter(fit, "prior", "t", &b.prior));
    DIS_TRY(dis__fit_add_parameter(fit, "group_confusion", "wvtg", &b.group_confusion));
    DIS_TRY(dis__fit_add_parameter(fit, "group_share", "tg", &b.share));
    DIS_TRY(dis__em_create(args, fit, DIS_EM_ROWS, b.n_groups, &b.em));
    dis_status status = allocate(&b, &args->votes);
    if (status == DIS_OK) status = run(&b, fit);
    if (status == DIS_OK) average_groups(&b);
    dis__free(b.scratch);
    dis__free(b.signature);
    dis__free(b.sum);
    dis__em_destroy(&b.em);
    return status;
}

static size_t memory(const dis_votes_view *votes, const void *options)
{
    const ebcc_options *o = options;
    const size_t M = (size_t)o->groups, K = votes->n_classes;
    size_t n = dis__em_memory(votes, DIS_EM_ROWS, M);
    if (averages(o)) n = dis__saturating_size(dis__saturating_size(votes->n_items, K, 0), sizeof(double), n);
    n = dis__saturating_size(dis__saturating_size(votes->n_workers, dis__saturating_size(K, K, 0), 0),
                             (M + 1) * sizeof(double), n);
    return dis__saturating_size(votes->n_items + votes->n_workers, sizeof(uint64_t), n);
}

const dis__method dis__method_ebcc = {
    .info = {.name = "ebcc",
             .summary = "IBCC with several item types per class, so errors of annotators may be correlated",
             .source = "Li, Rubinstein & Cohn 2019",
             .objective = "evidence lower bound",
             .needs_workers = true,
             .options = options_table,
             .n_options = sizeof options_table / sizeof *options_table},
    .options_size = sizeof(ebcc_options),
    .seed_offset = offsetof(ebcc_options, seed) + 1,
    .memory = memory,
    .fit = fit_ebcc,
    .matrices = true,
    .starts = true,
    .ranks = true,
    .devices = true,
};
