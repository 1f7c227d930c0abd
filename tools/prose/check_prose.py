#!/usr/bin/env python3
"""Checks the wording of texts for users: word list, sentence length, average length and size of the documentation.

    check_prose.py [--tool DISSENT] [--statistics] [PATH...]

Texts: README.md, docs/, comments of include/dissent, docstrings of python/dissent, string literals of cli/ and src/
(messages, the report), and with --tool the help of every command and the tables of `dissent list`. With PATH only these
files or folders are checked.

1. No text matches a pattern of wording.tsv.
2. No sentence has more than 30 words.
3. In each guide and tutorial, a sentence has 18 words on average or fewer.
4. Guides, tutorials and concepts together have at most 35,000 words (as `wc -w` counts).
5. Every document that a source file, a header, a test or the help names exists.

An exception is a row of allowed.tsv: file pattern, phrase, reason. A row that matches nothing is an error. Exit status 1: something
was found. Code blocks, code spans, link targets and HTML are not prose.
"""

import argparse
import ast
import fnmatch
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MAX_SENTENCE = 30
MAX_AVERAGE = 18
MAX_WORDS = 35000
COUNTED = ("docs/guides", "docs/tutorials", "docs/concepts")
AVERAGED = ("docs/guides", "docs/tutorials")
ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|et al|vs|cf|approx|Fig|No|pp|vol|ed|St|Dr)\.$")


def rows_of(name, columns):
    """Rows of a table of this folder, split at tabs; comments and empty lines are left out."""
    path = HERE / name
    if not path.exists():
        return []
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            row = line.split("\t")
            if len(row) != columns or not all(cell.strip() for cell in row):
                sys.exit(f"{path}:{number}: expected {columns} cells separated by tabs")
            rows.append(row)
    return rows


class Text:
    """A paragraph, list item, table cell, comment or help text. `is_complete`: it consists of sentences."""

    def __init__(self, source, line, text, is_complete=True):
        self.source, self.line, self.is_complete = source, line, is_complete
        self.text = re.sub(r"\s+", " ", text).strip()


def plain_markdown(text):
    text = re.sub(r"<!--.*?-->", " ", text)
    text = re.sub(r"``[^`]*``|`[^`]*`", "CODE", text)
    text = re.sub(r"!\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\[((?:[^\]\[]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"https?://\S+", "URL", text)
    alternatives = " ".join(re.findall(r'alt="([^"]*)"', text))
    return re.sub(r"<[a-zA-Z/][^>]*>", " ", text) + alternatives.replace("*", "")


def markdown_texts(source, document):
    """Paragraphs, list items and cells of a Markdown document."""
    fence, pending, start = None, [], 0

    def finish():
        if pending:
            yield Text(source, start, plain_markdown(" ".join(pending)).replace("**", "").replace("*", ""))
        pending.clear()

    for number, line in enumerate(document.splitlines(), 1):
        stripped = line.strip()
        opening = re.match(r"(```+|~~~+|:::+)", stripped)
        if opening:
            yield from finish()
            if fence is None:
                fence = opening.group(1) if not opening.group(1).startswith(":") else None
            elif stripped.startswith(fence):
                fence = None
            continue
        if fence is not None:
            continue
        if line.startswith("    ") and not pending and not re.match(r"\s+([-*+]|\d+\.) ", line):  # indented code
            continue
        if not stripped or re.match(r"(-{3,}|\|[-:| ]+\|)$", stripped):
            yield from finish()
        elif stripped.startswith("|"):
            yield from finish()
            for cell in re.split(r"(?<!\\)\|", re.sub(r"`[^`]*`", "CODE", stripped).strip("|")):
                yield Text(source, number, plain_markdown(cell), is_complete=False)
        elif stripped.startswith("#"):
            yield from finish()
            yield Text(source, number, plain_markdown(stripped.lstrip("# ")), is_complete=False)
        elif re.match(r"([-*+]|\d+\.) ", stripped):
            yield from finish()
            start = number
            pending.append(re.sub(r"^([-*+]|\d+\.) ", "", stripped))
        elif re.match(r"\(.*\)=$", stripped) or stripped.startswith(">") and pending == []:
            yield from finish()
            start = number
            pending.append(stripped.lstrip("> ")) if stripped.startswith(">") else None
        else:
            if not pending:
                start = number
            pending.append(stripped)
    yield from finish()


def comment_texts(source, code):
    """Comments of a C header: a paragraph each."""
    for match in re.finditer(r"/\*.*?\*/|//[^\n]*", code, re.S):
        line = code.count("\n", 0, match.start()) + 1
        body = re.sub(r"^/\*+|\*/$|^//", "", match.group(0))
        lines = [re.sub(r"^\s*\* ?", "", text) for text in body.split("\n")]
        paragraph, first = [], line
        for offset, text in enumerate([*lines, ""]):
            indented = re.match(r"\s{4,}\S", text)
            if text.strip() and not indented:
                if not paragraph:
                    first = line + offset
                paragraph.append(text)
            elif paragraph:
                yield Text(source, first, plain_markdown(" ".join(paragraph)))
                paragraph = []


def literal_texts(source, code):
    """String literals of C that hold words; adjacent literals are one text."""
    code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), code, flags=re.S)
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', code):
        text = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match.group(0)))
        text = re.sub(r"<[^>]*>|%[-+0-9.*]*[a-z]+|\\n|\\.", " ", text)
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= 3:
            yield Text(source, code.count("\n", 0, match.start()) + 1, text, is_complete=False)


def docstring_texts(source, code):
    """Paragraphs of docstrings. Entries of a parameter list ("name : type", then a description) are separate texts."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            found = ast.get_docstring(node)
            if found:
                line = getattr(node, "lineno", 1)
                found = re.sub(r"(?m)^\s*(>>>|\.\.\.).*(\n(?!\s*\n).*)*", "", found)
                found = re.sub(r"(?m)^\S.*\n-{3,}$", "\n", found)
                found = re.sub(r"(?m)^( *[\w*]+(?:, [\w*]+)* :.*)$", r"\n\1\n", found)
                for paragraph in re.split(r"\n\s*\n", found):
                    entry = re.match(r"\s*[\w*]+(?:, [\w*]+)* :", paragraph)
                    yield Text(source, line, plain_markdown(paragraph), is_complete=not entry)


def output_of(tool, *arguments):
    done = subprocess.run([tool, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{tool} {' '.join(arguments)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def help_texts(source, output):
    """Blocks of a help text: an option or table row with its description, a paragraph, a heading."""
    block, start, row = [], 1, False
    for number, line in enumerate([*output.split("\n"), ""], 1):
        head = re.match(r" {0,8}\S+(?:,? \S+)*  +(?=\S)| {1,8}-\S+(?:,? \S+)*$", line)
        heading = re.match(r"\S.*:$", line)
        if block and (not line.strip() or head or heading or re.match(r" {1,8}\S", line)):
            yield Text(source, start, re.sub(r"'[^']*'", "CODE", " ".join(block)), is_complete=not row)
            block = []
        if re.match(r"\s*(\$ |dissent |mpirun )", line) or line.lower().startswith("usage:") or heading:
            continue
        if line.strip():
            if not block:
                start, row = number, bool(head)
            block.append(line[head.end() :] if head else line)


def tool_texts(tool):
    overview = output_of(tool, "help")
    yield from help_texts("dissent help", overview)
    commands = dict.fromkeys(re.findall(r"^ {2,4}([a-z]+) {2,}\S", overview, re.M))
    if len(commands) < 15:
        sys.exit(f"{tool} help lists {len(commands)} commands only")
    for command in commands:
        yield from help_texts(f"dissent {command} --help", output_of(tool, command, "--help"))
        yield from help_texts(f"dissent {command} -h", output_of(tool, command, "-h"))
    for table in ("methods", "combiners", "recipes", "metrics", "models", "objectives", "presets", "scales", "crowds", "keys"):
        rows = output_of(tool, "list", table)
        yield from help_texts(f"dissent list {table}", rows)
        for name in re.findall(r"^(\S.*?)(?:  +\S.*)?$", rows, re.M):
            for text in help_texts(f"dissent list {table} {name}", output_of(tool, "list", table, name)):
                text.is_complete = False  # one or several lines "key: value"
                yield text


def sentences(text):
    out, words = [], []
    for piece in re.split(r"(?<=[.!?])[\"')\]]*\s+", text):
        words.append(piece)
        if not ABBREVIATIONS.search(piece):
            out.append(" ".join(words))
            words = []
    return out + ([" ".join(words)] if words else [])


def words_of(sentence):
    return [word for word in sentence.split() if re.search(r"\w", word)]


def files_of(paths):
    if paths:
        found = []
        for path in paths:
            path = path.resolve()
            found += sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        return [p for p in found if p.suffix in (".md", ".h", ".c", ".py")]
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "include/dissent").glob("*.h"))]
    found += sorted((ROOT / "python/dissent").rglob("*.py"))
    return found + sorted((ROOT / "cli").rglob("*.c")) + sorted((ROOT / "src").rglob("*.c"))


def texts_of(path):
    source, text = str(path.relative_to(ROOT)), path.read_text(errors="replace")
    if path.suffix == ".md":
        return markdown_texts(source, text)
    if path.suffix == ".py":
        return docstring_texts(source, text)
    return comment_texts(source, text) if path.suffix == ".h" else literal_texts(source, text)


class Checker:
    def __init__(self):
        self.rules = [(re.compile(pattern, re.I), better) for pattern, better in rows_of("wording.tsv", 2)]
        self.allowed = [(pattern, phrase.lower(), [0]) for pattern, phrase, _ in rows_of("allowed.tsv", 3)]
        self.found = []
        self.statistics = {}

    def excused(self, source, text):
        hits = [used for pattern, phrase, used in self.allowed if fnmatch.fnmatch(source, pattern) and phrase in text.lower()]
        for used in hits:
            used[0] += 1
        return bool(hits)

    def report(self, text, message, around=None):
        if not self.excused(text.source, around or text.text):
            self.found.append(f"{text.source}:{text.line}: {message}")

    def check(self, text):
        for rule, better in self.rules:
            for match in rule.finditer(text.text):
                around = text.text[max(0, match.start() - 40) : match.end() + 40]
                self.report(text, f'"{match.group(0)}" in "...{around}...": {better}', around)
        if not text.is_complete:
            return
        for sentence in sentences(text.text):
            count = len(words_of(sentence))
            if count > MAX_SENTENCE:
                self.report(text, f"a sentence of {count} words: {sentence[:90]}...", sentence)
            if count >= 3:
                entry = self.statistics.setdefault(text.source, [0, 0])
                entry[0] += 1
                entry[1] += count

    def check_averages(self):
        for source, (count, words) in sorted(self.statistics.items()):
            if source.startswith(AVERAGED) and words > MAX_AVERAGE * count:
                self.report(Text(source, 1, ""), f"a sentence has {words / count:.1f} words on average; at most {MAX_AVERAGE} are allowed")

    def check_size(self):
        total = 0
        for folder in COUNTED:
            total += sum(len(page.read_text().split()) for page in (ROOT / folder).rglob("*.md"))
        if total > MAX_WORDS:
            self.report(Text("docs", 1, ""), f"guides, tutorials and concepts have {total} words; at most {MAX_WORDS} are allowed")
        return total

    def check_named_documents(self):
        for folder in ("src", "include", "cli", "python", "tests", "tools", "bench"):
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in (".c", ".h", ".cu", ".cuh", ".py", ".sh", ".pyi", ".case", ".txt") and path.is_file() and HERE not in path.parents:
                    source = str(path.relative_to(ROOT))
                    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                        for name in re.findall(r"(?<![\w/.])docs/[a-z0-9/_-]+\.md", line):
                            if not (ROOT / name).exists():
                                self.report(Text(source, number, name), f"{name} does not exist")

    def check_allowed_rows(self):
        for pattern, phrase, used in self.allowed:
            if not used[0]:
                self.found.append(f'tools/prose/allowed.tsv: nothing in {pattern} needs the exception "{phrase}"; delete the row')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", help="also check the help of this program")
    parser.add_argument("--statistics", action="store_true", help="print words per sentence of each document")
    parser.add_argument("path", nargs="*", type=Path)
    args = parser.parse_args()
    checker = Checker()
    for path in files_of(args.path):
        for text in texts_of(path):
            checker.check(text)
    if args.tool:
        for text in tool_texts(args.tool):
            checker.check(text)
    checker.check_averages()
    total = checker.check_size()
    if not args.path:
        checker.check_named_documents()
        if args.tool:
            checker.check_allowed_rows()
    if args.statistics:
        for source, (count, words) in sorted(checker.statistics.items()):
            print(f"{words / count:5.1f} words in {count:4} sentences  {source}")
    print("\n".join(checker.found))
    print(f"{len(checker.found)} places to correct; {total} words in guides, tutorials and concepts")
    return 1 if checker.found else 0


if __name__ == "__main__":
    sys.exit(main())
