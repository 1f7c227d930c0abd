/* A strict JSON reader (RFC 8259, with the additional checks of the header).
 *
 * One loop over the bytes with a stack of at most 256 open arrays and objects. Strings without escapes are not copied;
 * others are decoded into one buffer as large as the input, so that pointers into it stay valid. Equal keys are found
 * by comparing all pairs in small objects and by heap sort in large ones: no hash, so no input makes it quadratic.
 * Cost: O(bytes), plus O(m log m) for an object of m members; no allocation once the buffers have grown. */
#include "io/json/json_read.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "core/text/utf8.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FEW_KEYS = 16 };

typedef struct {
    dis__json *json;
    const char *start, *at, *end;
    char *decoded; /* position of the next decoded string */
    uint32_t open[DIS_JSON_DEPTH];
    size_t depth;
} parser;

static dis_status fail_at_offset(const dis__json *json, size_t at, const char *reason)
{
    const dis__json_position *p = &json->position;
    uint64_t line = p->line, column = p->column;
    if (line) {
        const char *begin = json->input;
        for (size_t i = 0; i < at; i++)
            if (json->input[i] == '\n') {
                line++;
                column = 1;
                begin = json->input + i + 1;
            }
        column += (uint64_t)(json->input + at - begin);
    }
    return dis__fail_at(DIS_EDATA, p->file, line, line ? column : 0, "%s (byte %llu)", reason,
                        (unsigned long long)(p->offset + at));
}

dis_status dis__json_fail(const dis__json *json, const dis__json_value *value, const char *format, ...)
{
    char reason[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return fail_at_offset(json, value->at, reason);
}

static dis_status fail(const parser *p, const char *at, const char *reason)
{
    return fail_at_offset(p->json, (size_t)(at - p->start), reason);
}

static void skip_spaces(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t')) p->at++;
}

static dis_status add(parser *p, dis__json_kind kind, const char *text, size_t length, const char *at, double number)
{
    dis__json *json = p->json;
    if (json->n_values == json->capacity)
        DIS_TRY(dis__reserve(&json->values, &json->capacity, json->n_values, json->n_values + 1, sizeof *json->values));
    json->values[json->n_values++] = (dis__json_value){.kind = kind,
                                                       .text = text,
                                                       .length = (uint32_t)length,
                                                       .at = (uint32_t)(at - p->start),
                                                       .skip = 1,
                                                       .number = number};
    return DIS_OK;
}

/* Value of four hexadecimal digits, -1 if they are invalid. */
static int32_t hex4(const char *s, const char *end)
{
    if (end - s < 4) return -1;
    int32_t x = 0;
    for (int i = 0; i < 4; i++) {
        const char c = s[i];
        const int d = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
        if (d < 0) return -1;
        x = x * 16 + d;
    }
    return x;
}

static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
        *out++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 63));
        *out++ = (char)(0x80 | (c & 63));
    } else {
        *out++ = (char)(0xF0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 63));
        *out++ = (char)(0x80 | (c >> 6 & 63));
        *out++ = (char)(0x80 | (c & 63));
    }
    return out;
}

/* Decodes the escape at p->at (a backslash) to *out, and advances both. */
static dis_status escape(parser *p, char **out)
{
    static const char plain[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    const char *begin = p->at;
    const char c = p->end - begin < 2 ? '\0' : begin[1];
    const char *known = c ? strchr(plain, c) : NULL;
    if (known) {
        *(*out)++ = meaning[known - plain];
        p->at = begin + 2;
        return DIS_OK;
    }
    if (c != 'u') return fail(p, begin, "a backslash without a valid escape; write \\\\ for a backslash");
    int32_t code = hex4(begin + 2, p->end);
    if (code < 0) return fail(p, begin, "\\u is not followed by four hexadecimal digits");
    if (code == 0) return fail(p, begin, "the character NUL (\\u0000) in a text");
    p->at = begin + 6;
    if (code >= 0xD800 && code < 0xE000) {
        const int32_t low =
            code < 0xDC00 && p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u' ? hex4(p->at + 2, p->end) : -1;
        if (low < 0xDC00 || low > 0xDFFF) return fail(p, begin, "a lone surrogate, which is not a character");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        p->at += 6;
    }
    *out = put_utf8(*out, (uint32_t)code);
    return DIS_OK;
}

/* Whether 8 bytes are plain text: no quote, no backslash, no control character, ASCII. */
static bool is_plain(const char *text)
{
    const uint64_t ones = 0x0101010101010101, high = 0x80 * ones;
    uint64_t w;
    memcpy(&w, text, sizeof w);
    const uint64_t quote = w ^ ('"' * ones), slash = w ^ ('\\' * ones);
    return ((w | (w - 0x20 * ones) | (quote - ones) | (slash - ones)) & high) == 0;
}

/* most of a long text; the rest is checked byte by byte */
static void skip_plain(parser *p)
{
    while (p->end - p->at >= 8 && is_plain(p->at)) p->at += 8;
}

static dis_status string(parser *p)
{
    const char *quote = p->at++, *begin = p->at, *copied = begin;
    char *out = p->decoded;
    skip_plain(p);
    for (;;) {
        if (p->at == p->end) return fail(p, quote, "a text without closing quote; is the file complete?");
        const unsigned char c = (unsigned char)*p->at;
        if (c == '"') break;
        if (c == '\\') {
            memcpy(out, copied, (size_t)(p->at - copied));
            out += p->at - copied;
            DIS_TRY(escape(p, &out));
            copied = p->at;
            skip_plain(p);
        } else if (c < 0x20) {
            return fail(p, p->at, "a control character within a text; write it as an escape such as \\n");
        } else if (c < 0x80) {
            p->at++;
        } else {
            const size_t n = dis__utf8_length(p->at, (size_t)(p->end - p->at));
            if (n == 0) return fail(p, p->at, "invalid UTF-8; save the file as UTF-8");
            p->at += n;
            skip_plain(p);
        }
    }
    if (copied == begin) {
        DIS_TRY(add(p, DIS_JSON_STRING, begin, (size_t)(p->at - begin), quote, 0));
    } else {
        memcpy(out, copied, (size_t)(p->at - copied));
        out += p->at - copied;
        DIS_TRY(add(p, DIS_JSON_STRING, p->decoded, (size_t)(out - p->decoded), quote, 0));
        p->decoded = out;
    }
    p->at++;
    return DIS_OK;
}

static const char *skip_digits(const char *s, const char *end)
{
    while (s < end && *s >= '0' && *s <= '9') s++;
    return s;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
static dis_status number(parser *p)
{
    const char *begin = p->at, *end = p->end, *s = begin;
    bool good = true;
    if (*s == '-') s++;
    const char *digits = s;
    s = skip_digits(s, end);
    good = s > digits && (*digits != '0' || s == digits + 1);
    const char *integer_begin = s;
    if (good && s < end && *s == '.') {
        digits = ++s;
        s = skip_digits(s, end);
        good = s > digits;
    }
    if (good && s < end && (*s == 'e' || *s == 'E')) {
        s++;
        if (s < end && (*s == '+' || *s == '-')) s++;
        digits = s;
        s = skip_digits(s, end);
        good = s > digits;
    }
    if (!good) return fail(p, begin, "not a number as JSON writes them");
    double x = 0;
    if (s == integer_begin && s - begin <= 15) { /* the common case: a short integer */
        int64_t n = 0;
        for (const char *d = begin + (*begin == '-'); d < s; d++) n = n * 10 + (*d - '0');
        x = *begin == '-' ? -(double)n : (double)n;
    } else if (!dis__parse_real(begin, (size_t)(s - begin), &x)) {
        return fail(p, begin, "a number too large for a double");
    }
    p->at = s;
    return add(p, DIS_JSON_NUMBER, begin, (size_t)(s - begin), begin, x);
}

static dis_status word(parser *p, const char *text, dis__json_kind kind)
{
    const size_t n = strlen(text);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, text, n) != 0)
        return fail(p, p->at, "no JSON value begins like this; is it a JSON file, and are texts in double quotes?");
    const char *begin = p->at;
    p->at += n;
    return add(p, kind, begin, n, begin, 0);
}

/* Order of keys: by length, then by bytes. Any total order works. */
static int compare_keys(const dis__json_value *a, const dis__json_value *b)
{
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    return memcmp(a->text, b->text, a->length);
}

static void sift_down(const dis__json_value *values, uint32_t *heap, size_t i, size_t n)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && compare_keys(&values[heap[child]], &values[heap[child + 1]]) < 0) child++;
        if (compare_keys(&values[heap[i]], &values[heap[child]]) >= 0) return;
        const uint32_t swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
    }
}

/* DIS_EDATA at the second of two equal keys of the object at index `object`. */
static dis_status check_keys(const parser *p, uint32_t object)
{
    dis__json *json = p->json;
    const size_t n = json->values[object].n;
    if (n < 2) return DIS_OK;
    DIS_TRY(dis__reserve(&json->keys, &json->keys_capacity, 0, n, sizeof *json->keys));
    const dis__json_value *values = json->values;
    uint32_t *keys = json->keys, twice = UINT32_MAX;
    uint32_t key = object + 1;
    for (size_t i = 0; i < n; i++, key += 1 + values[key + 1].skip) keys[i] = key;
    if (n <= FEW_KEYS) {
        for (size_t i = 1; i < n; i++)
            for (size_t j = 0; j < i; j++)
                if (compare_keys(&values[keys[i]], &values[keys[j]]) == 0 && keys[i] < twice) twice = keys[i];
    } else {
        for (size_t i = n / 2; i-- > 0;) sift_down(values, keys, i, n);
        for (size_t i = n; i-- > 1;) {
            const uint32_t swap = keys[0];
            keys[0] = keys[i];
            keys[i] = swap;
            sift_down(values, keys, 0, i);
        }
        for (size_t i = 1; i < n; i++)
            if (compare_keys(&values[keys[i - 1]], &values[keys[i]]) == 0) {
                const uint32_t later = keys[i] > keys[i - 1] ? keys[i] : keys[i - 1];
                if (later < twice) twice = later;
            }
    }
    if (twice == UINT32_MAX) return DIS_OK;
    return dis__json_fail(json, &values[twice], "the key \"%.*s\" twice in one object",
                          (int)(values[twice].length < 200 ? values[twice].length : 200), values[twice].text);
}

/* One scalar, or the opening of an array or object. */
static dis_status begin_value(parser *p)
{
    if (p->at == p->end) return fail(p, p->at, "a value is missing: the text ends here; is the file complete?");
    switch (*p->at) {
    case '"': return string(p);
    case '{':
    case '[':
        if (p->depth == DIS_JSON_DEPTH) return fail(p, p->at, "more than 256 levels of arrays and objects");
        p->open[p->depth++] = (uint32_t)p->json->n_values;
        DIS_TRY(add(p, *p->at == '{' ? DIS_JSON_OBJECT : DIS_JSON_ARRAY, p->at, 1, p->at, 0));
        p->at++;
        return DIS_OK;
    case 't': return word(p, "true", DIS_JSON_TRUE);
    case 'f': return word(p, "false", DIS_JSON_FALSE);
    case 'n': return word(p, "null", DIS_JSON_NULL);
    case 'N':
    case 'I': return fail(p, p->at, "JSON has no NaN or Infinity; write null, or a text");
    case ']':
    case '}': return fail(p, p->at, "a value is missing; is there a comma too many?");
    default:
        if (*p->at == '-' || (*p->at >= '0' && *p->at <= '9')) return number(p);
        return fail(p, p->at, "no JSON value begins like this; is it a JSON file, and are texts in double quotes?");
    }
}

static dis_status key(parser *p)
{
    skip_spaces(p);
    if (p->at == p->end || *p->at != '"')
        return fail(p, p->at,
                    p->at == p->end ? "a key is missing: the text ends here; is the file complete?"
                    : *p->at == '}' ? "a key is missing; is there a comma too many?"
                                    : "a key in double quotes is missing");
    DIS_TRY(string(p));
    skip_spaces(p);
    if (p->at == p->end || *p->at != ':') return fail(p, p->at, "a colon is missing after a key");
    p->at++;
    return DIS_OK;
}

/* After a value: closes the arrays and objects that end here. *more: another value follows (its key, in an object, is
 * already read). */
static dis_status end_value(parser *p, bool *more)
{
    *more = false;
    while (p->depth) {
        dis__json_value *open = &p->json->values[p->open[p->depth - 1]];
        const bool is_object = open->kind == DIS_JSON_OBJECT;
        /* Just opened: it may be empty and close immediately. */
        const bool empty = p->json->n_values == p->open[p->depth - 1] + 1u;
        if (!empty) open->n++;
        skip_spaces(p);
        if (p->at == p->end)
            return fail(p, p->start + open->at,
                        is_object ? "an object without closing }" : "an array without closing ]");
        if (*p->at == (is_object ? '}' : ']')) {
            p->at++;
            open->length = (uint32_t)(p->at - p->start) - open->at;
            open->skip = (uint32_t)(p->json->n_values - p->open[p->depth - 1]);
            if (is_object) DIS_TRY(check_keys(p, p->open[p->depth - 1]));
            p->depth--;
            continue;
        }
        if (!empty) {
            if (*p->at != ',') return fail(p, p->at, is_object ? "neither a comma nor }" : "neither a comma nor ]");
            p->at++;
        }
        *more = true;
        return is_object ? key(p) : DIS_OK;
    }
    return DIS_OK;
}

dis_status dis__json_parse(dis__json *json, const char *text, size_t n, const dis__json_position *position,
                           const dis__json_value **root)
{
    if (n >= UINT32_MAX)
        return dis__fail_at(DIS_ELIMIT, position->file, position->line, 0, "JSON of %zu bytes; 4 GiB is the limit", n);
    if (!text) text = "";
    json->n_values = 0;
    json->input = text;
    json->n_input = n;
    json->position = *position;
    /* Decoding never lengthens a text. Only texts with a backslash need the buffer. */
    if (n && memchr(text, '\\', n)) DIS_TRY(dis__reserve(&json->decoded, &json->decoded_capacity, 0, n, 1));
    parser p;
    p.json = json;
    p.start = p.at = text;
    p.end = text + n;
    p.decoded = json->decoded;
    p.depth = 0;
    bool more = true;
    while (more) {
        skip_spaces(&p);
        DIS_TRY(begin_value(&p));
        DIS_TRY(end_value(&p, &more));
    }
    skip_spaces(&p);
    if (p.at != p.end) return fail(&p, p.at, "unexpected text after the end of the JSON value");
    *root = json->values;
    return DIS_OK;
}

void dis__json_free(dis__json *json)
{
    dis__free(json->values);
    dis__free(json->decoded);
    dis__free(json->keys);
    *json = (dis__json){0};
}

bool dis__json_equals(const dis__json_value *value, const char *text)
{
    return value->kind == DIS_JSON_STRING && strlen(text) == value->length &&
           memcmp(value->text, text, value->length) == 0;
}

const dis__json_value *dis__json_member(const dis__json_value *object, const char *name)
{
    if (object->kind != DIS_JSON_OBJECT) return NULL;
    const dis__json_value *v = object + 1;
    for (uint32_t i = 0; i < object->n; i++, v += 1 + v[1].skip)
        if (dis__json_equals(v, name)) return v + 1;
    return NULL;
}

void dis__json_list_keys(const dis__json_value *object, char *out, size_t room)
{
    out[0] = 0;
    const dis__json_value *v = object + 1;
    for (uint32_t i = 0; i < object->n; i++) {
        dis__text_list_append(out, room, v->text, v->length);
        v++;
        v += v->skip;
    }
}
