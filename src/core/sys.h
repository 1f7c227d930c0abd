/* sys.h: the system calls that can fail on a user's disk, behind one door so that tests can make the n-th one fail.
 * Each does what its namesake does, with the same return value and errno, restarted after EINTR. */
#ifndef DIS_CORE_SYS_H
#define DIS_CORE_SYS_H
#include "dissent/status.h"
#include <sys/types.h>
#include <sys/stat.h>

int dis__sys_open(const char *path, int flags, mode_t mode);
ssize_t dis__sys_read(int fd, void *buffer, size_t n);
ssize_t dis__sys_write(int fd, const void *buffer, size_t n);
int dis__sys_fstat(int fd, struct stat *st);
void *dis__sys_map(int fd, size_t n); /* read-only mapping of a file; NULL on failure */
int dis__sys_fsync(int fd);
int dis__sys_close(int fd);
int dis__sys_rename(const char *from, const char *to);
int dis__sys_mkdir(const char *path);
int dis__sys_symlink(const char *target, const char *path);
int dis__sys_flock(int fd, int operation);

#endif
