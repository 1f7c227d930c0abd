/* cpu_features.h: CPU features in addition to the instruction sets of kernel.h. */
#ifndef DIS_CORE_CPU_FEATURES_H
#define DIS_CORE_CPU_FEATURES_H
#include <stdbool.h>

bool dis__cpu_has_avx512_bf16(void);

#endif
