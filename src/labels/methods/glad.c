/* GLAD: abilities of workers and difficulties of items (Whitehill et al. 2009). With ability a_w and easiness exp(b_i),
 * a vote is correct with probability sigma(x), x = a_w exp(b_i); wrong labels share the rest equally; the class prior
 * is uniform; a and b have N(1, 1) priors (as in crowd-kit 1.4.1). The soft label is the posterior of the true class.
 * The reported difficulty is exp(-b); it is 1 if x = 1 at ability 1.
 *
 * The objective is the logarithm of the marginal likelihood times the priors. As log P(vote | true) = [vote = true] (x
 * + L) - log(1 + exp x) - L with L = log(K - 1), the scores of an item's classes are exp(b) A_k + n_k L up to a
 * constant, with A_k the sum of the abilities of the votes for class k: the posterior needs no function of single
 * votes.
 *
 * An iteration has three parts, none of which can decrease the objective:
 *   1. a Newton step for every a_w in the expected log-likelihood under the current posteriors (EM: concave and
 * separate for each worker), halved until it does not decrease;
 *   2. a Newton step for every b_i in the marginal likelihood itself, which given the abilities is a function of b_i
 *      only, halved likewise;
 *   3. the exact best move along (a c, b - log c), which keeps all x unchanged: without it the priors fix the two
 *      scales very slowly. Decreases are compared with a relative tolerance of 1e-12, so that rounding, and with it the
 *      order of rows, has no influence.
 *
 * Cost: two passes over the votes per iteration, one exponential and one logarithm per vote each, 8 votes in parallel.
 * Memory: five values per item, a few per worker for each job. */
#include "core/numbers/elementary.h"
#include "core/numbers/logistic.h"
#include "labels/passes/item_passes.h"
#include <math.h>
#include <string.h>

typedef struct {
    int64_t iterations;
    double tolerance;
} glad_options;

static const dis_option options[] = {
    DIS_OPTION_ITERATIONS(glad_options, "1000"),
    DIS_OPTION_TOLERANCE(glad_options, "1e-8"),
};

enum { MAX_JOBS = 16, BLOCK_VOTES = 1024, MAX_HALVINGS = 40 };
#define SLACK        1e-12
#define LONGEST_STEP 1.0
#define LOG_SQRT_2PI 0.91893853320467274178

typedef struct {
    double gradient, curvature, expected; /* of a worker's part of the expected log-likelihood, without the prior */
} worker_sums;
enum { WORKER_SUMS = sizeof(worker_sums) / sizeof(double) };

typedef struct {
    const dis__fit_args *args;
    dis_fit *fit;
    size_t block;                  /* maximum number of votes of a block of items */
    double log_others;             /* L */
    double *ability;               /* (n_workers) */
    double *ability_try;           /* (n_workers) */
    double *expected;              /* (n_workers): expected log-likelihood of a worker's votes at `ability` */
    double *easy;                  /* (n_items): b */
    double *easy_step;             /* (n_items): the next value to try */
    double *marginal;              /* (n_items): log-likelihood of the item at the current abilities and b */
    dis__item_sums items, workers; /* passes over items: steps of b; evaluation at trial abilities */
    double *total;                 /* their sums: (n_workers) worker_sums, followed by the marginal log-likelihood */
    double *scratch;               /* (threads, n_scratch) */
    size_t n_scratch;
} glad;

/* Scratch of a thread: a block of votes and one item's classes. */
typedef struct {
    double *sigma, *tail; /* (block + pad) */
    double *support;      /* (n_classes): sum of the abilities of votes for the class */
    double *n_votes;      /* (n_classes) */
    double *score;        /* (n_classes) */
} room;

static room thread_room(const glad *g, int thread)
{
    double *at = g->scratch + (size_t)thread * g->n_scratch;
    const size_t n = g->block + DIS_LOGISTIC_PAD, k = g->fit->n_classes;
    return (room){at, at + n, at + 2 * n, at + 2 * n + k, at + 2 * n + 2 * k};
}

/* x of the votes of items first .. last - 1 at abilities a and easiness b, followed by their sigma and tail
 * (logistic.h). */
static void evaluate(const glad *g, const double *ability, const double *easy, size_t first, size_t last, const room *r)
{
    const dis_votes_view *v = &g->args->votes;
    size_t n = 0;
    for (size_t i = first; i < last; i++) {
        const double scale = dis__exp(easy[i - first]);
        for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) r->sigma[n++] = ability[v->worker[k]] * scale;
    }
    memset(r->sigma + n, 0, DIS_LOGISTIC_PAD * sizeof *r->sigma);
    DIS_KERNEL_SELECT(dis__logistic)(r->sigma, n, r->sigma, r->tail);
}

/* The same for one item at easiness `easy`, for the few whose step has to be halved. */
static void evaluate_item(const glad *g, size_t i, double easy, double *sigma, double *tail)
{
    const dis_votes_view *v = &g->args->votes;
    const double scale = dis__exp(easy);
    for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
        const double x = g->ability[v->worker[k]] * scale, e = dis__exp(-fabs(x));
        *sigma++ = (x >= 0 ? 1 : e) / (1 + e);
        *tail++ = dis__log1p(e);
    }
}

/* The item's posterior into p (n_classes) and its marginal log-likelihood; tail: of its votes. *mean and *spread (may
 * be NULL) receive the posterior mean and variance of exp(b) A_k, the first and, with the mean, second derivative of
 * the score by b. */
static double posterior(const glad *g, const double *ability, double easy, size_t i, const double *tail, const room *r,
                        double *p, double *mean, double *spread)
{
    const dis_votes_view *v = &g->args->votes;
    const size_t n_classes = v->n_classes;
    const uint64_t first = v->start[i], last = v->start[i + 1];
    const int32_t gold = dis__item_gold(g->args, i);
    const double scale = dis__exp(easy);
    double lost = 0, sum = 0, m1 = 0, m2 = 0;
    size_t best = gold >= 0 ? (size_t)gold : 0;
    memset(r->support, 0, n_classes * sizeof *r->support);
    memset(r->n_votes, 0, n_classes * sizeof *r->n_votes);
    for (uint64_t k = first; k < last; k++) {
        const size_t label = dis__vote_label(v, k);
        r->support[label] += ability[v->worker[k]];
        r->n_votes[label] += 1;
    }
    for (size_t k = 0; k < n_classes; k++) {
        r->score[k] = scale * r->support[k] + r->n_votes[k] * g->log_others;
        if (gold < 0 && r->score[k] > r->score[best]) best = k;
    }
    /* log-likelihood of the votes if `best` is true, by terms that are small where the votes agree with it */
    for (uint64_t k = first; k < last; k++) {
        const double x = scale * ability[v->worker[k]], against = dis__vote_label(v, k) == best ? -x : x;
        lost += tail[k - first] + (against > 0 ? against : 0);
    }
    lost += ((double)(last - first) - r->n_votes[best]) * g->log_others;
    const double max = r->score[best];
    const double unvoted = dis__exp(-max);
    for (size_t k = 0; k < n_classes; k++) {
        p[k] = gold >= 0 ? (int32_t)k == gold : r->n_votes[k] > 0 ? dis__exp(r->score[k] - max) : unvoted;
        sum += p[k];
    }
    for (size_t k = 0; k < n_classes; k++) {
        p[k] /= sum;
        m1 += p[k] * scale * r->support[k];
    }
    if (mean) {
        for (size_t k = 0; k < n_classes; k++) m2 += p[k] * (scale * r->support[k] - m1) * (scale * r->support[k] - m1);
        *mean = m1;
        *spread = m2;
    }
    return dis__log(sum) - lost - dis__log((double)n_classes);
}

/* The end of the block of items that starts at `first`: as many items as fit, at least one. */
static size_t block_end(const glad *g, size_t first, size_t last)
{
    const uint64_t *start = g->args->votes.start;
    size_t end = first + 1;
    while (end < last && end - first < g->block && start[end + 1] - start[first] <= g->block) end++;
    return end;
}

static double prior(double x)
{
    return -.5 * (x - 1) * (x - 1);
}

/* Expected log-likelihood of a vote that is correct with probability `right`, up to a constant: right * x - log(1 + exp
 * x). */
static double expected_log(double right, double x, double tail)
{
    return (x > 0 ? right - 1 : right) * x - tail;
}

/* Applies the planned step of b_i, halved until it does not decrease; sigma and tail are those of the item's votes at
 * b_i + step, and are updated if the step was halved. */
static void update_item(const glad *g, size_t i, room *r, size_t offset, double *p)
{
    room own = *r;
    own.sigma += offset;
    own.tail += offset;
    const double before = g->marginal[i] + prior(g->easy[i]);
    double step = g->easy_step[i];
    for (int halving = 0;; halving++) {
        const double easy = g->easy[i] + step;
        const double now = posterior(g, g->ability, easy, i, own.tail, &own, p, NULL, NULL);
        if (step == 0 || now + prior(easy) >= before - SLACK * (1 + fabs(before))) {
            g->easy[i] = easy;
            g->marginal[i] = now;
            return;
        }
        step = halving < MAX_HALVINGS ? step / 2 : 0;
        evaluate_item(g, i, g->easy[i] + step, own.sigma, own.tail);
    }
}

/* Part 2 of an iteration, and the inputs of part 1 of the next: steps of b are applied, posteriors updated, and each
 * worker's derivatives summed. */
static void item_job(void *arg, size_t first, size_t last, double *into, int thread)
{
    const glad *g = arg;
    const dis_votes_view *v = &g->args->votes;
    worker_sums *sums = (worker_sums *)into;
    room r = thread_room(g, thread);
    double *total = &into[v->n_workers * WORKER_SUMS], *easy = r.score + v->n_classes; /* (block + 1) */
    for (size_t i = first, end; i < last; i = end) {
        end = block_end(g, i, last);
        for (size_t b = i; b < end; b++) easy[b - i] = g->easy[b] + g->easy_step[b];
        evaluate(g, g->ability, easy, i, end, &r);
        size_t at = 0;
        for (size_t b = i; b < end; b++) {
            double *p = g->fit->p + b * v->n_classes;
            update_item(g, b, &r, at, p);
            const double scale = dis__exp(g->easy[b]);
            *total += g->marginal[b];
            for (uint64_t k = v->start[b]; k < v->start[b + 1]; k++, at++) {
                worker_sums *s = &sums[v->worker[k]];
                const double right = p[dis__vote_label(v, k)], sigma = r.sigma[at];
                s->gradient += scale * (right - sigma);
                s->curvature += scale * scale * sigma * (1 - sigma);
                s->expected += expected_log(right, scale * g->ability[v->worker[k]], r.tail[at]);
            }
        }
    }
}

/* At the trial abilities: the expected log-likelihood of each worker's votes, and the Newton step of b for each
 * item. */
static void worker_job(void *arg, size_t first, size_t last, double *into, int thread)
{
    const glad *g = arg;
    const dis_votes_view *v = &g->args->votes;
    worker_sums *sums = (worker_sums *)into;
    room r = thread_room(g, thread);
    double *other = r.score + v->n_classes + g->block + 1; /* (n_classes): the posterior at these abilities */
    for (size_t i = first, end; i < last; i = end) {
        end = block_end(g, i, last);
        evaluate(g, g->ability_try, g->easy + i, i, end, &r);
        size_t at = 0;
        for (size_t b = i; b < end; b++) {
            const double *p = g->fit->p + b * v->n_classes, scale = dis__exp(g->easy[b]);
            double mean, spread, slope = 0, bend = 0;
            g->marginal[b] = posterior(g, g->ability_try, g->easy[b], b, r.tail + at, &r, other, &mean, &spread);
            for (uint64_t k = v->start[b]; k < v->start[b + 1]; k++, at++) {
                const double x = scale * g->ability_try[v->worker[k]], sigma = r.sigma[at];
                sums[v->worker[k]].expected += expected_log(p[dis__vote_label(v, k)], x, r.tail[at]);
                slope += sigma * x;
                bend += sigma * (1 - sigma) * x * x;
            }
            const double gradient = mean - slope - (g->easy[b] - 1), curvature = slope + bend + 1 - mean - spread;
            /* where the marginal is not concave, an ascent step with a length that follows from the prior's
             * curvature */
            const double step = gradient / (curvature > .1 ? curvature : 1 + fabs(curvature));
            g->easy_step[b] = !isfinite(step)        ? 0
                              : step > LONGEST_STEP  ? LONGEST_STEP
                              : step < -LONGEST_STEP ? -LONGEST_STEP
                                                     : step;
        }
    }
}

static worker_sums sums_of(const glad *g, size_t w)
{
    return ((const worker_sums *)g->total)[w];
}

/* Sums over items of b - 1, and of its prior. */
static void easy_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    (void)thread;
    const glad *g = arg;
    for (size_t i = first; i < last; i++) *sums += g->easy[i] - 1;
}

static void prior_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    (void)thread;
    const glad *g = arg;
    for (size_t i = first; i < last; i++) *sums += prior(g->easy[i]);
}

/* Part 3: the best c for (a c, b - log c); *log_c receives log c. */
static dis_status best_scale(glad *g, double *log_c)
{
    double a1 = 0, a2 = 0, b1 = 0, t = 0;
    DIS_TRY(dis__item_sums_run_in_order(g->args, 1, easy_job, g, NULL, &b1));
    for (size_t w = 0; w < g->fit->n_workers; w++) {
        a1 += g->ability[w];
        a2 += g->ability[w] * g->ability[w];
    }
    const double n = (double)g->args->part.n_items;
    for (int step = 0; step < 20; step++) { /* Newton on sum (c a - 1)^2 / 2 + sum (b - t - 1)^2 / 2, c = e^t */
        const double c = dis__exp(t), slope = c * c * a2 - c * a1 - b1 + n * t, curvature = 2 * c * c * a2 - c * a1 + n;
        const double dt = -slope / (curvature > 0 ? curvature : n + c * c * a2);
        t += dt > 1 ? 1 : dt < -1 ? -1 : dt;
    }
    const double c = dis__exp(t), gain = .5 * a2 * (1 - c * c) - a1 * (1 - c) + b1 * t - .5 * n * t * t;
    *log_c = gain > 0 && isfinite(t) ? t : 0;
    return DIS_OK;
}

/* The objective, after all parts of an iteration. */
static dis_status objective(glad *g, double *out)
{
    double sum = g->total[g->fit->n_workers * WORKER_SUMS];
    for (size_t w = 0; w < g->fit->n_workers; w++) sum += prior(g->ability[w]);
    DIS_TRY(dis__item_sums_run_in_order(g->args, 1, prior_job, g, &sum, &sum));
    *out = sum - LOG_SQRT_2PI * (double)(g->fit->n_workers + g->args->part.n_items);
    return DIS_OK;
}

/* Part 1: tries Newton steps for all workers, halving those that decrease the objective. */
static dis_status step_workers(glad *g, double log_c)
{
    const size_t n_workers = g->fit->n_workers;
    const double c = dis__exp(log_c);
    for (size_t w = 0; w < n_workers; w++) {
        const worker_sums s = sums_of(g, w); /* computed before abilities were scaled by c and easiness by 1/c */
        const double step = (s.gradient / c - (g->ability[w] - 1)) / (s.curvature / (c * c) + 1);
        g->expected[w] = s.expected;
        g->ability_try[w] = g->ability[w] + (step > LONGEST_STEP    ? LONGEST_STEP
                                             : step < -LONGEST_STEP ? -LONGEST_STEP
                                                                    : step);
    }
    for (int halving = 0;; halving++) {
        bool lost = false;
        DIS_TRY(dis__item_sums_run(&g->workers, g->total));
        for (size_t w = 0; w < n_workers; w++) {
            const double before = g->expected[w] + prior(g->ability[w]),
                         now = sums_of(g, w).expected + prior(g->ability_try[w]);
            if (g->ability_try[w] == g->ability[w] || now >= before - SLACK * (1 + fabs(before))) continue;
            lost = true;
            g->ability_try[w] = halving < MAX_HALVINGS ? .5 * (g->ability_try[w] + g->ability[w]) : g->ability[w];
        }
        if (!lost) break;
    }
    memcpy(g->ability, g->ability_try, n_workers * sizeof *g->ability);
    return DIS_OK;
}

/* Parts 2 and 3. Returns log c by *log_c. */
static dis_status step_items(glad *g, double *log_c)
{
    DIS_TRY(dis__item_sums_run(&g->items, g->total));
    DIS_TRY(best_scale(g, log_c));
    const double c = dis__exp(*log_c);
    for (size_t w = 0; w < g->fit->n_workers; w++) g->ability[w] *= c;
    for (size_t i = 0; i < g->fit->n_items; i++) g->easy[i] -= *log_c;
    return DIS_OK;
}

static dis_status iterate(glad *g)
{
    const glad_options *o = g->args->options;
    double log_c, before;
    DIS_TRY(step_items(g, &log_c));
    DIS_TRY(objective(g, &before));
    g->fit->objective = before;
    g->fit->converged = false;
    for (int64_t n = 1; n <= o->iterations && !g->fit->converged; n++) {
        DIS_TRY(step_workers(g, log_c));
        DIS_TRY(step_items(g, &log_c));
        double now;
        DIS_TRY(objective(g, &now));
        DIS_TRY(dis__fit_add_objective(g->fit, now));
        g->fit->iterations = (int)n;
        g->fit->converged = o->tolerance > 0 && fabs(now - before) < o->tolerance * fabs(now);
        before = now;
        dis__progress(g->args->ctx, "glad", (double)n / (double)o->iterations);
    }
    return DIS_OK;
}

static dis_status start(const dis__fit_args *args, glad *g, double *difficulty)
{
    bool found;
    const size_t n_workers = g->fit->n_workers, n_items = g->fit->n_items;
    for (size_t w = 0; w < n_workers; w++) g->ability[w] = 1;
    for (size_t i = 0; i < n_items; i++) difficulty[i] = dis__exp(-1);
    if (args->start) {
        DIS_TRY(dis__state_get(args->start, "glad", "ability", "w", &args->votes, g->ability, &found));
        DIS_TRY(dis__state_get(args->start, "glad", "difficulty", "i", &args->votes, difficulty, &found));
    }
    for (size_t w = 0; w < n_workers; w++)
        if (!isfinite(g->ability[w])) g->ability[w] = 1;
    for (size_t i = 0; i < n_items; i++) {
        g->easy[i] = difficulty[i] > 0 && isfinite(difficulty[i]) ? -dis__log(difficulty[i]) : 1;
        g->easy_step[i] = 0;
        g->marginal[i] = 0;
    }
    return DIS_OK;
}

static size_t count_jobs(const dis_votes_view *v, size_t n_votes)
{
    return dis__n_jobs(n_votes, dis__saturating_size(4, v->n_workers, 20000), MAX_JOBS);
}

static size_t memory(const dis_votes_view *v, const void *options_)
{
    (void)options_;
    const size_t items = dis__saturating_size(v->n_items, 4 * sizeof(double), 0),
                 workers = dis__saturating_size(v->n_workers, (3 + 3 * count_jobs(v, v->n_votes)) * sizeof(double), 0);
    return items == SIZE_MAX || workers == SIZE_MAX ? SIZE_MAX : dis__saturating_size(items, 1, workers);
}

static dis_status run_glad(const dis__fit_args *args, glad *g)
{
    const dis_votes_view *v = &args->votes;
    dis_fit *fit = g->fit;
    double *difficulty;
    DIS_TRY(dis__fit_add_parameter(fit, "ability", "w", &g->ability));
    DIS_TRY(dis__fit_add_parameter(fit, "difficulty", "i", &difficulty));
    for (size_t i = 0; i < v->n_items; i++) {
        const size_t n = (size_t)(v->start[i + 1] - v->start[i]);
        g->block = n > g->block ? n : g->block;
    }
    /* sigma and tail with their pads, easiness of a block's items, four rows of classes; whole cache lines */
    g->n_scratch = dis__saturating_size(3, g->block, 2 * DIS_LOGISTIC_PAD + 1);
    g->n_scratch = (dis__saturating_size(4, v->n_classes, g->n_scratch) + 7) / 8 * 8;
    DIS_TRY(dis__alloc_array(&g->ability_try, v->n_workers, sizeof *g->ability_try));
    DIS_TRY(dis__alloc_array(&g->expected, v->n_workers, sizeof *g->expected));
    DIS_TRY(dis__alloc_array(&g->easy, v->n_items, sizeof *g->easy));
    DIS_TRY(dis__alloc_array(&g->easy_step, v->n_items, sizeof *g->easy_step));
    DIS_TRY(dis__alloc_array(&g->marginal, v->n_items, sizeof *g->marginal));
    DIS_TRY(dis__alloc_array(&g->total, g->items.n_sums, sizeof *g->total));
    DIS_TRY(dis__item_sums_create(&g->items));
    g->workers = g->items; /* sequentially, in the same memory */
    g->workers.job = worker_job;
    DIS_TRY(dis__alloc_array(&g->scratch, (size_t)dis_context_n_threads(args->ctx), g->n_scratch * sizeof *g->scratch));
    DIS_TRY(start(args, g, difficulty));
    DIS_TRY(iterate(g));
    for (size_t i = 0; i < v->n_items; i++) difficulty[i] = dis__exp(-g->easy[i]);
    return DIS_OK;
}

static dis_status fit_glad(const dis__fit_args *args, dis_fit *fit)
{
    glad g = {.args = args,
              .fit = fit,
              .block = BLOCK_VOTES,
              .log_others = fit->n_classes > 2 ? dis__log((double)(fit->n_classes - 1)) : 0};
    g.items = (dis__item_sums){.args = args,
                               .n_jobs = count_jobs(&args->votes, args->part.n_votes),
                               .n_sums = dis__saturating_size(args->votes.n_workers, WORKER_SUMS, 1),
                               .job = item_job,
                               .arg = &g};
    const dis_status status = run_glad(args, &g);
    dis__item_sums_destroy(&g.items);
    dis__free(g.ability_try);
    dis__free(g.expected);
    dis__free(g.easy);
    dis__free(g.easy_step);
    dis__free(g.marginal);
    dis__free(g.total);
    dis__free(g.scratch);
    return status;
}

const dis__method dis__method_glad = {
    .info = {.name = "glad",
             .summary = "ability per annotator and difficulty per item",
             .source = "Whitehill et al. 2009, priors as crowd-kit 1.4.1",
             .objective = "marginal likelihood + prior",
             .needs_workers = true,
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(glad_options),
    .memory = memory,
    .fit = fit_glad,
    .ranks = true,
    .starts = true,
};
