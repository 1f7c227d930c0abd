"""Builds wheels for all platforms on one Linux machine: `./run wheels [NAME...]`.

zig cross-compiles; zlib, zstd, libyaml and SQLite are linked statically. Wheels are written to build/wheels/dist.
Header files of Python come from the machine's Python; only the stable ABI is used, so they serve every platform.
"""

import os
import shutil
import subprocess
import sys
import sysconfig

import dependencies
import ziglang
from scikit_build_core import build as metadata
from targets import PYTHON_TAG, TARGETS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, "build", "wheels")
ZIG = os.path.join(os.path.dirname(ziglang.__file__), "zig")
PACKAGE_FILES = (".py", ".pyi", ".typed")


def python_headers():
    """A folder with the headers of Python and this machine's pyconfig.h, away from those of other libraries."""
    folder = os.path.join(WORK, "include")
    if not os.path.isdir(folder):
        shutil.copytree(sysconfig.get_path("include"), folder + ".new", symlinks=False)
        shutil.copy(sysconfig.get_config_h_filename(), os.path.join(folder + ".new", "pyconfig.h"))
        os.rename(folder + ".new", folder)
    return folder


def run(*command):
    subprocess.run(command, check=True)


def compile_target(target):
    """Returns the build folder of the module and the tool."""
    folder = os.path.join(WORK, target.name)
    prefix = os.path.join(WORK, "static", target.name)
    launcher = ["ccache"] if shutil.which("ccache") else []
    dependencies.build([ZIG, "cc", "-target", target.zig], [ZIG, "ar"], os.path.join(WORK, "sources"), prefix, launcher)
    options = {
        "CMAKE_TOOLCHAIN_FILE": os.path.join(ROOT, "cmake", "zig.cmake"),
        "DIS_ZIG": ZIG,
        "DIS_ZIG_TARGET": target.zig,
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_C_FLAGS": "-g0",
        "CMAKE_EXE_LINKER_FLAGS": "-s",
        "CMAKE_MODULE_LINKER_FLAGS": "-s",
        "CMAKE_SHARED_LINKER_FLAGS": "-s",
        "CMAKE_PREFIX_PATH": prefix,
        "DIS_STATIC_DEPS": "ON",
        "DIS_TESTS": "OFF",
        "DIS_BENCH": "OFF",
        "DIS_CUDA": "OFF",
        "DIS_MPI": "OFF",
        "Python_EXECUTABLE": sys.executable,
        "Python_INCLUDE_DIR": python_headers(),
    }
    if launcher:
        options["CMAKE_C_COMPILER_LAUNCHER"] = "ccache"
    definitions = [f"-D{name}={value}" for name, value in options.items()]
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, *definitions)
    run("ninja", "-C", folder, "dissent_cli", "dissent_python")
    return folder


def pack(target, folder):
    """Writes the wheel of a target that was compiled in `folder`."""
    tree = os.path.join(WORK, "trees", target.name)
    shutil.rmtree(tree, ignore_errors=True)
    os.makedirs(tree)
    os.chdir(ROOT)
    info = metadata.prepare_metadata_for_build_wheel(tree)
    name = info.removesuffix(".dist-info")
    with open(os.path.join(tree, info, "WHEEL"), "w", encoding="utf-8") as file:
        file.write("Wheel-Version: 1.0\nGenerator: dissent tools/wheels\nRoot-Is-Purelib: false\n")
        file.write(f"Tag: {PYTHON_TAG}-{target.tag}\n")
    package = os.path.join(tree, "dissent")
    scripts = os.path.join(tree, name + ".data", "scripts")
    os.makedirs(package)
    os.makedirs(scripts)
    source = os.path.join(ROOT, "python", "dissent")
    for file in sorted(os.listdir(source)):
        if file.endswith(PACKAGE_FILES):
            shutil.copy(os.path.join(source, file), package)
    shutil.copy(os.path.join(folder, "python", "dissent", "_core.abi3.so"), package)
    shutil.copy(os.path.join(folder, "dissent"), scripts)
    if "musl" in target.zig:  # zig calls the C library libc.so, systems with musl call it by its architecture
        libc = f"libc.musl-{target.zig.split('-')[0]}.so.1"
        run("patchelf", "--replace-needed", "libc.so", libc, os.path.join(package, "_core.abi3.so"))
    dist = os.path.join(WORK, "dist")
    os.makedirs(dist, exist_ok=True)
    run(sys.executable, "-m", "wheel", "pack", tree, "--dest-dir", dist)


def main(names):
    known = [target.name for target in TARGETS if target.zig]
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"build_wheels.py: no target {min(unknown)}; expected one of {', '.join(known)}")
    os.environ.setdefault("CCACHE_COMPILERTYPE", "clang")
    os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", os.path.join(WORK, "zig-cache"))
    for target in TARGETS:
        if target.name in (names or known):
            pack(target, compile_target(target))


if __name__ == "__main__":
    main(sys.argv[1:])
