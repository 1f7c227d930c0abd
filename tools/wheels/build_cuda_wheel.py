"""Builds the wheel dissent-labels-cuda and checks what needs no GPU: `./run wheels cuda`. Needs nvcc 13 and cudnn.h.

The wheel adds libdissent-cuda.so to the folder of the package dissent. The library finds cuBLASLt and cuDNN in NVIDIA's
wheels by its run path, or in the system. In a bare Debian system without a driver, `dissent list devices cuda` must name what is
missing; with NVIDIA's wheels, which are 1 GB, only the driver.
"""

import glob
import os
import re
import shutil
import subprocess
import sys

from build_wheels import ROOT, WORK, add_urls, run
from check_wheels import CheckError, debian, find_wheel, inside, other_wheels
from targets import TARGETS

NAME = "dissent_labels_cuda"
PLATFORM = "manylinux_2_34_x86_64"  # by the C library of Debian 12; auditwheel checks it
LIBRARIES = ("nvidia-cublas<14,>=13.0", "nvidia-cudnn-cu13<10,>=9.0")
METADATA = """Metadata-Version: 2.4
Name: dissent-labels-cuda
Version: {version}
Summary: NVIDIA GPUs for dissent-labels
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.11
Requires-Dist: dissent-labels=={version}
Requires-Dist: {libraries[0]}
Requires-Dist: {libraries[1]}
Classifier: Environment :: GPU :: NVIDIA CUDA :: 13
Classifier: Operating System :: POSIX :: Linux
Description-Content-Type: text/markdown

The GPU part of dissent-labels. Install it with `pip install "dissent-labels[cuda]"`.
"""


def check(wheel):
    """What `dissent list devices cuda` prints where no driver is installed, without and with NVIDIA's wheels."""
    tool = find_wheel(TARGETS[0])
    if not tool:
        raise CheckError(f"no wheel of {TARGETS[0].name}; run ./run wheels {TARGETS[0].name} first")
    root = debian("bookworm", ["python3", "python3-venv"])
    folder = os.path.join(root, "wheels")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    nvidia = os.path.join(WORK, "nvidia")
    if not glob.glob(os.path.join(nvidia, "*.whl")):
        run(sys.executable, "-m", "pip", "download", "-q", "-d", nvidia, *LIBRARIES)
    other_wheels(os.path.join(WORK, "others"), "3.11", "x86_64")
    others = [path for path in glob.glob(os.path.join(WORK, "others", "numpy-*cp311*")) if path.endswith("x86_64.whl")]
    for path in [tool, wheel, *others, *glob.glob(os.path.join(nvidia, "*.whl"))]:
        shutil.copy(path, folder)
    pip = "cd /tmp && venv/bin/pip install -q --no-index --find-links /wheels"
    devices = "venv/bin/dissent list devices cuda"
    without = inside(root, f"cd /tmp && rm -rf venv && python3 -m venv venv && {pip} --no-deps dissent-labels dissent-labels-cuda && {devices}")
    for words in ("no NVIDIA driver", "nvidia-cublas", "nvidia-cudnn-cu13"):
        if words not in without:
            raise CheckError(f"list devices does not name {words}:\n{without}")
    complete = inside(root, f"{pip} 'dissent-labels[cuda]' && {devices}")
    shutil.rmtree(os.path.join(root, "tmp", "venv"))
    shutil.rmtree(folder)
    if "no NVIDIA driver" not in complete or "nvidia-" in complete.replace("nvidia-driver", ""):
        raise CheckError(f"list devices does not find NVIDIA's wheels:\n{complete}")
    return without + complete


def main():
    with open(os.path.join(ROOT, "include", "dissent", "version.h"), encoding="utf-8") as file:
        version = re.search(r'DIS_VERSION "([0-9.]+)"', file.read())[1]
    folder = os.path.join(ROOT, "build-cuda")  # as deep as build, so that ccache finds what was compiled there
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DDIS_CUDA=ON", "-DDIS_CUDA_WHEEL=ON", "-DDIS_TESTS=OFF", "-DDIS_BENCH=OFF",
               "-DDIS_PYTHON=OFF", "-DDIS_MPI=OFF"]
    if shutil.which("ccache"):
        options += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache"]
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, *options)
    run("ninja", "-C", folder, "dissent_cuda")
    tree = os.path.join(WORK, "trees", "cuda")
    shutil.rmtree(tree, ignore_errors=True)
    info = os.path.join(tree, f"{NAME}-{version}.dist-info")
    os.makedirs(os.path.join(info, "licenses"))
    os.makedirs(os.path.join(tree, "dissent"))
    shutil.copy(os.path.join(folder, "libdissent-cuda.so"), os.path.join(tree, "dissent"))
    shutil.copy(os.path.join(ROOT, "LICENSE"), os.path.join(info, "licenses"))
    with open(os.path.join(info, "METADATA"), "w", encoding="utf-8") as file:
        file.write(METADATA.format(version=version, libraries=LIBRARIES))
    add_urls(os.path.join(info, "METADATA"))
    with open(os.path.join(info, "WHEEL"), "w", encoding="utf-8") as file:
        file.write(f"Wheel-Version: 1.0\nGenerator: dissent tools/wheels\nRoot-Is-Purelib: false\nTag: py3-none-{PLATFORM}\n")
    dist = os.path.join(WORK, "dist")
    os.makedirs(dist, exist_ok=True)
    run(sys.executable, "-m", "wheel", "pack", tree, "--dest-dir", dist)
    wheel = os.path.join(dist, f"{NAME}-{version}-py3-none-{PLATFORM}.whl")
    shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], check=True, capture_output=True, text=True).stdout
    if PLATFORM not in shown:
        sys.exit(f"build_cuda_wheel.py: the wheel does not fit {PLATFORM}:\n{shown}")
    print(f"{os.path.basename(wheel)}: {os.path.getsize(wheel) / 1e6:.1f} MB", flush=True)
    try:
        print(check(wheel), end="")
    except CheckError as error:
        sys.exit(f"build_cuda_wheel.py: {error}")


if __name__ == "__main__":
    main()
