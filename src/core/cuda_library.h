/* cuda_library.h: the library of CUDA devices, which is loaded when somebody asks for one, and the words for them. */
#ifndef DIS_CORE_CUDA_LIBRARY_H
#define DIS_CORE_CUDA_LIBRARY_H
#include "core/error.h"

/* libdissent-cuda.so (core/plugin_file.h), the path in DISSENT_CUDA first; NULL: not there. */
void *dis__cuda_library(void);

/* Which GPU "cuda" or "cuda:N" names, from 0; -1: other words. */
long dis__cuda_ordinal(const char *device);

#endif
