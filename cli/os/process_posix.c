#include "os/process.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void cli_process_catch_signals(void (*handler)(int signal))
{
    struct sigaction ask = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};
    struct sigaction usual = {.sa_handler = SIG_DFL}, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &ask, NULL);
    sigaction(SIGTERM, &ask, NULL);
    sigaction(SIGHUP, &ask, NULL);
    sigaction(SIGPIPE, &usual, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

bool cli_process_fill_descriptors(void)
{
    static const int flags[] = {[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd) return false; /* the lowest free one */
    return true;
}

bool cli_process_arguments(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return true;
}

bool cli_process_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

bool cli_process_create_folder(const char *path)
{
    return mkdir(path, 0777) == 0;
}

bool cli_process_lock(const char *path, int *fd)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    return *fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) == 0;
}
