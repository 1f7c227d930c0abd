/* operation_jobs.h: how operations are divided into jobs for threads, and the memory they need, on devices in host
 * memory.
 *
 * The result for an index depends on the arguments only, so any division gives the same bytes. */
#ifndef DIS_NN_HOST_OPERATION_JOBS_H
#define DIS_NN_HOST_OPERATION_JOBS_H
#include "nn/ops.h"

/* An operation's index runs over [0, n); one of them is about `work` units; a job has at least `min` of them. */
typedef struct {
    size_t n, work, min;
} dis__cut;

/* `args` may be completed with fields that only these devices need (tiles, groups): it must be a copy. */
dis__cut dis__cut_of(dis__op op, void *args, int n_threads);
size_t dis__args_size(dis__op op);
/* Bytes of scratch memory for each thread, on a device whose values have `real` bytes and whose GEMMs need `times`
 * bytes. SIZE_MAX: overflow. */
size_t dis__scratch_of(dis__op op, const void *args, size_t real, size_t times);
/* Bytes of args->work. */
size_t dis__work_of(dis__op op, const void *args, size_t real);
/* Gradients that an operation leaves in parts in args->work, and the destination of their sum; false: it leaves none.
 * `args` are the divided ones. */
bool dis__parts_of(dis__op op, const void *args, dis__column_sums_args *sums);

/* Divides C into tiles; returns their number. */
size_t dis__product_tiles(dis__product_args *args, int n_threads);

#endif
