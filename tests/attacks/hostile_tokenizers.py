"""Tokenizers from someone else: every file gives tokens or an error within seconds."""
import base64
import json
import pathlib
import struct

from attack import ERRORS, SANITIZED, SOURCE, damage, expect, rounds, run

MEGABYTE = 1 << (16 if SANITIZED else 20)
ANY = (0, *ERRORS)


def wordpiece(vocab=None, **fields):
    vocab = vocab or {t: i for i, t in enumerate(["[UNK]", "a", "##a", "b", "##b", "[CLS]", "[SEP]"])}
    return {"version": "1.0", "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                                        "max_input_chars_per_word": 100, "vocab": vocab}, **fields}


def unigram(pieces, **fields):
    return {"version": "1.0", "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], *pieces]}, **fields}


def bpe(vocab, merges, **fields):
    return {"version": "1.0", "model": {"type": "BPE", "vocab": vocab, "merges": merges, **fields}}


def normalizer(*steps):
    return {"type": "Sequence", "normalizers": list(steps)}


def replace(old, new):
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def added(tokens, **fields):
    return [{"id": 1000 + i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
             "special": True, **fields} for i, t in enumerate(tokens)]


def charsmap(result):
    """A Precompiled step that makes `result` of every "a"."""
    units = [0] * 512
    units[0] = 256 << 10  # the root's children are at 256 ^ byte
    units[256 ^ ord("a")] = ord("a") | 1 << 8 | (256 ^ ord("a") ^ 300) << 10
    units[300] = 0  # the text begins right behind the units
    table = struct.pack(f"<{len(units)}I", *units)
    return base64.b64encode(struct.pack("<I", len(table)) + table + result + b"\0").decode()


def write(tokenizer):
    pathlib.Path("t").mkdir(exist_ok=True)
    text = tokenizer if isinstance(tokenizer, (str, bytes)) else json.dumps(tokenizer)
    pathlib.Path("t/tokenizer.json").write_bytes(text if isinstance(text, bytes) else text.encode())


def case(what, codes, tokenizer, text, names=""):
    write(tokenizer)
    pathlib.Path("text").write_text(text)
    expect(what, codes, "tokenize", "text", "--encoder", "t", "-o", "out", names=names)


def cases():
    a = "a" * MEGABYTE
    doubling = normalizer(*[replace("a", "aa")] * 40)
    case("40 chained Replace", (5,), wordpiece(normalizer=doubling), "a\nb\n", "t/tokenizer.json: normalizer")
    case("a long Prepend", (5,), wordpiece(normalizer={"type": "Prepend", "prepend": "a" * 5_000_000}), "a\n", "prepend")
    case("a long Replace", (5,), wordpiece(normalizer=replace("a", "a" * 1_000_000)), a, "content")
    case("a Replace that just fits", (5,), wordpiece(normalizer=replace("a", "a" * 250)), a, "Replace")
    case("Prepend at each piece", (5,), wordpiece(normalizer={"type": "Prepend", "prepend": "b" * 250},
                                                  added_tokens=added("b")), "ab" * (MEGABYTE // 2), "Prepend")
    case("10,000 steps", (5,), wordpiece(normalizer=normalizer(*[{"type": "Lowercase"}] * 10_000)), a, "steps")
    case("a charsmap with a long result", (5,), wordpiece(
        normalizer={"type": "Precompiled", "precompiled_charsmap": charsmap(b"b" * 1_000_000)}), a, "Precompiled")

    nested = ["a" * n for n in range(1, 3001)]
    case("3,000 nested added tokens", (0,), wordpiece(added_tokens=added(nested)), a)
    case("3,000 nested added tokens, normalised", (0,), wordpiece(added_tokens=added(nested, normalized=True)), a)
    near = ["a" * n + "b" for n in range(1, 3001)]
    case("3,000 tokens that nearly match", (0,), wordpiece(added_tokens=added(near)), a)
    case("3,000 tokens that nearly match, in lines", (0,), wordpiece(added_tokens=added(near)), ("a" * 100 + "\n") * (MEGABYTE // 100))
    case("nearly, and a short one", (0,), wordpiece(added_tokens=added([*near, "aa"])), a)
    case("nearly, in normalised text", (0,), wordpiece(added_tokens=added(near, normalized=True),
                                                       normalizer={"type": "Lowercase"}), a.upper())
    case("an added token of 60,000 bytes", (0,), wordpiece(added_tokens=added([a[:60_000] + "b"])), a)
    case("an added token of 1 MB", (5,), wordpiece(added_tokens=added(["a" * 1_000_000 + "b"])), a, "added_tokens")
    case("50,000 added tokens", (0,), wordpiece(added_tokens=added([f"<{i}>" for i in range(50_000)])), "<1> <2>")
    case("nested added tokens, 40 Replace", (5,), wordpiece(added_tokens=added(nested, normalized=True), normalizer=doubling), a)

    case("Unigram with a long piece", (5,), unigram([["a", -1.0], ["a" * MEGABYTE, -1.0]]), a, "512")
    case("Unigram with nested pieces", (0,), unigram([["a" * n, -1.0 * n] for n in range(1, 512)]), a[:len(a) // 16])
    case("Unigram of unknown blanks with places", (0,), unigram([["a", -1.0], *[[f"<0x{i:02X}>", -1.0] for i in range(256)]]), " " * MEGABYTE)
    case("Unigram with endless scores", ANY, unigram([["a", -1e308], ["aa", -1.7e308], ["aaa", 1.7e308]]), a[:1000])
    case("WordPiece with long words", (0,), {**wordpiece(), "model": {**wordpiece()["model"], "max_input_chars_per_word": 1e9}}, a)
    deep = wordpiece({"[UNK]": 0, "a": 1, "##a": 2, "##" + "a" * 500 + "c": 3})
    deep["model"]["max_input_chars_per_word"] = 1e9
    case("WordPiece with a long piece that nearly matches", (0,), deep, a[:len(a) // 16])
    case("BPE on one long word", (0,), bpe({"a": 0, "aa": 1, "aaaa": 2, "aaaaaaaa": 3}, ["a a", "aa aa", "aaaa aaaa"]), a)
    case("BPE with a long prefix", (5,), bpe({"a": 0, "b": 1}, [], continuing_subword_prefix="b" * 1_000_000), a, "prefix")
    case("BPE with merges of missing tokens", (3,), bpe({"a": 0}, ["a b"]), "a\n", "merge 1")
    case("BPE with one merge a million times", ANY, bpe({"a": 0, "aa": 1}, ["a a"] * 200_000), a)
    template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x", "type_id": 0}}] * 100_000,
                "pair": [], "special_tokens": {str(i): {"id": str(i), "ids": [], "tokens": []} for i in range(1000)}}
    case("a template of 100,000 pieces", (3, 5), wordpiece(post_processor=template), "a\n")
    case("blanks before a letter", (0,), {**bpe({"a": 0}, []), "pre_tokenizer": {
        "type": "Split", "pattern": {"Regex": "\\s{9,}"}, "behavior": "Isolated", "invert": False}}, (" " * 8 + "a") * (MEGABYTE // 9))
    case("nested JSON", (3,), "[" * 1_000_000, "a\n")
    case("equal keys", (3,), '{"version":"1.0","version":"1.0"}', "a\n")
    case("300,000 tokens", ANY, wordpiece({"[UNK]": 0, **{f"x{i}": i + 1 for i in range(100_000 if SANITIZED else 300_000)}}), "x1 x2\n")


def mutations():
    """Tokenizers of the cases and of the test files, with damaged bytes."""
    fixtures = pathlib.Path(SOURCE, "tests/parity/fixtures")
    texts = [f.read_bytes() for f in sorted(fixtures.rglob("tokenizer.json")) if f.stat().st_size < 1 << 20]
    texts += [json.dumps(t).encode() for t in (
        wordpiece(normalizer=normalizer(replace("a", "b"), {"type": "Prepend", "prepend": "b"}, {"type": "NFKC"}),
                  added_tokens=added(["<a>", "b b"]), pre_tokenizer={"type": "Whitespace"}),
        unigram([["a", -1.0], ["ab", -2.0], ["\u2581", -3.0]], pre_tokenizer={"type": "Metaspace", "replacement": "\u2581"}),
        bpe({"a": 0, "b": 1, "ab": 2, "aba": 3}, ["a b", "ab a"]),
    )]
    return texts


def main():
    cases()
    texts = mutations()
    print(f"{len(texts)} tokenizers to damage")
    pathlib.Path("text").write_text("a b ab aba <a>b b  \u00e9\u4e00\U0001f600 AbA\t\n" * 20)
    for i, draw in rounds():
        write(damage(draw.choice(texts), draw))
        code, error = run("tokenize", "text", "--encoder", "t", "-o", "out")
        if code not in ANY:
            raise SystemExit(f"round {i}: exit {code}\n{error}")


main()
