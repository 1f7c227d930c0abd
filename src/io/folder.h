/* folder.h: files in folders. */
#ifndef DIS_IO_FOLDER_H
#define DIS_IO_FOLDER_H
#include "core/error.h"
#include <stdbool.h>

/* "folder/name", which the caller frees with dis__free(). DIS_ELIMIT. */
dis_status dis__path_in(const char *folder, const char *name, char **out);

/* Whether there is such a file. DIS_EIO: it cannot be told, or the file cannot be opened. DIS_ELIMIT. */
dis_status dis__file_is_there(const char *folder, const char *name, bool *out);

#endif
