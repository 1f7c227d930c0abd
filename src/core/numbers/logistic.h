/* logistic.h: the inner loop of glad.c. */
#ifndef DIS_CORE_LOGISTIC_H
#define DIS_CORE_LOGISTIC_H
#include "core/kernel.h"
#include <stddef.h>

enum { DIS_LOGISTIC_PAD = 8 }; /* values after the n-th that dis__logistic may read and write */

/* sigma = 1 / (1 + exp(-x)) and tail = log(1 + exp(-|x|)) of n values, so that log(1 + exp x) = max(x, 0) + tail.
 * sigma may be x. */
DIS_KERNEL_DECLARE(void, dis__logistic, (const double *x, size_t n, double *sigma, double *tail));

#endif
