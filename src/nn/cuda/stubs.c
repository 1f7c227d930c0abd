/* Operations whose kernels are not written yet. */
#include "nn/cuda/cuda_ops.h"
#define STUB(name)                                                                             \
    __attribute__((weak)) cudaError_t dis__cuda_##name(dis__cuda_session *s, const void *args) \
    {                                                                                          \
        (void)s;                                                                               \
        (void)args;                                                                            \
        return cudaErrorNotSupported;                                                          \
    }
DIS_OPS(STUB)
#define NONE(name)                                                                               \
    __attribute__((weak)) size_t dis__cuda_##name##_work(dis__cuda_session *s, const void *args) \
    {                                                                                            \
        (void)s;                                                                                 \
        (void)args;                                                                              \
        return 0;                                                                                \
    }
NONE(attend)
NONE(attend_grad)
NONE(conv)
NONE(conv_grad)
NONE(recurrent)
NONE(recurrent_grad)
