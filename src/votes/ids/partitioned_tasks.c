/* Tasks numbered at the end of the input, from buckets of votes: see partition.h. Takes tasks of up to 8 bytes. */
#include "votes/collect.h"

static dis_status accept(dis__filled *round, const dis__numbering **next)
{
    if (dis__batches_have_long_task(round->batch, round->n)) *next = &dis__tasks_hashed;
    return DIS_OK;
}

static dis_status take_over(dis__filled *round, const dis__numbering *before)
{
    (void)before; /* has collected nothing */
    dis__collector *c = round->collector;
    size_t n_rows = 0;
    for (size_t j = 0; j < round->n; j++) n_rows += round->batch[j]->n_rows;
    return dis__partition_begin(&c->partition, &c->ids[DIS_COLUMN_TASK].secret, c->n_bytes, c->bucket,
                                (double)round->n_bytes / (double)n_rows);
}

static dis_status make_room(dis__filled *round)
{
    return dis__partition_make_room(round->ctx, &round->collector->partition, round->batch, round->n);
}

static void put(const dis__filled *round, size_t j)
{
    const dis__collector *c = round->collector;
    const dis__batch *b = round->batch[j];
    dis__ids_final_all(&c->ids[DIS_COLUMN_WORKER], b->worker, b->n_rows, b->worker);
    dis__partition_batch(&c->partition, b, j);
}

static dis_status finish(dis_context *ctx, dis__collector *c, const uint16_t *class_of, dis_votes *votes)
{
    return dis__partition_finish(ctx, &c->partition, c->n_rows, class_of, votes);
}

const dis__numbering dis__tasks_partitioned = {
    .name = "partitioned",
    .late = true,
    .accept = accept,
    .take_over = take_over,
    .make_room = make_room,
    .put = put,
    .finish = finish,
};
