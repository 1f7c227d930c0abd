/* Input files: mapped, read or decompressed. Decompression writes into one growing block; its cost is that of zlib or
 * zstd.
 *
 * An archive may expand a thousandfold, so the output is checked during decompression: the required memory before each
 * growth, the first bytes as soon as they are available (a nested archive, an unsupported format), and cancellation
 * every few megabytes. */
#include "io/input/input.h"
#include "core/os/os.h"
#include "io/input/input_version.h"
#include "io/input/text_format.h"
#include "io/compression/decompress.h"
#include "core/memory/file_map.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/memory/spill.h"
#include "core/system_calls.h"
#include "dissent/votes.h"
#include "io/files/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
enum { FIRST_BLOCK = 1 << 16, LARGE_BLOCK = 1 << 26, FIRST_BYTES = 16, STEP = 1 << 24, MAX_RATIO = 200 };
enum { STREAM_MIN = 1 << 19 /* of the archive */, STREAM_FIRST = 1 << 22, STREAM_STEP = 1 << 20 };

/* A growing block. */
typedef struct {
    dis_context *ctx;
    const char *path;
    char *bytes;
    size_t n, capacity;
    size_t packed; /* bytes of the archive; 0: none */
    size_t max;    /* its maximum size; 0: no limit */
    bool binary;   /* not checked */
} block;

static dis_status grow(block *b)
{
    /* large ones by half: doubling would exceed limits that the data fit into */
    const size_t c = b->capacity,
                 capacity = c == 0 ? FIRST_BLOCK : dis__saturating_size(c, 1, c < LARGE_BLOCK ? c : c / 2);
    /* Decompressed data may be placed in a temporary file, except archives that do not become a smaller table of
     * rows. */
    const size_t need = dis__saturating_size(capacity, 1, b->capacity);
    DIS_TRY(b->packed && capacity / MAX_RATIO > b->packed ? dis__check_resident(b->ctx, need, b->path)
                                                          : dis__check_memory(b->ctx, need, b->path));
    DIS_TRY(dis__resize_array(&b->bytes, b->n, capacity, 1));
    b->capacity = capacity;
    return DIS_OK;
}

/* Called before each growth. */
static dis_status check_pipe(const block *b);

static dis_status read_all(int fd, block *b)
{
    for (;;) {
        if (b->n == b->capacity) DIS_TRY(check_pipe(b));
        if (b->n == b->capacity) DIS_TRY(grow(b));
        const ssize_t got = dis__sys_read(fd, b->bytes + b->n, b->capacity - b->n);
        if (got < 0) return dis__fail_io("read", b->path);
        if (got == 0) return DIS_OK;
        b->n += (size_t)got;
    }
}

static dis_status too_large(const char *path, size_t max)
{
    return dis__fail(DIS_ELIMIT, "%s is larger than the %zu bytes that such a file may have", path, max);
}

/* Formats recognized by the first bytes of a file. */
typedef struct {
    const char *magic;
    size_t n, at; /* bytes; their offset */
    const char *name, *advice;
} signature;

#define REFUSED(magic_, name_, advice_)                                           \
    {                                                                             \
        .magic = magic_, .n = sizeof magic_ - 1, .name = name_, .advice = advice_ \
    }
#define PICKLE(magic_) \
    REFUSED(magic_, "a Python pickle", "which can run code when loaded; save the table as CSV, JSONL or npy instead")

static const signature signatures[] = {
    PICKLE("\x80\x02"),
    PICKLE("\x80\x03"),
    PICKLE("\x80\x04"),
    PICKLE("\x80\x05"),
    REFUSED("PK\x03\x04", "an Excel workbook, another spreadsheet or a zip archive",
            "which is not read; save the table as CSV, or in Python use dissent.Votes(pandas.read_excel(FILE))"),
    REFUSED("\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)",
            "which is not read; save the table as CSV, or in Python use dissent.Votes(pandas.read_excel(FILE))"),
    REFUSED("$FL2", "an SPSS file (.sav)",
            "which is not read; save the table as CSV, or in Python use dissent.Votes(pandas.read_spss(FILE))"),
    REFUSED("$FL3", "an SPSS file (.zsav)",
            "which is not read; save the table as CSV, or in Python use dissent.Votes(pandas.read_spss(FILE))"),
    REFUSED("<stata_dta>", "a Stata file (.dta)",
            "which is not read; save the table as CSV, or in Python use dissent.Votes(pandas.read_stata(FILE))"),
    REFUSED("RDX", "an R data file (.rda)", "which is not read; in R, save the table with write.csv()"),
    REFUSED("X\n\0\0\0", "an R data file (.rds)", "which is not read; in R, save the table with write.csv()"),
    REFUSED("A\n3\n", "an R data file (.rds)", "which is not read; in R, save the table with write.csv()"),
    REFUSED("SQLite format 3", "an SQLite database", "which is not read; export the table as CSV"),
    REFUSED("%PDF-", "a PDF document", "which is not read; save the table as CSV"),
    REFUSED("PK\x05\x06", "an empty zip archive", "which is not read"),
    REFUSED(
        "PAR1", "a parquet file",
        "which Python reads (dissent.Votes(pandas.read_parquet(FILE))) and this does not; or save the table as CSV or "
        "JSONL"),
    REFUSED(
        "ARROW1", "an Arrow file",
        "which Python reads (dissent.Votes(pandas.read_feather(FILE))) and this does not; or save the table as CSV or "
        "JSONL"),
    REFUSED("\x89HDF\r\n\x1a\n", "an HDF5 file", "which is not read; save the table as CSV, JSONL or npy instead"),
    REFUSED("\xfd\x37zXZ", "an xz archive", "which is not read; unpack it with unxz"),
    REFUSED("BZh", "a bzip2 archive", "which is not read; unpack it with bunzip2"),
    REFUSED("<!DOCTYPE html", "an HTML page", "such as a login or error page; download the file itself"),
    REFUSED("<!doctype html", "an HTML page", "such as a login or error page; download the file itself"),
    REFUSED("<html", "an HTML page", "such as a login or error page; download the file itself"),
    REFUSED("version https://git-lfs", "a Git LFS pointer", "which stands for a file; get the file with git lfs pull"),
    {.magic = "ustar",
     .n = 5,
     .at = 257,
     .name = "a tar archive",
     .advice = "which is not read; unpack it with tar -x"},
};

/* A safetensors file begins with the length of its header, whose low bytes can be any. */
static bool is_safetensors(const char *bytes, size_t n)
{
    return n > 8 && memcmp(bytes + 4, "\0\0\0\0{", 5) == 0;
}

static const signature *recognise(const char *bytes, size_t n)
{
    if (is_safetensors(bytes, n)) return NULL;
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (n >= signatures[i].at + signatures[i].n &&
            memcmp(bytes + signatures[i].at, signatures[i].magic, signatures[i].n) == 0)
            return &signatures[i];
    return NULL;
}

static dis_status refuse(const char *path, const signature *s)
{
    return dis__fail_at(DIS_EDATA, path, 0, 0, "this is %s, %s", s->name, s->advice);
}

static dis__archive archive_of(const char *bytes, size_t n)
{
    return is_safetensors(bytes, n) ? DIS_ARCHIVE_NONE : dis__archive_detect(bytes, n);
}

/* Checks decompressed data as soon as the first bytes are available. */
static dis_status check_input(const char *path, const char *bytes, size_t n)
{
    const signature *s = recognise(bytes, n);
    if (s) return refuse(path, s);
    if (archive_of(bytes, n) == DIS_ARCHIVE_NONE) return DIS_OK;
    return dis__fail_at(DIS_EDATA, path, 0, 0, "a nested archive; unpack it once");
}

static bool is_numbers(const char *bytes, size_t n)
{
    static const char npy[] = "\x93NUMPY";
    return is_safetensors(bytes, n) || (n >= sizeof npy && memcmp(bytes, npy, sizeof npy - 1) == 0);
}

static dis_status fail_nul(const char *path, const char *bytes, const char *nul)
{
    const char *start = bytes;
    uint64_t line = 1;
    for (const char *lf; (lf = memchr(start, '\n', (size_t)(nul - start))); line++) start = lf + 1;
    return dis__fail_at(DIS_EDATA, path, line, (uint64_t)(nul - start) + 1,
                        "a NUL byte; this is not text, or UTF-16 text: save it as UTF-8");
}

/* Checks the start of a large or incomplete input: text without an end is an error. */
static dis_status check_text(const char *path, const char *bytes, size_t n)
{
    if (is_numbers(bytes, n) || dis__is_utf16(bytes, n) || archive_of(bytes, n) != DIS_ARCHIVE_NONE) return DIS_OK;
    const char *nul = memchr(bytes, 0, n < FIRST_BLOCK ? n : FIRST_BLOCK);
    if (nul) return fail_nul(path, bytes, nul);
    if (n <= DIS_MAX_FIELD) return DIS_OK;
    size_t blanks = 0;
    while (blanks < n && strchr(" \t\r\n\xef\xbb\xbf", bytes[blanks])) blanks++;
    if (blanks > DIS_MAX_FIELD)
        return dis__fail_at(DIS_ELIMIT, path, 1, 1, "the file begins with more than %u blanks; is this a table?",
                            DIS_MAX_FIELD);
    const bool json = blanks < n && (bytes[blanks] == '{' || bytes[blanks] == '[');
    if (json || memchr(bytes, '\n', DIS_MAX_FIELD)) return DIS_OK;
    return dis__fail_at(DIS_ELIMIT, path, 1, 1, "the first line has more than %u bytes; is this a table?",
                        DIS_MAX_FIELD);
}

static dis_status check_pipe(const block *b)
{
    if (b->n == 0 || b->binary) return DIS_OK;
    const signature *s = recognise(b->bytes, b->n);
    return s ? refuse(b->path, s) : check_text(b->path, b->bytes, b->n);
}

static dis_status unpack_all(dis__decompressor *u, block *b)
{
    for (bool end = false, detected = false; !end;) {
        size_t got;
        if (b->n == b->capacity) DIS_TRY(grow(b));
        DIS_TRY(dis__decompressor_read(u, b->bytes + b->n, b->capacity - b->n < STEP ? b->capacity - b->n : STEP, &got,
                                       &end));
        b->n += got;
        if (b->max && b->n > b->max) return too_large(b->path, b->max);
        DIS_TRY(dis__check_stop(b->ctx));
        if (detected || (b->n < FIRST_BYTES && !end)) continue;
        detected = true;
        DIS_TRY(check_input(b->path, b->bytes, b->n));
    }
    return DIS_OK;
}

/* Replaces an archive with its contents. */
static dis_status unpack(dis_context *ctx, size_t max, dis__input *in)
{
    const signature *s = recognise(in->bytes, in->n);
    const dis__archive kind = archive_of(in->bytes, in->n);
    if (s) return refuse(in->path, s);
    if (kind == DIS_ARCHIVE_NONE) return DIS_OK;
    block b = {.ctx = ctx, .path = in->path, .packed = in->n, .max = max};
    dis__decompressor *u = NULL;
    dis_status status = dis__decompressor_open(in->path, kind, in->bytes, in->n, &u);
    if (status == DIS_OK) status = unpack_all(u, &b);
    dis__decompressor_close(u);
    status = dis__input_check(in, status);
    if (status != DIS_OK) {
        dis__free(b.bytes);
        return status;
    }
    const char *path = in->path;
    const dis__file_version version = in->version;
    dis__input_close(in);
    *in = (dis__input){.path = path, .bytes = b.bytes, .n = b.n, .owned = b.bytes, .version = version};
    return DIS_OK;
}

/* How a file is opened. */
typedef struct {
    bool stream, binary;
    size_t max; /* 0: any size and any kind of file; otherwise a regular file of at most this many bytes */
} manner;

static dis_status load(dis_context *ctx, int fd, const manner *how, dis__input *in)
{
    struct stat st;
    if (dis__sys_fstat(fd, &st) != 0) return dis__fail_io("look at", in->path);
    if (how->max) DIS_TRY(dis__check_regular_mode(st.st_mode, in->path));
    if (S_ISDIR(st.st_mode)) return dis__fail_folder(in->path);
    DIS_TRY(dis__check_not_endless(fd, &st, in->path));
    if (how->max && (uintmax_t)st.st_size > how->max) return too_large(in->path, how->max);
    in->version = dis__file_version_from_stat(&st);
    if (S_ISREG(st.st_mode) && st.st_size > 0 && fd != STDIN_FILENO) {
        if ((uintmax_t)st.st_size > SIZE_MAX / 2) return dis__fail(DIS_ELIMIT, "%s is too large to map", in->path);
        in->map = dis__map_file(fd, (size_t)st.st_size);
        if (in->map) {
            dis__spill_add_map(in->map, (size_t)st.st_size);
            in->bytes = in->map;
            in->n = in->n_map = (size_t)st.st_size;
            return DIS_OK;
        }
        if (errno != ENODEV)
            return dis__fail_io("map", in->path); /* some file systems do not support mapping: read the
                                                                    * file */
    }
    block b = {.ctx = ctx, .path = in->path, .binary = how->binary};
    const dis_status status = read_all(fd, &b);
    in->bytes = in->owned = b.bytes;
    in->n = b.n;
    return status;
}

/* ---- streams ---- */

/* Decompressed data is written to a separate range of addresses, of which only the current part is backed by memory. */
struct dis__stream {
    dis_context *ctx;
    dis__decompressor *unpacker;
    char *room;
    size_t n_room, dropped;
    const char *passed; /* of the archive itself */
    bool detected, ended;
};

static void close_stream(dis__stream *s)
{
    if (!s) return;
    dis__decompressor_close(s->unpacker);
    if (s->room) dis__os_unmap(s->room, s->n_room);
    dis__free(s);
}

dis_status dis__input_extend(dis__input *in, size_t n)
{
    dis__stream *s = in->stream;
    while (s && !s->ended && in->n < n) {
        size_t got, room = s->n_room - in->n < STREAM_STEP ? s->n_room - in->n : STREAM_STEP;
        if (room == 0)
            return dis__fail(DIS_ELIMIT, "%s unpacks to more than %d times its size; no table compresses that well",
                             in->path, MAX_RATIO);
        DIS_TRY(dis__decompressor_read(s->unpacker, s->room + in->n, room, &got, &s->ended));
        in->n += got;
        DIS_TRY(dis__check_stop(s->ctx));
        if (s->detected || (in->n < FIRST_BYTES && !s->ended)) continue;
        s->detected = true;
        DIS_TRY(check_input(in->path, in->bytes, in->n));
        if (dis__is_utf16(in->bytes, in->n))
            return dis__fail_at(DIS_EDATA, in->path, 0, 0, "UTF-16 text in an archive; unpack it first");
    }
    return DIS_OK;
}

bool dis__input_is_complete(const dis__input *in)
{
    return !in->stream || in->stream->ended;
}

void dis__input_discard(dis__input *in, size_t before)
{
    enum { PAGES = 1 << 20 }; /* a multiple of the page size on every system */
    dis__stream *s = in->stream;
    if (!s || before / PAGES * PAGES <= s->dropped) return;
    const size_t to = before / PAGES * PAGES;
    dis__os_drop_pages(s->room + s->dropped, to - s->dropped);
    s->dropped = to;
    dis__input_release_pages(in, (const char *)in->map + dis__decompressor_used(s->unpacker), &s->passed);
}

dis_status dis__input_rewind(dis__input *in)
{
    dis__stream *s = in->stream;
    if (!s || s->dropped == 0) return DIS_OK;
    dis__decompressor *again;
    DIS_TRY(dis__decompressor_open(in->path, archive_of(in->map, in->n_map), in->map, in->n_map, &again));
    dis__decompressor_close(s->unpacker);
    dis__os_drop_pages(s->room, s->n_room);
    s->unpacker = again;
    s->dropped = 0;
    s->passed = NULL;
    s->ended = false;
    in->n = 0;
    return dis__input_extend(in, STREAM_FIRST);
}

uint64_t dis__input_size(const dis__input *in)
{
    if (dis__input_is_complete(in)) return in->n;
    const double used = (double)dis__decompressor_used(in->stream->unpacker);
    return (uint64_t)((double)in->n * (double)in->n_map / (used > 0 ? used : 1));
}

/* A mapped archive above a minimum size becomes a stream, if enough addresses are available. */
static dis_status begin_stream(dis_context *ctx, dis__input *in, bool *begun)
{
    const dis__archive kind = archive_of(in->bytes, in->n);
    *begun = false;
    if (kind == DIS_ARCHIVE_NONE || !in->map || in->n < STREAM_MIN || in->n > SIZE_MAX / MAX_RATIO) return DIS_OK;
    dis__stream *s;
    DIS_TRY(dis__alloc_zeroed(&s, 1, sizeof *s));
    s->ctx = ctx;
    s->n_room = in->n * MAX_RATIO;
    s->room = dis__sys_reserve(s->n_room);
    if (!s->room) {
        close_stream(s);
        return DIS_OK;
    }
    const dis_status status = dis__decompressor_open(in->path, kind, in->bytes, in->n, &s->unpacker);
    if (status != DIS_OK) {
        close_stream(s);
        return status;
    }
    in->stream = s;
    in->bytes = s->room;
    in->n = 0;
    *begun = true;
    return dis__input_extend(in, STREAM_FIRST);
}

/* "https://", "s3://" and the like. */
static bool is_url(const char *path)
{
    const size_t n = strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789");
    return n > 1 && strncmp(path + n, "://", 3) == 0;
}

/* Converts UTF-16 to UTF-8. */
static dis_status decode_utf16(dis_context *ctx, dis__input *in)
{
    char *text;
    size_t n;
    DIS_TRY(dis__check_memory(ctx, dis__saturating_size(in->n, 2, 0), in->path));
    DIS_TRY(dis__alloc_array(&text, dis__saturating_size(in->n / 2, 3, 1), 1));
    const dis_status status = dis__input_check(in, dis__utf16_to_utf8(in->path, in->bytes, in->n, text, &n));
    if (status != DIS_OK) {
        dis__free(text);
        return status;
    }
    const char *path = in->path;
    dis__input_close(in);
    *in = (dis__input){.path = path, .bytes = text, .n = n, .owned = text};
    return DIS_OK;
}

static dis_status fail_url(const char *path)
{
    if (strncmp(path, "http", 4) == 0 || strncmp(path, "ftp", 3) == 0)
        return dis__fail(DIS_EUSAGE, "%.300s: files are read, not URLs; download it first: curl -LO '%.300s'", path,
                         path);
    return dis__fail(DIS_EUSAGE, "%.300s: files are read, not URLs; download it first, and name the local file", path);
}

static dis_status open_input(dis_context *ctx, const char *path, const manner *how, dis__input *in)
{
    dis__input opened = {.path = path, .bytes = ""};
    const bool standard = !how->max && strcmp(path, "-") == 0;
    if (is_url(path)) return fail_url(path);
    const int flags = O_RDONLY | (how->max ? DIS__OS_NO_WAIT : 0); /* opening a FIFO would block */
    const int fd = standard ? STDIN_FILENO : dis__sys_open(path, flags, 0);
    if (fd < 0) return dis__fail_io("open", path);
    bool begun = false;
    dis_status status = load(ctx, fd, how, &opened);
    if (!standard) close(fd);
    const bool large =
        opened.n > DIS_MAX_FIELD && !recognise(opened.bytes, opened.n); /* recognized formats have their own message */
    if (status == DIS_OK && large && !how->binary && !how->max) status = check_text(path, opened.bytes, opened.n);
    if (status == DIS_OK && how->stream) status = begin_stream(ctx, &opened, &begun);
    if (status == DIS_OK && !begun) status = unpack(ctx, how->max, &opened);
    const bool text =
        !how->binary && !begun && dis__is_utf16(opened.bytes, opened.n) && !is_safetensors(opened.bytes, opened.n);
    if (status == DIS_OK && text) status = decode_utf16(ctx, &opened);
    if (status != DIS_OK) return dis__input_finish(&opened, status);
    *in = opened;
    return DIS_OK;
}

dis_status dis__input_open(dis_context *ctx, const char *path, dis__input *in)
{
    return open_input(ctx, path, &(manner){0}, in);
}

dis_status dis__input_open_binary(dis_context *ctx, const char *path, dis__input *in)
{
    return open_input(ctx, path, &(manner){.binary = true}, in);
}

dis_status dis__input_open_regular(dis_context *ctx, const char *path, size_t max, dis__input *in)
{
    return open_input(ctx, path, &(manner){.max = max}, in);
}

dis_status dis__input_open_stream(dis_context *ctx, const char *path, dis__input *in)
{
    return open_input(ctx, path, &(manner){.stream = true}, in);
}

dis_status dis__fail_file_changed(const char *path)
{
    return dis__fail(DIS_EIO, "%s changed while it was read; run the command again when no other program writes to it",
                     path);
}

void dis__input_close(dis__input *in)
{
    close_stream(in->stream);
    if (in->map) dis__spill_remove_map(in->map);
    dis__unmap_file(in->map, in->n_map);
    dis__free(in->owned);
    *in = (dis__input){.path = in->path, .bytes = ""};
}

typedef struct {
    const dis__input *in;
    size_t n_jobs;
} forgetting;

enum { FORGET = 1 << 25 /* bytes: a multiple of the page size on every system */ };

static dis_status forget_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const forgetting *f = arg;
    const size_t from = j * FORGET, n = f->in->n_map - from < FORGET ? f->in->n_map - from : FORGET;
    dis__os_drop_pages((char *)f->in->map + from, n);
    return DIS_OK;
}

void dis__input_unmap_pages(dis_context *ctx, const dis__input *in)
{
    forgetting f = {.in = in, .n_jobs = in->map ? in->n_map / FORGET + 1 : 0};
    if (f.n_jobs > 1 && dis_context_n_threads(ctx) > 2) (void)dis__run_jobs(ctx, f.n_jobs, forget_job, &f);
}

void dis__input_release_pages(const dis__input *in, const char *at, const char **passed)
{
    enum { LARGE = 1 << 26, PAGE = 1 << 16 }; /* a multiple of the page size on every system */
    if (!in->map) return;
    if (!*passed) *passed = in->map;
    const size_t n = at > *passed ? (size_t)(at - *passed) / PAGE * PAGE : 0;
    if (n < LARGE) return;
    dis__os_drop_pages((void *)(uintptr_t)*passed, n);
    *passed += n;
}

dis__input dis__input_from_bytes(const char *path, const char *bytes, size_t n)
{
    return (dis__input){.path = path, .bytes = bytes, .n = n};
}
