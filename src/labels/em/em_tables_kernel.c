/* The tables of the shards between two passes (em_cpu.c): sums of a worker's rows added over the shards, and new
 * probabilities back into each of them. A row of probabilities and its row of sums are stored next to each other, so
 * with up to 4 classes both are one cache line.
 *
 * Every sum is added up in the order of the shards, on all instruction sets alike.
 *
 * Cost: one read and one write of the tables. */
#include "core/kernel.h"
#include "labels/em/em.h"

#define INLINE static inline __attribute__((always_inline))

/* `row` is a constant where these are called with one, and their inner loops are unrolled. */
INLINE void add_rows(const dis__em_worker_rows *t, size_t row, double *restrict out)
{
    for (size_t r = 0; r < t->n_rows; r++) {
        const double *restrict sums = t->first + (2 * r + 1) * row;
        for (size_t j = 0; j < t->n; j++)
            for (size_t k = 0; k < row; k++) out[r * row + k] += sums[j * t->size + k];
    }
}

INLINE void set_rows(const dis__em_worker_rows *t, size_t row, const double *restrict values)
{
    for (size_t r = 0; r < t->n_rows; r++)
        for (size_t j = 0; j < t->n; j++) {
            double *restrict to = t->first + j * t->size + 2 * r * row;
            for (size_t k = 0; k < row; k++) to[k] = values[r * row + k];
            for (size_t k = 0; k < row; k++) to[row + k] = 0;
        }
}

void DIS_KERNEL(dis__em_add_sums)(const dis__em_worker_rows *t, double *out);
void DIS_KERNEL(dis__em_add_sums)(const dis__em_worker_rows *t, double *out)
{
    switch (t->row) {
    case 1: add_rows(t, 1, out); break;
    case 2: add_rows(t, 2, out); break;
    case 4: add_rows(t, 4, out); break;
    case 8: add_rows(t, 8, out); break;
    default: add_rows(t, t->row, out);
    }
}

void DIS_KERNEL(dis__em_set_rows)(const dis__em_worker_rows *t, const double *values);
void DIS_KERNEL(dis__em_set_rows)(const dis__em_worker_rows *t, const double *values)
{
    switch (t->row) {
    case 1: set_rows(t, 1, values); break;
    case 2: set_rows(t, 2, values); break;
    case 4: set_rows(t, 4, values); break;
    case 8: set_rows(t, 8, values); break;
    default: set_rows(t, t->row, values);
    }
}
