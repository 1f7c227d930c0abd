/* Patterns of Split and Replace: literal texts, runs of one class of characters ("\s+", " {2,}", "\p{N}{1,3}"), and the
 * alternations that byte-level tokenizers cut texts with, each written out as a function. Other regular expressions are
 * not supported, and are errors. All are O(n) over a text. */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "core/os/os.h"
#include "tokens/unicode/unicode.h"
#include <string.h>

/* ---- literal texts and runs ---- */

static size_t match_text(const dis__pattern *p, const char *text, size_t n)
{
    return n >= p->n_text && memcmp(text, p->text, p->n_text) == 0 ? p->n_text : 0;
}

static bool in_class(const dis__pattern *p, const char *text, size_t *step)
{
    const uint32_t c = dis__char_at(text, step);
    return (p->flags ? (dis__char_kind(c) & p->flags) != 0 : c == p->one) != p->other;
}

static size_t match_run(const dis__pattern *p, const char *text, size_t n)
{
    size_t at = 0, step;
    for (size_t i = 0; i < p->max; i++) {
        if (at == n || !in_class(p, text + at, &step)) return i < p->min ? 0 : at;
        at += step;
    }
    return at;
}

/* ---- alternations ---- */

#define LETTER DIS_IS_LETTER
#define NUMBER DIS_IS_NUMBER
#define BLANK  DIS_IS_BLANK
#define OTHER  0u

/* Letter, number, blank or neither. */
static uint32_t sort_at(const char *text, size_t *step)
{
    const unsigned char c = (unsigned char)*text;
    if (c < 0x80) {
        *step = 1;
        if ((unsigned char)((c | 32) - 'a') < 26) return LETTER;
        if ((unsigned char)(c - '0') < 10) return NUMBER;
        return c == ' ' || (c >= 9 && c <= 13) ? BLANK : OTHER;
    }
    return dis__kind_at(text, step) & (LETTER | NUMBER | BLANK);
}

/* Where the run of one sort that begins at `at` ends. */
static size_t run_end(const char *text, size_t at, size_t n, uint32_t sort)
{
    size_t step;
    while (at < n && sort_at(text + at, &step) == sort) at += step;
    return at;
}

/* '(s|t|re|ve|m|ll|d), in either case where `fold`. */
static size_t match_contraction(const char *text, size_t n, bool fold)
{
    if (n < 2 || *text != '\'') return 0;
    const char a = fold && text[1] >= 'A' && text[1] <= 'Z' ? (char)(text[1] + 32) : text[1];
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
    if (n < 3) return 0;
    const char b = fold && text[2] >= 'A' && text[2] <= 'Z' ? (char)(text[2] + 32) : text[2];
    return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
}

/* \s+(?!\S)|\s+: blanks, but not the last one before something else. */
static size_t match_blanks(const char *text, size_t n)
{
    const size_t end = run_end(text, 0, n, BLANK);
    if (end == n) return end;
    const size_t before = dis__char_before(text, end);
    return before ? before : end;
}

/* GPT-2's 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static size_t match_gpt2(const dis__pattern *p, const char *text, size_t n)
{
    (void)p;
    size_t step;
    const size_t short_form = match_contraction(text, n, false);
    if (short_form) return short_form;
    const size_t at = *text == ' ' && n > 1 ? 1 : 0;
    const uint32_t sort = sort_at(text + at, &step);
    return sort == BLANK ? match_blanks(text, n) : run_end(text, at + step, n, sort);
}

/* The later ones: (?i:'s|...)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,MOST}|
 * ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ */
static size_t match_later(const dis__pattern *p, const char *text, size_t n)
{
    size_t step, next;
    const size_t short_form = match_contraction(text, n, true);
    if (short_form) return short_form;
    const uint32_t sort = sort_at(text, &step);
    if (sort == LETTER) return run_end(text, step, n, LETTER);
    if (sort == NUMBER) {
        size_t end = step;
        for (size_t i = 1; i < p->max && end < n && sort_at(text + end, &step) == NUMBER; i++) end += step;
        return end;
    }
    if (*text != '\r' && *text != '\n' && step < n && sort_at(text + step, &next) == LETTER)
        return run_end(text, step, n, LETTER);
    const size_t at = *text == ' ' && n > 1 ? 1 : 0;
    if (sort_at(text + at, &step) == OTHER) {
        size_t end = run_end(text, at, n, OTHER);
        while (end < n && (text[end] == '\r' || text[end] == '\n')) end++;
        return end;
    }
    size_t last = 0; /* after the last line break of the blanks */
    const size_t end = run_end(text, 0, n, BLANK);
    for (size_t i = 0; i < end; i++)
        if (text[i] == '\r' || text[i] == '\n') last = i + 1;
    return last ? last : match_blanks(text, n);
}

static const struct {
    const char *regex;
    size_t (*match)(const dis__pattern *p, const char *text, size_t n);
    size_t max;
} alternations[] = {
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", match_gpt2, 0},
    {"'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", match_gpt2, 0},
    {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
     "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
     "\\s+(?!\\S)|\\s+",
     match_later, 3},
    {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
     "\\s+(?!\\S)|\\s+",
     match_later, 1},
};

void dis__tokenizer_step_set_gpt2(dis__tokenizer_step *s)
{
    s->behaviour = DIS_SPLIT_ISOLATED;
    s->pattern = (dis__pattern){.match = match_gpt2};
}

/* ---- finding ---- */

bool dis__pattern_find(const dis__pattern *p, const char *text, size_t n, size_t at, size_t *start, size_t *end)
{
    if (p->match == match_text) {
        const char *found = at < n ? dis__os_find_text(text + at, n - at, p->text, p->n_text) : NULL;
        if (!found) return false;
        *start = (size_t)(found - text);
        *end = *start + p->n_text;
        return true;
    }
    for (; at < n; at += dis__utf8_step(text[at])) {
        const size_t length = p->match(p, text + at, n - at);
        if (!length) continue;
        *start = at;
        *end = at + length;
        return true;
    }
    return false;
}

/* ---- reading ---- */

static const struct {
    const char *text;
    uint32_t flags;
    bool other;
} classes[] = {
    {"\\s", DIS_IS_BLANK, false},     {"\\S", DIS_IS_BLANK, true},      {"\\d", DIS_IS_DIGIT, false},
    {"\\p{N}", DIS_IS_NUMBER, false}, {"\\p{L}", DIS_IS_LETTER, false}, {"[^\\s]", DIS_IS_BLANK, true},
};

/* A class at the front of a regular expression; bytes taken, 0: none that we know. */
static size_t read_class(const char *regex, size_t n, dis__pattern *p)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const size_t length = strlen(classes[i].text);
        if (n < length || memcmp(regex, classes[i].text, length) != 0) continue;
        p->flags = classes[i].flags;
        p->other = classes[i].other;
        return length;
    }
    if (n == 0 || strchr("\\[](){}.*+?|^$", *regex)) return 0;
    size_t step;
    p->one = dis__char_at(regex, &step);
    return step;
}

/* "", "+", "{n}", "{n,}" or "{n,m}" with one digit each. */
static bool read_count(const char *text, size_t n, dis__pattern *p)
{
    p->min = p->max = 1;
    if (n == 0) return true;
    p->max = SIZE_MAX;
    if (n == 1 && *text == '+') return true;
    if (n < 3 || n > 5 || text[0] != '{' || text[n - 1] != '}' || text[1] < '1' || text[1] > '9') return false;
    p->min = (size_t)(text[1] - '0');
    if (n == 3) p->max = p->min;
    if (n > 3 && text[2] != ',') return false;
    if (n == 5) p->max = (size_t)(text[3] - '0');
    return n < 5 || (text[3] >= '1' && text[3] <= '9' && p->max >= p->min);
}

static bool read_regex(const char *regex, size_t n, dis__pattern *p)
{
    for (size_t i = 0; i < sizeof alternations / sizeof *alternations; i++)
        if (strlen(alternations[i].regex) == n && memcmp(alternations[i].regex, regex, n) == 0) {
            p->match = alternations[i].match;
            p->max = alternations[i].max;
            return true;
        }
    p->match = match_run;
    const size_t length = read_class(regex, n, p);
    return length && read_count(regex + length, n - length, p);
}

dis_status dis__pattern_read(dis__tokenizer_reader *r, const dis__json_value *v, dis__pattern *p)
{
    const dis__json_value *pattern = dis__json_member(v, "pattern");
    const dis__json_value *text = dis__field(pattern, "String"), *regex = dis__field(pattern, "Regex");
    if (text && text->kind == DIS_JSON_STRING && text->length) {
        p->match = match_text;
        p->n_text = text->length;
        return dis__copy_text(&p->text, text->text, text->length);
    }
    if (regex && regex->kind == DIS_JSON_STRING && read_regex(regex->text, regex->length, p)) return DIS_OK;
    if (regex && regex->kind == DIS_JSON_STRING)
        return dis__json_fail(&r->json, regex,
                              "the pattern %.*s is not supported: known are runs of one class such as \\s+ "
                              "and the patterns of GPT-2 and its successors",
                              (int)(regex->length < 200 ? regex->length : 200), regex->text);
    return dis__json_fail(&r->json, pattern ? pattern : v, "pattern must be {\"String\": text} or {\"Regex\": text}");
}
