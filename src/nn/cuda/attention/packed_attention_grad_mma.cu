/* Attention within packed rows with tensor cores, backward. Scores are computed twice, once per tile of queries for dq
 * and once per tile of keys for dk and dv, so that every sum has one owner and a fixed order: 14 length d operations
 * per query instead of 10 with atomic sums. Tiles are streamed as in the forward pass (packed_attention_mma.cu).
 * Gradients of biases: a tile's gradients of scores are summed along diagonals, distance by distance, and by bucket at
 * the end. */
#include "nn/cuda/attention/packed_attention_tile.cuh"

/* The metadata of the next pair. Where queries are streamed, the dropout of one is located by its row's span, which is
 * read one pair earlier. */
template <bool KEYS, bool BIAS, bool DROP> struct grad_facts {
    const packed_attention_call &call;
    const int head, own0;
    facts_ahead next;
    int2 span; /* of this thread's query: for the pair after the next, or constant */

    __device__ __forceinline__ grad_facts(const packed_attention_call &c, const tile_facts &f, int h, int own,
                                          int other)
        : call(c), head(h), own0(own), next()
    {
        span = KEYS ? span_at(other) : threadIdx.x < TILE ? f.span[threadIdx.x] : make_int2(0, 0);
    }
    __device__ __forceinline__ int2 span_at(int first) const
    {
        const int query = first + (int)threadIdx.x;
        return DROP && threadIdx.x < TILE && query < (int)call.a.n_tokens ? call.span[query] : make_int2(0, 0);
    }
    __device__ __forceinline__ void load(int other)
    {
        const dis__packed_attention_args &a = call.a;
        const int q0 = KEYS ? other : own0, k0 = KEYS ? own0 : other, query = q0 + (int)threadIdx.x;
        if (BIAS) next.bias = bias_of(a, head, q0, k0);
        next.seen = KEYS || key_counts(a, k0);
        if (threadIdx.x >= TILE) return;
        if (KEYS) {
            const size_t at = (size_t)query * a.n_heads + head;
            const bool block = query < (int)a.n_tokens;
            next.sums = block ? make_float2(((const float *)a.log_sum)[at] * LOG2E, call.delta[at]) : make_float2(0, 0);
        }
        if (DROP && call.bits && span.y) next.load_bits(call.bits, drop_base(a, head, query, span), k0, span);
        if (KEYS) span = span_at(other + TILE);
    }
    __device__ __forceinline__ void put(pair_facts &f) const
    {
        next.template put<BIAS, DROP, KEYS>(f);
    }
};

/* Per-thread state of rows r0 and r0 + 8, and of the current pair. */
template <bool KEYS, bool BIAS, bool DROP> struct grad_pair {
    const pair_facts &now;
    const int r0, c0;
    const float scale, keep;
    const float2 (&row_sums)[2]; /* of queries, where rows are queries */

    /* Sums of the queries of columns 8 j + c0 and the next; where rows are queries, those of row h. */
    __device__ __forceinline__ void sums_of(int j, float4 &of) const
    {
        if (KEYS) of = *reinterpret_cast<const float4 *>(&now.sums[j * 8 + c0]);
    }
    __device__ __forceinline__ float2 sum_of(const float4 &of, int h, int i) const
    {
        if (!KEYS) return row_sums[h];
        return i ? make_float2(of.z, of.w) : make_float2(of.x, of.y);
    }
    /* p: scores to probabilities. */
    __device__ __forceinline__ void shares(float (&p)[8][4]) const
    {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float4 of;
            sums_of(j, of);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int i = e & 1, h = e >> 1, apart = j * 8 + c0 + i - r0 - 8 * h;
                const float bias = BIAS ? now.bias[TILE + (KEYS ? -apart : apart)] : 0;
                p[j][e] = exp2_fast(p[j][e] * scale + (bias - sum_of(of, h, i).x));
            }
        }
    }
    /* g: gradients of probabilities after dropout, converted to gradients of scores; p, for keys: converted to
     * probabilities after dropout. */
    __device__ __forceinline__ void gradients(float (&p)[8][4], float (&g)[8][4]) const
    {
        const uint2 none = make_uint2(0, 0);
        const row_bits out[2] = {row_bits(DROP && !KEYS ? now.bits[r0] : none, c0),
                                 row_bits(DROP && !KEYS ? now.bits[r0 + 8] : none, c0)};
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float4 of;
            sums_of(j, of);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                uint32_t word = 0; /* of this column's query: bit 8 h: key r0 + 8 h */
                if (DROP && KEYS) {
                    const uint32_t *bits = (const uint32_t *)&now.bits[j * 8 + c0 + i];
                    word = bits[threadIdx.x >> 6] >> (r0 & 31);
                }
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int e = 2 * h + i;
                    const float share = p[j][e], delta = sum_of(of, h, i).y;
                    const bool drops = DROP && (KEYS ? (word & 1u << 8 * h) != 0 : out[h].at(j, i));
                    g[j][e] = share * (drops ? -delta : g[j][e] * keep - delta);
                    if (KEYS) p[j][e] = drops ? 0 : share * keep;
                }
            }
        }
    }
};

/* Sums of gradients of scores by distance. */
struct distance_sums {
    float *diagonal, *by_distance; /* of a tile, rows padded by one element; (2 longest - 1) */
    int first, last;               /* the range of these that the block has: [first, last) */

    __device__ __forceinline__ void clear() const
    {
        for (int i = first + (int)threadIdx.x; i < last; i += THREADS) by_distance[i] = 0;
    }
    __device__ __forceinline__ void put(const float (&g)[8][4], int r0, int c0) const
    {
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) diagonal[(r0 + (e >> 1) * 8) * (TILE + 1) + j * 8 + c0 + (e & 1)] = g[j][e];
    }
    /* apart: distance between the first key and the first query. */
    __device__ __forceinline__ void add(const dis__packed_attention_args &a, int apart) const
    {
        const int shift = (int)threadIdx.x - (TILE - 1); /* column - row */
        const int at = apart + shift + (int)a.longest - 1;
        if (threadIdx.x >= 2 * TILE - 1 || at < first || at >= last) return;
        float total = 0;
        for (int row = shift < 0 ? -shift : 0; row < TILE && row + shift < TILE; row++)
            total += diagonal[row * (TILE + 1) + row + shift];
        by_distance[at] += total;
    }
    __device__ __forceinline__ void to_buckets(const packed_attention_call &call, const block_place &block) const
    {
        const dis__packed_attention_args &a = call.a;
        const int lane = threadIdx.x & 31;
        for (int b = threadIdx.x >> 5; b < (int)a.n_buckets; b += THREADS / 32) {
            float total = 0;
            for (int i = first + lane; i < last; i += 32)
                if (a.bucket[i] == b) total += by_distance[i];
            total = warp_sum(total);
            if (lane == 0) call.parts[((size_t)block.tile * a.n_buckets + b) * a.n_heads + block.head] = total;
        }
    }
};

/* One tile of queries (KEYS false: dq) or keys (KEYS true: dk, dv), with the other kind streamed. p and g are the
 * probabilities and the gradients of scores of this block's rows and those columns. */
template <int D, bool KEYS, bool BIAS, bool DROP>
__device__ __forceinline__ void packed_attention_grad_tile(const packed_attention_call &call, bf16 *room, tile_facts &f,
                                                           bool *own_seen)
{
    const dis__packed_attention_args &a = call.a;
    const block_place block(a);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, head = block.head, own0 = block.tile * TILE;
    const int n_tokens = (int)a.n_tokens, r0 = warp * 16 + lane / 4, c0 = lane % 4 * 2;
    const size_t ld = 3 * a.channels;
    const bf16 *q = (const bf16 *)a.qkv + head * D, *k = q + a.channels, *v = k + a.channels;
    const bf16 *dy = (const bf16 *)a.dy + head * D;
    float *diagonal = (float *)(room + 6 * TILE * D);
    const bool sums = BIAS && !KEYS && call.parts;
    passing<D>(KEYS ? k : q, ld, own0, n_tokens).fetch(room);
    passing<D>(KEYS ? v : dy, KEYS ? ld : a.channels, own0, n_tokens).fetch(room + TILE * D);
    const int2 all = seen_by_all(call, own0);
    const int n = all.y > all.x ? (all.y - all.x + TILE - 1) / TILE : 0, middle = (int)a.longest - 1;
    const distance_sums by_distance = {diagonal, diagonal + TILE * (TILE + 1), max(middle + all.x - own0 - TILE + 1, 0),
                                       min(middle + all.y - own0, 2 * middle + 1)};
    if (sums) by_distance.clear();
    passing<D> next_first(KEYS ? q : k, ld, all.x, n_tokens);
    passing<D> next_second(KEYS ? dy : v, KEYS ? a.channels : ld, all.x, n_tokens);
    if (n) {
        next_first.fetch(room + 2 * TILE * D);
        next_second.fetch(room + 3 * TILE * D);
    }
    copies_commit();
    if (n > 1) {
        next_first.fetch(room + 4 * TILE * D);
        next_second.fetch(room + 5 * TILE * D);
    }
    copies_commit();
    load_spans(f, call, own0);
    if (KEYS && threadIdx.x < TILE) own_seen[threadIdx.x] = key_counts(a, own0);
    left_tile<D> left, left2;
    float d1[D / 8][4] = {}, d2[D / 8][4] = {}; /* dq, or dk and dv */
    float2 row_sums[2] = {make_float2(0, 0), make_float2(0, 0)};
#pragma unroll
    for (int h = 0; h < 2; h++)
        if (!KEYS && own0 + r0 + 8 * h < n_tokens) {
            const size_t at = (size_t)(own0 + r0 + 8 * h) * a.n_heads + head;
            row_sums[h] = make_float2(((const float *)a.log_sum)[at] * LOG2E, call.delta[at]);
        }
    grad_facts<KEYS, BIAS, DROP> ahead(call, f, head, own0, all.x);
    if (n) {
        ahead.load(all.x);
        ahead.put(f.pair[0]);
    }
    for (int t = 0; t < n; t++) {
        const int other0 = all.x + t * TILE;
        const pair_facts &now = f.pair[t % 2];
        bf16 *first = room + (2 + t % 2 * 2) * TILE * D, *second = first + TILE * D;
        fetched<D>(t == 0);
        const bool all_counted =
            __syncthreads_and(all_count(f, a, other0)); /* this pair has arrived, the other buffer is
                                                                        * free */
        if (t == 0) {
            left.load(room);
            left2.load(room + TILE * D);
        }
        float p[8][4], g[8][4];
        products_begin<D>();
        times_transposed<D>(p, left, first);   /* scores */
        times_transposed<D>(g, left2, second); /* dy v */
        if (t && t + 1 < n) {
            bf16 *next = room + (2 + (t + 1) % 2 * 2) * TILE * D;
            next_first.fetch(next);
            next_second.fetch(next + TILE * D);
        }
        copies_commit();
        if (t + 1 < n) ahead.load(other0 + TILE);
        const grad_pair<KEYS, BIAS, DROP> pair = {now, r0, c0, (float)a.scale * LOG2E, DROP ? call.keep : 1, row_sums};
        sums_done<D, 1>(p);
        pair.shares(p);
        if (!all_counted)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const uint2 range = in_range(f, a, own0, r0 + 8 * h, other0);
                const uint32_t seen = KEYS && !own_seen[r0 + 8 * h] ? 0 : ~0u;
                const row_bits counts(make_uint2(range.x & now.seen.x & seen, range.y & now.seen.y & seen), c0);
#pragma unroll
                for (int j = 0; j < 8; j++)
#pragma unroll
                    for (int i = 0; i < 2; i++)
                        if (!counts.at(j, i)) p[j][2 * h + i] = 0;
            }
        sums_done<D, 0>(g);
        pair.gradients(p, g);
        if (sums) by_distance.put(g, r0, c0);
        uint32_t shares[4][4], slopes[4][4];
        if (KEYS) as_left(shares, p);
        as_left(slopes, g);
        products_begin<D>();
        if (KEYS) add_times<D>(d2, shares, second);
        add_times<D>(d1, slopes, first);
        if (t + 1 < n) ahead.put(f.pair[(t + 1) % 2]);
        if (KEYS) sums_done<D, 0>(d2);
        sums_done<D, 0>(d1);
        if (sums) {
            __syncthreads();
            by_distance.add(a, other0 - own0);
        }
    }
    copies_wait<0>();
    if (a.d_qkv) {
        bf16 *to = (bf16 *)a.d_qkv + (size_t)own0 * ld + head * D;
        bf16 *free_room = room + (2 + n % 2 * 2) * TILE * D; /* of the pair before the last, or none */
        const float by[2] = {(float)a.scale, (float)a.scale}, one[2] = {1, 1};
        store_tile<D>(d1, by, free_room, to + (KEYS ? a.channels : 0), ld, n_tokens - own0, a.add);
        if (KEYS) store_tile<D>(d2, one, free_room + TILE * D, to + 2 * a.channels, ld, n_tokens - own0, a.add);
    }
    if (!sums) return;
    __syncthreads();
    by_distance.to_buckets(call, block);
}

/* Fewer registers allow three blocks per SM. */
template <int D, bool KEYS, bool BIAS, bool DROP>
__global__ void __launch_bounds__(THREADS, by_group<D> || !KEYS ? 3 : 2)
    packed_attention_grad_mma_kernel(const __grid_constant__ packed_attention_call call)
{
    extern __shared__ __align__(ROOM_ALIGNED) bf16 any_room[];
    __shared__ __align__(16) tile_facts f;
    __shared__ bool own_seen[TILE];
    packed_attention_grad_tile<D, KEYS, BIAS, DROP>(call, aligned_room(any_room), f, own_seen);
}

template <bool KEYS> static packed_attention_kernel_of *backward_of(size_t d, const packed_attention_call *c)
{
    if (d == 32) return packed_attention_grad_mma_kernel<32, KEYS, true, true>;
    return c->a.bias ? packed_attention_grad_mma_kernel<64, KEYS, true, true>
                     : packed_attention_grad_mma_kernel<64, KEYS, false, true>;
}

bool dis__cuda_packed_attention_grad_mma(dis__cuda_session *s, const packed_attention_call *c, cudaError_t *error)
{
    size_t d;
    const size_t sums = c->parts ? (TILE * (TILE + 1) + 2 * c->a.longest - 1) * sizeof(float) : 0;
    if (!has_tiles(s, &c->a, &d) || sums > 100 << 10) return false;
    const size_t bytes = 6 * TILE * d * sizeof(bf16), facts = 8 << 10; /* at most */
    if (bytes + sums + facts > s->shared) return false;
    cudaStream_t twin = s->stream;
    *error = c->a.d_qkv ? dis__cuda_fork_twin(s, &twin) : cudaSuccess; /* few blocks each: launched concurrently */
    if (*error == cudaSuccess) *error = launch_tiles(s, twin, backward_of<false>(d, c), c, bytes + sums);
    if (*error != cudaSuccess || !c->a.d_qkv) return true;
    *error = launch_tiles(s, s->stream, backward_of<true>(d, c), c, bytes);
    if (*error == cudaSuccess) *error = dis__cuda_join_twin(s);
    return true;
}
