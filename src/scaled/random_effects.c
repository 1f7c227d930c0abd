/* Ratings and other numbers: what an item is worth, with the bias and the noise of workers taken out.
 *
 *     vote = m + t[item] + b[worker] + noise,  t ~ N(0, s_t^2),  b ~ N(0, s_b^2),  noise ~ N(0, s[worker]^2)
 *
 * Crossed random effects (Searle, Casella & McCulloch 1992) where each worker has a noise of his own, drawn towards the
 * common one by an inverse gamma prior worth `shrink` votes. Variational EM: q(t) and q(b) are independent normal
 * distributions, whose means, given the variances, are exactly those of the mixed model equations (Henderson 1975); the
 * variances maximise the evidence lower bound, which no step lowers. Means of t and b are moved into m in each
 * iteration, the direction in which single steps are slow.
 *
 * The standard deviation of a label adds what is not known of the biases of its workers to the variance of q(t).
 *
 * Agreement: alpha with the interval distance from sums of items (squared differences of all pairs are sums of
 * squares), with the ratio distance from pairs of values.
 *
 * Labels so large or so small that their squares would leave the range of a double are divided by a power of two, which
 * is exact, and results are multiplied by it. A result that still does not fit is undefined.
 *
 * Cost: two passes over the votes per iteration. */
#include "core/numbers/elementary.h"
#include "scaled/numeric.h"
#include "core/numbers/decimal.h"
#include <string.h>

static const dis_option options[] = {
    {.key = "iterations",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(dis__numeric_options, iterations),
     .default_value = "1000",
     .low = 1,
     .high = 1e9,
     .summary = "maximum number of iterations"},
    {.key = "tolerance",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__numeric_options, tolerance),
     .default_value = "1e-8",
     .low = 0,
     .high = 1,
     .summary = "stop when the relative change of the objective is smaller; 0: never"},
    {.key = "shrink",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(dis__numeric_options, shrink),
     .default_value = "4",
     .low = .001,
     .high = 1e12,
     .summary = "weight of the common noise variance in the variance of an annotator, in votes; large: all annotators "
                "have the same variance"},
};

enum {
    MAX_JOBS = 64,
    GRAIN = 4096,
    SAFE_EXPONENT = 300 /* squares and their sums stay within the range of a double */
};
#define LOG_2PI 1.83787706640934548356

/* ---- reading ---- */

/* The exponent by which labels are divided: 0 unless the largest of them is extreme. */
static int common_exponent(const double *label, size_t n)
{
    double largest = 0;
    int exponent;
    for (size_t k = 0; k < n; k++) largest = fabs(label[k]) > largest ? fabs(label[k]) : largest;
    (void)frexp(largest, &exponent);
    return exponent > SAFE_EXPONENT || exponent < -SAFE_EXPONENT ? exponent : 0;
}

static dis_status parse_values(dis__numeric *x)
{
    const dis_votes_view *v = &x->args->view;
    double *of_class;
    DIS_TRY(dis__alloc_array(&of_class, v->n_classes, sizeof *of_class));
    for (size_t k = 0; k < v->n_classes; k++) {
        size_t n;
        const char *text = dis_names_get(v->classes, k, &n);
        if (!dis__parse_real(text, n, &of_class[k])) {
            dis__free(of_class);
            return dis__fail(DIS_EDATA, "the label \"%.100s\" is not a number; scale numeric needs numbers", text);
        }
    }
    x->exponent = common_exponent(of_class, v->n_classes);
    for (size_t k = 0; k < v->n_classes; k++) of_class[k] = ldexp(of_class[k], -x->exponent);
    for (size_t n = 0; n < v->n_votes; n++) x->value[n] = of_class[v->label8 ? v->label8[n] : v->label16[n]];
    dis__free(of_class);
    return DIS_OK;
}

static void index_workers(dis__numeric *x)
{
    const dis_votes_view *v = &x->args->view;
    for (size_t n = 0; n < v->n_votes; n++) x->worker_start[v->worker[n] + 1]++;
    for (size_t w = 0; w < v->n_workers; w++) x->worker_start[w + 1] += x->worker_start[w];
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++) {
            const uint64_t at = x->worker_start[v->worker[n]]++;
            x->item_of[at] = (uint32_t)i;
            x->value_of[at] = x->value[n];
        }
    for (size_t w = v->n_workers; w > 0; w--) x->worker_start[w] = x->worker_start[w - 1];
    x->worker_start[0] = 0;
}

/* ---- one iteration ---- */

static dis_status item_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__numeric *x = arg;
    const dis_votes_view *v = &x->args->view;
    double sum = 0, squares = 0, entropy = 0;
    const size_t last = dis__job_first(x->n_items, x->n_jobs, j + 1);
    for (size_t i = dis__job_first(x->n_items, x->n_jobs, j); i < last; i++) {
        double precision = 1 / x->var_t, towards = 0;
        for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++) {
            const size_t w = v->worker[n];
            precision += 1 / x->noise[w];
            towards += (x->value[n] - x->m - x->b[w]) / x->noise[w];
        }
        x->t_var[i] = 1 / precision;
        x->t[i] = towards / precision;
        sum += x->t[i];
        squares += x->t[i] * x->t[i] + x->t_var[i];
        entropy += dis__log(x->t_var[i]);
    }
    memcpy(x->part + 4 * j, (double[]){sum, squares, entropy, 0}, 4 * sizeof(double));
    return DIS_OK;
}

/* q(b), and the residuals of each worker's votes. */
static dis_status worker_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const dis__numeric *x = arg;
    double squares = 0, sum = 0, entropy = 0;
    const size_t last = dis__job_first(x->n_workers, x->n_jobs, j + 1);
    for (size_t w = dis__job_first(x->n_workers, x->n_jobs, j); w < last; w++) {
        const double n = (double)(x->worker_start[w + 1] - x->worker_start[w]);
        double towards = 0, apart = 0;
        for (uint64_t k = x->worker_start[w]; k < x->worker_start[w + 1]; k++)
            towards += x->value_of[k] - x->m - x->t[x->item_of[k]];
        x->b_var[w] = 1 / (1 / x->var_b + n / x->noise[w]);
        x->b[w] = x->b_var[w] * towards / x->noise[w];
        for (uint64_t k = x->worker_start[w]; k < x->worker_start[w + 1]; k++) {
            const double r = x->value_of[k] - x->m - x->t[x->item_of[k]] - x->b[w];
            apart += r * r + x->t_var[x->item_of[k]] + x->b_var[w];
        }
        x->apart[w] = apart;
        sum += x->b[w];
        squares += x->b[w] * x->b[w] + x->b_var[w];
        entropy += dis__log(x->b_var[w]);
    }
    memcpy(x->part + 4 * j, (double[]){sum, squares, entropy, 0}, 4 * sizeof(double));
    return DIS_OK;
}

/* The common noise c and, given it, that of each worker, (apart / 2 + a c) / (n / 2 + a + 1), which together maximise
 * the objective: concave in log c. */
static void fit_noise(dis__numeric *x)
{
    enum { STEPS = 60 };
    const double a = x->o->shrink / 2;
    for (int step = 0; step < STEPS; step++) {
        double slope = 0, bend = 0;
        const double c = x->common;
        for (size_t w = 0; w < x->n_workers; w++) {
            const double h = dis__numeric_count_votes(x, w) / 2 + a + 1, all = x->apart[w] / 2 + a * c;
            slope += a * (x->apart[w] / 2 - (h - a) * c) / all;
            bend += h * a * c * (x->apart[w] / 2) / (all * all);
        }
        const double by = bend > 0 ? slope / bend : 0;
        x->common *= dis__exp(by > 1 ? 1 : by < -1 ? -1 : by);
        if (fabs(by) < 1e-13) break;
    }
    for (size_t w = 0; w < x->n_workers; w++)
        x->noise[w] = (x->apart[w] / 2 + a * x->common) / (dis__numeric_count_votes(x, w) / 2 + a + 1);
}

/* The part of the objective that depends on the noise. */
static double of_noise(const dis__numeric *x)
{
    const double a = x->o->shrink / 2;
    double sum = 0;
    for (size_t w = 0; w < x->n_workers; w++)
        sum -= .5 * dis__numeric_count_votes(x, w) * (LOG_2PI + dis__log(x->noise[w])) +
               x->apart[w] / (2 * x->noise[w]) + dis__log(x->noise[w]) +
               a * (x->common / x->noise[w] - dis__log(x->common / x->noise[w]));
    return sum;
}

static void add_parts(const dis__numeric *x, double out[4])
{
    memset(out, 0, 4 * sizeof *out);
    for (size_t j = 0; j < x->n_jobs; j++)
        for (int k = 0; k < 4; k++) out[k] += x->part[4 * j + (size_t)k];
}

/* One round; *objective is that of the state it leaves. */
static dis_status iterate(dis__numeric *x, double *objective)
{
    const double n_items = (double)x->n_items, n_workers = (double)x->n_workers, floor = 1e-12 * x->common + 1e-300;
    double of_items[4], of_workers[4];
    DIS_TRY(dis__run_jobs(x->args->ctx, x->n_jobs, item_job, x));
    add_parts(x, of_items);
    const double shift = of_items[0] / n_items;
    for (size_t i = 0; i < x->n_items; i++) x->t[i] -= shift;
    x->m += shift;
    const double squares_t = of_items[1] - n_items * shift * shift;
    x->var_t = squares_t / n_items > floor ? squares_t / n_items : floor;
    DIS_TRY(dis__run_jobs(x->args->ctx, x->n_jobs, worker_job, x));
    add_parts(x, of_workers);
    const double shift_b = of_workers[0] / n_workers;
    for (size_t w = 0; w < x->n_workers; w++) x->b[w] -= shift_b;
    x->m += shift_b;
    const double squares_b = of_workers[1] - n_workers * shift_b * shift_b;
    x->var_b = squares_b / n_workers > floor ? squares_b / n_workers : floor;
    fit_noise(x);
    *objective = of_noise(x) + .5 * of_workers[2] + .5 * of_items[2] - .5 * n_items * dis__log(x->var_t) -
                 squares_t / (2 * x->var_t) + .5 * n_items - .5 * n_workers * dis__log(x->var_b) -
                 squares_b / (2 * x->var_b) + .5 * n_workers;
    return DIS_OK;
}

static void start(dis__numeric *x)
{
    double sum = 0, squares = 0;
    for (size_t n = 0; n < x->n_votes; n++) sum += x->value[n];
    x->m = sum / (double)x->n_votes;
    for (size_t n = 0; n < x->n_votes; n++) squares += (x->value[n] - x->m) * (x->value[n] - x->m);
    const double variance = squares > 0 ? squares / (double)x->n_votes : 1e-12;
    x->common = x->var_t = variance / 2;
    x->var_b = variance / 10;
    for (size_t w = 0; w < x->n_workers; w++) x->noise[w] = x->common;
}

static dis_status fit(dis__numeric *x, dis_scaled *out)
{
    double before = -INFINITY, objective;
    start(x);
    out->converged = false;
    for (int64_t n = 1; n <= x->o->iterations && !out->converged; n++, before = objective) {
        DIS_TRY(dis__check_stop(x->args->ctx));
        DIS_TRY(iterate(x, &objective));
        const double unit = fabs(objective) > (double)x->n_votes ? fabs(objective) : (double)x->n_votes;
        out->converged = x->o->tolerance > 0 && fabs(objective - before) <= x->o->tolerance * unit;
        out->iterations = (int)n;
    }
    return DIS_OK;
}

static dis_status run(const dis__scaled_args *args, dis_scaled *out)
{
    const dis_votes_view *v = &args->view;
    dis__numeric x = {.args = args,
                      .o = args->options,
                      .n_items = v->n_items,
                      .n_workers = v->n_workers,
                      .n_votes = v->n_votes,
                      .n_jobs = dis__n_jobs(v->n_votes, GRAIN, MAX_JOBS)};
    DIS_TRY(dis__scaled_allocate(out, &x.value, x.n_votes, sizeof *x.value));
    DIS_TRY(dis__scaled_allocate(out, &x.value_of, x.n_votes, sizeof *x.value_of));
    DIS_TRY(dis__scaled_allocate(out, &x.item_of, x.n_votes, sizeof *x.item_of));
    DIS_TRY(dis__scaled_allocate(out, &x.worker_start, x.n_workers + 1, sizeof *x.worker_start));
    DIS_TRY(dis__scaled_allocate(out, &x.t, 2 * x.n_items, sizeof *x.t));
    DIS_TRY(dis__scaled_allocate(out, &x.b, 4 * x.n_workers, sizeof *x.b));
    DIS_TRY(dis__scaled_allocate(out, &x.part, 4 * x.n_jobs, sizeof *x.part));
    x.t_var = x.t + x.n_items;
    x.b_var = x.b + x.n_workers;
    x.noise = x.b_var + x.n_workers;
    x.apart = x.noise + x.n_workers;
    DIS_TRY(parse_values(&x));
    index_workers(&x);
    DIS_TRY(fit(&x, out));
    return dis__numeric_add_results(&x, out);
}

const dis__scaled_row dis__scaled_numeric = {
    .model = {.name = "random-effects",
              .summary = "mean per item, with bias and noise variance per annotator",
              .source = "Searle, Casella & McCulloch 1992",
              .options = options,
              .n_options = sizeof options / sizeof *options},
    .options_size = sizeof(dis__numeric_options),
    .run = run,
};
