/* traced_text.h: a text on its way through a tokenizer, with the position in the caller's text that each byte came
 * from.
 *
 * Normalisers read one and write another, character by character; each byte of the result has the corresponding range
 * of the caller's text. Positions are only kept on request (`traced`). Threads: one text, one thread. */
#ifndef DIS_TOKENS_TRACED_TEXT_H
#define DIS_TOKENS_TRACED_TEXT_H
#include "core/error.h"

enum { DIS_TEXT_PAD = 32 }; /* readable bytes after the text */

typedef struct {
    char *bytes;         /* (n), DIS_TEXT_PAD readable after them */
    uint32_t *from, *to; /* (n) where traced: the bytes of the caller's text, [from, to) */
    size_t n, room, traced_room;
    size_t max; /* bytes that it may have; 0: any number */
    bool traced;
    bool over; /* more were put, with DIS_ELIMIT */
} dis__traced_text;

/* Empties it and makes room for n bytes. `max` stays. */
dis_status dis__traced_text_begin(dis__traced_text *text, size_t n, bool traced);
/* Adds n bytes that stand for [from, to). */
dis_status dis__traced_text_append(dis__traced_text *text, const char *bytes, size_t n, uint32_t from, uint32_t to);
dis_status dis__traced_text_append_char(dis__traced_text *text, uint32_t c, uint32_t from, uint32_t to);
/* Adds bytes [start, end) of another text with their positions. */
dis_status dis__traced_text_append_range(dis__traced_text *text, const dis__traced_text *in, size_t start, size_t end);
void dis__traced_text_free(dis__traced_text *text);

/* Where byte i came from; 0 where that is not kept. */
static inline uint32_t dis__traced_text_from(const dis__traced_text *text, size_t i)
{
    return text->traced ? text->from[i] : 0;
}

static inline uint32_t dis__traced_text_to(const dis__traced_text *text, size_t i)
{
    return text->traced ? text->to[i] : 0;
}

#endif
