/* devices.h: a device by the words that a user has for it.
 *
 *     const dis__device *device;
 *     DIS_TRY(dis__device_choose("cuda:1", DIS_PRECISION_DEFAULT, true, &device)); */
#ifndef DIS_NN_DEVICES_H
#define DIS_NN_DEVICES_H
#include "nn/device.h"

/* device: cpu (NULL and "" too), cuda, cuda:N, or auto: a CUDA device where there is one, else the CPU.
 * precision: DEFAULT is bf16 on CUDA devices. DIS_EUSAGE: no such words, or a precision that the device lacks, or does
 * not train in; DIS_EIO: no such device here, and why. */
dis_status dis__device_choose(const char *device, dis_precision precision, bool training, const dis__device **out);
/* The row of `usual`'s machine with the context's precision. */
dis_status dis__device_for(const dis_context *ctx, const dis__device *usual, bool training, const dis__device **out);
const char *dis__device_precision(const dis__device *device); /* "bf16" */
/* What the results of training are distinguished by, "cuda bf16", *precision NULL for the CPU in float32; a device
 * that is named need not be here. */
dis_status dis__device_words(const dis_context *ctx, const char **machine, const char **precision);

#endif
