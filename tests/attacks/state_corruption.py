"""Flips bits and cuts files of states and models, and runs the command that reads them: see state_corruption.sh."""

import os
import pathlib
import random
import subprocess
import sys
import time

DISSENT = os.environ["DISSENT"]
SECONDS = float(os.environ.get("DISSENT_ATTACK_SECONDS") or 10)
SEED = int(os.environ.get("DISSENT_ATTACK_SEED") or 1)
LABELS = [DISSENT, "labels", "-q", "--method", "dawid-skene"]

# What is damaged, and the command that reads it.
CASES = [
    ("growing", LABELS + ["more.csv", "--duplicates", "all", "--append", "growing"]),
    ("growing", LABELS + ["more.csv", "--duplicates", "all", "--append", "growing", "--refit"]),
    ("state", LABELS + ["votes.csv", "--init-state", "state", "--method", "glad", "--combine", "average"]),
]
CASES += [
    (str(path), [DISSENT, "predict", "model", "-q", "--items", "texts.csv"])
    for path in sorted(pathlib.Path("model").rglob("*"))
    if path.is_file() and path.stat().st_size
]


def run(command):
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def damage(random_, good):
    """Damaged bytes and what was done, in words that are enough to repeat it."""
    if random_.random() < 0.15:
        n = random_.randrange(len(good))
        return good[:n], f"cut after {n} bytes"
    bad = bytearray(good)
    # Headers are small and full of meaning: half of the flips go there.
    place = random_.randrange(min(len(good), 1500) if random_.random() < 0.5 else len(good))
    bit = random_.randrange(8)
    bad[place] ^= 1 << bit
    return bytes(bad), f"bit {bit} of byte {place} flipped"


def main():
    print(f"seed {SEED}, {SECONDS:g} s")
    random_ = random.Random(SEED)
    expected = []
    for file, command in CASES:
        code, out, err = run(command)
        if code or not out:
            sys.exit(f"{' '.join(command)} fails with exit code {code} before any damage: {err}")
        expected.append(out)
    detected = harmless = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or detected + harmless < 5 * len(CASES):
        which = (detected + harmless) % len(CASES)
        file, command = CASES[which]
        path = pathlib.Path(file)
        good = path.read_bytes()
        bad, what = damage(random_, good)
        path.write_bytes(bad)
        code, out, err = run(command)
        path.write_bytes(good)
        case = f"{file}, {what}: {' '.join(command)}"
        if code == 0 and out == expected[which]:
            harmless += 1
        elif code in (3, 4, 5) and err.strip():
            detected += 1
        else:
            sys.exit(f"seed {SEED}: {case}: exit code {code}, {'other' if code == 0 else 'no'} output\n{err}")
    print(f"{detected} damaged files detected, {harmless} harmless")
    if not detected:
        sys.exit("nothing was detected")


main()
