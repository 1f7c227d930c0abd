/* Plans of cuDNN 9, through the descriptors of its backend: tensors, one operation, its graph, an engine with its
 * configuration, a plan, and the pointers of a call.
 *
 * The first plan of the heuristics that can be built, fits into the work memory, runs on tensor cores and is
 * deterministic (engines report this) is used, except for the shapes listed in cudnn_choices.h. Plans are never chosen
 * by timing, because runs would differ. */
#include "nn/cuda/common/cuda_operations.h"
#if __has_include(<cudnn.h>) && !defined DIS_CUDA_PLAIN
#include "nn/cuda/conv/cudnn_choices.h"
#include "nn/cuda/conv/cudnn_plan.h"

enum { CONFIGS = 24, NOTES = 16, PARTS = 32 };

/* ---- descriptors ---- */

/* Builder state. After the first failure all further calls do nothing. */
typedef struct {
    struct dis__cudnn *c;
    cudnnBackendDescriptor_t own[PARTS]; /* descriptors created for a plan */
    int n;
    bool failed;
} maker;

static cudnnBackendDescriptor_t make(maker *m, cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t d = NULL;
    if (m->failed || m->n == PARTS || m->c->lib.cudnnBackendCreateDescriptor(type, &d) != CUDNN_STATUS_SUCCESS)
        m->failed = true;
    if (d) m->own[m->n++] = d;
    return d;
}

static void set(maker *m, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t n, const void *values)
{
    if (!m->failed && m->c->lib.cudnnBackendSetAttribute(d, name, type, n, values) != CUDNN_STATUS_SUCCESS)
        m->failed = true;
}

static void finish(maker *m, cudnnBackendDescriptor_t d)
{
    if (!m->failed && m->c->lib.cudnnBackendFinalize(d) != CUDNN_STATUS_SUCCESS) m->failed = true;
}

static void drop_all(maker *m)
{
    while (m->n) m->c->lib.cudnnBackendDestroyDescriptor(m->own[--m->n]);
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

static cudnnBackendDescriptor_t convolution(maker *m, const dis__cudnn_shape *t)
{
    const cudnnDataType_t sums = CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const int64_t one[] = {1, 1}, strides[] = {t->stride, t->stride}, before[] = {t->pad_h, t->pad_w},
                  after[] = {t->after_h, t->after_w}, two = 2;
    cudnnBackendDescriptor_t d = make(m, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set(m, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums);
    set(m, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(m, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &two);
    set(m, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, one);
    set(m, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, strides);
    set(m, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, before);
    set(m, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, after);
    finish(m, d);
    return d;
}

/* Names of the attributes of the three operations. */
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

static cudnnBackendDescriptor_t graph_of(maker *m, const dis__cudnn_shape *t)
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

/* Whether a configuration's engine is deterministic, uses tensor cores, and sums in float32. */
static bool good_engine(struct dis__cudnn *c, cudnnBackendDescriptor_t config)
{
    cudnnBackendDescriptor_t engine = NULL;
    cudnnBackendNumericalNote_t notes[NOTES];
    int64_t n = 0;
    bool good = c->lib.cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine) == CUDNN_STATUS_SUCCESS &&
                c->lib.cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                                &n, &engine) == CUDNN_STATUS_SUCCESS &&
                c->lib.cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                                NOTES, &n, notes) == CUDNN_STATUS_SUCCESS;
    bool tensor_cores = false;
    for (int64_t i = 0; good && i < n && i < NOTES; i++) {
        tensor_cores |= notes[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
        good = notes[i] != CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC &&
               notes[i] != CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION;
    }
    if (engine) c->lib.cudnnBackendDestroyDescriptor(engine);
    return good && tensor_cores;
}

static bool build(struct dis__cudnn *c, cudnnBackendDescriptor_t config, size_t max_work, dis__cudnn_plan *to)
{
    cudnnBackendDescriptor_t p = NULL;
    int64_t work = 0, n = 0;
    if (!good_engine(c, config)) return false;
    if (c->lib.cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &p) != CUDNN_STATUS_SUCCESS)
        return false;
    if (c->lib.cudnnBackendSetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &c->handle) ==
            CUDNN_STATUS_SUCCESS &&
        c->lib.cudnnBackendSetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                        &config) == CUDNN_STATUS_SUCCESS &&
        c->lib.cudnnBackendFinalize(p) == CUDNN_STATUS_SUCCESS &&
        c->lib.cudnnBackendGetAttribute(p, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &n, &work) ==
            CUDNN_STATUS_SUCCESS &&
        (size_t)work <= max_work) {
        to->plan = p;
        to->work = (size_t)work;
        return true;
    }
    c->lib.cudnnBackendDestroyDescriptor(p);
    return false;
}

/* The first of the heuristics' configurations that can be built. */
static void choose(struct dis__cudnn *c, cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t mode, size_t max_work,
                   dis__cudnn_plan *to)
{
    cudnnBackendDescriptor_t heuristics = NULL, config[CONFIGS] = {NULL};
    int64_t n = 0, n_configs = 0;
    bool good =
        c->lib.cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &heuristics) == CUDNN_STATUS_SUCCESS;
    while (good && n_configs < CONFIGS)
        good = c->lib.cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &config[n_configs++]) ==
               CUDNN_STATUS_SUCCESS;
    good = good &&
           c->lib.cudnnBackendSetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                                           CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph) == CUDNN_STATUS_SUCCESS &&
           c->lib.cudnnBackendSetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode) ==
               CUDNN_STATUS_SUCCESS &&
           c->lib.cudnnBackendFinalize(heuristics) == CUDNN_STATUS_SUCCESS &&
           c->lib.cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                           CONFIGS, &n, config) == CUDNN_STATUS_SUCCESS;
    for (int64_t i = 0; good && i < n && !to->plan; i++) build(c, config[i], max_work, to);
    for (int64_t i = 0; i < n_configs; i++)
        if (config[i]) c->lib.cudnnBackendDestroyDescriptor(config[i]);
    if (heuristics) c->lib.cudnnBackendDestroyDescriptor(heuristics);
}

static const dis__cudnn_choice *choice_of(const dis__cudnn_shape *t)
{
    for (size_t i = 0; i < sizeof dis__cudnn_choices / sizeof *dis__cudnn_choices; i++) {
        const dis__cudnn_choice *l = &dis__cudnn_choices[i];
        if (l->kind == t->kind && l->height == t->height && l->height == t->width && l->channels == t->channels &&
            l->out == t->out && l->kernel == t->kernel_h && l->kernel == t->kernel_w && l->stride == t->stride &&
            t->n >= l->min_images && t->n <= l->max_images && t->pad_h == l->kernel / 2 && t->pad_w == l->kernel / 2)
            return l;
    }
    return NULL;
}

/* The listed engine and settings for a shape. */
static void use_listed(maker *m, cudnnBackendDescriptor_t graph, const dis__cudnn_choice *l, size_t max_work,
                       dis__cudnn_plan *to)
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
    if (!m->failed) build(m->c, config, max_work, to);
}

/* A listed engine may be missing in another version of the library: the heuristics are used then. */
void dis__cudnn_make_plan(struct dis__cudnn *c, dis__cudnn_plan *p, size_t max_work)
{
    maker m = {.c = c};
    cudnnBackendDescriptor_t graph = graph_of(&m, &p->shape);
    const dis__cudnn_choice *listed = graph ? choice_of(&p->shape) : NULL;
    if (listed) use_listed(&m, graph, listed, max_work, p);
    if (graph && !p->plan) choose(c, graph, CUDNN_HEUR_MODE_A, max_work, p);
    if (graph && !p->plan) choose(c, graph, CUDNN_HEUR_MODE_FALLBACK, max_work, p);
    drop_all(&m);
}

/* ---- calls ---- */

bool dis__cudnn_execute(struct dis__cudnn *c, cudaStream_t stream, const dis__cudnn_plan *p, char *work, const void *x,
                        const void *w, const void *y)
{
    maker m = {.c = c};
    const int64_t ids[] = {X, W, Y};
    const void *const pointers[] = {x, w, y};
    cudnnBackendDescriptor_t pack = make(&m, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set(&m, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids);
    set(&m, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
    set(&m, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &work);
    finish(&m, pack);
    if (!m.failed && c->lib.cudnnSetStream(c->handle, stream) != CUDNN_STATUS_SUCCESS) m.failed = true;
    if (!m.failed && c->lib.cudnnBackendExecute(c->handle, p->plan, pack) != CUDNN_STATUS_SUCCESS) m.failed = true;
    const bool done = !m.failed;
    drop_all(&m);
    return done;
}

#endif
