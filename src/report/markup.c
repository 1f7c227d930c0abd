/* Growing text, escaping, and numbers for people. */
#include "report/markup.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "core/text/sha256.h"
#include "core/text/utf8.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dis__markup_free(dis__markup *m)
{
    dis__free(m->bytes);
    *m = (dis__markup){0};
}

static char *reserve(dis__markup *m, size_t n)
{
    if (m->status != DIS_OK) return NULL;
    m->status = dis__reserve(&m->bytes, &m->capacity, m->n, dis__saturating_size(1, m->n, n), 1);
    return m->status == DIS_OK ? m->bytes + m->n : NULL;
}

void dis__markup_append_n(dis__markup *m, const char *ours, size_t n)
{
    char *to = n ? reserve(m, n) : NULL;
    if (!to) return;
    memcpy(to, ours, n);
    m->n += n;
}

void dis__markup_append(dis__markup *m, const char *ours)
{
    dis__markup_append_n(m, ours, strlen(ours));
}

void dis__markup_append_capitalized(dis__markup *m, const char *ours)
{
    const size_t n = strlen(ours);
    if (n == 0) return;
    const char first = ours[0] >= 'a' && ours[0] <= 'z' ? (char)(ours[0] - 'a' + 'A') : ours[0];
    dis__markup_append_n(m, &first, 1);
    dis__markup_append_n(m, ours + 1, n - 1);
}

void dis__markup_appendf(dis__markup *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    char *to = n >= 0 ? reserve(m, (size_t)n + 1) : NULL;
    if (to) {
        vsnprintf(to, (size_t)n + 1, format, again);
        m->n += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

static void pass_on(dis__markup *m, const dis__markup *from)
{
    if (m->status == DIS_OK) m->status = from->status;
}

void dis__markup_append_markup(dis__markup *m, const dis__markup *from)
{
    pass_on(m, from);
    dis__markup_append_n(m, from->bytes, from->n);
}

void dis__markup_append_markup_escaped(dis__markup *m, const dis__markup *from)
{
    pass_on(m, from);
    dis__markup_append_escaped(m, from->bytes, from->n);
}

static const char *entity(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void dis__markup_append_escaped(dis__markup *m, const char *text, size_t n)
{
    if (n == 0) return; /* of a text that may be NULL */
    size_t from = 0;    /* text before i that was not written yet */
    for (size_t i = 0; i < n;) {
        const size_t wide = (unsigned char)text[i] < 0x80 ? 1 : dis__utf8_length(text + i, n - i);
        const char *instead = wide == 0 ? "\xEF\xBF\xBD" : wide == 1 ? entity(text[i]) : NULL;
        if (instead) {
            dis__markup_append_n(m, text + from, i - from);
            dis__markup_append(m, instead);
            from = i + 1;
        }
        i += wide ? wide : 1;
    }
    dis__markup_append_n(m, text + from, n - from);
}

static uint32_t code_point(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    if (length < 2) return s[0];
    uint32_t c = s[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) c = c << 6 | (s[i] & 0x3Fu);
    return c;
}

/* Characters that show nothing, or that change how their neighbours show. Joiners and variation selectors are left:
 * scripts and emoji need them. */
static bool is_invisible(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0, 0x1F},        {0x7F, 0x9F},     {0xAD, 0xAD},       {0x61C, 0x61C},    {0x180E, 0x180E},
                  {0x200B, 0x200B}, {0x200E, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},  {0xFEFF, 0xFEFF},
                  {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        if (c >= ranges[r].first && c <= ranges[r].last) return true;
    return false;
}

static void put_shown(dis__markup *m, const char *text, size_t n, size_t max, bool escape)
{
    size_t shown = 0;
    for (size_t i = 0; i < n; shown++) {
        if (shown == max) {
            dis__markup_append(m, "\xE2\x80\xA6");
            return;
        }
        const size_t length = (unsigned char)text[i] < 0x80 ? 1 : dis__utf8_length(text + i, n - i);
        const uint32_t c = length ? code_point(text + i, length) : 0xFFFD;
        if (c == '\n' || c == '\r' || c == '\t')
            dis__markup_append(m, " ");
        else if (c == ' ' && i > 0 && i + 1 < n && text[i - 1] >= '0' && text[i - 1] <= '9' && text[i + 1] == '%')
            dis__markup_append(m, "\xC2\xA0"); /* a line does not break within "27 %" */
        else if (length == 0)
            dis__markup_append(m, "\xEF\xBF\xBD");
        else if (is_invisible(c))
            dis__markup_appendf(m, "U+%04X", (unsigned)c);
        else if (escape && length == 1 && entity(text[i]))
            dis__markup_append(m, entity(text[i]));
        else
            dis__markup_append_n(m, text + i, length);
        i += length ? length : 1;
    }
}

/* U+2068 and U+2069, byte by byte: as literals they would reorder the text of this file. */
static const char isolate[] = {(char)0xE2, (char)0x81, (char)0xA8},
                  end_isolate[] = {(char)0xE2, (char)0x81, (char)0xA9};

static void put_isolated(dis__markup *m, const char *text, size_t n, size_t max, bool escape)
{
    dis__markup_append_n(m, isolate, sizeof isolate);
    put_shown(m, text, n, max, escape);
    dis__markup_append_n(m, end_isolate, sizeof end_isolate);
}

void dis__markup_append_display(dis__markup *m, const char *text, size_t n, size_t max)
{
    put_shown(m, text, n, max, false);
}

void dis__markup_append_bdi(dis__markup *m, const char *text, size_t n, size_t max)
{
    put_shown(m, text, n, max, true);
}

void dis__markup_append_name(dis__markup *m, const char *text, size_t n, size_t max)
{
    put_isolated(m, text, n, max, false);
}

void dis__markup_append_label(dis__markup *m, const char *text, size_t n, size_t max)
{
    put_isolated(m, text, n, max, true);
}

/* ---- numbers ---- */

static dis__number_text group(uint64_t x, const char *sign)
{
    dis__number_text d;
    char plain[24];
    const int n = snprintf(plain, sizeof plain, "%llu", (unsigned long long)x);
    size_t used = 0;
    for (; *sign; sign++) d.text[used++] = *sign;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) d.text[used++] = ',';
        d.text[used++] = plain[i];
    }
    d.text[used] = 0;
    return d;
}

dis__number_text dis__format_grouped(uint64_t x)
{
    return group(x, "");
}

dis__number_text dis__format_abbreviated(uint64_t x)
{
    static const struct {
        double unit;
        const char *name;
    } rows[] = {{1e9, " G"}, {1e6, " M"}, {1e5, " k"}};
    for (size_t i = 0; i < 3; i++) {
        if ((double)x < rows[i].unit) continue;
        dis__number_text d = dis__format_brief((double)x / (rows[i].unit == 1e5 ? 1e3 : rows[i].unit));
        strcat(d.text, rows[i].name);
        return d;
    }
    return group(x, "");
}

static dis__number_text shortest(double x)
{
    dis__number_text d;
    d.text[dis__format_real(x, d.text)] = 0;
    return d;
}

dis__number_text dis__format_fixed(double x, int decimals)
{
    if (isnan(x)) return (dis__number_text){"-"};
    if (isinf(x)) return x > 0 ? (dis__number_text){"inf"} : (dis__number_text){"-inf"};
    double scale = 1;
    for (int i = 0; i < decimals; i++) scale *= 10;
    if (fabs(x) * scale > 1e15) return shortest(x);
    const uint64_t rounded = (uint64_t)(fabs(x) * scale + .5), unit = (uint64_t)scale;
    dis__number_text d;
    const char *sign = x < 0 && rounded ? "-" : "";
    if (decimals == 0)
        snprintf(d.text, sizeof d.text, "%s%llu", sign, (unsigned long long)rounded);
    else
        snprintf(d.text, sizeof d.text, "%s%llu.%0*llu", sign, (unsigned long long)(rounded / unit), decimals,
                 (unsigned long long)(rounded % unit));
    return d;
}

dis__number_text dis__format_scientific(double x)
{
    if (!isfinite(x) || x == 0) return dis__format_fixed(x, 0);
    int power = (int)floor(log10(fabs(x)));
    double mantissa = floor(x * pow(10, 1 - power) + .5) / 10;
    if (fabs(mantissa) >= 10) {
        mantissa /= 10;
        power++;
    }
    dis__number_text d = dis__format_fixed(mantissa, 1);
    char *end = d.text + strlen(d.text);
    snprintf(end, 8, "e%d", power);
    return d;
}

dis__number_text dis__format_brief(double x)
{
    const double size = fabs(x);
    if (!isfinite(x)) return dis__format_fixed(x, 0);
    if (size > 0 && size < 1e-4) return dis__format_scientific(x); /* two digits suffice for values close to zero */
    if (size >= 1e15) return shortest(x);
    if (x >= 0 && floor(x) == x) return group((uint64_t)x, "");
    if (size >= 99.95) return group((uint64_t)(size + .5), x < 0 ? "-" : "");
    return dis__format_fixed(x, size >= 9.995 ? 1 : size >= .9995 ? 2 : size >= .00995 || size == 0 ? 3 : 5);
}

dis__number_text dis__format_percent(double x)
{
    const double size = fabs(x);
    dis__number_text d = dis__format_fixed(100 * x, size > 0 && size < .0995 ? size < .00095 ? 2 : 1 : 0);
    if (isfinite(x)) strcat(d.text, "\xC2\xA0%"); /* a line does not end before the sign */
    return d;
}

/* ---- the name of a script ---- */

dis__number_text dis__format_csp_hash(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char h[33] = {0}; /* a zero byte behind: 32 is two more than a multiple of three */
    dis__sha256 s;
    dis__sha256_init(&s);
    dis__sha256_update(&s, text, strlen(text));
    dis__sha256_final(&s, h);
    dis__number_text d;
    size_t n = 0;
    for (size_t i = 0; i < 33; i += 3) {
        const unsigned w = (unsigned)h[i] << 16 | (unsigned)h[i + 1] << 8 | h[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6) d.text[n++] = letters[w >> shift & 63];
    }
    d.text[n - 1] = '=';
    d.text[n] = 0;
    return d;
}
