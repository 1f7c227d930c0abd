/* os.h: all differences between operating systems.
 *
 * Each system has a file: linux.c, macos.c, emscripten.c, windows.c. posix.c has what the first three share, generic.c
 * what all but Linux share, and thread.c is the same everywhere. CMake compiles only the files of the target (DIS_OS in
 * cmake/dissent.cmake), so no other file of the library tests for the system. Files of the library use C11, POSIX
 * threads, clocks and file descriptors directly. The functions return what their POSIX namesakes return and set errno.
 * Paths are UTF-8. A function that a system cannot support fails with ENOSYS, or returns the value stated in its
 * comment. */
#ifndef DIS_CORE_OS_H
#define DIS_CORE_OS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/* ---- memory ---- */

size_t dis__os_page_size(void);
/* Memory to be freed with dis__os_free_aligned(); NULL: no memory. `alignment` is a power of two. */
void *dis__os_alloc_aligned(size_t alignment, size_t n);
void dis__os_free_aligned(void *block);
/* Addresses without memory, which is allocated at the first use of each page; NULL: not enough addresses. */
void *dis__os_reserve(size_t n);
void *dis__os_map_file(int fd, size_t n); /* read-only; NULL on failure */
/* Writable mapping of n bytes of a file from a page boundary; NULL on failure. */
void *dis__os_map_writable(int fd, uint64_t from, size_t n);
/* Allocates the pages of such a mapping, so that a full disk is an error here; -1 on failure. */
int dis__os_populate(void *map, size_t n);
void dis__os_unmap(void *map, size_t n); /* unmaps memory mapped or reserved by these functions */
/* A mapping from the start of a file, enlarged and possibly moved; NULL: not possible, the mapping stays. */
void *dis__os_grow_map(void *map, size_t old_n, size_t n);
/* Removes the pages of a mapping from memory. Contents of files stay; other contents are undefined after it. */
void dis__os_drop_pages(void *part, size_t n);
/* Makes whole pages zero by releasing them; false: not possible, nothing changed. */
bool dis__os_zero_pages(void *block, size_t n);
void dis__os_prefer_huge_pages(void *block, size_t n);
/* Returns the memory, or the disk blocks, of whole pages whose contents are no longer needed. */
void dis__os_discard_pages(void *part, size_t n);
uint64_t dis__os_available_memory(void); /* bytes in the machine; 0: unknown */
uint64_t dis__os_resident_memory(void);  /* bytes of this process; 0: unknown */
/* When a mapped file was truncated by another process, `find_end` receives the address of the failed access. It returns
 * the end of the damaged mapping, whose pages from there on then read as zeros, or 0 for an address it does not know.
 * It runs in a signal handler. Call once. */
void dis__os_guard_maps(uintptr_t (*find_end)(uintptr_t address));

/* ---- files ---- */

/* Flags of dis__os_open() and dis__os_open_at(), besides those of open() that all systems have. */
enum {
    DIS__OS_FOLDER = 1 << 28,  /* O_DIRECTORY */
    DIS__OS_NO_LINK = 1 << 29, /* O_NOFOLLOW: ELOOP for a symbolic link */
    DIS__OS_NO_WAIT = 1 << 30, /* O_NONBLOCK: does not wait for the writer of a FIFO */
};
/* Descriptors are not inherited by other programs and transfer bytes unchanged. */
int dis__os_open(const char *path, int flags, mode_t mode);
int dis__os_open_at(int folder, const char *name, int flags); /* for reading */
int dis__os_duplicate(int fd);                                /* above those of the standard streams */
ssize_t dis__os_read_at(int fd, void *buffer, size_t n, uint64_t at);
ssize_t dis__os_write_at(int fd, const void *buffer, size_t n, uint64_t at);
int dis__os_poll_input(int fd, int milliseconds); /* 1: input, or its end; 0: none in that time; -1 */
int dis__os_flush(int fd);                        /* to the disk */
int dis__os_truncate(int fd, uint64_t n);
int dis__os_set_mode(int fd, mode_t mode); /* permissions */
int dis__os_stat(const char *path, struct stat *st);
int dis__os_link_stat(const char *path, struct stat *st); /* lstat(): of a symbolic link itself */
int dis__os_file_stat(int fd, struct stat *st);           /* fstat() */
bool dis__os_is_open_at(int fd, const char *path);        /* the path leads to this file, and it is not deleted */
bool dis__os_same_file(const char *a, const char *b);     /* both exist, links followed, and are one file */
bool dis__os_is_link(mode_t mode);
const char *dis__os_file_kind(mode_t mode);         /* "a FIFO"; NULL: no kind of this system */
bool dis__os_is_null_device(const struct stat *st); /* reads as empty */
int dis__os_access(const char *path, int mode);     /* R_OK, W_OK or F_OK */
/* The path without links and relative parts, with "/" between parts; the file exists. */
bool dis__os_real_path(const char *path, char out[PATH_MAX]);
void dis__os_plain_path(char *path); /* replaces other separators of parts by "/" */
bool dis__os_is_absolute(const char *path);
ssize_t dis__os_read_link(const char *path, char *target, size_t n); /* without a NUL; EINVAL: not a link */
int dis__os_remove_file(const char *path);
int dis__os_remove_folder(const char *path); /* an empty one */
/* Removes the files of a folder whose names have the ending, those that begin with "." excepted; not through a link. */
int dis__os_remove_files(const char *folder, const char *ending);
/* Calls `visit` for each name in a folder but "." and "..", until it returns false. -1 on failure. */
int dis__os_list_folder(const char *folder, bool (*visit)(void *user, const char *name), void *user);
int dis__os_rename(const char *from, const char *to); /* replaces a file */
int dis__os_create_folder(const char *path);
int dis__os_create_link(const char *target, const char *path);
const char *dis__os_temporary_folder(void);     /* for large files */
int dis__os_open_temporary(const char *folder); /* without a name: deleted when it is closed */
int dis__os_open_unlinked(const char *folder);  /* the same by a name that is deleted at once; within src/core/os */
int dis__os_extend(int fd, size_t n);           /* to n bytes, with disk blocks for all of them */
int dis__os_lock(int fd, bool wait);            /* exclusive, until fd is closed; EWOULDBLOCK: locked by another */
void dis__os_prefetch(int fd, uint64_t from, size_t n);
struct timespec dis__os_modified(const struct stat *st);
void dis__os_remove_tree(const char *path);

/* ---- processes and threads ---- */

/* pthread_create() with a stack of 8 MiB, the size that Linux gives by default. Others give as little as 128 KiB. */
int dis__os_start_thread(pthread_t *thread, void *(*run)(void *), void *argument);
int dis__os_usable_cpus(void);              /* that this process may run on; at least 1 */
bool dis__os_random(void *out, size_t n);   /* without waiting; false: none available */
bool dis__os_enable_tile_registers(void);   /* of x86 CPUs that have AMX */
bool dis__os_program(char *path, size_t n); /* the file of this program; false: unknown */
/* The file of the library that has this function; false: unknown. */
bool dis__os_library_file(void (*function)(void), char *path, size_t n);
void *dis__os_open_library(const char *path); /* NULL on failure */
void *dis__os_find_symbol(void *library, const char *name);
const char *dis__os_library_error(void); /* of the last failure */
void dis__os_init_condition(pthread_cond_t *condition);
/* Waits for at most so many seconds for a condition of dis__os_init_condition(). */
void dis__os_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, double seconds);

/* ---- text ---- */

const char *dis__os_error_text(int code, char *text, size_t n);      /* strerror() for several threads */
const char *dis__os_find_last(const char *text, int byte, size_t n); /* memrchr() */
const char *dis__os_find_text(const char *in, size_t n_in, const char *text, size_t n); /* memmem() */

#endif
