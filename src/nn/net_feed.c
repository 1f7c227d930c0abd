/* Batches by index. Arrays that do not change while a network trains (items, ids, targets) are on the device once,
 * where its memory is not the host's and has room for them; a batch then sends the numbers of its rows, and
 * operations at the beginning of the step copy these to where layers read them, recorded with the step. What is
 * copied is what a batch from the host would have brought, in the same type of number. */
#include "nn/net_internal.h"

enum { SHARE = 4 }; /* an array may use this share of the free memory: one part in this many */

/* An array on the device; data NULL: it did not fit. */
struct dis__upload {
    const void *of;
    void *data;
};

struct dis__feed {
    const void *to; /* its destination: an input, or memory of a head */
    dis__op op;
    union {
        dis__batch_rows_args batch_rows;
        dis__batch_spans_args spans;
        dis__one_hot_args one_hot;
    } args;
    int32_t *index; /* on the device; NULL: another feed's, or none */
    bool on;        /* in this batch */
};

void dis__feeds_free(dis__net *net)
{
    for (size_t i = 0; i < net->n_feeds; i++) net->device->release(net->session, net->feeds[i].index);
    for (size_t i = 0; i < net->n_uploads; i++) net->device->release(net->session, net->uploads[i].data);
    dis__free(net->feeds);
    dis__free(net->uploads);
    net->feeds = NULL;
    net->uploads = NULL;
    net->n_feeds = net->n_uploads = 0;
}

/* ---- arrays ---- */

bool dis__net_find_upload(const dis__net *net, const void *of, const void **uploads)
{
    *uploads = NULL;
    if (net->device->shares || !of) return true;
    for (size_t i = 0; i < net->n_uploads; i++)
        if (net->uploads[i].of == of) {
            *uploads = net->uploads[i].data;
            return true;
        }
    return false;
}

/* Memory for an array of this size, if available. */
static dis_status new_upload(dis__net *net, const void *of, size_t bytes, void **data)
{
    *data = NULL;
    DIS_TRY(
        dis__reserve(&net->uploads, &net->uploads_capacity, net->n_uploads, net->n_uploads + 1, sizeof *net->uploads));
    if (net->device->fits(net->session, net->ctx, dis__saturating_size(bytes, SHARE, 0), "a copy of the items") ==
        DIS_OK) {
        const dis_status status = net->device->allocate(net->session, DIS_MEMORY_OTHER, bytes, false, data);
        if (status == DIS_ELIMIT) *data = NULL; /* another caller has allocated it since */
        if (status != DIS_ELIMIT) DIS_TRY(status);
    }
    net->uploads[net->n_uploads++] = (dis__upload){of, *data};
    return DIS_OK;
}

dis_status dis__net_upload_reals(dis__net *net, dis__role role, const void *of, const float *x, size_t n,
                                 const void **uploads)
{
    void *data;
    if (dis__net_find_upload(net, of, uploads)) return DIS_OK;
    DIS_TRY(new_upload(net, of, dis__saturating_size(n, dis__number_bytes(net, role), 0), &data));
    if (data) DIS_TRY(dis__put_floats(net, role, data, x, n));
    *uploads = data;
    return DIS_OK;
}

dis_status dis__net_upload_ints(dis__net *net, const void *of, const int32_t *x, size_t n, const void **uploads)
{
    void *data = NULL;
    if (dis__net_find_upload(net, of, uploads)) return DIS_OK;
    DIS_TRY(new_upload(net, of, n > INT32_MAX ? SIZE_MAX : n * sizeof *x, &data)); /* spans have 32 bits */
    if (data) DIS_TRY(dis__copy_in(net, data, x, n * sizeof *x));
    *uploads = data;
    return DIS_OK;
}

/* ---- batches ---- */

static dis__feed *find(const dis__net *net, const void *to)
{
    for (size_t i = 0; i < net->n_feeds; i++)
        if (net->feeds[i].to == to) return &net->feeds[i];
    return NULL;
}

void dis__feed_stop(dis__net *net, const void *to)
{
    dis__feed *f = find(net, to);
    if (f) f->on = false;
}

/* The feed of a destination, with room for this many integers; recorded steps read these, so they never move. */
static dis_status feed_of(dis__net *net, const void *to, size_t room, dis__feed **out)
{
    if (!find(net, to)) {
        void *index = NULL;
        DIS_TRY(dis__reserve(&net->feeds, &net->feeds_room, net->n_feeds, net->n_feeds + 1, sizeof *net->feeds));
        if (room)
            DIS_TRY(net->device->allocate(net->session, DIS_MEMORY_OTHER,
                                          dis__saturating_size(room, sizeof(int32_t), 0), false, &index));
        net->feeds[net->n_feeds++] = (dis__feed){.to = to, .index = index};
    }
    *out = find(net, to);
    (*out)->on = true;
    return DIS_OK;
}

dis_status dis__feed_rows(dis__net *net, const dis__batch_rows_args *args, const int32_t *row, size_t n, size_t max)
{
    const size_t per = args->moved ? 4 : 1;
    dis__feed *f;
    DIS_TRY(feed_of(net, args->y, row ? dis__saturating_size(max, 4, 0) : 0, &f)); /* enough for either */
    f->op = DIS_OP_batch_rows;
    f->args.batch_rows = *args;
    if (!row) return DIS_OK;
    f->args.batch_rows.row = f->index;
    DIS_TRY(dis__copy_in(net, f->index, row, n * per * sizeof *row));
    return dis__put_none(net, f->index + n * per, (args->n_rows - n) * per);
}

const int32_t *dis__feed_index(const dis__net *net, const void *to)
{
    return find(net, to)->index;
}

dis_status dis__feed_one_hot(dis__net *net, const dis__one_hot_args *args)
{
    dis__feed *f;
    DIS_TRY(feed_of(net, args->target, 0, &f));
    f->op = DIS_OP_one_hot;
    f->args.one_hot = *args;
    return DIS_OK;
}

dis_status dis__net_gather_reals(dis__net *net, int value, const void *uploads, const int32_t *row, bool moved)
{
    const dis__shape *s = dis__shape_of(net, value);
    const dis__batch_rows_args args = {.x = uploads,
                                       .y = dis__data(net, value),
                                       .size = dis__number_bytes(net, DIS_ROLE_VALUE),
                                       .n_rows = net->axis[s->rows],
                                       .height = s->height,
                                       .width = s->width,
                                       .channels = s->channels,
                                       .moved = moved};
    return dis__feed_rows(net, &args, row, net->axis_given[s->rows], net->axis_max[s->rows]);
}

size_t dis__net_filled(const dis__net *net, int ints)
{
    const dis__ints *s = &net->ints[ints];
    return net->axis[s->rows] * dis__axis_size(net, s->time) * s->per;
}

dis_status dis__net_gather_ints(dis__net *net, int ints, const void *uploads, const int32_t (*span)[4], size_t n)
{
    const dis__ints *s = &net->ints[ints];
    const size_t max = dis__saturating_size(net->axis_max[s->rows], 1, 1);
    dis__feed *f;
    if (n > max || s->mirror) return dis__fail(DIS_EBUG, "%s: batches of it cannot be taken by index", s->name);
    DIS_TRY(feed_of(net, s->data, dis__saturating_size(max, 4, 0), &f));
    f->op = DIS_OP_batch_spans;
    f->args.spans = (dis__batch_spans_args){.x = uploads, .y = s->data, .span = f->index, .n_spans = n};
    return dis__copy_in(net, f->index, span, n * sizeof *span);
}

/* ---- steps ---- */

void dis__feeds_key(dis__net *net)
{
    for (size_t i = 0; i < net->n_feeds; i++) {
        const dis__feed *f = &net->feeds[i];
        const bool rows = f->op == DIS_OP_batch_rows, spans = f->op == DIS_OP_batch_spans;
        const void *x = rows ? f->args.batch_rows.x : spans ? f->args.spans.x : f->to;
        dis__key_add(net, f->on ? (uint64_t)(uintptr_t)x : 0);
        dis__key_add(net, rows ? f->args.batch_rows.moved : spans ? f->args.spans.n_spans : 0);
    }
}

/* Labels are copied before they are converted to targets. */
dis_status dis__feeds_run(dis__net *net)
{
    for (int last = 0; last < 2; last++)
        for (size_t i = 0; i < net->n_feeds; i++) {
            const dis__feed *f = &net->feeds[i];
            if (f->on && (f->op == DIS_OP_one_hot) == last) DIS_TRY(dis__op_run(net, f->op, &f->args));
        }
    return DIS_OK;
}
