/* safetensors: tensors that are opened cover the bytes after the header, in order, without holes. */
#include "fuzz.h"
#include "io/tensors/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dis__safetensors f;
    if (dis__safetensors_open("f", data, size, &f) != DIS_OK) return 0;
    const uint8_t *at = f.n_tensors ? f.tensors[0].data : data + size;
    for (size_t i = 0; i < f.n_tensors; i++) {
        MUST((const uint8_t *)f.tensors[i].data == at);
        at += f.tensors[i].n * f.tensors[i].dtype->size;
    }
    MUST(at == data + size);
    dis__safetensors_close(&f);
    return 0;
}
