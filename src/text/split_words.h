/* split_words.h: a text cut into words, for models that have no tokenizer of their own.
 *
 * A word is a run of ASCII letters, digits, "'" and "_" within letters, and bytes of other scripts (any character above
 * U+007F but the general punctuation U+2000-U+206F and no-break space); every other character that is no space is a
 * word by itself. ASCII letters may be made small; other scripts stay as they are, since what is small depends on the
 * language.
 *
 *     dis__words w = dis__words_begin(text, n, true);
 *     while (dis__words_next(&w)) ... w.word, w.n ...
 *
 * w.word is valid until the next call. A word longer than DIS_WORD_BYTES is cut into pieces of that length at most, at
 * the borders of characters. Threads: a value, no shared state. */
#ifndef DIS_TEXT_SPLIT_WORDS_H
#define DIS_TEXT_SPLIT_WORDS_H
#include "dissent/status.h"

enum { DIS_WORD_BYTES = 128 };

typedef struct {
    const char *next, *end;
    bool lower;
    size_t n;
    char word[DIS_WORD_BYTES];
} dis__words;

dis__words dis__words_begin(const char *text, size_t n, bool lower);
/* False at the end. */
bool dis__words_next(dis__words *w);

#endif
