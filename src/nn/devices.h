/* devices.h: a device by the words that a user has for it.
 *
 *     const dis__device *device;
 *     DIS_TRY(dis__device_choose("cuda:1", NULL, &device)); */
#ifndef DIS_NN_DEVICES_H
#define DIS_NN_DEVICES_H
#include "nn/device.h"

/* device: cpu (NULL and "" too), cuda, cuda:N, or auto: a CUDA device where there is one, else the processor.
 * precision: float32 or bf16; NULL or "": bf16 on CUDA devices. DIS_EUSAGE: no such words; DIS_EIO: no such device here,
 * and why. */
dis_status dis__device_choose(const char *device, const char *precision, const dis__device **out);
const char *dis__device_precision(const dis__device *device); /* "bf16" */
/* Why there are no CUDA devices; NULL: there are. */
const char *dis__device_missing(void);

#endif
