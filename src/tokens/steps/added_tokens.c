/* Added tokens: texts that are one token wherever they stand, before anything else looks at them. Of those that begin
 * at the leftmost position the longest is taken (as tokenizers does it).
 *
 * A walk through a trie from each position finds them, at next to no cost for bytes that no token begins with. Long
 * tokens that nearly match could make that text length x token length; after as many steps in vain as 8 times the
 * text's bytes, the longest token at every byte is found at once (added_search.h). So all is O(n). */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "tokens/unicode/unicode.h"
#include <string.h>

/* What is looked for: a token's text, normalised where it is looked for in normalised text. */
struct dis__added_found {
    uint32_t token;
    size_t n;
    char *text;
};

static void id_key(int32_t id, char key[4])
{
    for (int i = 0; i < 4; i++) key[i] = (char)((uint32_t)id >> 8 * i);
}

/* Puts a token that is there already, by its id, anew: the later one counts. */
static dis_status replace(dis__added_tokens *a, uint32_t i, const dis__added *token)
{
    dis__added *old = &a->token[i];
    DIS_TRY(dis__trie_put(&a->by_text, token->text, token->n, i));
    if (dis__trie_get(&a->by_text, old->text, old->n) == i &&
        (old->n != token->n || memcmp(old->text, token->text, old->n) != 0))
        DIS_TRY(dis__trie_put(&a->by_text, old->text, old->n, DIS_TRIE_NONE));
    dis__free(old->text);
    *old = *token;
    return DIS_OK;
}

static dis_status append(dis__added_tokens *a, const dis__added *token, const char key[4])
{
    const uint32_t i = (uint32_t)a->n;
    DIS_TRY(dis__reserve(&a->token, &a->room, a->n, a->n + 1, sizeof *a->token));
    DIS_TRY(dis__trie_put(&a->by_id, key, 4, i));
    if (dis__trie_get(&a->by_text, token->text, token->n) == DIS_TRIE_NONE)
        DIS_TRY(dis__trie_put(&a->by_text, token->text, token->n, i));
    a->token[a->n++] = *token;
    return DIS_OK;
}

dis_status dis__added_add(dis__added_tokens *a, const dis__added *token)
{
    dis__added copy = *token;
    char key[4];
    if (token->n == 0) return DIS_OK;
    DIS_TRY(dis__copy_text(&copy.text, token->text, token->n));
    id_key(token->id, key);
    const uint32_t old = dis__trie_get(&a->by_id, key, 4);
    const dis_status status = old != DIS_TRIE_NONE ? replace(a, old, &copy) : append(a, &copy, key);
    if (status != DIS_OK) dis__free(copy.text);
    return status;
}

static dis_status put(dis__added_tokens *a, bool normalised, const char *text, size_t n, size_t i)
{
    if (n == 0) return DIS_OK;
    struct dis__added_found found = {.token = (uint32_t)i, .n = n};
    DIS_TRY(dis__copy_text(&found.text, text, n));
    a->found[normalised][a->n_found[normalised]++] = found;
    a->first[normalised][(unsigned char)*text] = true;
    return dis__trie_put(&a->trie[normalised], text, n, (uint32_t)i);
}

/* The automaton, where a token is long enough for it to matter. */
static dis_status build_search(dis__added_tokens *a, bool normalised)
{
    const size_t n = a->n_found[normalised];
    const struct dis__added_found *found = a->found[normalised];
    size_t max = 0, *length;
    const char **text;
    for (size_t i = 0; i < n; i++) max = found[i].n > max ? found[i].n : max;
    if (max <= DIS_TOKEN_SHORT) return DIS_OK;
    DIS_TRY(dis__alloc_array(&length, n, sizeof *length));
    dis_status status = dis__alloc_array(&text, n, sizeof *text);
    if (status == DIS_OK) {
        for (size_t i = 0; i < n; i++) {
            text[i] = found[i].text;
            length[i] = found[i].n;
        }
        status = dis__added_search_build(&a->search[normalised], text, length, n);
        dis__free(text);
    }
    dis__free(length);
    return status;
}

static dis_status put_normalised(dis_tokenizer *t, dis__encode_workspace *b, size_t i)
{
    const dis__added *token = &t->added.token[i];
    dis__traced_text *text = &b->text[0];
    dis__encode_workspace_set_limit(b, token->n);
    DIS_TRY(dis__traced_text_begin(text, token->n, false));
    DIS_TRY(dis__traced_text_append(text, token->text, token->n, 0, 0));
    DIS_TRY(dis__normalise(t, b, &text));
    return put(&t->added, true, text->bytes, text->n, i);
}

dis_status dis__added_finish(dis_tokenizer *t, dis__encode_workspace *b)
{
    dis__added_tokens *a = &t->added;
    for (int k = 0; k < 2; k++) DIS_TRY(dis__alloc_zeroed(&a->found[k], a->n, sizeof *a->found[k]));
    for (size_t i = 0; i < a->n; i++) {
        const dis__added *token = &a->token[i];
        if (token->id >= t->n_ids) t->n_ids = token->id + 1;
        DIS_TRY(token->normalised ? put_normalised(t, b, i) : put(a, false, token->text, token->n, i));
    }
    DIS_TRY(build_search(a, false));
    return build_search(a, true);
}

void dis__added_free(dis__added_tokens *a)
{
    for (size_t i = 0; i < a->n; i++) dis__free(a->token[i].text);
    dis__free(a->token);
    dis__trie_free(&a->by_id);
    dis__trie_free(&a->by_text);
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < a->n_found[k]; i++) dis__free(a->found[k][i].text);
        dis__free(a->found[k]);
        dis__trie_free(&a->trie[k]);
        dis__added_search_free(&a->search[k]);
    }
}

/* Whether a letter or digit stands right before or behind [start, end). */
static bool within_word(const char *text, size_t n, size_t start, size_t end)
{
    size_t step;
    if (start > 0 && dis__kind_at(text + dis__char_before(text, start), &step) & DIS_IS_WORD) return true;
    return end < n && dis__kind_at(text + end, &step) & DIS_IS_WORD;
}

static size_t strip_left(const char *text, size_t start, size_t consumed)
{
    size_t step;
    while (start > consumed) {
        const size_t before = dis__char_before(text, start);
        if (!(dis__kind_at(text + before, &step) & DIS_IS_SPACE)) break;
        start = before;
    }
    return start > consumed ? start : consumed;
}

static size_t strip_right(const char *text, size_t n, size_t end)
{
    size_t step;
    while (end < n && dis__kind_at(text + end, &step) & DIS_IS_SPACE) end += step;
    return end;
}

/* The longest token at text[m->at], by a walk: its index; *length: its bytes. */
static uint32_t walk(const dis__trie *trie, const char *text, size_t n, dis__added_match *m, size_t *length)
{
    uint32_t node = 0, token = DIS_TRIE_NONE;
    size_t i = m->at;
    for (; i < n && (node = dis__trie_step(trie, node, text[i])); i++)
        if (trie->value[node] != DIS_TRIE_NONE) {
            token = trie->value[node];
            *length = i + 1 - m->at;
        }
    m->wasted += i - m->at - *length;
    return token;
}

/* Too many steps in vain: the tokens at all bytes at once. */
static dis_status search_all(const dis__added_tokens *a, dis__encode_workspace *b, bool normalised, const char *text,
                             size_t n, dis__added_match *m)
{
    DIS_TRY(dis__reserve(&b->longest[normalised], &b->longest_room[normalised], 0, n, sizeof *b->longest[normalised]));
    dis__added_search_run(&a->search[normalised], text, n, b->longest[normalised]);
    m->longest = b->longest[normalised];
    return DIS_OK;
}

static uint32_t token_at(const dis__added_tokens *a, bool normalised, const char *text, size_t n, dis__added_match *m,
                         size_t *length)
{
    if (!m->longest) return walk(&a->trie[normalised], text, n, m, length);
    if (m->longest[m->at] == DIS_TRIE_NONE) return DIS_TRIE_NONE;
    const struct dis__added_found *found = &a->found[normalised][m->longest[m->at]];
    *length = found->n;
    return found->token;
}

dis_status dis__added_next(const dis__added_tokens *a, dis__encode_workspace *b, bool normalised, const char *text,
                           size_t n, size_t consumed, dis__added_match *m)
{
    const bool *first = a->first[normalised], may_search = a->search[normalised].fail != NULL;
    m->token = NULL;
    if (a->n_found[normalised] == 0) return DIS_OK;
    for (; m->at < n; m->at++) {
        size_t length = 0;
        if (!first[(unsigned char)text[m->at]]) continue;
        if (may_search && !m->longest && m->wasted / DIS_TOKEN_WASTED_STEPS > n)
            DIS_TRY(search_all(a, b, normalised, text, n, m));
        const uint32_t i = token_at(a, normalised, text, n, m, &length);
        if (i == DIS_TRIE_NONE) continue;
        const dis__added *token = &a->token[i];
        m->start = m->at;
        m->end = m->at += length;
        if (token->single_word && within_word(text, n, m->start, m->end)) {
            m->at--;
            continue;
        }
        if (token->left) m->start = strip_left(text, m->start, consumed);
        if (token->right) m->end = strip_right(text, n, m->end);
        m->token = token;
        return DIS_OK;
    }
    return DIS_OK;
}
