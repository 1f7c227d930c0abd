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
    GROUPS = 2,
    BUFFER = TILE_BYTES,
    ROOM = 2 * BUFFER + 2 * STAGE, /* two tiles, the result, what it is added to */
    STEPS = 36,                    /* of 16 */
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

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
        wide_mma_add(c, a[k],
                     rows_descriptor(base + (spot / 3 * HALO_W + spot % 3) * 128 + k % 4 * 32, 16, HALO_W * 128));
    }
    group_commit();
    give_turn(group ^ 1);
    group_wait<0>();
    wide_settled(c);
}

/* What the result is added to, on its way; a thread reads what it has fetched itself. */
__device__ __forceinline__ void load_old(const tile_call &g, int tile, char *old, int thread)
{
    const bf16 *const from = result_at(g, tile, thread);
#pragma unroll
    for (int i = 0; i < EACH; i++) copy_16(old + (thread + i * GROUP) * 16, from + i * DOWN * g.width * CHANNELS, true);
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
    char *const own = aligned_shared(room, 1024) + group * ROOM, *const stage = own + 2 * BUFFER,
                *const old = stage + STAGE;
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
        group_meet(group); /* also: the stage and the other buffer have been read */
        if (ADD) load_old(g, tile, old, thread);
        copies_commit();
        if (tile + step < tiles) load_tile<GROUP>(g, tile + step, own + (which ^ 1) * BUFFER, thread);
        copies_commit();
        multiply(c, a, own + which * BUFFER, group);
        turn(c, stage, warp, lane);
        copies_wait<1>();
        group_meet(group);
        write_tile<ADD>(g, tile, stage, old, thread);
    }
    if (group == 0) wait_turn(0); /* of which there is one more */
#endif
}

template <bool BACK, bool ADD> static bool run(dis__cuda_session *s, const tile_call *g, cudaError_t *error)
{
    const int blocks = (tiles_of(*g) + GROUPS - 1) / GROUPS, bytes = GROUPS * ROOM + 1024;
    const unsigned grid = (unsigned)(blocks < s->n_processors ? blocks : s->n_processors);
    if (!is_ready(conv_64_kernel<BACK, ADD>, bytes, error)) return false;
    if (*error != cudaSuccess) return true;
    conv_64_kernel<BACK, ADD><<<grid, GROUP * GROUPS, bytes, s->stream>>>(*g);
    *error = cudaGetLastError();
    return true;
}

bool dis__cuda_conv_64(dis__cuda_session *s, const dis__conv_args *a, bool back, cudaError_t *error)
{
    if (!suits_64(s, a, CHANNELS)) return false;
    const tile_call g = {(int)a->n,
                         (int)a->height,
                         (int)a->width,
                         (const bf16 *)(back ? a->dy : a->x),
                         (const bf16 *)dis__cuda_weight(s, a->weight),
                         (bf16 *)(back ? a->dx : a->y)};
    if (!back) return run<false, false>(s, &g, error);
    return a->add ? run<true, true>(s, &g, error) : run<true, false>(s, &g, error);
}
