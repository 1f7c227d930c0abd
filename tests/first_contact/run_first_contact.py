#!/usr/bin/env python3
"""Tables as people have them: dissent reads them, or suggests commands that read them.

cases.json has one object per table:
  file      in tables/ (or an address), args: options besides
  reads     the table is understood: items, workers, classes, labels of some items
  suggests  exit 3 and suggested commands; each one is run, and the results are these, in order
  says      patterns of the message (without "suggests": the command fails with `exit`)
  notes, no_notes   patterns that standard error has, and has not
  follow    a command of the message (pattern) is run, and the file that it writes is read

usage: run_first_contact.py DISSENT [NAME...]
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def shell(command, folder, tool):
    environment = {**os.environ, "PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["sh", "-c", command] if isinstance(command, str) else command,
        cwd=folder, env=environment, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
    )


def check_result(folder, expected):
    """What is wrong with the result in `folder`, None: nothing."""
    summary = json.loads((folder / "summary.json").read_text())
    for key in ("items", "workers", "classes"):
        if key in expected and summary.get(key) != expected[key]:
            return f"{key}: {summary.get(key)}, expected {expected[key]}"
    if "labels" in expected:
        with open(folder / "labels.csv", newline="") as f:
            labels = {row["task"]: row["label"] for row in csv.DictReader(f)}
        for task, label in expected["labels"].items():
            if labels.get(task) != label:
                return f"label of {task}: {labels.get(task)}, expected {label}"
    return None


def check_commands(case, message, folder, tool):
    commands = [line.strip() for line in message.splitlines() if line.startswith("  dissent ")]
    if len(commands) != len(case["suggests"]):
        return f"{len(commands)} suggestions, expected {len(case['suggests'])}"
    for command, expected in zip(commands, case["suggests"]):
        for name in ("summary.json", "labels.csv"):
            (folder / name).unlink(missing_ok=True)
        done = shell(command, folder, tool)
        if done.returncode != 0:
            return f"the suggestion fails: {command}\n{done.stderr}"
        wrong = check_result(folder, expected)
        if wrong:
            return f"the suggestion gives another result: {command}\n{wrong}"
    return None


def check_follow(follow, message, folder, tool):
    found = re.search(follow["pattern"], message)
    if not found:
        return "there is no command to follow"
    followed = shell(found.group(1), folder, tool)
    if followed.returncode != 0:
        return f"{found.group(1)}: {followed.stderr}"
    done = shell(command_of(follow["file"], []), folder, tool)
    return done.stderr if done.returncode != 0 else check_result(folder, follow["reads"])


def command_of(file, args):
    return ["dissent", "labels", file, *args, "-o", "labels.csv", "--json", "summary.json"]


def check(case, folder, tool):
    if (HERE / "tables" / case["file"]).is_file():
        shutil.copy(HERE / "tables" / case["file"], folder)
    done = shell(command_of(case["file"], case.get("args", [])), folder, tool)
    message = done.stderr
    code = 0 if "reads" in case else case.get("exit", 3)
    if done.returncode != code:
        return f"exit {done.returncode}, expected {code}\n{message}"
    for pattern in case.get("notes", []) + case.get("says", []):
        if not re.search(pattern, message):
            return f"not said: {pattern}\n{message}"
    for pattern in case.get("no_notes", []):
        if re.search(pattern, message):
            return f"said: {pattern}\n{message}"
    wrong = check_result(folder, case["reads"]) if "reads" in case else None
    if not wrong and "suggests" in case:
        wrong = check_commands(case, message, folder, tool)
    if not wrong and "follow" in case:
        wrong = check_follow(case["follow"], message, folder, tool)
    return f"{wrong}\n{message}" if wrong else None


def main():
    tool = Path(sys.argv[1]).resolve()
    cases = json.loads((HERE / "cases.json").read_text())
    used = {case["file"] for case in cases}
    unused = [p.name for p in (HERE / "tables").iterdir() if p.name not in used]
    failed = len(unused)
    if unused:
        print(f"tables without a case: {', '.join(unused)}")
    for case in cases:
        if sys.argv[2:] and case["name"] not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(case, Path(folder), tool)
        if wrong:
            failed += 1
            print(f"{case['name']} ({case['file']}): {wrong}\n")
    print(f"{len(cases)} tables, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
