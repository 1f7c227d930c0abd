/* Running a net: batches in, forward, backward, one step of the optimiser, results out. */
#include "nn/net_inside.h"
#include <math.h>
#include <string.h>

/* ---- operations ---- */

typedef struct {
    dis__op_function *op;
    const void *args;
    size_t n, n_jobs, scratch_bytes;
    char *scratch;
} call;

static dis_status run_job(void *arg, size_t j, int thread)
{
    const call *c = arg;
    c->op(c->args, dis__job_first(c->n, c->n_jobs, j), dis__job_first(c->n, c->n_jobs, j + 1),
          c->scratch + (size_t)thread * c->scratch_bytes);
    return DIS_OK;
}

static dis_status run_cut(dis__net *net, dis__op op, const void *args, size_t n, size_t work, size_t least)
{
    enum { GRAIN = 1 << 16, MOST = 64 };
    if (n == 0) return DIS_OK;
    size_t n_jobs = net->device->threads ? dis__n_jobs(dis__size(n, work, 0), GRAIN, MOST) : 1;
    if (n_jobs > (n + least - 1) / least) n_jobs = (n + least - 1) / least;
    if (n_jobs == 1) {
        net->op[op](args, 0, n, net->scratch);
        return DIS_OK;
    }
    call c = {.op = net->op[op],
              .args = args,
              .n = n,
              .n_jobs = n_jobs,
              .scratch = net->scratch,
              .scratch_bytes = net->scratch_bytes};
    return dis__run_jobs(net->ctx, n_jobs, run_job, &c);
}

dis_status dis__op_run(dis__net *net, dis__op op, const void *args, size_t n, size_t work)
{
    return run_cut(net, op, args, n, work, 1);
}

dis_status dis__op_run_columns(dis__net *net, dis__op op, const void *args, size_t n, size_t work)
{
    enum { COLUMNS = 128 };
    return run_cut(net, op, args, n, work, COLUMNS);
}

dis_status dis__product(dis__net *net, const dis__product_args *args)
{
    dis__product_args a = *args;
    const size_t tiles = dis__product_tiles(&a, dis_context_threads(net->ctx));
    if (tiles == 0) return DIS_OK;
    return dis__op_run(net, DIS_OP_product, &a, tiles, dis__size(a.m * a.n / tiles / 8, a.k ? a.k : 1, 1));
}

bool dis__grad_adds(dis__net *net, int value)
{
    const bool had = net->slots[value].has_grad;
    net->slots[value].has_grad = true;
    return had;
}

void dis__zero(const dis__net *net, void *numbers, size_t n)
{
    memset(numbers, 0, n * net->device->real);
}

void dis__set_number(const dis__net *net, void *numbers, size_t i, double x)
{
    if (net->device->real == sizeof(float))
        ((float *)numbers)[i] = (float)x;
    else
        ((double *)numbers)[i] = x;
}

double dis__sum_rows(const dis__net *net, const void *numbers, size_t n)
{
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total +=
            net->device->real == sizeof(float) ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
    return total;
}

/* ---- batches ---- */

void dis__net_resize(dis__net *net, int axis, size_t n)
{
    net->axis[axis] = n < net->axis_most[axis] ? n : net->axis_most[axis];
}

size_t dis__net_rows(const dis__net *net, int value)
{
    const dis__shape *s = dis__shape_of(net, value);
    return dis__axis_now(net, s->rows) * dis__axis_now(net, s->time) * s->height * s->width;
}

static void put_floats(const dis__net *net, void *to, const float *x, size_t n)
{
    if (net->device->real == sizeof(float))
        memcpy(to, x, n * sizeof *x);
    else
        for (size_t i = 0; i < n; i++) ((double *)to)[i] = (double)x[i];
}

static void put_doubles(const dis__net *net, void *to, const double *x, size_t n)
{
    if (net->device->real == sizeof(double))
        memcpy(to, x, n * sizeof *x);
    else
        for (size_t i = 0; i < n; i++) ((float *)to)[i] = (float)x[i];
}

static void get_doubles(const dis__net *net, const void *from, double *x, size_t n)
{
    if (net->device->real == sizeof(double))
        memcpy(x, from, n * sizeof *x);
    else
        for (size_t i = 0; i < n; i++) x[i] = (double)((const float *)from)[i];
}

static size_t n_numbers(const dis__net *net, int value)
{
    return dis__net_rows(net, value) * dis__shape_of(net, value)->channels;
}

void dis__net_put(dis__net *net, int value, const float *x)
{
    put_floats(net, dis__data(net, value), x, n_numbers(net, value));
}

void dis__net_put_row(dis__net *net, int value, size_t row, const float *x)
{
    const size_t n = dis__shape_of(net, value)->channels;
    put_floats(net, dis__after(net, dis__data(net, value), row * n), x, n);
}

void dis__net_put_exact(dis__net *net, int value, const double *x)
{
    put_doubles(net, dis__data(net, value), x, n_numbers(net, value));
}

void dis__net_put_ints(dis__net *net, int ints, const int32_t *x)
{
    const dis__ints *s = &net->ints[ints];
    memcpy(s->data, x, dis__axis_now(net, s->rows) * dis__axis_now(net, s->time) * s->per * sizeof *x);
}

void dis__net_get(const dis__net *net, int value, double *x)
{
    get_doubles(net, dis__data(net, value), x, n_numbers(net, value));
}

void dis__net_get_grad(const dis__net *net, int value, double *x)
{
    get_doubles(net, dis__grad(net, value), x, n_numbers(net, value));
}

/* ---- parameters ---- */

void dis__param_get(const dis__net *net, size_t param, double *x)
{
    const dis__param *p = &net->params[param];
    get_doubles(net, net->param_arena + p->at * net->device->real, x, p->info.n);
}

void dis__param_get_grad(const dis__net *net, size_t param, double *x)
{
    const dis__param *p = &net->params[param];
    get_doubles(net, net->grad_arena + p->at * net->device->real, x, p->info.n);
}

void dis__param_put(dis__net *net, size_t param, const double *x)
{
    net->prepared = false;
    const dis__param *p = &net->params[param];
    put_doubles(net, net->param_arena + p->at * net->device->real, x, p->info.n);
}

void dis__param_put_rows(dis__net *net, size_t param, size_t first, size_t n, const float *x)
{
    net->prepared = false;
    const dis__param *p = &net->params[param];
    const size_t row = p->info.n / (p->info.dim[0] ? p->info.dim[0] : 1);
    put_floats(net, net->param_arena + (p->at + first * row) * net->device->real, x, n * row);
}

/* ---- passes ---- */

dis_status dis__net_forward(dis__net *net, bool training)
{
    net->training = training;
    if (training) net->pass++;
    for (size_t i = 0; i < net->n_layers; i++) DIS_TRY(net->layers[i].kind->forward(net, &net->layers[i]));
    net->prepared = true;
    return DIS_OK;
}

dis_status dis__net_backward(dis__net *net)
{
    if (!net->training_plan) return dis__fail(DIS_EBUG, "backward in a net that was planned for forward only");
    for (size_t i = 0; i < net->n_slots; i++) net->slots[i].has_grad = false;
    for (size_t i = net->n_layers; i-- > 0;) {
        dis__layer *layer = &net->layers[i];
        if (layer->out == DIS_NONE || (net->slots[layer->out].wants_grad && net->slots[layer->out].has_grad))
            DIS_TRY(layer->kind->backward(net, layer));
    }
    return DIS_OK;
}

double dis__net_loss(const dis__net *net)
{
    double loss = 0;
    for (size_t h = 0; h < net->n_heads; h++) {
        const dis__head *head = net->layers[net->heads[h]].own;
        loss += head->weight * head->loss;
    }
    return loss;
}

double dis__head_loss(const dis__net *net, int head)
{
    const dis__head *h = net->layers[net->heads[head]].own;
    return h->loss;
}

void dis__head_get(const dis__net *net, int head, double *q)
{
    const dis__head *h = net->layers[net->heads[head]].own;
    get_doubles(net, h->q, q, dis__net_rows(net, h->logits) * h->n_classes);
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

/* ---- the optimiser ---- */

/* The norm of all gradients: blocks in parallel, added up in order. */
static dis_status gradient_norm(dis__net *net, double *norm)
{
    const size_t blocks = (net->n_numbers + DIS_SQUARES_BLOCK - 1) / DIS_SQUARES_BLOCK;
    const dis__square_sums_args args = {.x = net->grad_arena, .n = net->n_numbers, .sums = net->squares};
    DIS_TRY(dis__op_run(net, DIS_OP_square_sums, &args, blocks, DIS_SQUARES_BLOCK));
    double sum = 0;
    for (size_t b = 0; b < blocks; b++) sum += net->squares[b];
    *norm = sqrt(sum);
    return DIS_OK;
}

/* Runs of neighbouring parameters that are treated alike are updated by one call; padding between them is 0 and stays
 * so. */
static dis_status update_all(dis__net *net, dis__update_args *args)
{
    const dis__optimizer_options *o = &net->optimizer;
    for (size_t i = 0; i < net->n_params;) {
        const dis__param *p = &net->params[i];
        const bool decays = p->decays || o->decay_all;
        size_t j = i + 1;
        while (j < net->n_params && net->params[j].info.trained == p->info.trained &&
               (o->weight_decay == 0 || (net->params[j].decays || o->decay_all) == decays))
            j++;
        const size_t end = j < net->n_params ? net->params[j].at : net->n_numbers;
        if (p->info.trained) {
            args->decay = decays ? o->weight_decay : 0;
            args->param = dis__after(net, net->param_arena, p->at);
            args->grad = dis__after(net, net->grad_arena, p->at);
            args->m = net->n_states > 0 ? dis__after(net, net->state_arena, p->at) : NULL;
            args->v = net->n_states > 1 ? dis__after(net, net->state_arena, net->n_numbers + p->at) : NULL;
            DIS_TRY(dis__op_run(net, DIS_OP_update, args, end - p->at, 4));
        }
        i = j;
    }
    return DIS_OK;
}

dis_status dis__net_step(dis__net *net, double rate)
{
    const dis__optimizer_options *o = &net->optimizer;
    const double step = (double)(net->steps + 1);
    dis__update_args args = {
        .kind = o->kind,
        .rate = rate,
        .scale = 1,
        .momentum = o->momentum,
        .nesterov = o->nesterov,
        .first = net->steps == 0,
        .beta1 = o->beta1,
        .beta2 = o->beta2,
        .epsilon = o->epsilon,
        .correct1 = 1 - pow(o->beta1, step),
        .correct2 = 1 - pow(o->beta2, step),
    };
    if (o->clip > 0) {
        double norm;
        DIS_TRY(gradient_norm(net, &norm));
        if (norm > o->clip) args.scale = o->clip / (norm + 1e-6);
    }
    DIS_TRY(update_all(net, &args));
    net->steps++;
    return DIS_OK;
}

uint64_t dis__net_steps(const dis__net *net)
{
    return net->steps;
}
