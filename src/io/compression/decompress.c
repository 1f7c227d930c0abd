/* Decompression by zlib and zstd, one table row each. An archive may consist of several concatenated ones. Cost: that
 * of zlib or zstd. */
#include "io/compression/decompress.h"
#include "core/memory/memory.h"
#include <stdint.h>
#include <string.h>
#ifdef DIS_HAVE_ZLIB
#include "io/compression/zlib_memory.h"
#endif
#ifdef DIS_HAVE_ZSTD
#include <zstd.h>
#endif

typedef struct {
    const char *name, *library, *tool;
    dis_status (*open)(dis__decompressor *u);
    dis_status (*read)(dis__decompressor *u, char *room, size_t n, size_t *got, bool *end);
    void (*close)(dis__decompressor *u);
} kind_row;

struct dis__decompressor {
    const char *path, *bytes;
    size_t n, used;
    const kind_row *kind;
#ifdef DIS_HAVE_ZLIB
    z_stream zlib;
#endif
#ifdef DIS_HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
};

#if defined DIS_HAVE_ZLIB || defined DIS_HAVE_ZSTD
static dis_status damaged(const dis__decompressor *u, const char *reason)
{
    return dis__fail_at(DIS_EDATA, u->path, 0, 0,
                        "the %s archive is damaged or truncated (%s); download the file again", u->kind->name, reason);
}
#endif

#ifdef DIS_HAVE_ZLIB
static dis_status open_gzip(dis__decompressor *u)
{
    u->zlib = (z_stream){.zalloc = dis__zlib_alloc, .zfree = dis__zlib_free};
    const int rc = inflateInit2(&u->zlib, 15 + 16); /* the largest window, gzip headers */
    if (rc == Z_MEM_ERROR) return DIS_ELIMIT;       /* the allocator has set the message */
    return rc == Z_OK ? DIS_OK : dis__fail(DIS_EBUG, "cannot initialize zlib: %d", rc);
}

/* zlib counts in 32 bits, so it is fed in portions. */
static dis_status read_gzip(dis__decompressor *u, char *room, size_t n, size_t *got, bool *end)
{
    enum { PORTION = 1 << 30 };
    z_stream *z = &u->zlib;
    const unsigned in = u->n - u->used > PORTION ? PORTION : (unsigned)(u->n - u->used);
    const unsigned out = n > PORTION ? PORTION : (unsigned)n;
    z->next_in = (unsigned char *)(uintptr_t)(u->bytes + u->used);
    z->avail_in = in;
    z->next_out = (unsigned char *)room;
    z->avail_out = out;
    const int rc = inflate(z, Z_NO_FLUSH);
    u->used += in - z->avail_in;
    *got = out - z->avail_out;
    *end = rc == Z_STREAM_END && u->used == u->n;
    if (*end) return DIS_OK;
    if (rc == Z_STREAM_END) return inflateReset(z) == Z_OK ? DIS_OK : damaged(u, "reset");
    if (rc == Z_MEM_ERROR) return DIS_ELIMIT;
    if (rc != Z_OK && rc != Z_BUF_ERROR) return damaged(u, z->msg ? z->msg : "not gzip data");
    return u->used == u->n && z->avail_out ? damaged(u, "it ends too early") : DIS_OK;
}

static void close_gzip(dis__decompressor *u)
{
    inflateEnd(&u->zlib);
}
#endif

#ifdef DIS_HAVE_ZSTD
static dis_status open_zstd(dis__decompressor *u)
{
    u->zstd = ZSTD_createDStream();
    return u->zstd ? DIS_OK : dis__fail(DIS_ELIMIT, "no memory to unpack %s", u->path);
}

static dis_status read_zstd(dis__decompressor *u, char *room, size_t n, size_t *got, bool *end)
{
    ZSTD_inBuffer in = {.src = u->bytes, .size = u->n, .pos = u->used};
    ZSTD_outBuffer out = {.dst = room, .size = n};
    const size_t left = ZSTD_decompressStream(u->zstd, &out, &in);
    if (ZSTD_isError(left)) return damaged(u, ZSTD_getErrorName(left));
    u->used = in.pos;
    *got = out.pos;
    *end = in.pos == u->n && left == 0;
    return in.pos == u->n && out.pos < out.size && left ? damaged(u, "it ends too early") : DIS_OK;
}

static void close_zstd(dis__decompressor *u)
{
    ZSTD_freeDStream(u->zstd);
}
#endif

/* In the order of dis__archive; `open` NULL: not supported by this build. */
static const kind_row kinds[] = {
    {.name = ""},
#ifdef DIS_HAVE_ZLIB
    {"gzip", "zlib", "gunzip", open_gzip, read_gzip, close_gzip},
#else
    {.name = "gzip", .library = "zlib", .tool = "gunzip"},
#endif
#ifdef DIS_HAVE_ZSTD
    {"zstd", "zstd", "unzstd", open_zstd, read_zstd, close_zstd},
#else
    {.name = "zstd", .library = "zstd", .tool = "unzstd"},
#endif
};

dis__archive dis__archive_detect(const char *bytes, size_t n)
{
    if (n >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0) return DIS_ARCHIVE_GZIP;
    if (n < 4) return DIS_ARCHIVE_NONE;
    if (memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0) return DIS_ARCHIVE_ZSTD;
    /* the first frame may be a skippable one */
    return ((unsigned char)bytes[0] & 0xf0) == 0x50 && memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0 ? DIS_ARCHIVE_ZSTD
                                                                                                 : DIS_ARCHIVE_NONE;
}

dis_status dis__decompressor_open(const char *path, dis__archive kind, const char *bytes, size_t n,
                                  dis__decompressor **out)
{
    const kind_row *row = &kinds[kind];
    if (!row->open)
        return dis__fail_at(DIS_EDATA, path, 0, 0, "a %s archive, and this build has no %s; unpack it with %s",
                            row->name, row->library, row->tool);
    dis__decompressor *u;
    DIS_TRY(dis__alloc_zeroed(&u, 1, sizeof *u));
    u->path = path;
    u->bytes = bytes;
    u->n = n;
    u->kind = row;
    const dis_status status = row->open(u);
    if (status != DIS_OK) {
        dis__free(u);
        return status;
    }
    *out = u;
    return DIS_OK;
}

dis_status dis__decompressor_read(dis__decompressor *u, char *room, size_t n, size_t *got, bool *end)
{
    *got = 0;
    *end = false;
    return u->kind->read(u, room, n, got, end);
}

size_t dis__decompressor_used(const dis__decompressor *u)
{
    return u->used;
}

void dis__decompressor_close(dis__decompressor *u)
{
    if (!u) return;
    u->kind->close(u);
    dis__free(u);
}
