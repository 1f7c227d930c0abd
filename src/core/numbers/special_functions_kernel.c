/* The functions of vector_math.h over arrays. The last elements are processed in a vector padded with ones. */
#include "core/numbers/vector_math.h"

#define OVER_ARRAY(name, function)                                                                  \
    void DIS_KERNEL(name)(double *x, size_t n);                                                     \
    void DIS_KERNEL(name)(double *x, size_t n)                                                      \
    {                                                                                               \
        size_t i = 0;                                                                               \
        for (; i + DIS_LANES <= n; i += DIS_LANES) dis__vstore(x + i, function(dis__vload(x + i))); \
        if (i == n) return;                                                                         \
        double rest[DIS_LANES];                                                                     \
        for (size_t j = 0; j < DIS_LANES; j++) rest[j] = i + j < n ? x[i + j] : 1;                  \
        dis__vstore(rest, function(dis__vload(rest)));                                              \
        memcpy(x + i, rest, (n - i) * sizeof *x);                                                   \
    }

OVER_ARRAY(dis__exp_kernel, dis__vexp)
OVER_ARRAY(dis__log_kernel, dis__vlog)
OVER_ARRAY(dis__digamma_kernel, dis__vdigamma)
OVER_ARRAY(dis__lgamma_kernel, dis__vlgamma)
