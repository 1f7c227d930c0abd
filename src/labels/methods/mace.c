/* MACE: each vote is either the true label or drawn from the worker's spamming strategy (Hovy, Berg-Kirkpatrick,
 * Vaswani & Hovy 2013; update rules as MACE 0.3).
 *
 *     P(label | w, true) = guess[w] * strategy[w][label] + know[w] * [label = true]
 *
 * The class prior is uniform (the reference), or with prior=estimate the maximum of the objective over the class prior.
 *
 * With S[w][l] the sum of p(l | item) over w's votes for l and n[w][l] their number, the expected number of known votes
 * for l is S know / (know + guess strategy[l]), the others were guessed. So the pass needs one sum per (worker, label),
 * and one value B = 1 + know / (guess strategy[l]) (labels/methods/em.h).
 *
 * method=em: expected counts plus smoothing / K, normalised: posterior mode. method=vb: exp(psi(count + prior) -
 * psi(sum)), not normalised: variational Bayes with Beta and Dirichlet priors; `know`, `guess` and `strategy` are then
 * these geometric means, as the reference prints them.
 *
 * Objective: em: the marginal log-likelihood plus the log-prior; vb: the evidence lower bound, the sum of log
 * normalisers minus KL(q || prior) of each worker's Beta and Dirichlet. (The reference maximises the sum of log
 * normalisers alone.)
 *
 * Restarts: tables start at 1 + noise U(0, 1), normalised, the random numbers keyed by seed, restart and the worker's
 * own label counts, so that neither names nor order matter. Each restart runs `screen` iterations; the best one is then
 * run from its start. On RTE, MRE and POS the restart chosen after 5 iterations converges to the same optimum as the
 * best one if all run to convergence (tests/unit/test_em_data.c). start=uniform: guess = know = 1/2, strategy = 1/K,
 * one run.
 *
 * An iteration is an update and a pass; iterations = 0 is the pass over the start. The reference stops after 50; this
 * implementation runs until the objective converges (15 to 230 iterations on the crowds tested), without loss of
 * accuracy.
 *
 * Cost: one pass over the votes per iteration, plus restarts * screen passes; memory: 2 values per (worker, label) and
 * shard.
 */
#include "core/numbers/elementary.h"
#include "labels/em/em.h"
#include "core/random/random.h"
#include <math.h>
#include <string.h>

typedef struct {
    int64_t iterations, restarts, screen;
    double tolerance, smoothing, know_prior, guess_prior, strategy_prior, noise;
    int method, start, prior;
    dis_seed seed;
} mace_options;
enum { METHOD_VB, METHOD_EM };
enum { START_RANDOM, START_UNIFORM };
enum { PRIOR_UNIFORM, PRIOR_ESTIMATE };

static const dis_option options_table[] = {
    {.key = "method",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(mace_options, method),
     .default_value = "vb",
     .choices = "vb|em",
     .summary = "variational Bayes or expectation maximization"},
    DIS_OPTION_ITERATIONS(mace_options, "500"),
    DIS_OPTION_TOLERANCE(mace_options, "1e-7"),
    DIS_OPTION_RESTARTS(mace_options, "10"),
    DIS_OPTION_SCREEN(mace_options, "5"),
    {.key = "start",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(mace_options, start),
     .default_value = "random",
     .choices = "random|uniform",
     .summary = "initial parameters"},
    {.key = "prior",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(mace_options, prior),
     .default_value = "uniform",
     .choices = "uniform|estimate",
     .summary = "class prior"},
    {.key = "smoothing",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(mace_options, smoothing),
     .default_value = ".01",
     .low = 1e-12,
     .high = 1e9,
     .summary = "em: pseudo-count, divided among the classes"},
    {.key = "know-prior",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(mace_options, know_prior),
     .default_value = ".5",
     .low = 1e-6,
     .high = 1e9,
     .summary = "vb: prior count of competent votes"},
    {.key = "guess-prior",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(mace_options, guess_prior),
     .default_value = ".5",
     .low = 1e-6,
     .high = 1e9,
     .summary = "vb: prior count of spam votes"},
    {.key = "strategy-prior",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(mace_options, strategy_prior),
     .default_value = "10",
     .low = 1e-6,
     .high = 1e9,
     .summary = "vb: prior count of each label among spam votes"},
    {.key = "noise",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(mace_options, noise),
     .default_value = ".5",
     .low = 0,
     .high = 1e9,
     .summary = "random starts: maximum noise added to initial weights of 1, before normalization"},
    DIS_OPTION_SEED_ROW(mace_options),
};

typedef struct {
    const mace_options *o;
    const dis__em_rules *rules;
    dis__em em;
    double *know, *guess; /* (n_workers) */
    double *strategy;     /* (n_workers, K) */
    double *n_votes;      /* (n_workers, K) */
    double *prior;        /* (K), NULL: uniform */
    uint64_t seed;
    int64_t restart;       /* restart whose start the next update makes; -1: an update from sums */
    bool warm;             /* the next update uses the current tables */
    double prior_constant; /* log normalisers of the priors of one worker */
} mace;

/* The worker's tables at the start of a restart. */
static void start_worker(const mace *m, size_t w)
{
    const size_t K = m->em.n_classes;
    double *strategy = m->strategy + w * K, sum = 0;
    m->know[w] = m->guess[w] = .5;
    for (size_t l = 0; l < K; l++) strategy[l] = 1 / (double)K;
    if (m->o->start == START_UNIFORM) return;
    uint64_t key = 0;
    for (size_t l = 0; l < K; l++) key = dis__random(key, DIS_STREAM_MACE_START, (uint64_t)m->n_votes[w * K + l]);
    const uint64_t stream = DIS_STREAM_MACE_START | (uint64_t)(m->restart + 1) << 32;
    const double noise = m->o->noise, know = 1 + noise * dis__random_uniform(m->seed ^ key, stream, 0),
                 guess = 1 + noise * dis__random_uniform(m->seed ^ key, stream, 1);
    m->know[w] = know / (know + guess);
    m->guess[w] = guess / (know + guess);
    for (size_t l = 0; l < K; l++) sum += strategy[l] = 1 + noise * dis__random_uniform(m->seed ^ key, stream, 2 + l);
    for (size_t l = 0; l < K; l++) strategy[l] /= sum;
}

/* x (K): number of guessed votes for l; known: number of known ones. Posterior modes. */
static double maximise(const mace *m, size_t w, const double *guessed, double known)
{
    const size_t K = m->em.n_classes;
    const double a = m->o->smoothing / (double)K;
    double *strategy = m->strategy + w * K, all = 0;
    for (size_t l = 0; l < K; l++) all += guessed[l];
    for (size_t l = 0; l < K; l++) strategy[l] = (guessed[l] + a) / (all + a * (double)K);
    m->know[w] = (known + a) / (known + all + 2 * a);
    m->guess[w] = (all + a) / (known + all + 2 * a);
    return 0;
}

/* Variational posteriors; returns minus their KL from the priors. psi: room for 2 (K + 4) doubles. */
static double vary(const mace *m, size_t w, const double *guessed, double known, double *psi)
{
    const size_t K = m->em.n_classes;
    const double a = m->o->know_prior, c = m->o->guess_prior, b = m->o->strategy_prior;
    const dis__special_functions *f = &m->em.special;
    double all = 0, *gamma = psi + K + 4;
    for (size_t l = 0; l < K; l++) all += guessed[l];
    for (size_t l = 0; l < K; l++) psi[l] = guessed[l] + b;
    psi[K] = all + b * (double)K;
    psi[K + 1] = all + c;
    psi[K + 2] = known + a;
    psi[K + 3] = all + known + a + c;
    memcpy(gamma, psi, (K + 4) * sizeof *psi);
    f->digamma(psi, K + 4);
    f->lgamma(gamma, K + 4);
    double kl = m->prior_constant + gamma[K] + gamma[K + 3] - gamma[K + 1] - gamma[K + 2];
    for (size_t l = 0; l < K; l++) {
        psi[l] -= psi[K];
        kl += guessed[l] * psi[l] - gamma[l];
    }
    psi[K + 1] -= psi[K + 3];
    psi[K + 2] -= psi[K + 3];
    kl += all * psi[K + 1] + known * psi[K + 2];
    f->exp(psi, K + 3);
    memcpy(m->strategy + w * K, psi, K * sizeof *psi);
    m->guess[w] = psi[K + 1];
    m->know[w] = psi[K + 2];
    return -kl;
}

static double log_prior_of(const mace *m, size_t w)
{
    const size_t K = m->em.n_classes;
    double sum = dis__log(m->know[w]) + dis__log(m->guess[w]);
    for (size_t l = 0; l < K; l++) sum += dis__log(m->strategy[w * K + l]);
    return m->o->smoothing / (double)K * sum;
}

static double update_worker(void *arg, size_t w, double *x, double *scratch, bool keep)
{
    (void)keep;
    mace *m = arg;
    const size_t K = m->em.n_classes;
    const double *strategy = m->strategy + w * K, *n = m->n_votes + w * K;
    double penalty = 0, known = 0;
    if (m->restart >= 0 && !m->warm) {
        start_worker(m, w);
    } else if (m->restart < 0) {
        for (size_t l = 0; l < K; l++) {
            const double k = x[l] * m->know[w] / (m->know[w] + m->guess[w] * strategy[l]);
            known += k;
            x[l] = n[l] > k ? n[l] - k : 0;
        }
        penalty = m->o->method == METHOD_EM ? maximise(m, w, x, known) : vary(m, w, x, known, scratch);
    }
    if (m->o->method == METHOD_EM) penalty += log_prior_of(m, w);
    for (size_t l = 0; l < K; l++) scratch[l] = m->guess[w] * strategy[l];
    for (size_t l = 0; l < K; l++) x[l] = 1 + m->know[w] / scratch[l];
    m->em.special.log(scratch, K);
    for (size_t l = 0; l < K; l++) penalty += n[l] * scratch[l];
    return penalty;
}

static double update_classes(void *arg, const double *sum, size_t n_items, double *prior, bool keep)
{
    (void)keep;
    const mace *m = arg;
    const bool estimate = m->prior && m->restart < 0 && n_items;
    for (size_t k = 0; k < m->em.n_classes; k++) {
        prior[k] = estimate ? sum[k] / (double)n_items : 1 / (double)m->em.n_classes;
        if (m->prior) m->prior[k] = prior[k];
    }
    return 0;
}

/* The first update of restart r, after a pass over its start. The start is not a variational posterior and has no
 * objective: the trace begins after it. */
static dis_status begin(void *arg, int64_t r, bool only)
{
    mace *m = arg;
    m->restart = r;
    dis__em_reset(&m->em);
    DIS_TRY(dis__em_update(&m->em, m->rules, false));
    m->restart = -1;
    DIS_TRY(dis__em_pass(&m->em, DIS_EM_SOFT, !only, only));
    return only ? DIS_OK : dis__em_update(&m->em, m->rules, false);
}

/* Tables of an earlier fit, bounded away from 0; unknown workers start in the middle. There is only one run. */
static dis_status read_state(mace *m, const dis__fit_args *args)
{
    const size_t K = m->em.n_classes;
    bool guess, strategy;
    for (size_t w = 0; w < args->votes.n_workers; w++) m->know[w] = m->guess[w] = .5;
    for (size_t i = 0; i < args->votes.n_workers * K; i++) m->strategy[i] = 1 / (double)K;
    DIS_TRY(dis__state_get(args->start, "mace", "know", "w", &args->votes, m->know, &m->warm));
    DIS_TRY(dis__state_get(args->start, "mace", "guess", "w", &args->votes, m->guess, &guess));
    DIS_TRY(dis__state_get(args->start, "mace", "strategy", "wv", &args->votes, m->strategy, &strategy));
    m->warm &= guess && strategy;
    for (size_t w = 0; w < args->votes.n_workers; w++) {
        m->know[w] = fmin(1, fmax(m->know[w], 1e-9));
        m->guess[w] = fmin(1, fmax(m->guess[w], 1e-9));
    }
    for (size_t i = 0; i < args->votes.n_workers * K; i++) m->strategy[i] = fmin(1, fmax(m->strategy[i], 1e-9));
    return DIS_OK;
}

static dis_status run(mace *m, const dis__fit_args *args)
{
    const mace_options *o = m->o;
    const double K = (double)args->votes.n_classes;
    const dis__em_rules rules = {
        .name = "mace", .worker = update_worker, .classes = update_classes, .begin = begin, .arg = m};
    m->rules = &rules;
    double g[5] = {o->know_prior, o->guess_prior, o->know_prior + o->guess_prior, o->strategy_prior,
                   K * o->strategy_prior};
    m->em.special.lgamma(g, 5);
    m->prior_constant = g[0] + g[1] - g[2] + K * g[3] - g[4];
    DIS_TRY(dis__em_count_labels(args, m->n_votes));
    if (args->start) DIS_TRY(read_state(m, args));
    const int64_t n = !m->warm && o->start == START_RANDOM ? o->restarts : 1;
    return dis__em_run_best_restart(&m->em, &rules, n, o->screen, o->iterations, o->tolerance);
}

static dis_status fit_mace(const dis__fit_args *args, dis_fit *fit)
{
    mace m = {.o = args->options, .seed = args->seed};
    DIS_TRY(dis__fit_add_parameter(fit, "know", "w", &m.know));
    DIS_TRY(dis__fit_add_parameter(fit, "guess", "w", &m.guess));
    DIS_TRY(dis__fit_add_parameter(fit, "strategy", "wv", &m.strategy));
    if (m.o->prior == PRIOR_ESTIMATE) DIS_TRY(dis__fit_add_parameter(fit, "prior", "t", &m.prior));
    DIS_TRY(dis__em_create(args, fit, DIS_EM_LABELS, 1, &m.em));
    dis_status status =
        dis__alloc_zeroed(&m.n_votes, dis__saturating_size(args->votes.n_workers, args->votes.n_classes, 0),
                          sizeof *m.n_votes);
    if (status == DIS_OK) status = run(&m, args);
    dis__free(m.n_votes);
    dis__em_destroy(&m.em);
    return status;
}

static size_t memory(const dis_votes_view *votes, const void *options)
{
    (void)options;
    return dis__saturating_size(votes->n_workers, dis__saturating_size(votes->n_classes + 1, 2 * sizeof(double), 0),
                                dis__em_memory(votes, DIS_EM_LABELS, 1));
}

const dis__method dis__method_mace = {
    .info = {.name = "mace",
             .summary = "each vote is correct or spam; competence and spamming strategy per annotator",
             .source = "Hovy et al. 2013",
             .objective = "evidence lower bound (vb); marginal likelihood plus prior (em)",
             .needs_workers = true,
             .predictions = DIS_PREDICTIONS_PRIOR,
             .options = options_table,
             .n_options = sizeof options_table / sizeof *options_table},
    .options_size = sizeof(mace_options),
    .seed_offset = offsetof(mace_options, seed) + 1,
    .memory = memory,
    .fit = fit_mace,
    .starts = true,
    .ranks = true,
    .devices = true,
};
