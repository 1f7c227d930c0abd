/* cpu_features.h: what the CPU has besides an instruction set of kernel.h. */
#ifndef DIS_CORE_CPU_FEATURES_H
#define DIS_CORE_CPU_FEATURES_H
#include <stdbool.h>

bool dis__cpu_has_avx512_bf16(void);

#endif
