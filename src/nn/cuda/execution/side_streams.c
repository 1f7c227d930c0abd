/* Streams in addition to a session's. Sums for the gradients of parameters (bias, gain, weight) are only needed by the
 * optimiser: they run on a side stream of lower priority, while the gradients of values are propagated. Their inputs
 * remain valid for LAG layers (dis__device.lag), so the session's stream waits for older work, and for all of it before
 * gradients of parameters are read.
 *
 * Each stream has its own work memory and counters; dis__cuda_enter_side_stream() substitutes them for the session's
 * until dis__cuda_leave_side_stream(). In a captured step, waits become edges of the graph. */
#include "nn/cuda/common/cuda_host.h"
#include "core/cuda/cuda_memory.h"

enum { LAG = DIS_CUDA_LAG };

struct dis__cuda_side {
    cudaStream_t stream, twin;
    char *scratch, *product_work, *product_twin;
    unsigned *counters;
    cudaEvent_t fork, join, before, layer[LAG];
    bool marked[LAG]; /* work of that layer is to be waited for */
    bool fresh, busy; /* work since the last layer ended; since the last join */
    bool aside;       /* the session's memory is this one's */
    bool in_step;     /* a training step is being enqueued */
    bool ahead;       /* an operation of which a part has started early on the side stream */
    size_t n_layers;
};

dis_status dis__cuda_side_open(dis__cuda_session *s)
{
    static const char doing[] = "opening";
    int lowest = 0, highest = 0;
    dis__cuda_side *side;
    DIS_TRY(s->host->alloc_zeroed(&side, 1, sizeof *side));
    s->side = side;
    CUDA_TRY(s, cudaDeviceGetStreamPriorityRange(&lowest, &highest), doing);
    CUDA_TRY(s, cudaStreamCreateWithPriority(&side->stream, cudaStreamNonBlocking, lowest), doing);
    CUDA_TRY(s, cudaStreamCreateWithPriority(&side->twin, cudaStreamNonBlocking, highest), doing);
    cudaEvent_t *const events[] = {&side->fork, &side->join, &side->before};
    for (size_t i = 0; i < 3 + LAG; i++)
        CUDA_TRY(s, cudaEventCreateWithFlags(i < 3 ? events[i] : &side->layer[i - 3], cudaEventDisableTiming), doing);
    return DIS_OK;
}

cudaError_t dis__cuda_side_begin(dis__cuda_session *s)
{
    dis__cuda_side *side = s->side;
    const size_t counters = DIS_CUDA_COUNTERS * sizeof *side->counters;
    cudaError_t error =
        dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, s->scratch_bytes, (void **)&side->scratch);
    if (error == cudaSuccess)
        error = dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, DIS_CUDA_PRODUCT, (void **)&side->product_work);
    if (error == cudaSuccess)
        error = dis__cuda_allocate(DIS_CUDA_DEVICE_MEMORY, s->ordinal, counters, (void **)&side->counters);
    return error == cudaSuccess ? cudaMemsetAsync(side->counters, 0, counters, s->stream) : error;
}

void dis__cuda_side_close(dis__cuda_session *s)
{
    dis__cuda_side *side = s->side;
    if (!side) return;
    if (side->stream) cudaStreamSynchronize(side->stream);
    if (side->twin) cudaStreamSynchronize(side->twin); /* after a failure the stream was not waited for */
    dis__cuda_release(side->scratch);
    dis__cuda_release(side->product_work);
    dis__cuda_release(side->counters);
    if (side->fork) cudaEventDestroy(side->fork);
    if (side->join) cudaEventDestroy(side->join);
    if (side->before) cudaEventDestroy(side->before);
    for (size_t i = 0; i < LAG; i++)
        if (side->layer[i]) cudaEventDestroy(side->layer[i]);
    if (side->stream) cudaStreamDestroy(side->stream);
    if (side->twin) cudaStreamDestroy(side->twin);
    s->host->free(side);
}

/* Makes later work on `to` wait for the work enqueued on `from` so far. */
static cudaError_t wait_for(cudaStream_t from, cudaEvent_t event, cudaStream_t to)
{
    const cudaError_t error = cudaEventRecord(event, from);
    return error == cudaSuccess ? cudaStreamWaitEvent(to, event, 0) : error;
}

static void exchange(dis__cuda_session *s)
{
    dis__cuda_side *side = s->side, was = *side;
    side->stream = s->stream, s->stream = was.stream;
    side->scratch = s->scratch, s->scratch = was.scratch;
    side->product_work = s->product_work, s->product_work = was.product_work;
    side->product_twin = s->product_twin, s->product_twin = was.product_twin;
    side->counters = s->counters, s->counters = was.counters;
    side->aside = !side->aside;
}

cudaError_t dis__cuda_enter_side_stream(dis__cuda_session *s)
{
    dis__cuda_side *side = s->side;
    if (!side->scratch) return cudaSuccess; /* a network that does not train */
    const cudaError_t error = wait_for(s->stream, side->fork, side->stream);
    if (error != cudaSuccess) return error;
    side->fresh = side->busy = true;
    exchange(s);
    return cudaSuccess;
}

void dis__cuda_leave_side_stream(dis__cuda_session *s)
{
    if (s->side->aside) exchange(s);
}

void dis__cuda_set_in_step(dis__cuda_session *s, bool begins)
{
    s->side->in_step = begins && s->side->scratch;
    s->side->ahead = false;
}

bool dis__cuda_fork_at_step_start(dis__cuda_session *s, const void *output, cudaStream_t *side, cudaError_t *error)
{
    dis__cuda_side *own = s->side;
    if (!own->in_step || own->aside || (!own->ahead && s->marked_output != output)) return false;
    *side = own->stream;
    if (!own->ahead) *error = cudaStreamWaitEvent(own->stream, own->before, 0);
    own->ahead = true;
    return true;
}

cudaError_t dis__cuda_join_step_start(dis__cuda_session *s)
{
    return wait_for(s->side->stream, s->side->fork, s->stream);
}

dis_status dis__cuda_layer_done(void *session)
{
    dis__cuda_session *s = session;
    dis__cuda_side *side = s->side;
    const size_t i = side->n_layers++ % LAG;
    cudaSetDevice(s->ordinal); /* the current device is per thread */
    cudaError_t error = side->marked[i] ? cudaStreamWaitEvent(s->stream, side->layer[i], 0) : cudaSuccess;
    side->marked[i] = side->fresh;
    side->fresh = false;
    if (error == cudaSuccess && side->marked[i]) error = cudaEventRecord(side->layer[i], side->stream);
    return dis__cuda_status(s, error, "a step");
}

size_t dis__cuda_layers_done(const dis__cuda_session *s)
{
    return s->side->n_layers;
}

cudaError_t dis__cuda_join_side_stream(dis__cuda_session *s)
{
    dis__cuda_side *side = s->side;
    if (!side || !side->busy) return cudaSuccess;
    side->busy = side->fresh = false;
    for (size_t i = 0; i < LAG; i++) side->marked[i] = false;
    return wait_for(side->stream, side->join, s->stream);
}

cudaError_t dis__cuda_fork_twin(dis__cuda_session *s, cudaStream_t *twin)
{
    *twin = s->side->twin;
    return wait_for(s->stream, s->side->fork, *twin);
}

cudaError_t dis__cuda_join_twin(dis__cuda_session *s)
{
    return wait_for(s->side->twin, s->side->fork, s->stream);
}

cudaError_t dis__cuda_mark_output(dis__cuda_session *s, const void *output)
{
    dis__cuda_side *side = s->side;
    if (!side->scratch || side->aside) return cudaSuccess; /* a network that does not train */
    s->marked_output = output;
    return cudaEventRecord(side->before, s->stream);
}

bool dis__cuda_fork_at_mark(dis__cuda_session *s, const void *output, cudaStream_t *twin, cudaError_t *error)
{
    if (!output || s->marked_output != output) return false;
    *twin = s->side->twin;
    *error = cudaStreamWaitEvent(*twin, s->side->before, 0);
    return true;
}
