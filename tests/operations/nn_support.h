/* nn_support.h: a network with everything that a batch of it needs, filled with numbers that depend on a seed alone.
 * Each case builds one with the calls below; the same case then runs on every device. */
#ifndef DIS_OPERATIONS_NN_SUPPORT_H
#define DIS_OPERATIONS_NN_SUPPORT_H
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/random/random.h"
#include "nn/net_internal.h"

enum { NN_MAX = 16 };

typedef struct {
    int ints, low, high;
} nn_ints;

typedef struct {
    dis__net *net;
    int rows, time, tokens; /* axes */
    int reals[NN_MAX], n_reals;
    nn_ints ints[NN_MAX];
    int n_ints;
    int soft[NN_MAX], n_soft, crowd[NN_MAX], n_crowd;
    int pairs[NN_MAX], n_pairs;
    size_t n_workers;
    int start, length; /* of packed rows of tokens, + 1; 0: there are none */
    int mark;          /* a value to look at */
    size_t times;      /* rows that stand for one of a size; 0: 1 */
} nn_net;

typedef struct {
    const char *name;
    void (*build)(nn_net *f);
    bool large; /* slow in double: small batches are enough there */
} nn_case;

static inline int nn_reals(nn_net *f, dis__shape shape)
{
    return f->reals[f->n_reals++] = dis__net_reals(f->net, "x", shape);
}

/* low .. high, both included; high DIS_NONE: the length of the time axis as it is. */
static inline int nn_ints_input(nn_net *f, int rows, int time, size_t per, int low, int high)
{
    const int ints = dis__net_ints(f->net, "ids", rows, time, per);
    f->ints[f->n_ints++] = (nn_ints){ints, low, high};
    return ints;
}

static inline int nn_soft(nn_net *f, const char *name, int logits, const dis__soft_head_options *o)
{
    return f->soft[f->n_soft++] = dis__head_soft(f->net, name, logits, o);
}

static inline int nn_crowd(nn_net *f, const char *name, int logits, dis__crowd kind, bool on_probabilities)
{
    dis__crowd_head_options o = dis__crowd_head_options_default();
    o.kind = kind;
    o.on_probabilities = on_probabilities;
    f->n_workers = 5;
    return f->crowd[f->n_crowd++] = dis__head_crowd(f->net, name, logits, f->n_workers, 256, &o);
}

/* Of a table of five rows. */
static inline int nn_pairs(nn_net *f, const char *name, int embedded)
{
    return f->pairs[f->n_pairs++] = dis__head_pairs(f->net, name, embedded, 64);
}

static inline double nn_random(uint64_t stream, uint64_t i)
{
    return dis__random_normal(77, stream << 32, i);
}

static inline void nn_fill_soft(nn_net *f, int head, uint64_t stream)
{
    const dis__head *h = f->net->layers[f->net->heads[head]].own;
    const size_t rows = dis__net_rows(f->net, h->logits), k = h->n_classes;
    double *p = calloc(rows * k + 1, sizeof *p), *w = calloc(rows + 1, sizeof *w);
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++)
            sum += p[i * k + j] = i % 3 == 1 ? j == i % k : exp(nn_random(stream, i * k + j));
        for (size_t j = 0; j < k; j++) p[i * k + j] /= sum;
        w[i] = i % 5 == 4 ? 0 : i % 5 == 3 ? .5 : 1;
    }
    dis__head_put_exact(f->net, head, p, w);
    free(p);
    free(w);
}

static inline dis_status nn_fill_crowd(nn_net *f, int head)
{
    const dis__head *h = f->net->layers[f->net->heads[head]].own;
    const size_t rows = dis__net_rows(f->net, h->logits);
    int32_t row[256], worker[256], label[256];
    size_t n = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t w = 0; w < f->n_workers && n < 256; w++)
            if (dis__random_below(3, 9, i * f->n_workers + w, 2)) {
                row[n] = (int32_t)i;
                worker[n] = (int32_t)w;
                label[n] = (int32_t)dis__random_below(3, 10, n, h->n_classes);
                n++;
            }
    return dis__head_put_votes(f->net, head, n, row, worker, label);
}

static inline dis_status nn_fill_pairs(nn_net *f, int head, size_t rows)
{
    int32_t pair[3 * 64];
    float weight[64];
    const size_t n = rows < 64 ? rows : 64;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < 2; j++) pair[3 * i + j] = (int32_t)dis__random_below(6, 12 + j, i, 5);
        pair[3 * i + 2] = (int32_t)(i % DIS_N_PAIRS);
        weight[i] = (float)(1 + i % 4) / 4;
    }
    return dis__head_put_pairs(f->net, head, n, pair, weight);
}

/* Starts and lengths of packed rows: the tokens dealt out unevenly, some rows with none. */
static inline void nn_fill_packed(nn_net *f, size_t rows, size_t tokens)
{
    int32_t start[64] = {0}, length[64] = {0};
    for (size_t t = 0; rows && t < tokens; t++) length[dis__random_below(8, 11, t, rows)]++;
    for (size_t i = 1; i < rows; i++) start[i] = start[i - 1] + length[i - 1];
    dis__net_put_ints(f->net, f->start - 1, start);
    dis__net_put_ints(f->net, f->length - 1, length);
}

/* A batch of this size. */
static inline dis_status nn_fill(nn_net *f, size_t rows, size_t time, size_t tokens)
{
    rows *= f->times ? f->times : 1;
    dis__net_resize(f->net, f->rows, rows);
    dis__net_resize(f->net, f->time, time);
    dis__net_resize(f->net, f->tokens, tokens);
    for (int i = 0; i < f->n_reals; i++) {
        const size_t n = dis__net_rows(f->net, f->reals[i]) * dis__shape_of(f->net, f->reals[i])->channels;
        double *x = calloc(n + 1, sizeof *x);
        for (size_t j = 0; j < n; j++) x[j] = nn_random(100 + (uint64_t)i, j);
        dis__net_put_exact(f->net, f->reals[i], x);
        free(x);
    }
    for (int i = 0; i < f->n_ints; i++) {
        const dis__ints *in = &f->net->ints[f->ints[i].ints];
        const size_t n = f->net->axis_given[in->rows] * dis__axis_size(f->net, in->time) * in->per;
        const int high = f->ints[i].high == DIS_NONE ? (int)time : f->ints[i].high, low = f->ints[i].low;
        int32_t *x = calloc(n + 1, sizeof *x);
        for (size_t j = 0; j < n; j++)
            x[j] = (int32_t)(low + (int)dis__random_below(5, (uint64_t)(200 + i) << 32, j, (uint64_t)(high - low + 1)));
        dis__net_put_ints(f->net, f->ints[i].ints, x);
        free(x);
    }
    if (f->start) nn_fill_packed(f, rows, tokens);
    for (int i = 0; i < f->n_soft; i++) nn_fill_soft(f, f->soft[i], 300 + (uint64_t)i);
    for (int i = 0; i < f->n_crowd; i++) DIS_TRY(nn_fill_crowd(f, f->crowd[i]));
    for (int i = 0; i < f->n_pairs; i++) DIS_TRY(nn_fill_pairs(f, f->pairs[i], rows));
    return DIS_OK;
}

/* Builds, plans and gives every parameter a start away from zeros and ones. */
static inline dis_status nn_make(const nn_case *c, const dis__device *device, dis_context *ctx,
                                 const dis__plan_options *options, nn_net *f)
{
    *f = (nn_net){0};
    DIS_TRY(dis__net_create(device, 42, &f->net));
    f->rows = dis__net_axis(f->net, 40);
    f->time = dis__net_axis(f->net, 12);
    f->tokens = dis__net_axis_packed(f->net, 60);
    c->build(f);
    DIS_TRY(dis__net_plan(f->net, ctx, options));
    for (size_t p = 0; p < f->net->n_params; p++) {
        const dis__param_info *info = dis__net_param(f->net, p);
        if (f->net->params[p].statistic) continue;
        double *x = calloc(info->n, sizeof *x);
        dis__param_get(f->net, p, x);
        for (size_t i = 0; i < info->n; i++) x[i] = x[i] * .5 + .3 * nn_random(400 + p, i);
        dis__param_put(f->net, p, x);
        free(x);
    }
    return DIS_OK;
}

/* One pass, always with the same dropout. */
static inline dis_status nn_pass(nn_net *f, bool backward)
{
    f->net->pass = 6;
    DIS_TRY(dis__net_forward(f->net, true));
    return backward ? dis__net_backward(f->net) : DIS_OK;
}

#endif
