/* Loops of models that know the worker: votes by way of a confusion matrix per row (annot-mix: Herde et al. 2024), and
 * terms that pull at the workers' vectors (AART: Mokhberian et al. 2024).
 *
 *     y_z = log sum_k q_k C_kz,  r_kz = q_k C_kz / exp(y_z),  g_k = sum_z dy_z r_kz
 *     gradient by the logits of q:  g_k - q_k sum g;  of C's row k:  dy_z r_kz - C_kz g_k
 *
 * all by logarithms, which are finite whatever q and C round to. Cost: O(K^2) per row, O(width) per pair. */
#include "nn/loops/loops.h"

/* log sum exp of z. */
static inline real log_sum_exp(const real *z, size_t n)
{
    real max = z[0], total = 0;
    for (size_t k = 1; k < n; k++) max = z[k] > max ? z[k] : max;
    for (size_t k = 0; k < n; k++) total += EXP(z[k] - max);
    return max + LOG(total);
}

/* shift (n): added to row k of the confusion logits gives log q_k + log C_k. */
static inline void confusion_shifts(const real *class_logits, const real *c, size_t n, real *shift)
{
    const real all = log_sum_exp(class_logits, n);
    for (size_t k = 0; k < n; k++) shift[k] = class_logits[k] - all - log_sum_exp(c + k * n, n);
}

void OP(confusion)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__confusion_args *a = args;
    const size_t n = a->n_classes;
    real *shift = scratch, *max = shift + n, *total = max + n;
    for (size_t i = first; i < last; i++) {
        const real *c = (const real *)a->confusion + i * n * n;
        real *y = (real *)a->y + i * n;
        confusion_shifts((const real *)a->class_logits + i * n, c, n, shift);
        for (size_t z = 0; z < n; z++) max[z] = c[z] + shift[0];
        for (size_t k = 1; k < n; k++)
            for (size_t z = 0; z < n; z++) max[z] = c[k * n + z] + shift[k] > max[z] ? c[k * n + z] + shift[k] : max[z];
        memset(total, 0, n * sizeof *total);
        for (size_t k = 0; k < n; k++)
            for (size_t z = 0; z < n; z++) total[z] += EXP(c[k * n + z] + shift[k] - max[z]);
        for (size_t z = 0; z < n; z++) y[z] = max[z] + LOG(total[z]);
    }
}

void OP(confusion_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__confusion_args *a = args;
    const size_t n = a->n_classes;
    real *shift = scratch, *g = shift + n, *q = g + n, *d = q + n;
    for (size_t i = first; i < last; i++) {
        const real *class_logits = (const real *)a->class_logits + i * n, *c = (const real *)a->confusion + i * n * n;
        const real *y = (const real *)a->y + i * n, *dy = (const real *)a->dy + i * n;
        real all = 0;
        confusion_shifts(class_logits, c, n, shift);
        softmax(class_logits, q, n);
        for (size_t k = 0; k < n; k++) {
            g[k] = 0;
            for (size_t z = 0; z < n; z++) {
                d[z] = dy[z] * EXP(c[k * n + z] + shift[k] - y[z]);
                g[k] += d[z];
            }
            all += g[k];
            if (!a->d_confusion) continue;
            const real own = log_sum_exp(c + k * n, n);
            for (size_t z = 0; z < n; z++) d[z] -= EXP(c[k * n + z] - own) * g[k];
            store_or_add((real *)a->d_confusion + (i * n + k) * n, d, n, a->add_confusion);
        }
        if (!a->d_class) continue;
        for (size_t k = 0; k < n; k++) g[k] -= q[k] * all;
        store_or_add((real *)a->d_class + i * n, g, n, a->add_class);
    }
}

/* A vector of length 0 has no direction: its cosine counts as 0, without a gradient. */
void OP(pair_terms)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__pair_terms_args *a = args;
    const size_t n = a->width;
    for (size_t i = first; i < last; i++) {
        const int32_t *pair = a->pair + 3 * i;
        const real *x = (const real *)a->table + (size_t)pair[0] * n, *y = (const real *)a->table + (size_t)pair[1] * n;
        const real weight = ((const real *)a->weight)[i], xx = dot(x, x, n), length = SQRT(xx);
        real *slope = (real *)a->slope + 3 * i, *loss = (real *)a->loss + i;
        slope[0] = slope[1] = slope[2] = 0;
        if (pair[2] == DIS_PAIR_LENGTH) {
            *loss = weight * length;
            if (length > 0) slope[0] = weight / length;
            continue;
        }
        const real yy = dot(y, y, n), both = length * SQRT(yy), cosine = both > 0 ? dot(x, y, n) / both : 0;
        const bool apart = pair[2] == DIS_PAIR_APART;
        *loss = apart ? weight * (cosine > 0 ? cosine : 0) : weight * (1 - cosine);
        if (!(both > 0) || (apart && cosine <= 0)) continue;
        const real sign = apart ? weight : -weight;
        slope[0] = -sign * cosine / xx;
        slope[1] = sign / both;
        slope[2] = -sign * cosine / yy;
    }
}

void OP(pair_terms_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__pair_terms_args *a = args;
    const size_t n = a->width;
    const real scale = (real)*a->scale;
    for (size_t i = 0; i < a->n_pairs; i++) {
        const int32_t *pair = a->pair + 3 * i;
        const real *x = (const real *)a->table + (size_t)pair[0] * n, *y = (const real *)a->table + (size_t)pair[1] * n;
        const real *slope = (const real *)a->slope + 3 * i;
        real *dx = (real *)a->d_table + (size_t)pair[0] * n, *dy = (real *)a->d_table + (size_t)pair[1] * n;
        for (size_t c = first; c < last; c++) dx[c] += scale * (slope[0] * x[c] + slope[1] * y[c]);
        if (pair[2] == DIS_PAIR_LENGTH) continue;
        for (size_t c = first; c < last; c++) dy[c] += scale * (slope[1] * x[c] + slope[2] * y[c]);
    }
}
