#!/usr/bin/env python3
"""Writes what a program compiled against the library relies on, one line each: exported symbols with their versions,
sizes of the public structs with the offset and size of each field, values of the public enumerations' constants.

    tools/abi.py LIBRARY > tests/abi.txt

Names come from include/dissent/*.h by their layout (clang-format keeps it), numbers from the compiler: a C program that
prints sizeof and offsetof is made, compiled with $CC and run. Names that are misread are compile errors."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def closing(text, start):
    """The place of the brace that closes the one at start."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    raise SystemExit("a brace is not closed: " + text[start : start + 80])


def field_names(body):
    """Names of the fields of a struct, those of nested unnamed structs included as a.b."""
    names = []
    at = 0
    while body[at:].strip():
        nested = re.match(r"\s*(?:const\s+)?(?:struct|union)\s*\{", body[at:])
        if nested:
            end = closing(body, at + nested.end() - 1)
            stop = body.index(";", end)
            inner = field_names(body[at + nested.end() : end])
            for name in declared(body[end + 1 : stop]) or [""]:
                names += [name] if name else inner
                if name and not re.search(r"[\[*]", body[end + 1 : stop]):
                    names += [f"{name}.{i}" for i in inner]
        else:
            stop = body.index(";", at)
            names += declared(body[at:stop])
        at = stop + 1
    return names


def declared(declaration):
    """Names that `const char *a, *b[2]` or `int (*f)(void *user)` declares."""
    function = re.search(r"\(\*(\w+)\)", declaration)
    if function:
        return [function.group(1)]
    declaration = re.sub(r"\[[^\]]*\]", "", declaration)
    return [m.group(1) for part in declaration.split(",") if (m := re.search(r"(\w+)\s*$", part))]


def public_structs():
    """(name, fields) of each struct, by header and place."""
    for header in sorted((ROOT / "include/dissent").glob("*.h")):
        text = without_comments(header.read_text())
        for start in re.finditer(r"^(typedef )?(struct|union)( \w+)? \{", text, flags=re.M):
            end = closing(text, start.end() - 1)
            if start.group(1):
                name = re.match(r"\s*(\w+)", text[end + 1 :]).group(1)
            else:
                name = start.group(2) + start.group(3)
            yield name, field_names(text[start.end() : end])


def public_constants():
    """Constants of the public enumerations: after the preprocessor, since some come from tables."""
    source = '#include "dissent/dissent.h"\n'
    command = [*compiler(), "-E", "-P", "-"]
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    for start in re.finditer(r"\benum(?: \w+)?\s*\{", text):
        body = text[start.end() : closing(text, start.end() - 1)]
        yield from (m.group(0) for part in body.split(",") if (m := re.match(r"DIS_\w+", part.strip())))


def compiler():
    return [*os.environ.get("CC", "cc").split(), "-std=c11", f"-I{ROOT / 'include'}"]


def layouts():
    lines = ['#include "dissent/dissent.h"', "#include <stddef.h>", "#include <stdio.h>", "int main(void)", "{"]
    for name, fields in public_structs():
        lines.append(f'printf("struct {name} %zu\\n", sizeof({name}));')
        for field in fields:
            lines.append(
                f'printf("    {field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));'
            )
    for constant in public_constants():
        lines.append(f'printf("constant {constant} %lld\\n", (long long){constant});')
    lines.append("return 0; }")
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "layout.c"), Path(folder, "layout")
        source.write_text("\n".join(lines))
        subprocess.run([*compiler(), str(source), "-o", str(program)], check=True)
        return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


def symbols(library):
    table = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    found = (line.split()[1:] for line in table.splitlines())
    return "".join(sorted(f"symbol {name.replace('@@', '@')}\n" for kind, name in found if kind != "A"))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tools/abi.py LIBRARY > tests/abi.txt")
    sys.stdout.write("# On 64-bit Linux. Structs: size; fields: offset, size.\n" + symbols(sys.argv[1]) + layouts())


if __name__ == "__main__":
    main()
