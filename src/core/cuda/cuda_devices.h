/* cuda_devices.h: shared by all parts of libdissent-cuda.so: the GPUs of this machine as rows of the registry of
 * devices (core/device/device_plugin.h), and a lock. */
#ifndef DIS_CORE_CUDA_CUDA_DEVICES_H
#define DIS_CORE_CUDA_CUDA_DEVICES_H
#include "core/device/device_plugin.h"

enum { DIS_CUDA_GPUS = DIS_DEVICE_ROWS - 1 };

/* Writes the functions of a GPU for each kind of work to its row; src/nn/cuda, src/labels/cuda and src/stats/cuda have
 * one of these each. */
void dis__cuda_add_networks(dis__device_row *row);
void dis__cuda_add_em(dis__device_row *row);
void dis__cuda_add_bootstrap(dis__device_row *row);

/* Which libraries that networks use were not found, and how to install them: "; ..." for each. */
void dis__cuda_missing_libraries(char *text, size_t n);

/* While a step of a network is captured, no thread may allocate or free device memory: the driver would invalidate the
 * capture. */
void dis__cuda_lock(void);
void dis__cuda_unlock(void);

#endif
