/* graph_fills.h: small fills of memory within a recorded step, as kernels. */
#ifndef DIS_NN_CUDA_EXECUTION_GRAPH_FILLS_H
#define DIS_NN_CUDA_EXECUTION_GRAPH_FILLS_H
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DIS_CUDA_EDGES = 64 }; /* edges of a node; nodes with more are unchanged */

/* `nodes`: all n nodes of the graph. */
cudaError_t dis__cuda_replace_memsets(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t n);

#ifdef __cplusplus
}
#endif
#endif
