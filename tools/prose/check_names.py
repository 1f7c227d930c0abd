"""Check the words of public names: check_names.py GLOSSARY WORDS ABI [NAME...].

Every word of a function, type, field or constant in ABI (tests/abi.txt), and of each NAME, must be a term or verb of the
glossary or stand in WORDS. The plural of a word is allowed. Unused lines of WORDS are reported too."""

import re
import sys
from pathlib import Path


def words_of_glossary(text):
    """The first cells of its tables, word by word."""
    found = set()
    for cell in re.findall(r"^\| ([^|]+) \|", text, re.M):
        found |= set(re.findall(r"[a-z0-9]+", cell.lower()))
    return found - {"term", "verb"}


def names_of_interface(text):
    """Functions, structs, their fields and constants, in the order of the file."""
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        cells = line.split()
        yield cells[0] if line.startswith(" ") else cells[1].split("@")[0]


def known_word(word, known):
    """In the list, as it is or in the plural."""
    return word in known or (word.endswith("s") and word[:-1] in known) or (word.endswith("es") and word[:-2] in known)


def main():
    glossary, listed_path, interface = (Path(path).read_text(encoding="utf-8") for path in sys.argv[1:4])
    listed = set(listed_path.split())
    known = words_of_glossary(glossary) | listed
    names = list(names_of_interface(interface)) + sys.argv[4:]
    used, wrong = set(), []
    for name in names:
        for word in name.lower().split("_"):
            if not word or word.isdigit():
                continue
            used.add(word)
            if not known_word(word, known):
                wrong.append(f"{name}: \"{word}\" is neither in the glossary nor in {sys.argv[2]}")
    for word in sorted(listed):
        if not any(known_word(one, {word}) for one in used):
            wrong.append(f"{sys.argv[2]}: no name has \"{word}\"")
    print("\n".join(dict.fromkeys(wrong)) or f"{len(names)} names with {len(used)} words")
    return 1 if wrong or len(names) < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
