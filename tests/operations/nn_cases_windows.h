/* nn_cases_windows.h: cases of layers over windows of a sequence or an image: convolutions, what goes with them, and
 * whole networks. */
#ifndef DIS_OPERATIONS_NN_CASES_WINDOWS_H
#define DIS_OPERATIONS_NN_CASES_WINDOWS_H
#include "nn_case_parts.h"

static int convolve(nn_net *f, const char *name, int x, int n, size_t out, size_t kernel, size_t stride, bool same)
{
    dis__conv_options o = dis__conv_options_default();
    o.out = out;
    o.kernel = kernel;
    o.stride = stride;
    o.same = same;
    o.act = DIS_ACT_TANH;
    return dis__layer_conv(f->net, name, x, n, &o);
}

static void case_conv_time(nn_net *f)
{
    const int n = lengths(f), x = convolve(f, "c3", sequence(f, 5), n, 7, 3, 1, true);
    const int y = convolve(f, "c4", x, n, 6, 4, 1, true);
    above(f, dis__layer_pool(f->net, y, n, DIS_POOL_MAX));
}

/* Sequences of fixed length, with windows in between. */
static void case_conv_fixed(nn_net *f)
{
    const int ids = nn_ints_input(f, f->rows, DIS_NONE, 11, -1, 5);
    const int x = convolve(f, "c5", dis__layer_embed(f->net, "chars", ids, 6, 4), DIS_NONE, 5, 5, 1, true);
    const int y = dis__layer_window(f->net, x, DIS_POOL_MAX, 3, 2);
    above(f, dis__layer_pool(f->net, convolve(f, "c2", y, DIS_NONE, 3, 2, 1, false), DIS_NONE, DIS_POOL_MEAN));
}

/* Two texts over one table, by kernels of even and odd width, with and without bias; some ids are none. */
static void case_lookup_conv_inner(nn_net *f)
{
    const int table = dis__layer_table(f->net, "letters", 6, 5);
    const int ids = nn_ints_input(f, f->rows, DIS_NONE, 7, -1, 5);
    int y[3];
    for (size_t i = 0; i < 3; i++) {
        dis__conv_options o = dis__conv_options_default();
        o.out = 9;
        o.kernel = (size_t[]){1, 4, 7}[i];
        o.same = false;
        o.act = i == 1 ? DIS_ACT_RELU : DIS_ACT_NONE;
        y[i] = dis__layer_lookup_conv(f->net, (const char *[]){"one", "four", "seven"}[i], ids, table, &o);
        y[i] = dis__layer_pool(f->net, y[i], DIS_NONE, i ? DIS_POOL_MAX : DIS_POOL_MEAN);
    }
    above(f, dis__layer_concat(f->net, y, 3));
}

static void case_lookup_conv(nn_net *f)
{
    const int table = dis__layer_table(f->net, "letters", 6, 5);
    int y[2];
    for (size_t i = 0; i < 2; i++) {
        const int ids = nn_ints_input(f, f->rows, DIS_NONE, 7, -1, 5);
        dis__conv_options o = dis__conv_options_default();
        o.out = 9;
        o.kernel = 3 + i;
        o.bias = i == 0;
        o.act = i ? DIS_ACT_TANH : DIS_ACT_NONE;
        y[i] = dis__layer_lookup_conv(f->net, i ? "second" : "first", ids, table, &o);
    }
    above(f, dis__layer_pool(f->net, dis__layer_add(f->net, y[0], y[1]), DIS_NONE, DIS_POOL_MEAN));
}

/* (rows, 6, 5, channels) */
static int image(nn_net *f, size_t channels)
{
    const int x = nn_reals(f, (dis__shape){f->rows, DIS_NONE, 6, 5, 3});
    return dis__layer_linear(f->net, "below", x, channels, DIS_ACT_NONE);
}

static void case_conv_image(nn_net *f)
{
    const int x = convolve(f, "c3", image(f, 4), DIS_NONE, 5, 3, 2, true);
    const int y = convolve(f, "c2", x, DIS_NONE, 4, 2, 1, false);
    above(f, dis__layer_pool(f->net, y, DIS_NONE, DIS_POOL_MEAN));
}

static int convolve_plain(nn_net *f, const char *name, int x, int n, size_t out, size_t kernel, size_t stride)
{
    dis__conv_options o = dis__conv_options_default();
    o.out = out;
    o.kernel = kernel;
    o.stride = stride;
    o.bias = false;
    return dis__layer_conv(f->net, name, x, n, &o);
}

/* Whole vectors of channels, more columns than a tile has, and more positions. Plain layers: what is rounded at one
 * stays as small after it. */
static void case_conv_wide(nn_net *f)
{
    const int x = convolve_plain(f, "c3", image(f, 16), DIS_NONE, 72, 3, 1);
    const int y = convolve_plain(f, "c5", x, DIS_NONE, 8, 5, 2), z = convolve_plain(f, "c1", y, DIS_NONE, 16, 1, 2);
    const int n = lengths(f), t = convolve(f, "c4", sequence(f, 8), n, 24, 4, 1, true);
    const int both[] = {dis__layer_pool(f->net, y, DIS_NONE, DIS_POOL_MEAN),
                        dis__layer_pool(f->net, z, DIS_NONE, DIS_POOL_MEAN),
                        dis__layer_pool(f->net, t, n, DIS_POOL_MEAN)};
    const int all = dis__layer_concat(f->net, both, 3);
    above(f, dis__layer_layernorm(f->net, "norm", all, DIS_NONE));
}

/* Colours first, an input that two layers read, a projection. */
static void case_conv_bare(nn_net *f)
{
    const int x = convolve_plain(f, "first", image(f, 3), DIS_NONE, 16, 3, 1);
    const int y = convolve_plain(f, "second", x, DIS_NONE, 16, 3, 1);
    const int z = convolve_plain(f, "third", dis__layer_add(f->net, x, y), DIS_NONE, 16, 3, 2);
    const int w = convolve_plain(f, "projection", x, DIS_NONE, 16, 1, 2);
    const int sum = dis__layer_pool(f->net, dis__layer_add(f->net, z, w), DIS_NONE, DIS_POOL_MEAN);
    above(f, dis__layer_layernorm(f->net, "norm", sum, DIS_NONE));
}

static void case_windows(nn_net *f)
{
    const int x = image(f, 4), y = dis__layer_window(f->net, x, DIS_POOL_MEAN, 2, 1);
    const int z = dis__layer_window(f->net, x, DIS_POOL_MAX, 2, 2);
    above(f, dis__layer_add(f->net, dis__layer_pool(f->net, y, DIS_NONE, DIS_POOL_MAX),
                            dis__layer_pool(f->net, z, DIS_NONE, DIS_POOL_MEAN)));
}

static void case_shortcut(nn_net *f)
{
    const int x = image(f, 4), y = dis__layer_shortcut(f->net, x, 2, 8);
    above(f, dis__layer_add(f->net, dis__layer_pool(f->net, y, DIS_NONE, DIS_POOL_MEAN),
                            dis__layer_pool(f->net, convolve(f, "c", x, DIS_NONE, 8, 1, 1, true), DIS_NONE,
                                            DIS_POOL_MAX)));
}

static void case_batchnorm(nn_net *f)
{
    const int x = image(f, 4), y = dis__layer_batchnorm(f->net, "norm", x, DIS_NONE, DIS_ACT_TANH);
    const int z =
        dis__layer_batchnorm(f->net, "norm2", dis__layer_linear(f->net, "mid", y, 4, DIS_ACT_NONE), y, DIS_ACT_SIGMOID);
    above(f, dis__layer_pool(f->net, z, DIS_NONE, DIS_POOL_MEAN));
}

static void case_batchnorm_odd(nn_net *f)
{
    const int x = image(f, 7), y = dis__layer_batchnorm(f->net, "norm", x, DIS_NONE, DIS_ACT_RELU);
    const int z = dis__layer_batchnorm(f->net, "norm2", dis__layer_linear(f->net, "mid", y, 7, DIS_ACT_NONE), DIS_NONE,
                                       DIS_ACT_TANH);
    above(f, dis__layer_pool(f->net, z, DIS_NONE, DIS_POOL_MEAN));
}

static void case_batchnorm_wide(nn_net *f)
{
    const int x = image(f, 72), y = dis__layer_batchnorm(f->net, "norm", x, DIS_NONE, DIS_ACT_RELU);
    const int z = dis__layer_batchnorm(f->net, "norm2", dis__layer_linear(f->net, "mid", y, 67, DIS_ACT_NONE), DIS_NONE,
                                       DIS_ACT_NONE);
    above(f, dis__layer_concat(f->net,
                               (int[]){dis__layer_pool(f->net, y, DIS_NONE, DIS_POOL_MEAN),
                                       dis__layer_pool(f->net, z, DIS_NONE, DIS_POOL_MEAN)},
                               2));
}

/* Channels that are no whole vectors to ones that are. */
static void case_conv_odd(nn_net *f)
{
    const int x = convolve_plain(f, "conv", image(f, 12), DIS_NONE, 16, 3, 1);
    const int y = dis__layer_batchnorm(f->net, "norm", x, DIS_NONE, DIS_ACT_TANH);
    above(f, dis__layer_pool(f->net, y, DIS_NONE, DIS_POOL_MEAN));
}

/* Channels and images for which devices have convolutions of their own; of what comes back to x there are two. */
static void case_conv_64(nn_net *f)
{
    f->rows = dis__net_axis(f->net, 40);
    const int in = nn_reals(f, (dis__shape){f->rows, DIS_NONE, 16, 24, 3});
    const int below = dis__layer_linear(f->net, "below", in, 64, DIS_ACT_TANH);
    const int x = dis__layer_add(f->net, below, convolve_plain(f, "colours", in, DIS_NONE, 64, 3, 1));
    const int y = convolve_plain(f, "first", x, DIS_NONE, 64, 3, 1);
    const int z = convolve_plain(f, "second", y, DIS_NONE, 64, 3, 1);
    const int sum = dis__layer_pool(f->net, dis__layer_add(f->net, x, z), DIS_NONE, DIS_POOL_MEAN);
    above(f, dis__layer_layernorm(f->net, "norm", sum, DIS_NONE));
}

/* Weights that devices have gradients of their own for: of images that are no multiple of a tile, and of small ones. */
static void case_conv_weights(nn_net *f)
{
    f->rows = dis__net_axis(f->net, 21);
    const int in = nn_reals(f, (dis__shape){f->rows, DIS_NONE, 9, 11, 3});
    const int x = dis__layer_linear(f->net, "below", in, 64, DIS_ACT_TANH);
    const int y = convolve_plain(f, "same", convolve_plain(f, "wide", x, DIS_NONE, 128, 3, 1), DIS_NONE, 128, 3, 1);
    const int z = convolve_plain(f, "odd", y, DIS_NONE, 192, 3, 1);
    const int small = convolve_plain(f, "down", y, DIS_NONE, 64, 3, 2);
    const int w = convolve_plain(f, "small", small, DIS_NONE, 128, 3, 1);
    const int ends[] = {dis__layer_pool(f->net, z, DIS_NONE, DIS_POOL_MEAN),
                        dis__layer_pool(f->net, w, DIS_NONE, DIS_POOL_MEAN)};
    above(f, dis__layer_layernorm(f->net, "norm", dis__layer_concat(f->net, ends, 2), DIS_NONE));
}

/* More positions than devices keep at hand between two passes over them. */
static void case_batchnorm_many(nn_net *f)
{
    f->rows = dis__net_axis(f->net, NN_MANY_IMAGES);
    const int x = nn_reals(f, (dis__shape){f->rows, DIS_NONE, 6, 5, 3});
    const int y = dis__layer_batchnorm(f->net, "norm", dis__layer_linear(f->net, "one", x, 64, DIS_ACT_NONE), DIS_NONE,
                                       DIS_ACT_RELU);
    const int z =
        dis__layer_batchnorm(f->net, "norm2", dis__layer_linear(f->net, "two", x, 64, DIS_ACT_NONE), y, DIS_ACT_RELU);
    above(f, dis__layer_pool(f->net, z, DIS_NONE, DIS_POOL_MEAN));
}

static void stem_cnn(nn_net *f, dis__stem_cnn_options o)
{
    o.n_characters = 8;
    o.width = 4;
    o.channels[1] = 2;
    o.encoder.feed = 5;
    o.rows = 40;
    const dis__stem_cnn s = dis__stem_cnn_build(f->net, &o);
    f->rows = s.rows;
    for (int i = 0; i < 2; i++) f->ints[f->n_ints++] = (nn_ints){s.text[i], -1, 7};
    above(f, s.trunk);
}

static void case_stem_cnn(nn_net *f)
{
    dis__stem_cnn_options o = dis__stem_cnn_options_default();
    o.channels[0] = 3;
    o.length = 9;
    stem_cnn(f, o);
}

/* With 9 positions, two maxima of a text differ by less than bfloat16 resolves, and rounding alone moves the gradients
 * by .12 (measured with rounded_net.h). With 7 it moves them by .006. */
static void case_stem_released(nn_net *f)
{
    dis__stem_cnn_options o = dis__stem_cnn_options_default();
    o.channels[0] = 0;
    o.length = 7;
    o.dropouts = 2;
    o.encoder.position = o.encoder.final_norm = o.encoder.sample_norm = true;
    stem_cnn(f, o);
}

/* One logit, and 0 for the other class. */
static void case_sigmoid_head(nn_net *f)
{
    nn_soft(f, "head",
            dis__layer_shortcut(f->net, dis__layer_linear(f->net, "one", below(f, 5), 1, DIS_ACT_NONE), 1, 2), NULL);
}

static void resnet(nn_net *f, dis__resnet_kind kind)
{
    dis__resnet_options o = dis__resnet_options_default();
    o.kind = kind;
    o.height = o.width = 7;
    o.first_width = 4;
    o.rows = 40;
    for (int i = 0; i < (kind == DIS_RESNET_CIFAR ? 3 : 2); i++) o.blocks[i] = 1;
    for (int i = kind == DIS_RESNET_CIFAR ? 3 : 2; i < 4; i++) o.blocks[i] = 0;
    const dis__resnet r = dis__resnet_build(f->net, &o);
    f->rows = r.rows;
    f->reals[f->n_reals++] = r.images;
    above(f, r.trunk);
}

static void case_resnet_cifar(nn_net *f)
{
    resnet(f, DIS_RESNET_CIFAR);
}

static void case_resnet_imagenet(nn_net *f)
{
    resnet(f, DIS_RESNET_IMAGENET);
}

#endif
