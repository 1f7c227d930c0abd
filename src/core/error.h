/* error.h: how the library reports a failure to itself.
 *
 * A function that fails says why once, where it knows best, and everybody above passes the status on:
 *
 *     if (n > limit) return dis__fail(DIS_ELIMIT, "%zu classes; at most %u are possible", n, DIS_MAX_CLASSES);
 *     DIS_TRY(dis__alloc_array(&rows, n, sizeof *rows));
 *
 * Messages about the user's data carry the position: "votes.csv:12:5: reason; remedy". A remedy names fields of the
 * caller's structs in backquotes (`lenient`): the command line shows them as options, Python as arguments. */
#ifndef DIS_CORE_ERROR_H
#define DIS_CORE_ERROR_H
#include "dissent/status.h"

/* Leave the function with the status of a call that failed. */
#define DIS_TRY(call)                                        \
    do {                                                     \
        const dis_status dis_try_status = (call);            \
        if (dis_try_status != DIS_OK) return dis_try_status; \
    } while (0)

/* The same where there is something to give back first: sets `status` and goes to `label`. */
#define DIS_TRY_GOTO(status, call, label)              \
    do {                                               \
        if (((status) = (call)) != DIS_OK) goto label; \
    } while (0)

/* Sets this thread's message and returns `status`. */
dis_status dis__fail(dis_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with the position in the user's data. line and column count from 1; 0: not known. */
dis_status dis__fail_at(dis_status status, const char *file, uint64_t line, uint64_t column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds lines to this thread's message as they are, each with a newline before it: suggestions, whose texts the caller
 * has made safe for a terminal. */
dis_status dis__fail_append(dis_status status, const char *lines);

/* DIS_EIO with "verb FILE: strerror(errno)". */
dis_status dis__fail_io(const char *verb, const char *file);

/* DIS_EIO: a folder where a file is wanted. */
dis_status dis__fail_folder(const char *path);

/* "a, b, c" for messages: one more text behind those that `list` holds, 60 bytes of it; where there is no room for it,
 * ", ..." and nothing from then on. `list` begins empty and has `room` bytes. */
void dis__text_list_append(char *list, size_t room, const char *text, size_t n);

/* The first failure of several calls, with its message, which other calls may have replaced by the time it is told. */
enum { DIS_MESSAGE = 2048 };
typedef struct {
    dis_status status;
    char message[DIS_MESSAGE];
} dis__first_error;
/* Keeps `status` and this thread's message unless there is a failure already. */
void dis__first_error_record(dis__first_error *first, dis_status status);
/* The failure kept, its message put back; DIS_OK: there is none. */
dis_status dis__first_error_restore(const dis__first_error *first);

/* Replaces this thread's message: for carrying one over from another thread. */
void dis__set_error(const char *message);

#endif
