/* Vote shares smoothed towards the class rates, as the distribution of the next vote on an item:
 *
 *     p_ik = (c_ik + a r_k) / (n_i + a),     c_ik of n_i votes on item i for class k
 *
 * This is the prediction of a Dirichlet-multinomial: an item's distribution over classes is drawn from a Dirichlet with
 * parameters a r, its votes from that distribution. The strength a and the rates r maximise how well each vote is
 * predicted from the other votes on its item (Minka 2000, "Estimating a Dirichlet distribution", section 4), with equal
 * weights for items of two or more votes and two weak priors, so that few items give neither extreme nor uniform
 * labels:
 *
 *     L = sum_i 1/n_i sum_k c_ik log((c_ik - 1 + a r_k) / (n_i - 1 + a))
 *         + RATES_WEIGHT sum_k s_k log r_k - log(a / USUAL)^2 / (2 SPREAD^2)
 *
 * s_k is the mean share of the class over items, with one item of equal shares added. The leave-one-out likelihood
 * predicts held-out votes better than the marginal likelihood does (bench/truth/next_vote.py).
 *
 * L is maximised over log(a r) by Newton's method. Its Hessian is diagonal plus rank one, so a step costs O(classes); a
 * fixed-point step replaces it where L is not concave. Steps are halved until L does not decrease.
 *
 * With strength=A the rates are the s_k. Counts that are not integers do not reveal the weight of one vote, and items
 * with one vote have no information on the variation of votes: a is then USUAL.
 *
 * Cost: a pass over the votes per iteration (about 8) with a logarithm for each class with votes on an item. Items are
 * divided into jobs by their number, and sums are added in the order of jobs. */
#include "core/numbers/elementary.h"
#include "labels/passes/item_passes.h"
#include <float.h>
#include <math.h>

enum { GRAIN = 1 << 14, MAX_JOBS = 64, ITERATIONS = 200, MAX_HALVINGS = 30 };
#define USUAL        2.0 /* the strength that predicts best on the average crowd */
#define SPREAD       1.5 /* of log a between crowds */
#define RATES_WEIGHT 10.0
#define TOLERANCE    1e-10 /* of log(a r) */
#define MAX_STEP     2.0
#define SLACK        1e-14 /* of L, by rounding errors */
#define MAX_VOTES    0x1p53

typedef struct {
    double strength;
} smoothed_options;

static const dis_option options[] = {
    {.key = "strength",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(smoothed_options, strength),
     .default_value = "auto",
     .choices = "auto",
     .low = 0,
     .high = 1e9,
     .summary = "pseudo-votes per item, distributed as all votes; auto: estimated from the votes"},
};

/* Sums over items: for each class (n_classes) A = sum c / (c - 1 + alpha) / n and B with the square of the divisor, and
 * then the log-likelihood, the sums of 1 / (n - 1 + a) and of its square. The first pass computes the class shares
 * instead, the number of items with votes, of those with two or more, and of those that are not integers. */
enum { LIKELIHOOD, INVERSE, INVERSE_SQUARE, TOTALS };
enum { VOTED, REPEATED, BROKEN };

typedef struct {
    const dis__fit_args *args;
    size_t n_classes;
    double strength;
    dis__item_sums pass;
    double *counts; /* (threads, n_classes) */
    double *alpha;  /* (n_classes): a r */
    double *sums;   /* (2 n_classes + TOTALS) */
    double *share;  /* (n_classes): s */
    double *step;   /* (n_classes) of log alpha */
    double *before; /* (n_classes) */
} smoothing;

static double total_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += x[k];
    return sum;
}

static void share_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const smoothing *s = arg;
    const size_t K = s->n_classes;
    double *c = s->counts + (size_t)thread * K, *totals = sums + 2 * K;
    for (size_t i = first; i < last; i++) {
        dis__item_count_votes(&s->args->votes, i, c);
        const double n = total_of(c, K);
        if (!(n > 0 && n <= MAX_VOTES)) continue;
        bool broken = false;
        for (size_t k = 0; k < K; k++) {
            sums[k] += c[k] / n;
            broken |= c[k] != floor(c[k]);
        }
        totals[VOTED]++;
        totals[REPEATED] += n >= 2;
        totals[BROKEN] += broken;
    }
}

static void likelihood_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const smoothing *s = arg;
    const size_t K = s->n_classes;
    const double a = total_of(s->alpha, K);
    double *c = s->counts + (size_t)thread * K, *square = sums + K, *totals = sums + 2 * K;
    for (size_t i = first; i < last; i++) {
        dis__item_count_votes(&s->args->votes, i, c);
        const double n = total_of(c, K);
        if (!(n >= 2 && n <= MAX_VOTES)) continue;
        double logs = 0;
        for (size_t k = 0; k < K; k++) {
            if (c[k] == 0) continue;
            const double rest = c[k] - 1 + s->alpha[k], share = c[k] / n;
            logs += share * dis__log(rest);
            sums[k] += share / rest;
            square[k] += share / (rest * rest);
        }
        const double rest = n - 1 + a;
        totals[LIKELIHOOD] += logs - dis__log(rest);
        totals[INVERSE] += 1 / rest;
        totals[INVERSE_SQUARE] += 1 / (rest * rest);
    }
}

/* L at alpha, and the sums for its derivatives. */
static dis_status measure(smoothing *s, double *objective)
{
    const size_t K = s->n_classes;
    DIS_TRY(dis__item_sums_run(&s->pass, s->sums));
    const double a = total_of(s->alpha, K), from_usual = dis__log(a / USUAL);
    double sum = s->sums[2 * K + LIKELIHOOD] - from_usual * from_usual / (2 * SPREAD * SPREAD);
    for (size_t k = 0; k < K; k++) sum += RATES_WEIGHT * s->share[k] * dis__log(s->alpha[k] / a);
    *objective = sum;
    return DIS_OK;
}

/* Changes of L with log alpha_k: the derivative, and the negative second derivative without the part shared by the
 * classes. `down` is the negative derivative by a. */
static double slope_of(const smoothing *s, size_t k, double down, double *curve)
{
    const double alpha = s->alpha[k], prior = RATES_WEIGHT * s->share[k];
    const double up = alpha * s->sums[k] + prior, slope = up - alpha * down;
    *curve = alpha * alpha * s->sums[s->n_classes + k] + prior - slope;
    return slope;
}

/* The Hessian in log alpha is -diag(curve) + z alpha alpha'. */
static void find_step(const smoothing *s)
{
    const size_t K = s->n_classes;
    const double *totals = s->sums + 2 * K, *alpha = s->alpha;
    const double a = total_of(alpha, K), from_usual = dis__log(a / USUAL), tight = 1 / (SPREAD * SPREAD);
    const double down = totals[INVERSE] + (RATES_WEIGHT + tight * from_usual) / a;
    const double z = totals[INVERSE_SQUARE] + (RATES_WEIGHT + tight * (from_usual - 1)) / (a * a);
    double inverse = 0, along = 0, curve;
    bool concave = true;
    for (size_t k = 0; k < K; k++) {
        s->step[k] = slope_of(s, k, down, &curve);
        concave &= curve > 0;
        inverse += alpha[k] * alpha[k] / curve;
        along += alpha[k] * s->step[k] / curve;
    }
    concave &= z * inverse < 1;
    for (size_t k = 0; k < K; k++) {
        const double slope = slope_of(s, k, down, &curve), x = alpha[k] * down;
        const double fixed_point = x > 0 ? dis__log1p(slope / x) : MAX_STEP;
        const double newton = (slope + z * along / (1 - z * inverse) * alpha[k]) / curve;
        s->step[k] = fmax(-MAX_STEP, fmin(concave ? newton : fixed_point, MAX_STEP));
    }
}

/* The step, halved until L does not decrease; `largest` is the remaining step. */
static dis_status apply_step(smoothing *s, double *objective, double *largest)
{
    double reached = -INFINITY, scale = 1;
    for (size_t k = 0; k < s->n_classes; k++) s->before[k] = s->alpha[k];
    for (int n = 0; n <= MAX_HALVINGS && !(reached >= *objective - SLACK * fabs(*objective)); n++, scale /= 2) {
        const double of_step = n < MAX_HALVINGS ? scale : 0;
        *largest = 0;
        for (size_t k = 0; k < s->n_classes; k++) {
            s->alpha[k] = s->before[k] * dis__exp(of_step * s->step[k]);
            *largest = fmax(*largest, of_step * fabs(s->step[k]));
        }
        DIS_TRY(measure(s, &reached));
    }
    *objective = reached;
    return DIS_OK;
}

static dis_status estimate(smoothing *s, dis_fit *fit)
{
    double objective = -INFINITY, largest = INFINITY;
    s->pass.job = likelihood_job;
    DIS_TRY(measure(s, &objective));
    fit->converged = false;
    while (fit->iterations < ITERATIONS && !fit->converged) {
        find_step(s);
        DIS_TRY(apply_step(s, &objective, &largest));
        fit->iterations++;
        DIS_TRY(dis__fit_add_objective(fit, objective));
        dis__progress(s->args->ctx, "smoothed", (double)fit->iterations / ITERATIONS);
        fit->converged = largest < TOLERANCE;
    }
    return DIS_OK;
}

/* ---- all of it ---- */

static dis_status find_alpha(smoothing *s, dis_fit *fit)
{
    const smoothed_options *o = s->args->options;
    const size_t K = s->n_classes;
    const double *totals = s->sums + 2 * K;
    s->pass.job = share_job;
    DIS_TRY(dis__item_sums_run(&s->pass, s->sums));
    const double strength = isnan(o->strength) ? USUAL : o->strength;
    for (size_t k = 0; k < K; k++) {
        s->share[k] = (s->sums[k] + 1 / (double)K) / (totals[VOTED] + 1);
        s->alpha[k] = strength * s->share[k];
    }
    if (!isnan(o->strength) || K == 1) return DIS_OK;
    fit->strength_assumed = totals[REPEATED] == 0 || totals[BROKEN] > 0;
    return fit->strength_assumed ? DIS_OK : estimate(s, fit);
}

static void smooth(const dis__fit_args *args, const void *arg, size_t i, double *p)
{
    (void)i;
    const smoothing *s = arg;
    const double sum = total_of(p, args->votes.n_classes), a = s->strength;
    double max = 0;
    for (size_t k = 0; k < s->n_classes; k++) max = p[k] > max ? p[k] : max;
    const double unit = sum > DBL_MAX ? max : 1; /* counts near the upper limit of double */
    for (size_t k = 0; k < s->n_classes; k++) p[k] = p[k] / unit + s->alpha[k] / unit;
    const double total = unit == 1 ? sum + a : total_of(p, s->n_classes);
    for (size_t k = 0; k < s->n_classes; k++) p[k] /= total;
}

static dis_status run_smoothed(smoothing *s, dis_fit *fit)
{
    const size_t K = s->n_classes, threads = (size_t)dis_context_n_threads(s->args->ctx);
    double *rates;
    DIS_TRY(dis__alloc_array(&s->counts, dis__saturating_size(threads, K, 0), sizeof *s->counts));
    DIS_TRY(dis__alloc_zeroed(&s->sums, dis__saturating_size(K, 6, TOTALS), sizeof *s->sums));
    s->alpha = s->sums + 2 * K + TOTALS;
    s->share = s->alpha + K;
    s->step = s->share + K;
    s->before = s->step + K;
    DIS_TRY(dis__item_sums_create(&s->pass));
    DIS_TRY(find_alpha(s, fit));
    DIS_TRY(dis__fit_add_parameter(fit, "prior", "t", &rates));
    s->strength = fit->strength = total_of(s->alpha, K);
    for (size_t k = 0; k < K; k++) rates[k] = s->strength > 0 ? s->alpha[k] / s->strength : s->share[k];
    return dis__item_formula_fit(s->args, fit, &(dis__item_formula){.item = smooth, .arg = s, .unvoted = rates});
}

static dis_status fit_smoothed(const dis__fit_args *args, dis_fit *fit)
{
    smoothing s = {.args = args,
                   .n_classes = args->votes.n_classes,
                   .pass = {.args = args,
                            .n_jobs = dis__n_jobs(args->part.n_items, GRAIN, MAX_JOBS),
                            .n_sums = dis__saturating_size(args->votes.n_classes, 2, TOTALS),
                            .arg = &s}};
    const dis_status status = run_smoothed(&s, fit);
    dis__item_sums_destroy(&s.pass);
    dis__free(s.counts);
    dis__free(s.sums);
    return status;
}

const dis__method dis__method_smoothed = {
    .info = {.name = "smoothed",
             .summary = "Dirichlet-smoothed vote shares: the expected distribution of the next vote",
             .source = "Dirichlet-multinomial; Minka 2000, leave-one-out likelihood",
             .objective = "leave-one-out likelihood + prior",
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(smoothed_options),
    .fit = fit_smoothed,
    .shares = true,
    .ranks = true,
};
