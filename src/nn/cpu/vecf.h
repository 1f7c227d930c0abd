/* vecf.h: vectors of floats for the cpu column of the kernel table (core/kernel.h has the doubles).
 *
 * A dis__vecf holds DIS_FLANES floats: 16 with AVX-512, 8 with AVX2, 4 otherwise (SSE2, NEON). */
#ifndef DIS_NN_CPU_VECF_H
#define DIS_NN_CPU_VECF_H
#include "core/kernel.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(DIS_ISA_avx512)
#define DIS_FLANES 16
#elif defined(DIS_ISA_avx2)
#define DIS_FLANES 8
#else
#define DIS_FLANES 4
#endif

typedef float dis__vecf __attribute__((vector_size(4 * DIS_FLANES)));

static inline dis__vecf dis__loadf(const float *x)
{
    dis__vecf v;
    memcpy(&v, x, sizeof v);
    return v;
}

static inline void dis__storef(float *x, dis__vecf v)
{
    memcpy(x, &v, sizeof v);
}

#if defined(__clang__) || __GNUC__ >= 12
#define DIS_SHUFFLEF(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else /* older GCC versions use another builtin */
typedef int32_t dis__maskf __attribute__((vector_size(4 * DIS_FLANES)));
#define DIS_SHUFFLEF(a, b, ...) __builtin_shuffle(a, b, (dis__maskf){__VA_ARGS__})
#endif

/* Interleaves lanes of a and b: the lower halves, the upper halves. */
#if DIS_FLANES == 16
#define DIS_ZIP_LOW(a, b)  DIS_SHUFFLEF(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define DIS_ZIP_HIGH(a, b) DIS_SHUFFLEF(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif DIS_FLANES == 8
#define DIS_ZIP_LOW(a, b)  DIS_SHUFFLEF(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define DIS_ZIP_HIGH(a, b) DIS_SHUFFLEF(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define DIS_ZIP_LOW(a, b)  DIS_SHUFFLEF(a, b, 0, 4, 1, 5)
#define DIS_ZIP_HIGH(a, b) DIS_SHUFFLEF(a, b, 2, 6, 3, 7)
#endif

/* A square of DIS_FLANES x DIS_FLANES: rows become columns. Each round zips row i with row i + half; after log2 rounds
 * every element is in its final position. */
static inline void dis__transposef(dis__vecf row[DIS_FLANES])
{
#pragma GCC unroll 4
    for (int round = 1; round < DIS_FLANES; round *= 2) {
        dis__vecf next[DIS_FLANES];
#pragma GCC unroll 8
        for (int i = 0; i < DIS_FLANES / 2; i++) {
            next[2 * i] = DIS_ZIP_LOW(row[i], row[i + DIS_FLANES / 2]);
            next[2 * i + 1] = DIS_ZIP_HIGH(row[i], row[i + DIS_FLANES / 2]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < DIS_FLANES; i++) row[i] = next[i];
    }
}

#endif
