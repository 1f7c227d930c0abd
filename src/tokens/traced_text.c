/* Growing texts: bytes and, where asked for, two numbers per byte. Amortised O(1) per byte; memory is kept from text to
 * text. */
#include "tokens/traced_text.h"
#include "core/memory/memory.h"
#include "tokens/unicode/unicode.h"
#include <string.h>

static dis_status reserve(dis__traced_text *text, size_t need)
{
    text->over = text->max && need > text->max;
    if (text->over) return dis__fail(DIS_ELIMIT, "the tokenizer expands a text to more than %zu bytes", text->max);
    if (need + DIS_TEXT_PAD > text->room) {
        const size_t old = text->room;
        DIS_TRY(dis__reserve(&text->bytes, &text->room, text->n, need + DIS_TEXT_PAD, 1));
        memset(text->bytes + old, 0, text->room - old);
    }
    if (!text->traced || need <= text->traced_room) return DIS_OK;
    size_t room = text->traced_room, same = text->traced_room;
    DIS_TRY(dis__reserve(&text->from, &room, text->n, need, sizeof *text->from));
    DIS_TRY(dis__reserve(&text->to, &same, text->n, need, sizeof *text->to));
    text->traced_room = room < same ? room : same;
    return DIS_OK;
}

dis_status dis__traced_text_begin(dis__traced_text *text, size_t n, bool traced)
{
    text->n = 0;
    text->traced = traced;
    return reserve(text, n);
}

dis_status dis__traced_text_append(dis__traced_text *text, const char *bytes, size_t n, uint32_t from, uint32_t to)
{
    if (n == 0) return DIS_OK;
    DIS_TRY(reserve(text, text->n + n));
    memcpy(text->bytes + text->n, bytes, n);
    for (size_t i = 0; text->traced && i < n; i++) {
        text->from[text->n + i] = from;
        text->to[text->n + i] = to;
    }
    text->n += n;
    return DIS_OK;
}

dis_status dis__traced_text_append_char(dis__traced_text *text, uint32_t c, uint32_t from, uint32_t to)
{
    char bytes[4];
    return dis__traced_text_append(text, bytes, dis__char_put(bytes, c), from, to);
}

dis_status dis__traced_text_append_range(dis__traced_text *text, const dis__traced_text *in, size_t start, size_t end)
{
    const size_t n = end - start;
    if (n == 0) return DIS_OK;
    DIS_TRY(reserve(text, text->n + n));
    memcpy(text->bytes + text->n, in->bytes + start, n);
    if (text->traced) {
        memcpy(text->from + text->n, in->from + start, n * sizeof *text->from);
        memcpy(text->to + text->n, in->to + start, n * sizeof *text->to);
    }
    text->n += n;
    return DIS_OK;
}

void dis__traced_text_free(dis__traced_text *text)
{
    dis__free(text->bytes);
    dis__free(text->from);
    dis__free(text->to);
    *text = (dis__traced_text){0};
}
