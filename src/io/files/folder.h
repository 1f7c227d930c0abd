/* folder.h: files in folders. */
#ifndef DIS_IO_FILES_FOLDER_H
#define DIS_IO_FILES_FOLDER_H
#include "core/error.h"
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* "folder/name", which the caller frees with dis__free(). DIS_ELIMIT. */
dis_status dis__path_join(const char *folder, const char *name, char **out);

/* Whether the file exists. DIS_EDATA: it is a FIFO, a device or a folder. DIS_EIO: its state is unknown, or it cannot
 * be opened. DIS_ELIMIT. */
dis_status dis__file_exists(const char *folder, const char *name, bool *out);

/* DIS_EUSAGE: an output folder contains a file that dissent did not write and does not replace. */
dis_status dis__fail_foreign_file(const char *path);

/* The type of a file that is not a regular one: "a FIFO", "a device", "a folder", ... */
const char *dis__file_kind(mode_t mode);
/* DIS_EDATA unless `path`, following links, is a regular file. Use it for files that are named in other files or found
 * in a folder: opening a FIFO blocks, and a device never ends. Opens nothing. DIS_EIO: it does not exist. */
dis_status dis__check_regular(const char *path);
dis_status dis__check_regular_mode(mode_t mode, const char *path); /* the same for an open file */
/* DIS_EDATA: `fd` is a device without an end, such as /dev/zero. Terminals and /dev/null are valid. */
dis_status dis__check_not_endless(int fd, const struct stat *st, const char *path);

/* For folders whose contents may come from others. None of these follow a symbolic link at the end of the path. */
bool dis__is_regular_file(const char *path); /* a regular file that can be read */
/* Creates a folder unless it exists. DIS_EDATA: the path is a symbolic link or a file. DIS_EIO. */
dis_status dis__create_folder(const char *path);
/* Removes a symbolic link, FIFO or device, so that writing to the path stays in the folder. DIS_EIO. */
dis_status dis__remove_irregular(const char *path);

/* Removes a folder and its contents. Follows no symbolic link; files that cannot be removed remain. */
void dis__remove_tree(const char *path);

#endif
