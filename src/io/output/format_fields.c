/* Quoting and escaping. Most fields need neither, and cost one check of each byte. */
#include "io/output/format_fields.h"
#include "core/numbers/decimal.h"
#include "core/text/utf8.h"
#include <math.h>
#include <string.h>

char *dis__format_csv_field(char *out, const char *text, size_t n, char delimiter)
{
    bool quote = n && (text[0] == ' ' || text[n - 1] == ' ');
    for (size_t i = 0; i < n; i++) {
        const char c = text[i];
        quote |= (c == delimiter) | (c == '"') | (c == '\n') | (c == '\r');
    }
    if (!quote) {
        if (n) memcpy(out, text, n);
        return out + n;
    }
    *out++ = '"';
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"') *out++ = '"';
        *out++ = text[i];
    }
    *out++ = '"';
    return out;
}

char *dis__format_json_string(char *out, const char *text, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    *out++ = '"';
    for (size_t i = 0; i < n;) {
        const unsigned char c = (unsigned char)text[i];
        if (c >= 0x80) {
            const size_t length = dis__utf8_length(text + i, n - i);
            if (length)
                memcpy(out, text + i, length);
            else
                memcpy(out, "\xEF\xBF\xBD", 3);
            out += length ? length : 3;
            i += length ? length : 1;
            continue;
        }
        i++;
        if (c == '"' || c == '\\') {
            *out++ = '\\';
            *out++ = (char)c;
        } else if (c == '\n') {
            *out++ = '\\';
            *out++ = 'n';
        } else if (c < 0x20 || c == 0x7F) {
            memcpy(out, "\\u00", 4);
            out[4] = hex[c >> 4];
            out[5] = hex[c & 15];
            out += 6;
        } else {
            *out++ = (char)c;
        }
    }
    *out++ = '"';
    return out;
}

static char *put_text(char *out, const char *text)
{
    const size_t n = strlen(text);
    memcpy(out, text, n);
    return out + n;
}

char *dis__format_json_real(char *out, double x)
{
    if (isnan(x)) return put_text(out, "null");
    if (isinf(x)) return put_text(out, x > 0 ? "\"inf\"" : "\"-inf\"");
    return out + dis__format_real(x, out);
}

char *dis__format_csv_real(char *out, double x)
{
    if (isnan(x)) return out;
    if (isinf(x)) return put_text(out, x > 0 ? "inf" : "-inf");
    return out + dis__format_real(x, out);
}

char *dis__format_count(char *out, uint64_t x)
{
    char digits[20];
    size_t d = sizeof digits;
    do digits[--d] = (char)('0' + x % 10);
    while (x /= 10);
    memcpy(out, digits + d, sizeof digits - d);
    return out + sizeof digits - d;
}
