/* utf8.h: is a text valid UTF-8? */
#ifndef DIS_CORE_TEXT_UTF8_H
#define DIS_CORE_TEXT_UTF8_H
#include "dissent/status.h"

/* The offset of the first byte that is no part of a valid sequence (overlong forms, surrogates and anything above
 * U+10FFFF are invalid), n when all is well. */
size_t dis__utf8_check(const char *text, size_t n);

/* The length of the valid sequence of two to four bytes at `text`, of which n bytes are there; 0: it is none. */
size_t dis__utf8_length(const char *text, size_t n);

/* Bytes of the character that begins with this byte, of text that is known to be valid. */
static inline size_t dis__utf8_step(char first)
{
    const unsigned char c = (unsigned char)first;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

#endif
