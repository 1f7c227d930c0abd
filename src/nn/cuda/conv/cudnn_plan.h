/* cudnn_plan.h: plans of cuDNN: the engine for a convolution of a shape, and its execution. Only if the library's
 * header was available at build time. */
#ifndef DIS_NN_CUDA_CONV_CUDNN_PLAN_H
#define DIS_NN_CUDA_CONV_CUDNN_PLAN_H
#include "core/cuda/library_functions.h"
#include "nn/cuda/conv/cudnn_conv.h"
#include <cudnn.h>

#define DIS_CUDNN_FUNCTIONS(X)       \
    X(cudnnCreate)                   \
    X(cudnnDestroy)                  \
    X(cudnnSetStream)                \
    X(cudnnBackendCreateDescriptor)  \
    X(cudnnBackendDestroyDescriptor) \
    X(cudnnBackendSetAttribute)      \
    X(cudnnBackendGetAttribute)      \
    X(cudnnBackendFinalize)          \
    X(cudnnBackendExecute)

/* Fields of one size, without padding: shapes are compared by their bytes. */
typedef struct {
    dis__cudnn_kind kind;
    int add, narrow; /* booleans; narrow: the work memory is that of GEMMs */
    int n, height, width, channels, out_h, out_w, out, kernel_h, kernel_w, stride;
    int pad_h, pad_w, after_h, after_w; /* padding before the first and after the last position */
} dis__cudnn_shape;

typedef struct {
    dis__cudnn_shape shape;
    cudnnBackendDescriptor_t plan; /* NULL: there is none */
    size_t work;
} dis__cudnn_plan;

enum { DIS_CUDNN_PLANS = 512 };

struct dis__cudnn {
    void *library;
    struct {
        DIS_CUDNN_FUNCTIONS(DIS_CUDA_FUNCTION_POINTER)
    } lib;
    cudnnHandle_t handle; /* NULL: the library is missing */
    dis__cudnn_plan plan[DIS_CUDNN_PLANS];
    size_t n;
};

/* The plan for p->shape with at most this much work memory, or none. */
void dis__cudnn_make_plan(struct dis__cudnn *c, dis__cudnn_plan *p, size_t max_work);
/* Images, weights and results of a call; false: execution failed. */
bool dis__cudnn_execute(struct dis__cudnn *c, cudaStream_t stream, const dis__cudnn_plan *p, char *work, const void *x,
                        const void *w, const void *y);

#endif
