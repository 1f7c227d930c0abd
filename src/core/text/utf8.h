/* utf8.h: is a text valid UTF-8? */
#ifndef DIS_CORE_TEXT_UTF8_H
#define DIS_CORE_TEXT_UTF8_H
#include "dissent/status.h"

/* The offset of the first byte that is not part of a valid sequence (overlong forms, surrogates and anything above
 * U+10FFFF are invalid), n if all are valid. */
size_t dis__utf8_check(const char *text, size_t n);

/* The length of the valid sequence of two to four bytes at `text`, which has n bytes; 0: invalid. */
size_t dis__utf8_length(const char *text, size_t n);

/* Length of the character that begins with this byte, in valid text. */
static inline size_t dis__utf8_step(char first)
{
    const unsigned char c = (unsigned char)first;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

#endif
