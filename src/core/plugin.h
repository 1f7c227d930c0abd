/* plugin.h: where optional libraries are searched, the same for all of them: the file named by an environment variable;
 * next to the program, next to the file of this library, or in folders near either; otherwise the system's search
 * path. */
#ifndef DIS_CORE_PLUGIN_H
#define DIS_CORE_PLUGIN_H
#include "core/error.h"

/* variable: NULL, or an environment variable. The library stays loaded; NULL: dis__os_library_error() has the
 * reason. */
void *dis__plugin_open(const char *library, const char *variable);
/* Whether the file is near the program or this library. */
bool dis__plugin_is_installed(const char *library);

#endif
