/* Loads optional parts on demand: see plugin.h. */
#include "core/plugin.h"
#include "core/os/os.h"
#include "core/system_calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 4096 };

/* The library in the folder of `file`, or in one near it, into `path`. */
static bool find_near(const char *file, const char *library, char path[PATH])
{
    static const char *const near[] = {"", "../", "../lib/", "../../"};
    const char *slash = strrchr(file, '/');
    for (size_t i = 0; slash && i < sizeof near / sizeof *near; i++) {
        const int n = snprintf(path, PATH, "%.*s%s%s", (int)(slash + 1 - file), file, near[i], library);
        if (n < PATH && dis__sys_exists(path)) return true;
    }
    return false;
}

/* The library in the package folder of a Python environment whose bin folder has the program: pip put both there. */
static bool find_in_python(const char *program, const char *library, char path[PATH])
{
    static const char *const packages[] = {"site-packages", "dist-packages"};
    enum { OLDEST = 11, NEWEST = 40 }; /* Python 3 */
    const char *slash = strrchr(program, '/');
    for (int minor = OLDEST; slash && minor <= NEWEST; minor++)
        for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
            const int n = snprintf(path, PATH, "%.*s../lib/python3.%d/%s/dissent/%s", (int)(slash + 1 - program),
                                   program, minor, packages[i], library);
            if (n < PATH && dis__sys_exists(path)) return true;
        }
    return false;
}

static bool find(const char *library, char path[PATH])
{
    char file[PATH];
    if (dis__os_program(file, sizeof file) && (find_near(file, library, path) || find_in_python(file, library, path)))
        return true;
    return dis__os_library_file((void (*)(void))dis__plugin_open, file, sizeof file) && find_near(file, library, path);
}

void *dis__plugin_open(const char *library, const char *variable)
{
    char path[PATH];
    const char *wanted = variable ? getenv(variable) : NULL;
    if (wanted && *wanted) return dis__os_open_library(wanted);
    return dis__os_open_library(find(library, path) ? path : library);
}

bool dis__plugin_is_installed(const char *library)
{
    char path[PATH];
    return find(library, path);
}
