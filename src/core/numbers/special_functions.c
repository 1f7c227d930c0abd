/* Picks the kernels for special_functions.h. */
#include "core/numbers/special_functions.h"
#include "core/kernel.h"

DIS_KERNEL_DECLARE(void, dis__exp_kernel, (double *x, size_t n));
DIS_KERNEL_DECLARE(void, dis__log_kernel, (double *x, size_t n));
DIS_KERNEL_DECLARE(void, dis__digamma_kernel, (double *x, size_t n));
DIS_KERNEL_DECLARE(void, dis__lgamma_kernel, (double *x, size_t n));

dis__special_functions dis__special_functions_select(void)
{
    return (dis__special_functions){.exp = DIS_KERNEL_SELECT(dis__exp_kernel),
                                    .log = DIS_KERNEL_SELECT(dis__log_kernel),
                                    .digamma = DIS_KERNEL_SELECT(dis__digamma_kernel),
                                    .lgamma = DIS_KERNEL_SELECT(dis__lgamma_kernel)};
}
