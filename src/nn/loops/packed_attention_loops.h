/* Loops of attention within packed rows (Vaswani et al. 2017), with masks, windows and biases by distance (Shaw et
 * al. 2018; buckets as Raffel et al. 2020). One row and head at a time: S = softmax(scale Q K' + bias), y = drop(S)
 * V. Of S only the logarithms of its sums are kept; backward computes it again, so memory grows with the tokens, not
 * with their squares.
 *
 * Backward, with P = drop(S): dV = P' dy, dP = dy V', G = S (drop(dP) - sum drop(dP) S), dQ = scale G K, dK = scale
 * G' Q, and the bias of a bucket gets the sum of G over its pairs. Cost: 4 length^2 d operations forward, 10
 * backward. */
#include "nn/loops/loops.h"

typedef struct {
    const dis__packed_attention_args *a;
    size_t row, head, m, d, ld;
    size_t start; /* token */
    const real *q, *k, *v;
} attended_row;

static attended_row row_of(const dis__packed_attention_args *a, size_t index)
{
    const size_t row = index / a->n_heads, head = index % a->n_heads, ld = 3 * a->channels,
                 d = a->channels / a->n_heads;
    const size_t start = (size_t)a->start[row];
    const real *q = (const real *)a->qkv + start * ld + head * d;
    return (attended_row){a, row, head, (size_t)a->length[row], d, ld, start, q, q + a->channels, q + 2 * a->channels};
}

/* Tokens after the last row, for its index. */
static size_t n_behind(const attended_row *r)
{
    return r->row + 1 == r->a->n_rows ? r->a->n_tokens - r->start - r->m : 0;
}

static bool counts(const attended_row *r, size_t i, size_t j)
{
    const size_t apart = i > j ? i - j : j - i;
    return (!r->a->mask || r->a->mask[r->start + j]) && (!r->a->window || apart <= r->a->window);
}

/* Scores of all pairs: s (m, m). Masked pairs are far below all others. */
static void scores(const attended_row *r, real *s, void *scratch)
{
    const dis__packed_attention_args *a = r->a;
    const size_t m = r->m;
    const real scale = (real)a->scale, *bias = a->bias;
    times(
        &(matrices){
            .tb = true, .m = m, .n = m, .k = r->d, .a = r->q, .lda = r->ld, .b = r->k, .ldb = r->ld, .c = s, .ldc = m},
        scratch);
    for (size_t e = 0; e < m * m; e++) s[e] *= scale;
    for (size_t i = 0; bias && i < m; i++)
        for (size_t j = 0; j < m; j++)
            s[i * m + j] += bias[(size_t)a->bucket[a->longest - 1 + j - i] * a->n_heads + r->head];
    if (!a->mask && !a->window) return;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            if (!counts(r, i, j)) s[i * m + j] = -(real)1e30;
}

/* Masked pairs have probability 0, also if a query has no valid key. */
static void clear_others(const attended_row *r, real *s)
{
    if (!r->a->mask && !r->a->window) return;
    for (size_t i = 0; i < r->m; i++)
        for (size_t j = 0; j < r->m; j++)
            if (!counts(r, i, j)) s[i * r->m + j] = 0;
}

static uint64_t dropped_from(const attended_row *r)
{
    return (uint64_t)r->start * r->a->n_heads * r->a->longest + r->head * r->m * r->m;
}

void OP(packed_attention)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__packed_attention_args *a = args;
    real *s = (real *)((char *)scratch + TIMES_SCRATCH);
    for (size_t index = first; index < last; index++) {
        const attended_row r = row_of(a, index);
        const size_t m = r.m, behind = n_behind(&r);
        real *y = (real *)a->y + r.start * a->channels + r.head * r.d;
        for (size_t t = m; t < m + behind; t++) memset(y + t * a->channels, 0, r.d * sizeof *y);
        if (m == 0) continue;
        scores(&r, s, scratch);
        real *z = s + m * m;
        for (size_t i = 0; i < m; i++) {
            memcpy(z, s + i * m, m * sizeof *z);
            ((real *)a->log_sum)[(r.start + i) * a->n_heads + r.head] = softmax(z, s + i * m, m);
        }
        clear_others(&r, s);
        if (a->rate > 0) drop(a->seed, (uint64_t)*a->pass, a->layer, a->rate, dropped_from(&r), m * m, s, s, false);
        times(
            &(matrices){.m = m, .n = r.d, .k = m, .a = s, .lda = m, .b = r.v, .ldb = r.ld, .c = y, .ldc = a->channels},
            scratch);
    }
}

/* The gradients of scores to those of biases, into the row's own part. */
static void add_to_buckets(const attended_row *r, const real *g)
{
    const dis__packed_attention_args *a = r->a;
    real *part = (real *)a->work + r->row * a->n_buckets * a->n_heads + r->head;
    for (size_t b = 0; b < a->n_buckets; b++) part[b * a->n_heads] = 0;
    for (size_t i = 0; i < r->m; i++)
        for (size_t j = 0; j < r->m; j++)
            part[(size_t)a->bucket[a->longest - 1 + j - i] * a->n_heads] += g[i * r->m + j];
}

/* Recomputes S from the stored sums: s (m, m). */
static void shares(const attended_row *r, real *s, void *scratch)
{
    scores(r, s, scratch);
    for (size_t i = 0; i < r->m; i++) {
        const real log_sum = ((const real *)r->a->log_sum)[(r->start + i) * r->a->n_heads + r->head];
        for (size_t j = 0; j < r->m; j++) s[i * r->m + j] = EXP(s[i * r->m + j] - log_sum);
    }
    clear_others(r, s);
}

void OP(packed_attention_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__packed_attention_args *a = args;
    for (size_t index = first; index < last; index++) {
        const attended_row r = row_of(a, index);
        const size_t m = r.m, behind = n_behind(&r), ld = r.ld;
        real *s = (real *)((char *)scratch + TIMES_SCRATCH), *p = s + m * m, *g = p + m * m;
        real *dq = (real *)a->d_qkv + r.start * ld + r.head * r.d, *dk = dq + a->channels, *dv = dk + a->channels;
        const real *dy = (const real *)a->dy + r.start * a->channels + r.head * r.d, scale = (real)a->scale;
        for (size_t t = m; !a->add && t < m + behind; t++)
            for (size_t part = 0; part < 3; part++) memset(dq + t * ld + part * a->channels, 0, r.d * sizeof *dq);
        if (m) {
            shares(&r, s, scratch);
            memcpy(p, s, m * m * sizeof *p);
            if (a->rate > 0) drop(a->seed, (uint64_t)*a->pass, a->layer, a->rate, dropped_from(&r), m * m, p, p, false);
            times(&(matrices){.ta = true,
                              .add = a->add,
                              .m = m,
                              .n = r.d,
                              .k = m,
                              .a = p,
                              .lda = m,
                              .b = dy,
                              .ldb = a->channels,
                              .c = dv,
                              .ldc = ld},
                  scratch);
            times(&(matrices){.tb = true,
                              .m = m,
                              .n = m,
                              .k = r.d,
                              .a = dy,
                              .lda = a->channels,
                              .b = r.v,
                              .ldb = ld,
                              .c = g,
                              .ldc = m},
                  scratch);
            if (a->rate > 0) drop(a->seed, (uint64_t)*a->pass, a->layer, a->rate, dropped_from(&r), m * m, g, g, false);
            for (size_t i = 0; i < m; i++) {
                const real mean = dot(g + i * m, s + i * m, m);
                for (size_t j = 0; j < m; j++) g[i * m + j] = s[i * m + j] * (g[i * m + j] - mean);
            }
        }
        if (a->d_bias) add_to_buckets(&r, g);
        if (m == 0) continue;
        for (size_t e = 0; e < m * m; e++) g[e] *= scale;
        times(
            &(matrices){
                .add = a->add, .m = m, .n = r.d, .k = m, .a = g, .lda = m, .b = r.k, .ldb = ld, .c = dq, .ldc = ld},
            scratch);
        times(&(matrices){.ta = true,
                          .add = a->add,
                          .m = m,
                          .n = r.d,
                          .k = m,
                          .a = g,
                          .lda = m,
                          .b = r.q,
                          .ldb = ld,
                          .c = dk,
                          .ldc = ld},
              scratch);
    }
}
