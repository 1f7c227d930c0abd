/* input.h: a whole input file in memory.
 *
 * A plain file is mapped, anything else (standard input, a pipe) is read; gzip and zstd are recognised by their first
 * bytes, whatever the name, and unpacked. Formats that dissent does not read (pickle, PyTorch, zip, parquet, ...) are
 * refused by name with advice.
 *
 * An input without end is refused as soon as it can be told: a device at once; text from a pipe at a NUL within its
 * first 64 KiB, or where its first line is longer than a field may be.
 *
 *     dis__input in;
 *     DIS_TRY(dis__input_open(ctx, path, &in));
 *     dis_status status = ... in.bytes, in.n ...
 *     return dis__input_finish(&in, status);
 *
 * A file that another process truncates, extends or overwrites while it is being read gives DIS_EIO, whatever was read
 * (core/memory/file_map.h). A file that is replaced or deleted is read as it was when it was opened. */
#ifndef DIS_IO_INPUT_INPUT_H
#define DIS_IO_INPUT_INPUT_H
#include "dissent/context.h"
#include "core/error.h"

typedef struct dis__stream dis__stream;

/* What tells whether a file has changed since it was opened. */
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
    dis__stream *stream; /* there may be more than n bytes by and by; NULL: all are there */
    dis__file_version version;
} dis__input;

/* DIS_EIO, DIS_EDATA (a damaged or unknown archive, a refused format), DIS_ELIMIT (unpacked it does not fit in memory).
 * On failure there is nothing to close. `path` must outlive the input. */
dis_status dis__input_open(dis_context *ctx, const char *path, dis__input *in);
/* The same of raw numbers, which may hold any bytes: text from a pipe is looked at as it comes, see below. */
dis_status dis__input_open_binary(dis_context *ctx, const char *path, dis__input *in);
/* For files that are found in a folder or named in another file, so that someone else may have put them there: a
 * regular file of at most `max` bytes, unpacked. DIS_EDATA: a FIFO, a device or a folder. DIS_ELIMIT: it is larger. */
enum { DIS_CONFIG_FILE = 1 << 26, DIS_MODEL_FILE = 1 << 30 }; /* bytes of config.json and its like; of model.json */
dis_status dis__input_open_regular(dis_context *ctx, const char *path, size_t max, dis__input *in);
/* Closes without a check: after a failure, or where dis__input_check() was called before. */
void dis__input_close(dis__input *in);
/* `so_far`, or DIS_EIO if the file has changed since it was opened: what was read must not be used. */
dis_status dis__input_check(const dis__input *in, dis_status so_far);
/* The check, then closes. */
dis_status dis__input_finish(dis__input *in, dis_status so_far);
/* Before large files are closed: to take back the pages of a mapping takes a while, and all threads share it. */
void dis__input_unmap_pages(dis_context *ctx, const dis__input *in);

/* For readers that go from start to end: an archive of some size is unpacked as it is read, at addresses that stay.
 * Bytes from `bytes` on are there up to n; dis__input_extend() makes n at least so much, unless the archive ends
 * before; dis__input_discard() gives the memory of those before so many bytes back: they must not be looked at again.
 * All else is opened as it is above. */
dis_status dis__input_open_stream(dis_context *ctx, const char *path, dis__input *in);
dis_status dis__input_extend(dis__input *in, size_t n);
bool dis__input_is_complete(const dis__input *in); /* nothing more will come */
void dis__input_discard(dis__input *in, size_t before);
uint64_t dis__input_size(const dis__input *in); /* in the end; a guess before it ends */
/* From the start again, for those who go through it twice. */
dis_status dis__input_rewind(dis__input *in);
/* From the start, all at once. */
dis_status dis__input_read_all(dis_context *ctx, dis__input *in);

/* DIS_EIO: what was read of a file does not match what was read of it before. */
dis_status dis__fail_file_changed(const char *path);

/* Tells the system that bytes before `at` will not be looked at for a while, so that a mapped file of any size takes
 * little memory. They may be looked at again. *passed: up to where that was said before, NULL at first. */
void dis__input_release_pages(const dis__input *in, const char *at, const char **passed);

/* An input over bytes that are already there and stay the caller's: for readers that are tested without files. Nothing
 * is unpacked or refused. */
dis__input dis__input_from_bytes(const char *path, const char *bytes, size_t n);

#endif
