/* cuda_library.h: the library of CUDA devices, which is loaded when somebody asks for one, and the words for them. */
#ifndef DIS_CORE_CUDA_LIBRARY_H
#define DIS_CORE_CUDA_LIBRARY_H
#include "core/error.h"
#include <stdbool.h>
#include <stddef.h>

/* What libdissent-cuda.so (core/plugin_file.h), the path in DISSENT_CUDA first, has by this name; NULL: `why` says what
 * is missing. */
void *dis__cuda_symbol(const char *name, char *why, size_t size);

/* Which GPU "cuda" or "cuda:N" names, from 0; -1: other words. */
long dis__cuda_ordinal(const char *device);
/* The same of all words for devices: -1 for cpu, "" and NULL, 0 for auto; others are an error. */
dis_status dis__cuda_words(const char *device, bool *automatic, long *ordinal);
/* The error where the GPU that was asked for is not among the n that were found. */
dis_status dis__cuda_absent(size_t n, const char *why, long ordinal);

/* Starts the GPU that these words name, which takes some tenths of a second, so that its first user need not wait.
 * What goes wrong is told when it is used. */
void dis__cuda_start(const char *device);
typedef void dis__cuda_starter(int ordinal);
#define DIS_CUDA_START_SYMBOL "dis_plugin_cuda_start"

#endif
