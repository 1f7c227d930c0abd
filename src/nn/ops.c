/* The table of kernels of the devices with host memory, generated from the one list in ops.h, and number types. */
#include "nn/ops.h"
#include "core/kernel.h"
#include "nn/device.h"

#define DECLARE(name)                                                                 \
    void dis__ref_##name(const void *args, size_t first, size_t last, void *scratch); \
    DIS_KERNEL_DECLARE(void, dis__cpu_##name, (const void *args, size_t first, size_t last, void *scratch));
DIS_OPS(DECLARE)
#undef DECLARE

static const struct {
    const char *name;
    size_t size;
} numbers[DIS_N_NUMBERS] = {
    [DIS_FLOAT64] = {"F64", 8},
    [DIS_FLOAT32] = {"F32", 4},
    [DIS_BFLOAT16] = {"BF16", 2},
    [DIS_INT32] = {"I32", 4},
};

size_t dis__number_size(dis__number number)
{
    return numbers[number].size;
}

const char *dis__number_name(dis__number number)
{
    return numbers[number].name;
}

void dis__ops_ref(dis__op_function *table[DIS_N_OPS])
{
#define ROW(name) table[DIS_OP_##name] = dis__ref_##name;
    DIS_OPS(ROW)
#undef ROW
}

void dis__ops_cpu(dis__op_function *table[DIS_N_OPS])
{
#define ROW(name) table[DIS_OP_##name] = DIS_KERNEL_SELECT(dis__cpu_##name);
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
