/* resnet: residual nets for small images (He et al. 2016). Pixels are centred and scaled by the training images, each
 * channel for itself; in training an image is shifted by up to `pad` pixels (zeros come in) and mirrored, both drawn by
 * seed, batch and place. */
#include "train/models.h"
#include "core/random.h"
#include "nn/models/nets.h"
#include <math.h>
#include <string.h>

typedef struct {
    int kind, flip;
    dis_reals blocks;
    int64_t width, pad;
} settings;

static const dis_option options[] = {
    {.key = "kind",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, kind),
     .fallback = "cifar",
     .choices = "cifar|imagenet",
     .summary = "three stages with strided identities, or four with projections"},
    {.key = "blocks",
     .kind = DIS_OPTION_REALS,
     .offset = offsetof(settings, blocks),
     .low = 1,
     .high = 200,
     .summary = "of each stage, as 5/5/5; unset: 5/5/5 (32 layers), and 3/4/6/3 for imagenet (34)"},
    {.key = "width",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(settings, width),
     .fallback = "0",
     .low = 0,
     .high = 4096,
     .summary = "of the first stage; each further one is twice as wide; 0: 16, and 64 for imagenet"},
    {.key = "pad",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(settings, pad),
     .fallback = "4",
     .low = 0,
     .high = 64,
     .summary = "pixels that an image is shifted by at most, in training"},
    {.key = "flip",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, flip),
     .fallback = "yes",
     .choices = "no|yes",
     .summary = "mirror half of the images, in training"},
};

/* shift and scale hold one number a channel, in the first places. */
static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items, const char *vectors,
                        dis__encoder *encoder)
{
    (void)ctx;
    (void)of;
    (void)vectors;
    encoder->height = items->height;
    encoder->width = items->width;
    encoder->channels = items->channels;
    encoder->n_features = items->n_features;
    DIS_TRY(dis__alloc_zeroed(&encoder->shift, items->n_features, sizeof *encoder->shift));
    DIS_TRY(dis__alloc_zeroed(&encoder->scale, items->n_features, sizeof *encoder->scale));
    const size_t n = items->n_items * items->height * items->width;
    for (size_t c = 0; c < items->channels; c++) {
        double sum = 0, squares = 0;
        for (size_t p = 0; p < n; p++) sum += (double)items->x[p * items->channels + c];
        const double mean = sum / (double)n;
        for (size_t p = 0; p < n; p++) squares += pow((double)items->x[p * items->channels + c] - mean, 2);
        encoder->shift[c] = (float)mean;
        encoder->scale[c] = squares > 0 ? (float)(1 / sqrt(squares / (double)n)) : 1;
    }
    return DIS_OK;
}

static dis_status encode(dis_context *ctx, const void *of, const dis__encoder *encoder, const dis_items_view *items,
                         dis__encoded *out)
{
    (void)ctx;
    (void)of;
    if (items->height != encoder->height || items->width != encoder->width || items->channels != encoder->channels)
        return dis__fail(DIS_EDATA, "images of %zu x %zu x %zu; the model was made for %zu x %zu x %zu", items->height,
                         items->width, items->channels, encoder->height, encoder->width, encoder->channels);
    if (!encoder->shift || encoder->n_features != items->n_features) /* a model file that somebody has changed */
        return dis__fail(DIS_EDATA, "a model of images without the scale of their %zu numbers", items->n_features);
    out->n_items = out->n_units = items->n_items;
    DIS_TRY(dis__alloc_array(&out->scaled, dis__size(items->n_items, items->n_features, 0), sizeof *out->scaled));
    out->x = out->scaled;
    for (size_t i = 0; i < items->n_items * items->n_features; i++) {
        const size_t c = i % encoder->channels;
        out->scaled[i] = (items->x[i] - encoder->shift[c]) * encoder->scale[c];
    }
    return DIS_OK;
}

static dis_status build(dis__net *net, const void *of, const dis__encoder *encoder, const dis__batch_limits *limits,
                        dis__inputs *in)
{
    static const size_t usual[] = {3, 4, 6, 3};
    const settings *s = of;
    dis__resnet_options o = dis__resnet_options_default();
    o.kind = s->kind == 0 ? DIS_RESNET_CIFAR : DIS_RESNET_IMAGENET;
    const size_t stages = s->kind == 0 ? 3 : 4;
    if (s->blocks.n && s->blocks.n != stages)
        return dis__fail(DIS_EUSAGE, "model resnet: blocks must be %zu numbers", stages);
    for (size_t i = 0; i < stages; i++)
        o.blocks[i] = s->blocks.n ? (size_t)s->blocks.value[i] : s->kind == 0 ? 5 : usual[i];
    o.first_width = s->width ? (size_t)s->width : s->kind == 0 ? 16 : 64;
    o.height = encoder->height;
    o.width = encoder->width;
    o.channels = encoder->channels;
    o.rows = limits->units;
    const dis__resnet t = dis__resnet_build(net, &o);
    in->units = in->items = t.rows;
    in->reals[0] = t.images;
    in->trunk = t.trunk;
    in->shape[0] = o.height;
    in->shape[1] = o.width;
    in->shape[2] = o.channels;
    in->pad = (size_t)s->pad;
    in->flip = s->flip;
    in->room = dis__size(limits->units, encoder->n_features, 0);
    return dis__alloc_array(&in->numbers, in->room, sizeof *in->numbers);
}

/* One image, shifted by (dy, dx) and perhaps mirrored. */
static void lay_out(const dis__inputs *in, const float *from, long dy, long dx, bool mirror, float *to)
{
    const long height = (long)in->shape[0], width = (long)in->shape[1];
    const size_t channels = in->shape[2];
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++, to += channels) {
            const long fy = y + dy, fx = (mirror ? width - 1 - x : x) + dx;
            if (fy < 0 || fy >= height || fx < 0 || fx >= width)
                memset(to, 0, channels * sizeof *to);
            else
                memcpy(to, from + ((size_t)(fy * width + fx)) * channels, channels * sizeof *to);
        }
}

static void put(dis__net *net, const dis__inputs *in, const dis__encoded *encoded, const uint32_t *units, size_t n)
{
    const size_t k = in->shape[0] * in->shape[1] * in->shape[2], span = 2 * in->pad + 1;
    for (size_t i = 0; i < n; i++) {
        const float *from = encoded->x + units[i] * k;
        const uint64_t draw = dis__random(in->seed ^ in->batch << 20, DIS_STREAM_AUGMENT, units[i]);
        if (in->training)
            lay_out(in, from, (long)((draw & 0xffffff) % span) - (long)in->pad,
                    (long)((draw >> 24 & 0xffffff) % span) - (long)in->pad, in->flip && draw >> 63,
                    in->numbers + i * k);
        else
            memcpy(in->numbers + i * k, from, k * sizeof *from);
    }
    dis__net_resize(net, in->units, n);
    dis__net_put(net, in->reals[0], in->numbers);
}

const dis__model_row dis__model_resnet = {
    .info = {.name = "resnet",
             .summary = "residual nets for small images",
             .source = "He et al. 2016; kind=cifar as in Uma et al. 2020",
             .items = DIS_ITEMS_IMAGES,
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .epochs = 65,
             .batch = 128,
             .rate = .1,
             .optimizer = "sgd:momentum=.9,decay=1e-4"},
    .settings_size = sizeof(settings),
    .learn = learn,
    .encode = encode,
    .build = build,
    .put = put,
};
