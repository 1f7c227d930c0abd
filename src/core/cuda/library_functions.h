/* library_functions.h: functions of a library that is loaded on demand. A list of names defines a struct of function
 * pointers and the names to look up:
 *
 *     #define CALLS(X) X(cudnnCreate) X(cudnnDestroy)
 *     typedef struct { CALLS(DIS_CUDA_FUNCTION_POINTER) } calls;
 *     static const char *const names[] = {CALLS(DIS_CUDA_FUNCTION_NAME)};
 *     if (!dis__cuda_load_functions(library, names, sizeof names / sizeof *names, &calls)) ... too old ... */
#ifndef DIS_CORE_CUDA_LIBRARY_FUNCTIONS_H
#define DIS_CORE_CUDA_LIBRARY_FUNCTIONS_H
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define DIS_CUDA_FUNCTION_POINTER(name) __typeof__(&name) name;
#define DIS_CUDA_FUNCTION_NAME(name)    #name,

/* Fills a struct that consists of n pointers; false: the library lacks some. */
static inline bool dis__cuda_load_functions(void *library, const char *const *names, size_t n, void *pointers)
{
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        void *const found = dlsym(library, names[i]);
        memcpy((char *)pointers + i * sizeof found, &found, sizeof found);
        all = all && found;
    }
    return all;
}

#endif
