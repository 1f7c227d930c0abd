/* error.h: how library functions report errors.
 *
 * The function that detects an error sets the message once; its callers only return the status:
 *
 *     if (n > limit) return dis__fail(DIS_ELIMIT, "%zu classes; at most %u are possible", n, DIS_MAX_CLASSES);
 *     DIS_TRY(dis__alloc_array(&rows, n, sizeof *rows));
 *
 * Messages about the user's data carry the position: "votes.csv:12:5: reason; remedy". A remedy names fields of the
 * caller's structs in backquotes (`lenient`): the command line shows them as options, Python as arguments. */
#ifndef DIS_CORE_ERROR_H
#define DIS_CORE_ERROR_H
#include "dissent/status.h"

/* Returns the status of a failed call. */
#define DIS_TRY(call)                                        \
    do {                                                     \
        const dis_status dis_try_status = (call);            \
        if (dis_try_status != DIS_OK) return dis_try_status; \
    } while (0)

/* The same if there are resources to release first: sets `status` and jumps to `label`. */
#define DIS_TRY_GOTO(status, call, label)              \
    do {                                               \
        if (((status) = (call)) != DIS_OK) goto label; \
    } while (0)

/* Sets this thread's message and returns `status`. */
dis_status dis__fail(dis_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with a position in the user's data. line and column count from 1; 0: unknown. */
dis_status dis__fail_at(dis_status status, const char *file, uint64_t line, uint64_t column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Appends lines to this thread's message unchanged, each preceded by a newline: suggestions, which the caller has
 * escaped for a terminal. */
dis_status dis__fail_append(dis_status status, const char *lines);

/* DIS_EIO with "verb FILE: strerror(errno)". */
dis_status dis__fail_io(const char *verb, const char *file);

/* DIS_EIO: the path is a folder, but a file is required. */
dis_status dis__fail_folder(const char *path);

/* Builds "a, b, c" for messages: appends a text to `list`, at most 60 bytes of it; if there is no room, appends ", ..."
 * and nothing after that. `list` is initially empty and has `room` bytes. */
void dis__text_list_append(char *list, size_t room, const char *text, size_t n);

/* The first failure of several calls, with its message, which later calls could overwrite. */
enum { DIS_MESSAGE = 2048 };
typedef struct {
    dis_status status;
    char message[DIS_MESSAGE];
} dis__first_error;
/* Keeps `status` and this thread's message unless a failure is stored already. */
void dis__first_error_record(dis__first_error *first, dis_status status);
/* The stored failure, with its message restored; DIS_OK: none. */
dis_status dis__first_error_restore(const dis__first_error *first);

/* Replaces this thread's message: to copy one from another thread. */
void dis__set_error(const char *message);

#endif
