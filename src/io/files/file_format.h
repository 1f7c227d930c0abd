/* file_format.h: the format of a file, from an option or from its name. */
#ifndef DIS_IO_FILES_FILE_FORMAT_H
#define DIS_IO_FILES_FILE_FORMAT_H
#include "core/error.h"

/* One of `formats` ("csv|tsv|jsonl|npy"), static text: `requested` itself if given, else by the end of `path` (".csv",
 * ".tsv", ".tab",
 * ".jsonl", ".ndjson", ".npy", any of them followed by .gz or .zst), else "csv". DIS_EUSAGE with the choices. */
dis_status dis__file_format(const char *requested, const char *path, const char *formats, const char **out);

/* Whether a path has this extension, ignoring a following .gz or .zst. */
bool dis__path_has_ending(const char *path, const char *ending);

/* The same for an output: a name with another format's extension is DIS_EUSAGE, unless the format was requested. */
dis_status dis__output_file_format(const char *requested, const char *path, const char *formats, const char **out);

#endif
