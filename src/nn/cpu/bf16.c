/* Requirements of products in bfloat16, and their column of the table of kernels. */
#include "nn/cpu/bf16.h"
#include "core/cpu_features.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { LANES = 16 };

const char *dis__bf16_lacks(void)
{
#if defined(__x86_64__)
    if (!dis__cpu_has_avx512_bf16())
        return "it needs the instruction vdpbf16ps (AVX512_BF16), which this processor lacks";
    if (dis__isa() != DIS_ISA_AVX512) return "it needs AVX-512, which DISSENT_ISA rules out";
    return NULL;
#else
    return "it needs the instruction vdpbf16ps (AVX512_BF16) of x86 CPUs";
#endif
}

#if defined(__x86_64__)
bool dis__bf16_has_tiles(void)
{
    enum { TILE_STATE = 3 << 17, INSTRUCTIONS = 1 << 22 | 1 << 24 };
    unsigned a, b, c, d, low, high;
    const char *wanted = getenv("DISSENT_ISA");
    if (dis__bf16_lacks() || (wanted && strcmp(wanted, "avx512") == 0)) return false;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return false; /* xgetbv */
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & INSTRUCTIONS) != INSTRUCTIONS) return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & TILE_STATE) == TILE_STATE && dis__os_enable_tile_registers();
}
#else
bool dis__bf16_has_tiles(void)
{
    return false;
}
#endif

size_t dis__bf16_size(size_t n, size_t k)
{
    const size_t wide = dis__saturating_size((n + LANES - 1) / LANES, LANES, 0);
    return dis__saturating_size(wide, dis__saturating_size((k + 1) / 2, 2 * sizeof(uint16_t), 0), 0);
}

size_t dis__bf16_panels(size_t n)
{
    return (n + DIS_BF16_NR - 1) / DIS_BF16_NR;
}

void dis__bf16_pack(const dis__product_args *args, size_t panel)
{
#if defined(__x86_64__)
    dis__bf16_pack_avx512(args, panel);
#else
    (void)args;
    (void)panel;
#endif
}

void dis__ops_bf16(dis__op_function *table[DIS_N_OPS])
{
    dis__ops_cpu(table);
#if defined(__x86_64__)
    table[DIS_OP_product] = dis__bf16_has_tiles() ? dis__amx_product : dis__bf16_product_avx512;
#endif
}
