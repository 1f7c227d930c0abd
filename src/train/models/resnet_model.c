/* resnet: residual networks for small images (He et al. 2016). Pixels are centred and scaled by the training images,
 * each channel for itself; in training an image is shifted by up to `pad` pixels (zeros come in) and mirrored, both
 * drawn by seed, batch and position. */
#include "tool/json_writer.h"
#include "train/model.h"
#include "train/models/feature_scaling.h"
#include "core/random/random.h"
#include "nn/models/network_models.h"
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
     .default_value = "cifar",
     .choices = "cifar|imagenet",
     .summary = "three stages with strided identity shortcuts, or four with projections"},
    {.key = "blocks",
     .kind = DIS_OPTION_REALS,
     .offset = offsetof(settings, blocks),
     .low = 1,
     .high = 200,
     .summary = "blocks per stage [5/5/5 (32 layers); imagenet: 3/4/6/3 (34 layers)]"},
    {.key = "width",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(settings, width),
     .default_value = "0",
     .low = 0,
     .high = 4096,
     .summary = "width of the first stage, doubled in each further stage; 0: 16, imagenet: 64"},
    {.key = "pad",
     .kind = DIS_OPTION_INT,
     .offset = offsetof(settings, pad),
     .default_value = "4",
     .low = 0,
     .high = 64,
     .summary = "augmentation: maximum shift of an image in pixels"},
    {.key = "flip",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, flip),
     .default_value = "yes",
     .choices = "no|yes",
     .summary = "augmentation: mirror half of the images"},
};

/* The scaling's shift and scale hold one number per channel, in the first positions. */
typedef struct {
    size_t height, width, channels;
    dis__feature_scaling pixels;
} image_encoder;

typedef struct {
    dis__encoded_items shared;
    float *x; /* (n_items, n_features), scaled */
    size_t n_features;
} encoded_items;

typedef struct {
    dis__model_inputs shared;
    int rows, images;
    size_t height, width, channels, pad;
    bool flip;
    float *numbers; /* one batch */
    int32_t *moves; /* (units, 4): as dis__net_gather_reals wants them */
} inputs;

static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items,
                        const dis__preprocessor_files *files, void *encoder)
{
    (void)ctx;
    (void)of;
    (void)files;
    image_encoder *e = encoder;
    e->height = items->height;
    e->width = items->width;
    e->channels = items->channels;
    e->pixels.n_features = items->n_features;
    DIS_TRY(dis__alloc_zeroed(&e->pixels.shift, items->n_features, sizeof *e->pixels.shift));
    DIS_TRY(dis__alloc_zeroed(&e->pixels.scale, items->n_features, sizeof *e->pixels.scale));
    const size_t n = items->n_items * items->height * items->width;
    for (size_t c = 0; c < items->channels; c++) {
        double sum = 0, squares = 0;
        for (size_t p = 0; p < n; p++) sum += (double)items->x[p * items->channels + c];
        const double mean = sum / (double)n;
        for (size_t p = 0; p < n; p++) squares += pow((double)items->x[p * items->channels + c] - mean, 2);
        e->pixels.shift[c] = (float)mean;
        e->pixels.scale[c] = squares > 0 ? (float)(1 / sqrt(squares / (double)n)) : 1;
    }
    return DIS_OK;
}

static void free_encoder(void *encoder)
{
    dis__feature_scaling_free(&((image_encoder *)encoder)->pixels);
}

static void facts(const void *encoder, dis__preprocessor_info *out)
{
    const image_encoder *e = encoder;
    out->n_features = e->pixels.n_features;
    out->height = e->height;
    out->width = e->width;
    out->channels = e->channels;
}

static dis_status save(const void *encoder, dis__json_writer *json, const char *folder)
{
    const image_encoder *e = encoder;
    (void)folder;
    dis__model_json_write_count(json, "height", e->height);
    dis__model_json_write_count(json, "width", e->width);
    dis__model_json_write_count(json, "channels", e->channels);
    dis__feature_scaling_write(&e->pixels, json);
    return DIS_OK;
}

static dis_status load(const dis__model_json *source, const dis__json_value *object, const char *folder, void *encoder)
{
    image_encoder *e = encoder;
    (void)folder;
    DIS_TRY(dis__model_json_read_count(source, object, "height", &e->height));
    DIS_TRY(dis__model_json_read_count(source, object, "width", &e->width));
    DIS_TRY(dis__model_json_read_count(source, object, "channels", &e->channels));
    return dis__feature_scaling_read(source, object, &e->pixels);
}

static void hash_meaning(const void *encoder, dis__sha256 *sha)
{
    const image_encoder *e = encoder;
    const uint64_t sizes[] = {e->height, e->width, e->channels};
    dis__sha256_update(sha, sizes, sizeof sizes);
    dis__feature_scaling_hash(&e->pixels, sha);
}

static dis_status encode(dis_context *ctx, const void *of, const void *encoder, const dis_items_view *items,
                         dis__encoded_items *encoded)
{
    (void)ctx;
    (void)of;
    const image_encoder *e = encoder;
    encoded_items *out = (encoded_items *)encoded;
    if (items->height != e->height || items->width != e->width || items->channels != e->channels)
        return dis__fail(DIS_EDATA, "images of %zu x %zu x %zu; the model was made for %zu x %zu x %zu", items->height,
                         items->width, items->channels, e->height, e->width, e->channels);
    if (!e->pixels.shift || e->pixels.n_features != items->n_features) /* a model file that was modified */
        return dis__fail(DIS_EDATA, "a model of images without the scale of their %zu numbers", items->n_features);
    encoded->n_items = encoded->n_units = items->n_items;
    out->n_features = items->n_features;
    DIS_TRY(dis__alloc_array(&out->x, dis__saturating_size(items->n_items, items->n_features, 0), sizeof *out->x));
    for (size_t i = 0; i < items->n_items * items->n_features; i++) {
        const size_t c = i % e->channels;
        out->x[i] = (items->x[i] - e->pixels.shift[c]) * e->pixels.scale[c];
    }
    return DIS_OK;
}

static void free_encoded(dis__encoded_items *encoded)
{
    dis__free(((encoded_items *)encoded)->x);
}

static void hash_encoded(const void *encoder, const dis__encoded_items *encoded, dis__sha256 *sha)
{
    const encoded_items *e = (const encoded_items *)encoded;
    (void)encoder;
    if (e->x) dis__sha256_update(sha, e->x, encoded->n_items * e->n_features * sizeof *e->x);
}

static dis_status build(dis__net *net, const void *of, const void *encoder, const dis__batch_limits *limits,
                        dis__model_inputs *to)
{
    static const size_t usual[] = {3, 4, 6, 3};
    const settings *s = of;
    const image_encoder *e = encoder;
    inputs *in = (inputs *)to;
    dis__resnet_options o = dis__resnet_options_default();
    o.kind = s->kind == 0 ? DIS_RESNET_CIFAR : DIS_RESNET_IMAGENET;
    const size_t stages = s->kind == 0 ? 3 : 4;
    if (s->blocks.n && s->blocks.n != stages)
        return dis__fail(DIS_EUSAGE, "model resnet: blocks must be %zu numbers", stages);
    for (size_t i = 0; i < stages; i++)
        o.blocks[i] = s->blocks.n ? (size_t)s->blocks.value[i] : s->kind == 0 ? 5 : usual[i];
    o.first_width = s->width ? (size_t)s->width : s->kind == 0 ? 16 : 64;
    o.height = e->height;
    o.width = e->width;
    o.channels = e->channels;
    o.rows = limits->units;
    const dis__resnet t = dis__resnet_build(net, &o);
    in->rows = t.rows;
    in->images = t.images;
    to->trunk = t.trunk;
    in->height = o.height;
    in->width = o.width;
    in->channels = o.channels;
    in->pad = (size_t)s->pad;
    in->flip = s->flip;
    const size_t room = dis__saturating_size(limits->units, e->pixels.n_features, 0);
    DIS_TRY(dis__alloc_array(&in->moves, dis__saturating_size(limits->units, 4, 0), sizeof *in->moves));
    return dis__alloc_array(&in->numbers, room, sizeof *in->numbers);
}

static void free_inputs(dis__model_inputs *in)
{
    dis__free(((inputs *)in)->numbers);
    dis__free(((inputs *)in)->moves);
}

/* What becomes of image i of a batch: (unit, dy, dx, mirror). */
static void draw_move(const inputs *in, const dis__unit_batch *batch, size_t i, int32_t move[4])
{
    const size_t span = 2 * in->pad + 1;
    const uint64_t draw = dis__random(batch->seed ^ batch->number << 20, DIS_STREAM_AUGMENT, batch->unit[i]);
    move[0] = (int32_t)batch->unit[i];
    move[1] = batch->training ? (int32_t)((draw & 0xffffff) % span) - (int32_t)in->pad : 0;
    move[2] = batch->training ? (int32_t)((draw >> 24 & 0xffffff) % span) - (int32_t)in->pad : 0;
    move[3] = batch->training && in->flip && draw >> 63;
}

/* One image, shifted by (dy, dx) and perhaps mirrored. */
static void lay_out(const inputs *in, const float *from, long dy, long dx, bool mirror, float *to)
{
    const long height = (long)in->height, width = (long)in->width;
    const size_t channels = in->channels;
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++, to += channels) {
            const long fy = y + dy, fx = (mirror ? width - 1 - x : x) + dx;
            if (fy < 0 || fy >= height || fx < 0 || fx >= width)
                memset(to, 0, channels * sizeof *to);
            else
                memcpy(to, from + ((size_t)(fy * width + fx)) * channels, channels * sizeof *to);
        }
}

static dis_status put(dis__net *net, dis__model_inputs *to, const dis__encoded_items *encoded,
                      const dis__unit_batch *batch)
{
    const inputs *in = (const inputs *)to;
    const float *x = ((const encoded_items *)encoded)->x;
    const size_t k = in->height * in->width * in->channels;
    const void *uploaded;
    dis__net_resize(net, in->rows, batch->n);
    DIS_TRY(
        dis__net_upload_reals(net, DIS_ROLE_VALUE, encoded->lasting ? x : NULL, x, encoded->n_items * k, &uploaded));
    for (size_t i = 0; i < batch->n; i++) {
        int32_t *move = in->moves + 4 * i;
        draw_move(in, batch, i, move);
        if (!uploaded && batch->training)
            lay_out(in, x + batch->unit[i] * k, move[1], move[2], move[3], in->numbers + i * k);
        else if (!uploaded)
            memcpy(in->numbers + i * k, x + batch->unit[i] * k, k * sizeof *x);
    }
    if (uploaded) return dis__net_gather_reals(net, in->images, uploaded, in->moves, true);
    return dis__net_put(net, in->images, in->numbers);
}

const dis__model_row dis__model_resnet = {
    .info = {.name = "resnet",
             .summary = "residual network for small images",
             .source = "He et al. 2016; kind=cifar as in Uma et al. 2020",
             .items_kind = DIS_ITEMS_IMAGES,
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .epochs = 65,
             .batch = 128,
             .rate = .1,
             .optimizer = "sgd:momentum=.9,decay=1e-4"},
    DIS_MODEL_MEMBERS(image_encoder),
    .free_inputs = free_inputs,
};
