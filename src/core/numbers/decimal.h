/* decimal.h: real numbers as text, exactly and fast, in no locale.
 *
 * Writing gives the shortest decimal that reads back as the same double; reading is correctly rounded. */
#ifndef DIS_CORE_NUMBERS_DECIMAL_H
#define DIS_CORE_NUMBERS_DECIMAL_H
#include "dissent/status.h"

enum { DIS_REAL_TEXT = 40 }; /* size of a buffer for a double; the text itself is shorter */

/* Writes x without a NUL into a buffer of DIS_REAL_TEXT bytes and returns the length. Finite x only: "0" (for -0 too),
 * "0.25", "1e-10", "123456". */
size_t dis__format_real(double x, char *out);

/* Reads exactly n bytes as a decimal number ([+-]digits[.digits][e[+-]digits], where the digits on one side of the
 * point may be missing; no spaces, no hex, no inf, no nan). False, with *out unchanged, if the bytes are not a decimal
 * number or the value overflows. */
bool dis__parse_real(const char *text, size_t n, double *out);

#endif
