/* utf8.h: is a text valid UTF-8? */
#ifndef DIS_CORE_UTF8_H
#define DIS_CORE_UTF8_H
#include "dissent/status.h"

/* The offset of the first byte that is no part of a valid sequence (overlong forms, surrogates and anything above
 * U+10FFFF are invalid), n when all is well. */
size_t dis__utf8_check(const char *text, size_t n);

/* The length of the valid sequence of two to four bytes at `text`, of which n bytes are there; 0: it is none. */
size_t dis__utf8_length(const char *text, size_t n);

#endif
