/* Kernels of optimisers: SGD with momentum, Adam, AdamW as in nn/loops/update_loops.h; norms of gradients; starts.
 *
 * A step updates many runs of parameters that differ in decay and rate, consecutive in the arenas. They are collected
 * and run in one launch, with the table of runs as an argument. Each value is read and written once: parameter,
 * gradient (reset to 0 if the next one is added to it) and state, and the copy in bfloat16 for GEMMs; 34 bytes for
 * Adam, 30 without the gradient's zeros. Gradients computed by a library in bfloat16 are read directly. Rows of
 * embeddings that have not been used yet (gradient and state 0, no decay) would not change, and are not written: 18
 * bytes. */
#include "nn/cuda/common/cuda_host.h"
#include "nn/cuda/common/vectors.cuh"

enum { RUNS = 250, CHUNK = 4096, MAX_GRADIENTS = 128, LONGEST = 1 << 30 }; /* LONGEST: maximum elements of a run */

typedef struct {
    unsigned first;                          /* in units of four, from the first parameter of the launch */
    unsigned n : 30, stored : 1, beside : 1; /* alongside: the gradient is in bfloat16 */
    float factor, decay;
} run;

/* An update of neighbouring runs. */
typedef struct {
    dis__update_args args; /* of the first run: pointers, kind and constants */
    bf16 *copy;            /* of the parameters; NULL: none */
    const bf16 *beside;    /* gradients; NULL: none */
    unsigned n_runs, n_fours;
    run runs[RUNS];
} updates;

/* Gradients stored in bfloat16, separately from the others. */
typedef struct {
    const char *at; /* their address among the others */
    size_t n;
} full_gradient;

struct dis__cuda_updates {
    updates waiting;
    bool any;
    full_gradient full[MAX_GRADIENTS];
    size_t n_full;
};

dis_status dis__cuda_update_open(dis__cuda_session *s)
{
    return s->host->alloc_zeroed(&s->update, 1, sizeof *s->update);
}

void dis__cuda_update_close(dis__cuda_session *s)
{
    if (s->update) s->host->free(s->update);
}

void *dis__cuda_bf16_gradient(dis__cuda_session *s, const void *d_weight, size_t n)
{
    const dis__cuda_region *grads = &s->region[DIS_MEMORY_GRADS];
    const char *at = (const char *)d_weight;
    dis__cuda_updates *u = s->update;
    if (!s->gradients || u->n_full == MAX_GRADIENTS || n % 4 || at < grads->at || at >= grads->at + grads->bytes ||
        (at - grads->at) % 32)
        return NULL;
    u->full[u->n_full++] = {at, n};
    return (char *)s->gradients + (at - grads->at) / 2;
}

void dis__cuda_drop_bf16_gradients(dis__cuda_session *s)
{
    s->update->n_full = 0;
}

struct constants {
    float rate, scale, shrink, decay, root;
};

__device__ __forceinline__ float sgd(const dis__update_args &a, const constants &k, float p, float g, float &m)
{
    float d = g * k.scale + k.decay * p;
    if (a.momentum != 0) {
        m = (float)a.momentum * m + d;
        d = a.nesterov ? d + (float)a.momentum * m : m;
    }
    return p - k.rate * d;
}

__device__ __forceinline__ float adam(const dis__update_args &a, const constants &k, float p, float g, float &m,
                                      float &v)
{
    const float x = p * k.shrink, d = g * k.scale + k.decay * x;
    m = (float)a.beta1 * m + (float)(1 - a.beta1) * d;
    v = (float)a.beta2 * v + (float)(1 - a.beta2) * d * d;
    return x - k.rate * m / (sqrtf(v) * k.root + (float)a.epsilon);
}

__device__ __forceinline__ float4 four_of(const bf16 *from, unsigned i)
{
    float x[4];
    load<4>(from + 4 * (size_t)i, x);
    return make_float4(x[0], x[1], x[2], x[3]);
}

/* Four values of each array. */
template <bool ADAM, bool STATE> struct fours {
    float4 p, g, m, v;

    __device__ __forceinline__ void load(const updates &u, bool beside, unsigned i)
    {
        const dis__update_args &a = u.args;
        p = ((const float4 *)a.param)[i];
        g = beside ? four_of(u.beside, i) : ((const float4 *)a.grad)[i];
        m = v = make_float4(0, 0, 0, 0);
        if (STATE) m = ((const float4 *)a.m)[i];
        if (ADAM) v = ((const float4 *)a.v)[i];
    }
    __device__ __forceinline__ void move(const dis__update_args &a, const constants &k)
    {
        p.x = ADAM ? adam(a, k, p.x, g.x, m.x, v.x) : sgd(a, k, p.x, g.x, m.x);
        p.y = ADAM ? adam(a, k, p.y, g.y, m.y, v.y) : sgd(a, k, p.y, g.y, m.y);
        p.z = ADAM ? adam(a, k, p.z, g.z, m.z, v.z) : sgd(a, k, p.z, g.z, m.z);
        p.w = ADAM ? adam(a, k, p.w, g.w, m.w, v.w) : sgd(a, k, p.w, g.w, m.w);
    }
    /* Whether an update changes nothing, if there is no decay. */
    __device__ __forceinline__ bool rests() const
    {
        const float4 any = make_float4(fabsf(g.x) + fabsf(m.x) + v.x, fabsf(g.y) + fabsf(m.y) + v.y,
                                       fabsf(g.z) + fabsf(m.z) + v.z, fabsf(g.w) + fabsf(m.w) + v.w);
        return any.x == 0 && any.y == 0 && any.z == 0 && any.w == 0;
    }
    __device__ __forceinline__ void store(const updates &u, const run &r, unsigned i) const
    {
        ((float4 *)u.args.param)[i] = p;
        if (!r.stored && !r.beside) ((float4 *)u.args.grad)[i] = make_float4(0, 0, 0, 0);
        if (STATE) ((float4 *)u.args.m)[i] = m;
        if (ADAM) ((float4 *)u.args.v)[i] = v;
        if (!u.copy) return;
        const __nv_bfloat162 two[2] = {__floats2bfloat162_rn(p.x, p.y), __floats2bfloat162_rn(p.z, p.w)};
        ((uint2 *)u.copy)[i] = *reinterpret_cast<const uint2 *>(two);
    }
};

template <bool ADAM>
__device__ __forceinline__ constants constants_of(const updates &u, const dis__step_scalars &step, unsigned r)
{
    const bool decoupled = u.args.kind == DIS_OPTIMIZER_ADAMW;
    const double now = step.rate * u.runs[r].factor;
    constants k;
    k.scale = (float)step.scale;
    k.rate = ADAM ? (float)(now / step.correct1) : (float)now;
    k.root = ADAM ? (float)(1 / sqrt(step.correct2)) : 0;
    k.shrink = decoupled ? (float)(1 - now * u.runs[r].decay) : 1;
    k.decay = decoupled ? 0 : u.runs[r].decay;
    return k;
}

/* The last run that begins at or before group `i` of four. */
__device__ __forceinline__ unsigned run_at(const updates &u, unsigned i)
{
    unsigned low = 0, high = u.n_runs - 1;
    while (low < high) {
        const unsigned middle = (low + high + 1) / 2;
        if (u.runs[middle].first <= i)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* A block has a chunk. The next values are loaded during other work. */
template <bool ADAM, bool STATE> __global__ void __launch_bounds__(256) update_kernel(const __grid_constant__ updates u)
{
    const unsigned begin = blockIdx.x * (CHUNK / 4), first = begin + threadIdx.x;
    fours<ADAM, STATE> now, next;
    unsigned r = run_at(u, begin), known = r;
    if (first < u.n_fours) now.load(u, u.runs[r].beside, first);
    const dis__step_scalars step = *u.args.step;
    constants k = constants_of<ADAM>(u, step, r);
    if (begin >= u.runs[r].first && begin + CHUNK / 4 <= u.runs[r].first + u.runs[r].n) { /* within one run */
        const run one = u.runs[r];
        const bool decays = one.decay != 0;
#pragma unroll
        for (unsigned t = 0; t < CHUNK / 4; t += 256) {
            if (t + 256 < CHUNK / 4) next.load(u, one.beside, first + t + 256);
            if (decays || !now.rests()) {
                now.move(u.args, k);
                now.store(u, one, first + t);
            }
            now = next;
        }
        return;
    }
    for (unsigned i = first; i < begin + CHUNK / 4 && i < u.n_fours; i += 256) {
        while (r + 1 < u.n_runs && u.runs[r + 1].first <= i) r++;
        if (i >= u.runs[r].first + u.runs[r].n) continue; /* between runs */
        if (r != known) k = constants_of<ADAM>(u, step, r);
        known = r;
        now.load(u, u.runs[r].beside, i);
        now.move(u.args, k);
        now.store(u, u.runs[r], i);
    }
}

cudaError_t dis__cuda_update_flush(dis__cuda_session *s)
{
    if (!s->update || !s->update->any) return cudaSuccess;
    const updates *u = &s->update->waiting;
    s->update->any = false;
    const unsigned blocks = grid_of(u->n_fours, CHUNK / 4);
    if (u->args.kind != DIS_OPTIMIZER_SGD)
        update_kernel<true, true><<<blocks, 256, 0, s->stream>>>(*u);
    else if (u->args.momentum != 0)
        update_kernel<false, true><<<blocks, 256, 0, s->stream>>>(*u);
    else
        update_kernel<false, false><<<blocks, 256, 0, s->stream>>>(*u);
    return cudaGetLastError();
}

/* Whether a run can join the pending ones: the same kind and constants, further on in the same arenas. */
static bool joins(const updates *u, const dis__update_args *a)
{
    const dis__update_args *b = &u->args;
    const ptrdiff_t on = (char *)a->param - (char *)b->param;
    return u->n_runs < RUNS && a->kind == b->kind && a->step == b->step && a->momentum == b->momentum &&
           a->beta1 == b->beta1 && a->beta2 == b->beta2 && a->epsilon == b->epsilon && a->nesterov == b->nesterov &&
           on >= (ptrdiff_t)u->n_fours * 16 && on < (ptrdiff_t)1 << 34 && (char *)a->grad - (char *)b->grad == on &&
           (!a->m || (char *)a->m - (char *)b->m == on) && (!a->v || (char *)a->v - (char *)b->v == on);
}

static cudaError_t update_run(dis__cuda_session *s, const dis__update_args *a, bool beside)
{
    updates *u = &s->update->waiting;
    if (s->update->any && !joins(u, a)) {
        const cudaError_t error = dis__cuda_update_flush(s);
        if (error != cudaSuccess) return error;
    }
    if (!s->update->any) {
        const ptrdiff_t at = (char *)a->grad - s->region[DIS_MEMORY_GRADS].at;
        u->args = *a;
        u->copy = s->copy ? (bf16 *)dis__cuda_weight(s, a->param) : NULL;
        u->beside = s->gradients ? (const bf16 *)((char *)s->gradients + at / 2) : NULL;
        u->n_runs = u->n_fours = 0;
        s->update->any = true;
    }
    const unsigned first = (unsigned)(((char *)a->param - (char *)u->args.param) / 16), n = (unsigned)((a->n + 3) / 4);
    u->runs[u->n_runs++] = {first, n & 0x3fffffffu, a->stored, beside, (float)a->factor, (float)a->decay};
    u->n_fours = first + n;
    return cudaSuccess;
}

/* Removes and returns the first of the bfloat16 gradients that begins within n elements from `grad` on; n 0: there is
 * none. */
static full_gradient remove_full(dis__cuda_updates *u, const char *grad, size_t n)
{
    size_t best = u->n_full;
    for (size_t i = 0; i < u->n_full; i++) {
        const char *const at = u->full[i].at;
        if (at >= grad && at < grad + n * sizeof(float) && (best == u->n_full || at < u->full[best].at)) best = i;
    }
    if (best == u->n_full) return {grad + n * sizeof(float), 0};
    const full_gradient found = u->full[best];
    u->full[best] = u->full[--u->n_full];
    return found;
}

/* The same arguments, advanced by `skip` elements. */
static dis__update_args further(const dis__update_args *a, size_t skip, size_t n)
{
    dis__update_args b = *a;
    b.n = n;
    b.param = (float *)a->param + skip;
    b.grad = (float *)a->grad + skip;
    b.m = a->m ? (float *)a->m + skip : NULL;
    b.v = a->v ? (float *)a->v + skip : NULL;
    return b;
}

/* Arenas are padded to multiples of sixteen, so a run's end may include padding, which is 0 and remains 0. */
cudaError_t dis__cuda_update(dis__cuda_session *s, const void *args)
{
    const dis__update_args *a = (const dis__update_args *)args;
    cudaError_t error = cudaSuccess;
    for (size_t at = 0; error == cudaSuccess && at < a->n;) {
        const char *const grad = (const char *)((const float *)a->grad + at);
        const full_gradient w = remove_full(s->update, grad, min(a->n - at, (size_t)LONGEST));
        const size_t before = (size_t)(w.at - grad) / sizeof(float);
        const dis__update_args plain = further(a, at, before), beside = further(a, at + before, w.n);
        if (before) error = update_run(s, &plain, false);
        if (error == cudaSuccess && w.n) error = update_run(s, &beside, true);
        at += before + w.n;
    }
    return error;
}

/* ---- norms ---- */

__global__ void __launch_bounds__(256) square_sums_kernel(const float *x, size_t n, double *sums)
{
    __shared__ double room[32];
    const size_t from = (size_t)blockIdx.x * DIS_SQUARES_BLOCK;
    double total = 0;
    if (from + DIS_SQUARES_BLOCK <= n) { /* 16 values per thread */
        const float4 *four = (const float4 *)(x + from);
        float some = 0;
#pragma unroll
        for (int i = 0; i < DIS_SQUARES_BLOCK / 4 / 256; i++) {
            const float4 v = four[i * 256 + threadIdx.x];
            some += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
        }
        total = some;
    } else {
        for (size_t i = from + threadIdx.x; i < n; i += blockDim.x) total += (double)x[i] * (double)x[i];
    }
    total = block_sum(total, room);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

cudaError_t dis__cuda_square_sums(dis__cuda_session *s, const void *args)
{
    const dis__square_sums_args *a = (const dis__square_sums_args *)args;
    if (a->n == 0) return cudaSuccess;
    square_sums_kernel<<<grid_of(a->n, DIS_SQUARES_BLOCK), 256, 0, s->stream>>>((const float *)a->x, a->n, a->sums);
    return cudaGetLastError();
}

__global__ void __launch_bounds__(1024) clip_kernel(dis__clip_args a)
{
    __shared__ double room[32];
    double total = 0;
#pragma unroll 32
    for (size_t b = threadIdx.x; b < a.n; b += blockDim.x) total += a.sums[b];
    total = block_sum(total, room);
    const double norm = sqrt(total);
    if (threadIdx.x == 0) *a.scale = norm > a.max ? a.max / (norm + 1e-6) : 1;
}

cudaError_t dis__cuda_clip(dis__cuda_session *s, const void *args)
{
    clip_kernel<<<1, 1024, 0, s->stream>>>(*(const dis__clip_args *)args);
    return cudaGetLastError();
}

/* ---- starts and copies ---- */

__global__ void __launch_bounds__(256) start_kernel(dis__start_args a)
{
    float *y = (float *)a.y;
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += step) {
        float x = a.kind == DIS_START_ONE;
        if (a.kind == DIS_START_IDENTITY) x = i / a.side % a.side == i % a.side;
        if (a.kind == DIS_START_UNIFORM || a.kind == DIS_START_NORMAL) {
            const uint4 w = philox((uint32_t)i, (uint32_t)(i >> 32), (uint32_t)a.stream, (uint32_t)(a.stream >> 32),
                                   philox_keys_of(a.seed));
            if (a.kind == DIS_START_UNIFORM) {
                const double u = (double)(long long)(((uint64_t)w.y << 32 | w.x) >> 11) * 0x1p-53;
                x = (float)((2 * u - 1) * a.spread);
            } else {
                const double u = ((double)w.x + 1) * 0x1p-32, v = (double)w.y * 0x1p-32;
                x = (float)(sqrt(-2 * log(u)) * cos(6.283185307179586477 * v) * a.spread);
            }
        }
        y[i] = x;
    }
}

cudaError_t dis__cuda_start(dis__cuda_session *s, const void *args)
{
    const dis__start_args *a = (const dis__start_args *)args;
    const unsigned blocks = grid_some(s, a->n, 256);
    if (a->n == 0) return cudaSuccess;
    start_kernel<<<blocks, 256, 0, s->stream>>>(*a);
    return cudaGetLastError();
}

__global__ void __launch_bounds__(256) to_bfloat16_kernel(bf16 *to, const float *from, size_t n)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        to[i] = __float2bfloat16_rn(from[i]);
}

cudaError_t dis__cuda_to_bfloat16(dis__cuda_session *s, void *to, const float *from, size_t n)
{
    const unsigned blocks = grid_some(s, n, 256);
    if (n == 0) return cudaSuccess;
    to_bfloat16_kernel<<<blocks, 256, 0, s->stream>>>((bf16 *)to, from, n);
    return cudaGetLastError();
}
