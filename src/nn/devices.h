/* devices.h: finds a device by its name.
 *
 *     const dis__device *device;
 *     DIS_TRY(dis__device_choose("cuda:1", DIS_PRECISION_DEFAULT, true, &device)); */
#ifndef DIS_NN_DEVICES_H
#define DIS_NN_DEVICES_H
#include "nn/device.h"

/* device: cpu (NULL and "" too), cuda, cuda:N, or auto: a CUDA device if available, otherwise the CPU. precision:
 * DEFAULT is bf16 on CUDA devices. DIS_EUSAGE: unknown name, or a precision that the device does not support, or not
 * for training; DIS_EIO: the device is unavailable, with the reason. */
dis_status dis__device_choose(const char *device, dis_precision precision, bool training, const dis__device **out);
/* The row of `usual`'s machine with the context's precision. */
dis_status dis__device_for(const dis_context *ctx, const dis__device *usual, bool training, const dis__device **out);
const char *dis__device_precision(const dis__device *device); /* "bf16" */
/* The part of keys of training results, "cuda bf16"; *precision is NULL for the CPU in float32. A named device need not
 * exist on this machine. */
dis_status dis__device_words(const dis_context *ctx, const char **machine, const char **precision);

#endif
