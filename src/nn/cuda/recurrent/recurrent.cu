/* Recurrent layers (formulas: nn/loops/recurrent_loops.h), a kernel per step.
 *
 * Forward: a block of threads has 8 units of the 64 rows of a block: the GEMM of the previous states with the gates'
 * weights, by tiles of 32 values in shared memory, then the cell. Backward: one kernel computes the gradients of a
 * step's gates, the next multiplies them by the weight; gradients passed from step to step are in `work`, float32:
 *
 *     (parity of the step, direction and block, {dh, dc}, DIS_RECURRENT_BLOCK, hidden)
 *
 * Step sizes are read from device memory, so that the same kernels serve all batches of a shape. */
#include "nn/cuda/recurrent/recurrent.cuh"

enum { UNITS = 8, CHUNK = 32, ROWS = DIS_RECURRENT_BLOCK, STEP_THREADS = UNITS * ROWS / 2 };

__device__ __forceinline__ float *passing(const recurrent_call &g, size_t s, unsigned index, int which)
{
    const size_t one = (size_t)ROWS * g.a.n_hidden, all = g.blocks * g.a.n_directions;
    return g.work + (((s % 2) * all + index) * 2 + (size_t)which) * one;
}

/* ---- forward ---- */

/* GEMM of the states before a step with the weights of 8 units: thread (unit, row pair). */
template <class T>
__device__ __forceinline__ void state_products(const recurrent_call &g, const row_block &b,
                                               const dis__recurrent_step &step, float (&sum)[2][DIS_RECURRENT_GATES])
{
    __shared__ float h[ROWS][CHUNK + 1], w[DIS_RECURRENT_GATES * UNITS][CHUNK + 1];
    const size_t n = g.a.n_hidden, first = blockIdx.x * (size_t)UNITS;
    const int unit = threadIdx.x % UNITS, row = threadIdx.x / UNITS * 2, n_state = (int)g.a.n_state;
    const T *state = (const T *)g.a.state[b.direction], *weight = (const T *)g.weight[b.direction];
    const int32_t *parent = b.layout->parent + step.begin;
    for (size_t k0 = 0; k0 < n; k0 += CHUNK) {
        __syncthreads();
        for (int e = (int)threadIdx.x; e < ROWS * CHUNK; e += STEP_THREADS) {
            const int i = e / CHUNK, k = e % CHUNK;
            const bool in_range = i < step.n_parents && k0 + (size_t)k < n;
            h[i][k] = in_range ? as_float(state[(size_t)parent[i] * n + k0 + (size_t)k]) : 0;
        }
        for (int e = (int)threadIdx.x; e < n_state * UNITS * CHUNK; e += STEP_THREADS) {
            const int i = e / CHUNK, k = e % CHUNK;
            const size_t u = first + (size_t)(i % UNITS);
            const bool in_range = u < n && k0 + (size_t)k < n;
            w[i][k] = in_range ? as_float(weight[((size_t)(i / UNITS) * n + u) * n + k0 + (size_t)k]) : 0;
        }
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < CHUNK; k++)
            for (int q = 0; q < DIS_RECURRENT_GATES; q++) {
                const float x = q < n_state ? w[q * UNITS + unit][k] : 0;
                sum[0][q] += h[row][k] * x;
                sum[1][q] += h[row + 1][k] * x;
            }
    }
}

template <class T, int CELL> __global__ void __launch_bounds__(STEP_THREADS) step_kernel(recurrent_call g, size_t s)
{
    const row_block b = block_at(g, blockIdx.y);
    const dis__recurrent_step step = b.steps[s];
    if (step.count == 0) return;
    float sum[2][DIS_RECURRENT_GATES] = {};
    if (step.n_parents) state_products<T>(g, b, step, sum);
    const size_t n = g.a.n_hidden, unit = blockIdx.x * (size_t)UNITS + threadIdx.x % UNITS;
    T *gates = (T *)g.a.gates[b.direction], *state = (T *)g.a.state[b.direction];
    const T *projected = (const T *)g.a.projected[b.direction];
    float *memory = (float *)g.a.memory[b.direction];
    for (int half = 0; half < 2 && unit < n; half++) {
        const int i = (int)threadIdx.x / UNITS * 2 + half;
        if (i >= step.count) return;
        const size_t at = (size_t)(step.begin + i), from = projected ? (size_t)b.layout->from[at] : at;
        const T *input = (projected ? projected : gates) + from * DIS_RECURRENT_GATES * n + unit;
        float gate[DIS_RECURRENT_GATES], c0 = 0, h0 = 0, c = 0, h;
        for (int q = 0; q < DIS_RECURRENT_GATES; q++) gate[q] = as_float(input[(size_t)q * n]);
        if (CELL == DIS_CELL_LSTM)
            for (int q = 0; q < 4; q++) gate[q] += sum[half][q];
        else
            for (int q = 1; q < 4; q++) gate[q] += sum[half][q - 1];
        if (i < step.n_parents) {
            const size_t before = (size_t)b.layout->parent[at] * n + unit;
            if (CELL == DIS_CELL_LSTM) c0 = memory[before];
            h0 = as_float(state[before]);
        }
        cell_step<CELL>(gate, c0, h0, &c, &h);
        if (CELL == DIS_CELL_LSTM) memory[at * n + unit] = c;
        state[at * n + unit] = from_float<T>(h);
        for (int q = 0; q < DIS_RECURRENT_GATES && !g.a.forget; q++)
            gates[(at * DIS_RECURRENT_GATES + (size_t)q) * n + unit] = from_float<T>(gate[q]);
    }
}

/* y of all rows: the states of their nodes. */
template <class T> __global__ void put_states_kernel(recurrent_call g)
{
    const size_t n = g.a.n_hidden, e = blockIdx.x * (size_t)256 + threadIdx.x, width = g.a.n_directions * n;
    if (e >= g.a.n_rows * g.a.n_times * width) return;
    const size_t place = e / width, d = e % width / n, unit = e % n;
    const int32_t node = g.a.layout[d].node[place];
    ((T *)g.a.y)[e] = node < 0 ? from_float<T>(0) : ((const T *)g.a.state[d])[(size_t)node * n + unit];
}

/* ---- backward ---- */

template <class T, int CELL> __global__ void __launch_bounds__(256) gates_grad_kernel(recurrent_call g, size_t s)
{
    __shared__ node_ranges ranges;
    const row_block b = block_at(g, blockIdx.y);
    const dis__recurrent_step step = b.steps[s];
    const size_t n = g.a.n_hidden, unit = blockIdx.x * (size_t)32 + threadIdx.x % 32, ld = g.a.n_directions * n;
    find_ranges(g, b, s, &ranges);
    if (unit >= n) return;
    T *gates = (T *)g.a.gates[b.direction], *h_before = (T *)g.a.before[b.direction];
    const T *state = (const T *)g.a.state[b.direction], *dy = (const T *)g.a.dy + b.direction * n + unit;
    const float *memory = (const float *)g.a.memory[b.direction];
    const float *next_h = passing(g, s + 1, blockIdx.y, 0) + unit, *next_c = passing(g, s + 1, blockIdx.y, 1) + unit;
    for (int i = (int)threadIdx.x / 32; i < step.count; i += 8) {
        const size_t at = (size_t)(step.begin + i);
        float dh = 0, dc = 0, c0 = 0, h0 = 0, gate[DIS_RECURRENT_GATES];
        for (int j = ranges.next_first[i]; j < ranges.next_last[i]; j++) {
            dh += next_h[(size_t)j * n];
            dc += next_c[(size_t)j * n];
        }
        for (int r = ranges.row_first[i]; r < ranges.row_last[i]; r++)
            dh += as_float(dy[(size_t)ranges.row_place[r] * ld]);
        for (int q = 0; q < DIS_RECURRENT_GATES; q++)
            gate[q] = as_float(gates[(at * DIS_RECURRENT_GATES + (size_t)q) * n + unit]);
        if (i < step.n_parents) {
            const size_t before = (size_t)b.layout->parent[at] * n + unit;
            if (CELL == DIS_CELL_LSTM) c0 = memory[before];
            h0 = as_float(state[before]);
        }
        h_before[at * n + unit] = from_float<T>(h0);
        cell_grad<CELL>(gate, c0, CELL == DIS_CELL_LSTM ? memory[at * n + unit] : 0, h0, &dh, &dc);
        for (int q = 0; q < DIS_RECURRENT_GATES; q++)
            gates[(at * DIS_RECURRENT_GATES + (size_t)q) * n + unit] = from_float<T>(gate[q]);
        passing(g, s, blockIdx.y, 0)[(size_t)i * n + unit] = dh;
        passing(g, s, blockIdx.y, 1)[(size_t)i * n + unit] = dc;
    }
}

/* dh += gradients of gates times the weight, for nodes with a predecessor: thread (unit, two rows). */
template <class T> __global__ void __launch_bounds__(STEP_THREADS) state_grad_kernel(recurrent_call g, size_t s)
{
    __shared__ float d[ROWS][CHUNK + 1], w[CHUNK][UNITS + 1];
    const row_block b = block_at(g, blockIdx.y);
    const dis__recurrent_step step = b.steps[s];
    if (step.n_parents == 0) return;
    const size_t n = g.a.n_hidden, first = blockIdx.x * (size_t)UNITS, deep = g.a.n_state * n;
    const int unit = threadIdx.x % UNITS, row = threadIdx.x / UNITS * 2;
    const T *gates =
        (const T *)g.a.gates[b.direction] + (size_t)step.begin * DIS_RECURRENT_GATES * n + g.a.first_state * n;
    const T *weight = (const T *)g.weight[b.direction];
    float sum[2] = {};
    for (size_t k0 = 0; k0 < deep; k0 += CHUNK) {
        __syncthreads();
        for (int e = (int)threadIdx.x; e < ROWS * CHUNK; e += STEP_THREADS) {
            const size_t i = (size_t)(e / CHUNK), k = k0 + (size_t)(e % CHUNK);
            d[i][e % CHUNK] =
                (int)i < step.n_parents && k < deep ? as_float(gates[i * DIS_RECURRENT_GATES * n + k]) : 0;
        }
        for (int e = (int)threadIdx.x; e < UNITS * CHUNK; e += STEP_THREADS) {
            const size_t k = k0 + (size_t)(e / UNITS), u = first + (size_t)(e % UNITS);
            w[e / UNITS][e % UNITS] = k < deep && u < n ? as_float(weight[k * n + u]) : 0;
        }
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < CHUNK; k++) {
            sum[0] += d[row][k] * w[k][unit];
            sum[1] += d[row + 1][k] * w[k][unit];
        }
    }
    for (int half = 0; half < 2; half++)
        if (row + half < step.n_parents && first + (size_t)unit < n)
            passing(g, s, blockIdx.y, 0)[(size_t)(row + half) * n + first + (size_t)unit] += sum[half];
}

/* Nodes that belong to no step, fewer than DIS_CUDA_ROUND: block (node from the last, direction). */
template <class T> __global__ void __launch_bounds__(256) zero_pads_kernel(recurrent_call g)
{
    const dis__recurrent_layout *l = &g.a.layout[blockIdx.y];
    if (blockIdx.x >= l->n_nodes) return;
    const size_t at = l->n_nodes - 1 - blockIdx.x, n = g.a.n_hidden, width = DIS_RECURRENT_GATES * n;
    if (l->parent[at] != DIS_RECURRENT_PAD) return;
    T *gates = (T *)g.a.gates[blockIdx.y] + at * width, *h_before = (T *)g.a.before[blockIdx.y] + at * n;
    for (size_t i = threadIdx.x; i < width; i += blockDim.x) gates[i] = from_float<T>(0);
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) h_before[i] = from_float<T>(0);
}

/* ---- calls ---- */

static recurrent_call call_of(dis__cuda_session *s, const dis__recurrent_args *a)
{
    recurrent_call c;
    c.a = *a;
    c.blocks = (unsigned)((a->n_rows + ROWS - 1) / ROWS);
    c.work = (float *)s->scratch;
    for (size_t d = 0; d < 2; d++) c.weight[d] = d < a->n_directions ? dis__cuda_weight(s, a->weight[d]) : NULL;
    return c;
}

template <class T, int CELL> static cudaError_t all_steps(dis__cuda_session *s, const recurrent_call *c)
{
    const dim3 grid(grid_of(c->a.n_hidden, UNITS), c->blocks * (unsigned)c->a.n_directions);
    for (size_t step = 0; step < c->a.n_times; step++)
        step_kernel<T, CELL><<<grid, STEP_THREADS, 0, s->stream>>>(*c, step);
    return cudaGetLastError();
}

template <class T, int CELL> static cudaError_t all_steps_grad(dis__cuda_session *s, const recurrent_call *c)
{
    const unsigned blocks = c->blocks * (unsigned)c->a.n_directions;
    const dim3 wide(grid_of(c->a.n_hidden, 32), blocks), grid(grid_of(c->a.n_hidden, UNITS), blocks);
    for (size_t step = c->a.n_times; step-- > 0;) {
        gates_grad_kernel<T, CELL><<<wide, 256, 0, s->stream>>>(*c, step);
        if (step) state_grad_kernel<T><<<grid, STEP_THREADS, 0, s->stream>>>(*c, step);
    }
    return cudaGetLastError();
}

template <class T> static cudaError_t recurrent_of(dis__cuda_session *s, const dis__recurrent_args *a)
{
    const recurrent_call c = call_of(s, a);
    const size_t n = a->n_rows * a->n_times * a->n_directions * a->n_hidden;
    cudaError_t error = cudaSuccess;
    if (n == 0) return cudaSuccess;
    if (sizeof(T) != sizeof(bf16) || !dis__cuda_recurrent_cluster(s, &c, false, &error))
        error = a->cell == DIS_CELL_LSTM ? all_steps<T, DIS_CELL_LSTM>(s, &c) : all_steps<T, DIS_CELL_GRU>(s, &c);
    if (error != cudaSuccess) return error;
    put_states_kernel<T><<<grid_of(n, 256), 256, 0, s->stream>>>(c);
    return cudaGetLastError();
}

template <class T> static cudaError_t recurrent_grad_of(dis__cuda_session *s, const dis__recurrent_args *a)
{
    const recurrent_call c = call_of(s, a);
    cudaError_t error = cudaSuccess;
    if (a->n_rows == 0 || a->n_times == 0) return cudaSuccess;
    const dim3 pads(DIS_CUDA_ROUND, (unsigned)a->n_directions);
    zero_pads_kernel<T><<<pads, 256, 0, s->stream>>>(c);
    error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    if (sizeof(T) == sizeof(bf16) && dis__cuda_recurrent_cluster(s, &c, true, &error)) return error;
    return a->cell == DIS_CELL_LSTM ? all_steps_grad<T, DIS_CELL_LSTM>(s, &c) : all_steps_grad<T, DIS_CELL_GRU>(s, &c);
}

DIS_CUDA_OP(recurrent, dis__recurrent_args)
DIS_CUDA_OP(recurrent_grad, dis__recurrent_args)

extern "C" size_t dis__cuda_recurrent_work(dis__cuda_session *s, const void *args)
{
    (void)s;
    (void)args;
    return 0;
}

extern "C" size_t dis__cuda_recurrent_grad_work(dis__cuda_session *s, const void *args)
{
    const dis__recurrent_args *a = (const dis__recurrent_args *)args;
    const size_t blocks = (a->n_rows + ROWS - 1) / ROWS * a->n_directions;
    dis__cuda_reserve_scratch(s, 4 * blocks * ROWS * a->n_hidden * sizeof(float));
    return 0;
}
