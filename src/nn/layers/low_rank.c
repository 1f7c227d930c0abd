/* What a linear layer learns alongside a matrix that stays as it is: y + s B A x, A (rank, in), B (out, rank), for
 * some of the columns of y (LoRA, Hu et al. 2022, with s = alpha / rank). B starts at 0, and so the sum at y.
 * Several parts, each with a rank of its own of the rows of A, go to several ranges of columns.
 *
 * Forward: h = (x A') s; the copy of y gets h B' added. Backward, dz being dy's columns of a part: dB += dz' h, dh =
 * (dz B) s, dA += dh' x, dx += dh A. The factor is a product with s I, so that every device has it: 2 rows rank^2
 * operations alongside 2 rows rank (in + out) of the two products. */
#include "nn/net_internal.h"
#include <math.h>
#include <string.h>

typedef struct {
    size_t n_in, n_out, width, rank, ranks, n_parts; /* width: of y; ranks: of all parts */
    size_t first[DIS_LOW_RANK_PARTS];
    double scale;
    bool filled; /* the matrix s I was copied */
} low_rank;

enum {
    PLAIN,
    SCALED,
    FACTOR,
    GRAD,
    GRAD_SCALED
}; /* work: x A', the same times s, s I, and gradients of the first
                                                    * two */

dis__low_rank_options dis__low_rank_options_default(void)
{
    return (dis__low_rank_options){.size = sizeof(dis__low_rank_options), .rank = 8, .scale = 2, .n_parts = 1};
}

static dis_status plan(dis__net *net, dis__layer *layer)
{
    const low_rank *l = layer->own;
    const size_t real = dis__number_bytes(net, DIS_ROLE_VALUE);
    const size_t rows =
        dis__saturating_size(dis__saturating_size(dis__max_rows(net, layer->out), l->ranks, 0), real, 0);
    DIS_TRY(dis__layer_work(net, layer, rows, DIS_WORK_SAVED));
    DIS_TRY(dis__layer_work(net, layer, rows, DIS_WORK_SAVED));
    DIS_TRY(dis__layer_work(net, layer, dis__saturating_size(dis__saturating_size(l->ranks, l->ranks, 0), real, 0),
                            DIS_WORK_BATCH));
    DIS_TRY(dis__layer_work(net, layer, rows, DIS_WORK_BACKWARD));
    return dis__layer_work(net, layer, rows, DIS_WORK_BACKWARD);
}

/* Work memory is on the device: the matrix is copied there once. */
static dis_status prepare(dis__net *net, dis__layer *layer)
{
    low_rank *l = layer->own;
    if (l->filled) return DIS_OK;
    float *factor;
    DIS_TRY(dis__alloc_zeroed(&factor, dis__saturating_size(l->ranks, l->ranks, 0), sizeof *factor));
    for (size_t i = 0; i < l->ranks; i++) factor[i * l->ranks + i] = (float)l->scale;
    const dis_status status = dis__put_floats(net, DIS_ROLE_VALUE, layer->work[FACTOR], factor, l->ranks * l->ranks);
    dis__free(factor);
    l->filled = status == DIS_OK;
    return status;
}

static dis_status scale(dis__net *net, const dis__layer *layer, size_t rows, int from, int to)
{
    const low_rank *l = layer->own;
    return dis__product(net, &(dis__product_args){.m = rows,
                                                  .n = l->ranks,
                                                  .k = l->ranks,
                                                  .a = layer->work[from],
                                                  .lda = l->ranks,
                                                  .b = layer->work[FACTOR],
                                                  .ldb = l->ranks,
                                                  .c = layer->work[to],
                                                  .ldc = l->ranks});
}

/* Part p: its columns of the value or gradient, its ranks of h, its rows of B. */
static void *columns(const dis__net *net, const low_rank *l, void *y, size_t p)
{
    return dis__value_at(net, y, l->first[p]);
}

static void *ranks_of(const dis__net *net, const low_rank *l, const dis__layer *layer, int work, size_t p)
{
    return dis__value_at(net, layer->work[work], p * l->rank);
}

static void *rows_of_b(const dis__net *net, const low_rank *l, void *b, size_t p)
{
    return dis__param_at(net, b, p * l->n_out * l->rank);
}

static dis_status forward(dis__net *net, dis__layer *layer)
{
    const low_rank *l = layer->own;
    const size_t rows = dis__padded_rows(net, layer->out);
    void *y = dis__data(net, layer->out);
    const dis__copy_columns_args copy = {
        .n_rows = 1, .from = dis__data(net, layer->in[1]), .to = y, .from_ld = 1, .to_ld = 1, .width = rows * l->width};
    DIS_TRY(dis__product(net, &(dis__product_args){.tb = true,
                                                   .m = rows,
                                                   .n = l->ranks,
                                                   .k = l->n_in,
                                                   .a = dis__data(net, layer->in[0]),
                                                   .lda = l->n_in,
                                                   .b = dis__param_of(net, layer, 0),
                                                   .ldb = l->n_in,
                                                   .c = layer->work[PLAIN],
                                                   .ldc = l->ranks}));
    DIS_TRY(scale(net, layer, rows, PLAIN, SCALED));
    DIS_TRY(dis__op_run(net, DIS_OP_copy_columns, &copy));
    for (size_t p = 0; p < l->n_parts; p++)
        DIS_TRY(dis__product(net, &(dis__product_args){.tb = true,
                                                       .add = true,
                                                       .m = rows,
                                                       .n = l->n_out,
                                                       .k = l->rank,
                                                       .a = ranks_of(net, l, layer, SCALED, p),
                                                       .lda = l->ranks,
                                                       .b = rows_of_b(net, l, dis__param_of(net, layer, 1), p),
                                                       .ldb = l->rank,
                                                       .c = columns(net, l, y, p),
                                                       .ldc = l->width}));
    return DIS_OK;
}

/* dB and dh of a part. */
static dis_status part_backward(dis__net *net, const dis__layer *layer, size_t rows, size_t p)
{
    const low_rank *l = layer->own;
    void *db = dis__param_grad(net, layer, 1);
    const void *dz = columns(net, l, dis__grad(net, layer->out), p);
    if (db)
        DIS_TRY(dis__product(net, &(dis__product_args){.ta = true,
                                                       .add = true,
                                                       .m = l->n_out,
                                                       .n = l->rank,
                                                       .k = rows,
                                                       .a = dz,
                                                       .lda = l->width,
                                                       .b = ranks_of(net, l, layer, SCALED, p),
                                                       .ldb = l->ranks,
                                                       .c = rows_of_b(net, l, db, p),
                                                       .ldc = l->rank}));
    return dis__product(net, &(dis__product_args){.m = rows,
                                                  .n = l->rank,
                                                  .k = l->n_out,
                                                  .a = dz,
                                                  .lda = l->width,
                                                  .b = rows_of_b(net, l, dis__param_of(net, layer, 1), p),
                                                  .ldb = l->rank,
                                                  .c = ranks_of(net, l, layer, GRAD, p),
                                                  .ldc = l->ranks});
}

static dis_status backward(dis__net *net, dis__layer *layer)
{
    const low_rank *l = layer->own;
    const size_t rows = dis__padded_rows(net, layer->out);
    void *da = dis__param_grad(net, layer, 0), *dx = dis__grad(net, layer->in[0]);
    for (size_t p = 0; p < l->n_parts; p++) DIS_TRY(part_backward(net, layer, rows, p));
    DIS_TRY(scale(net, layer, rows, GRAD, GRAD_SCALED));
    if (da)
        DIS_TRY(dis__product(net, &(dis__product_args){.ta = true,
                                                       .add = true,
                                                       .m = l->ranks,
                                                       .n = l->n_in,
                                                       .k = rows,
                                                       .a = layer->work[GRAD_SCALED],
                                                       .lda = l->ranks,
                                                       .b = dis__data(net, layer->in[0]),
                                                       .ldb = l->n_in,
                                                       .c = da,
                                                       .ldc = l->n_in}));
    if (dx)
        DIS_TRY(dis__product(net, &(dis__product_args){.add = layer->adds[0],
                                                       .m = rows,
                                                       .n = l->n_in,
                                                       .k = l->ranks,
                                                       .a = layer->work[GRAD_SCALED],
                                                       .lda = l->ranks,
                                                       .b = dis__param_of(net, layer, 0),
                                                       .ldb = l->n_in,
                                                       .c = dx,
                                                       .ldc = l->n_in}));
    return dis__pass_gradient(net, layer, 1);
}

static const dis__layer_kind low_rank_kind = {.name = "low rank",
                                              .own = sizeof(low_rank),
                                              .plan = plan,
                                              .prepare = prepare,
                                              .forward = forward,
                                              .backward = backward};

static bool fits(const dis__low_rank_options *o, size_t width)
{
    if (o->rank == 0 || o->n_out == 0 || o->n_parts == 0 || o->n_parts > DIS_LOW_RANK_PARTS) return false;
    for (size_t p = 0; p < o->n_parts; p++)
        if (o->first[p] > width || o->n_out > width - o->first[p]) return false;
    return true;
}

int dis__layer_low_rank(dis__net *net, const char *name, int x, int y, const dis__low_rank_options *options)
{
    if (x < 0 || y < 0) return dis__net_build_error(net, DIS_EBUG, "%s: no input", name);
    const dis__shape shape = *dis__shape_of(net, y);
    const size_t n_in = dis__shape_of(net, x)->channels;
    dis__low_rank_options o = *options;
    if (o.n_out == 0) o.n_out = shape.channels;
    if (!fits(&o, shape.channels))
        return dis__net_build_error(net, DIS_EUSAGE, "%s: parts are not within %zu columns", name, shape.channels);
    dis__layer *layer = dis__net_layer(net, &low_rank_kind, name, (int[]){x, y}, 2, &shape);
    if (!layer) return DIS_NONE;
    low_rank *l = layer->own;
    *l = (low_rank){.n_in = n_in,
                    .n_out = o.n_out,
                    .width = shape.channels,
                    .rank = o.rank,
                    .ranks = dis__saturating_size(o.rank, o.n_parts, 0),
                    .n_parts = o.n_parts,
                    .scale = o.scale};
    memcpy(l->first, o.first, sizeof l->first);
    dis__layer_param(net, layer, "a", 2, (size_t[]){l->ranks, n_in}, DIS_START_UNIFORM, 1 / sqrt((double)n_in));
    dis__layer_param(net, layer, "b", 2, (size_t[]){dis__saturating_size(l->n_out, l->n_parts, 0), l->rank},
                     DIS_START_ZERO, 0);
    return layer->out;
}
