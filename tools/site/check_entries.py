#!/usr/bin/env python3
"""Checks that the reference has an entry for every name.

    check_entries.py --tool DISSENT                the generated Markdown: options, rows of `dissent list`, their keys, exit codes
    check_entries.py --tool DISSENT --site FOLDER  the built site as well: also Python names and C functions

Expected names come from other sources than the pages: options from the completion script, rows from `dissent list`, exit
codes from status.h, Python names from __all__ of the modules, C functions from the headers."""

import argparse
import ast
import importlib
import re
import sys
import tempfile
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import reference_pages

ROOT = Path(__file__).resolve().parents[2]


def options(tool):
    """(command, option) of the fish completion."""
    for line in reference_pages.output_of(tool, "completion", "fish").split("\n"):
        command = re.search(r"__fish_seen_subcommand_from ([a-z]+)'", line)
        option = re.search(r" -l ([a-z0-9-]+)", line)
        if command and option:
            yield command.group(1), f"--{option.group(1)}"


def labels(tool):
    """Addresses of the rows of `dissent list`, of their keys, and of exit codes."""
    for table in reference_pages.TABLES:
        for row, _ in reference_pages.table_rows(tool, table):
            yield reference_pages.anchor(table, row)
            if table == "columns":
                continue
            text = reference_pages.output_of(tool, "list", table, row)
            keys = re.search(r"^(?:options|keys):\n((?:  .*\n?)*)", text, re.M)
            for key in re.findall(r"^  ([a-z][\w-]*)", keys.group(1), re.M) if keys else []:
                yield reference_pages.anchor(table, row, key)
    header = (ROOT / "include" / "dissent" / "status.h").read_text()
    for name in re.findall(r"X\(DIS_(\w+), \d+,", header):
        yield reference_pages.anchor("exit", name)


def stated_names(module):
    """__all__ of a module that cannot be imported, because it needs a package that is not installed."""
    source = (ROOT / "python" / (module.replace(".", "/") + ".py")).read_text()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            yield from ast.literal_eval(node.value)


def python_names():
    for module in reference_pages.PYTHON_MODULES:
        try:
            loaded = importlib.import_module(module)
        except ImportError:
            yield from ((module, name) for name in stated_names(module))
            continue
        for name in getattr(loaded, "__all__", []):
            try:
                value = getattr(loaded, name)
            except ImportError:  # it derives from a class of a package that is not installed, so autodoc cannot show it
                continue
            if not name.startswith("__") and not isinstance(value, type(importlib)):
                yield module, name


def c_functions():
    for header in sorted((ROOT / "include" / "dissent").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.S)
        text = re.sub(r"^\s*#.*(?:\\\n.*)*", " ", text, flags=re.M)
        yield from re.findall(r"DIS_API[^;{(]*?\b(dis_\w+)\s*\(", text)
        for macro, suffix in (("DIS_OPTIONS_API", "_default"), ("DIS_VIEW_API", "_get_view"), ("DIS_ENUM_API", "_name")):
            for name in re.findall(rf"\b{macro}\((\w+)\)", text):
                yield name + suffix


def inventory(site):
    """(domain:type, name) of objects.inv."""
    data = (site / "objects.inv").read_bytes()
    body = zlib.decompress(data.split(b"\n", 4)[4]).decode()
    return {match.group(2, 1) for match in re.finditer(r"^(.+?) (\w+:\w+) -?\d+ \S+ .*$", body, re.M)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=Path, default=ROOT / "build" / "dissent")
    parser.add_argument("--site", type=Path, help="folder of the built site")
    args = parser.parse_args()
    tool = args.tool.resolve()
    missing, n = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        reference_pages.write_pages(tool, ROOT, Path(scratch))
        pages = {page.relative_to(scratch).as_posix(): page.read_text() for page in Path(scratch).rglob("*.md")}
    addresses = set(re.findall(r"^\((\S+)\)=$", "\n".join(pages.values()), re.M))
    entries = inventory(args.site) if args.site else set()
    wanted_options, wanted_labels = set(options(tool)), list(labels(tool))
    if len(wanted_options) < 300 or len(wanted_labels) < 300:
        sys.exit(f"only {len(wanted_options)} options and {len(wanted_labels)} names of tables were found: the listings have another form")
    for command, option in sorted(wanted_options):
        n += 1
        page = pages.get(f"cli/{command}.md", "")
        if not re.search(rf"^````\{{option\}} (?:-\w, )?{option}(?![\w-])", page, re.M):
            missing.append(f"option {option} of dissent {command}")
        elif args.site and ("std:cmdoption", f"dissent-{command}.{option}") not in entries:
            missing.append(f"option {option} of dissent {command} (site)")
    for label in wanted_labels:
        n += 1
        if label not in addresses or args.site and ("std:label", label) not in entries:
            missing.append(f"name {label}")
    if args.site:
        names = {name for kind, name in entries if kind.startswith("py:")}
        functions = {name for kind, name in entries if kind in ("c:function", "c:macro")}
        for module, name in python_names():
            n += 1
            if not {f"{module}.{name}", f"dissent.{name}"} & names:
                missing.append(f"Python name {module}.{name}")
        for name in sorted(set(c_functions())):
            n += 1
            if name not in functions:
                missing.append(f"C function {name}")
    if missing:
        print("no entry in the reference:\n  " + "\n  ".join(missing))
        return 1
    print(f"{n} names have an entry in the reference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
