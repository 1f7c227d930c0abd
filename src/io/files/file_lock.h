/* file_lock.h: lets one process at a time read, change and write back a file, or replace several files that belong
 * together.
 *
 * The lock is on the folder (flock), because the file itself is replaced. It ends with the process, however that ends,
 * and leaves no file behind. On file systems without locks on folders, no lock is taken. */
#ifndef DIS_IO_FILES_FILE_LOCK_H
#define DIS_IO_FILES_FILE_LOCK_H
#include "dissent/context.h"
#include "core/error.h"

/* Locks the folder of a file that need not exist yet; waits for other processes. DIS_EIO: another process holds the
 * lock for a minute. DIS_ECANCELLED. *lock is for dis__file_unlock(). */
dis_status dis__file_lock(dis_context *ctx, const char *path, int *lock);
void dis__file_unlock(int lock);
/* The same for an open folder, until it is closed; `path` is for messages. */
dis_status dis__folder_lock(dis_context *ctx, int folder, const char *path);

#endif
