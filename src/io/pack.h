/* pack.h: output that is compressed on its way, by the ending of its name: .gz (zlib) and .zst (zstd). The same bytes
 * give the same archive: no time, no name in it, one thread.
 *
 *     dis__packer *packer;
 *     DIS_TRY(dis__packer_open("labels.csv.gz", &packer));      // NULL: the name asks for nothing
 *     DIS_TRY(dis__packer_write(packer, bytes, n, put, user));  // put() gets what is ready
 *     DIS_TRY(dis__packer_end(packer, put, user));
 *     dis__packer_free(packer);
 */
#ifndef DIS_IO_PACK_H
#define DIS_IO_PACK_H
#include "core/error.h"

typedef struct dis__packer dis__packer;
typedef dis_status (*dis__put_packed)(void *user, const char *bytes, size_t n);

/* DIS_EUSAGE: this build cannot. DIS_ELIMIT. */
dis_status dis__packer_open(const char *path, dis__packer **out);
dis_status dis__packer_write(dis__packer *packer, const char *bytes, size_t n, dis__put_packed put, void *user);
dis_status dis__packer_end(dis__packer *packer, dis__put_packed put, void *user);
void dis__packer_free(dis__packer *packer);

#endif
