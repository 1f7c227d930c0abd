/* The devices in the host's memory: `ref`, one thread in double, `cpu`, all threads in float, and `cpu-bf16`, the same
 * with weights multiplied in bfloat16 (nn/cpu/bf16.h). Copies are memcpy; operations are divided into jobs of about 64k
 * units of work (operation_jobs.h) and complete when the call returns. Steps are not recorded, since that would save
 * nothing. */
#include "nn/host/host_device.h"
#include "core/kernel.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "nn/cpu/bf16.h"
#include "nn/cpu/gemm.h"
#include "nn/host/operation_jobs.h"
#include <stdio.h>
#include <string.h>

enum { ALIGN = 64, REF_TIMES = 64 };

static dis_status open_session(void (*ops)(dis__op_function *table[DIS_N_OPS]), size_t real, size_t times, bool threads,
                               void **out)
{
    dis__host_session *s;
    DIS_TRY(dis__alloc_zeroed(&s, 1, sizeof *s));
    s->real = real;
    s->times = s->scratch_bytes = times;
    s->threads = threads;
    ops(s->op);
    *out = s;
    return DIS_OK;
}

static dis_status open_ref(const dis__device *device, void **session)
{
    (void)device;
    return open_session(dis__ops_ref, sizeof(double), REF_TIMES, false, session);
}

static dis_status open_cpu(const dis__device *device, void **session)
{
    (void)device;
    return open_session(dis__ops_cpu, sizeof(float), DIS_GEMM_SCRATCH, true, session);
}

static dis_status open_bf16(const dis__device *device, void **session)
{
    (void)device;
    return open_session(dis__ops_bf16, sizeof(float), DIS_GEMM_SCRATCH, true, session);
}

static void close_session(void *session)
{
    dis__host_session *s = session;
    if (!s) return;
    dis__free(s->scratch);
    dis__free(s);
}

size_t dis__host_plan(void *session, dis__op op, const void *args)
{
    dis__host_session *s = session;
    const size_t bytes = dis__scratch_of(op, args, s->real, s->times);
    if (bytes > SIZE_MAX - ALIGN) return SIZE_MAX;
    if (bytes > s->scratch_bytes) s->scratch_bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return dis__work_of(op, args, s->real);
}

size_t dis__host_own_bytes(const void *session, const dis_context *ctx)
{
    const dis__host_session *s = session;
    return dis__saturating_size(s->scratch_bytes, (size_t)dis_context_n_threads(ctx), 0);
}

dis_status dis__host_fits(void *session, dis_context *ctx, size_t bytes, const char *what)
{
    (void)session;
    return dis__check_memory(ctx, bytes, what);
}

dis_status dis__host_begin(void *session, dis_context *ctx)
{
    dis__host_session *s = session;
    s->ctx = ctx;
    s->n_threads = dis_context_n_threads(ctx);
    return dis__alloc_array(&s->scratch, (size_t)s->n_threads, s->scratch_bytes);
}

bool dis__host_serve(void *session, dis_context *ctx)
{
    dis__host_session *s = session;
    if (dis_context_n_threads(ctx) > s->n_threads) return false;
    s->ctx = ctx;
    return true;
}

static dis_status allocate(void *session, dis__memory what, size_t bytes, bool zeroed, void **out)
{
    (void)session;
    (void)what;
    return zeroed ? dis__alloc_zeroed(out, bytes, 1) : dis__alloc_array(out, bytes, 1);
}

static void release(void *session, void *memory)
{
    (void)session;
    dis__free(memory);
}

static dis_status copy(void *session, void *to, const void *from, size_t bytes)
{
    (void)session;
    if (bytes) memcpy(to, from, bytes);
    return DIS_OK;
}

static dis_status zero(void *session, void *to, size_t bytes)
{
    (void)session;
    if (bytes) memset(to, 0, bytes);
    return DIS_OK;
}

/* ---- operations ---- */

typedef struct {
    const dis__host_session *s;
    dis__op_function *op;
    const void *args;
    size_t n, n_jobs;
} call;

static dis_status run_job(void *arg, size_t j, int thread)
{
    const call *c = arg;
    c->op(c->args, dis__job_first(c->n, c->n_jobs, j), dis__job_first(c->n, c->n_jobs, j + 1),
          c->s->scratch + (size_t)thread * c->s->scratch_bytes);
    return DIS_OK;
}

static dis_status run_cut(const dis__host_session *s, dis__op op, const void *args, const dis__cut *cut)
{
    enum { GRAIN = 1 << 16, MAX = 64 };
    if (cut->n == 0) return DIS_OK;
    size_t n_jobs = s->threads ? dis__n_jobs(dis__saturating_size(cut->n, cut->work, 0), GRAIN, MAX) : 1;
    if (n_jobs > (cut->n + cut->min - 1) / cut->min) n_jobs = (cut->n + cut->min - 1) / cut->min;
    if (n_jobs == 1) {
        s->op[op](args, 0, cut->n, s->scratch);
        return DIS_OK;
    }
    call c = {.s = s, .op = s->op[op], .args = args, .n = cut->n, .n_jobs = n_jobs};
    return dis__run_jobs(s->ctx, n_jobs, run_job, &c);
}

dis_status dis__host_run(void *session, dis__op op, const void *args)
{
    const dis__host_session *s = session;
    union {
        dis__product_args product;
        dis__conv_args conv;
    } own; /* arguments completed by the division into jobs */
    const void *a = args;
    if (op == DIS_OP_product || op == DIS_OP_conv || op == DIS_OP_conv_grad) a = memcpy(&own, args, dis__args_size(op));
    const dis__cut cut = dis__cut_of(op, (void *)a, s->n_threads);
    DIS_TRY(run_cut(s, op, a, &cut));
    dis__column_sums_args sums;
    if (!dis__parts_of(op, a, &sums)) return DIS_OK;
    const dis__cut columns = dis__cut_of(DIS_OP_column_sums, &sums, s->n_threads);
    return run_cut(s, DIS_OP_column_sums, &sums, &columns);
}

/* ---- weights in bfloat16 ---- */

/* GEMMs whose B is constant between calls keep it in bfloat16. */
static size_t plan_bf16(void *session, dis__op op, const void *args)
{
    const dis__product_args *a = args;
    const size_t bytes = dis__host_plan(session, op, args);
    return op == DIS_OP_product && bytes != SIZE_MAX ? dis__bf16_size(a->n, a->k) : bytes;
}

static dis_status pack_job(void *arg, size_t j, int thread)
{
    (void)thread;
    dis__bf16_pack(arg, j);
    return DIS_OK;
}

static dis_status run_bf16(void *session, dis__op op, const void *args)
{
    const dis__host_session *s = session;
    const dis__product_args *a = args;
    if (op == DIS_OP_product && a->work && !a->prepared)
        DIS_TRY(dis__run_jobs(s->ctx, dis__bf16_panels(a->n), pack_job, (void *)args));
    return dis__host_run(session, op, args);
}

dis_status dis__host_begin_step(void *session, const uint64_t *key, size_t n, bool *replayed)
{
    (void)session;
    (void)key;
    (void)n;
    *replayed = false;
    return DIS_OK;
}

dis_status dis__host_end_step(void *session, bool *again)
{
    (void)session;
    *again = false;
    return DIS_OK;
}

static dis_status synchronise(void *session)
{
    (void)session;
    return DIS_OK;
}

static void describe_ref(const dis__device *device, char *text, size_t n)
{
    (void)device;
    snprintf(text, n, "plain loops, one thread");
}

static void describe_cpu(const dis__device *device, char *text, size_t n)
{
    (void)device;
    snprintf(text, n, "%s", dis__isa_name(dis__isa()));
}

static void describe_bf16(const dis__device *device, char *text, size_t n)
{
    (void)device;
    snprintf(text, n, "%s", dis__bf16_lacks() ? dis__bf16_lacks() : dis__bf16_has_tiles() ? "AMX" : "AVX512_BF16");
}

static dis_status usable_bf16(const dis__device *device)
{
    (void)device;
    const char *lacks = dis__bf16_lacks();
    return lacks ? dis__fail(DIS_EUSAGE, "bf16: %s; float32 works everywhere", lacks) : DIS_OK;
}

#define HOST                                                                                                       \
    .shares = true, .round = 1, .close = close_session, .own_bytes = dis__host_own_bytes, .fits = dis__host_fits,  \
    .begin = dis__host_begin, .serve = dis__host_serve, .allocate = allocate, .release = release, .copy_in = copy, \
    .copy_out = copy, .zero = zero, .begin_step = dis__host_begin_step, .end_step = dis__host_end_step,            \
    .synchronise = synchronise

/* Not in the registry: tests compare other devices with it. */
static const dis__device_row ref_row = {.name = "ref", .machine = "ref"};

const dis__device dis__device_ref = {.name = "ref",
                                     .summary = "one thread, float64: the reference for the other devices",
                                     .row = &ref_row,
                                     .trains = true,
                                     .number = {DIS_FLOAT64, DIS_FLOAT64, DIS_FLOAT64},
                                     .describe = describe_ref,
                                     .open = open_ref,
                                     .plan = dis__host_plan,
                                     .run = dis__host_run,
                                     HOST};

const dis__device dis__device_cpu = {.name = "cpu",
                                     .summary = "all threads of the CPU, float32",
                                     .row = &dis__device_row_cpu,
                                     .precision = DIS_PRECISION_FLOAT32,
                                     .trains = true,
                                     .number = {DIS_FLOAT32, DIS_FLOAT32, DIS_FLOAT32},
                                     .describe = describe_cpu,
                                     .open = open_cpu,
                                     .plan = dis__host_plan,
                                     .run = dis__host_run,
                                     HOST};

const dis__device dis__device_cpu_bf16 = {.name = "cpu-bf16",
                                          .summary = "all threads, matrix multiplication in bfloat16; cannot train",
                                          .row = &dis__device_row_cpu,
                                          .precision = DIS_PRECISION_BF16,
                                          .usable = usable_bf16,
                                          .number = {DIS_FLOAT32, DIS_FLOAT32, DIS_FLOAT32},
                                          .describe = describe_bf16,
                                          .open = open_bf16,
                                          .plan = plan_bf16,
                                          .run = run_bf16,
                                          HOST};
