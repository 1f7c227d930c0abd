/* CUDA devices: two rows for each GPU, with values in bfloat16 and in float32. A session has its own stream, so several
 * networks run in parallel; memory is allocated when a network is planned and never within a step, and freed memory is
 * cached for the next network (cuda_memory.h).
 *
 * Parameters have a copy in bfloat16, which GEMMs read; the optimiser writes both. Other writes to parameters (copies,
 * initialization) make the copy stale, and it is rebuilt before the next operation. */
#include "nn/cuda/common/cuda_host.h"
#include "nn/cuda/dense/cublas_library.h"
#include "nn/cuda/conv/cudnn_conv.h"
#include "nn/cuda/session/nccl_sums.h"
#include "core/cuda/cuda_memory.h"
#include "core/cuda/cuda_session.h"
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

static const char less_memory[] = "smaller batches or fewer runs in parallel need less";

dis_status dis__cuda_status(dis__cuda_session *s, cudaError_t error, const char *doing)
{
    if (error == cudaErrorNotSupported && s->why[0]) {
        cudaGetLastError(); /* so that it is reported once */
        return s->host->fail(DIS_ELIMIT, "%s: device cuda:%d does not have %s; `device` cpu does", doing, s->ordinal,
                             s->why);
    }
    if (error != cudaErrorMemoryAllocation && error != cudaSuccess && s->why[0]) {
        cudaGetLastError();
        return dis__cuda_lost(s->host->fail, s->ordinal, s->why, doing);
    }
    return dis__cuda_error_status(s->host->fail, s->ordinal, error, doing, less_memory);
}

cudaError_t dis__cuda_unsupported(dis__cuda_session *s, const char *what, size_t highest, const char *of)
{
    snprintf(s->why, sizeof s->why, "%s of more than %zu %s", what, highest, of);
    return cudaErrorNotSupported;
}

/* ---- sessions ---- */

static void close_session(void *session)
{
    dis__cuda_session *s = session;
    if (!s) return;
    cudaSetDevice(s->ordinal);
    if (s->stream) cudaStreamSynchronize(s->stream);
    dis__cuda_lock();
    dis__cuda_steps_close(s);
    dis__cuda_plans_close(s);
    dis__cuda_copies_close(s);
    dis__cuda_update_close(s);
    dis__cuda_side_close(s);
    dis__cuda_layernorm_close(s);
    dis__cudnn_close(s);
    dis__nccl_close(s);
    dis__cuda_release(s->copy);
    dis__cuda_release(s->gradients);
    dis__cuda_release(s->scratch);
    dis__cuda_release(s->product_work);
    dis__cuda_release(s->product_twin);
    dis__cuda_release(s->counters);
    dis__cuda_release(s->exchange);
    if (s->stream) cudaStreamDestroy(s->stream);
    dis__cuda_unlock();
    s->host->free(s);
}

static dis_status open_parts(dis__cuda_session *s)
{
    static const char doing[] = "opening";
    int lowest = 0, highest = 0, shared = 0;
    CUDA_TRY(s, cudaSetDevice(s->ordinal), doing);
    CUDA_TRY(s, cudaDeviceGetAttribute(&s->n_processors, cudaDevAttrMultiProcessorCount, s->ordinal), doing);
    CUDA_TRY(s, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, s->ordinal), doing);
    s->shared = (size_t)shared;
    CUDA_TRY(s, cudaDeviceGetStreamPriorityRange(&lowest, &highest), doing); /* before work on the side stream */
    CUDA_TRY(s, cudaStreamCreateWithPriority(&s->stream, cudaStreamNonBlocking, highest), doing);
    CUDA_TRY(s, dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, DIS_CUDA_PRODUCT, (void **)&s->product_work),
             doing);
    CUDA_TRY(s, dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, DIS_CUDA_PRODUCT, (void **)&s->product_twin),
             doing);
    CUDA_TRY(s,
             dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, DIS_CUDA_COUNTERS * sizeof *s->counters,
                                (void **)&s->counters),
             doing);
    CUDA_TRY(s, cudaMemsetAsync(s->counters, 0, DIS_CUDA_COUNTERS * sizeof *s->counters, s->stream), doing);
    CUDA_TRY(s, dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, DIS_CUDA_EXCHANGE, &s->exchange), doing);
    CUDA_TRY(s, cudaMemsetAsync(s->exchange, 255, DIS_CUDA_EXCHANGE, s->stream), doing);
    DIS_TRY(dis__cuda_copies_open(s));
    DIS_TRY(dis__cuda_plans_open(s));
    DIS_TRY(dis__cuda_update_open(s));
    DIS_TRY(dis__cuda_side_open(s));
    DIS_TRY(dis__cuda_layernorm_open(s));
    return dis__cuda_steps_open(s);
}

static dis_status open_session(const dis__device *device, void **session)
{
    const dis__device_host *host = device->row->host;
    dis__cuda_session *s;
    DIS_TRY(host->alloc_zeroed(&s, 1, sizeof *s));
    s->host = host;
    s->ordinal = device->row->ordinal;
    s->value = device->number[DIS_ROLE_VALUE];
    s->scratch_bytes = DIS_CUDA_SCRATCH;
    s->waiting = DIS_N_OPS;
    dis__cuda_lock();
    const dis_status status = open_parts(s);
    dis__cuda_unlock();
    if (status == DIS_OK)
        *session = s;
    else
        close_session(s);
    return status;
}

static size_t own_bytes(const void *session, const dis_context *ctx)
{
    (void)ctx;
    return 2 * ((const dis__cuda_session *)session)->scratch_bytes + DIS_CUDA_PRODUCT + DIS_CUDA_CHAIN;
}

/* The driver is not queried for up to UNASKED bytes beyond the cache: a query takes a millisecond, in which no other
 * run can allocate, and a failing allocation reports an error anyway. */
#define UNASKED ((size_t)64 << 20)

static dis_status fits(void *session, dis_context *ctx, size_t bytes, const char *what)
{
    (void)ctx;
    dis__cuda_session *s = session;
    CUDA_TRY(s, cudaSetDevice(s->ordinal), "querying its memory");
    dis__cuda_lock();
    const bool fits = bytes <= dis__cuda_cached_bytes(s->ordinal) + UNASKED;
    const dis_status status = fits ? DIS_OK : dis__cuda_check_free(s->host->fail, s->ordinal, bytes, what, less_memory);
    dis__cuda_unlock();
    return status;
}

static dis_status begin(void *session, dis_context *ctx)
{
    (void)ctx;
    dis__cuda_session *s = session;
    CUDA_TRY(s, cudaSetDevice(s->ordinal), "taking memory");
    dis__cuda_lock();
    cudaError_t error = dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, s->scratch_bytes, (void **)&s->scratch);
    if (error == cudaSuccess && s->region[DIS_MEMORY_GRADS].at) error = dis__cuda_side_begin(s);
    if (error == cudaSuccess && s->region[DIS_MEMORY_GRADS].at) error = dis__cuda_layernorm_begin(s);
    dis__cuda_unlock();
    return dis__cuda_status(s, error, "taking memory for operations");
}

/* May be called by any thread: the current device is a per-thread setting. */
static bool serve(void *session, dis_context *ctx)
{
    (void)ctx;
    return cudaSetDevice(((dis__cuda_session *)session)->ordinal) == cudaSuccess;
}

/* ---- memory ---- */

static cudaError_t allocate_memory(dis__cuda_session *s, dis__memory what, size_t room, bool zeroed, void **at)
{
    cudaError_t error = dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, room, at);
    if (error != cudaSuccess) return error;
    if (zeroed) error = cudaMemsetAsync(*at, 0, room, s->stream);
    if (error == cudaSuccess && what == DIS_MEMORY_PARAMS && s->value != DIS_FLOAT32 && !s->copy)
        error = dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, room / 2 + 256, &s->copy);
    if (error == cudaSuccess && what == DIS_MEMORY_GRADS && s->keeps_bf16_gradients && !s->gradients)
        error = dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, room / 2 + 256, &s->gradients);
    if (error == cudaSuccess) return error;
    cudaStreamSynchronize(s->stream); /* zeros are not written to memory of another network */
    dis__cuda_release(*at);
    return error;
}

static dis_status allocate(void *session, dis__memory what, size_t bytes, bool zeroed, void **out)
{
    dis__cuda_session *s = session;
    void *at = NULL;
    CUDA_TRY(s, cudaSetDevice(s->ordinal), "taking memory");
    dis__cuda_lock();
    const cudaError_t error = allocate_memory(s, what, bytes ? bytes : 256, zeroed, &at);
    dis__cuda_unlock();
    CUDA_TRY(s, error, "allocating memory for a network");
    s->region[what] = (dis__cuda_region){at, bytes};
    if (what == DIS_MEMORY_PARAMS) s->stale = true;
    *out = at;
    return DIS_OK;
}

static void release(void *session, void *memory)
{
    dis__cuda_session *s = session;
    if (!memory) return;
    cudaSetDevice(s->ordinal);
    dis__cuda_upload_batch(s);
    dis__cuda_join_side_stream(s);
    cudaStreamSynchronize(s->stream);
    dis__cuda_lock();
    dis__cuda_release(memory);
    dis__cuda_unlock();
}

dis__number dis__cuda_number(const dis__cuda_session *s, const void *pointer)
{
    const bool exact = dis__cuda_within(&s->region[DIS_MEMORY_PARAMS], pointer) ||
                       dis__cuda_within(&s->region[DIS_MEMORY_GRADS], pointer);
    return exact ? DIS_FLOAT32 : s->value;
}

const void *dis__cuda_weight(const dis__cuda_session *s, const void *param)
{
    if (!s->copy || !dis__cuda_within(&s->region[DIS_MEMORY_PARAMS], param)) return param;
    return (const char *)s->copy + ((const char *)param - s->region[DIS_MEMORY_PARAMS].at) / 2;
}

cudaError_t dis__cuda_refresh(dis__cuda_session *s)
{
    const dis__cuda_region *params = &s->region[DIS_MEMORY_PARAMS];
    if (!s->stale) return cudaSuccess;
    const cudaError_t error = dis__cuda_upload_batch(s);
    if (error != cudaSuccess) return error;
    s->stale = false;
    if (!s->copy || !params->at) return cudaSuccess;
    return dis__cuda_to_bfloat16(s, s->copy, (const float *)params->at, params->bytes / sizeof(float));
}

static dis_status zero(void *session, void *to, size_t bytes)
{
    dis__cuda_session *s = session;
    cudaSetDevice(s->ordinal);
    CUDA_TRY(s, dis__cuda_flush(s), "writing zeros");
    if (dis__cuda_within(&s->region[DIS_MEMORY_PARAMS], to)) s->stale = true;
    CUDA_TRY(s, cudaMemsetAsync(to, 0, bytes, s->stream), "writing zeros");
    return DIS_OK;
}

static dis_status copy_in(void *session, void *to, const void *from, size_t bytes)
{
    dis__cuda_session *s = session;
    if (dis__cuda_within(&s->region[DIS_MEMORY_PARAMS], to)) s->stale = true;
    return dis__cuda_copy_in(s, to, from, bytes);
}

/* ---- rows ---- */

static dis_status synchronise(void *session)
{
    dis__cuda_session *s = session;
    cudaSetDevice(s->ordinal); /* the current device is per thread */
    CUDA_TRY(s, dis__cuda_flush(s), "update");
    CUDA_TRY(s, cudaStreamSynchronize(s->stream), "waiting for work");
    return DIS_OK;
}

void dis__cuda_missing_libraries(char *text, size_t n)
{
    char why[DIS_DEVICE_WHY];
    const bool cublas = dis__cublas_open(why), cudnn = dis__cudnn_is_installed();
    snprintf(text, n, "%s%s%s", cublas ? "" : "; networks fail: ", cublas ? "" : why,
             cudnn ? "" : "; convolutions are slower: cuDNN 9 is not installed; run pip install nvidia-cudnn-cu13");
}

/* The GPU, and libraries that networks use but which were not found. */
static void describe(const dis__device *device, char *text, size_t n)
{
    struct cudaDeviceProp p;
    char missing[2 * DIS_DEVICE_WHY];
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (cudaGetDeviceProperties(&p, device->row->ordinal) != cudaSuccess) {
        snprintf(text, n, "not answering");
        return;
    }
    dis__cuda_missing_libraries(missing, sizeof missing);
    snprintf(text, n, "%s, %d multiprocessors, compute capability %d.%d, %zu MiB, CUDA %d.%d, driver for %d.%d%s",
             p.name, p.multiProcessorCount, p.major, p.minor, p.totalGlobalMem >> 20, runtime / 1000,
             runtime % 1000 / 10, driver / 1000, driver % 1000 / 10, missing);
}

static dis_status usable(const dis__device *device)
{
    char why[DIS_DEVICE_WHY];
    return dis__cublas_open(why) ? DIS_OK
                                 : device->row->host->fail(DIS_EIO,
                                                           "no CUDA device for networks: %s; `device` cpu "
                                                           "works everywhere",
                                                           why);
}

#define NAME(i) "cuda:" #i " float32"
static const char *const float32_names[DIS_CUDA_GPUS] = {NAME(0),  NAME(1),  NAME(2),  NAME(3), NAME(4),  NAME(5),
                                                         NAME(6),  NAME(7),  NAME(8),  NAME(9), NAME(10), NAME(11),
                                                         NAME(12), NAME(13), NAME(14), NAME(15)};

static dis__device device_of(const dis__device_row *row, bool float32)
{
    return (dis__device){.name = float32 ? float32_names[row->ordinal] : row->name,
                         .summary = float32 ? "a CUDA device, float32"
                                            : "a CUDA device, bfloat16 products, float32 parameters and sums",
                         .row = row,
                         .n_ops = DIS_N_OPS,
                         .precision = float32 ? DIS_PRECISION_FLOAT32 : DIS_PRECISION_BF16,
                         .trains = true,
                         .usable = usable,
                         .number = {float32 ? DIS_FLOAT32 : DIS_BFLOAT16, DIS_FLOAT32, DIS_FLOAT32},
                         .describe = describe,
                         .round = DIS_CUDA_ROUND,
                         .at_once = DIS_CUDA_AT_ONCE,
                         .sums = !float32,
                         .lag = DIS_CUDA_LAG,
                         .open = open_session,
                         .close = close_session,
                         .plan = dis__cuda_plan,
                         .own_bytes = own_bytes,
                         .fits = fits,
                         .begin = begin,
                         .serve = serve,
                         .allocate = allocate,
                         .release = release,
                         .copy_in = copy_in,
                         .copy_out = dis__cuda_copy_out,
                         .zero = zero,
                         .run = dis__cuda_run,
                         .begin_step = dis__cuda_begin_step,
                         .end_step = dis__cuda_end_step,
                         .layer_done = dis__cuda_layer_done,
                         .synchronise = synchronise,
                         .team_open = dis__nccl_open,
                         .team_id = dis__nccl_id,
                         .team_join = dis__nccl_join,
                         .team_sum = dis__nccl_sum};
}

void dis__cuda_add_networks(dis__device_row *row)
{
    static dis__device devices[DIS_CUDA_GPUS][DIS_DEVICE_NETWORKS]; /* written once, when rows are discovered */
    for (int i = 0; i < DIS_DEVICE_NETWORKS; i++) {
        dis__device *device = &devices[row->ordinal][i];
        *device = device_of(row, i > 0);
        row->network[i] = (dis__device_table){.functions = device, .size = sizeof *device};
    }
}
