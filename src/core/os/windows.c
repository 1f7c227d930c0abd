/* Windows 10 and newer, with the C library UCRT and the POSIX threads of mingw-w64.
 *
 * Files are opened so that other processes may rename and delete them, as on POSIX systems. Windows itself refuses to
 * truncate a file that is mapped, so mappings need no guard. Folders cannot be locked or flushed. */
#define _CRT_RAND_S
#include "core/os/os.h"
#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <windows.h>
#include <psapi.h>

enum { WIDE_PATH = 4096 };
typedef wchar_t wide_path[WIDE_PATH];

/* Sets errno from the last error of the system; returns -1. */
static int fail(void)
{
    static const struct {
        DWORD code;
        int number;
    } errors[] = {
        {ERROR_FILE_NOT_FOUND, ENOENT},      {ERROR_PATH_NOT_FOUND, ENOENT},      {ERROR_MOD_NOT_FOUND, ENOENT},
        {ERROR_INVALID_NAME, ENOENT},        {ERROR_BAD_PATHNAME, ENOENT},        {ERROR_BAD_NETPATH, ENOENT},
        {ERROR_ACCESS_DENIED, EACCES},       {ERROR_SHARING_VIOLATION, EACCES},   {ERROR_FILE_EXISTS, EEXIST},
        {ERROR_ALREADY_EXISTS, EEXIST},      {ERROR_DISK_FULL, ENOSPC},           {ERROR_HANDLE_DISK_FULL, ENOSPC},
        {ERROR_LOCK_VIOLATION, EWOULDBLOCK}, {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},   {ERROR_OUTOFMEMORY, ENOMEM},
        {ERROR_COMMITMENT_LIMIT, ENOMEM},    {ERROR_TOO_MANY_OPEN_FILES, EMFILE}, {ERROR_INVALID_HANDLE, EBADF},
        {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},    {ERROR_DIRECTORY, ENOTDIR},          {ERROR_BROKEN_PIPE, EPIPE},
        {ERROR_INVALID_FUNCTION, EINVAL},    {ERROR_INVALID_PARAMETER, EINVAL}};
    const DWORD code = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) errno = errors[i].number;
    return -1;
}

static bool widen(const char *path, wide_path out)
{
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out, WIDE_PATH)) return true;
    errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : ENOENT;
    return false;
}

static bool narrow(const wchar_t *path, char *out, size_t n)
{
    if (WideCharToMultiByte(CP_UTF8, 0, path, -1, out, (int)n, NULL, NULL)) return true;
    errno = ENAMETOOLONG;
    return false;
}

static HANDLE handle_of(int fd)
{
    return (HANDLE)_get_osfhandle(fd);
}

/* ---- memory ---- */

/* The granularity of mappings, which is a multiple of the size of a page. */
size_t dis__os_page_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwAllocationGranularity;
}

void *dis__os_alloc_aligned(size_t alignment, size_t n)
{
    return _aligned_malloc(n, alignment);
}

void dis__os_free_aligned(void *block)
{
    _aligned_free(block);
}

/* Memory must be committed before its first use. */
void *dis__os_reserve(size_t n)
{
    (void)n;
    errno = ENOMEM;
    return NULL;
}

static void *map_file(int fd, uint64_t from, size_t n, bool writable)
{
    const HANDLE mapping =
        CreateFileMappingW(handle_of(fd), NULL, writable ? PAGE_READWRITE : PAGE_READONLY, 0, 0, NULL);
    void *map =
        mapping ? MapViewOfFile(mapping, writable ? FILE_MAP_WRITE : FILE_MAP_READ, (DWORD)(from >> 32), (DWORD)from, n)
                : NULL;
    if (!map) (void)fail();
    if (mapping) CloseHandle(mapping); /* the view keeps it */
    return map;
}

void *dis__os_map_file(int fd, size_t n)
{
    return map_file(fd, 0, n, false);
}

void *dis__os_map_writable(int fd, uint64_t from, size_t n)
{
    return map_file(fd, from, n, true);
}

void dis__os_unmap(void *map, size_t n)
{
    (void)n;
    UnmapViewOfFile(map);
}

void dis__os_drop_pages(void *part, size_t n)
{
    VirtualUnlock(part, n); /* pages that are not locked leave the working set */
}

uint64_t dis__os_available_memory(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? status.ullAvailPhys : 0;
}

uint64_t dis__os_resident_memory(void)
{
    PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.WorkingSetSize : 0;
}

void dis__os_guard_maps(uintptr_t (*find_end)(uintptr_t address))
{
    (void)find_end;
}

/* ---- files ---- */

static int open_wide(const wchar_t *path, int flags, DWORD attributes)
{
    const int access = flags & (O_RDONLY | O_WRONLY | O_RDWR);
    const DWORD wanted = access == O_RDWR     ? GENERIC_READ | GENERIC_WRITE
                         : access == O_WRONLY ? GENERIC_WRITE
                                              : GENERIC_READ;
    const DWORD manner = flags & O_EXCL    ? CREATE_NEW
                         : flags & O_CREAT ? (flags & O_TRUNC ? CREATE_ALWAYS : OPEN_ALWAYS)
                         : flags & O_TRUNC ? TRUNCATE_EXISTING
                                           : OPEN_EXISTING;
    if (access == O_RDONLY) attributes |= FILE_FLAG_BACKUP_SEMANTICS; /* opens folders too, as POSIX does */
    if (flags & DIS__OS_NO_LINK) attributes |= FILE_FLAG_OPEN_REPARSE_POINT;
    const HANDLE file = CreateFileW(path, wanted, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, manner,
                                    attributes | FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) return fail();
    BY_HANDLE_FILE_INFORMATION info;
    const DWORD kind = GetFileInformationByHandle(file, &info) ? info.dwFileAttributes : 0;
    const int error = flags & DIS__OS_NO_LINK && kind & FILE_ATTRIBUTE_REPARSE_POINT ? ELOOP
                      : flags & DIS__OS_FOLDER && !(kind & FILE_ATTRIBUTE_DIRECTORY) ? ENOTDIR
                                                                                     : 0;
    const int fd = error ? -1 : _open_osfhandle((intptr_t)file, O_BINARY | O_NOINHERIT | (flags & O_APPEND));
    if (fd >= 0) return fd;
    CloseHandle(file);
    if (error) errno = error;
    return -1;
}

int dis__os_open(const char *path, int flags, mode_t mode)
{
    wide_path wide;
    (void)mode;
    return widen(path, wide) ? open_wide(wide, flags, 0) : -1;
}

int dis__os_open_at(int folder, const char *name, int flags)
{
    wide_path path, part;
    const DWORD n = GetFinalPathNameByHandleW(handle_of(folder), path, WIDE_PATH, FILE_NAME_NORMALIZED);
    if (!n) return fail();
    if (!widen(name, part)) return -1;
    if (n + 1 + wcslen(part) >= WIDE_PATH) {
        errno = ENAMETOOLONG;
        return -1;
    }
    path[n] = L'\\';
    wcscpy(path + n + 1, part);
    return open_wide(path, flags, 0);
}

int dis__os_duplicate(int fd)
{
    const int copy = _dup(fd);
    if (copy >= 0) _setmode(copy, O_BINARY);
    return copy;
}

static OVERLAPPED position(uint64_t at)
{
    return (OVERLAPPED){.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
}

static DWORD at_most(size_t n)
{
    enum { MOST = 1 << 30 };
    return n > MOST ? MOST : (DWORD)n;
}

ssize_t dis__os_read_at(int fd, void *buffer, size_t n, uint64_t at)
{
    OVERLAPPED where = position(at);
    DWORD done = 0;
    if (ReadFile(handle_of(fd), buffer, at_most(n), &done, &where) || GetLastError() == ERROR_HANDLE_EOF) return done;
    return fail();
}

ssize_t dis__os_write_at(int fd, const void *buffer, size_t n, uint64_t at)
{
    OVERLAPPED where = position(at);
    DWORD done = 0;
    return WriteFile(handle_of(fd), buffer, at_most(n), &done, &where) ? done : fail();
}

int dis__os_poll_input(int fd, int milliseconds)
{
    enum { STEP = 10 };
    const HANDLE file = handle_of(fd);
    const DWORD kind = GetFileType(file);
    if (kind == FILE_TYPE_CHAR) return WaitForSingleObject(file, (DWORD)milliseconds) == WAIT_OBJECT_0;
    for (int waited = 0; kind == FILE_TYPE_PIPE; waited += STEP) {
        DWORD n;
        if (!PeekNamedPipe(file, NULL, 0, NULL, &n, NULL)) return 1; /* closed, or it cannot tell: reading waits */
        if (n || waited >= milliseconds) return n > 0;
        Sleep(STEP);
    }
    return 1; /* files are always ready */
}

static bool is_folder(int fd)
{
    BY_HANDLE_FILE_INFORMATION info;
    return GetFileInformationByHandle(handle_of(fd), &info) && info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
}

int dis__os_flush(int fd)
{
    if (FlushFileBuffers(handle_of(fd)) || is_folder(fd)) return 0;
    return fail();
}

int dis__os_truncate(int fd, uint64_t n)
{
    const errno_t error = _chsize_s(fd, (int64_t)n);
    if (error) errno = error;
    return error ? -1 : 0;
}

int dis__os_set_mode(int fd, mode_t mode)
{
    (void)fd, (void)mode; /* a new file has the access list of its folder */
    return 0;
}

/* Without device and inode, which Windows numbers in a different way for names and for descriptors. */
static void convert(const struct _stat64 *from, struct stat *to)
{
    *to = (struct stat){.st_mode = from->st_mode,
                        .st_nlink = from->st_nlink,
                        .st_size = from->st_size,
                        .st_atime = from->st_atime,
                        .st_mtime = from->st_mtime,
                        .st_ctime = from->st_ctime};
}

/* The functions of the C library take the narrow paths of the system, which are not UTF-8. */
int dis__os_stat(const char *path, struct stat *st)
{
    wide_path wide;
    struct _stat64 found;
    if (!widen(path, wide)) return -1;
    for (size_t n = wcslen(wide); n > 1 && (wide[n - 1] == L'/' || wide[n - 1] == L'\\') && wide[n - 2] != L':'; n--)
        wide[n - 1] = 0; /* "folder/" has no status */
    if (_wstat64(wide, &found) != 0) return -1;
    convert(&found, st);
    return 0;
}

int dis__os_file_stat(int fd, struct stat *st)
{
    struct _stat64 found;
    if (_fstat64(fd, &found) != 0) return -1;
    convert(&found, st);
    if (is_folder(fd)) st->st_mode = (st->st_mode & (mode_t)~S_IFMT) | S_IFDIR; /* the C library takes it for a file */
    return 0;
}

int dis__os_link_stat(const char *path, struct stat *st)
{
    return dis__os_stat(path, st);
}

static bool identify(const char *path, BY_HANDLE_FILE_INFORMATION *info)
{
    wide_path wide;
    if (!widen(path, wide)) return false;
    const HANDLE file = CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    const bool known = file != INVALID_HANDLE_VALUE && GetFileInformationByHandle(file, info);
    if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
    return known;
}

static bool same_file(const BY_HANDLE_FILE_INFORMATION *a, const BY_HANDLE_FILE_INFORMATION *b)
{
    return a->dwVolumeSerialNumber == b->dwVolumeSerialNumber && a->nFileIndexHigh == b->nFileIndexHigh &&
           a->nFileIndexLow == b->nFileIndexLow;
}

bool dis__os_is_open_at(int fd, const char *path)
{
    BY_HANDLE_FILE_INFORMATION ours, theirs;
    return GetFileInformationByHandle(handle_of(fd), &ours) && identify(path, &theirs) && same_file(&ours, &theirs);
}

bool dis__os_same_file(const char *a, const char *b)
{
    BY_HANDLE_FILE_INFORMATION x, y;
    return identify(a, &x) && identify(b, &y) && same_file(&x, &y);
}

bool dis__os_is_link(mode_t mode)
{
    (void)mode;
    return false;
}

const char *dis__os_file_kind(mode_t mode)
{
    return S_ISDIR(mode) ? "a folder" : S_ISFIFO(mode) ? "a FIFO" : S_ISCHR(mode) ? "a device" : NULL;
}

/* NUL; other devices, such as CON, have an end too. */
bool dis__os_is_null_device(const struct stat *st)
{
    return S_ISCHR(st->st_mode);
}

int dis__os_access(const char *path, int mode)
{
    wide_path wide;
    return widen(path, wide) ? _waccess(wide, mode) : -1;
}

void dis__os_plain_path(char *path)
{
    for (; *path; path++)
        if (*path == '\\') *path = '/';
}

bool dis__os_real_path(const char *path, char out[PATH_MAX])
{
    wide_path wide, full;
    if (!widen(path, wide)) return false;
    const HANDLE file = CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    const bool known =
        file != INVALID_HANDLE_VALUE && GetFinalPathNameByHandleW(file, full, WIDE_PATH, FILE_NAME_NORMALIZED);
    if (!known) (void)fail();
    if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
    if (!known) return false;
    const wchar_t *plain = wcsncmp(full, L"\\\\?\\UNC\\", 8) == 0 ? full + 6
                           : wcsncmp(full, L"\\\\?\\", 4) == 0    ? full + 4
                                                                  : full;
    if (plain == full + 6) full[6] = L'\\'; /* \\server\share */
    if (!narrow(plain, out, PATH_MAX)) return false;
    dis__os_plain_path(out);
    return true;
}

bool dis__os_is_absolute(const char *path)
{
    const bool drive = ((path[0] | 32) >= 'a' && (path[0] | 32) <= 'z') && path[1] == ':';
    return path[0] == '/' || path[0] == '\\' || drive;
}

ssize_t dis__os_read_link(const char *path, char *target, size_t n)
{
    (void)path, (void)target, (void)n;
    errno = EINVAL;
    return -1;
}

int dis__os_remove_file(const char *path)
{
    wide_path wide;
    return widen(path, wide) ? (DeleteFileW(wide) ? 0 : fail()) : -1;
}

int dis__os_remove_folder(const char *path)
{
    wide_path wide;
    return widen(path, wide) ? (RemoveDirectoryW(wide) ? 0 : fail()) : -1;
}

/* Replaces an empty folder, as POSIX does. A file that another thread or program has open cannot be replaced until it is
 * closed. */
int dis__os_rename(const char *from, const char *to)
{
    enum { STEP_MS = 10, PATIENCE_MS = 2000 };
    wide_path a, b;
    if (!widen(from, a) || !widen(to, b)) return -1;
    for (int waited = 0; !MoveFileExW(a, b, MOVEFILE_REPLACE_EXISTING); waited += STEP_MS) {
        const DWORD code = GetLastError();
        if (code == ERROR_ACCESS_DENIED && RemoveDirectoryW(b)) continue;
        if ((code != ERROR_ACCESS_DENIED && code != ERROR_SHARING_VIOLATION) || waited >= PATIENCE_MS) {
            SetLastError(code);
            return fail();
        }
        Sleep(STEP_MS);
    }
    return 0;
}

int dis__os_create_folder(const char *path)
{
    wide_path wide;
    return widen(path, wide) ? (CreateDirectoryW(wide, NULL) ? 0 : fail()) : -1;
}

/* A copy, because only some users may create links. `target` starts from the folder of `path`. */
int dis__os_create_link(const char *target, const char *path)
{
    wide_path from, to;
    char source[WIDE_PATH];
    const char *slash = strrchr(path, '/');
    const int n = snprintf(source, sizeof source, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, target);
    if (n < 0 || (size_t)n >= sizeof source) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (!widen(source, from) || !widen(path, to)) return -1;
    return CopyFileW(from, to, TRUE) ? 0 : fail();
}

int dis__os_list_folder(const char *folder, bool (*visit)(void *user, const char *name), void *user)
{
    wide_path pattern;
    WIN32_FIND_DATAW entry;
    char name[4 * MAX_PATH], path[WIDE_PATH];
    if ((size_t)snprintf(path, sizeof path, "%s/*", folder) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (!widen(path, pattern)) return -1;
    const HANDLE search = FindFirstFileW(pattern, &entry);
    if (search == INVALID_HANDLE_VALUE) return fail();
    bool more = true;
    do {
        const bool self = wcscmp(entry.cFileName, L".") == 0 || wcscmp(entry.cFileName, L"..") == 0;
        if (!self && narrow(entry.cFileName, name, sizeof name)) more = visit(user, name);
    } while (more && FindNextFileW(search, &entry));
    FindClose(search);
    return 0;
}

typedef struct {
    const char *folder, *ending;
} removal;

static bool join(char path[WIDE_PATH], const char *folder, const char *name)
{
    return (size_t)snprintf(path, WIDE_PATH, "%s/%s", folder, name) < WIDE_PATH;
}

static bool remove_one(void *user, const char *name)
{
    const removal *r = user;
    const size_t n = strlen(name), n_ending = strlen(r->ending);
    char path[WIDE_PATH];
    if (name[0] != '.' && n >= n_ending && strcmp(name + n - n_ending, r->ending) == 0 && join(path, r->folder, name))
        (void)dis__os_remove_file(path);
    return true;
}

int dis__os_remove_files(const char *folder, const char *ending)
{
    return dis__os_list_folder(folder, remove_one, &(removal){folder, ending});
}

static bool remove_below(void *user, const char *name)
{
    char path[WIDE_PATH];
    if (join(path, user, name)) dis__os_remove_tree(path);
    return true;
}

void dis__os_remove_tree(const char *path)
{
    wide_path wide;
    char folder[WIDE_PATH];
    const DWORD kind = widen(path, wide) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    if (kind == INVALID_FILE_ATTRIBUTES) return;
    const bool below = kind & FILE_ATTRIBUTE_DIRECTORY && !(kind & FILE_ATTRIBUTE_REPARSE_POINT);
    if (below && (size_t)snprintf(folder, sizeof folder, "%s", path) < sizeof folder)
        (void)dis__os_list_folder(folder, remove_below, folder);
    (void)(kind & FILE_ATTRIBUTE_DIRECTORY ? dis__os_remove_folder(path) : dis__os_remove_file(path));
}

const char *dis__os_temporary_folder(void)
{
    static const char *const names[] = {"TMPDIR", "TEMP", "TMP"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *named = getenv(names[i]);
        if (named && *named) return named;
    }
    return ".";
}

int dis__os_open_temporary(const char *folder)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        char path[WIDE_PATH];
        wide_path wide;
        uint64_t bits;
        if (!dis__os_random(&bits, sizeof bits)) break;
        if ((size_t)snprintf(path, sizeof path, "%s/dissent-%016llx", folder, (unsigned long long)bits) >=
            sizeof path) {
            errno = ENAMETOOLONG;
            return -1;
        }
        if (!widen(path, wide)) return -1;
        const int fd = open_wide(wide, O_RDWR | O_CREAT | O_EXCL, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    errno = EEXIST;
    return -1;
}

int dis__os_extend(int fd, size_t n)
{
    return dis__os_truncate(fd, n);
}

/* Bytes far beyond the end of a file are locked, because a lock would keep others from reading the bytes. */
int dis__os_lock(int fd, bool wait)
{
    OVERLAPPED where = position((uint64_t)1 << 62);
    if (is_folder(fd)) {
        errno = ENOLCK;
        return -1;
    }
    const DWORD flags = LOCKFILE_EXCLUSIVE_LOCK | (wait ? 0 : LOCKFILE_FAIL_IMMEDIATELY);
    if (LockFileEx(handle_of(fd), flags, 0, 1, 0, &where)) return 0;
    if (GetLastError() == ERROR_IO_PENDING) SetLastError(ERROR_LOCK_VIOLATION);
    return fail();
}

void dis__os_prefetch(int fd, uint64_t from, size_t n)
{
    (void)fd, (void)from, (void)n;
}

struct timespec dis__os_modified(const struct stat *st)
{
    return (struct timespec){.tv_sec = st->st_mtime};
}

/* ---- processes and threads ---- */

int dis__os_usable_cpus(void)
{
    DWORD_PTR own, all;
    int n = 0;
    if (GetProcessAffinityMask(GetCurrentProcess(), &own, &all))
        for (; own; own &= own - 1) n++;
    return n ? n : 1;
}

bool dis__os_random(void *out, size_t n)
{
    unsigned char *to = out;
    for (unsigned int word; n;) {
        if (rand_s(&word) != 0) return false;
        const size_t part = n < sizeof word ? n : sizeof word;
        memcpy(to, &word, part);
        to += part;
        n -= part;
    }
    return true;
}

bool dis__os_program(char *path, size_t n)
{
    wide_path wide;
    const DWORD length = GetModuleFileNameW(NULL, wide, WIDE_PATH);
    if (length == 0 || length >= WIDE_PATH || !narrow(wide, path, n)) return false;
    dis__os_plain_path(path);
    return true;
}

bool dis__os_library_file(void (*function)(void), char *path, size_t n)
{
    wide_path wide;
    HMODULE module;
    LPCWSTR address;
    memcpy(&address, &function, sizeof address);
    const DWORD from = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (!GetModuleHandleExW(from, address, &module)) return false;
    const DWORD length = GetModuleFileNameW(module, wide, WIDE_PATH);
    if (length == 0 || length >= WIDE_PATH || !narrow(wide, path, n)) return false;
    dis__os_plain_path(path);
    return true;
}

/* Of this thread's last call of dis__os_open_library(). */
static _Thread_local char library_error[600];

void *dis__os_open_library(const char *path)
{
    wide_path wide;
    void *library = widen(path, wide) ? (void *)LoadLibraryW(wide) : NULL;
    if (!library) {
        char text[100];
        snprintf(library_error, sizeof library_error, "%s: cannot open: %s", path,
                 dis__os_error_text((fail(), errno), text, sizeof text));
    }
    return library;
}

void *dis__os_find_symbol(void *library, const char *name)
{
    const FARPROC function = GetProcAddress(library, name);
    void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

const char *dis__os_library_error(void)
{
    return library_error;
}

void dis__os_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    pthread_cond_timedwait_relative_np(condition, mutex, &time);
}

/* ---- text ---- */

const char *dis__os_error_text(int code, char *text, size_t n)
{
    return strerror_s(text, n, code) == 0 ? text : "unknown error";
}

const char *dis__os_find_text(const char *in, size_t n_in, const char *text, size_t n)
{
    for (; n_in >= n; in++, n_in--)
        if (memcmp(in, text, n) == 0) return in;
    return NULL;
}
