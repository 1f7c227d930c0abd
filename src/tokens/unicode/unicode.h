/* unicode.h: characters, as Hugging Face tokenizers sees them: kinds, lower case, decompositions, compositions,
 * grapheme clusters.
 *
 * Texts are valid UTF-8 everywhere in src/tokens: they are checked at the door. The tables are made by
 * tools/generate/make_unicode_table.py, which says which versions of Unicode they follow and why these are several. */
#ifndef DIS_TOKENS_UNICODE_UNICODE_H
#define DIS_TOKENS_UNICODE_UNICODE_H
#include "core/text/utf8.h"

/* What a character is; tools/generate/make_unicode_table.py reads these lines. */
#define DIS_IS_DROP        0x1u      /* removed by BertNormalizer: control characters of several kinds */
#define DIS_IS_SPACE       0x2u      /* white space */
#define DIS_IS_PUNCTUATION 0x4u      /* of Bert */
#define DIS_IS_NONSPACING  0x8u      /* removed with strip_accents of Bert */
#define DIS_IS_MARK        0x10u     /* removed by StripAccents */
#define DIS_IS_NUMERIC     0x20u     /* of Digits */
#define DIS_IS_WORD        0x40u     /* \w of Rust's regular expressions */
#define DIS_IS_LETTER      0x80u     /* \p{L} of Oniguruma, as the next three */
#define DIS_IS_NUMBER      0x100u    /* \p{N} */
#define DIS_IS_BLANK       0x200u    /* \s */
#define DIS_IS_DIGIT       0x400u    /* \d */
#define DIS_IS_ATTACH      0x800u    /* stays in a grapheme cluster */
#define DIS_IS_SPACING     0x1000u   /* of these, the spacing marks */
#define DIS_IS_PREPEND     0x2000u   /* what follows stays in its cluster */
#define DIS_IS_CONTROL     0x4000u   /* a cluster of its own */
#define DIS_IS_PICTOGRAPH  0x8000u   /* for sequences with joiners */
#define DIS_IS_CONSONANT   0x10000u  /* Indic, for conjuncts */
#define DIS_IS_LINKER      0x20000u  /* of such */
#define DIS_IS_LOWER       0x40000u  /* has a lower case */
#define DIS_IS_CANONICAL   0x80000u  /* has a canonical decomposition */
#define DIS_IS_COMPATIBLE  0x100000u /* has another compatible one */
#define DIS_IS_SECOND      0x200000u /* composes with some character before it */

/* DIS_IS_... flags of a character; its combining class << 24. */
uint32_t dis__char_kind(uint32_t c);

/* The character at `text` (valid UTF-8), *n its bytes. */
static inline uint32_t dis__char_at(const char *text, size_t *n)
{
    const unsigned char *s = (const unsigned char *)text;
    *n = dis__utf8_step(*text);
    switch (*n) {
    case 1: return s[0];
    case 2: return (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
    case 3: return (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    default: return (s[0] & 7u) << 18 | (s[1] & 0x3fu) << 12 | (s[2] & 0x3fu) << 6 | (s[3] & 0x3fu);
    }
}

/* Writes a character as UTF-8 (1 to 4 bytes); how many. */
size_t dis__char_put(char out[4], uint32_t c);

/* Kind of the character at `text`, *n its bytes. */
static inline uint32_t dis__kind_at(const char *text, size_t *n)
{
    return dis__char_kind(dis__char_at(text, n));
}

/* The character before text[n], n > 0: where it begins. */
static inline size_t dis__char_before(const char *text, size_t n)
{
    do n--;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80);
    return n;
}

bool dis__text_is_ascii(const char *text, size_t n);

/* The lower case, one character; of U+0130, which has two, the first ("i"). */
uint32_t dis__char_lower(uint32_t c);

enum { DIS_CHAR_PARTS = 18 }; /* no character decomposes into more */
/* The full decomposition, canonical or compatible, into out; how many characters (1: itself). */
size_t dis__char_decompose(uint32_t c, bool compatible, uint32_t out[DIS_CHAR_PARTS]);
/* What two characters compose to, 0: they do not. */
uint32_t dis__char_compose(uint32_t a, uint32_t b);

/* Bytes of the grapheme cluster (extended, UAX 29) at `text`, n > 0 bytes. */
size_t dis__grapheme_bytes(const char *text, size_t n);

#endif
