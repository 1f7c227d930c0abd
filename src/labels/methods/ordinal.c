/* An ordinal model of votes: items are on a line, thresholds cut it into classes, workers have a bias, a spread and
 * lapses.
 *
 *     P(class v | item at x, worker w) = (1 - e_w) (F(hi) - F(lo)) + e_w r_w[v]
 *     hi = k_w (a[v + 1] - u x) - g_w,  lo the same with a[v]
 *
 * F is the normal distribution function: the graded response model of Samejima (1969) with raters as in Johnson (1996),
 * cumulative probit with a shift g_w and a precision k_w of each worker. A share e_w of a worker's votes are lapses,
 * which ignore the item and have label rates r_w. Without lapses, a worker who votes at random can only have a large
 * spread; with many such workers, thresholds move beyond all items and all labels become equal. Priors: g ~ N(0,
 * bias^2), k ~ N(1, spread^2); e is shrunk to `lapse` with the weight of 4 votes, r to the rates of all votes with the
 * weight of 20. The distribution of items is not restricted: x is one of `points` positions within the band of each
 * class (class v has the band v - 1/2 .. v + 1/2), with estimated probabilities. Thresholds a and the precision of the
 * crowd u are estimated; half a vote for each class within its band keeps thresholds of classes without votes finite.
 *
 * The soft label of an item is the expected distribution of attentive votes: sum over x of P(x | votes) C[v | x], with
 * C the votes of all workers at x, weighted by 1 - e_w, plus one vote of a worker without bias. It is less informative
 * about a true class than a posterior, but predicts the next vote better (docs/evidence/scales.md).
 *
 * Objective: the marginal likelihood times the priors, by EM, with lapses and positions as latent variables. Every part
 * of the M-step is concave: one Newton step for all (a, u) (after the first four passes at every fourth), one for each
 * worker's (k, g), both halved until they do not decrease the objective; e, r and the positions' probabilities in
 * closed form.
 *
 * Parameters, in steps of one class: bias (above 0: votes too high), spread (of a worker's votes), lapse and rate (e
 * and r), threshold (upper end of each class; the last is the end of the line), score (mean of x); prior (of the
 * bands). With them P(class v | x, w) = (1 - lapse) (F((threshold[v] - x - bias) / spread) - F((threshold[v - 1] - x -
 * bias) / spread)) + lapse rate[v]. With intervals=yes also bias_se, spread_se (of its logarithm), score_se, gain
 * (expected information of one more attentive vote on the item's position, nats) and truth (probability that x is
 * between the thresholds of a class).
 *
 * Cost: an iteration is one pass over the votes with rows of K * points values, and two or three times two normal
 * distribution functions for each position, class and worker who chose it. */
#include "labels/ordinal/ordinal_model.h"
#include "core/numbers/elementary.h"
#include "core/parallel/comm.h"
#include <math.h>
#include <string.h>

static const dis_option options_table[] = {
    DIS_OPTION_ITERATIONS(dis__ordinal_options, "1000"),
    DIS_OPTION_TOLERANCE(dis__ordinal_options, "1e-5"),
    {.key = "points",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(dis__ordinal_options, points),
     .default_value = "0",
     .low = 0,
     .high = 100,
     .summary = "positions per class on the latent scale; 0: 3, more for fewer than 5 classes"},
    {.key = "bias",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__ordinal_options, bias),
     .default_value = ".5",
     .low = 1e-3,
     .high = 100,
     .summary = "prior standard deviation of annotator bias, in units of a typical vote's spread"},
    {.key = "spread",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__ordinal_options, spread),
     .default_value = ".15",
     .low = 1e-3,
     .high = 10,
     .summary = "prior standard deviation of annotator precision around 1"},
    {.key = "lapse",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__ordinal_options, lapse),
     .default_value = ".1",
     .low = 0,
     .high = .9,
     .summary = "prior share of random votes (lapses); 0: no lapses"},
    {.key = "intervals",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(dis__ordinal_options, intervals),
     .default_value = "no",
     .choices = "no|yes",
     .summary = "also compute standard errors, and the expected information from one more vote"},
};

enum { MAX_CLASSES = 1000, MAX_JOBS = 16, USUAL_POINTS = 3, FEWEST_PLACES = 15 };
#define FIRST_UNIT .7 /* initial spread of a typical vote, in classes */

/* ---- labels ---- */

typedef struct {
    double *bias, *spread, *lapse, *rate, *prior, *threshold, *score, *bias_se, *spread_se, *score_se, *gain, *truth;
} parameters;

static dis_status votes_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__ordinal *m = arg;
    const size_t n_workers = m->em.args->votes.n_workers, last = dis__job_first(n_workers, m->n_jobs, j + 1);
    double *sums = m->sums + j * m->em.worker_size, *votes = m->votes + j * m->K * m->S;
    for (size_t w = dis__job_first(n_workers, m->n_jobs, j); w < last; w++) {
        dis__em_get_worker_sums(&m->em, w, sums);
        for (size_t v = 0; v < m->K; v++)
            for (size_t s = 0; s < m->S; s++) votes[v * m->S + s] += (1 - m->e[w]) * sums[v * m->em.row + s];
    }
    return DIS_OK;
}

/* Distribution of attentive votes at each position, into the first table of m->votes. */
static dis_status crowd_votes(dis__ordinal *m)
{
    DIS_TRY(dis__run_jobs(m->em.args->ctx, m->n_jobs, votes_job, m));
    const size_t n = m->K * m->S;
    for (size_t j = 1; j < m->n_jobs; j++)
        for (size_t i = 0; i < n; i++) m->votes[i] += m->votes[j * n + i];
    for (size_t s = 0; s < m->S; s++) {
        double total = 0, at = m->u * m->place[s];
        for (size_t v = 0; v < m->K; v++) {
            double *x = &m->votes[v * m->S + s];
            *x += dis__ordinal_compute_mass(v ? m->a[v] - at : -INFINITY, v + 1 < m->K ? m->a[v + 1] - at : INFINITY);
            total += *x;
        }
        for (size_t v = 0; v < m->K; v++) m->votes[v * m->S + s] /= total;
    }
    return DIS_OK;
}

typedef struct {
    const dis__ordinal *m;
    const parameters *out;
    double *posterior, *entropy; /* (n_jobs, S), (S): of the votes at a position */
    size_t n_jobs;
} labelling;

void dis__ordinal_compute_posterior(const dis__ordinal *m, size_t i, double *q)
{
    const dis_votes_view *v = &m->em.args->votes;
    const int32_t gold = dis__item_gold(m->em.args, i);
    for (size_t s = 0; s < m->S; s++) q[s] = gold < 0 || s / m->G == (size_t)gold ? m->em.prior[s] : 0;
    for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++) {
        double total = 0;
        const size_t label = dis__vote_label(v, n);
        const double *row = m->em.tables + v->worker[n] * 2 * m->em.worker_size + 2 * label * m->em.row;
        for (size_t s = 0; s < m->S; s++) total += q[s] *= row[s];
        for (size_t s = 0; total > 0 && s < m->S; s++) q[s] /= total;
    }
}

/* Mean and standard deviation of the position of item i. */
static void note_place(const labelling *t, size_t i, const double *q)
{
    double mean = 0, square = 0;
    for (size_t s = 0; s < t->m->S; s++) mean += q[s] * t->m->place[s];
    for (size_t s = 0; s < t->m->S; s++) square += q[s] * (t->m->place[s] - mean) * (t->m->place[s] - mean);
    t->out->score[i] = mean;
    if (t->out->score_se) t->out->score_se[i] = sqrt(square);
}

static double entropy_of(const double *p, size_t n, size_t stride)
{
    double sum = 0;
    for (size_t v = 0; v < n; v++) sum -= p[v * stride] > 0 ? p[v * stride] * dis__log(p[v * stride]) : 0;
    return sum;
}

/* Probability that the position of item i is between the thresholds of each class; a position represents an interval of
 * the scale. */
static void note_truth(const labelling *t, size_t i, const double *q)
{
    const dis__ordinal *m = t->m;
    const double half = .5 / (double)m->G;
    for (size_t v = 0; v < m->K; v++) {
        const double from = v ? m->a[v] / m->u : -INFINITY, to = v + 1 < m->K ? m->a[v + 1] / m->u : INFINITY;
        double sum = 0;
        for (size_t s = 0; s < m->S; s++)
            sum += q[s] * fmax(fmin(m->place[s] + half, to) - fmax(m->place[s] - half, from), 0) / (2 * half);
        t->out->truth[i * m->K + v] = sum;
    }
}

/* Expected information of one more attentive vote on the position: mutual information, nats. p: soft label of item
 * i. */
static void note_gain(const labelling *t, size_t i, const double *q, const double *p)
{
    double gain = entropy_of(p, t->m->K, 1);
    for (size_t s = 0; s < t->m->S; s++) gain -= q[s] * t->entropy[s];
    t->out->gain[i] = fmax(gain, 0);
}

static dis_status label_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const labelling *t = arg;
    const dis__ordinal *m = t->m;
    const size_t n_items = m->em.args->votes.n_items, last = dis__job_first(n_items, t->n_jobs, j + 1);
    double *q = t->posterior + j * m->S;
    for (size_t i = dis__job_first(n_items, t->n_jobs, j); i < last; i++) {
        double total = 0, *p = m->em.fit->p + i * m->K;
        dis__ordinal_compute_posterior(m, i, q);
        for (size_t s = 0; s < m->S; s++) total += q[s];
        for (size_t s = 0; s < m->S; s++) q[s] /= total;
        note_place(t, i, q);
        total = 0;
        for (size_t v = 0; v < m->K; v++) {
            p[v] = 0;
            for (size_t s = 0; s < m->S; s++) p[v] += q[s] * m->votes[v * m->S + s];
            total += p[v];
        }
        const int32_t gold = dis__item_gold(m->em.args, i);
        for (size_t v = 0; v < m->K; v++) p[v] /= total;
        if (t->out->gain) note_gain(t, i, q, p);
        if (t->out->truth) note_truth(t, i, q);
        for (size_t v = 0; gold >= 0 && v < m->K; v++) p[v] = (int32_t)v == gold;
    }
    return DIS_OK;
}

static dis_status make_labels(const dis__ordinal *m, const parameters *out)
{
    const dis_votes_view *v = &m->em.args->votes;
    labelling t = {.m = m, .out = out, .n_jobs = dis__n_jobs(v->n_items, 4096, MAX_JOBS)};
    DIS_TRY(dis__alloc_array(&t.posterior, dis__saturating_size(t.n_jobs + 1, m->S, 0), sizeof *t.posterior));
    t.entropy = t.posterior + t.n_jobs * m->S;
    for (size_t s = 0; s < m->S; s++) t.entropy[s] = entropy_of(m->votes + s, m->K, m->S);
    const dis_status status = dis__run_jobs(m->em.args->ctx, t.n_jobs, label_job, &t);
    dis__free(t.posterior);
    return status;
}

/* ---- the fit ---- */

/* Bands of equal width, equal workers, items at their votes. */
static dis_status start(dis__ordinal *m)
{
    const dis_votes_view *v = &m->em.args->votes;
    double *count;
    DIS_TRY(dis__alloc_zeroed(&count, m->K, sizeof *count));
    for (size_t n = 0; n < v->n_votes; n++) count[dis__vote_label(v, n)] += 1;
    const dis_status sum_status = dis__comm_sum_reals(m->em.comm, count, m->K); /* integers */
    m->u = 1 / FIRST_UNIT;
    for (size_t i = 1; i < m->K; i++) m->a[i] = ((double)i - .5) * m->u;
    for (size_t s = 0; s < m->S; s++) {
        m->place[s] = ((double)s + .5) / (double)m->G - .5;
        m->em.prior[s] = count[s / m->G] + 1;
    }
    for (size_t c = 0; c < m->K; c++) m->base[c] = (count[c] + 1) / ((double)m->em.args->part.n_votes + (double)m->K);
    for (size_t w = 0; w < v->n_workers; w++) {
        m->k[w] = 1;
        m->e[w] = m->o->lapse;
        memcpy(m->rate + w * m->K, m->base, m->K * sizeof *m->rate);
    }
    dis__free(count);
    return sum_status;
}

static dis_status run(dis__ordinal *m)
{
    const dis__em_rules rules = {.name = "ordinal",
                                 .worker = dis__ordinal_update_worker,
                                 .classes = dis__ordinal_update_positions,
                                 .after = dis__ordinal_update_crowd,
                                 .arg = m};
    DIS_TRY(start(m));
    DIS_TRY(dis__em_update(&m->em, &rules, false));
    if (m->o->iterations == 0) return dis__em_pass(&m->em, DIS_EM_SOFT, true, false);
    const dis_status status = dis__em_loop(&m->em, &rules, m->o->iterations, m->o->tolerance);
    memcpy(m->a, m->a_used, m->K * sizeof *m->a); /* a step after the last pass is not in the tables */
    m->u = m->u_used;
    return m->status != DIS_OK ? m->status : status;
}

static dis_status add_parameters(dis_fit *fit, bool intervals, parameters *p)
{
    DIS_TRY(dis__fit_add_parameter(fit, "bias", "w", &p->bias));
    DIS_TRY(dis__fit_add_parameter(fit, "spread", "w", &p->spread));
    DIS_TRY(dis__fit_add_parameter(fit, "lapse", "w", &p->lapse));
    DIS_TRY(dis__fit_add_parameter(fit, "rate", "wv", &p->rate));
    DIS_TRY(dis__fit_add_parameter(fit, "prior", "t", &p->prior));
    DIS_TRY(dis__fit_add_parameter(fit, "threshold", "t", &p->threshold));
    DIS_TRY(dis__fit_add_parameter(fit, "score", "i", &p->score));
    if (!intervals) return DIS_OK;
    DIS_TRY(dis__fit_add_parameter(fit, "score_se", "i", &p->score_se));
    DIS_TRY(dis__fit_add_parameter(fit, "gain", "i", &p->gain));
    DIS_TRY(dis__fit_add_parameter(fit, "truth", "it", &p->truth));
    DIS_TRY(dis__fit_add_parameter(fit, "bias_se", "w", &p->bias_se));
    return dis__fit_add_parameter(fit, "spread_se", "w", &p->spread_se);
}

static void note_parameters(const dis__ordinal *m, const parameters *p)
{
    const size_t n_workers = m->em.args->votes.n_workers;
    for (size_t w = 0; w < n_workers; w++) {
        p->bias[w] = m->g[w] / (m->k[w] * m->u);
        p->spread[w] = 1 / (m->k[w] * m->u);
        p->lapse[w] = m->e[w];
    }
    memcpy(p->rate, m->rate, n_workers * m->K * sizeof *m->rate);
    for (size_t s = 0; s < m->S; s++) p->prior[s / m->G] += m->em.prior[s];
    for (size_t v = 0; v < m->K; v++) p->threshold[v] = v + 1 < m->K ? m->a[v + 1] / m->u : (double)m->K - .5;
}

static dis_status allocate(dis__ordinal *m)
{
    const size_t K = m->K, n_workers = m->em.args->votes.n_workers;
    DIS_TRY(dis__alloc_zeroed(&m->place, m->S, sizeof *m->place));
    DIS_TRY(dis__alloc_zeroed(&m->a, 3 * (K + 1), sizeof *m->a));
    DIS_TRY(dis__alloc_zeroed(&m->solve, K * (K + 1), sizeof *m->solve));
    DIS_TRY(dis__alloc_zeroed(&m->k, dis__saturating_size(n_workers, 3, 0), sizeof *m->k));
    DIS_TRY(dis__alloc_zeroed(&m->rate, dis__saturating_size(n_workers, K, K), sizeof *m->rate));
    DIS_TRY(dis__alloc_array(&m->sums, dis__saturating_size(m->n_jobs, m->em.worker_size, 0), sizeof *m->sums));
    DIS_TRY(dis__alloc_zeroed(&m->votes, dis__saturating_size(m->n_jobs, K * m->S, 0), sizeof *m->votes));
    DIS_TRY(dis__alloc_zeroed(&m->part, m->n_jobs, sizeof *m->part));
    DIS_TRY(dis__alloc_zeroed(&m->parts, dis__saturating_size(m->n_jobs, 4 * K, 0), sizeof *m->parts));
    m->a_try = m->a + K + 1;
    m->a_used = m->a_try + K + 1;
    m->g = m->k + n_workers;
    m->e = m->g + n_workers;
    m->base = m->rate + n_workers * K;
    for (size_t j = 0; j < m->n_jobs; j++) {
        double *x = m->parts + j * 4 * K;
        m->part[j] = (dis__ordinal_sums){.slope = x, .bend = x + K, .next = x + 2 * K, .border = x + 3 * K};
    }
    return DIS_OK;
}

static void destroy(dis__ordinal *m)
{
    void *const arrays[] = {m->place, m->a, m->solve, m->k, m->rate, m->sums, m->votes, m->part, m->parts};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) dis__free(arrays[i]);
    dis__em_destroy(&m->em);
}

static size_t points_of(const dis__ordinal_options *o, size_t n_classes)
{
    const size_t few = n_classes ? (FEWEST_PLACES + n_classes - 1) / n_classes : 1;
    if (o->points) return (size_t)o->points;
    return few > USUAL_POINTS ? few : USUAL_POINTS;
}

static dis_status fit_ordinal(const dis__fit_args *args, dis_fit *fit)
{
    const size_t K = args->votes.n_classes;
    parameters p = {.score_se = NULL, .gain = NULL, .truth = NULL};
    if (K > MAX_CLASSES)
        return dis__fail(DIS_EDATA,
                         "%zu classes, and the method ordinal takes at most %d; are they numbers on a scale?", K,
                         MAX_CLASSES);
    dis__ordinal m = {.o = args->options, .K = K, .G = points_of(args->options, K)};
    m.S = K * m.G;
    DIS_TRY(add_parameters(fit, m.o->intervals, &p));
    DIS_TRY(dis__em_create(args, fit, DIS_EM_ROWS, m.G, &m.em));
    m.n_jobs = dis__n_jobs(dis__saturating_size(args->votes.n_workers, m.em.worker_size, 0), 4096, MAX_JOBS);
    dis_status status = allocate(&m);
    if (status == DIS_OK) status = run(&m);
    if (status == DIS_OK) status = dis__em_gather_sums(&m.em);
    if (status == DIS_OK) status = crowd_votes(&m);
    if (status == DIS_OK) status = make_labels(&m, &p);
    if (status == DIS_OK) note_parameters(&m, &p);
    if (status == DIS_OK && m.o->intervals) status = dis__ordinal_compute_errors(&m, p.bias_se, p.spread_se);
    destroy(&m);
    return status;
}

static size_t memory(const dis_votes_view *votes, const void *options)
{
    const size_t K = votes->n_classes < MAX_CLASSES ? votes->n_classes : MAX_CLASSES, G = points_of(options, K);
    const size_t tables = dis__em_memory(votes, DIS_EM_ROWS, G);
    return dis__saturating_size(votes->n_workers * (9 + 2 * K) + votes->n_items * (3 + K), sizeof(double),
                                dis__saturating_size(K * K * G, 2 * MAX_JOBS * sizeof(double), tables));
}

const dis__method dis__method_ordinal = {
    .info = {.name = "ordinal",
             .summary = "ordered classes: latent scale with thresholds; bias, spread and lapse rate per annotator",
             .source = "Samejima 1969; Johnson 1996",
             .objective = "marginal likelihood with priors",
             .needs_workers = true,
             .options = options_table,
             .n_options = sizeof options_table / sizeof *options_table},
    .options_size = sizeof(dis__ordinal_options),
    .memory = memory,
    .fit = fit_ordinal,
    .ranks = true,
};
