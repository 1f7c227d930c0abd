/* Intervals for new items and new annotators: see crossed_intervals.h. */
#include "core/numbers/elementary.h"
#include "stats/crossed_intervals.h"
#include "stats/distributions.h"
#include <math.h>

double dis__jackknife(const double *left_out, size_t n, size_t stride)
{
    double mean = 0, sum = 0;
    if (n < 2) return NAN;
    for (size_t i = 0; i < n; i++) mean += left_out[i * stride] / (double)n;
    for (size_t i = 0; i < n; i++) sum += (left_out[i * stride] - mean) * (left_out[i * stride] - mean);
    return sum * (double)(n - 1) / (double)n;
}

double dis__grouped_jackknife(const dis__left_out_group *groups, const double *effective, size_t n_groups,
                              size_t stride, double *df)
{
    double total = 0, parts = 0;
    for (size_t g = 0; g < n_groups; g++) {
        const dis__left_out_group *x = &groups[g * stride];
        if (x->squares == 0) continue; /* the estimate does not depend on this group */
        const double of_group =
            x->n < 2 ? (double)NAN : fmax(x->squares - x->sum * x->sum / x->n, 0) * (x->n - 1) / x->n;
        total += of_group;
        parts += of_group * of_group / fmax(dis__annotator_df(effective[g]), 1);
    }
    *df = parts > 0 ? total * total / parts : 0;
    return total;
}

double dis__resampled_variance(const double *figures, size_t n, size_t stride)
{
    double defined = 0, mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = figures[i * stride];
        if (isnan(x)) continue;
        defined++;
        const double from = x - mean;
        mean += from / defined;
        sum += from * (x - mean);
    }
    return defined < 2 || 2 * defined < (double)n ? (double)NAN : sum / (defined - 1);
}

double dis__effective_number(const double *votes, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += votes[i];
        squares += votes[i] * votes[i];
    }
    return squares > 0 ? sum * sum / squares : 0;
}

double dis__annotator_df(double effective)
{
    return effective < 1.5 ? 0 : fmax(effective - 2 - 4 / effective, fmin(effective - 1, 2));
}

double dis__crossed_variance_sum(const dis__crossed_variances *v, double *df)
{
    const double a = v->annotators, i = v->items;
    const double total = fmax(fmax(a + i - (isnan(v->votes) ? 0 : v->votes), i), a / 2);
    const double parts = a * a / fmax(v->df_annotators, 1) + i * i / fmax(v->df_items, 1);
    const double most = 3 * fmax(v->df_annotators, 1),
                 least = fmax(v->net ? fmin(v->df_annotators, 30) : v->df_annotators, 1);
    const double sum = v->net ? total : a + i;
    *df = fmin(fmax(parts > 0 ? sum * sum / parts : INFINITY, least), most);
    return isnan(a) || isnan(i) ? (double)NAN : total;
}

/* t sqrt(V); NaN, with the reason in the metric, if there is no interval. */
static double reach_of(const dis__crossed_variances *v, dis_metric *m)
{
    const double least = 1e-12; /* smaller spreads are rounding errors */
    if (m->reason) return NAN;
    double df;
    const double variance = dis__crossed_variance_sum(v, &df);
    m->has_interval =
        !m->degenerate && v->df_annotators > 0 && v->df_items > 0 && isfinite(variance) && sqrt(variance) > least;
    if (m->has_interval) return dis__student_critical(.025, df) * sqrt(variance);
    m->no_interval = m->degenerate           ? DIS_NO_INTERVAL_SAME_LABELS
                     : v->df_annotators <= 0 ? DIS_NO_INTERVAL_ONE_ANNOTATOR
                     : v->df_items <= 0      ? DIS_NO_INTERVAL_ONE_ITEM
                     : isnan(variance)       ? DIS_NO_INTERVAL_RESAMPLES_UNDEFINED
                                             : DIS_NO_INTERVAL_NO_SPREAD;
    return NAN;
}

void dis__crossed_interval(const dis__crossed_variances *v, double min, double max, dis_metric *m)
{
    const double reach = reach_of(v, m), below = max - m->value;
    if (isnan(reach)) return;
    m->ci_low = fmax(max - below * dis__exp(reach / below), min);
    m->ci_high = max - below * dis__exp(-reach / below);
}

void dis__crossed_interval_linear(const dis__crossed_variances *v, double min, double max, dis_metric *m)
{
    const double reach = reach_of(v, m);
    if (isnan(reach)) return;
    m->ci_low = fmax(m->value - reach, min);
    m->ci_high = fmin(m->value + reach, max);
}

void dis__share_interval(double variance, double df, double n, dis_metric *m)
{
    if (m->reason) return;
    if (!(df > 0)) {
        m->no_interval = DIS_NO_INTERVAL_ONE_ITEM;
        return;
    }
    const double of_one = m->value * (1 - m->value), votes = variance > 0 && of_one > 0 ? of_one / variance : n;
    const double quantile = dis__student_critical(.025, df);
    m->has_interval = true;
    m->ci_low = fmax(dis__wilson_bound(m->value, votes, quantile, -1), 0);
    m->ci_high = fmin(dis__wilson_bound(m->value, votes, quantile, 1), 1);
}
