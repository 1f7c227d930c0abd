/* device_plugin.h: devices that are built into a library of their own, loaded when a caller asks for them, so that
 * the tool itself links nothing of theirs and runs everywhere.
 *
 * The library has one symbol. It is given what it needs of this one, and answers with rows of the table of devices,
 * or with the reason why there are none. Both sides are built from the same sources: a library of another version is
 * refused by what it is given. */
#ifndef DIS_NN_DEVICE_PLUGIN_H
#define DIS_NN_DEVICE_PLUGIN_H
#include "nn/device.h"

enum { DIS_PLUGIN_ROWS = 32, DIS_PLUGIN_WHY = 400 };

typedef struct {
    size_t size, device_size, n_ops; /* of this struct, of a row, and DIS_N_OPS */
    const char *version;
    dis_status (*fail)(dis_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
    dis_status (*alloc_zeroed)(void *out, size_t n, size_t size);
    void (*free)(void *memory);
} dis__plugin_host;

/* Returns the number of rows, at most `room`; 0: `why` says what is missing. `host` stays valid. */
typedef size_t dis__plugin_devices(const dis__plugin_host *host, dis__device *rows, size_t room,
                                   char why[DIS_PLUGIN_WHY]);
#define DIS_PLUGIN_SYMBOL "dis_plugin_devices"

#endif
