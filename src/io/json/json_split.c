/* Finds where JSON values end, without parsing them: counts brackets and skips strings. Cost: about a nanosecond per
 * byte; no memory. */
#include "io/json/json_split.h"
#include <string.h>

static const char *skip_spaces(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) p++;
    return p;
}

static dis_status bad(dis__json_split *s, const char *at, const char *problem)
{
    s->problem = problem;
    s->problem_at = at;
    return DIS_EDATA;
}

/* Position after the string that begins at p; NULL: it is not closed. */
static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end;) {
        const char *quote = memchr(p, '"', (size_t)(end - p));
        if (!quote) return NULL;
        const char *back = quote;
        while (back > p && back[-1] == '\\') back--;
        if ((quote - back) % 2 == 0) return quote + 1;
        p = quote + 1;
    }
    return NULL;
}

/* Position after the value that begins at p; NULL: it is not complete. */
static const char *skip_value(const char *p, const char *end)
{
    if (p < end && *p == '"') return skip_string(p, end);
    if (p == end || (*p != '{' && *p != '[')) {
        while (p < end && !strchr(",]} \t\r\n", *p)) p++;
        return p;
    }
    size_t depth = 0;
    while (p < end) {
        switch (*p) {
        case '"':
            p = skip_string(p, end);
            if (!p) return NULL;
            continue;
        case '{':
        case '[': depth++; break;
        case '}':
        case ']':
            if (--depth == 0) return p + 1;
            break;
        default: break;
        }
        p++;
    }
    return NULL;
}

/* The end of the text, or of the longest record that may begin at p. */
static const char *longest(const dis__json_split *s, const char *p)
{
    return s->kind != DIS_SPLIT_SINGLE && s->end - p > (ptrdiff_t)DIS_MAX_RECORD ? p + DIS_MAX_RECORD : s->end;
}

/* Makes the value at s->at the record. */
static dis_status parse_value(dis__json_split *s)
{
    if (s->at == s->end) return bad(s, s->at, "a value is missing");
    if (*s->at == ']' || *s->at == '}' || *s->at == ',')
        return bad(s, s->at, "a value is missing; is there a comma too many?");
    const char *limit = longest(s, s->at), *stop = skip_value(s->at, limit);
    if (!stop && limit < s->end)
        return bad(s, s->at, "this value does not end within 256 MiB: a quote or a bracket is missing");
    if (!stop) return bad(s, s->at, "this value does not end: a quote or a bracket is missing; is the file complete?");
    s->text = s->at;
    s->n = (size_t)(stop - s->at);
    s->at = skip_spaces(stop, s->end);
    return DIS_OK;
}

/* Reads the key at s->at, and advances to its value. */
static dis_status parse_key(dis__json_split *s)
{
    if (s->at == s->end || *s->at != '"')
        return bad(s, s->at,
                   s->at < s->end && *s->at == '}' ? "a key is missing; is there a comma too many?"
                                                   : "a key in double quotes is missing");
    const char *stop = skip_string(s->at, s->end);
    if (!stop) return bad(s, s->at, "a text without its closing quote");
    s->key = s->at;
    s->n_key = (size_t)(stop - s->at);
    s->at = skip_spaces(stop, s->end);
    if (s->at == s->end || *s->at != ':') return bad(s, s->at, "a colon is missing after a key");
    s->at = skip_spaces(s->at + 1, s->end);
    return DIS_OK;
}

static bool key_is(const dis__json_split *s, const char *key, size_t n)
{
    return s->n_key == n + 2 && memcmp(s->key + 1, key, n) == 0;
}

/* Advances from the object at s->at to the value of a key in it. */
static dis_status enter(dis__json_split *s, const char *key, size_t n)
{
    const char *object = s->at;
    if (s->at == s->end || *s->at != '{') return bad(s, s->at, "no object, where `records` asks for a key of one");
    s->at = skip_spaces(s->at + 1, s->end);
    while (s->at < s->end && *s->at != '}') {
        DIS_TRY(parse_key(s));
        if (key_is(s, key, n)) return DIS_OK;
        DIS_TRY(parse_value(s));
        if (s->at < s->end && *s->at == ',') s->at = skip_spaces(s->at + 1, s->end);
    }
    return bad(s, object, "this object has no such key as `records` names");
}

/* The structure of a file that begins with {: one record, records by name, or consecutive records. A long first object
 * is not one of many records. */
static dis_status probe_object(dis__json_split *s)
{
    const char *open = s->at;
    const bool large = s->end - open > (ptrdiff_t)DIS_SPLIT_PROBE;
    const char *stop = skip_value(open, large ? open + DIS_SPLIT_PROBE : s->end);
    s->kind = DIS_SPLIT_OBJECT;
    if (stop && skip_spaces(stop, s->end) < s->end) {
        s->kind = DIS_SPLIT_SEQUENCE;
        return DIS_OK;
    }
    dis__json_split first = *s;
    first.at = skip_spaces(open + 1, s->end);
    const bool named = parse_key(&first) == DIS_OK;
    if (named && first.at < s->end && *first.at != '{' && *first.at != '[') s->kind = DIS_SPLIT_SINGLE;
    return DIS_OK;
}

dis_status dis__json_split_open(dis__json_split *s, const dis__input *in, const char *records, bool lines)
{
    *s = (dis__json_split){.kind = DIS_SPLIT_LINES, .at = in->bytes, .end = in->bytes + in->n};
    if (in->n >= 3 && memcmp(s->at, "\xef\xbb\xbf", 3) == 0) s->at += 3;
    if (lines) return s->at < s->end ? DIS_OK : bad(s, s->at, "the file is empty");
    s->at = skip_spaces(s->at, s->end);
    if (s->at == s->end) return bad(s, s->at, "the file is empty");
    s->kind = DIS_SPLIT_SINGLE;
    if (records && strcmp(records, ".") == 0) return DIS_OK;
    for (const char *key = records; key && *key;) {
        const size_t n = strcspn(key, ".");
        DIS_TRY(enter(s, key, n));
        key += n + (key[n] == '.');
    }
    s->key = NULL;
    s->nested = records != NULL;
    if (s->at < s->end && *s->at == '[')
        s->kind = DIS_SPLIT_ARRAY;
    else if (s->at == s->end || *s->at != '{')
        return bad(s, s->at, "neither a list nor an object; JSON with votes begins with [ or {");
    else if (records)
        s->kind = DIS_SPLIT_OBJECT;
    else
        return probe_object(s);
    return DIS_OK;
}

static dis_status next_line(dis__json_split *s, bool *more)
{
    *more = s->at < s->end;
    if (!*more) return DIS_OK;
    const char *lf = memchr(s->at, '\n', (size_t)(s->end - s->at));
    s->text = s->at;
    s->n = (size_t)((lf ? lf : s->end) - s->at);
    s->at = lf ? lf + 1 : s->end;
    if (s->n && s->text[s->n - 1] == '\r') s->n--;
    return s->n ? DIS_OK : bad(s, s->text, "a blank line; remove it");
}

/* At the bracket that ends the list: only the enclosing values may follow. */
static dis_status end_list(dis__json_split *s, bool *more)
{
    *more = false;
    s->at = skip_spaces(s->at + 1, s->end);
    if (!s->nested && s->at < s->end) return bad(s, s->at, "unexpected text after the end of the JSON value");
    return DIS_OK;
}

static dis_status next_element(dis__json_split *s, bool *more)
{
    const char close = s->kind == DIS_SPLIT_ARRAY ? ']' : '}';
    if (s->begun) {
        if (s->at == s->end) return bad(s, s->at, "the list does not end; is the file complete?");
        if (*s->at == close) return end_list(s, more);
        if (*s->at != ',')
            return bad(s, s->at,
                       close == ']' ? "neither a comma nor ] after a record" : "neither a comma nor } after a record");
        s->at = skip_spaces(s->at + 1, s->end);
    } else {
        s->at = skip_spaces(s->at + 1, s->end);
        s->begun = true;
        if (s->at < s->end && *s->at == close) return end_list(s, more);
    }
    *more = true;
    if (s->kind == DIS_SPLIT_OBJECT) DIS_TRY(parse_key(s));
    return parse_value(s);
}

dis_status dis__json_split_next(dis__json_split *s, bool *more)
{
    if (s->text) s->number++;
    *more = true;
    switch (s->kind) {
    case DIS_SPLIT_LINES: return next_line(s, more);
    case DIS_SPLIT_ARRAY:
    case DIS_SPLIT_OBJECT: return next_element(s, more);
    case DIS_SPLIT_SEQUENCE: *more = s->at < s->end; return *more ? parse_value(s) : DIS_OK;
    case DIS_SPLIT_SINGLE:
        if (s->begun && s->at < s->end) return bad(s, s->at, "unexpected text after the end of the JSON value");
        *more = !s->begun;
        s->begun = true;
        return *more ? parse_value(s) : DIS_OK;
    }
    return DIS_OK;
}
