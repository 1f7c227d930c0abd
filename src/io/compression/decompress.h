/* decompress.h: streaming decompression of gzip and zstd archives.
 *
 *     dis__decompressor *u;
 *     DIS_TRY(dis__decompressor_open(path, kind, bytes, n, &u));
 *     while (status == DIS_OK && !end) status = dis__decompressor_read(u, room, n_room, &got, &end);
 *     dis__decompressor_close(u); */
#ifndef DIS_IO_COMPRESSION_DECOMPRESS_H
#define DIS_IO_COMPRESSION_DECOMPRESS_H
#include "core/error.h"

typedef struct dis__decompressor dis__decompressor;
typedef enum { DIS_ARCHIVE_NONE, DIS_ARCHIVE_GZIP, DIS_ARCHIVE_ZSTD } dis__archive;

/* By its first bytes. */
dis__archive dis__archive_detect(const char *bytes, size_t n);

/* Opens the n bytes of an archive; they and `path`, which is for messages, must outlive it. DIS_EDATA: not supported by
 * this build. DIS_ELIMIT. */
dis_status dis__decompressor_open(const char *path, dis__archive kind, const char *bytes, size_t n,
                                  dis__decompressor **out);
/* The next bytes into room: *got of them, at most n; *end: the archive ended. DIS_EDATA: the archive is damaged. */
dis_status dis__decompressor_read(dis__decompressor *u, char *room, size_t n, size_t *got, bool *end);
/* Bytes of the archive read so far. */
size_t dis__decompressor_used(const dis__decompressor *u);
void dis__decompressor_close(dis__decompressor *u);

#endif
