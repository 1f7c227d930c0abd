/* The last error message, one per thread. */
#include "core/error.h"
#include "core/os/os.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_error[DIS_MESSAGE];

/* Ids and labels appear in messages: control characters must not reach a terminal unescaped, neither one-byte ones nor
 * U+0080 to U+009F, which some terminals interpret as well. */
static void make_inert(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if (*c < 32 || *c == 127) *c = '?';
        if (c[0] == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0) c[0] = c[1] = '?';
    }
}

const char *dis_last_error(void)
{
    return last_error;
}

void dis__set_error(const char *message)
{
    snprintf(last_error, sizeof last_error, "%s", message);
}

void dis__first_error_record(dis__first_error *first, dis_status status)
{
    if (first->status != DIS_OK || status == DIS_OK) return;
    first->status = status;
    memcpy(first->message, last_error, sizeof first->message);
}

dis_status dis__first_error_restore(const dis__first_error *first)
{
    if (first->status != DIS_OK) dis__set_error(first->message);
    return first->status;
}

dis_status dis__fail(dis_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    make_inert(last_error);
    return status;
}

dis_status dis__fail_append(dis_status status, const char *lines)
{
    const size_t n = strlen(last_error);
    if (n + strlen(lines) < sizeof last_error) strcpy(last_error + n, lines);
    return status;
}

dis_status dis__fail_at(dis_status status, const char *file, uint64_t line, uint64_t column, const char *format, ...)
{
    const char *name = strcmp(file, "-") == 0 ? "standard input" : file;
    int n;
    if (line && column)
        n = snprintf(last_error, sizeof last_error, "%.512s:%llu:%llu: ", name, (unsigned long long)line,
                     (unsigned long long)column);
    else if (line)
        n = snprintf(last_error, sizeof last_error, "%.512s:%llu: ", name, (unsigned long long)line);
    else
        n = snprintf(last_error, sizeof last_error, "%.512s: ", name);
    va_list args;
    va_start(args, format);
    vsnprintf(last_error + n, sizeof last_error - (size_t)n, format, args);
    va_end(args);
    make_inert(last_error);
    return status;
}

dis_status dis__fail_io(const char *verb, const char *file)
{
    const int code = errno;
    char text[128];
    const char *standard = strcmp(verb, "write") == 0 ? "standard output" : "standard input";
    return dis__fail(DIS_EIO, "cannot %s %s: %s", verb, strcmp(file, "-") == 0 ? standard : file,
                     dis__os_error_text(code, text, sizeof text));
}

dis_status dis__fail_folder(const char *path)
{
    return dis__fail(DIS_EIO, "cannot read %s: it is a folder; name a file in it", path);
}

void dis__text_list_append(char *list, size_t room, const char *text, size_t n)
{
    enum { LONGEST = 60, N_MORE = 5 };
    static const char more[N_MORE + 1] = ", ...";
    const size_t used = strlen(list);
    if (used >= N_MORE && strcmp(list + used - N_MORE, more) == 0) return;
    if (n > LONGEST) {
        n = LONGEST;
        while (n && ((unsigned char)text[n] & 0xC0) == 0x80) n--; /* not part of a character */
    }
    if (used + n + 2 + N_MORE < room)
        snprintf(list + used, room - used, "%s%.*s", used ? ", " : "", (int)n, text);
    else if (used + N_MORE < room)
        memcpy(list + used, more, sizeof more);
}

const char *dis_status_meaning(dis_status status)
{
    switch (status) {
#define MEANING(name, code, meaning) \
    case name: return meaning;
        DIS_STATUS_LIST(MEANING)
#undef MEANING
    }
    return "an unknown status";
}
