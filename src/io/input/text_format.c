/* Detects the format of a text from its first bytes: how JSON and tables begin, and which separator the first line has.
 * Cost: reads the first line, and blank lines at the end. */
#include "io/input/text_format.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_LINE = 1 << 16 };

void dis__text_trim_blank_lines(dis__input *in)
{
    while (dis__input_is_complete(in)) {
        const char *b = in->bytes;
        const size_t n = in->n, one = n && b[n - 1] == '\n' ? n > 1 && b[n - 2] == '\r' ? 2 : 1 : 0;
        if (!one || n == one || b[n - one - 1] != '\n') return;
        in->n = n - one;
    }
}

static const char *skip_spaces(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) p++;
    return p;
}

/* The remedy for a file in another format. */
static const char *remedy(const char *format, const char *option, char out[120])
{
    if (option)
        snprintf(out, 120, "name it .%s, or say %s %s", format, option, format);
    else
        snprintf(out, 120, "name it .%s", format);
    return out;
}

static dis_status check_json(const dis__input *in, const char *p, const char *end, bool lines, const char *option)
{
    char how[120];
    const char *next = skip_spaces(p + (p < end), end);
    const bool array = p < end && *p == '[' && next < end && (*next == '{' || *next == '[');
    if (array && option)
        return dis__fail_at(DIS_EDATA, in->path, 1, 0, "this looks like a JSON array; %s", remedy("json", option, how));
    if (array)
        return dis__fail_at(DIS_EDATA, in->path, 1, 0,
                            "this looks like a JSON array; give one object per line instead (jq -c '.[]')");
    if (p == end || *p != '{') return DIS_OK;
    if (!lines && next < end && *next == '"')
        return dis__fail_at(DIS_EDATA, in->path, 1, 0, "this looks like JSON objects, not like a table; %s",
                            remedy("jsonl", option, how));
    const bool long_lines = lines && memchr(p + 1, '\n', (size_t)(next - p - 1));
    if (long_lines && option)
        return dis__fail_at(DIS_EDATA, in->path, 1, 0, "this looks like JSON over several lines; %s",
                            remedy("json", option, how));
    if (long_lines)
        return dis__fail_at(DIS_EDATA, in->path, 1, 0,
                            "this looks like JSON over several lines; give one object per line instead (jq -c .)");
    return DIS_OK;
}

/* The line at p without its line end. */
static size_t line_length(const char *p, const char *end)
{
    const size_t n = (size_t)(end - p) < LONGEST_LINE ? (size_t)(end - p) : LONGEST_LINE;
    const char *lf = n ? memchr(p, '\n', n) : NULL;
    const size_t length = lf ? (size_t)(lf - p) : n;
    return length && p[length - 1] == '\r' ? length - 1 : length;
}

/* Number of occurrences of a character in a line, outside of quotes. */
static size_t count(const char *p, size_t n, char c)
{
    size_t found = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        quoted ^= p[i] == '"';
        found += !quoted && p[i] == c;
    }
    return found;
}

static const char separators[] = ",;\t|";

/* "sep=;", which Excel reads and writes as a first line. */
static bool is_sep_line(const char *p, size_t n, char *separator)
{
    if (n && *p == '"' && n > 2 && p[n - 1] == '"') return is_sep_line(p + 1, n - 2, separator);
    if (n != 5 || (memcmp(p, "sep=", 4) != 0 && memcmp(p, "SEP=", 4) != 0) || !strchr(separators, p[4])) return false;
    *separator = p[4];
    return true;
}

static dis_status find_separator(dis__input *in, const char *p, const char *end, char *separator)
{
    char found = 0;
    size_t n_found = 0, n = line_length(p, end);
    if (is_sep_line(p, n, separator)) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        in->preamble = lf ? (size_t)(lf + 1 - in->bytes) : in->n;
        return DIS_OK;
    }
    if (n == 0 || count(p, n, *separator)) return DIS_OK;
    for (const char *s = separators; *s; s++)
        if (count(p, n, *s)) {
            found = *s;
            n_found++;
        }
    if (n_found == 1) *separator = found;
    if (n_found < 2) return DIS_OK;
    return dis__fail_at(DIS_EDATA, in->path, 1, 0,
                        "the header has several characters that could separate columns; choose one with `delimiter`");
}

void dis__text_skip_lines(dis__input *in, size_t n)
{
    const char *p = in->bytes + in->preamble, *end = in->bytes + in->n;
    for (const char *lf; n > 0 && p < end; n--) {
        lf = memchr(p, '\n', (size_t)(end - p));
        p = lf ? lf + 1 : end;
    }
    in->preamble = (size_t)(p - in->bytes);
}

dis_status dis__text_format_check(dis__input *in, const char *format, const char *option, char *separator)
{
    const bool lines = strcmp(format, "jsonl") == 0, tabs = strcmp(format, "tsv") == 0;
    char unasked;
    if (!separator) separator = &unasked;
    *separator = tabs ? '\t' : ',';
    dis__text_trim_blank_lines(in);
    const char *p = in->bytes, *end = p + in->n;
    if (in->n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
    if (in->bytes + in->preamble > p) p = in->bytes + in->preamble;
    DIS_TRY(check_json(in, skip_spaces(p, end), end, lines, option));
    return lines ? DIS_OK : find_separator(in, p, end, separator);
}

/* ---- UTF-16 text with a byte order mark ---- */

/* UTF-16 code units, in the byte order of the mark. */
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
