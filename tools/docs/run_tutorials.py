#!/usr/bin/env python3
"""Runs README and the pages for newcomers from an empty folder, and rewrites or checks the outputs that they show.

    tools/docs/run_tutorials.py [--tool build/dissent] [DOCUMENT ...]      rewrite the outputs
    tools/docs/run_tutorials.py --check [--tool ...] [DOCUMENT ...]        compare, exit 1 if they differ

All blocks of a document run in order, in one empty folder per document:

- ```console: lines after `$ ` are commands, the lines below a command are its output on a terminal. A line that ends with a
  backslash goes on in the next line. `$ echo $?` below a command shows its exit code.
- ```sh: a script. A ```text block directly after it is its output.
- ```python: a program; all Python blocks of a document share one namespace. A ```text block directly after it is its output.

A line `...` in an output stands for any lines; such a block is only rewritten where it no longer matches. Comments before a
block: `<!-- not run: REASON -->` leaves it out; with `<!-- digits depend on the CPU -->` numbers may differ by a quarter or by
.05. With --any-numbers all numbers in outputs may differ: for files that stand in for those of the document. Commands that begin with ./run, make, sudo, cmake, git, cc, pip or python3 -m pip are not run. Files in the folder
$DISSENT_TUTORIAL_FILES are linked into the empty folder first. Python blocks need the package, from python/ next to the tool,
with NumPy and pandas; $DISSENT_PYTHON is the interpreter. Without them, Python blocks are left out.

Documents without arguments: README.md, docs/start, docs/tutorials, docs/faq.md and docs/cookbook.md. refresh_docs.py does the
same for guides, which have prepared files. Read the diff before you commit it."""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from refresh_docs import run_on_terminal

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = re.compile(r"^(\./run|make|cmake|git|sudo|cc|pip|python3 -m pip)\b")
NOT_RUN = re.compile(r"^<!-- not run: .+ -->$")
LOOSE = "<!-- digits depend on the CPU -->"
NUMBER = re.compile(r"-?\d+\.\d+|\d+(?:\.\d+)?(?:e[-+]\d+)?")


def plain(text):
    """Without what differs from run to run: times, and digits that depend on the instruction set."""
    text = re.sub(r"(, |\()\d+\.\d+ s(\)?)$", r"\1T s\2", text, flags=re.M)
    text = re.sub(r"( (?:yes|no|-) +)\d+\.\d{3}$", r"\1T", text, flags=re.M)
    text = re.sub(r"[ \t]+$", "", text, flags=re.M)
    return re.sub(r"(\d?\.\d{4})\d+", r"\1", text)


def matches(shown, printed):
    """Whether the output that a document shows is what was printed. `...` as a line stands for any lines."""
    parts = [re.escape(plain("\n".join(part)) + "\n") if part else "" for part in split_at_dots(shown)]
    text = plain("\n".join(printed)) + "\n" if printed else ""
    return re.fullmatch("(?:.*\\n)?".join(parts), text, re.S) is not None


def nearly(shown, printed):
    """Whether two outputs differ in digits alone, and little."""
    shown, printed = plain("\n".join(shown)), plain("\n".join(printed))
    if re.sub(r"\s+", " ", NUMBER.sub("N", shown)) != re.sub(r"\s+", " ", NUMBER.sub("N", printed)):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed))
    return all(abs(float(a) - float(b)) <= max(0.05, abs(float(a)) / 4) for a, b in pairs)


def same_words(shown, printed):
    """Whether two outputs are equal except numbers, their signs and marks of significance."""
    texts = (re.sub(r"\s+", " ", NUMBER.sub("N", plain("\n".join(lines)))) for lines in (shown, printed))
    shown, printed = (re.sub(r" [*]+| \((?:exact|chi-square)\)", "", re.sub(r"[-+]N", "N", text)).strip() for text in texts)
    return shown == printed


def split_at_dots(lines):
    parts = [[]]
    for line in lines:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


class Runner:
    def __init__(self, document, tool, folder, any_numbers):
        self.document, self.folder, self.tool, self.any_numbers = document, folder, tool, any_numbers
        self.environment = {
            **os.environ,
            "PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{tool.parent / 'python'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "100",
        }
        self.python = os.environ.get("DISSENT_PYTHON", sys.executable)
        self.session, self.loose = [], False
        test = [self.python, "-c", "import numpy, pandas, dissent"]
        self.has_python = subprocess.run(test, env=self.environment, capture_output=True).returncode == 0

    def _run(self, command, shown, expect=0):
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if expect is not None and done.returncode != expect:
            sys.exit(f"{self.document}: exit code {done.returncode} from\n{shown}\n{done.stdout}")
        return done.stdout.rstrip("\n").split("\n") if done.stdout.strip() else []

    def shell(self, code, expect=0):
        code = "\n".join(line for line in code.split("\n") if not SKIPPED.match(line))
        return self._run(["sh", "-eu", "-c", code], code, expect)

    def terminal(self, code):
        lines = run_on_terminal(code, self.folder, self.tool)
        return lines if any(lines) else []

    def program(self, code):
        """Earlier blocks run again in silence, so that one process is enough and blocks share names."""
        if not self.has_python:
            return None
        marker = "\n--- output of the block ---\n"
        script = "\n".join([*self.session, f"print({marker!r}, end='', flush=True)", code])
        self.session.append(code)
        out = "\n".join(self._run([self.python, "-W", "error::SyntaxWarning", "-c", script], code))
        out = ("\n" + out).split(marker)[-1]
        return out.strip("\n").split("\n") if out.strip() else []


def console(body, runner, failures):
    """A console block, with the outputs replaced."""
    out, i = [], 0
    while i < len(body):
        if not body[i].startswith("$ "):
            sys.exit(f"{runner.document}: a console block begins with a line that is no command: {body[i]}")
        command = [body[i][2:]]
        out.append(body[i])
        i += 1
        while command[-1].endswith("\\"):
            command.append(body[i])
            out.append(body[i])
            i += 1
        end = next((j for j in range(i, len(body)) if body[j].startswith("$ ")), len(body))
        shown, i = body[i:end], end
        code = "\n".join(command)
        if SKIPPED.match(code):
            out += shown
            continue
        # "echo $?" after a command that is meant to fail shows its exit code.
        fails = i < len(body) and body[i] == "$ echo $?"
        if fails:
            printed = runner.terminal(code + " || echo \"exit code $?\"")
            code_line = printed.pop() if printed else ""
            out += compare(runner, code, shown, printed, failures)
            out.append(body[i])
            out += compare(runner, code, body[i + 1 : i + 2], [code_line.replace("exit code ", "")], failures)
            i += 2
            continue
        out += compare(runner, code, shown, runner.terminal(code), failures)
    return out


def compare(runner, code, shown, printed, failures):
    if matches(shown, printed) or runner.loose and nearly(shown, printed) or runner.any_numbers and same_words(shown, printed):
        return shown
    failures.append(
        f"{runner.document} shows something else than this prints:\n{code}\n"
        + "\n".join(difflib.unified_diff(plain("\n".join(shown)).split("\n"), plain("\n".join(printed)).split("\n"), lineterm="", n=1))
    )
    return printed


def refresh(document, tool, check, any_numbers):
    lines, out, ran, skip, i = document.read_text().split("\n"), [], None, False, 0
    failures, n_blocks = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "work"
        folder.mkdir()
        files = os.environ.get("DISSENT_TUTORIAL_FILES")
        for name in sorted(os.listdir(files)) if files else []:
            (folder / name).symlink_to(Path(files).resolve() / name)
        runner = Runner(document.relative_to(ROOT) if document.is_relative_to(ROOT) else document, tool, folder, any_numbers)
        while i < len(lines):
            opening = lines[i]
            if not opening.startswith("```"):
                skip = skip and not opening.strip() or bool(NOT_RUN.match(opening))
                runner.loose = runner.loose and not opening.strip() or opening == LOOSE
                out.append(opening)
                i += 1
                continue
            end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith("```"))
            body = lines[i + 1 : end]
            if skip:
                ran = None
            elif opening == "```sh":
                code = "\n".join(body)
                ran = runner.shell(code)
                n_blocks += 1
            elif opening == "```python":
                code = "\n".join(body)
                ran = runner.program(code)
                n_blocks += ran is not None
            elif opening == "```console":
                body = console(body, runner, failures)
                n_blocks += 1
            elif opening == "```text" and ran is not None:
                body = compare(runner, code, body, ran, failures)
                ran = None
            skip = False
            out += [opening, *body, lines[end]]
            i = end + 1
    if check:
        for failure in failures:
            print(failure)
        print(f"{runner.document}: {n_blocks} blocks run, {len(failures)} differ")
    else:
        document.write_text("\n".join(out))
    return not failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document", nargs="*", type=Path)
    parser.add_argument("--tool", type=Path, default=ROOT / "build" / "dissent")
    parser.add_argument("--check", action="store_true", help="compare the outputs and change nothing")
    parser.add_argument("--any-numbers", action="store_true", help="ignore the values of numbers in outputs")
    args = parser.parse_args()
    docs = ROOT / "docs"
    usual = [
        ROOT / "README.md",
        *sorted((docs / "start").glob("*.md")),
        *sorted((docs / "tutorials").glob("*.md")),
        docs / "faq.md",
        docs / "cookbook.md",
    ]
    fine = [refresh(document.resolve(), args.tool.resolve(), args.check, args.any_numbers) for document in args.document or usual]
    return 0 if all(fine) or not args.check else 1


if __name__ == "__main__":
    sys.exit(main())
