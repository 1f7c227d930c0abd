#!/usr/bin/env python3
"""Rewrites what documents show below their shell blocks with what the blocks print.

    tools/docs/refresh_docs.py [--tool build/dissent] [DOCUMENT ...]

Documents: README.md, docs/start/tour.md and docs/reference/exports/*.md if none is named. A ```text block directly after a ```sh block
is replaced; blocks run in order in one empty folder per document (pages of exports: with the files of examples/exports).
tests/cli/readme.sh and tests/cli/exports.sh check the result. Read the diff before you commit it."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = re.compile(r"^(\./run|make|cmake|git|cc) ")


def plain(text):
    """Without what differs from run to run: times, and digits that depend on the instruction set."""
    text = re.sub(r", \d+\.\d+ s$", ", T s", text, flags=re.M)
    text = re.sub(r"( (?:yes|no|-) +)\d+\.\d{3}$", r"\1T", text, flags=re.M)
    return re.sub(r"(\d\.\d{6})\d+", r"\1", text)


def run(code, folder, tool):
    lines = [line for line in code.splitlines() if not SKIPPED.match(line)]
    path = f"{tool.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-eu", "-c", "\n".join(lines)],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.exit(f"this block failed:\n{code}\n{done.stdout}")
    return done.stdout


def refresh(document, tool):
    lines, out, code, ran, i = document.read_text().split("\n"), [], None, None, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "work"
        if document.parent.name == "exports":
            shutil.copytree(ROOT / "examples" / "exports", folder)
        else:
            folder.mkdir()
        while i < len(lines):
            opening = lines[i]
            if not opening.startswith("```"):
                out.append(opening)
                i += 1
                continue
            end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith("```"))
            body = lines[i + 1 : end]
            if opening == "```sh":
                code = "\n".join(body)
                ran = run(code, folder, tool)
            elif opening == "```text" and ran is not None:
                if plain("\n".join(body)) != plain(ran.rstrip("\n")):
                    body = ran.rstrip("\n").split("\n")
                ran = None
            out += [opening, *body, lines[end]]
            i = end + 1
    document.write_text("\n".join(out))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document", nargs="*", type=Path)
    parser.add_argument("--tool", type=Path, default=ROOT / "build" / "dissent")
    args = parser.parse_args()
    usual = [ROOT / "README.md", ROOT / "docs" / "start" / "tour.md", *sorted((ROOT / "docs" / "reference" / "exports").glob("*.md"))]
    for document in args.document or usual:
        refresh(document.resolve(), args.tool.resolve())


if __name__ == "__main__":
    main()
