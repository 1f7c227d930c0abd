/* system_calls.h: the system calls that can fail on a user's disk, wrapped so that tests can make the n-th one fail.
 * Each has the return value and errno of its namesake, and is restarted after EINTR. */
#ifndef DIS_CORE_SYSTEM_CALLS_H
#define DIS_CORE_SYSTEM_CALLS_H
#include "dissent/status.h"
#include <sys/types.h>
#include <sys/stat.h>

int dis__sys_open(const char *path, int flags, mode_t mode);
int dis__sys_open_at(int folder, const char *name, int flags); /* openat, for reading */
int dis__sys_duplicate(int fd);
ssize_t dis__sys_read(int fd, void *buffer, size_t n);
ssize_t dis__sys_write(int fd, const void *buffer, size_t n);
ssize_t dis__sys_read_at(int fd, void *buffer, size_t n, uint64_t at); /* pread, pwrite */
ssize_t dis__sys_write_at(int fd, const void *buffer, size_t n, uint64_t at);
/* Whether data (or the end) can be read within this many milliseconds: 1, 0 (also after a signal), -1. */
int dis__sys_poll_input(int fd, int milliseconds);
int dis__sys_fstat(int fd, struct stat *st);
int dis__sys_stat(const char *path, struct stat *st);
void *dis__sys_map(int fd, size_t n); /* read-only mapping of a file; NULL on failure */
/* A new unnamed file in a folder, for reading and writing: it is deleted when it is closed. */
int dis__sys_temporary(const char *folder);
int dis__sys_extend(int fd, size_t n);         /* extends a file to n bytes, with disk blocks allocated for all of
                                                * them */
void *dis__sys_map_writable(int fd, size_t n); /* mapping of a file for reading and writing; NULL on failure */
/* Reserves addresses, whose memory is allocated at first use; NULL: not enough addresses. */
void *dis__sys_reserve(size_t n);
int dis__sys_truncate(int fd, uint64_t n);
void *dis__sys_map_writable_part(int fd, uint64_t from, size_t n); /* the same for a page-aligned part */
int dis__sys_populate(void *map, size_t n);                        /* makes such pages writable: -1 if that fails */
int dis__sys_fsync(int fd);
int dis__sys_close(int fd);
int dis__sys_rename(const char *from, const char *to);
int dis__sys_mkdir(const char *path);
int dis__sys_symlink(const char *target, const char *path);
int dis__sys_lock(int fd, bool wait); /* exclusive, until fd is closed; EWOULDBLOCK: locked by another */
bool dis__sys_exists(const char *path);

#endif
