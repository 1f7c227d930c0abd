/* cudnn_conv.h: convolutions by cuDNN, if its library is found at the first one: bfloat16, full vectors of channels, no
 * lengths, no bias, no activation. Plans are chosen by its heuristics among the deterministic ones, once per shape,
 * never by timing. */
#ifndef DIS_NN_CUDA_CONV_CUDNN_CONV_H
#define DIS_NN_CUDA_CONV_CUDNN_CONV_H
#include "nn/cuda/common/cuda_operations.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { DIS_CUDNN_FORWARD, DIS_CUDNN_BY_INPUT, DIS_CUDNN_BY_WEIGHT, DIS_N_CUDNN } dis__cudnn_kind;

/* True: done, or failed with *error. False: not supported by cuDNN, or cuDNN is missing; nothing was done. width:
 * channels of d_weight, which are fewer than those of x if these were padded. x may be in scratch memory. */
bool dis__cudnn_conv(dis__cuda_session *s, const dis__conv_args *a, dis__cudnn_kind kind, size_t width,
                     cudaError_t *error);
bool dis__cudnn_is_installed(void); /* or not used by this build */
void dis__cudnn_close(dis__cuda_session *s);
/* d_weight (rows, width) += the first columns of `from` (rows, wide) in bfloat16. */
cudaError_t dis__cuda_add_weight(dis__cuda_session *s, float *d_weight, const void *from, size_t rows, size_t wide,
                                 size_t width);

#ifdef __cplusplus
}
#endif
#endif
