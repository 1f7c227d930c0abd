/* process.h: what the command line needs of the operating system and C does not have. process_posix.c and process_windows.c
 * implement it. */
#ifndef CLI_OS_PROCESS_H
#define CLI_OS_PROCESS_H
#include <stdbool.h>

/* `handler` receives the first signal that asks the program to stop; a second one ends the process. A closed pipe ends
 * it without a message, and a file that exceeds the size limit is an error of writing. */
void cli_process_catch_signals(void (*handler)(int signal));
/* A standard descriptor that the caller has closed would become that of the next file which is opened, and that file
 * would be read or written in its position. /dev/null in the wrong direction makes each use fail as on a closed one;
 * messages have nowhere to go. Bytes pass unchanged. False: not possible. */
bool cli_process_fill_descriptors(void);
/* The arguments of the command line in UTF-8, where main() receives them in another encoding. False: no memory. */
bool cli_process_arguments(int *argc, char ***argv);
bool cli_process_exists(const char *path);        /* also a symbolic link that leads to nothing; false: errno */
bool cli_process_create_folder(const char *path); /* false: errno, EEXIST among others */
/* Opens a file as a lock that this process holds until it ends. False: another process has it, or errno of opening
 * when *fd is negative. */
bool cli_process_lock(const char *path, int *fd);

#endif
