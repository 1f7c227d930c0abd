/* Loops of layer normalisation (Ba, Kiros & Hinton 2016), dropout (Srivastava et al. 2014) and pooling over rows.
 *
 * Dropout draws Philox 4x32-10 words: of each 1,024 elements of a layer, element e takes word e / 256 of the block with
 * counter e % 256 (step, number of the thousand; stream, layer) under the seed, so that words of many counters lie side
 * by side as they are computed. A word below rate * 2^32 drops the element. Nothing is stored: backward draws again. */
#include "nn/loops/loops.h"
#include "core/random/random.h"

/* 1 / D from the sum of squares of s - mean of a row. */
static inline real norm_inverse(const dis__layernorm_args *a, real squares)
{
    if (a->sample) return 1 / (SQRT(squares / (real)(a->width - 1)) + (real)a->epsilon);
    return 1 / SQRT(squares / (real)a->width + (real)a->epsilon);
}

/* What z is multiplied by in the gradient, of the row's sum of g z: its mean, or with `sample` that over width - 1 and
 * D / sd; 0 where all numbers of the row are equal. */
static inline real norm_slope(const dis__layernorm_args *a, real gz_sum, real inverse)
{
    if (!a->sample) return gz_sum / (real)a->width;
    const real share = 1 - (real)a->epsilon * inverse; /* sd / D */
    return share > 0 ? gz_sum / ((real)(a->width - 1) * share) : 0;
}

void OP(layernorm)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__layernorm_args *a = args;
    const size_t n = a->width;
    const real *gain = a->gain, *bias = a->bias;
    for (size_t i = first; i < last; i++) {
        const real *restrict x = (const real *)a->x + i * n, *r = a->r ? (const real *)a->r + i * n : NULL;
        real *restrict y = (real *)a->y + i * n, *stats = (real *)a->stats + 2 * i;
        for (size_t c = 0; c < n; c++) y[c] = r ? x[c] + r[c] : x[c];
        const real mean = sum(y, n) / (real)n;
        for (size_t c = 0; c < n; c++) y[c] -= mean;
        const real inverse = norm_inverse(a, dot(y, y, n));
        for (size_t c = 0; c < n; c++) y[c] = bias ? gain[c] * (y[c] * inverse) + bias[c] : gain[c] * (y[c] * inverse);
        stats[0] = mean;
        stats[1] = inverse;
    }
}

/* With z = (s - mean) / D and g = gain dy: ds = (g - mean(g) - z slope(g z)) / D. */
void OP(layernorm_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__layernorm_args *a = args;
    const size_t n = a->width;
    const real *gain = a->gain;
    for (size_t i = first; i < last; i++) {
        const real *restrict x = (const real *)a->x + i * n, *r = a->r ? (const real *)a->r + i * n : NULL;
        const real *restrict dy = (const real *)a->dy + i * n, *stats = (const real *)a->stats + 2 * i;
        real *dx = a->dx ? (real *)a->dx + i * n : NULL, *dr = a->dr ? (real *)a->dr + i * n : NULL;
        const real mean = stats[0], inverse = stats[1];
        real g_sum[LANES] = {0}, gz_sum[LANES] = {0};
        for (size_t c0 = 0; c0 < n; c0 += LANES)
            for (size_t l = 0; l < LANES && c0 + l < n; l++) {
                const size_t c = c0 + l;
                const real z = ((r ? x[c] + r[c] : x[c]) - mean) * inverse, g = gain[c] * dy[c];
                g_sum[l] += g;
                gz_sum[l] += g * z;
            }
        const real g_mean = sum(g_sum, LANES) / (real)n, slope = norm_slope(a, sum(gz_sum, LANES), inverse);
        for (size_t c = 0; c < n; c++) {
            const real z = ((r ? x[c] + r[c] : x[c]) - mean) * inverse;
            const real d = (gain[c] * dy[c] - g_mean - z * slope) * inverse;
            if (dx) dx[c] = a->add_x ? dx[c] + d : d;
            if (dr) dr[c] = a->add_r ? dr[c] + d : d;
        }
    }
}

void OP(layernorm_param_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__layernorm_args *a = args;
    const size_t n = a->width;
    const real *x = a->x, *r = a->r, *dy = a->dy, *stats = a->stats;
    real *restrict d_gain = a->d_gain, *restrict d_bias = a->d_bias;
    for (size_t i = 0; i < a->n_rows; i++) {
        const real mean = stats[2 * i], inverse = stats[2 * i + 1];
        for (size_t c = first; c < last; c++) {
            const size_t e = i * n + c;
            const real s = r ? x[e] + r[e] : x[e];
            if (d_gain) d_gain[c] += dy[e] * ((s - mean) * inverse);
            if (d_bias) d_bias[c] += dy[e];
        }
    }
}

/* DIS_DROPOUT_BLOCK words for elements block * DIS_DROPOUT_BLOCK ...: dis__philox for all counters side by side. */
static inline void dropout_words(uint64_t seed, uint64_t step, uint32_t layer, uint64_t block,
                                 uint32_t word[DIS_DROPOUT_BLOCK])
{
    enum { N = DIS_DROPOUT_BLOCK / 4 };
    uint32_t *restrict c0 = word, *restrict c1 = word + N, *restrict c2 = word + 2 * N, *restrict c3 = word + 3 * N;
    for (uint32_t i = 0; i < N; i++) {
        c0[i] = (uint32_t)block * N + i;
        c1[i] = (uint32_t)step;
        c2[i] = DIS_STREAM_DROPOUT;
        c3[i] = layer;
    }
    philox_rounds(seed, N, c0, c1, c2, c3);
}

/* A word below this drops its element. */
static inline uint32_t dropout_threshold(double rate)
{
    return (uint32_t)(rate * 0x1p32);
}

/* y[i] (+)= x[i] kept or dropped, for elements at .. at + n of a layer. x may be y. */
static inline void drop(uint64_t seed, uint64_t step, uint32_t layer, double rate, size_t at, size_t n, const real *x,
                        real *y, bool add)
{
    const uint32_t threshold = dropout_threshold(rate);
    const real scale = (real)(1 / (1 - rate));
    while (n) {
        uint32_t words[DIS_DROPOUT_BLOCK];
        dropout_words(seed, step, layer, at / DIS_DROPOUT_BLOCK, words);
        const uint32_t *word = words + at % DIS_DROPOUT_BLOCK;
        const size_t left = DIS_DROPOUT_BLOCK - at % DIS_DROPOUT_BLOCK, m = n < left ? n : left;
        if (add)
            for (size_t i = 0; i < m; i++) y[i] += word[i] < threshold ? 0 : x[i] * scale;
        else
            for (size_t i = 0; i < m; i++) y[i] = word[i] < threshold ? 0 : x[i] * scale;
        at += m;
        n -= m;
        x += m;
        y += m;
    }
}

void OP(dropout)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__dropout_args *a = args;
    const size_t at = first * DIS_DROPOUT_BLOCK,
                 end = last * DIS_DROPOUT_BLOCK < a->n ? last * DIS_DROPOUT_BLOCK : a->n;
    if (a->rate == 0) { /* nothing is dropped: no random numbers are drawn */
        store_or_add((real *)a->y + at, (const real *)a->x + at, end - at, a->add);
        return;
    }
    drop(a->seed, (uint64_t)*a->pass, a->layer, a->rate, at, end - at, (const real *)a->x + at, (real *)a->y + at,
         a->add);
}

static inline size_t pool_length(const dis__pool_args *a, size_t i)
{
    return a->length ? (size_t)a->length[i] : a->per;
}

static inline size_t pool_start(const dis__pool_args *a, size_t i)
{
    return a->start ? (size_t)a->start[i] : i * a->per;
}

/* Rows of x that belong to row i; the last packed row includes all that follow. */
static inline size_t pool_span(const dis__pool_args *a, size_t i)
{
    if (!a->start) return a->per;
    return (i + 1 < a->n_rows ? (size_t)a->start[i + 1] : a->n_packed) - (size_t)a->start[i];
}

void OP(pool)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__pool_args *a = args;
    const size_t w = a->width;
    for (size_t i = first; i < last; i++) {
        const size_t n = pool_length(a, i);
        const real *restrict x = (const real *)a->x + pool_start(a, i) * w;
        real *restrict y = (real *)a->y + i * w;
        int32_t *restrict choice = a->kind == DIS_POOL_MAX ? a->choice + i * w : NULL;
        memset(y, 0, w * sizeof *y);
        if (n == 0) continue;
        memcpy(y, a->kind == DIS_POOL_LAST ? x + (n - 1) * w : x, w * sizeof *y);
        if (a->kind == DIS_POOL_ENDS) memcpy(y, x + (n - 1) * w, w / 2 * sizeof *y);
        if (choice) memset(choice, 0, w * sizeof *choice);
        if (a->kind == DIS_POOL_MAX)
            for (size_t t = 1; t < n; t++)
                for (size_t c = 0; c < w; c++) {
                    const bool more = x[t * w + c] > y[c];
                    y[c] = more ? x[t * w + c] : y[c];
                    choice[c] = more ? (int32_t)t : choice[c];
                }
        if (a->kind == DIS_POOL_MEAN) {
            for (size_t t = 1; t < n; t++)
                for (size_t c = 0; c < w; c++) y[c] += x[t * w + c];
            for (size_t c = 0; c < w; c++) y[c] *= 1 / (real)n;
        }
    }
}

void OP(pool_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__pool_args *a = args;
    const size_t w = a->width;
    for (size_t i = first; i < last; i++) {
        const size_t n = pool_length(a, i);
        const real *restrict dy = (const real *)a->dy + i * w;
        real *restrict dx = (real *)a->dx + pool_start(a, i) * w;
        if (!a->add) memset(dx, 0, pool_span(a, i) * w * sizeof *dx);
        if (n == 0) continue;
        if (a->kind == DIS_POOL_MAX)
            for (size_t c = 0; c < w; c++) dx[(size_t)a->choice[i * w + c] * w + c] += dy[c];
        else if (a->kind == DIS_POOL_MEAN)
            for (size_t t = 0; t < n; t++)
                for (size_t c = 0; c < w; c++) dx[t * w + c] += dy[c] * (1 / (real)n);
        else
            for (size_t c = 0; c < w; c++) {
                const bool end = a->kind == DIS_POOL_LAST || (a->kind == DIS_POOL_ENDS && c < w / 2);
                dx[(end ? n - 1 : 0) * w + c] += dy[c];
            }
    }
}
