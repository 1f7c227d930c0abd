/* ResNets (He et al. 2016) for small images: a 3 x 3 convolution, stages of basic blocks, the mean over all positions.
 *
 *     block(x) = relu(norm(conv(relu(norm(conv(x))))) + shortcut(x))
 *
 * The first block of every stage but the first halves height and width and doubles the channels. Where the shape
 * changes the shortcut is a strided identity with zeros for the new channels (CIFAR) or a 1 x 1 convolution (IMAGENET).
 *
 * Cost of an image forward: 2 height width 9 first_width^2 operations a convolution; each stage has the same. */
#include "nn/models/network_models.h"
#include <stdio.h>

dis__resnet_options dis__resnet_options_default(void)
{
    return (dis__resnet_options){
        .size = sizeof(dis__resnet_options),
        .kind = DIS_RESNET_CIFAR,
        .height = 32,
        .width = 32,
        .channels = 3,
        .blocks = {5, 5, 5, 0},
        .first_width = 16,
        .rows = 128,
    };
}

typedef struct {
    dis__net *net;
    const char *name; /* of the block */
} place;

/* Convolution without bias, then batch normalisation. */
static int conv_norm(const place *at, const char *part, int x, size_t out, size_t kernel, size_t stride, int residual,
                     dis__activation act)
{
    char text[DIS_NET_NAME / 2];
    dis__conv_options c = dis__conv_options_default();
    c.out = out;
    c.kernel = kernel;
    c.stride = stride;
    c.bias = false;
    c.he = true;
    snprintf(text, sizeof text, "%.24s.conv%.8s", at->name, part);
    x = dis__layer_conv(at->net, text, x, DIS_NONE, &c);
    snprintf(text, sizeof text, "%.24s.norm%.8s", at->name, part);
    return dis__layer_batchnorm(at->net, text, x, residual, act);
}

static int block(const place *at, dis__resnet_kind kind, int x, size_t in, size_t out, size_t stride)
{
    int shortcut = x;
    if (in != out || stride != 1)
        shortcut = kind == DIS_RESNET_CIFAR ? dis__layer_shortcut(at->net, x, stride, out)
                                            : conv_norm(at, "0", x, out, 1, stride, DIS_NONE, DIS_ACT_NONE);
    const int y = conv_norm(at, "1", x, out, 3, stride, DIS_NONE, DIS_ACT_RELU);
    return conv_norm(at, "2", y, out, 3, 1, shortcut, DIS_ACT_RELU);
}

dis__resnet dis__resnet_build(dis__net *net, const dis__resnet_options *o)
{
    dis__resnet r = {.rows = dis__net_axis(net, o->rows)};
    r.images = dis__net_reals(net, "images", (dis__shape){r.rows, DIS_NONE, o->height, o->width, o->channels});
    int x = conv_norm(&(place){net, "first"}, "", r.images, o->first_width, 3, 1, DIS_NONE, DIS_ACT_RELU);
    size_t width = o->first_width;
    for (size_t stage = 0; stage < (o->kind == DIS_RESNET_CIFAR ? 3 : 4); stage++) {
        const size_t out = o->first_width << stage;
        for (size_t b = 0; b < o->blocks[stage]; b++) {
            char name[32];
            snprintf(name, sizeof name, "stage%zu.%zu", stage + 1, b);
            x = block(&(place){net, name}, o->kind, x, width, out, stage && b == 0 ? 2 : 1);
            width = out;
        }
    }
    r.trunk = dis__layer_pool(net, x, DIS_NONE, DIS_POOL_MEAN);
    return r;
}
