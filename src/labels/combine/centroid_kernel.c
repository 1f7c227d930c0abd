/* Newton's method for the Jensen-Shannon centroid, DIS_LANES items in parallel.
 *
 * With r_mk = p_mk / q_k the conditions for the minimum (centroid.c) are that
 *
 *     phi_k = sum_m w_m log(1 + r_mk)
 *
 * has one value mu for all classes with positive probability in a view, and sum q = 1. A Newton step in u = log q: with
 * s_k = -dphi_k/du_k = sum_m w_m r_mk / (1 + r_mk),
 *
 *     mu = (sum_k q_k phi_k / s_k - (1 - sum q)) / sum_k q_k / s_k,    du_k = (phi_k - mu) / s_k,
 *
 * and q_k becomes q_k (1 + du_k) when it grows and q_k / (1 - du_k) when it shrinks: both are exp(du_k) to second order
 * in the error, need no exponential and keep q positive. phi takes one logarithm of a product of four factors when
 * weights are equal, s_k one division for four views.
 *
 * Each item is frozen once its largest |du| is below `converged_step`, so no item's result depends on the other
 * lanes. */
#include "labels/combine/centroid.h"
#include "core/numbers/vector_math.h"
#include <math.h>
#include <string.h>

typedef dis__vec vec;
typedef dis__ivec mask;

/* Four factors 1 + r below this have a product below 1e300. */
#define LARGEST_RATIO 1e75

static inline bool any(mask m)
{
    int64_t bits = 0;
    for (int lane = 0; lane < DIS_LANES; lane++) bits |= m[lane];
    return bits != 0;
}

/* phi and s of one class with equal weights w; p: (n_views). False lanes of *fine have ratios too large for the
 * product. */
static inline void equal_class(const vec *p, size_t n_views, double w, vec inverse, vec *phi, vec *s, mask *fine)
{
    vec sum = {0}, left = {0};
    for (size_t m = 0; m < n_views; m += 4) {
        vec t[4], largest = {0};
        for (size_t i = 0; i < 4; i++) {
            const vec r = m + i < n_views ? p[m + i] * inverse : dis__vset(0);
            largest = dis__vselect(r > largest, r, largest);
            t[i] = 1 + r;
        }
        *fine &= largest < dis__vset(LARGEST_RATIO);
        const vec a = t[0] * t[1], b = t[2] * t[3];
        sum += dis__vlog(a * b);
        left += ((t[0] + t[1]) * b + (t[2] + t[3]) * a) / (a * b); /* sum of 1 / t */
    }
    const size_t padded = (n_views + 3) / 4 * 4;
    *phi = w * sum;
    *s = w * ((double)padded - left);
}

static inline void weighted_class(const vec *p, const double *weight, size_t n_views, vec inverse, vec *phi, vec *s,
                                  mask *fine)
{
    vec sum = {0}, slope = {0};
    for (size_t m = 0; m < n_views; m++) {
        const vec r = p[m] * inverse, t = 1 + r;
        *fine &= r < dis__vset(LARGEST_RATIO);
        sum += weight[m] * dis__vlog(t);
        slope += weight[m] * (r / t);
    }
    *phi = sum;
    *s = slope;
}

/* Gathers the rows at `at` of all views (the item of lane l is at[l]) into p: (n_classes, n_views), and their mean into
 * q: (n_classes). Returns the lanes whose views are all equal. */
static mask load(const dis__centroid_problem *c, const size_t *at, vec *p, vec *q)
{
    mask same = (mask){0} - 1;
    for (size_t k = 0; k < c->n_classes; k++) {
        vec mean = {0}, *row = p + k * c->n_views;
        for (size_t m = 0; m < c->n_views; m++) {
            vec x = {0};
            for (int lane = 0; lane < DIS_LANES; lane++) x[lane] = c->p[m][at[lane] + k];
            row[m] = x;
            same &= x == row[0];
            mean += c->weight[m] * x;
        }
        q[k] = mean;
    }
    return same;
}

/* One step for the lanes of `active`. Returns the lanes that have not converged in step size; *change receives the
 * largest |du| of each. */
static mask step(const dis__centroid_problem *c, const vec *p, mask active, vec *q, vec *phi, vec *s, vec *change)
{
    const size_t n_classes = c->n_classes, n_views = c->n_views;
    mask fine = (mask){0} - 1;
    vec total = {0}, spread = {0}, pull = {0};
    for (size_t k = 0; k < n_classes; k++) {
        const mask held = q[k] > dis__vset(0); /* no view supports the class: it stays 0 and is skipped */
        const vec inverse = dis__vselect(held, 1 / q[k], dis__vset(0));
        if (c->equal)
            equal_class(p + k * n_views, n_views, c->weight[0], inverse, &phi[k], &s[k], &fine);
        else
            weighted_class(p + k * n_views, c->weight, n_views, inverse, &phi[k], &s[k], &fine);
        s[k] = dis__vselect(held, s[k], dis__vset(1));
        const vec share = q[k] / s[k];
        total += q[k];
        spread += share;
        pull += share * phi[k];
    }
    const vec mu = (pull - (1 - total)) / spread;
    vec largest = {0};
    for (size_t k = 0; k < n_classes; k++) {
        const vec du = (phi[k] - mu) / s[k];
        const mask grows = du > dis__vset(0);
        const vec size = dis__vselect(grows, du, -du);
        const vec factor = dis__vselect(grows, 1 + du, 1 / (1 - du));
        const mask held = q[k] > dis__vset(0);
        q[k] = dis__vselect(active & held, q[k] * factor, q[k]);
        fine &= ~(size >= dis__vset(INFINITY)) & (size == size);
        largest = dis__vselect(held & (size > largest), size, largest);
    }
    *change = largest;
    return fine;
}

int DIS_KERNEL(dis__centroid_compute)(const dis__centroid_problem *c, size_t first, size_t last, double *scratch,
                                      double *out)
{
    const size_t n_classes = c->n_classes;
    vec *p = (vec *)scratch, *q = p + n_classes * c->n_views, *phi = q + n_classes, *s = phi + n_classes;
    int slowest = 0;
    for (size_t i = first; i < last; i += DIS_LANES) {
        const size_t many = last - i < DIS_LANES ? last - i : DIS_LANES;
        size_t at[DIS_LANES];
        for (size_t lane = 0; lane < DIS_LANES; lane++) at[lane] = (i + (lane < many ? lane : 0)) * n_classes;

        const mask same = load(c, at, p, q);
        mask active = ~same, stuck = {0};
        int n_steps = 0;
        for (; any(active) && n_steps < c->max_steps; n_steps++) {
            vec change;
            const mask fine = step(c, p, active, q, phi, s, &change);
            stuck |= active & ~fine;
            active &= fine & (change > dis__vset(c->converged_step));
        }
        stuck |= active;
        slowest = n_steps > slowest ? n_steps : slowest;

        vec total = {0};
        for (size_t k = 0; k < n_classes; k++) total += q[k];
        for (size_t k = 0; k < n_classes; k++) q[k] = dis__vselect(same, p[k * c->n_views], q[k] / total);
        /* All lanes have been read: `out` may be a view. */
        for (size_t lane = 0; lane < many; lane++)
            if (!stuck[lane])
                for (size_t k = 0; k < n_classes; k++) out[at[lane] + k] = q[k][lane];
        if (any(stuck)) {
            for (size_t lane = 0; lane < many; lane++) {
                if (!stuck[lane]) continue;
                const int n_done = dis__centroid_compute_robust(c, i + lane, (double *)p, (double *)q);
                slowest = n_done > slowest ? n_done : slowest;
                memcpy(out + at[lane], q, n_classes * sizeof *out);
            }
        }
    }
    return slowest;
}
