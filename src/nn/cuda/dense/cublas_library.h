/* cublas_library.h: cuBLASLt, loaded when a network requests a device: passes over votes and resamples do not need it,
 * and loading takes some hundredths of a second. */
#ifndef DIS_NN_CUDA_DENSE_CUBLAS_LIBRARY_H
#define DIS_NN_CUDA_DENSE_CUBLAS_LIBRARY_H
#include "core/cuda/library_functions.h"
#include <cublasLt.h>

#define DIS_CUBLAS_FUNCTIONS(X)             \
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
    DIS_CUBLAS_FUNCTIONS(DIS_CUDA_FUNCTION_POINTER)
} dis__cublas;

/* The same pointer every time, until the process ends; NULL: `why` (DIS_DEVICE_WHY) has the reason. */
const dis__cublas *dis__cublas_open(char *why);

#endif
