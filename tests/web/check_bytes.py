#!/usr/bin/env python3
"""The golden cases of tests/cli/cases with two programs: the command line tool (DISSENT_ISA=baseline), and the WebAssembly program
of the page in node. Standard output and every file that a case writes must have the same bytes.

usage: check_bytes.py DISSENT BUILD_FOLDER [CASE...]

A case is left out if it runs a command that the page does not have, or if it is in DIFFERENT.
`--threads N` is removed.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CASES = ROOT / "tests" / "cli" / "cases"
COMMANDS = {"report", "labels", "convert", "agree", "review", "panel", "views", "combine", "synth"}

# Cases about what the page has not, and one whose p-values depend on lgamma of the C library.
DIFFERENT = {
    "labels_pairwise_append": "standard input", "report_causes": "lgamma",
    "convert_controls": "standard input", "labels_append": "standard input", "labels_stdin": "standard input", "hostile": "a folder above",
    "texts_of_exports": "standard input", "convert": "zlib", "labels_gzip": "zlib", "output_names": "zlib", "usage_number": "threads",
    "labels_terminal": "a terminal", "report_operands": "absolute paths",
}
BASELINE = {"DISSENT_ISA": "baseline"}


def read_case(path):
    """Sections of a case by title."""
    sections, title = {}, None
    for line in path.read_text().splitlines(keepends=True):
        if line.startswith("#### "):
            title = line[5:].strip()
            sections[title] = ""
        else:
            sections[title] += line
    return sections


def commands_of(script):
    return set(re.findall(r'"\$DISSENT(?:_FAULTY)?"\s+([a-z-]+)', script))


def lay_out(case, folder):
    for line in case.get("files", "").splitlines():
        name, *fixture = line.split()
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests" / "cli" / "fixtures" / (fixture[0] if fixture else name), target)


def run_case(case, tool, environment):
    """Bytes of standard output, and of the files that are there at the end, by name."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "work"
        folder.mkdir()
        lay_out(case, folder)
        variables = {**os.environ, "LC_ALL": "C.UTF-8", "DISSENT": str(tool), "DISSENT_FAULTY": str(tool), **environment}
        done = subprocess.run(["sh", "-c", case["command"]], cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
        files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and not p.is_symlink()}
        return {"standard output": re.sub(rb"\d+\.\d+ s\b", b"T s", done.stdout).replace(top.encode(), b"TOP"), **files}, done


def different(expected, found):
    return [part for part in sorted(set(expected) | set(found)) if expected.get(part) != found.get(part)]


def compare(name, native, build):
    """(name, number of outputs, those that differ, what the program said)"""
    case = read_case(CASES / f"{name}.case")
    expected, _ = run_case(case, native, BASELINE)
    case["command"] = re.sub(r" --threads \d+", "", case["command"])
    found, done = run_case(case, HERE / "tool.js", {"DISSENT_WEB": str(build)})
    return name, len(expected), different(expected, found), done.stderr.decode(errors="replace").strip()


def main():
    native, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    names = sys.argv[3:] or sorted(path.stem for path in CASES.glob("*.case"))
    used = {name: commands_of(read_case(CASES / f"{name}.case")["command"]) for name in names}
    compared = [name for name in names if used[name] and used[name] <= COMMANDS and name not in DIFFERENT]
    failed, outputs = [], 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, n, wrong, message in pool.map(lambda n: compare(n, native, build), compared):
            outputs += n
            if wrong:
                failed.append(name)
                print(f"{name}: other bytes: {', '.join(wrong)}\n  {message[-400:]}")
    print(f"{len(compared)} of {len(names)} cases, {outputs} outputs: {len(failed)} cases differ")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
