/* Convolutions of 3 x 3 from 64 channels to 64, and their gradients by input, in bfloat16 on the tensor cores of
 * compute capability 9.0 (wgmma): the first stage of a ResNet, for which general kernels have too few channels.
 *
 * All weights lie in registers (64 x 576, 144 registers per thread) for as long as a block lives, and are the left
 * matrix: a product is 64 channels x 128 places, which are read from shared memory (conv_64.cuh). Four warps take a
 * tile while their next one is on its way; there are two such groups on a multiprocessor, of which one multiplies while
 * the other writes.
 *
 * Cost: 2 x 576 x 64 operations per place; x is read 1.4 times, from the cache for the most part. */
#include "nn/cuda/conv_64.cuh"

enum {
    GROUP = 128, /* threads */
    GROUPS = 2,
    BUFFER = TILE_BYTES,
    STAGE = PLACES * CHANNELS * 2,
    ROOM = 2 * BUFFER + 2 * STAGE, /* two tiles, the result, what it is added to */
    STEPS = 36,                    /* of 16 */
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

#define WIDE_SUMS(c)                                                                                               \
    "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3]), "+f"(c[1][0]), "+f"(c[1][1]), "+f"(c[1][2]),       \
        "+f"(c[1][3]), "+f"(c[2][0]), "+f"(c[2][1]), "+f"(c[2][2]), "+f"(c[2][3]), "+f"(c[3][0]), "+f"(c[3][1]),   \
        "+f"(c[3][2]), "+f"(c[3][3]), "+f"(c[4][0]), "+f"(c[4][1]), "+f"(c[4][2]), "+f"(c[4][3]), "+f"(c[5][0]),   \
        "+f"(c[5][1]), "+f"(c[5][2]), "+f"(c[5][3]), "+f"(c[6][0]), "+f"(c[6][1]), "+f"(c[6][2]), "+f"(c[6][3]),   \
        "+f"(c[7][0]), "+f"(c[7][1]), "+f"(c[7][2]), "+f"(c[7][3]), "+f"(c[8][0]), "+f"(c[8][1]), "+f"(c[8][2]),   \
        "+f"(c[8][3]), "+f"(c[9][0]), "+f"(c[9][1]), "+f"(c[9][2]), "+f"(c[9][3]), "+f"(c[10][0]), "+f"(c[10][1]), \
        "+f"(c[10][2]), "+f"(c[10][3]), "+f"(c[11][0]), "+f"(c[11][1]), "+f"(c[11][2]), "+f"(c[11][3]),            \
        "+f"(c[12][0]), "+f"(c[12][1]), "+f"(c[12][2]), "+f"(c[12][3]), "+f"(c[13][0]), "+f"(c[13][1]),            \
        "+f"(c[13][2]), "+f"(c[13][3]), "+f"(c[14][0]), "+f"(c[14][1]), "+f"(c[14][2]), "+f"(c[14][3]),            \
        "+f"(c[15][0]), "+f"(c[15][1]), "+f"(c[15][2]), "+f"(c[15][3])

/* c (64 x 128) += A (64 x 16, in registers) B' (128 x 16). */
__device__ __forceinline__ void wide_mma_add(float (&c)[16][4], const uint32_t (&a)[4], uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,"
                 "%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,"
                 "%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
                 "{%64,%65,%66,%67}, %68, 1, 1, 1, 0;"
                 : WIDE_SUMS(c)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

__device__ __forceinline__ void wide_settled(float (&c)[16][4])
{
    asm volatile("" : WIDE_SUMS(c)::"memory");
}

/* The four warps of a group. */
__device__ __forceinline__ void meet(int group)
{
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

/* Groups multiply in turn, so that one writes meanwhile: left to themselves both do the same at the same time. */
__device__ __forceinline__ void wait_turn(int group)
{
    asm volatile("bar.sync %0, 256;" ::"r"(group + 3) : "memory");
}

__device__ __forceinline__ void give_turn(int group)
{
    asm volatile("bar.arrive %0, 256;" ::"r"(group + 3) : "memory");
}

__device__ __forceinline__ uint32_t pair_of(const bf16 *low, const bf16 *high)
{
    return (uint32_t)__bfloat16_as_ushort(*low) | (uint32_t)__bfloat16_as_ushort(*high) << 16;
}

/* A (64 x 576) as a thread has it: weight (out, place, channel), or, BACK, turned round in both. */
template <bool BACK>
__device__ __forceinline__ void read_weights(const bf16 *w, int warp, int lane, uint32_t (&a)[STEPS][4])
{
#pragma unroll
    for (int k = 0; k < STEPS; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int row = 16 * warp + lane / 4 + i % 2 * 8, col = 16 * (k % 4) + lane % 4 * 2 + i / 2 * 8;
            const int spot = k / 4;
            if (BACK)
                a[k][i] =
                    pair_of(w + (col * 9 + 8 - spot) * CHANNELS + row, w + ((col + 1) * 9 + 8 - spot) * CHANNELS + row);
            else
                a[k][i] = *reinterpret_cast<const uint32_t *>(w + (row * 9 + spot) * CHANNELS + col);
        }
}

__device__ __forceinline__ void multiply(float (&c)[16][4], const uint32_t (&a)[STEPS][4], const char *tile, int group)
{
    const uint32_t base = shared_address(tile);
#pragma unroll
    for (int j = 0; j < 16; j++)
#pragma unroll
        for (int i = 0; i < 4; i++) c[j][i] = 0;
    wait_turn(group);
    group_begin();
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const int spot = k / 4;
        wide_mma_add(c, a[k], places_descriptor(base + (spot / 3 * HALO_W + spot % 3) * 128 + k % 4 * 32));
    }
    group_commit();
    give_turn(group ^ 1);
    group_wait<0>();
    wide_settled(c);
}

/* Sums (channel, place) to rows of channels; chunk c of place p at c ^ p % 8. */
__device__ __forceinline__ void turn(const float (&c)[16][4], char *stage, int warp, int lane)
{
    const int m = lane / 8, chunk = 2 * warp + m % 2;
#pragma unroll
    for (int j = 0; j < 16; j += 2) {
        const int at = 8 * (j + m / 2) + lane % 8;
        uint32_t r[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const __nv_bfloat162 two = __floats2bfloat162_rn(c[j + i / 2][i % 2 * 2], c[j + i / 2][i % 2 * 2 + 1]);
            r[i] = *reinterpret_cast<const uint32_t *>(&two);
        }
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
                         shared_address(stage + at * 128 + (chunk ^ at % 8) * 16)),
                     "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                     : "memory");
    }
}

/* Where the first vector of a thread goes; the next ones lie two rows further down each. */
__device__ __forceinline__ bf16 *result_at(const tile_call &g, int tile, int thread)
{
    const tile_place p = tile_at(g, tile);
    const int at = thread / 8;
    return g.y + p.image + ((p.row + at / WIDE) * g.width + p.col + at % WIDE) * CHANNELS + thread % 8 * 8;
}

enum { EACH = PLACES * 8 / GROUP, DOWN = GROUP / 8 / WIDE }; /* vectors of a thread, rows between them */

/* What the result is added to, on its way; a thread reads what it has fetched itself. */
__device__ __forceinline__ void load_old(const tile_call &g, int tile, char *old, int thread)
{
    const bf16 *const from = result_at(g, tile, thread);
#pragma unroll
    for (int i = 0; i < EACH; i++) copy_16(old + (thread + i * GROUP) * 16, from + i * DOWN * g.width * CHANNELS, true);
}

template <bool ADD>
__device__ __forceinline__ void write_tile(const tile_call &g, int tile, const char *stage, const char *old, int thread)
{
    bf16 *const to = result_at(g, tile, thread);
    const char *const from = stage + thread / 8 * 128 + (thread % 8 ^ thread / 8 % 8) * 16;
#pragma unroll(ADD ? 2 : EACH)
    for (int i = 0; i < EACH; i++) {
        bf16 *const at = to + i * DOWN * g.width * CHANNELS;
        const uint4 *const now = reinterpret_cast<const uint4 *>(from + i * GROUP * 16);
        float x[8], before[8];
        if (!ADD) {
            *reinterpret_cast<uint4 *>(at) = *now;
            continue;
        }
        load<8>(reinterpret_cast<const bf16 *>(now), x);
        load<8>(reinterpret_cast<const bf16 *>(old + (thread + i * GROUP) * 16), before);
#pragma unroll
        for (int e = 0; e < 8; e++) x[e] += before[e];
        store<8>(at, x);
    }
}

#endif

/* On other devices it is compiled and never run. */
template <bool BACK, bool ADD>
__global__ void __launch_bounds__(GROUP *GROUPS, 1) conv_64_kernel(const __grid_constant__ tile_call g)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ char room[];
    const int group = threadIdx.x / GROUP, thread = threadIdx.x % GROUP, warp = thread / 32, lane = thread % 32;
    const int tiles = tiles_of(g), step = gridDim.x * GROUPS;
    char *const own = aligned_room(room) + group * ROOM, *const stage = own + 2 * BUFFER, *const old = stage + STAGE;
    uint32_t a[STEPS][4];
    const int first = (int)blockIdx.x * GROUPS, rounds = (tiles - first + step - 1) / step; /* of group 0 */
    int tile = first + group;
    if (tile < tiles) load_tile<GROUP>(g, tile, own, thread);
    copies_commit();
    read_weights<BACK>(g.weight, warp, lane, a);
    if (group == 1) give_turn(0);
    for (int round = 0; round < rounds; round++, tile += step) {
        const int which = round % 2;
        float c[16][4];
        if (tile >= tiles) { /* the other group has one more */
            wait_turn(group);
            give_turn(group ^ 1);
            continue;
        }
        copies_wait<0>();
        group_publish();
        meet(group); /* also: the stage and the other buffer have been read */
        if (ADD) load_old(g, tile, old, thread);
        copies_commit();
        if (tile + step < tiles) load_tile<GROUP>(g, tile + step, own + (which ^ 1) * BUFFER, thread);
        copies_commit();
        multiply(c, a, own + which * BUFFER, group);
        turn(c, stage, warp, lane);
        copies_wait<1>();
        meet(group);
        write_tile<ADD>(g, tile, stage, old, thread);
    }
    if (group == 0) wait_turn(0); /* of which there is one more */
#endif
}

template <bool BACK, bool ADD> static bool run(dis__cuda_session *s, const tile_call *g, cudaError_t *error)
{
    const int blocks = (tiles_of(*g) + GROUPS - 1) / GROUPS, bytes = GROUPS * ROOM + 1024;
    const unsigned grid = (unsigned)(blocks < s->n_processors ? blocks : s->n_processors);
    cudaFuncAttributes about;
    *error = cudaFuncGetAttributes(&about, conv_64_kernel<BACK, ADD>);
    if (*error == cudaSuccess && about.ptxVersion < 90) return false; /* there is no machine code for this device */
    if (*error == cudaSuccess)
        *error = cudaFuncSetAttribute(conv_64_kernel<BACK, ADD>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (*error != cudaSuccess) return true;
    conv_64_kernel<BACK, ADD><<<grid, GROUP * GROUPS, bytes, s->stream>>>(*g);
    *error = cudaGetLastError();
    return true;
}

bool dis__cuda_conv_64(dis__cuda_session *s, const dis__conv_args *a, bool back, cudaError_t *error)
{
    if (!suits_64(s, a)) return false;
    const tile_call g = {(int)a->n,
                         (int)a->height,
                         (int)a->width,
                         (const bf16 *)(back ? a->dy : a->x),
                         (const bf16 *)dis__cuda_weight(s, a->weight),
                         (bf16 *)(back ? a->dx : a->y)};
    if (!back) return run<false, false>(s, &g, error);
    return a->add ? run<true, true>(s, &g, error) : run<true, false>(s, &g, error);
}
