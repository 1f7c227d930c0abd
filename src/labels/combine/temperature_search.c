/* Temperatures of the views (Wright & Augenstein 2022 eq. 5-6): one T_m per view, softmax(log p_m / T_m), chosen to
 * minimise
 *
 *     f(T) = (sum_{a < b} w_a w_b mean_i JSD(a_i, b_i)) / (sum_{a < b} w_a w_b) + lambda * sum_m T_m^2,    T_m >=
 * bound,
 *
 * with log p floored at -15. Eq. 6 taken literally leaves one T undetermined and depends on the order of views; this is
 * what the released code computes. Without a bound the minimum is at T -> 0, all views one-hot, the opposite of the
 * intention.
 *
 * The search is BFGS with bounds: coordinates on a bound that would leave the box are fixed, the inverse Hessian
 * applies to the others, and a step projected to the box must still decrease f enough (Armijo; Bertsekas 1982). It
 * stops when no projected derivative is above 1e-10. It runs from three starts, since f is not convex.
 *
 * Cost: a pass over the items per evaluation, n_views^2 / 2 * n_classes logarithms per item; some 10 evaluations per
 * start. Each rank has its items, and 1 + n_views sums are sent from rank to rank per evaluation.
 */
#include "labels/combine/tempering.h"
#include "labels/passes/item_passes.h"
#include <math.h>
#include <string.h>

enum { MAX_STEPS = 200, MAX_HALVINGS = 40 };
#define MAX_TEMPERATURE 1000.0
#define FLAT            1e-10
#define BETTER          1e-6

typedef struct {
    const dis__combine_args *args;
    double lambda;
    const double *temperature; /* (n_views): temperatures of the current evaluation */
    size_t n_scratch;
    double *scratch;     /* (threads, n_scratch) */
    dis__item_sums pass; /* of f and its derivatives */
} score_work;

static void score_job(void *arg, size_t first, size_t last, double *sums, int thread)
{
    const score_work *w = arg;
    DIS_KERNEL_SELECT(dis__temperatures_evaluate)
    (w->args, w->temperature, first, last, w->scratch + (size_t)thread * w->n_scratch, sums);
}

/* f and its derivatives (n_views) at T. */
static dis_status score(score_work *w, const double *temperature, double *value, double *gradient)
{
    const dis__combine_args *a = w->args;
    double pairs = 0, sums[1 + DIS_MAX_VIEWS];
    for (size_t i = 0; i < a->n_views; i++)
        for (size_t j = i + 1; j < a->n_views; j++) pairs += a->weight[i] * a->weight[j];
    const double scale = pairs > 0 && a->part.n_items > 0 ? 1 / (pairs * (double)a->part.n_items) : 0;
    w->temperature = temperature;
    DIS_TRY(dis__item_sums_run(&w->pass, sums));
    *value = scale * sums[0];
    for (size_t m = 0; m < a->n_views; m++) {
        *value += w->lambda * temperature[m] * temperature[m];
        gradient[m] = scale * sums[1 + m] + 2 * w->lambda * temperature[m];
    }
    return DIS_OK;
}

typedef struct {
    size_t n;
    double low, high;
    double x[DIS_MAX_VIEWS], gradient[DIS_MAX_VIEWS], value;
    double inverse[DIS_MAX_VIEWS][DIS_MAX_VIEWS]; /* approximation of the Hessian */
} search;

static bool is_held(const search *s, size_t i)
{
    return (s->x[i] <= s->low && s->gradient[i] > 0) || (s->x[i] >= s->high && s->gradient[i] < 0);
}

static void forget(search *s, double scale)
{
    memset(s->inverse, 0, sizeof s->inverse);
    for (size_t i = 0; i < s->n; i++) s->inverse[i][i] = scale;
}

/* Search direction from s->x; false if all free derivatives are flat. */
static bool direction(search *s, double *d)
{
    double largest = 0, downhill = 0;
    for (size_t i = 0; i < s->n; i++)
        if (!is_held(s, i)) largest = fmax(largest, fabs(s->gradient[i]));
    if (!(largest > FLAT)) return false;
    for (int attempt = 0; attempt < 2; attempt++) {
        downhill = 0;
        for (size_t i = 0; i < s->n; i++) {
            d[i] = 0;
            if (is_held(s, i)) continue;
            for (size_t j = 0; j < s->n; j++)
                if (!is_held(s, j)) d[i] -= s->inverse[i][j] * s->gradient[j];
            downhill += d[i] * s->gradient[i];
        }
        if (downhill < 0) break;
        forget(s, .1 / largest); /* first step: a tenth */
    }
    return downhill < 0;
}

static void learn(search *s, const double *step, const double *change)
{
    double curvature = 0, size = 0, v[DIS_MAX_VIEWS];
    for (size_t i = 0; i < s->n; i++) {
        curvature += step[i] * change[i];
        size += change[i] * change[i];
    }
    if (!(curvature > 1e-12 * size)) return;
    double vy = 0;
    for (size_t i = 0; i < s->n; i++) {
        v[i] = 0;
        for (size_t j = 0; j < s->n; j++) v[i] += s->inverse[i][j] * change[j];
        vy += v[i] * change[i];
    }
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->n; j++)
            s->inverse[i][j] +=
                (1 + vy / curvature) * step[i] * step[j] / curvature - (v[i] * step[j] + step[i] * v[j]) / curvature;
}

/* One step of the search; *moved is false at a minimum. */
static dis_status advance(score_work *w, search *s, bool *moved)
{
    double d[DIS_MAX_VIEWS], x[DIS_MAX_VIEWS], gradient[DIS_MAX_VIEWS], step[DIS_MAX_VIEWS], value;
    *moved = false;
    if (!direction(s, d)) return DIS_OK;
    double length = 1;
    for (int halving = 0; halving < MAX_HALVINGS; halving++, length /= 2) {
        double expected = 0;
        for (size_t i = 0; i < s->n; i++) {
            x[i] = fmin(fmax(s->x[i] + length * d[i], s->low), s->high);
            step[i] = x[i] - s->x[i];
            expected += step[i] * s->gradient[i];
        }
        if (!(expected < 0)) continue;
        DIS_TRY(score(w, x, &value, gradient));
        if (!(value <= s->value + 1e-4 * expected)) continue;
        double change[DIS_MAX_VIEWS];
        for (size_t i = 0; i < s->n; i++) change[i] = gradient[i] - s->gradient[i];
        learn(s, step, change);
        memcpy(s->x, x, s->n * sizeof *x);
        memcpy(s->gradient, gradient, s->n * sizeof *gradient);
        s->value = value;
        *moved = true;
        return DIS_OK;
    }
    return DIS_OK;
}

/* Minimises from all temperatures equal to `start`. */
static dis_status descend(score_work *w, search *s, double start, bool move, int *n_steps)
{
    for (size_t m = 0; m < s->n; m++) s->x[m] = start;
    forget(s, 0); /* an empty matrix gives no direction: use the steepest descent first */
    DIS_TRY(score(w, s->x, &s->value, s->gradient));
    for (*n_steps = 0; move && *n_steps < MAX_STEPS; *n_steps += move) DIS_TRY(advance(w, s, &move));
    return DIS_OK;
}

/* f may have several minima: the lowest one found from the start, from below and from above it. Another start must be
 * clearly better, so that rounding does not choose between two paths to the same minimum. */
static dis_status choose(score_work *w, const dis__temperature_search_options *o)
{
    const dis__combine_args *a = w->args;
    const bool move = !(o->fixed > 0);
    const double start = move ? fmax(o->start, o->bound) : o->fixed, others[] = {o->bound, 4 * start};
    search best = {.n = a->n_views, .low = o->bound, .high = MAX_TEMPERATURE};
    int n_steps;
    DIS_TRY(descend(w, &best, start, move, &n_steps));
    for (size_t i = 0; move && i < sizeof others / sizeof *others; i++) {
        search s = best;
        int n_done;
        if (!(others[i] > 0) || others[i] == start || others[i] > MAX_TEMPERATURE) continue;
        DIS_TRY(descend(w, &s, others[i], true, &n_done));
        if (!(s.value < best.value - BETTER * fabs(best.value))) continue;
        best = s;
        n_steps = n_done;
    }
    for (size_t m = 0; m < best.n; m++) {
        a->temperature[m] = best.x[m];
        a->on_bound[m] = move && best.x[m] <= best.low;
    }
    a->did->objective = best.value;
    a->did->max_steps = n_steps;
    return DIS_OK;
}

dis_status dis__temperature_search_run(const dis__combine_args *args, const dis__temperature_search_options *options)
{
    const dis__fit_args items = {.ctx = args->ctx, .votes = {.n_items = args->n_items}, .part = args->part};
    score_work w = {
        .args = args,
        .lambda = options->lambda,
        .n_scratch = dis__tempering_scratch(args->n_views, args->n_classes),
        .pass = {.args = &items,
                 .n_jobs = dis__n_jobs(args->part.n_items, 1 + 4096 / (args->n_classes * args->n_views), 64),
                 .n_sums = 1 + args->n_views,
                 .job = score_job,
                 .arg = &w},
    };
    const size_t threads = (size_t)dis_context_n_threads(args->ctx);
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&w.scratch, threads, dis__saturating_size(w.n_scratch, sizeof *w.scratch, 0)),
                 end);
    DIS_TRY_GOTO(status, dis__item_sums_create(&w.pass), end);
    status = choose(&w, options);
end:
    dis__free(w.scratch);
    dis__item_sums_destroy(&w.pass);
    return status;
}
