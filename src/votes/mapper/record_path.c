/* Paths: parsed once by recursive descent over a dozen characters, into a fixed array of steps that point into the
 * text. Cost: one pass. */
#include "votes/mapper/record_path.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *text, *at, *end, *role;
    dis__path_part *part;
} parser;

static dis_status bad(const parser *p, const char *at, const char *reason)
{
    return dis__fail(DIS_EUSAGE, "the path of the %s, \"%.200s\": %s at character %zu", p->role, p->text, reason,
                     (size_t)(at - p->text) + 1);
}

static dis_status add(parser *p, dis__path_step_kind kind, const char *at, dis__path_step **step)
{
    dis__path_part *part = p->part;
    if (part->n_steps == DIS_PATH_STEPS) return bad(p, at, "too many steps");
    *step = &part->step[part->n_steps++];
    **step = (dis__path_step){.kind = kind, .text = at};
    if (!dis__step_is_axis(*step)) return DIS_OK;
    return ++part->n_axes > DIS_PATH_AXES ? bad(p, at, "too many lists within lists") : DIS_OK;
}

static bool ends_key(const char *s, const char *end)
{
    return s == end || strchr(".[{#?", *s) || (*s == ' ' && end - s > 2 && s[1] == '+' && s[2] == ' ');
}

static dis_status key(parser *p)
{
    dis__path_step *step = NULL;
    const char *begin = p->at;
    DIS_TRY(add(p, DIS_STEP_KEY, begin, &step));
    if (begin < p->end && *begin == '"') {
        const char *quote = memchr(begin + 1, '"', (size_t)(p->end - begin - 1));
        if (!quote) return bad(p, begin, "a key without its closing quote");
        step->quoted = true;
        step->text = begin + 1;
        step->n = (size_t)(quote - begin - 1);
        p->at = quote + 1;
    } else {
        while (!ends_key(p->at, p->end)) p->at++;
        step->n = (size_t)(p->at - begin);
    }
    return step->n ? DIS_OK : bad(p, begin, "a key is missing");
}

/* "a=x&b=y" up to the closing bracket. */
static dis_status tests(parser *p, dis__path_step *step, const char *close)
{
    for (const char *s = p->at; s < close;) {
        const char *amp = memchr(s, '&', (size_t)(close - s)), *stop = amp ? amp : close;
        const char *equals = memchr(s, '=', (size_t)(stop - s));
        if (!equals || equals == s) return bad(p, s, "a condition is KEY=VALUE");
        if (step->n_tests == DIS_PATH_TESTS) return bad(p, s, "too many conditions");
        step->test[step->n_tests++] = (dis__step_test){.key = s,
                                                       .n_key = (size_t)(equals - s),
                                                       .value = equals + 1,
                                                       .n_value = (size_t)(stop - equals - 1)};
        s = stop + (amp != NULL);
    }
    p->at = close;
    return DIS_OK;
}

static bool all_digits(const char *s, const char *end)
{
    const char *begin = s;
    while (s < end && *s >= '0' && *s <= '9') s++;
    return s == end && s > begin && s - begin < 10;
}

/* [], [3], [,], [,3], [key=value] */
static dis_status bracket(parser *p)
{
    const char *open = p->at++;
    const char *close = memchr(p->at, ']', (size_t)(p->end - p->at));
    if (!close) return bad(p, open, "[ without its ]");
    dis__path_step *step = NULL;
    if (p->at == close) {
        DIS_TRY(add(p, DIS_STEP_EACH, open, &step));
    } else if (memchr(p->at, '=', (size_t)(close - p->at))) {
        DIS_TRY(add(p, DIS_STEP_EACH, open, &step));
        DIS_TRY(tests(p, step, close));
    } else if (all_digits(p->at, close)) {
        DIS_TRY(add(p, DIS_STEP_INDEX, open, &step));
        step->index = strtoul(p->at, NULL, 10);
    } else if (close == p->at + 1) {
        DIS_TRY(add(p, DIS_STEP_SPLIT, open, &step));
        step->separator = *p->at;
    } else if (all_digits(p->at + 1, close)) {
        DIS_TRY(add(p, DIS_STEP_PART, open, &step));
        step->separator = *p->at;
        step->index = strtoul(p->at + 1, NULL, 10);
    } else {
        return bad(p, open, "in brackets stands nothing, a number, a separator or KEY=VALUE;");
    }
    p->at = close + 1;
    return DIS_OK;
}

static dis_status braces(parser *p)
{
    const char *open = p->at++;
    const char *close = memchr(p->at, '}', (size_t)(p->end - p->at));
    if (!close) return bad(p, open, "{ without its }");
    dis__path_step *step = NULL;
    DIS_TRY(add(p, DIS_STEP_MEMBERS, open, &step));
    step->text = p->at;
    step->n = (size_t)(close - p->at);
    p->at = close + 1;
    return DIS_OK;
}

static dis_status name(parser *p)
{
    dis__path_step *step = NULL;
    const char *at = p->at++;
    const dis__path_part *part = p->part;
    if (part->n_steps == 0) return add(p, DIS_STEP_RECORD, at, &step);
    if (!dis__step_is_axis(&part->step[part->n_steps - 1])) return bad(p, at, "# stands behind [], {} or [,] only,");
    return add(p, DIS_STEP_NAME, at, &step);
}

static dis_status one_step(parser *p)
{
    dis__path_step *step = NULL;
    const size_t left = (size_t)(p->end - p->at);
    switch (*p->at) {
    case '[': return bracket(p);
    case '{': return braces(p);
    case '#': return name(p);
    case '.': p->at++; return p->part->n_steps ? key(p) : bad(p, p->at, "a key is missing");
    case '$':
        if (p->part->n_steps == 0 && left >= 5 && memcmp(p->at, "$file", 5) == 0) {
            p->at += 5;
            return add(p, DIS_STEP_FILE, p->at, &step);
        }
        if (p->part->n_steps == 0 && left >= 7 && memcmp(p->at, "$folder", 7) == 0) {
            p->at += 7;
            return add(p, DIS_STEP_FOLDER, p->at, &step);
        }
        break;
    default: break;
    }
    return p->part->n_steps == 0 ? key(p) : bad(p, p->at, "a dot, [ or { is missing");
}

static dis_status one_part(parser *p)
{
    *p->part = (dis__path_part){0};
    do {
        DIS_TRY(one_step(p));
        if (p->at < p->end && *p->at == '?') {
            p->part->step[p->part->n_steps - 1].optional = true;
            p->at++;
        }
    } while (p->at < p->end && *p->at != ' ');
    for (size_t i = p->part->n_steps; i-- > 0;) {
        dis__path_step *step = &p->part->step[i];
        if (step->kind != DIS_STEP_KEY) continue;
        const bool more = i + 1 < p->part->n_steps && step[1].kind == DIS_STEP_KEY && !step[1].quoted;
        step->chain = 1 + (more && !step->quoted && !step->optional ? step[1].chain : 0);
    }
    return DIS_OK;
}

dis_status dis__path_parse(const char *text, const char *role, dis__path *path)
{
    parser p = {.text = text, .at = text, .end = text + strlen(text), .role = role};
    *path = (dis__path){.text = text};
    if (p.at == p.end) return dis__fail(DIS_EUSAGE, "the path of the %s is empty", role);
    for (;;) {
        if (path->n_parts == DIS_PATH_PARTS) return bad(&p, p.at, "too many parts");
        p.part = &path->part[path->n_parts++];
        DIS_TRY(one_part(&p));
        if (p.at == p.end) return DIS_OK;
        if (p.end - p.at < 4 || memcmp(p.at, " + ", 3) != 0)
            return bad(&p, p.at, "\" + \" and another path are missing");
        p.at += 3;
    }
}

size_t dis__path_axes(const dis__path *path)
{
    size_t n = 0;
    for (size_t i = 0; path->text && i < path->n_parts; i++)
        if (path->part[i].n_axes > n) n = path->part[i].n_axes;
    return n;
}

bool dis__path_is_special(const char *text, bool dots)
{
    return text && (strpbrk(text, "[{#$?|\"") || strstr(text, " + ") || (dots && strchr(text, '.')));
}

/* Backtracks to the last * only: linear in the sum of both lengths, except with many stars. */
bool dis__glob(const char *pattern, size_t n_pattern, const char *text, size_t n)
{
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;
    while (t < n) {
        if (p < n_pattern && pattern[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < n_pattern && pattern[p] == text[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < n_pattern && pattern[p] == '*') p++;
    return p == n_pattern;
}
