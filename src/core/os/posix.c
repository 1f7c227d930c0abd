/* Functions shared by Linux, macOS and Emscripten. */
#include "core/os/os.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

size_t dis__os_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *dis__os_alloc_aligned(size_t alignment, size_t n)
{
    void *block = NULL;
    return posix_memalign(&block, alignment, n) == 0 ? block : NULL;
}

void dis__os_free_aligned(void *block)
{
    free(block);
}

void *dis__os_map_file(int fd, size_t n)
{
    void *map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

void *dis__os_map_writable(int fd, uint64_t from, size_t n)
{
    void *map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)from);
    return map == MAP_FAILED ? NULL : map;
}

void dis__os_unmap(void *map, size_t n)
{
    munmap(map, n);
}

void dis__os_drop_pages(void *part, size_t n)
{
    (void)madvise(part, n, MADV_DONTNEED); /* advice: nothing depends on it */
}

/* ---- truncated files ---- */

static uintptr_t (*find_end_of_map)(uintptr_t address);
static struct sigaction earlier; /* handling of SIGBUS */

static void pass_on(int signal, siginfo_t *info, void *context)
{
    if (earlier.sa_flags & SA_SIGINFO) {
        earlier.sa_sigaction(signal, info, context);
    } else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
        earlier.sa_handler(signal);
    } else if (earlier.sa_handler == SIG_DFL || info->si_code > 0) { /* a fault cannot be ignored */
        const struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(SIGBUS, &standard, NULL); /* on return, the access faults again and ends the process */
        if (info->si_code <= 0) raise(SIGBUS);
    }
}

/* Only async-signal-safe calls. */
static void on_bus_error(int signal, siginfo_t *info, void *context)
{
    const uintptr_t at = (uintptr_t)info->si_addr, page = at & ~((uintptr_t)dis__os_page_size() - 1);
    const int error = errno;
    const uintptr_t end = info->si_code == BUS_ADRERR ? find_end_of_map(at) : 0;
    const bool replaced =
        end && mmap((void *)page, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    errno = error;
    if (!replaced) pass_on(signal, info, context);
}

void dis__os_guard_maps(uintptr_t (*find_end)(uintptr_t address))
{
    struct sigaction guard = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    find_end_of_map = find_end;
    sigemptyset(&guard.sa_mask);
    (void)sigaction(SIGBUS, &guard, &earlier);
}

/* ---- files ---- */

static int own_flags(int flags)
{
    return (flags & ~(DIS__OS_FOLDER | DIS__OS_NO_LINK | DIS__OS_NO_WAIT)) | O_CLOEXEC |
           (flags & DIS__OS_FOLDER ? O_DIRECTORY : 0) | (flags & DIS__OS_NO_LINK ? O_NOFOLLOW : 0) |
           (flags & DIS__OS_NO_WAIT ? O_NONBLOCK : 0);
}

int dis__os_open(const char *path, int flags, mode_t mode)
{
    return open(path, own_flags(flags), mode);
}

int dis__os_open_at(int folder, const char *name, int flags)
{
    return openat(folder, name, own_flags(flags));
}

int dis__os_open_unlinked(const char *folder)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/dissent-XXXXXX", folder) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkstemp(path);
    if (fd < 0) return fd;
    unlink(path);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

int dis__os_duplicate(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

ssize_t dis__os_read_at(int fd, void *buffer, size_t n, uint64_t at)
{
    return pread(fd, buffer, n, (off_t)at);
}

ssize_t dis__os_write_at(int fd, const void *buffer, size_t n, uint64_t at)
{
    return pwrite(fd, buffer, n, (off_t)at);
}

int dis__os_poll_input(int fd, int milliseconds)
{
    struct pollfd waits = {.fd = fd, .events = POLLIN};
    return poll(&waits, 1, milliseconds);
}

int dis__os_flush(int fd)
{
    return fsync(fd);
}

int dis__os_truncate(int fd, uint64_t n)
{
    return ftruncate(fd, (off_t)n);
}

int dis__os_set_mode(int fd, mode_t mode)
{
    return fchmod(fd, mode);
}

int dis__os_stat(const char *path, struct stat *st)
{
    return stat(path, st);
}

int dis__os_link_stat(const char *path, struct stat *st)
{
    return lstat(path, st);
}

int dis__os_file_stat(int fd, struct stat *st)
{
    return fstat(fd, st);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool dis__os_is_open_at(int fd, const char *path)
{
    struct stat ours, theirs;
    return fstat(fd, &ours) == 0 && stat(path, &theirs) == 0 && same_file(&ours, &theirs);
}

bool dis__os_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && same_file(&x, &y);
}

bool dis__os_is_link(mode_t mode)
{
    return S_ISLNK(mode);
}

const char *dis__os_file_kind(mode_t mode)
{
    static const struct {
        mode_t type;
        const char *name;
    } kinds[] = {{S_IFIFO, "a FIFO"},          {S_IFCHR, "a device"},  {S_IFBLK, "a device"},
                 {S_IFLNK, "a symbolic link"}, {S_IFSOCK, "a socket"}, {S_IFDIR, "a folder"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((mode & S_IFMT) == kinds[i].type) return kinds[i].name;
    return NULL;
}

bool dis__os_is_null_device(const struct stat *st)
{
    struct stat null;
    return stat("/dev/null", &null) == 0 && null.st_rdev == st->st_rdev;
}

int dis__os_access(const char *path, int mode)
{
    return access(path, mode);
}

bool dis__os_real_path(const char *path, char out[PATH_MAX])
{
    return realpath(path, out) != NULL;
}

void dis__os_plain_path(char *path)
{
    (void)path;
}

bool dis__os_is_absolute(const char *path)
{
    return path[0] == '/';
}

ssize_t dis__os_read_link(const char *path, char *target, size_t n)
{
    return readlink(path, target, n);
}

int dis__os_remove_file(const char *path)
{
    return unlink(path);
}

int dis__os_remove_folder(const char *path)
{
    return rmdir(path);
}

int dis__os_remove_files(const char *folder, const char *ending)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return -1;
    }
    const size_t n_ending = strlen(ending);
    for (const struct dirent *e; (e = readdir(d));) {
        const size_t n = strlen(e->d_name);
        if (e->d_name[0] != '.' && n >= n_ending && strcmp(e->d_name + n - n_ending, ending) == 0)
            unlinkat(fd, e->d_name, 0);
    }
    closedir(d);
    return 0;
}

int dis__os_list_folder(const char *folder, bool (*visit)(void *user, const char *name), void *user)
{
    DIR *d = opendir(folder);
    if (!d) return -1;
    bool more = true;
    for (const struct dirent *e; more && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) more = visit(user, e->d_name);
    closedir(d);
    return 0;
}

int dis__os_rename(const char *from, const char *to)
{
    return rename(from, to);
}

int dis__os_create_folder(const char *path)
{
    return mkdir(path, 0777);
}

int dis__os_create_link(const char *target, const char *path)
{
    return symlink(target, path);
}

int dis__os_lock(int fd, bool wait)
{
    return flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB);
}

const char *dis__os_temporary_folder(void)
{
    const char *named = getenv("TMPDIR");
    return named && *named ? named : access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    (void)remove(path);
    return 0; /* and so on to the others */
}

void dis__os_remove_tree(const char *path)
{
    enum { MAX_OPEN = 8 };
    (void)nftw(path, remove_entry, MAX_OPEN, FTW_DEPTH | FTW_PHYS);
}

/* ---- threads and text ---- */

const char *dis__os_error_text(int code, char *text, size_t n)
{
#ifdef __GLIBC__
    return strerror_r(code, text, n);
#else
    return strerror_r(code, text, n) == 0 ? text : "unknown error";
#endif
}

const char *dis__os_find_text(const char *in, size_t n_in, const char *text, size_t n)
{
    return memmem(in, n_in, text, n);
}

/* ---- libraries ---- */

bool dis__os_library_file(void (*function)(void), char *path, size_t n)
{
    Dl_info info;
    void *address;
    memcpy(&address, &function, sizeof address);
    if (!dladdr(address, &info) || !info.dli_fname) return false;
    return (size_t)snprintf(path, n, "%s", info.dli_fname) < n;
}

void *dis__os_open_library(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void *dis__os_find_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

const char *dis__os_library_error(void)
{
    const char *error = dlerror();
    return error ? error : "the library could not be loaded";
}
