/* npy.h: NumPy's array files, versions 1 to 3: plain little-endian numbers.
 *
 *     dis__npy a;
 *     DIS_TRY(dis__npy_open("counts.npy", bytes, n_bytes, &a));      // all checks are here, before any allocation
 *     if (a.n_dims != 2) ...
 *     dis__npy_read_doubles(&a, 0, a.n, out);                        // rows, contiguous
 *
 * Errors, DIS_EDATA: pickled and object arrays, npz and PyTorch files (named, with advice), structured and complex
 * types, text, big-endian numbers, shapes that do not match the size of the file to the byte. */
#ifndef DIS_IO_TENSORS_NPY_H
#define DIS_IO_TENSORS_NPY_H
#include "core/error.h"
#include "io/output/output_file.h"

#define DIS_NPY_DIMS 8

typedef struct {
    char kind;   /* 'f', 'i', 'u' or 'b' (bool) */
    size_t size; /* bytes per number: 1, 2, 4 or 8 */
    size_t n_dims, dim[DIS_NPY_DIMS];
    size_t n;     /* number of values: the product of dim */
    bool fortran; /* column-major order; only with two dimensions */
    const char *data;
} dis__npy;

/* Parses a whole file in memory; `out` points into it. `file` is for messages. DIS_EDATA. */
dis_status dis__npy_open(const char *file, const void *bytes, size_t n_bytes, dis__npy *out);

/* Values first .. first + n - 1 in row-major order, as doubles. Integers beyond 2^53 are rounded. */
void dis__npy_read_doubles(const dis__npy *array, size_t first, size_t n, double *out);

/* Writes the header of a (n_rows, n_columns) array of doubles ('f', 8) or floats ('f', 4); its values follow in native
 * byte order. */
dis_status dis__npy_write_header(dis__out *out, size_t size, size_t n_rows, size_t n_columns);

#endif
