"""Builds the wheel dissent-labels-cuda: `./run wheels cuda`. Needs nvcc 13 and cudnn.h; no GPU.

The wheel adds libdissent-cuda.so to the folder of the package dissent. The library finds cuBLASLt and cuDNN in NVIDIA's
wheels by its run path, or in the system.
"""

import os
import re
import shutil
import subprocess
import sys

from build_wheels import ROOT, WORK, run

NAME = "dissent_labels_cuda"
PLATFORM = "manylinux_2_34_x86_64"  # by the C library of Debian 12; auditwheel checks it
METADATA = """Metadata-Version: 2.4
Name: dissent-labels-cuda
Version: {version}
Summary: NVIDIA GPUs for dissent-labels
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.11
Requires-Dist: dissent-labels=={version}
Requires-Dist: nvidia-cublas<14,>=13.0
Requires-Dist: nvidia-cudnn-cu13<10,>=9.0
Classifier: Environment :: GPU :: NVIDIA CUDA :: 13
Classifier: Operating System :: POSIX :: Linux

The GPU part of dissent-labels. Install it with `pip install "dissent-labels[cuda]"`.
"""


def main():
    with open(os.path.join(ROOT, "include", "dissent", "version.h"), encoding="utf-8") as file:
        version = re.search(r'DIS_VERSION "([0-9.]+)"', file.read())[1]
    folder = os.path.join(ROOT, "build-cuda")  # as deep as build, so that ccache finds what was compiled there
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DDIS_CUDA=ON", "-DDIS_CUDA_WHEEL=ON", "-DDIS_TESTS=OFF", "-DDIS_BENCH=OFF",
               "-DDIS_PYTHON=OFF", "-DDIS_MPI=OFF"]
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
        file.write(METADATA.format(version=version))
    with open(os.path.join(info, "WHEEL"), "w", encoding="utf-8") as file:
        file.write(f"Wheel-Version: 1.0\nGenerator: dissent tools/wheels\nRoot-Is-Purelib: false\nTag: py3-none-{PLATFORM}\n")
    dist = os.path.join(WORK, "dist")
    os.makedirs(dist, exist_ok=True)
    run(sys.executable, "-m", "wheel", "pack", tree, "--dest-dir", dist)
    wheel = os.path.join(dist, f"{NAME}-{version}-py3-none-{PLATFORM}.whl")
    shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], check=True, capture_output=True, text=True).stdout
    if PLATFORM not in shown:
        sys.exit(f"build_cuda_wheel.py: the wheel does not fit {PLATFORM}:\n{shown}")
    print(f"{os.path.basename(wheel)}: {os.path.getsize(wheel) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
