/* device_list.h: where nets can run: the processor, and CUDA devices where libdissent-cuda.so finds any.
 *
 *     for (size_t i = 0; dis_device_get(i); i++) printf("%s: %s\n", dis_device_get(i)->name, dis_device_get(i)->found);
 *     if (dis_device_missing_reason()) printf("no CUDA device: %s\n", dis_device_missing_reason());
 *
 * A call uses the device of its context (`device` of dis_context_options). The library for CUDA devices is loaded when
 * somebody first asks for more than the processor: from beside the program or this library, from where the system
 * looks, or from the path in the environment's DISSENT_CUDA.
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
/* Why there are no CUDA devices; NULL: there are. */
DIS_API const char *dis_device_missing_reason(void);
/* What a call with this device and precision would use. DIS_EUSAGE: no such words; DIS_EIO: it is not there, and
 * why. */
DIS_API dis_status dis_device_find(const char *device, dis_precision precision, bool training, const dis_device **out);

#endif
