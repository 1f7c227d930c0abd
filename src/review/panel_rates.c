/* How common each class is among the answers of people, where people answered a part of the items and a judge more.
 *
 * Y_i is the share of people's votes on item i for the class, f_i whether the judge says it; n items have both, N the
 * judge alone. z = 1.96.
 *
 *   people           mean Y, interval by its standard error
 *   Rogan, Gladen    (mean f + sp - 1) / (se + sp - 1), se = sum Y f / sum Y, sp = sum (1 - Y) (1 - f) / sum (1 - Y) on
 *   1978             the n items, f over all n + N; variance by the delta method, cut to 0 .. 1
 *   powered          PPI++ (Angelopoulos, Duchi, Zrnic 2023): mean_n (Y - l f) + l mean_N f, its variance
 *                    var_n(Y - l f) / n + l^2 var_N(f) / N, l = cov_n(Y, f) / ((1 + n / N) var_{n + N} f) within 0 .. 1
 *   needed           the n at which z times the root of that variance is h, l being the best for that n
 *
 * Cost: O(items) for each class and judge. */
#include "review/panel_internal.h"
#include <math.h>

#define Z 1.959963984540054

typedef struct {
    double n, alone;     /* items with both; of the judge alone */
    double y, yy, f, yf; /* sums over items with both */
    double f_alone;      /* over the others */
    double right, wrong; /* sum Y f, sum (1 - Y) (1 - f) */
} sums;

static sums add_up(const dis__panel_data *d, const int32_t *said, size_t k)
{
    const size_t n = d->votes->n_classes;
    sums s = {0};
    for (size_t i = 0; i < d->votes->n_items; i++) {
        if (said[i] < 0) continue;
        const double f = said[i] == (int32_t)k;
        if (d->n_votes[i] == 0) {
            s.alone++;
            s.f_alone += f;
            continue;
        }
        const double y = (double)d->people[i * n + k] / d->n_votes[i];
        s.n++;
        s.y += y;
        s.yy += y * y;
        s.f += f;
        s.yf += y * f;
        s.right += y * f;
        s.wrong += (1 - y) * (1 - f);
    }
    return s;
}

static dis_metric estimate(double value, double variance, double n)
{
    const double reach = Z * sqrt(fmax(0, variance));
    return (dis_metric){.value = value,
                        .ci_low = value - reach,
                        .ci_high = value + reach,
                        .n = (size_t)n,
                        .has_interval = isfinite(reach)};
}

static dis_metric within_bounds(dis_metric m)
{
    m.value = fmin(1, fmax(0, m.value));
    m.ci_low = fmin(1, fmax(0, m.ci_low));
    m.ci_high = fmin(1, fmax(0, m.ci_high));
    return m;
}

static void rogan_gladen(const sums *s, dis_panel_rate *to)
{
    const double all = s->n + s->alone, positive = s->y, negative = s->n - s->y;
    to->sensitivity = positive > 0 ? s->right / positive : (double)NAN;
    to->specificity = negative > 0 ? s->wrong / negative : (double)NAN;
    const double youden = to->sensitivity + to->specificity - 1;
    if (!(youden > 0)) {
        to->rogan_gladen = dis_metric_undefined("the judge does not tell this class from the others");
        return;
    }
    const double raw = to->raw, rate = (raw + to->specificity - 1) / youden;
    const double inside = fmin(1, fmax(0, rate));
    const double variance =
        (raw * (1 - raw) / all + inside * inside * to->sensitivity * (1 - to->sensitivity) / positive +
         (1 - inside) * (1 - inside) * to->specificity * (1 - to->specificity) / negative) /
        (youden * youden);
    to->rogan_gladen = within_bounds(estimate(rate, variance, all));
}

/* The smallest n with a variance of no more than `target`, when the judge has voted on `alone` further items. */
static double items_needed(double var_y, double var_f, double cov, double var_alone, double alone, double target)
{
    double low = 0, high = ceil(var_y / target);
    while (high - low > 1) {
        const double n = floor((low + high) / 2), noise = var_f / n + (alone > 0 ? var_alone / alone : INFINITY);
        const double lambda = noise > 0 && isfinite(noise) ? fmin(1, fmax(0, cov / n / noise)) : 0;
        const double variance = (var_y - 2 * lambda * cov) / n + (lambda > 0 ? lambda * lambda * noise : 0);
        if (variance <= target)
            high = n;
        else
            low = n;
    }
    return high;
}

static void powered(const sums *s, double half_width, dis_panel_rate *to)
{
    const double n = s->n, alone = s->alone, y = s->y / n, f = s->f / n, all = n + alone;
    const double var_y = s->yy / n - y * y, cov = s->yf / n - y * f, var_f = f * (1 - f);
    const double share = (s->f + s->f_alone) / all, pooled = share * (1 - share) * all / fmax(1, all - 1);
    const double f_alone = alone > 0 ? s->f_alone / alone : 0, var_alone = f_alone * (1 - f_alone);
    const double lambda = alone > 0 && pooled > 0 ? fmin(1, fmax(0, cov / ((1 + n / alone) * pooled))) : 0;
    const double rest = var_y - 2 * lambda * cov + lambda * lambda * var_f;
    const double of_judge = alone > 0 ? lambda * lambda * var_alone / alone : 0;
    const double target = half_width * half_width / (Z * Z);
    to->lambda = lambda;
    to->people = estimate(y, var_y / n, n);
    to->powered = estimate(y - lambda * f + lambda * f_alone, rest / n + of_judge, all);
    to->needed = items_needed(fmax(var_y, 0), var_f, cov, var_alone, alone, target);
    to->needed_alone = ceil(fmax(var_y, 0) / target);
}

static void rate_of(const dis__panel_data *d, const int32_t *said, size_t k, dis_panel_rate *to)
{
    const sums s = add_up(d, said, k);
    to->n_people = (uint64_t)s.n;
    to->n_alone = (uint64_t)s.alone;
    to->raw = s.n + s.alone > 0 ? (s.f + s.f_alone) / (s.n + s.alone) : (double)NAN;
    if (s.n < 2) {
        to->people = to->rogan_gladen = to->powered = dis_metric_undefined("too few items have votes of people too");
        to->sensitivity = to->specificity = to->needed = to->needed_alone = NAN;
        return;
    }
    rogan_gladen(&s, to);
    powered(&s, d->o->precision, to);
}

dis_status dis__panel_rates(const dis__panel_data *d, dis_panel_rate *rates)
{
    const size_t n = d->votes->n_classes;
    for (size_t j = 0; j <= d->n_judges; j++)
        for (size_t k = 0; k < n; k++) {
            dis_panel_rate *to = &rates[j * n + k];
            *to = (dis_panel_rate){.judge = (uint32_t)j, .class = (uint32_t)k};
            rate_of(d, j < d->n_judges ? d->said + j * d->votes->n_items : d->panel, k, to);
        }
    return DIS_OK;
}
