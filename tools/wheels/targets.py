"""The platforms that wheels are built for, in the order of the table in docs/reference/platforms.md.

targets.py [NAME...] prints the names of all platforms, or of those given.
"""

import sys
from typing import NamedTuple


class Target(NamedTuple):
    """One platform: the target of zig, the tag of the wheel, and its row in the docs."""

    name: str
    zig: str
    tag: str
    label: str


TARGETS = (
    Target("linux-x86_64", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", "Linux x86-64, glibc 2.17 or newer"),
    Target("linux-aarch64", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", "Linux aarch64, glibc 2.17 or newer"),
    Target("musl-x86_64", "x86_64-linux-musl", "musllinux_1_2_x86_64", "Linux x86-64, musl 1.2 or newer"),
    Target("musl-aarch64", "aarch64-linux-musl", "musllinux_1_2_aarch64", "Linux aarch64, musl 1.2 or newer"),
    Target("macos-arm64", "aarch64-macos.11.0", "macosx_11_0_arm64", "macOS 11 or newer, Apple silicon"),
    Target("macos-x86_64", "x86_64-macos.11.0", "macosx_11_0_x86_64", "macOS 11 or newer, Intel"),
    Target("windows-x86_64", "x86_64-windows-gnu", "win_amd64", "Windows 10 or newer, x86-64"),
)
PYTHON_TAG = "cp311-abi3"  # the lowest Python of the stable ABI: Py_LIMITED_API in python/CMakeLists.txt
MAX_MB = 8


def select(names):
    """The platforms of these names; all without names."""
    unknown = set(names) - {target.name for target in TARGETS}
    if unknown:
        sys.exit(f"no wheel for {min(unknown)}; expected one of {', '.join(target.name for target in TARGETS)}")
    return [target for target in TARGETS if target.name in names or not names]


if __name__ == "__main__":
    for selected in select(sys.argv[1:]):
        print(selected.name)
