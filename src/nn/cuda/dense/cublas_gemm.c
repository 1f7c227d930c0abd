/* Matrix multiplication by cuBLASLt. Row-major C = op(A) op(B) is column-major C' = op(B)' op(A)', so B is passed
 * first. Bfloat16 products are summed in float32; float32 uses float32 throughout (no TF32).
 *
 * The algorithm of a shape is chosen once per session, from the library's own list for the device, never by timing: the
 * same shape gives the same bytes in every run. Split-k is allowed if the parts are added in order in work memory, not
 * by atomic sums. Shapes unsupported by the library use a plain kernel; built with DIS_CUDA_PLAIN all do, since
 * initcheck does not see the library's writes (cmake/cuda.cmake). */
#include "nn/cuda/common/cuda_host.h"
#include "nn/cuda/dense/cublas_library.h"
#include <stdio.h>
#include <string.h>

#ifdef DIS_CUDA_PLAIN
enum { PLAIN = true };
#else
enum { PLAIN = false };
#endif
enum { SLOTS = 1024 }; /* a power of 2; open addressing */

/* Everything that a choice depends on; pointers only by their alignment. */
typedef struct {
    uint64_t m, n, k, lda, ldb, ldc, batch, step_a, step_b, step_c;
    uint32_t ta, tb, type_ab, type_c, ends, beta, align_a, align_b, align_c, align_bias;
} shape;

enum { BIAS = 1, GELU = 2 }; /* shape.ends */
static const cublasLtEpilogue_t epilogues[] = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS,
                                               CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS};

typedef struct {
    bool used, plain; /* plain: the library supports no algorithm */
    shape shape;
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t algorithm;
} plan;

struct dis__cuda_plans {
    const dis__cublas *lt;
    cublasLtHandle_t handle;
    plan slot[SLOTS];
    size_t n;
    int turn;                /* index of the work memory of the next GEMM */
    cudaGraphNode_t user[2]; /* the last one of each, in the capture `id`; NULL: none */
    unsigned long long id;
    bool known[2]; /* whether `user` is all there is */
    bool lent;     /* other operations use the work memory too */
};

static void drop_plan(const dis__cublas *lt, plan *p)
{
    if (p->product) lt->cublasLtMatmulDescDestroy(p->product);
    if (p->a) lt->cublasLtMatrixLayoutDestroy(p->a);
    if (p->b) lt->cublasLtMatrixLayoutDestroy(p->b);
    if (p->c) lt->cublasLtMatrixLayoutDestroy(p->c);
    *p = (plan){0};
}

/* One per GPU for all sessions, until the process ends, because closing one waits for the whole device. Guarded by
 * dis__cuda_lock(), which is held while a session is opened. */
static cublasLtHandle_t handles[DIS_CUDA_GPUS];

dis_status dis__cuda_plans_open(dis__cuda_session *s)
{
    char why[DIS_DEVICE_WHY];
    DIS_TRY(s->host->alloc_zeroed(&s->plans, 1, sizeof *s->plans));
    const dis__cublas *lt = s->plans->lt = dis__cublas_open(why);
    if (!lt) return s->host->fail(DIS_EIO, "%s", why);
    cublasLtHandle_t *const handle = &handles[s->ordinal];
    if (!*handle && lt->cublasLtCreate(handle) != CUBLAS_STATUS_SUCCESS)
        return s->host->fail(DIS_EIO, "cuBLASLt does not start on device cuda:%d", s->ordinal);
    s->plans->handle = *handle;
    return DIS_OK;
}

void dis__cuda_plans_close(dis__cuda_session *s)
{
    if (!s->plans) return;
    for (size_t i = 0; i < SLOTS; i++) drop_plan(s->plans->lt, &s->plans->slot[i]);
    s->host->free(s->plans);
}

static cudaError_t failed(dis__cuda_session *s, cublasStatus_t status)
{
    snprintf(s->why, sizeof s->why, "cuBLASLt: %s", s->plans->lt->cublasLtGetStatusName(status));
    return cudaErrorUnknown;
}

#define LT_TRY(call)                                                         \
    do {                                                                     \
        const cublasStatus_t lt_status = (call);                             \
        if (lt_status != CUBLAS_STATUS_SUCCESS) return failed(s, lt_status); \
    } while (0)

static uint32_t alignment(const void *p)
{
    for (uint32_t a = 256; a > 1; a /= 2)
        if ((uintptr_t)p % a == 0) return a;
    return 1;
}

static shape shape_of(const dis__cuda_product_args *p)
{
    shape t;
    memset(&t, 0, sizeof t); /* padding too: shapes are compared by their bytes */
    t.m = p->m, t.n = p->n, t.k = p->k, t.lda = p->lda, t.ldb = p->ldb, t.ldc = p->ldc;
    t.batch = p->batch ? p->batch : 1;
    if (t.batch > 1) t.step_a = p->step_a, t.step_b = p->step_b, t.step_c = p->step_c;
    t.ta = p->ta, t.tb = p->tb, t.type_ab = p->type_ab, t.type_c = p->type_c;
    t.ends = (p->bias ? BIAS : 0) | (p->gelu ? GELU : 0), t.beta = p->beta != 0;
    t.align_a = alignment(p->a), t.align_b = alignment(p->b), t.align_c = alignment(p->c);
    t.align_bias = p->bias ? alignment(p->bias) : 0;
    return t;
}

static cudaDataType type_of(uint32_t number)
{
    return number == DIS_BFLOAT16 ? CUDA_R_16BF : CUDA_R_32F;
}

static cublasStatus_t new_layout(const dis__cublas *lt, cublasLtMatrixLayout_t *l, cudaDataType type, uint64_t rows,
                                 uint64_t cols, uint64_t ld, uint64_t batch, uint64_t step)
{
    const int32_t n = (int32_t)batch;
    const int64_t apart = (int64_t)step;
    cublasStatus_t status = lt->cublasLtMatrixLayoutCreate(l, type, rows, cols, (int64_t)ld);
    if (status != CUBLAS_STATUS_SUCCESS || batch <= 1) return status;
    status = lt->cublasLtMatrixLayoutSetAttribute(*l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &n, sizeof n);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    return lt->cublasLtMatrixLayoutSetAttribute(*l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &apart, sizeof apart);
}

enum { CANDIDATES = 6 };

static uint32_t tile_of(const dis__cublas *lt, const cublasLtMatmulHeuristicResult_t *r)
{
    uint32_t tile = CUBLASLT_MATMUL_TILE_UNDEFINED;
    size_t written;
    lt->cublasLtMatmulAlgoConfigGetAttribute(&r->algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &tile, sizeof tile, &written);
    return tile;
}

/* The choice among the library's algorithms: the first one, except tiles of 192 x 192, which it prefers for large GEMMs
 * and which are 2 to 8 % slower than the next choice on an H200. */
static int preferred(const dis__cublas *lt, const cublasLtMatmulHeuristicResult_t *found, int n)
{
    for (int i = 0; i < n; i++)
        if (found[i].state == CUBLAS_STATUS_SUCCESS && tile_of(lt, &found[i]) != CUBLASLT_MATMUL_TILE_192x192) return i;
    return 0;
}

/* The library's choice within the available work memory. */
static cublasStatus_t choose(dis__cuda_session *s, plan *p)
{
    const size_t work = DIS_CUDA_PRODUCT;
    const uint32_t sums = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
                   align[3] = {p->shape.align_b, p->shape.align_a, p->shape.align_c};
    const dis__cublas *const lt = s->plans->lt;
    cublasLtMatmulPreference_t wish = NULL;
    cublasLtMatmulHeuristicResult_t found[CANDIDATES];
    int n = 0;
    cublasStatus_t status = lt->cublasLtMatmulPreferenceCreate(&wish);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
#define WISH(what, x)                    \
    if (status == CUBLAS_STATUS_SUCCESS) \
    status = lt->cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_##what, &(x), sizeof(x))
    WISH(MAX_WORKSPACE_BYTES, work);
    WISH(REDUCTION_SCHEME_MASK, sums);
    WISH(MIN_ALIGNMENT_A_BYTES, align[0]);
    WISH(MIN_ALIGNMENT_B_BYTES, align[1]);
    WISH(MIN_ALIGNMENT_C_BYTES, align[2]);
    WISH(MIN_ALIGNMENT_D_BYTES, align[2]);
#undef WISH
    if (status == CUBLAS_STATUS_SUCCESS)
        status = lt->cublasLtMatmulAlgoGetHeuristic(s->plans->handle, p->product, p->b, p->a, p->c, p->c, wish,
                                                    CANDIDATES, found, &n);
    lt->cublasLtMatmulPreferenceDestroy(wish);
    p->plain = PLAIN || status != CUBLAS_STATUS_SUCCESS || n == 0 || found[0].state != CUBLAS_STATUS_SUCCESS;
    if (!p->plain) p->algorithm = found[preferred(lt, found, n)].algo;
    return CUBLAS_STATUS_SUCCESS;
}

static cudaError_t make_plan(dis__cuda_session *s, plan *p, const dis__cuda_product_args *args)
{
    const shape *t = &p->shape;
    const cudaDataType ab = type_of(t->type_ab), c = type_of(t->type_c);
    const dis__cublas *const lt = s->plans->lt;
    const cublasOperation_t op_a = t->ta ? CUBLAS_OP_T : CUBLAS_OP_N, op_b = t->tb ? CUBLAS_OP_T : CUBLAS_OP_N;
    LT_TRY(lt->cublasLtMatmulDescCreate(&p->product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    LT_TRY(lt->cublasLtMatmulDescSetAttribute(p->product, CUBLASLT_MATMUL_DESC_TRANSA, &op_b, sizeof op_b));
    LT_TRY(lt->cublasLtMatmulDescSetAttribute(p->product, CUBLASLT_MATMUL_DESC_TRANSB, &op_a, sizeof op_a));
    if (t->ends) {
        const cublasLtEpilogue_t epilogue = epilogues[t->ends];
        LT_TRY(
            lt->cublasLtMatmulDescSetAttribute(p->product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    }
    if (t->ends & BIAS) {
        LT_TRY(lt->cublasLtMatmulDescSetAttribute(p->product, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &c, sizeof c));
        LT_TRY(lt->cublasLtMatmulDescSetAttribute(p->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &args->bias,
                                                  sizeof args->bias));
    }
    LT_TRY(new_layout(lt, &p->b, ab, t->tb ? t->k : t->n, t->tb ? t->n : t->k, t->ldb, t->batch, t->step_b));
    LT_TRY(new_layout(lt, &p->a, ab, t->ta ? t->m : t->k, t->ta ? t->k : t->m, t->lda, t->batch, t->step_a));
    LT_TRY(new_layout(lt, &p->c, c, t->n, t->m, t->ldc, t->batch, t->step_c));
    LT_TRY(choose(s, p));
    return cudaSuccess;
}

static plan *find(dis__cuda_plans *plans, const shape *t)
{
    uint64_t h = 1469598103934665603u;
    const unsigned char *bytes = (const unsigned char *)t;
    for (size_t i = 0; i < sizeof *t; i++) h = (h ^ bytes[i]) * 1099511628211u;
    size_t i = h % SLOTS;
    while (plans->slot[i].used && memcmp(&plans->slot[i].shape, t, sizeof *t) != 0) i = (i + 1) % SLOTS;
    return &plans->slot[i];
}

static cudaError_t plan_of(dis__cuda_session *s, const dis__cuda_product_args *args, plan **out)
{
    const shape t = shape_of(args);
    plan *p = find(s->plans, &t);
    if (!p->used) {
        if (s->plans->n > SLOTS / 2) { /* too many shapes: clear the cache */
            for (size_t i = 0; i < SLOTS; i++) drop_plan(s->plans->lt, &s->plans->slot[i]);
            s->plans->n = 0;
            p = find(s->plans, &t);
        }
        p->shape = t;
        const cudaError_t error = make_plan(s, p, args);
        if (error != cudaSuccess) {
            drop_plan(s->plans->lt, p);
            return error;
        }
        p->used = true;
        s->plans->n++;
    }
    *out = p;
    return cudaSuccess;
}

/* ---- counters of the library ---- */

/* The library's kernels for large GEMMs distribute their tiles by a counter in work memory, which it clears before each
 * GEMM. In a captured step that is a separate node, and the GEMM waits for two nodes in sequence. GEMMs alternate
 * between two work memories, so clearing only needs to wait for the GEMM before the last one: its edge is moved there,
 * unless other operations (convolutions) use that memory too. */
enum { NODES = 4 };

typedef struct {
    cudaGraph_t graph;
    unsigned long long id;
    cudaGraphNode_t node[NODES];
    size_t n;
} tail;

/* Makes the next node captured on a stream depend on these; n 0: too many, or none. false: the stream is not being
 * captured. */
static bool tail_of(cudaStream_t stream, tail *t)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *node;
    const cudaGraphEdgeData *edge;
    if (cudaStreamGetCaptureInfo(stream, &status, &t->id, &t->graph, &node, &edge, &t->n) != cudaSuccess ||
        status != cudaStreamCaptureStatusActive)
        return false;
    if (t->n > NODES) t->n = 0;
    if (t->n) memcpy(t->node, node, t->n * sizeof *node);
    return true;
}

/* The only dependency of a node; NULL: there are others, or none. */
static cudaGraphNode_t only_before(cudaGraphNode_t node)
{
    cudaGraphNode_t before[NODES];
    cudaGraphEdgeData edge[NODES];
    size_t n = NODES;
    return cudaGraphNodeGetDependencies(node, before, edge, &n) == cudaSuccess && n == 1 ? before[0] : NULL;
}

/* Whether a node clears part of a GEMM's work memory, and nothing else. */
static bool clears(cudaGraphNode_t node, const char *work)
{
    enum cudaGraphNodeType type;
    struct cudaMemsetParams m;
    if (!node || cudaGraphNodeGetType(node, &type) != cudaSuccess || type != cudaGraphNodeTypeMemset ||
        cudaGraphMemsetNodeGetParams(node, &m) != cudaSuccess)
        return false;
    const uintptr_t from = (uintptr_t)m.dst, to = from + (m.height > 1 ? m.pitch * m.height : m.width * m.elementSize);
    return from >= (uintptr_t)work && to <= (uintptr_t)work + DIS_CUDA_PRODUCT;
}

/* Moves the clearing of `work` for the GEMM captured after `before` to an earlier point. */
static cudaError_t clear_early(dis__cuda_session *s, const tail *before, const char *work)
{
    dis__cuda_plans *p = s->plans;
    const int turn = p->turn;
    tail now = {0};
    if (p->id != before->id) p->user[0] = p->user[1] = NULL, p->known[0] = p->known[1] = true, p->id = before->id;
    const bool is_known = tail_of(s->stream, &now) && now.n == 1 && p->known[turn];
    cudaGraphNode_t user = p->user[turn], product = now.node[0], clear = NULL;
    p->known[turn] = is_known;
    p->user[turn] = is_known ? product : NULL;
    if (is_known && before->n == 1) clear = only_before(product);
    if (!clears(clear, work) || only_before(clear) != before->node[0]) return cudaSuccess;
    cudaError_t error = cudaGraphRemoveDependencies(now.graph, before->node, &clear, NULL, 1);
    if (error == cudaSuccess) error = cudaGraphAddDependencies(now.graph, before->node, &product, NULL, 1);
    if (error == cudaSuccess && user) error = cudaGraphAddDependencies(now.graph, &user, &clear, NULL, 1);
    return error;
}

char *dis__cuda_gemm_workspace(dis__cuda_session *s)
{
    s->plans->lent = true;
    return s->product_work;
}

cudaError_t dis__cuda_gemm(dis__cuda_session *s, const dis__cuda_product_args *args)
{
    const dis__cublas *const lt = s->plans->lt;
    plan *p;
    if (args->m == 0 || args->n == 0) return cudaSuccess;
    if (args->k == 0) return args->gelu ? cudaErrorNotSupported : dis__cuda_plain_gemm(s, args);
    const cudaError_t error = plan_of(s, args, &p);
    if (error != cudaSuccess) return error;
    if (p->plain) return args->gelu ? cudaErrorNotSupported : dis__cuda_plain_gemm(s, args);
    if (args->bias)
        LT_TRY(lt->cublasLtMatmulDescSetAttribute(p->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &args->bias,
                                                  sizeof args->bias));
    tail before;
    const bool recorded = s->product_twin && !s->plans->lent && tail_of(s->stream, &before);
    char *const work = s->product_twin && s->plans->turn ? s->product_twin : s->product_work;
    LT_TRY(lt->cublasLtMatmul(s->plans->handle, p->product, &args->alpha, args->b, p->b, args->a, p->a, &args->beta,
                              args->c, p->c, args->c, p->c, &p->algorithm, work, DIS_CUDA_PRODUCT, s->stream));
    const cudaError_t moved = recorded ? clear_early(s, &before, work) : cudaSuccess;
    if (s->product_twin) s->plans->turn ^= 1;
    return moved;
}
