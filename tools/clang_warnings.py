#!/usr/bin/env python3
"""What clang says of sources that another compiler has built: clang_warnings.py BUILD. Every C file of BUILD's
compile_commands.json is parsed with its flags and warnings as errors; nothing is generated, so this takes a fifth of a
build. Exits with 1 when there is anything to say."""

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def command(entry):
    words = shlex.split(entry["command"])
    first = next(i for i, word in enumerate(words) if word.startswith("-"))  # after the compiler and its launcher
    return ["clang", "-fsyntax-only", "-Werror"] + words[first : words.index("-o")] + [entry["file"]]


def main(build):
    with open(os.path.join(build, "compile_commands.json")) as f:
        entries = [e for e in json.load(f) if e["file"].endswith(".c") and not re.search(r"/(cuda|mpi)/", e["file"])]

    def check(entry):
        return subprocess.run(command(entry), cwd=entry["directory"], capture_output=True, text=True)

    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(check, entries):
            if result.returncode != 0 or result.stderr:
                failed += 1
                print(result.stderr, end="")
    print(f"clang: {len(entries)} files parsed, {failed} with something to say")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "build"))
