/* Running a network: forward, backward, one step of the optimiser, losses out.
 *
 * What differs from step to step is written to the network's scalars in device memory before the first operation; what
 * is run is then a function of the sizes of the batch and of which heads take part, so that a device can record and
 * replay it. */
#include "nn/net_internal.h"
#include <math.h>
#include <string.h>

/* ---- operations ---- */

dis_status dis__op_run(dis__net *net, dis__op op, const void *args)
{
    return net->device->run(net->session, op, args);
}

dis_status dis__product(dis__net *net, const dis__product_args *args)
{
    return dis__op_run(net, DIS_OP_product, args);
}

dis_status dis__zero(dis__net *net, void *numbers, size_t bytes)
{
    return bytes ? net->device->zero(net->session, numbers, bytes) : DIS_OK;
}

/* ---- scalars ---- */

double dis__head_norm(const dis__head *head)
{
    if (!head->has_targets) return 0;
    const double norm = head->norm > 0 ? head->norm : head->counted;
    return norm > 0 ? norm : 0;
}

static const dis__head *head_of(const dis__net *net, size_t head)
{
    return net->layers[net->heads[head]].own;
}

static void set_step(dis__net *net, double rate)
{
    const dis__optimizer_options *o = &net->optimizer;
    const double step = (double)(net->steps + 1);
    net->now.step = (dis__step_scalars){.rate = rate,
                                        .correct1 = 1 - pow(o->beta1, step),
                                        .correct2 = 1 - pow(o->beta2, step),
                                        .scale = 1};
}

static dis_status write_step(dis__net *net)
{
    return dis__copy_in(net, &net->scalars->step, &net->now.step, sizeof net->now.step);
}

/* Resets step, pass and heads; sums of losses stay. */
static dis_status write_scalars(dis__net *net)
{
    for (size_t h = 0; h < net->n_heads; h++) {
        const dis__head *head = head_of(net, h);
        const double norm = dis__head_norm(head);
        net->host_head_scalars[h] =
            (dis__head_scalars){.norm = norm, .weight = head->weight, .scale = norm > 0 ? head->weight / norm : 0};
    }
    net->now.pass = (double)net->pass;
    DIS_TRY(dis__copy_in(net, net->scalars, &net->now, offsetof(dis__net_scalars, total)));
    return dis__copy_in(net, net->head_scalars, net->host_head_scalars, net->n_heads * sizeof *net->host_head_scalars);
}

/* ---- losses ---- */

dis_status dis__head_sum(dis__net *net, const dis__layer *layer, const void *row_loss, size_t n)
{
    const dis__head_loss_args args = {.n = n, .row_loss = row_loss, .head = dis__scalars_of(net, layer)};
    return dis__head_norm(layer->own) > 0 ? dis__op_run(net, DIS_OP_head_loss, &args) : DIS_OK;
}

static bool any_head(const dis__net *net)
{
    for (size_t h = 0; h < net->n_heads; h++)
        if (dis__head_norm(head_of(net, h)) > 0) return true;
    return false;
}

static dis_status sum_heads(dis__net *net)
{
    const dis__total_loss_args args = {.n_heads = net->n_heads,
                                       .head = net->head_scalars,
                                       .total = &net->scalars->total,
                                       .sum = net->training ? &net->scalars->sum : NULL};
    return any_head(net) ? dis__op_run(net, DIS_OP_total_loss, &args) : DIS_OK;
}

dis_status dis__net_get_loss(const dis__net *net, double *loss)
{
    *loss = 0;
    if (!any_head(net)) return DIS_OK;
    return net->device->copy_out(net->session, loss, &net->scalars->total, sizeof *loss);
}

double dis__net_loss(const dis__net *net)
{
    double loss;
    return dis__net_get_loss(net, &loss) == DIS_OK ? loss : NAN;
}

double dis__head_loss(const dis__net *net, int head)
{
    double loss;
    if (!(dis__head_norm(head_of(net, (size_t)head)) > 0)) return 0;
    const dis_status status = net->device->copy_out(net->session, &loss, &net->head_scalars[head].loss, sizeof loss);
    return status == DIS_OK ? loss : NAN;
}

dis_status dis__net_get_loss_sum(const dis__net *net, double *sum)
{
    return net->device->copy_out(net->session, sum, &net->scalars->sum, sizeof *sum);
}

dis_status dis__net_set_loss_sum(dis__net *net, double sum)
{
    return dis__copy_in(net, &net->scalars->sum, &sum, sizeof sum);
}

size_t dis__head_rows(const dis__net *net, int head)
{
    return dis__net_rows(net, head_of(net, (size_t)head)->logits);
}

dis_status dis__head_get_rows(const dis__net *net, int head, size_t n_rows, double *q)
{
    const dis__head *h = head_of(net, (size_t)head);
    return dis__get_doubles(net, DIS_ROLE_STAT, h->q, q, n_rows * h->n_classes);
}

dis_status dis__head_get(const dis__net *net, int head, double *q)
{
    return dis__head_get_rows(net, head, dis__head_rows(net, head), q);
}

void dis__head_set_norm(dis__net *net, int head, double norm)
{
    dis__head *h = net->layers[net->heads[head]].own;
    h->norm = norm;
}

void dis__head_set_weight(dis__net *net, int head, double weight)
{
    dis__head *h = net->layers[net->heads[head]].own;
    h->weight = weight;
}

/* ---- passes ---- */

void dis__key_add(dis__net *net, uint64_t x)
{
    net->key[net->n_key++] = x;
}

/* The host's work before the operations of a batch; the key consists of everything they depend on. */
static dis_status prepare(dis__net *net, bool update)
{
    net->n_key = 0;
    for (size_t a = 0; a < net->n_axes; a++) dis__key_add(net, net->axis[a]);
    for (size_t h = 0; h < net->n_heads; h++) {
        const dis__head *head = head_of(net, h);
        const bool counts = dis__head_norm(head) > 0;
        dis__key_add(net, (uint64_t)net->layers[net->heads[h]].back | (uint64_t)head->has_targets << 1 |
                              (uint64_t)counts << 2);
    }
    dis__key_add(net, (uint64_t)update | (uint64_t)net->stale << 1 | (uint64_t)net->training << 2 |
                          (uint64_t)(net->prepared && !net->training_plan) << 3);
    dis__feeds_key(net);
    for (size_t i = 0; i < net->n_layers; i++)
        if (net->layers[i].kind->prepare) DIS_TRY(net->layers[i].kind->prepare(net, &net->layers[i]));
    return write_scalars(net);
}

/* Addresses of values that are recomputed for backward: those of forward, or of backward. */
static dis_status recompute(dis__net *net, const dis__layer *user)
{
    for (int v = 0; v < user->n_in; v++) {
        dis__slot *s = user->in[v] == DIS_NONE ? NULL : &net->slots[user->in[v]];
        if (!s || s->recompute_piece == SIZE_MAX || s->recomputed) continue;
        s->recomputed = true;
        s->data = net->work_arena + net->pieces[s->recompute_piece].at;
        dis__layer *layer = &net->layers[s->producer];
        DIS_TRY(layer->kind->recompute(net, layer));
    }
    return DIS_OK;
}

static void place_values(dis__net *net)
{
    for (size_t i = 0; i < net->n_slots; i++) {
        dis__slot *s = &net->slots[i];
        if (s->recomputed) s->data = net->work_arena + net->pieces[s->piece].at;
        s->recomputed = false;
    }
}

static dis_status run_forward(dis__net *net)
{
    place_values(net);
    DIS_TRY(dis__feeds_run(net));
    for (size_t i = 0; i < net->n_layers; i++) DIS_TRY(net->layers[i].kind->forward(net, &net->layers[i]));
    return sum_heads(net);
}

/* Runs operations as one step, which a device may record and replay. */
static dis_status run_recorded(dis__net *net, dis_status (*run)(dis__net *net, bool update), bool update)
{
    bool replayed = false, again;
    DIS_TRY(net->device->begin_step(net->session, net->key, net->n_key, &replayed));
    do {
        const dis_status status = replayed ? DIS_OK : run(net, update);
        const dis_status ended = net->device->end_step(net->session, &again);
        if (!again) DIS_TRY(status);
        if (!again) DIS_TRY(ended);
    } while (again);
    return DIS_OK;
}

static dis_status predict(dis__net *net, bool update)
{
    (void)update;
    return run_forward(net);
}

dis_status dis__net_forward(dis__net *net, bool training)
{
    net->training = training;
    if (training) net->pass++;
    DIS_TRY(prepare(net, false));
    DIS_TRY(training ? run_forward(net) : run_recorded(net, predict, false));
    net->prepared = true; /* not before: a recording may be lost */
    return DIS_OK;
}

static bool contributes(const dis__layer *layer)
{
    const dis__head *head = layer->head == DIS_NONE ? NULL : layer->own;
    return head && dis__head_norm(head) > 0 && head->weight != 0;
}

/* Whether the participating heads are those for which backward is planned. */
static bool same_heads(const dis__net *net)
{
    for (size_t h = 0; h < net->n_heads; h++) {
        const dis__layer *layer = &net->layers[net->heads[h]];
        if (layer->back != contributes(layer)) return false;
    }
    return true;
}

/* Which layers pass a gradient down, and which reader of a shared value comes first and stores. */
static void plan_backward(dis__net *net)
{
    for (size_t i = 0; i < net->n_slots; i++) net->slots[i].has_grad = false;
    for (size_t i = net->n_layers; i-- > 0;) {
        dis__layer *layer = &net->layers[i];
        const dis__slot *out = layer->out == DIS_NONE ? NULL : &net->slots[layer->out];
        layer->back = out ? out->wants_grad && out->has_grad : contributes(layer);
        for (int v = 0; layer->back && v < layer->n_in; v++) {
            if (layer->in[v] == DIS_NONE || !net->slots[layer->in[v]].wants_grad) continue;
            layer->adds[v] = net->slots[layer->in[v]].has_grad;
            net->slots[layer->in[v]].has_grad = true;
        }
    }
    net->back_planned = true;
}

static dis_status clear_stored(dis__net *net, const dis__layer *layer)
{
    for (size_t i = 0; i < layer->n_params; i++) {
        const dis__param *p = &net->params[layer->param[i]];
        void *grad = dis__param_grad(net, layer, i);
        if (grad && p->stored)
            DIS_TRY(net->device->zero(net->session, grad, p->info.n * dis__number_bytes(net, DIS_ROLE_PARAM)));
    }
    return DIS_OK;
}

dis_status dis__net_clear_stale(dis__net *net)
{
    for (size_t i = 0; net->stale && i < net->n_layers; i++) DIS_TRY(clear_stored(net, &net->layers[i]));
    net->stale = false;
    return DIS_OK;
}

/* Sums of squares of gradients from `from` on, as far as not computed yet. */
static dis_status add_squares(dis__net *net, size_t from, bool later)
{
    const dis__square_sums_args args = {.x = dis__param_at(net, net->grad_arena, from),
                                        .n = net->squared - from,
                                        .sums = net->squares + from / DIS_SQUARES_BLOCK,
                                        .later = later};
    net->squared = from;
    return args.n ? dis__op_run(net, DIS_OP_square_sums, &args) : DIS_OK;
}

/* After a layer's backward no one adds to the gradients above those that layers before it use: they are summed, some
 * 30th of them at a time. */
static dis_status add_squares_after(dis__net *net, const dis__layer *layer)
{
    const size_t many = net->n_trained / 32 + DIS_SQUARES_BLOCK;
    const size_t from = (layer->below + DIS_SQUARES_BLOCK - 1) / DIS_SQUARES_BLOCK * DIS_SQUARES_BLOCK;
    const bool owner = layer->n_params && net->params[layer->param[0]].stored; /* none of it depends on the next */
    return owner && from + many <= net->squared ? add_squares(net, from, true) : DIS_OK;
}

/* squares: gradients are final after their layer's backward, and their norm will be requested. */
static dis_status run_backward(dis__net *net, bool squares)
{
    net->squared = net->n_trained;
    for (size_t i = net->n_layers; i-- > 0;) {
        dis__layer *layer = &net->layers[i];
        if (layer->back) {
            DIS_TRY(recompute(net, layer));
            DIS_TRY(layer->kind->backward(net, layer));
        } else if (net->stale) {
            DIS_TRY(clear_stored(net, layer));
        }
        if (squares) DIS_TRY(add_squares_after(net, layer));
        if (net->device->layer_done) DIS_TRY(net->device->layer_done(net->session));
    }
    return DIS_OK;
}

dis_status dis__net_backward(dis__net *net)
{
    if (!net->training_plan) return dis__fail(DIS_EBUG, "backward in a network that was planned for forward only");
    net->once = false;
    if (!net->back_planned || !same_heads(net)) plan_backward(net);
    DIS_TRY(run_backward(net, false));
    net->stale = false;
    return DIS_OK;
}

/* ---- the optimiser ---- */

/* The norm of all gradients: blocks in parallel, added in order. */
static dis_status clip_gradients(dis__net *net)
{
    const dis__clip_args clip = {.sums = net->squares,
                                 .n = (net->n_trained + DIS_SQUARES_BLOCK - 1) / DIS_SQUARES_BLOCK,
                                 .max = net->optimizer.clip,
                                 .scale = &net->scalars->step.scale};
    if (!(net->optimizer.clip > 0)) return DIS_OK;
    DIS_TRY(add_squares(net, 0, false));
    return dis__op_run(net, DIS_OP_clip, &clip);
}

static bool decays(const dis__net *net, const dis__param *p)
{
    return net->optimizer.weight_decay != 0 && (p->decays || net->optimizer.decay_all);
}

/* Runs of neighbouring parameters that are treated alike are updated by one call; padding between them is 0 and stays
 * so. */
static dis_status run_update(dis__net *net)
{
    const dis__optimizer_options *o = &net->optimizer;
    dis__update_args args = {.kind = o->kind,
                             .step = &net->scalars->step,
                             .factor = 1,
                             .momentum = o->momentum,
                             .nesterov = o->nesterov,
                             .beta1 = o->beta1,
                             .beta2 = o->beta2,
                             .epsilon = o->epsilon};
    DIS_TRY(clip_gradients(net));
    for (size_t i = 0; i < net->n_params;) {
        const dis__param *p = &net->params[i];
        size_t j = i + 1;
        while (j < net->n_params && net->params[j].info.trained == p->info.trained &&
               decays(net, &net->params[j]) == decays(net, p) && net->params[j].rate == p->rate &&
               net->params[j].stored == p->stored)
            j++;
        if (p->info.trained) {
            args.n = net->params[j - 1].at + net->params[j - 1].info.n - p->at;
            args.factor = p->rate;
            args.stored = p->stored;
            args.decay = decays(net, p) ? o->weight_decay : 0;
            args.param = dis__param_at(net, net->param_arena, p->at);
            args.grad = dis__param_at(net, net->grad_arena, p->at);
            args.m = net->n_states > 0 ? dis__param_at(net, net->state_arena, p->at) : NULL;
            args.v = net->n_states > 1 ? dis__param_at(net, net->state_arena, net->n_trained + p->at) : NULL;
            DIS_TRY(dis__op_run(net, DIS_OP_update, &args));
        }
        i = j;
    }
    return DIS_OK;
}

dis_status dis__net_step(dis__net *net, double rate)
{
    set_step(net, rate);
    DIS_TRY(write_step(net));
    net->squared = net->n_trained;
    DIS_TRY(run_update(net));
    net->steps++;
    net->stale = true;
    return DIS_OK;
}

uint64_t dis__net_steps(const dis__net *net)
{
    return net->steps;
}

/* ---- a step of training ---- */

static dis_status run_step(dis__net *net, bool update)
{
    DIS_TRY(run_forward(net));
    DIS_TRY(run_backward(net, update && net->optimizer.clip > 0 && net->device->lag > 0));
    return update ? run_update(net) : DIS_OK;
}

dis_status dis__net_train(dis__net *net, double rate, bool update)
{
    if (!net->training_plan) return dis__fail(DIS_EBUG, "training a network that was planned for forward only");
    net->training = true;
    net->pass++;
    set_step(net, rate);
    if (!net->back_planned || !same_heads(net)) plan_backward(net);
    net->once = update && net->stale && !(net->optimizer.clip > 0);
    DIS_TRY(prepare(net, update));
    DIS_TRY(run_recorded(net, run_step, update));
    if (update) net->steps++;
    net->stale = update;
    return DIS_OK;
}
