/* Items stored as contiguous arrays: npy, raw float32, and CIFAR's records (one byte of label, then 32 x 32
 * red, green and blue values). Images become height x width x channels values in [0, 1], channels last. */
#include "items/items_internal.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "io/input/input.h"
#include "io/tensors/npy.h"
#include <math.h>
#include <string.h>

enum { CIFAR_SIDE = 32, CIFAR_PIXELS = CIFAR_SIDE * CIFAR_SIDE, CIFAR_RECORD = 1 + 3 * CIFAR_PIXELS };

static dis_status make_room(dis_context *ctx, dis_items *items)
{
    DIS_TRY(dis__check_memory(ctx,
                              dis__saturating_size(dis__saturating_size(items->n_items, items->n_features, 0),
                                                   sizeof *items->x, 0),
                              "the items"));
    return dis__alloc_array(&items->x, dis__saturating_size(items->n_items, items->n_features, 0), sizeof *items->x);
}

static dis_status check_finite(const char *path, const dis_items *items)
{
    for (size_t i = 0; i < items->n_items; i++)
        for (size_t f = 0; f < items->n_features; f++)
            if (!isfinite(items->x[i * items->n_features + f]))
                return dis__fail_at(DIS_EDATA, path, 0, 0, "row %zu, number %zu is not finite (counted from 0)", i, f);
    return DIS_OK;
}

/* (n, features), or (n, height, width, channels) and (n, height, width) for images. Bytes are scaled to 0 .. 1. */
static dis_status convert_npy(dis_context *ctx, const char *path, const dis__npy *a, dis_items *items)
{
    const bool images = items->kind == DIS_ITEMS_IMAGES;
    if (images ? a->n_dims != 3 && a->n_dims != 4 : a->n_dims != 2)
        return dis__fail_at(DIS_EDATA, path, 0, 0, "an array of %zu dimensions; %s", a->n_dims,
                            images ? "images are (n, height, width[, channels])" : "features are (n, numbers)");
    if (a->n == 0) return dis__fail_at(DIS_EDATA, path, 0, 0, "an empty array");
    items->n_items = a->dim[0];
    items->n_features = a->n / a->dim[0];
    if (images) {
        items->height = a->dim[1];
        items->width = a->dim[2];
        items->channels = a->n_dims == 4 ? a->dim[3] : 1;
    }
    DIS_TRY(make_room(ctx, items));
    const float scale = images && a->kind == 'u' && a->size == 1 ? 1.0f / 255 : 1;
    enum { PIECE = 1024 };
    double piece[PIECE];
    for (size_t at = 0; at < a->n; at += PIECE) {
        const size_t n = a->n - at < PIECE ? a->n - at : PIECE;
        dis__npy_read_doubles(a, at, n, piece);
        for (size_t i = 0; i < n; i++) items->x[at + i] = (float)piece[i] * scale;
    }
    return check_finite(path, items);
}

dis_status dis__items_read_npy(dis_context *ctx, const char *path, const char *format, const dis_items_options *options,
                               dis_items *items)
{
    (void)format;
    dis__input in;
    dis__npy a;
    DIS_TRY(dis__input_open(ctx, path, &in));
    dis_status status = dis__npy_open(path, in.bytes, in.n, &a);
    if (status == DIS_OK) status = convert_npy(ctx, path, &a, items);
    status = dis__input_finish(&in, status);
    return status == DIS_OK ? dis__items_set_tasks(ctx, path, options, items->n_items, items) : status;
}

static dis_status convert_f32(dis_context *ctx, const dis__input *in, size_t width, dis_items *items)
{
    if (width == 0) return dis__fail(DIS_EUSAGE, "%s: raw float32 has no row width; set the width", in->path);
    const size_t row = dis__saturating_size(width, sizeof *items->x, 0);
    if (in->n == 0 || in->n % row)
        return dis__fail_at(DIS_EDATA, in->path, 0, 0, "%zu bytes are not rows of %zu float32 numbers", in->n, width);
    items->n_items = in->n / row;
    items->n_features = width;
    DIS_TRY(make_room(ctx, items));
    memcpy(items->x, in->bytes, in->n); /* little-endian, as all supported machines */
    return check_finite(in->path, items);
}

dis_status dis__items_read_f32(dis_context *ctx, const char *path, const char *format, const dis_items_options *options,
                               dis_items *items)
{
    (void)format;
    dis__input in;
    DIS_TRY(dis__input_open_binary(ctx, path, &in));
    const dis_status status = dis__input_finish(&in, convert_f32(ctx, &in, options->width, items));
    return status == DIS_OK ? dis__items_set_tasks(ctx, path, options, items->n_items, items) : status;
}

static dis_status convert_cifar(dis_context *ctx, const dis__input *in, dis_items *items)
{
    if (in->n == 0 || in->n % CIFAR_RECORD)
        return dis__fail_at(DIS_EDATA, in->path, 0, 0, "%zu bytes are not records of %d bytes (a label, 3 x 32 x 32)",
                            in->n, CIFAR_RECORD);
    items->n_items = in->n / CIFAR_RECORD;
    items->height = items->width = CIFAR_SIDE;
    items->channels = 3;
    items->n_features = 3 * CIFAR_PIXELS;
    DIS_TRY(make_room(ctx, items));
    for (size_t i = 0; i < items->n_items; i++) {
        const unsigned char *plane = (const unsigned char *)in->bytes + i * CIFAR_RECORD + 1;
        float *x = items->x + i * items->n_features;
        for (size_t p = 0; p < CIFAR_PIXELS; p++)
            for (size_t c = 0; c < 3; c++) x[p * 3 + c] = (float)plane[c * CIFAR_PIXELS + p] / 255;
    }
    return DIS_OK;
}

dis_status dis__items_read_cifar(dis_context *ctx, const char *path, const char *format,
                                 const dis_items_options *options, dis_items *items)
{
    (void)format;
    dis__input in;
    DIS_TRY(dis__input_open_binary(ctx, path, &in));
    const dis_status status = dis__input_finish(&in, convert_cifar(ctx, &in, items));
    return status == DIS_OK ? dis__items_set_tasks(ctx, path, options, items->n_items, items) : status;
}
