/* Discovery of devices, and their names. */
#include "core/device/device_registry.h"
#include "core/device/device_plugin.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "core/plugin.h"
#include "core/system_calls.h"
#include "dissent/version.h"
#include "tool/device_calls.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const dis__device_row dis__device_row_cpu = {.name = "cpu", .machine = "cpu"};

static const dis__device_host host = {.size = sizeof host,
                                      .row_size = sizeof(dis__device_row),
                                      .version = DIS_VERSION,
                                      .fail = dis__fail,
                                      .alloc_zeroed = dis__alloc_zeroed,
                                      .free = dis__free};

/* Devices in libraries of their own, by machine. */
typedef struct {
    const char *machine, *title; /* as in "cuda:0"; in messages */
    const char *library, *variable;
    const char *install; /* what to do where the library is missing */
    const char *driver;  /* a file that exists where the driver is loaded */
} device_library;
static const device_library libraries[] = {
    {"cuda", "CUDA", "libdissent-cuda.so", "DISSENT_CUDA",
     "run pip install \"dissent-labels[cuda]\", or build it from source with nvcc", "/dev/nvidiactl"},
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

/* Written once, except `added`, which the program writes before that. */
static struct {
    pthread_once_t once;
    dis__device_row row[DIS_DEVICE_ROWS];
    size_t n;
    char why[LIBRARIES][DIS_DEVICE_WHY]; /* "": it has rows */
    const dis__device_row *added;
} found = {.once = PTHREAD_ONCE_INIT};

/* Adds the rows of a library, or writes why it has none. */
static void discover_in(const device_library *l, char why[DIS_DEVICE_WHY])
{
    void *library = dis__plugin_open(l->library, l->variable);
    void *symbol = library ? dis__os_find_symbol(library, DIS_DEVICE_PLUGIN_SYMBOL) : NULL;
    dis__device_plugin *plugin;
    if (!library && !dis__plugin_is_installed(l->library) && !getenv(l->variable)) {
        snprintf(why, DIS_DEVICE_WHY, "%s is not installed; %s", l->library, l->install);
        return;
    }
    if (!symbol) {
        snprintf(why, DIS_DEVICE_WHY, "%s", dis__os_library_error());
        return;
    }
    memcpy(&plugin, &symbol, sizeof plugin);
    found.n += plugin(&host, found.row + found.n, DIS_DEVICE_ROWS - found.n, why);
}

static void discover(void)
{
    for (size_t l = 0; l < LIBRARIES; l++) discover_in(&libraries[l], found.why[l]);
}

static void discover_once(void)
{
    pthread_once(&found.once, discover);
}

const dis__device_row *dis__device_row_at(size_t i)
{
    if (i == 0) return &dis__device_row_cpu;
    discover_once();
    if (i - 1 < found.n) return &found.row[i - 1];
    return i - 1 == found.n ? found.added : NULL;
}

const char *dis__device_rows_missing(void)
{
    discover_once();
    return found.n ? NULL : found.why[0];
}

void dis__device_row_add(const dis__device_row *row)
{
    found.added = row;
}

/* ---- words ---- */

/* Whether `words` is MACHINE or MACHINE:N. */
static bool names(const char *words, const char *machine, dis__device_name *out)
{
    enum { MAX_DIGITS = 4 };
    const size_t n = strlen(machine);
    if (strncmp(words, machine, n) != 0) return false;
    *out = (dis__device_name){.machine = machine};
    if (!words[n]) return true;
    const size_t digits = words[n] == ':' ? strspn(words + n + 1, "0123456789") : 0;
    if (digits == 0 || digits > MAX_DIGITS || words[n + 1 + digits]) return false;
    out->ordinal = (int)strtol(words + n + 1, NULL, 10);
    return true;
}

dis_status dis__device_name_parse(const char *words, dis__device_name *out)
{
    char known[DIS_DEVICE_WHY] = "";
    *out = (dis__device_name){.machine = dis__device_row_cpu.machine};
    if (!words || !*words || strcmp(words, dis__device_row_cpu.name) == 0) return DIS_OK;
    for (size_t l = 0; l < LIBRARIES; l++) {
        const char *machine = libraries[l].machine;
        const size_t used = strlen(known);
        if (names(words, machine, out)) return DIS_OK;
        snprintf(known + used, sizeof known - used, ", %s, %s:N", machine, machine);
    }
    if (found.added && names(words, found.added->machine, out)) return DIS_OK;
    if (strcmp(words, "auto") != 0)
        return dis__fail(DIS_EUSAGE, "no device \"%.40s\"; `device` may be cpu%s or auto", words, known);
    *out = (dis__device_name){.machine = NULL};
    return DIS_OK;
}

bool dis__device_name_is_cpu(const dis__device_name *name)
{
    return name->machine == dis__device_row_cpu.machine;
}

static bool is_named(const dis__device_row *row, const dis__device_name *name)
{
    return !name->machine || (strcmp(row->machine, name->machine) == 0 && row->ordinal == name->ordinal);
}

dis_status dis__device_row_find(const char *words, const dis__device_row **out)
{
    dis__device_name name;
    DIS_TRY(dis__device_name_parse(words, &name));
    *out = &dis__device_row_cpu;
    if (dis__device_name_is_cpu(&name)) return DIS_OK;
    for (size_t i = 1; dis__device_row_at(i); i++)
        if (is_named(dis__device_row_at(i), &name)) {
            *out = dis__device_row_at(i);
            return DIS_OK;
        }
    if (!name.machine) return DIS_OK;
    for (size_t l = 0; l < LIBRARIES; l++)
        if (found.why[l][0] && strcmp(libraries[l].machine, name.machine) == 0)
            return dis__fail(DIS_EIO, "no %s device: %s; `device` cpu works everywhere", libraries[l].title,
                             found.why[l]);
    return dis__fail(DIS_EUSAGE, "there is no device %.40s; dissent list devices shows them", words);
}

bool dis__device_of_rank(const char *words, long rank, char *name, size_t n)
{
    dis__device_name wanted;
    long devices = 0;
    if (!words || strchr(words, ':') || dis__device_name_parse(words, &wanted) != DIS_OK) return false;
    if (!wanted.machine || dis__device_name_is_cpu(&wanted)) return false;
    for (size_t i = 1; dis__device_row_at(i); i++)
        devices += strcmp(dis__device_row_at(i)->machine, wanted.machine) == 0;
    if (devices == 0) return false;
    rank %= devices;
    for (size_t i = 1; dis__device_row_at(i); i++)
        if (strcmp(dis__device_row_at(i)->machine, wanted.machine) == 0 && rank-- == 0)
            snprintf(name, n, "%s", dis__device_row_at(i)->name);
    return true;
}

bool dis__device_has_driver(const char *words)
{
    dis__device_name name;
    if (dis__device_name_parse(words, &name) != DIS_OK || !name.machine || name.ordinal > 0) return false;
    for (size_t l = 0; l < LIBRARIES; l++)
        if (libraries[l].machine == name.machine) return dis__sys_exists(libraries[l].driver);
    return false;
}

dis_status dis__device_functions(const dis__device_row *row, const dis__device_table *table, size_t size,
                                 const void **functions)
{
    *functions = table->functions;
    if (!table->functions || table->size == size) return DIS_OK;
    return dis__fail(DIS_EIO, "device %s: its library was built for another version of dissent than %s", row->name,
                     DIS_VERSION);
}

void dis__device_start(const char *words)
{
    dis__device_name name;
    const dis__device_row *row;
    if (dis__device_name_parse(words, &name) != DIS_OK || dis__device_name_is_cpu(&name)) return;
    if (dis__device_row_find(words, &row) == DIS_OK && row->start) row->start(row);
}
