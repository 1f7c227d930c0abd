/* Convolutions of 3 x 3 from 8 channels to 64, the first of a ResNet, and the gradients of their weights, in bfloat16
 * on the tensor cores of compute capability 9.0 (wgmma).
 *
 * Weights (64 x 72, and 8 zeros) lie in registers and are the left matrix; a product is 64 channels x 128 places
 * (conv_64.cuh). The nine places of the kernel are laid side by side in shared memory: a place of the image is 16
 * bytes, the half of a row of 16 numbers, so rows need no border and no swizzle.
 *
 * The gradient is dy' (64 x places) times the same rows. Each block has a share of the tiles and writes its sums; they
 * are added up in order.
 *
 * Cost: bound by writing y, or reading dy, 128 bytes per place; x is read nine times from the caches. */
#include "nn/cuda/conv_64.cuh"

enum {
    THIN = 8, /* channels */
    SPOTS = 9,
    STEPS = 5,           /* of 16 numbers: two places of the kernel */
    PLANE = PLACES * 16, /* bytes: one place of the kernel for all places of a tile */
    BUFFER = 2 * STEPS * PLANE,
    BLOCKS = 3, /* per multiprocessor */
    ROOM = 2 * BUFFER + STAGE,
    WEIGHT_ROOM = 2 * (BUFFER + STAGE) + 1024,
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* 16 bytes to shared memory, by way of the first cache. */
__device__ __forceinline__ void copy_16_kept(void *to, const void *from, bool there)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                 "r"(there ? 16 : 0)
                 : "memory");
}

/* A tile on its way: each thread has a place of it. */
__device__ __forceinline__ void load_thin(const tile_call &g, int tile, char *to, int thread)
{
    const tile_place p = tile_at(g, tile);
    const bf16 *const x = g.x + p.image / CHANNELS * THIN;
#pragma unroll
    for (int spot = 0; spot < SPOTS; spot++) {
        const int row = p.row + thread / WIDE + spot / 3 - 1, col = p.col + thread % WIDE + spot % 3 - 1;
        const bool there = row >= 0 && row < g.height && col >= 0 && col < g.width;
        copy_16_kept(to + spot * PLANE + thread * 16, x + (there ? (row * g.width + col) * THIN : 0), there);
    }
}

__device__ __forceinline__ void read_weights(const bf16 *w, int warp, int lane, uint32_t (&a)[STEPS][4])
{
#pragma unroll
    for (int k = 0; k < STEPS; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int row = 16 * warp + lane / 4 + i % 2 * 8, col = 16 * k + lane % 4 * 2 + i / 2 * 8;
            a[k][i] = col < SPOTS * THIN ? *reinterpret_cast<const uint32_t *>(w + row * SPOTS * THIN + col) : 0;
        }
}

/* Rows of 16 bytes: eight of them one behind the other are 128; the other half of a row of 16 numbers a plane on. */
__device__ __forceinline__ uint64_t planes_descriptor(uint32_t at)
{
    return (at & 0x3ffff) >> 4 | (uint64_t)(PLANE >> 4) << 16 | (uint64_t)(128 >> 4) << 32;
}

__device__ __forceinline__ void multiply(float (&c)[16][4], const uint32_t (&a)[STEPS][4], const char *tile)
{
#pragma unroll
    for (int j = 0; j < 16; j++)
#pragma unroll
        for (int i = 0; i < 4; i++) c[j][i] = 0;
    group_begin();
#pragma unroll
    for (int k = 0; k < STEPS; k++) wide_mma_add(c, a[k], planes_descriptor(shared_address(tile) + k * 2 * PLANE));
    group_commit();
    group_wait<0>();
    wide_settled(c);
}

/* c (64 x 72) += A' (64 x 16) B (16 x 72): rows of 64 numbers with a swizzle, and planes. */
__device__ __forceinline__ void thin_mma_add(float (&c)[SPOTS][4], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n72k16.f32.bf16.bf16 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,"
                 "%27,%28,%29,%30,%31,%32,%33,%34,%35}, %36, %37, 1, 1, 1, 1, 1;"
                 : GROUP_SUMS(c), "+f"(c[8][0]), "+f"(c[8][1]), "+f"(c[8][2]), "+f"(c[8][3])
                 : "l"(a), "l"(b));
}

/* dy of a tile on its way; chunk c of place p at c ^ p % 8. */
__device__ __forceinline__ void load_dy(const tile_call &g, int tile, char *to, int thread)
{
    const tile_place p = tile_at(g, tile);
#pragma unroll
    for (int i = 0; i < PLACES * 8 / GROUP; i++) {
        const int at = thread / 8 + i * (GROUP / 8), chunk = thread % 8;
        const int row = p.row + at / WIDE, col = p.col + at % WIDE;
        copy_16(to + at * 128 + (chunk ^ at % 8) * 16, g.y + p.image + (row * g.width + col) * CHANNELS + chunk * 8,
                true);
    }
}

/* 16 places at a time. Of the planes, the next eight places are 128 bytes on, the next eight numbers a plane. */
__device__ __forceinline__ void multiply_dy(float (&c)[SPOTS][4], uint32_t x, uint32_t dy)
{
    const uint64_t eights = (uint64_t)(128 >> 4) << 16 | (uint64_t)(PLANE >> 4) << 32;
    group_begin();
#pragma unroll
    for (int k = 0; k < PLACES / 16; k++)
        thin_mma_add(c, rows_descriptor(dy + k * 2048, 16, 1024), ((x + k * 256) & 0x3ffff) >> 4 | eights);
    group_commit();
    group_wait<0>();
    asm volatile("" : GROUP_SUMS(c), "+f"(c[8][0]), "+f"(c[8][1]), "+f"(c[8][2]), "+f"(c[8][3])::"memory");
}

#endif

/* On other devices it is compiled and never run. */
__global__ void __launch_bounds__(GROUP, BLOCKS) conv_thin_kernel(const __grid_constant__ tile_call g)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(128) char room[];
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, tiles = tiles_of(g);
    char *const stage = room + 2 * BUFFER;
    uint32_t a[STEPS][4];
    int tile = blockIdx.x;
    if (tile < tiles) load_thin(g, tile, room, thread);
    copies_commit();
    for (int i = 0; i < 2; i++) /* beside the last place of the kernel there is none */
        *reinterpret_cast<uint4 *>(room + i * BUFFER + SPOTS * PLANE + thread * 16) = make_uint4(0, 0, 0, 0);
    read_weights(g.weight, warp, lane, a);
    for (int which = 0; tile < tiles; tile += gridDim.x, which ^= 1) {
        float c[16][4];
        copies_wait<0>();
        group_publish();
        __syncthreads(); /* also: the stage and the other buffer have been read */
        if (tile + gridDim.x < tiles) load_thin(g, tile + gridDim.x, room + (which ^ 1) * BUFFER, thread);
        copies_commit();
        multiply(c, a, room + which * BUFFER);
        turn(c, stage, warp, lane);
        __syncthreads();
        write_tile<false>(g, tile, stage, stage, thread);
    }
#endif
}

/* parts (blocks, 64, 9, width): of the first `width` channels; g.y: dy. */
__global__ void __launch_bounds__(GROUP, BLOCKS)
    thin_weight_kernel(const __grid_constant__ tile_call g, int width, float *parts)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ char raw[];
    char *const room = aligned_shared(raw, 1024), *const planes = room + 2 * STAGE;
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, tiles = tiles_of(g);
    float c[SPOTS][4] = {};
    int tile = blockIdx.x;
    for (int which = 0; which == 0 || tile < tiles; which++) {
        const int next = tile + (which ? gridDim.x : 0), to = which % 2;
        if (next < tiles) {
            load_dy(g, next, room + to * STAGE, thread);
            load_thin(g, next, planes + to * BUFFER, thread);
        }
        copies_commit();
        if (which == 0) continue;
        copies_wait<1>();
        group_publish();
        __syncthreads();
        multiply_dy(c, shared_address(planes + (to ^ 1) * BUFFER), shared_address(room + (to ^ 1) * STAGE));
        __syncthreads(); /* it has been read */
        tile = next;
    }
    float *const to = parts + (size_t)blockIdx.x * (CHANNELS * SPOTS) * width;
#pragma unroll
    for (int spot = 0; spot < SPOTS; spot++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int out = 16 * warp + lane / 4 + i / 2 * 8, channel = lane % 4 * 2 + i % 2;
            if (channel < width) to[(out * SPOTS + spot) * width + channel] = c[spot][i];
        }
#endif
}

static tile_call call_of(const dis__cuda_session *s, const dis__conv_args *a, const void *y)
{
    return {(int)a->n, (int)a->height, (int)a->width, (const bf16 *)a->x, (const bf16 *)dis__cuda_weight(s, a->weight),
            (bf16 *)y};
}

static unsigned blocks_of(const dis__cuda_session *s, const tile_call *g)
{
    const int tiles = tiles_of(*g), most = BLOCKS * s->n_processors;
    return (unsigned)(tiles < most ? tiles : most);
}

bool dis__cuda_conv_thin(dis__cuda_session *s, const dis__conv_args *a, cudaError_t *error)
{
    if (!suits_64(s, a, THIN) || !is_ready(conv_thin_kernel, ROOM, error)) return false;
    if (*error != cudaSuccess) return true;
    const tile_call g = call_of(s, a, a->y);
    conv_thin_kernel<<<blocks_of(s, &g), GROUP, ROOM, s->stream>>>(g);
    *error = cudaGetLastError();
    return true;
}

bool dis__cuda_conv_thin_weight(dis__cuda_session *s, const dis__conv_args *a, size_t width, cudaError_t *error)
{
    const tile_call g = call_of(s, a, a->dy);
    const size_t n = CHANNELS * SPOTS * width;
    if (!suits_64(s, a, THIN) || blocks_of(s, &g) * n * sizeof(float) > DIS_CUDA_PRODUCT) return false;
    if (!is_ready(thin_weight_kernel, WEIGHT_ROOM, error)) return false;
    if (*error != cudaSuccess) return true;
    float *const parts = (float *)dis__cuda_product_room(s);
    thin_weight_kernel<<<blocks_of(s, &g), GROUP, WEIGHT_ROOM, s->stream>>>(g, (int)width, parts);
    *error = cudaGetLastError();
    if (*error == cudaSuccess) *error = dis__cuda_sum_rows(s, parts, blocks_of(s, &g), n, (float *)a->d_weight);
    return true;
}
