/* Input files: mapped, read or unpacked. Unpacking writes into one block that grows; its cost is that of zlib or zstd.
 *
 * An archive may hold a thousand times what it weighs, so what comes out is looked at while it comes: the memory that
 * it would need before each growth, its first bytes as soon as they are there (an archive in an archive, a format that
 * is not read), and every few megabytes whether somebody wants to stop. */
#include "io/input.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/spill.h"
#include "core/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef DIS_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef DIS_HAVE_ZSTD
#include <zstd.h>
#endif

enum { FIRST_BLOCK = 1 << 16, LARGE_BLOCK = 1 << 26, FIRST_BYTES = 16, STEP = 1 << 24, MAX_RATIO = 200 };

/* A block that grows. */
typedef struct {
    dis_context *ctx;
    const char *path;
    char *bytes;
    size_t n, capacity;
    size_t packed; /* bytes of the archive; 0: none */
    bool looked;   /* at the first bytes */
} block;

static dis_status grow(block *b)
{
    /* large ones by half: twice would refuse what fits */
    const size_t c = b->capacity, capacity = c == 0 ? FIRST_BLOCK : dis__size(c, 1, c < LARGE_BLOCK ? c : c / 2);
    /* What is unpacked may lie in a temporary file, but for archives that no table of rows shrinks to. */
    const size_t need = dis__size(capacity, 1, b->capacity);
    DIS_TRY(b->packed && capacity / MAX_RATIO > b->packed ? dis__check_resident(b->ctx, need, b->path)
                                                          : dis__check_memory(b->ctx, need, b->path));
    DIS_TRY(dis__resize_array(&b->bytes, b->n, capacity, 1));
    b->capacity = capacity;
    return DIS_OK;
}

static dis_status read_all(int fd, block *b)
{
    for (;;) {
        if (b->n == b->capacity) DIS_TRY(grow(b));
        const ssize_t got = dis__sys_read(fd, b->bytes + b->n, b->capacity - b->n);
        if (got < 0) return dis__fail_io("read", b->path);
        if (got == 0) return DIS_OK;
        b->n += (size_t)got;
    }
}

static dis_status damaged(const block *b, const char *kind, const char *reason)
{
    return dis__fail_at(DIS_EDATA, b->path, 0, 0, "the %s archive is damaged or cut short (%s); get the file again",
                        kind, reason);
}

#if defined DIS_HAVE_ZLIB || defined DIS_HAVE_ZSTD
static dis_status refuse_unpacked(const block *b);

/* What can be said of what was unpacked so far; `all`: nothing more will come. */
static dis_status look_at(block *b, bool all)
{
    DIS_TRY(dis__check_stop(b->ctx));
    if (b->looked || (b->n < FIRST_BYTES && !all)) return DIS_OK;
    b->looked = true;
    return refuse_unpacked(b);
}

static size_t room_of(const block *b)
{
    return b->capacity - b->n < STEP ? b->capacity - b->n : STEP;
}
#endif

#ifdef DIS_HAVE_ZLIB
static void *zlib_alloc(void *unused, unsigned n, unsigned size)
{
    (void)unused;
    void *memory;
    return dis__alloc_array(&memory, n, size) == DIS_OK ? memory : Z_NULL;
}

static void zlib_free(void *unused, void *memory)
{
    (void)unused;
    dis__free(memory);
}

/* One member behind the other until the bytes end. zlib counts in 32 bits: it is fed in portions. */
static dis_status inflate_all(z_stream *z, const char *bytes, size_t n, block *b)
{
    enum { PORTION = 1 << 30 };
    size_t used = 0;
    for (;;) {
        if (b->n == b->capacity) DIS_TRY(grow(b));
        const unsigned in = n - used > PORTION ? PORTION : (unsigned)(n - used);
        const unsigned room = (unsigned)room_of(b);
        z->next_in = (unsigned char *)(uintptr_t)(bytes + used);
        z->avail_in = in;
        z->next_out = (unsigned char *)b->bytes + b->n;
        z->avail_out = room;
        const int rc = inflate(z, Z_NO_FLUSH);
        used += in - z->avail_in;
        b->n += room - z->avail_out;
        DIS_TRY(look_at(b, rc == Z_STREAM_END && used == n));
        if (rc == Z_STREAM_END) {
            if (used == n) return DIS_OK;
            if (inflateReset(z) != Z_OK) return damaged(b, "gzip", "reset");
        } else if (rc == Z_MEM_ERROR) {
            return DIS_ELIMIT; /* the message is the allocator's */
        } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
            return damaged(b, "gzip", z->msg ? z->msg : "not gzip data");
        } else if (used == n && z->avail_out) {
            return damaged(b, "gzip", "it ends too early");
        }
    }
}

static dis_status unpack_gzip(const char *bytes, size_t n, block *b)
{
    z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free};
    const int rc = inflateInit2(&z, 15 + 16); /* the largest window, gzip headers */
    if (rc == Z_MEM_ERROR) return DIS_ELIMIT;
    if (rc != Z_OK) return dis__fail(DIS_EBUG, "zlib does not start: %d", rc);
    const dis_status status = inflate_all(&z, bytes, n, b);
    inflateEnd(&z);
    return status;
}
#else
static dis_status unpack_gzip(const char *bytes, size_t n, block *b)
{
    (void)bytes, (void)n;
    return dis__fail_at(DIS_EDATA, b->path, 0, 0, "a gzip archive, and this build has no zlib; unpack it with gunzip");
}
#endif

#ifdef DIS_HAVE_ZSTD
static dis_status unzstd_all(ZSTD_DStream *stream, const char *bytes, size_t n, block *b)
{
    ZSTD_inBuffer in = {.src = bytes, .size = n};
    for (;;) {
        if (b->n == b->capacity) DIS_TRY(grow(b));
        ZSTD_outBuffer out = {.dst = b->bytes, .size = b->n + room_of(b), .pos = b->n};
        const size_t left = ZSTD_decompressStream(stream, &out, &in);
        if (ZSTD_isError(left)) return damaged(b, "zstd", ZSTD_getErrorName(left));
        b->n = out.pos;
        DIS_TRY(look_at(b, in.pos == n && left == 0));
        if (in.pos == n && out.pos < out.size) return left == 0 ? DIS_OK : damaged(b, "zstd", "it ends too early");
        if (in.pos == n && left == 0) return DIS_OK;
    }
}

static dis_status unpack_zstd(const char *bytes, size_t n, block *b)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream) return dis__fail(DIS_ELIMIT, "no memory to unpack %s", b->path);
    const dis_status status = unzstd_all(stream, bytes, n, b);
    ZSTD_freeDStream(stream);
    return status;
}
#else
static dis_status unpack_zstd(const char *bytes, size_t n, block *b)
{
    (void)bytes, (void)n;
    return dis__fail_at(DIS_EDATA, b->path, 0, 0, "a zstd archive, and this build has no zstd; unpack it with unzstd");
}
#endif

/* What the first bytes of a file give away. */
typedef struct {
    const char *magic;
    size_t n;
    const char *name, *advice; /* name NULL: an archive that is unpacked */
    dis_status (*unpack)(const char *bytes, size_t n, block *b);
} signature;

#define ARCHIVE(magic_, unpack_)                                   \
    {                                                              \
        .magic = magic_, .n = sizeof magic_ - 1, .unpack = unpack_ \
    }
#define REFUSED(magic_, name_, advice_)                                           \
    {                                                                             \
        .magic = magic_, .n = sizeof magic_ - 1, .name = name_, .advice = advice_ \
    }
#define PICKLE(magic_) \
    REFUSED(magic_, "a Python pickle", "which can run code when loaded; save the table as CSV, JSONL or npy instead")
#define SKIPPABLE(magic_) ARCHIVE(magic_ "\x2a\x4d\x18", unpack_zstd)

static const signature signatures[] = {
    ARCHIVE("\x1f\x8b", unpack_gzip),
    ARCHIVE("\x28\xb5\x2f\xfd", unpack_zstd),
    SKIPPABLE("\x50"),
    SKIPPABLE("\x51"),
    SKIPPABLE("\x52"),
    SKIPPABLE("\x53"),
    SKIPPABLE("\x54"),
    SKIPPABLE("\x55"),
    SKIPPABLE("\x56"),
    SKIPPABLE("\x57"),
    SKIPPABLE("\x58"),
    SKIPPABLE("\x59"),
    SKIPPABLE("\x5a"),
    SKIPPABLE("\x5b"),
    SKIPPABLE("\x5c"),
    SKIPPABLE("\x5d"),
    SKIPPABLE("\x5e"),
    SKIPPABLE("\x5f"),
    PICKLE("\x80\x02"),
    PICKLE("\x80\x03"),
    PICKLE("\x80\x04"),
    PICKLE("\x80\x05"),
    REFUSED("PK\x03\x04", "a zip archive (PyTorch .pt, NumPy .npz and spreadsheets are such)",
            "which is not read; save the table as CSV, JSONL or npy instead"),
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
    REFUSED("\xff\xfe", "UTF-16 text", "which is not read; save it as UTF-8"),
    REFUSED("\xfe\xff", "UTF-16 text", "which is not read; save it as UTF-8"),
};

static const signature *recognise(const char *bytes, size_t n)
{
    /* A safetensors file begins with the length of its header, whose low bytes may look like anything. */
    if (n > 8 && memcmp(bytes + 4, "\0\0\0\0{", 5) == 0) return NULL;
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (n >= signatures[i].n && memcmp(bytes, signatures[i].magic, signatures[i].n) == 0) return &signatures[i];
    return NULL;
}

static dis_status refuse(const char *path, const signature *s)
{
    return dis__fail_at(DIS_EDATA, path, 0, 0, "this is %s, %s", s->name, s->advice);
}

#if defined DIS_HAVE_ZLIB || defined DIS_HAVE_ZSTD
static dis_status refuse_unpacked(const block *b)
{
    const signature *s = recognise(b->bytes, b->n);
    if (!s) return DIS_OK;
    if (!s->unpack) return refuse(b->path, s);
    return dis__fail_at(DIS_EDATA, b->path, 0, 0, "an archive in an archive; unpack it once");
}
#endif

/* Replaces an archive by its contents. */
static dis_status unpack(dis_context *ctx, dis__input *in)
{
    const signature *s = recognise(in->bytes, in->n);
    if (!s) return DIS_OK;
    if (!s->unpack) return refuse(in->path, s);
    block b = {.ctx = ctx, .path = in->path, .packed = in->n};
    const dis_status status = s->unpack(in->bytes, in->n, &b);
    if (status != DIS_OK) {
        dis__free(b.bytes);
        return status;
    }
    const char *path = in->path;
    dis__input_close(in);
    *in = (dis__input){.path = path, .bytes = b.bytes, .n = b.n, .owned = b.bytes};
    return DIS_OK;
}

static dis_status load(dis_context *ctx, int fd, dis__input *in)
{
    struct stat st;
    if (dis__sys_fstat(fd, &st) != 0) return dis__fail_io("look at", in->path);
    if (S_ISDIR(st.st_mode)) return dis__fail(DIS_EIO, "cannot read %s: it is a folder; name a file in it", in->path);
    if (S_ISREG(st.st_mode) && st.st_size > 0 && fd != STDIN_FILENO) {
        if ((uintmax_t)st.st_size > SIZE_MAX / 2) return dis__fail(DIS_ELIMIT, "%s is too large to map", in->path);
        in->map = dis__sys_map(fd, (size_t)st.st_size);
        if (in->map) {
            dis__spill_add_map(in->map, (size_t)st.st_size);
            in->bytes = in->map;
            in->n = in->n_map = (size_t)st.st_size;
            return DIS_OK;
        }
        if (errno != ENODEV) return dis__fail_io("map", in->path); /* some file systems cannot map: read then */
    }
    block b = {.ctx = ctx, .path = in->path};
    const dis_status status = read_all(fd, &b);
    in->bytes = in->owned = b.bytes;
    in->n = b.n;
    return status;
}

dis_status dis__input_open(dis_context *ctx, const char *path, dis__input *in)
{
    dis__input opened = {.path = path, .bytes = ""};
    const bool standard = strcmp(path, "-") == 0;
    const int fd = standard ? STDIN_FILENO : dis__sys_open(path, O_RDONLY, 0);
    if (fd < 0) return dis__fail_io("open", path);
    dis_status status = load(ctx, fd, &opened);
    if (!standard) close(fd);
    if (status == DIS_OK) status = unpack(ctx, &opened);
    if (status != DIS_OK) {
        dis__input_close(&opened);
        return status;
    }
    *in = opened;
    return DIS_OK;
}

void dis__input_close(dis__input *in)
{
    if (in->map) dis__spill_remove_map(in->map);
    if (in->map) munmap(in->map, in->n_map);
    dis__free(in->owned);
    *in = (dis__input){.path = in->path, .bytes = ""};
}

typedef struct {
    const dis__input *in;
    size_t n_jobs;
} forgetting;

enum { FORGET = 1 << 25 /* bytes: a multiple of the size of a page on every system */ };

static dis_status forget_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const forgetting *f = arg;
    const size_t from = j * FORGET, n = f->in->n_map - from < FORGET ? f->in->n_map - from : FORGET;
    (void)madvise((char *)f->in->map + from, n, MADV_DONTNEED); /* advice: nothing depends on it */
    return DIS_OK;
}

void dis__input_forget(dis_context *ctx, const dis__input *in)
{
    forgetting f = {.in = in, .n_jobs = in->map ? in->n_map / FORGET + 1 : 0};
    if (f.n_jobs > 1 && dis_context_threads(ctx) > 2) (void)dis__run_jobs(ctx, f.n_jobs, forget_job, &f);
}

void dis__input_passed(const dis__input *in, const char *at, const char **passed)
{
    enum { LARGE = 1 << 26, PAGE = 1 << 16 }; /* a multiple of the size of a page on every system */
    if (!in->map) return;
    if (!*passed) *passed = in->map;
    const size_t n = at > *passed ? (size_t)(at - *passed) / PAGE * PAGE : 0;
    if (n < LARGE) return;
    (void)madvise((void *)(uintptr_t)*passed, n, MADV_DONTNEED); /* advice: nothing depends on it */
    *passed += n;
}

dis__input dis__input_of_bytes(const char *path, const char *bytes, size_t n)
{
    return (dis__input){.path = path, .bytes = bytes, .n = n};
}
