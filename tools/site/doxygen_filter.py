#!/usr/bin/env python3
"""Prints a header with its ordinary comments as Doxygen comments: those that begin a line document what follows, those after
code on the same line document what precedes them. The comment at the top of the file documents the file."""

import re
import sys

# Text of functions that every object or structure of options has and that headers do not describe one by one.
USUAL = [
    (r"DIS_API void (dis_\w+)_destroy\(", "Frees the object and what its views point to. NULL is allowed."),
    (r"DIS_OPTIONS_API\((\w+)\)", "Default options, for the size of the structure that the caller was compiled with."),
    (r"DIS_ENUM_API\((\w+)\)", "The name of a value in JSON and in tables."),
    (r"DIS_VIEW_API\((\w+)\)", "A read-only view of the object. Its pointers stay valid as long as the object."),
]

text = open(sys.argv[1], encoding="utf-8").read()
out, position, first = [], 0, True
for match in re.finditer(r"/\*.*?\*/", text, re.S):
    out.append(text[position : match.start()])
    position = match.end()
    line_start = text.rfind("\n", 0, match.start()) + 1
    before = text[line_start : match.start()]
    body = match.group(0)[2:-2]
    body = body.replace("file:line:column", "file, line and column")  # would be read as the address of a file
    # markup characters of Doxygen are ordinary characters in our comments
    body = re.sub(r"([\\@<>#&%])", r"\\\1", body)
    body = re.sub(r"^( \*(?:     ).*)$", lambda m: m.group(1), body, flags=re.M)
    if first:
        out.append("/** \\file\n" + body.split("\n", 1)[-1] + "*/" if "\n" in body else "/** \\file " + body + "*/")
        first = False
    elif before.strip():
        out.append("/**<" + body + "*/")
    else:
        out.append("/**" + body + "*/")
out.append(text[position:])
lines, documented = [], False
for line in "".join(out).split("\n"):
    if not documented:
        for pattern, usual in USUAL:
            if re.match(pattern, line):
                line = f"/** {usual} */ {line}"  # the same number of lines
    documented = line.rstrip().endswith("*/") and not line.lstrip().startswith("DIS_")
    lines.append(line)
sys.stdout.write("\n".join(lines))
