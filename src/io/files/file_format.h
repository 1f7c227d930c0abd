/* file_format.h: which format a file has, by what the user says or by its name. */
#ifndef DIS_IO_FILES_FILE_FORMAT_H
#define DIS_IO_FILES_FILE_FORMAT_H
#include "core/error.h"

/* One of `formats` ("csv|tsv|jsonl|npy"), static text: `requested` itself if given, else by the end of `path` (".csv",
 * ".tsv", ".tab",
 * ".jsonl", ".ndjson", ".npy", any of them followed by .gz or .zst), else "csv". DIS_EUSAGE with the choices. */
dis_status dis__file_format(const char *requested, const char *path, const char *formats, const char **out);

/* Whether a path ends so, .gz or .zst after it apart. */
bool dis__path_has_ending(const char *path, const char *ending);

/* The same for an output: a name that promises something else is DIS_EUSAGE, unless the format was asked for. */
dis_status dis__output_file_format(const char *requested, const char *path, const char *formats, const char **out);

#endif
