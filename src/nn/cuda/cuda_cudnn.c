/* Convolutions by cuDNN 9, through the descriptors of its backend: tensors, one operation, its graph, an engine with
 * its configuration, a plan, and the pointers of a call. The library is opened when the first convolution is asked for,
 * and everything works without it.
 *
 * A plan is chosen once per shape and session: the first that the heuristics name, that is built, needs no more work
 * memory than there is, runs on tensor cores and gives the same bytes every time (engines say which do not). Never by
 * timing: another run would choose another. The weight's gradient comes in bfloat16 (engines that give it in float32
 * took ten times as long on an H200) and is added to the one in float32 by a kernel of our own, or, where that is 0 and
 * the update comes next, is left for the update to read. */
#include "nn/cuda/cuda_cudnn.h"
#include "nn/cuda/cuda_host.h"
#if __has_include(<cudnn.h>) && !defined DIS_CUDA_PLAIN
#include "nn/cuda/cudnn_choices.h"
#include <cudnn.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { PLANS = 512, CONFIGS = 24, NOTES = 16, PARTS = 32 };

#define CALLS(X)                     \
    X(cudnnCreate)                   \
    X(cudnnDestroy)                  \
    X(cudnnSetStream)                \
    X(cudnnBackendCreateDescriptor)  \
    X(cudnnBackendDestroyDescriptor) \
    X(cudnnBackendSetAttribute)      \
    X(cudnnBackendGetAttribute)      \
    X(cudnnBackendFinalize)          \
    X(cudnnBackendExecute)

typedef struct {
    dis__cudnn_kind kind;
    bool add;
    int n, height, width, channels, out_h, out_w, out, kernel_h, kernel_w, stride, pad_h, pad_w;
} shape;

typedef struct {
    shape shape;
    cudnnBackendDescriptor_t plan; /* NULL: there is none */
    size_t work;
} plan;

struct dis__cudnn {
    void *library;
#define POINTER(name) __typeof__(&name) name;
    CALLS(POINTER)
#undef POINTER
    cudnnHandle_t handle; /* NULL: the library is not here */
    plan plan[PLANS];
    size_t n;
};

/* ---- descriptors ---- */

/* What is being made. After the first failure nothing more is done. */
typedef struct {
    struct dis__cudnn *c;
    cudnnBackendDescriptor_t own[PARTS]; /* all that were made for a plan */
    int n;
    bool failed;
} maker;

static cudnnBackendDescriptor_t make(maker *m, cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t d = NULL;
    if (m->failed || m->n == PARTS || m->c->cudnnBackendCreateDescriptor(type, &d) != CUDNN_STATUS_SUCCESS)
        m->failed = true;
    if (d) m->own[m->n++] = d;
    return d;
}

static void set(maker *m, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t n, const void *values)
{
    if (!m->failed && m->c->cudnnBackendSetAttribute(d, name, type, n, values) != CUDNN_STATUS_SUCCESS)
        m->failed = true;
}

static void finish(maker *m, cudnnBackendDescriptor_t d)
{
    if (!m->failed && m->c->cudnnBackendFinalize(d) != CUDNN_STATUS_SUCCESS) m->failed = true;
}

static void drop_all(maker *m)
{
    while (m->n) m->c->cudnnBackendDestroyDescriptor(m->own[--m->n]);
}

/* Images or kernels (a, height, width, b), as cuDNN counts them: a, b, height, width. */
static cudnnBackendDescriptor_t tensor(maker *m, int64_t id, cudnnDataType_t type, int64_t a, int64_t height,
                                       int64_t width, int64_t b)
{
    const int64_t dims[] = {a, b, height, width}, strides[] = {height * width * b, 1, width * b, b}, alignment = 16;
    cudnnBackendDescriptor_t d = make(m, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set(m, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(m, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims);
    set(m, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
    set(m, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
    set(m, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    finish(m, d);
    return d;
}

static cudnnBackendDescriptor_t convolution(maker *m, const shape *t)
{
    const cudnnDataType_t sums = CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const int64_t one[] = {1, 1}, strides[] = {t->stride, t->stride}, pads[] = {t->pad_h, t->pad_w}, two = 2;
    cudnnBackendDescriptor_t d = make(m, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set(m, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums);
    set(m, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(m, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &two);
    set(m, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, one);
    set(m, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, strides);
    set(m, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pads);
    set(m, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pads);
    finish(m, d);
    return d;
}

/* How the attributes of the three operations are called. */
static const struct {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t x, w, y, conv, alpha, beta;
} operations[DIS_N_CUDNN] = {
    [DIS_CUDNN_FORWARD] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                           CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    [DIS_CUDNN_BY_INPUT] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    [DIS_CUDNN_BY_WEIGHT] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
};

enum { X = 'x', W = 'w', Y = 'y' };

static cudnnBackendDescriptor_t graph_of(maker *m, const shape *t)
{
    const cudnnDataType_t value = CUDNN_DATA_BFLOAT16;
    const float alpha = 1, beta = t->add ? 1 : 0;
    cudnnBackendDescriptor_t x = tensor(m, X, value, t->n, t->height, t->width, t->channels);
    cudnnBackendDescriptor_t w = tensor(m, W, value, t->out, t->kernel_h, t->kernel_w, t->channels);
    cudnnBackendDescriptor_t y = tensor(m, Y, value, t->n, t->out_h, t->out_w, t->out), conv = convolution(m, t);
    cudnnBackendDescriptor_t op = make(m, operations[t->kind].type);
    set(m, op, operations[t->kind].x, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x);
    set(m, op, operations[t->kind].w, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &w);
    set(m, op, operations[t->kind].y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y);
    set(m, op, operations[t->kind].conv, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &conv);
    set(m, op, operations[t->kind].alpha, CUDNN_TYPE_FLOAT, 1, &alpha);
    set(m, op, operations[t->kind].beta, CUDNN_TYPE_FLOAT, 1, &beta);
    finish(m, op);
    cudnnBackendDescriptor_t graph = make(m, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(m, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &op);
    set(m, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &m->c->handle);
    finish(m, graph);
    return m->failed ? NULL : graph;
}

/* ---- choosing ---- */

/* Whether the engine of a configuration gives the same bytes every time, on tensor cores, with sums in float32. */
static bool good_engine(struct dis__cudnn *c, cudnnBackendDescriptor_t config)
{
    cudnnBackendDescriptor_t engine = NULL;
    cudnnBackendNumericalNote_t notes[NOTES];
    int64_t n = 0;
    bool good = c->cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine) == CUDNN_STATUS_SUCCESS &&
                c->cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n,
                                            &engine) == CUDNN_STATUS_SUCCESS &&
                c->cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, NOTES,
                                            &n, notes) == CUDNN_STATUS_SUCCESS;
    bool tensor_cores = false;
    for (int64_t i = 0; good && i < n && i < NOTES; i++) {
        tensor_cores |= notes[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
        good = notes[i] != CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC &&
               notes[i] != CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION;
    }
    if (engine) c->cudnnBackendDestroyDescriptor(engine);
    return good && tensor_cores;
}

static bool build(struct dis__cudnn *c, cudnnBackendDescriptor_t config, size_t most, plan *to)
{
    cudnnBackendDescriptor_t p = NULL;
    int64_t work = 0, n = 0;
    if (!good_engine(c, config)) return false;
    if (c->cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &p) != CUDNN_STATUS_SUCCESS)
        return false;
    if (c->cudnnBackendSetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &c->handle) ==
            CUDNN_STATUS_SUCCESS &&
        c->cudnnBackendSetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                    &config) == CUDNN_STATUS_SUCCESS &&
        c->cudnnBackendFinalize(p) == CUDNN_STATUS_SUCCESS &&
        c->cudnnBackendGetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &n, &work) ==
            CUDNN_STATUS_SUCCESS &&
        (size_t)work <= most) {
        to->plan = p;
        to->work = (size_t)work;
        return true;
    }
    c->cudnnBackendDestroyDescriptor(p);
    return false;
}

/* The first of the heuristics' configurations that can be built. */
static void choose(struct dis__cudnn *c, cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t mode, size_t most,
                   plan *to)
{
    cudnnBackendDescriptor_t heuristics = NULL, config[CONFIGS] = {NULL};
    int64_t n = 0, made = 0;
    bool good =
        c->cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &heuristics) == CUDNN_STATUS_SUCCESS;
    while (good && made < CONFIGS)
        good = c->cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &config[made++]) ==
               CUDNN_STATUS_SUCCESS;
    good = good &&
           c->cudnnBackendSetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                       1, &graph) == CUDNN_STATUS_SUCCESS &&
           c->cudnnBackendSetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode) ==
               CUDNN_STATUS_SUCCESS &&
           c->cudnnBackendFinalize(heuristics) == CUDNN_STATUS_SUCCESS &&
           c->cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                       CONFIGS, &n, config) == CUDNN_STATUS_SUCCESS;
    for (int64_t i = 0; good && i < n && !to->plan; i++) build(c, config[i], most, to);
    for (int64_t i = 0; i < made; i++)
        if (config[i]) c->cudnnBackendDestroyDescriptor(config[i]);
    if (heuristics) c->cudnnBackendDestroyDescriptor(heuristics);
}

static const dis__cudnn_choice *choice_of(const shape *t)
{
    for (size_t i = 0; i < sizeof dis__cudnn_choices / sizeof *dis__cudnn_choices; i++) {
        const dis__cudnn_choice *l = &dis__cudnn_choices[i];
        if (l->kind == t->kind && l->height == t->height && l->height == t->width && l->channels == t->channels &&
            l->out == t->out && l->kernel == t->kernel_h && l->kernel == t->kernel_w && l->stride == t->stride &&
            t->n >= l->least && t->n <= l->most && t->pad_h == l->kernel / 2 && t->pad_w == l->kernel / 2)
            return l;
    }
    return NULL;
}

/* The engine and the settings that a list has for a shape. */
static void take_listed(maker *m, cudnnBackendDescriptor_t graph, const dis__cudnn_choice *l, size_t most, plan *to)
{
    cudnnBackendDescriptor_t engine = make(m, CUDNN_BACKEND_ENGINE_DESCRIPTOR), knob[DIS_CUDNN_KNOBS], config;
    const int64_t index = l->engine;
    int64_t n = 0;
    set(m, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index);
    set(m, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    finish(m, engine);
    for (; n < l->n_knobs; n++) {
        const cudnnBackendKnobType_t type = (cudnnBackendKnobType_t)l->knob[n].type;
        const int64_t value = l->knob[n].value;
        knob[n] = make(m, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        set(m, knob[n], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
        set(m, knob[n], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &value);
        finish(m, knob[n]);
    }
    config = make(m, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set(m, config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
    if (n) set(m, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, n, knob);
    finish(m, config);
    if (!m->failed) build(m->c, config, most, to);
}

/* Another version of the library may not have what is listed: then its heuristics choose. */
static void make_plan(struct dis__cudnn *c, plan *p, size_t most)
{
    maker m = {.c = c};
    cudnnBackendDescriptor_t graph = graph_of(&m, &p->shape);
    const dis__cudnn_choice *listed = graph ? choice_of(&p->shape) : NULL;
    if (listed) take_listed(&m, graph, listed, most, p);
    if (graph && !p->plan) choose(c, graph, CUDNN_HEUR_MODE_A, most, p);
    if (graph && !p->plan) choose(c, graph, CUDNN_HEUR_MODE_FALLBACK, most, p);
    drop_all(&m);
}

/* ---- sessions ---- */

void dis__cudnn_close(dis__cuda_session *s)
{
    struct dis__cudnn *c = s->cudnn;
    if (!c) return;
    for (size_t i = 0; i < c->n; i++)
        if (c->plan[i].plan) c->cudnnBackendDestroyDescriptor(c->plan[i].plan);
    if (c->handle) c->cudnnDestroy(c->handle);
    if (c->library) dlclose(c->library);
    s->host->free(c);
    s->cudnn = NULL;
}

static void open_library(dis__cuda_session *s, struct dis__cudnn *c)
{
    c->library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
    if (!c->library) return;
    bool all = true;
#define FIND(name)                                 \
    *(void **)&c->name = dlsym(c->library, #name); \
    all = all && c->name;
    CALLS(FIND)
#undef FIND
    if (!all || c->cudnnCreate(&c->handle) != CUDNN_STATUS_SUCCESS) c->handle = NULL;
    if (c->handle && c->cudnnSetStream(c->handle, s->stream) != CUDNN_STATUS_SUCCESS) {
        c->cudnnDestroy(c->handle);
        c->handle = NULL;
    }
}

/* It takes memory and loads kernels as it likes. */
static void lock(const dis__cuda_session *s)
{
    if (!dis__cuda_recording(s)) dis__cuda_lock();
}

static void unlock(const dis__cuda_session *s)
{
    if (!dis__cuda_recording(s)) dis__cuda_unlock();
}

static struct dis__cudnn *opened(dis__cuda_session *s)
{
    if (!s->cudnn) {
        if (s->host->alloc_zeroed(&s->cudnn, 1, sizeof *s->cudnn) != DIS_OK) return NULL;
        lock(s);
        open_library(s, s->cudnn);
        unlock(s);
    }
    return s->cudnn->handle ? s->cudnn : NULL;
}

static plan *plan_of(const dis__cuda_session *s, const shape *t, size_t most)
{
    struct dis__cudnn *c = s->cudnn;
    for (size_t i = 0; i < c->n; i++)
        if (memcmp(&c->plan[i].shape, t, sizeof *t) == 0) return &c->plan[i];
    if (c->n == PLANS) return NULL;
    plan *p = &c->plan[c->n++];
    p->shape = *t;
    lock(s);
    make_plan(c, p, most);
    unlock(s);
    return p;
}

/* ---- calls ---- */

/* The padding that is on both sides what it is in front; false: it is not. */
static bool even_padding(size_t size, size_t out, size_t kernel, size_t stride, size_t pad)
{
    return size + 2 * pad >= kernel && (size + 2 * pad - kernel) / stride + 1 == out;
}

static bool suits(const dis__cuda_session *s, const dis__conv_args *a, dis__cudnn_kind kind)
{
    const void *const p[] = {a->x, a->y, a->dy, a->dx, a->work};
    for (int i = 0; i < 5; i++)
        if ((uintptr_t)p[i] % 16) return false;
    return s->value == DIS_BFLOAT16 && !a->length && a->channels % 8 == 0 && a->out % 8 == 0 &&
           (kind != DIS_CUDNN_FORWARD || (!a->bias && a->act == DIS_ACT_NONE)) &&
           (uintptr_t)dis__cuda_weight(s, a->weight) % 16 == 0 &&
           even_padding(a->height, a->out_h, a->kernel_h, a->stride, a->pad_top) &&
           even_padding(a->width, a->out_w, a->kernel_w, a->stride, a->pad_left);
}

static shape shape_of(const dis__conv_args *a, dis__cudnn_kind kind)
{
    shape t;
    memset(&t, 0, sizeof t);
    t.kind = kind;
    t.add = kind == DIS_CUDNN_BY_INPUT && a->add;
    t.n = (int)a->n, t.height = (int)a->height, t.width = (int)a->width, t.channels = (int)a->channels;
    t.out_h = (int)a->out_h, t.out_w = (int)a->out_w, t.out = (int)a->out;
    t.kernel_h = (int)a->kernel_h, t.kernel_w = (int)a->kernel_w, t.stride = (int)a->stride;
    t.pad_h = (int)a->pad_top, t.pad_w = (int)a->pad_left;
    return t;
}

typedef struct {
    char *at;
    size_t bytes;
} room;

/* Work memory of a plan: what x does not lie in. */
static room room_of(const dis__cuda_session *s, const void *x)
{
    const char *at = x;
    const bool taken = at >= s->scratch && at < s->scratch + s->scratch_bytes;
    return taken ? (room){s->product_work, DIS_CUDA_PRODUCT} : (room){s->scratch, s->scratch_bytes};
}

static bool execute(dis__cuda_session *s, const plan *p, char *work, const void *x, const void *w, const void *y)
{
    struct dis__cudnn *c = s->cudnn;
    maker m = {.c = c};
    const int64_t ids[] = {X, W, Y};
    const void *const pointers[] = {x, w, y};
    cudnnBackendDescriptor_t pack = make(&m, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set(&m, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids);
    set(&m, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
    set(&m, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &work);
    finish(&m, pack);
    if (!m.failed && c->cudnnSetStream(c->handle, s->stream) != CUDNN_STATUS_SUCCESS) m.failed = true;
    if (!m.failed && c->cudnnBackendExecute(c->handle, p->plan, pack) != CUDNN_STATUS_SUCCESS) m.failed = true;
    const bool done = !m.failed;
    drop_all(&m);
    return done;
}

bool dis__cudnn_conv(dis__cuda_session *s, const dis__conv_args *a, dis__cudnn_kind kind, size_t width,
                     cudaError_t *error)
{
    if (!suits(s, a, kind)) return false;
    if (!opened(s)) return false;
    const shape t = shape_of(a, kind);
    const room work = room_of(s, a->x);
    const plan *p = plan_of(s, &t, work.bytes);
    if (!p || !p->plan) return false;
    *error = cudaSuccess;
    if (kind == DIS_CUDNN_BY_WEIGHT) {
        const size_t n = a->out * a->kernel_h * a->kernel_w * a->channels;
        void *const whole = a->once && width == a->channels ? dis__cuda_whole_gradient(s, a->d_weight, n) : NULL;
        if (!execute(s, p, work.at, a->x, whole ? whole : a->work, a->dy)) *error = cudaErrorUnknown;
        if (*error == cudaSuccess && !whole)
            *error = dis__cuda_add_weight(s, (float *)a->d_weight, a->work, a->out * a->kernel_h * a->kernel_w,
                                          a->channels, width);
    } else if (!execute(s, p, work.at, kind == DIS_CUDNN_FORWARD ? a->x : a->dx, dis__cuda_weight(s, a->weight),
                        kind == DIS_CUDNN_FORWARD ? a->y : a->dy)) {
        *error = cudaErrorUnknown;
    }
    if (*error != cudaSuccess) snprintf(s->why, sizeof s->why, "cuDNN does not run a plan that it has made");
    return true;
}

#else

void dis__cudnn_close(dis__cuda_session *s)
{
    (void)s;
}

bool dis__cudnn_conv(dis__cuda_session *s, const dis__conv_args *a, dis__cudnn_kind kind, size_t width,
                     cudaError_t *error)
{
    (void)s;
    (void)a;
    (void)kind;
    (void)width;
    (void)error;
    return false;
}

#endif
