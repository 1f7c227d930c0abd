/* Jensen-Shannon centroid: the distribution q that minimises sum_m w_m JS(p_m, q) over the views p_m (Wright &
 * Augenstein 2022, eq. 2; Nielsen 2020).
 *
 * The derivative by q_k is log(2 q_k) / 2 - sum_m w_m log(p_mk + q_k) / 2, so at the minimum over the simplex
 *
 *     phi_k(q_k) = sum_m w_m log(1 + p_mk / q_k) = mu    for every class k with positive probability in a view,
 *
 * with one mu for all. CCCP, q <- normalise(prod_m ((p_m + q) / 2)^w_m), converges in about 100 steps; Newton's method
 * on the same equations takes four or five (centroid_kernel.c). The problem is convex, so both converge to the unique
 * minimum. A class that no view supports keeps probability 0, and equal views are returned unchanged.
 *
 * If Newton's method does not converge (views that differ by hundreds of orders of magnitude), the slower fallback in
 * this file always does: phi_k is convex and decreasing in u = log q_k, so Newton's method for phi_k(u) = mu from the
 * left of the root increases monotonically to it; and q_k(mu) is convex and decreasing in mu, so the same holds for
 * sum_k q_k(mu) = 1.
 *
 * Cost: about 5 * M * K multiplications and 5 * K logarithms per item; 8 items in parallel. */
#include "core/numbers/elementary.h"
#include "labels/combine/centroid.h"
#include <math.h>
#include <string.h>

typedef struct {
    dis_reals weights;
    double tolerance;
    int64_t steps;
} centroid_options;

static const dis_option options[] = {
    DIS_OPTION_WEIGHTS,
    DIS_OPTION_CENTROID_TOLERANCE(centroid_options),
    DIS_OPTION_CENTROID_STEPS(centroid_options),
};

enum { CERTAIN_STEPS = 200 };

/* phi at u for one class; log_p: (n_views). *slope receives -dphi/du. */
static double phi_at(const dis__centroid_problem *c, const double *log_p, double u, double *slope)
{
    double phi = 0, s = 0;
    for (size_t m = 0; m < c->n_views; m++) {
        const double x = log_p[m] - u, e = dis__exp(-fabs(x)); /* log(1 + exp(x)) without overflow; x may be -inf */
        phi += c->weight[m] * ((x > 0 ? x : 0) + dis__log1p(e));
        s += c->weight[m] * (x > 0 ? 1 : e) / (1 + e);
    }
    *slope = s;
    return phi;
}

/* u with phi(u) = mu; *slope receives -dphi/du there. */
static double solve_class(const dis__centroid_problem *c, const double *log_p, double mu, double *slope)
{
    /* log(1 + x) > log(x) gives a u to the left of the root. */
    double held = 0, mean = 0;
    for (size_t m = 0; m < c->n_views; m++) {
        if (log_p[m] == -INFINITY) continue;
        held += c->weight[m];
        mean += c->weight[m] * log_p[m];
    }
    double u = (mean - mu) / held;
    for (int step = 0; step < CERTAIN_STEPS; step++) {
        const double du = (phi_at(c, log_p, u, slope) - mu) / *slope;
        if (!(du > 4e-16 * (1 + fabs(u)))) break;
        u += du;
    }
    return u;
}

int dis__centroid_compute_robust(const dis__centroid_problem *c, size_t i, double *scratch, double *q)
{
    const size_t n_classes = c->n_classes, n_views = c->n_views;
    double mu = 0, total = 0, slope;
    for (size_t k = 0; k < n_classes; k++) {
        double *log_p = scratch + k * n_views, sum = 0;
        for (size_t m = 0; m < n_views; m++) {
            const double p = c->p[m][i * n_classes + k];
            sum += p;
            log_p[m] = dis__log(p);
        }
        q[k] = sum > 0;
        /* At the minimum no q_k is above 1, so mu is at least phi_k(1) for every k: there the sum of q(mu) is 1 or
         * more. */
        const double at_one = sum > 0 ? phi_at(c, log_p, 0, &slope) : 0;
        mu = at_one > mu ? at_one : mu;
    }
    int step = 0;
    for (; step < CERTAIN_STEPS; step++) {
        double fall = 0;
        total = 0;
        for (size_t k = 0; k < n_classes; k++) {
            if (!(q[k] > 0)) continue;
            /* a class that underflows keeps the smallest double, so that it still counts as supported */
            const double x = dis__exp(solve_class(c, scratch + k * n_views, mu, &slope));
            q[k] = x > 0 ? x : 0x1p-1074;
            total += q[k];
            fall += q[k] / slope;
        }
        const double dmu = (total - 1) / fall;
        if (!(dmu > 2e-16 * mu)) break;
        mu += dmu;
    }
    for (size_t k = 0; k < n_classes; k++) q[k] /= total;
    return step + 1;
}

typedef struct {
    const dis__combine_args *args;
    dis__centroid_problem problem;
    size_t n_jobs, n_scratch;
    double *scratch; /* (threads, n_scratch) */
    int *n_steps;    /* (n_jobs) */
} centroid_work;

static dis_status centroid_job(void *arg, size_t j, int thread)
{
    const centroid_work *w = arg;
    w->n_steps[j] =
        DIS_KERNEL_SELECT(dis__centroid_compute)(&w->problem, dis__job_first(w->args->n_items, w->n_jobs, j),
                                                 dis__job_first(w->args->n_items, w->n_jobs, j + 1),
                                                 w->scratch + (size_t)thread * w->n_scratch, w->args->out);
    return DIS_OK;
}

dis__centroid_problem dis__centroid_problem_init(const double *const *p, const double *weight, size_t n_views,
                                                 size_t n_classes, double tolerance, int64_t steps)
{
    dis__centroid_problem problem = {
        .p = p,
        .weight = weight,
        .n_views = n_views,
        .n_classes = n_classes,
        .equal = true,
        .converged_step = .1 * sqrt(tolerance), /* a Newton step of relative size d leaves an error of about d^2 */
        .max_steps = (int)steps,
    };
    for (size_t m = 1; m < n_views; m++) problem.equal &= weight[m] == weight[0];
    return problem;
}

static dis_status run_centroid(const dis__combine_args *args)
{
    const centroid_options *o = args->options;
    centroid_work w = {
        .args = args,
        .problem =
            dis__centroid_problem_init(args->p, args->weight, args->n_views, args->n_classes, o->tolerance, o->steps),
        .n_jobs = dis__n_jobs(args->n_items, 1 + 16384 / (args->n_classes * args->n_views), 256),
        .n_scratch = dis__centroid_scratch(args->n_views, args->n_classes),
    };
    const size_t threads = (size_t)dis_context_n_threads(args->ctx);
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_array(&w.scratch, threads, dis__saturating_size(w.n_scratch, sizeof *w.scratch, 0)),
                 end);
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&w.n_steps, w.n_jobs, sizeof *w.n_steps), end);
    DIS_TRY_GOTO(status, dis__run_jobs(args->ctx, w.n_jobs, centroid_job, &w), end);
    dis__combine_max_steps(args, w.n_steps, w.n_jobs);
end:
    dis__free(w.scratch);
    dis__free(w.n_steps);
    return status;
}

const dis__combiner dis__combiner_centroid = {
    .info = {.name = "centroid",
             .summary = "Jensen-Shannon centroid: the distribution closest to all label sets",
             .source = "Wright & Augenstein 2022 eq. 2, Nielsen 2020",
             .options = options,
             .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(centroid_options),
    .run = run_centroid,
};
