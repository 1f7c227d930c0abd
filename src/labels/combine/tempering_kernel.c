/* The inner loops of tempering, DIS_LANES items in parallel.
 *
 * With l = max(log p, -15), a = softmax(l / T), m = (a + b) / 2:
 *
 *     JSD(a, b) = sum_k a_k (log a_k - log m_k) / 2 + b_k (log b_k - log m_k) / 2
 *     dJSD / dT_a = sum_k (log a_k - log m_k) / 2 * da_k/dT_a,    da_k/dT = -a_k (l_k - sum_j a_j l_j) / T^2
 *
 * log a is a by-product of the softmax, so a pair costs one logarithm per class. */
#include "labels/combine/tempering.h"
#include "core/numbers/vector_math.h"

typedef dis__vec vec;
typedef dis__ivec mask;

/* One view's rows, (n_classes) each. */
typedef struct {
    vec *a, *log_a, *slope; /* softmax, its logarithm, da/dT */
} tempered;

static void temper(const double *p, const size_t *at, size_t n_classes, vec inverse, double floor, const tempered *t)
{
    vec max = dis__vset(floor), sum = {0}, mean = {0};
    for (size_t k = 0; k < n_classes; k++) {
        vec x = {0};
        for (int lane = 0; lane < DIS_LANES; lane++) x[lane] = p[at[lane] + k];
        t->slope[k] = dis__vmax(dis__vlog(x), dis__vset(floor));
        max = dis__vmax(max, t->slope[k]);
    }
    for (size_t k = 0; k < n_classes; k++) {
        t->log_a[k] = (t->slope[k] - max) * inverse;
        t->a[k] = dis__vexp(t->log_a[k]);
        sum += t->a[k];
    }
    const vec log_sum = dis__vlog(sum), scale = 1 / sum;
    for (size_t k = 0; k < n_classes; k++) {
        t->a[k] *= scale;
        t->log_a[k] -= log_sum;
        mean += t->a[k] * t->slope[k];
    }
    for (size_t k = 0; k < n_classes; k++) t->slope[k] = t->a[k] * (mean - t->slope[k]) * (inverse * inverse);
}

static vec pair(const tempered *a, const tempered *b, size_t n_classes, vec *by_a, vec *by_b)
{
    vec jsd = {0}, to_a = {0}, to_b = {0};
    for (size_t k = 0; k < n_classes; k++) {
        const vec middle = (a->a[k] + b->a[k]) * .5;
        const vec log_m = dis__vlog(dis__vmax(middle, dis__vset(0x1p-1000))); /* both 0: both terms are 0 */
        const vec from_a = a->log_a[k] - log_m, from_b = b->log_a[k] - log_m;
        jsd += a->a[k] * from_a + b->a[k] * from_b;
        to_a += from_a * a->slope[k];
        to_b += from_b * b->slope[k];
    }
    *by_a = .5 * to_a;
    *by_b = .5 * to_b;
    return .5 * jsd;
}

/* Item by item: sums do not depend on which items share a vector. */
static double add_lanes(double sum, vec x, size_t many)
{
    for (size_t lane = 0; lane < many; lane++) sum += x[lane];
    return sum;
}

void DIS_KERNEL(dis__temperatures_evaluate)(const dis__combine_args *args, const double *temperature, size_t first,
                                            size_t end, double *scratch, double *sums)
{
    const size_t n_classes = args->n_classes, n_views = args->n_views;
    tempered t[DIS_MAX_VIEWS];
    for (size_t m = 0; m < n_views; m++) {
        vec *own = (vec *)scratch + m * 3 * n_classes;
        t[m] = (tempered){own, own + n_classes, own + 2 * n_classes};
    }
    for (size_t i = first; i < end; i += DIS_LANES) {
        const size_t many = end - i < DIS_LANES ? end - i : DIS_LANES;
        size_t at[DIS_LANES];
        for (size_t lane = 0; lane < DIS_LANES; lane++) at[lane] = (i + (lane < many ? lane : 0)) * n_classes;
        for (size_t m = 0; m < n_views; m++)
            temper(args->p[m], at, n_classes, dis__vset(1 / temperature[m]), DIS_LOG_FLOOR, &t[m]);
        vec value = {0}, gradient[DIS_MAX_VIEWS];
        for (size_t m = 0; m < n_views; m++) gradient[m] = dis__vset(0);
        for (size_t a = 0; a < n_views; a++)
            for (size_t b = a + 1; b < n_views; b++) {
                vec by_a, by_b;
                const double weight = args->weight[a] * args->weight[b];
                value += weight * pair(&t[a], &t[b], n_classes, &by_a, &by_b);
                gradient[a] += weight * by_a;
                gradient[b] += weight * by_b;
            }
        sums[0] = add_lanes(sums[0], value, many);
        for (size_t m = 0; m < n_views; m++) sums[1 + m] = add_lanes(sums[1 + m], gradient[m], many);
    }
}

void DIS_KERNEL(dis__tempered_rows_compute)(const double *p, const double *temperature, size_t step, double floor,
                                            size_t n_classes, size_t n, double *scratch, double *out)
{
    vec *own = (vec *)scratch;
    const tempered t = {own, own + n_classes, own + 2 * n_classes};
    for (size_t i = 0; i < n; i += DIS_LANES) {
        const size_t many = n - i < DIS_LANES ? n - i : DIS_LANES;
        size_t at[DIS_LANES];
        vec inverse = {0};
        for (size_t lane = 0; lane < DIS_LANES; lane++) {
            const size_t row = i + (lane < many ? lane : 0);
            at[lane] = row * n_classes;
            inverse[lane] = 1 / temperature[row * step];
        }
        temper(p, at, n_classes, inverse, floor, &t);
        for (size_t lane = 0; lane < many; lane++)
            for (size_t k = 0; k < n_classes; k++) out[at[lane] + k] = t.a[k][lane];
    }
}
