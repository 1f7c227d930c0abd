/* erfc.h: the complementary error function, with the same bytes on all systems (C libraries differ in the last digits).
 * Relative error at most 1e-15 above 1e-307; smaller results are 0. */
#ifndef DIS_CORE_NUMBERS_ERFC_H
#define DIS_CORE_NUMBERS_ERFC_H

double dis__erfc(double x); /* NaN for NaN */

#endif
