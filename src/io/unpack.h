/* unpack.h: gzip and zstd archives, unpacked a piece at a time.
 *
 *     dis__unpacker *u;
 *     DIS_TRY(dis__unpacker_open(path, kind, bytes, n, &u));
 *     while (status == DIS_OK && !end) status = dis__unpacker_read(u, room, n_room, &got, &end);
 *     dis__unpacker_close(u); */
#ifndef DIS_IO_UNPACK_H
#define DIS_IO_UNPACK_H
#include "core/error.h"

typedef struct dis__unpacker dis__unpacker;
typedef enum { DIS_ARCHIVE_NONE, DIS_ARCHIVE_GZIP, DIS_ARCHIVE_ZSTD } dis__archive;

/* By its first bytes. */
dis__archive dis__archive_of(const char *bytes, size_t n);

/* The n bytes of an archive; they and `path`, which is for messages, must outlive it. DIS_EDATA: this build cannot.
 * DIS_ELIMIT. */
dis_status dis__unpacker_open(const char *path, dis__archive kind, const char *bytes, size_t n, dis__unpacker **out);
/* The next bytes into room: *got of them, at most n; *end: nothing more will come. DIS_EDATA: the archive is
 * damaged. */
dis_status dis__unpacker_read(dis__unpacker *u, char *room, size_t n, size_t *got, bool *end);
/* Bytes of the archive that were used so far. */
size_t dis__unpacker_used(const dis__unpacker *u);
void dis__unpacker_close(dis__unpacker *u);

#endif
