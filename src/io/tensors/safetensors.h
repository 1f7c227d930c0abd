/* safetensors.h: named arrays in one file: 8 bytes of length, a JSON header, the values.
 *
 *     dis__safetensors file;
 *     DIS_TRY(dis__safetensors_open("state.safetensors", bytes, n_bytes, &file));
 *     const dis__tensor *t = dis__safetensors_find(&file, "dawid-skene/confusion");
 *     ... t->dtype, t->dim, t->data (not aligned: copy with memcpy) ...
 *     dis__safetensors_close(&file);
 *
 * Errors, DIS_EDATA: a header above 100,000,000 bytes or longer than the file, unknown types, shapes that do not match
 * the number of bytes, tensors that overlap or leave gaps, bytes after the last one. */
#ifndef DIS_IO_TENSORS_SAFETENSORS_H
#define DIS_IO_TENSORS_SAFETENSORS_H
#include "core/error.h"
#include "io/json/json_read.h"
#include "io/output/output_file.h"

#define DIS_SAFETENSORS_HEADER 100000000u
#define DIS_TENSOR_DIMS        8

/* A row of the table of types; static. */
typedef struct {
    const char *name; /* "F64" */
    size_t size;      /* bytes per number */
} dis__dtype;

/* NULL: there is none of that name. */
const dis__dtype *dis__dtype_find(const char *name, size_t length);

typedef struct {
    const char *name; /* not NUL-terminated when read */
    size_t name_length;
    const dis__dtype *dtype;
    size_t n_dims, dim[DIS_TENSOR_DIMS];
    size_t n; /* number of values */
    const void *data;
} dis__tensor;

typedef struct {
    dis__json json;
    const dis__json_value *metadata; /* an object of texts, or NULL */
    dis__tensor *tensors;            /* in the order of their bytes */
    size_t n_tensors;
} dis__safetensors;

/* Checks everything about a whole file in memory, which must stay valid. On failure there is nothing to close. */
dis_status dis__safetensors_open(const char *file, const void *bytes, size_t n_bytes, dis__safetensors *out);
void dis__safetensors_close(dis__safetensors *file);
/* NULL: missing. */
const dis__tensor *dis__safetensors_find(const dis__safetensors *file, const char *name);
/* The text of a metadata key, NULL: missing. */
const dis__json_value *dis__safetensors_metadata(const dis__safetensors *file, const char *key);

/* Writes a whole file. `metadata`: n_metadata pairs of key and text, without repeated keys; tensor names are C strings,
 * without repetitions. */
dis_status dis__safetensors_write(dis__out *out, const dis__tensor *tensors, size_t n_tensors,
                                  const char *const (*metadata)[2], size_t n_metadata);
/* The same for tensors that are not in host memory: `fetch` copies n bytes, from byte `at` of tensor `t`. */
typedef dis_status dis__tensor_fetch(void *arg, const dis__tensor *t, size_t at, size_t n, void *to);
dis_status dis__safetensors_write_fetched(dis__out *out, const dis__tensor *tensors, size_t n_tensors,
                                          const char *const (*metadata)[2], size_t n_metadata, dis__tensor_fetch *fetch,
                                          void *arg);

#endif
