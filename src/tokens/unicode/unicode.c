/* Lookups in the tables of characters: kinds in two steps, the rest by binary search in sorted lists, asked only where
 * a flag says that there is something to find. Hangul syllables are computed (Unicode, section 3.12). */
#include "tokens/unicode/unicode.h"
#include "tokens/unicode/unicode_table.h"
#include <string.h>

enum { L_BASE = 0x1100, V_BASE = 0x1161, T_BASE = 0x11a7, S_BASE = 0xac00, V_COUNT = 21, T_COUNT = 28, L_COUNT = 19 };
enum { S_COUNT = L_COUNT * V_COUNT * T_COUNT };
#define COUNT(list) (sizeof(list) / sizeof *(list))

uint32_t dis__char_kind(uint32_t c)
{
    return unicode_kinds[unicode_second[(size_t)unicode_first[c >> 7] << 7 | (c & 127)]];
}

size_t dis__char_put(char out[4], uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

bool dis__text_is_ascii(const char *text, size_t n)
{
    uint64_t word, any = 0;
    size_t i = 0;
    for (; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        any |= word;
    }
    for (; i < n; i++) any |= (uint64_t)(unsigned char)text[i];
    return (any & 0x8080808080808080u) == 0;
}

/* Where c stands in a sorted list, SIZE_MAX: nowhere. */
static size_t find(const uint32_t *list, size_t n, uint32_t c)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (list[middle] < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && list[low] == c ? low : SIZE_MAX;
}

uint32_t dis__char_lower(uint32_t c)
{
    if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
    if (!(dis__char_kind(c) & DIS_IS_LOWER)) return c;
    const size_t i = find(unicode_upper, COUNT(unicode_upper), c);
    return i == SIZE_MAX ? 'i' : unicode_lower[i]; /* U+0130 alone is in no list */
}

static size_t copy_parts(const uint32_t *list, size_t n_list, const uint16_t *start, const uint32_t *pool, uint32_t c,
                         uint32_t *out)
{
    const size_t i = find(list, n_list, c);
    const size_t n = (size_t)(start[i + 1] - start[i]);
    memcpy(out, pool + start[i], n * sizeof *out);
    return n;
}

size_t dis__char_decompose(uint32_t c, bool compatible, uint32_t out[DIS_CHAR_PARTS])
{
    if (c - S_BASE < S_COUNT) {
        const uint32_t s = c - S_BASE, t = s % T_COUNT;
        out[0] = L_BASE + s / (V_COUNT * T_COUNT);
        out[1] = V_BASE + s % (V_COUNT * T_COUNT) / T_COUNT;
        out[2] = T_BASE + t;
        return t ? 3 : 2;
    }
    const uint32_t kind = dis__char_kind(c);
    if (compatible && kind & DIS_IS_COMPATIBLE)
        return copy_parts(unicode_compatible, COUNT(unicode_compatible), unicode_compatible_start,
                          unicode_compatible_pool, c, out);
    if (kind & DIS_IS_CANONICAL)
        return copy_parts(unicode_canonical, COUNT(unicode_canonical), unicode_canonical_start, unicode_canonical_pool,
                          c, out);
    out[0] = c;
    return 1;
}

uint32_t dis__char_compose(uint32_t a, uint32_t b)
{
    if (a - L_BASE < L_COUNT && b - V_BASE < V_COUNT) return S_BASE + ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT;
    if (a - S_BASE < S_COUNT && (a - S_BASE) % T_COUNT == 0 && b - T_BASE - 1 < T_COUNT - 1) return a + (b - T_BASE);
    if (!(dis__char_kind(b) & DIS_IS_SECOND)) return 0;
    size_t low = 0, high = COUNT(unicode_pairs) / 3;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const uint32_t *p = unicode_pairs + 3 * middle;
        if (p[0] < a || (p[0] == a && p[1] < b))
            low = middle + 1;
        else
            high = middle;
    }
    const uint32_t *p = unicode_pairs + 3 * low;
    return low < COUNT(unicode_pairs) / 3 && p[0] == a && p[1] == b ? p[2] : 0;
}

/* ---- grapheme clusters, UAX 29: rules GB3 to GB13 ---- */

typedef enum { HANGUL_NONE, HANGUL_L, HANGUL_V, HANGUL_T, HANGUL_LV, HANGUL_LVT } hangul;

static hangul hangul_of(uint32_t c)
{
    if ((c >= 0x1100 && c <= 0x115f) || (c >= 0xa960 && c <= 0xa97c)) return HANGUL_L;
    if ((c >= 0x1160 && c <= 0x11a7) || (c >= 0xd7b0 && c <= 0xd7c6)) return HANGUL_V;
    if ((c >= 0x11a8 && c <= 0x11ff) || (c >= 0xd7cb && c <= 0xd7fb)) return HANGUL_T;
    if (c - S_BASE < S_COUNT) return (c - S_BASE) % T_COUNT ? HANGUL_LVT : HANGUL_LV;
    return HANGUL_NONE;
}

/* What has been seen of a cluster so far. */
typedef struct {
    uint32_t last, kind;                                  /* the last character and its kind */
    enum { NO_PICTURE, PICTURE, PICTURE_JOINED } picture; /* a pictograph and extending characters, then a joiner */
    bool consonant; /* an Indic consonant, then only extending characters and linkers */
    bool linked;    /* the same with a linker among them */
    size_t flags;   /* regional indicators in a row */
} cluster;

static bool is_flag(uint32_t c)
{
    return c >= 0x1f1e6 && c <= 0x1f1ff;
}

static bool joins_hangul(hangul a, hangul b)
{
    if (a == HANGUL_L) return b == HANGUL_L || b == HANGUL_V || b == HANGUL_LV || b == HANGUL_LVT;
    if (a == HANGUL_LV || a == HANGUL_V) return b == HANGUL_V || b == HANGUL_T;
    return (a == HANGUL_LVT || a == HANGUL_T) && b == HANGUL_T;
}

/* Whether c stays in the cluster. */
static bool joins(const cluster *g, uint32_t c, uint32_t kind)
{
    if (g->last == '\r' && c == '\n') return true;
    if ((g->kind | kind) & DIS_IS_CONTROL) return false;
    if (kind & DIS_IS_ATTACH || g->kind & DIS_IS_PREPEND) return true;
    if (g->linked && kind & DIS_IS_CONSONANT) return true;
    if (g->picture == PICTURE_JOINED && kind & DIS_IS_PICTOGRAPH) return true;
    if (is_flag(c) && g->flags % 2 == 1) return true;
    return joins_hangul(hangul_of(g->last), hangul_of(c));
}

static void add(cluster *g, uint32_t c, uint32_t kind)
{
    const bool joiner = c == 0x200d, extends = joiner || (kind & DIS_IS_ATTACH && !(kind & DIS_IS_SPACING));
    if (kind & DIS_IS_PICTOGRAPH)
        g->picture = PICTURE;
    else if (g->picture != PICTURE || !extends)
        g->picture = NO_PICTURE;
    else if (joiner)
        g->picture = PICTURE_JOINED;
    g->linked = g->consonant && extends && (g->linked || kind & DIS_IS_LINKER);
    g->consonant = kind & DIS_IS_CONSONANT || (g->consonant && extends);
    g->flags = is_flag(c) ? g->flags + 1 : 0;
    g->last = c;
    g->kind = kind;
}

size_t dis__grapheme_bytes(const char *text, size_t n)
{
    cluster g = {0};
    size_t at, step;
    uint32_t c = dis__char_at(text, &at);
    add(&g, c, dis__char_kind(c));
    for (; at < n; at += step) {
        c = dis__char_at(text + at, &step);
        const uint32_t kind = dis__char_kind(c);
        if (!joins(&g, c, kind)) break;
        add(&g, c, kind);
    }
    return at;
}
