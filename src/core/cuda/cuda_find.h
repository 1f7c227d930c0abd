/* cuda_find.h: what all parts of libdissent-cuda.so share: the GPUs that there are, and a lock. */
#ifndef DIS_CORE_CUDA_CUDA_FIND_H
#define DIS_CORE_CUDA_CUDA_FIND_H
#include <stdbool.h>
#include <stddef.h>

enum { DIS_CUDA_WHY = 400, DIS_CUDA_GPUS = 16 };

/* The ordinals of GPUs that have what the kernels need, in order; `same`: a caller that asks was built with this
 * library, as far as can be told, and is of `version`. 0: `why`. */
size_t dis__cuda_find_gpus(bool same, const char *version, int ordinal[DIS_CUDA_GPUS], char why[DIS_CUDA_WHY]);
/* cuda:N, or "cuda:N float32"; N below DIS_CUDA_GPUS. */
const char *dis__cuda_name(int ordinal, bool exact);

/* While a step of a network is recorded, no one takes or gives back memory, in any thread: the driver would drop the
 * recording. */
void dis__cuda_lock(void);
void dis__cuda_unlock(void);

#endif
