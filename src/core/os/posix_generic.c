/* What macOS and Emscripten share. */
#include "core/os/os.h"
#include <sys/random.h>
#include <unistd.h>

int dis__os_open_temporary(const char *folder)
{
    return dis__os_open_unlinked(folder);
}

bool dis__os_random(void *out, size_t n)
{
    return getentropy(out, n) == 0;
}
