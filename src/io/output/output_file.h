/* output_file.h: atomic file output.
 *
 * Data is written to a temporary file in the target's folder; commit flushes it to the disk, renames it over the target
 * and flushes the folder. A crash, a full disk or an abort leaves the old file unchanged.
 *
 *     dis__out *out;
 *     DIS_TRY(dis__out_open(path, &out));
 *     status = dis__out_write(out, text, n);
 *     return dis__out_finish(out, status);      // commits when status is DIS_OK, else removes the temporary file
 *
 * "-" is standard output, written directly. A name that ends in .gz or .zst is compressed (compress.h). */
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
/* A buffer of n bytes (at most DIS_OUT_BUFFER) to fill in place: *room; then call dis__out_advance with the used
 * bytes. */
#define DIS_OUT_BUFFER 65536
dis_status dis__out_reserve(dis__out *out, size_t n, char **room);
void dis__out_advance(dis__out *out, size_t n);
/* Maps the next n bytes of the file, to be filled by several threads: *room, NULL if the file or the system does not
 * support it. Each thread claims its part before it fills it (DIS_EIO: the disk is full); dis__out_unmap ends it.
 * dis__out_release_map unmaps, which takes time and may run concurrently with threads that fill the next mapping. */
dis_status dis__out_map(dis__out *out, size_t n, char **room);
dis_status dis__out_populate(const dis__out *out, char *room, size_t n);
dis_status dis__out_unmap(dis__out *out);
void dis__out_release_map(dis__out *out);
/* The file being written, for callers that write parts of it directly, after the current position; NULL: none. */
const char *dis__out_temporary(const dis__out *out);
/* Flushes to the system: for pipes that are read while they are written. A compressed file keeps some bytes
 * buffered. */
dis_status dis__out_flush(dis__out *out);
/* Ends and frees `out`. If `so_far` is DIS_OK the file is put in place; otherwise it is discarded and `so_far` is
 * returned. */
dis_status dis__out_finish(dis__out *out, dis_status so_far);
/* The same for files that belong together (NULLs are skipped): all are on the disk before the first is put in place, so
 * only a crash or a failing rename between two renames can leave a mixture of new and old files. Processes that write
 * such files to one folder are serialized (file_lock.h). */
dis_status dis__out_finish_all(dis__out *const *outs, size_t n, dis_status so_far);

#endif
