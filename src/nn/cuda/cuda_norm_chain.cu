/* Layer normalisation and what stands around it in encoders as one kernel each way, in bfloat16, for many rows of 768
 * numbers; few rows are faster in more kernels side by side (cuda_norm.cu). Forward: dropout, then the normalisation of
 * what it gives and a residual. Backward: the gradients of gain and bias, of the residual and of what was dropped from,
 * and the sums of the columns of the latter, which are the gradient of the bias of the linear layer below: 10 bytes per
 * number instead of 26.
 *
 * A warp has sets of four rows, whose choices of dropout come from as few words as there can be (drop_masks). Backward
 * it keeps its sums over all its rows in registers; a block adds those of its warps up, in order, and writes them to a
 * row of parts, which are added up in order on the side stream. The operations come one by one and wait for each other
 * (dis__cuda_chain_take); where the next one does not belong to it, those that wait are run by themselves. */
#include "nn/cuda/cuda_host.h"
#include "nn/cuda/kernels.cuh"

enum { SET = 4, WARPS = 4, SUMS = 3, BLOCKS = 264, SLOTS = 4, WIDTH = 768, MANY = 4096 };
enum { GAIN, BIAS, BELOW }; /* sums */

/* Operations that wait: of a normalisation's backward, in this order. */
typedef struct {
    bool params, grads, drops, sums;
    dis__layernorm_args norm; /* of both */
    dis__dropout_args dropout;
    dis__column_sums_args below;
} waiting;

struct dis__cuda_chain {
    waiting w;
    float *parts[SLOTS]; /* (blocks, SUMS, width), used in turn */
    size_t layer[SLOTS]; /* when each was: free when its side work is done */
    size_t n;
};

typedef struct {
    dis__layernorm_args a;
    dis__dropout_args d;
    philox_keys keys;
    uint32_t threshold; /* 0: nothing is dropped */
    float scale;
    bf16 *to; /* backward: dx, or behind dropout */
    bool add;
    float *parts;
} chain_call;

/* mask[r], bit 8 g + i: number i of group g of this lane's part of row r of a set is dropped. A row is G groups of 256
 * numbers; four groups have their words from one draw (dropout_words), so the set from 8 G draws per lane. */
template <int G> __device__ __forceinline__ void drop_masks(const chain_call &c, size_t set, uint32_t (&mask)[SET])
{
    const uint32_t lane = threadIdx.x & 31, pass = (uint32_t)(uint64_t)*c.d.pass;
#pragma unroll
    for (int r = 0; r < SET; r++) mask[r] = 0;
#pragma unroll
    for (int b = 0; b < G; b++)
#pragma unroll 4
        for (uint32_t i = 0; i < 8; i++) {
            const uint4 w = dropout_words(c.keys, pass, c.d.layer, set * G + b, lane * 8 + i);
            const uint32_t word[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
            for (int k = 0; k < 4; k++)
                mask[(4 * b + k) / G] |= (uint32_t)(word[k] < c.threshold) << (8 * ((4 * b + k) % G) + i);
        }
}

__device__ __forceinline__ void load_8(const float *from, float (&x)[8])
{
    const float4 a = ((const float4 *)from)[0], b = ((const float4 *)from)[1];
    x[0] = a.x, x[1] = a.y, x[2] = a.z, x[3] = a.w, x[4] = b.x, x[5] = b.y, x[6] = b.z, x[7] = b.w;
}

/* Rows of a warp, set by set. */
#define EACH_SET(a, set)                                                                                              \
    for (size_t set = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, sets = ((a).n_rows + SET - 1) / SET; \
         set < sets; set += (size_t)gridDim.x * (blockDim.x / 32))

/* ---- forward ---- */

template <int G> __global__ void __launch_bounds__(WARPS * 32) dropout_norm_kernel(const __grid_constant__ chain_call c)
{
    const dis__layernorm_args &a = c.a;
    const int lane = threadIdx.x & 31;
    EACH_SET(a, set)
    {
        uint32_t mask[SET];
        drop_masks<G>(c, set, mask);
#pragma unroll
        for (int n = 0; n < SET; n++) {
            const size_t row = set * SET + n;
            if (row >= a.n_rows) break;
            const size_t at = row * (G * 256) + lane * 8;
            float v[G][8], sum = 0, squares = 0;
#pragma unroll
            for (int g = 0; g < G; g++) {
                float r[8];
                ((const pack<bf16> *)((const bf16 *)c.d.x + at + g * 256))->get(v[g]);
                if (a.r) ((const pack<bf16> *)((const bf16 *)a.r + at + g * 256))->get(r);
                pack<bf16> kept;
#pragma unroll
                for (int i = 0; i < 8; i++) v[g][i] = mask[n] >> (8 * g + i) & 1 ? 0 : v[g][i] * c.scale;
                kept.set(v[g]);
                *(pack<bf16> *)((bf16 *)a.x + at + g * 256) = kept;
                kept.get(v[g]); /* as it is stored */
#pragma unroll
                for (int i = 0; i < 8; i++) sum += v[g][i] += a.r ? r[i] : 0;
            }
            const float mean = warp_sum(sum) / (G * 256);
#pragma unroll
            for (int g = 0; g < G; g++)
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    v[g][i] -= mean;
                    squares += v[g][i] * v[g][i];
                }
            const float inverse = 1 / sqrtf(warp_sum(squares) / (G * 256) + (float)a.epsilon);
#pragma unroll
            for (int g = 0; g < G; g++) {
                float gain[8], bias[8];
                load_8((const float *)a.gain + lane * 8 + g * 256, gain);
                if (a.bias) load_8((const float *)a.bias + lane * 8 + g * 256, bias);
#pragma unroll
                for (int i = 0; i < 8; i++) v[g][i] = gain[i] * (v[g][i] * inverse) + (a.bias ? bias[i] : 0);
                pack<bf16> y;
                y.set(v[g]);
                *(pack<bf16> *)((bf16 *)a.y + at + g * 256) = y;
            }
            if (lane == 0) ((float2 *)a.stats)[row] = make_float2(mean, inverse);
        }
    }
}

/* ---- backward ---- */

/* One row as it lies in memory, on its way. */
template <int G> struct row_ahead {
    pack<bf16> x[G], r[G], dy[G];
    float2 stats;
    __device__ __forceinline__ void load(const dis__layernorm_args &a, size_t row)
    {
        const size_t at = row * (G * 256) + (threadIdx.x & 31) * 8;
        if (row >= a.n_rows) return;
#pragma unroll
        for (int g = 0; g < G; g++) {
            x[g] = *(const pack<bf16> *)((const bf16 *)a.x + at + g * 256);
            if (a.r) r[g] = *(const pack<bf16> *)((const bf16 *)a.r + at + g * 256);
            dy[g] = *(const pack<bf16> *)((const bf16 *)a.dy + at + g * 256);
        }
        stats = ((const float2 *)a.stats)[row];
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

template <int G>
__device__ __forceinline__ void row_grad(const chain_call &c, const row_ahead<G> &in, size_t row, uint32_t mask,
                                         float (&sums)[SUMS][G][8])
{
    const dis__layernorm_args &a = c.a;
    const int lane = threadIdx.x & 31;
    float z[G][8], d[G][8], d_sum = 0, dz_sum = 0;
#pragma unroll
    for (int g = 0; g < G; g++) {
        float r[8], gain[8];
        load_8((const float *)a.gain + lane * 8 + g * 256, gain);
        in.x[g].get(z[g]);
        in.dy[g].get(d[g]);
        if (a.r) in.r[g].get(r);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            z[g][i] = ((a.r ? z[g][i] + r[i] : z[g][i]) - in.stats.x) * in.stats.y;
            sums[GAIN][g][i] += d[g][i] * z[g][i];
            sums[BIAS][g][i] += d[g][i];
            d[g][i] *= gain[i];
            d_sum += d[g][i];
            dz_sum += d[g][i] * z[g][i];
        }
    }
    const float d_mean = warp_sum(d_sum) / (G * 256), dz_mean = warp_sum(dz_sum) / (G * 256);
#pragma unroll
    for (int g = 0; g < G; g++) {
        const size_t at = row * (G * 256) + lane * 8 + g * 256;
#pragma unroll
        for (int i = 0; i < 8; i++) d[g][i] = (d[g][i] - d_mean - z[g][i] * dz_mean) * in.stats.y;
        if (a.dr) store_row((bf16 *)a.dr + at, a.add_r, d[g]);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const float rounded = as_float(from_float<bf16>(d[g][i]));
            d[g][i] = mask >> (8 * g + i) & 1 ? 0 : as_float(from_float<bf16>(rounded * c.scale));
            sums[BELOW][g][i] += d[g][i];
        }
        store_row(c.to + at, c.add, d[g]);
    }
}

template <int G>
__global__ void __launch_bounds__(WARPS * 32, 2) norm_chain_kernel(const __grid_constant__ chain_call c)
{
    __shared__ float room[SUMS * G * 256];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    float sums[SUMS][G][8] = {};
    EACH_SET(c.a, set)
    {
        uint32_t mask[SET] = {};
        row_ahead<G> now, next;
        now.load(c.a, set * SET);
        if (c.threshold) drop_masks<G>(c, set, mask);
#pragma unroll
        for (int n = 0; n < SET; n++) {
            const size_t row = set * SET + n;
            if (row >= c.a.n_rows) break;
            if (n + 1 < SET) next.load(c.a, row + 1);
            row_grad<G>(c, now, row, mask[n], sums);
            now = next;
        }
    }
    for (int w = 0; w < warps; w++) { /* in order */
        if (w == warp)
#pragma unroll
            for (int s = 0; s < SUMS; s++)
#pragma unroll
                for (int g = 0; g < G; g++)
#pragma unroll
                    for (int i = 0; i < 8; i++) {
                        float *at = room + s * G * 256 + g * 256 + lane * 8 + i;
                        *at = w ? *at + sums[s][g][i] : sums[s][g][i];
                    }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < SUMS * G * 256; i += blockDim.x)
        c.parts[(size_t)blockIdx.x * SUMS * G * 256 + i] = room[i];
}

/* Block (columns, which sum). */
typedef struct {
    float *to[SUMS]; /* NULL: not wanted */
} sum_targets;

__global__ void __launch_bounds__(64)
    chain_sums_kernel(const float *parts, unsigned n_parts, unsigned width, const __grid_constant__ sum_targets out)
{
    const unsigned c = blockIdx.x * 64 + threadIdx.x;
    float *to = out.to[blockIdx.y], sum = 0;
    if (!to || c >= width) return;
#pragma unroll 16
    for (unsigned p = 0; p < n_parts; p++) sum += parts[((size_t)p * SUMS + blockIdx.y) * width + c];
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

static bool wide_enough(const dis__cuda_session *s, const dis__layernorm_args *a)
{
    return s->value == DIS_BFLOAT16 && a->n_rows >= MANY && a->width == WIDTH && aligned16(a->x) && aligned16(a->r) &&
           aligned16(a->y) && aligned16(a->dy) && aligned16(a->dx) && aligned16(a->dr) && aligned16(a->gain) &&
           aligned16(a->bias);
}

bool dis__cuda_dropout_norm(dis__cuda_session *s, const dis__dropout_args *d, const dis__layernorm_args *a,
                            cudaError_t *error)
{
    if (d->n != a->n_rows * a->width || !wide_enough(s, a) || !aligned16(d->x) || drop_threshold(d->rate) == 0)
        return false;
    const chain_call c = call_of(a, d);
    const unsigned blocks = grid_of((a->n_rows + SET - 1) / SET, WARPS); /* nothing is kept from set to set */
    dropout_norm_kernel<WIDTH / 256><<<blocks, WARPS * 32, 0, s->stream>>>(c);
    *error = cudaGetLastError();
    return true;
}

/* ---- what waits ---- */

dis_status dis__cuda_chain_open(dis__cuda_session *s)
{
    return s->host->alloc_zeroed(&s->chain, 1, sizeof *s->chain);
}

cudaError_t dis__cuda_chain_begin(dis__cuda_session *s)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < SLOTS && error == cudaSuccess && s->value == DIS_BFLOAT16; i++)
        error = cudaMalloc((void **)&s->chain->parts[i], (size_t)BLOCKS * SUMS * WIDTH * sizeof(float));
    return error;
}

void dis__cuda_chain_close(dis__cuda_session *s)
{
    if (!s->chain) return;
    for (int i = 0; i < SLOTS; i++) cudaFree(s->chain->parts[i]);
    s->host->free(s->chain);
}

static bool fits(const dis__cuda_session *s, const waiting *w)
{
    return s->chain->parts[0] && wide_enough(s, &w->norm) && aligned16(w->dropout.y);
}

/* Whether this operation goes on where those that wait have stopped. */
static bool goes_on(dis__cuda_session *s, dis__op op, const void *args)
{
    waiting *w = &s->chain->w;
    const dis__layernorm_args *norm = (const dis__layernorm_args *)args;
    const dis__dropout_args *dropout = (const dis__dropout_args *)args;
    const dis__column_sums_args *sums = (const dis__column_sums_args *)args;
    switch (op) {
    case DIS_OP_layernorm_param_grad: return !w->params && !w->grads && wide_enough(s, norm);
    case DIS_OP_layernorm_grad:
        return !w->grads && wide_enough(s, norm) && norm->dx && norm->dx != norm->dr &&
               (!w->params || norm->dy == w->norm.dy);
    case DIS_OP_dropout:
        return w->grads && !w->drops && dropout->x == w->norm.dx && !w->norm.add_x && dropout->y != w->norm.dr &&
               dropout->n == w->norm.n_rows * w->norm.width && aligned16(dropout->y) && drop_threshold(dropout->rate);
    case DIS_OP_column_sums:
        return w->grads && fits(s, w) && sums->x == (w->drops ? w->dropout.y : w->norm.dx) &&
               !(w->drops ? w->dropout.add : w->norm.add_x) && sums->n_rows == w->norm.n_rows &&
               sums->n_cols == w->norm.width && sums->ld == w->norm.width;
    default: return false;
    }
}

/* By themselves, as they came. */
static cudaError_t run_apart(dis__cuda_session *s, const waiting *w)
{
    cudaError_t error = cudaSuccess;
    if (w->params) {
        error = dis__cuda_to_side(s);
        if (error == cudaSuccess) error = dis__cuda_layernorm_param_grad(s, &w->norm);
        dis__cuda_to_main(s);
    }
    if (error == cudaSuccess && w->grads) error = dis__cuda_layernorm_grad(s, &w->norm);
    if (error == cudaSuccess && w->drops) error = dis__cuda_dropout(s, &w->dropout);
    return error;
}

/* The next of the rows of parts; the session's stream waits where those before may not be summed yet. */
static cudaError_t next_parts(dis__cuda_session *s, float **parts)
{
    const size_t i = s->chain->n++ % SLOTS, now = dis__cuda_layers_done(s);
    const bool soon = now <= s->chain->layer[i] + DIS_CUDA_LAG;
    s->chain->layer[i] = now;
    *parts = s->chain->parts[i];
    return soon ? dis__cuda_join(s) : cudaSuccess;
}

static cudaError_t run_together(dis__cuda_session *s, const waiting *w)
{
    const dis__layernorm_args *a = &w->norm;
    float *parts;
    cudaError_t error = next_parts(s, &parts);
    if (error != cudaSuccess) return error;
    chain_call c = call_of(a, w->drops ? &w->dropout : NULL);
    unsigned blocks = grid_of((a->n_rows + SET - 1) / SET, WARPS);
    if (blocks > BLOCKS) blocks = BLOCKS;
    c.to = (bf16 *)(w->drops ? w->dropout.y : a->dx);
    c.add = w->drops ? w->dropout.add : a->add_x;
    c.parts = parts;
    norm_chain_kernel<WIDTH / 256><<<blocks, WARPS * 32, 0, s->stream>>>(c);
    const sum_targets to = {{w->params ? (float *)a->d_gain : NULL, w->params ? (float *)a->d_bias : NULL,
                             w->sums ? (float *)w->below.out : NULL}};
    error = cudaGetLastError();
    if (error != cudaSuccess || (!to.to[GAIN] && !to.to[BIAS] && !to.to[BELOW])) return error;
    error = dis__cuda_to_side(s);
    chain_sums_kernel<<<dim3(grid_of(a->width, 64), SUMS), 64, 0, s->stream>>>(parts, blocks, (unsigned)a->width, to);
    dis__cuda_to_main(s);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

cudaError_t dis__cuda_chain_flush(dis__cuda_session *s)
{
    if (!s->chain || (!s->chain->w.params && !s->chain->w.grads)) return cudaSuccess;
    const waiting w = s->chain->w;
    s->chain->w = {};
    return w.grads && fits(s, &w) ? run_together(s, &w) : run_apart(s, &w);
}

bool dis__cuda_chain_take(dis__cuda_session *s, dis__op op, const void *args, cudaError_t *error)
{
    waiting *w = &s->chain->w;
    *error = cudaSuccess;
    if (!goes_on(s, op, args)) {
        *error = dis__cuda_chain_flush(s);
        if (*error != cudaSuccess || !goes_on(s, op, args)) return false;
    }
    if (op == DIS_OP_dropout) {
        w->dropout = *(const dis__dropout_args *)args;
        w->drops = true;
    } else if (op == DIS_OP_column_sums) {
        w->below = *(const dis__column_sums_args *)args;
        w->sums = true;
        *error = dis__cuda_chain_flush(s); /* nothing can follow */
    } else {
        void *const d_gain = w->norm.d_gain, *const d_bias = w->norm.d_bias;
        w->norm = *(const dis__layernorm_args *)args;
        if (op == DIS_OP_layernorm_grad && w->params) w->norm.d_gain = d_gain, w->norm.d_bias = d_bias;
        *(op == DIS_OP_layernorm_grad ? &w->grads : &w->params) = true;
    }
    return true;
}
