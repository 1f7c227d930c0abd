/* batchnorm.cuh: shared by the kernels of batch normalisation: the division of rows, the registers of a thread's
 * channels.
 *
 * Bound by memory: a thread keeps its channels, iterates over the rows and has four of them in flight. Backward needs x
 * and dy, and y (for the derivative of the activation) only if it does not follow from x: after ReLU without a residual
 * it does. */
#ifndef DIS_NN_CUDA_NORM_BATCHNORM_CUH
#define DIS_NN_CUDA_NORM_BATCHNORM_CUH
#include "nn/cuda/common/vectors.cuh"

enum { MAX_PARTS = 132, MIN_ROWS = 32, TILE = 64, BATCH = 4 };

/* Source of the activation's derivative: whether a ReLU's y is above 0 follows from x, or is read from y, or from a
 * stored bit per element (args->work). A template constant, because a branch per element would be too slow. */
enum slope_source { NO_SLOPE, RELU_OF_X, RELU_OF_Y, SLOPE_OF_Y, RELU_OF_BITS };

static inline slope_source slope_of_args(const dis__batchnorm_args *a)
{
    if (a->act == DIS_ACT_NONE) return NO_SLOPE;
    if (a->act != DIS_ACT_RELU) return SLOPE_OF_Y;
    return !a->r ? RELU_OF_X : a->work ? RELU_OF_BITS : RELU_OF_Y;
}

#define BY_SLOPE(call)                     \
    switch (slope_of_args(a)) {            \
    case NO_SLOPE: call(NO_SLOPE);         \
    case RELU_OF_X: call(RELU_OF_X);       \
    case RELU_OF_Y: call(RELU_OF_Y);       \
    case RELU_OF_BITS: call(RELU_OF_BITS); \
    default: call(SLOPE_OF_Y);             \
    }

/* Division of a matrix of rows: `across` threads with V adjacent channels each, TILE together, and as many rows at a
 * time as there are threads left. */
typedef struct {
    unsigned across, tiles, parts, turns; /* turns: see part_of() */
    size_t rows_per_part;
} cut;

static inline cut cut_rows(size_t n_rows, size_t width, size_t v, size_t max_parts)
{
    cut c;
    c.across = 1;
    while (c.across * v < TILE && c.across * v < width) c.across *= 2;
    c.tiles = grid_of(width, c.across * v);
    const size_t enough = (n_rows + MIN_ROWS - 1) / MIN_ROWS, some = max_parts / c.tiles ? max_parts / c.tiles : 1;
    c.parts = (unsigned)(enough < some ? enough : some);
    c.rows_per_part = (n_rows + c.parts - 1) / c.parts;
    c.turns = 1;
    return c;
}

/* A block's part: the last of each group of `turns` first. */
__device__ __forceinline__ unsigned part_of(const cut &c)
{
    const unsigned apart = c.parts / c.turns;
    return blockIdx.x % apart * c.turns + (c.turns - 1 - blockIdx.x / apart);
}

/* Whether rows can be read 16 bytes at a time. */
template <class T> static inline bool vectors(const dis__batchnorm_args *a)
{
    const void *const p[] = {a->x, a->r, a->y, a->dy, a->dx, a->dr, a->gain, a->bias, a->stats, a->sums};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (!aligned16(p[i])) return false;
    return a->width % (16 / sizeof(T)) == 0;
}

/* V elements of a row as stored. */
template <class T, int V> struct raw {
    typename word_of<V * sizeof(T)>::type w;
    __device__ __forceinline__ void read(const void *base, size_t at)
    {
        w = *reinterpret_cast<const decltype(w) *>((const T *)base + at);
    }
    __device__ __forceinline__ void get(float (&x)[V]) const
    {
        union {
            decltype(w) word;
            T t[V];
        } u;
        u.word = w;
#pragma unroll
        for (int i = 0; i < V; i++) x[i] = as_float(u.t[i]);
    }
};

/* The input of the derivative of V elements, and as numbers. */
template <class T, int V, slope_source S>
__device__ __forceinline__ void read_slope(const dis__batchnorm_args &a, size_t at, raw<T, V> &y)
{
    if constexpr (S == RELU_OF_BITS)
        y.w.x = ((const uint8_t *)a.work)[at / 8];
    else if (S >= RELU_OF_Y)
        y.read(a.y, at);
}

template <class T, int V, slope_source S> __device__ __forceinline__ void get_slope(const raw<T, V> &y, float (&v)[V])
{
    if constexpr (S == RELU_OF_BITS) {
#pragma unroll
        for (int i = 0; i < V; i++) v[i] = (float)(y.w.x >> i & 1);
    } else if (S >= RELU_OF_Y) {
        y.get(v);
    }
}

/* A thread's channels: the value before residual and activation is x scale + shift. */
template <int V> struct channels {
    float scale[V], shift[V];
    __device__ __forceinline__ void read(const dis__batchnorm_args &a, size_t col)
    {
        float mean[V], inverse[V];
        load_floats<V>((const float *)a.stats + col, mean);
        load_floats<V>((const float *)a.stats + a.width + col, inverse);
        set(a, col, mean, inverse);
    }
    __device__ __forceinline__ void set(const dis__batchnorm_args &a, size_t col, const float (&mean)[V],
                                        const float (&inverse)[V])
    {
        load_floats<V>((const float *)a.gain + col, scale);
        load_floats<V>((const float *)a.bias + col, shift);
#pragma unroll
        for (int i = 0; i < V; i++) {
            scale[i] *= inverse[i];
            shift[i] -= mean[i] * scale[i];
        }
    }
    /* dy act' */
    template <slope_source S>
    __device__ __forceinline__ float slope(int i, dis__activation act, float dy, float x, float y) const
    {
        if (S == NO_SLOPE) return dy;
        if (S == SLOPE_OF_Y) return dy * slope_of(act, y);
        return (S == RELU_OF_X ? x * scale[i] + shift[i] : y) > 0 ? dy : 0;
    }
};

/* The rows of a thread. */
typedef struct {
    size_t first, last, down, col;
} span;

__device__ __forceinline__ span span_of(const cut &c, size_t n_rows, int v)
{
    span s;
    s.down = blockDim.x / c.across;
    s.first = part_of(c) * c.rows_per_part;
    s.last = min(s.first + c.rows_per_part, n_rows);
    s.first += threadIdx.x / c.across;
    s.col = (blockIdx.y * (size_t)c.across + threadIdx.x % c.across) * (size_t)v;
    return s;
}

/* Only vectors of bfloat16 have an instance for each source of the derivative; the others one for all. */
template <class T, int V> constexpr bool one_for_all = sizeof(T) > 2 || V == 1;

#endif
