/* device_list.h: devices for neural networks: the CPU, and CUDA devices if libdissent-cuda.so finds any.
 *
 *     const dis_device *d;
 *     for (size_t i = 0; (d = dis_device_get(i)); i++) printf("%s: %s\n", d->name, d->description);
 *     if (dis_device_missing_reason()) printf("no CUDA device: %s\n", dis_device_missing_reason());
 *
 * A call uses the device of its context (`device` of dis_context_options). The library for CUDA devices is loaded when
 * a device other than the CPU is first requested. It is searched next to the program or this library, in the system's
 * folders, or at the path in the environment variable DISSENT_CUDA.
 * Threads: any. */
#ifndef DIS_DEVICE_LIST_H
#define DIS_DEVICE_LIST_H
#include "dissent/context.h"

typedef struct {
    const char *name, *kind, *summary; /* "cuda:0", "cuda" */
    const char *description;           /* on this machine: "NVIDIA H200, ..." */
    dis_precision precision;
    bool can_train; /* false: predictions and vectors alone */
} dis_device;

/* Rows of one machine differ in precision. NULL past the end. */
DIS_API const dis_device *dis_device_get(size_t i);
/* The reason why no CUDA device is available; NULL if one is. */
DIS_API const char *dis_device_missing_reason(void);
/* What a call with this device and precision would use. DIS_EUSAGE: unknown words; DIS_EIO: the device is not
 * available, with the reason. */
DIS_API dis_status dis_device_find(const char *device, dis_precision precision, bool training, const dis_device **out);

#endif
