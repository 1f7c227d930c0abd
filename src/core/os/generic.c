/* What systems other than Linux share: functions of Linux for which they have no equivalent, and plain POSIX. */
#include "core/os/os.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

int dis__os_populate(void *map, size_t n)
{
    (void)map, (void)n;
    errno = ENOSYS;
    return -1;
}

void *dis__os_grow_map(void *map, size_t old_n, size_t n)
{
    (void)map, (void)old_n, (void)n;
    return NULL;
}

bool dis__os_zero_pages(void *block, size_t n)
{
    (void)block, (void)n;
    return false;
}

void dis__os_prefer_huge_pages(void *block, size_t n)
{
    (void)block, (void)n;
}

void dis__os_discard_pages(void *part, size_t n)
{
    (void)part, (void)n;
}

int dis__os_open_temporary(const char *folder)
{
    return dis__os_open_unlinked(folder);
}

bool dis__os_random(void *out, size_t n)
{
    return getentropy(out, n) == 0;
}

bool dis__os_enable_tile_registers(void)
{
    return false;
}

void dis__os_init_condition(pthread_cond_t *condition)
{
    pthread_cond_init(condition, NULL);
}

const char *dis__os_error_text(int code, char *text, size_t n)
{
    return strerror_r(code, text, n) == 0 ? text : "unknown error";
}

const char *dis__os_find_last(const char *text, int byte, size_t n)
{
    while (n--)
        if (text[n] == (char)byte) return text + n;
    return NULL;
}
