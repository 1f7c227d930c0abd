/* Lower case by ranges of Unicode in which upper and lower case take equally many bytes of UTF-8: a letter keeps its
 * length, so that a label never grows. */
#include "votes/table/label_fold.h"
#include <stdint.h>
#include <string.h>

/* Bytes of the space at the start of a text, 0: there is none. */
static size_t space_at(const char *text, size_t n)
{
    if (n && (*text == ' ' || (*text >= '\t' && *text <= '\r'))) return 1;
    if (n >= 2 && memcmp(text, "\xc2\xa0", 2) == 0) return 2; /* U+00A0 */
    return n >= 3 && (memcmp(text, "\xe3\x80\x80", 3) == 0 || memcmp(text, "\xe2\x80\xaf", 3) == 0) ? 3 : 0;
}

static size_t space_before(const char *text, size_t n)
{
    for (size_t k = 1; k <= 3 && k <= n; k++)
        if (space_at(text + n - k, k) == k) return k;
    return 0;
}

/* Of characters of two bytes. */
static uint32_t lower(uint32_t c)
{
    if ((c >= 0xC0 && c <= 0xDE && c != 0xD7) || (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F))
        return c + 32;
    if (c >= 0x400 && c <= 0x40F) return c + 80;
    if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return c + (c & 1);
    if ((c >= 0x100 && c <= 0x137 && c != 0x130) || (c >= 0x14A && c <= 0x177) || (c >= 0x460 && c <= 0x481) ||
        (c >= 0x48A && c <= 0x4BF) || (c >= 0x4D0 && c <= 0x52F))
        return c | 1;
    return c;
}

size_t dis__label_fold(const char *text, size_t n, bool fold_case, bool trim, char *out)
{
    for (size_t k; trim && (k = space_at(text, n)) > 0; n -= k) text += k;
    for (size_t k; trim && (k = space_before(text, n)) > 0;) n -= k;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        out[i] = text[i];
        if (!fold_case) continue;
        if (c >= 'A' && c <= 'Z') out[i] = (char)(c + ('a' - 'A'));
        if (c < 0xC3 || c > 0xD4 || i + 1 == n) continue;
        const uint32_t low = lower((c & 0x1Fu) << 6 | ((unsigned char)text[i + 1] & 0x3Fu));
        out[i] = (char)(0xC0u | low >> 6);
        out[++i] = (char)(0x80u | (low & 0x3Fu));
    }
    return n;
}
