/* Convolutions by cuDNN 9 (cudnn_plan.c). The library is loaded when a session runs its first convolution; without it
 * the kernels of conv.cu are used. A plan is chosen once per shape and session. Bias and activation follow as one
 * kernel.
 *
 * The weight's gradient is computed in bfloat16 (engines with float32 output took ten times as long on an H200). A
 * separate kernel adds it to the float32 gradient; if that is 0 and the update comes next, the update reads it
 * directly. */
#include "nn/cuda/conv/cudnn_conv.h"
#include "nn/cuda/common/cuda_host.h"
#if __has_include(<cudnn.h>) && !defined DIS_CUDA_PLAIN
#include "core/cuda/cuda_memory.h"
#include "nn/cuda/conv/cudnn_plan.h"
#include <stdio.h>

/* ---- sessions ---- */

void dis__cudnn_close(dis__cuda_session *s)
{
    struct dis__cudnn *c = s->cudnn;
    if (!c) return;
    for (size_t i = 0; i < c->n; i++)
        if (c->plan[i].plan) c->lib.cudnnBackendDestroyDescriptor(c->plan[i].plan);
    if (c->handle) c->lib.cudnnDestroy(c->handle);
    if (c->library) dlclose(c->library);
    s->host->free(c);
    s->cudnn = NULL;
}

static const char library_name[] = "libcudnn.so.9";

bool dis__cudnn_is_installed(void)
{
    void *library = dlopen(library_name, RTLD_LAZY | RTLD_LOCAL);
    if (library) dlclose(library);
    return library != NULL;
}

static void open_library(dis__cuda_session *s, struct dis__cudnn *c)
{
    static const char *const names[] = {DIS_CUDNN_FUNCTIONS(DIS_CUDA_FUNCTION_NAME)};
    c->library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (!c->library) return;
    const bool all = dis__cuda_load_functions(c->library, names, sizeof names / sizeof *names, &c->lib);
    if (all && c->lib.cudnnCreate(&c->handle) != CUDNN_STATUS_SUCCESS) { /* possibly out of memory */
        dis__cuda_free_cached();
        if (c->lib.cudnnCreate(&c->handle) != CUDNN_STATUS_SUCCESS) c->handle = NULL;
    }
    if (c->handle && c->lib.cudnnSetStream(c->handle, s->stream) != CUDNN_STATUS_SUCCESS) {
        c->lib.cudnnDestroy(c->handle);
        c->handle = NULL;
    }
}

/* It allocates memory and loads kernels at any time. */
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

static const dis__cudnn_plan *plan_of(const dis__cuda_session *s, const dis__cudnn_shape *t, size_t max_work)
{
    struct dis__cudnn *c = s->cudnn;
    for (size_t i = 0; i < c->n; i++)
        if (memcmp(&c->plan[i].shape, t, sizeof *t) == 0) return &c->plan[i];
    if (c->n == DIS_CUDNN_PLANS) return NULL;
    dis__cudnn_plan *p = &c->plan[c->n++];
    p->shape = *t;
    lock(s);
    dis__cudnn_make_plan(c, p, max_work);
    unlock(s);
    return p;
}

/* ---- calls ---- */

/* Padding after the last position of a dimension: equal to the padding before the first if that gives `out` positions,
 * otherwise the read-ahead of the last position. */
static int padding_after(size_t size, size_t out, size_t kernel, size_t stride, size_t before)
{
    const size_t last = (out - 1) * stride + kernel;
    if (size + 2 * before >= kernel && (size + 2 * before - kernel) / stride + 1 == out) return (int)before;
    return last > size + before ? (int)(last - size - before) : 0;
}

static bool suits(const dis__cuda_session *s, const dis__conv_args *a)
{
    const void *const p[] = {a->x, a->y, a->dy, a->dx, a->work};
    for (int i = 0; i < 5; i++)
        if ((uintptr_t)p[i] % 16) return false;
    return s->value == DIS_BFLOAT16 && !a->length && a->channels % 8 == 0 && a->out % 8 == 0 && a->out_h && a->out_w &&
           (uintptr_t)dis__cuda_weight(s, a->weight) % 16 == 0;
}

static dis__cudnn_shape shape_of(const dis__conv_args *a, dis__cudnn_kind kind, bool narrow)
{
    dis__cudnn_shape t;
    memset(&t, 0, sizeof t);
    t.kind = kind;
    t.narrow = narrow;
    t.add = kind == DIS_CUDNN_BY_INPUT && a->add;
    t.n = (int)a->n, t.height = (int)a->height, t.width = (int)a->width, t.channels = (int)a->channels;
    t.out_h = (int)a->out_h, t.out_w = (int)a->out_w, t.out = (int)a->out;
    t.kernel_h = (int)a->kernel_h, t.kernel_w = (int)a->kernel_w, t.stride = (int)a->stride;
    t.pad_h = (int)a->pad_top, t.pad_w = (int)a->pad_left;
    t.after_h = padding_after(a->height, a->out_h, a->kernel_h, a->stride, a->pad_top);
    t.after_w = padding_after(a->width, a->out_w, a->kernel_w, a->stride, a->pad_left);
    return t;
}

static bool in_scratch(const dis__cuda_session *s, const void *x)
{
    const char *at = x;
    return at >= s->scratch && at < s->scratch + s->scratch_bytes;
}

bool dis__cudnn_conv(dis__cuda_session *s, const dis__conv_args *a, dis__cudnn_kind kind, size_t width,
                     cudaError_t *error)
{
    if (!suits(s, a)) return false;
    if (!opened(s)) return false;
    const bool narrow = in_scratch(s, a->x); /* work memory of a plan: the part of it that x does not use */
    const dis__cudnn_shape t = shape_of(a, kind, narrow);
    const dis__cudnn_plan *p = plan_of(s, &t, narrow ? DIS_CUDA_PRODUCT : s->scratch_bytes);
    if (!p || !p->plan) return false;
    char *const work = narrow ? dis__cuda_gemm_workspace(s) : s->scratch;
    *error = cudaSuccess;
    if (kind == DIS_CUDNN_BY_WEIGHT) {
        const size_t n = a->out * a->kernel_h * a->kernel_w * a->channels;
        void *const direct = a->once && width == a->channels ? dis__cuda_bf16_gradient(s, a->d_weight, n) : NULL;
        if (!dis__cudnn_execute(s->cudnn, s->stream, p, work, a->x, direct ? direct : a->work, a->dy))
            *error = cudaErrorUnknown;
        if (*error == cudaSuccess && !direct)
            *error = dis__cuda_add_weight(s, (float *)a->d_weight, a->work, a->out * a->kernel_h * a->kernel_w,
                                          a->channels, width);
    } else if (!dis__cudnn_execute(s->cudnn, s->stream, p, work, kind == DIS_CUDNN_FORWARD ? a->x : a->dx,
                                   dis__cuda_weight(s, a->weight), kind == DIS_CUDNN_FORWARD ? a->y : a->dy)) {
        *error = cudaErrorUnknown;
    }
    if (*error == cudaSuccess && kind == DIS_CUDNN_FORWARD)
        *error = dis__cuda_bias_activate(s, a->y, a->n * a->out_h * a->out_w, a->out, a->bias, a->act);
    if (*error == cudaErrorUnknown) snprintf(s->why, sizeof s->why, "cuDNN does not run a plan that it has made");
    return true;
}

#else

bool dis__cudnn_is_installed(void)
{
    return true;
}

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
