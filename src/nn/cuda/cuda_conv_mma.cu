/* Convolutions in bfloat16 on the tensor cores: tiles of 128 x 128 (or 64) x 32, three of them on their way to shared
 * memory (cp.async) while one is multiplied. A thread reads vectors of 8 channels; where these lie is kept from one
 * tile to the next and moved on by 32, so that nothing is divided on the way.
 *
 * Images of a few channels (colours) have no whole vectors: WHOLE is false, and their numbers are read one by one.
 *
 * Of the forward product both matrices have neighbours along k; of the others one or both have them along rows or
 * columns, and lie so in shared memory: ldmatrix turns them. */
#include "nn/cuda/conv.cuh"
#include "nn/cuda/mma.cuh"

enum { THREADS = 256, TILE_M = 128, DEEP = 32, STAGES = 3, PAD = 8 };

/* Shared memory of one tile: rows of k (ALONG_K), or of `side`. */
template <int SIDE, bool ALONG_K> struct tile {
    enum { ROWS = ALONG_K ? SIDE : DEEP, WIDTH = (ALONG_K ? DEEP : SIDE), LD = WIDTH + PAD };
    enum { VECTORS = SIDE * DEEP / 8, EACH = VECTORS / THREADS, PER_ROW = WIDTH / 8 };
    bf16 x[ROWS][LD];
};

template <conv_product P, int TILE_N> struct tiles {
    typedef tile<TILE_M, P != BY_WEIGHT> left;
    typedef tile<TILE_N, P == FORWARD> right;
    left a;
    right b;
};

/* A place of the kernel and a channel (or output), moved on by 32 at a time. */
struct spot {
    int ki, kj, c;
    __device__ __forceinline__ void set(const conv_call &g, int k, int per)
    {
        const int at = k / per;
        c = k % per;
        ki = at / g.kernel_w;
        kj = at % g.kernel_w;
    }
    __device__ __forceinline__ void move(const conv_call &g, int per)
    {
        for (c += DEEP; c >= per; c -= per)
            if (++kj == g.kernel_w) {
                kj = 0;
                ki++;
            }
    }
};

/* 8 numbers one by one; at(i) says where number i lies, below 0: it is 0. */
template <class F> __device__ __forceinline__ void copy_each(bf16 *to, const bf16 *base, F at)
{
    union {
        uint4 w;
        bf16 x[8];
    } u;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int64_t from = at(i);
        u.x[i] = from < 0 ? from_float<bf16>(0) : base[from];
    }
    *reinterpret_cast<uint4 *>(to) = u.w;
}

/* Vectors of the left matrix that a thread brings: rows threadIdx / PER_ROW + j THREADS / PER_ROW of the tile. */
template <conv_product P, bool WHOLE> struct left_reader {
    typedef tile<TILE_M, P != BY_WEIGHT> room;
    enum { STEP = THREADS / room::PER_ROW };
    conv_place place[room::EACH];
    bool there[room::EACH];
    spot at;
    int row, word, k;

    __device__ __forceinline__ void begin(const conv_call &g, int row0, int first)
    {
        row = (int)threadIdx.x / room::PER_ROW;
        word = (int)threadIdx.x % room::PER_ROW * 8;
        k = first;
        if (P == BY_WEIGHT) {
            for (int j = 0; j < room::EACH; j++) there[j] = row0 + word < g.m;
            at.c = row0 + word;
            return;
        }
        at.set(g, first + word, P == FORWARD ? g.channels : g.out);
        for (int j = 0; j < room::EACH; j++) {
            const int number = row0 + row + j * STEP;
            there[j] = number < g.m;
            place[j] = P == FORWARD ? place_of(g, there[j] ? number : 0) : pixel_of(g, there[j] ? number : 0);
        }
    }
    __device__ __forceinline__ void bring(const conv_call &g, room *to, int last)
    {
#pragma unroll
        for (int j = 0; j < room::EACH; j++) {
            int64_t from;
            if (!WHOLE && P == FORWARD) {
                copy_each(&to->x[row + j * STEP][word], (const bf16 *)g.x, [&](int i) {
                    spot one;
                    one.set(g, k + word + i, g.channels);
                    const bool in = there[j] && k + word + i < g.k;
                    return in ? patch_at(g, place[j], one.ki, one.kj, one.c) : (int64_t)-1;
                });
                continue;
            }
            if (P == BY_WEIGHT) {
                const int p = k + row + j * STEP;
                from = there[j] && p < last ? (int64_t)p * g.out + at.c : -1;
            } else {
                const bool in = there[j] && at.ki < g.kernel_h;
                from = !in            ? -1
                       : P == FORWARD ? patch_at(g, place[j], at.ki, at.kj, at.c)
                                      : gradient_at(g, place[j], at.ki, at.kj, at.c);
            }
            const bf16 *base = (const bf16 *)(P == FORWARD ? g.x : g.dy);
            copy_16(&to->x[row + j * STEP][word], base + (from < 0 ? 0 : from), from >= 0);
        }
        k += DEEP;
        if (P != BY_WEIGHT) at.move(g, P == FORWARD ? g.channels : g.out);
    }
};

template <conv_product P, int TILE_N, bool WHOLE> struct right_reader {
    typedef tile<TILE_N, P == FORWARD> room;
    enum { STEP = THREADS / room::PER_ROW };
    spot at[P == BY_INPUT ? room::EACH : 1];
    int image[room::EACH], out_row[room::EACH], out_col[room::EACH]; /* BY_WEIGHT: the place of each row */
    int row, word, k, col0;

    __device__ __forceinline__ void begin(const conv_call &g, int col, int first)
    {
        row = (int)threadIdx.x / room::PER_ROW;
        word = (int)threadIdx.x % room::PER_ROW * 8;
        k = first;
        col0 = col;
        if (P == BY_INPUT)
            for (int j = 0; j < room::EACH; j++) at[j].set(g, first + row + j * STEP, g.out);
        if (P == BY_WEIGHT) {
            at[0].set(g, col0 + word, g.channels);
            for (int j = 0; j < room::EACH; j++) {
                const int p = first + row + j * STEP;
                image[j] = p / (g.out_h * g.out_w);
                out_row[j] = p / g.out_w % g.out_h;
                out_col[j] = p % g.out_w;
            }
        }
    }
    /* The place 32 behind. */
    __device__ __forceinline__ void move_place(const conv_call &g, int j)
    {
        for (out_col[j] += DEEP; out_col[j] >= g.out_w; out_col[j] -= g.out_w)
            if (++out_row[j] == g.out_h) {
                out_row[j] = 0;
                image[j]++;
            }
    }
    __device__ __forceinline__ conv_place place(const conv_call &g, int j, bool in)
    {
        conv_place p;
        p.image = image[j];
        p.row = out_row[j] * g.stride - g.pad_top;
        p.col = out_col[j] * g.stride - g.pad_left;
        p.limit = in && g.length ? g.length[p.image] : g.width;
        move_place(g, j);
        return p;
    }
    __device__ __forceinline__ void bring_each(const conv_call &g, room *to, int j, int last)
    {
        bf16 *const here = &to->x[row + j * STEP][word];
        if (P == FORWARD) {
            const int col = col0 + row + j * STEP;
            copy_each(here, (const bf16 *)g.weight, [&](int i) {
                return col < g.cols && k + word + i < g.k ? (int64_t)col * g.k + k + word + i : (int64_t)-1;
            });
            return;
        }
        const bool in = k + row + j * STEP < last;
        const conv_place p = place(g, j, in);
        copy_each(here, (const bf16 *)g.x, [&](int i) {
            spot one;
            one.set(g, col0 + word + i, g.channels);
            return in && col0 + word + i < g.cols ? patch_at(g, p, one.ki, one.kj, one.c) : (int64_t)-1;
        });
    }
    __device__ __forceinline__ void bring(const conv_call &g, room *to, int last)
    {
#pragma unroll
        for (int j = 0; j < room::EACH; j++) {
            int64_t from;
            if (!WHOLE) {
                bring_each(g, to, j, last);
                continue;
            }
            if (P == FORWARD) {
                const int col = col0 + row + j * STEP;
                from = col < g.cols && k + word < g.k ? (int64_t)col * g.k + k + word : -1;
            } else if (P == BY_INPUT) {
                spot &w = at[j < (P == BY_INPUT ? room::EACH : 1) ? j : 0];
                const bool in = w.ki < g.kernel_h && col0 + word < g.cols;
                from = in ? (((int64_t)w.c * g.kernel_h + w.ki) * g.kernel_w + w.kj) * g.channels + col0 + word : -1;
                w.move(g, g.out);
            } else {
                const bool in = k + row + j * STEP < last && col0 + word < g.cols;
                const conv_place p = place(g, j, in);
                from = in ? patch_at(g, p, at[0].ki, at[0].kj, at[0].c) : -1;
            }
            const bf16 *base = (const bf16 *)(P == BY_WEIGHT ? g.x : g.weight);
            copy_16(&to->x[row + j * STEP][word], base + (from < 0 ? 0 : from), from >= 0);
        }
        k += DEEP;
    }
};

/* A warp's 32 x (TILE_N / 2) of the result += one tile of k. */
template <conv_product P, int TILE_N>
__device__ __forceinline__ void multiply(const tiles<P, TILE_N> *t, int row, int col, float (&sum)[2][TILE_N / 16][4])
{
    const int lane = (int)threadIdx.x % 32, low = lane % 8, tile_row = lane / 8 % 2 * 8, tile_col = lane / 16 * 8;
#pragma unroll
    for (int k = 0; k < DEEP; k += 16) {
        uint32_t a[2][4];
#pragma unroll
        for (int m = 0; m < 2; m++) {
            if (P != BY_WEIGHT) /* tiles: rows 0, rows 8, then the same of k + 8 */
                ldmatrix_x4(a[m], &t->a.x[row + m * 16 + tile_row + low][k + tile_col]);
            else
                ldmatrix_x4_trans(a[m], &t->a.x[k + tile_col + low][row + m * 16 + tile_row]);
        }
#pragma unroll
        for (int n = 0; n < TILE_N / 16; n += 2) {
            uint32_t b[4]; /* tiles: k and k + 8 of 8 columns, then of the next 8 */
            if (P == FORWARD)
                ldmatrix_x4(b, &t->b.x[col + n * 8 + tile_col + low][k + tile_row]);
            else
                ldmatrix_x4_trans(b, &t->b.x[k + tile_row + low][col + n * 8 + tile_col]);
#pragma unroll
            for (int m = 0; m < 2; m++) {
                mma_16x8x16(sum[m][n], a[m], b[0], b[1]);
                mma_16x8x16(sum[m][n + 1], a[m], b[2], b[3]);
            }
        }
    }
}

template <conv_product P, int TILE_N, bool WHOLE> __global__ void __launch_bounds__(THREADS, 2) mma_kernel(conv_call g)
{
    extern __shared__ __align__(16) char memory[];
    tiles<P, TILE_N> *const stage = (tiles<P, TILE_N> *)memory;
    const int row0 = (int)blockIdx.x * TILE_M, col0 = (int)blockIdx.y * TILE_N;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int row = warp % 4 * 32, col = warp / 4 * (TILE_N / 2);
    const int first = P == BY_WEIGHT ? (int)blockIdx.z * g.k_per_part : 0;
    const int last = P == BY_WEIGHT ? min(first + g.k_per_part, g.k) : g.k;
    const int n = (last - first + DEEP - 1) / DEEP;
    left_reader<P, WHOLE> left;
    right_reader<P, TILE_N, WHOLE> right;
    float sum[2][TILE_N / 16][4] = {};
    left.begin(g, row0, first);
    right.begin(g, col0, first);
    for (int i = 0; i < STAGES - 1; i++) {
        if (i < n) {
            left.bring(g, &stage[i].a, last);
            right.bring(g, &stage[i].b, last);
        }
        copies_commit();
    }
    for (int i = 0; i < n; i++) {
        copies_wait<STAGES - 2>();
        __syncthreads();
        if (i + STAGES - 1 < n) {
            left.bring(g, &stage[(i + STAGES - 1) % STAGES].a, last);
            right.bring(g, &stage[(i + STAGES - 1) % STAGES].b, last);
        }
        copies_commit();
        multiply<P, TILE_N>(&stage[i % STAGES], row, col, sum);
    }
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int j = 0; j < TILE_N / 16; j++)
#pragma unroll
            for (int e = 0; e < 4; e += 2)
                conv_store_pair<P>(g, row0 + row + m * 16 + lane / 4 + e / 2 * 8, col0 + col + j * 8 + lane % 4 * 2,
                                   sum[m][j][e], sum[m][j][e + 1]);
}

template <conv_product P, int TILE_N, bool WHOLE>
static cudaError_t launch(dis__cuda_session *s, const conv_call *g, unsigned parts)
{
    const size_t bytes = STAGES * sizeof(tiles<P, TILE_N>);
    const dim3 grid(grid_of((size_t)g->m, TILE_M), grid_of((size_t)g->cols, TILE_N), parts);
    const cudaError_t error = cudaFuncSetAttribute((const void *)mma_kernel<P, TILE_N, WHOLE>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess) return error;
    mma_kernel<P, TILE_N, WHOLE><<<grid, THREADS, bytes, s->stream>>>(*g);
    return cudaGetLastError();
}

bool dis__cuda_conv_mma(dis__cuda_session *s, const conv_call *g, conv_product product, unsigned parts,
                        cudaError_t *error)
{
    if (g->out % 8 || !aligned16(g->dy) || !aligned16(g->to)) return false;
    const bool whole = g->channels % 8 == 0 && aligned16(g->x) && aligned16(g->weight);
    if (!whole && product == BY_INPUT) return false;
    if (product == FORWARD)
        *error = whole ? launch<FORWARD, 64, true>(s, g, parts) : launch<FORWARD, 64, false>(s, g, parts);
    else if (product == BY_INPUT)
        *error = launch<BY_INPUT, 64, true>(s, g, parts);
    else
        *error = whole ? launch<BY_WEIGHT, 64, true>(s, g, parts) : launch<BY_WEIGHT, 64, false>(s, g, parts);
    return true;
}
