/* Loops of convolutions over rows of a table, after the table has been multiplied by the weights: sums of a few rows
 * per position. O(positions kernel out) additions, without a product. */
#include "nn/loops/loops.h"

void OP(lookup_conv)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__lookup_conv_args *a = args;
    const size_t out = a->out, row = a->kernel * out;
    for (size_t place = first * a->places; place < last * a->places; place++) {
        const size_t j = place % a->places;
        const int32_t *id = a->id + place / a->places * a->width;
        real *restrict y = (real *)a->y + place * out;
        if (a->bias)
            memcpy(y, a->bias, out * sizeof *y);
        else
            memset(y, 0, out * sizeof *y);
        for (size_t k = 0; k < a->kernel; k++) {
            if (j + k < a->before || j + k - a->before >= a->width || id[j + k - a->before] < 0) continue;
            const real *restrict x = (const real *)a->row_products + (size_t)id[j + k - a->before] * row + k * out;
            for (size_t c = 0; c < out; c++) y[c] += x[c];
        }
        activate_row(a->act, y, y, out);
    }
}

void OP(lookup_conv_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__lookup_conv_args *a = args;
    const size_t out = a->out, row = a->kernel * out;
    for (size_t place = 0; place < a->n * a->places; place++) {
        const size_t j = place % a->places;
        const int32_t *id = a->id + place / a->places * a->width;
        const real *restrict dy = (const real *)a->dy + place * out;
        for (size_t k = 0; k < a->kernel; k++) {
            if (j + k < a->before || j + k - a->before >= a->width || id[j + k - a->before] < 0) continue;
            real *restrict to = (real *)a->d_row_products + (size_t)id[j + k - a->before] * row + k * out;
            for (size_t c = first; c < last; c++) to[c] += dy[c];
        }
    }
}
