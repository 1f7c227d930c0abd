/* The table of devices: those in the host's memory, then what libdissent-cuda.so finds on this machine. That library is
 * looked for once, when somebody asks for more than the first two: beside the program, beside this library, in the lib
 * folder next to either, then wherever the system looks. It stays loaded to the end. */
#include "nn/devices.h"
#include "core/memory.h"
#include "core/sys.h"
#include "dissent/version.h"
#include "nn/plugin.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dis__device *const host_devices[] = {&dis__device_ref, &dis__device_cpu};
enum { HOST_DEVICES = sizeof host_devices / sizeof *host_devices, PATH = 4096 };
#define LIBRARY "libdissent-cuda.so"

/* What was found; written once. */
static struct {
    pthread_once_t once;
    dis__device rows[DIS_PLUGIN_ROWS];
    size_t n;
    char why[DIS_PLUGIN_WHY];
} found = {.once = PTHREAD_ONCE_INIT};

static const dis__plugin_host host = {.size = sizeof host,
                                      .device_size = sizeof(dis__device),
                                      .n_ops = DIS_N_OPS,
                                      .version = DIS_VERSION,
                                      .fail = dis__fail,
                                      .alloc_zeroed = dis__alloc_zeroed,
                                      .free = dis__free};

/* The library in the folder of `file`, or in one near it; NULL: it is not there. */
static void *open_near(const char *file, bool *there)
{
    static const char *const near[] = {"", "../", "../lib/", "../../"};
    const char *slash = strrchr(file, '/');
    for (size_t i = 0; slash && i < sizeof near / sizeof *near; i++) {
        char path[PATH];
        const int n = snprintf(path, sizeof path, "%.*s%s" LIBRARY, (int)(slash + 1 - file), file, near[i]);
        if (n >= PATH || !dis__sys_is_there(path)) continue;
        *there = true;
        return dis__sys_library(path);
    }
    return NULL;
}

static void *open_library(void)
{
    char file[PATH];
    bool there = false;
    const char *wanted = getenv("DISSENT_CUDA");
    if (wanted && *wanted) return dis__sys_library(wanted);
    void *library = dis__sys_program(file, sizeof file) ? open_near(file, &there) : NULL;
    if (!there && dis__sys_own_file((void (*)(void))open_library, file, sizeof file)) library = open_near(file, &there);
    return there ? library : dis__sys_library(LIBRARY);
}

static void look(void)
{
    void *library = open_library(), *symbol = library ? dis__sys_symbol(library, DIS_PLUGIN_SYMBOL) : NULL;
    dis__plugin_devices *devices;
    if (!symbol) {
        snprintf(found.why, sizeof found.why, "%s", dis__sys_library_error());
        return;
    }
    memcpy(&devices, &symbol, sizeof devices);
    found.n = devices(&host, found.rows, DIS_PLUGIN_ROWS, found.why);
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

static const struct {
    const char *name;
    dis__number number;
} precisions[] = {{"float32", DIS_FLOAT32}, {"bf16", DIS_BFLOAT16}};

/* cuda or cuda:N; -1: neither. */
static long ordinal_of(const char *device)
{
    if (strncmp(device, "cuda", 4) != 0) return -1;
    if (!device[4]) return 0;
    char *end;
    if (device[4] != ':' || device[5] < '0' || device[5] > '9') return -1;
    const long n = strtol(device + 5, &end, 10);
    return *end || n > 1000 ? -1 : n;
}

static const dis__device *found_row(long ordinal, dis__number value)
{
    for (size_t i = 0; i < found.n; i++)
        if (found.rows[i].ordinal == ordinal && found.rows[i].number[DIS_ROLE_VALUE] == value) return &found.rows[i];
    return NULL;
}

static dis_status precision_of(const char *precision, bool cuda, dis__number *out)
{
    *out = cuda ? DIS_BFLOAT16 : DIS_FLOAT32;
    if (!precision || !*precision) return DIS_OK;
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++)
        if (strcmp(precisions[i].name, precision) == 0) {
            *out = precisions[i].number;
            return DIS_OK;
        }
    return dis__fail(DIS_EUSAGE, "a precision of \"%.40s\"; `precision` may be float32 or bf16", precision);
}

dis_status dis__device_choose(const char *device, const char *precision, const dis__device **out)
{
    const bool automatic = device && strcmp(device, "auto") == 0;
    const bool cpu = !device || !*device || strcmp(device, "cpu") == 0;
    const long ordinal = cpu || automatic ? 0 : ordinal_of(device);
    dis__number value;
    if (ordinal < 0)
        return dis__fail(DIS_EUSAGE, "a device of \"%.40s\"; `device` may be cpu, cuda, cuda:N or auto", device);
    if (!cpu) look_once();
    const bool cuda = !cpu && (!automatic || found.n);
    DIS_TRY(precision_of(precision, cuda, &value));
    if (!cuda && value != DIS_FLOAT32)
        return dis__fail(DIS_EUSAGE, "the processor computes in float32; `precision` bf16 is for `device` cuda");
    if (cuda && !found.n) return dis__fail(DIS_EIO, "no CUDA device: %s", found.why);
    const dis__device *row = cuda ? found_row(ordinal, value) : &dis__device_cpu;
    if (!row) return dis__fail(DIS_EUSAGE, "there is no device cuda:%ld; dissent list devices shows them", ordinal);
    *out = row;
    return DIS_OK;
}

const char *dis__device_precision(const dis__device *device)
{
    return device->number[DIS_ROLE_VALUE] == DIS_BFLOAT16 ? "bf16" : "float32";
}
