/* Compressed output: one row per file name extension. Levels are the defaults of gzip and zstd (6 and 3). */
#include "io/compression/compress.h"
#include "core/memory/memory.h"
#include <string.h>
#include <strings.h>
#ifdef DIS_HAVE_ZLIB
#include "io/compression/zlib_memory.h"
#endif
#ifdef DIS_HAVE_ZSTD
#include <zstd.h>
#endif

enum { ROOM = 1 << 16, PORTION = 1 << 30 };

typedef struct {
    const char *ending;
    const char *library;
    /* NULL: not in this build */
    dis_status (*open)(dis__compressor *p);
    /* Compresses all of `bytes`; with `end`, also flushes the remaining output. */
    dis_status (*pack)(dis__compressor *p, const char *bytes, size_t n, bool end, dis__compressed_sink put, void *user);
    void (*close)(dis__compressor *p);
} kind;

struct dis__compressor {
    const kind *kind;
    void *state;
    char room[ROOM];
};

#ifdef DIS_HAVE_ZLIB
static dis_status open_gzip(dis__compressor *p)
{
    z_stream *z;
    DIS_TRY(dis__alloc_zeroed(&z, 1, sizeof *z));
    p->state = z;
    z->zalloc = dis__zlib_alloc;
    z->zfree = dis__zlib_free;
    const int rc = deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    if (rc == Z_MEM_ERROR) return DIS_ELIMIT; /* the allocator has set the message */
    return rc == Z_OK ? DIS_OK : dis__fail(DIS_EBUG, "cannot initialize zlib: %d", rc);
}

static dis_status pack_gzip(dis__compressor *p, const char *bytes, size_t n, bool end, dis__compressed_sink put,
                            void *user)
{
    z_stream *z = p->state;
    for (int rc = Z_OK; n || (end && rc != Z_STREAM_END);) {
        const unsigned in = n > PORTION ? PORTION : (unsigned)n;
        z->next_in = (unsigned char *)(uintptr_t)bytes;
        z->avail_in = in;
        z->next_out = (unsigned char *)p->room;
        z->avail_out = ROOM;
        rc = deflate(z, end && in == n ? Z_FINISH : Z_NO_FLUSH);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) return dis__fail(DIS_EBUG, "zlib fails: %d", rc);
        bytes += in - z->avail_in;
        n -= in - z->avail_in;
        if (z->avail_out < ROOM) DIS_TRY(put(user, p->room, ROOM - z->avail_out));
    }
    return DIS_OK;
}

static void close_gzip(dis__compressor *p)
{
    if (p->state) deflateEnd(p->state);
    dis__free(p->state);
}
#else
#define open_gzip  NULL
#define pack_gzip  NULL
#define close_gzip NULL
#endif

#ifdef DIS_HAVE_ZSTD
static dis_status open_zstd(dis__compressor *p)
{
    p->state = ZSTD_createCStream();
    return p->state ? DIS_OK : dis__fail(DIS_ELIMIT, "no memory to compress");
}

static dis_status pack_zstd(dis__compressor *p, const char *bytes, size_t n, bool end, dis__compressed_sink put,
                            void *user)
{
    ZSTD_inBuffer in = {.src = bytes, .size = n};
    for (;;) {
        ZSTD_outBuffer out = {.dst = p->room, .size = ROOM};
        const size_t left = ZSTD_compressStream2(p->state, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) return dis__fail(DIS_ELIMIT, "cannot compress: zstd: %s", ZSTD_getErrorName(left));
        if (out.pos) DIS_TRY(put(user, p->room, out.pos));
        if (in.pos == n && (!end || left == 0)) return DIS_OK;
    }
}

static void close_zstd(dis__compressor *p)
{
    ZSTD_freeCStream(p->state);
}
#else
#define open_zstd  NULL
#define pack_zstd  NULL
#define close_zstd NULL
#endif

static const kind kinds[] = {
    {".gz", "zlib", open_gzip, pack_gzip, close_gzip},
    {".zst", "zstd", open_zstd, pack_zstd, close_zstd},
};

static const kind *kind_of(const char *path)
{
    const size_t n = strlen(path);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t e = strlen(kinds[i].ending);
        if (n > e && strcasecmp(path + n - e, kinds[i].ending) == 0) return &kinds[i];
    }
    return NULL;
}

dis_status dis__compressor_open(const char *path, dis__compressor **out)
{
    const kind *k = kind_of(path);
    *out = NULL;
    if (!k) return DIS_OK;
    if (!k->open)
        return dis__fail(DIS_EUSAGE, "%s: this build has no %s; name the file without %s", path, k->library, k->ending);
    dis__compressor *p;
    DIS_TRY(dis__alloc_zeroed(&p, 1, sizeof *p));
    p->kind = k;
    const dis_status status = k->open(p);
    if (status != DIS_OK) {
        dis__compressor_free(p);
        return status;
    }
    *out = p;
    return DIS_OK;
}

dis_status dis__compressor_write(dis__compressor *p, const char *bytes, size_t n, dis__compressed_sink put, void *user)
{
    return n ? p->kind->pack(p, bytes, n, false, put, user) : DIS_OK;
}

dis_status dis__compressor_end(dis__compressor *p, dis__compressed_sink put, void *user)
{
    return p->kind->pack(p, "", 0, true, put, user);
}

void dis__compressor_free(dis__compressor *p)
{
    if (!p) return;
    p->kind->close(p);
    dis__free(p);
}
