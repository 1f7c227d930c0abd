/* scratch_file.h: temporary files that threads append blocks to and read them from, for what is written once and read
 * once. Arrays that are used in place are mapped instead (spill.h): a page that is touched costs a fault, one that is
 * copied does not. The system lets one thread at a time write to a file: each has its own. Blocks that were read stay
 * where they are until the end: to give parts of a file back can mean to wait for the disk each time.
 *
 * The files have no name, so nothing of them is left behind however the process ends. */
#ifndef DIS_CORE_MEMORY_SCRATCH_FILE_H
#define DIS_CORE_MEMORY_SCRATCH_FILE_H
#include "core/error.h"
#include <stdatomic.h>

enum { DIS_SCRATCH_FILES = 16 };

typedef struct {
    int n; /* files; 0: it is not open */
    int fd[DIS_SCRATCH_FILES];
    _Atomic uint64_t end[DIS_SCRATCH_FILES];
} dis__scratch_file;

/* For so many threads. DIS_EIO, with the folder's name, where there is no room. */
dis_status dis__scratch_open(int n_threads, dis__scratch_file *file);
void dis__scratch_close(dis__scratch_file *file);
static inline bool dis__scratch_is_open(const dis__scratch_file *file)
{
    return file->n > 0;
}
/* Appends a block: *at is its position. DIS_EIO: the disk is full. */
dis_status dis__scratch_append(dis__scratch_file *file, int thread, const void *block, size_t n, uint64_t *at);
dis_status dis__scratch_read(const dis__scratch_file *file, uint64_t at, void *to, size_t n);
/* It will soon be read: a hint. */
void dis__scratch_prefetch(const dis__scratch_file *file, uint64_t at, size_t n);

#endif
