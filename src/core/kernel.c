/* Which instruction set to use. Decided from the processor and the environment each time: cheap, and no state to keep.
 */
#include "core/kernel.h"
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"baseline", "avx2", "avx512"};

const char *dis__isa_name(dis_isa isa)
{
    return names[isa];
}

dis_isa dis__isa(void)
{
    dis_isa best = DIS_ISA_BASELINE;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
        best = DIS_ISA_AVX2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
            best = DIS_ISA_AVX512;
    }
#endif
    const char *wanted = getenv("DISSENT_ISA");
    if (wanted)
        for (int isa = 0; isa < (int)best; isa++)
            if (strcmp(wanted, names[isa]) == 0) return (dis_isa)isa;
    return best;
}
