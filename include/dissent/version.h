/* version.h: version and build options of the library. */
#ifndef DIS_VERSION_H
#define DIS_VERSION_H
#include "dissent/status.h"

#define DIS_VERSION "0.2.0"

/* The version of the library that is loaded: compare with DIS_VERSION, the one that was compiled against. */
DIS_API const char *dis_version(void);

/* One line per part: "zlib: 1.2.13", "zstd: absent", "instruction set: avx512", ... for part = 0, 1, ...; NULL past the
 * end. */
DIS_API const char *dis_version_part(size_t part);

#endif
