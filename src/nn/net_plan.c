/* Planning: every size at the axes' maxima, then one arena each for parameters, gradients, optimiser state and
 * activations.
 *
 * A pass over L layers has 2 L moments. A value is alive from its forward to the last backward that reads it (forward
 * only: to its last use), or to its last use and again from the backward of that on, if its layer makes it again there;
 * the gradient of a value from the backward of its last user to its own backward. Pieces are laid out by
 * size, largest first, each at the lowest position that is free while it is alive: O(pieces^2), within a few percent of
 * the largest sum of pieces alive at once. */
#include "core/random/random.h"
#include "nn/net_internal.h"
#include <stdlib.h>

enum { ALIGN = 64, NUMBERS = 16 }; /* pieces in bytes, parameters in numbers */

dis__plan_options dis__plan_options_default(void)
{
    return (dis__plan_options){.size = sizeof(dis__plan_options),
                               .training = true,
                               .optimizer = dis__optimizer_options_default()};
}

static size_t aligned(size_t n, size_t to)
{
    return n > SIZE_MAX - to ? SIZE_MAX : (n + to - 1) / to * to;
}

static size_t axis_max(const dis__net *net, int axis)
{
    return axis == DIS_NONE ? 1 : net->axis_max[axis];
}

size_t dis__max_rows(const dis__net *net, int value)
{
    const dis__shape *s = dis__shape_of(net, value);
    const size_t rows = dis__saturating_size(axis_max(net, s->rows), axis_max(net, s->time), 0);
    return dis__saturating_size(dis__saturating_size(rows, s->height, 0), s->width, 0);
}

static dis_status new_piece(dis__net *net, size_t bytes, size_t from, size_t to, size_t *piece)
{
    DIS_TRY(dis__reserve(&net->pieces, &net->pieces_room, net->n_pieces, net->n_pieces + 1, sizeof *net->pieces));
    const size_t lag = net->training_plan ? net->device->lag : 0;
    net->pieces[net->n_pieces] = (dis__piece){.bytes = aligned(bytes, ALIGN), .from = from, .to = to + lag};
    *piece = net->n_pieces++;
    return DIS_OK;
}

static size_t backward_moment(const dis__net *net, int layer)
{
    return layer < 0 ? 2 * net->n_layers : 2 * net->n_layers - 1 - (size_t)layer;
}

dis_status dis__layer_work(dis__net *net, dis__layer *layer, size_t bytes, dis__work_life life)
{
    if (layer->n_works == DIS_LAYER_WORKS) return dis__fail(DIS_EBUG, "%s: too much scratch memory", layer->name);
    const size_t back = backward_moment(net, layer->index);
    const bool early = life == DIS_WORK_BATCH || life == DIS_WORK_LASTING, stays = early || life == DIS_WORK_RESULT;
    const size_t from = life == DIS_WORK_BACKWARD ? back : early || life == DIS_WORK_AHEAD ? 0 : (size_t)layer->index;
    const size_t to = stays ? 2 * net->n_layers : net->training_plan ? back : (size_t)layer->index;
    if (life == DIS_WORK_BACKWARD && !net->training_plan) bytes = 0;
    return new_piece(net, bytes, from < to ? from : to, to, &layer->work_piece[layer->n_works++]);
}

size_t dis__layer_runs(dis__net *net, dis__op op, const void *args)
{
    const size_t bytes = net->device->plan(net->session, op, args);
    if (bytes == SIZE_MAX) net->work_bytes = SIZE_MAX;
    return bytes;
}

/* Which gradients are needed: those of values that depend on trained parameters. */
static void find_wanted(dis__net *net)
{
    for (size_t i = 0; i < net->n_layers; i++) {
        const dis__layer *layer = &net->layers[i];
        bool wants = false;
        for (size_t p = 0; p < layer->n_params; p++) wants |= net->params[layer->param[p]].info.trained;
        for (int v = 0; v < layer->n_in; v++) wants |= layer->in[v] != DIS_NONE && net->slots[layer->in[v]].wants_grad;
        if (layer->out != DIS_NONE) net->slots[layer->out].wants_grad = wants && net->training_plan;
    }
}

static void find_passing(dis__net *net)
{
    for (size_t i = 0; i < net->n_layers; i++) {
        dis__layer *layer = &net->layers[i];
        layer->passes = !net->training_plan && layer->kind->passes && layer->kind->passes(net, layer);
    }
}

/* Layers without trained parameters at or below them have no backward. */
static bool reads(const dis__net *net, const dis__layer *layer, int value)
{
    if (layer->out != DIS_NONE && !net->slots[layer->out].wants_grad) return false;
    return !layer->kind->reads || layer->kind->reads(net, layer, value);
}

/* The last moment at which backward reads a value; 0: never. */
static size_t read_until(const dis__net *net, int value)
{
    const int producer = net->slots[value].producer;
    size_t until =
        producer == DIS_NONE || reads(net, &net->layers[producer], value) ? backward_moment(net, producer) : 0;
    for (size_t i = 0; i < net->n_layers; i++) {
        const dis__layer *layer = &net->layers[i];
        for (int v = 0; v < layer->n_in; v++)
            if (layer->in[v] == value && reads(net, layer, value) && backward_moment(net, layer->index) > until)
                until = backward_moment(net, layer->index);
    }
    return until;
}

/* Only users of the value read it in backward, and its layer can recompute it. */
static bool recomputed(const dis__net *net, const dis__slot *s)
{
    const dis__layer *layer = s->producer == DIS_NONE ? NULL : &net->layers[s->producer];
    return layer && s->last_use != DIS_NONE && net->device->shares && layer->kind->recomputes &&
           layer->kind->recomputes(layer) && !reads(net, layer, layer->out);
}

static dis_status plan_saved(dis__net *net, dis__slot *s, size_t bytes, size_t from, size_t last)
{
    const size_t until = net->training_plan ? read_until(net, (int)(s - net->slots)) : 0;
    if (until <= last) return new_piece(net, bytes, from, last, &s->piece);
    if (!recomputed(net, s)) return new_piece(net, bytes, from, until, &s->piece);
    DIS_TRY(new_piece(net, bytes, from, last, &s->piece));
    return new_piece(net, bytes, backward_moment(net, s->last_use), until, &s->recompute_piece);
}

static dis_status plan_values(dis__net *net)
{
    for (size_t i = 0; i < net->n_slots; i++) {
        dis__slot *s = &net->slots[i];
        const size_t bytes =
            dis__saturating_size(dis__saturating_size(dis__max_rows(net, (int)i), s->shape.channels, 0),
                                 dis__number_bytes(net, DIS_ROLE_VALUE), 0);
        const size_t from = s->producer == DIS_NONE ? 0 : (size_t)s->producer, back = backward_moment(net, s->producer);
        /* Inputs, and values that only the caller may read, stay alive to the end. */
        const bool stays = s->producer == DIS_NONE || s->last_use == DIS_NONE;
        const size_t last = stays ? 2 * net->n_layers : (size_t)s->last_use;
        const dis__layer *layer = s->producer == DIS_NONE ? NULL : &net->layers[s->producer];
        if (layer && layer->passes) {
            s->piece = net->slots[layer->in[0]].piece;
            dis__piece *piece = &net->pieces[s->piece];
            if (piece->to < last) piece->to = last;
        } else {
            DIS_TRY(plan_saved(net, s, bytes, from, last));
        }
        if (s->wants_grad && s->last_use != DIS_NONE)
            DIS_TRY(new_piece(net, bytes, backward_moment(net, s->last_use), back, &s->grad_piece));
        else
            s->wants_grad = false;
    }
    return DIS_OK;
}

static int by_size(const void *a, const void *b)
{
    const dis__piece *x = *(dis__piece *const *)a, *y = *(dis__piece *const *)b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

static int by_place(const void *a, const void *b)
{
    const dis__piece *x = *(dis__piece *const *)a, *y = *(dis__piece *const *)b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static dis_status place_pieces(dis__net *net)
{
    dis__piece **order, **alive;
    DIS_TRY(dis__alloc_array(&order, net->n_pieces * 2, sizeof *order));
    alive = order + net->n_pieces;
    for (size_t i = 0; i < net->n_pieces; i++) order[i] = &net->pieces[i];
    qsort(order, net->n_pieces, sizeof *order, by_size);
    for (size_t i = 0; i < net->n_pieces; i++) {
        dis__piece *p = order[i];
        size_t n = 0, at = 0;
        for (size_t j = 0; j < i; j++)
            if (order[j]->from <= p->to && p->from <= order[j]->to) alive[n++] = order[j];
        qsort(alive, n, sizeof *alive, by_place);
        for (size_t j = 0; j < n; j++) {
            if (dis__saturating_size(1, at, p->bytes) <= alive[j]->at) break;
            const size_t end = dis__saturating_size(1, alive[j]->at, alive[j]->bytes);
            if (end > at) at = end;
        }
        p->at = at;
        const size_t end = dis__saturating_size(1, at, p->bytes);
        if (end > net->work_bytes) net->work_bytes = end;
    }
    dis__free(order);
    return DIS_OK;
}

/* Trained ones come first: only they have gradients and optimiser state. */
static void plan_params(dis__net *net)
{
    net->n_numbers = 0;
    for (int frozen = 0; frozen < 2; frozen++) {
        for (size_t i = 0; i < net->n_params; i++) {
            if (net->params[i].statistic) net->params[i].info.trained = false;
            if (net->params[i].info.trained == frozen) continue;
            net->params[i].at = net->n_numbers;
            net->n_numbers = aligned(dis__saturating_size(1, net->n_numbers, net->params[i].info.n), NUMBERS);
        }
        if (!frozen) net->n_trained = net->n_numbers;
    }
    for (size_t i = 0, below = 0; i < net->n_layers; i++) {
        dis__layer *layer = &net->layers[i];
        layer->below = below;
        for (size_t k = 0; k < layer->n_params; k++) {
            const dis__param *p = &net->params[layer->param[k]];
            if (p->info.trained && p->at + p->info.n > below) below = p->at + p->info.n;
        }
    }
}

static void plan_ints(dis__net *net)
{
    net->int_count = 0;
    for (size_t i = 0; i < net->n_ints; i++) {
        dis__ints *s = &net->ints[i];
        s->at = net->int_count;
        const size_t n =
            dis__saturating_size(dis__saturating_size(axis_max(net, s->rows), axis_max(net, s->time), 0), s->per, 0);
        net->int_count = dis__saturating_size(1, net->int_count, n);
    }
}

/* Every layer's work memory, then all pieces; only lists are allocated here. */
static dis_status make_plan(dis__net *net)
{
    plan_params(net);
    plan_ints(net);
    find_wanted(net);
    find_passing(net);
    DIS_TRY(plan_values(net));
    for (size_t i = 0; i < net->n_layers; i++)
        if (net->layers[i].kind->plan) DIS_TRY(net->layers[i].kind->plan(net, &net->layers[i]));
    return place_pieces(net);
}

static size_t scalar_bytes(const dis__net *net)
{
    return dis__saturating_size(net->n_heads, sizeof(dis__head_scalars), sizeof(dis__net_scalars));
}

size_t dis__net_bytes(const dis__net *net)
{
    const size_t arenas = net->training_plan ? 1 + (size_t)net->n_states : 0;
    const size_t numbers = dis__saturating_size(net->n_trained, arenas, net->n_numbers);
    size_t bytes = dis__saturating_size(numbers, dis__number_bytes(net, DIS_ROLE_PARAM), net->work_bytes);
    bytes = dis__saturating_size(net->int_count, sizeof *net->int_arena, bytes);
    return dis__saturating_size(1, net->device->own_bytes(net->session, net->ctx), bytes);
}

static dis_status allocate_part(dis__net *net, dis__memory what, void *out, size_t n, size_t size, bool zeroed)
{
    return net->device->allocate(net->session, what, dis__saturating_size(n, size, 0), zeroed, out);
}

/* Host copies of a batch. */
static dis_status allocate_mirrors(dis__net *net)
{
    for (size_t i = 0; i < net->n_ints; i++) {
        dis__ints *s = &net->ints[i];
        const size_t n =
            dis__saturating_size(dis__saturating_size(axis_max(net, s->rows), axis_max(net, s->time), 0), s->per, 0);
        if (s->mirrored) DIS_TRY(dis__alloc_zeroed(&s->mirror, n, sizeof *s->mirror));
    }
    const size_t feeds = net->n_slots + net->n_ints + DIS_HEAD_FEEDS * net->n_heads;
    const size_t max_keys =
        dis__saturating_size(net->n_layers, DIS_LAYER_KEYS,
                             dis__saturating_size(feeds, DIS_FEED_KEYS, DIS_NET_AXES + 2 + net->n_heads));
    DIS_TRY(dis__alloc_zeroed(&net->key, max_keys, sizeof *net->key));
    return dis__alloc_zeroed(&net->host_head_scalars, net->n_heads, sizeof *net->host_head_scalars);
}

static dis_status allocate_memory(dis__net *net)
{
    const size_t real = dis__number_bytes(net, DIS_ROLE_PARAM);
    DIS_TRY(allocate_part(net, DIS_MEMORY_PARAMS, &net->param_arena, net->n_numbers, real, true));
    net->stale = net->training_plan;
    if (net->training_plan) {
        DIS_TRY(allocate_part(net, DIS_MEMORY_GRADS, &net->grad_arena, net->n_trained, real, true));
        const size_t n_states = dis__saturating_size(net->n_trained, (size_t)net->n_states, 0);
        DIS_TRY(allocate_part(net, DIS_MEMORY_STATE, &net->state_arena, n_states, real, true));
        const size_t n_squares = net->n_trained / DIS_SQUARES_BLOCK + 1;
        DIS_TRY(allocate_part(net, DIS_MEMORY_OTHER, &net->squares, n_squares, sizeof *net->squares, true));
    }
    DIS_TRY(allocate_part(net, DIS_MEMORY_OTHER, &net->work_arena, net->work_bytes, 1, false));
    DIS_TRY(allocate_part(net, DIS_MEMORY_OTHER, &net->int_arena, net->int_count, sizeof *net->int_arena, true));
    DIS_TRY(allocate_part(net, DIS_MEMORY_OTHER, &net->scalars, scalar_bytes(net), 1, true));
    net->head_scalars = (dis__head_scalars *)(net->scalars + 1);
    DIS_TRY(allocate_mirrors(net));
    return net->device->begin(net->session, net->ctx);
}

bool dis__net_set_context(dis__net *net, dis_context *ctx)
{
    if (!net->device->serve(net->session, ctx)) return false;
    net->ctx = ctx;
    return true;
}

static void set_pointers(dis__net *net)
{
    for (size_t i = 0; i < net->n_slots; i++) {
        dis__slot *s = &net->slots[i];
        s->data = net->work_arena + net->pieces[s->piece].at;
        s->grad = s->wants_grad ? net->work_arena + net->pieces[s->grad_piece].at : NULL;
    }
    for (size_t i = 0; i < net->n_layers; i++)
        for (size_t w = 0; w < net->layers[i].n_works; w++)
            net->layers[i].work[w] = net->work_arena + net->pieces[net->layers[i].work_piece[w]].at;
    for (size_t i = 0; i < net->n_ints; i++) net->ints[i].data = net->int_arena + net->ints[i].at;
}

static uint64_t name_key(const char *name)
{
    uint32_t h = 2166136261u; /* FNV-1a: a parameter's initial value depends on its name, not on the rest of the
                               * network */
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 16777619u;
    return (uint64_t)h << 32 | DIS_STREAM_WEIGHTS;
}

/* Gradients and the optimiser's state are zeroed; activations are not: every pass writes what it reads. */
static dis_status start_params(dis__net *net)
{
    for (size_t i = 0; !net->unset && i < net->n_params; i++) {
        const dis__param *p = &net->params[i];
        const dis__start_args args = {.kind = p->start,
                                      .seed = net->seed,
                                      .stream = name_key(p->start_like ? net->params[p->start_like - 1].info.name
                                                                       : p->info.name),
                                      .spread = p->spread,
                                      .n = p->info.n,
                                      .side = p->info.n_dims ? p->info.dim[p->info.n_dims - 1] : 1,
                                      .y = dis__param_at(net, net->param_arena, p->at)};
        if (p->start != DIS_START_ZERO) DIS_TRY(dis__op_run(net, DIS_OP_start, &args));
    }
    return DIS_OK;
}

dis_status dis__net_plan(dis__net *net, dis_context *ctx, const dis__plan_options *options)
{
    if (net->status != DIS_OK) return dis__fail(net->status, "%s", net->message);
    if (net->planned) return dis__fail(DIS_EBUG, "a network is planned once");
    if (net->n_layers == 0) return dis__fail(DIS_EUSAGE, "a network without layers");
    const dis__plan_options o = options ? *options : dis__plan_options_default();
    net->planned = true; /* a plan that failed cannot be tried again */
    net->ctx = ctx;
    net->training_plan = o.training;
    net->unset = o.unset;
    net->optimizer = o.optimizer;
    net->n_states = o.optimizer.kind != DIS_OPTIMIZER_SGD ? 2 : o.optimizer.momentum != 0 ? 1 : 0;
    DIS_TRY(make_plan(net));
    DIS_TRY(net->device->fits(net->session, ctx, dis__net_bytes(net), "this net, with its largest batch,"));
    DIS_TRY(allocate_memory(net));
    set_pointers(net);
    return start_params(net);
}
