/* The table of kernels, made from the one list in ops.h, and how a product is cut into tiles. */
#include "nn/ops.h"
#include "core/kernel.h"
#include "core/memory.h"
#include "nn/cpu/gemm.h"
#include <string.h>

#define DECLARE(name)                                                                 \
    void dis__ref_##name(const void *args, size_t first, size_t last, void *scratch); \
    DIS_KERNEL_DECLARE(void, dis__cpu_##name, (const void *args, size_t first, size_t last, void *scratch));
DIS_OPS(DECLARE)
#undef DECLARE

const dis__device dis__device_ref = {.name = "ref", .real = sizeof(double), .threads = false, .scratch = 64};
const dis__device dis__device_cpu = {.name = "cpu",
                                     .real = sizeof(float),
                                     .threads = true,
                                     .scratch = DIS_GEMM_SCRATCH};

static const dis__device *const devices[] = {&dis__device_ref, &dis__device_cpu};

const dis__device *dis__device_find(const char *name)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strcmp(devices[i]->name, name) == 0) return devices[i];
    return NULL;
}

void dis__ops_pick(const dis__device *device, dis__op_function *table[DIS_N_OPS])
{
#define ROW(name) \
    table[DIS_OP_##name] = device == &dis__device_cpu ? DIS_KERNEL_PICK(dis__cpu_##name) : dis__ref_##name;
    DIS_OPS(ROW)
#undef ROW
}

const char *dis__op_name(dis__op op)
{
#define NAME(name) [DIS_OP_##name] = #name,
    static const char *const names[DIS_N_OPS] = {DIS_OPS(NAME)};
#undef NAME
    return names[op];
}

static size_t parts(size_t n, size_t size)
{
    return (n + size - 1) / size;
}

/* n cut into parts of at most `most`, all alike, multiples of `unit` where there are several. */
static size_t even_part(size_t n, size_t most, size_t unit)
{
    const size_t size = parts(n, parts(n, most));
    return size == n ? n : parts(size, unit) * unit;
}

size_t dis__product_tiles(dis__product_args *args, int n_threads)
{
    /* High and as wide as a packed strip, since each tile packs its strip anew; smaller while there are few for the
     * threads. A tile of some million operations is worth a job of its own; smaller ones would spend more time packing
     * than multiplying. */
    enum { SMALLEST = 1 << 23, HIGH = 2048, LOW = 96, NARROW = 128 };
    const size_t few = n_threads > 1 ? 2 * (size_t)n_threads : 1;
    if (args->m == 0 || args->n == 0) return 0;
    size_t rows = even_part(args->m, HIGH, 24), cols = even_part(args->n, DIS_GEMM_NC, DIS_GEMM_NR);
    while (parts(args->m, rows) * parts(args->n, cols) < few) {
        if (dis__size(rows * cols, args->k, 0) < 2 * SMALLEST) break;
        if (cols >= NARROW && cols >= rows / 4)
            cols = even_part(cols, parts(cols, 2), DIS_GEMM_NR);
        else if (rows >= LOW)
            rows = even_part(rows, parts(rows, 2), 24);
        else
            break;
    }
    args->tile_rows = rows;
    args->tile_cols = cols;
    return parts(args->m, rows) * parts(args->n, cols);
}
