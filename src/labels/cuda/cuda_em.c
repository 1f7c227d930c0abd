/* EM passes on CUDA devices: sessions, memory, what goes there and back. A session has a stream of its own, one
 * block of device memory, which is taken when it is opened, and one of pinned host memory: the tables, and some
 * pieces through which arrays go. Both blocks are kept for the next session (core/cuda/cuda_memory.h).
 *
 * Memory of the device: 8 bytes per vote; 8 (K + 1) per item (with groups 8 K more for each), 4 more with gold labels;
 * 24 per number of the tables. Votes are put in order where posteriors will be, which takes 12 bytes per vote. */
#include "labels/cuda/cuda_em.h"
#include "core/cuda/cuda_find.h"
#include "core/cuda/cuda_memory.h"
#include "dissent/version.h"
#include <stdio.h>
#include <string.h>

enum { PIECES = 4, PIECE = 16 << 20 };

typedef struct {
    const dis__em_device *device;
    dis__em_shape shape;
    unsigned blocks;
    bool ordered;         /* votes are there by worker too */
    size_t scratch_bytes; /* that ordering them takes */
    char *scratch;        /* where posteriors will be */
    cudaStream_t stream;
    cudaEvent_t moved[PIECES];
    size_t piece; /* the next */
    dis__cuda_block memory, pinned;
    void *array[DIS_EM_N_SENDS];
    dis__cuda_em_pass pass;
    double *rates; /* of the device; the prior lies behind them */
    double *host_rates, *host_out;
    uint64_t *counts, *host_counts; /* (2 n_classes + 2) of labels, there and here */
    char *host_piece[PIECES];
    size_t table;  /* numbers of a table */
    size_t coming; /* bytes of posteriors that are on their way or there */
} em_session;

/* ---- errors ---- */

static dis_status told(em_session *s, cudaError_t error, const char *doing)
{
    const dis__em_host *host = s->device->host;
    const char *name = s->device->name;
    if (error == cudaSuccess) return DIS_OK;
    cudaGetLastError(); /* so that it is told once */
    if (error == cudaErrorMemoryAllocation) {
        size_t left = 0, all = 0;
        cudaMemGetInfo(&left, &all);
        return host->fail(DIS_ELIMIT,
                          "%s: the memory of device %s is used up (%zu of %zu MiB are free); `device` cpu needs none",
                          doing, name, left >> 20, all >> 20);
    }
    return host->fail(DIS_EIO, "%s on device %s: %s; nothing was written; if the device is lost, start again", doing,
                      name, cudaGetErrorString(error));
}

#define TRY(call, doing)                                                \
    do {                                                                \
        const cudaError_t try_error = (call);                           \
        if (try_error != cudaSuccess) return told(s, try_error, doing); \
    } while (0)

/* ---- memory ---- */

/* Places in the device's memory; returns its bytes. */
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
    for (int i = 0; i < PIECES; i++) s->host_piece[i] = dis__cuda_carve(memory, &used, PIECE);
    return used;
}

static dis_status take_memory(em_session *s)
{
    static const char doing[] = "taking memory for votes and tables";
    const size_t there = lay_out(s, NULL), here = lay_out_pinned(s, NULL);
    size_t left = 0, all = 0;
    TRY(cudaMemGetInfo(&left, &all), doing);
    left += dis__cuda_kept(s->device->ordinal);
    if (there > left)
        return s->device->host->fail(DIS_ELIMIT,
                                     "%zu votes on %zu items by %zu workers need %zu MiB of the memory of device %s, "
                                     "and %zu of %zu MiB are free; "
                                     "`device` cpu needs none",
                                     s->shape.n_votes, s->shape.n_items, s->shape.n_workers, (there >> 20) + 1,
                                     s->device->name, left >> 20, all >> 20);
    TRY(dis__cuda_take(DIS_CUDA_THERE, s->device->ordinal, there, &s->memory), doing);
    const cudaError_t error = dis__cuda_take(DIS_CUDA_PINNED, s->device->ordinal, here, &s->pinned);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return s->device->host->fail(DIS_ELIMIT,
                                     "tables of %zu workers need %zu MiB that are never swapped out, and the "
                                     "system does not give them; `device` cpu needs none",
                                     s->shape.n_workers, (here >> 20) + 1);
    }
    TRY(error, doing);
    lay_out(s, s->memory.at);
    lay_out_pinned(s, s->pinned.at);
    return DIS_OK;
}

/* ---- sessions ---- */

static void close_session(void *session)
{
    em_session *s = session;
    if (!s) return;
    cudaSetDevice(s->device->ordinal);
    if (s->stream) cudaStreamSynchronize(s->stream);
    dis__cuda_lock();
    for (int i = 0; i < PIECES; i++)
        if (s->moved[i]) cudaEventDestroy(s->moved[i]);
    dis__cuda_give(&s->memory);
    dis__cuda_give(&s->pinned);
    if (s->stream) cudaStreamDestroy(s->stream);
    dis__cuda_unlock();
    cudaGetLastError();
    s->device->host->free(s);
}

static dis_status open_parts(em_session *s)
{
    static const char doing[] = "opening";
    TRY(cudaSetDevice(s->device->ordinal), doing);
    TRY(dis__cuda_em_blocks(&s->shape, s->device->ordinal, &s->blocks), doing);
    TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), doing);
    for (int i = 0; i < PIECES; i++) TRY(cudaEventCreateWithFlags(&s->moved[i], cudaEventDisableTiming), doing);
    dis__cuda_em_tile(&s->shape, &s->pass.order);
    TRY(dis__cuda_em_order_bytes(&s->shape, &s->pass.order, &s->scratch_bytes), doing);
    return take_memory(s);
}

static dis_status open_session(const dis__em_device *device, const dis__em_shape *shape, dis__em_tables *tables,
                               void **session)
{
    em_session *s;
    DIS_TRY(device->host->alloc_zeroed(&s, 1, sizeof *s));
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

static dis_status next_buffer(void *session, void **at, size_t *bytes)
{
    em_session *s = session;
    TRY(cudaSetDevice(s->device->ordinal), "copying votes");
    TRY(cudaEventSynchronize(s->moved[s->piece]), "copying votes");
    *at = s->host_piece[s->piece];
    *bytes = PIECE;
    return DIS_OK;
}

static dis_status send(void *session, dis__em_send what, size_t offset, size_t bytes)
{
    em_session *s = session;
    TRY(cudaMemcpyAsync((char *)s->array[what] + offset, s->host_piece[s->piece], bytes, cudaMemcpyHostToDevice,
                        s->stream),
        "copying votes");
    TRY(cudaEventRecord(s->moved[s->piece], s->stream), "copying votes");
    s->piece = (s->piece + 1) % PIECES;
    return DIS_OK;
}

/* One piece more of the posteriors on its way. */
static dis_status call_for(em_session *s, size_t all)
{
    const size_t at = s->coming, n = all - at < PIECE ? all - at : PIECE, i = at / PIECE % PIECES;
    TRY(cudaMemcpyAsync(s->host_piece[i], (const char *)s->pass.p + at, n, cudaMemcpyDeviceToHost, s->stream),
        "copying labels");
    TRY(cudaEventRecord(s->moved[i], s->stream), "copying labels");
    s->coming += n;
    return DIS_OK;
}

static dis_status receive(void *session, size_t offset, size_t bytes, size_t *got, const void **from)
{
    em_session *s = session;
    const size_t all = offset + bytes, i = offset / PIECE % PIECES;
    TRY(cudaSetDevice(s->device->ordinal), "copying labels");
    if (offset == 0) s->coming = 0;
    while (s->coming < all && s->coming < offset + PIECES * (size_t)PIECE) DIS_TRY(call_for(s, all));
    TRY(cudaEventSynchronize(s->moved[i]), "copying labels");
    *got = bytes < PIECE ? bytes : PIECE;
    *from = s->host_piece[i];
    return DIS_OK;
}

/* ---- passes ---- */

static const char in_pass[] = "a pass over the votes";

static dis_status put_in_order(em_session *s)
{
    TRY(dis__cuda_em_make_order(&s->pass, s->scratch, s->scratch_bytes, s->stream), "putting votes in order");
    s->ordered = true;
    return DIS_OK;
}

static dis_status start_pass(void *session, const dis__em_device_pass *pass)
{
    em_session *s = session;
    const size_t n = s->shape.n_states, from = pass->sum ? 0 : s->table;
    TRY(cudaSetDevice(s->device->ordinal), in_pass);
    if (!s->ordered) DIS_TRY(put_in_order(s));
    s->pass.step = pass->step;
    s->pass.sum = pass->sum;
    s->pass.key = pass->key;
    s->pass.keep = pass->keep;
    memcpy(s->host_rates + s->table, pass->prior, n * sizeof *pass->prior);
    TRY(cudaMemcpyAsync(s->rates, s->host_rates, (s->table + n) * sizeof *s->rates, cudaMemcpyHostToDevice, s->stream),
        in_pass);
    TRY(dis__cuda_em_run(&s->pass, s->blocks, s->stream), in_pass);
    TRY(cudaMemcpyAsync(s->host_out + from, s->pass.out + from, (s->table - from + n + 1) * sizeof *s->host_out,
                        cudaMemcpyDeviceToHost, s->stream),
        in_pass);
    return DIS_OK;
}

static dis_status end_pass(void *session, dis__em_device_pass *pass)
{
    em_session *s = session;
    const size_t n = s->shape.n_states;
    TRY(cudaSetDevice(s->device->ordinal), in_pass);
    TRY(cudaStreamSynchronize(s->stream), in_pass);
    memcpy(pass->class_sum, s->host_out + s->table, n * sizeof *pass->class_sum);
    pass->log_z = s->host_out[s->table + n];
    return DIS_OK;
}

static dis_status count_labels(void *session, uint64_t *counts)
{
    static const char doing[] = "counting labels";
    em_session *s = session;
    const size_t n = 2 * s->shape.n_classes + 2;
    TRY(cudaSetDevice(s->device->ordinal), doing);
    TRY(dis__cuda_em_count(&s->pass, s->counts, s->stream), doing);
    TRY(cudaMemcpyAsync(s->host_counts, s->counts, n * sizeof *counts, cudaMemcpyDeviceToHost, s->stream), doing);
    TRY(cudaStreamSynchronize(s->stream), doing);
    memcpy(counts, s->host_counts, n * sizeof *counts);
    return DIS_OK;
}

/* ---- rows ---- */

__attribute__((visibility("default"))) dis__em_devices dis_plugin_em_devices;

size_t dis_plugin_em_devices(const dis__em_host *host, dis__em_device *rows, size_t room, char *why)
{
    static const char *const names[DIS_EM_DEVICES] = {"cuda:0",  "cuda:1",  "cuda:2",  "cuda:3", "cuda:4",  "cuda:5",
                                                      "cuda:6",  "cuda:7",  "cuda:8",  "cuda:9", "cuda:10", "cuda:11",
                                                      "cuda:12", "cuda:13", "cuda:14", "cuda:15"};
    if (host->size != sizeof *host || host->device_size != sizeof *rows || strcmp(host->version, DIS_VERSION) != 0) {
        snprintf(why, DIS_EM_WHY, "it was built for another version of dissent than %s", host->version);
        return 0;
    }
    const int n = dis__cuda_count(why);
    size_t made = 0;
    for (int i = 0; i < n && i < DIS_EM_DEVICES && made < room; i++)
        if (dis__cuda_new_enough(i, why))
            rows[made++] = (dis__em_device){.name = names[i],
                                            .ordinal = i,
                                            .host = host,
                                            .max_states = DIS_CUDA_EM_STATES,
                                            .long_votes = DIS_CUDA_EM_LONG,
                                            .part_votes = DIS_CUDA_EM_PART,
                                            .open = open_session,
                                            .buffer = next_buffer,
                                            .send = send,
                                            .start_pass = start_pass,
                                            .end_pass = end_pass,
                                            .count_classes = DIS_CUDA_EM_COUNTED,
                                            .count_labels = count_labels,
                                            .receive = receive,
                                            .close = close_session};
    return made;
}
