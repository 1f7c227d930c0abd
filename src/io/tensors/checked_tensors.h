/* checked_tensors.h: a safetensors file with checksums that detect damage, even if only parts of it are read.
 *
 * The first tensor, "checksums" (U64), has a checksum of every DIS_CHECK_BLOCK bytes of the other tensors. The metadata
 * key "checksum" is the SHA-256 of all other metadata, of the name, type and shape of every tensor and of the list of
 * checksums. Opening a check verifies that digest; blocks are verified when their bytes are needed:
 *
 *     dis__tensor_check check;
 *     DIS_TRY(dis__tensor_check_open(&file, path, &check));           // O(header + blocks)
 *     DIS_TRY(dis__tensor_check_range(&check, tensor->data, 100));    // before these 100 bytes are used
 *     dis__tensor_check_close(&check);
 *
 * DIS_EDATA: the file was damaged after it was written. */
#ifndef DIS_IO_TENSORS_CHECKED_TENSORS_H
#define DIS_IO_TENSORS_CHECKED_TENSORS_H
#include "io/tensors/safetensors.h"

enum { DIS_CHECK_BLOCK = 512 };

typedef struct {
    const char *path;
    const char *data; /* (n) all tensors except the checksums */
    size_t n;
    const dis__tensor *sums;
    unsigned char *verified; /* one bit per block */
} dis__tensor_check;

/* Writes a whole file, as dis__safetensors_write(); `metadata` must not contain "checksum". */
dis_status dis__checked_write(dis__out *out, const dis__tensor *tensors, size_t n_tensors,
                              const char *const (*metadata)[2], size_t n_metadata);

/* `path` is for messages and must outlive the check, as must the file. On failure there is nothing to close. */
dis_status dis__tensor_check_open(const dis__safetensors *file, const char *path, dis__tensor_check *out);
void dis__tensor_check_close(dis__tensor_check *check);
/* Verifies the blocks of bytes [from, from + n), which must be in tensors of the file. Not thread-safe. */
dis_status dis__tensor_check_range(const dis__tensor_check *check, const void *from, size_t n);
dis_status dis__tensor_check_all(const dis__tensor_check *check);

#endif
