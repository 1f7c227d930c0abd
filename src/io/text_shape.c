/* The shape of a text by its first bytes: what JSON and tables begin with, and which separator the first line has.
 * Costs a look at the first line, and at blank lines at the end. */
#include "io/text_shape.h"
#include <stdio.h>
#include <string.h>

enum { LONGEST_LINE = 1 << 16 };

void dis__text_cut_blank_lines(dis__input *in)
{
    while (dis__input_ends(in)) {
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

/* How to say that the file is of another format. */
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

static dis_status check_separator(const dis__input *in, const char *p, const char *end, bool tabs, const char *option)
{
    const size_t n = (size_t)(end - p) < LONGEST_LINE ? (size_t)(end - p) : LONGEST_LINE;
    const char *lf = memchr(p, '\n', n);
    const size_t length = lf ? (size_t)(lf - p) : n;
    char how[120];
    if (length == 0 || memchr(p, tabs ? '\t' : ',', length)) return DIS_OK;
    if (memchr(p, tabs ? ',' : '\t', length))
        return dis__fail_at(DIS_EDATA, in->path, 1, 0, "columns are separated by %s; %s", tabs ? "commas" : "tabs",
                            remedy(tabs ? "csv" : "tsv", option, how));
    static const char others[] = ";|";
    for (const char *o = others; *o; o++)
        if (option && memchr(p, *o, length))
            return dis__fail_at(DIS_EDATA, in->path, 1, 0, "columns are separated by '%c'; say `delimiter` '%c'", *o,
                                *o);
        else if (memchr(p, *o, length))
            return dis__fail_at(
                DIS_EDATA, in->path, 1, 0,
                "columns are separated by '%c', and commas (.csv) and tabs (.tsv) are read; replace them "
                "(tr '%c' '\\t' where no field holds either, and name the result .tsv)",
                *o, *o);
    return DIS_OK;
}

dis_status dis__text_shape(dis__input *in, const char *format, const char *option)
{
    const bool lines = strcmp(format, "jsonl") == 0, tabs = strcmp(format, "tsv") == 0;
    dis__text_cut_blank_lines(in);
    const char *p = in->bytes, *end = p + in->n;
    if (in->n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
    DIS_TRY(check_json(in, skip_spaces(p, end), end, lines, option));
    return lines ? DIS_OK : check_separator(in, p, end, tabs, option);
}
