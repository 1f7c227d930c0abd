/* conv_64.cuh: tiles of images of 64 channels for convolutions of 3 x 3 by wgmma: 8 x 16 places, in shared memory with
 * a border of one place on each side (zeros outside of the image). A place is a row of 128 bytes; chunk c of place p
 * lies at c ^ p % 8, which is the swizzle of 128 bytes that descriptors name, counted from a multiple of 1,024 bytes.
 * Eight places side by side are eight rows of a matrix; each of the kernel's nine places is the same tile a few rows
 * on, and nothing is copied for it. */
#ifndef DIS_NN_CUDA_CONV_64_CUH
#define DIS_NN_CUDA_CONV_64_CUH
#include "nn/cuda/conv.cuh"
#include "nn/cuda/wgmma.cuh"

enum {
    CHANNELS = 64,
    WIDE = 8, /* places of a tile */
    HIGH = 16,
    PLACES = WIDE * HIGH,
    HALO_W = WIDE + 2, /* with the border */
    HALO = HALO_W * (HIGH + 2),
    TILE_BYTES = (HALO * 128 + 1023) / 1024 * 1024,
};

typedef struct {
    int n, height, width;
    const bf16 *x, *weight;
    bf16 *y;
} tile_call;

/* Where a tile begins: numbers in front of its image, row and column. */
typedef struct {
    size_t image;
    int row, col;
} tile_place;

__device__ __forceinline__ tile_place tile_at(const tile_call &g, int tile)
{
    const int across = g.width / WIDE, per = across * (g.height / HIGH), in = tile % per;
    tile_place p;
    p.image = (size_t)(tile / per) * (size_t)(g.height * g.width * CHANNELS);
    p.row = in / across * HIGH;
    p.col = in % across * WIDE;
    return p;
}

static __host__ __device__ __forceinline__ int tiles_of(const tile_call &g)
{
    return g.n * (g.width / WIDE) * (g.height / HIGH);
}

/* A tile and its border on their way, by N threads. */
template <int N> __device__ __forceinline__ void load_tile(const tile_call &g, int tile, char *to, int thread)
{
    const tile_place p = tile_at(g, tile);
    const bf16 *const x = g.x + p.image;
#pragma unroll
    for (int i = 0; i < (HALO * 8 + N - 1) / N; i++) {
        const int v = thread + i * N, chunk = v % 8, at = v / 8;
        const int row = p.row - 1 + at / HALO_W, col = p.col - 1 + at % HALO_W;
        const bool there = row >= 0 && row < g.height && col >= 0 && col < g.width;
        const int from = there ? (row * g.width + col) * CHANNELS + chunk * 8 : 0;
        if (at < HALO) copy_16(to + at * 128 + (chunk ^ at % 8) * 16, x + from, there);
    }
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* Rows from `at` on: eight, then eight more a row of the tile further down. */
__device__ __forceinline__ uint64_t places_descriptor(uint32_t at)
{
    const uint64_t rows_8 = HALO_W * 128 >> 4, swizzle_128 = 1;
    return (at & 0x3ffff) >> 4 | (uint64_t)1 << 16 | rows_8 << 32 | swizzle_128 << 62;
}

/* Shared memory from a multiple of 1,024 bytes on; 1,024 more must have been asked for. */
__device__ __forceinline__ char *aligned_room(char *room)
{
    return room + (1024 - shared_address(room) % 1024) % 1024;
}

#endif

/* Whether this is a convolution that the kernels are for. */
static inline bool suits_64(const dis__cuda_session *s, const dis__conv_args *a)
{
    const void *const p[] = {a->x, a->y, a->dy, a->dx, dis__cuda_weight(s, a->weight)};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (!aligned16(p[i])) return false;
    const bool same = a->kernel_h == 3 && a->kernel_w == 3 && a->stride == 1 && a->pad_top == 1 && a->pad_left == 1 &&
                      a->height == a->out_h && a->width == a->out_w;
    return same && s->value == DIS_BFLOAT16 && a->channels == CHANNELS && a->out == CHANNELS && !a->length &&
           !a->bias && a->act == DIS_ACT_NONE && a->width % WIDE == 0 && a->height % HIGH == 0 &&
           a->height * a->width < 1 << 24 && a->n * a->height * a->width < (size_t)1 << 31;
}

#endif
