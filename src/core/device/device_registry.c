/* Discovery of devices, and their names. */
#include "core/device/device_registry.h"
#include "core/device/device_plugin.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "core/plugin.h"
#include "dissent/version.h"
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

/* Written once, except `added`, which the program writes before that. */
static struct {
    pthread_once_t once;
    dis__device_row row[DIS_DEVICE_ROWS];
    size_t n;
    char why[DIS_DEVICE_WHY];
    const dis__device_row *added;
} found = {.once = PTHREAD_ONCE_INIT};

static void discover(void)
{
    static const char library_name[] = "libdissent-cuda.so", variable[] = "DISSENT_CUDA";
    void *library = dis__plugin_open(library_name, variable);
    void *symbol = library ? dis__os_find_symbol(library, DIS_DEVICE_PLUGIN_SYMBOL) : NULL;
    dis__device_plugin *plugin;
    if (!library && !dis__plugin_is_installed(library_name) && !getenv(variable)) {
        snprintf(found.why, sizeof found.why,
                 "%s is not installed; run pip install \"dissent-labels[cuda]\", or build it from source with nvcc",
                 library_name);
        return;
    }
    if (!symbol) {
        snprintf(found.why, sizeof found.why, "%s", dis__os_library_error());
        return;
    }
    memcpy(&plugin, &symbol, sizeof plugin);
    found.n = plugin(&host, found.row, DIS_DEVICE_ROWS, found.why);
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
    return found.n ? NULL : found.why;
}

void dis__device_row_add(const dis__device_row *row)
{
    found.added = row;
}

/* ---- words ---- */

/* Whether `words` is MACHINE or MACHINE:N; *ordinal: 0 or N. */
static bool names(const char *words, const char *machine, long *ordinal)
{
    const size_t n = strlen(machine);
    char *end;
    if (strncmp(words, machine, n) != 0) return false;
    *ordinal = 0;
    if (!words[n]) return true;
    if (words[n] != ':' || words[n + 1] < '0' || words[n + 1] > '9') return false;
    *ordinal = strtol(words + n + 1, &end, 10);
    return !*end && *ordinal <= 1000;
}

dis_status dis__device_words_parse(const char *words, bool *automatic, long *ordinal)
{
    *ordinal = -1;
    *automatic = words && strcmp(words, "auto") == 0;
    if (*automatic) *ordinal = 0;
    if (*automatic || !words || !*words || strcmp(words, "cpu") == 0 || names(words, "cuda", ordinal)) return DIS_OK;
    if (found.added && names(words, found.added->machine, ordinal)) return DIS_OK;
    return dis__fail(DIS_EUSAGE, "no device \"%.40s\"; `device` may be cpu, cuda, cuda:N or auto", words);
}

dis_status dis__device_row_find(const char *words, const dis__device_row **out)
{
    bool automatic;
    long ordinal, number;
    DIS_TRY(dis__device_words_parse(words, &automatic, &ordinal));
    *out = &dis__device_row_cpu;
    if (ordinal < 0) return DIS_OK;
    for (size_t i = 1; dis__device_row_at(i); i++) {
        const dis__device_row *row = dis__device_row_at(i);
        *out = row;
        if (automatic || (names(words, row->machine, &number) && number == row->ordinal)) return DIS_OK;
    }
    *out = &dis__device_row_cpu;
    if (automatic) return DIS_OK;
    if (found.n == 0 && strncmp(words, "cuda", 4) == 0)
        return dis__fail(DIS_EIO, "no CUDA device: %s; `device` cpu works everywhere", found.why);
    return dis__fail(DIS_EUSAGE, "there is no device %.40s; dissent list devices shows them", words);
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
    bool automatic;
    long ordinal;
    const dis__device_row *row;
    if (dis__device_words_parse(words, &automatic, &ordinal) != DIS_OK || ordinal < 0) return;
    if (dis__device_row_find(words, &row) == DIS_OK && row->start) row->start(row);
}
