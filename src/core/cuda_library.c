/* CUDA devices: the library, and the words for them. */
#include "core/cuda_library.h"
#include "core/plugin.h"
#include "core/system_calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *find(const char *name)
{
    void *library = dis__plugin_open("libdissent-cuda.so", "DISSENT_CUDA");
    return library ? dis__sys_symbol(library, name) : NULL;
}

void *dis__cuda_symbol(const char *name, char *why, size_t size)
{
    void *symbol = find(name);
    if (!symbol) snprintf(why, size, "%s", dis__sys_library_error());
    return symbol;
}

long dis__cuda_ordinal(const char *device)
{
    if (strncmp(device, "cuda", 4) != 0) return -1;
    if (!device[4]) return 0;
    char *end;
    if (device[4] != ':' || device[5] < '0' || device[5] > '9') return -1;
    const long n = strtol(device + 5, &end, 10);
    return *end || n > 1000 ? -1 : n;
}

dis_status dis__cuda_words(const char *device, bool *automatic, long *ordinal)
{
    const bool cpu = !device || !*device || strcmp(device, "cpu") == 0;
    *automatic = !cpu && strcmp(device, "auto") == 0;
    *ordinal = cpu ? -1 : *automatic ? 0 : dis__cuda_ordinal(device);
    if (cpu || *ordinal >= 0) return DIS_OK;
    return dis__fail(DIS_EUSAGE, "no device \"%.40s\"; `device` may be cpu, cuda, cuda:N or auto", device);
}

dis_status dis__cuda_absent(size_t n, const char *why, long ordinal)
{
    if (n == 0) return dis__fail(DIS_EIO, "no CUDA device: %s; `device` cpu works everywhere", why);
    return dis__fail(DIS_EUSAGE, "there is no device cuda:%ld; dissent list devices shows them", ordinal);
}

void dis__cuda_start(const char *device)
{
    const long ordinal = strcmp(device, "auto") == 0 ? 0 : dis__cuda_ordinal(device);
    void *symbol = ordinal >= 0 ? find(DIS_CUDA_START_SYMBOL) : NULL;
    dis__cuda_starter *start;
    if (!symbol) return;
    memcpy(&start, &symbol, sizeof start);
    start((int)ordinal);
}
