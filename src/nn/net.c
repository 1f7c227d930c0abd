/* Building a network: lists of axes, values, inputs, parameters and layers that only grow. A failure is remembered and
 * every later call does nothing, so that builders read like the model they build. */
#include "nn/net_internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

dis_status dis__net_create(const dis__device *device, uint64_t seed, dis__net **out)
{
    dis__net *net;
    DIS_TRY(dis__alloc_zeroed(&net, 1, sizeof *net));
    net->device = device;
    net->seed = seed;
    const dis_status status = device->open(device, &net->session);
    if (status == DIS_OK)
        *out = net;
    else
        dis__free(net);
    return status;
}

void dis__net_destroy(dis__net *net)
{
    if (!net) return;
    for (size_t i = 0; i < net->n_layers; i++) {
        if (net->layers[i].kind->free && net->layers[i].own) net->layers[i].kind->free(&net->layers[i]);
        dis__free(net->layers[i].own);
    }
    for (size_t i = 0; i < net->n_ints; i++) dis__free(net->ints[i].mirror);
    dis__free(net->slots);
    dis__free(net->ints);
    dis__free(net->params);
    dis__free(net->layers);
    dis__free(net->heads);
    dis__free(net->pieces);
    dis__feeds_free(net);
    void *const memory[] = {net->param_arena, net->grad_arena, net->state_arena, net->work_arena,
                            net->int_arena,   net->squares,    net->scalars,     net->params_copy_arena};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) net->device->release(net->session, memory[i]);
    net->device->close(net->session);
    dis__free(net->host_head_scalars);
    dis__free(net->key);
    dis__free(net);
}

void dis__net_release_training(dis__net *net)
{
    dis__feeds_free(net);
    char **const memory[] = {&net->grad_arena, &net->state_arena, &net->work_arena};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        net->device->release(net->session, *memory[i]);
        *memory[i] = NULL;
    }
}

int dis__net_build_error(dis__net *net, dis_status status, const char *format, ...)
{
    if (net->status != DIS_OK) return DIS_NONE;
    va_list args;
    va_start(args, format);
    vsnprintf(net->message, sizeof net->message, format, args);
    va_end(args);
    net->status = status;
    return DIS_NONE;
}

/* Reserves room for one more; false after a failure, which is recorded. */
static bool room(dis__net *net, void *list, size_t *capacity, size_t used, size_t size)
{
    if (net->status != DIS_OK) return false;
    const dis_status status = dis__reserve(list, capacity, used, used + 1, size);
    if (status != DIS_OK) dis__net_build_error(net, status, "%s", dis_last_error());
    return status == DIS_OK;
}

int dis__net_axis(dis__net *net, size_t max)
{
    if (net->status != DIS_OK) return DIS_NONE;
    if (net->n_axes == DIS_NET_AXES)
        return dis__net_build_error(net, DIS_EBUG, "a network of more than %d axes", DIS_NET_AXES);
    if (max == 0 || max > INT32_MAX)
        return dis__net_build_error(net, DIS_EUSAGE, "a network for batches of %zu rows or positions", max);
    net->axis_max[net->n_axes] = net->axis[net->n_axes] = net->axis_given[net->n_axes] = max;
    net->axis_round[net->n_axes] = 1;
    return (int)net->n_axes++;
}

int dis__net_axis_rounded(dis__net *net, size_t max, size_t to)
{
    const int axis = dis__net_axis(net, max);
    if (axis == DIS_NONE) return DIS_NONE;
    const size_t round = net->device->round > 1 ? to : 1;
    net->axis_round[axis] = round;
    net->axis_max[axis] = net->axis[axis] = (max + round - 1) / round * round;
    return axis;
}

int dis__net_axis_packed(dis__net *net, size_t max)
{
    return dis__net_axis_rounded(net, max, net->device->round);
}

static bool is_axis(const dis__net *net, int axis)
{
    return axis >= 0 && (size_t)axis < net->n_axes;
}

static int new_slot(dis__net *net, const dis__shape *shape, int producer)
{
    if (!room(net, &net->slots, &net->slots_room, net->n_slots, sizeof *net->slots)) return DIS_NONE;
    if (!is_axis(net, shape->rows) || (shape->time != DIS_NONE && !is_axis(net, shape->time)) || !shape->height ||
        !shape->width || !shape->channels)
        return dis__net_build_error(net, DIS_EUSAGE, "a value of a network with a size of 0, or over no axis");
    net->slots[net->n_slots] = (dis__slot){.shape = *shape,
                                           .producer = producer,
                                           .last_use = DIS_NONE,
                                           .piece = SIZE_MAX,
                                           .grad_piece = SIZE_MAX,
                                           .recompute_piece = SIZE_MAX};
    return (int)net->n_slots++;
}

int dis__net_reals(dis__net *net, const char *name, dis__shape shape)
{
    const int slot = new_slot(net, &shape, DIS_NONE);
    if (slot != DIS_NONE) net->slots[slot].name = name;
    return slot;
}

int dis__net_ints(dis__net *net, const char *name, int rows, int time, size_t per)
{
    if (!room(net, &net->ints, &net->ints_room, net->n_ints, sizeof *net->ints)) return DIS_NONE;
    if (!is_axis(net, rows) || (time != DIS_NONE && !is_axis(net, time)) || per == 0)
        return dis__net_build_error(net, DIS_EUSAGE, "%s: an input with a size of 0, or over no axis", name);
    dis__ints *ints = &net->ints[net->n_ints];
    *ints = (dis__ints){.rows = rows, .time = time, .per = per};
    snprintf(ints->name, sizeof ints->name, "%s", name);
    return (int)net->n_ints++;
}

int dis__net_find_reals(const dis__net *net, const char *name)
{
    for (size_t i = 0; i < net->n_slots; i++)
        if (net->slots[i].name && strcmp(net->slots[i].name, name) == 0) return (int)i;
    return DIS_NONE;
}

int dis__net_find_ints(const dis__net *net, const char *name)
{
    for (size_t i = 0; i < net->n_ints; i++)
        if (strcmp(net->ints[i].name, name) == 0) return (int)i;
    return DIS_NONE;
}

bool dis__same_shape(dis__net *net, int x, int y, const char *layer)
{
    const dis__shape *a = dis__shape_of(net, x), *b = dis__shape_of(net, y);
    if (a->rows != b->rows || a->time != b->time || a->height != b->height || a->width != b->width ||
        a->channels != b->channels)
        dis__net_build_error(net, DIS_EUSAGE, "%s: values of different shapes", layer);
    return net->status == DIS_OK;
}

bool dis__ints_fit(dis__net *net, int ints, const char *what, const char *layer)
{
    if (net->status == DIS_OK && (ints < 0 || (size_t)ints >= net->n_ints))
        dis__net_build_error(net, DIS_EBUG, "%s: no input with its %s", layer, what);
    return net->status == DIS_OK;
}

dis__layer *dis__net_layer(dis__net *net, const dis__layer_kind *kind, const char *name, const int *in, int n,
                           const dis__shape *shape)
{
    if (!room(net, &net->layers, &net->layers_room, net->n_layers, sizeof *net->layers)) return NULL;
    if (n > DIS_LAYER_INS || strlen(name) >= DIS_NET_NAME / 2) {
        dis__net_build_error(net, DIS_EUSAGE, "%s: too many inputs, or too long a name", name);
        return NULL;
    }
    dis__layer *layer = &net->layers[net->n_layers];
    *layer = (dis__layer){.kind = kind, .index = (int)net->n_layers, .n_in = n, .out = DIS_NONE, .head = DIS_NONE};
    snprintf(layer->name, sizeof layer->name, "%s", name);
    for (int i = 0; i < DIS_LAYER_INTS; i++) layer->ints[i] = DIS_NONE;
    for (int i = 0; i < n; i++) {
        if (in[i] != DIS_NONE && (in[i] < 0 || (size_t)in[i] >= net->n_slots)) {
            dis__net_build_error(net, DIS_EBUG, "%s: there is no value %d", name, in[i]);
            return NULL;
        }
        layer->in[i] = in[i];
    }
    if (shape && (layer->out = new_slot(net, shape, layer->index)) == DIS_NONE) return NULL;
    const dis_status status = dis__alloc_zeroed(&layer->own, 1, kind->own);
    if (status != DIS_OK) {
        dis__net_build_error(net, status, "%s", dis_last_error());
        return NULL;
    }
    for (int i = 0; i < n; i++)
        if (in[i] != DIS_NONE) net->slots[in[i]].last_use = layer->index;
    net->n_layers++;
    return layer;
}

int dis__net_head(dis__net *net, dis__layer *layer)
{
    if (!room(net, &net->heads, &net->heads_room, net->n_heads, sizeof *net->heads)) return DIS_NONE;
    net->heads[net->n_heads] = layer->index;
    layer->head = (int)net->n_heads;
    return (int)net->n_heads++;
}

void dis__layer_param(dis__net *net, dis__layer *layer, const char *what, size_t n_dims, const size_t *dim,
                      dis__start start, double spread)
{
    if (!room(net, &net->params, &net->params_room, net->n_params, sizeof *net->params)) return;
    if (layer->n_params == DIS_LAYER_PARAMS) {
        dis__net_build_error(net, DIS_EBUG, "%s: too many parameters", layer->name);
        return;
    }
    dis__param *p = &net->params[net->n_params];
    *p = (dis__param){.start = start, .spread = spread, .decays = n_dims > 1, .rate = 1};
    snprintf(p->info.name, sizeof p->info.name, "%.*s.%.*s", DIS_NET_NAME / 2, layer->name, DIS_NET_NAME / 2 - 2, what);
    if (dis__net_find_param(net, p->info.name) != SIZE_MAX) {
        dis__net_build_error(net, DIS_EUSAGE, "two parameters called %s", p->info.name);
        return;
    }
    p->info.n = 1;
    p->info.n_dims = n_dims;
    for (size_t d = 0; d < n_dims; d++) {
        p->info.dim[d] = dim[d];
        p->info.n = dis__saturating_size(p->info.n, dim[d], 0);
    }
    p->info.trained = true;
    if (p->info.n > SIZE_MAX / 64) {
        dis__net_build_error(net, DIS_ELIMIT, "%s: too large for any machine", p->info.name);
        return;
    }
    layer->param[layer->n_params++] = net->n_params++;
}

/* ---- groups of parameters ---- */

#define EACH_PARAM(net, prefix, p)                                                \
    for (dis__param *p = (net)->params; p < (net)->params + (net)->n_params; p++) \
        if (strncmp(p->info.name, prefix, strlen(prefix)) == 0)

void dis__net_freeze(dis__net *net, const char *prefix)
{
    EACH_PARAM(net, prefix, p) p->info.trained = false;
}

void dis__net_rate_factor(dis__net *net, const char *prefix, double factor)
{
    EACH_PARAM(net, prefix, p) p->rate = factor;
}

void dis__net_set_decay(dis__net *net, const char *prefix, bool decays)
{
    EACH_PARAM(net, prefix, p) p->decays = decays;
}

void dis__net_init_normal(dis__net *net, const char *prefix, double sd)
{
    EACH_PARAM(net, prefix, p)
    {
        if (p->info.n_dims > 1 && (p->start == DIS_START_UNIFORM || p->start == DIS_START_NORMAL)) {
            p->start = DIS_START_NORMAL;
            p->spread = sd;
        } else if (p->start == DIS_START_UNIFORM) {
            p->start = DIS_START_ZERO;
        }
    }
}

void dis__net_init_like(dis__net *net, const char *name, const char *like)
{
    const size_t n = strlen(name);
    EACH_PARAM(net, name, p)
    {
        char other[2 * DIS_NET_NAME];
        if (p->info.name[n] != '.') continue;
        snprintf(other, sizeof other, "%s%s", like, p->info.name + n);
        const size_t at = dis__net_find_param(net, other);
        if (at == SIZE_MAX || net->params[at].info.n != p->info.n)
            dis__net_build_error(net, DIS_EBUG, "no %s for %s to start like", other, p->info.name);
        else
            p->start_like = at + 1;
    }
}

void dis__net_zero_params(dis__net *net, const char *prefix)
{
    EACH_PARAM(net, prefix, p) p->start = DIS_START_ZERO;
}

/* ---- parameters, from outside ---- */

size_t dis__net_n_params(const dis__net *net)
{
    return net->n_params;
}

const dis__param_info *dis__net_param(const dis__net *net, size_t param)
{
    return &net->params[param].info;
}

size_t dis__net_find_param(const dis__net *net, const char *name)
{
    for (size_t i = 0; i < net->n_params; i++)
        if (strcmp(net->params[i].info.name, name) == 0) return i;
    return SIZE_MAX;
}

size_t dis__net_n_parameters(const dis__net *net)
{
    size_t n = 0;
    for (size_t i = 0; i < net->n_params; i++)
        if (net->params[i].info.trained) n += net->params[i].info.n;
    return n;
}
