/* input_version.h: detects whether a file has changed; for input.c. */
#ifndef DIS_IO_INPUT_INPUT_VERSION_H
#define DIS_IO_INPUT_INPUT_VERSION_H
#include "io/input/input.h"
#include <sys/stat.h>

dis__file_version dis__file_version_from_stat(const struct stat *st);

#endif
