/* Tokens one per line, blank lines between sentences: fields separated by tabs, or by spaces in lines without a tab.
 * Lines end with LF or CRLF; there are no comments, since many tokens begin with "#". */
#include "items/items_internal.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "core/text/utf8.h"
#include "io/input/input.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const dis__input *in;
    size_t field; /* from 0 */
    dis_items *items;
    dis__name_list texts;
    size_t sentence_room;
    bool within; /* a sentence has begun */
    uint64_t line;
} reading;

/* Field number t->field of a line; false: it has fewer. */
static bool find_field(const reading *t, const char *line, size_t n, const char **text, size_t *length)
{
    const char separator = memchr(line, '\t', n) ? '\t' : ' ';
    const char *end = line + n;
    for (size_t f = 0;; f++) {
        const char *stop = memchr(line, separator, (size_t)(end - line));
        if (!stop) stop = end;
        if (f == t->field) {
            *text = line;
            *length = (size_t)(stop - line);
            return *length > 0;
        }
        if (stop == end) return false;
        line = stop + 1;
    }
}

static dis_status parse_line(reading *t, const char *line, size_t n)
{
    dis_items *items = t->items;
    if (n && line[n - 1] == '\r') n--;
    if (n == 0) {
        t->within = false;
        return DIS_OK;
    }
    if (n > DIS_MAX_FIELD)
        return dis__fail_at(DIS_EDATA, t->in->path, t->line, 1, "a line of more than %u bytes", DIS_MAX_FIELD);
    const char *text;
    size_t length;
    if (!find_field(t, line, n, &text, &length))
        return dis__fail_at(DIS_EDATA, t->in->path, t->line, 1, "field %zu is missing or empty", t->field + 1);
    if (!t->within) {
        DIS_TRY(dis__reserve(&items->sentence, &t->sentence_room, items->n_sentences, items->n_sentences + 2,
                             sizeof *items->sentence));
        items->sentence[items->n_sentences++] = items->n_items;
        t->within = true;
    }
    items->n_items++;
    return dis__name_list_add(&t->texts, text, length);
}

static dis_status read_lines(reading *t)
{
    const char *at = t->in->bytes, *end = at + t->in->n;
    if (dis__utf8_check(at, t->in->n) < t->in->n || (t->in->n && memchr(at, 0, t->in->n)))
        return dis__fail_at(DIS_EDATA, t->in->path, 0, 0, "not valid UTF-8, or text with a NUL byte");
    if (t->in->n >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    while (at < end) {
        const char *lf = memchr(at, '\n', (size_t)(end - at)), *stop = lf ? lf : end;
        t->line++;
        DIS_TRY(parse_line(t, at, (size_t)(stop - at)));
        at = lf ? lf + 1 : end;
    }
    if (t->items->n_items == 0) return DIS_OK;
    t->items->n_texts = 1;
    t->items->sentence[t->items->n_sentences] = t->items->n_items;
    return dis__name_list_move(&t->texts, &t->items->texts);
}

dis_status dis__items_read_conll(dis_context *ctx, const char *path, const char *format,
                                 const dis_items_options *options, dis_items *items)
{
    (void)format;
    const char *field = options->n_columns ? options->columns[0] : "1";
    char *stop;
    const unsigned long number = strtoul(field, &stop, 10);
    if (*stop || number == 0 || options->n_columns > 1)
        return dis__fail(DIS_EUSAGE, "tokens of a conll file are one field, given by its number from 1, not \"%s\"",
                         field);
    dis__input in;
    DIS_TRY(dis__input_open(ctx, path, &in));
    reading t = {.in = &in, .field = number - 1, .items = items};
    const dis_status status = dis__input_finish(&in, read_lines(&t));
    dis__name_list_free(&t.texts);
    return status == DIS_OK && items->n_items ? dis__items_set_tasks(ctx, path, options, items->n_items, items)
                                              : status;
}
