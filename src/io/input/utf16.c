/* UTF-16 by code units, the order of bytes as the mark says. */
#include "io/input/utf16.h"
#include <string.h>

bool dis__is_utf16(const char *bytes, size_t n)
{
    return n >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0);
}

static uint32_t unit(const char *bytes, bool big)
{
    const unsigned char a = (unsigned char)bytes[0], b = (unsigned char)bytes[1];
    return big ? (uint32_t)a << 8 | b : (uint32_t)b << 8 | a;
}

static size_t put(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6) out[i] = (char)(0x80u | (c & 0x3Fu));
    out[0] = (char)(lead[n] | c);
    return n;
}

dis_status dis__utf16_to_utf8(const char *path, const char *bytes, size_t n, char *out, size_t *n_out)
{
    const bool big = bytes[0] == '\xfe';
    uint64_t line = 1;
    *n_out = 0;
    if (n % 2) return dis__fail_at(DIS_EDATA, path, 0, 0, "UTF-16 text that ends within a character; is it complete?");
    for (size_t i = 2; i < n; i += 2) {
        uint32_t c = unit(bytes + i, big);
        line += c == '\n';
        if (c >= 0xD800 && c < 0xE000) {
            const uint32_t low = c < 0xDC00 && i + 2 < n ? unit(bytes + i + 2, big) : 0;
            if (low < 0xDC00 || low > 0xDFFF)
                return dis__fail_at(DIS_EDATA, path, line, 0, "invalid UTF-16; save the file as UTF-8");
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            i += 2;
        }
        *n_out += put(c, out + *n_out);
    }
    return DIS_OK;
}
