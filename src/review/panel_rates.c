/* The share of each class among people's answers, if people answered some of the items and a judge more of them.
 *
 * Y_i is the share of people's votes on item i for the class, f_i whether the judge answers it (of the majority of the
 * judges: 1 / t with t classes tied); n items have both, N the judge alone. z = 1.96.
 *
 *   bias             mean f - mean Y on the n items, interval by its standard error
 *   people           mean Y, interval by its standard error
 *   Rogan, Gladen    (mean f + sp - 1) / (se + sp - 1), se = sum Y f / sum Y, sp = sum (1 - Y) (1 - f) / sum (1 - Y) on
 *   1978             the n items, f over all n + N; variance by the delta method, cut to 0 .. 1
 *   powered          PPI++ (Angelopoulos, Duchi, Zrnic 2023): mean_n (Y - l f) + l mean_N f, its variance
 *                    var_n(Y - l f) / n + l^2 var_N(f) / N, l = cov_n(Y, f) / ((1 + n / N) var_{n + N} f) within 0 .. 1
 *   needed           the n at which z times the root of that variance is h, l being the best for that n
 *
 * With enough people the variance of each includes new people (panel_interval.c). If few items differ, Wilson's
 * interval is the lower limit: no interval has width 0.
 *
 * Cost: O(items + votes) for each class and judge. */
#include "tool/arrays.h"
#include "review/panel_internal.h"
#include <math.h>

#define Z 1.959963984540054

typedef struct {
    const dis__panel_data *d;
    size_t judge, class;
    const char *silent; /* why no result that depends on this judge is reported; NULL: it is reported */
} source;

/* Whether the judge answers the class; -1: no vote. */
static double judge_share(const source *s, size_t i)
{
    const size_t n = s->d->votes->n_classes;
    if (s->judge < s->d->n_judges) {
        const int32_t answer = s->d->answer[s->judge * s->d->votes->n_items + i];
        return answer < 0 ? -1 : answer == (int32_t)s->class;
    }
    const double *share = s->d->panel + i * n;
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += share[k];
    return sum > 0 ? share[s->class] : -1;
}

typedef struct {
    double n, alone;         /* items with both; of the judge alone */
    double y, yy, f, ff, yf; /* sums over items with both */
    double f_alone, ff_alone;
    double right, wrong; /* sum Y f, sum (1 - Y) (1 - f) */
} sums;

static sums add_up(const source *from)
{
    const dis__panel_data *d = from->d;
    const size_t n = d->votes->n_classes;
    sums s = {0};
    for (size_t i = 0; i < d->votes->n_items; i++) {
        const double f = judge_share(from, i);
        if (f < 0) continue;
        if (d->n_votes[i] == 0) {
            s.alone++;
            s.f_alone += f;
            s.ff_alone += f * f;
            continue;
        }
        const double y = (double)d->people[i * n + from->class] / d->n_votes[i];
        s.n++;
        s.y += y;
        s.yy += y * y;
        s.f += f;
        s.ff += f * f;
        s.yf += y * f;
        s.right += y * f;
        s.wrong += (1 - y) * (1 - f);
    }
    return s;
}

/* ---- contribution of new people to a variance ---- */

/* Influence of a vote y on an item with judge's answer f: a y + b y f + c (1 - y) (1 - f) + e (1 - y) + g f + h. */
typedef struct {
    double a, b, c, e, g, h;
} influence;

static dis_status people_variance(const source *s, double n, influence x, double *variance)
{
    const dis_votes_view *v = s->d->votes;
    dis__panel_variance sum;
    *variance = 0;
    if (s->d->n_people < DIS_PANEL_MIN_PEOPLE) return DIS_OK;
    DIS_TRY(dis__panel_variance_create(s->d, &sum));
    for (size_t i = 0; i < v->n_items; i++) {
        const double f = s->d->n_votes[i] ? judge_share(s, i) : -1;
        if (f < 0) continue;
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            if (!s->d->person[v->worker[t]]) continue;
            const double y = dis__panel_label(v, t) == s->class;
            const double psi = x.a * y + x.b * y * f + x.c * (1 - y) * (1 - f) + x.e * (1 - y) + x.g * f + x.h;
            dis__panel_variance_add(&sum, v->worker[t], psi / (n * s->d->n_votes[i]));
        }
    }
    *variance = dis__panel_variance_compute_people(&sum);
    dis__panel_variance_destroy(&sum);
    return DIS_OK;
}

/* ---- estimates ---- */

static dis_status bias(const source *from, const sums *s, dis_panel_rate *to)
{
    const double n = s->n, value = (s->f - s->y) / n, square = (s->ff - 2 * s->yf + s->yy) / n;
    double people;
    DIS_TRY(people_variance(from, n, (influence){.a = -1, .g = 1, .h = -value}, &people));
    const double reach = fmax(Z * sqrt(fmax(0, square - value * value) / n + people), Z * Z / (n + Z * Z));
    to->bias = (dis_metric){.value = value,
                            .ci_low = fmax(-1, value - reach),
                            .ci_high = fmin(1, value + reach),
                            .n = (size_t)n,
                            .has_interval = true};
    return DIS_OK;
}

/* Rogan and Gladen's estimate needs a judge that answers the class more often where people do. */
static const char *cannot_correct(const sums *s, double sensitivity, double specificity)
{
    const double all = s->n + s->alone, f = (s->f + s->f_alone) / all, positive = s->y, negative = s->n - s->y;
    if (!(positive > 0) || !(negative > 0)) return "people's votes on these items are all alike for this class";
    if (f <= 0 || f >= 1 || s->f <= 0 || s->f >= s->n)
        return "the judge gives the same answer for this class on every item";
    const double youden = sensitivity + specificity - 1;
    const double sd = sqrt(sensitivity * (1 - sensitivity) / positive + specificity * (1 - specificity) / negative);
    return youden > fmax(1e-9, Z * sd) ? NULL : "the judge does not tell this class from the others";
}

static dis_status rogan_gladen(const source *from, const sums *s, dis_panel_rate *to)
{
    const double all = s->n + s->alone, positive = s->y, negative = s->n - s->y;
    const double se = positive > 0 ? s->right / positive : (double)NAN;
    const double sp = negative > 0 ? s->wrong / negative : (double)NAN;
    const char *reason = cannot_correct(s, se, sp);
    to->sensitivity = se;
    to->specificity = sp;
    if (reason) {
        to->rogan_gladen = dis__metric_undefined(reason);
        return DIS_OK;
    }
    const double youden = se + sp - 1, rate = (to->raw + sp - 1) / youden, inside = fmin(1, fmax(0, rate));
    const double variance = (to->raw * (1 - to->raw) / all + inside * inside * se * (1 - se) / positive +
                             (1 - inside) * (1 - inside) * sp * (1 - sp) / negative) /
                            (youden * youden);
    /* d rate = (-rate d se + (1 - rate) d sp) / youden, d se = y (f - se) / positive, d sp = (1 - y) (1 - f - sp) /
     * negative, summed over items. */
    const double a = -inside / (youden * positive), b = (1 - inside) / (youden * negative);
    double people;
    DIS_TRY(people_variance(from, 1, (influence){.a = -a * se, .b = a, .c = b, .e = -b * sp}, &people));
    to->rogan_gladen = dis__panel_compute_share(rate, variance + people, Z, (size_t)s->n);
    return DIS_OK;
}

/* The smallest n with a variance of at most `target`, if the judge has voted on `alone` further items. */
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

static dis_status powered(const source *from, const sums *s, dis_panel_rate *to)
{
    const double n = s->n, alone = s->alone, y = s->y / n, f = s->f / n, all = n + alone;
    const double var_y = s->yy / n - y * y, cov = s->yf / n - y * f, var_f = s->ff / n - f * f;
    const double share = (s->f + s->f_alone) / all;
    const double pooled = ((s->ff + s->ff_alone) / all - share * share) * all / fmax(1, all - 1);
    const double f_alone = alone > 0 ? s->f_alone / alone : 0;
    const double var_alone = alone > 0 ? s->ff_alone / alone - f_alone * f_alone : 0;
    const double lambda = alone > 0 && pooled > 0 ? fmin(1, fmax(0, cov / ((1 + n / alone) * pooled))) : 0;
    const double rest = fmax(0, var_y - 2 * lambda * cov + lambda * lambda * var_f);
    const double of_judge = alone > 0 ? lambda * lambda * fmax(0, var_alone) / alone : 0;
    const double half_width = from->d->o->half_width, target = half_width * half_width / (Z * Z);
    double people_y, people_rest;
    DIS_TRY(people_variance(from, n, (influence){.a = 1, .h = -y}, &people_y));
    DIS_TRY(people_variance(from, n, (influence){.a = 1, .g = -lambda, .h = lambda * f - y}, &people_rest));
    to->tuning_weight = lambda;
    to->people = dis__panel_compute_share(y, fmax(0, var_y) / n + people_y, Z, (size_t)n);
    to->prediction_powered =
        dis__panel_compute_share(y - lambda * f + lambda * f_alone, rest / n + of_judge + people_rest, Z, (size_t)n);
    to->n_needed = items_needed(fmax(var_y, 0), fmax(var_f, 0), cov, fmax(var_alone, 0), alone, target);
    to->n_needed_without_judge = ceil(fmax(var_y, 0) / target);
    return DIS_OK;
}

static dis_status rate_of(const source *from, dis_panel_rate *to)
{
    const sums s = add_up(from);
    to->n_people = (uint64_t)s.n;
    to->n_judge_only = (uint64_t)s.alone;
    to->raw = s.n + s.alone > 0 ? (s.f + s.f_alone) / (s.n + s.alone) : (double)NAN;
    to->sensitivity = to->specificity = to->n_needed = to->n_needed_without_judge = to->tuning_weight = NAN;
    if (s.n < DIS_PANEL_MIN_ITEMS) {
        to->bias = to->people = to->rogan_gladen = to->prediction_powered =
            dis__metric_undefined("fewer than 10 items have votes of people and of the judge");
        return DIS_OK;
    }
    DIS_TRY(powered(from, &s, to));
    if (from->d->unknown) {
        to->prediction_powered = dis__metric_undefined(from->d->unknown);
        to->n_needed = to->tuning_weight = NAN;
    }
    if (from->silent) {
        to->bias = to->rogan_gladen = dis__metric_undefined(from->silent);
        return DIS_OK;
    }
    DIS_TRY(bias(from, &s, to));
    return rogan_gladen(from, &s, to);
}

static const char *silence(const dis__panel_data *d, const dis_panel_judge *judges, size_t j)
{
    bool above = j < d->n_judges && judges[j].above_chance;
    for (size_t x = 0; x < d->n_judges && j == d->n_judges; x++) above = above || judges[x].above_chance;
    return d->unknown ? d->unknown : above ? NULL : "the judge agrees with people no more than chance";
}

dis_status dis__panel_estimate_rates(const dis__panel_data *d, const dis_panel_judge *judges, dis_panel_rate *rates)
{
    const size_t n = d->votes->n_classes;
    for (size_t j = 0; j <= d->n_judges; j++)
        for (size_t k = 0; k < n; k++) {
            const source from = {.d = d, .judge = j, .class = k, .silent = silence(d, judges, j)};
            rates[j * n + k] = (dis_panel_rate){.judge = (uint32_t)j, .class_index = (uint32_t)k};
            DIS_TRY(rate_of(&from, &rates[j * n + k]));
        }
    return DIS_OK;
}
