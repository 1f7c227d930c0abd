/* bf16_rows.h: converts rows of floats to bfloat16, for the kernels with AVX512_BF16 and AMX. */
#ifndef DIS_NN_CPU_BF16_ROWS_H
#define DIS_NN_CPU_BF16_ROWS_H
#include "nn/cpu/vecf.h"
#include <immintrin.h>

#define BF16 __attribute__((target("avx512bf16")))
enum { L = DIS_FLANES };

static inline size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Up to 32 floats to bfloat16, in their order; those after n are 0. */
static inline BF16 __m512i rounded(const float *x, size_t n)
{
    if (n >= 2 * L) return (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + L), _mm512_loadu_ps(x));
    const __mmask16 low = n >= L ? 0xffff : (__mmask16)((1u << n) - 1);
    const __mmask16 high = n > L ? (__mmask16)((1u << (n - L)) - 1) : 0;
    return (__m512i)_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(high, x + L), _mm512_maskz_loadu_ps(low, x));
}

/* m rows, followed by rows of 0 up to `n_full`; k values of each, padded with 0 to a multiple of 32; `apart` is the
 * stride. */
static inline BF16 void round_rows(const float *x, size_t ld, size_t m, size_t n_full, size_t k, uint16_t *to,
                                   size_t apart)
{
    for (size_t i = 0; i < n_full; i++)
        for (size_t p = 0; p < k; p += 2 * L)
            _mm512_storeu_si512(to + i * apart + p, i < m ? rounded(x + i * ld + p, k - p) : _mm512_setzero_si512());
}

#endif
