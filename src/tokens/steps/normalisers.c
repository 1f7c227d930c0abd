/* Normalisers of tokenizer.json, one row each: what they do to a text, character by character. O(n) each but for the
 * normal forms; texts of ASCII alone take short ways. */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "tokens/unicode/unicode.h"
#include <string.h>

/* ---- Bert ---- */

/* tokenizers counts a gap of the sixth extension in, and misses U+2B820 .. U+2B91F. */
static bool is_chinese(uint32_t c)
{
    static const uint32_t range[][2] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df}, {0x2a700, 0x2b73f},
                                        {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
    if (c < 0x3400) return false;
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (c >= range[i][0] && c <= range[i][1]) return true;
    return false;
}

static dis_status read_bert(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    DIS_TRY(dis__field_bool(r, v, "clean_text", true, &s->clean));
    DIS_TRY(dis__field_bool(r, v, "handle_chinese_chars", true, &s->chinese));
    DIS_TRY(dis__field_bool(r, v, "lowercase", true, &s->lower));
    return dis__field_bool(r, v, "strip_accents", s->lower, &s->accents);
}

/* Bytes below 0x80: what they become, 0: nothing. */
static unsigned char bert_byte(const dis__tokenizer_step *s, unsigned char c)
{
    if (s->clean) {
        if (c == '\t' || c == '\n' || c == '\r') return ' ';
        if (c < 0x20 || c == 0x7f) return 0;
    }
    return s->lower && c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

static dis_status bert_ascii(const dis__tokenizer_step *s, const dis__traced_text *in, dis__traced_text *out)
{
    unsigned char become[128];
    for (unsigned c = 0; c < 128; c++) become[c] = bert_byte(s, (unsigned char)c);
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++) {
        const unsigned char c = become[(unsigned char)in->bytes[i]];
        out->bytes[n] = (char)c;
        if (out->traced) {
            out->from[n] = in->from[i];
            out->to[n] = in->to[i];
        }
        n += c != 0 || !s->clean;
    }
    out->n = n;
    return DIS_OK;
}

/* One character after cleaning, with spaces around where it is Chinese. */
static dis_status bert_char(const dis__tokenizer_step *s, dis__encode_workspace *b, uint32_t c, uint32_t from,
                            uint32_t to)
{
    const dis__parts parts = s->accents ? DIS_PARTS_CANONICAL : DIS_PARTS_NONE;
    if (!s->chinese || !is_chinese(c)) return dis__normal_form_add(b, c, from, to, parts);
    DIS_TRY(dis__normal_form_add(b, ' ', from, to, parts));
    DIS_TRY(dis__normal_form_add(b, c, from, to, parts));
    return dis__normal_form_add(b, ' ', from, to, parts);
}

static dis_status put_lower(dis__traced_text *out, const dis__normal_char *p, bool lower)
{
    DIS_TRY(dis__traced_text_append_char(out, lower ? dis__char_lower(p->c) : p->c, p->from, p->to));
    return lower && p->c == 0x130 ? dis__traced_text_append_char(out, 0x307, p->from, p->to) : DIS_OK;
}

static dis_status bert(const dis__tokenizer_step *s, dis__encode_workspace *b, const dis__traced_text *in,
                       dis__traced_text *out)
{
    DIS_TRY(dis__traced_text_begin(out, in->n, in->traced));
    if (dis__text_is_ascii(in->bytes, in->n)) return bert_ascii(s, in, out);
    dis__normal_form_begin(b);
    for (size_t i = 0, step; i < in->n; i += step) {
        uint32_t c = dis__char_at(in->bytes + i, &step);
        if (s->clean) {
            const uint32_t kind = dis__char_kind(c);
            if (kind & DIS_IS_DROP) continue;
            if (kind & DIS_IS_SPACE) c = ' ';
        }
        DIS_TRY(bert_char(s, b, c, dis__traced_text_from(in, i), dis__traced_text_to(in, i)));
    }
    dis__normal_form_finish(b, false);
    for (size_t i = 0; i < b->n_points; i++) {
        if (s->accents && b->point[i].c >= 0x80 && dis__char_kind(b->point[i].c) & DIS_IS_NONSPACING) continue;
        DIS_TRY(put_lower(out, &b->point[i], s->lower));
    }
    return DIS_OK;
}

/* ---- normal forms ---- */

static dis_status normal_form(const dis__tokenizer_step *s, dis__encode_workspace *b, const dis__traced_text *in,
                              dis__traced_text *out)
{
    DIS_TRY(dis__traced_text_begin(out, in->n, in->traced));
    if (dis__text_is_ascii(in->bytes, in->n)) return dis__traced_text_append_range(out, in, 0, in->n);
    const dis__parts parts = s->compatible ? DIS_PARTS_COMPATIBLE : DIS_PARTS_CANONICAL;
    dis__normal_form_begin(b);
    for (size_t i = 0, step; i < in->n; i += step) {
        const uint32_t c = dis__char_at(in->bytes + i, &step);
        DIS_TRY(dis__normal_form_add(b, c, dis__traced_text_from(in, i), dis__traced_text_to(in, i), parts));
    }
    dis__normal_form_finish(b, s->compose);
    for (size_t i = 0; i < b->n_points; i++)
        DIS_TRY(dis__traced_text_append_char(out, b->point[i].c, b->point[i].from, b->point[i].to));
    return DIS_OK;
}

static dis_status read_nfd(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    (void)r, (void)v, (void)s;
    return DIS_OK;
}

static dis_status read_nfkd(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    (void)r, (void)v;
    s->compatible = true;
    return DIS_OK;
}

static dis_status read_nfc(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    (void)r, (void)v;
    s->compose = true;
    return DIS_OK;
}

static dis_status read_nfkc(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    (void)r, (void)v;
    s->compose = s->compatible = true;
    return DIS_OK;
}

/* ---- the others ---- */

static dis_status lowercase(const dis__tokenizer_step *s, dis__encode_workspace *b, const dis__traced_text *in,
                            dis__traced_text *out)
{
    (void)s, (void)b;
    DIS_TRY(dis__traced_text_begin(out, in->n, in->traced));
    for (size_t i = 0, step; i < in->n; i += step) {
        const uint32_t c = dis__char_at(in->bytes + i, &step);
        DIS_TRY(put_lower(
            out, &(dis__normal_char){.c = c, .from = dis__traced_text_from(in, i), .to = dis__traced_text_to(in, i)},
            true));
    }
    return DIS_OK;
}

static dis_status strip_accents(const dis__tokenizer_step *s, dis__encode_workspace *b, const dis__traced_text *in,
                                dis__traced_text *out)
{
    (void)s, (void)b;
    DIS_TRY(dis__traced_text_begin(out, in->n, in->traced));
    for (size_t i = 0, step; i < in->n; i += step)
        if (!(dis__kind_at(in->bytes + i, &step) & DIS_IS_MARK))
            DIS_TRY(dis__traced_text_append_range(out, in, i, i + step));
    return DIS_OK;
}

static dis_status read_strip(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    DIS_TRY(dis__field_bool(r, v, "strip_left", true, &s->left));
    return dis__field_bool(r, v, "strip_right", true, &s->right);
}

static dis_status strip(const dis__tokenizer_step *s, dis__encode_workspace *b, const dis__traced_text *in,
                        dis__traced_text *out)
{
    (void)b;
    size_t start = 0, end = in->n, step;
    while (s->left && start < end && dis__kind_at(in->bytes + start, &step) & DIS_IS_SPACE) start += step;
    while (s->right && end > start) {
        const size_t before = dis__char_before(in->bytes, end);
        if (!(dis__kind_at(in->bytes + before, &step) & DIS_IS_SPACE)) break;
        end = before;
    }
    DIS_TRY(dis__traced_text_begin(out, end - start, in->traced));
    return dis__traced_text_append_range(out, in, start, end);
}

static dis_status read_prepend(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    DIS_TRY(dis__field_text(r, v, "prepend", true, &s->text, &s->n_text));
    return dis__check_bytes(r, v, "prepend", s->n_text, DIS_TOKEN_STEP_TEXT);
}

static dis_status prepend(const dis__tokenizer_step *s, dis__encode_workspace *b, const dis__traced_text *in,
                          dis__traced_text *out)
{
    (void)b;
    DIS_TRY(dis__traced_text_begin(out, in->n + s->n_text, in->traced));
    if (in->n)
        DIS_TRY(
            dis__traced_text_append(out, s->text, s->n_text, dis__traced_text_from(in, 0), dis__traced_text_to(in, 0)));
    return dis__traced_text_append_range(out, in, 0, in->n);
}

static dis_status read_replace(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    DIS_TRY(dis__field_text(r, v, "content", true, &s->text, &s->n_text));
    DIS_TRY(dis__check_bytes(r, v, "content", s->n_text, DIS_TOKEN_STEP_TEXT));
    return dis__pattern_read(r, v, &s->pattern);
}

static dis_status replace(const dis__tokenizer_step *s, dis__encode_workspace *b, const dis__traced_text *in,
                          dis__traced_text *out)
{
    (void)b;
    DIS_TRY(dis__traced_text_begin(out, in->n, in->traced));
    size_t at = 0, start, end;
    while (dis__pattern_find(&s->pattern, in->bytes, in->n, at, &start, &end)) {
        DIS_TRY(dis__traced_text_append_range(out, in, at, start));
        DIS_TRY(dis__traced_text_append(out, s->text, s->n_text, dis__traced_text_from(in, end - 1),
                                        dis__traced_text_to(in, end - 1)));
        at = end;
    }
    return dis__traced_text_append_range(out, in, at, in->n);
}

/* Nmt of sentencepiece, as tokenizers has it. */
static dis_status nmt(const dis__tokenizer_step *s, dis__encode_workspace *b, const dis__traced_text *in,
                      dis__traced_text *out)
{
    (void)s, (void)b;
    DIS_TRY(dis__traced_text_begin(out, in->n, in->traced));
    for (size_t i = 0, step; i < in->n; i += step) {
        const uint32_t c = dis__char_at(in->bytes + i, &step);
        if ((c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f) continue;
        const bool space = c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == 0x1680 ||
                           (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xfeff ||
                           c == 0xfffd;
        DIS_TRY(dis__traced_text_append_char(out, space ? ' ' : c, dis__traced_text_from(in, i),
                                             dis__traced_text_to(in, i)));
    }
    return DIS_OK;
}

static const dis__tokenizer_step_kind bert_kind = {
    .name = "BertNormalizer",
    .fields = "clean_text handle_chinese_chars strip_accents lowercase",
    .read = read_bert,
    .normalise = bert,
};
static const dis__tokenizer_step_kind kinds[] = {
    {.name = "NFD", .fields = "", .read = read_nfd, .normalise = normal_form},
    {.name = "NFKD", .fields = "", .read = read_nfkd, .normalise = normal_form},
    {.name = "NFC", .fields = "", .read = read_nfc, .normalise = normal_form},
    {.name = "NFKC", .fields = "", .read = read_nfkc, .normalise = normal_form},
    {.name = "Lowercase", .fields = "", .normalise = lowercase},
    {.name = "StripAccents", .fields = "", .normalise = strip_accents},
    {.name = "Strip", .fields = "strip_left strip_right", .read = read_strip, .normalise = strip},
    {.name = "Prepend", .fields = "prepend", .read = read_prepend, .normalise = prepend},
    {.name = "Replace", .fields = "pattern content", .read = read_replace, .normalise = replace},
    {.name = "Nmt", .fields = "", .normalise = nmt},
};

const dis__tokenizer_step_kind *dis__normaliser_find(const char *name, size_t n)
{
    static const dis__tokenizer_step_kind *const apart[] = {&bert_kind, &dis__precompiled_kind};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (strlen(apart[i]->name) == n && memcmp(apart[i]->name, name, n) == 0) return apart[i];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == n && memcmp(kinds[i].name, name, n) == 0) return &kinds[i];
    return NULL;
}
