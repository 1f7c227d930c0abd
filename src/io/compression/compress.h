/* compress.h: output that is compressed on its way, by the ending of its name: .gz (zlib) and .zst (zstd). The same bytes
 * give the same archive: no time, no name in it, one thread.
 *
 *     dis__compressor *packer;
 *     DIS_TRY(dis__compressor_open("labels.csv.gz", &packer));      // NULL: the name asks for nothing
 *     DIS_TRY(dis__compressor_write(packer, bytes, n, put, user));  // put() gets what is ready
 *     DIS_TRY(dis__compressor_end(packer, put, user));
 *     dis__compressor_free(packer);
 */
#ifndef DIS_IO_COMPRESSION_COMPRESS_H
#define DIS_IO_COMPRESSION_COMPRESS_H
#include "core/error.h"

typedef struct dis__compressor dis__compressor;
typedef dis_status (*dis__compressed_sink)(void *user, const char *bytes, size_t n);

/* DIS_EUSAGE: this build cannot. DIS_ELIMIT. */
dis_status dis__compressor_open(const char *path, dis__compressor **out);
dis_status dis__compressor_write(dis__compressor *packer, const char *bytes, size_t n, dis__compressed_sink put,
                                 void *user);
dis_status dis__compressor_end(dis__compressor *packer, dis__compressed_sink put, void *user);
void dis__compressor_free(dis__compressor *packer);

#endif
