/* Resamples on a CUDA device: exactly the counts that stats/bootstrap.c draws, and sums weighted by them, without
 * storing the counts.
 *
 * Eight lanes process a block of items of one resample, one generator each: a generator's words yield the counts of
 * every eighth group of four items. So columns are read in parallel, and the four resamples of a warp read the same
 * ones. Codes of remainders, a few in ten thousand, are set aside and decided in the order of items; if the Poisson sum
 * exceeds the total, the block is drawn again. The missing draws follow from one generator, which all eight lanes
 * advance; each lane adds up every eighth pair.
 *
 * Cost: some 25 instructions per item and resample and 2 for each sum; columns come from the L1 cache. */
#include "stats/cuda/cuda_bootstrap.h"
#include "core/random/xoshiro.h"

enum {
    BLOCK = DIS_BOOTSTRAP_BLOCK,
    LANES = 8,
    GROUPS = DIS_CUDA_BOOTSTRAP_GROUPS,
    THREADS = LANES * GROUPS,
    COUNT = DIS_BOOTSTRAP_COUNT,
    USUAL = 6,    /* bounds that are always compared: larger counts have a probability of one in two thousand */
    ASIDE = 64,   /* codes of remainders of a block: three on average at most */
    STREAM = 9,   /* DIS_STREAM_BOOTSTRAP */
    FINISH = 256, /* threads */
    ALL = 32
};

/* ---- random numbers ---- */

/* Word i of spread() in bootstrap.c. */
static __device__ __forceinline__ uint64_t spread(uint64_t word, int i)
{
    uint64_t z = word + (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---- Poisson numbers ---- */

/* Multiplications and additions that the compiler must not fuse: their bits equal the CPU's. */
static __device__ __forceinline__ double times(double a, double b)
{
    return __dmul_rn(a, b);
}

static __device__ __forceinline__ double less(double a, double b)
{
    return __dadd_rn(a, -b);
}

/* A Poisson distribution quantized to 16 bits. Bounds have 32 bits: 16 random bits, with any lower bits, exceed a bound
 * if they exceed its upper half. */
typedef struct {
    int bound[COUNT + 2];
    double rest[COUNT + 1], all_rest;
    int n_bounds, n_aside;
    uint16_t aside[ASIDE];
} poisson;

static __device__ __forceinline__ void poisson_cut(double mean, double mass, poisson *p)
{
    int cumulative = 0;
    int n_bounds = 0;
    double all = 0;
    for (int n = 0; n <= COUNT; n++) {
        const double scaled = times(mass, 65536), part = floor(scaled), rest = less(scaled, part);
        p->rest[n] = rest;
        all += rest;
        cumulative += (int)part;
        if (part > 0 || n < 2) p->bound[n_bounds++] = (int)((unsigned)(cumulative - 32769) << 16 | 0xffffu);
        mass = times(mass, mean / (double)(n + 1));
    }
    p->all_rest = all;
    p->n_bounds = n_bounds;
}

static __device__ __forceinline__ int poisson_rest(const poisson *p, uint64_t (&s)[4])
{
    double u = times((double)(dis__xoshiro_next(s) >> 11) * 0x1p-53, p->all_rest);
    for (int k = 0; k < COUNT; k++) {
        if (u < p->rest[k]) return k;
        u = less(u, p->rest[k]);
    }
    return COUNT;
}

/* ---- a block of items ---- */

/* Accumulators of a lane. */
template <int SUMS, bool BINS> struct sums_of {
    double x[SUMS];
    const double *column;
    size_t stride;
    int n; /* columns; sums after the last one are ignored */
    const uint8_t *bin;
    int first_bin;

    __device__ __forceinline__ const double *column_of(int c) const
    {
        return column + (size_t)(c < n ? c : 0) * stride;
    }

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int c = 0; c < SUMS; c++) x[c] = 0;
    }
    __device__ __forceinline__ void add(int i, double count)
    {
        if constexpr (BINS) {
            const double value = count * column[i];
            const int which = (int)bin[i] - first_bin;
#pragma unroll
            for (int c = 0; c < SUMS; c++) x[c] += which == c ? value : 0;
        } else {
#pragma unroll
            for (int c = 0; c < SUMS; c++) x[c] += count * column_of(c)[i];
        }
    }
    /* Four items from i on, a multiple of 4. */
    __device__ __forceinline__ void add_four(int i, const double (&count)[4])
    {
        if constexpr (BINS) {
#pragma unroll
            for (int h = 0; h < 4; h++) add(i + h, count[h]);
        } else {
#pragma unroll
            for (int c = 0; c < SUMS; c++) {
                const double2 *at = (const double2 *)(column_of(c) + i), a = at[0], b = at[1];
                x[c] += count[0] * a.x;
                x[c] += count[1] * a.y;
                x[c] += count[2] * b.x;
                x[c] += count[3] * b.y;
            }
        }
    }
};

static __device__ __forceinline__ double as_double(int count)
{
    return __hiloint2double(0x43300000, count) - 0x1p52; /* faster than the conversion */
}

/* The number of bounds below 16 random bits, which are the upper bits of x. */
static __device__ __forceinline__ int above(const int (&usual)[USUAL], const poisson *p, int x)
{
    int count = 0;
#pragma unroll
    for (int t = 0; t < USUAL; t++) count += x > usual[t];
    if (count == USUAL)
        for (int t = USUAL; t < p->n_bounds; t++) count += x > p->bound[t];
    return count;
}

static __device__ __forceinline__ void put_aside(poisson *p, int item)
{
    const int at = atomicAdd(&p->n_aside, 1);
    if (at < ASIDE) p->aside[at] = (uint16_t)item;
}

/* The counts of four items from one word, and their sum. */
template <class S>
static __device__ __forceinline__ unsigned four(uint64_t word, const int (&usual)[USUAL], int n_bounds, poisson *p,
                                                int item, int n, S *sums)
{
    const uint32_t low = (uint32_t)word, high = (uint32_t)(word >> 32);
    const int x[4] = {(int)(low << 16), (int)low, (int)(high << 16), (int)high};
    double count[4];
    unsigned all = 0;
#pragma unroll
    for (int h = 0; h < 4; h++) {
        int m = above(usual, p, x[h]);
        if (item + h >= n)
            m = 0;
        else if (m == n_bounds) {
            put_aside(p, item + h);
            m = 0;
        }
        all += (unsigned)m;
        count[h] = as_double(m);
    }
    sums->add_four(item, count);
    return all;
}

/* A lane's share of the Poisson counts of a block: their sum. */
template <class S>
static __device__ __forceinline__ unsigned stream(uint64_t (&s)[4], poisson *p, int lane, int n, S *sums)
{
    const int n_bounds = p->n_bounds;
    int usual[USUAL];
#pragma unroll
    for (int t = 0; t < USUAL; t++) usual[t] = t < n_bounds ? p->bound[t] : 0x7fffffff;
    unsigned all = 0;
    for (int item = LANES / 2 * lane; item < (n + 63) / 64 * 64; item += 64) {
        const uint64_t x = dis__xoshiro_next(s), y = dis__xoshiro_next(s);
        all += four(x, usual, n_bounds, p, item, n, sums);
        all += four(y, usual, n_bounds, p, item + 32, n, sums);
    }
    return all;
}

/* The codes of remainders in the order of items; the first lane adds them up. */
template <class S>
static __device__ __forceinline__ unsigned decide(const poisson *p, uint64_t (&s)[4], int lane, S *sums)
{
    const int n = p->n_aside < ASIDE ? p->n_aside : ASIDE;
    unsigned all = 0;
    int last = -1;
    for (int k = 0; k < n; k++) {
        int item = BLOCK;
        for (int i = 0; i < n; i++)
            if (p->aside[i] > last && p->aside[i] < item) item = p->aside[i];
        const int m = poisson_rest(p, s);
        if (lane == 0) sums->add(item, as_double(m));
        all += (unsigned)m;
        last = item;
    }
    return all;
}

/* The draws missing from the total, two items from a word. */
template <class S>
static __device__ __forceinline__ void top_up(uint64_t (&s)[4], uint32_t missing, int lane, int n, S *sums)
{
    uint32_t k = 0;
    for (; k + 2 <= missing; k += 2) {
        const uint64_t word = dis__xoshiro_next(s);
        if ((int)(k / 2 % LANES) != lane) continue;
        sums->add((int)((word >> 32) * (uint64_t)n >> 32), 1);
        sums->add((int)((word & 0xffffffffu) * (uint64_t)n >> 32), 1);
    }
    if (k < missing) {
        const uint64_t word = dis__xoshiro_next(s);
        const int item = (int)__umul64hi(word, (uint64_t)n);
        if (lane == 0) sums->add(item, 1);
    }
}

/* ---- kernels ---- */

template <int SUMS, bool BINS>
static __global__ void __launch_bounds__(THREADS) draw_kernel(const __grid_constant__ dis__cuda_bootstrap b)
{
    __shared__ poisson shared[GROUPS];
    const int lane = (int)threadIdx.x % LANES, group = (int)threadIdx.x / LANES;
    const unsigned mask = 0xffu << (threadIdx.x / LANES % (ALL / LANES) * LANES);
    /* blocks that run concurrently share the items */
    const unsigned n_groups = (unsigned)((b.n + GROUPS - 1) / GROUPS);
    const size_t block = blockIdx.x / n_groups, r = blockIdx.x % n_groups * (size_t)GROUPS + (size_t)group;
    if (r >= b.n) return; /* one per eight lanes */
    const size_t at = block * BLOCK, place = r * b.n_blocks + block;
    const int n = b.n_items - at < BLOCK ? (int)(b.n_items - at) : BLOCK;
    const uint32_t total = b.total[place];
    const double aim = less((double)total, times(DIS_BOOTSTRAP_SHORT_BY, sqrt((double)total)));
    poisson *const p = &shared[group];
    uint64_t from[4];
    dis__xoshiro_start(from, b.seed, STREAM | (uint64_t)(block + 1) << 32, (uint64_t)(b.first + r));
    sums_of<SUMS, BINS> sums = {{},
                                b.column + (BINS ? 0 : b.first_sum * b.stride) + at,
                                b.stride,
                                (int)b.n_sums,
                                BINS ? b.bin + at : NULL,
                                (int)b.first_sum};
    uint32_t drawn = 0;
    sums.clear();
    if (!(aim < 1 || aim > 4 * (double)n)) {
        if (lane == 0) poisson_cut(aim / (double)n, b.mass[place], p);
        const uint64_t word = dis__xoshiro_next(from);
        uint64_t s[4];
        for (int w = 0; w < 4; w++) s[w] = spread(word, w * LANES + lane);
        do {
            if (lane == 0) p->n_aside = 0;
            __syncwarp(mask);
            sums.clear();
            drawn = stream(s, p, lane, n, &sums);
            for (int o = 1; o < LANES; o *= 2) drawn += __shfl_xor_sync(mask, drawn, o);
            __syncwarp(mask);
            drawn += decide(p, from, lane, &sums);
            __syncwarp(mask);
        } while (drawn > total);
    }
    top_up(from, total - drawn, lane, n, &sums);
#pragma unroll
    for (int c = 0; c < SUMS; c++) {
        double x = sums.x[c];
        for (int o = 1; o < LANES; o *= 2) x += __shfl_xor_sync(mask, x, o);
        if (lane == 0) b.part[place * SUMS + c] = x;
    }
}

/* A warp adds up the blocks of one sum of one resample. */
static __global__ void __launch_bounds__(FINISH) finish_kernel(const __grid_constant__ dis__cuda_bootstrap b, int width)
{
    const size_t i = (blockIdx.x * (size_t)FINISH + threadIdx.x) / ALL, r = i / b.n_sums, c = i % b.n_sums;
    const unsigned lane = threadIdx.x % ALL;
    if (r >= b.n) return;
    double sum = 0;
    for (size_t block = lane; block < b.n_blocks; block += ALL)
        sum += b.part[(r * b.n_blocks + block) * (size_t)width + c];
    for (int o = 1; o < ALL; o *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (lane == 0) b.sums[(b.first + r) * b.n_all_sums + b.first_sum + c] = sum;
}

typedef struct {
    int width;
    void (*kernel[2])(dis__cuda_bootstrap); /* columns, bins */
} row_of_kernels;

#define ROW(width)                                              \
    {                                                           \
        width,                                                  \
        {                                                       \
            draw_kernel<width, false>, draw_kernel<width, true> \
        }                                                       \
    }
static const row_of_kernels rows[] = {ROW(1), ROW(2), ROW(4), ROW(DIS_CUDA_BOOTSTRAP_SUMS)};

cudaError_t dis__cuda_bootstrap_draw(const dis__cuda_bootstrap *b, cudaStream_t stream)
{
    const row_of_kernels *row = rows;
    while ((size_t)row->width < b->n_sums) row++;
    const size_t grid = b->n_blocks * ((b->n + GROUPS - 1) / GROUPS);
    row->kernel[b->bin != NULL]<<<(unsigned)grid, THREADS, 0, stream>>>(*b);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    const size_t threads = b->n * b->n_sums * ALL;
    finish_kernel<<<(unsigned)((threads + FINISH - 1) / FINISH), FINISH, 0, stream>>>(*b, row->width);
    return cudaGetLastError();
}
