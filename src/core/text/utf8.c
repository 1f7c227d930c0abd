/* UTF-8 by the table of well-formed sequences (Unicode 15, table 3-7); ASCII is processed eight bytes at a time. */
#include "core/text/utf8.h"
#include <string.h>

/* By the first byte, 0xc2 .. 0xf4: the length of the sequence and the range of the second byte. */
size_t dis__utf8_length(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    const unsigned char c = n ? s[0] : 0;
    size_t length;
    unsigned char low = 0x80, high = 0xbf;
    if (c >= 0xc2 && c <= 0xdf) {
        length = 2;
    } else if (c >= 0xe0 && c <= 0xef) {
        length = 3;
        if (c == 0xe0) low = 0xa0;
        if (c == 0xed) high = 0x9f;
    } else if (c >= 0xf0 && c <= 0xf4) {
        length = 4;
        if (c == 0xf0) low = 0x90;
        if (c == 0xf4) high = 0x8f;
    } else {
        return 0;
    }
    if (n < length || s[1] < low || s[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if (s[i] < 0x80 || s[i] > 0xbf) return 0;
    return length;
}

size_t dis__utf8_check(const char *text, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint64_t word;
        if (n - i >= sizeof word) {
            memcpy(&word, text + i, sizeof word);
            if ((word & 0x8080808080808080u) == 0) {
                i += sizeof word;
                continue;
            }
        }
        if ((unsigned char)text[i] < 0x80) {
            i++;
            continue;
        }
        const size_t length = dis__utf8_length(text + i, n - i);
        if (length == 0) return i;
        i += length;
    }
    return n;
}
