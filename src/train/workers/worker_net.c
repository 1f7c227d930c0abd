/* Who is asked. annotator (AART: Mokhberian et al. 2024): a vector per worker is added to what the model makes of an
 * item, h, and heads read LN(h + e). annot-mix (Herde et al. 2024): a classifier reads h alone, q = softmax(V h), and W
 * [h; e] gives a matrix C of what the worker says of each class; the vote is sum_k q_k softmax(C_k). As in its authors'
 * program no gradient goes from C to h, and C starts near the identity. Where workers have features f, e is that of the
 * table + U f.
 *
 * Mixup: row i of a batch is lambda (h_i, e_i, vote_i) + (1 - lambda) (h_j, e_j, vote_j), j drawn from the batch,
 * lambda from Beta(alpha, alpha). It mixes what the model makes of items, not items, since words cannot be mixed. A
 * mixture is a weighted mean of two gathered rows, whose weights are a softmax of logarithms.
 *
 * Vectors start small, as no one differs before the data say so. Cost: O(rows x width). */
#include "train/workers/worker_net.h"
#include "core/random/random.h"
#include <math.h>
#include <string.h>

void dis__worker_net_free(dis__worker_net *w)
{
    if (!w) return;
    dis__free(w->id);
    dis__free(w->pair);
    dis__free(w->logarithm);
    dis__free(w->known);
    dis__free(w->first);
    dis__free(w);
}

/* ---- building ---- */

static dis_status make_room(dis__worker_net *a, size_t units, size_t features)
{
    DIS_TRY(dis__alloc_array(&a->id, 2 * units, sizeof *a->id));
    DIS_TRY(dis__alloc_array(&a->pair, 2 * units, sizeof *a->pair));
    DIS_TRY(dis__alloc_array(&a->logarithm, 2 * units, sizeof *a->logarithm));
    DIS_TRY(dis__alloc_array(&a->first, units, sizeof *a->first));
    return features ? dis__alloc_array(&a->known, dis__saturating_size(units, features, 0), sizeof *a->known) : DIS_OK;
}

/* Rows of the table: known workers and, where none were left out of training, whoever is not known. */
static size_t n_vectors(const dis_model *model)
{
    return dis_names_count(model->workers) + (model->of_objective.unknown == 0);
}

static int mix_rows(dis__net *net, dis__worker_net *a, int x)
{
    return a->other == DIS_NONE ? x : dis__layer_softmax_pool(net, x, a->share, DIS_NONE);
}

/* e: (rows, width). */
static int worker_vectors(const dis_model *model, dis__net *net, dis__worker_net *a, int rows, size_t width)
{
    const bool mixes = a->other != DIS_NONE;
    a->workers = dis__net_ints(net, "who is asked", rows, DIS_NONE, mixes ? 2 : 1);
    a->vectors = mixes ? dis__layer_embed(net, "workers", a->workers, n_vectors(model), width)
                       : dis__layer_embed_bag(net, "workers", a->workers, DIS_NONE, n_vectors(model), width);
    const int e = mix_rows(net, a, a->vectors);
    if (mixes) dis__net_init_normal(net, "workers.weight", .1);
    if (!model->features.width) return e;
    a->features = dis__net_reals(net, "features of who is asked", dis__shape_rows(rows, model->features.width));
    return dis__layer_add(net, e, dis__layer_linear(net, "workers.features", a->features, width, DIS_ACT_NONE));
}

dis_status dis__worker_net_build(const dis_model *model, const dis__batch_limits *limits, dis__model_net *r)
{
    const dis__objective_settings *s = &model->of_objective;
    const dis__shape *trunk = dis__net_shape(r->net, r->in->trunk);
    if (!model->workers || !trunk) return DIS_OK;
    const size_t k = dis_names_count(model->classes), width = model->confuses ? (size_t)s->width : trunk->channels;
    const int rows = trunk->rows;
    DIS_TRY(dis__alloc_zeroed(&r->worker_net, 1, sizeof *r->worker_net));
    dis__worker_net *a = r->worker_net;
    *a = (dis__worker_net){.features = DIS_NONE, .other = DIS_NONE, .share = DIS_NONE, .confusion = DIS_NONE};
    DIS_TRY(make_room(a, limits->units, model->features.width));
    if (s->alpha > 0 && !limits->predicts) {
        a->other = dis__net_ints(r->net, "rows of a mixture", rows, DIS_NONE, 2);
        a->share = dis__net_reals(r->net, "shares of a mixture", (dis__shape){rows, DIS_NONE, 1, 2, 1});
        r->in->trunk = mix_rows(r->net, a, dis__layer_gather(r->net, r->in->trunk, a->other));
    }
    const int e = worker_vectors(model, r->net, a, rows, width);
    int x = model->confuses ? dis__layer_concat(r->net, (int[]){dis__layer_stop(r->net, r->in->trunk), e}, 2)
                            : dis__layer_layernorm(r->net, "workers.norm", e, r->in->trunk);
    if (s->hidden) x = dis__layer_linear(r->net, "workers.hidden", x, (size_t)s->hidden, DIS_ACT_RELU);
    if (model->confuses)
        a->confusion = dis__layer_linear(r->net, "workers.confusion", x, dis__saturating_size(k, k, 0), DIS_ACT_NONE);
    else
        r->in->trunk = x;
    return DIS_OK;
}

/* Row k of C starts with eta at k and the rest shared out, when W [h; e] is 0. */
dis_status dis__worker_net_init_weights(const dis_model *model, dis__net *net)
{
    const size_t k = dis_names_count(model->classes), param = dis__net_find_param(net, "workers.confusion.bias");
    const double eta = model->of_objective.eta;
    double *bias;
    if (!model->confuses || param == SIZE_MAX) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&bias, dis__saturating_size(k, k, 0), sizeof *bias));
    for (size_t c = 0; c < k && k > 1; c++) bias[c * k + c] = log(eta * (double)(k - 1) / (1 - eta));
    const dis_status status = dis__param_put(net, param, bias);
    dis__free(bias);
    return status;
}

void dis__worker_net_set_unknown(dis_model *model)
{
    const dis__model_weights *w = &model->weights;
    if (!model->workers || model->of_objective.unknown > 0) return;
    for (size_t i = 0; i < w->n; i++) {
        if (strcmp(w->info[i].name, "workers.weight") != 0) continue;
        const size_t n = w->info[i].dim[0] - 1, width = w->info[i].dim[1];
        for (size_t c = 0; c < width; c++) {
            double sum = 0;
            for (size_t r = 0; r < n; r++) sum += (double)w->value[i][r * width + c];
            w->value[i][n * width + c] = (float)(sum / (double)n);
        }
    }
}

/* ---- batches ---- */

/* Gamma(alpha, 1) by Marsaglia and Tsang (2000), for alpha below 1 by way of alpha + 1. */
static double gamma_draw(double alpha, uint64_t seed, uint64_t stream, uint64_t index, uint64_t *attempt)
{
#define NEXT (stream | ++*attempt << 8)
    const double boost = alpha < 1 ? pow(dis__random_uniform(seed, NEXT, index), 1 / alpha) : 1;
    const double d = (alpha < 1 ? alpha + 1 : alpha) - 1. / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = dis__random_normal(seed, NEXT, index), v = pow(1 + c * x, 3);
        if (v > 0 && log(dis__random_uniform(seed, NEXT, index) + 0x1p-60) < x * x / 2 + d - d * v + d * log(v))
            return d * v * boost;
    }
#undef NEXT
}

double dis__random_beta(double alpha, uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t attempt = 0;
    const double x = gamma_draw(alpha, seed, stream, index, &attempt);
    const double y = gamma_draw(alpha, seed, stream, index, &attempt);
    return x + y > 0 ? x / (x + y) : .5;
}

static const float *features_of(const dis_model *model, int32_t worker)
{
    const dis__worker_features *f = &model->features;
    if (worker == -1) return f->nothing;
    return worker >= 0 ? f->known + (size_t)worker * f->width : f->of_others + (size_t)(-2 - worker) * f->width;
}

/* A tenth (`unknown`) of the votes is learned without saying whose it is; of half of them features stay known. */
typedef struct {
    int32_t worker, features;
} annotator_row;

static annotator_row find_row(const dis_model *model, const dis__encoded_items *encoded, const dis__unit_batch *batch,
                              size_t i)
{
    const int32_t worker = encoded->worker ? encoded->worker[batch->unit[i]] : -1;
    annotator_row row = {worker, worker};
    if (!batch->training) return row;
    const double unknown = model->of_objective.unknown;
    const double x = dis__random_uniform(batch->seed, DIS_STREAM_ANNOTATOR_SUBSET | (uint64_t)i << 32, batch->number);
    if (x < unknown) row.worker = -1;
    if (x < unknown / 2) row.features = -1;
    return row;
}

/* Number of the worker's vector; below 0: none, which is a vector of zeros. */
static int32_t vector_of(const dis_model *model, int32_t worker)
{
    if (worker >= 0) return worker;
    return model->of_objective.unknown == 0 ? (int32_t)dis_names_count(model->workers) : -1;
}

/* What row i is mixed with, and its own share. */
static void draw_mixture(const dis_model *model, const dis__unit_batch *batch, size_t i, dis__worker_net *a)
{
    const uint64_t stream = DIS_STREAM_MIXUP | (uint64_t)i << 32;
    a->pair[2 * i] = a->pair[2 * i + 1] = (int32_t)i;
    a->first[i] = 1;
    a->logarithm[2 * i] = a->logarithm[2 * i + 1] = 0;
    if (!a->mixed) return;
    const double lambda = dis__random_beta(model->of_objective.alpha, batch->seed, stream, batch->number);
    a->pair[2 * i + 1] = (int32_t)dis__random_below(batch->seed, stream, batch->number, batch->n);
    a->first[i] = (float)lambda;
    a->logarithm[2 * i] = (float)log(lambda > 1e-30 ? lambda : 1e-30);
    a->logarithm[2 * i + 1] = (float)log(1 - lambda > 1e-30 ? 1 - lambda : 1e-30);
}

static void mix_features(const dis_model *model, dis__worker_net *a, size_t i, const annotator_row *x,
                         const annotator_row *y)
{
    const size_t n = model->features.width;
    const float *p = n ? features_of(model, x->features) : NULL, *q = n ? features_of(model, y->features) : NULL;
    for (size_t c = 0; c < n; c++) a->known[i * n + c] = p == q ? p[c] : a->first[i] * p[c] + (1 - a->first[i]) * q[c];
}

dis_status dis__worker_net_set_batch(const dis_model *model, dis__model_net *r, const dis__encoded_items *encoded,
                                     const dis__unit_batch *batch)
{
    dis__worker_net *a = r->worker_net;
    const size_t per = a->other == DIS_NONE ? 1 : 2;
    a->mixed = per == 2 && batch->training;
    for (size_t i = 0; i < batch->n; i++) {
        draw_mixture(model, batch, i, a);
        const annotator_row x = find_row(model, encoded, batch, i);
        const annotator_row y = a->mixed ? find_row(model, encoded, batch, (size_t)a->pair[2 * i + 1]) : x;
        a->id[per * i] = vector_of(model, x.worker);
        if (per == 2) a->id[per * i + 1] = vector_of(model, y.worker);
        mix_features(model, a, i, &x, &y);
    }
    if (per == 2) DIS_TRY(dis__net_put_ints(r->net, a->other, a->pair));
    if (per == 2) DIS_TRY(dis__net_put(r->net, a->share, a->logarithm));
    if (a->features != DIS_NONE) DIS_TRY(dis__net_put(r->net, a->features, a->known));
    return dis__net_put_ints(r->net, a->workers, a->id);
}
