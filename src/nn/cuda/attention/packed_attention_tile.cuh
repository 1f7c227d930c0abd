/* packed_attention_tile.cuh: tiles of 64 tokens of one head and their multiplication, for the tensor-core kernels of
 * attention.
 *
 * Four warps have 16 tokens each. On compute capability 9.0, heads of 64 channels are multiplied by all four warps
 * together (wgmma.cuh: operands come from shared memory, which the warps would otherwise read four times). Otherwise
 * each warp multiplies separately (mma.sync). Sums are in the same registers in both cases.
 *
 * A row of a tile is multiplied with 64 tokens at a time. Masks of 64 bits each select the valid and the dropped ones:
 * the valid tokens are a range, the span and window of the row, minus masked tokens. */
#ifndef DIS_NN_CUDA_ATTENTION_PACKED_ATTENTION_TILE_CUH
#define DIS_NN_CUDA_ATTENTION_PACKED_ATTENTION_TILE_CUH
#include "nn/cuda/attention/packed_attention.cuh"
#include "nn/cuda/common/wgmma.cuh"

enum { TILE = PACKED_ATTENTION_TILE, THREADS = 128, ROOM_ALIGN = 1024, ROOM_ALIGNED = 128 /* by the compiler */ };
#define LOG2E 1.4426950408889634f

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
template <int D> constexpr bool by_group = D == 64;
#else
template <int D> constexpr bool by_group = false;
#endif

/* ---- numbers ---- */

/* 64 rows of D values, with 16-byte chunks swizzled so that 8 rows use 8 different banks. */
template <int D> __device__ __forceinline__ bf16 *place(bf16 *tile, int row, int chunk)
{
    const int swap = D >= 64 ? row & 7 : row >> 1 & 3;
    return tile + row * D + ((chunk ^ swap) * 8);
}

/* The block's shared memory; the launch allocates additional bytes for the alignment. */
__device__ __forceinline__ bf16 *aligned_room(bf16 *room)
{
    return (bf16 *)aligned_shared(room, ROOM_ALIGN);
}

/* Copies tokens of one tensor, rows with stride `ld`, 64 at a time, with zeros after the last one. A thread copies a
 * chunk of every DOWN-th row. */
template <int D> struct passing {
    enum { CHUNKS = D / 8, DOWN = THREADS / CHUNKS };
    const char *at;
    size_t step; /* bytes */
    int token, n_tokens;

    __device__ __forceinline__ passing(const bf16 *from, size_t ld, int first, int n)
        : step(DOWN * ld * sizeof(bf16)), token(first + (int)threadIdx.x / CHUNKS), n_tokens(n)
    {
        at = (const char *)(from + (size_t)token * ld + threadIdx.x % CHUNKS * 8);
    }
    __device__ __forceinline__ void fetch(bf16 *tile)
    {
        bf16 *to = place<D>(tile, threadIdx.x / CHUNKS, threadIdx.x % CHUNKS);
#pragma unroll
        for (int i = 0; i < TILE / DOWN; i++) { /* rows DOWN apart have the same swizzle */
            copy_16(to + i * DOWN * D, at, token < n_tokens);
            at += step;
            token += DOWN;
        }
    }
};

/* Waits until the copies have arrived for this thread (for all after the next barrier), except the most recent ones if
 * `first` is set: initially two pairs of tiles are in flight. */
template <int D> __device__ __forceinline__ void fetched(bool first)
{
    if (first)
        copies_wait<1>();
    else
        copies_wait<0>();
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if (by_group<D>) group_publish();
#endif
}

/* ---- products ---- */

/* The block's own tokens as left operands. */
template <int D> struct left_tile {
    uint32_t a[by_group<D> ? 1 : D / 16][4];
    bf16 *tile;

    __device__ __forceinline__ void load(bf16 *from)
    {
        const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
        tile = from;
        if constexpr (!by_group<D>)
#pragma unroll
            for (int k = 0; k < D / 16; k++)
                ldmatrix_x4(a[k], place<D>(tile, warp * 16 + (lane & 15), 2 * k + (lane >> 4)));
    }
};

/* Starts c (16 x 64 per warp) = left (16 x D) tile' (64 x D); sums_done() waits for it. */
template <int D>
__device__ __forceinline__ void times_transposed(float (&c)[8][4], const left_tile<D> &left, bf16 *tile)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if constexpr (by_group<D>) {
        const uint64_t a = tile_descriptor(left.tile), b = tile_descriptor(tile);
#pragma unroll
        for (int k = 0; k < D / 16; k++) group_mma(c, a + 2 * k, b + 2 * k, k > 0);
        group_commit();
    }
#endif
    if constexpr (!by_group<D>) {
        const int lane = threadIdx.x & 31;
#pragma unroll
        for (int n = 0; n < 8; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) c[n][i] = 0;
#pragma unroll
        for (int k = 0; k < D / 16; k++)
#pragma unroll
            for (int n = 0; n < 4; n++) {
                uint32_t b[4];
                ldmatrix_x4(b, place<D>(tile, n * 16 + (lane & 7) + (lane >> 4 << 3), 2 * k + (lane >> 3 & 1)));
                mma_16x8x16(c[2 * n], left.a[k], b[0], b[1]);
                mma_16x8x16(c[2 * n + 1], left.a[k], b[2], b[3]);
            }
    }
}

/* Scores as left operands. */
__device__ __forceinline__ void as_left(uint32_t (&a)[4][4], const float (&p)[8][4])
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        a[k][0] = pair_to(p[2 * k][0], p[2 * k][1]);
        a[k][1] = pair_to(p[2 * k][2], p[2 * k][3]);
        a[k][2] = pair_to(p[2 * k + 1][0], p[2 * k + 1][1]);
        a[k][3] = pair_to(p[2 * k + 1][2], p[2 * k + 1][3]);
    }
}

/* Starts c (16 x D per warp) += a (16 x 64) tile (64 x D); sums_done() waits for it. */
template <int D> __device__ __forceinline__ void add_times(float (&c)[D / 8][4], const uint32_t (&a)[4][4], bf16 *tile)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if constexpr (by_group<D>) {
        const uint64_t b = tile_descriptor(tile);
#pragma unroll
        for (int k = 0; k < 4; k++) group_mma_add(c, a[k], b + k * (16 * D * sizeof(bf16) >> 4));
        group_commit();
    }
#endif
    if constexpr (!by_group<D>) {
        const int lane = threadIdx.x & 31;
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int n = 0; n < D / 16; n++) {
                uint32_t b[4];
                const int row = k * 16 + (lane & 7) + ((lane >> 3 & 1) << 3);
                ldmatrix_x4_trans(b, place<D>(tile, row, 2 * n + (lane >> 4)));
                mma_16x8x16(c[2 * n], a[k], b[0], b[1]);
                mma_16x8x16(c[2 * n + 1], a[k], b[2], b[3]);
            }
    }
}

/* Before asynchronous multiplications: makes register writes visible to them. */
template <int D> __device__ __forceinline__ void products_begin()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if (by_group<D>) group_begin();
#endif
}

/* Waits for the sums c; up to N later multiplications may still be in flight. */
template <int D, int N, int GROUPS> __device__ __forceinline__ void sums_done(float (&c)[GROUPS][4])
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    if constexpr (by_group<D>) {
        group_wait<N>();
        group_registers(c);
    }
#endif
}

/* A warp's 16 rows of sums, times by[0] and by[1] (rows r0 and r0 + 8), to memory as bfloat16, with stride `ld`; the
 * first `n_rows` rows of the tile exist. They are staged in shared memory (`tile`, otherwise unused), so that full lines
 * are written. */
template <int D>
__device__ __forceinline__ void store_tile(const float (&c)[D / 8][4], const float (&by)[2], bf16 *tile, bf16 *to,
                                           size_t ld, int n_rows, bool add)
{
    enum { CHUNKS = D / 8 };
    const int lane = threadIdx.x & 31, first = (threadIdx.x >> 5) * 16, r0 = first + lane / 4, c0 = lane % 4 * 2;
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int j = 0; j < CHUNKS; j++)
            *(uint32_t *)(place<D>(tile, r0 + 8 * h, j) + c0) = pair_to(c[j][2 * h] * by[h], c[j][2 * h + 1] * by[h]);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < CHUNKS / 2; i++) {
        const int row = first + (i * 32 + lane) / CHUNKS, chunk = lane % CHUNKS;
        if (row >= n_rows) continue;
        pack<bf16> out = *(const pack<bf16> *)place<D>(tile, row, chunk);
        pack<bf16> *at = (pack<bf16> *)(to + (size_t)row * ld + chunk * 8);
        if (add) {
            float x[8], before[8];
            out.get(x);
            at->get(before);
#pragma unroll
            for (int k = 0; k < 8; k++) x[k] += before[k];
            out.set(x);
        }
        *at = out;
    }
}

/* ---- what tiles have alongside numbers ---- */

/* Metadata of a pair of tiles. */
struct __align__(16) pair_facts
{
    float2 sums[TILE]; /* of streamed queries: the logarithm of the sum (base 2), and delta */
    uint2 bits[TILE];  /* dropout of each query: bit k: key k of its tile */
    float bias[2 * TILE];
    uint2 seen; /* bit k: key k, ignoring spans and windows */
};

struct tile_facts {
    int2 span[TILE];    /* of this block's tokens */
    pair_facts pair[2]; /* double buffer: the current pair, and the next one */
};

/* A thread's part of the metadata of a pair, loaded ahead. */
struct facts_ahead {
    uint32_t word[3], shift;
    float bias;
    float2 sums;
    bool seen;

    /* Words with bits of keys of the query's row: others may be uninitialized. */
    __device__ __forceinline__ void load_bits(const uint32_t *bits, uint64_t base, int k0, int2 span)
    {
        const uint64_t e = base + (uint64_t)(int64_t)k0;
        const uint32_t *from = bits + (e >> 5);
        shift = (uint32_t)e & 31;
        const int first = k0 - (int)shift; /* the key of the first word's first bit */
#pragma unroll
        for (int i = 0; i < 3; i++) word[i] = first + 32 * i < span.y && first + 32 * i + 32 > span.x ? from[i] : 0;
    }
    template <bool BIAS, bool DROP, bool SUMS> __device__ __forceinline__ void put(pair_facts &f) const
    {
        if (BIAS) f.bias[threadIdx.x] = bias;
        if (threadIdx.x >= TILE) return;
        const uint32_t all = __ballot_sync(0xffffffffu, seen);
        if (threadIdx.x == 0) f.seen.x = all;
        if (threadIdx.x == 32) f.seen.y = all;
        if (SUMS) f.sums[threadIdx.x] = sums;
        if (DROP)
            f.bits[threadIdx.x] =
                make_uint2(__funnelshift_r(word[0], word[1], shift), __funnelshift_r(word[1], word[2], shift));
    }
};

__device__ __forceinline__ void load_spans(tile_facts &f, const packed_attention_call &call, int first)
{
    if (threadIdx.x < TILE) {
        const int token = first + threadIdx.x;
        f.span[threadIdx.x] = token < (int)call.a.n_tokens ? call.span[token] : make_int2(0, 0);
    }
}

/* Range of tokens visible to the block's tokens; empty: x >= y. */
__device__ __forceinline__ int2 seen_by_all(const packed_attention_call &call, int first)
{
    int last = min(first + TILE, (int)call.a.n_tokens) - 1, end = call.span[last].y;
    while (end == 0 && last > first) end = call.span[--last].y; /* after the last row */
    return make_int2(call.span[first].x, end);
}

/* The bias of scale log2(e) of this thread's distance key - query: bias[64 + (key - k0) - (query - q0)]. */
__device__ __forceinline__ float bias_of(const dis__packed_attention_args &a, int head, int q0, int k0)
{
    const int distance = k0 - q0 + (int)threadIdx.x - TILE, at = distance + (int)a.longest - 1;
    if (!a.bias || at < 0 || at >= 2 * (int)a.longest - 1) return 0;
    return ((const float *)a.bias)[(size_t)a.bucket[at] * a.n_heads + head] * LOG2E;
}

__device__ __forceinline__ bool key_counts(const dis__packed_attention_args &a, int first)
{
    const int key = first + (int)threadIdx.x;
    return threadIdx.x < TILE && key < (int)a.n_tokens && (!a.mask || a.mask[key]);
}

/* For this thread's token: whether all 64 tokens from `other` on are valid. */
__device__ __forceinline__ bool all_count(const tile_facts &f, const dis__packed_attention_args &a, int other)
{
    if (threadIdx.x >= TILE) return true;
    const int2 span = f.span[threadIdx.x];
    return !a.mask && !a.window && other >= span.x && other + TILE <= span.y;
}

/* 64 bits of a row from its column c0 on, of which columns 8 j + i are used. */
struct row_bits {
    uint32_t low, high;
    __device__ __forceinline__ row_bits(uint2 bits, int c0) : low(bits.x >> c0), high(bits.y >> c0)
    {
    }
    __device__ __forceinline__ bool at(int j, int i) const
    {
        return ((j < 4 ? low : high) & 1u << (j % 4 * 8 + i)) != 0;
    }
};

/* The bits [from, to) of a word. */
__device__ __forceinline__ uint32_t range_word(int from, int to)
{
    from = min(max(from, 0), 32);
    to = min(max(to, 0), 32);
    const uint32_t below = (uint32_t)(((uint64_t)1 << from) - 1), upto = (uint32_t)(((uint64_t)1 << to) - 1);
    return upto & ~below;
}

/* For the block's token own0 + row: which of the 64 tokens from `other` on are in its span and window. */
__device__ __forceinline__ uint2 in_range(const tile_facts &f, const dis__packed_attention_args &a, int own0, int row,
                                          int other)
{
    int2 range = f.span[row];
    if (a.window) {
        const int far = (int)min(a.window, (size_t)1 << 30), token = own0 + row;
        range.x = max(range.x, token - far);
        range.y = min(range.y, token + far + 1);
    }
    range.x -= other, range.y -= other;
    return make_uint2(range_word(range.x, range.y), range_word(range.x - 32, range.y - 32));
}

/* What a block has: a tile of one head. Heads are adjacent in memory and in launch order; tokens are processed in
 * reverse order, because the previous kernel has left the last ones in the cache. */
struct block_place {
    int tile, head;
    __device__ __forceinline__ block_place(const dis__packed_attention_args &a)
    {
        const unsigned n = (unsigned)a.n_heads, last = gridDim.x / n - 1;
        tile = (int)(last - blockIdx.x / n);
        head = (int)(blockIdx.x % n);
    }
};

/* ---- launches ---- */

typedef void packed_attention_kernel_of(const packed_attention_call call);

static inline cudaError_t launch_tiles(const dis__cuda_session *s, cudaStream_t stream, packed_attention_kernel_of *run,
                                       const packed_attention_call *c, size_t bytes)
{
    const unsigned grid = (unsigned)(packed_attention_tiles(&c->a) * c->a.n_heads);
    bytes += ROOM_ALIGN - ROOM_ALIGNED;
    const cudaError_t error = allow_shared(s, (const void *)run, bytes);
    if (error != cudaSuccess) return error;
    run<<<grid, THREADS, bytes, stream>>>(*c);
    return cudaGetLastError();
}

static inline bool has_tiles(const dis__cuda_session *s, const dis__packed_attention_args *a, size_t *d)
{
    *d = a->channels / a->n_heads;
    return s->value == DIS_BFLOAT16 && (*d == 32 || *d == 64) && a->n_tokens < (size_t)1 << 30 && aligned16(a->qkv) &&
           a->channels % 8 == 0 && aligned16(a->y) && aligned16(a->dy) && aligned16(a->d_qkv);
}

#endif
