/* EM passes on CUDA devices: sessions, memory, copies. A session (core/cuda/cuda_session.h) has the
 * tables in pinned memory alongside its ring.
 *
 * Memory of the device: 8 bytes per vote; 8 (K + 1) per item (with groups 8 K more for each), 4 more with gold labels;
 * 24 per element of the tables. Votes are sorted in the memory of the posteriors, which takes 12 bytes per vote. */
#include "labels/cuda/cuda_em.h"
#include "core/cuda/cuda_session.h"
#include <stdio.h>
#include <string.h>

typedef struct {
    dis__cuda_base base;
    const dis__em_device *device;
    dis__em_shape shape;
    unsigned blocks;
    bool ordered;         /* votes are on the device, also by worker */
    size_t scratch_bytes; /* scratch bytes for sorting them */
    char *scratch;        /* memory of the posteriors */
    void *array[DIS_EM_N_SENDS];
    dis__cuda_em_pass pass;
    double *rates; /* device tables, followed by the prior */
    double *host_rates, *host_out;
    uint64_t *counts, *host_counts; /* (2 n_classes + 2) counts of labels, on the device and on the host */
    size_t table;                   /* elements of a table */
    size_t coming;                  /* bytes of posteriors that were copied or are being copied */
} em_session;

#define TRY(call, doing)                                                                           \
    do {                                                                                           \
        const cudaError_t try_error = (call);                                                      \
        if (try_error != cudaSuccess) return dis__cuda_session_status(&s->base, try_error, doing); \
    } while (0)

/* ---- memory ---- */

/* Lays out the device memory; returns the total number of bytes. */
static size_t lay_out(em_session *s, char *memory)
{
    const dis__em_shape *g = &s->shape;
    const size_t bytes[DIS_EM_N_SENDS] = {
        [DIS_EM_SEND_START] = (g->n_items + 1) * sizeof(uint64_t),
        [DIS_EM_SEND_VOTES] = g->n_votes * sizeof(uint32_t),
        [DIS_EM_SEND_GOLD] = g->gold ? g->n_items * sizeof(int32_t) : 0,
        [DIS_EM_SEND_SIGNATURE] = g->n_groups > 1 ? g->n_items * sizeof(uint64_t) : 0,
        [DIS_EM_SEND_LONG] = g->n_long * sizeof(uint32_t),
        [DIS_EM_SEND_PARTS] = (g->n_long + 1) * sizeof(uint32_t),
    };
    size_t used = 0;
    for (int i = 0; i < DIS_EM_N_SENDS; i++) s->array[i] = dis__cuda_carve(memory, &used, bytes[i]);
    dis__cuda_em_pass *pass = &s->pass;
    const dis__cuda_em_order *o = &pass->order;
    s->rates = dis__cuda_carve(memory, &used, (s->table + g->n_states) * sizeof(double));
    pass->out = dis__cuda_carve(memory, &used, (s->table + g->n_states + 1) * sizeof(double));
    s->counts = dis__cuda_carve(memory, &used, (2 * g->n_classes + 2) * sizeof *s->counts);
    pass->part = dis__cuda_carve(memory, &used, s->blocks * (g->n_states + 1) * sizeof(double));
    pass->part_x = dis__cuda_carve(memory, &used, g->n_parts * g->n_states * sizeof *pass->part_x);
    pass->part_e = dis__cuda_carve(memory, &used, g->n_parts * g->n_states * sizeof *pass->part_e);
    pass->order.item = dis__cuda_carve(memory, &used, g->n_votes * sizeof *o->item);
    pass->order.segment = dis__cuda_carve(memory, &used, (o->n_segments + 1) * sizeof *o->segment);
    pass->order.unit_start = dis__cuda_carve(memory, &used, (o->n_segments + 1) * sizeof *o->unit_start);
    pass->order.unit = dis__cuda_carve(memory, &used, o->n_units * sizeof *o->unit);
    const size_t before = used;
    pass->unit_sum = dis__cuda_carve(memory, &used, o->n_units * g->row * sizeof(double));
    pass->x = dis__cuda_carve(memory, &used, g->n_items * g->n_states * sizeof(double));
    pass->p = g->n_groups > 1 ? dis__cuda_carve(memory, &used, g->n_items * g->n_classes * sizeof(double)) : pass->x;
    s->scratch = memory ? memory + before : NULL;
    if (used < before + s->scratch_bytes) used = before + s->scratch_bytes;
    return used;
}

static size_t lay_out_pinned(em_session *s, char *memory)
{
    const size_t n_states = s->shape.n_states;
    size_t used = 0;
    s->host_rates = dis__cuda_carve(memory, &used, (s->table + n_states) * sizeof(double));
    s->host_out = dis__cuda_carve(memory, &used, (s->table + n_states + 1) * sizeof(double));
    s->host_counts = dis__cuda_carve(memory, &used, (2 * s->shape.n_classes + 2) * sizeof *s->host_counts);
    return used;
}

static dis_status allocate(em_session *s)
{
    const dis__em_shape *g = &s->shape;
    const size_t device_bytes = lay_out(s, NULL), pinned_bytes = lay_out_pinned(s, NULL);
    char what[120];
    snprintf(what, sizeof what, "%zu votes on %zu items by %zu workers", g->n_votes, g->n_items, g->n_workers);
    DIS_TRY(dis__cuda_session_allocate(&s->base, device_bytes, pinned_bytes, what));
    lay_out(s, s->base.memory.at);
    lay_out_pinned(s, dis__cuda_session_pinned(&s->base));
    return DIS_OK;
}

/* ---- sessions ---- */

static void close_session(void *session)
{
    em_session *s = session;
    if (!s) return;
    dis__cuda_session_close(&s->base);
    s->device->row->host->free(s);
}

static dis_status open_parts(em_session *s)
{
    static const char doing[] = "opening";
    DIS_TRY(dis__cuda_session_open(&s->base, s->device->row->ordinal, s->device->row->host->fail));
    TRY(dis__cuda_em_blocks(&s->shape, s->device->row->ordinal, &s->blocks), doing);
    dis__cuda_em_tile(&s->shape, &s->pass.order);
    TRY(dis__cuda_em_order_bytes(&s->shape, &s->pass.order, &s->scratch_bytes), doing);
    return allocate(s);
}

static dis_status open_session(const dis__em_device *device, const dis__em_shape *shape, dis__em_tables *tables,
                               void **session)
{
    em_session *s;
    DIS_TRY(device->row->host->alloc_zeroed(&s, 1, sizeof *s));
    s->device = device;
    s->shape = *shape;
    s->table = shape->n_rows * shape->row;
    dis__cuda_lock();
    const dis_status status = open_parts(s);
    dis__cuda_unlock();
    if (status != DIS_OK) {
        close_session(s);
        return status;
    }
    s->pass.shape = s->shape;
    s->pass.start = s->array[DIS_EM_SEND_START];
    s->pass.votes = s->array[DIS_EM_SEND_VOTES];
    s->pass.gold = shape->gold ? s->array[DIS_EM_SEND_GOLD] : NULL;
    s->pass.signature = s->array[DIS_EM_SEND_SIGNATURE];
    s->pass.long_item = s->array[DIS_EM_SEND_LONG];
    s->pass.long_part = s->array[DIS_EM_SEND_PARTS];
    s->pass.rates = s->rates;
    s->pass.prior = s->rates + s->table;
    memset(s->host_rates, 0, s->table * sizeof *s->host_rates);
    memset(s->host_out, 0, s->table * sizeof *s->host_out);
    *tables = (dis__em_tables){.rates = s->host_rates, .sums = s->host_out};
    *session = s;
    return DIS_OK;
}

/* ---- copies ---- */

static dis_status send(void *session, size_t what, size_t offset, size_t bytes)
{
    em_session *s = session;
    return dis__cuda_session_send(&s->base, (char *)s->array[what] + offset, bytes);
}

/* Starts the copy of the next piece of posteriors. */
static cudaError_t call_for(em_session *s, size_t all)
{
    dis__cuda_ring *ring = &s->base.ring;
    const size_t at = s->coming, n = all - at < ring->bytes ? all - at : ring->bytes, i = at / ring->bytes % ring->n;
    const cudaError_t error = cudaMemcpyAsync(dis__cuda_ring_piece(ring, i), (const char *)s->pass.p + at, n,
                                              cudaMemcpyDeviceToHost, s->base.stream);
    s->coming += n;
    return error == cudaSuccess ? dis__cuda_ring_record(ring, i, s->base.stream) : error;
}

static dis_status receive(void *session, size_t offset, size_t bytes, size_t *got, const void **from)
{
    static const char doing[] = "copying labels";
    em_session *s = session;
    dis__cuda_ring *ring = &s->base.ring;
    const size_t all = offset + bytes, i = offset / ring->bytes % ring->n;
    TRY(cudaSetDevice(s->device->row->ordinal), doing);
    if (offset == 0) s->coming = 0;
    while (s->coming < all && s->coming < offset + ring->n * ring->bytes) TRY(call_for(s, all), doing);
    TRY(dis__cuda_ring_wait(ring, i), doing);
    *got = bytes < ring->bytes ? bytes : ring->bytes;
    *from = dis__cuda_ring_piece(ring, i);
    return DIS_OK;
}

/* ---- passes ---- */

static const char in_pass[] = "a pass over the votes";

static dis_status put_in_order(em_session *s)
{
    TRY(dis__cuda_em_make_order(&s->pass, s->scratch, s->scratch_bytes, s->base.stream), "putting votes in order");
    s->ordered = true;
    return DIS_OK;
}

static dis_status start_pass(void *session, const dis__em_device_pass *pass)
{
    em_session *s = session;
    const size_t n = s->shape.n_states, from = pass->sum ? 0 : s->table;
    TRY(cudaSetDevice(s->device->row->ordinal), in_pass);
    if (!s->ordered) DIS_TRY(put_in_order(s));
    s->pass.step = pass->step;
    s->pass.sum = pass->sum;
    s->pass.key = pass->key;
    s->pass.keep = pass->keep;
    memcpy(s->host_rates + s->table, pass->prior, n * sizeof *pass->prior);
    TRY(cudaMemcpyAsync(s->rates, s->host_rates, (s->table + n) * sizeof *s->rates, cudaMemcpyHostToDevice,
                        s->base.stream),
        in_pass);
    TRY(dis__cuda_em_run(&s->pass, s->blocks, s->base.stream), in_pass);
    TRY(cudaMemcpyAsync(s->host_out + from, s->pass.out + from, (s->table - from + n + 1) * sizeof *s->host_out,
                        cudaMemcpyDeviceToHost, s->base.stream),
        in_pass);
    return DIS_OK;
}

static dis_status end_pass(void *session, dis__em_device_pass *pass)
{
    em_session *s = session;
    const size_t n = s->shape.n_states;
    TRY(cudaSetDevice(s->device->row->ordinal), in_pass);
    TRY(cudaStreamSynchronize(s->base.stream), in_pass);
    memcpy(pass->class_sum, s->host_out + s->table, n * sizeof *pass->class_sum);
    pass->log_z = s->host_out[s->table + n];
    return DIS_OK;
}

static dis_status count_labels(void *session, uint64_t *counts)
{
    static const char doing[] = "counting labels";
    em_session *s = session;
    const size_t n = 2 * s->shape.n_classes + 2;
    TRY(cudaSetDevice(s->device->row->ordinal), doing);
    TRY(dis__cuda_em_count(&s->pass, s->counts, s->base.stream), doing);
    TRY(cudaMemcpyAsync(s->host_counts, s->counts, n * sizeof *counts, cudaMemcpyDeviceToHost, s->base.stream), doing);
    TRY(cudaStreamSynchronize(s->base.stream), doing);
    memcpy(counts, s->host_counts, n * sizeof *counts);
    return DIS_OK;
}

/* ---- rows ---- */

void dis__cuda_add_em(dis__device_row *row)
{
    static dis__em_device devices[DIS_CUDA_GPUS]; /* written once, when rows are discovered */
    dis__em_device *device = &devices[row->ordinal];
    *device = (dis__em_device){.row = row,
                               .max_states = DIS_CUDA_EM_STATES,
                               .long_votes = DIS_CUDA_EM_LONG,
                               .part_votes = DIS_CUDA_EM_PART,
                               .open = open_session,
                               .buffer = dis__cuda_session_buffer,
                               .send = send,
                               .start_pass = start_pass,
                               .end_pass = end_pass,
                               .count_classes = DIS_CUDA_EM_COUNTED,
                               .count_labels = count_labels,
                               .receive = receive,
                               .close = close_session};
    row->em = (dis__device_table){.functions = device, .size = sizeof *device};
}
