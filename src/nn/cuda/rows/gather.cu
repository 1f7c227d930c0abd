/* Rows gathered from a table by ids, and their gradients.
 *
 * Forward: one warp per row of y. Backward, in an order that does not depend on the scheduling of blocks: the positions
 * (i, j) are ranked by (id, position), up to CHUNK of them at a time, by counting the predecessors of each (CHUNK^2
 * comparisons take a few microseconds); then runs of equal ids are summed, each part of PART ranked positions by one
 * block. Runs within a part are added to the table directly; runs across parts are stored as partial sums, and the
 * block of the part in which such a run begins adds them in order. */
#include "nn/cuda/common/kernels.cuh"

enum { WARPS = 4, CHUNK = 16384, PART = 64, RANKS = 256, SHARE = 8, AHEAD = 8, NONE = 0x7fffffff };

template <class T> __global__ void __launch_bounds__(WARPS * 32) gather_kernel(dis__gather_args a, bool vectors)
{
    enum { N = pack<T>::N };
    const int lane = threadIdx.x & 31;
    const size_t i = (size_t)blockIdx.x * WARPS + (threadIdx.x >> 5), width = a.width;
    if (i >= a.n_rows) return;
    const size_t n = a.count ? (size_t)a.count[i] : a.per;
    const int32_t *id = a.id + i * a.per;
    const T *table = (const T *)a.table;
    T *y = (T *)a.y + i * width;
    size_t used = 0;
    for (size_t j = 0; j < n; j++) used += id[j] >= 0;
    const float share = a.mean && used > 1 ? 1 / (float)used : 1;
    for (size_t c = (size_t)lane * (vectors ? N : 1); c < width; c += 32 * (vectors ? N : 1)) {
        float sum[N] = {0};
        for (size_t j = 0; j < n; j++) {
            if (id[j] < 0) continue;
            const T *row = table + (size_t)id[j] * width + c;
            if (vectors) {
                float x[N];
                ((const pack<T> *)row)->get(x);
#pragma unroll
                for (int k = 0; k < N; k++) sum[k] += x[k];
            } else {
                sum[0] += as_float(*row);
            }
        }
        if (vectors) {
            pack<T> out;
#pragma unroll
            for (int k = 0; k < N; k++) sum[k] *= share;
            out.set(sum);
            *(pack<T> *)(y + c) = out;
        } else {
            y[c] = from_float<T>(sum[0] * share);
        }
    }
}

cudaError_t dis__cuda_gather(dis__cuda_session *s, const void *args)
{
    dis__gather_args a = *(const dis__gather_args *)args;
    if (a.n_rows == 0) return cudaSuccess;
    a.table = dis__cuda_weight(s, a.table); /* the result is rounded anyway, so inputs may be rounded */
    DIS_CUDA_BY_VALUE(s, {
        const bool vectors = a.width % pack<T>::N == 0 && aligned16(a.table) && aligned16(a.y);
        gather_kernel<T><<<grid_of(a.n_rows, WARPS), WARPS * 32, 0, s->stream>>>(a, vectors);
    });
    return cudaGetLastError();
}

/* ---- backward ---- */

/* The id at index `at`; NONE after the end. */
__device__ __forceinline__ int id_at(const dis__gather_args &a, size_t at)
{
    const size_t i = at / a.per, j = at % a.per;
    if (a.count && j >= (size_t)a.count[i]) return NONE;
    const int32_t id = a.id[at];
    return id < 0 ? NONE : id;
}

/* sorted[rank] = (id, position). Eight threads share a position: each goes through an eighth of the ids of the
 * chunk. */
__global__ void __launch_bounds__(RANKS) rank_kernel(dis__gather_args a, size_t from, unsigned n, int2 *sorted)
{
    __shared__ __align__(16) int ids[RANKS];
    const unsigned part = threadIdx.x % SHARE, mine = blockIdx.x * (RANKS / SHARE) + threadIdx.x / SHARE;
    const int id = mine < n ? id_at(a, from + mine) : NONE;
    unsigned rank = 0;
    for (unsigned base = 0; base < n; base += RANKS) {
        __syncthreads();
        ids[threadIdx.x] = base + threadIdx.x < n ? id_at(a, from + base + threadIdx.x) : NONE;
        __syncthreads();
        const unsigned m = n - base < RANKS ? n - base : RANKS;
        if (base + RANKS <= blockIdx.x * (RANKS / SHARE)) { /* all smaller */
#pragma unroll 8
            for (unsigned k = 4 * part; k < RANKS; k += 4 * SHARE) {
                const int4 v = *(const int4 *)(ids + k);
                rank += (v.x <= id) + (v.y <= id) + (v.z <= id) + (v.w <= id);
            }
        } else if (base >= (blockIdx.x + 1) * (RANKS / SHARE) && m == RANKS) { /* all larger */
#pragma unroll 8
            for (unsigned k = 4 * part; k < RANKS; k += 4 * SHARE) {
                const int4 v = *(const int4 *)(ids + k);
                rank += (v.x < id) + (v.y < id) + (v.z < id) + (v.w < id);
            }
        } else {
            for (unsigned k = part; k < m; k += SHARE) rank += ids[k] < id || (ids[k] == id && base + k < mine);
        }
    }
#pragma unroll
    for (int half = SHARE / 2; half; half /= 2) rank += __shfl_xor_sync(0xffffffffu, rank, half);
    if (mine < n && part == 0) sorted[rank] = make_int2(id, (int)mine);
}

/* Factor of dy's row i: for the mean of several ids, each gets an equal share. */
__device__ __forceinline__ float share_of(const dis__gather_args &a, size_t i)
{
    if (!a.mean) return 1;
    const size_t n = a.count ? (size_t)a.count[i] : a.per;
    unsigned used = 0;
    for (size_t j = 0; j < n; j++) used += a.id[i * a.per + j] >= 0;
    return used > 1 ? 1 / (float)used : 1;
}

/* Block (part, columns). */
template <class T, class D>
__global__ void __launch_bounds__(128)
    sum_runs_kernel(dis__gather_args a, size_t from, unsigned n, const int2 *sorted, float *open)
{
    __shared__ int id[PART + 2]; /* including one neighbour on each side */
    __shared__ unsigned row[PART + AHEAD];
    __shared__ float share[PART + AHEAD];
    const unsigned first = blockIdx.x * PART, m = first + PART < n ? PART : n - first;
    for (unsigned k = threadIdx.x; k < PART + AHEAD; k += blockDim.x) {
        const long at = (long)first + k - 1;
        const int2 place = at >= 0 && at < (long)n ? sorted[at] : make_int2(-1, 0);
        const bool is_start = k >= 1 && k <= m && place.x != NONE;
        const size_t i = a.per == 1 ? from + (size_t)place.y : (from + (size_t)place.y) / a.per;
        if (k < PART + 2) id[k] = place.x;
        row[k] = is_start ? (unsigned)i : 0;
        share[k] = is_start ? share_of(a, i) : 0;
    }
    __syncthreads();
    const size_t c = (size_t)blockIdx.y * blockDim.x + threadIdx.x, width = a.width;
    if (c >= width || id[1] == NONE) return;
    const T *dy = (const T *)a.dy + c;
    D *table = (D *)a.d_table;
    float sum = 0;
    bool inside = id[0] != id[1]; /* the run began in this part */
    for (unsigned base = 1; base <= m; base += AHEAD) {
        float x[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) x[i] = as_float(dy[row[base + i] * width]); /* loaded together */
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const unsigned k = base + i;
            if (k > m || id[k] == NONE) return;
            sum += share[k] * x[i];
            if (k < m && id[k + 1] == id[k]) continue;
            const bool goes_on = k == m && id[k + 1] == id[k];
            if (inside && !goes_on) {
                D *to = table + (size_t)id[k] * width + c;
                *to = from_float<D>(as_float(*to) + sum);
            } else {
                open[((size_t)blockIdx.x * 2 + inside) * width + c] = sum; /* 0: began before; 1: begins here and
                                                                            * continues */
            }
            sum = 0;
            inside = true;
        }
    }
}

/* Runs that begin in a part and continue after it. */
template <class D>
__global__ void __launch_bounds__(128)
    join_runs_kernel(dis__gather_args a, unsigned n, const int2 *sorted, const float *open)
{
    const unsigned last = blockIdx.x * PART + PART - 1;
    if (last + 1 >= n) return;
    const int id = sorted[last].x;
    if (id == NONE || sorted[last + 1].x != id) return;
    const bool single_id = sorted[blockIdx.x * PART].x == id;                         /* the part has only this run */
    if (single_id && blockIdx.x > 0 && sorted[blockIdx.x * PART - 1].x == id) return; /* it began before */
    const size_t c = (size_t)blockIdx.y * blockDim.x + threadIdx.x, width = a.width;
    if (c >= width) return;
    float sum = open[((size_t)blockIdx.x * 2 + 1) * width + c];
    for (unsigned part = blockIdx.x + 1; part * PART < n && sorted[part * PART].x == id; part++)
        sum += open[(size_t)part * 2 * width + c];
    D *to = (D *)a.d_table + (size_t)id * width + c;
    *to = from_float<D>(as_float(*to) + sum);
}

template <class T, class D>
static cudaError_t gather_grad(dis__cuda_session *s, const dis__gather_args *a, size_t chunk)
{
    int2 *sorted = (int2 *)s->scratch;
    float *open = (float *)(s->scratch + chunk * sizeof *sorted);
    const size_t n = a->n_rows * a->per;
    for (size_t from = 0; from < n; from += chunk) {
        const unsigned m = (unsigned)(n - from < chunk ? n - from : chunk);
        const dim3 parts(grid_of(m, PART), grid_of(a->width, 128));
        rank_kernel<<<grid_of(m, RANKS / SHARE), RANKS, 0, s->stream>>>(*a, from, m, sorted);
        sum_runs_kernel<T, D><<<parts, 128, 0, s->stream>>>(*a, from, m, sorted, open);
        if (m > PART) join_runs_kernel<D><<<parts, 128, 0, s->stream>>>(*a, m, sorted, open);
    }
    return cudaGetLastError();
}

cudaError_t dis__cuda_gather_grad(dis__cuda_session *s, const void *args)
{
    const dis__gather_args *a = (const dis__gather_args *)args;
    if (a->n_rows == 0 || a->per == 0 || a->width == 0) return cudaSuccess;
    size_t chunk = CHUNK;
    while (chunk > PART && chunk * sizeof(int2) + chunk / PART * 2 * a->width * sizeof(float) > s->scratch_bytes)
        chunk /= 2;
    const bool exact = dis__cuda_number(s, a->d_table) == DIS_FLOAT32;
    if (s->value == DIS_FLOAT32) return gather_grad<float, float>(s, a, chunk);
    return exact ? gather_grad<bf16, float>(s, a, chunk) : gather_grad<bf16, bf16>(s, a, chunk);
}
