/* Loops over images (rows, height, width, channels), or over sequences as images of height 1: convolution, pooling in
 * windows, strided identity.
 *
 * Convolution is a product: the patches of DIS_CONV_ROWS positions at a time, one per row, with the kernels. Backward
 * multiplies dy with the patches (d weight) and with the kernels (d patches, added back to where they came from).
 * Images are handled whole by one job; the weight's gradient is summed in n_parts parts, which are added up in order
 * afterwards. Cost: 2 positions out kernel_h kernel_w channels operations forward, twice that backward. */
#include "nn/loops/loops.h"

static inline size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Offset in the image of a patch's row of kernel_w channels: columns [*from, *to) of the kernel are inside. */
static inline bool patch_row(const dis__conv_args *a, size_t image, size_t i, size_t j, size_t ki, size_t *from,
                             size_t *to, size_t *at)
{
    const size_t y = i * a->stride + ki, x = j * a->stride;
    const size_t width = a->length ? (size_t)a->length[image] : a->width;
    if (y < a->pad_top || y - a->pad_top >= a->height) return false;
    *from = x < a->pad_left ? a->pad_left - x : 0;
    *to = width + a->pad_left > x ? smaller_of(a->kernel_w, width + a->pad_left - x) : 0;
    if (*from >= *to) return false;
    *at = ((image * a->height + y - a->pad_top) * a->width + x + *from - a->pad_left) * a->channels;
    return true;
}

/* Positions [first, last) of y, counted over all images, as rows of patches. */
static void to_patches(const dis__conv_args *a, size_t first, size_t last, real *patch)
{
    const size_t line = a->kernel_w * a->channels;
    for (size_t place = first; place < last; place++) {
        const size_t image = place / (a->out_h * a->out_w), i = place / a->out_w % a->out_h, j = place % a->out_w;
        for (size_t ki = 0; ki < a->kernel_h; ki++, patch += line) {
            size_t from, to, at;
            if (!patch_row(a, image, i, j, ki, &from, &to, &at)) {
                memset(patch, 0, line * sizeof *patch);
                continue;
            }
            memset(patch, 0, from * a->channels * sizeof *patch);
            memcpy(patch + from * a->channels, (const real *)a->x + at, (to - from) * a->channels * sizeof *patch);
            memset(patch + to * a->channels, 0, (a->kernel_w - to) * a->channels * sizeof *patch);
        }
    }
}

static void from_patches(const dis__conv_args *a, size_t first, size_t last, const real *restrict patch)
{
    const size_t line = a->kernel_w * a->channels;
    for (size_t place = first; place < last; place++) {
        const size_t image = place / (a->out_h * a->out_w), i = place / a->out_w % a->out_h, j = place % a->out_w;
        for (size_t ki = 0; ki < a->kernel_h; ki++, patch += line) {
            size_t from, to, at;
            if (!patch_row(a, image, i, j, ki, &from, &to, &at)) continue;
            real *restrict dx = (real *)a->dx + at;
            const real *restrict p = patch + from * a->channels;
            for (size_t c = 0; c < (to - from) * a->channels; c++) dx[c] += p[c];
        }
    }
}

void OP(conv)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__conv_args *a = args;
    const size_t places = a->out_h * a->out_w, k = a->kernel_h * a->kernel_w * a->channels;
    const size_t end = smaller_of(last * a->group, a->n) * places;
    const real *bias = a->bias;
    real *patch = (real *)((char *)scratch + TIMES_SCRATCH);
    for (size_t at = first * a->group * places; at < end; at += DIS_CONV_ROWS) {
        const size_t rows = smaller_of(DIS_CONV_ROWS, end - at);
        real *y = (real *)a->y + at * a->out;
        to_patches(a, at, at + rows, patch);
        times(&(matrices){.tb = true,
                          .m = rows,
                          .n = a->out,
                          .k = k,
                          .a = patch,
                          .lda = k,
                          .b = a->weight,
                          .ldb = k,
                          .c = y,
                          .ldc = a->out},
              scratch);
        for (size_t i = 0; i < rows; i++) {
            for (size_t c = 0; bias && c < a->out; c++) y[i * a->out + c] += bias[c];
            activate_row(a->act, y + i * a->out, y + i * a->out, a->out);
        }
    }
}

void OP(conv_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    const dis__conv_args *a = args;
    const size_t places = a->out_h * a->out_w, k = a->kernel_h * a->kernel_w * a->channels;
    const size_t image = a->height * a->width * a->channels;
    real *patch = (real *)((char *)scratch + TIMES_SCRATCH);
    for (size_t part = first; part < last; part++) {
        const size_t from = a->n * part / a->n_parts, to = a->n * (part + 1) / a->n_parts, end = to * places;
        real *dw = a->d_weight ? (real *)a->work + part * a->out * k : NULL;
        if (dw) memset(dw, 0, a->out * k * sizeof *dw);
        if (a->dx && !a->add) memset((real *)a->dx + from * image, 0, (to - from) * image * sizeof(real));
        for (size_t at = from * places; at < end; at += DIS_CONV_ROWS) {
            const size_t rows = smaller_of(DIS_CONV_ROWS, end - at);
            const real *dy = (const real *)a->dy + at * a->out;
            if (dw) {
                to_patches(a, at, at + rows, patch);
                times(&(matrices){.ta = true,
                                  .add = true,
                                  .m = a->out,
                                  .n = k,
                                  .k = rows,
                                  .a = dy,
                                  .lda = a->out,
                                  .b = patch,
                                  .ldb = k,
                                  .c = dw,
                                  .ldc = k},
                      scratch);
            }
            if (!a->dx) continue;
            times(&(matrices){.m = rows,
                              .n = k,
                              .k = a->out,
                              .a = dy,
                              .lda = a->out,
                              .b = a->weight,
                              .ldb = k,
                              .c = patch,
                              .ldc = k},
                  scratch);
            from_patches(a, at, at + rows, patch);
        }
    }
}

/* ---- windows ---- */

void OP(window)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__window_args *a = args;
    const size_t w = a->channels;
    for (size_t place = first * a->out_h * a->out_w; place < last * a->out_h * a->out_w; place++) {
        const size_t image = place / (a->out_h * a->out_w), i = place / a->out_w % a->out_h, j = place % a->out_w;
        real *restrict y = (real *)a->y + place * w;
        int32_t *choice = a->kind == DIS_POOL_MAX ? a->choice + place * w : NULL;
        for (size_t t = 0; t < a->kernel * a->kernel; t++) {
            const size_t row = i * a->stride + t / a->kernel, col = j * a->stride + t % a->kernel;
            if (row >= a->height || col >= a->width) continue; /* images of height 1 have windows of height 1 */
            const size_t at = (row * a->width + col) * w;
            const real *restrict x = (const real *)a->x + image * a->height * a->width * w + at;
            for (size_t c = 0; c < w; c++) {
                if (!choice) {
                    y[c] = t == 0 ? x[c] : y[c] + x[c];
                    continue;
                }
                const bool more = t == 0 || x[c] > y[c];
                y[c] = more ? x[c] : y[c];
                choice[c] = more ? (int32_t)(at + c) : choice[c];
            }
        }
        if (choice) continue;
        const size_t high = smaller_of(a->kernel, a->height - i * a->stride);
        const size_t wide = smaller_of(a->kernel, a->width - j * a->stride);
        for (size_t c = 0; c < w; c++) y[c] *= 1 / (real)(high * wide);
    }
}

void OP(window_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__window_args *a = args;
    const size_t w = a->channels, image_size = a->height * a->width * w;
    if (!a->add) memset((real *)a->dx + first * image_size, 0, (last - first) * image_size * sizeof(real));
    for (size_t place = first * a->out_h * a->out_w; place < last * a->out_h * a->out_w; place++) {
        const size_t image = place / (a->out_h * a->out_w), i = place / a->out_w % a->out_h, j = place % a->out_w;
        const real *restrict dy = (const real *)a->dy + place * w;
        real *restrict dx = (real *)a->dx + image * image_size;
        if (a->kind == DIS_POOL_MAX) {
            for (size_t c = 0; c < w; c++) dx[a->choice[place * w + c]] += dy[c];
            continue;
        }
        const size_t high = smaller_of(a->kernel, a->height - i * a->stride);
        const size_t wide = smaller_of(a->kernel, a->width - j * a->stride);
        for (size_t t = 0; t < high * wide; t++) {
            real *to = dx + ((i * a->stride + t / wide) * a->width + j * a->stride + t % wide) * w;
            for (size_t c = 0; c < w; c++) to[c] += dy[c] * (1 / (real)(high * wide));
        }
    }
}

void OP(shortcut)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__window_args *a = args;
    for (size_t place = first * a->out_h * a->out_w; place < last * a->out_h * a->out_w; place++) {
        const size_t image = place / (a->out_h * a->out_w), i = place / a->out_w % a->out_h, j = place % a->out_w;
        const real *x =
            (const real *)a->x + ((image * a->height + i * a->stride) * a->width + j * a->stride) * a->channels;
        real *y = (real *)a->y + place * a->out;
        memset(y, 0, a->out * sizeof *y);
        memcpy(y + a->before, x, a->channels * sizeof *y);
    }
}

void OP(shortcut_grad)(const void *args, size_t first, size_t last, void *scratch)
{
    (void)scratch;
    const dis__window_args *a = args;
    const size_t image_size = a->height * a->width * a->channels;
    if (!a->add) memset((real *)a->dx + first * image_size, 0, (last - first) * image_size * sizeof(real));
    for (size_t place = first * a->out_h * a->out_w; place < last * a->out_h * a->out_w; place++) {
        const size_t image = place / (a->out_h * a->out_w), i = place / a->out_w % a->out_h, j = place % a->out_w;
        real *dx = (real *)a->dx + ((image * a->height + i * a->stride) * a->width + j * a->stride) * a->channels;
        store_or_add(dx, (const real *)a->dy + place * a->out + a->before, a->channels, true);
    }
}
