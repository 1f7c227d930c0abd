/* input.h: a whole input file in memory.
 *
 * A plain file is mapped, anything else (standard input, a pipe) is read; gzip and zstd are recognized by their first
 * bytes, for any name, and decompressed. Formats that dissent does not read (pickle, PyTorch, zip, parquet, ...) fail
 * with an error that names the format and the remedy.
 *
 * An input without end fails as early as possible: a device immediately; text from a pipe at a NUL within its first 64
 * KiB, or if its first line exceeds the maximum length of a field.
 *
 *     dis__input in;
 *     DIS_TRY(dis__input_open(ctx, path, &in));
 *     dis_status status = ... in.bytes, in.n ...
 *     return dis__input_finish(&in, status);
 *
 * A file that another process truncates, extends or overwrites while it is being read gives DIS_EIO, whatever was read
 * so far (core/memory/file_map.h). For a file that is replaced or deleted, the version that was opened is read. */
#ifndef DIS_IO_INPUT_INPUT_H
#define DIS_IO_INPUT_INPUT_H
#include "dissent/context.h"
#include "core/error.h"

typedef struct dis__stream dis__stream;

/* Identifies a version of a file, to detect changes since it was opened. */
typedef struct {
    bool known; /* false: not a regular file */
    uint64_t device, file, size;
    int64_t seconds, nanoseconds; /* of the last modification */
} dis__file_version;

typedef struct {
    const char *path;  /* the caller's, "-" for standard input: for messages */
    const char *bytes; /* (n), nothing readable after them */
    size_t n;
    void *map; /* what to unmap, or NULL */
    size_t n_map;
    char *owned;         /* what to free, or NULL */
    size_t preamble;     /* bytes before the table that are not read: a byte order mark, lines before the header */
    dis__stream *stream; /* a stream: more than n bytes may follow; NULL: complete */
    dis__file_version version;
} dis__input;

/* DIS_EIO, DIS_EDATA (a damaged or unknown archive, a refused format), DIS_ELIMIT (its contents do not fit into
 * memory). On failure there is nothing to close. `path` must outlive the input. */
dis_status dis__input_open(dis_context *ctx, const char *path, dis__input *in);
/* The same for raw values, which may be any bytes: a pipe is not checked for text, see below. */
dis_status dis__input_open_binary(dis_context *ctx, const char *path, dis__input *in);
/* For files that are found in a folder or named in another file, so that someone else may have created them: a regular
 * file of at most `max` bytes, decompressed. DIS_EDATA: a FIFO, a device or a folder. DIS_ELIMIT: it is larger. */
enum {
    DIS_CONFIG_FILE = 1 << 26,
    DIS_MODEL_FILE = 1 << 30
}; /* bytes of config.json and similar files; of
                                                               * model.json */
dis_status dis__input_open_regular(dis_context *ctx, const char *path, size_t max, dis__input *in);
/* Closes without a check: after a failure, or if dis__input_check() was called. */
void dis__input_close(dis__input *in);
/* Returns `so_far`, or DIS_EIO if the file has changed since it was opened: its contents must not be used. */
dis_status dis__input_check(const dis__input *in, dis_status so_far);
/* The check, then closes. */
dis_status dis__input_finish(dis__input *in, dis_status so_far);
/* Call it before closing large files: unmapping takes time, and all threads share it. */
void dis__input_unmap_pages(dis_context *ctx, const dis__input *in);

/* For sequential readers: a large archive is decompressed while it is read, at fixed addresses. Bytes from `bytes` up
 * to n are available; dis__input_extend() increases n to at least the given number, unless the archive ends before;
 * dis__input_discard() releases the memory of the bytes before an offset, which must not be accessed again. Other files
 * are opened as above. */
dis_status dis__input_open_stream(dis_context *ctx, const char *path, dis__input *in);
dis_status dis__input_extend(dis__input *in, size_t n);
bool dis__input_is_complete(const dis__input *in); /* the end was reached */
void dis__input_discard(dis__input *in, size_t before);
uint64_t dis__input_size(const dis__input *in); /* total bytes; an estimate until the end */
/* Restarts the input, for readers that need two passes. */
dis_status dis__input_rewind(dis__input *in);
/* Restarts the input, and makes all of it available. */
dis_status dis__input_read_all(dis_context *ctx, dis__input *in);

/* DIS_EIO: two passes over a file have read different contents. */
dis_status dis__fail_file_changed(const char *path);

/* Hints that bytes before `at` will not be read for some time, so that a mapped file of any size takes little memory.
 * They may be read again. *passed: the previous `at`, initially NULL. */
void dis__input_release_pages(const dis__input *in, const char *at, const char **passed);

/* An input over bytes in memory that the caller owns: for tests of readers without files. Nothing is decompressed or
 * checked. */
dis__input dis__input_from_bytes(const char *path, const char *bytes, size_t n);

#endif
