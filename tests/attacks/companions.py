"""Runs commands whose outputs are their inputs under another name: see companions.sh."""

import itertools
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

DISSENT = os.environ["DISSENT"]
SECONDS = float(os.environ.get("DISSENT_ATTACK_SECONDS") or 10)
SEED = int(os.environ.get("DISSENT_ATTACK_SEED") or 1)

# Arguments with inputs in braces, and the options that name an output.
COMMANDS = [
    (
        "labels {votes.csv} --input-format csv --gold {gold.csv} --classes {classes.txt}",
        "-o --workers --save-state --json",
    ),
    (
        "labels {votes.csv} --input-format csv --method dawid-skene --init-state {state}",
        "-o --save-growing --save-views",
    ),
    ("combine {labels.csv} {array.npy}", "-o --json"),
    ("views {labels.csv} {array.npy}", "-o --json"),
    ("convert {votes.csv} --input-format csv --anonymise", "-o --numbers"),
    ("convert {labels.csv} --to huggingface --texts {texts.csv}", "-o"),
    ("convert {data.jsonl} --input-format csv --to huggingface", "-o"),
    ("convert {labels.csv} --to huggingface --texts {README.md}", "-o"),
    ("train --items {texts.csv} --labels {model.json} --epochs 1 --model text:width=4,buckets=64", "-o"),
    ("predict model --items {texts.csv}", "-o"),
    ("train --items {texts.csv} --labels {labels.csv} --epochs 1 --model text:width=4,buckets=64", "-o"),
    ("agree {votes.csv} --input-format csv --gold {gold.csv} --resamples 0", "-o --workers --items --pairs --json"),
    ("review {votes.csv} --input-format csv --gold {gold.csv}", "-o --labels --items --workers --json"),
    ("eval {labels.csv} --gold {gold.csv} --lenient --resamples 0", "-o --items --confusion --json"),
    ("report --votes {votes.csv} --labels x={labels.csv}", "-o --json"),
]


def same_name(source):
    return source, source


def symbolic_link(source):
    os.symlink(source, "link")
    return source, "link"


def hard_link(source):
    os.link(source, "link")
    return source, "link"


def here(source):
    return source, "."


def in_folder(source):
    pathlib.Path("folder").mkdir()
    name = f"folder/{source}"
    os.rename(source, name)
    return name, "folder"


def list_of_array(suffix, array):
    def make(source):
        name = f"x{suffix}"
        os.rename(source, name)
        return name, array

    make.__name__ = f"x{suffix} and {array}"
    return make


WAYS = [
    same_name,
    symbolic_link,
    hard_link,
    here,
    in_folder,
    list_of_array(".tasks.txt", "x.npy"),
    list_of_array(".classes.txt", "x.npy"),
    list_of_array(".tasks.txt", "x.npy.gz"),
]


def inputs_of(command):
    return [word.split("}")[0] for word in command.split("{")[1:]]


def attack(command, option, victim, way):
    """The problem, in words; empty: nothing was lost."""
    shutil.copytree("..", ".", dirs_exist_ok=True, ignore=shutil.ignore_patterns("case"))
    name, output = way(victim)
    words = command.replace("{" + victim + "}", name).replace("{", "").replace("}", "").split()
    words = [DISSENT, *words, option, output]
    before = {path: path.read_bytes() for path in [pathlib.Path(f) for f in inputs_of(command) if f != victim]}
    before[pathlib.Path(name)] = pathlib.Path(name).read_bytes()
    for companion in ("array.tasks.txt", "array.classes.txt"):
        if pathlib.Path(companion).exists():
            before[pathlib.Path(companion)] = pathlib.Path(companion).read_bytes()
    done = subprocess.run(words, capture_output=True, timeout=60, check=False)
    shown = f"{' '.join(words[1:])} ({way.__name__})"
    if done.returncode not in (0, 2, 3, 4):
        return f"{shown}: exit code {done.returncode}: {done.stderr.decode(errors='replace')}"
    for path, contents in before.items():
        if not path.exists() or path.read_bytes() != contents:
            return f"{shown}: exit code {done.returncode}, and {path} is lost"
    return ""


def main():
    print(f"seed {SEED}, {SECONDS:g} s")
    cases = [
        (command, option, victim, way)
        for command, options in COMMANDS
        for option, victim, way in itertools.product(options.split(), inputs_of(command), WAYS)
    ]
    random.Random(SEED).shuffle(cases)
    end = time.monotonic() + SECONDS
    n = 0
    for case in cases:
        if time.monotonic() > end:
            break
        pathlib.Path("case").mkdir()
        os.chdir("case")
        problem = attack(*case)
        os.chdir("..")
        shutil.rmtree("case")
        if problem:
            sys.exit(f"seed {SEED}: {problem}")
        n += 1
    print(f"{n} of {len(cases)} combinations: nothing lost")


main()
