/* stand_in.h: a device in plain loops, in place of libdissent-cuda.so (DISSENT_CUDA): its row of the registry, and what
 * it can run. */
#ifndef DIS_DEVICES_STAND_IN_H
#define DIS_DEVICES_STAND_IN_H
#include "core/device/device_plugin.h"

void stand_in_add_em(dis__device_row *row);        /* em_stand_in.c */
void stand_in_add_bootstrap(dis__device_row *row); /* bootstrap_stand_in.c */

#endif
