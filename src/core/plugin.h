/* plugin.h: where parts that are built as libraries of their own are looked for, so that all are found the same
 * way: by the file that an environment variable names; beside the program, beside the file that this library is in,
 * or in folders near either; else wherever the system looks. */
#ifndef DIS_CORE_PLUGIN_FILE_H
#define DIS_CORE_PLUGIN_FILE_H
#include "core/error.h"

/* variable: NULL, or an environment variable. Stays loaded to the end; NULL: dis__os_library_error() says why not. */
void *dis__plugin_open(const char *library, const char *variable);
/* Whether the file lies near the program or this library. */
bool dis__plugin_is_installed(const char *library);

#endif
