/* Which instruction set to use: CPUID is read once, the environment variable each time. */
#include "core/kernel.h"
#include "core/cpu_features.h"
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <stdatomic.h>
#endif

static const char *const names[] = {"baseline", "avx2", "avx512"};

const char *dis__isa_name(dis_isa isa)
{
    return names[isa];
}

#if defined(__x86_64__)
/* Bits of CPUID and of XCR0, which lists the registers that the system saves. Not every compiler's run-time library
 * supports __builtin_cpu_supports(). */
enum { XGETBV = 1 << 27, FMA = 1 << 12, AVX2 = 1 << 5, BMI2 = 1 << 8, AVX_STATE = 6, AVX512_STATE = 0xe6 };
enum { AVX512 = 1 << 16 | 1 << 17 | 1 << 30 /* F, DQ, BW; VL is the top bit */, BF16 = 1 << 5 };
static const unsigned AVX512VL = 1u << 31;

static bool has(unsigned word, unsigned bits)
{
    return (word & bits) == bits;
}

/* XCR0; 0: no such register. */
static unsigned saved_state(void)
{
    unsigned a, b, c, d, low = 0, high;
    if (__get_cpuid(1, &a, &b, &c, &d) && has(c, XGETBV)) __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* Cached result of best_isa(): in a virtual machine, CPUID takes microseconds. */
static atomic_int known = -1;

static dis_isa ask_cpu(void)
{
    unsigned a, b, c, d, basic;
    const unsigned state = saved_state();
    if (!has(state, AVX_STATE) || !__get_cpuid(1, &a, &b, &basic, &d) || !has(basic, FMA)) return DIS_ISA_BASELINE;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has(b, AVX2 | BMI2)) return DIS_ISA_BASELINE;
    return has(state, AVX512_STATE) && has(b, AVX512 | AVX512VL) ? DIS_ISA_AVX512 : DIS_ISA_AVX2;
}

static dis_isa best_isa(void)
{
    int isa = atomic_load_explicit(&known, memory_order_relaxed);
    if (isa < 0) {
        isa = (int)ask_cpu();
        atomic_store_explicit(&known, isa, memory_order_relaxed);
    }
    return (dis_isa)isa;
}

bool dis__cpu_has_avx512_bf16(void)
{
    unsigned a, b, c, d;
    return best_isa() == DIS_ISA_AVX512 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && has(a, BF16);
}
#else
static dis_isa best_isa(void)
{
    return DIS_ISA_BASELINE;
}

bool dis__cpu_has_avx512_bf16(void)
{
    return false;
}
#endif

dis_isa dis__isa(void)
{
    const dis_isa best = best_isa();
    const char *wanted = getenv("DISSENT_ISA");
    if (wanted)
        for (int isa = 0; isa < (int)best; isa++)
            if (strcmp(wanted, names[isa]) == 0) return (dis_isa)isa;
    return best;
}
