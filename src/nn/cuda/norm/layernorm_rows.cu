/* Layer normalisation fused with its neighbours in encoders, one kernel per direction, in bfloat16, for many rows of
 * 768 values. Forward: dropout, then the normalisation of its result plus a residual. Backward: the gradients of gain
 * and bias, of the residual and of dropout's input, and the column sums of the latter, which are the bias gradient of
 * the linear layer below: 10 bytes per value instead of 26.
 *
 * A block of three warps has sets of four rows, and each thread 8 columns of them, so that its sums over all rows stay
 * in a few registers and blocks are small, which hides memory latency. Dropout of four rows uses as few random words as
 * possible (draw_set). Sums of columns are written to rows of parts, one per block, which are added up in order on the
 * side stream. */
#include "nn/cuda/norm/layernorm_fusion.cuh"

enum { SET = 4, GROUPS = NORM_WIDTH / 256, SUMS = NORM_SUMS, MANY = 256 };
/* Blocks per SM, which determines the registers per thread; rows at a time backward. Measured on an H200. */
enum { NORM_BLOCKS = 8, ALONE_BLOCKS = 10, CHAIN_BLOCKS = 5, CHAIN_ROWS = 2 };

typedef struct {
    dis__layernorm_args a;
    dis__dropout_args d;
    philox_keys keys;
    uint32_t threshold; /* 0: nothing is dropped */
    float scale;
    bf16 *to; /* backward: dx, or after dropout */
    bool add;
    float *parts;
} chain_call;

/* The dropout bits of a set, into room (G x 32 words): byte q % 4 of word 32 (q / 4) + lane has those of the lane's
 * numbers of group q, where row r of the set is groups G r to G r + G - 1. Four groups have their words from one draw
 * (dropout_words), so a lane draws 8 times. */
template <int G> __device__ __forceinline__ void draw_set(const chain_call &c, size_t set, uint32_t *room)
{
    const uint32_t lane = threadIdx.x & 31, pass = (uint32_t)(uint64_t)*c.d.pass;
    uint32_t all = 0;
#pragma unroll 4
    for (uint32_t i = 0; i < 8; i++) {
        const uint4 w = dropout_words(c.keys, pass, c.d.layer, set * G + (threadIdx.x >> 5), lane * 8 + i);
        all |= ((uint32_t)(w.x < c.threshold) | (uint32_t)(w.y < c.threshold) << 8 |
                (uint32_t)(w.z < c.threshold) << 16 | (uint32_t)(w.w < c.threshold) << 24)
               << i;
    }
    room[threadIdx.x] = all;
}

/* Bit i: element i of this thread is dropped, in row r of the set. */
template <int G> __device__ __forceinline__ uint32_t drawn(const uint32_t *room, int r)
{
    const int q = r * G + (int)(threadIdx.x >> 5);
    return room[q / 4 * 32 + (threadIdx.x & 31)] >> q % 4 * 8;
}

/* N sums (a power of 2) over a block of G warps, of which each thread has a part: all threads receive them. One
 * barrier; `room` may be reused after the next one. */
template <int G, int N> __device__ __forceinline__ void sums_of_block(float (&x)[N], float (*room)[N])
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int n = N / 2, half = 16; n; n /= 2, half /= 2) /* the sums are distributed over the lanes */
#pragma unroll
        for (int i = 0; i < n; i++) {
            const float mine = lane & half ? x[i + n] : x[i], other = lane & half ? x[i] : x[i + n];
            x[i] = mine + __shfl_xor_sync(0xffffffffu, other, half);
        }
#pragma unroll
    for (int half = 16 / N; half; half /= 2) x[0] += __shfl_xor_sync(0xffffffffu, x[0], half);
    if (lane % (32 / N) == 0) room[threadIdx.x >> 5][lane / (32 / N)] = x[0];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; i++) {
        x[i] = room[0][i];
#pragma unroll
        for (int g = 1; g < G; g++) x[i] += room[g][i];
    }
}

/* ---- forward ---- */

/* A block has a set; thread t has elements 8 t to 8 t + 7 of each row. Sets are processed in reverse order, because the
 * previous GEMM has left the last ones in the cache, and the next GEMM begins with those written last. ALONE: no
 * residual. */
template <int G, bool DROP, bool ALONE>
__global__ void __launch_bounds__(G * 32, ALONE ? ALONE_BLOCKS : NORM_BLOCKS)
    norm_rows_kernel(const __grid_constant__ chain_call c)
{
    __shared__ uint32_t drops[G * 32];
    __shared__ float room[2][G][SET];
    const dis__layernorm_args &a = c.a;
    const size_t set = gridDim.x - 1 - blockIdx.x, row = set * SET, at = row * (G * 256) + threadIdx.x * 8;
    const int n_here = a.n_rows - row < SET ? (int)(a.n_rows - row) : SET;
    const bf16 *x = (const bf16 *)(DROP ? c.d.x : a.x) + at, *r = (const bf16 *)a.r + at;
    pack<bf16> in[SET], more[SET];
#pragma unroll
    for (int n = 0; n < SET; n++)
        if (n < n_here) {
            in[n] = *(const pack<bf16> *)(x + n * G * 256);
            if (!ALONE && a.r) more[n] = *(const pack<bf16> *)(r + n * G * 256);
        }
    if (DROP) {
        draw_set<G>(c, set, drops);
        __syncthreads();
    }
    float v[SET][8], mean[SET], inverse[SET];
#pragma unroll
    for (int n = 0; n < SET; n++) {
        in[n].get(v[n]);
        if (DROP) {
            const uint32_t mask = drawn<G>(drops, n);
#pragma unroll
            for (int i = 0; i < 8; i++) v[n][i] = mask >> i & 1 ? 0 : v[n][i] * c.scale;
            in[n].set(v[n]);
            if (n < n_here) *(pack<bf16> *)((bf16 *)a.x + at + n * G * 256) = in[n];
            in[n].get(v[n]); /* as it is stored */
        }
        float z[8];
        if (!ALONE && a.r) more[n].get(z);
        mean[n] = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) mean[n] += v[n][i] += !ALONE && a.r ? z[i] : 0;
    }
    sums_of_block<G>(mean, room[0]);
#pragma unroll
    for (int n = 0; n < SET; n++) {
        mean[n] /= G * 256;
        inverse[n] = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            v[n][i] -= mean[n];
            inverse[n] += v[n][i] * v[n][i];
        }
    }
    sums_of_block<G>(inverse, room[1]);
    float gain[8], bias[8];
    load_floats<8>((const float *)a.gain + threadIdx.x * 8, gain);
    if (a.bias) load_floats<8>((const float *)a.bias + threadIdx.x * 8, bias);
#pragma unroll
    for (int n = 0; n < SET; n++) {
        inverse[n] = 1 / sqrtf(inverse[n] / (G * 256) + (float)a.epsilon);
#pragma unroll
        for (int i = 0; i < 8; i++) v[n][i] = gain[i] * (v[n][i] * inverse[n]) + (a.bias ? bias[i] : 0);
        pack<bf16> y;
        y.set(v[n]);
        if (n < n_here) {
            *(pack<bf16> *)((bf16 *)a.y + at + n * G * 256) = y;
            if (threadIdx.x == 0) ((float2 *)a.stats)[row + n] = make_float2(mean[n], inverse[n]);
        }
    }
}

/* ---- backward ---- */

/* This thread's elements of R rows as stored, being loaded; zeros after the last row. */
template <int G, int R> struct rows_ahead {
    pack<bf16> x[R], r[R], dy[R];
    float2 stats[R];
    __device__ __forceinline__ void load(const dis__layernorm_args &a, size_t row)
    {
#pragma unroll
        for (int n = 0; n < R; n++) {
            const size_t at = (row + n) * (G * 256) + threadIdx.x * 8;
            x[n].v = r[n].v = dy[n].v = make_uint4(0, 0, 0, 0);
            stats[n] = make_float2(0, 0);
            if (row + n >= a.n_rows) continue;
            x[n] = *(const pack<bf16> *)((const bf16 *)a.x + at);
            if (a.r) r[n] = *(const pack<bf16> *)((const bf16 *)a.r + at);
            dy[n] = *(const pack<bf16> *)((const bf16 *)a.dy + at);
            stats[n] = ((const float2 *)a.stats)[row + n];
        }
    }
};

__device__ __forceinline__ void store_row(bf16 *to, bool add, const float (&x)[8])
{
    float y[8], old[8];
    if (add) ((const pack<bf16> *)to)->get(old);
#pragma unroll
    for (int i = 0; i < 8; i++) y[i] = add ? old[i] + x[i] : x[i];
    pack<bf16> out;
    out.set(y);
    *(pack<bf16> *)to = out;
}

/* The gradients of one row, after its means of d and d z. */
__device__ __forceinline__ void row_grad(const chain_call &c, size_t at, uint32_t mask, float inverse, float d_mean,
                                         float dz_mean, const float (&z)[8], float (&d)[8], float (&below)[8])
{
#pragma unroll
    for (int i = 0; i < 8; i++) d[i] = (d[i] - d_mean - z[i] * dz_mean) * inverse;
    if (c.a.dr) store_row((bf16 *)c.a.dr + at, c.a.add_r, d);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const float rounded = as_float(from_float<bf16>(d[i]));
        d[i] = mask >> i & 1 ? 0 : as_float(from_float<bf16>(rounded * c.scale));
        below[i] += d[i];
    }
    store_row(c.to + at, c.add, d);
}

/* A block has sets, R rows of them at a time; thread t has elements 8 t to 8 t + 7 of each row, and their sums. */
template <int G, int R>
__global__ void __launch_bounds__(G * 32, CHAIN_BLOCKS) norm_chain_kernel(const __grid_constant__ chain_call c)
{
    __shared__ uint32_t drops[2][G * 32];
    __shared__ float room[2][G][2 * R];
    const dis__layernorm_args &a = c.a;
    const size_t sets = (a.n_rows + SET - 1) / SET;
    float sums[SUMS][8] = {};
    rows_ahead<G, R> in;
    int turn = 0;
    in.load(a, blockIdx.x * (size_t)SET);
    for (size_t set = blockIdx.x; set < sets; set += gridDim.x, turn ^= 1) {
        if (c.threshold) draw_set<G>(c, set, drops[turn]);
#pragma unroll
        for (int h = 0; h < SET / R; h++) {
            const size_t row = set * SET + h * R;
            float z[R][8], d[R][8], both[2 * R], inverse[R], gain[8];
            load_floats<8>((const float *)a.gain + threadIdx.x * 8, gain);
#pragma unroll
            for (int n = 0; n < R; n++) {
                float r[8];
                in.x[n].get(z[n]);
                in.r[n].get(r);
                in.dy[n].get(d[n]);
                both[n] = both[R + n] = 0;
                inverse[n] = in.stats[n].y;
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    z[n][i] = (z[n][i] + r[i] - in.stats[n].x) * inverse[n];
                    sums[NORM_GAIN][i] += d[n][i] * z[n][i];
                    sums[NORM_BIAS][i] += d[n][i];
                    d[n][i] *= gain[i];
                    both[n] += d[n][i];
                    both[R + n] += d[n][i] * z[n][i];
                }
            }
            in.load(a, h + 1 < SET / R ? row + R : (set + gridDim.x) * SET);
            sums_of_block<G>(both, room[SET / R % 2 ? turn : h % 2]);
#pragma unroll
            for (int n = 0; n < R; n++) {
                const uint32_t mask = c.threshold ? drawn<G>(drops[turn], h * R + n) : 0;
                if (row + n < a.n_rows)
                    row_grad(c, (row + n) * (G * 256) + threadIdx.x * 8, mask, inverse[n], both[n] / (G * 256),
                             both[R + n] / (G * 256), z[n], d[n], sums[NORM_BELOW]);
            }
        }
    }
    float *parts = c.parts + (size_t)blockIdx.x * SUMS * G * 256 + threadIdx.x * 8;
#pragma unroll
    for (int s = 0; s < SUMS; s++)
#pragma unroll
        for (int i = 0; i < 8; i += 4)
            *(float4 *)(parts + s * G * 256 + i) =
                make_float4(sums[s][i], sums[s][i + 1], sums[s][i + 2], sums[s][i + 3]);
}

/* Block (columns / 32, index of the sum): warps have ranges of parts. */
enum { SUM_WARPS = 16 };

__global__ void __launch_bounds__(SUM_WARPS * 32)
    chain_sums_kernel(const float *parts, unsigned n_parts, const __grid_constant__ norm_sums out)
{
    __shared__ float room[SUM_WARPS][32];
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, c = blockIdx.x * 32 + lane;
    const unsigned end = (warp + 1) * n_parts / SUM_WARPS;
    float *to = out.to[blockIdx.y], sum = 0;
    if (!to) return;
#pragma unroll 8
    for (unsigned p = warp * n_parts / SUM_WARPS; p < end; p++)
        sum += parts[((size_t)p * SUMS + blockIdx.y) * NORM_WIDTH + c];
    room[warp][lane] = sum;
    __syncthreads();
    if (warp) return;
    for (unsigned w = 1; w < SUM_WARPS; w++) sum += room[w][lane];
    to[c] += sum;
}

/* ---- launches ---- */

static chain_call call_of(const dis__layernorm_args *a, const dis__dropout_args *d)
{
    chain_call c = {};
    c.a = *a;
    c.scale = 1;
    if (!d) return c;
    c.d = *d;
    c.keys = philox_keys_of(d->seed);
    c.threshold = drop_threshold(d->rate);
    c.scale = (float)(1 / (1 - d->rate));
    return c;
}

/* Networks that only predict use it for few rows too, so that predictions do not depend on the batch size. */
bool dis__cuda_norm_wide(const dis__cuda_session *s, const dis__layernorm_args *a)
{
    const size_t few = s->region[DIS_MEMORY_GRADS].at ? MANY : 1;
    return s->value == DIS_BFLOAT16 && !a->sample && a->n_rows >= few && a->width == NORM_WIDTH && aligned16(a->x) &&
           aligned16(a->r) && aligned16(a->y) && aligned16(a->dy) && aligned16(a->dx) && aligned16(a->dr) &&
           aligned16(a->gain) && aligned16(a->bias);
}

bool dis__cuda_dropout_norm(dis__cuda_session *s, const dis__dropout_args *d, const dis__layernorm_args *a,
                            cudaError_t *error)
{
    if (d->n != a->n_rows * a->width || !dis__cuda_norm_wide(s, a) || !aligned16(d->x) || drop_threshold(d->rate) == 0)
        return false;
    const chain_call c = call_of(a, d);
    norm_rows_kernel<GROUPS, true, false><<<grid_of(a->n_rows, SET), GROUPS * 32, 0, s->stream>>>(c);
    *error = cudaGetLastError();
    return true;
}

bool dis__cuda_norm_rows(dis__cuda_session *s, const dis__layernorm_args *a, cudaError_t *error)
{
    if (!dis__cuda_norm_wide(s, a)) return false;
    const unsigned blocks = grid_of(a->n_rows, SET);
    if (a->r)
        norm_rows_kernel<GROUPS, false, false><<<blocks, GROUPS * 32, 0, s->stream>>>(call_of(a, NULL));
    else
        norm_rows_kernel<GROUPS, false, true><<<blocks, GROUPS * 32, 0, s->stream>>>(call_of(a, NULL));
    *error = cudaGetLastError();
    return true;
}

cudaError_t dis__cuda_norm_chain(dis__cuda_session *s, const norm_chain *n)
{
    const unsigned sets = grid_of(n->norm->n_rows, SET), limit = (unsigned)s->n_processors * CHAIN_BLOCKS;
    unsigned blocks = sets < limit ? sets : limit;
    if (blocks > NORM_PARTS) blocks = NORM_PARTS;
    chain_call c = call_of(n->norm, n->dropout);
    c.to = (bf16 *)(n->dropout ? n->dropout->y : n->norm->dx);
    c.add = n->dropout ? n->dropout->add : n->norm->add_x;
    c.parts = n->parts;
    norm_chain_kernel<GROUPS, CHAIN_ROWS><<<blocks, GROUPS * 32, 0, s->stream>>>(c);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess || (!n->sums.to[NORM_GAIN] && !n->sums.to[NORM_BIAS] && !n->sums.to[NORM_BELOW]))
        return error;
    error = dis__cuda_enter_side_stream(s);
    chain_sums_kernel<<<dim3(NORM_WIDTH / 32, SUMS), SUM_WARPS * 32, 0, s->stream>>>(n->parts, blocks, n->sums);
    dis__cuda_leave_side_stream(s);
    return error == cudaSuccess ? cudaGetLastError() : error;
}
