/* Attention within packed rows with tensor cores (mma.sync m16n8k16, bfloat16, sums in float32), after Dao (2023):
 * scores and shares stay in registers. A block has 64 tokens of one head, each of its four warps 16 of them; tiles of
 * 64 tokens of the rows that these belong to pass by, two at a time in shared memory, the next one being fetched
 * meanwhile, and what else is to be known of it (dropout, biases, sums) with it: one barrier per tile.
 *
 * Forward: 4 length d operations per query. Backward computes the scores twice, once per tile of queries for dq and
 * once per tile of keys for dk and dv, so that every sum has one owner and one order: 14 length d instead of 10 with
 * atomic sums. Gradients of biases: a tile's gradients of scores are summed along diagonals,
 * distance by distance, and by bucket at the end. */
#include "nn/cuda/cuda_attend.cuh"
#include <cuda_pipeline_primitives.h>

enum { TILE = ATTEND_TILE, THREADS = 128 };
#define LOG2E 1.4426950408889634f

/* ---- fragments ---- */

__device__ __forceinline__ void load4(uint32_t r[4], const bf16 *p)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}
__device__ __forceinline__ void load4_trans(uint32_t r[4], const bf16 *p)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}
__device__ __forceinline__ void mma(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ uint32_t two(float x, float y)
{
    const __nv_bfloat162 v = __floats2bfloat162_rn(x, y);
    return *reinterpret_cast<const uint32_t *>(&v);
}

/* A tile in shared memory: 64 rows of D numbers, chunks of 16 bytes swapped so that 8 rows hit 8 different banks. */
template <int D> __device__ __forceinline__ bf16 *place(bf16 *tile, int row, int chunk)
{
    const int swap = D >= 64 ? row & 7 : row >> 1 & 3;
    return tile + row * D + ((chunk ^ swap) * 8);
}

/* Rows [first, first + 64) of numbers that lie `ld` apart; zeros behind the last token. */
template <int D> __device__ __forceinline__ void fetch(bf16 *tile, const bf16 *from, size_t ld, int first, int n_tokens)
{
#pragma unroll
    for (int i = threadIdx.x; i < TILE * D / 8; i += THREADS) {
        const int row = i / (D / 8), chunk = i % (D / 8), token = first + row;
        const bool here = token < n_tokens;
        __pipeline_memcpy_async(place<D>(tile, row, chunk), from + (here ? token : 0) * ld + chunk * 8, 16,
                                here ? 0 : 16);
    }
}

/* The warp's 16 rows of a tile as left operands. */
template <int D> __device__ __forceinline__ void load_left(uint32_t a[D / 16][4], bf16 *tile, int warp, int lane)
{
#pragma unroll
    for (int k = 0; k < D / 16; k++) load4(a[k], place<D>(tile, warp * 16 + (lane & 15), 2 * k + (lane >> 4)));
}

/* c (16 x 64) = left (16 x D) tile' (64 x D) */
template <int D>
__device__ __forceinline__ void times_transposed(float c[8][4], const uint32_t a[D / 16][4], bf16 *tile, int lane)
{
#pragma unroll
    for (int n = 0; n < 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) c[n][i] = 0;
#pragma unroll
    for (int k = 0; k < D / 16; k++)
#pragma unroll
        for (int n = 0; n < 4; n++) {
            uint32_t b[4];
            load4(b, place<D>(tile, n * 16 + (lane & 7) + (lane >> 4 << 3), 2 * k + (lane >> 3 & 1)));
            mma(c[2 * n], a[k], b[0], b[1]);
            mma(c[2 * n + 1], a[k], b[2], b[3]);
        }
}

/* c (16 x D) += p (16 x 64, as scores lie) tile (64 x D) */
template <int D> __device__ __forceinline__ void add_times(float c[D / 8][4], const float p[8][4], bf16 *tile, int lane)
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t a[4] = {two(p[2 * k][0], p[2 * k][1]), two(p[2 * k][2], p[2 * k][3]),
                               two(p[2 * k + 1][0], p[2 * k + 1][1]), two(p[2 * k + 1][2], p[2 * k + 1][3])};
#pragma unroll
        for (int n = 0; n < D / 16; n++) {
            uint32_t b[4];
            load4_trans(b, place<D>(tile, k * 16 + (lane & 7) + ((lane >> 3 & 1) << 3), 2 * n + (lane >> 4)));
            mma(c[2 * n], a, b[0], b[1]);
            mma(c[2 * n + 1], a, b[2], b[3]);
        }
    }
}

/* 2^x, 0 for what is too small. */
__device__ __forceinline__ float power2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* ---- what tiles have beside numbers ---- */

/* Of a pair of tiles. */
struct pair_facts {
    uint2 bits[TILE]; /* dropout of each query: bit k: key k of its tile */
    float bias[2 * TILE];
    float2 sums[TILE]; /* of queries that pass by: the logarithm of the sum (base 2), and delta */
    bool seen[TILE];   /* keys */
};

struct tile_facts {
    int2 span[TILE];    /* of this block's tokens */
    pair_facts pair[2]; /* the pair at hand, and the next one */
};

/* A thread's share of the facts of a pair, on its way from memory. */
struct facts_ahead {
    uint32_t word[3], shift;
    float bias;
    float2 sums;
    bool seen;

    __device__ __forceinline__ void load_bits(const uint32_t *bits, uint64_t e)
    {
        const uint32_t *from = bits + (e >> 5);
        shift = (uint32_t)e & 31;
        word[0] = from[0], word[1] = from[1], word[2] = from[2];
    }
    template <bool BIAS, bool DROP, bool SUMS> __device__ __forceinline__ void put(pair_facts &f) const
    {
        if (BIAS) f.bias[threadIdx.x] = bias;
        if (threadIdx.x >= TILE) return;
        f.seen[threadIdx.x] = seen;
        if (SUMS) f.sums[threadIdx.x] = sums;
        if (DROP)
            f.bits[threadIdx.x] =
                make_uint2(__funnelshift_r(word[0], word[1], shift), __funnelshift_r(word[1], word[2], shift));
    }
};

__device__ __forceinline__ void load_spans(tile_facts &f, const attend_call &call, int first)
{
    if (threadIdx.x < TILE) {
        const int token = first + threadIdx.x;
        f.span[threadIdx.x] = token < (int)call.a.n_tokens ? call.span[token] : make_int2(0, 0);
    }
}

/* Tokens that the block's tokens may see; none: x >= y. */
__device__ __forceinline__ int2 seen_by_all(const tile_facts &f)
{
    int last = TILE - 1;
    while (last > 0 && f.span[last].y == 0) last--;
    return make_int2(f.span[0].x, f.span[last].y);
}

/* The bias of scale log2(e) of this thread's distance key - query: bias[64 + (key - k0) - (query - q0)]. */
__device__ __forceinline__ float bias_of(const dis__attend_args &a, int head, int q0, int k0)
{
    const int distance = k0 - q0 + (int)threadIdx.x - TILE, at = distance + (int)a.longest - 1;
    if (!a.bias || at < 0 || at >= 2 * (int)a.longest - 1) return 0;
    return ((const float *)a.bias)[(size_t)a.bucket[at] * a.n_heads + head] * LOG2E;
}

__device__ __forceinline__ bool key_counts(const dis__attend_args &a, int first)
{
    const int key = first + (int)threadIdx.x;
    return threadIdx.x < TILE && key < (int)a.n_tokens && (!a.mask || a.mask[key]);
}

/* Of this thread's token: whether all 64 tokens from `other` on count for it. */
__device__ __forceinline__ bool all_count(const tile_facts &f, const dis__attend_args &a, int other)
{
    if (threadIdx.x >= TILE) return true;
    const int2 span = f.span[threadIdx.x];
    return !a.mask && !a.window && other >= span.x && other + TILE <= span.y;
}

/* Whether the block's token `row` and the other tile's `col` count for each other. seen[] is that of keys. */
__device__ __forceinline__ bool pair_counts(const tile_facts &f, const bool *seen, const dis__attend_args &a, int own0,
                                            int other0, int row, int col, bool rows_are_keys = false)
{
    const int other = other0 + col, apart = abs(other - own0 - row);
    const int2 span = f.span[row];
    return other >= span.x && other < span.y && seen[rows_are_keys ? row : col] && (!a.window || apart <= (int)a.window);
}

/* ---- forward ---- */

template <int D, bool BIAS, bool DROP>
__global__ void __launch_bounds__(THREADS, 4) attend_mma_kernel(const __grid_constant__ attend_call call)
{
    extern __shared__ __align__(128) bf16 room[];
    __shared__ tile_facts f;
    const dis__attend_args &a = call.a;
    bf16 *own = room;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, head = blockIdx.y, q0 = blockIdx.x * TILE;
    const int n_tokens = (int)a.n_tokens, r0 = warp * 16 + lane / 4, c0 = lane % 4 * 2;
    const size_t ld = 3 * a.channels;
    const bf16 *q = (const bf16 *)a.qkv + head * D, *k = q + a.channels, *v = k + a.channels;
    load_spans(f, call, q0);
    __syncthreads();
    const int2 all = seen_by_all(f);
    const int n = all.y > all.x ? (all.y - all.x + TILE - 1) / TILE : 0;
    fetch<D>(own, q, ld, q0, n_tokens);
    if (n) {
        fetch<D>(room + TILE * D, k, ld, all.x, n_tokens);
        fetch<D>(room + 2 * TILE * D, v, ld, all.x, n_tokens);
    }
    __pipeline_commit();
    const bool drops = DROP && call.bits && threadIdx.x < TILE && f.span[threadIdx.x % TILE].y;
    const uint64_t base = drops ? drop_base(a, head, q0 + (int)threadIdx.x, f.span[threadIdx.x]) : 0;
    facts_ahead ahead = {};
    if (n) {
        if (BIAS) ahead.bias = bias_of(a, head, q0, all.x);
        ahead.seen = key_counts(a, all.x);
        if (drops) ahead.load_bits(call.bits, base + (uint64_t)(int64_t)all.x);
        ahead.put<BIAS, DROP, false>(f.pair[0]);
    }
    uint32_t left[D / 16][4];
    float y[D / 8][4] = {}, max[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
    const float scale = (float)a.scale * LOG2E;
    for (int t = 0; t < n; t++) {
        const int k0 = all.x + t * TILE, k1 = k0 + TILE;
        const pair_facts &now = f.pair[t % 2];
        bf16 *keys = room + (1 + t % 2 * 2) * TILE * D, *values = keys + TILE * D;
        __pipeline_wait_prior(0);
        const bool whole = __syncthreads_and(all_count(f, a, k0)); /* this pair is there, the other one is free */
        if (t + 1 < n) {
            bf16 *next = room + (1 + (t + 1) % 2 * 2) * TILE * D;
            fetch<D>(next, k, ld, k1, n_tokens);
            fetch<D>(next + TILE * D, v, ld, k1, n_tokens);
            if (BIAS) ahead.bias = bias_of(a, head, q0, k1);
            ahead.seen = key_counts(a, k1);
            if (drops) ahead.load_bits(call.bits, base + (uint64_t)(int64_t)k1);
        }
        __pipeline_commit();
        if (t == 0) load_left<D>(left, own, warp, lane);
        float s[8][4];
        times_transposed<D>(s, left, keys, lane);
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                s[j][i] *= scale;
                if (BIAS) s[j][i] += now.bias[TILE + j * 8 + c0 + (i & 1) - r0 - (i >> 1) * 8];
            }
        if (!whole)
#pragma unroll
            for (int j = 0; j < 8; j++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    if (!pair_counts(f, now.seen, a, q0, k0, r0 + (i >> 1) * 8, j * 8 + c0 + (i & 1)))
                        s[j][i] = -INFINITY;
#pragma unroll
        for (int h = 0; h < 2; h++) { /* rows r0 and r0 + 8 */
            float top = max[h];
#pragma unroll
            for (int j = 0; j < 8; j++) top = fmaxf(top, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
            top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
            top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
            const float from = top == -INFINITY ? 0 : top, shrink = power2(max[h] - from);
            const uint2 bits = DROP ? now.bits[r0 + 8 * h] : make_uint2(0, 0);
            const uint32_t low = __funnelshift_r(bits.x, bits.y, c0), high = bits.y >> c0;
            max[h] = top;
            sum[h] *= shrink;
#pragma unroll
            for (int j = 0; j < 8; j++)
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    const float p = power2(s[j][2 * h + i] - from);
                    sum[h] += p;
                    s[j][2 * h + i] = DROP && (j < 4 ? low : high) & 1u << (j % 4 * 8 + i) ? 0 : p;
                }
#pragma unroll
            for (int j = 0; j < D / 8; j++) {
                y[j][2 * h] *= shrink;
                y[j][2 * h + 1] *= shrink;
            }
        }
        add_times<D>(y, s, values, lane);
        if (t + 1 < n) ahead.put<BIAS, DROP, false>(f.pair[(t + 1) % 2]);
    }
    __pipeline_wait_prior(0);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int query = q0 + r0 + 8 * h;
        float total = sum[h] + __shfl_xor_sync(0xffffffffu, sum[h], 1);
        total += __shfl_xor_sync(0xffffffffu, total, 2);
        if (query >= n_tokens) continue;
        const float by = total > 0 ? (DROP ? call.keep : 1) / total : 0;
        uint32_t *to = (uint32_t *)((bf16 *)a.y + (size_t)query * a.channels + head * D + c0);
#pragma unroll
        for (int j = 0; j < D / 8; j++) to[j * 4] = two(y[j][2 * h] * by, y[j][2 * h + 1] * by);
        if (lane % 4 == 0)
            ((float *)a.log_sum)[(size_t)query * a.n_heads + head] = total > 0 ? (max[h] + log2f(total)) / LOG2E : 0;
    }
}

/* ---- backward ---- */

/* The facts of the pair that comes next. Where queries pass by, the dropout of one is found by its row's span, which is
 * read one pair earlier still. */
template <bool KEYS, bool BIAS, bool DROP> struct grad_facts {
    const attend_call &call;
    const int head, own0;
    facts_ahead next;
    int2 span; /* of this thread's query: of the pair after the next, or always */

    __device__ __forceinline__ grad_facts(const attend_call &c, const tile_facts &f, int h, int own, int other)
        : call(c), head(h), own0(own), next()
    {
        span = KEYS ? span_at(other) : f.span[threadIdx.x % TILE];
    }
    __device__ __forceinline__ int2 span_at(int first) const
    {
        const int query = first + (int)threadIdx.x;
        return DROP && threadIdx.x < TILE && query < (int)call.a.n_tokens ? call.span[query] : make_int2(0, 0);
    }
    __device__ __forceinline__ void load(int other)
    {
        const dis__attend_args &a = call.a;
        const int q0 = KEYS ? other : own0, k0 = KEYS ? own0 : other, query = q0 + (int)threadIdx.x;
        if (BIAS) next.bias = bias_of(a, head, q0, k0);
        next.seen = !KEYS && key_counts(a, k0);
        if (threadIdx.x >= TILE) return;
        if (KEYS) {
            const size_t at = (size_t)query * a.n_heads + head;
            const bool here = query < (int)a.n_tokens;
            next.sums = here ? make_float2(((const float *)a.log_sum)[at] * LOG2E, call.delta[at]) : make_float2(0, 0);
        }
        if (DROP && call.bits && span.y) next.load_bits(call.bits, drop_base(a, head, query, span) + (uint64_t)(int64_t)k0);
        if (KEYS) span = span_at(other + TILE);
    }
    __device__ __forceinline__ void put(pair_facts &f) const
    {
        next.template put<BIAS, DROP, KEYS>(f);
    }
};

/* One tile of queries (KEYS false: dq) or keys (KEYS true: dk, dv), with the other kind passing by. p and g are the
 * shares and the gradients of scores of this block's rows and those columns. */
template <int D, bool KEYS, bool BIAS, bool DROP>
__device__ __forceinline__ void attend_grad_tile(const attend_call &call, bf16 *room, tile_facts &f, bool *own_seen)
{
    const dis__attend_args &a = call.a;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, head = blockIdx.y, own0 = blockIdx.x * TILE;
    const int n_tokens = (int)a.n_tokens, r0 = warp * 16 + lane / 4, c0 = lane % 4 * 2;
    const size_t ld = 3 * a.channels;
    const bf16 *q = (const bf16 *)a.qkv + head * D, *k = q + a.channels, *v = k + a.channels;
    const bf16 *dy = (const bf16 *)a.dy + head * D;
    float *diagonal = (float *)(room + 6 * TILE * D), *by_distance = diagonal + TILE * (TILE + 1);
    const bool sums = BIAS && !KEYS && call.parts;
    const int n_distances = 2 * (int)a.longest - 1;
    for (int i = threadIdx.x; sums && i < n_distances; i += THREADS) by_distance[i] = 0;
    load_spans(f, call, own0);
    if (KEYS && threadIdx.x < TILE) own_seen[threadIdx.x] = key_counts(a, own0);
    __syncthreads();
    const int2 all = seen_by_all(f);
    const int n = all.y > all.x ? (all.y - all.x + TILE - 1) / TILE : 0;
    fetch<D>(room, KEYS ? k : q, ld, own0, n_tokens);
    fetch<D>(room + TILE * D, KEYS ? v : dy, KEYS ? ld : a.channels, own0, n_tokens);
    if (n) {
        fetch<D>(room + 2 * TILE * D, KEYS ? q : k, ld, all.x, n_tokens);
        fetch<D>(room + 3 * TILE * D, KEYS ? dy : v, KEYS ? a.channels : ld, all.x, n_tokens);
    }
    __pipeline_commit();
    uint32_t left[D / 16][4], left2[D / 16][4];
    float d1[D / 8][4] = {}, d2[D / 8][4] = {}; /* dq, or dk and dv */
    const float scale = (float)a.scale * LOG2E, keep = DROP ? call.keep : 1;
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
        __pipeline_wait_prior(0);
        const bool whole = __syncthreads_and(all_count(f, a, other0)); /* this pair is there, the other one is free */
        if (t + 1 < n) {
            bf16 *next = room + (2 + (t + 1) % 2 * 2) * TILE * D;
            fetch<D>(next, KEYS ? q : k, ld, other0 + TILE, n_tokens);
            fetch<D>(next + TILE * D, KEYS ? dy : v, KEYS ? a.channels : ld, other0 + TILE, n_tokens);
            ahead.load(other0 + TILE);
        }
        __pipeline_commit();
        if (t == 0) {
            load_left<D>(left, room, warp, lane);
            load_left<D>(left2, room + TILE * D, warp, lane);
        }
        float p[8][4], g[8][4];
        times_transposed<D>(p, left, first, lane);   /* scores */
        times_transposed<D>(g, left2, second, lane); /* dy v */
        uint32_t low[2] = {0, 0}, high[2] = {0, 0};
        if (DROP && !KEYS)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const uint2 bits = now.bits[r0 + 8 * h];
                low[h] = __funnelshift_r(bits.x, bits.y, c0);
                high[h] = bits.y >> c0;
            }
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const int col = j * 8 + c0 + i;
                const float2 column = KEYS ? now.sums[col] : make_float2(0, 0);
                uint32_t word = 0;
                if (DROP && KEYS) word = ((const uint32_t *)&now.bits[col])[warp >> 1] >> (r0 & 31);
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const float2 its = KEYS ? column : row_sums[h];
                    const int row = r0 + 8 * h, e = 2 * h + i;
                    float x = p[j][e] * scale;
                    if (BIAS) x += now.bias[TILE + (KEYS ? row - col : col - row)];
                    float share = power2(x - its.x);
                    if (!whole && !pair_counts(f, KEYS ? own_seen : now.seen, a, own0, other0, row, col, KEYS)) share = 0;
                    const bool out = !DROP  ? false
                                     : KEYS ? (word & 1u << 8 * h) != 0
                                            : ((j < 4 ? low[h] : high[h]) & 1u << (j % 4 * 8 + i)) != 0;
                    g[j][e] = share * (out ? -its.y : g[j][e] * keep - its.y);
                    if (KEYS) p[j][e] = out ? 0 : share * keep;
                    if (sums) diagonal[row * (TILE + 1) + col] = g[j][e];
                }
            }
        if (KEYS) add_times<D>(d2, p, second, lane);
        add_times<D>(d1, g, first, lane);
        if (t + 1 < n) ahead.put(f.pair[(t + 1) % 2]);
        if (sums) {
            __syncthreads();
            const int distance = other0 - own0 + (int)threadIdx.x - (TILE - 1), at = distance + (int)a.longest - 1;
            if (threadIdx.x < 2 * TILE - 1 && at >= 0 && at < n_distances) {
                const int shift = (int)threadIdx.x - (TILE - 1); /* column - row */
                float total = 0;
                for (int row = shift < 0 ? -shift : 0; row < TILE && row + shift < TILE; row++)
                    total += diagonal[row * (TILE + 1) + row + shift];
                by_distance[at] += total;
            }
        }
    }
    __pipeline_wait_prior(0);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int token = own0 + r0 + 8 * h;
        if (token >= n_tokens || !a.d_qkv) continue;
        bf16 *to = (bf16 *)a.d_qkv + (size_t)token * ld + (KEYS ? a.channels : 0) + head * D + c0;
#pragma unroll
        for (int which = 0; which < (KEYS ? 2 : 1); which++)
#pragma unroll
            for (int j = 0; j < D / 8; j++) {
                __nv_bfloat162 *at = (__nv_bfloat162 *)(to + (which ? a.channels : 0) + j * 8);
                const float by = which ? 1 : (float)a.scale;
                float2 x = make_float2((which ? d2 : d1)[j][2 * h] * by, (which ? d2 : d1)[j][2 * h + 1] * by);
                if (a.add) {
                    const float2 before = __bfloat1622float2(*at);
                    x.x += before.x;
                    x.y += before.y;
                }
                *at = __floats2bfloat162_rn(x.x, x.y);
            }
    }
    if (!sums) return;
    __syncthreads();
    for (int b = warp; b < (int)a.n_buckets; b += THREADS / 32) {
        float total = 0;
        for (int i = lane; i < n_distances; i += 32)
            if (a.bucket[i] == b) total += by_distance[i];
        total = warp_sum(total);
        if (lane == 0) call.parts[((size_t)blockIdx.x * a.n_buckets + b) * a.n_heads + head] = total;
    }
}

/* Fewer registers let three blocks share a processor. */
template <int D, bool KEYS, bool BIAS, bool DROP>
__global__ void __launch_bounds__(THREADS, KEYS ? 2 : 3)
    attend_grad_mma_kernel(const __grid_constant__ attend_call call)
{
    extern __shared__ __align__(128) bf16 room[];
    __shared__ tile_facts f;
    __shared__ bool own_seen[TILE];
    attend_grad_tile<D, KEYS, BIAS, DROP>(call, room, f, own_seen);
}

/* ---- launches ---- */

static bool fits(const dis__cuda_session *s, const dis__attend_args *a, size_t *d)
{
    *d = a->channels / a->n_heads;
    return s->value == DIS_BFLOAT16 && (*d == 32 || *d == 64) && a->n_tokens < (size_t)1 << 30 && aligned16(a->qkv) &&
           a->channels % 8 == 0 && aligned16(a->y) && aligned16(a->dy) && aligned16(a->d_qkv);
}

typedef void kernel(const attend_call call);

/* The instance for what there is. One that knows biases and dropout does without them too, a little slower: only the
 * usual heads of 64 channels have more of them, for each takes the compiler a second. */
static kernel *forward_of(size_t d, const attend_call *c)
{
    if (d == 32) return attend_mma_kernel<32, true, true>;
    if (c->a.bias) return attend_mma_kernel<64, true, true>;
    return c->bits ? attend_mma_kernel<64, false, true> : attend_mma_kernel<64, false, false>;
}

template <bool KEYS> static kernel *backward_of(size_t d, const attend_call *c)
{
    if (d == 32) return attend_grad_mma_kernel<32, KEYS, true, true>;
    return c->a.bias ? attend_grad_mma_kernel<64, KEYS, true, true> : attend_grad_mma_kernel<64, KEYS, false, true>;
}

static cudaError_t launch(cudaStream_t stream, kernel *run, const attend_call *c, size_t bytes)
{
    const dim3 grid((unsigned)attend_tiles(&c->a), (unsigned)c->a.n_heads);
    cudaFuncSetAttribute((const void *)run, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    run<<<grid, THREADS, bytes, stream>>>(*c);
    return cudaGetLastError();
}

bool dis__cuda_attend_mma(dis__cuda_session *s, const attend_call *c, cudaError_t *error)
{
    size_t d;
    if (!fits(s, &c->a, &d)) return false;
    *error = launch(s->stream, forward_of(d, c), c, 5 * TILE * d * sizeof(bf16));
    return true;
}

bool dis__cuda_attend_grad_mma(dis__cuda_session *s, const attend_call *c, cudaError_t *error)
{
    size_t d;
    const size_t sums = c->parts ? (TILE * (TILE + 1) + 2 * c->a.longest - 1) * sizeof(float) : 0;
    if (!fits(s, &c->a, &d) || sums > 100 << 10) return false;
    const size_t bytes = 6 * TILE * d * sizeof(bf16);
    cudaStream_t twin = s->stream;
    *error = c->a.d_qkv ? dis__cuda_twin(s, &twin) : cudaSuccess; /* few blocks each: side by side */
    if (*error == cudaSuccess)
        *error = launch(twin, backward_of<false>(d, c), c, bytes + sums);
    if (*error != cudaSuccess || !c->a.d_qkv) return true;
    *error = launch(s->stream, backward_of<true>(d, c), c, bytes);
    if (*error == cudaSuccess) *error = dis__cuda_twin_done(s);
    return true;
}
