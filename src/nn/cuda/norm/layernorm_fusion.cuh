/* layernorm_fusion.cuh: kernels of normalisations of many rows (layernorm_rows.cu), for the fused operations of
 * layernorm_fusion.cu. */
#ifndef DIS_NN_CUDA_NORM_LAYERNORM_FUSION_CUH
#define DIS_NN_CUDA_NORM_LAYERNORM_FUSION_CUH
#include "nn/cuda/common/kernels.cuh"

enum { NORM_WIDTH = 768, NORM_SUMS = 3, NORM_PARTS = 1024 };
enum { NORM_GAIN, NORM_BIAS, NORM_BELOW };

typedef struct {
    float *to[NORM_SUMS]; /* gradients to which the sums are added; NULL: not requested */
} norm_sums;

/* A normalisation's backward, the dropout before it (NULL: none) and the column sums of the result. */
typedef struct {
    const dis__layernorm_args *norm;
    const dis__dropout_args *dropout;
    norm_sums sums;
    float *parts; /* (NORM_PARTS, NORM_SUMS, NORM_WIDTH), until the work on the side stream is done */
} norm_chain;

/* Whether these kernels support such rows. */
bool dis__cuda_norm_wide(const dis__cuda_session *s, const dis__layernorm_args *a);
cudaError_t dis__cuda_norm_chain(dis__cuda_session *s, const norm_chain *n);

#endif
