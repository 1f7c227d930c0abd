/* Attention within packed rows with tensor cores, forward, after Dao (2023): scores and probabilities stay in
 * registers. A block has 64 queries of one head; tiles of 64 keys and values of their rows are streamed through two
 * buffers in shared memory. The next tile is fetched asynchronously together with its dropout bits and biases, with one
 * barrier per tile. 4 length d operations per query. */
#include "nn/cuda/attention/packed_attention_tile.cuh"

/* Online softmax over the next 64 keys of two rows of scores, r0 and r0 + 8: updates the maximum and the sum, and
 * converts s to probabilities. */
template <int D, bool BIAS, bool DROP>
__device__ __forceinline__ void soften(float (&s)[8][4], float (&y)[D / 8][4], float (&max)[2], float (&sum)[2],
                                       const pair_facts &now, int r0, int c0, float scale)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float top = -INFINITY;
#pragma unroll
        for (int j = 0; j < 8; j++) top = fmaxf(top, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
        top = fmaxf(max[h], BIAS ? top : top * scale);
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
        const float from = top == -INFINITY ? 0 : top, shrink = exp2_fast(max[h] - from);
        const row_bits out(DROP ? now.bits[r0 + 8 * h] : make_uint2(0, 0), c0);
        max[h] = top;
        sum[h] *= shrink;
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const float x = s[j][2 * h + i], p = exp2_fast(BIAS ? x - from : x * scale - from);
                sum[h] += p;
                s[j][2 * h + i] = DROP && out.at(j, i) ? 0 : p;
            }
#pragma unroll
        for (int j = 0; j < D / 8; j++) {
            y[j][2 * h] *= shrink;
            y[j][2 * h + 1] *= shrink;
        }
    }
}

/* Without dropout five blocks fit on an SM: registers and shared memory are just sufficient. */
template <int D, bool BIAS, bool DROP>
__global__ void __launch_bounds__(THREADS, DROP ? 4 : 5)
    packed_attention_mma_kernel(const __grid_constant__ packed_attention_call call)
{
    extern __shared__ __align__(ROOM_ALIGNED) bf16 any_room[];
    __shared__ __align__(16) tile_facts f;
    const dis__packed_attention_args &a = call.a;
    bf16 *const room = aligned_room(any_room);
    const block_place block(a);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, head = block.head, q0 = block.tile * TILE;
    const int n_tokens = (int)a.n_tokens, r0 = warp * 16 + lane / 4, c0 = lane % 4 * 2;
    const size_t ld = 3 * a.channels;
    const bf16 *q = (const bf16 *)a.qkv + head * D, *k = q + a.channels, *v = k + a.channels;
    passing<D>(q, ld, q0, n_tokens).fetch(room);
    const int2 all = seen_by_all(call, q0);
    const int n = all.y > all.x ? (all.y - all.x + TILE - 1) / TILE : 0;
    passing<D> next_keys(k, ld, all.x, n_tokens), next_values(v, ld, all.x, n_tokens);
    if (n) {
        next_keys.fetch(room + TILE * D);
        next_values.fetch(room + 2 * TILE * D);
    }
    copies_commit();
    if (n > 1) {
        next_keys.fetch(room + 3 * TILE * D);
        next_values.fetch(room + 4 * TILE * D);
    }
    copies_commit();
    load_spans(f, call, q0);
    const bool drops = DROP && call.bits && threadIdx.x < TILE && f.span[threadIdx.x].y;
    const uint64_t base = drops ? drop_base(a, head, q0 + (int)threadIdx.x, f.span[threadIdx.x]) : 0;
    facts_ahead ahead = {};
    if (n) {
        if (BIAS) ahead.bias = bias_of(a, head, q0, all.x);
        ahead.seen = key_counts(a, all.x);
        if (drops) ahead.load_bits(call.bits, base, all.x, f.span[threadIdx.x]);
        ahead.put<BIAS, DROP, false>(f.pair[0]);
    }
    left_tile<D> left;
    float y[D / 8][4] = {}, max[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
    const float scale = (float)a.scale * LOG2E;
    for (int t = 0; t < n; t++) {
        const int k0 = all.x + t * TILE, k1 = k0 + TILE;
        const pair_facts &now = f.pair[t % 2];
        bf16 *keys = room + (1 + t % 2 * 2) * TILE * D, *values = keys + TILE * D;
        fetched<D>(t == 0);
        const bool all_counted =
            __syncthreads_and(all_count(f, a, k0)); /* this pair has arrived, the other buffer is free */
        if (t == 0) left.load(room);
        float s[8][4];
        products_begin<D>();
        times_transposed<D>(s, left, keys);
        if (t && t + 1 < n) {
            bf16 *next = room + (1 + (t + 1) % 2 * 2) * TILE * D;
            next_keys.fetch(next);
            next_values.fetch(next + TILE * D);
        }
        copies_commit();
        if (t + 1 < n) {
            if (BIAS) ahead.bias = bias_of(a, head, q0, k1);
            ahead.seen = key_counts(a, k1);
            if (drops) ahead.load_bits(call.bits, base, k1, f.span[threadIdx.x]);
        }
        sums_done<D, 0>(s);
        if (BIAS)
#pragma unroll
            for (int j = 0; j < 8; j++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    s[j][i] = s[j][i] * scale + now.bias[TILE + j * 8 + c0 + (i & 1) - r0 - (i >> 1) * 8];
        if (!all_counted)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const uint2 range = in_range(f, a, q0, r0 + 8 * h, k0);
                const row_bits counts(make_uint2(range.x & now.seen.x, range.y & now.seen.y), c0);
#pragma unroll
                for (int j = 0; j < 8; j++)
#pragma unroll
                    for (int i = 0; i < 2; i++)
                        if (!counts.at(j, i)) s[j][2 * h + i] = -INFINITY;
            }
        soften<D, BIAS, DROP>(s, y, max, sum, now, r0, c0, scale);
        uint32_t shares[4][4];
        as_left(shares, s);
        products_begin<D>();
        add_times<D>(y, shares, values);
        if (t + 1 < n) ahead.put<BIAS, DROP, false>(f.pair[(t + 1) % 2]);
        sums_done<D, 0>(y);
    }
    copies_wait<0>();
    float by[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int query = q0 + r0 + 8 * h;
        float total = sum[h] + __shfl_xor_sync(0xffffffffu, sum[h], 1);
        total += __shfl_xor_sync(0xffffffffu, total, 2);
        by[h] = total > 0 ? (DROP ? call.keep : 1) / total : 0;
        if (query < n_tokens && lane % 4 == 0)
            ((float *)a.log_sum)[(size_t)query * a.n_heads + head] = total > 0 ? (max[h] + log2f(total)) / LOG2E : 0;
    }
    bf16 *free_room = room + (1 + n % 2 * 2) * TILE * D; /* of the pair before the last, or none */
    store_tile<D>(y, by, free_room, (bf16 *)a.y + (size_t)q0 * a.channels + head * D, a.channels, n_tokens - q0, false);
}

/* Selects the template instance. One with biases and dropout also handles arguments without them, slightly slower: only
 * the usual heads of 64 channels have specialized instances, since each takes a second to compile. */
static packed_attention_kernel_of *forward_of(size_t d, const packed_attention_call *c)
{
    if (d == 32) return packed_attention_mma_kernel<32, true, true>;
    if (c->a.bias)
        return c->bits ? packed_attention_mma_kernel<64, true, true> : packed_attention_mma_kernel<64, true, false>;
    return c->bits ? packed_attention_mma_kernel<64, false, true> : packed_attention_mma_kernel<64, false, false>;
}

bool dis__cuda_packed_attention_mma(dis__cuda_session *s, const packed_attention_call *c, cudaError_t *error)
{
    size_t d;
    if (!has_tiles(s, &c->a, &d)) return false;
    *error = launch_tiles(s, s->stream, forward_of(d, c), c, 5 * TILE * d * sizeof(bf16));
    return true;
}
