/* What systems other than Linux share: functions of Linux for which they have no equivalent. */
#include "core/os/os.h"
#include <errno.h>

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

bool dis__os_enable_tile_registers(void)
{
    return false;
}

void dis__os_init_condition(pthread_cond_t *condition)
{
    pthread_cond_init(condition, NULL);
}

const char *dis__os_find_last(const char *text, int byte, size_t n)
{
    while (n--)
        if (text[n] == (char)byte) return text + n;
    return NULL;
}
