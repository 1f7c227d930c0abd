/* hidden_device.h: a device whose memory no one but itself can look at: `ref`, with every page taken away from the
 * program but while the device works. Whoever touches tensor memory directly dies of SIGSEGV here. A step is
 * recorded once per key and replayed from then on: whoever leaves something out of the key, or waits or copies
 * within a step, is found out. Every other recording is lost at first, and nothing of the step has happened then. What
 * may be run later is run as late as it may: who has not kept what it reads is found out, too, and so is who adds to a
 * gradient that an update need not clear. */
#ifndef DIS_DEVICES_HIDDEN_DEVICE_H
#define DIS_DEVICES_HIDDEN_DEVICE_H
#include "nn/host/operation_jobs.h"
#include "nn/host/host_device.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HIDDEN_REGIONS = 64, HIDDEN_STEPS = 64, HIDDEN_CALLS = 2048, HIDDEN_ZERO = DIS_N_OPS };
enum { HIDDEN_LAG = 8, HIDDEN_LATE = 64 };

typedef struct {
    char *at;
    size_t bytes;
} hidden_region;

/* A recorded operation, or zeros written (`op` is HIDDEN_ZERO, `args` where). */
typedef struct {
    int op;
    void *args;
    size_t bytes;
} hidden_call;

typedef struct {
    uint64_t *key;
    size_t n;
    hidden_call *call;
    size_t n_calls;
} hidden_step;

/* An operation that waits. */
typedef struct {
    dis__op op;
    void *args;
    size_t layer; /* that had it run */
} hidden_late;

typedef struct {
    void *host; /* a session of ref */
    hidden_region region[HIDDEN_REGIONS];
    hidden_step step[HIDDEN_STEPS];
    size_t n_steps, n_replayed;
    hidden_step *recording; /* NULL: no step has begun */
    bool losing;            /* this recording will be lost */
    hidden_late late[HIDDEN_LATE];
    size_t n_late, layer; /* layers that have gone backward */
} hidden_session;

static inline void hidden_open_up(const hidden_session *s, bool open)
{
    for (size_t i = 0; i < HIDDEN_REGIONS; i++)
        if (s->region[i].at) mprotect(s->region[i].at, s->region[i].bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static inline dis_status hidden_open(const dis__device *device, void **session)
{
    (void)device;
    hidden_session *s = calloc(1, sizeof *s);
    const dis_status status = dis__device_ref.open(&dis__device_ref, &s->host);
    if (status != DIS_OK) free(s);
    if (status == DIS_OK) *session = s;
    return status;
}

static inline void hidden_release(void *session, void *memory)
{
    hidden_session *s = session;
    for (size_t i = 0; memory && i < HIDDEN_REGIONS; i++)
        if (s->region[i].at == memory) {
            munmap(memory, s->region[i].bytes);
            s->region[i] = (hidden_region){0};
        }
}

static inline void hidden_close(void *session)
{
    hidden_session *s = session;
    if (!s) return;
    for (size_t i = 0; i < HIDDEN_REGIONS; i++) hidden_release(s, s->region[i].at);
    for (size_t i = 0; i < s->n_steps; i++) {
        for (size_t c = 0; c < s->step[i].n_calls; c++)
            if (s->step[i].call[c].op != HIDDEN_ZERO) free(s->step[i].call[c].args);
        free(s->step[i].call);
        free(s->step[i].key);
    }
    for (size_t i = 0; i < s->n_late; i++) free(s->late[i].args);
    dis__device_ref.close(s->host);
    free(s);
}

static inline dis_status hidden_allocate(void *session, dis__memory what, size_t bytes, bool zeroed, void **out)
{
    (void)what;
    hidden_session *s = session;
    (void)zeroed; /* new pages are */
    for (size_t i = 0; i < HIDDEN_REGIONS; i++)
        if (!s->region[i].at) {
            const size_t rounded = (bytes / 4096 + 1) * 4096;
            void *at = mmap(NULL, rounded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (at == MAP_FAILED) return dis__fail(DIS_ELIMIT, "no hidden memory");
            s->region[i] = (hidden_region){at, rounded};
            *out = at;
            return DIS_OK;
        }
    return dis__fail(DIS_ELIMIT, "too many pieces of hidden memory");
}

static inline dis_status hidden_copy(void *session, void *to, const void *from, size_t bytes)
{
    hidden_open_up(session, true);
    memcpy(to, from, bytes);
    hidden_open_up(session, false);
    return DIS_OK;
}

static inline dis_status hidden_catch_up(hidden_session *s, size_t layer);

static inline dis_status hidden_copy_in(void *session, void *to, const void *from, size_t bytes)
{
    if (((hidden_session *)session)->recording) return dis__fail(DIS_EBUG, "a copy to the device within a step");
    DIS_TRY(hidden_catch_up(session, SIZE_MAX));
    return hidden_copy(session, to, from, bytes);
}

static inline dis_status hidden_copy_out(void *session, void *to, const void *from, size_t bytes)
{
    if (((hidden_session *)session)->recording) return dis__fail(DIS_EBUG, "a step waits for the device");
    DIS_TRY(hidden_catch_up(session, SIZE_MAX));
    return hidden_copy(session, to, from, bytes);
}

static inline dis_status hidden_do(hidden_session *s, int op, const void *args, size_t bytes)
{
    dis_status status = DIS_OK;
    hidden_open_up(s, true);
    if (op == HIDDEN_ZERO)
        memset((void *)args, 0, bytes);
    else
        status = dis__host_run(s->host, (dis__op)op, args);
    const dis__update_args *update = op == DIS_OP_update ? args : NULL;
    for (size_t i = 0; update && update->stored && i < update->n; i++) ((double *)update->grad)[i] = NAN;
    hidden_open_up(s, false);
    return status;
}

static inline void hidden_record(hidden_session *s, int op, const void *args, size_t bytes)
{
    hidden_step *step = s->recording;
    if (!step || step->n_calls == HIDDEN_CALLS) return;
    void *args_copy = (void *)args;
    if (op != HIDDEN_ZERO) args_copy = memcpy(malloc(bytes), args, bytes);
    step->call[step->n_calls++] = (hidden_call){op, args_copy, bytes};
}

static inline dis_status hidden_now(hidden_session *s, dis__op op, const void *args)
{
    hidden_record(s, (int)op, args, dis__args_size(op));
    return hidden_do(s, (int)op, args, 0);
}

/* What waits since that layer or longer. */
static inline dis_status hidden_catch_up(hidden_session *s, size_t layer)
{
    dis_status status = DIS_OK;
    size_t n = 0;
    while (n < s->n_late && s->late[n].layer <= layer) {
        if (status == DIS_OK) status = hidden_now(s, s->late[n].op, s->late[n].args);
        free(s->late[n++].args);
    }
    memmove(s->late, s->late + n, (s->n_late - n) * sizeof *s->late);
    s->n_late -= n;
    return status;
}

static inline dis_status hidden_wait(hidden_session *s, dis__op op, const void *args)
{
    if (s->n_late == HIDDEN_LATE) DIS_TRY(hidden_catch_up(s, SIZE_MAX));
    void *args_copy = memcpy(malloc(dis__args_size(op)), args, dis__args_size(op));
    s->late[s->n_late++] = (hidden_late){op, args_copy, s->layer};
    return DIS_OK;
}

static inline dis_status hidden_layer_done(void *session)
{
    hidden_session *s = session;
    const size_t now = s->layer++;
    return now >= HIDDEN_LAG ? hidden_catch_up(s, now - HIDDEN_LAG) : DIS_OK;
}

static inline bool hidden_later(dis__op op, const void *args)
{
    return (op == DIS_OP_product && ((const dis__product_args *)args)->later) ||
           (op == DIS_OP_column_sums && ((const dis__column_sums_args *)args)->later) ||
           (op == DIS_OP_layernorm_param_grad && ((const dis__layernorm_args *)args)->later) ||
           (op == DIS_OP_square_sums && ((const dis__square_sums_args *)args)->later);
}

/* The input's gradient now, the weight's later. */
static inline dis_status hidden_conv_grad(hidden_session *s, const dis__conv_args *args)
{
    dis__conv_args by_weight = *args, by_input = *args;
    by_weight.dx = NULL;
    by_input.d_weight = NULL;
    if (args->d_weight) DIS_TRY(hidden_wait(s, DIS_OP_conv_grad, &by_weight));
    return args->dx ? hidden_now(s, DIS_OP_conv_grad, &by_input) : DIS_OK;
}

static inline dis_status hidden_zero(void *session, void *to, size_t bytes)
{
    if (((hidden_session *)session)->losing) return DIS_OK;
    DIS_TRY(hidden_catch_up(session, SIZE_MAX));
    hidden_record(session, HIDDEN_ZERO, to, bytes);
    return hidden_do(session, HIDDEN_ZERO, to, bytes);
}

static inline dis_status hidden_run(void *session, dis__op op, const void *args)
{
    hidden_session *s = session;
    if (s->losing) return DIS_OK;
    if (hidden_later(op, args)) return hidden_wait(s, op, args);
    if (op == DIS_OP_conv_grad && ((const dis__conv_args *)args)->later) return hidden_conv_grad(s, args);
    if (op == DIS_OP_square_sums || op == DIS_OP_clip || op == DIS_OP_update) DIS_TRY(hidden_catch_up(s, SIZE_MAX));
    return hidden_now(s, op, args);
}

static inline dis_status hidden_begin_step(void *session, const uint64_t *key, size_t n, bool *replayed)
{
    hidden_session *s = session;
    *replayed = false;
    for (size_t i = 0; i < s->n_steps; i++) {
        const hidden_step *step = &s->step[i];
        if (step->n != n || memcmp(step->key, key, n * sizeof *key) != 0) continue;
        for (size_t c = 0; c < step->n_calls; c++)
            DIS_TRY(hidden_do(s, step->call[c].op, step->call[c].args, step->call[c].bytes));
        s->n_replayed++;
        *replayed = true;
        return DIS_OK;
    }
    if (s->n_steps == HIDDEN_STEPS) return DIS_OK;
    s->recording = &s->step[s->n_steps++];
    *s->recording =
        (hidden_step){.key = malloc(n * sizeof *key + 1), .n = n, .call = malloc(HIDDEN_CALLS * sizeof(hidden_call))};
    memcpy(s->recording->key, key, n * sizeof *key);
    s->losing = s->n_steps % 2;
    return DIS_OK;
}

static inline dis_status hidden_end_step(void *session, bool *again)
{
    hidden_session *s = session;
    *again = s->losing;
    s->losing = false;
    if (*again) return DIS_OK;
    DIS_TRY(hidden_catch_up(s, SIZE_MAX));
    const bool rounded = !s->recording || s->recording->n_calls < HIDDEN_CALLS;
    s->recording = NULL;
    return rounded ? DIS_OK : dis__fail(DIS_EBUG, "a step of too many operations to be recorded");
}

static inline size_t hidden_plan(void *session, dis__op op, const void *args)
{
    return dis__host_plan(((hidden_session *)session)->host, op, args);
}

static inline size_t hidden_own_bytes(const void *session, const dis_context *ctx)
{
    return dis__host_own_bytes(((const hidden_session *)session)->host, ctx);
}

static inline dis_status hidden_begin(void *session, dis_context *ctx)
{
    return dis__host_begin(((hidden_session *)session)->host, ctx);
}

static inline bool hidden_serve(void *session, dis_context *ctx)
{
    return dis__host_serve(((hidden_session *)session)->host, ctx);
}

static inline dis_status hidden_synchronise(void *session)
{
    return ((hidden_session *)session)->recording ? dis__fail(DIS_EBUG, "a step waits for the device") : DIS_OK;
}

static inline void hidden_describe(const dis__device *device, char *text, size_t n)
{
    (void)device;
    snprintf(text, n, "protected pages");
}

static const dis__device hidden_device;
/* For dis__device_row_add(): the registry then knows it as "hidden". */
static const dis__device_row hidden_row = {
    .name = "hidden",
    .machine = "hidden",
    .network = {{.functions = &hidden_device, .size = sizeof(dis__device)}},
};
static const dis__device hidden_device = {.name = "hidden",
                                          .summary = "ref, in memory that only the device can look at",
                                          .row = &hidden_row,
                                          .trains = true,
                                          .number = {DIS_FLOAT64, DIS_FLOAT64, DIS_FLOAT64},
                                          .describe = hidden_describe,
                                          .round = 128,
                                          .lag = HIDDEN_LAG,
                                          .open = hidden_open,
                                          .close = hidden_close,
                                          .plan = hidden_plan,
                                          .own_bytes = hidden_own_bytes,
                                          .fits = dis__host_fits,
                                          .begin = hidden_begin,
                                          .serve = hidden_serve,
                                          .allocate = hidden_allocate,
                                          .release = hidden_release,
                                          .copy_in = hidden_copy_in,
                                          .copy_out = hidden_copy_out,
                                          .zero = hidden_zero,
                                          .run = hidden_run,
                                          .begin_step = hidden_begin_step,
                                          .end_step = hidden_end_step,
                                          .layer_done = hidden_layer_done,
                                          .synchronise = hidden_synchronise};

#endif
