/* rounded_net.h: what a network computes whose values and gradients of values are bfloat16 wherever an operation or
 * a layer hands them on, and all else exact: `ref`, with results rounded. It tells what rounding alone does to a
 * network, without any kernel: where a device in bfloat16 differs from this, it is the device's own doing. One
 * network at a time.
 *
 *     dis__net_create(rounded_device(), 1, &net);  build, plan, put parameters
 *     rounded_begin(net, kinds);
 *     dis__net_forward(net, true); dis__net_backward(net); */
#ifndef DIS_OPERATIONS_ROUNDED_NET_H
#define DIS_OPERATIONS_ROUNDED_NET_H
#include "nn/host/host_device.h"
#include "nn/net_internal.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDED_LAYERS = 256 };

/* To the nearest, ties to even. */
static inline double rounded(double x)
{
    float y = (float)x;
    uint32_t bits;
    memcpy(&bits, &y, sizeof bits);
    if ((bits & 0x7f800000u) == 0x7f800000u) return x;
    bits = (bits + 0x7fffu + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&y, &bits, sizeof y);
    return (double)y;
}

/* ---- products ---- */

/* Gradients of parameters stay exact. */
static struct {
    const char *from, *to;
} rounded_exact;

static inline dis_status rounded_allocate(void *session, dis__memory what, size_t bytes, bool zeroed, void **out)
{
    DIS_TRY(dis__device_ref.allocate(session, what, bytes, zeroed, out));
    if (what == DIS_MEMORY_GRADS) {
        rounded_exact.from = *out;
        rounded_exact.to = rounded_exact.from + bytes;
    }
    return DIS_OK;
}

static inline dis_status rounded_run(void *session, dis__op op, const void *args)
{
    DIS_TRY(dis__device_ref.run(session, op, args));
    const dis__product_args *p = args;
    if (op != DIS_OP_product || ((const char *)p->c >= rounded_exact.from && (const char *)p->c < rounded_exact.to))
        return DIS_OK;
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) ((double *)p->c)[i * p->ldc + j] = rounded(((double *)p->c)[i * p->ldc + j]);
    return DIS_OK;
}

static inline const dis__device *rounded_device(void)
{
    static dis__device device;
    device = dis__device_ref;
    device.name = "ref, rounded";
    device.shares = false; /* nothing is made again after its back */
    device.allocate = rounded_allocate;
    device.run = rounded_run;
    return &device;
}

/* ---- layers ---- */

/* The network's layers are of these kinds, which know the layer's own. */
typedef struct {
    dis__layer_kind kind; /* first */
    const dis__layer_kind *own;
} rounded_kind;

static inline void rounded_values(const dis__net *net, int value, void *numbers)
{
    const size_t n = dis__padded_rows(net, value) * dis__shape_of(net, value)->channels;
    double *x = numbers;
    for (size_t i = 0; x && i < n; i++) x[i] = rounded(x[i]);
}

static inline dis_status rounded_forward(dis__net *net, dis__layer *layer)
{
    for (size_t i = 0; i < net->n_slots; i++) /* what a batch brings */
        if (layer->index == 0 && net->slots[i].producer == DIS_NONE) rounded_values(net, (int)i, net->slots[i].data);
    DIS_TRY(((const rounded_kind *)layer->kind)->own->forward(net, layer));
    if (layer->out != DIS_NONE) rounded_values(net, layer->out, dis__data(net, layer->out));
    return DIS_OK;
}

static inline dis_status rounded_backward(dis__net *net, dis__layer *layer)
{
    DIS_TRY(((const rounded_kind *)layer->kind)->own->backward(net, layer));
    for (int i = 0; i < layer->n_in; i++)
        if (layer->in[i] != DIS_NONE) rounded_values(net, layer->in[i], dis__grad(net, layer->in[i]));
    return DIS_OK;
}

/* The network is planned; `kinds` (ROUNDED_LAYERS) last as long as it. Matrices are rounded too, as products read
 * them. */
static inline void rounded_begin(dis__net *net, rounded_kind *kinds)
{
    if (net->n_layers > ROUNDED_LAYERS) abort();
    for (size_t i = 0; i < net->n_layers; i++) {
        kinds[i] = (rounded_kind){.kind = *net->layers[i].kind, .own = net->layers[i].kind};
        kinds[i].kind.forward = rounded_forward;
        kinds[i].kind.backward = rounded_backward;
        net->layers[i].kind = &kinds[i].kind;
    }
    for (size_t p = 0; p < net->n_params; p++) {
        const dis__param_info *info = &net->params[p].info;
        double *x = calloc(info->n + 1, sizeof *x);
        dis__param_get(net, p, x);
        for (size_t i = 0; info->n_dims > 1 && i < info->n; i++) x[i] = rounded(x[i]);
        dis__param_put(net, p, x);
        free(x);
    }
}

#endif
