/* Means that later votes are compared with: agreement, shares of the judge's answers, and biases. Their variance is that
 * for new items and new annotators. Cost: O(votes x classes). */
#include "tool/arrays.h"
#include "judge/judge_internal.h"
#include "core/memory/memory.h"
#include <math.h>

typedef struct {
    const dis__judge_input *in;
    dis_drift_kind kind;
    size_t class_index;
} figure;

static bool is_used(const figure *f, size_t i)
{
    const dis__judge_votes *v = f->in->votes;
    return v->answer[i] >= 0 && f->in->weight[i] > 0 && (f->kind == DIS_DRIFT_SHARE || dis__judge_n_votes(v, i) > 0);
}

/* What one vote of a person adds to the mean over the votes of its item; without people, the value of the item. */
static double vote_value(const figure *f, size_t i, size_t label)
{
    const int32_t answer = f->in->votes->answer[i];
    if (f->kind == DIS_DRIFT_AGREEMENT) return (size_t)answer == label;
    return ((size_t)answer == f->class_index) - (double)(label == f->class_index);
}

static double item_value(const figure *f, size_t i)
{
    const dis__judge_votes *v = f->in->votes;
    double sum = 0;
    if (f->kind == DIS_DRIFT_SHARE) return (size_t)v->answer[i] == f->class_index;
    for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) sum += vote_value(f, i, v->label[t]);
    return sum / (double)dis__judge_n_votes(v, i);
}

static void add_item(const figure *f, size_t i, double total, dis_judge_baseline *to, dis__judge_variance *variance)
{
    const dis__judge_votes *v = f->in->votes;
    const double scale = f->in->weight[i] / total, apart = item_value(f, i) - to->mean;
    const double votes = (double)dis__judge_n_votes(v, i);
    to->item_variance += scale * apart * apart;
    for (uint64_t t = v->start[i]; f->kind != DIS_DRIFT_SHARE && t < v->start[i + 1]; t++)
        dis__judge_variance_add_vote(variance, v->person[t],
                                     scale / votes * (vote_value(f, i, v->label[t]) - to->mean));
    dis__judge_variance_add_item(variance, scale * apart);
}

static void compute(const figure *f, dis__judge_variance *variance, dis_judge_baseline *to)
{
    const size_t n = f->in->votes->n_items;
    double total = 0, df;
    *to = (dis_judge_baseline){0};
    for (size_t i = 0; i < n; i++) {
        if (!is_used(f, i)) continue;
        to->mean += f->in->weight[i] * item_value(f, i);
        total += f->in->weight[i];
        to->n++;
    }
    to->mean /= total;
    dis__judge_variance_clear(variance);
    for (size_t i = 0; i < n; i++)
        if (is_used(f, i)) add_item(f, i, total, to, variance);
    const dis__crossed_variances v = dis__judge_variance_compute(variance);
    to->variance = f->kind == DIS_DRIFT_SHARE ? v.items : dis__crossed_variance_sum(&v, &df);
}

dis_status dis__judge_compute_baselines(const dis__judge_input *in, dis_judge *judge)
{
    const size_t n = in->votes->n_classes;
    dis__judge_variance variance;
    DIS_TRY(dis__alloc_array(&judge->baselines, dis__saturating_size(2, n, 0), sizeof *judge->baselines));
    DIS_TRY(dis__judge_variance_create(in->votes->n_people, &variance));
    figure f = {.in = in, .kind = DIS_DRIFT_AGREEMENT};
    compute(&f, &variance, &judge->view.agreement);
    for (f.class_index = 0; f.class_index < n; f.class_index++) {
        f.kind = DIS_DRIFT_SHARE;
        compute(&f, &variance, &judge->baselines[f.class_index]);
        f.kind = DIS_DRIFT_BIAS;
        compute(&f, &variance, &judge->baselines[n + f.class_index]);
    }
    dis__judge_variance_destroy(&variance);
    judge->view.shares = judge->baselines;
    judge->view.biases = judge->baselines + n;
    return DIS_OK;
}

/* The share of the class among the judge's answers on all items, minus the weighted bias: the difference estimator. */
static void weigh_rate(const dis__judge_input *in, const dis_judge_baseline *bias, size_t k, dis_panel_rate *rate)
{
    const dis__judge_votes *v = in->votes;
    const double z = 1.959963984540054, reach = z * sqrt(bias->variance);
    double judged = 0;
    for (size_t i = 0; i < v->n_items; i++) judged += v->answer[i] >= 0 && (size_t)v->answer[i] == k;
    const double n = (double)v->n_answers, raw = judged / n;
    const double total = z * sqrt(bias->variance + raw * (1 - raw) / n), value = raw - bias->mean;
    rate->bias = (dis_metric){.value = bias->mean,
                              .ci_low = fmax(-1, bias->mean - reach),
                              .ci_high = fmin(1, bias->mean + reach),
                              .n = (size_t)bias->n,
                              .has_interval = true};
    rate->prediction_powered = (dis_metric){.value = fmin(1, fmax(0, value)),
                                            .ci_low = fmax(0, value - total),
                                            .ci_high = fmin(1, value + total),
                                            .n = (size_t)bias->n,
                                            .has_interval = true};
    rate->rogan_gladen = rate->people = dis__metric_undefined("not available for weighted items");
    rate->tuning_weight = 1;
    rate->n_needed = rate->n_needed_without_judge = rate->sensitivity = rate->specificity = NAN;
}

dis_status dis__judge_compute_weighted_rates(const dis__judge_input *in, dis_judge *judge)
{
    const size_t n = in->votes->n_classes;
    DIS_TRY(dis__alloc_array(&judge->rates, n, sizeof *judge->rates));
    for (size_t k = 0; k < n; k++) {
        judge->rates[k] = judge->view.rates[k];
        weigh_rate(in, &judge->view.biases[k], k, &judge->rates[k]);
    }
    judge->view.rates = judge->rates;
    return DIS_OK;
}
