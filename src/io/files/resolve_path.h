/* resolve_path.h: where a name leads, through symbolic links, whether there is a file already or not. */
#ifndef DIS_IO_FILES_RESOLVE_PATH_H
#define DIS_IO_FILES_RESOLVE_PATH_H
#include "core/error.h"
#include <limits.h>

/* The path without links that opening `path` for writing would lead to: that of the file that is there, or of the one
 * that would come to be, also after a link that leads to nothing yet. False with errno: no such folder, a loop of
 * links, a path too long. */
bool dis__resolve_path(const char *path, char out[PATH_MAX]);

#endif
