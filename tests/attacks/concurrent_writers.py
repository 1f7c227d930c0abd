"""Several processes write the same files at once: see concurrent_writers.sh."""

import csv
import os
import pathlib
import random
import subprocess
import sys
import time

DISSENT = os.environ["DISSENT"]
SECONDS = float(os.environ.get("DISSENT_ATTACK_SECONDS") or 10)
SEED = int(os.environ.get("DISSENT_ATTACK_SEED") or 1)
N = 4  # processes at once


def write_votes(path, tasks, workers, shift=0):
    rows = [
        f"{task},{worker},{(i + k // 2 + shift) % 3}"
        for i, task in enumerate(tasks)
        for k, worker in enumerate(workers)
    ]
    pathlib.Path(path).write_text("task,worker,label\n" + "\n".join(rows) + "\n", encoding="utf-8")


def run_all(commands):
    running = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for c in commands]
    ended = [process.communicate(timeout=120) for process in running]
    return [(process.returncode, err.decode()) for process, (_, err) in zip(running, ended)]


def check(claim, what):
    if not claim:
        sys.exit(f"seed {SEED}: {what}")


def numbers(random_):
    """Every worker of every process has one number, the same in numbers.csv and in the votes that were written."""
    pathlib.Path("numbers.csv").unlink(missing_ok=True)
    crowds = [random_.sample(range(40), 12) for _ in range(N)]
    for i, crowd in enumerate(crowds):
        write_votes(f"{i}.csv", [f"t{t}" for t in range(20)], [f"w{w}" for w in crowd])
    convert = [DISSENT, "convert", "-q", "--anonymise", "--numbers", "numbers.csv"]
    for code, err in run_all([[*convert, f"{i}.csv", "-o", f"anonymous{i}.csv"] for i in range(N)]):
        check(code == 0, f"convert --numbers: exit code {code}: {err}")
    with open("numbers.csv", encoding="utf-8") as file:
        number = {row["worker"]: row["number"] for row in csv.DictReader(file)}
    check(len(set(number.values())) == len(number), "a number was given twice")
    for i, crowd in enumerate(crowds):
        lost = [w for w in crowd if f"w{w}" not in number]
        check(not lost, f"numbers of {lost} are lost")
        with open(f"anonymous{i}.csv", encoding="utf-8") as file:
            used = {row["worker"] for row in csv.DictReader(file)}
        check(used == {number[f"w{w}"] for w in crowd}, f"anonymous{i}.csv has other numbers than numbers.csv")


def arrays(random_):
    """x.npy, x.tasks.txt and x.classes.txt are of one process: read together, they give one of the expected tables."""
    labels = [DISSENT, "labels", "-q", "--method", "majority"]
    for i in range(N):
        write_votes(f"{i}.csv", [f"{i}-{random_.random()}" for _ in range(30)], ["a", "b", "c"], shift=i)
        subprocess.run([*labels, f"{i}.csv", "-o", f"{i}-labels.csv"], check=True)
    for code, err in run_all([[*labels, f"{i}.csv", "-o", "x.npy"] for i in range(N)]):
        check(code == 0, f"labels -o x.npy: exit code {code}: {err}")
    tasks = pathlib.Path("x.tasks.txt").read_text(encoding="utf-8").split()
    check(len({task.split("-")[0] for task in tasks}) == 1 and len(tasks) == 30, "x.tasks.txt is mixed")
    owner = int(tasks[0].split("-")[0])
    subprocess.run([*labels, f"{owner}.csv", "-o", "y.npy"], check=True)
    check(pathlib.Path("x.npy").read_bytes() == pathlib.Path("y.npy").read_bytes(), "x.npy is of another process")


def one_file(_random):
    """A file that several processes write is that of one of them."""
    labels = [DISSENT, "labels", "-q", "--method", "majority"]
    for code, err in run_all([[*labels, f"{i}.csv", "-o", "one.csv"] for i in range(N)]):
        check(code == 0, f"labels -o one.csv: exit code {code}: {err}")
    found = pathlib.Path("one.csv").read_bytes()
    check(found in [pathlib.Path(f"{i}-labels.csv").read_bytes() for i in range(N)], "one.csv is of no process")


def main():
    print(f"seed {SEED}, {SECONDS:g} s")
    random_ = random.Random(SEED)
    end = time.monotonic() + SECONDS
    rounds = 0
    while time.monotonic() < end or rounds < 2:
        for attack in (numbers, arrays, one_file):
            attack(random_)
        rounds += 1
    stray = [path.name for path in pathlib.Path(".").iterdir() if path.suffix not in (".csv", ".npy", ".txt")]
    check(not stray, f"files stayed: {stray}")
    print(f"{rounds} rounds of {N} processes")


main()
