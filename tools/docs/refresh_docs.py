#!/usr/bin/env python3
"""Rewrites the outputs that documents show with what their commands print.

    tools/docs/refresh_docs.py [--tool build/dissent] [--check] [DOCUMENT ...]

Documents: the pages of docs/ with outputs if none is named; README, docs/start and the tutorials are run by run_tutorials.py. Two kinds of blocks are replaced:

- A ```text block directly after a ```sh block: the output of the block, standard error included.
- A ```console block: below each line "$ COMMAND" its output on a terminal. A last line "..." of an output keeps the number of
  lines above it; "...N" shows N lines. A first line "..." keeps the number of lines below it, the last ones of the output.

Blocks run in order in one folder per document: an empty one, for pages of exports with the files of examples/exports, for other
pages of docs/ with the files of tests/cli/support/page_files.sh. With --check nothing is written; the exit status is 1 if an
output differs. tests/cli/exports.sh checks the exports. Read the diff before you commit it."""

import argparse
import difflib
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = re.compile(r"^(\./run|make|cmake|git|cc) ")
PAGE_FILES = """
source=$1
. "$source/tests/cli/support/page_files.sh"
common_files
page_files "$2"
"""


def plain(text):
    """Without what differs from run to run: times, and digits that depend on the instruction set."""
    text = re.sub(r", \d+\.\d+ s$", ", T s", text, flags=re.M)
    text = re.sub(r"\(\d+\.\d+ s\)", "(T s)", text)
    text = re.sub(r"( (?:yes|no|-) +)\d+\.\d{3}$", r"\1T", text, flags=re.M)
    return re.sub(r"(\d\.\d{6})\d+", r"\1", text)


def environment(tool):
    return {**os.environ, "PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}


def run(code, folder, tool):
    lines = [line for line in code.splitlines() if not SKIPPED.match(line)]
    done = subprocess.run(
        ["sh", "-eu", "-c", "\n".join(lines)],
        cwd=folder,
        env=environment(tool),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.exit(f"this block failed:\n{code}\n{done.stdout}")
    return done.stdout


def run_on_terminal(command, folder, tool):
    """Output lines of a command whose standard output and error are a terminal."""
    reader, writer = pty.openpty()
    child = subprocess.Popen(
        ["sh", "-eu", "-c", command], cwd=folder, env=environment(tool), stdin=subprocess.DEVNULL, stdout=writer, stderr=writer
    )
    os.close(writer)
    output = b""
    while True:
        try:
            piece = os.read(reader, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        output += piece
    os.close(reader)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode().replace("\r\n", "\n"))
    if child.wait():
        sys.exit(f"this command failed:\n{command}\n{text}")
    # progress bars overwrite their line
    return [line.rsplit("\r", 1)[-1].rstrip() for line in text.rstrip("\n").split("\n")]


def console(body, folder, tool):
    """The lines of a console block with current outputs."""
    out, at = [], 0
    while at < len(body):
        command = body[at].removeprefix("$ ")
        end = next((j for j in range(at + 1, len(body)) if body[j].startswith("$ ")), len(body))
        shown = body[at + 1 : end]
        lines = run_on_terminal(command, folder, tool)
        short = re.fullmatch(r"\.\.\.(\d*)", shown[-1]) if shown else None
        if len(shown) > 1 and shown[0] == "...":
            lines, short = ["...", *lines[1 - len(shown) :]], None
        if short:
            wanted = int(short.group(1) or len(shown) - 1)
            lines = lines[:wanted] + (["..."] if wanted < len(lines) else [])
        same = plain("\n".join(shown)) == plain("\n".join(lines))
        out += [body[at], *(shown if same else lines)]
        at = end
    return out


def files_for(document, folder, tool):
    if document.parent.name == "exports":
        shutil.copytree(ROOT / "examples" / "exports", folder)
        return
    folder.mkdir()
    if document.is_relative_to(ROOT / "docs") and document.parent.name != "start":
        command = ["sh", "-eu", "-c", PAGE_FILES, "page_files", str(ROOT), document.stem]
        done = subprocess.run(command, cwd=folder, env=environment(tool), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"no files for {document.name} (tests/cli/support/page_files.sh):\n{done.stdout}{done.stderr}")


def refresh(document, tool):
    """The text of a document with current outputs."""
    lines, out, ran, i = document.read_text().split("\n"), [], None, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "work"
        files_for(document, folder, tool)
        while i < len(lines):
            opening = lines[i]
            if not opening.startswith("```"):
                out.append(opening)
                i += 1
                continue
            end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith("```"))
            body = lines[i + 1 : end]
            if opening == "```sh":
                shown = end + 1 < len(lines) and lines[end + 1] == "```text"
                ran = run("\n".join(body), folder, tool) if shown else None
            elif opening == "```text" and ran is not None:
                if plain("\n".join(body)) != plain(ran.rstrip("\n")):
                    body = ran.rstrip("\n").split("\n")
                ran = None
            elif opening == "```console" and any(line.startswith("$ ") for line in body) and has_output(body):
                body = console(body, folder, tool)
            out += [opening, *body, lines[end]]
            i = end + 1
    return "\n".join(out)


def has_output(body):
    return body[0].startswith("$ dissent ") and any(not line.startswith("$ ") for line in body)


def pages():
    """Pages of docs/ that show outputs, without the exports."""
    for folder in ("guides", "concepts", "evidence", "reference"):
        for page in sorted((ROOT / "docs" / folder).glob("*.md")):
            text = page.read_text()
            if "<!-- outputs are checked -->" not in text and re.search(r"```\n```text\n|```console\n\$ dissent .*\n(?!```|\$ )", text):
                yield page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document", nargs="*", type=Path)
    parser.add_argument("--tool", type=Path, default=ROOT / "build" / "dissent")
    parser.add_argument("--check", action="store_true", help="compare the pages of docs/ and write nothing")
    args = parser.parse_args()
    usual = list(pages())
    if not args.check:
        usual += sorted((ROOT / "docs/reference/exports").glob("*.md"))
    different = 0
    for document in args.document or usual:
        document = document.resolve()
        text = refresh(document, args.tool.resolve())
        if not args.check:
            document.write_text(text)
        elif text != document.read_text():
            name = str(document.relative_to(ROOT))
            print("\n".join(difflib.unified_diff(document.read_text().split("\n"), text.split("\n"), name, "output", lineterm="")))
            different += 1
    if different:
        print(f"{different} pages show other outputs than the tool; run tools/docs/refresh_docs.py and read the diff")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
