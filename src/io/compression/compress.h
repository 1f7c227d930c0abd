/* compress.h: compressed output, selected by the extension of the file name: .gz (zlib) and .zst (zstd). Equal contents
 * give equal archives: no time, no name, one thread.
 *
 *     dis__compressor *packer;
 *     DIS_TRY(dis__compressor_open("labels.csv.gz", &packer));      // NULL: another extension
 *     DIS_TRY(dis__compressor_write(packer, bytes, n, put, user));  // put() receives finished output
 *     DIS_TRY(dis__compressor_end(packer, put, user));
 *     dis__compressor_free(packer);
 */
#ifndef DIS_IO_COMPRESSION_COMPRESS_H
#define DIS_IO_COMPRESSION_COMPRESS_H
#include "core/error.h"

typedef struct dis__compressor dis__compressor;
typedef dis_status (*dis__compressed_sink)(void *user, const char *bytes, size_t n);

/* DIS_EUSAGE: not supported by this build. DIS_ELIMIT. */
dis_status dis__compressor_open(const char *path, dis__compressor **out);
dis_status dis__compressor_write(dis__compressor *packer, const char *bytes, size_t n, dis__compressed_sink put,
                                 void *user);
dis_status dis__compressor_end(dis__compressor *packer, dis__compressed_sink put, void *user);
void dis__compressor_free(dis__compressor *packer);

#endif
