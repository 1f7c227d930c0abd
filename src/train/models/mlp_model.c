/* mlp: features through hidden layers with ReLU and dropout to the classes. The defaults are those of Uma et al. (2020)
 * for LabelMe: one layer of 128, dropout .5, Adam 1e-3, batches of 64, 20 epochs. */
#include "tool/json_writer.h"
#include "train/model.h"
#include "train/models/feature_scaling.h"
#include <math.h>
#include <stdio.h>

typedef struct {
    dis_reals hidden;
    double dropout;
    int scale;
} settings;

enum { SCALE_NONE, SCALE_STANDARD };

static const dis_option options[] = {
    {.key = "hidden",
     .kind = DIS_OPTION_REALS,
     .offset = offsetof(settings, hidden),
     .default_value = "128",
     .low = 1,
     .high = 65536,
     .summary = "width of each hidden layer, e.g. 128 or 256/64"},
    {.key = "dropout",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(settings, dropout),
     .default_value = "0.5",
     .low = 0,
     .high = .99,
     .summary = "dropout rate"},
    {.key = "scale",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, scale),
     .default_value = "none",
     .choices = "none|standard",
     .summary = "use features unchanged, or scale to mean 0 and standard deviation 1 on the training items"},
};

typedef struct {
    dis__encoded_items shared;
    const float *x; /* (n_items, n_features): the items' own, or scaled */
    float *scaled;
} encoded_items;

typedef struct {
    dis__model_inputs shared;
    int rows, features;
    size_t n_features;
} inputs;

static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items,
                        const dis__preprocessor_files *files, void *encoder)
{
    const settings *s = of;
    dis__feature_scaling *e = encoder;
    const size_t k = items->n_features, n = items->n_items;
    (void)ctx;
    (void)files;
    e->n_features = k;
    if (s->scale == SCALE_NONE) return DIS_OK;
    DIS_TRY(dis__alloc_array(&e->shift, k, sizeof *e->shift));
    DIS_TRY(dis__alloc_array(&e->scale, k, sizeof *e->scale));
    for (size_t f = 0; f < k; f++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < n; i++) sum += (double)items->x[i * k + f];
        const double mean = sum / (double)n;
        for (size_t i = 0; i < n; i++) squares += pow((double)items->x[i * k + f] - mean, 2);
        const double sd = sqrt(squares / (double)n);
        e->shift[f] = (float)mean;
        e->scale[f] = sd > 0 ? (float)(1 / sd) : 1;
    }
    return DIS_OK;
}

static void free_encoder(void *encoder)
{
    dis__feature_scaling_free(encoder);
}

static void facts(const void *encoder, dis__preprocessor_info *out)
{
    const dis__feature_scaling *e = encoder;
    out->n_features = e->n_features;
}

static dis_status save(const void *encoder, dis__json_writer *json, const char *folder)
{
    (void)folder;
    dis__feature_scaling_write(encoder, json);
    return DIS_OK;
}

static dis_status load(const dis__model_json *source, const dis__json_value *object, const char *folder, void *encoder)
{
    (void)folder;
    return dis__feature_scaling_read(source, object, encoder);
}

static void hash_meaning(const void *encoder, dis__sha256 *sha)
{
    dis__feature_scaling_hash(encoder, sha);
}

static dis_status encode(dis_context *ctx, const void *of, const void *encoder, const dis_items_view *items,
                         dis__encoded_items *encoded)
{
    (void)ctx;
    (void)of;
    const dis__feature_scaling *e = encoder;
    encoded_items *out = (encoded_items *)encoded;
    const size_t k = e->n_features;
    if (items->n_features != k)
        return dis__fail(DIS_EDATA, "items of %zu features; the model was made for %zu", items->n_features, k);
    encoded->n_items = encoded->n_units = items->n_items;
    out->x = items->x;
    if (!e->scale) return DIS_OK;
    DIS_TRY(dis__alloc_array(&out->scaled, dis__saturating_size(items->n_items, k, 0), sizeof *out->scaled));
    for (size_t i = 0; i < items->n_items; i++)
        for (size_t f = 0; f < k; f++) out->scaled[i * k + f] = (items->x[i * k + f] - e->shift[f]) * e->scale[f];
    out->x = out->scaled;
    return DIS_OK;
}

static void free_encoded(dis__encoded_items *encoded)
{
    dis__free(((encoded_items *)encoded)->scaled);
}

static void hash_encoded(const void *encoder, const dis__encoded_items *encoded, dis__sha256 *sha)
{
    const dis__feature_scaling *e = encoder;
    const float *x = ((const encoded_items *)encoded)->x;
    if (x) dis__sha256_update(sha, x, encoded->n_items * e->n_features * sizeof *x);
}

static dis_status build(dis__net *net, const void *of, const void *encoder, const dis__batch_limits *limits,
                        dis__model_inputs *to)
{
    const settings *s = of;
    inputs *in = (inputs *)to;
    in->n_features = ((const dis__feature_scaling *)encoder)->n_features;
    in->rows = dis__net_axis(net, limits->units);
    in->features = to->trunk = dis__net_reals(net, "features", dis__shape_rows(in->rows, in->n_features));
    for (size_t i = 0; i < s->hidden.n; i++) {
        char name[32];
        snprintf(name, sizeof name, "hidden.%zu", i);
        to->trunk = dis__layer_linear(net, name, to->trunk, (size_t)s->hidden.value[i], DIS_ACT_RELU);
        to->trunk = dis__layer_dropout(net, to->trunk, s->dropout);
    }
    return DIS_OK;
}

static dis_status put(dis__net *net, dis__model_inputs *to, const dis__encoded_items *encoded,
                      const dis__unit_batch *batch)
{
    const inputs *in = (const inputs *)to;
    const float *x = ((const encoded_items *)encoded)->x;
    dis__net_resize(net, in->rows, batch->n);
    const void *uploaded;
    DIS_TRY(dis__net_upload_reals(net, DIS_ROLE_VALUE, encoded->lasting ? x : NULL, x,
                                  encoded->n_items * in->n_features, &uploaded));
    if (uploaded) return dis__net_gather_reals(net, in->features, uploaded, (const int32_t *)batch->unit, false);
    for (size_t i = 0; i < batch->n; i++)
        DIS_TRY(dis__net_put_row(net, in->features, i, x + batch->unit[i] * in->n_features));
    return DIS_OK;
}

const dis__model_row dis__model_mlp = {
    .info = {.name = "mlp",
             .summary = "multilayer perceptron on feature vectors",
             .source = "Uma et al. 2020, section 4 (LabelMe)",
             .items_kind = DIS_ITEMS_FEATURES,
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .epochs = 20,
             .batch = 64,
             .rate = 1e-3,
             .optimizer = "adam"},
    DIS_MODEL_MEMBERS(dis__feature_scaling),
};
