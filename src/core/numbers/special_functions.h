/* special_functions.h: exp, log, digamma and log-gamma of whole arrays (core/numbers/vector_math.h has the methods and
 * their accuracy).
 *
 *     const dis__special_functions f = dis__special_functions_select();   // once per task: reads CPUID and the
 *     environment
 *     f.log(x, n);                                  // in place
 *
 * An element's result does not depend on its position in the array. */
#ifndef DIS_CORE_NUMBERS_SPECIAL_FUNCTIONS_H
#define DIS_CORE_NUMBERS_SPECIAL_FUNCTIONS_H
#include <stddef.h>

typedef struct {
    void (*exp)(double *x, size_t n);
    void (*log)(double *x, size_t n);
    void (*digamma)(double *x, size_t n);
    void (*lgamma)(double *x, size_t n);
} dis__special_functions;

dis__special_functions dis__special_functions_select(void);

#endif
