/* Passes of the EM methods on a device (labels/em/em_device.h): chooses the device and copies data. Votes are packed by
 * all threads into memory from which the device copies while the next piece is packed.
 *
 * Cost: 4 bytes per vote and 8 per item to the device once per fit; the probabilities to it and the sums back with
 * every pass; 8 bytes per item and class back from the last pass. */
#include "labels/em/em.h"
#include "core/context_internal.h"
#include "core/device/device_upload.h"
#include "core/parallel/comm.h"
#include <stdio.h>
#include <string.h>

/* Features that passes on devices do not support; NULL: the fit is supported. */
static const char *unsupported(const dis__fit_args *args, size_t n_states, const dis__em_device *device)
{
    if (n_states > device->max_states) return "so many classes (times groups, of ebcc)";
    if (!dis__em_fits(args->votes.n_workers, args->votes.n_classes)) return "so many annotators times classes";
    if (args->items) return "`predictions` as the prior of items";
    if (dis__comm_is_parallel(dis__context_comm(args->ctx))) return "several ranks";
    return NULL;
}

dis_status dis__em_device_for(const dis__fit_args *args, dis_fit *fit, size_t n_states, const dis__em_device **out)
{
    const char *words = dis__context_device(args->ctx);
    const dis__device_row *row;
    const void *functions;
    *out = NULL;
    fit->ran_on_cpu[0] = 0;
    DIS_TRY(dis__device_row_find(words, &row));
    DIS_TRY(dis__device_functions(row, &row->em, sizeof(dis__em_device), &functions));
    const dis__em_device *device = functions;
    const char *what = device ? unsupported(args, n_states, device) : NULL;
    if (what && strcmp(words, "auto") != 0)
        snprintf(fit->ran_on_cpu, sizeof fit->ran_on_cpu, "ran on the CPU: device %s does not support %s", row->name,
                 what);
    *out = what ? NULL : device;
    return DIS_OK;
}

/* ---- to the device ---- */

unsigned dis__em_label_bits(size_t n_classes)
{
    unsigned bits = 0;
    while ((size_t)1 << bits < n_classes) bits++;
    return bits;
}

bool dis__em_fits(size_t n_workers, size_t n_classes)
{
    const unsigned bits = dis__em_label_bits(n_classes);
    return bits < 32 && n_workers <= ((uint64_t)1 << (32 - bits));
}

/* Votes [first, first + n) packed to 4 bytes each. */
static void pack_votes(const void *arg, void *at, size_t first, size_t n)
{
    const dis_votes_view *v = arg;
    uint32_t *restrict to = at;
    const uint32_t *worker = v->worker + first;
    const unsigned bits = dis__em_label_bits(v->n_classes);
    if (v->label8)
        for (size_t i = 0; i < n; i++) to[i] = worker[i] << bits | v->label8[first + i];
    else
        for (size_t i = 0; i < n; i++) to[i] = worker[i] << bits | v->label16[first + i];
}

enum { GRAIN = 1 << 15, MAX_JOBS = 64, PAGE = 4096, TOUCHED = 64 << 20 };

static dis__device_upload to_device(const dis__em *em)
{
    return (dis__device_upload){.buffer = em->device->buffer, .send = em->device->send, .session = em->session};
}

static dis_status send(dis__em *em, dis__em_send what, const void *from, size_t size, size_t n)
{
    const dis__device_upload to = to_device(em);
    return dis__device_upload_array(em->args->ctx, &to, what, from, size, n);
}

static dis_status send_votes(dis__em *em)
{
    const dis__device_upload to = to_device(em);
    const dis_votes_view *v = &em->args->votes;
    return dis__device_upload_filled(em->args->ctx, &to, DIS_EM_SEND_VOTES, sizeof(uint32_t), v->n_votes, pack_votes,
                                     v);
}

/* Items with many votes, and the start of their parts. */
typedef struct {
    const uint64_t *start;
    size_t n_items, n_jobs, most, of_part;
    uint32_t first[MAX_JOBS]; /* per job: their number; then the index of its first one */
    uint32_t *item, *part;    /* (n), (n + 1); NULL: only counted */
    size_t n;
} long_items;

static dis_status long_job(void *arg, size_t j, int thread)
{
    (void)thread;
    long_items *g = arg;
    const size_t last = dis__job_first(g->n_items, g->n_jobs, j + 1);
    uint32_t n = g->item ? g->first[j] : 0;
    for (size_t i = dis__job_first(g->n_items, g->n_jobs, j); i < last; i++) {
        if (g->start[i + 1] - g->start[i] <= g->most) continue;
        if (g->item) g->item[n] = (uint32_t)i;
        n++;
    }
    if (!g->item) g->first[j] = n;
    return DIS_OK;
}

static dis_status find_long(const dis__em *em, long_items *g)
{
    const dis_votes_view *v = &em->args->votes;
    *g = (long_items){.start = v->start,
                      .n_items = v->n_items,
                      .n_jobs = dis__n_jobs(v->n_items, GRAIN, MAX_JOBS),
                      .most = em->device->long_votes,
                      .of_part = em->device->part_votes};
    if (!g->most || v->n_votes <= g->most) return DIS_OK;
    DIS_TRY(dis__run_jobs(em->args->ctx, g->n_jobs, long_job, g));
    for (size_t j = 0; j < g->n_jobs; j++) {
        const uint32_t n = g->first[j];
        g->first[j] = (uint32_t)g->n;
        g->n += n;
    }
    if (!g->n) return DIS_OK;
    DIS_TRY(dis__alloc_array(&g->part, g->n + 1, sizeof *g->part));
    DIS_TRY(dis__alloc_array(&g->item, g->n, sizeof *g->item));
    DIS_TRY(dis__run_jobs(em->args->ctx, g->n_jobs, long_job, g));
    g->part[0] = 0;
    for (size_t i = 0; i < g->n; i++) {
        const uint64_t votes = v->start[g->item[i] + 1] - v->start[g->item[i]];
        g->part[i + 1] = g->part[i] + (uint32_t)((votes + g->of_part - 1) / g->of_part);
    }
    return DIS_OK;
}

static dis_status open_with(dis__em *em, const long_items *many)
{
    const dis_votes_view *v = &em->args->votes;
    const int32_t *gold = em->args->gold;
    const dis__em_shape shape = {.n_items = v->n_items,
                                 .n_votes = v->n_votes,
                                 .n_workers = v->n_workers,
                                 .n_classes = v->n_classes,
                                 .n_states = em->n_states,
                                 .n_groups = em->n_groups,
                                 .row = em->row,
                                 .n_rows = em->table_size / (2 * em->row),
                                 .pairs = em->layout != DIS_EM_ROWS,
                                 .by_label = em->layout == DIS_EM_LABELS,
                                 .gold = gold != NULL,
                                 .n_long = many->n,
                                 .n_parts = many->n ? many->part[many->n] : 0,
                                 .label_bits = dis__em_label_bits(v->n_classes)};
    dis__em_tables tables;
    DIS_TRY(em->device->open(em->device, &shape, &tables, &em->session));
    em->rates = tables.rates;
    em->sums = tables.sums;
    em->fit->device = em->device->row->name;
    DIS_TRY(send(em, DIS_EM_SEND_START, v->start, sizeof *v->start, v->n_items + 1));
    DIS_TRY(send_votes(em));
    if (many->n) DIS_TRY(send(em, DIS_EM_SEND_LONG, many->item, sizeof *many->item, many->n));
    if (many->n) DIS_TRY(send(em, DIS_EM_SEND_PARTS, many->part, sizeof *many->part, many->n + 1));
    return gold ? send(em, DIS_EM_SEND_GOLD, gold, sizeof *gold, v->n_items) : DIS_OK;
}

static dis_status open_on_device(dis__em *em)
{
    long_items many;
    dis_status status = find_long(em, &many);
    if (status == DIS_OK) status = open_with(em, &many);
    dis__free(many.item);
    dis__free(many.part);
    return status;
}

static void close_on_device(dis__em *em)
{
    if (em->session) em->device->close(em->session);
    em->session = NULL;
}

/* ---- and back ---- */

static dis_status receive(dis__em *em)
{
    const size_t all = dis__saturating_size(em->fit->n_items, em->fit->n_classes * sizeof(double), 0);
    for (size_t at = 0, got; at < all; at += got) {
        const void *from;
        DIS_TRY(em->device->receive(em->session, at, all - at, &got, &from));
        DIS_TRY(dis__parallel_copy(em->args->ctx, (char *)em->fit->p + at, from, got));
    }
    em->touched = all;
    return DIS_OK;
}

typedef struct {
    volatile char *at;
    size_t n, n_jobs;
} pages;

/* While the device computes: touches the pages of the labels, which the system clears at first access. */
static dis_status touch_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const pages *g = arg;
    const size_t begin = dis__job_first(g->n, g->n_jobs, j), end = dis__job_first(g->n, g->n_jobs, j + 1);
    for (size_t at = begin; at < end; at += PAGE) g->at[at] = 0;
    return DIS_OK;
}

static dis_status touch(dis__em *em)
{
    const size_t all = dis__saturating_size(em->fit->n_items, em->fit->n_classes * sizeof(double), 0),
                 left = all - em->touched;
    if (left == 0 || dis__context_memory(em->args->ctx)) return DIS_OK; /* labels may be in a file */
    pages g = {.at = (char *)em->fit->p + em->touched, .n = left < TOUCHED ? left : TOUCHED};
    g.n_jobs = dis__n_jobs(g.n, TOUCHED / MAX_JOBS, MAX_JOBS);
    em->touched += g.n;
    return dis__run_jobs(em->args->ctx, g.n_jobs, touch_job, &g);
}

/* The warnings of a fit are computed where votes and labels are. */
static dis_status count_on_device(dis__em *em)
{
    dis_fit *fit = em->fit;
    fit->counted = false;
    if (fit->n_classes > em->device->count_classes || fit->n_classes > DIS_FIT_COUNTED) return DIS_OK;
    DIS_TRY(em->device->count_labels(em->session, fit->counts));
    fit->counted = true;
    return DIS_OK;
}

static dis_status pass_on_device(dis__em *em, dis__em_step step, bool sum, bool write)
{
    if (step == DIS_EM_SHARES && em->n_groups > 1 && !em->signed_on_device) {
        DIS_TRY(send(em, DIS_EM_SEND_SIGNATURE, em->signature, sizeof *em->signature, em->args->votes.n_items));
        em->signed_on_device = true;
    }
    dis__em_device_pass pass = {
        .step = step, .sum = sum, .keep = write, .prior = em->prior, .key = em->key, .class_sum = em->class_sum};
    DIS_TRY(em->device->start_pass(em->session, &pass));
    const dis_status meanwhile = touch(em);
    DIS_TRY(em->device->end_pass(em->session, &pass));
    DIS_TRY(meanwhile);
    em->log_z = pass.log_z;
    em->evidence = 0;
    em->n_summed = em->args->part.n_items;
    if (!write) return DIS_OK;
    DIS_TRY(receive(em));
    return count_on_device(em);
}

static void gather(const dis__em *em, size_t w, double *out)
{
    memcpy(out, em->sums + w * em->worker_size, em->worker_size * sizeof *out);
}

/* Sums are reset to zero after an update, as on the CPU. */
static void scatter(dis__em *em, size_t w, const double *values)
{
    memcpy(em->rates + w * em->worker_size, values, em->worker_size * sizeof *values);
    memset(em->sums + w * em->worker_size, 0, em->worker_size * sizeof *values);
}

const dis__em_backend dis__em_device_backend = {
    .open = open_on_device, .pass = pass_on_device, .gather = gather, .scatter = scatter, .close = close_on_device};
