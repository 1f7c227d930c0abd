/* Batches into a network, and values and parameters out of and into it: copies between the host and the device. Packed
 * axes are rounded up as the device wants them; what is after the batch there has ids of none and zeros. */
#include "nn/net_internal.h"
#include <string.h>

/* ---- batches ---- */

void dis__net_resize(dis__net *net, int axis, size_t n)
{
    const size_t round = net->axis_round[axis], given = n < net->axis_max[axis] ? n : net->axis_max[axis];
    net->axis_given[axis] = given;
    net->axis[axis] = (given + round - 1) / round * round;
}

size_t dis__net_round(const dis__net *net, size_t n, size_t to)
{
    return net->device->round > 1 && n <= SIZE_MAX - to ? (n + to - 1) / to * to : n;
}

size_t dis__padded_rows(const dis__net *net, int value)
{
    const dis__shape *s = dis__shape_of(net, value);
    return dis__axis_size(net, s->rows) * dis__axis_size(net, s->time) * s->height * s->width;
}

size_t dis__net_rows(const dis__net *net, int value)
{
    const dis__shape *s = dis__shape_of(net, value);
    return net->axis_given[s->rows] * dis__axis_size(net, s->time) * s->height * s->width;
}

static size_t n_numbers(const dis__net *net, int value)
{
    return dis__net_rows(net, value) * dis__shape_of(net, value)->channels;
}

/* Zeroes values after the given ones, up to the computed size. */
static dis_status zero_padding(dis__net *net, int value)
{
    const size_t channels = dis__shape_of(net, value)->channels, n = dis__net_rows(net, value);
    void *padding = dis__value_at(net, dis__data(net, value), n * channels);
    return dis__zero(net, padding,
                     (dis__padded_rows(net, value) - n) * channels * dis__number_bytes(net, DIS_ROLE_VALUE));
}

dis_status dis__net_put(dis__net *net, int value, const float *x)
{
    dis__feed_stop(net, dis__data(net, value));
    DIS_TRY(dis__put_floats(net, DIS_ROLE_VALUE, dis__data(net, value), x, n_numbers(net, value)));
    return zero_padding(net, value);
}

dis_status dis__net_put_row(dis__net *net, int value, size_t row, const float *x)
{
    const size_t n = dis__shape_of(net, value)->channels;
    dis__feed_stop(net, dis__data(net, value));
    return dis__put_floats(net, DIS_ROLE_VALUE, dis__value_at(net, dis__data(net, value), row * n), x, n);
}

dis_status dis__net_put_exact(dis__net *net, int value, const double *x)
{
    dis__feed_stop(net, dis__data(net, value));
    DIS_TRY(dis__put_doubles(net, DIS_ROLE_VALUE, dis__data(net, value), x, n_numbers(net, value)));
    return zero_padding(net, value);
}

dis_status dis__put_none(dis__net *net, int32_t *to, size_t n)
{
    enum { SOME = 256 };
    int32_t none[SOME];
    memset(none, -1, sizeof none);
    for (size_t at = 0; at < n; at += SOME)
        DIS_TRY(dis__copy_in(net, to + at, none, (n - at < SOME ? n - at : SOME) * sizeof *none));
    return DIS_OK;
}

dis_status dis__net_put_ints(dis__net *net, int ints, const int32_t *x)
{
    const dis__ints *s = &net->ints[ints];
    const size_t per = dis__axis_size(net, s->time) * s->per, n = net->axis_given[s->rows] * per;
    dis__feed_stop(net, s->data);
    if (s->mirror && n) memcpy(s->mirror, x, n * sizeof *x);
    DIS_TRY(dis__copy_in(net, s->data, x, n * sizeof *x));
    return dis__put_none(net, s->data + n, net->axis[s->rows] * per - n);
}

dis_status dis__net_put_filled(dis__net *net, int ints, const int32_t *x)
{
    const dis__ints *s = &net->ints[ints];
    const size_t n = dis__net_filled(net, ints);
    dis__feed_stop(net, s->data);
    if (s->mirror && n) memcpy(s->mirror, x, n * sizeof *x);
    return dis__copy_in(net, s->data, x, n * sizeof *x);
}

dis_status dis__net_get(const dis__net *net, int value, double *x)
{
    return dis__get_doubles(net, DIS_ROLE_VALUE, dis__data(net, value), x, n_numbers(net, value));
}

dis_status dis__net_get_grad(const dis__net *net, int value, double *x)
{
    return dis__get_doubles(net, DIS_ROLE_VALUE, dis__grad(net, value), x, n_numbers(net, value));
}

/* ---- parameters ---- */

static void *param_data(const dis__net *net, size_t param)
{
    return dis__param_place(net, &net->params[param]);
}

dis_status dis__param_copy_in(dis__net *net, dis__param *p)
{
    const size_t n_parts = p->n_host_parts, n = n_parts ? p->info.n / n_parts : 0;
    p->n_host_parts = 0;
    for (size_t i = 0; i < n_parts; i++) {
        const void *from = p->host_part[i];
        p->host_part[i] = NULL;
        if (!from) continue; /* comes later */
        DIS_TRY(dis__copy_in(net, dis__param_at(net, net->param_arena, p->at + i * n), from,
                             n * dis__number_bytes(net, DIS_ROLE_PARAM)));
    }
    return DIS_OK;
}

dis_status dis__param_get(const dis__net *net, size_t param, double *x)
{
    const dis__param *p = &net->params[param];
    const size_t n = p->n_host_parts ? p->info.n / p->n_host_parts : 0;
    if (p->n_host_parts < 2) return dis__get_doubles(net, DIS_ROLE_PARAM, param_data(net, param), x, p->info.n);
    for (size_t i = 0; i < p->n_host_parts; i++)
        DIS_TRY(dis__get_doubles(net, DIS_ROLE_PARAM, p->host_part[i], x + i * n, n));
    return DIS_OK;
}

dis_status dis__param_get_floats(const dis__net *net, size_t param, float *x)
{
    const dis__param *p = &net->params[param];
    const size_t n = p->n_host_parts ? p->info.n / p->n_host_parts : 0;
    if (p->n_host_parts < 2) return dis__get_floats(net, DIS_ROLE_PARAM, param_data(net, param), x, p->info.n);
    for (size_t i = 0; i < p->n_host_parts; i++)
        DIS_TRY(dis__get_floats(net, DIS_ROLE_PARAM, p->host_part[i], x + i * n, n));
    return DIS_OK;
}

bool dis__net_save_params_copy(dis__net *net)
{
    enum { SHARE = 4 }; /* share of the free memory: one part in this many */
    const dis__device *d = net->device;
    const size_t bytes = net->n_numbers * dis__number_bytes(net, DIS_ROLE_PARAM);
    void *at = net->params_copy_arena;
    if (d->shares) return false;
    if (!at && d->fits(net->session, net->ctx, dis__saturating_size(bytes, SHARE, 0), "a copy of parameters") != DIS_OK)
        return false;
    if (!at && d->allocate(net->session, DIS_MEMORY_OTHER, bytes, false, &at) != DIS_OK) return false;
    net->params_copy_arena = at;
    const size_t n = bytes / dis__number_bytes(net, DIS_ROLE_VALUE); /* bytes are copied as they are */
    const dis__copy_columns_args copy = {
        .n_rows = 1, .from = net->param_arena, .to = at, .from_ld = 1, .to_ld = 1, .width = n};
    return dis__op_run(net, DIS_OP_copy_columns, &copy) == DIS_OK;
}

void dis__net_swap_params_copy(dis__net *net)
{
    char *const shown = net->param_arena;
    net->param_arena = net->params_copy_arena;
    net->params_copy_arena = shown;
}

dis_status dis__param_get_grad(const dis__net *net, size_t param, double *x)
{
    const dis__param *p = &net->params[param];
    if (p->info.trained && !(net->stale && p->stored))
        return dis__get_doubles(net, DIS_ROLE_PARAM, dis__param_at(net, net->grad_arena, p->at), x, p->info.n);
    memset(x, 0, p->info.n * sizeof *x);
    return DIS_OK;
}

dis_status dis__param_put(dis__net *net, size_t param, const double *x)
{
    net->prepared = false;
    net->params[param].n_host_parts = 0;
    return dis__put_doubles(net, DIS_ROLE_PARAM, param_data(net, param), x, net->params[param].info.n);
}

static bool may_use_host_memory(const dis__net *net)
{
    return !net->training_plan && net->device->shares && net->device->number[DIS_ROLE_PARAM] == DIS_FLOAT32;
}

dis_status dis__param_use(dis__net *net, size_t param, const float *x)
{
    dis__param *p = &net->params[param];
    if (!may_use_host_memory(net)) return dis__param_put_rows(net, param, 0, p->info.dim[0], x);
    net->prepared = false;
    p->n_host_parts = 1;
    p->host_part[0] = x;
    return DIS_OK;
}

dis_status dis__param_use_rows(dis__net *net, size_t param, size_t first, size_t n, const float *x)
{
    enum { PACK = 16 }; /* devices that pack a matrix do so in multiples of this */
    dis__param *p = &net->params[param];
    const size_t n_parts = n && p->info.dim[0] % n == 0 && first % n == 0 ? p->info.dim[0] / n : 0;
    if (!may_use_host_memory(net) || !p->accepts_parts || n % PACK || n_parts < 2 || n_parts > DIS_PARAM_PARTS)
        return dis__param_put_rows(net, param, first, n, x);
    if (p->n_host_parts != n_parts) DIS_TRY(dis__param_copy_in(net, p));
    net->prepared = false;
    p->n_host_parts = n_parts;
    p->host_part[first / n] = x;
    return DIS_OK;
}

dis_status dis__param_put_rows(dis__net *net, size_t param, size_t first, size_t n, const float *x)
{
    net->prepared = false;
    DIS_TRY(dis__param_copy_in(net, &net->params[param]));
    const dis__param_info *info = &net->params[param].info;
    const size_t row = info->n / (info->dim[0] ? info->dim[0] : 1);
    void *to = dis__param_at(net, param_data(net, param), first * row);
    return dis__put_floats(net, DIS_ROLE_PARAM, to, x, n * row);
}

const dis__shape *dis__net_shape(const dis__net *net, int value)
{
    return value < 0 ? NULL : dis__shape_of(net, value);
}
