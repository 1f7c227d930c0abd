/* Byte pair encoding (Sennrich et al. 2016): a word begins as its characters, or bytes, and the pair of neighbours
 * whose merge has the lowest rank is joined, the leftmost first, until no pair has one.
 *
 * Short words: ranks of all pairs in an array, of which the least is looked for each time, O(n^2) for n up to 48. Long
 * ones: a heap of (rank, position), O(n log n). Both do the same merges in the same order. */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "tokens/unicode/unicode.h"
#include <stdio.h>
#include <string.h>

enum { SHORT_WORD = 48 };
#define NO_RANK UINT32_MAX

typedef struct {
    uint32_t id, length; /* bytes; 0: joined to one before */
    uint32_t before, next;
} symbol;

/* ---- merges ---- */

static size_t slot_of(const dis__model *m, uint32_t left, uint32_t right)
{
    return (size_t)((((uint64_t)left << 32 | right) * m->merge_factor) >> 24) & m->merge_mask;
}

dis_status dis__bpe_reserve(dis__model *m, size_t n_merges)
{
    size_t size = 16;
    while (size < 2 * n_merges) size *= 2;
    DIS_TRY(dis__alloc_array(&m->merge, size, sizeof *m->merge));
    for (size_t i = 0; i < size; i++) m->merge[i].left = UINT32_MAX;
    m->merge_mask = size - 1;
    m->merge_factor = dis__random_factor();
    return DIS_OK;
}

void dis__bpe_put(dis__model *m, uint32_t left, uint32_t right, uint32_t rank, uint32_t id)
{
    size_t at = slot_of(m, left, right);
    while (m->merge[at].left != UINT32_MAX && (m->merge[at].left != left || m->merge[at].right != right))
        at = (at + 1) & m->merge_mask;
    m->merge[at] = (dis__merge){left, right, rank, id}; /* of a pair that is there twice the later rank counts */
}

static const dis__merge *find_merge(const dis__model *m, uint32_t left, uint32_t right)
{
    for (size_t at = slot_of(m, left, right); m->merge[at].left != UINT32_MAX; at = (at + 1) & m->merge_mask)
        if (m->merge[at].left == left && m->merge[at].right == right) return &m->merge[at];
    return NULL;
}

static uint32_t rank_of(const dis__model *m, uint32_t left, uint32_t right)
{
    const dis__merge *merge = find_merge(m, left, right);
    return merge ? merge->rank : NO_RANK;
}

/* Joins symbols; how many are left. */
static size_t merge_short(const dis__model *m, symbol *s, size_t n)
{
    uint32_t rank[SHORT_WORD];
    for (size_t i = 0; i + 1 < n; i++) rank[i] = rank_of(m, s[i].id, s[i + 1].id);
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (rank[i] < rank[best]) best = i;
        if (rank[best] == NO_RANK) break;
        s[best].id = find_merge(m, s[best].id, s[best + 1].id)->id;
        s[best].length += s[best + 1].length;
        n--;
        memmove(s + best + 1, s + best + 2, (n - best - 1) * sizeof *s);
        memmove(rank + best, rank + best + 1, (n - best - 1) * sizeof *rank);
        if (best > 0) rank[best - 1] = rank_of(m, s[best - 1].id, s[best].id);
        if (best + 1 < n) rank[best] = rank_of(m, s[best].id, s[best + 1].id);
    }
    return n;
}

static void push(uint64_t *heap, size_t *n, uint64_t entry)
{
    size_t at = (*n)++;
    for (; at > 0 && heap[(at - 1) / 2] > entry; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = entry;
}

static uint64_t pop(uint64_t *heap, size_t *n)
{
    const uint64_t top = heap[0], last = heap[--*n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < *n; at = child) {
        if (child + 1 < *n && heap[child + 1] < heap[child]) child++;
        if (last <= heap[child]) break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return top;
}

static void push_pair(const dis__model *m, const symbol *s, uint32_t left, uint32_t right, uint64_t *heap, size_t *n)
{
    const uint32_t rank = rank_of(m, s[left].id, s[right].id);
    if (rank != NO_RANK) push(heap, n, (uint64_t)rank << 32 | left);
}

/* An entry whose pair is no longer there, or has another rank, is passed over. */
static size_t merge_long(const dis__model *m, symbol *s, size_t n, uint64_t *heap)
{
    size_t n_heap = 0, used = 0;
    const uint32_t end = (uint32_t)n;
    for (uint32_t i = 0; i < end; i++) {
        s[i].before = i - 1; /* UINT32_MAX before the first */
        s[i].next = i + 1;
    }
    for (uint32_t i = 0; i + 1 < end; i++) push_pair(m, s, i, i + 1, heap, &n_heap);
    while (n_heap) {
        const uint64_t top = pop(heap, &n_heap);
        const uint32_t at = (uint32_t)top, next = s[at].next;
        if (s[at].length == 0 || next == end) continue;
        const dis__merge *merge = find_merge(m, s[at].id, s[next].id);
        if (!merge || merge->rank != top >> 32) continue;
        s[at].id = merge->id;
        s[at].length += s[next].length;
        s[next].length = 0;
        s[at].next = s[next].next;
        if (s[at].next != end) s[s[at].next].before = at;
        if (s[at].before != UINT32_MAX) push_pair(m, s, s[at].before, at, heap, &n_heap);
        if (s[at].next != end) push_pair(m, s, at, s[at].next, heap, &n_heap);
    }
    for (size_t i = 0; i < n; i++)
        if (s[i].length) s[used++] = s[i];
    return used;
}

/* ---- words ---- */

/* The id of one character with the prefix of those within a word and the suffix of the last. */
static uint32_t char_id(const dis__model *m, const char *c, size_t n, bool first, bool last)
{
    uint32_t node = 0;
    if (m->byte_level) return (uint32_t)m->byte_id[(unsigned char)*c]; /* -1 is DIS_TRIE_NONE */
    const char *part[] = {m->prefix, c, m->suffix};
    const size_t length[] = {first ? 0 : m->n_prefix, n, last ? m->n_suffix : 0};
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < length[p]; i++)
            if (!(node = dis__trie_step(&m->vocabulary, node, part[p][i]))) return DIS_TRIE_NONE;
    return m->vocabulary.value[node];
}

/* Whether all bytes of the character, prefix and suffix have tokens such as <0x0A>; they are put if so. */
static bool put_byte_tokens(const dis__model *m, const char *c, size_t n, bool first, bool last, symbol *s,
                            size_t *used)
{
    const char *part[] = {m->prefix, c, m->suffix};
    const size_t length[] = {first ? 0 : m->n_prefix, n, last ? m->n_suffix : 0};
    for (int put = 0; put < 2; put++)
        for (size_t p = 0; p < 3; p++)
            for (size_t i = 0; i < length[p]; i++) {
                const int32_t id = m->byte_id[(unsigned char)part[p][i]];
                if (id < 0) return false;
                if (put) s[(*used)++] = (symbol){.id = (uint32_t)id, .length = 1};
            }
    return true;
}

static size_t begin(const dis__model *m, const char *word, size_t n, symbol *s)
{
    size_t used = 0;
    uint32_t unknown = 0; /* bytes of unknown characters that are not put yet */
    for (size_t i = 0, step; i < n; i += step) {
        step = m->byte_level ? 1 : dis__utf8_step(word[i]);
        const bool first = i == 0, last = i + step == n;
        const uint32_t id = char_id(m, word + i, step, first, last);
        if (id != DIS_TRIE_NONE) {
            if (unknown) s[used++] = (symbol){.id = (uint32_t)m->unknown, .length = unknown};
            unknown = 0;
            s[used++] = (symbol){.id = id, .length = (uint32_t)step};
            continue;
        }
        if (m->byte_fallback && put_byte_tokens(m, word + i, step, first, last, s, &used)) continue;
        if (m->unknown < 0) continue; /* as tokenizers: without an unknown token the character is left out */
        if (unknown && !m->fuse_unknown) {
            s[used++] = (symbol){.id = (uint32_t)m->unknown, .length = unknown};
            unknown = 0;
        }
        unknown += (uint32_t)step;
    }
    if (unknown) s[used++] = (symbol){.id = (uint32_t)m->unknown, .length = unknown};
    return used;
}

static dis_status encode(const dis__model *m, dis__encode_workspace *b, const char *word, size_t n,
                         dis__token_list *out)
{
    if (m->ignore_merges) {
        const uint32_t id = dis__trie_get(m->byte_level ? &m->byte_tokens : &m->vocabulary, word, n);
        if (id != DIS_TRIE_NONE) return dis__token_list_add(out, (int32_t)id, 0, n);
    }
    const size_t max = n + n * m->n_prefix + m->n_suffix; /* byte tokens of prefixes count as well */
    if (max > UINT32_MAX) return dis__fail(DIS_ELIMIT, "a word of %zu bytes is too long for its prefixes", n);
    const size_t bytes = max * (sizeof(symbol) + 3 * sizeof(uint64_t));
    if (bytes > b->work_room) DIS_TRY(dis__reserve(&b->work, &b->work_room, 0, bytes, 1));
    uint64_t *heap = b->work;
    symbol *s = (symbol *)(heap + 3 * max);
    size_t used = begin(m, word, n, s);
    used = used <= SHORT_WORD ? merge_short(m, s, used) : merge_long(m, s, used, heap);
    size_t at = 0;
    for (size_t i = 0; i < used; i++) {
        DIS_TRY(dis__token_list_add(out, (int32_t)s[i].id, at, at + s[i].length));
        at += s[i].length;
    }
    return DIS_OK;
}

/* ---- reading ---- */

/* GPT-2 writes a byte as the letter of its number where that can be seen, the others as U+0100 and on. */
size_t dis__byte_letter(unsigned char byte, char out[4])
{
    uint32_t c = byte;
    if (byte < '!')
        c = 256u + byte;
    else if (byte > '~' && byte < 0xa1)
        c = 256u + 33 + (byte - 127u);
    else if (byte == 0xad)
        c = 256u + 33 + 34;
    return dis__char_put(out, c);
}

/* The byte that a letter stands for, -1: none. */
static int letter_byte(uint32_t c)
{
    if ((c >= '!' && c <= '~') || (c >= 0xa1 && c <= 0xff && c != 0xad)) return (int)c;
    if (c < 256 || c > 256 + 33 + 34) return -1;
    return c < 256 + 33 ? (int)(c - 256) : c == 256 + 33 + 34 ? 0xad : (int)(c - 256 - 33 + 127);
}

/* The vocabulary again with bytes for letters, tokens with other characters left out: no word can be one. */
static dis_status unletter(dis__model *m, const char *token, size_t n, uint32_t id)
{
    char bytes[512];
    size_t used = 0;
    for (size_t i = 0, step; i < n; i += step) {
        const int byte = letter_byte(dis__char_at(token + i, &step));
        if (byte < 0 || used == sizeof bytes) return DIS_OK;
        bytes[used++] = (char)byte;
    }
    return dis__trie_put(&m->byte_tokens, bytes, used, id);
}

dis_status dis__bpe_finish(dis__model *m)
{
    for (unsigned i = 0; i < 256; i++) {
        char name[16];
        size_t n;
        if (m->byte_level)
            n = dis__byte_letter((unsigned char)i, name);
        else
            n = (size_t)snprintf(name, sizeof name, "<0x%02X>", i);
        const uint32_t id = dis__trie_get(&m->vocabulary, name, n);
        m->byte_id[i] = id == DIS_TRIE_NONE ? -1 : (int32_t)id;
    }
    return DIS_OK;
}

static dis_status put_merge(dis__tokenizer_reader *r, const dis__json_value *at, dis__model *m,
                            const char *const side[2], const size_t n[2], uint32_t rank)
{
    const uint32_t left = dis__trie_get(&m->vocabulary, side[0], n[0]);
    const uint32_t right = dis__trie_get(&m->vocabulary, side[1], n[1]);
    uint32_t node = 0;
    bool known = left != DIS_TRIE_NONE && right != DIS_TRIE_NONE && n[1] >= m->n_prefix;
    for (size_t i = 0; known && i < n[0]; i++) known = (node = dis__trie_step(&m->vocabulary, node, side[0][i])) != 0;
    for (size_t i = m->n_prefix; known && i < n[1]; i++)
        known = (node = dis__trie_step(&m->vocabulary, node, side[1][i])) != 0;
    const uint32_t id = known ? m->vocabulary.value[node] : DIS_TRIE_NONE;
    if (id == DIS_TRIE_NONE)
        return dis__json_fail(&r->json, at, "merge %u: its two parts and the merged token must be in the vocabulary",
                              rank + 1);
    dis__bpe_put(m, left, right, rank, id);
    return DIS_OK;
}

/* "a b" or ["a", "b"] */
static bool two_sides(const dis__json_value *v, const char *side[2], size_t n[2])
{
    if (v->kind == DIS_JSON_ARRAY && v->n == 2 && v[1].kind == DIS_JSON_STRING && v[2].kind == DIS_JSON_STRING) {
        for (int i = 0; i < 2; i++) {
            side[i] = v[1 + i].text;
            n[i] = v[1 + i].length;
        }
        return true;
    }
    const char *space = v->kind == DIS_JSON_STRING ? memchr(v->text, ' ', v->length) : NULL;
    if (!space) return false;
    side[0] = v->text;
    n[0] = (size_t)(space - v->text);
    side[1] = space + 1;
    n[1] = v->length - n[0] - 1;
    return !memchr(side[1], ' ', n[1]);
}

static dis_status read_merges(dis__tokenizer_reader *r, const dis__json_value *v, dis__model *m)
{
    const dis__json_value *merges = dis__json_member(v, "merges");
    if (!merges || merges->kind != DIS_JSON_ARRAY)
        return dis__json_fail(&r->json, merges ? merges : v, "model.merges must be a list");
    DIS_TRY(dis__bpe_reserve(m, merges->n));
    const dis__json_value *at = merges + 1;
    for (uint32_t i = 0; i < merges->n; i++, at += at->skip) {
        const char *side[2];
        size_t n[2];
        if (!two_sides(at, side, n))
            return dis__json_fail(&r->json, at, "model.merges: each is \"left right\" or [left, right]");
        DIS_TRY(put_merge(r, at, m, side, n, i));
    }
    return DIS_OK;
}

static dis_status read_options(dis__tokenizer_reader *r, const dis__json_value *v, dis__model *m)
{
    const dis__json_value *dropout = dis__json_member(v, "dropout");
    if (dropout && dropout->kind != DIS_JSON_NULL && (dropout->kind != DIS_JSON_NUMBER || dropout->number != 0))
        return dis__json_fail(&r->json, dropout, "model.dropout is not supported: tokens would be random");
    DIS_TRY(dis__field_text(r, v, "continuing_subword_prefix", false, &m->prefix, &m->n_prefix));
    DIS_TRY(dis__field_text(r, v, "end_of_word_suffix", false, &m->suffix, &m->n_suffix));
    DIS_TRY(dis__check_bytes(r, v, "model.continuing_subword_prefix", m->n_prefix, DIS_TOKEN_AFFIX));
    DIS_TRY(dis__check_bytes(r, v, "model.end_of_word_suffix", m->n_suffix, DIS_TOKEN_AFFIX));
    DIS_TRY(dis__field_bool(r, v, "fuse_unk", false, &m->fuse_unknown));
    DIS_TRY(dis__field_bool(r, v, "byte_fallback", false, &m->byte_fallback));
    DIS_TRY(dis__field_bool(r, v, "ignore_merges", false, &m->ignore_merges));
    if (m->byte_level && (m->n_prefix || m->n_suffix))
        return dis__json_fail(&r->json, v, "model.%s is not supported together with ByteLevel",
                              m->n_prefix ? "continuing_subword_prefix" : "end_of_word_suffix");
    return DIS_OK;
}

static dis_status read_bpe(dis__tokenizer_reader *r, const dis__json_value *v, dis__model *m)
{
    const dis__json_value *vocab = dis__json_member(v, "vocab");
    DIS_TRY(read_options(r, v, m));
    if (!vocab) return dis__json_fail(&r->json, v, "model.vocab is missing");
    DIS_TRY(dis__vocabulary_read(r, vocab, m, m->ignore_merges && m->byte_level ? unletter : NULL));
    DIS_TRY(dis__unknown_read(r, v, m, false));
    DIS_TRY(read_merges(r, v, m));
    return dis__bpe_finish(m);
}

const dis__model_kind dis__bpe_kind = {
    .name = "BPE",
    .fields =
        "dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback ignore_merges vocab "
        "merges",
    .read = read_bpe,
    .encode = encode,
};
