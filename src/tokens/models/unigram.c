/* Unigram (Kudo 2018): of all ways to cut a word into tokens, the one whose scores have the greatest sum, by Viterbi's
 * algorithm over bytes; of equal ones the one found first. A character without a token of its own is unknown, at the
 * least score less 10; unknown characters in a row are one token. O(n * longest token). */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "core/numbers/decimal.h"
#include "tokens/unicode/unicode.h"
#include <stdio.h>
#include <string.h>

enum { UNKNOWN_PENALTY = 10 };

/* The best way to reach a byte. */
typedef struct {
    double score;
    uint32_t start; /* of its last token; UINT32_MAX: not reached */
    int32_t id;
} reached;

static void reach(reached *to, double score, size_t start, int32_t id)
{
    if (to->start == UINT32_MAX || score > to->score) *to = (reached){score, (uint32_t)start, id};
}

/* Fills best[0 .. n]; false: a character has no token and there is no unknown one. */
static bool forward(const dis__model *m, const char *word, size_t n, reached *best)
{
    for (size_t i = 0; i <= n; i++) best[i] = (reached){0, UINT32_MAX, 0};
    for (size_t at = 0, step; at < n; at += step) {
        const double here = best[at].score;
        bool single = false;
        step = dis__utf8_step(word[at]);
        uint32_t node = 0;
        for (size_t i = at; i < n && (node = dis__trie_step(&m->vocabulary, node, word[i])); i++) {
            const uint32_t id = m->vocabulary.value[node];
            if (id == DIS_TRIE_NONE) continue;
            reach(&best[i + 1], m->score[id] + here, at, (int32_t)id);
            single |= i + 1 - at == step;
        }
        if (single) continue;
        if (m->unknown < 0) return false;
        reach(&best[at + step], m->unknown_score + here, at, m->unknown);
    }
    return true;
}

/* Unknown characters [start, end) in a row: a token if there is one of that text, else bytes, else unknown. */
static dis_status put_unknown(const dis__model *m, const char *word, size_t start, size_t end, dis__token_list *out)
{
    const uint32_t id = dis__trie_get(&m->vocabulary, word + start, end - start);
    bool bytes = id == DIS_TRIE_NONE && m->byte_fallback;
    for (size_t i = start; bytes && i < end; i++) bytes = m->byte_id[(unsigned char)word[i]] >= 0;
    if (!bytes) return dis__token_list_add(out, id == DIS_TRIE_NONE ? m->unknown : (int32_t)id, start, end);
    for (size_t i = start; i < end; i++)
        DIS_TRY(dis__token_list_add(out, m->byte_id[(unsigned char)word[i]], start, end));
    return DIS_OK;
}

static dis_status encode(const dis__model *m, dis__encode_workspace *b, const char *word, size_t n,
                         dis__token_list *out)
{
    const size_t bytes = (n + 1) * sizeof(reached);
    if (bytes > b->work_room) DIS_TRY(dis__reserve(&b->work, &b->work_room, 0, bytes, 1));
    reached *best = b->work;
    if (!forward(m, word, n, best))
        return dis__fail(DIS_EDATA, "a character has no token, and the model has no unknown one (model.unk_id)");
    /* The way back turned round: best[i].start becomes where the token that begins at i ends. */
    int32_t id = 0;
    for (size_t end = n, next = n; end > 0;) {
        const reached at = best[end];
        best[end].start = (uint32_t)next;
        best[end].id = id;
        id = at.id;
        next = end;
        end = at.start;
        if (end == 0) {
            best[0].start = (uint32_t)next;
            best[0].id = id;
        }
    }
    for (size_t start = 0, end; start < n; start = end) {
        const int32_t token = best[start].id;
        end = best[start].start;
        if (token != m->unknown) {
            DIS_TRY(dis__token_list_add(out, token, start, end));
            continue;
        }
        while (end < n && best[end].id == m->unknown) end = best[end].start;
        DIS_TRY(put_unknown(m, word, start, end, out));
    }
    return DIS_OK;
}

/* ---- reading ---- */

/* A number as tokenizers reads it, which is not always the nearest double: up to 19 digits as one integer, further
 * ones left out, then one division or multiplication by a power of ten (serde_json's default). The last bit of a score
 * decides between ways to cut a word that are equally good. */
static double score_of(const dis__json_value *v)
{
    const char *at = v->text, *end = at + v->length;
    const bool negative = at < end && *at == '-';
    uint64_t digits = 0;
    int exponent = 0, written = 0;
    bool point = false, dropped = false;
    for (at += negative; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        const uint64_t digit = (uint64_t)(*at - '0');
        dropped |= digits > (UINT64_MAX - digit) / 10;
        if (!dropped) digits = 10 * digits + digit;
        exponent += dropped ? !point : -(int)point;
    }
    if (at < end) {
        const bool down = at + 1 < end && at[1] == '-';
        for (at += 1 + (at + 1 < end && (at[1] == '-' || at[1] == '+')); at < end && written < 10000; at++)
            written = 10 * written + (*at - '0');
        exponent += down ? -written : written;
    }
    double x = (double)digits, power;
    char text[16];
    if (exponent < -308 || exponent > 308) return v->number; /* far beyond any score */
    const int n = snprintf(text, sizeof text, "1e%d", exponent < 0 ? -exponent : exponent);
    if (!dis__parse_real(text, (size_t)n, &power)) return v->number;
    x = exponent < 0 ? x / power : x * power;
    return negative ? -x : x;
}

static dis_status read_vocabulary(dis__tokenizer_reader *r, const dis__json_value *v, dis__model *m)
{
    const dis__json_value *list = dis__json_member(v, "vocab");
    if (!list || list->kind != DIS_JSON_ARRAY || list->n == 0)
        return dis__json_fail(&r->json, list ? list : v, "model.vocab must be a list of [token, score]");
    DIS_TRY(dis__alloc_array(&m->score, list->n, sizeof *m->score));
    double min = 0;
    const dis__json_value *at = list + 1;
    for (uint32_t i = 0; i < list->n; i++, at += at->skip) {
        if (at->kind != DIS_JSON_ARRAY || at->n != 2 || at[1].kind != DIS_JSON_STRING || at[2].kind != DIS_JSON_NUMBER)
            return dis__json_fail(&r->json, at, "model.vocab: each is [token, score]");
        DIS_TRY(dis__check_bytes(r, at, "model.vocab: a token", at[1].length, DIS_TOKEN_PIECE));
        m->score[i] = score_of(&at[2]);
        if (i == 0 || m->score[i] < min) min = m->score[i];
        if (at[1].length) DIS_TRY(dis__trie_put(&m->vocabulary, at[1].text, at[1].length, i));
    }
    m->n_ids = m->n_tokens = list->n;
    m->unknown_score = min - UNKNOWN_PENALTY;
    return DIS_OK;
}

static dis_status read_unigram(dis__tokenizer_reader *r, const dis__json_value *v, dis__model *m)
{
    const dis__json_value *unknown = dis__json_member(v, "unk_id");
    DIS_TRY(dis__field_bool(r, v, "byte_fallback", false, &m->byte_fallback));
    DIS_TRY(read_vocabulary(r, v, m));
    if (unknown && unknown->kind != DIS_JSON_NULL) {
        DIS_TRY(dis__field_id(r, unknown, "model.unk_id", &m->unknown));
        if ((size_t)m->unknown >= m->n_ids)
            return dis__json_fail(&r->json, unknown, "model.unk_id is not in the vocabulary");
    }
    for (unsigned i = 0; i < 256; i++) {
        char name[16];
        const int n = snprintf(name, sizeof name, "<0x%02X>", i);
        const uint32_t id = dis__trie_get(&m->vocabulary, name, (size_t)n);
        m->byte_id[i] = id == DIS_TRIE_NONE ? -1 : (int32_t)id;
    }
    return DIS_OK;
}

const dis__model_kind dis__unigram_kind = {
    .name = "Unigram",
    .fields = "unk_id vocab byte_fallback",
    .read = read_unigram,
    .encode = encode,
};
