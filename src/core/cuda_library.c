/* CUDA devices: the library, and the words for them. */
#include "core/cuda_library.h"
#include "core/plugin_file.h"
#include "core/sys.h"
#include <stdlib.h>
#include <string.h>

void *dis__cuda_library(void)
{
    return dis__plugin_open("libdissent-cuda.so", "DISSENT_CUDA");
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

void dis__cuda_start(const char *device)
{
    const long ordinal = strcmp(device, "auto") == 0 ? 0 : dis__cuda_ordinal(device);
    void *library = ordinal >= 0 ? dis__cuda_library() : NULL;
    void *symbol = library ? dis__sys_symbol(library, DIS_CUDA_START_SYMBOL) : NULL;
    dis__cuda_starter *start;
    if (!symbol) return;
    memcpy(&start, &symbol, sizeof start);
    start((int)ordinal);
}
