/* Loops of batch normalisation (Ioffe & Szegedy 2015), with the residual and the activation that follow it in ResNets.
 * The variance of a batch is taken by n, the one that is kept by n - 1, as PyTorch does. Columns are gone through a few
 * vectors at a time, each down all rows. O(elements). */
#include "nn/loops/loops.h"

enum { STRIPE = 64 };

void OP(batch_stats)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__batchnorm_args *a = args;
    const real *x = a->x;
    real *mean = a->stats, *inverse = mean + a->width, *old_mean = a->running_mean, *old_var = a->running_var;
    const real n = (real)a->n_rows, move = (real)a->momentum, epsilon = (real)a->epsilon;
    for (size_t c = first; c < last; c += STRIPE) {
        const size_t m = last - c < STRIPE ? last - c : STRIPE;
        real total[STRIPE] = {0}, square[STRIPE] = {0};
        if (a->fixed || a->n_rows == 0) {
            for (size_t j = 0; j < m; j++) {
                mean[c + j] = old_mean[c + j];
                inverse[c + j] = 1 / SQRT(old_var[c + j] + epsilon);
            }
            continue;
        }
        for (size_t i = 0; i < a->n_rows; i++)
            for (size_t j = 0; j < m; j++) total[j] += x[i * a->width + c + j];
        for (size_t j = 0; j < m; j++) mean[c + j] = total[j] / n;
        for (size_t i = 0; i < a->n_rows; i++)
            for (size_t j = 0; j < m; j++) {
                const real d = x[i * a->width + c + j] - mean[c + j];
                square[j] += d * d;
            }
        for (size_t j = 0; j < m; j++) {
            inverse[c + j] = 1 / SQRT(square[j] / n + epsilon);
            old_mean[c + j] += move * (mean[c + j] - old_mean[c + j]);
            old_var[c + j] += move * (square[j] / (n > 1 ? n - 1 : 1) - old_var[c + j]);
        }
    }
}

void OP(batchnorm)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__batchnorm_args *a = args;
    const size_t w = a->width;
    const real *mean = a->stats, *inverse = mean + w, *gain = a->gain, *bias = a->bias;
    for (size_t i = first; i < last; i++) {
        const real *x = (const real *)a->x + i * w, *r = a->r ? (const real *)a->r + i * w : NULL;
        real *y = (real *)a->y + i * w;
        for (size_t c = 0; c < w; c++) y[c] = gain[c] * ((x[c] - mean[c]) * inverse[c]) + bias[c];
        if (r)
            for (size_t c = 0; c < w; c++) y[c] += r[c];
        activate_row(a->act, y, y, w);
    }
}

void OP(batchnorm_sums)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__batchnorm_args *a = args;
    const size_t w = a->width;
    const real *x = a->x, *y = a->y, *dy = a->dy, *mean = a->stats, *inverse = mean + w;
    real *plain = a->sums, *scaled = plain + w, *d_gain = a->d_gain, *d_bias = a->d_bias;
    for (size_t c = first; c < last; c += STRIPE) {
        const size_t m = last - c < STRIPE ? last - c : STRIPE;
        real s[STRIPE] = {0}, t[STRIPE] = {0}, d[STRIPE];
        for (size_t i = 0; i < a->n_rows; i++) {
            activate_grad_row(a->act, y + i * w + c, dy + i * w + c, d, m);
            for (size_t j = 0; j < m; j++) {
                s[j] += d[j];
                t[j] += d[j] * ((x[i * w + c + j] - mean[c + j]) * inverse[c + j]);
            }
        }
        for (size_t j = 0; j < m; j++) {
            plain[c + j] = s[j];
            scaled[c + j] = t[j];
            if (d_bias) d_bias[c + j] += s[j];
            if (d_gain) d_gain[c + j] += t[j];
        }
    }
}

/* dx = gain / sd (dz - mean(dz) - z mean(dz z)), dz = dy act'. */
void OP(batchnorm_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__batchnorm_args *a = args;
    const size_t w = a->width;
    const real *mean = a->stats, *inverse = mean + w, *gain = a->gain, *plain = a->sums, *scaled = plain + w;
    const real share = 1 / (real)a->n_rows;
    for (size_t i = first; i < last; i++)
        for (size_t c0 = 0; c0 < w; c0 += STRIPE) {
            const size_t m = w - c0 < STRIPE ? w - c0 : STRIPE, at = i * w + c0;
            const real *x = (const real *)a->x + at;
            real dz[STRIPE], d[STRIPE];
            activate_grad_row(a->act, (const real *)a->y + at, (const real *)a->dy + at, dz, m);
            for (size_t j = 0; j < m; j++) {
                const size_t c = c0 + j;
                const real z = (x[j] - mean[c]) * inverse[c];
                d[j] = gain[c] * inverse[c] * (dz[j] - plain[c] * share - z * scaled[c] * share);
            }
            if (a->dx) store_or_add((real *)a->dx + at, d, m, a->add);
            if (a->dr) store_or_add((real *)a->dr + at, dz, m, a->add_r);
        }
}
