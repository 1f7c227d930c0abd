/* Devices that run networks: those of the CPU, then those of the registry's other rows. */
#include "nn/devices.h"
#include "core/context_internal.h"
#include "dissent/device_list.h"
#include <pthread.h>
#include <string.h>

static const dis__device *const cpu_devices[] = {&dis__device_ref, &dis__device_cpu, &dis__device_cpu_bf16};
enum {
    CPU_DEVICES = sizeof cpu_devices / sizeof *cpu_devices,
    DEVICES = CPU_DEVICES + DIS_DEVICE_ROWS * DIS_DEVICE_NETWORKS,
    TEXT = 800
};

/* NULL: a row without networks, or one whose library was built from other sources. */
static const dis__device *device_of(const dis__device_row *row, size_t i)
{
    const void *functions;
    if (dis__device_functions(row, &row->network[i], sizeof(dis__device), &functions) != DIS_OK) return NULL;
    const dis__device *device = functions;
    return device && (!device->n_ops || device->n_ops == DIS_N_OPS) ? device : NULL;
}

const dis__device *dis__device_at(size_t i)
{
    if (i < CPU_DEVICES) return cpu_devices[i];
    i -= CPU_DEVICES;
    for (size_t r = 1; dis__device_row_at(r); r++)
        for (size_t n = 0; n < DIS_DEVICE_NETWORKS; n++) {
            const dis__device *device = device_of(dis__device_row_at(r), n);
            if (device && i-- == 0) return device;
        }
    return NULL;
}

const dis__device *dis__device_find(const char *name)
{
    for (size_t i = 0; dis__device_at(i); i++)
        if (strcmp(dis__device_at(i)->name, name) == 0) return dis__device_at(i);
    return NULL;
}

/* ---- by row and precision ---- */

/* Words for precisions, in the order of dis_precision. */
static const char *const precisions[] = {"default", "float32", "bf16"};

/* The device of a row with that precision; with DEFAULT its first. NULL: it has none. */
static const dis__device *with_precision(const dis__device_row *row, dis_precision precision)
{
    const bool host = !row->network[0].functions; /* one of cpu_devices */
    for (size_t i = 0; i < (host ? (size_t)CPU_DEVICES : (size_t)DIS_DEVICE_NETWORKS); i++) {
        const dis__device *device = host ? cpu_devices[i] : device_of(row, i);
        if (device && device->row == row && (precision == DIS_PRECISION_DEFAULT || device->precision == precision))
            return device;
    }
    return NULL;
}

static dis_status check_device(const dis__device *device, bool training)
{
    if (training && !device->trains)
        return dis__fail(DIS_EUSAGE, "the %s trains in float32; `precision` %s is for predictions and vectors there",
                         device->row->machine, precisions[device->precision]);
    return device->usable ? device->usable(device) : DIS_OK;
}

static dis_status choose(const dis__device_row *row, dis_precision precision, bool training, const dis__device **out)
{
    const dis__device *device = with_precision(row, precision);
    if (!device)
        return dis__fail(DIS_EUSAGE, "device %s does not run networks in `precision` %s", row->name,
                         precisions[precision]);
    DIS_TRY(check_device(device, training));
    *out = device;
    return DIS_OK;
}

dis_status dis__device_choose(const char *words, dis_precision precision, bool training, const dis__device **out)
{
    dis__device_name name;
    const dis__device_row *row;
    DIS_TRY(dis__device_name_parse(words, &name));
    DIS_TRY(dis__device_row_find(words, &row));
    const bool automatic = !name.machine;
    if (automatic && row != &dis__device_row_cpu && choose(row, precision, training, out) == DIS_OK) return DIS_OK;
    return choose(automatic ? &dis__device_row_cpu : row, precision, training, out);
}

dis_status dis__device_for(const dis_context *ctx, const dis__device *usual, bool training, const dis__device **out)
{
    const dis_precision precision = dis__context_precision(ctx);
    const char *words = dis__context_device(ctx);
    if (*words) return dis__device_choose(words, precision, training, out);
    if (precision != DIS_PRECISION_DEFAULT && usual->precision != precision)
        return choose(usual->row, precision, training, out);
    DIS_TRY(check_device(usual, training));
    *out = usual;
    return DIS_OK;
}

const char *dis__device_precision(const dis__device *device)
{
    return precisions[device->precision];
}

dis_status dis__device_words(const dis_context *ctx, const char **machine, const char **precision)
{
    const dis_precision wanted = dis__context_precision(ctx);
    dis__device_name name;
    DIS_TRY(dis__device_name_parse(dis__context_device(ctx), &name));
    if (name.machine && !dis__device_name_is_cpu(&name)) {
        *machine = name.machine;
        *precision = precisions[wanted == DIS_PRECISION_DEFAULT ? DIS_PRECISION_BF16 : wanted];
        return DIS_OK;
    }
    const dis__device *device;
    DIS_TRY(dis__device_for(ctx, &dis__device_cpu, true, &device));
    *machine = device->row->machine;
    *precision = device->row == &dis__device_row_cpu ? NULL : precisions[device->precision];
    return DIS_OK;
}

/* ---- for people ---- */

/* Rows for users, without ref; written once. */
static struct {
    pthread_once_t once;
    dis_device row[DEVICES];
    char text[DEVICES][TEXT];
    size_t n;
} listed = {.once = PTHREAD_ONCE_INIT};

static void list(void)
{
    for (size_t i = 1; dis__device_at(i); i++) {
        const dis__device *device = dis__device_at(i);
        char *text = listed.text[listed.n];
        device->describe(device, text, TEXT);
        listed.row[listed.n++] = (dis_device){.name = device->name,
                                              .kind = device->row->machine,
                                              .summary = device->summary,
                                              .description = text,
                                              .precision = device->precision,
                                              .can_train = device->trains};
    }
}

const dis_device *dis_device_get(size_t i)
{
    pthread_once(&listed.once, list);
    return i < listed.n ? &listed.row[i] : NULL;
}

const char *dis_device_missing_reason(void)
{
    return dis__device_rows_missing();
}

dis_status dis_device_find(const char *words, dis_precision precision, bool training, const dis_device **out)
{
    const dis__device *device;
    DIS_TRY(dis__device_choose(words, precision, training, &device));
    for (size_t i = 0; dis_device_get(i); i++)
        if (strcmp(dis_device_get(i)->name, device->name) == 0) *out = dis_device_get(i);
    return DIS_OK;
}
