/* The negative log-likelihood of tempered predictions and its derivatives, DIS_LANES items in parallel.
 *
 * With z = log max(q, floor), y = z - max z and b = 1 / T: f(b) = log sum_k exp(b y_k) - b y_gold. The first term is a
 * cumulant generating function, so its derivatives are the mean, variance and third cumulant of y under
 * softmax(b y). */
#include "evaluate/calibrated_likelihood.h"
#include "core/numbers/vector_math.h"
#include "evaluate/item_metrics.h"

typedef dis__vec vec;

/* y of DIS_LANES items into scratch; returns y at gold. */
static inline vec load_items(const dis__calibration *c, const size_t *item, vec *y)
{
    const size_t n_classes = c->n_classes;
    vec max = dis__vset(-1e9), gold = {0};
    for (size_t k = 0; k < n_classes; k++) {
        vec q = {0};
        for (int lane = 0; lane < DIS_LANES; lane++) q[lane] = c->q[item[lane] * n_classes + k];
        y[k] = dis__vlog(dis__vmax(q, dis__vset(DIS_PROBABILITY_FLOOR)));
        max = dis__vmax(max, y[k]);
    }
    for (size_t k = 0; k < n_classes; k++) y[k] -= max;
    for (int lane = 0; lane < DIS_LANES; lane++) gold[lane] = y[c->gold[item[lane]]][lane];
    return gold;
}

typedef struct {
    vec f, f1, f2, f3;
} curve;

static inline curve curve_at(const vec *y, size_t n_classes, vec gold, double beta)
{
    vec sum = {0}, first = {0}, second = {0}, third = {0};
    for (size_t k = 0; k < n_classes; k++) {
        const vec e = dis__vexp(y[k] * beta), ey = e * y[k], eyy = ey * y[k];
        sum += e;
        first += ey;
        second += eyy;
        third += eyy * y[k];
    }
    const vec scale = 1 / sum, m1 = first * scale, m2 = second * scale, m3 = third * scale;
    return (curve){.f = dis__vlog(sum) - gold * beta,
                   .f1 = m1 - gold,
                   .f2 = m2 - m1 * m1,
                   .f3 = m3 - 3 * m1 * m2 + 2 * m1 * m1 * m1};
}

/* 1 in lanes with an item that has the bit. */
static inline vec lanes_with(const uint16_t *bits, unsigned bit, size_t many)
{
    vec w = {0};
    for (size_t lane = 0; lane < many; lane++) w[lane] = bits[lane] >> bit & 1;
    return w;
}

static inline double across(vec x)
{
    double sum = 0;
    for (int lane = 0; lane < DIS_LANES; lane++) sum += x[lane];
    return sum;
}

static inline size_t gather_items(const dis__calibrated_args *args, size_t i, size_t last, size_t stride, size_t *item,
                                  uint16_t *bits)
{
    const size_t many = last - i < DIS_LANES ? last - i : DIS_LANES;
    for (size_t lane = 0; lane < DIS_LANES; lane++) {
        const size_t t = (i + (lane < many ? lane : 0)) * stride;
        item[lane] = args->c->item ? args->c->item[t] : t;
        bits[lane] = args->fitted[t];
    }
    return many;
}

void DIS_KERNEL(dis__calibrated_pass)(const dis__calibrated_args *args, size_t first, size_t last, size_t stride,
                                      double *scratch, dis__calibrated_sums *sums)
{
    vec *y = (vec *)scratch;
    curve total[DIS_EVALUATION_MAX_SPLITS][2] = {{{{0}, {0}, {0}, {0}}}};
    for (size_t i = first; i < last; i += DIS_LANES) {
        size_t item[DIS_LANES];
        uint16_t bits[DIS_LANES];
        const size_t many = gather_items(args, i, last, stride, item, bits);
        const vec gold = load_items(args->c, item, y);
        vec valid = {0};
        for (size_t lane = 0; lane < many; lane++) valid[lane] = 1;
        curve x = {{0}, {0}, {0}, {0}};
        for (size_t s = 0; s < args->n_splits; s++) {
            if (s == 0 || args->beta[s] != args->beta[s - 1]) x = curve_at(y, args->c->n_classes, gold, args->beta[s]);
            const vec in = lanes_with(bits, args->bit[s], many), out = valid - in;
            curve *fit = &total[s][0], *held = &total[s][1];
            fit->f += in * x.f;
            fit->f1 += in * x.f1;
            fit->f2 += in * x.f2;
            fit->f3 += in * x.f3;
            held->f += out * x.f;
            held->f1 += out * x.f1;
            held->f2 += out * x.f2;
        }
    }
    for (size_t s = 0; s < args->n_splits; s++)
        for (size_t h = 0; h < 2; h++) {
            dis__calibrated_sums *to = &sums[2 * s + h];
            to->f += across(total[s][h].f);
            to->f1 += across(total[s][h].f1);
            to->f2 += across(total[s][h].f2);
            to->f3 += across(total[s][h].f3);
        }
}

void DIS_KERNEL(dis__calibrated_items)(const dis__calibrated_args *args, size_t first, size_t last, double *scratch)
{
    vec *y = (vec *)scratch;
    for (size_t i = first; i < last; i += DIS_LANES) {
        size_t item[DIS_LANES];
        uint16_t bits[DIS_LANES];
        const size_t many = gather_items(args, i, last, 1, item, bits);
        const vec gold = load_items(args->c, item, y);
        for (size_t s = 0; s < args->n_splits; s++) {
            const vec f = curve_at(y, args->c->n_classes, gold, args->beta[s]).f;
            for (size_t lane = 0; lane < many; lane++)
                args->loss[s][i + lane] = bits[lane] >> args->bit[s] & 1 ? 0 : f[lane];
        }
    }
}
