/* Passes of the EM methods on a device from a library (labels/methods/em_device.h): which one it is, and what goes
 * there and back. Votes are packed by all threads into memory that the device copies from while the next piece is
 * packed.
 *
 * Cost: 4 bytes per vote and 8 per item to the device once per fit; the probabilities there and the sums back with
 * every pass; 8 bytes per item and class back from the last. */
#include "labels/em/em.h"
#include "core/parallel/comm.h"
#include "core/cuda_library.h"
#include "core/system_calls.h"
#include "dissent/version.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const dis__em_host host = {.size = sizeof host,
                                  .device_size = sizeof(dis__em_device),
                                  .version = DIS_VERSION,
                                  .fail = dis__fail,
                                  .alloc_zeroed = dis__alloc_zeroed,
                                  .free = dis__free};

/* What was found; written once. */
static struct {
    pthread_once_t once;
    dis__em_device rows[DIS_EM_DEVICES];
    size_t n;
    char why[DIS_EM_WHY];
} found = {.once = PTHREAD_ONCE_INIT};

static void look(void)
{
    void *symbol = dis__cuda_symbol(DIS_EM_DEVICES_SYMBOL, found.why, sizeof found.why);
    dis__em_devices *devices;
    if (!symbol) return;
    memcpy(&devices, &symbol, sizeof devices);
    found.n = devices(&host, found.rows, DIS_EM_DEVICES, found.why);
}

dis_status dis__em_device_find(const char *words, const dis__em_device **out, bool *automatic)
{
    long ordinal;
    *out = NULL;
    DIS_TRY(dis__cuda_words(words, automatic, &ordinal));
    if (ordinal < 0) return DIS_OK;
    pthread_once(&found.once, look);
    for (size_t i = 0; i < found.n && !*out; i++)
        if (found.rows[i].ordinal == ordinal) *out = &found.rows[i];
    return *out || *automatic ? DIS_OK : dis__cuda_absent(found.n, found.why, ordinal);
}

/* What passes on devices do not have; NULL: nothing is missing. */
static const char *missing(const dis__fit_args *args, size_t n_states, const dis__em_device *device)
{
    if (n_states > device->max_states) return "so many classes (times groups, of ebcc)";
    if (!dis__em_fits(args->votes.n_workers, args->votes.n_classes)) return "so many workers times classes";
    if (args->items) return "`predictions` as the prior of items";
    if (dis__comm_is_parallel(dis__context_comm(args->ctx))) return "several ranks";
    return NULL;
}

dis_status dis__em_device_for(const dis__fit_args *args, const char *method, size_t n_states,
                              const dis__em_device **out)
{
    bool automatic;
    const dis__em_device *device;
    DIS_TRY(dis__em_device_find(args->device, &device, &automatic));
    const char *what = device ? missing(args, n_states, device) : NULL;
    if (what && !automatic)
        return dis__fail(DIS_EUSAGE, "%s on device %s does not go with %s; leave `device` out, or use auto", method,
                         device->name, what);
    *out = what ? NULL : device;
    return DIS_OK;
}

/* ---- there ---- */

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

/* One piece of an array on its way: elements first .. first + n go to `to`. */
typedef struct {
    const dis_votes_view *votes;
    const void *from; /* (any number of elements of `size`); NULL: votes are packed */
    size_t size;
    void *to;
    size_t first, n, n_jobs;
    unsigned label_bits;
} piece;

static dis_status fill_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const piece *g = arg;
    const dis_votes_view *v = g->votes;
    const size_t begin = dis__job_first(g->n, g->n_jobs, j), end = dis__job_first(g->n, g->n_jobs, j + 1);
    if (g->from) {
        memcpy((char *)g->to + begin * g->size, (const char *)g->from + (g->first + begin) * g->size,
               (end - begin) * g->size);
        return DIS_OK;
    }
    uint32_t *restrict to = g->to;
    const uint32_t *worker = v->worker + g->first;
    const unsigned bits = g->label_bits;
    if (v->label8)
        for (size_t i = begin; i < end; i++) to[i] = worker[i] << bits | v->label8[g->first + i];
    else
        for (size_t i = begin; i < end; i++) to[i] = worker[i] << bits | v->label16[g->first + i];
    return DIS_OK;
}

enum { GRAIN = 1 << 15, MAX_JOBS = 64, PAGE = 4096, TOUCHED = 64 << 20 };

/* n elements of `size` bytes to array `what` of the device; from NULL: the votes. */
static dis_status send(dis__em *em, dis__em_send what, const void *from, size_t size, size_t n)
{
    piece g = {.votes = &em->args->votes, .from = from, .size = size, .label_bits = dis__em_label_bits(em->n_classes)};
    size_t bytes;
    for (; g.first < n; g.first += g.n) {
        DIS_TRY(em->device->buffer(em->session, &g.to, &bytes));
        g.n = n - g.first < bytes / size ? n - g.first : bytes / size;
        g.n_jobs = dis__n_jobs(g.n, GRAIN, MAX_JOBS);
        DIS_TRY(dis__run_jobs(em->args->ctx, g.n_jobs, fill_job, &g));
        DIS_TRY(em->device->send(em->session, what, g.first * size, g.n * size));
    }
    return DIS_OK;
}

/* Items of many votes, and where their parts begin. */
typedef struct {
    const uint64_t *start;
    size_t n_items, n_jobs, most, of_part;
    uint32_t first[MAX_JOBS]; /* a job: how many; then where its first one goes */
    uint32_t *item, *part;    /* (n), (n + 1); NULL: they are only counted */
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
    em->fit->device = em->device->name;
    DIS_TRY(send(em, DIS_EM_SEND_START, v->start, sizeof *v->start, v->n_items + 1));
    DIS_TRY(send(em, DIS_EM_SEND_VOTES, NULL, sizeof(uint32_t), v->n_votes));
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
        piece g = {.size = 1, .to = (char *)em->fit->p + at};
        DIS_TRY(em->device->receive(em->session, at, all - at, &got, &g.from));
        g.n = got;
        g.n_jobs = dis__n_jobs(got, (size_t)GRAIN * sizeof(double), MAX_JOBS);
        DIS_TRY(dis__run_jobs(em->args->ctx, g.n_jobs, fill_job, &g));
    }
    em->touched = all;
    return DIS_OK;
}

/* While the device is at work: pages of the labels, which the system clears when they are first written to. */
static dis_status touch_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const piece *g = arg;
    const size_t begin = dis__job_first(g->n, g->n_jobs, j), end = dis__job_first(g->n, g->n_jobs, j + 1);
    for (size_t at = begin; at < end; at += PAGE) ((volatile char *)g->to)[at] = 0;
    return DIS_OK;
}

static dis_status touch(dis__em *em)
{
    const size_t all = dis__saturating_size(em->fit->n_items, em->fit->n_classes * sizeof(double), 0),
                 left = all - em->touched;
    if (left == 0 || dis__context_memory(em->args->ctx)) return DIS_OK; /* labels may lie in a file */
    piece g = {.to = (char *)em->fit->p + em->touched, .n = left < TOUCHED ? left : TOUCHED};
    g.n_jobs = dis__n_jobs(g.n, TOUCHED / MAX_JOBS, MAX_JOBS);
    em->touched += g.n;
    return dis__run_jobs(em->args->ctx, g.n_jobs, touch_job, &g);
}

/* What is odd about labels is seen where votes and labels are. */
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

/* Sums start from zero behind an update, as on the processor. */
static void scatter(dis__em *em, size_t w, const double *values)
{
    memcpy(em->rates + w * em->worker_size, values, em->worker_size * sizeof *values);
    memset(em->sums + w * em->worker_size, 0, em->worker_size * sizeof *values);
}

const dis__em_backend dis__em_device_backend = {
    .open = open_on_device, .pass = pass_on_device, .gather = gather, .scatter = scatter, .close = close_on_device};
