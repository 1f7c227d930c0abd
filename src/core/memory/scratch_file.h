/* scratch_file.h: temporary files to which threads append blocks that are read once. Arrays that are used in place are
 * mapped instead (spill.h): a first access to a mapped page costs a page fault, a copied one does not. The system
 * serializes writes to a file, so each thread has its own. Blocks that were read are not released until the end:
 * releasing parts of a file can wait for the disk each time.
 *
 * The files have no name, so they disappear with the process, however it ends. */
#ifndef DIS_CORE_MEMORY_SCRATCH_FILE_H
#define DIS_CORE_MEMORY_SCRATCH_FILE_H
#include "core/error.h"
#include <stdatomic.h>

enum { DIS_SCRATCH_FILES = 16 };

typedef struct {
    int n; /* number of files; 0: not open */
    int fd[DIS_SCRATCH_FILES];
    _Atomic uint64_t end[DIS_SCRATCH_FILES];
} dis__scratch_file;

/* For this many threads. DIS_EIO, with the folder's name, if the folder is not usable. */
dis_status dis__scratch_open(int n_threads, dis__scratch_file *file);
void dis__scratch_close(dis__scratch_file *file);
static inline bool dis__scratch_is_open(const dis__scratch_file *file)
{
    return file->n > 0;
}
/* Appends a block; *at receives its position. DIS_EIO: the disk is full. */
dis_status dis__scratch_append(dis__scratch_file *file, int thread, const void *block, size_t n, uint64_t *at);
dis_status dis__scratch_read(const dis__scratch_file *file, uint64_t at, void *to, size_t n);
/* Hint: the block will soon be read. */
void dis__scratch_prefetch(const dis__scratch_file *file, uint64_t at, size_t n);

#endif
