#!/usr/bin/env python3
"""Makes src/tokens/unicode/unicode_table.h: what Hugging Face tokenizers takes each character for.

Its parts follow different versions of Unicode (the crates unicode_categories, unicode-normalization-alignments, regex,
unicode-segmentation, Oniguruma and Rust's own char), so no one version gives the same tokens. Each property is
therefore asked of the library itself, character by character; combining classes and pairs come from Python's
unicodedata and are kept where the library knows them (both never change from version to version).

usage: python tools/generate/make_unicode_table.py > src/tokens/unicode/unicode_table.h      (needs the package tokenizers; two minutes)
"""

import os
import re
import struct
import sys
import unicodedata

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

HEADER = os.path.join(os.path.dirname(__file__), "..", "..", "src", "tokens", "unicode.h")
with open(HEADER, encoding="utf-8") as header:
    BIT = {name: int(bit, 16) for name, bit in re.findall(r"#define DIS_IS_(\w+) +(0x[0-9a-f]+)u", header.read())}
ALL = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
ACUTE, JOINER = "\u0301", "\u200d"


def charsmap(key):
    """A sentencepiece map of one key to X: a double array of Darts, all children of a node in one block of 256."""
    key = key.encode()
    units = [0] * (256 * (len(key) + 2))

    def leads(at, to, label, leaf):
        units[at] = ((at ^ to) << 10) | label | (leaf << 8)

    leads(0, 256, 0, 0)
    for i, byte in enumerate(key):
        leads(256 * (i + 1) + byte, 256 * (i + 2), byte, i + 1 == len(key))
    trie = struct.pack(f"<{len(units)}I", *units)
    return normalizers.Precompiled(struct.pack("<I", len(trie)) + trie + b"X\0")


flags = [0] * 0x110000


def mark(name, cs, test):
    for c in cs:
        if test(chr(c)):
            flags[c] |= BIT[name]
    print(name, sum(1 for f in flags if f & BIT[name]), file=sys.stderr)


bert = normalizers.BertNormalizer(True, False, False, False).normalize_str
mark("DROP", ALL, lambda c: bert("a" + c + "b") == "ab")
split = pre_tokenizers.WhitespaceSplit().pre_tokenize_str
mark("SPACE", ALL, lambda c: not split(c))
punctuation = pre_tokenizers.Punctuation().pre_tokenize_str
mark("PUNCTUATION", ALL, lambda c: len(punctuation("a" + c)) == 2)
accents = normalizers.BertNormalizer(False, False, True, False).normalize_str
mark("NONSPACING", ALL, lambda c: accents(c) == "")
marks = normalizers.StripAccents().normalize_str
mark("MARK", ALL, lambda c: marks(c) == "")
digits = pre_tokenizers.Digits().pre_tokenize_str
mark("NUMERIC", ALL, lambda c: len(digits("a" + c)) == 2)
words = pre_tokenizers.Whitespace().pre_tokenize_str
mark("WORD", ALL, lambda c: len(words("a" + c)) == 1 and bool(words(c)))


def matches(pattern):
    call = pre_tokenizers.Split(Regex(pattern), "removed").pre_tokenize_str
    return lambda c: not call(c)


mark("LETTER", ALL, matches(r"\p{L}"))
mark("NUMBER", ALL, matches(r"\p{N}"))
mark("BLANK", ALL, matches(r"\s"))
mark("DIGIT", ALL, matches(r"\d"))

# Grapheme clusters show where the map's first match replaces a cluster of below six bytes as a whole.
a_to_x = charsmap("a").normalize_str
mark("ATTACH", ALL, lambda c: a_to_x("a" + c) == "X")
copy_to_x = charsmap("\xa9").normalize_str
attach = [c for c in ALL if flags[c] & BIT["ATTACH"]]
mark("SPACING", attach, lambda c: copy_to_x("\xa9" + c + JOINER + "\xa9" + ACUTE) == "X" + c + JOINER + "X")
rest = [c for c in ALL if c and not flags[c] & BIT["ATTACH"]]
mark("PICTOGRAPH", rest, lambda c: copy_to_x("\xa9" + JOINER + c).startswith("X" + JOINER))
mark("PREPEND", rest, lambda c: charsmap(c).normalize_str(c + "a") == "X")
mark("CONTROL", [c for c in rest if c < 0x10000], lambda c: charsmap(c).normalize_str(c + ACUTE) != "X")
flags[0] |= BIT["CONTROL"]  # no map can have it
three = [c for c in rest if 0x800 <= c < 0x10000 and not flags[c] & BIT["CONTROL"]]
mark("CONSONANT", three, lambda c: charsmap(c).normalize_str("\u0915\u094d" + c + ACUTE).endswith(ACUTE))
ka = charsmap("\u0915").normalize_str
mark("LINKER", attach, lambda c: ka("\u0915" + c + "\u0915" + ACUTE).endswith(ACUTE))

lower = normalizers.Lowercase().normalize_str
mark("LOWER", ALL, lambda c: lower(c) != c)
several = [c for c in ALL if len(lower(chr(c))) != 1]
assert several == [0x130] and lower("\u0130") == "i\u0307", several
lowers = [(c, ord(lower(chr(c)))) for c in ALL if flags[c] & BIT["LOWER"] and c != 0x130]

HANGUL = range(0xAC00, 0xAC00 + 11172)
nfd, nfkd, nfc = (n().normalize_str for n in (normalizers.NFD, normalizers.NFKD, normalizers.NFC))
for c in HANGUL:
    assert nfd(chr(c)) == nfkd(chr(c)) == unicodedata.normalize("NFD", chr(c))
    assert nfc(nfd(chr(c))) == chr(c)
mark("CANONICAL", (c for c in ALL if c not in HANGUL), lambda c: nfd(c) != c)
mark("COMPATIBLE", (c for c in ALL if c not in HANGUL), lambda c: nfkd(c) != nfd(c))

classes = [0] * 0x110000
for c in ALL:
    k = unicodedata.combining(chr(c))
    if k and k < 230 and nfd(ACUTE + chr(c)) != ACUTE + chr(c):  # moved before a mark of class 230
        classes[c] = k
    elif k >= 230 and nfd(chr(c) + "\u0323") != chr(c) + "\u0323":  # a mark of class 220 moved before it
        classes[c] = k
pairs = []
for c in ALL:
    parts = unicodedata.decomposition(chr(c)).split()
    if len(parts) == 2 and c not in HANGUL and parts[0][0] != "<":
        a, b = (int(p, 16) for p in parts)
        if nfc(chr(a) + chr(b)) == chr(c):
            pairs.append((a, b, c))
            flags[b] |= BIT["SECOND"]
pairs.sort()


def blocks(values, size=128):
    seen, first, second = {}, [], []
    for at in range(0, 0x110000, size):
        block = tuple(values[at : at + size])
        if block not in seen:
            seen[block] = len(seen)
            second.extend(block)
        first.append(seen[block])
    return first, second


def table(kind, name, numbers, form="%d"):
    print(f"static const {kind} {name}[] = {{")
    line = "   "
    for x in numbers:
        text = " " + form % x + ","
        if len(line) + len(text) > 120:
            print(line)
            line = "   "
        line += text
    print(line + "\n};")


def expansions(name, form):
    cs = [c for c in ALL if flags[c] & BIT[name]]
    pool, start = [], [0]
    for c in cs:
        pool.extend(ord(x) for x in form(chr(c)))
        start.append(len(pool))
    return cs, start, pool


values = [f | k << 24 for f, k in zip(flags, classes)]
palette = sorted(set(values))
assert len(palette) <= 256, len(palette)
number = {v: i for i, v in enumerate(palette)}
first, second = blocks([number[v] for v in values])
print(f"""/* Made by tools/generate/make_unicode_table.py from Hugging Face tokenizers {tokenizers.__version__} and Unicode \
{unicodedata.unidata_version} (combining classes
 * and pairs, where the library knows them). Not to be edited. */
#ifndef DIS_TOKENS_UNICODE_TABLE_H
#define DIS_TOKENS_UNICODE_TABLE_H
#include <stdint.h>
/* clang-format off */
/* of a character c (flags: unicode.h): unicode_kinds[unicode_second[unicode_first[c >> 7] << 7 | (c & 127)]] */""")
table("uint32_t", "unicode_kinds", palette, "0x%xu")
table("uint16_t", "unicode_first", first)
table("uint8_t", "unicode_second", second)
print("/* characters with a lower case of one character, and that */")
table("uint32_t", "unicode_upper", [a for a, _ in lowers], "0x%x")
table("uint32_t", "unicode_lower", [b for _, b in lowers], "0x%x")
for name, form in (("CANONICAL", nfd), ("COMPATIBLE", nfkd)):
    cs, start, pool = expansions(name, form)
    print(f"/* full decompositions: character i becomes pool[start[i]] .. pool[start[i + 1]] */")
    table("uint32_t", f"unicode_{name.lower()}", cs, "0x%x")
    table("uint16_t", f"unicode_{name.lower()}_start", start)
    table("uint32_t", f"unicode_{name.lower()}_pool", pool, "0x%x")
print("/* pairs that compose, sorted: a, b, what they become */")
table("uint32_t", "unicode_pairs", [x for p in pairs for x in p], "0x%x")
print("/* clang-format on */\n#endif")
