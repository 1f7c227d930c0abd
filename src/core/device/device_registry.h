/* device_registry.h: the devices of this machine, and their names.
 *
 *     const dis__device_row *row;
 *     DIS_TRY(dis__device_row_find(dis__context_device(ctx), &row)); // "cuda:1"
 *     const dis__em_device *device;
 *     DIS_TRY(dis__device_functions(row, &row->em, sizeof *device, (const void **)&device));
 *
 * There is one row per device. Row 0 is the CPU, whose code is part of the library. The libraries that the table in
 * device_registry.c lists add theirs (core/device/device_plugin.h): libdissent-cuda.so one per GPU. They are loaded when
 * a caller first names or lists more than the CPU, and stay loaded. What a device can run is a set of optional tables
 * of functions: networks (nn/device.h), EM passes over votes
 * (labels/em/em_device.h), sums over bootstrap resamples (stats/bootstrap_device.h). The context chooses the device;
 * nothing else does.
 *
 * Threads: any. Rows do not change after the first lookup. */
#ifndef DIS_CORE_DEVICE_DEVICE_REGISTRY_H
#define DIS_CORE_DEVICE_DEVICE_REGISTRY_H
#include "core/error.h"
#include <stdbool.h>
#include <stddef.h>

enum { DIS_DEVICE_ROWS = 17, DIS_DEVICE_NETWORKS = 2, DIS_DEVICE_WHY = 600 };

/* Functions for one kind of work; `functions` NULL: the device does not support it. `size`: of their struct, which
 * differs if a library was built from other sources. */
typedef struct {
    const void *functions;
    size_t size;
} dis__device_table;

typedef struct dis__device_row dis__device_row;
struct dis__device_row {
    const char *name;                               /* "cpu", "cuda:0" */
    const char *machine;                            /* "cpu", "cuda" */
    int ordinal;                                    /* index among devices of this kind, from 0 */
    const struct dis__device_host *host;            /* set by a library; NULL: the CPU */
    void (*start)(const dis__device_row *row);      /* starts the device in advance; NULL: not needed */
    dis__device_table network[DIS_DEVICE_NETWORKS]; /* one per precision */
    dis__device_table em, bootstrap;
};

extern const dis__device_row dis__device_row_cpu;

/* NULL past the end. */
const dis__device_row *dis__device_row_at(size_t i);
/* words: cpu (NULL and "" too), cuda, cuda:N, or auto: the first row that is not the CPU, otherwise the CPU.
 * DIS_EUSAGE: another name, or an invalid number; DIS_EIO: the device is not available, with the reason. */
dis_status dis__device_row_find(const char *words, const dis__device_row **out);
/* Why only the CPU is available; NULL: there are other devices. */
const char *dis__device_rows_missing(void);

/* Which device words name. */
typedef struct {
    const char *machine; /* "cpu", "cuda"; NULL: auto */
    int ordinal;
} dis__device_name;
/* Checks only the syntax, and loads nothing. DIS_EUSAGE: other words. */
dis_status dis__device_name_parse(const char *words, dis__device_name *out);
bool dis__device_name_is_cpu(const dis__device_name *name);

/* *functions is NULL if the table has none. DIS_EIO: they are of another version of dissent. */
dis_status dis__device_functions(const dis__device_row *row, const dis__device_table *table, size_t size,
                                 const void **functions);

/* Loads and starts the named device. A failure is reported when the device is used. */
void dis__device_start(const char *words);

/* Adds a row defined by the program, such as a test's; `words` may name its machine. Call it before the first lookup;
 * `row` must stay valid. */
void dis__device_row_add(const dis__device_row *row);

#endif
