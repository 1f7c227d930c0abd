/* Precompiled: sentencepiece's table of what beginnings of texts become, a double array of Darts followed by the
 * results.
 *
 * As tokenizers applies it: of a grapheme cluster below six bytes, the shortest beginning that the table has replaces
 * the whole cluster; of others, and where there is none, each character is looked up by itself. O(n). */
#include "tokens/tokenizer_internal.h"
#include "core/memory/memory.h"
#include "tokens/unicode/unicode.h"
#include <string.h>

enum { MAX_DIRECT = 6 };

static uint32_t unit_at(const dis__tokenizer_step *s, size_t i)
{
    const unsigned char *u = (const unsigned char *)s->map + 4 * i;
    return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static size_t offset_of(uint32_t unit)
{
    return (size_t)(unit >> 10) << ((unit & 512) >> 6);
}

/* What the n bytes become by their shortest beginning in the table; NULL: there is none. A table that leads nowhere has
 * none. */
static const char *find_replacement(const dis__tokenizer_step *s, const char *text, size_t n, size_t *length)
{
    size_t node = offset_of(unit_at(s, 0));
    for (size_t i = 0; i < n && text[i]; i++) {
        node ^= (unsigned char)text[i];
        if (node >= s->n_units) return NULL;
        const uint32_t unit = unit_at(s, node);
        if ((unit & 0x800000ffu) != (unsigned char)text[i]) return NULL;
        node ^= offset_of(unit);
        if (!(unit >> 8 & 1)) continue;
        if (node >= s->n_units) return NULL;
        const size_t at = 4 * s->n_units + (unit_at(s, node) & 0x7fffffffu);
        if (at >= s->n_map) return NULL;
        *length = strnlen(s->map + at, s->n_map - at);
        return s->map + at;
    }
    return NULL;
}

/* New characters stand for the old ones one by one, those that are left over for the last. */
static dis_status put_new(const dis__traced_text *in, size_t start, size_t end, const char *new, size_t n,
                          dis__traced_text *out)
{
    size_t old = start, old_step, step;
    for (size_t i = 0; i < n; i += step) {
        const uint32_t c = dis__char_at(new + i, &step);
        DIS_TRY(dis__traced_text_append_char(out, c, dis__traced_text_from(in, old), dis__traced_text_to(in, old)));
        dis__char_at(in->bytes + old, &old_step);
        if (old + old_step < end) old += old_step;
    }
    return DIS_OK;
}

static dis_status put_chars(const dis__tokenizer_step *s, const dis__traced_text *in, size_t start, size_t end,
                            dis__traced_text *out)
{
    for (size_t i = start, step; i < end; i += step) {
        size_t n;
        dis__char_at(in->bytes + i, &step);
        const char *new = find_replacement(s, in->bytes + i, step, &n);
        DIS_TRY(new ? put_new(in, i, i + step, new, n, out) : dis__traced_text_append_range(out, in, i, i + step));
    }
    return DIS_OK;
}

static dis_status precompiled(const dis__tokenizer_step *s, dis__encode_workspace *b, const dis__traced_text *in,
                              dis__traced_text *out)
{
    (void)b;
    DIS_TRY(dis__traced_text_begin(out, in->n, in->traced));
    for (size_t i = 0, length; i < in->n; i += length) {
        size_t n;
        length = dis__grapheme_bytes(in->bytes + i, in->n - i);
        const char *new = length < MAX_DIRECT ? find_replacement(s, in->bytes + i, length, &n) : NULL;
        DIS_TRY(new ? put_new(in, i, i + length, new, n, out) : put_chars(s, in, i, i + length, out));
    }
    return DIS_OK;
}

/* ---- reading ---- */

static int sextet(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Base64 (RFC 4648) with padding; false: it is none. */
static bool decode(const char *text, size_t n, char *out, size_t *n_out)
{
    if (n % 4) return false;
    size_t used = 0;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t word = 0;
        size_t pad = 0;
        for (size_t j = 0; j < 4; j++) {
            const bool end = text[i + j] == '=' && i + 4 == n && j >= 2;
            const int x = end ? 0 : sextet(text[i + j]);
            if (x < 0 || (pad && !end)) return false;
            pad += end;
            word = word << 6 | (uint32_t)x;
        }
        for (size_t j = 0; j < 3 - pad; j++) out[used++] = (char)(word >> (16 - 8 * j));
    }
    *n_out = used;
    return true;
}

/* The bytes begin with the size of the double array; texts after it are UTF-8. */
static bool split_charsmap(dis__tokenizer_step *s, size_t n)
{
    if (n < 8) return false;
    const size_t size = unit_at(s, 0);
    if (size % 4 || size < 4 || size > n - 4) return false;
    memmove(s->map, s->map + 4, n - 4);
    s->n_units = size / 4;
    s->n_map = n - 4;
    return dis__utf8_check(s->map + size, s->n_map - size) == s->n_map - size;
}

static dis_status read_precompiled(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *s)
{
    const dis__json_value *map = dis__json_member(v, "precompiled_charsmap");
    if (!map || map->kind != DIS_JSON_STRING)
        return dis__json_fail(&r->json, map ? map : v, "precompiled_charsmap must be a text in base64");
    size_t n;
    DIS_TRY(dis__alloc_array(&s->map, (size_t)map->length + 1, 1));
    if (!decode(map->text, map->length, s->map, &n) || !split_charsmap(s, n))
        return dis__json_fail(&r->json, map, "precompiled_charsmap is damaged: no double array with texts after it");
    return DIS_OK;
}

const dis__tokenizer_step_kind dis__precompiled_kind = {.name = "Precompiled",
                                                        .fields = "precompiled_charsmap",
                                                        .read = read_precompiled,
                                                        .normalise = precompiled};
