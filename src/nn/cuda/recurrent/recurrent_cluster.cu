/* Recurrent layers, all steps of a block of 64 rows in one kernel: in bfloat16, for 64, 128 or 256 units.
 *
 * A cluster of hidden / 32 thread blocks processes the steps together. Each block has 32 units: their rows of the
 * recurrent weight stay in shared memory, in tensor-core layout. A step multiplies the previous states (forward) or the
 * gradients of all gates (backward), which the blocks of the cluster wrote in the previous step and which are in the L2
 * cache. It ends with a cluster barrier: no launch, no device-wide synchronization. c and the gradients passed from
 * step to step stay float32.
 *
 * Forward a warp has 8 units and all four gates of its rows, so that the cell works on registers. Backward a warp has
 * one gate's share of the sum over gates; the four shares are added in order. */
#include "nn/cuda/recurrent/recurrent.cuh"
#include "nn/cuda/common/mma.cuh"

enum { UNITS = 32, ROWS = DIS_RECURRENT_BLOCK, GATES = DIS_RECURRENT_GATES, THREADS = 256 };

template <int CELL> struct cell_of {
    enum { N_STATE = CELL == DIS_CELL_LSTM ? 4 : 3, FIRST = CELL == DIS_CELL_LSTM ? 0 : 1 };
};

/* Before sm_90 there are no clusters: these kernels are compiled, but never run. */
__device__ __forceinline__ void cluster_arrive()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ void cluster_wait()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ float2 pair_of(uint32_t w)
{
    return make_float2(__uint_as_float(w << 16), __uint_as_float(w & 0xffff0000u));
}

/* ---- forward ---- */

template <int CELL, int H> struct forward_room {
    bf16 weight[cell_of<CELL>::N_STATE * UNITS][H + 8];
    bf16 state[ROWS][H + 8];
};

/* A thread's part of the forward kernel: rows lane / 4 and + 8 of tiles `half` and half + 2, units `unit` and unit +
 * 1. */
typedef struct {
    int lane, group, half;
    size_t unit;
} forward_thread;

/* The input part of a step's pre-activations. */
template <int H>
__device__ __forceinline__ void load_inputs(const recurrent_call &g, const row_block &b, const forward_thread &t,
                                            const dis__recurrent_step &step, uint32_t (&in)[2][2][GATES])
{
    const bf16 *projected = (const bf16 *)g.a.projected[b.direction], *gates = (const bf16 *)g.a.gates[b.direction];
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const int i = (t.half + 2 * m) * 16 + r * 8 + t.lane / 4;
            const size_t at = (size_t)(step.begin + (i < step.count ? i : 0));
            const size_t from = projected ? (size_t)b.layout->from[at] : at;
            const bf16 *row = (projected ? projected : gates) + from * GATES * H + t.unit;
#pragma unroll
            for (int q = 0; q < GATES; q++) in[m][r][q] = *reinterpret_cast<const uint32_t *>(row + q * H);
        }
}

/* GEMM of the previous states, for tiles with active rows. */
template <int CELL, int H>
__device__ __forceinline__ void forward_products(const forward_room<CELL, H> *room, const forward_thread &t,
                                                 int n_parents, float (&sum)[2][cell_of<CELL>::N_STATE][4])
{
    enum { N = cell_of<CELL>::N_STATE };
    const int tile = t.lane / 8, within = t.lane % 8;
#pragma unroll 4
    for (int k = 0; k < H; k += 16) {
        uint32_t w[4][2];
#pragma unroll
        for (int q = 0; q < 4; q += 2) {
            uint32_t r[4];
            const int gate = q + tile / 2 < N ? q + tile / 2 : N - 1;
            ldmatrix_x4(r, &room->weight[gate * UNITS + t.group * 8 + within][k + tile % 2 * 8]);
            w[q][0] = r[0], w[q][1] = r[1], w[q + 1][0] = r[2], w[q + 1][1] = r[3];
        }
#pragma unroll
        for (int m = 0; m < 2; m++) {
            if ((t.half + 2 * m) * 16 >= n_parents) continue;
            uint32_t x[4];
            ldmatrix_x4(x, &room->state[(t.half + 2 * m) * 16 + t.lane % 16][k + t.lane / 16 * 8]);
#pragma unroll
            for (int q = 0; q < N; q++) mma_16x8x16(sum[m][q], x, w[q][0], w[q][1]);
        }
    }
}

/* The cell for a row's two units: r is the row within the tile's halves. */
template <int CELL, int H>
__device__ __forceinline__ void finish_row(const recurrent_call &g, const row_block &b, const forward_thread &t,
                                           const dis__recurrent_step &step, int i, int r,
                                           const float (&sum)[cell_of<CELL>::N_STATE][4], const uint32_t (&in)[GATES])
{
    if (i >= step.count) return;
    const size_t at = (size_t)(step.begin + i);
    bf16 *const state = (bf16 *)g.a.state[b.direction];
    float *const memory = (float *)g.a.memory[b.direction];
    float2 c0 = make_float2(0, 0), h0 = c0;
    if (i < step.n_parents) {
        const size_t before = (size_t)b.layout->parent[at] * H + t.unit;
        if (CELL == DIS_CELL_LSTM) c0 = __ldcg(reinterpret_cast<const float2 *>(memory + before));
        if (CELL == DIS_CELL_GRU) h0 = pair_of(__ldcg(reinterpret_cast<const uint32_t *>(state + before)));
    }
    float gate[2][GATES], c[2], h[2];
#pragma unroll
    for (int q = 0; q < GATES; q++) {
        const float2 x = pair_of(in[q]);
        const int s = q - cell_of<CELL>::FIRST;
        gate[0][q] = s >= 0 && s < cell_of<CELL>::N_STATE ? x.x + sum[s < 0 ? 0 : s][r * 2] : x.x;
        gate[1][q] = s >= 0 && s < cell_of<CELL>::N_STATE ? x.y + sum[s < 0 ? 0 : s][r * 2 + 1] : x.y;
    }
    cell_step<CELL>(gate[0], c0.x, h0.x, &c[0], &h[0]);
    cell_step<CELL>(gate[1], c0.y, h0.y, &c[1], &h[1]);
    *reinterpret_cast<uint32_t *>(state + at * H + t.unit) = pair_to(h[0], h[1]);
    if (CELL == DIS_CELL_LSTM) *reinterpret_cast<float2 *>(memory + at * H + t.unit) = make_float2(c[0], c[1]);
    if (g.a.forget) return;
    bf16 *const gates = (bf16 *)g.a.gates[b.direction] + at * GATES * H + t.unit;
#pragma unroll
    for (int q = 0; q < GATES; q++) *reinterpret_cast<uint32_t *>(gates + q * H) = pair_to(gate[0][q], gate[1][q]);
}

template <int CELL, int H> __global__ void __launch_bounds__(THREADS, 2) forward_kernel(recurrent_call g)
{
    extern __shared__ __align__(16) char memory[];
    enum { N = cell_of<CELL>::N_STATE, CLUSTER = H / UNITS, WORDS = H / 8 };
    forward_room<CELL, H> *const room = (forward_room<CELL, H> *)memory;
    const unsigned rank = blockIdx.x % CLUSTER;
    const row_block b = block_at(g, blockIdx.x / CLUSTER);
    const int warp = (int)threadIdx.x / 32;
    forward_thread t = {(int)threadIdx.x % 32, warp % 4, warp / 4, 0};
    t.unit = rank * UNITS + (size_t)t.group * 8 + (size_t)(t.lane % 4) * 2;
    const bf16 *weight = (const bf16 *)g.weight[b.direction], *state = (const bf16 *)g.a.state[b.direction];
    for (int e = (int)threadIdx.x; e < N * UNITS * WORDS; e += THREADS) {
        const int row = e / WORDS, word = e % WORDS * 8;
        copy_16(&room->weight[row][word],
                weight + ((size_t)(row / UNITS) * H + rank * UNITS + (size_t)(row % UNITS)) * H + word, true);
    }
    copies_commit();
    bool arrived = false;
    for (size_t s = 0; s < g.a.n_times; s++) {
        const dis__recurrent_step step = b.steps[s];
        if (step.count == 0) continue;
        uint32_t in[2][2][GATES];
        float sum[2][N][4] = {};
        load_inputs<H>(g, b, t, step, in);
        if (arrived) cluster_wait();
        if (step.n_parents) {
            const int32_t *parent = b.layout->parent + step.begin;
            const int rows = (step.n_parents + 15) / 16 * 16;
            for (int e = (int)threadIdx.x; e < rows * WORDS; e += THREADS) {
                const int i = e / WORDS, word = e % WORDS * 8;
                copy_16(&room->state[i][word], state + (size_t)parent[i < step.n_parents ? i : 0] * H + word,
                        i < step.n_parents);
            }
            copies_commit();
            copies_wait<0>();
            __syncthreads();
            forward_products<CELL, H>(room, t, step.n_parents, sum);
        }
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int r = 0; r < 2; r++)
                finish_row<CELL, H>(g, b, t, step, (t.half + 2 * m) * 16 + r * 8 + t.lane / 4, r, sum[m], in[m][r]);
        __syncwarp();
        cluster_arrive();
        arrived = true;
    }
    if (arrived) cluster_wait();
    copies_wait<0>();
}

/* ---- backward ---- */

enum {
    SPARE = 32,
    DEEP = ROWS * UNITS / THREADS
}; /* SPARE: pads rows so that eight rows of the weight use different
                                                     * banks */

template <int CELL, int H> struct backward_room {
    bf16 weight[UNITS][cell_of<CELL>::N_STATE * H + SPARE]; /* by unit */
    float share[cell_of<CELL>::N_STATE][ROWS][UNITS];       /* of the gradients of the states before a step */
    float passing[ROWS][UNITS];                             /* LSTM: dc; GRU: dh outside the GEMM */
    node_ranges ranges;
};

/* Offset of column u of a row, with tiles of 8 rows spread over the banks. */
__device__ __forceinline__ int spread(int row, int u)
{
    return u ^ (row & 3) << 3;
}

/* dh and dc of a node, from its rows and its successors. */
template <int CELL, int H>
__device__ __forceinline__ void read_gradients(const recurrent_call &g, const row_block &b,
                                               const backward_room<CELL, H> *room, int i, int u, size_t unit, float *dh,
                                               float *dc)
{
    const size_t ld = g.a.n_directions * H;
    const bf16 *const dy = (const bf16 *)g.a.dy + b.direction * H + unit;
    for (int r = room->ranges.row_first[i]; r < room->ranges.row_last[i]; r++)
        *dh += as_float(dy[(size_t)room->ranges.row_place[r] * ld]);
    for (int j = room->ranges.next_first[i]; j < room->ranges.next_last[i]; j++) {
        float next = CELL == DIS_CELL_GRU ? room->passing[j][u] : 0;
#pragma unroll
        for (int q = 0; q < cell_of<CELL>::N_STATE; q++) next += room->share[q][j][spread(j, u)];
        *dh += next;
        if (CELL == DIS_CELL_LSTM) *dc += room->passing[j][u];
    }
}

/* The gradients of the gates of node i of a step; returns the part passed to the previous step. */
template <int CELL, int H>
__device__ __forceinline__ float gates_backward(const recurrent_call &g, const row_block &b,
                                                const backward_room<CELL, H> *room, const dis__recurrent_step &step,
                                                int i, size_t unit)
{
    const size_t at = (size_t)(step.begin + i);
    bf16 *const gates = (bf16 *)g.a.gates[b.direction] + at * GATES * H + unit;
    const bf16 *const state = (const bf16 *)g.a.state[b.direction];
    const float *const memory = (const float *)g.a.memory[b.direction];
    float gate[GATES], dh = 0, dc = 0, c0 = 0, h0 = 0, c = 0;
#pragma unroll
    for (int q = 0; q < GATES; q++) gate[q] = as_float(gates[q * H]);
    if (CELL == DIS_CELL_LSTM) c = memory[at * H + unit];
    if (i < step.n_parents) {
        const size_t before = (size_t)b.layout->parent[at] * H + unit;
        if (CELL == DIS_CELL_LSTM) c0 = memory[before];
        h0 = as_float(state[before]);
    }
    read_gradients<CELL, H>(g, b, room, i, (int)threadIdx.x % UNITS, unit, &dh, &dc);
    cell_grad<CELL>(gate, c0, c, h0, &dh, &dc);
#pragma unroll
    for (int q = 0; q < GATES; q++) gates[q * H] = from_float<bf16>(gate[q]);
    ((bf16 *)g.a.before[b.direction])[at * H + unit] = from_float<bf16>(h0);
    return CELL == DIS_CELL_LSTM ? dc : dh;
}

/* 8 values of a row of gates' gradients: a lane's part of A in two multiplications. The assignment of k to lanes is
 * free as long as B has the same. */
__device__ __forceinline__ uint4 gate_words(const bf16 *row, bool in_range)
{
    return in_range ? __ldcg(reinterpret_cast<const uint4 *>(row)) : make_uint4(0, 0, 0, 0);
}

/* One gate's share of the gradients of the previous states, for tiles `half` and half + 2 of the rows. */
template <int CELL, int H>
__device__ __forceinline__ void states_backward(const recurrent_call &g, const row_block &b,
                                                backward_room<CELL, H> *room, const dis__recurrent_step &step)
{
    const int lane = (int)threadIdx.x % 32, gate = (int)threadIdx.x / 32 % 4, half = (int)threadIdx.x / 128;
    if (gate >= cell_of<CELL>::N_STATE) return;
    const bf16 *const from =
        (const bf16 *)g.a.gates[b.direction] + (size_t)step.begin * GATES * H + (cell_of<CELL>::FIRST + gate) * H;
    for (int tile = half; tile * 16 < step.n_parents; tile += 2) {
        const int row = tile * 16 + lane / 4;
        const bf16 *const low = from + (size_t)row * GATES * H + lane % 4 * 8, *const high = low + 8 * GATES * H;
        float sum[4][4] = {};
#pragma unroll 4
        for (int k = 0; k < H; k += 32) {
            const uint4 x = gate_words(low + k, row < step.n_parents),
                        y = gate_words(high + k, row + 8 < step.n_parents);
            const uint32_t first[4] = {x.x, y.x, x.y, y.y}, second[4] = {x.z, y.z, x.w, y.w};
#pragma unroll
            for (int n = 0; n < 4; n++) {
                const uint4 w =
                    *reinterpret_cast<const uint4 *>(&room->weight[n * 8 + lane / 4][gate * H + k + lane % 4 * 8]);
                mma_16x8x16(sum[n], first, w.x, w.y);
                mma_16x8x16(sum[n], second, w.z, w.w);
            }
        }
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const int u = n * 8 + lane % 4 * 2;
            *reinterpret_cast<float2 *>(&room->share[gate][row][spread(row, u)]) = make_float2(sum[n][0], sum[n][1]);
            *reinterpret_cast<float2 *>(&room->share[gate][row + 8][spread(row + 8, u)]) =
                make_float2(sum[n][2], sum[n][3]);
        }
    }
}

template <int CELL, int H> __global__ void __launch_bounds__(THREADS, 2) backward_kernel(recurrent_call g)
{
    extern __shared__ __align__(16) char memory[];
    enum { N = cell_of<CELL>::N_STATE, CLUSTER = H / UNITS };
    backward_room<CELL, H> *const room = (backward_room<CELL, H> *)memory;
    const unsigned rank = blockIdx.x % CLUSTER;
    const row_block b = block_at(g, blockIdx.x / CLUSTER);
    const int u = (int)threadIdx.x % UNITS, first = (int)threadIdx.x / UNITS;
    const size_t unit = rank * UNITS + (size_t)u;
    const bf16 *weight = (const bf16 *)g.weight[b.direction];
    for (int k = first; k < N * H; k += THREADS / UNITS) room->weight[u][k] = weight[(size_t)k * H + unit];
    for (size_t s = g.a.n_times; s-- > 0;) {
        const dis__recurrent_step step = b.steps[s];
        find_ranges(g, b, s, &room->ranges); /* its barriers also separate the steps */
        if (step.count == 0) continue;
        float pass[DEEP];
#pragma unroll
        for (int e = 0; e < DEEP; e++) {
            const int i = first + e * (THREADS / UNITS);
            pass[e] = i < step.count ? gates_backward<CELL, H>(g, b, room, step, i, unit) : 0;
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < DEEP; e++) room->passing[first + e * (THREADS / UNITS)][u] = pass[e];
        __syncwarp();
        cluster_arrive();
        cluster_wait();
        if (step.n_parents) states_backward<CELL, H>(g, b, room, step);
    }
}

/* ---- calls ---- */

typedef void cluster_kernel(recurrent_call);

static cudaError_t launch(dis__cuda_session *s, cluster_kernel *kernel, const recurrent_call *c, size_t bytes)
{
    const unsigned cluster = (unsigned)(c->a.n_hidden / UNITS);
    cudaError_t error = allow_shared(s, (const void *)kernel, bytes);
    if (error != cudaSuccess) return error;
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(cluster * c->blocks * (unsigned)c->a.n_directions);
    config.blockDim = dim3(THREADS);
    config.dynamicSmemBytes = bytes;
    config.stream = s->stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, *c);
}

/* Some devices with clusters have too little shared memory for 256 units. */
template <int CELL, int H>
static bool launch_for(dis__cuda_session *s, const recurrent_call *c, bool backward, cudaError_t *error)
{
    const size_t bytes = backward ? sizeof(backward_room<CELL, H>) : sizeof(forward_room<CELL, H>);
    if (bytes > s->shared) return false;
    *error = launch(s, backward ? backward_kernel<CELL, H> : forward_kernel<CELL, H>, c, bytes);
    return true;
}

template <int CELL>
static bool launch_size(dis__cuda_session *s, const recurrent_call *c, bool backward, cudaError_t *error)
{
    switch (c->a.n_hidden) {
    case 64: return launch_for<CELL, 64>(s, c, backward, error);
    case 128: return launch_for<CELL, 128>(s, c, backward, error);
    case 256: return launch_for<CELL, 256>(s, c, backward, error);
    default: return false;
    }
}

/* Rows of all tensors are read 16 bytes at a time. */
static bool fits(const dis__cuda_session *s, const recurrent_call *c)
{
    int major = 0;
    for (size_t d = 0; d < c->a.n_directions; d++)
        if (!aligned16(c->weight[d]) || !aligned16(c->a.gates[d]) || !aligned16(c->a.state[d]) ||
            !aligned16(c->a.memory[d]) || !aligned16(c->a.projected[d]))
            return false;
    return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, s->ordinal) == cudaSuccess && major >= 9;
}

bool dis__cuda_recurrent_cluster(dis__cuda_session *s, const recurrent_call *c, bool backward, cudaError_t *error)
{
    if (!fits(s, c)) return false;
    return c->a.cell == DIS_CELL_LSTM ? launch_size<DIS_CELL_LSTM>(s, c, backward, error)
                                      : launch_size<DIS_CELL_GRU>(s, c, backward, error);
}
