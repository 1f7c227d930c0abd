/* Zero fills in captured steps. Libraries clear a few bytes of work memory before a kernel; as a graph node this is a
 * job for another engine of the device, which stalls the stream for some 10 microseconds (H200). A kernel instead takes
 * 2. */
#include "nn/cuda/execution/graph_fills.h"

enum { THREADS = 256, MAX_BYTES = 1 << 20 /* bytes; larger fills are left to the device */ };

__global__ void __launch_bounds__(THREADS) zero_kernel(unsigned char *to, size_t n, unsigned char value)
{
    const size_t e = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (e < n) to[e] = value;
}

static bool plain(const cudaMemsetParams &p)
{
    return p.height <= 1 && p.width * p.elementSize <= MAX_BYTES && p.width && (p.elementSize == 1 || p.value == 0);
}

/* Dependencies and dependents of a node. */
typedef struct {
    cudaGraphNode_t before[DIS_CUDA_EDGES], after[DIS_CUDA_EDGES];
    size_t n_before, n_after;
} edges;

/* false: there are too many, or they have additional edge data. */
static bool edges_of(cudaGraphNode_t node, edges *e)
{
    if (cudaGraphNodeGetDependencies(node, NULL, NULL, &e->n_before) != cudaSuccess || e->n_before > DIS_CUDA_EDGES ||
        cudaGraphNodeGetDependentNodes(node, NULL, NULL, &e->n_after) != cudaSuccess || e->n_after > DIS_CUDA_EDGES)
        return false;
    return (!e->n_before || cudaGraphNodeGetDependencies(node, e->before, NULL, &e->n_before) == cudaSuccess) &&
           (!e->n_after || cudaGraphNodeGetDependentNodes(node, e->after, NULL, &e->n_after) == cudaSuccess);
}

/* Inserts the kernel between the dependencies and dependents of the node, or leaves the node unchanged. */
static cudaError_t replace(cudaGraph_t graph, cudaGraphNode_t node, const cudaMemsetParams &p)
{
    cudaGraphNode_t self[DIS_CUDA_EDGES], fill_node;
    edges e;
    if (!edges_of(node, &e)) {
        cudaGetLastError(); /* clears the error, so that no launch reports it */
        return cudaSuccess;
    }
    size_t n = p.width * p.elementSize;
    unsigned char *to = (unsigned char *)p.dst, value = (unsigned char)p.value;
    void *args[] = {&to, &n, &value};
    cudaKernelNodeParams k = {};
    k.func = (void *)zero_kernel;
    k.gridDim = dim3((unsigned)((n + THREADS - 1) / THREADS));
    k.blockDim = dim3(THREADS);
    k.kernelParams = args;
    cudaError_t error = cudaGraphAddKernelNode(&fill_node, graph, e.before, e.n_before, &k);
    if (error != cudaSuccess) return error;
    for (size_t i = 0; i < e.n_after; i++) self[i] = fill_node;
    if (e.n_after) error = cudaGraphAddDependencies(graph, self, e.after, NULL, e.n_after);
    return error == cudaSuccess ? cudaGraphDestroyNode(node) : error;
}

cudaError_t dis__cuda_replace_memsets(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cudaGraphNodeType type;
        cudaMemsetParams p;
        cudaError_t error = cudaGraphNodeGetType(nodes[i], &type);
        if (error == cudaSuccess && type != cudaGraphNodeTypeMemset) continue;
        if (error == cudaSuccess) error = cudaGraphMemsetNodeGetParams(nodes[i], &p);
        if (error == cudaSuccess && plain(p)) error = replace(graph, nodes[i], p);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
