/* Values of items, workers and agreement of numbers: see random_effects.c. */
#include "tool/arrays.h"
#include "scaled/numeric.h"
#include "stats/bootstrap.h"

/* Of the votes of item i without the biases of their workers: plain mean, and standard deviation (NaN: one vote). */
static void spread_of(const dis__numeric *x, size_t i, double *plain, double *spread)
{
    const dis_votes_view *v = &x->args->view;
    const double n = (double)(v->start[i + 1] - v->start[i]);
    double mean = 0, squares = 0;
    *plain = 0;
    for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
        *plain += x->value[k] / n;
        mean += (x->value[k] - x->b[v->worker[k]]) / n;
    }
    for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
        const double r = x->value[k] - x->b[v->worker[k]] - mean;
        squares += r * r;
    }
    *spread = n > 1 ? sqrt(squares / (n - 1)) : NAN;
    if (n == 0) *plain = NAN;
}

static double deviation_of(const dis__numeric *x, size_t i)
{
    const dis_votes_view *v = &x->args->view;
    double variance = x->t_var[i];
    for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
        const size_t w = v->worker[k];
        const double weight = x->t_var[i] / x->noise[w];
        variance += weight * weight * x->b_var[w];
    }
    return sqrt(variance);
}

static dis_status add_items(const dis__numeric *x, dis_scaled *out)
{
    const dis_votes_view *v = &x->args->view;
    const size_t n = x->n_items;
    dis_scaled_column *label, *item;
    double *mean, *sd, *votes, *plain, *spread;
    DIS_TRY(dis__scaled_add_table(out, "labels", "the value of each item, corrected for biases of annotators", n, 6,
                                  &label));
    label[0] = (dis_scaled_column){.name = "task", .names = v->tasks};
    DIS_TRY(dis__scaled_init_column(out, &label[1], "mean", n, &mean));
    DIS_TRY(dis__scaled_init_column(out, &label[2], "sd", n, &sd));
    DIS_TRY(dis__scaled_init_column(out, &label[3], "votes", n, &votes));
    DIS_TRY(dis__scaled_init_column(out, &label[4], "plain_mean", n, &plain));
    DIS_TRY(dis__scaled_init_column(out, &label[5], "spread", n, &spread));
    for (size_t i = 0; i < n; i++) {
        mean[i] = dis__numeric_scale_length(x, x->m + x->t[i]);
        sd[i] = dis__numeric_scale_length(x, deviation_of(x, i));
        votes[i] = (double)(v->start[i + 1] - v->start[i]);
        spread_of(x, i, &plain[i], &spread[i]);
        plain[i] = dis__numeric_scale_length(x, plain[i]);
        spread[i] = dis__numeric_scale_length(x, spread[i]);
    }
    DIS_TRY(dis__scaled_add_table(out, "items", "items by the spread of their votes, the widest first", n, 5, &item));
    item[0] = label[0];
    item[1] = label[5];
    item[2] = label[1];
    item[3] = label[2];
    item[4] = label[3];
    return dis__scaled_sort_table(out, &out->table[out->n_tables - 1], spread);
}

static dis_status add_workers(const dis__numeric *x, dis_scaled *out)
{
    const size_t n = x->n_workers;
    dis_scaled_column *c;
    double *votes, *error, *bias, *sd, *noise;
    DIS_TRY(dis__scaled_add_table(out, "workers",
                                  "workers by the error of a vote, from bias and noise, the largest first", n, 6, &c));
    c[0] = (dis_scaled_column){.name = "worker", .names = x->args->view.workers};
    DIS_TRY(dis__scaled_init_column(out, &c[1], "votes", n, &votes));
    DIS_TRY(dis__scaled_init_column(out, &c[2], "error", n, &error));
    DIS_TRY(dis__scaled_init_column(out, &c[3], "bias", n, &bias));
    DIS_TRY(dis__scaled_init_column(out, &c[4], "bias_sd", n, &sd));
    DIS_TRY(dis__scaled_init_column(out, &c[5], "noise", n, &noise));
    for (size_t w = 0; w < n; w++) {
        votes[w] = dis__numeric_count_votes(x, w);
        bias[w] = dis__numeric_scale_length(x, x->b[w]);
        sd[w] = dis__numeric_scale_length(x, sqrt(x->b_var[w]));
        noise[w] = dis__numeric_scale_length(x, sqrt(x->noise[w]));
        error[w] = dis__numeric_scale_length(x, sqrt(x->b[w] * x->b[w] + x->noise[w]));
    }
    return dis__scaled_sort_table(out, &out->table[out->n_tables - 1], error);
}

/* ---- agreement ---- */

enum { ALPHA_COLUMNS = 4 };

static double alpha_of_sums(const double s[ALPHA_COLUMNS])
{
    const double n = s[0], expected = 2 * (n * s[3] - s[2] * s[2]) / (n - 1);
    return n < 2 ? NAN : expected > 0 ? 1 - s[1] / expected : 1;
}

/* Columns of items: votes, squared differences of pairs over r - 1, sum and sum of squares about the mean of all. */
static dis_status interval_alpha(const dis__numeric *x, dis_metric *m)
{
    const dis_votes_view *v = &x->args->view;
    const size_t n = x->n_items, resamples = x->args->o->resamples;
    double *column, *sums = NULL, all[ALPHA_COLUMNS] = {0};
    DIS_TRY(dis__alloc_zeroed(&column, dis__saturating_size(n, ALPHA_COLUMNS, 0), sizeof *column));
    for (size_t i = 0; i < n; i++) {
        const double r = (double)(v->start[i + 1] - v->start[i]);
        double sum = 0, squares = 0;
        if (r < 2) continue;
        for (uint64_t k = v->start[i]; k < v->start[i + 1]; k++) {
            sum += x->value[k] - x->m;
            squares += (x->value[k] - x->m) * (x->value[k] - x->m);
        }
        const double cells[ALPHA_COLUMNS] = {r, 2 * (r * squares - sum * sum) / (r - 1), sum, squares};
        for (size_t c = 0; c < ALPHA_COLUMNS; c++) all[c] += column[c * n + i] = cells[c];
        m->n++;
    }
    const double value = alpha_of_sums(all);
    *m = isnan(value) ? dis__metric_undefined("no item has two votes")
                      : (dis_metric){.value = value, .n = m->n, .degenerate = !(all[3] > 0)};
    dis_status status = DIS_OK;
    if (!m->reason && resamples) {
        const dis__bootstrap b = {.n_items = n, .n_draws = n, .n_resamples = resamples, .seed = x->args->o->seed};
        const double *columns[ALPHA_COLUMNS];
        for (size_t c = 0; c < ALPHA_COLUMNS; c++) columns[c] = column + c * n;
        status = dis__alloc_array(&sums, dis__saturating_size(resamples, ALPHA_COLUMNS, 0), sizeof *sums);
        if (status == DIS_OK) status = dis__bootstrap_sums(x->args->ctx, &b, columns, ALPHA_COLUMNS, sums);
        for (size_t r = 0; status == DIS_OK && r < resamples; r++) sums[r] = alpha_of_sums(sums + r * ALPHA_COLUMNS);
        m->has_interval =
            status == DIS_OK && !m->degenerate && dis__bootstrap_interval(sums, resamples, &m->ci_low, &m->ci_high);
    }
    dis__free(sums);
    dis__free(column);
    return status;
}

static double ratio_distance(const void *arg, size_t k, size_t l)
{
    const double *x = arg, sum = x[k] + x[l], difference = x[k] - x[l];
    return sum > 0 ? difference * difference / (sum * sum) : 0;
}

static dis_status ratio_alpha(const dis__numeric *x, dis_metric *m)
{
    const dis_votes_view *v = &x->args->view;
    double *of_class;
    uint32_t *kind = NULL;
    bool negative = false;
    DIS_TRY(dis__alloc_array(&of_class, v->n_classes, sizeof *of_class));
    dis_status status = dis__alloc_array(&kind, v->n_votes, sizeof *kind);
    for (size_t n = 0; status == DIS_OK && n < v->n_votes; n++) {
        kind[n] = v->label8 ? v->label8[n] : v->label16[n];
        of_class[kind[n]] = x->value[n];
        negative |= x->value[n] < 0;
    }
    const dis__alpha_input in = {.n_items = v->n_items,
                                 .n_kinds = v->n_classes,
                                 .start = v->start,
                                 .kind = kind,
                                 .distance = ratio_distance,
                                 .arg = of_class};
    if (status == DIS_OK && negative) *m = dis__metric_undefined("some values are negative");
    if (status == DIS_OK && !negative)
        *m = dis__alpha_compute(x->args->ctx, &in, x->args->o->resamples, x->args->o->seed, &status);
    dis__free(kind);
    dis__free(of_class);
    return status;
}

static void add_deviation(const dis__numeric *x, dis_scaled *out, const char *name, const char *title, double variance,
                          size_t n)
{
    const double length = dis__numeric_scale_length(x, sqrt(variance));
    dis__scaled_add_measure(out, name, title,
                            isnan(length) ? dis__metric_undefined("larger than the range of floating-point numbers")
                                          : (dis_metric){.value = length, .n = n});
}

static dis_status add_measures(const dis__numeric *x, dis_scaled *out)
{
    dis_metric interval = {0}, ratio = {0};
    double noise = 0;
    DIS_TRY(interval_alpha(x, &interval));
    DIS_TRY(ratio_alpha(x, &ratio));
    for (size_t w = 0; w < x->n_workers; w++)
        noise += x->noise[w] * dis__numeric_count_votes(x, w) / (double)x->n_votes;
    const double all = x->var_t + x->var_b + noise;
    dis__scaled_add_measure(out, "alpha_interval", "Krippendorff's alpha, interval", interval);
    dis__scaled_add_measure(out, "alpha_ratio", "Krippendorff's alpha, ratio", ratio);
    dis__scaled_add_measure(out, "icc", "Share of the variance that is between items",
                            all > 0 ? (dis_metric){.value = x->var_t / all, .n = x->n_items}
                                    : dis__metric_undefined("all votes are the same"));
    add_deviation(x, out, "item_sd", "Standard deviation of items", x->var_t, x->n_items);
    add_deviation(x, out, "bias_sd", "Standard deviation of annotator biases", x->var_b, x->n_workers);
    add_deviation(x, out, "noise_sd", "Standard deviation of a vote without the annotator's bias", noise, x->n_votes);
    return DIS_OK;
}

dis_status dis__numeric_add_results(dis__numeric *x, dis_scaled *out)
{
    DIS_TRY(add_items(x, out));
    DIS_TRY(add_workers(x, out));
    return add_measures(x, out);
}
