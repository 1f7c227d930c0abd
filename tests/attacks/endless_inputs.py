"""Inputs without end stop with an error; pipes that end are read."""
import os
import pathlib
import shutil
import subprocess
import sys

from attack import ERRORS, LIMIT, SOURCE, TOOL, expect, rounds, run

FIXTURES = pathlib.Path(SOURCE, "tests/cli/fixtures")
DEVICES = ("/dev/zero", "/dev/urandom", "/dev/full")
MEMORY = ("--memory", "200M")


def commands(path):
    """Each option that names a file, with the file in question."""
    yield ["labels", path]
    yield ["labels", path, "--input-format", "json"]
    yield ["labels", path, "--input-format", "jsonl"]
    yield ["labels", "votes.csv", "--gold", path]
    yield ["agree", path]
    yield ["review", path]
    yield ["convert", path]
    yield ["watch", path]
    yield ["combine", path, "labels.csv"]
    yield ["eval", path, "--gold", "gold.csv"]
    yield ["eval", "labels.csv", "--gold", path]
    yield ["compare", "--a", path, "--b", "labels.csv", "--gold", "gold.csv"]
    yield ["report", path, "-o", "page.html"]
    yield ["train", "--labels", path, "--items", "items.csv", "-o", "model"]
    yield ["train", "--labels", "labels.csv", "--items", path, "-o", "model"]
    yield ["experiment", "status", path]
    yield ["tokenize", path, "--encoder", "bert"]


def without_memory(arguments):
    return arguments[0] in ("experiment",)


def with_limit(arguments):
    return arguments if without_memory(arguments) else [*arguments, *MEMORY]


def piped(what, codes, producer, arguments):
    """The output of a shell command on standard input."""
    with subprocess.Popen(producer, shell=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as source:
        try:
            expect(what, codes, *with_limit(arguments), stdin=source.stdout)
        finally:
            source.stdout.close()
            source.kill()


def named(what, codes, arguments, content):
    """A FIFO on the command line, as <(command) makes one."""
    pathlib.Path("fifo").unlink(missing_ok=True)
    os.mkfifo("fifo")
    writer = subprocess.Popen([sys.executable, "-c", "import sys\nopen('fifo','wb').write(open(sys.argv[1],'rb').read())",
                               content])
    try:
        expect(what, codes, *arguments)
    finally:
        writer.kill()
        writer.wait()


def main():
    for name, source in [("votes.csv", "votes.csv"), ("gold.csv", "gold.csv"), ("items.csv", "items.csv"),
                         ("labels.csv", "labels.csv"), ("e.yaml", "experiment.labels.yaml")]:
        shutil.copy(FIXTURES / source, name)
    shutil.copytree(FIXTURES / "bert", "bert")

    for device in DEVICES:
        for arguments in commands(device):
            expect(" ".join(arguments), ERRORS, *with_limit(arguments))
    for producer in ("cat /dev/zero", "cat /dev/urandom", "tr '\\0' a </dev/zero", "tr '\\0' '\\n' </dev/zero",
                     "tr '\\0' '\\042' </dev/zero"):
        for arguments in commands("-"):
            if arguments[0] not in ("train", "experiment", "report", "tokenize", "watch"):
                piped(f"{producer} | {' '.join(arguments)}", (0, *ERRORS), producer, arguments)

    # a file of holes: large, and quick to refuse
    with open("holes.csv", "wb") as f:
        f.truncate(1 << 36)
    for arguments in commands("holes.csv"):
        expect(f"64 GiB of NUL: {' '.join(arguments)}", ERRORS, *with_limit(arguments))

    named("votes through a FIFO", (0,), ["labels", "fifo", "-o", "out.csv"], "votes.csv")
    pathlib.Path("known.csv").write_text("task,label\nq1,yes\n")
    named("gold through a FIFO", (0,), ["eval", "out.csv", "--gold", "fifo", "--lenient"], "known.csv")
    votes = pathlib.Path("votes.csv").read_bytes()
    done = subprocess.run([TOOL, "labels", "-", "-o", "piped.csv"], input=votes, stderr=subprocess.DEVNULL, timeout=LIMIT)
    if done.returncode != 0 or pathlib.Path("piped.csv").read_bytes() != pathlib.Path("out.csv").read_bytes():
        raise SystemExit("votes through a pipe give other labels than through a FIFO")
    expect("an empty device", ERRORS, "labels", "/dev/null")

    in_yaml()
    beside_npy()
    for i, draw in rounds():
        # text that turns into something else after a while
        start = draw.choice([b"task,worker,label\n", b"{\"task\":", b"[", b"\xef\xbb\xbf", b"t1,w1,a\n" * 100, b""])
        rest = bytes(draw.choice(b"\0a,\"\n{[}") for _ in range(64)) * 4096
        name, arguments = "-", draw.choice([a for a in commands("-") if a[0] in ("labels", "agree", "convert", "combine")])
        done = subprocess.run([TOOL, *with_limit(arguments)], input=start + rest, capture_output=True, timeout=LIMIT)
        if done.returncode not in (0, *ERRORS):
            raise SystemExit(f"round {i}: {name} {arguments}: exit {done.returncode}\n{done.stderr.decode()[:2000]}")


def in_yaml():
    """Files that an experiment names must be regular ones."""
    text = pathlib.Path("e.yaml").read_text()
    for name in ("votes.csv", "gold.csv"):
        for kind in ("fifo", *DEVICES):
            target = pathlib.Path("named")
            target.unlink(missing_ok=True)
            if kind == "fifo":
                os.mkfifo(target)
            else:
                target.symlink_to(kind)
            pathlib.Path("hostile.yaml").write_text(text.replace(name, "named"))
            for command in ("status", "run"):
                expect(f"{name} of an experiment is {kind}: {command}", (3,), "experiment", command, "hostile.yaml",
                       names="hostile.yaml:")
    for kind in ("fifo", "/dev/zero"):
        target.unlink(missing_ok=True)
        os.mkfifo(target) if kind == "fifo" else target.symlink_to(kind)
        pathlib.Path("hostile.yaml").write_text(
            "name: x\ndata: {d: {votes: votes.csv, items: {file: named, kind: text}}}\n"
            "cells: [{name: a, model: mlp}]\nmeasure: {test: [accuracy]}\n")
        expect(f"items of an experiment are {kind}", (2, 3), "experiment", "status", "hostile.yaml", names="hostile.yaml:")
    expect("an experiment without end", ERRORS, "experiment", "status", "/dev/zero")


def beside_npy():
    """The lists beside an npy file are found by their names, so they must be regular files."""
    expect("labels as npy", (0,), "labels", "votes.csv", "-o", "l.npy")
    for kind in ("fifo", "/dev/zero"):
        for name in ("l.tasks.txt", "l.classes.txt"):
            original = pathlib.Path(name).read_bytes()
            pathlib.Path(name).unlink()
            os.mkfifo(name) if kind == "fifo" else os.symlink(kind, name)
            expect(f"{name} is {kind}", (3,), "eval", "l.npy", "--gold", "gold.csv", names=name)
            pathlib.Path(name).unlink()
            pathlib.Path(name).write_bytes(original)


main()
