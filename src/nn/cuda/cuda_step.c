/* Steps as CUDA graphs, one per key. The first step of a key runs as it comes, which loads its kernels and chooses its
 * products; the second is recorded and launched; all further ones are one launch. A key is a list of numbers, found by
 * a hash and compared in full. */
#include "nn/cuda/cuda_host.h"
#include <string.h>

enum { STEPS = 1024 }; /* keys, at most; further ones are run as they come */

typedef struct {
    uint64_t hash, *key;
    size_t n;
    cudaGraphExec_t graph; /* NULL: it has run once */
} step;

struct dis__cuda_steps {
    step step[STEPS];
    size_t n;
    step *recording; /* NULL: nothing is recorded */
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
    if (!t) return remember(s, key, n, hash);
    if (t->graph) {
        *replayed = true;
        CUDA_TRY(s, cudaGraphLaunch(t->graph, s->stream), "a step of training");
        return DIS_OK;
    }
    dis__cuda_lock(); /* until the step ends */
    const cudaError_t error = cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeRelaxed);
    if (error != cudaSuccess) dis__cuda_unlock();
    CUDA_TRY(s, error, "recording a step");
    s->steps->recording = t;
    return DIS_OK;
}

/* The recorded step becomes a graph that can be launched. */
static cudaError_t keep(dis__cuda_session *s, step *t)
{
    cudaGraph_t graph = NULL;
    const cudaError_t waiting = dis__cuda_flush(s), ended = cudaStreamEndCapture(s->stream, &graph);
    if (waiting != cudaSuccess || ended != cudaSuccess) return waiting != cudaSuccess ? waiting : ended;
    const cudaError_t error = cudaGraphInstantiate(&t->graph, graph, 0);
    cudaGraphDestroy(graph);
    return error;
}

dis_status dis__cuda_end_step(void *session)
{
    dis__cuda_session *s = session;
    step *t = s->steps->recording;
    cudaSetDevice(s->ordinal);
    if (!t) return dis__cuda_status(s, dis__cuda_flush(s), "update");
    s->steps->recording = NULL;
    cudaError_t error = keep(s, t);
    dis__cuda_unlock();
    if (error == cudaSuccess) error = cudaGraphLaunch(t->graph, s->stream);
    return dis__cuda_status(s, error, "a step of training");
}
