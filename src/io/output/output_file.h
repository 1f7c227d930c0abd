/* output_file.h: a file that appears whole or not at all.
 *
 * Bytes go to a temporary file beside the target; commit flushes it to the disk, renames it over the target and flushes
 * the folder. A crash, a full disk or an abort leaves the old file as it was.
 *
 *     dis__out *out;
 *     DIS_TRY(dis__out_open(path, &out));
 *     status = dis__out_write(out, text, n);
 *     return dis__out_finish(out, status);      // commits when status is DIS_OK, else removes the temporary file
 *
 * "-" is standard output: written as it comes. A name that ends in .gz or .zst is compressed (compress.h). */
#ifndef DIS_IO_OUTPUT_OUTPUT_FILE_H
#define DIS_IO_OUTPUT_OUTPUT_FILE_H
#include "core/error.h"

typedef struct dis__out dis__out;

dis_status dis__out_open(const char *path, dis__out **out);
/* Whether `path` is written directly, without a temporary file: standard output, an open descriptor (/dev/fd/N), a pipe
 * or a device. */
bool dis__out_is_stream(const char *path);
dis_status dis__out_write(dis__out *out, const void *bytes, size_t n);
dis_status dis__out_printf(dis__out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Room for n bytes (at most DIS_OUT_BUFFER) to be filled in place: *room; then dis__out_advance by what was used. */
#define DIS_OUT_BUFFER 65536
dis_status dis__out_reserve(dis__out *out, size_t n, char **room);
void dis__out_advance(dis__out *out, size_t n);
/* The next n bytes of the file as memory, to be filled by several threads: *room, NULL where the file or the system
 * does not have it. Each thread claims what it fills first (DIS_EIO: the disk is full); dis__out_unmap ends it. What
 * was mapped is given back by dis__out_release_map, which takes a while and may run beside the threads that fill the next
 * room. */
dis_status dis__out_map(dis__out *out, size_t n, char **room);
dis_status dis__out_populate(const dis__out *out, char *room, size_t n);
dis_status dis__out_unmap(dis__out *out);
void dis__out_release_map(dis__out *out);
/* The file that is being written, for others who write parts of it behind what is written here; NULL: there is none. */
const char *dis__out_temporary(const dis__out *out);
/* What was written so far leaves the process: for pipes that somebody reads as it comes. A compressed file keeps
 * some. */
dis_status dis__out_flush(dis__out *out);
/* Ends and frees `out`. With `so_far` DIS_OK the file is put in place; otherwise it is given up and `so_far` comes
 * back. */
dis_status dis__out_finish(dis__out *out, dis_status so_far);
/* The same for files that belong together (NULLs are skipped): all are on the disk before the first is put in place, so
 * only a crash or a failing rename between two renames can leave some of them new and some old. Processes that put such
 * files into one folder take turns (file_lock.h). */
dis_status dis__out_finish_all(dis__out *const *outs, size_t n, dis_status so_far);

#endif
