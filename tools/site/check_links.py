#!/usr/bin/env python3
"""Checks the links of the Markdown documents without building the site: files exist, and so do anchors of headings.

    check_links.py [ROOT]

Pages that the site generates (reference/cli, tables, python, c and exit-codes.md) are checked by its build."""

import os
import re
import sys
from pathlib import Path

GENERATED = re.compile(r"(^|/)(cli|tables|python|c)/[\w-]+\.md$|exit-codes\.md$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
FOLDERS = ("docs", "bench", "papers", "tests")


def prose_lines(text):
    """Lines outside code blocks, without code spans."""
    fence = None
    for line in text.split("\n"):
        opening = re.match(r"\s*(```+|~~~+)", line)
        if opening:
            fence = None if fence and line.strip().startswith(fence) else fence or opening.group(1)
        elif not fence:
            yield re.sub(r"`[^`]*`", "CODE", line) if "](" in line else line


def anchors(text):
    """Addresses of headings as GitHub and MyST form them, and explicit targets."""
    found, seen = set(re.findall(r"^\(([\w-]+)\)=$", text, re.M)) | set(re.findall(r'<a (?:id|name)="([^"]+)"', text)), {}
    for line in prose_lines(text):
        heading = re.match(r"#{1,6} (.*)", line)
        if heading:
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1))
            slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
            seen[slug] = seen.get(slug, -1) + 1
            found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
    return found


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]).resolve()
    documents = sorted([*root.glob("*.md"), *(page for folder in FOLDERS for page in (root / folder).rglob("*.md"))])
    known, errors, n = {}, [], 0
    for document in documents:
        for line in prose_lines(document.read_text()):
            for link in LINK.findall(line):
                if "://" in link or link.startswith("mailto:"):
                    continue
                n += 1
                name, _, anchor = link.partition("#")
                target = Path(os.path.normpath(document.parent / name)) if name else document
                if GENERATED.search(name) and not target.exists():
                    continue
                where = f"{document.relative_to(root)}: {link}"
                if not target.exists():
                    errors.append(f"{where}: the file does not exist")
                elif anchor and target.suffix == ".md":
                    known.setdefault(target, None)
                    if known[target] is None:
                        known[target] = anchors(target.read_text())
                    if anchor not in known[target]:
                        errors.append(f"{where}: the page has no such heading")
    print("\n".join(errors + [f"{n} links in {len(documents)} documents, {len(errors)} broken"]))
    return 1 if errors or n < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
