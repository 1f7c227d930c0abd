/* One text into tokens: added tokens are cut out, what is left is normalised, cut into words, and each word is given to
 * the model, unless it was met before: the cache has the tokens of words of up to 24 bytes by a hash of their bytes.
 * Texts go through in O(n) but for what normal forms and BPE's heap take, O(n log n). */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "tokens/unicode/unicode.h"
#include <string.h>

dis_status dis__spans_add(dis__spans *spans, size_t start, size_t end)
{
    if (spans->n == spans->room)
        DIS_TRY(dis__reserve(&spans->span, &spans->room, spans->n, spans->n + 1, sizeof *spans->span));
    spans->span[spans->n++] = (dis__span){start, end};
    return DIS_OK;
}

static dis_status sink_reserve(dis__token_list *sink, size_t need)
{
    if (need <= sink->room) return DIS_OK;
    size_t room[3] = {sink->room, sink->room, sink->room};
    DIS_TRY(dis__reserve(&sink->id, &room[0], sink->n, need, sizeof *sink->id));
    DIS_TRY(dis__reserve(&sink->from, &room[1], sink->n, need, sizeof *sink->from));
    DIS_TRY(dis__reserve(&sink->to, &room[2], sink->n, need, sizeof *sink->to));
    sink->room = room[0]; /* all three grow alike */
    return DIS_OK;
}

dis_status dis__token_list_add(dis__token_list *sink, int32_t id, size_t from, size_t to)
{
    DIS_TRY(sink_reserve(sink, sink->n + 1));
    sink->id[sink->n] = id;
    sink->from[sink->n] = (uint32_t)from;
    sink->to[sink->n++] = (uint32_t)to;
    return DIS_OK;
}

/* ---- words ---- */

/* The first n <= 24 bytes of a word as three numbers; those behind are 0. Reads 24 bytes. */
static void load_key(const char *word, size_t n, uint64_t key[3])
{
    memcpy(key, word, DIS_CACHE_KEY);
    for (size_t i = 0; i < 3; i++) {
        const size_t have = n > 8 * i ? n - 8 * i : 0;
        if (have < 8) key[i] &= have ? UINT64_MAX >> (64 - 8 * have) : 0;
    }
}

static dis__cached_word *slot_of(const dis__encode_workspace *b, const uint64_t key[3], size_t n)
{
    uint64_t h = (key[0] ^ n) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29 ^ key[1]) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 32 ^ key[2]) * 0x94d049bb133111ebu;
    return &b->cache[(h ^ h >> 31) & (DIS_CACHE_SLOTS - 1)];
}

static bool same_key(const dis__cached_word *c, const uint64_t key[3], size_t n)
{
    uint64_t have[3];
    memcpy(have, c->key, sizeof have);
    return c->length == n && have[0] == key[0] && have[1] == key[1] && have[2] == key[2];
}

static dis_status cached_word(const dis__model *m, dis__encode_workspace *b, const char *word, size_t n,
                              dis__token_list *out)
{
    uint64_t key[3];
    load_key(word, n, key);
    dis__cached_word *c = slot_of(b, key, n);
    if (same_key(c, key, n)) {
        DIS_TRY(sink_reserve(out, out->n + DIS_CACHE_IDS));
        memcpy(out->id + out->n, c->id, sizeof c->id);
        out->n += c->n;
        return DIS_OK;
    }
    const size_t before = out->n;
    DIS_TRY(m->kind->encode(m, b, word, n, out));
    const size_t n_ids = out->n - before;
    if (n_ids > DIS_CACHE_IDS) return DIS_OK;
    memcpy(c->key, key, sizeof key);
    c->length = (uint8_t)n;
    c->n = (uint8_t)n_ids;
    memcpy(c->id, out->id + before, n_ids * sizeof *c->id);
    return DIS_OK;
}

/* The position of text[i .. i + step), in bytes: a space that was put before a word stands for the character after
 * it. */
static size_t width(const dis__traced_text *text, size_t i)
{
    return text->traced ? text->to[i] - text->from[i] : 0;
}

/* Spelt in bytes, no space but the plain one looks like one. */
static bool trims(bool bytes, const char *c, size_t *step)
{
    return dis__kind_at(c, step) & DIS_IS_SPACE && (!bytes || *c == ' ');
}

/* Takes spaces at both ends out of the position of a token, text[start .. end), as post-processors with trim_offsets
 * do. */
static void trim(const dis_tokenizer *t, const dis__encode_workspace *b, const dis__traced_text *text, dis__span token,
                 bool bytes, bool first, uint32_t *from, uint32_t *to)
{
    size_t left = 0, n_left = 0, right = 0, step;
    for (size_t i = token.start; i < token.end && trims(bytes, text->bytes + i, &step); i += step, n_left++)
        left += width(text, i);
    for (size_t end = token.end; end > token.start;) {
        end = dis__char_before(text->bytes, end);
        if (!trims(bytes, text->bytes + end, &step)) break;
        right += width(text, end);
    }
    if (n_left == 1 && (first || *from == 0) && (t->templates.trim_prefix || b->spaced)) left = 0;
    *from = *from + left < *to ? (uint32_t)(*from + left) : *to;
    if (*to >= right) *to = *to - right > *from ? (uint32_t)(*to - right) : *from;
}

/* The positions of tokens before .. out->n, from bytes of the word to bytes of the caller's text. */
static void place_tokens(const dis_tokenizer *t, const dis__encode_workspace *b, const dis__traced_text *text,
                         dis__span word, size_t before, dis__token_list *out)
{
    size_t last_start = SIZE_MAX, last_end = 0;
    for (size_t i = before; i < out->n; i++) {
        const size_t start = word.start + out->from[i], end = word.start + out->to[i];
        if (start == last_start && end == last_end && i - 1 != b->begun) { /* bytes of one character, say */
            out->from[i] = out->from[i - 1];
            out->to[i] = out->to[i - 1];
            continue;
        }
        last_start = start;
        last_end = end;
        out->from[i] = dis__traced_text_from(text, start);
        out->to[i] = dis__traced_text_to(text, end > start ? end - 1 : start);
        if (t->templates.trim && end > start)
            trim(t, b, text, (dis__span){start, end}, t->model.byte_level, i == b->begun, &out->from[i], &out->to[i]);
    }
}

static dis_status encode_word(const dis_tokenizer *t, dis__encode_workspace *b, const dis__traced_text *text,
                              dis__span word, dis__token_list *out)
{
    const dis__model *m = &t->model;
    const size_t n = word.end - word.start, before = out->n;
    const char *bytes = text->bytes + word.start;
    if (b->traced) {
        DIS_TRY(m->kind->encode(m, b, bytes, n, out));
        place_tokens(t, b, text, word, before, out);
    } else if (n <= DIS_CACHE_KEY) {
        DIS_TRY(cached_word(m, b, bytes, n, out));
    } else {
        DIS_TRY(m->kind->encode(m, b, bytes, n, out));
    }
    b->full = b->limit && out->n - b->begun >= b->limit;
    return DIS_OK;
}

/* ---- texts ---- */

void dis__encode_workspace_set_limit(dis__encode_workspace *b, size_t n)
{
    const size_t most = n > DIS_TOKEN_TEXT_MAX / DIS_TOKEN_GROWTH ? DIS_TOKEN_TEXT_MAX : DIS_TOKEN_GROWTH * n;
    b->grown = 0;
    b->allowed = most > DIS_TOKEN_TEXT_MAX - DIS_TOKEN_SLACK ? DIS_TOKEN_TEXT_MAX : most + DIS_TOKEN_SLACK;
    for (size_t i = 0; i < sizeof b->text / sizeof *b->text; i++) b->text[i].max = b->allowed;
}

/* DIS_ELIMIT: the text grows too much; names the step that did it. */
static dis_status too_long(const dis_tokenizer *t, const dis__encode_workspace *b, const char *what, size_t i,
                           const char *kind)
{
    return dis__fail(DIS_ELIMIT,
                     "%s: %s %zu (%s) expands to more than %zu bytes; at most %d times its bytes and %d more are "
                     "possible",
                     t->path ? t->path : "tokenizer.json", what, i + 1, kind, b->allowed, DIS_TOKEN_GROWTH,
                     DIS_TOKEN_SLACK);
}

dis_status dis__normalise(const dis_tokenizer *t, dis__encode_workspace *b, dis__traced_text **text)
{
    for (size_t i = 0; i < t->normalisers.n; i++) {
        const dis__tokenizer_step *step = &t->normalisers.step[i];
        dis__traced_text *next = *text == &b->text[0] ? &b->text[1] : &b->text[0];
        const dis_status status = step->kind->normalise(step, b, *text, next);
        if (status != DIS_OK) return next->over ? too_long(t, b, "normalizer", i, step->kind->name) : status;
        *text = next;
    }
    return DIS_OK;
}

static dis_status encode_words(const dis_tokenizer *t, dis__encode_workspace *b, dis__traced_text *text, size_t start,
                               size_t end, dis__token_list *out)
{
    if (start == end) return DIS_OK;
    b->words.n = 0;
    DIS_TRY(dis__spans_add(&b->words, start, end));
    for (size_t i = 0; i < t->pre_tokenizers.n; i++) {
        const dis__tokenizer_step *step = &t->pre_tokenizers.step[i];
        const dis_status status = step->kind->cut(step, b, &text);
        if (status != DIS_OK)
            return b->text[2].over || b->text[3].over ? too_long(t, b, "pre_tokenizer", i, step->kind->name) : status;
    }
    for (size_t i = 0; i < b->words.n && !b->full; i++) DIS_TRY(encode_word(t, b, text, b->words.span[i], out));
    return DIS_OK;
}

/* A copy in which each byte knows its character's position. */
static dis_status load(dis__encode_workspace *b, const char *bytes, size_t n, size_t place, bool traced)
{
    dis__traced_text *text = &b->text[0];
    DIS_TRY(dis__traced_text_begin(text, n, traced));
    if (!traced) return dis__traced_text_append(text, bytes, n, 0, 0);
    for (size_t i = 0, step; i < n; i += step) {
        step = dis__utf8_step(bytes[i]);
        DIS_TRY(dis__traced_text_append(text, bytes + i, step, (uint32_t)(place + i), (uint32_t)(place + i + step)));
    }
    return DIS_OK;
}

/* An added token that is text[start .. end). */
static dis_status add_added(const dis_tokenizer *t, const dis__encode_workspace *b, const dis__added *token,
                            const dis__traced_text *text, size_t start, size_t end, dis__token_list *out)
{
    uint32_t from = dis__traced_text_from(text, start), to = dis__traced_text_to(text, end - 1);
    if (b->traced && t->templates.trim)
        trim(t, b, text, (dis__span){start, end}, false, out->n == b->begun, &from, &to);
    return dis__token_list_add(out, token->id, from, to);
}

/* What stands between added tokens: `place` bytes before it in the caller's text. */
static dis_status encode_piece(const dis_tokenizer *t, dis__encode_workspace *b, const char *bytes, size_t n,
                               size_t place, dis__token_list *out)
{
    DIS_TRY(load(b, bytes, n, place, b->traced || t->origins));
    dis__traced_text *text = &b->text[0];
    DIS_TRY(dis__normalise(t, b, &text));
    b->grown += text->n;
    const size_t last = t->normalisers.n - 1;
    if (t->normalisers.n && b->grown > b->allowed)
        return too_long(t, b, "normalizer", last, t->normalisers.step[last].kind->name);
    dis__added_match m = {0};
    size_t consumed = 0;
    while (!b->full) {
        DIS_TRY(dis__added_next(&t->added, b, true, text->bytes, text->n, consumed, &m));
        if (!m.token) break;
        if (consumed < m.start) DIS_TRY(encode_words(t, b, text, consumed, m.start, out));
        if (b->full) return DIS_OK;
        DIS_TRY(add_added(t, b, m.token, text, m.start, m.end, out));
        consumed = m.end;
    }
    return b->full || consumed >= text->n ? DIS_OK : encode_words(t, b, text, consumed, text->n, out);
}

dis_status dis__encode_text(const dis_tokenizer *t, dis__encode_workspace *b, const char *text, size_t n,
                            dis__token_list *out)
{
    dis__added_match m = {0};
    size_t consumed = 0;
    b->begun = out->n;
    b->full = false;
    dis__encode_workspace_set_limit(b, n);
    while (!b->full) {
        DIS_TRY(dis__added_next(&t->added, b, false, text, n, consumed, &m));
        if (!m.token) break;
        if (consumed < m.start) DIS_TRY(encode_piece(t, b, text + consumed, m.start - consumed, consumed, out));
        if (b->full) return DIS_OK;
        if (b->traced) DIS_TRY(load(b, text + m.start, m.end - m.start, m.start, true));
        if (b->traced)
            DIS_TRY(add_added(t, b, m.token, &b->text[0], 0, m.end - m.start, out));
        else
            DIS_TRY(dis__token_list_add(out, m.token->id, 0, 0));
        consumed = m.end;
    }
    return b->full || consumed >= n ? DIS_OK : encode_piece(t, b, text + consumed, n - consumed, consumed, out);
}

/* ---- benches ---- */

dis_status dis__encode_workspace_create(dis__encode_workspace **out)
{
    dis__encode_workspace *b;
    DIS_TRY(dis__alloc_zeroed(&b, 1, sizeof *b));
    const dis_status status = dis__alloc_zeroed(&b->cache, DIS_CACHE_SLOTS, sizeof *b->cache);
    if (status != DIS_OK) {
        dis__free(b);
        return status;
    }
    *out = b;
    return DIS_OK;
}

void dis__encode_workspace_free(dis__encode_workspace *b)
{
    if (!b) return;
    for (size_t i = 0; i < sizeof b->text / sizeof *b->text; i++) dis__traced_text_free(&b->text[i]);
    for (size_t i = 0; i < 2; i++) {
        dis__free(b->out[i].id);
        dis__free(b->out[i].from);
        dis__free(b->out[i].to);
    }
    dis__free(b->words.span);
    dis__free(b->between.span);
    dis__free(b->pieces.span);
    dis__free(b->matched);
    dis__free(b->point);
    dis__free(b->source);
    dis__free(b->work);
    dis__free(b->word_at);
    dis__free(b->cache);
    for (size_t i = 0; i < 2; i++) dis__free(b->longest[i]);
    dis__free(b);
}
