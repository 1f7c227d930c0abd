/* em_products.cuh: the posterior of an item by a group of lanes, as the prior times the probabilities of its votes:
 * reading votes, plain products, products with separate exponents, normalisation. */
#ifndef DIS_LABELS_CUDA_EM_PRODUCTS_CUH
#define DIS_LABELS_CUDA_EM_PRODUCTS_CUH
#include "labels/cuda/em_kind.cuh"
#include <limits.h>

template <class K> __device__ __forceinline__ double group_sum(double x)
{
#pragma unroll
    for (int o = 1; o < K::LANES; o *= 2) x += __shfl_xor_sync(EVERY, x, o);
    return x;
}

template <class K, class T> __device__ __forceinline__ T group_max(T x)
{
#pragma unroll
    for (int o = 1; o < K::LANES; o *= 2) {
        const T y = __shfl_xor_sync(EVERY, x, o);
        x = y > x ? y : x;
    }
    return x;
}

/* Iterates over the votes of an item, VOTES at a time; all groups of a warp iterate equally often, since shuffles need
 * all lanes. */
template <class K> struct reader {
    const uint32_t *votes;
    uint64_t at, last;
    int lane;
    uint32_t own[K::VOTES / K::LANES];
    int n; /* loaded and not used yet */

    __device__ __forceinline__ reader(const dis__cuda_em_pass &g, uint64_t first, uint64_t last_, int lane_)
        : votes(g.votes), at(first), last(last_), lane(lane_), n(0)
    {
    }
    __device__ __forceinline__ bool next()
    {
        if (!__any_sync(EVERY, at < last)) return false;
        const uint64_t left = at < last ? last - at : 0;
        n = left < K::VOTES ? (int)left : K::VOTES;
#pragma unroll
        for (int j = 0; j < K::VOTES / K::LANES; j++)
            own[j] = lane + j * K::LANES < n ? __ldg(votes + at + lane + j * K::LANES) : 0;
        at += n;
        return true;
    }
    __device__ __forceinline__ uint32_t vote(int u) const
    {
        uint32_t mine = own[0];
#pragma unroll
        for (int j = 1; j < K::VOTES / K::LANES; j++)
            if (u / K::LANES == j) mine = own[j];
        return __shfl_sync(EVERY, mine, u % K::LANES, K::LANES);
    }
};

/* Offset of the row of a vote. */
template <class K> __device__ __forceinline__ uint64_t row_of(const dis__cuda_em_pass &g, uint32_t vote)
{
    const uint32_t worker = vote >> g.shape.label_bits, n = (uint32_t)g.shape.n_classes;
    if (K::PAIRS) return g.shape.by_label ? worker * n + label_of(g, vote) : worker;
    return (uint64_t)(worker * n + label_of(g, vote)) * (uint32_t)g.shape.row;
}

/* Values below 2^-1022 count as 0, as on the CPU. */
__device__ __forceinline__ double flushed(double x)
{
    return x < 0x1p-1022 ? 0 : x;
}

__device__ __forceinline__ bool is_out(const dis__cuda_em_pass &g, int k, int gold)
{
    return k >= (int)g.shape.n_states || (gold >= 0 && k / (int)g.shape.n_groups != gold);
}

template <class K> __device__ __forceinline__ void copy(double (&to)[K::PER], const double (&from)[K::PER])
{
#pragma unroll
    for (int j = 0; j < K::PER; j++) to[j] = from[j];
}

/* ---- products ---- */

template <class K>
__device__ __forceinline__ void score(const dis__cuda_em_pass &g, uint64_t first, uint64_t last, int lane,
                                      double (&x)[K::PER])
{
    const int n_states = (int)g.shape.n_states;
#pragma unroll
    for (int j = 0; j < K::PER; j++) {
        const int k = lane + j * K::LANES;
        x[j] = k < n_states ? __ldg(g.prior + k) : 0;
    }
    reader<K> r(g, first, last, lane);
    while (r.next()) {
#pragma unroll(K::VOTES <= 8 ? 8 : 2)
        for (int u = 0; u < K::VOTES; u += K::FEW) {
            double f[K::FEW][K::PER];
#pragma unroll
            for (int i = 0; i < K::FEW; i++) {
                const uint32_t vote = r.vote(u + i);
                const double *row = g.rates + row_of<K>(g, vote);
#pragma unroll
                for (int j = 0; j < K::PER; j++) {
                    const int k = lane + j * K::LANES;
                    const bool use = u + i < r.n && (K::PAIRS ? k == (int)label_of(g, vote) : k < n_states);
                    f[i][j] = use ? __ldg(row + (K::PAIRS ? 0 : k)) : 1;
                }
            }
#pragma unroll
            for (int j = 0; j < K::PER; j++) {
                double y = f[0][j];
#pragma unroll
                for (int i = 1; i < K::FEW; i++) y *= f[i][j];
                x[j] = flushed(x[j] * y);
            }
        }
    }
}

/* The parts of a long item: first .. last. */
struct range {
    uint32_t first, last;
};

__device__ __noinline__ range parts_of(const dis__cuda_em_pass &g, size_t item)
{
    const size_t which = last_at_most(g.long_item, g.shape.n_long, item);
    return {g.long_part[which], g.long_part[which + 1]};
}

/* The same as score() for products of any size, scaled by a common power of 2 for all states of an item, which is
 * returned. The votes of long items have been multiplied beforehand, part by part. */
template <class K>
__device__ __noinline__ long long careful(const dis__cuda_em_pass &g, uint64_t first, uint64_t last, range parts,
                                          int lane, int gold, double (&x)[K::PER])
{
    const int n_states = (int)g.shape.n_states;
    long long e[K::PER], top = LLONG_MIN;
#pragma unroll
    for (int j = 0; j < K::PER; j++) {
        const int k = lane + j * K::LANES;
        e[j] = 0;
        x[j] = split(k < n_states ? g.prior[k] : 0, &e[j]);
    }
    reader<K> r(g, first, last, lane);
    while (r.next())
        for (int u = 0; u < K::VOTES; u++) {
            const uint32_t vote = r.vote(u);
            const double *row = g.rates + row_of<K>(g, vote);
#pragma unroll
            for (int j = 0; j < K::PER; j++) {
                const int k = lane + j * K::LANES;
                if (u < r.n && (K::PAIRS ? k == (int)label_of(g, vote) : k < n_states))
                    x[j] = split(x[j] * split(row[K::PAIRS ? 0 : k], &e[j]), &e[j]);
            }
        }
#pragma unroll(K::PER > 1 ? 1 : 8)
    for (uint32_t p = parts.first; p < parts.last; p++)
#pragma unroll
        for (int j = 0; j < K::PER; j++) {
            const int k = lane + j * K::LANES;
            if (k >= n_states) continue;
            const size_t at = p * (size_t)n_states + k;
            e[j] += __ldg(g.part_e + at);
            x[j] = split(x[j] * __ldg(g.part_x + at), &e[j]);
        }
#pragma unroll
    for (int j = 0; j < K::PER; j++)
        if (!is_out(g, lane + j * K::LANES, gold) && e[j] > top) top = e[j];
    top = group_max<K>(top);
#pragma unroll
    for (int j = 0; j < K::PER; j++) {
        const long long off = e[j] - top;
        const bool none = is_out(g, lane + j * K::LANES, gold) || off < -1000;
        x[j] = none ? 0 : x[j] * __longlong_as_double((1023 + off) << 52);
    }
    return top;
}

template <class K> __device__ __forceinline__ double total_of(bool hard, const double (&x)[K::PER])
{
    double total = x[0];
#pragma unroll
    for (int j = 1; j < K::PER; j++) total = hard ? fmax(total, x[j]) : total + x[j];
    return hard ? group_max<K>(total) : group_sum<K>(total);
}

/* Assigns the item to its best state, the first one on a tie. */
template <class K> __device__ __forceinline__ void harden(int lane, double total, double (&x)[K::PER])
{
    int best = INT_MIN; /* minus the first state with the maximum */
#pragma unroll
    for (int j = K::PER - 1; j >= 0; j--)
        if (x[j] == total) best = -(lane + j * K::LANES);
    best = group_max<K>(best);
#pragma unroll
    for (int j = 0; j < K::PER; j++) x[j] = -best == lane + j * K::LANES;
}

/* Sum of the logarithms of normalisers: exponents are added, mantissas multiplied. */
struct logs {
    double product;
    long long exponent;
    __device__ __forceinline__ void add(double x, long long more)
    {
        exponent += more;
        product = split(product * split(x, &exponent), &exponent);
    }
};

#endif
