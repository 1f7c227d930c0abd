/* resolve_path.h: resolves a name through symbolic links, whether or not the file exists. */
#ifndef DIS_IO_FILES_RESOLVE_PATH_H
#define DIS_IO_FILES_RESOLVE_PATH_H
#include "core/error.h"
#include <limits.h>

/* The path without links that opening `path` for writing would use: that of the existing file, or of the file that
 * would be created, also through a dangling link. False with errno: missing folder, a loop of links, a path too
 * long. */
bool dis__resolve_path(const char *path, char out[PATH_MAX]);

#endif
