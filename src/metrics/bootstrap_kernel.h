/* bootstrap_kernel.h: the inner loops of the bootstrap (bootstrap_kernel.c). */
#ifndef DIS_METRICS_BOOTSTRAP_KERNEL_H
#define DIS_METRICS_BOOTSTRAP_KERNEL_H
#include "core/kernel.h"
#include <stddef.h>
#include <stdint.h>

/* count (n, a multiple of 64): for each item the number of bounds below 16 random bits, read as a signed number. state:
 * four words of each of eight generators, word by word; moved on. */
DIS_KERNEL_DECLARE(void, dis__bootstrap_poisson,
                   (uint64_t state[32], const int16_t *bound, size_t n_bounds, uint8_t *count, size_t n));
/* The sum of n counts. */
DIS_KERNEL_DECLARE(uint64_t, dis__bootstrap_total, (const uint8_t *count, size_t n));
/* sums[c] += sum over i < n of count[i] columns[c][first + i]. */
DIS_KERNEL_DECLARE(void, dis__bootstrap_dot,
                   (const uint8_t *count, const double *const *columns, size_t n_columns, size_t first, size_t n,
                    double *sums));

#endif
