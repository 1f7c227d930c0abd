/* Loops of scaled dot-product attention (Vaswani et al. 2017): for one row and head, S = softmax(Q K' / sqrt(d)) over
 * the positions within the row's length, y = drop(S) V. Positions after the length give and receive nothing.
 *
 * Backward, with P = drop(S): dV = P' dy, dP = dy V', dS = S (drop(dP) - sum drop(dP) S), dQ = dS K / sqrt(d),
 * dK = dS' Q / sqrt(d). Cost: 4 time^2 d operations forward, 8 backward, and time^2 numbers kept per row and head. */
#include "nn/loops/loops.h"

static inline size_t attended(const dis__padded_attention_args *a, size_t row)
{
    return a->length ? (size_t)a->length[row] : a->n_times;
}

/* Attention to the one position there is, for (row, head) pairs [first, last): each head's values are kept or
 * dropped. */
static void value_alone(const dis__padded_attention_args *a, size_t first, size_t last, const real *from, real *to,
                        bool add)
{
    enum { SOME = 256 };
    const size_t d = a->channels / a->n_heads;
    for (size_t at = first; at < last; at += SOME) {
        const size_t n = last - at < SOME ? last - at : SOME;
        real factor[SOME];
        for (size_t i = 0; i < n; i++) factor[i] = 1;
        if (a->rate > 0) drop(a->seed, (uint64_t)*a->pass, a->layer, a->rate, at, n, factor, factor, false);
        for (size_t i = 0; i < n; i++)
            for (size_t c = (at + i) * d; c < (at + i + 1) * d; c++)
                to[c] = add ? to[c] + factor[i] * from[c] : factor[i] * from[c];
    }
}

void OP(padded_attention)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__padded_attention_args *a = args;
    const size_t n = a->n_times, d = a->channels / a->n_heads, ld = 3 * a->channels;
    real *dropped = (real *)((char *)scratch + TIMES_SCRATCH);
    if (a->value_only) {
        value_alone(a, first, last, a->qkv, a->y, false);
        return;
    }
    for (size_t index = first; index < last; index++) {
        const size_t row = index / a->n_heads, head = index % a->n_heads, m = attended(a, row);
        const real *q = (const real *)a->qkv + row * n * ld + head * d, *k = q + a->channels, *v = k + a->channels;
        real *y = (real *)a->y + row * n * a->channels + head * d, *share = (real *)a->share + index * n * n;
        const real scale = 1 / SQRT((real)d);
        for (size_t t = m; t < n; t++) memset(y + t * a->channels, 0, d * sizeof *y);
        if (m == 0) continue;
        times(
            &(matrices){.tb = true, .m = m, .n = m, .k = d, .a = q, .lda = ld, .b = k, .ldb = ld, .c = share, .ldc = n},
            scratch);
        for (size_t t = 0; t < m; t++) {
            real *s = share + t * n;
            for (size_t j = 0; j < m; j++) dropped[j] = s[j] * scale;
            softmax(dropped, s, m);
            memset(s + m, 0, (n - m) * sizeof *s);
        }
        const real *p = share;
        if (a->rate > 0) {
            drop(a->seed, (uint64_t)*a->pass, a->layer, a->rate, index * n * n, m * n, share, dropped, false);
            p = dropped;
        }
        times(&(matrices){.m = m, .n = d, .k = m, .a = p, .lda = n, .b = v, .ldb = ld, .c = y, .ldc = a->channels},
              scratch);
    }
}

void OP(padded_attention_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__padded_attention_args *a = args;
    const size_t n = a->n_times, d = a->channels / a->n_heads, ld = 3 * a->channels;
    real *p = (real *)((char *)scratch + TIMES_SCRATCH), *dp = p + n * n;
    if (a->value_only) {
        value_alone(a, first, last, a->dy, a->d_qkv, a->add);
        return;
    }
    for (size_t index = first; index < last; index++) {
        const size_t row = index / a->n_heads, head = index % a->n_heads, m = attended(a, row);
        const real *q = (const real *)a->qkv + row * n * ld + head * d, *k = q + a->channels, *v = k + a->channels;
        real *dq = (real *)a->d_qkv + row * n * ld + head * d, *dk = dq + a->channels, *dv = dk + a->channels;
        const real *dy = (const real *)a->dy + row * n * a->channels + head * d,
                   *share = (real *)a->share + index * n * n;
        const real scale = 1 / SQRT((real)d);
        for (size_t t = a->add ? n : m; t < n; t++)
            for (int part = 0; part < 3; part++) memset(dq + t * ld + (size_t)part * a->channels, 0, d * sizeof *dq);
        if (m == 0) continue;
        memcpy(p, share, m * n * sizeof *p);
        if (a->rate > 0) drop(a->seed, (uint64_t)*a->pass, a->layer, a->rate, index * n * n, m * n, p, p, false);
        times(&(matrices){.ta = true,
                          .add = a->add,
                          .m = m,
                          .n = d,
                          .k = m,
                          .a = p,
                          .lda = n,
                          .b = dy,
                          .ldb = a->channels,
                          .c = dv,
                          .ldc = ld},
              scratch);
        memset(dp, 0, m * n * sizeof *dp);
        times(
            &(matrices){
                .tb = true, .m = m, .n = m, .k = d, .a = dy, .lda = a->channels, .b = v, .ldb = ld, .c = dp, .ldc = n},
            scratch);
        if (a->rate > 0) drop(a->seed, (uint64_t)*a->pass, a->layer, a->rate, index * n * n, m * n, dp, dp, false);
        for (size_t t = 0; t < m; t++) {
            const real *s = share + t * n;
            real *g = dp + t * n;
            const real mean = dot(g, s, m);
            for (size_t j = 0; j < m; j++) g[j] = s[j] * (g[j] - mean) * scale;
        }
        times(
            &(matrices){
                .add = a->add, .m = m, .n = d, .k = m, .a = dp, .lda = n, .b = k, .ldb = ld, .c = dq, .ldc = ld},
            scratch);
        times(&(matrices){.ta = true,
                          .add = a->add,
                          .m = m,
                          .n = d,
                          .k = m,
                          .a = dp,
                          .lda = n,
                          .b = q,
                          .ldb = ld,
                          .c = dk,
                          .ldc = ld},
              scratch);
    }
}

/* ---- rows weighted by the softmax of their scores ---- */

void OP(softmax_pool)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__softmax_pool_args *a = args;
    const size_t w = a->width;
    for (size_t i = first; i < last; i++) {
        const size_t n = a->length ? (size_t)a->length[i] : a->per;
        const real *x = (const real *)a->x + i * a->per * w;
        real *restrict y = (real *)a->y + i * w, *share = (real *)a->share + i * a->per;
        memset(y, 0, w * sizeof *y);
        if (n == 0) continue;
        softmax((const real *)a->scores + i * a->per, share, n);
        for (size_t t = 0; t < n; t++)
            for (size_t c = 0; c < w; c++) y[c] += share[t] * x[t * w + c];
    }
}

void OP(softmax_pool_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__softmax_pool_args *a = args;
    const size_t w = a->width;
    for (size_t i = first; i < last; i++) {
        const size_t n = a->length ? (size_t)a->length[i] : a->per;
        const real *x = (const real *)a->x + i * a->per * w, *y = (const real *)a->y + i * w;
        const real *restrict dy = (const real *)a->dy + i * w, *share = (const real *)a->share + i * a->per;
        real *dx = a->dx ? (real *)a->dx + i * a->per * w : NULL;
        real *ds = a->d_scores ? (real *)a->d_scores + i * a->per : NULL;
        if (dx && !a->add_x) memset(dx, 0, a->per * w * sizeof *dx);
        if (ds && !a->add_scores) memset(ds, 0, a->per * sizeof *ds);
        const real mean = dot(dy, y, w); /* sum over rows of share dy x */
        for (size_t t = 0; t < n; t++) {
            for (size_t c = 0; dx && c < w; c++) dx[t * w + c] += share[t] * dy[c];
            if (ds) ds[t] += share[t] * (dot(dy, x + t * w, w) - mean);
        }
    }
}
