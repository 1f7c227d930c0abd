/* Picks the kernels for special.h. */
#include "core/special.h"
#include "core/kernel.h"

DIS_KERNEL_DECLARE(void, dis__exp_kernel, (double *x, size_t n));
DIS_KERNEL_DECLARE(void, dis__log_kernel, (double *x, size_t n));
DIS_KERNEL_DECLARE(void, dis__digamma_kernel, (double *x, size_t n));
DIS_KERNEL_DECLARE(void, dis__lgamma_kernel, (double *x, size_t n));

dis__special dis__special_pick(void)
{
    return (dis__special){.exp = DIS_KERNEL_PICK(dis__exp_kernel),
                          .log = DIS_KERNEL_PICK(dis__log_kernel),
                          .digamma = DIS_KERNEL_PICK(dis__digamma_kernel),
                          .lgamma = DIS_KERNEL_PICK(dis__lgamma_kernel)};
}
