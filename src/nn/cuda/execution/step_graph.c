/* Steps as CUDA graphs, one per key. The first step of a key runs directly, which loads its kernels and selects its
 * GEMMs; the second is captured and launched; all further ones are one launch. A key is a list of integers, hashed and
 * compared in full.
 *
 * A capture is invalidated if any thread of the process synchronizes the whole device. The calls of this library that
 * do so (allocating and freeing memory, the first launch of a graph) wait for the lock; the driver may also do so when
 * it loads a kernel or allocates local memory in another thread. Then the step is run directly. */
#include "nn/cuda/common/cuda_host.h"
#include "nn/cuda/execution/graph_fills.h"
#include "core/cuda/cuda_memory.h"
#include <string.h>

enum {
    STEPS = 1024, /* maximum number of keys; further ones are run directly */
    TRIES = 3     /* attempts to capture a key */
};

typedef struct {
    uint64_t hash, *key;
    size_t n;
    cudaGraphExec_t graph; /* NULL: it has run once */
    int lost;              /* captures */
} step;

struct dis__cuda_steps {
    step step[STEPS];
    size_t n;
    step *recording; /* NULL: nothing is being captured */
};

dis_status dis__cuda_steps_open(dis__cuda_session *s)
{
    return s->host->alloc_zeroed(&s->steps, 1, sizeof *s->steps);
}

void dis__cuda_steps_close(dis__cuda_session *s)
{
    if (!s->steps) return;
    for (size_t i = 0; i < s->steps->n; i++) {
        if (s->steps->step[i].graph) cudaGraphExecDestroy(s->steps->step[i].graph);
        s->host->free(s->steps->step[i].key);
    }
    s->host->free(s->steps);
}

bool dis__cuda_recording(const dis__cuda_session *s)
{
    return s->steps->recording != NULL;
}

static uint64_t hash_of(const uint64_t *key, size_t n)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a, by words */
    for (size_t i = 0; i < n; i++) h = (h ^ key[i]) * 1099511628211u;
    return h;
}

static step *find(dis__cuda_steps *steps, const uint64_t *key, size_t n, uint64_t hash)
{
    for (size_t i = 0; i < steps->n; i++) {
        step *t = &steps->step[i];
        if (t->hash == hash && t->n == n && memcmp(t->key, key, n * sizeof *key) == 0) return t;
    }
    return NULL;
}

static dis_status remember(dis__cuda_session *s, const uint64_t *key, size_t n, uint64_t hash)
{
    dis__cuda_steps *steps = s->steps;
    if (steps->n == STEPS) return DIS_OK;
    step t = {.hash = hash, .n = n};
    DIS_TRY(s->host->alloc_zeroed(&t.key, n, sizeof *key));
    memcpy(t.key, key, n * sizeof *key);
    steps->step[steps->n++] = t;
    return DIS_OK;
}

dis_status dis__cuda_begin_step(void *session, const uint64_t *key, size_t n, bool *replayed)
{
    dis__cuda_session *s = session;
    cudaSetDevice(s->ordinal);
    const uint64_t hash = hash_of(key, n);
    step *t = find(s->steps, key, n, hash);
    *replayed = false;
    CUDA_TRY(s, dis__cuda_refresh(s), "copying parameters");
    CUDA_TRY(s, dis__cuda_flush(s), "update");
    dis__cuda_set_in_step(s, !t || !t->graph);
    dis__cuda_drop_bf16_gradients(s);
    if (!t) return remember(s, key, n, hash);
    if (t->lost == TRIES) return DIS_OK;
    if (t->graph) {
        *replayed = true;
        CUDA_TRY(s, cudaGraphLaunch(t->graph, s->stream), "a recorded step");
        return DIS_OK;
    }
    dis__cuda_lock(); /* until the step ends */
    const cudaError_t error = cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeRelaxed);
    if (error != cudaSuccess) dis__cuda_unlock();
    CUDA_TRY(s, error, "recording a step");
    s->steps->recording = t;
    return DIS_OK;
}

static cudaError_t replace_memsets(dis__cuda_session *s, cudaGraph_t graph)
{
    cudaGraphNode_t *nodes = NULL;
    size_t n = 0;
    cudaError_t error = cudaGraphGetNodes(graph, NULL, &n);
    if (error != cudaSuccess || n == 0) return error;
    if (s->host->alloc_zeroed(&nodes, n, sizeof(*nodes)) != DIS_OK)
        return cudaSuccess; /* equally correct, but
                                                                                         * slower */
    error = cudaGraphGetNodes(graph, nodes, &n);
    if (error == cudaSuccess) error = dis__cuda_replace_memsets(graph, nodes, n);
    s->host->free(nodes);
    return error;
}

/* Completes pending operations, of which there are four kinds, whether or not the step can be captured. */
static cudaError_t end_all(dis__cuda_session *s)
{
    const cudaError_t error = dis__cuda_flush(s);
    for (int i = 0; error != cudaSuccess && i < 3; i++) dis__cuda_flush(s);
    return error;
}

/* Instantiates the captured step as a graph, and launches it. */
static cudaError_t keep(dis__cuda_session *s, step *t)
{
    cudaGraph_t graph = NULL;
    const cudaError_t waiting = end_all(s), ended = cudaStreamEndCapture(s->stream, &graph);
    if (ended != cudaSuccess) return ended;
    cudaError_t error = waiting;
    if (error == cudaSuccess) error = replace_memsets(s, graph);
    if (error == cudaSuccess) error = cudaGraphInstantiate(&t->graph, graph, 0);
    if (error == cudaErrorMemoryAllocation) { /* releasing cached memory may suffice */
        cudaGetLastError();
        dis__cuda_free_cached();
        error = cudaGraphInstantiate(&t->graph, graph, 0);
    }
    if (error == cudaSuccess) error = cudaGraphLaunch(t->graph, s->stream);
    cudaGraphDestroy(graph);
    return error;
}

static bool was_lost(cudaError_t error)
{
    return error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread;
}

dis_status dis__cuda_end_step(void *session, bool *again)
{
    dis__cuda_session *s = session;
    step *t = s->steps->recording;
    *again = false;
    cudaSetDevice(s->ordinal);
    dis__cuda_set_in_step(s, false);
    if (!t) return dis__cuda_status(s, dis__cuda_flush(s), "update");
    s->steps->recording = NULL;
    const cudaError_t error = keep(s, t);
    dis__cuda_unlock();
    if (was_lost(error)) {
        cudaGetLastError();
        s->why[0] = 0;
        t->lost++;
        dis__cuda_drop_bf16_gradients(s);
        *again = true;
        return DIS_OK;
    }
    return dis__cuda_status(s, error, "a recorded step");
}
