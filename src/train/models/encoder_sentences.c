/* Sentences of words as tokens of an encoder. A sentence that is longer than the encoder takes is read in as few pieces
 * as it needs, of like size, cut between words: every word is judged from what stands around it in its piece, and none
 * is lost. A word of more tokens than a piece has room for loses its end. O(tokens), twice where something is cut. */
#include "train/models/encoder_model.h"
#include <string.h>

typedef struct {
    dis_context *ctx;
    const dis_tokenizer *t;
    const char **word;
    size_t *length, *start; /* bytes of words; the first word of each sentence, or piece */
    size_t n_words, n;
} sentences;

static dis_status encode(const sentences *s, const dis_tokenizer_options *o, dis_tokens **out)
{
    return dis_tokenizer_encode_words(s->ctx, s->t, s->word, s->length, s->start, s->n, o, out);
}

/* Tokens around a sentence. */
static dis_status count_special(const sentences *s, const dis_tokenizer_options *o, size_t *out)
{
    dis_tokens *none;
    const size_t start[2] = {0, 0};
    DIS_TRY(dis_tokenizer_encode_words(s->ctx, s->t, s->word, s->length, start, 1, o, &none));
    *out = dis_tokens_get_view(none).text_start[1];
    dis_tokens_destroy(none);
    return DIS_OK;
}

static bool any_cut(const sentences *s, const dis_tokens_view *v, size_t max)
{
    for (size_t i = 0; i < s->n; i++)
        if (v->text_start[i + 1] - v->text_start[i] >= max) return true;
    return false;
}

/* Tokens of each word, without a limit. */
static dis_status count_tokens(const sentences *s, const dis_tokenizer_options *o, size_t *count)
{
    dis_tokenizer_options all = *o;
    dis_tokens *tokens;
    all.max_length = SIZE_MAX;
    all.no_special_tokens = true;
    DIS_TRY(encode(s, &all, &tokens));
    const dis_tokens_view v = dis_tokens_get_view(tokens);
    for (size_t i = s->n; i-- > 0;) {
        size_t end = v.text_start[i + 1];
        for (size_t w = s->start[i + 1]; w-- > s->start[i];) {
            const size_t first = v.first_token[w];
            count[w] = first == SIZE_MAX ? 0 : end - first;
            if (first != SIZE_MAX) end = first;
        }
    }
    dis_tokens_destroy(tokens);
    return DIS_OK;
}

/* The pieces of words [first, last), after the n that exist; returns how many there are then. */
static size_t cut(const size_t *count, size_t first, size_t last, size_t room, size_t *piece, size_t n)
{
    size_t total = 0, held = 0;
    for (size_t w = first; w < last; w++) total += count[w] < room ? count[w] : room;
    const size_t n_pieces = total > room ? (total + room - 1) / room : 1, wanted = (total + n_pieces - 1) / n_pieces;
    piece[n++] = first;
    for (size_t w = first; w < last; w++) {
        const size_t more = count[w] < room ? count[w] : room;
        if (held && (held >= wanted || held + more > room)) {
            piece[n++] = w;
            held = 0;
        }
        held += more;
    }
    return n;
}

/* Sentences become pieces: no more than there are words, and empty sentences. */
static dis_status cut_all(sentences *s, const dis_tokenizer_options *o)
{
    size_t special, *count = NULL, *piece = NULL, n = 0;
    DIS_TRY(count_special(s, o, &special));
    if (o->max_length <= special)
        return dis__fail(DIS_EUSAGE, "max-length=%zu leaves no room for words in addition to %zu special tokens",
                         o->max_length, special);
    dis_status status = dis__alloc_array(&count, s->n_words, sizeof *count);
    if (status == DIS_OK)
        status = dis__alloc_array(&piece, dis__saturating_size(1, s->n_words, s->n + 1), sizeof *piece);
    if (status == DIS_OK) status = count_tokens(s, o, count);
    if (status == DIS_OK) {
        const size_t room = o->max_length - special;
        for (size_t i = 0; i < s->n; i++) n = cut(count, s->start[i], s->start[i + 1], room, piece, n);
        piece[n] = s->n_words;
        dis__free(s->start);
        s->start = piece;
        s->n = n;
        piece = NULL;
    }
    dis__free(count);
    dis__free(piece);
    return status;
}

static dis_status gather_words(sentences *s, const dis_items_view *items)
{
    s->n_words = items->n_items;
    s->n = items->n_sentences;
    DIS_TRY(dis__alloc_array(&s->word, s->n_words, sizeof *s->word));
    DIS_TRY(dis__alloc_array(&s->length, s->n_words, sizeof *s->length));
    DIS_TRY(dis__alloc_array(&s->start, s->n + 1, sizeof *s->start));
    for (size_t i = 0; i < s->n_words; i++) s->word[i] = dis_names_get(items->texts, i, &s->length[i]);
    for (size_t i = 0; i <= s->n; i++) s->start[i] = (size_t)items->sentence[i];
    return DIS_OK;
}

static dis_status encode_all(sentences *s, const dis_tokenizer_options *o, dis_tokens **out)
{
    dis_tokens *tokens;
    DIS_TRY(encode(s, o, &tokens));
    const dis_tokens_view v = dis_tokens_get_view(tokens);
    if (any_cut(s, &v, o->max_length)) {
        dis_tokens_destroy(tokens);
        DIS_TRY(cut_all(s, o));
        DIS_TRY(encode(s, o, &tokens));
    }
    *out = tokens;
    return DIS_OK;
}

static dis_status gather_units(const sentences *s, uint64_t **unit)
{
    DIS_TRY(dis__alloc_array(unit, s->n + 1, sizeof **unit));
    for (size_t i = 0; i <= s->n; i++) (*unit)[i] = s->start[i];
    return DIS_OK;
}

dis_status dis__encode_words(dis_context *ctx, const dis_tokenizer *t, const dis_items_view *items,
                             const dis_tokenizer_options *o, dis_tokens **tokens, uint64_t **unit, size_t *n_units)
{
    sentences s = {.ctx = ctx, .t = t};
    dis_tokens *encoded = NULL;
    dis_status status = gather_words(&s, items);
    if (status == DIS_OK) status = encode_all(&s, o, &encoded);
    if (status == DIS_OK) status = gather_units(&s, unit);
    *n_units = s.n;
    dis__free(s.word);
    dis__free(s.length);
    dis__free(s.start);
    if (status == DIS_OK)
        *tokens = encoded;
    else
        dis_tokens_destroy(encoded);
    return status;
}
