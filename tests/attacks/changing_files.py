"""Changes a file while a command reads it: see changing_files.sh."""

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
VOTES = [DISSENT, "labels", "-q", "--method", "majority"]

# The file that changes, and the command that reads it.
CASES = [
    ("votes.csv", VOTES + ["votes.csv"]),
    ("votes.csv.gz", VOTES + ["votes.csv.gz"]),
    ("labels.csv", [DISSENT, "combine", "-q", "labels.csv", "labels2.csv"]),
    ("labels.npy", [DISSENT, "combine", "-q", "labels.npy", "labels2.csv"]),
    ("state", [DISSENT, "labels", "-q", "--method", "dawid-skene:iterations=2", "votes.csv", "--init-state", "state"]),
    ("votes.csv", [DISSENT, "agree", "-q", "--resamples", "0", "votes.csv"]),
    ("long_names.csv", VOTES + ["long_names.csv"]),
]


def truncate(path, random_):
    os.truncate(path, random_.randrange(path.stat().st_size))


def truncate_to_nothing(path, _random):
    os.truncate(path, 0)


def extend(path, _random):
    with open(path, "ab") as file:
        file.write(b"t1,w1,0\n" * 1000)


def overwrite(path, random_):
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.seek(random_.randrange(size))
        file.write(b"0,1\n" * 5000)


def replace(path, _random):
    other = path.with_name("other")
    other.write_bytes(b"task,worker,label\na,b,0\n")
    os.replace(other, path)


def delete(path, _random):
    path.unlink()


CHANGES = [truncate, truncate_to_nothing, extend, overwrite, replace, delete]


def run(command):
    """The exit code, the output and the messages of a command that nobody disturbs, and its time."""
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace"), time.monotonic() - begin


def is_mapped(process, path):
    try:
        return f"{path.resolve()}\n" in pathlib.Path(f"/proc/{process.pid}/maps").read_text()
    except OSError:
        return False


def attack(file, command, change, delay, random_):
    """Starts the command, waits until it has opened the file and `delay` longer, and changes the file."""
    path = pathlib.Path(file)
    saved = path.with_name("saved")
    shutil.copy2(path, saved)
    with open("out", "wb") as out, open("err", "wb") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        while process.poll() is None and not is_mapped(process, path):
            pass
        time.sleep(delay)
        change(path, random_)
        code = process.wait(timeout=120)
    os.replace(saved, path)
    return code, pathlib.Path("out").read_bytes(), pathlib.Path("err").read_text(errors="replace")


def main():
    print(f"seed {SEED}, {SECONDS:g} s")
    random_ = random.Random(SEED)
    expected = []
    for _, command in CASES:
        code, out, err, seconds = run(command)
        if code or not out:
            sys.exit(f"{' '.join(command)} fails with exit code {code} before any change: {err}")
        expected.append((out, seconds))
    detected = same = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or detected + same < len(CASES) * len(CHANGES):
        which, change = (detected + same) % len(CASES), CHANGES[(detected + same) // len(CASES) % len(CHANGES)]
        file, command = CASES[which]
        delay = random_.random() ** 3 * expected[which][1]
        code, out, err = attack(file, command, change, delay, random_)
        if code == 0 and out == expected[which][0]:
            same += 1
        elif code == 4 and file in err:
            detected += 1
        else:
            what = f"{change.__name__} of {file} {delay:.4f} s after it was opened"
            result = f"exit code {code}, {'other' if code == 0 else 'no'} output"
            sys.exit(f"seed {SEED}: {what}: {' '.join(command)}: {result}\n{err}")
    print(f"{same} runs with the result of the file as it was, {detected} with exit code 4")
    if not detected:
        sys.exit("no change was ever noticed")


main()
