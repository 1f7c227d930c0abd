/* scratch_file.h: a temporary file that threads append blocks to and read them from, for what is written once and read
 * once. Arrays that are used in place are mapped instead (spill.h): a page that is touched costs a fault, one that is
 * copied does not.
 *
 * The file has no name, so nothing of it is left behind however the process ends. */
#ifndef DIS_CORE_SCRATCH_FILE_H
#define DIS_CORE_SCRATCH_FILE_H
#include "core/error.h"
#include <stdatomic.h>

typedef struct {
    int fd; /* valid while `open` */
    bool open;
    _Atomic uint64_t end;
} dis__scratch_file;

/* DIS_EIO, with the folder's name, where there is no room. */
dis_status dis__scratch_open(dis__scratch_file *file);
void dis__scratch_close(dis__scratch_file *file);
/* Appends a block: *at is its place. From all threads. DIS_EIO: the disk is full. */
dis_status dis__scratch_append(dis__scratch_file *file, const void *block, size_t n, uint64_t *at);
dis_status dis__scratch_read(const dis__scratch_file *file, uint64_t at, void *to, size_t n);
/* It will soon be read, or never again; both are hints. */
void dis__scratch_ahead(const dis__scratch_file *file, uint64_t at, size_t n);
void dis__scratch_drop(const dis__scratch_file *file, uint64_t at, size_t n);

#endif
