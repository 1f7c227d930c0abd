/* split_words.h: splits a text into words, for models without a tokenizer.
 *
 * A word is a run of ASCII letters, digits, "'" and "_" within letters, and bytes of other scripts (any character above
 * U+007F but the general punctuation U+2000-U+206F and no-break space); every other character except spaces is a
 * separate word. ASCII letters may be lowercased; other scripts are not changed, since case depends on the language.
 *
 *     dis__words w = dis__words_begin(text, n, true);
 *     while (dis__words_next(&w)) ... w.word, w.n ...
 *
 * w.word is valid until the next call. A word longer than DIS_WORD_BYTES is split at character boundaries into pieces
 * of at most that length. Threads: a value, no shared state. */
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
/* Returns false at the end. */
bool dis__words_next(dis__words *w);

#endif
