/* recurrent.cuh: shared by both implementations (recurrent.cu: a kernel per step, for any size; recurrent_cluster.cu:
 * all steps in one kernel, for usual sizes in bfloat16): cells, and the relation of nodes and rows.
 *
 * Layouts (nn/layers/recurrent_layout.h) have the successors of a node, and the rows represented by a node, in
 * consecutive order: both are ranges. */
#ifndef DIS_NN_CUDA_RECURRENT_RECURRENT_CUH
#define DIS_NN_CUDA_RECURRENT_RECURRENT_CUH
#include "nn/cuda/common/vectors.cuh"

typedef struct {
    dis__recurrent_args a;
    const void *weight[2]; /* in the type of values */
    float *work;           /* backward, a kernel per step: see there */
    unsigned blocks;       /* of rows, of one direction */
} recurrent_call;

/* All steps in one kernel; false: unsupported sizes. */
bool dis__cuda_recurrent_cluster(dis__cuda_session *s, const recurrent_call *c, bool backward, cudaError_t *error);

/* Pre-activations to gates; c and h. */
template <int CELL>
__device__ __forceinline__ void cell_step(float (&g)[DIS_RECURRENT_GATES], float c0, float h0, float *c, float *h)
{
    if (CELL == DIS_CELL_LSTM) {
        g[0] = 1 / (1 + expf(-g[0]));
        g[1] = 1 / (1 + expf(-g[1]));
        g[2] = tanhf(g[2]);
        g[3] = 1 / (1 + expf(-g[3]));
        *c = g[1] * c0 + g[0] * g[2];
        *h = g[3] * tanhf(*c);
    } else {
        g[1] = 1 / (1 + expf(-g[1]));
        g[2] = 1 / (1 + expf(-g[2]));
        g[0] = tanhf(g[0] + g[1] * g[3]);
        *h = g[0] + g[2] * (h0 - g[0]);
    }
}

/* Gates to gradients of their pre-activations; dh and dc to the part passed to the previous step outside the GEMM. */
template <int CELL>
__device__ __forceinline__ void cell_grad(float (&gate)[DIS_RECURRENT_GATES], float c0, float c, float h0, float *dh,
                                          float *dc)
{
    if (CELL == DIS_CELL_LSTM) {
        const float i = gate[0], f = gate[1], g = gate[2], o = gate[3], t = tanhf(c);
        const float d = *dc + *dh * o * (1 - t * t);
        gate[3] = *dh * t * o * (1 - o);
        gate[0] = d * g * i * (1 - i);
        gate[2] = d * i * (1 - g * g);
        gate[1] = d * c0 * f * (1 - f);
        *dc = d * f;
        *dh = 0;
    } else {
        const float m = gate[0], r = gate[1], z = gate[2], s = gate[3];
        const float d = *dh * (1 - z) * (1 - m * m);
        gate[0] = d;
        gate[3] = d * r;
        gate[1] = d * s * r * (1 - r);
        gate[2] = *dh * (h0 - m) * z * (1 - z);
        *dh *= z;
    }
}

/* A block of rows of one direction. */
typedef struct {
    unsigned direction, number, rows;
    size_t first;
    const dis__recurrent_layout *layout;
    const dis__recurrent_step *steps;
} row_block;

__device__ __forceinline__ row_block block_at(const recurrent_call &g, unsigned index)
{
    row_block b;
    b.direction = index / g.blocks;
    b.number = index % g.blocks;
    b.first = (size_t)b.number * DIS_RECURRENT_BLOCK;
    b.rows = (unsigned)min((size_t)DIS_RECURRENT_BLOCK, g.a.n_rows - b.first);
    b.layout = &g.a.layout[b.direction];
    b.steps = b.layout->steps + b.number * g.a.n_times;
    return b;
}

/* For each node of a step: the rows whose gradients it receives, in the block's order, and its successors in the next
 * step. */
typedef struct {
    int row_first[DIS_RECURRENT_BLOCK], row_last[DIS_RECURRENT_BLOCK];
    int next_first[DIS_RECURRENT_BLOCK], next_last[DIS_RECURRENT_BLOCK];
    int row_node[DIS_RECURRENT_BLOCK];  /* of each row; -1: it has none at this step */
    int row_place[DIS_RECURRENT_BLOCK]; /* row n_times + t */
} node_ranges;

/* The position of row `i` of a block at step s; -1: none. */
__device__ __forceinline__ int64_t place_at(const recurrent_call &g, const row_block &b, unsigned i, size_t s)
{
    const size_t row = (size_t)b.layout->order[b.first + i], length = (size_t)b.layout->length[row];
    const size_t end = b.layout->by_end ? length : g.a.n_times;
    if (s >= end) return -1;
    const size_t t = b.direction ? end - 1 - s : s;
    return t < length ? (int64_t)(row * g.a.n_times + t) : -1;
}

/* By all threads of a block (64 at least); barriers inside. */
__device__ __forceinline__ void find_ranges(const recurrent_call &g, const row_block &b, size_t s, node_ranges *r)
{
    const int i = (int)threadIdx.x;
    const dis__recurrent_step now = b.steps[s];
    const int n_parents = s + 1 < g.a.n_times ? b.steps[s + 1].n_parents : 0;
    const int32_t *parent = n_parents ? b.layout->parent + b.steps[s + 1].begin : NULL;
    __syncthreads();
    if (i < DIS_RECURRENT_BLOCK) {
        r->row_first[i] = r->row_last[i] = r->next_first[i] = r->next_last[i] = 0;
        const int64_t place = i < (int)b.rows ? place_at(g, b, (unsigned)i, s) : -1;
        r->row_place[i] = (int)place;
        r->row_node[i] = place < 0 ? -1 : b.layout->node[place] - now.begin;
    }
    __syncthreads();
    if (i < DIS_RECURRENT_BLOCK) {
        const int node = r->row_node[i];
        if (node >= 0 && (i == 0 || r->row_node[i - 1] != node)) r->row_first[node] = i;
        if (node >= 0 && (i + 1 == DIS_RECURRENT_BLOCK || r->row_node[i + 1] != node)) r->row_last[node] = i + 1;
        if (i < n_parents) {
            const int before = parent[i] - now.begin;
            if (i == 0 || parent[i - 1] - now.begin != before) r->next_first[before] = i;
            if (i + 1 == n_parents || parent[i + 1] - now.begin != before) r->next_last[before] = i + 1;
        }
    }
    __syncthreads();
}

#endif
