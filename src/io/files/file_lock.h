/* file_lock.h: one process at a time reads a file, changes it and writes it back, or replaces several files that belong
 * together.
 *
 * What is locked is the folder (flock), because the file itself is replaced by another one. The lock ends with the
 * process, however that ends, and leaves no file behind. File systems without locks on folders are used without. */
#ifndef DIS_IO_FILES_FILE_LOCK_H
#define DIS_IO_FILES_FILE_LOCK_H
#include "dissent/context.h"
#include "core/error.h"

/* Locks the folder of a file that need not exist yet; waits for other processes. DIS_EIO: another process holds the
 * lock for a minute. DIS_ECANCELLED. *lock is for dis__file_unlock(). */
dis_status dis__file_lock(dis_context *ctx, const char *path, int *lock);
void dis__file_unlock(int lock);
/* The same for a folder that is open already, until it is closed; `path` is for messages. */
dis_status dis__folder_lock(dis_context *ctx, int folder, const char *path);

#endif
