/* device_plugin.h: devices in a separate library, which is loaded on demand (core/plugin.h), so that the tool does not
 * link GPU libraries and runs everywhere.
 *
 * The library exports one function. It receives the functions of this library that it needs, and fills rows of the
 * registry (core/device/device_registry.h), or the reason why there are none. Both sides are built from the same
 * sources: a library of another version returns no rows. */
#ifndef DIS_CORE_DEVICE_DEVICE_PLUGIN_H
#define DIS_CORE_DEVICE_DEVICE_PLUGIN_H
#include "core/device/device_registry.h"

typedef struct dis__device_host {
    size_t size, row_size; /* of this struct and of a row */
    const char *version;
    dis_status (*fail)(dis_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
    dis_status (*alloc_zeroed)(void *out, size_t n, size_t size);
    void (*free)(void *memory);
} dis__device_host;

/* Returns the number of rows, at most `room`; 0: `why` has the reason. `host` and `rows` stay valid. */
typedef size_t dis__device_plugin(const dis__device_host *host, dis__device_row *rows, size_t room,
                                  char why[DIS_DEVICE_WHY]);
#define DIS_DEVICE_PLUGIN_SYMBOL "dis_device_plugin"

#endif
