#!/usr/bin/env python3
"""Writes tests/data/reals.txt: doubles as their bits (hexadecimal) and as Python's repr, the shortest text that reads
back equal. tests/unit/test_number.c compares digit counts and values.

    python3 tools/generate/make_real_list.py > tests/data/reals.txt
"""

import random
import struct


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def real(b):
    return struct.unpack("<d", struct.pack("<Q", b))[0]


random.seed(1)
values = [
    5e-324,
    2.2250738585072011e-308,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    9007199254740991.0,
    9007199254740992.0,
    9007199254740993.0,
    1e21,
    1e22,
    1e23,
    9.5e-6,
    1e-5,
    1e-4,
    9.999999999999999e15,
    1e16,
    1e17,
    123456789012345680.0,
    0.1,
    0.2,
    0.3,
    1 / 3,
    2 / 3,
    0.1 + 0.2,
    2.2360517657800031e-05,
    4.9406564584124654e-324,
    8.41e21,
    2.0e-308,
    9.109e-31,
]
values += [2.0**e for e in range(-1074, 1024, 23)] + [real(bits(2.0**e) - 1) for e in range(-1000, 1024, 47)]
values += [10.0**e for e in range(-323, 309, 17)]
values += [real(random.getrandbits(63) % (0x7FF << 52)) for _ in range(120)]
values += [random.random() for _ in range(40)] + [random.random() * 10.0 ** random.randint(-12, 0) for _ in range(40)]
for x in values:
    print(f"{bits(x):016x} {x!r}")
