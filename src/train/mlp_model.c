/* mlp: features through hidden layers with ReLU and dropout to the classes. The defaults are those of Uma et al. (2020)
 * for LabelMe: one layer of 128, dropout .5, Adam 1e-3, batches of 64, 20 epochs. */
#include "train/models.h"
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
     .fallback = "128",
     .low = 1,
     .high = 65536,
     .summary = "width of each hidden layer, as 128 or 256/64"},
    {.key = "dropout",
     .kind = DIS_OPTION_REAL,
     .offset = offsetof(settings, dropout),
     .fallback = "0.5",
     .low = 0,
     .high = .99,
     .summary = "share of hidden values left out in each step"},
    {.key = "scale",
     .kind = DIS_OPTION_CHOICE,
     .offset = offsetof(settings, scale),
     .fallback = "none",
     .choices = "none|standard",
     .summary = "features as they are, or with the training items' mean 0 and standard deviation 1"},
};

static dis_status learn(dis_context *ctx, const void *of, const dis_items_view *items, const char *vectors,
                        dis__encoder *encoder)
{
    const settings *s = of;
    const size_t k = items->n_features, n = items->n_items;
    (void)ctx;
    (void)vectors;
    encoder->n_features = k;
    if (s->scale == SCALE_NONE) return DIS_OK;
    DIS_TRY(dis__alloc_array(&encoder->shift, k, sizeof *encoder->shift));
    DIS_TRY(dis__alloc_array(&encoder->scale, k, sizeof *encoder->scale));
    for (size_t f = 0; f < k; f++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < n; i++) sum += (double)items->x[i * k + f];
        const double mean = sum / (double)n;
        for (size_t i = 0; i < n; i++) squares += pow((double)items->x[i * k + f] - mean, 2);
        const double sd = sqrt(squares / (double)n);
        encoder->shift[f] = (float)mean;
        encoder->scale[f] = sd > 0 ? (float)(1 / sd) : 1;
    }
    return DIS_OK;
}

static dis_status encode(dis_context *ctx, const void *of, const dis__encoder *encoder, const dis_items_view *items,
                         dis__encoded *out)
{
    (void)ctx;
    (void)of;
    const size_t k = encoder->n_features;
    if (items->n_features != k)
        return dis__fail(DIS_EDATA, "items of %zu features; the model was made for %zu", items->n_features, k);
    out->n_items = out->n_units = items->n_items;
    out->x = items->x;
    if (!encoder->scale) return DIS_OK;
    DIS_TRY(dis__alloc_array(&out->scaled, dis__size(items->n_items, k, 0), sizeof *out->scaled));
    for (size_t i = 0; i < items->n_items; i++)
        for (size_t f = 0; f < k; f++)
            out->scaled[i * k + f] = (items->x[i * k + f] - encoder->shift[f]) * encoder->scale[f];
    out->x = out->scaled;
    return DIS_OK;
}

static dis_status build(dis__net *net, const void *of, const dis__encoder *encoder, const dis__batch_limits *limits,
                        dis__inputs *in)
{
    const settings *s = of;
    in->units = in->items = dis__net_axis(net, limits->units);
    in->reals[0] = dis__net_reals(net, "features", dis__shape_rows(in->units, encoder->n_features));
    in->trunk = in->reals[0];
    for (size_t i = 0; i < s->hidden.n; i++) {
        char name[32];
        snprintf(name, sizeof name, "hidden.%zu", i);
        in->trunk = dis__layer_linear(net, name, in->trunk, (size_t)s->hidden.value[i], DIS_ACT_RELU);
        in->trunk = dis__layer_dropout(net, in->trunk, s->dropout);
    }
    in->n_features = encoder->n_features;
    return DIS_OK;
}

static void put(dis__net *net, const dis__inputs *in, const dis__encoded *encoded, const uint32_t *units, size_t n)
{
    dis__net_resize(net, in->units, n);
    for (size_t i = 0; i < n; i++) dis__net_put_row(net, in->reals[0], i, encoded->x + units[i] * in->n_features);
}

const dis__model_row dis__model_mlp = {
    .info = {.name = "mlp",
             .summary = "hidden layers over a row of numbers an item",
             .source = "Uma et al. 2020, section 4 (LabelMe)",
             .items = DIS_ITEMS_FEATURES,
             .options = options,
             .n_options = sizeof options / sizeof *options,
             .epochs = 20,
             .batch = 64,
             .rate = 1e-3,
             .optimizer = "adam"},
    .settings_size = sizeof(settings),
    .learn = learn,
    .encode = encode,
    .build = build,
    .put = put,
};
