/* cuda_find.h: what all parts of libdissent-cuda.so share: the GPUs that there are, and a lock. */
#ifndef DIS_CORE_CUDA_CUDA_FIND_H
#define DIS_CORE_CUDA_CUDA_FIND_H
#include <stdbool.h>

enum { DIS_CUDA_WHY = 400 };

/* How many GPUs there are; 0: `why`. */
int dis__cuda_count(char why[DIS_CUDA_WHY]);
/* Whether one of them has what the kernels need; false: `why`. */
bool dis__cuda_new_enough(int ordinal, char why[DIS_CUDA_WHY]);

/* While a step of a net is recorded, nobody takes or gives back memory, in any thread: the driver would drop the
 * recording. */
void dis__cuda_lock(void);
void dis__cuda_unlock(void);

#endif
