/* npy: what is opened lies within the bytes, to the last one. */
#include "fuzz.h"
#include "io/tensors/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dis__npy a;
    if (dis__npy_open("f", data, size, &a) != DIS_OK) return 0;
    MUST(a.data >= (const char *)data && a.data + a.n * a.size == (const char *)data + size);
    size_t n = 1;
    for (size_t d = 0; d < a.n_dims; d++) n *= a.dim[d];
    MUST(n == a.n);
    double *x = malloc(a.n * sizeof *x + 1);
    dis__npy_read_doubles(&a, 0, a.n, x);
    free(x);
    return 0;
}
