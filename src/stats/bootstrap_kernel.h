/* bootstrap_kernel.h: the inner loops of the bootstrap (bootstrap_kernel.c). */
#ifndef DIS_STATS_BOOTSTRAP_KERNEL_H
#define DIS_STATS_BOOTSTRAP_KERNEL_H
#include "core/kernel.h"
#include <stddef.h>
#include <stdint.h>

/* count (n, a multiple of 64): for each item the number of bounds below 16 random bits, read as a signed integer.
 * state: four words of each of eight generators, word by word; advanced. */
DIS_KERNEL_DECLARE(void, dis__bootstrap_poisson,
                   (uint64_t state[32], const int16_t *bound, size_t n_bounds, uint8_t *count, size_t n));
/* The sum of n counts. */
DIS_KERNEL_DECLARE(uint64_t, dis__bootstrap_total, (const uint8_t *count, size_t n));
/* sums (n_resamples, n_columns): for each resample r and column c adds the sum over i < n of
 * count[r stride + i] columns[c][first + i]. */
DIS_KERNEL_DECLARE(void, dis__bootstrap_dot,
                   (const uint8_t *count, size_t stride, size_t n_resamples, const double *const *columns,
                    size_t n_columns, size_t first, size_t n, double *sums));

#endif
