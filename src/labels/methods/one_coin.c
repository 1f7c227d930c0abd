/* One-coin Dawid-Skene: a class prior and one skill per worker, by EM (Zhang, Chen, Zhou & Jordan 2016; rules as
 * crowd-kit 1.4.1).
 *
 *     P(label | w, true) = skill[w] if label = true, else (1 - skill[w]) / (K - 1)
 *     M   skill[w] = mean of p(label | item) over w's votes, kept within [floor, 1 - floor]
 *
 * log P = A + B [label = true] with A = log((1 - s) / (K - 1)), B = log s - A: the pass needs one value per worker
 * (labels/methods/em.h), and the sum of A over the votes goes into the objective. Starts from vote shares.
 *
 * Objective: the marginal log-likelihood, plus the log of a Beta prior with smoothing (a pseudo-count of correct and of
 * wrong votes). The clipped value is the constrained maximum, so the objective does not decrease.
 *
 * Defaults: a uniform class prior, and one correct and one wrong pseudo-vote for each worker. The reference rules,
 * prior=estimate and smoothing=0, assign every item of a crowd with a frequent class to that class
 * (docs/evidence/methods.md).
 *
 * Cost: one pass over the votes per iteration; memory: 2 values per worker and shard. */
#include "core/numbers/elementary.h"
#include "labels/em/em.h"
#include <math.h>

typedef struct {
    int64_t iterations;
    double tolerance, smoothing, floor;
    int prior;
} one_coin_options;
enum { PRIOR_ESTIMATE, PRIOR_UNIFORM };

static const dis_option options_table[] = {
    DIS_OPTION_ITERATIONS(one_coin_options, "100"),
    DIS_OPTION_TOLERANCE(one_coin_options, "1e-7"),
    DIS_OPTION_SMOOTHING(one_coin_options, "1"),
    {.key = "floor",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(one_coin_options, floor),
     .default_value = "1e-10",
     .low = 1e-300,
     .high = .1,
     .summary = "minimum distance of an accuracy from 0 and 1"},
    {.key = "prior",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(one_coin_options, prior),
     .default_value = "uniform",
     .choices = "estimate|uniform",
     .summary = "class prior"},
};

typedef struct {
    const one_coin_options *o;
    dis__em em;
    double *skill;   /* (n_workers) */
    double *n_votes; /* (n_workers) */
    double *prior;   /* (K) */
    bool warm;
} one_coin;

static double update_worker(void *arg, size_t w, double *x, double *scratch, bool keep)
{
    (void)scratch;
    one_coin *c = arg;
    const double n = c->n_votes[w], a = c->o->smoothing, floor = c->o->floor;
    double s = n + 2 * a > 0 ? (x[0] + a) / (n + 2 * a) : .5;
    if (c->warm) s = c->skill[w];
    s = s < floor ? floor : s > 1 - floor ? 1 - floor : s;
    if (keep) c->skill[w] = s;
    if (c->em.n_classes == 1) { /* one class: all votes are correct */
        x[0] = 1;
        return 0;
    }
    const double wrong = (1 - s) / (double)(c->em.n_classes - 1);
    x[0] = s / wrong;
    return n * dis__log(wrong) + (a > 0 ? a * (dis__log(s) + dis__log1p(-s)) : 0);
}

static double update_classes(void *arg, const double *sum, size_t n_items, double *out, bool keep)
{
    one_coin *c = arg;
    const size_t K = c->em.n_classes;
    for (size_t k = 0; k < K; k++) {
        double prior = 1 / (double)K;
        if (c->warm)
            prior = c->prior[k];
        else if (c->o->prior == PRIOR_ESTIMATE && n_items)
            prior = sum[k] / (double)n_items;
        if (keep) c->prior[k] = prior;
        out[k] = prior;
    }
    return 0;
}

/* Skills of an earlier fit, with one correct and one wrong vote added (EM cannot leave 0 and 1); unknown workers start
 * at .7. */
static dis_status read_state(one_coin *c, const dis__fit_args *args, bool *found)
{
    const size_t K = c->em.n_classes;
    bool prior;
    for (size_t w = 0; w < args->votes.n_workers; w++) c->skill[w] = .7;
    for (size_t k = 0; k < K; k++) c->prior[k] = 1 / (double)K;
    DIS_TRY(dis__state_get(args->start, "one-coin", "skill", "w", &args->votes, c->skill, found));
    DIS_TRY(dis__state_get(args->start, "one-coin", "prior", "t", &args->votes, c->prior, &prior));
    for (size_t w = 0; w < args->votes.n_workers; w++)
        c->skill[w] = (c->n_votes[w] * c->skill[w] + 1) / (c->n_votes[w] + 2);
    double sum = 0;
    for (size_t k = 0; k < K; k++) sum += c->prior[k] = c->prior[k] > 1e-6 ? c->prior[k] : 1e-6;
    for (size_t k = 0; k < K; k++) c->prior[k] /= sum;
    return DIS_OK;
}

static dis_status run(one_coin *c, const dis__fit_args *args)
{
    const one_coin_options *o = c->o;
    const dis__em_rules rules = {
        .name = "one-coin", .worker = update_worker, .classes = update_classes, .update_last = true, .arg = c};
    DIS_TRY(dis__em_count_votes(args, c->n_votes));
    bool warm = false;
    if (args->start) DIS_TRY(read_state(c, args, &warm));
    if (warm) {
        c->warm = true;
        DIS_TRY(dis__em_update(&c->em, &rules, false));
        c->warm = false;
    }
    DIS_TRY(dis__em_pass(&c->em, warm ? DIS_EM_SOFT : DIS_EM_SHARES, true, o->iterations == 0));
    DIS_TRY(dis__em_update(&c->em, &rules, o->iterations == 0));
    return dis__em_loop(&c->em, &rules, o->iterations, o->tolerance);
}

static dis_status fit_one_coin(const dis__fit_args *args, dis_fit *fit)
{
    one_coin c = {.o = args->options};
    DIS_TRY(dis__fit_add_parameter(fit, "skill", "w", &c.skill));
    DIS_TRY(dis__fit_add_parameter(fit, "prior", "t", &c.prior));
    DIS_TRY(dis__em_create(args, fit, DIS_EM_WORKERS, 1, &c.em));
    dis_status status = dis__alloc_zeroed(&c.n_votes, args->votes.n_workers, sizeof *c.n_votes);
    if (status == DIS_OK) status = run(&c, args);
    dis__free(c.n_votes);
    dis__em_destroy(&c.em);
    return status;
}

static size_t memory(const dis_votes_view *votes, const void *options)
{
    (void)options;
    return dis__saturating_size(votes->n_workers, 2 * sizeof(double), dis__em_memory(votes, DIS_EM_WORKERS, 1));
}

const dis__method dis__method_one_coin = {
    .info = {.name = "one-coin",
             .summary = "EM with one accuracy per annotator",
             .source = "Zhang, Chen, Zhou & Jordan 2016",
             .objective = "marginal likelihood, plus prior where there is smoothing",
             .needs_workers = true,
             .predictions = DIS_PREDICTIONS_PRIOR,
             .options = options_table,
             .n_options = sizeof options_table / sizeof *options_table},
    .options_size = sizeof(one_coin_options),
    .memory = memory,
    .fit = fit_one_coin,
    .starts = true,
    .ranks = true,
    .devices = true,
};
