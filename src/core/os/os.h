/* os.h: all differences between operating systems.
 *
 * linux.c, macos.c and emscripten.c each implement these functions; posix.c has what the three share. CMake compiles
 * only the files of the target (DIS_OS in cmake/dissent.cmake), so no other file of the library tests for the system.
 * Files of the library use C11, POSIX threads, clocks and file descriptors directly. The functions return what their
 * POSIX namesakes return and set errno. A function that a system cannot support fails with ENOSYS, or returns the value
 * stated in its comment. */
#ifndef DIS_CORE_OS_H
#define DIS_CORE_OS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/* Descriptors are not inherited by other programs. */
int dis__os_open(const char *path, int flags, mode_t mode);
int dis__os_open_at(int folder, const char *name, int flags); /* for reading */
int dis__os_duplicate(int fd);                                /* above those of the standard streams */
ssize_t dis__os_read_at(int fd, void *buffer, size_t n, uint64_t at);
ssize_t dis__os_write_at(int fd, const void *buffer, size_t n, uint64_t at);
int dis__os_poll_input(int fd, int milliseconds); /* 1: input, or its end; 0: none in that time; -1 */
int dis__os_flush(int fd);                        /* to the disk */
int dis__os_truncate(int fd, uint64_t n);
int dis__os_rename(const char *from, const char *to); /* replaces a file */
int dis__os_create_folder(const char *path);
int dis__os_create_link(const char *target, const char *path);
int dis__os_open_temporary(const char *folder); /* without a name: deleted when it is closed */
int dis__os_open_unlinked(const char *folder);  /* the same by a name that is deleted at once; within src/core/os */
int dis__os_extend(int fd, size_t n);           /* to n bytes, with disk blocks for all of them */
int dis__os_lock(int fd, bool wait);            /* exclusive, until fd is closed; EWOULDBLOCK: locked by another */
void dis__os_prefetch(int fd, uint64_t from, size_t n);
struct timespec dis__os_modified(const struct stat *st);
void dis__os_remove_tree(const char *path);

/* ---- processes and threads ---- */

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

#endif
