/* Pre-tokenizers of tokenizer.json, one row each: they split a text into words, and some change it. Words are ranges of
 * the current text, so most copy nothing. O(n) each. */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "tokens/unicode/unicode.h"
#include <string.h>

/* The words of the step before are done: those in `between` take their position. */
static void swap_words(dis__encode_workspace *b)
{
    const dis__spans words = b->words;
    b->words = b->between;
    b->between = words;
}

static dis_status add_word(dis__encode_workspace *b, size_t start, size_t end)
{
    return start == end ? DIS_OK : dis__spans_add(&b->between, start, end);
}

/* ---- by one class of characters: white space, punctuation, numbers ---- */

/* Cuts at every character of `remove`, which goes, and of `apart`, which becomes a word. */
static dis_status cut_classes(dis__encode_workspace *b, const dis__traced_text *text, uint32_t remove, uint32_t apart)
{
    unsigned char plain[128]; /* ASCII that is neither */
    for (uint32_t c = 0; c < 128; c++) plain[c] = !(dis__char_kind(c) & (remove | apart));
    b->between.n = 0;
    for (size_t w = 0; w < b->words.n; w++) {
        const dis__span word = b->words.span[w];
        size_t begun = word.start, step;
        for (size_t i = word.start; i < word.end; i += step) {
            const unsigned char byte = (unsigned char)text->bytes[i];
            step = 1;
            if (byte < 128 && plain[byte]) continue;
            const uint32_t kind = dis__kind_at(text->bytes + i, &step);
            if (!(kind & (remove | apart))) continue;
            DIS_TRY(add_word(b, begun, i));
            begun = i + step;
            if (!(kind & remove)) DIS_TRY(add_word(b, i, begun));
        }
        DIS_TRY(add_word(b, begun, word.end));
    }
    swap_words(b);
    return DIS_OK;
}

static dis_status cut_bert(const dis__tokenizer_step *s, dis__encode_workspace *b, dis__traced_text **text)
{
    (void)s;
    return cut_classes(b, *text, DIS_IS_SPACE, DIS_IS_PUNCTUATION);
}

static dis_status cut_spaces(const dis__tokenizer_step *s, dis__encode_workspace *b, dis__traced_text **text)
{
    (void)s;
    return cut_classes(b, *text, DIS_IS_SPACE, 0);
}

/* \w+|[^\w\s]+ */
static dis_status cut_whitespace(const dis__tokenizer_step *s, dis__encode_workspace *b, dis__traced_text **text)
{
    (void)s;
    b->between.n = 0;
    for (size_t w = 0; w < b->words.n; w++) {
        const dis__span word = b->words.span[w];
        size_t begun = word.start, step;
        uint32_t before = DIS_IS_SPACE;
        for (size_t i = word.start; i < word.end; i += step) {
            const uint32_t kind = dis__kind_at((*text)->bytes + i, &step);
            const uint32_t sort = kind & DIS_IS_SPACE ? DIS_IS_SPACE : kind & DIS_IS_WORD;
            if (sort == before) continue;
            if (before != DIS_IS_SPACE) DIS_TRY(add_word(b, begun, i));
            begun = i;
            before = sort;
        }
        if (before != DIS_IS_SPACE) DIS_TRY(add_word(b, begun, word.end));
    }
    swap_words(b);
    return DIS_OK;
}

/* ---- by a pattern, with the behaviours of Split ---- */

static dis_status add_piece(dis__encode_workspace *b, size_t start, size_t end, bool match)
{
    DIS_TRY(dis__reserve(&b->matched, &b->matched_room, b->pieces.n, b->pieces.n + 1, sizeof *b->matched));
    b->matched[b->pieces.n] = match;
    return dis__spans_add(&b->pieces, start, end);
}

/* The whole word as pieces that match and pieces that do not. */
static dis_status find_pieces(const dis__tokenizer_step *s, dis__encode_workspace *b, const char *bytes, dis__span word)
{
    const char *text = bytes + word.start;
    const size_t n = word.end - word.start;
    size_t at = 0, start, end;
    b->pieces.n = 0;
    while (dis__pattern_find(&s->pattern, text, n, at, &start, &end)) {
        if (at < start) DIS_TRY(add_piece(b, word.start + at, word.start + start, s->invert));
        DIS_TRY(add_piece(b, word.start + start, word.start + end, !s->invert));
        at = end;
    }
    return at < n ? add_piece(b, word.start + at, word.end, s->invert) : DIS_OK;
}

/* Pieces into words; a match goes with the piece before it, unless that is a match as well. */
static dis_status join_pieces(const dis__tokenizer_step *s, dis__encode_workspace *b)
{
    bool before = false;
    for (size_t i = 0; i < b->pieces.n; i++) {
        const dis__span p = b->pieces.span[i];
        const bool match = b->matched[i], first = i == 0;
        const bool joins = s->behaviour == DIS_SPLIT_CONTIGUOUS ? match == before : match && !before;
        if (!first && joins && b->between.n)
            b->between.span[b->between.n - 1].end = p.end;
        else
            DIS_TRY(add_word(b, p.start, p.end));
        before = match;
    }
    return DIS_OK;
}

/* A match goes with the piece after it, unless that is a match as well. */
static dis_status join_next(dis__encode_workspace *b)
{
    for (size_t i = 0; i < b->pieces.n; i++) {
        const dis__span p = b->pieces.span[i];
        const bool joins = b->matched[i] && i + 1 < b->pieces.n && !b->matched[i + 1];
        DIS_TRY(add_word(b, p.start, joins ? b->pieces.span[i + 1].end : p.end));
        i += joins;
    }
    return DIS_OK;
}

static dis_status cut_pattern(const dis__tokenizer_step *s, dis__encode_workspace *b, dis__traced_text **text)
{
    b->between.n = 0;
    for (size_t w = 0; w < b->words.n; w++) {
        DIS_TRY(find_pieces(s, b, (*text)->bytes, b->words.span[w]));
        if (s->behaviour == DIS_SPLIT_NEXT) {
            DIS_TRY(join_next(b));
        } else if (s->behaviour == DIS_SPLIT_PREVIOUS || s->behaviour == DIS_SPLIT_CONTIGUOUS) {
            DIS_TRY(join_pieces(s, b));
        } else {
            for (size_t i = 0; i < b->pieces.n; i++)
                if (!b->matched[i] || s->behaviour == DIS_SPLIT_ISOLATED)
                    DIS_TRY(add_word(b, b->pieces.span[i].start, b->pieces.span[i].end));
        }
    }
    swap_words(b);
    return DIS_OK;
}

static dis_status read_split(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    DIS_TRY(dis__field_bool(r, v, "invert", false, &s->invert));
    DIS_TRY(dis__field_split(r, v, s));
    return dis__pattern_read(r, v, &s->pattern);
}

static size_t match_one(const dis__pattern *p, const char *text, size_t n)
{
    size_t step;
    (void)n;
    return dis__kind_at(text, &step) & p->flags ? step : 0;
}

static dis_status read_punctuation(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    s->behaviour = DIS_SPLIT_ISOLATED;
    s->pattern = (dis__pattern){.match = match_one, .flags = DIS_IS_PUNCTUATION};
    return dis__json_member(v, "behavior") ? dis__field_split(r, v, s) : DIS_OK;
}

static dis_status read_digits(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    bool each;
    DIS_TRY(dis__field_bool(r, v, "individual_digits", false, &each));
    s->behaviour = each ? DIS_SPLIT_ISOLATED : DIS_SPLIT_CONTIGUOUS;
    s->pattern = (dis__pattern){.match = match_one, .flags = DIS_IS_NUMERIC};
    return DIS_OK;
}

/* ---- those that change the text ---- */

/* The other one of the two texts that pre-tokenizers work in, empty. */
static dis_status begin_next(dis__encode_workspace *b, const dis__traced_text *text, dis__traced_text **next)
{
    *next = text == &b->text[2] ? &b->text[3] : &b->text[2];
    return dis__traced_text_begin(*next, text->n + 16, text->traced);
}

static dis_status read_metaspace(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    const dis__json_value *scheme = dis__json_member(v, "prepend_scheme");
    bool space;
    DIS_TRY(dis__field_text(r, v, "replacement", true, &s->text, &s->n_text));
    if (s->n_text == 0 || dis__utf8_step(*s->text) != s->n_text)
        return dis__json_fail(&r->json, v, "replacement must be one character");
    DIS_TRY(dis__field_bool(r, v, "split", true, &s->split));
    DIS_TRY(dis__field_bool(r, v, "add_prefix_space", true, &space));
    s->first = scheme && dis__json_equals(scheme, "first");
    s->always = !scheme || dis__json_equals(scheme, "always");
    if (!s->first && !s->always && !dis__json_equals(scheme, "never"))
        return dis__json_fail(&r->json, scheme, "prepend_scheme must be always, first or never");
    if (!space && scheme && (s->first || s->always))
        return dis__json_fail(&r->json, scheme, "prepend_scheme does not match add_prefix_space false");
    if (!space) s->first = s->always = false;
    r->t->origins |= s->first;
    return DIS_OK;
}

/* Spaces become the replacement, each of which begins a word. */
static dis_status metaspace_word(const dis__tokenizer_step *s, dis__encode_workspace *b, const dis__traced_text *in,
                                 dis__span word, dis__traced_text *out)
{
    size_t begun = out->n;
    const bool has = word.end - word.start >= s->n_text && memcmp(in->bytes + word.start, s->text, s->n_text) == 0;
    const bool begins = has || in->bytes[word.start] == ' ';
    const uint32_t from = dis__traced_text_from(in, word.start), to = dis__traced_text_to(in, word.start);
    if (!begins && (s->always || (s->first && from == 0)))
        DIS_TRY(dis__traced_text_append(out, s->text, s->n_text, from, to));
    for (size_t i = word.start; i < word.end;) {
        const bool space = in->bytes[i] == ' ';
        const bool mark = space || (word.end - i >= s->n_text && memcmp(in->bytes + i, s->text, s->n_text) == 0);
        if (mark && s->split && out->n > begun) {
            DIS_TRY(add_word(b, begun, out->n));
            begun = out->n;
        }
        size_t end = i + (mark ? space ? 1 : s->n_text : 1);
        if (!mark) /* up to the next one */
            while (end < word.end && in->bytes[end] != ' ' && in->bytes[end] != *s->text) end++;
        if (space)
            DIS_TRY(dis__traced_text_append(out, s->text, s->n_text, dis__traced_text_from(in, i),
                                            dis__traced_text_to(in, i)));
        else
            DIS_TRY(dis__traced_text_append_range(out, in, i, end));
        i = end;
    }
    return add_word(b, begun, out->n);
}

static dis_status cut_metaspace(const dis__tokenizer_step *s, dis__encode_workspace *b, dis__traced_text **text)
{
    dis__traced_text *out;
    DIS_TRY(begin_next(b, *text, &out));
    b->between.n = 0;
    for (size_t w = 0; w < b->words.n; w++) DIS_TRY(metaspace_word(s, b, *text, b->words.span[w], out));
    *text = out;
    swap_words(b);
    return DIS_OK;
}

static dis_status read_byte_level(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    bool trim; /* the post-processor's */
    DIS_TRY(dis__field_bool(r, v, "add_prefix_space", true, &s->prefix_space));
    DIS_TRY(dis__field_bool(r, v, "trim_offsets", true, &trim));
    DIS_TRY(dis__field_bool(r, v, "use_regex", true, &s->use_regex));
    dis__tokenizer_step_set_gpt2(s);
    return DIS_OK;
}

/* Bytes stay bytes: the model knows the letters that stand for them. */
static dis_status cut_byte_level(const dis__tokenizer_step *s, dis__encode_workspace *b, dis__traced_text **text)
{
    if (s->prefix_space || b->spaced) {
        dis__traced_text *out;
        DIS_TRY(begin_next(b, *text, &out));
        for (size_t w = 0; w < b->words.n; w++) {
            dis__span *word = &b->words.span[w];
            const size_t start = out->n;
            if ((*text)->bytes[word->start] != ' ')
                DIS_TRY(dis__traced_text_append(out, " ", 1, dis__traced_text_from(*text, word->start),
                                                dis__traced_text_to(*text, word->start)));
            DIS_TRY(dis__traced_text_append_range(out, *text, word->start, word->end));
            *word = (dis__span){start, out->n};
        }
        *text = out;
    }
    return s->use_regex ? cut_pattern(s, b, text) : DIS_OK;
}

static const dis__tokenizer_step_kind kinds[] = {
    {.name = "BertPreTokenizer", .fields = "", .cut = cut_bert},
    {.name = "ByteLevel",
     .fields = "add_prefix_space trim_offsets use_regex",
     .read = read_byte_level,
     .cut = cut_byte_level},
    {.name = "Whitespace", .fields = "", .cut = cut_whitespace},
    {.name = "WhitespaceSplit", .fields = "", .cut = cut_spaces},
    {.name = "Punctuation", .fields = "behavior", .read = read_punctuation, .cut = cut_pattern},
    {.name = "Digits", .fields = "individual_digits", .read = read_digits, .cut = cut_pattern},
    {.name = "Split", .fields = "pattern behavior invert", .read = read_split, .cut = cut_pattern},
    {.name = "Metaspace",
     .fields = "replacement add_prefix_space prepend_scheme split str_rep",
     .read = read_metaspace,
     .cut = cut_metaspace},
};

const dis__tokenizer_step_kind *dis__pre_tokenizer_find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == n && memcmp(kinds[i].name, name, n) == 0) return &kinds[i];
    return NULL;
}
