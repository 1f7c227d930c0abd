/* kernel.h: one source, several instruction sets.
 *
 * A file called NAME_kernel.c is compiled once for each supported instruction set of the target; DIS_KERNEL(f) gives
 * its functions different names. NAME.c holds the table and picks at run time:
 *
 *     DIS_KERNEL_DECLARE(void, dis__sum_rows, (const double *x, size_t n, double *out));
 *     ... DIS_KERNEL_SELECT(dis__sum_rows)(x, n, out);
 *
 * Kernels use GCC vector types of DIS_LANES doubles, which every compiler lowers to the instructions of the target. */
#ifndef DIS_CORE_KERNEL_H
#define DIS_CORE_KERNEL_H

typedef enum { DIS_ISA_BASELINE, DIS_ISA_AVX2, DIS_ISA_AVX512 } dis_isa;

/* The best instruction set of this machine, or the one that DISSENT_ISA=baseline|avx2|avx512 requests if it is
 * supported. */
dis_isa dis__isa(void);
const char *dis__isa_name(dis_isa isa);

#define DIS_PASTE_(a, b) a##_##b
#define DIS_PASTE(a, b)  DIS_PASTE_(a, b)
#ifdef DIS_ISA
#define DIS_KERNEL(f) DIS_PASTE(f, DIS_ISA)
#endif

#if defined(__x86_64__)
#define DIS_KERNEL_DECLARE(type, f, args) \
    type f##_baseline args;               \
    type f##_avx2 args;                   \
    type f##_avx512 args
#define DIS_KERNEL_SELECT(f) \
    (dis__isa() == DIS_ISA_AVX512 ? f##_avx512 : dis__isa() == DIS_ISA_AVX2 ? f##_avx2 : f##_baseline)
#else
#define DIS_KERNEL_DECLARE(type, f, args) type f##_baseline args
#define DIS_KERNEL_SELECT(f)              (f##_baseline)
#endif

#if defined(DIS_ISA_avx512)
#define DIS_LANES 8
#elif defined(DIS_ISA_avx2)
#define DIS_LANES 4
#else
#define DIS_LANES 2
#endif

#endif
