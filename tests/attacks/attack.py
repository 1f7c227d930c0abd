"""What the attacks share: a tool that is run with a time limit, and a clock.

An attack is a list of cases that must hold, and cases that are drawn from a seeded generator until
DISSENT_ATTACK_SECONDS are over. A case passes if the tool stops in time with an expected exit code: a hang, a
signal or exit code 1 (a defect of dissent) fails the test.
"""
import os
import random
import subprocess
import sys
import time

TOOL = os.environ["DISSENT"]
SOURCE = os.environ["DISSENT_SOURCE"]
SANITIZED = bool(os.environ.get("DISSENT_SANITIZE"))
SECONDS = float(os.environ.get("DISSENT_ATTACK_SECONDS", "5"))
LIMIT = 60 if SANITIZED else 20  # seconds for one command
ERRORS = (2, 3, 4, 5)


def run(*arguments, stdin=subprocess.DEVNULL, limit=LIMIT, **options):
    """(exit code, standard error) of one command; the code is "time" for one that does not end."""
    try:
        done = subprocess.run([TOOL, *map(str, arguments)], stdin=stdin, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=limit, **options)
    except subprocess.TimeoutExpired:
        return "time", ""
    return done.returncode, done.stderr.decode(errors="replace")


def expect(what, codes, *arguments, names="", **options):
    """One case that must hold: its exit code is one of `codes`, and its message contains `names`."""
    began = time.monotonic()
    code, error = run(*arguments, **options)
    if code not in codes or names not in error:
        sys.exit(f"{what}: exit {code}, expected one of {codes} and {names!r} in the message\n"
                 f"{' '.join(map(str, arguments))}\n{error[:2000]}")
    print(f"{what}: exit {code} after {time.monotonic() - began:.1f} s: {error.strip()[:160]}")


def rounds(seed=1):
    """Yields (number, generator) until the time is over; the number reproduces the case."""
    end = time.monotonic() + SECONDS
    only = os.environ.get("DISSENT_ATTACK_ROUND")
    if only is not None:
        yield int(only), random.Random(seed * 1000003 + int(only))
        return
    i = 0
    while time.monotonic() < end:
        yield i, random.Random(seed * 1000003 + i)
        i += 1
    print(f"{i} random cases")


def damage(data, draw):
    """Bytes with some of them flipped, cut, repeated or replaced."""
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 8))):
        if not data:
            break
        at = draw.randrange(len(data))
        kind = draw.randrange(5)
        if kind == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data[at] = draw.choice((0, 0x7f, 0xff, 0x80, draw.randrange(256)))
        elif kind == 2:
            del data[at:at + draw.choice((1, 7, 4096))]
        elif kind == 3:
            del data[at:]
        else:
            data[at:at] = data[at:at + draw.choice((1, 16, 300))]
    return bytes(data)
