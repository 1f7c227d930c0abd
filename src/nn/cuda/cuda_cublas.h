/* cuda_cublas.h: cuBLASLt, which is opened when a net asks for devices: passes over votes and resamples do without it,
 * and it takes some hundredths of a second to load. */
#ifndef DIS_NN_CUDA_CUDA_CUBLAS_H
#define DIS_NN_CUDA_CUDA_CUBLAS_H
#include "core/cuda/cuda_calls.h"
#include <cublasLt.h>

#define DIS_CUBLAS_CALLS(X)                 \
    X(cublasLtCreate)                       \
    X(cublasLtGetStatusName)                \
    X(cublasLtMatmul)                       \
    X(cublasLtMatmulAlgoConfigGetAttribute) \
    X(cublasLtMatmulAlgoGetHeuristic)       \
    X(cublasLtMatmulDescCreate)             \
    X(cublasLtMatmulDescDestroy)            \
    X(cublasLtMatmulDescSetAttribute)       \
    X(cublasLtMatmulPreferenceCreate)       \
    X(cublasLtMatmulPreferenceDestroy)      \
    X(cublasLtMatmulPreferenceSetAttribute) \
    X(cublasLtMatrixLayoutCreate)           \
    X(cublasLtMatrixLayoutDestroy)          \
    X(cublasLtMatrixLayoutSetAttribute)

typedef struct {
    DIS_CUBLAS_CALLS(DIS_CUDA_CALL_POINTER)
} dis__cublas;

/* The same every time, until the process ends; NULL: `why` (DIS_CUDA_WHY) says what is missing. */
const dis__cublas *dis__cublas_open(char *why);

#endif
