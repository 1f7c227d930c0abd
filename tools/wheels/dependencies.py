"""Static zlib, zstd, libyaml and SQLite for one target, from source archives on PyPI that contain them.

The archives are checked against SHA-256 sums. Only the files named below are compiled.
"""

import concurrent.futures
import glob
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import urllib.request

from pip._internal.models.index import PyPI

# Package, version, SHA-256 of its source archive.
ARCHIVES = {
    "blosc": ("1.11.2", "ac5e7c1bfc1c7232b900be94cddb5ffcf9ea49f313c8ae98a7ca0dd87b872bf4"),
    "ruamel.yaml.clib": ("0.2.8", "beb2e0404003de9a4cab9753a8805a8fe9320ee6673136ed7f04255fe60bb512"),
    "sqlean.py": ("3.45.1", "25fbf0a111856e0384dbc412156e2e688948525c7d8609dc3803512c70130740"),
}

# Library: archive, folder within it, sources, headers, definitions.
LIBRARIES = {
    "z": (
        "blosc",
        "blosc/c-blosc/internal-complibs/zlib-*",
        "adler32 compress crc32 deflate gzclose gzlib gzread gzwrite infback inffast inflate inftrees trees uncompr zutil",
        "zlib.h zconf.h",
        ["-DHAVE_UNISTD_H"],
    ),
    "zstd": (
        "blosc",
        "blosc/c-blosc/internal-complibs/zstd-*",
        "common/* compress/* decompress/*",
        "zstd.h zstd_errors.h",
        ["-DZSTD_DISABLE_ASM", "-DXXH_NAMESPACE=ZSTD_"],
    ),
    "yaml": (
        "ruamel.yaml.clib",
        ".",
        "api dumper emitter loader parser reader scanner writer",
        "yaml.h",
        ["-DYAML_VERSION_STRING=\"0.2.5\"", "-DYAML_VERSION_MAJOR=0", "-DYAML_VERSION_MINOR=2", "-DYAML_VERSION_PATCH=5", "-DYAML_DECLARE_STATIC"],
    ),
    "sqlite3": (
        "sqlean.py",
        "sqlite",
        "sqlite3",
        "sqlite3.h",
        ["-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_THREADSAFE=1"],
    ),
}


# The archive of sqlean.py appends a function of its own to SQLite's file.
END_OF_SQLITE = "/************************** End of sqlite3.c ******************************/\n"


def download(package, folder):
    """Unpacks the archive of a package below `folder` and returns its top folder."""
    version, digest = ARCHIVES[package]
    top = os.path.join(folder, f"{package}-{version}")
    if os.path.isdir(top):
        return top
    page = urllib.request.urlopen(f"{PyPI.simple_url}/{package}/", timeout=180).read().decode()
    found = re.search(r'href="([^"]*' + re.escape(f"{package}-{version}.tar.gz") + r')[#"]', page)
    if not found:
        raise SystemExit(f"{package} {version}: the package index has no source archive of this version")
    archive = urllib.request.urlopen(found[1], timeout=180).read()
    if hashlib.sha256(archive).hexdigest() != digest:
        raise SystemExit(f"{package} {version}: the SHA-256 of the archive differs from the expected one")
    os.makedirs(folder, exist_ok=True)
    path = top + ".tar.gz"
    with open(path, "wb") as file:
        file.write(archive)
    with tarfile.open(path) as tar:
        tar.extractall(folder + ".new", filter="data")
    sqlite = os.path.join(folder + ".new", f"{package}-{version}", "sqlite", "sqlite3.c")
    if os.path.exists(sqlite):
        with open(sqlite, encoding="utf-8") as file:
            text = file.read()
        with open(sqlite, "w", encoding="utf-8") as file:
            file.write(text[: text.index(END_OF_SQLITE) + len(END_OF_SQLITE)])
    os.rename(os.path.join(folder + ".new", f"{package}-{version}"), top)
    return top


def build(compiler, archiver, sources, prefix, launcher):
    """Compiles all libraries with the command `compiler` (a list) into prefix/lib, headers into prefix/include."""
    for folder in ("lib", "include", "objects"):
        os.makedirs(os.path.join(prefix, folder), exist_ok=True)
    for library, (package, where, files, headers, definitions) in LIBRARIES.items():
        archive = os.path.join(prefix, "lib", f"lib{library}.a")
        if os.path.exists(archive):
            continue
        top = glob.glob(os.path.join(download(package, sources), where))[0]
        found = [source for pattern in files.split() for source in sorted(glob.glob(os.path.join(top, pattern + ".c")))]
        command = [*launcher, *compiler, "-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-w", "-I", top, *definitions]

        def compile_source(source, command=command, library=library):
            name = os.path.join(prefix, "objects", f"{library}_{os.path.basename(source)}.o")
            subprocess.run([*command, "-c", source, "-o", name], check=True)
            return name

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compile_source, found))
        for header in headers.split():
            with open(os.path.join(top, header), encoding="utf-8") as text:
                content = text.read()
            with open(os.path.join(prefix, "include", header), "w", encoding="utf-8") as text:
                text.write(content)
        subprocess.run([*archiver, "rcs", archive + ".new", *objects], check=True)
        os.rename(archive + ".new", archive)


def main(prefix):
    """With this machine's compiler: what .github/workflows/wheels.yml runs before each build."""
    build([os.environ.get("CC", "cc")], [os.environ.get("AR", "ar")], prefix + "-sources", prefix, [])


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
