/* Loops of optimisers: SGD with momentum (Sutskever et al. 2013), Adam (Kingma & Ba 2015), AdamW (Loshchilov & Hutter
 * 2019), each as PyTorch defines it. One pass over the arena reads and writes parameter, gradient and state, and leaves
 * the gradient at 0 for the next step. */
#include "nn/loops/loops.h"
#include "core/random/random.h"

static void sgd(const dis__update_args *a, size_t n, real *restrict p, real *restrict g, real *restrict m)
{
    const real rate = (real)(a->step->rate * a->factor), scale = (real)a->step->scale;
    const real momentum = (real)a->momentum, decay = (real)a->decay;
    for (size_t i = 0; i < n; i++) {
        real d = g[i] * scale + decay * p[i];
        if (momentum != 0) {
            m[i] = momentum * m[i] + d; /* initially 0 */
            d = a->nesterov ? d + momentum * m[i] : m[i];
        }
        p[i] -= rate * d;
        g[i] = 0;
    }
}

static void adam(const dis__update_args *a, size_t n, real *restrict p, real *restrict g, real *restrict m,
                 real *restrict v)
{
    const bool decoupled = a->kind == DIS_OPTIMIZER_ADAMW;
    const double now = a->step->rate * a->factor;
    const real scale = (real)a->step->scale, beta1 = (real)a->beta1, beta2 = (real)a->beta2, epsilon = (real)a->epsilon;
    const real rest1 = (real)(1 - a->beta1), rest2 = (real)(1 - a->beta2);
    const real rate = (real)(now / a->step->correct1), root = (real)(1 / sqrt(a->step->correct2));
    const real shrink = decoupled ? (real)(1 - now * a->decay) : 1, decay = decoupled ? 0 : (real)a->decay;
    for (size_t i = 0; i < n; i++) {
        const real x = p[i] * shrink, d = g[i] * scale + decay * x;
        m[i] = beta1 * m[i] + rest1 * d;
        v[i] = beta2 * v[i] + rest2 * d * d;
        p[i] = x - rate * m[i] / (SQRT(v[i]) * root + epsilon);
        g[i] = 0;
    }
}

void OP(update)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__update_args *a = args;
    real *p = (real *)a->param + first, *g = (real *)a->grad + first;
    real *m = a->m ? (real *)a->m + first : NULL, *v = a->v ? (real *)a->v + first : NULL;
    if (a->kind == DIS_OPTIMIZER_SGD)
        sgd(a, last - first, p, g, m);
    else
        adam(a, last - first, p, g, m, v);
}

void OP(clip)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)first;
    (void)last;
    (void)scratch;
    const dis__clip_args *a = args;
    double sum_of_all = 0;
    for (size_t b = 0; b < a->n; b++) sum_of_all += a->sums[b];
    const double norm = sqrt(sum_of_all);
    *a->scale = norm > a->max ? a->max / (norm + 1e-6) : 1;
}

static void start_uniform(const dis__start_args *a, size_t first, size_t last)
{
    enum { N = 256 };
    for (size_t at = first; at < last; at += N) { /* dis__philox for N counters at once */
        const size_t n = last - at < N ? last - at : N;
        uint32_t c0[N], c1[N], c2[N], c3[N];
        real *restrict y = (real *)a->y + at;
        for (size_t i = 0; i < N; i++) {
            c0[i] = (uint32_t)(at + i);
            c1[i] = (uint32_t)((uint64_t)(at + i) >> 32);
            c2[i] = (uint32_t)a->stream;
            c3[i] = (uint32_t)(a->stream >> 32);
        }
        philox_rounds(a->seed, N, c0, c1, c2, c3);
        for (size_t i = 0; i < n; i++) {
            const double u = (double)(int64_t)(((uint64_t)c1[i] << 32 | c0[i]) >> 11) * 0x1p-53;
            y[i] = (real)((2 * u - 1) * a->spread);
        }
    }
}

void OP(start)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__start_args *a = args;
    real *y = a->y;
    switch (a->kind) {
    case DIS_START_UNIFORM: start_uniform(a, first, last); break;
    case DIS_START_NORMAL:
        for (size_t i = first; i < last; i++) y[i] = (real)(dis__random_normal(a->seed, a->stream, i) * a->spread);
        break;
    case DIS_START_IDENTITY:
        for (size_t i = first; i < last; i++) y[i] = i / a->side % a->side == i % a->side;
        break;
    case DIS_START_ZERO:
    case DIS_START_ONE:
        for (size_t i = first; i < last; i++) y[i] = a->kind == DIS_START_ONE;
        break;
    }
}

void OP(square_sums)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__square_sums_args *a = args;
    for (size_t b = first; b < last; b++) {
        const size_t at = b * DIS_SQUARES_BLOCK, left = a->n - at;
        const real *x = (const real *)a->x + at;
        a->sums[b] = (double)dot(x, x, left < DIS_SQUARES_BLOCK ? left : DIS_SQUARES_BLOCK);
    }
}
