/* Added tokens: texts that are one token wherever they stand, before anything else looks at them. Of those that begin
 * at the leftmost place the longest is taken. O(n * longest token), and nearly nothing for bytes that no token begins
 * with. */
#include "tokens/token_internal.h"
#include "core/memory.h"
#include "tokens/unicode.h"
#include <string.h>

dis_status dis__added_add(dis__added_tokens *a, const dis__added *token)
{
    dis__added copy = *token;
    if (token->n == 0) return DIS_OK;
    DIS_TRY(dis__copy_text(&copy.text, token->text, token->n));
    for (size_t i = 0; i < a->n; i++)
        if (a->token[i].id == token->id) { /* the later one counts */
            dis__free(a->token[i].text);
            a->token[i] = copy;
            return DIS_OK;
        }
    const dis_status status = dis__reserve(&a->token, &a->room, a->n, a->n + 1, sizeof *a->token);
    if (status != DIS_OK)
        dis__free(copy.text);
    else
        a->token[a->n++] = copy;
    return status;
}

static dis_status put(dis__added_tokens *a, bool normalised, const char *text, size_t n, size_t i)
{
    if (n == 0) return DIS_OK;
    a->first[normalised][(unsigned char)*text] = true;
    return dis__trie_put(normalised ? &a->normalised : &a->raw, text, n, (uint32_t)i);
}

dis_status dis__added_finish(dis_tokenizer *t, dis__bench *b)
{
    dis__added_tokens *a = &t->added;
    for (size_t i = 0; i < a->n; i++) {
        const dis__added *token = &a->token[i];
        if (token->id >= t->n_ids) t->n_ids = token->id + 1;
        if (!token->normalised) {
            DIS_TRY(put(a, false, token->text, token->n, i));
            continue;
        }
        dis__text *text = &b->text[0];
        DIS_TRY(dis__text_begin(text, token->n, false));
        DIS_TRY(dis__text_put(text, token->text, token->n, 0, 0));
        DIS_TRY(dis__normalise(t, b, &text));
        DIS_TRY(put(a, true, text->bytes, text->n, i));
    }
    return DIS_OK;
}

/* Whether a letter or digit stands right before or behind [start, end). */
static bool within_word(const char *text, size_t n, size_t start, size_t end)
{
    size_t step;
    if (start > 0 && dis__kind_at(text + dis__char_before(text, start), &step) & DIS_IS_WORD) return true;
    return end < n && dis__kind_at(text + end, &step) & DIS_IS_WORD;
}

static size_t strip_left(const char *text, size_t start, size_t taken)
{
    size_t step;
    while (start > taken) {
        const size_t before = dis__char_before(text, start);
        if (!(dis__kind_at(text + before, &step) & DIS_IS_SPACE)) break;
        start = before;
    }
    return start > taken ? start : taken;
}

static size_t strip_right(const char *text, size_t n, size_t end)
{
    size_t step;
    while (end < n && dis__kind_at(text + end, &step) & DIS_IS_SPACE) end += step;
    return end;
}

bool dis__added_next(const dis__added_tokens *a, bool normalised, const char *text, size_t n, size_t taken,
                     dis__added_match *m)
{
    const dis__trie *trie = normalised ? &a->normalised : &a->raw;
    if (trie->n_nodes == 0) return false;
    for (const bool *first = a->first[normalised]; m->at < n; m->at++) {
        size_t length = 0;
        if (!first[(unsigned char)text[m->at]]) continue;
        const uint32_t i = dis__trie_longest(trie, text + m->at, n - m->at, &length);
        if (i == DIS_TRIE_NONE) continue;
        m->token = &a->token[i];
        m->start = m->at;
        m->end = m->at += length;
        if (m->token->single_word && within_word(text, n, m->start, m->end)) {
            m->at--;
            continue;
        }
        if (m->token->left) m->start = strip_left(text, m->start, taken);
        if (m->token->right) m->end = strip_right(text, n, m->end);
        return true;
    }
    return false;
}
