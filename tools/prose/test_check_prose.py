#!/usr/bin/env python3
"""Tests of check_prose.py on small texts."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check_prose
from check_prose import Text, comment_texts, docstring_texts, help_texts, literal_texts, markdown_texts, sentences

LONG = "This sentence has " + "very " * 30 + "many words."


def found(texts):
    checker = check_prose.Checker()
    for text in texts:
        checker.check(text)
    checker.check_averages()
    return checker.found


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def main():
    expect(len(found(markdown_texts("a.md", "The processors are busy."))) == 1, "a word of the list is found")
    expect(len(found(markdown_texts("a.md", "The file is\nin no order."))) == 1, "a phrase over two lines is found")
    expect(len(found(markdown_texts("a.md", "| a | nobody |\n|---|---|\n| b | somebody |"))) == 2, "cells are checked")
    expect(not found(markdown_texts("a.md", "Run `nobody`.\n\n```sh\ndissent nobody\n```\n\n[x](nobody.md)")), "code is not prose")
    expect(len(found(markdown_texts("a.md", "```sh\nx\n```\nnobody"))) == 1, "text after a code block is prose")
    expect(len(found(markdown_texts("a.md", LONG))) == 1, "a long sentence is found")
    expect(not found(markdown_texts("a.md", "| " + LONG + " |")), "a cell is no sentence")
    expect(len(found(markdown_texts("docs/guides/a.md", "One two three four five six seven eight nine ten. " * 3))) == 0, "short sentences")
    expect(len(found(markdown_texts("docs/guides/a.md", ("Word" + " word" * 19 + ". ") * 3))) == 1, "a high average is found")
    expect(len(found(comment_texts("a.h", "/* Run on\n * the processor. */"))) == 1, "comments are checked")
    expect(not found(comment_texts("a.h", 'const char *text = "the processor";')), "code of a header is no comment")
    expect(len(found(literal_texts("a.c", 'put("labels that nobody "\n    "voted for");'))) == 1, "literals are checked")
    expect(len(found(docstring_texts("a.py", 'def f():\n    """Labels of nobody."""'))) == 1, "docstrings are checked")
    expect(not found(docstring_texts("a.py", 'def f():\n    """Labels.\n\n    >>> print("nobody")\n    nobody\n    """')), "doctests are code")
    expect(len(found(help_texts("x --help", "Options:\n  --memory SIZE  what is\n                 more lies in files"))) == 2, "help is checked")
    expect(len(sentences("See Smith et al. 2008. It is e.g. Fast. Good")) == 3, "abbreviations do not end a sentence")
    expect(len(sentences("Use 0.5 or .7 here.")) == 1, "decimal points do not end a sentence")
    with tempfile.TemporaryDirectory() as folder:
        check_prose.HERE = Path(folder)
        (Path(folder) / "wording.tsv").write_text("\\bnobody\\b\tno one\n")
        (Path(folder) / "allowed.tsv").write_text("a.md\tlabels of nobody\tquotation\nb.md\tx y\tunused\n")
        checker = check_prose.Checker()
        for text in (Text("a.md", 1, "The labels of nobody."), Text("c.md", 1, "The labels of nobody.")):
            checker.check(text)
        expect(len(checker.found) == 1, "an exception holds for its file only")
        checker.check_allowed_rows()
        expect(len(checker.found) == 2, "an exception without use is reported")
    print("check_prose.py works")


if __name__ == "__main__":
    main()
