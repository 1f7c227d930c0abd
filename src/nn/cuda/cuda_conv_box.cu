/* Convolutions of 3 x 3 with 64, 128, ... channels, and their gradients by input, in bfloat16 on the tensor cores of
 * compute capability 9.0 (wgmma).
 *
 * A block's tile is two boxes of 8 x 8 places by 128 channels of the result. One warp has copied ahead
 * (tensor_copy.cuh): the boxes with a border of one place, 64 channels at a time, and the weights of one place of the
 * kernel; two groups of four warps multiply, a box each. All nine products of a box read the same numbers a few rows of
 * shared memory on. The gradient is the same with the kernel turned round, and reads the weights as they lie.
 *
 * Cost: 2 x 9 x channels x out operations per place; 173 KB are copied for 19 million of them. */
#include "nn/cuda/conv.cuh"
#include "nn/cuda/tensor_copy.cuh"
#include "nn/cuda/wgmma.cuh"

enum {
    SIDE = 8, /* places of a box */
    EDGE = SIDE + 2,
    ROWS = EDGE * 128, /* bytes of a row of places */
    X_BYTES = EDGE * ROWS,
    X_ROOM = (X_BYTES + 1023) / 1024 * 1024,
    GROUPS = 2,
    OUTS = 128,
    W_BYTES = OUTS * 128,
    HALF = SIDE * SIDE * 128, /* of a box's result: 64 channels */
    X_STAGES = 2,
    W_STAGES = 8,
    SPOTS = 9,
    THREADS = GROUPS * 128 + 32,
    ROOM = X_STAGES * GROUPS * X_ROOM + W_STAGES * W_BYTES + GROUPS * 2 * HALF + 1024,
};

typedef struct {
    int tiles, across, down, out_tiles, parts; /* parts: of 64 channels that are summed over */
#ifdef DIS_CUDA_PLAIN
    bf16 *y;
    box_size of_y;
#endif
} box_call;

typedef struct {
    CUtensorMap x, weight, y;
} box_maps;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

typedef struct {
    uint64_t x_full[X_STAGES], x_empty[X_STAGES], w_full[W_STAGES], w_empty[W_STAGES];
} box_barriers;

typedef struct {
    char *x, *weight, *y;
} box_room;

/* Stages come round; the parity of the barriers changes each time. */
template <int N> struct ring {
    int at = 0;
    unsigned turn = 0;
    __device__ __forceinline__ void next()
    {
        if (++at == N) at = 0, turn ^= 1;
    }
};

typedef struct {
    int col, row, image;
} box_place;

__device__ __forceinline__ box_place box_at(const box_call &g, int box)
{
    box_place p;
    p.col = box % g.across * SIDE;
    p.row = box / g.across % g.down * SIDE;
    p.image = box / (g.across * g.down);
    return p;
}

/* c (64 x 128) += A (64 x 16) B: rows of 64 numbers, of which B has one per column, or (TURNED) per row. */
template <bool TURNED> __device__ __forceinline__ void mma_128(float (&c)[2][8][4], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,"
                 "%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,"
                 "%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, 1, 1, 1, 0, %66;"
                 : GROUP_SUMS(c[0]), GROUP_SUMS(c[1])
                 : "l"(a), "l"(b), "n"(TURNED ? 1 : 0));
}

template <bool BACK>
__device__ __forceinline__ void copy_weight(const box_maps &maps, char *to, uint64_t *there, int part, int spot,
                                            int out)
{
    barrier_expect(there, W_BYTES);
    if (!BACK) {
        copy_box(to, &maps.weight, there, part * 64, spot, out, 0);
        return;
    }
    copy_box(to, &maps.weight, there, out, SPOTS - 1 - spot, part * 64, 0);
    copy_box(to + W_BYTES / 2, &maps.weight, there, out + 64, SPOTS - 1 - spot, part * 64, 0);
}

/* One thread copies what the others multiply. */
template <bool BACK>
__device__ __forceinline__ void copy_all(const box_maps &maps, const box_call &g, const box_room &room, box_barriers *b)
{
    ring<X_STAGES> x;
    ring<W_STAGES> w;
    for (int tile = blockIdx.x; tile < g.tiles; tile += gridDim.x)
        for (int part = 0; part < g.parts; part++) {
            barrier_wait(b->x_empty + x.at, x.turn ^ 1);
            barrier_expect(b->x_full + x.at, GROUPS * X_BYTES);
            for (int i = 0; i < GROUPS; i++) {
                const box_place p = box_at(g, tile / g.out_tiles * GROUPS + i);
                copy_box(room.x + (x.at * GROUPS + i) * X_ROOM, &maps.x, b->x_full + x.at, part * 64, p.col - 1,
                         p.row - 1, p.image);
            }
            x.next();
            for (int spot = 0; spot < SPOTS; spot++, w.next()) {
                barrier_wait(b->w_empty + w.at, w.turn ^ 1);
                copy_weight<BACK>(maps, room.weight + w.at * W_BYTES, b->w_full + w.at, part, spot,
                                  tile % g.out_tiles * OUTS);
            }
        }
}

template <bool BACK> __device__ __forceinline__ void multiply(float (&c)[2][8][4], uint32_t x, uint32_t w)
{
    group_begin();
#pragma unroll
    for (int k = 0; k < 4; k++)
        mma_128<BACK>(c, rows_descriptor(x + k * 32, 16, ROWS),
                      BACK ? rows_descriptor(w + k * 2048, W_BYTES / 2, 1024) : rows_descriptor(w + k * 32, 16, 1024));
    group_commit();
}

/* A box's sums over all parts. */
template <bool BACK>
__device__ __forceinline__ void sum_parts(float (&c)[2][8][4], const box_call &g, const box_room &room, box_barriers *b,
                                          int group, ring<X_STAGES> &x, ring<W_STAGES> &w)
{
    const bool tells = threadIdx.x % 32 == 0;
    int w_before = -1, x_before = -1;
#pragma unroll
    for (int i = 0; i < 64; i++) c[i / 32][i / 4 % 8][i % 4] = 0;
    for (int part = 0; part < g.parts; part++) {
        const uint32_t box = shared_address(room.x) + (uint32_t)(x.at * GROUPS + group) * X_ROOM;
        barrier_wait(b->x_full + x.at, x.turn);
        for (int spot = 0; spot < SPOTS; spot++) {
            barrier_wait(b->w_full + w.at, w.turn);
            multiply<BACK>(c, box + (uint32_t)(spot / 3 * ROWS + spot % 3 * 128),
                           shared_address(room.weight) + (uint32_t)w.at * W_BYTES);
            group_wait<1>();
            if (tells && w_before >= 0) barrier_arrive(b->w_empty + w_before);
            if (tells && x_before >= 0 && spot == 0) barrier_arrive(b->x_empty + x_before);
            w_before = w.at;
            w.next();
        }
        x_before = x.at;
        x.next();
    }
    group_wait<0>();
    group_settled(c[0]);
    group_settled(c[1]);
    if (tells) barrier_arrive(b->w_empty + w_before);
    if (tells) barrier_arrive(b->x_empty + x_before);
}

/* Sums (place, channel) to rows of 64 channels; chunk c of place p at c ^ p % 8. */
__device__ __forceinline__ void lay_out(const float (&c)[2][8][4], char *to)
{
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, m = lane / 8;
    const int place = 16 * warp + lane % 8 + m % 2 * 8;
#pragma unroll
    for (int j = 0; j < 16; j += 2) {
        const int chunk = j + m / 2;
        uint32_t r[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int e = j + i / 2;
            r[i] = pair_to(c[e / 8][e % 8][i % 2 * 2], c[e / 8][e % 8][i % 2 * 2 + 1]);
        }
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
                         shared_address(to + chunk / 8 * HALF + place * 128 + (chunk % 8 ^ place % 8) * 16)),
                     "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                     : "memory");
    }
}

/* A box's result to where it belongs, by the copy engine, which leaves out what lies outside. */
template <bool ADD>
__device__ __forceinline__ void put_box(const box_maps &maps, const char *from, int channel, const box_place &p)
{
    if (ADD)
        asm volatile("cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.tile.bulk_group "
                     "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(&maps.y),
                     "r"(shared_address(from)), "r"(channel), "r"(p.col), "r"(p.row), "r"(p.image)
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(
                         &maps.y),
                     "r"(shared_address(from)), "r"(channel), "r"(p.col), "r"(p.row), "r"(p.image)
                     : "memory");
}

#ifdef DIS_CUDA_PLAIN

/* The same by stores: initcheck does not see what the copy engine writes, and would report whoever reads it. */
template <bool ADD>
__device__ __forceinline__ void store_box(const box_call &g, const char *stage, int channel, const box_place &p)
{
    for (int i = threadIdx.x % 128; i < 2 * HALF / 16; i += 128) {
        const int half = i / (HALF / 16), place = i / 8 % (SIDE * SIDE), chunk = i % 8;
        const int col = p.col + place % SIDE, row = p.row + place / SIDE;
        if (p.image >= g.of_y.n || row >= g.of_y.height || col >= g.of_y.width) continue;
        const bf16 *from = (const bf16 *)(stage + half * HALF + place * 128 + (chunk ^ place % 8) * 16);
        const size_t at = ((size_t)p.image * g.of_y.height + row) * g.of_y.width + col;
        bf16 *to = g.y + at * g.of_y.channels + channel + half * 64 + chunk * 8;
        for (int k = 0; k < 8; k++) to[k] = ADD ? __hadd(to[k], from[k]) : from[k];
    }
}

#endif

template <bool ADD>
__device__ __forceinline__ void write_box(const float (&c)[2][8][4], const box_maps &maps, const box_call &g, int tile,
                                          char *stage, int group)
{
    const bool first = threadIdx.x % 128 == 0;
    if (first) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    group_meet(group); /* what was there has been read */
    lay_out(c, stage);
    group_publish();
    group_meet(group);
    const box_place p = box_at(g, tile / g.out_tiles * GROUPS + group);
#ifdef DIS_CUDA_PLAIN
    store_box<ADD>(g, stage, tile % g.out_tiles * OUTS, p);
#else
    if (!first) return;
    for (int half = 0; half < 2; half++)
        put_box<ADD>(maps, stage + half * HALF, tile % g.out_tiles * OUTS + half * 64, p);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

#endif

/* On other devices it is compiled and never run. */
template <bool BACK, bool ADD>
__global__ void __launch_bounds__(THREADS, 1)
    box_kernel(const __grid_constant__ box_maps maps, const __grid_constant__ box_call g)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ char raw[];
    __shared__ box_barriers barriers;
    box_room room;
    room.x = aligned_shared(raw, 1024);
    room.weight = room.x + X_STAGES * GROUPS * X_ROOM;
    room.y = room.weight + W_STAGES * W_BYTES;
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
    if (threadIdx.x == 0) {
        for (int i = 0; i < X_STAGES; i++)
            barrier_open(barriers.x_full + i, 1), barrier_open(barriers.x_empty + i, GROUPS * 4);
        for (int i = 0; i < W_STAGES; i++)
            barrier_open(barriers.w_full + i, 1), barrier_open(barriers.w_empty + i, GROUPS * 4);
        barriers_opened();
    }
    __syncthreads();
    if (group == GROUPS) {
        if (threadIdx.x % 128 == 0) copy_all<BACK>(maps, g, room, &barriers);
        return;
    }
    ring<X_STAGES> x;
    ring<W_STAGES> w;
    for (int tile = blockIdx.x; tile < g.tiles; tile += gridDim.x) {
        float c[2][8][4];
        sum_parts<BACK>(c, g, room, &barriers, group, x, w);
        write_box<ADD>(c, maps, g, tile, room.y + group * 2 * HALF, group);
    }
    if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

template <bool BACK, bool ADD> static bool run(dis__cuda_session *s, const dis__conv_args *a, cudaError_t *error)
{
    const int n = (int)a->n, h = (int)a->height, w = (int)a->width;
    const int channels = (int)(BACK ? a->out : a->channels), out = (int)(BACK ? a->channels : a->out);
    const box_size of_x = {channels, w, h, n}, of_y = {out, w, h, n}, of_w = {(int)a->channels, SPOTS, (int)a->out, 1};
    const box_size x = {BOX_CHANNELS, EDGE, EDGE, 1}, y = {BOX_CHANNELS, SIDE, SIDE, 1};
    const box_size weight = {BOX_CHANNELS, 1, BACK ? 64 : OUTS, 1};
    box_call g;
    box_maps maps;
    if (!is_ready(box_kernel<BACK, ADD>, ROOM, error)) return false;
    if (*error != cudaSuccess) return true;
    g.across = (w + SIDE - 1) / SIDE;
    g.down = (h + SIDE - 1) / SIDE;
    g.out_tiles = out / OUTS;
    g.tiles = (n * g.across * g.down + GROUPS - 1) / GROUPS * g.out_tiles;
    g.parts = channels / BOX_CHANNELS;
#ifdef DIS_CUDA_PLAIN
    g.y = (bf16 *)(BACK ? a->dx : a->y);
    g.of_y = of_y;
#endif
    if (!box_map((const bf16 *)(BACK ? a->dy : a->x), of_x, x, &maps.x) ||
        !box_map((const bf16 *)dis__cuda_weight(s, a->weight), of_w, weight, &maps.weight) ||
        !box_map((const bf16 *)(BACK ? a->dx : a->y), of_y, y, &maps.y))
        return false;
    const unsigned blocks = (unsigned)(g.tiles < s->n_processors ? g.tiles : s->n_processors);
    box_kernel<BACK, ADD><<<blocks, THREADS, ROOM, s->stream>>>(maps, g);
    *error = cudaGetLastError();
    return true;
}

bool dis__cuda_conv_box(dis__cuda_session *s, const dis__conv_args *a, bool back, cudaError_t *error)
{
    const void *const p[] = {a->x, a->y, a->dy, a->dx, dis__cuda_weight(s, a->weight)};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (!aligned16(p[i])) return false;
    const size_t channels = back ? a->out : a->channels, out = back ? a->channels : a->out;
    if (!is_3x3(s, a) || channels % BOX_CHANNELS || out % OUTS || a->width < SIDE || channels > 4096 || out > 4096 ||
        a->n * a->height * a->width >= (size_t)1 << 26)
        return false;
    if (!back) return a->bias || a->act != DIS_ACT_NONE ? false : run<false, false>(s, a, error);
    return a->add ? run<true, true>(s, a, error) : run<true, false>(s, a, error);
}
