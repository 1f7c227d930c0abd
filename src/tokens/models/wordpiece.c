/* WordPiece (Schuster and Nakajima 2012, as BERT does it): a word's longest beginning in the vocabulary, then the
 * longest continuation of what is left, and so on; a word that cannot be put together so is one unknown token.
 *
 * Tokens that continue a word have a trie of their own, without their prefix. O(n * longest token). */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "tokens/unicode/unicode.h"
#include <string.h>

static dis_status put_unknown(const dis__model *m, size_t n, size_t before, dis__token_list *out)
{
    out->n = before;
    return dis__token_list_add(out, m->unknown, 0, n);
}

static bool too_long(const dis__model *m, const char *word, size_t n)
{
    size_t chars = 0;
    if (n <= m->max_chars) return false;
    for (size_t i = 0; i < n; i++) chars += ((unsigned char)word[i] & 0xc0) != 0x80;
    return chars > m->max_chars;
}

static dis_status encode(const dis__model *m, dis__encode_workspace *b, const char *word, size_t n,
                         dis__token_list *out)
{
    (void)b;
    const size_t before = out->n;
    if (too_long(m, word, n)) return put_unknown(m, n, before, out);
    for (size_t at = 0, length; at < n; at += length) {
        length = 0;
        const uint32_t id = dis__trie_longest(at ? &m->inner : &m->vocabulary, word + at, n - at, &length);
        if (id == DIS_TRIE_NONE) return put_unknown(m, n, before, out);
        DIS_TRY(dis__token_list_add(out, (int32_t)id, at, at + length));
    }
    return DIS_OK;
}

static dis_status put_inner(dis__model *m, const char *token, size_t n, uint32_t id)
{
    if (n <= m->n_prefix || (m->n_prefix && memcmp(token, m->prefix, m->n_prefix) != 0)) return DIS_OK;
    return dis__trie_put(&m->inner, token + m->n_prefix, n - m->n_prefix, id);
}

dis_status dis__wordpiece_put(dis__model *m, const char *token, size_t n, uint32_t id)
{
    DIS_TRY(dis__trie_put(&m->vocabulary, token, n, id));
    if ((size_t)id >= m->n_ids) m->n_ids = (size_t)id + 1;
    return put_inner(m, token, n, id);
}

static dis_status read_wordpiece(dis__tokenizer_reader *r, const dis__json_value *v, dis__model *m)
{
    const dis__json_value *vocab = dis__json_member(v, "vocab");
    const dis__json_value *max = dis__json_member(v, "max_input_chars_per_word");
    if (max && (max->kind != DIS_JSON_NUMBER || max->number < 0 || max->number > 1e9))
        return dis__json_fail(&r->json, max, "model.max_input_chars_per_word must be a count");
    m->max_chars = max ? (size_t)max->number : 100;
    DIS_TRY(dis__field_text(r, v, "continuing_subword_prefix", false, &m->prefix, &m->n_prefix));
    if (!dis__json_member(v, "continuing_subword_prefix")) {
        DIS_TRY(dis__copy_text(&m->prefix, "##", 2));
        m->n_prefix = 2;
    }
    if (!vocab) return dis__json_fail(&r->json, v, "model.vocab is missing");
    DIS_TRY(dis__vocabulary_read(r, vocab, m, put_inner));
    return dis__unknown_read(r, v, m, true);
}

const dis__model_kind dis__wordpiece_kind = {
    .name = "WordPiece",
    .fields = "unk_token continuing_subword_prefix max_input_chars_per_word vocab",
    .read = read_wordpiece,
    .encode = encode,
};
