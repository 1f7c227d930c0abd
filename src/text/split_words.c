/* Words of a text: one pass over its bytes. The text is valid UTF-8 (readers check this). */
#include "text/split_words.h"
#include "core/text/utf8.h"
#include <string.h>

dis__words dis__words_begin(const char *text, size_t n, bool lower)
{
    dis__words w;
    w.next = text;
    w.end = text + n;
    w.lower = lower;
    w.n = 0;
    return w;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

typedef enum { SPACE, LETTER, JOINER, SIGN } class;

static class class_of(const char *s, size_t n)
{
    if (n == 1) {
        if (is_letter(*s)) return LETTER;
        if (*s == '\'' || *s == '_') return JOINER;
        return (unsigned char)*s <= ' ' || *s == 0x7f ? SPACE : SIGN;
    }
    if (n == 2 && memcmp(s, "\xc2\xa0", 2) == 0) return SPACE;
    if (n == 3 && memcmp(s, "\xe2\x80\x99", 3) == 0) return JOINER; /* the typographic apostrophe */
    if (n == 3 && s[0] == '\xe2' && (s[1] == '\x80' || (s[1] == '\x81' && (unsigned char)s[2] <= 0xaf)))
        return s[1] == '\x80' && (unsigned char)s[2] <= 0x8b ? SPACE : SIGN; /* U+2000-U+200B are spaces */
    if (n == 3 && memcmp(s, "\xe3\x80\x80", 3) == 0) return SPACE;
    return LETTER;
}

static void put(dis__words *w, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char c = s[i];
        w->word[w->n++] = w->lower && c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
    }
}

bool dis__words_next(dis__words *w)
{
    w->n = 0;
    while (w->next < w->end) {
        const size_t n = dis__utf8_step(*w->next);
        const class c = class_of(w->next, n);
        const bool begun = w->n > 0;
        if (c == SPACE) {
            if (begun) return true;
        } else if (c == LETTER || (c == JOINER && begun && w->next + n < w->end &&
                                   class_of(w->next + n, dis__utf8_step(w->next[n])) == LETTER)) {
            if (w->n + n > DIS_WORD_BYTES) return true;
            put(w, w->next, n);
        } else {
            if (begun) return true;
            put(w, w->next, n);
            w->next += n;
            return true;
        }
        w->next += n;
    }
    return w->n > 0;
}
