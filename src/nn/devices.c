/* The table of devices: those in the host's memory, then what libdissent-cuda.so finds on this machine. That library
 * is looked for once (core/cuda_library.h), when a caller asks for more than those. It stays loaded to the end. */
#include "nn/devices.h"
#include "core/memory/memory.h"
#include "core/cuda_library.h"
#include "core/parallel/pool.h"
#include "core/system_calls.h"
#include "dissent/device_list.h"
#include "dissent/version.h"
#include "nn/device_plugin.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const dis__device *const host_devices[] = {&dis__device_ref, &dis__device_cpu, &dis__device_cpu_bf16};
enum { HOST_DEVICES = sizeof host_devices / sizeof *host_devices, TEXT = 256 };

/* What was found; written once. */
static struct {
    pthread_once_t once;
    dis__device rows[DIS_PLUGIN_ROWS];
    size_t n;
    char why[DIS_PLUGIN_WHY];
    dis_device info[HOST_DEVICES + DIS_PLUGIN_ROWS]; /* for people, without ref */
    char text[HOST_DEVICES + DIS_PLUGIN_ROWS][TEXT];
    size_t n_infos;
} found = {.once = PTHREAD_ONCE_INIT};

static const dis__plugin_host host = {.size = sizeof host,
                                      .device_size = sizeof(dis__device),
                                      .n_ops = DIS_N_OPS,
                                      .version = DIS_VERSION,
                                      .fail = dis__fail,
                                      .alloc_zeroed = dis__alloc_zeroed,
                                      .free = dis__free};

static void describe(const dis__device *row)
{
    char *text = found.text[found.n_infos];
    row->describe(row, text, TEXT);
    found.info[found.n_infos++] = (dis_device){.name = row->name,
                                               .kind = row->machine,
                                               .summary = row->summary,
                                               .description = text,
                                               .precision = row->precision,
                                               .can_train = row->trains};
}

static void look_for_cuda(void)
{
    void *symbol = dis__cuda_symbol(DIS_PLUGIN_SYMBOL, found.why, sizeof found.why);
    dis__plugin_devices *devices;
    if (!symbol) return;
    memcpy(&devices, &symbol, sizeof devices);
    found.n = devices(&host, found.rows, DIS_PLUGIN_ROWS, found.why);
}

static void look(void)
{
    look_for_cuda();
    for (size_t i = 1; i < HOST_DEVICES; i++) describe(host_devices[i]);
    for (size_t i = 0; i < found.n; i++) describe(&found.rows[i]);
}

static void look_once(void)
{
    pthread_once(&found.once, look);
}

const dis__device *dis__device_at(size_t i)
{
    if (i < HOST_DEVICES) return host_devices[i];
    look_once();
    return i - HOST_DEVICES < found.n ? &found.rows[i - HOST_DEVICES] : NULL;
}

const dis__device *dis__device_find(const char *name)
{
    for (size_t i = 0; i < HOST_DEVICES; i++)
        if (strcmp(host_devices[i]->name, name) == 0) return host_devices[i];
    look_once();
    for (size_t i = 0; i < found.n; i++)
        if (strcmp(found.rows[i].name, name) == 0) return &found.rows[i];
    return NULL;
}

const char *dis__device_missing(void)
{
    look_once();
    return found.n ? NULL : found.why;
}

/* ---- by the user's words ---- */

/* Words for precisions, in the order of dis_precision. */
static const char *const precisions[] = {"default", "float32", "bf16"};

/* The row of a machine with that precision; with DEFAULT its first. NULL: it has none. */
static const dis__device *row_of(const char *machine, int ordinal, dis_precision precision)
{
    for (size_t i = 0; i < HOST_DEVICES + found.n; i++) { /* found.n: 0 until a caller has looked */
        const dis__device *row = i < HOST_DEVICES ? host_devices[i] : &found.rows[i - HOST_DEVICES];
        if (strcmp(row->machine, machine) == 0 && row->ordinal == ordinal &&
            (precision == DIS_PRECISION_DEFAULT || row->precision == precision))
            return row;
    }
    return NULL;
}

static dis_status check_row(const dis__device *row, bool training)
{
    if (training && !row->trains)
        return dis__fail(DIS_EUSAGE, "the %s trains in float32; `precision` %s is for predictions and vectors there",
                         row->machine, precisions[row->precision]);
    return row->usable ? row->usable() : DIS_OK;
}

dis_status dis__device_choose(const char *device, dis_precision precision, bool training, const dis__device **out)
{
    bool automatic;
    long ordinal;
    DIS_TRY(dis__cuda_words(device, &automatic, &ordinal));
    if (ordinal >= 0) look_once();
    const bool cuda = ordinal >= 0 && (!automatic || found.n);
    const dis__device *row = cuda ? row_of("cuda", (int)ordinal, precision) : row_of("cpu", 0, precision);
    if (!row) return dis__cuda_absent(found.n, found.why, ordinal);
    DIS_TRY(check_row(row, training));
    *out = row;
    return DIS_OK;
}

dis_status dis__device_for(const dis_context *ctx, const dis__device *usual, bool training, const dis__device **out)
{
    const dis_precision precision = dis__context_precision(ctx);
    const char *device = dis__context_device(ctx);
    if (*device) return dis__device_choose(device, precision, training, out);
    const bool same = precision == DIS_PRECISION_DEFAULT || usual->precision == precision;
    const dis__device *row = same ? usual : row_of(usual->machine, usual->ordinal, precision);
    if (!row) return dis__fail(DIS_EUSAGE, "the device %s does not multiply in that `precision`", usual->name);
    DIS_TRY(check_row(row, training));
    *out = row;
    return DIS_OK;
}

const char *dis__device_precision(const dis__device *device)
{
    return precisions[device->precision];
}

dis_status dis__device_words(const dis_context *ctx, const char **machine, const char **precision)
{
    const dis_precision wanted = dis__context_precision(ctx);
    if (dis__cuda_ordinal(dis__context_device(ctx)) >= 0) {
        *machine = "cuda";
        *precision = precisions[wanted == DIS_PRECISION_DEFAULT ? DIS_PRECISION_BF16 : wanted];
        return DIS_OK;
    }
    const dis__device *row;
    DIS_TRY(dis__device_for(ctx, &dis__device_cpu, true, &row));
    *machine = row->machine;
    *precision = strcmp(row->machine, "cpu") == 0 ? NULL : precisions[row->precision];
    return DIS_OK;
}

/* ---- for people ---- */

const dis_device *dis_device_get(size_t i)
{
    look_once();
    return i < found.n_infos ? &found.info[i] : NULL;
}

const char *dis_device_missing_reason(void)
{
    return dis__device_missing();
}

dis_status dis_device_find(const char *device, dis_precision precision, bool training, const dis_device **out)
{
    const dis__device *row;
    DIS_TRY(dis__device_choose(device, precision, training, &row));
    for (size_t i = 0; dis_device_get(i); i++)
        if (strcmp(dis_device_get(i)->name, row->name) == 0) *out = dis_device_get(i);
    return DIS_OK;
}
