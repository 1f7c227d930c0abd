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
    GROUP = 128, /* threads, which multiply a tile together */
    STAGE = PLACES * CHANNELS * 2,
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

/* Sums of a group: (channel, place), in eights of places. */
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

/* Sums (channel, place) to rows of channels; chunk c of place p at c ^ p % 8. */
__device__ __forceinline__ void turn(const float (&c)[16][4], char *stage, int warp, int lane)
{
    const int m = lane / 8, chunk = 2 * warp + m % 2;
#pragma unroll
    for (int j = 0; j < 16; j += 2) {
        const int at = 8 * (j + m / 2) + lane % 8;
        uint32_t r[4];
#pragma unroll
        for (int i = 0; i < 4; i++) r[i] = pair_to(c[j + i / 2][i % 2 * 2], c[j + i / 2][i % 2 * 2 + 1]);
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

/* Whether this is a convolution that the kernels are for. */
static inline bool suits_64(const dis__cuda_session *s, const dis__conv_args *a, size_t channels)
{
    const void *const p[] = {a->x, a->y, a->dy, a->dx, dis__cuda_weight(s, a->weight)};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (!aligned16(p[i])) return false;
    return is_3x3(s, a) && a->channels == channels && a->out == CHANNELS && !a->bias && a->act == DIS_ACT_NONE &&
           a->width % WIDE == 0 && a->height % HIGH == 0 && a->height * a->width < 1 << 24 &&
           a->n * a->height * a->width < (size_t)1 << 31;
}

#endif
