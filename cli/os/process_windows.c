#define WIN32_LEAN_AND_MEAN
#include "os/process.h"
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <locale.h>
#include <share.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <direct.h>
#include <windows.h>
#include <shellapi.h>

/* signal() of Windows restores the default before it calls the handler. */
void cli_process_catch_signals(void (*handler)(int signal))
{
    signal(SIGINT, handler);
    signal(SIGTERM, handler);
    signal(SIGBREAK, handler);
}

bool cli_process_fill_descriptors(void)
{
    static const int flags[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd <= 2; fd++) {
        if (_get_osfhandle(fd) < 0 && _open("NUL", flags[fd]) != fd) return false; /* the lowest free one */
        _setmode(fd, O_BINARY);
    }
    return true;
}

/* From here on, the C library and the console take UTF-8. */
bool cli_process_arguments(int *argc, char ***argv)
{
    int n;
    setlocale(LC_CTYPE, ".UTF-8");
    SetConsoleOutputCP(CP_UTF8);
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &n);
    if (!wide) return false;
    size_t bytes = ((size_t)n + 1) * sizeof(char *);
    for (int i = 0; i < n; i++) bytes += (size_t)WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, NULL, 0, NULL, NULL);
    char **list = malloc(bytes); /* until the process ends */
    if (list) {
        char *to = (char *)(list + n + 1);
        const char *end = (char *)list + bytes;
        for (int i = 0; i < n; i++) {
            list[i] = to;
            to += WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, to, (int)(end - to), NULL, NULL);
        }
        list[n] = NULL;
        *argc = n;
        *argv = list;
    }
    LocalFree(wide);
    return list != NULL;
}

bool cli_process_exists(const char *path)
{
    return _access(path, 0) == 0;
}

bool cli_process_create_folder(const char *path)
{
    return _mkdir(path) == 0;
}

bool cli_process_lock(const char *path, int *fd)
{
    *fd = _open(path, O_RDWR | O_CREAT | O_BINARY | O_NOINHERIT, _S_IREAD | _S_IWRITE);
    if (*fd < 0) return false;
    OVERLAPPED first = {0};
    return LockFileEx((HANDLE)_get_osfhandle(*fd), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                      &first);
}
