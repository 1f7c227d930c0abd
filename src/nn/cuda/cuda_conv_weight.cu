/* Gradients of the weights of 3 x 3 convolutions of 64 channels, in bfloat16 on the tensor cores of compute capability
 * 9.0 (wgmma).
 *
 * d_weight (out, 9, channels) = dy' x, where x is moved by a place of the kernel: sums over all places of all images. A
 * tile is 64 numbers of `out` by all nine places of 64 channels. A block goes through the places 64 at a time, 8 x 8 of
 * an image, which one warp has copied ahead (tensor_copy.cuh) and three groups of four warps multiply, a row of the
 * kernel each. x comes with a border of one place, and all products read the same numbers a few rows of shared memory
 * on.
 *
 * Tiles are fewer than multiprocessors, so all steps of all tiles are laid end to end and cut evenly: a block may have
 * the end of one tile and the beginning of the next, and writes what it has of each in float32. A second kernel adds
 * these parts up in order: the sum depends on the shape and the number of multiprocessors alone.
 *
 * Cost: 2 x 9 x channels x out operations per place at 850 TFLOP/s, and some 20 microseconds for writing and adding the
 * parts (H200). */
#include "nn/cuda/conv.cuh"
#include "nn/cuda/tensor_copy.cuh"
#include "nn/cuda/wgmma.cuh"

enum {
    SIDE = 8, /* places of a box */
    EDGE = SIDE + 2,
    PLACES = SIDE * SIDE,
    ROW_BYTES = EDGE * 128,
    DY_BYTES = PLACES * 128,
    X_BYTES = EDGE * ROW_BYTES,
    STAGE = DY_BYTES + (X_BYTES + 1023) / 1024 * 1024,
    STAGES = 10,
    ROOM = STAGES * STAGE + 1024,
    GROUPS = 3,
    THREADS = GROUPS * 128 + 32,
    COLUMNS = 3 * 8,                /* of eight sums, of a group */
    QUADS = GROUPS * COLUMNS * 128, /* fours of sums of a tile */
    TILES = 2,                      /* that a block has a share of, at most */
    ADDERS = 256,
};

typedef struct {
    int steps, units; /* of a tile, of all */
    int across, down; /* boxes of an image */
    int c_tiles, channels, blocks;
    float4 *parts; /* (blocks, TILES, QUADS) */
    float *to;     /* d_weight */
} weight_call;

typedef struct {
    CUtensorMap x, dy;
} weight_maps;

static __host__ __device__ __forceinline__ int first_unit(const weight_call &g, int block)
{
    return (int)((unsigned)block * (unsigned)g.units / (unsigned)g.blocks);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* c (64 x 192) += A' (64 x 16) B (16 x 192), both as rows of 64 numbers in shared memory. */
__device__ __forceinline__ void mma_192(float (&c)[3][8][4], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,"
                 "%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,"
                 "%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,"
                 "%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95}, "
                 "%96, %97, 1, 1, 1, 1, 1;"
                 : GROUP_SUMS(c[0]), GROUP_SUMS(c[1]), GROUP_SUMS(c[2])
                 : "l"(a), "l"(b));
}

typedef struct {
    uint64_t full[STAGES], empty[STAGES];
} weight_barriers;

/* One thread copies what the others multiply. */
__device__ __forceinline__ void copy_steps(const weight_maps &maps, const weight_call &g, char *room,
                                           weight_barriers *b, int begin, int end)
{
    int stage = 0;
    unsigned turn = 1; /* nothing is there yet: the first wait is over at once */
    for (int u = begin; u < end; u++) {
        const int tile = u / g.steps, step = u % g.steps;
        const int col = step % g.across * SIDE, row = step / g.across % g.down * SIDE;
        const int image = step / (g.across * g.down);
        char *const dy = room + stage * STAGE;
        barrier_wait(b->empty + stage, turn);
        barrier_expect(b->full + stage, DY_BYTES + X_BYTES);
        copy_box(dy, &maps.dy, b->full + stage, tile / g.c_tiles * 64, col, row, image);
        copy_box(dy + DY_BYTES, &maps.x, b->full + stage, tile % g.c_tiles * 64, col - 1, row - 1, image);
        if (++stage == STAGES) stage = 0, turn ^= 1;
    }
}

/* Products of one step: 16 places at a time, which are two rows of eight. */
__device__ __forceinline__ void multiply(float (&c)[3][8][4], uint32_t dy, int group)
{
    const uint32_t x = dy + DY_BYTES + (uint32_t)group * ROW_BYTES;
    group_begin();
#pragma unroll
    for (int k = 0; k < PLACES / 16; k++)
        mma_192(c, rows_descriptor(dy + k * 2048, 16, 1024), rows_descriptor(x + k * 2 * ROW_BYTES, 128, ROW_BYTES));
    group_commit();
}

/* A group's share of n steps, which are of one tile. */
__device__ __forceinline__ void sum_steps(float (&c)[3][8][4], int n, uint32_t room, weight_barriers *b, int group,
                                          int &at, unsigned &turn)
{
    int before = -1;
#pragma unroll
    for (int i = 0; i < COLUMNS * 4; i++) c[i / 32][i / 4 % 8][i % 4] = 0;
    for (int i = 0; i < n; i++) {
        barrier_wait(b->full + at, turn);
        multiply(c, room + (uint32_t)at * STAGE, group);
        group_wait<1>();
        if (before >= 0 && threadIdx.x % 32 == 0) barrier_arrive(b->empty + before);
        before = at;
        if (++at == STAGES) at = 0, turn ^= 1;
    }
    group_wait<0>();
#pragma unroll
    for (int i = 0; i < 3; i++) group_settled(c[i]);
    if (threadIdx.x % 32 == 0) barrier_arrive(b->empty + before);
}

#endif

/* On other devices it is compiled and never run. */
__global__ void __launch_bounds__(THREADS, 1)
    weight_kernel(const __grid_constant__ weight_maps maps, const __grid_constant__ weight_call g)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ char raw[];
    __shared__ weight_barriers barriers;
    char *const room = aligned_shared(raw, 1024);
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
    const int begin = first_unit(g, blockIdx.x), end = first_unit(g, blockIdx.x + 1);
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++)
            barrier_open(barriers.full + i, 1), barrier_open(barriers.empty + i, GROUPS * 4);
        barriers_opened();
    }
    __syncthreads();
    if (group == GROUPS) {
        if (threadIdx.x % 128 == 0) copy_steps(maps, g, room, &barriers, begin, end);
        return;
    }
    int at = 0;
    unsigned turn = 0;
    for (int u = begin; u < end;) {
        const int tile = u / g.steps, stop = min(end, (tile + 1) * g.steps), slot = tile - begin / g.steps;
        float c[3][8][4];
        sum_steps(c, stop - u, shared_address(room), &barriers, group, at, turn);
        float4 *const to = g.parts + ((size_t)blockIdx.x * TILES + slot) * QUADS + threadIdx.x % 128;
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            const float(&q)[4] = c[j / 8][j % 8];
            to[(group * COLUMNS + j) * 128] = make_float4(q[0], q[1], q[2], q[3]);
        }
        u = stop;
    }
#endif
}

__device__ __forceinline__ void add_to(float4 &s, const float4 &x)
{
    s.x += x.x, s.y += x.y, s.z += x.z, s.w += x.w;
}

/* What blocks have of four sums; SHARES threads take turns. */
template <int SHARES> __device__ __forceinline__ float4 sum_of_parts(const weight_call &g, int tile, int in, int share)
{
    const int first = tile * g.steps, last = first + g.steps - 1;
    int from = (int)((unsigned)first * (unsigned)g.blocks / (unsigned)g.units);
    int to = (int)((unsigned)last * (unsigned)g.blocks / (unsigned)g.units);
    while (first_unit(g, from + 1) <= first) from++;
    while (first_unit(g, to + 1) <= last) to++;
    const int late = first_unit(g, from) < first; /* the first block's share is behind one of the tile before */
    float4 s = make_float4(0, 0, 0, 0);
#pragma unroll 8
    for (int b = from + share; b <= to; b += SHARES)
        add_to(s, __ldcg(g.parts + ((size_t)b * TILES + (b == from ? late : 0)) * QUADS + in));
    return s;
}

/* Four sums to where they belong; `in`: their place in a part of a tile. */
__device__ __forceinline__ void add_quad(const weight_call &g, int tile, int in, const float4 &s)
{
    const int spot = in / (128 * 8), column = in / 128 % 8, warp = in / 32 % 4, lane = in % 32;
    const int out = tile / g.c_tiles * 64 + warp * 16 + lane / 4;
    const int channel = tile % g.c_tiles * 64 + column * 8 + lane % 4 * 2;
    float *const low = g.to + ((size_t)out * 9 + spot) * g.channels + channel;
    float *const high = low + (size_t)8 * 9 * g.channels; /* eight numbers of out on */
    float2 x = *(float2 *)low, y = *(float2 *)high;
    x.x += s.x, x.y += s.y, y.x += s.z, y.y += s.w;
    *(float2 *)low = x;
    *(float2 *)high = y;
}

template <int SHARES>
__global__ void __launch_bounds__(ADDERS) add_weight_parts_kernel(const __grid_constant__ weight_call g)
{
    constexpr int own = ADDERS / SHARES;
    __shared__ float4 room[ADDERS];
    const int e = blockIdx.x * own + threadIdx.x % own, share = threadIdx.x / own, tile = e / QUADS, in = e % QUADS;
    float4 s = sum_of_parts<SHARES>(g, tile, in, share);
    room[threadIdx.x] = s;
    __syncthreads();
    if (share) return;
#pragma unroll
    for (int i = 1; i < SHARES; i++) add_to(s, room[i * own + threadIdx.x]);
    add_quad(g, tile, in, s);
}

static weight_call call_of(const dis__cuda_session *s, const dis__conv_args *a)
{
    weight_call g;
    g.across = ((int)a->width + SIDE - 1) / SIDE;
    g.down = ((int)a->height + SIDE - 1) / SIDE;
    g.steps = g.across * g.down * (int)a->n;
    g.channels = (int)a->channels;
    g.c_tiles = g.channels / BOX_CHANNELS;
    g.units = g.steps * g.c_tiles * ((int)a->out / 64);
    g.blocks = g.units < s->n_processors ? g.units : s->n_processors;
    g.parts = (float4 *)s->scratch;
    g.to = (float *)a->d_weight;
    return g;
}

static bool maps_of(const dis__conv_args *a, weight_maps *m)
{
    const int n = (int)a->n, h = (int)a->height, w = (int)a->width;
    const box_size x = {(int)a->channels, w, h, n}, dy = {(int)a->out, w, h, n};
    const box_size of_x = {BOX_CHANNELS, EDGE, EDGE, 1}, of_dy = {BOX_CHANNELS, SIDE, SIDE, 1};
    return box_map((const bf16 *)a->x, x, of_x, &m->x) && box_map((const bf16 *)a->dy, dy, of_dy, &m->dy);
}

static bool run(dis__cuda_session *s, const dis__conv_args *a, cudaError_t *error)
{
    const weight_call g = call_of(s, a);
    const int tiles = g.units / g.steps;
    const size_t parts = (size_t)g.blocks * TILES * QUADS * sizeof *g.parts;
    weight_maps maps;
    if (!is_ready(weight_kernel, ROOM, error)) return false;
    if (*error != cudaSuccess) return true;
    if (tiles > g.blocks || parts > s->scratch_bytes || !maps_of(a, &maps)) return false;
    weight_kernel<<<(unsigned)g.blocks, THREADS, ROOM, s->stream>>>(maps, g);
    add_weight_parts_kernel<8><<<(unsigned)(tiles * QUADS / (ADDERS / 8)), ADDERS, 0, s->stream>>>(g);
    *error = cudaGetLastError();
    return true;
}

/* Whether units times blocks are an int. */
static bool countable(const dis__cuda_session *s, const dis__conv_args *a)
{
    const int64_t boxes = (int64_t)((a->width + SIDE - 1) / SIDE * ((a->height + SIDE - 1) / SIDE) * a->n);
    const int64_t tiles = (int64_t)(a->channels / 64 * (a->out / 64));
    return boxes * tiles <= INT32_MAX / (s->n_processors + 1);
}

/* Multiples of 128 are cuDNN's: it is as fast, and leaves no parts. So it is with a middling number of places. */
static bool worth(const dis__conv_args *a)
{
    const size_t places = a->n * a->height * a->width;
    return a->out % 128 && (places < 1 << 14 || places >= 1 << 18);
}

bool dis__cuda_conv_weight(dis__cuda_session *s, const dis__conv_args *a, cudaError_t *error)
{
    if (!is_3x3(s, a) || a->channels % 64 || a->out % 64 || !aligned16(a->x) || !aligned16(a->dy) ||
        !aligned16(a->d_weight) || a->channels > 4096 || a->out > 4096 ||
        a->n * a->height * a->width >= (size_t)1 << 24)
        return false;
    return worth(a) && countable(s, a) && run(s, a, error);
}
