"""Checks the wheels of build/wheels/dist and writes docs/reference/platforms.md: the second half of `./run wheels`.

Every wheel is opened: size, tag, stable ABI, the symbols and libraries that it needs. Linux wheels are also installed and
run in bare Debian systems (debootstrap), those of other CPUs under qemu-user; this needs root. The page lists as built what
this machine cannot run.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import pefile
import ziglang
from macholib.MachO import MachO
from macholib.SymbolTable import SymbolTable
from targets import MAX_MB, PYTHON_TAG, select

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, "build", "wheels")
PAGE = os.path.join(ROOT, "docs", "reference", "platforms.md")
INSTALLED = os.path.join(ROOT, "tests", "packaging", "installed_package.py")
NO_COMPILER = "for compiler in cc gcc clang; do if command -v $compiler; then exit 1; fi; done"
DIFFERENT = os.path.join(ROOT, "tests", "packaging", "windows_differences.tsv")  # golden case, reason
SYSTEM_SYMBOLS = os.path.join(os.path.dirname(ziglang.__file__), "lib", "libc", "darwin", "libSystem.tbd")
IMPORT_SECONDS = 0.3

# How programs of aarch64 begin, and which bits of that count.
ELF_AARCH64 = bytes.fromhex("7f454c460201010000000000000000000200b700")
ELF_MASK = bytes.fromhex("ffffffffffffff00fffffffffffffffffeffffff")

# CPU time of the import, with that of NumPy; other processes on the machine do not count.
IMPORT = """
import time
start = time.process_time()
import dissent
print("import", round(time.process_time() - start, 3))
votes = [("a", "x", 1), ("a", "y", 1), ("b", "x", 0)]
assert dissent.DawidSkene().fit_predict(votes).to_dict() == {"a": 1, "b": 0}
"""
# Synthetic votes have the same bytes on every machine; labels are compared with a tolerance, because compilers differ.
TOOL = "{tool} --version && {tool} synth -q --items 300 --gold {out}/gold.csv -o {out}/votes.csv && " \
    "{tool} labels -q {out}/votes.csv -o {out}/labels.csv && {tool} report -q {out}/votes.csv -o {out}/report.html"


class CheckError(Exception):
    """A check that failed."""


def run(command, **options):
    """Output of a command; fails with its last lines."""
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode:
        words = command if isinstance(command, str) else " ".join(command)
        lines = (result.stdout + result.stderr).strip().splitlines()[-6:]
        raise CheckError(f"{words}: exit {result.returncode}\n    " + "\n    ".join(lines))
    return result.stdout


def mirror():
    text = run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)"])
    sites = [line.split()[0] for line in text.splitlines() if line.endswith((" bookworm", " trixie", " bullseye"))]
    if not sites:
        raise CheckError("apt has no Debian mirror; run apt-get update")
    return sites[0]


def debian(release, include, architecture=None):
    """The folder of a bare Debian system."""
    folder = os.path.join(WORK, "roots", architecture or release)
    if os.path.isdir(folder):
        return folder
    new = folder + ".new"
    if os.path.exists(new):
        raise CheckError(f"{new} is left of an interrupted run; unmount what is mounted below it and remove it")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    packages = ",".join(["ca-certificates", *include])
    run(["unshare", "--mount", "debootstrap", *([f"--arch={architecture}"] if architecture else []), "--variant=minbase",
         f"--include={packages}", release, new, mirror()])
    os.rename(new, folder)
    return folder


def emulate_aarch64():
    """Lets the kernel start programs of aarch64 with qemu, in chroots too. Returns whether it does."""
    formats = "/proc/sys/fs/binfmt_misc"
    qemu = shutil.which("qemu-aarch64-static")
    if not qemu:
        raise CheckError("qemu-aarch64-static is not installed")
    try:
        if not os.path.exists(os.path.join(formats, "register")):
            run(["mount", "-t", "binfmt_misc", "binfmt_misc", formats])
        if not os.path.exists(os.path.join(formats, "qemu-aarch64")):
            magic = ELF_AARCH64.hex(" ").replace(" ", "\\x")
            mask = ELF_MASK.hex(" ").replace(" ", "\\x")
            with open(os.path.join(formats, "register"), "w", encoding="ascii") as file:
                file.write(f":qemu-aarch64:M::\\x{magic}:\\x{mask}:{qemu}:F")
    except (CheckError, OSError):
        return False
    return True


def inside(root, command):
    """A shell command in a Debian system, without network and without this machine's environment."""
    return run(["unshare", "--net", "--mount", "--pid", "--fork", "sh", "-ec",
                'mount -t proc proc "$1/proc"; exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 '
                'chroot "$1" sh -ec "$2"', "sh", root, command])


def other_wheels(folder, version, machine):
    """NumPy, and pandas for the example of README.md, for a Python version, downloaded once."""
    os.makedirs(folder, exist_ok=True)
    tag = f"cp{version.replace('.', '')}"
    if not glob.glob(os.path.join(folder, f"pandas-*-{tag}-{tag}-*{machine}.whl")):
        platforms = [f"--platform=manylinux_2_{minor}_{machine}" for minor in (28, 27, 24, 17)] + [f"--platform=manylinux2014_{machine}"]
        run([sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:", *platforms, f"--python-version={version}",
             "-d", folder, "numpy", "pandas"])


def find_wheel(target):
    found = glob.glob(os.path.join(WORK, "dist", f"dissent_labels-*-{PYTHON_TAG}-{target.tag}.whl"))
    return max(found, key=os.path.getmtime) if found else None


# ---- what is in a wheel ----


def check_contents(target, wheel, tree):
    """Size, tag, ABI and linked libraries; returns what was checked."""
    megabytes = os.path.getsize(wheel) / 1e6
    if megabytes > MAX_MB:
        raise CheckError(f"{megabytes:.1f} MB; at most {MAX_MB} are allowed")
    checked = [f"{megabytes:.1f} MB"]
    run([sys.executable, "-m", "abi3audit", "--strict", wheel])
    checked.append("abi3audit")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tree)
    tool = glob.glob(os.path.join(tree, "*.data/scripts/dissent*"))[0]
    os.chmod(tool, 0o755)
    module = glob.glob(os.path.join(tree, "dissent/_core.*"))
    module = next(path for path in module if not path.endswith(".pyi"))
    if "linux" in target.zig:
        text = " ".join(run([sys.executable, "-m", "auditwheel", "show", wheel]).split())
        if not re.search(r'consistent with the following platform tag: "(\S+)"', text):
            raise CheckError(text)
        tag = re.search(r'consistent with the following platform tag: "(\S+)"', text)[1]
        if tag != target.tag:
            raise CheckError(f"auditwheel finds {tag}, expected {target.tag}")
        checked.append("auditwheel")
    elif "windows" in target.zig:
        check_windows(tool, module)
        checked.append("imports")
    else:
        check_macos(tool, module, target)
        checked.append("symbols, load commands")
    return tool, checked


def check_macos(tool, module, target):
    """Only the system library is linked and has all symbols, the oldest macOS is that of the tag, and arm64 code is signed."""
    version = tuple(int(part) for part in re.search(r"macosx_(\d+)_(\d+)", target.tag).groups())
    with open(SYSTEM_SYMBOLS, encoding="utf-8") as file:
        known = set(re.findall(r"[\w$]+", file.read()))
    for path, python in ((tool, False), (module, True)):
        program = MachO(path)
        table = SymbolTable(program)
        undefined = {name.decode() for _, name in table.undefsyms} - known
        undefined -= {name for name in undefined if python and name.startswith(("_Py", "__Py"))}
        if undefined:
            raise CheckError(f"{os.path.basename(path)} needs symbols that macOS lacks: {' '.join(sorted(undefined))}")
        if python and b"_PyInit__core" not in {name for _, name in table.extdefsyms}:
            raise CheckError(f"{os.path.basename(path)} does not export PyInit__core")
        for header in program.headers:
            libraries = {name for _, _, name in header.walkRelocatables()}
            if libraries - {"/usr/lib/libSystem.B.dylib"}:
                raise CheckError(f"{os.path.basename(path)} links {sorted(libraries)}")
            minimum, signed = None, False
            for load, command, _ in header.commands:
                kind = load.get_cmd_name()
                signed = signed or kind == "LC_CODE_SIGNATURE"
                if kind == "LC_BUILD_VERSION":
                    minimum = (command.minos >> 16, command.minos >> 8 & 255)
            if minimum is None or minimum > version:
                raise CheckError(f"{os.path.basename(path)} needs macOS {minimum}")
            if "arm64" in target.tag and not signed:
                raise CheckError(f"{os.path.basename(path)} is not signed")


def check_windows(tool, module):
    """Only libraries of Windows 10 are linked, and python3.dll by the module."""
    allowed = {"advapi32.dll", "kernel32.dll", "ntdll.dll", "shell32.dll"}
    for path, python in ((tool, set()), (module, {"python3.dll"})):
        libraries = {entry.dll.decode().lower() for entry in pefile.PE(path).DIRECTORY_ENTRY_IMPORT}
        others = {name for name in libraries if not name.startswith("api-ms-win-crt-")} - allowed - python
        if others:
            raise CheckError(f"{os.path.basename(path)} links {sorted(others)}")


# ---- what runs ----


def install_and_run(release, wheel, python, architecture=None):
    """pip installs the wheel in a bare Debian system, and the package and the tool run. Emulated, the import has no limit."""
    root = debian(release, ["python3", "python3-venv"], architecture)
    machine = "aarch64" if architecture else "x86_64"
    packages = os.path.join(root, "wheels")
    shutil.rmtree(packages, ignore_errors=True)
    cache = os.path.join(WORK, "others")
    other_wheels(cache, python, machine)
    os.makedirs(packages)
    others = glob.glob(os.path.join(cache, f"*{machine}.whl")) + glob.glob(os.path.join(cache, "*-any.whl"))
    for path in [wheel, *others, INSTALLED, os.path.join(ROOT, "README.md"), os.path.join(ROOT, "debian", "tests", "readme")]:
        shutil.copy(path, packages)
    with open(os.path.join(packages, "import.py"), "w", encoding="utf-8") as file:
        file.write(IMPORT)
    output = inside(root, "cd /tmp && rm -rf venv && python3 -m venv venv && venv/bin/pip install -q --no-index "
                    "--find-links /wheels dissent-labels pandas && venv/bin/python /wheels/installed_package.py && "
                    "for i in 1 2 3; do venv/bin/python /wheels/import.py; done; " + NO_COMPILER +
                    "; cd /wheels && PATH=/tmp/venv/bin:$PATH sh readme")
    if architecture:
        return "pip, import, tool, README"
    seconds = min(float(value) for value in re.findall(r"^import ([0-9.]+)$", output, re.M))
    if seconds > IMPORT_SECONDS:
        raise CheckError(f"the import takes {seconds} s; at most {IMPORT_SECONDS} s are allowed")
    return f"pip, import ({seconds:.2f} s), tool, README"


def run_tool(root, tool, release):
    """The tool alone in a bare Debian system."""
    shutil.copy(tool, os.path.join(root, "tmp", "dissent"))
    inside(root, TOOL.format(tool="/tmp/dissent", out="/tmp"))
    return f"{release}: tool"


def compare_votes(folder):
    """Synthetic votes of the tested tool equal those of this machine's build."""
    own = os.path.join(ROOT, "build", "dissent")
    if not os.path.exists(own):
        return
    with tempfile.TemporaryDirectory() as temporary:
        path = os.path.join(temporary, "votes.csv")
        run([own, "synth", "-q", "--items", "300", "-o", path])
        with open(path, "rb") as a, open(os.path.join(folder, "votes.csv"), "rb") as b:
            if a.read() != b.read():
                raise CheckError("synthetic votes differ from those of build/dissent")


def run_here(command, label):
    """The tool on this machine, perhaps through an emulator."""
    with tempfile.TemporaryDirectory() as out:
        run(TOOL.format(tool=command, out=out), shell=True)
        compare_votes(out)
    return label


def run_experiment(command, label):
    """Training and a store of results: an example with one seed."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(ROOT, "examples", "experiments", "objectives.yaml"), encoding="utf-8") as file:
            text = file.read().replace("seeds: 3", "seeds: 1").replace("epochs: 10", "epochs: 2")
        with open(os.path.join(folder, "objectives.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        run(f"{command} synth -q --theme reviews --items 400 --votes-per-item 3 --gold gold.csv --text items.csv -o votes.csv && "
            f"{command} experiment run objectives.yaml --data .", shell=True, cwd=folder)
        table = run(f"{command} experiment table objectives.yaml --data .", shell=True, cwd=folder)
        if not re.search(r"^reviews,soft,test,accuracy,1,1,0,1,0?\.\d+", table, re.M):
            raise CheckError(f"the table of the experiment lacks results:\n{table}")
    return label


def golden_cases(command, *names):
    """tests/cli/cases with the Windows tool. Those of DIFFERENT may differ, for the reasons given there; no others. Wine on a
    loaded machine seldom loses the output of a program, so other cases are run a second time."""
    with open(DIFFERENT, encoding="utf-8") as file:
        different = dict(line.rstrip("\n").split("\t") for line in file if not line.startswith("#"))
    with tempfile.TemporaryDirectory() as folder:
        tool = os.path.join(folder, "dissent")
        with open(tool, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\n{command} "$@"\n')
        os.chmod(tool, 0o755)
        done = subprocess.run(["sh", os.path.join(ROOT, "tests", "cli", "run_cases.sh"), *names], capture_output=True, text=True, check=False,
                              env={**os.environ, "DISSENT": tool, "DISSENT_FAULTY": tool, "DISSENT_SOURCE": ROOT})
    with open(os.path.join(WORK, "golden-cases.log"), "w", encoding="utf-8") as file:
        file.write(done.stdout + done.stderr)
    count = re.search(r"^(\d+) cases$", done.stdout, re.M)
    if not count:
        raise CheckError(f"run_cases.sh: {done.stdout[-300:]}{done.stderr[-300:]}")
    failed = re.findall(r"^case (\S+)(?: is not what it was|: left behind)", done.stdout, re.M)
    unexpected = sorted(set(failed) - set(different))
    if unexpected and not names:
        golden_cases(command, *unexpected)
        failed = set(failed) - set(unexpected)
    elif unexpected:
        raise CheckError(f"golden cases differ, see build/wheels/golden-cases.log: {' '.join(unexpected)}")
    return f"wine: {int(count[1]) - len(set(failed))} of {count[1]} golden cases"


def check_linux_x86_64(wheel, tool, _tree):
    yield lambda: run_tool(debian("bullseye", []), tool, "Debian 11")
    yield lambda: "Debian 12: " + install_and_run("bookworm", wheel, "3.11")
    yield lambda: "Debian 13: " + install_and_run("trixie", wheel, "3.13")


def check_linux_aarch64(wheel, tool, _tree):
    if emulate_aarch64():
        yield lambda: "Debian 12 under qemu: " + install_and_run("bookworm", wheel, "3.11", "arm64")
    else:
        yield lambda: run_here(f"qemu-aarch64-static -L {debian('bookworm', [], 'arm64')} {tool}", "Debian 12 under qemu: tool")


def check_musl_x86_64(_wheel, tool, _tree):
    yield lambda: run_here(tool, "this machine: tool")
    yield lambda: run_tool(debian("bullseye", []), tool, "Debian 11")


def check_musl_aarch64(_wheel, tool, _tree):
    yield lambda: run_here(f"qemu-aarch64-static {tool}", "qemu: tool")


def check_windows_x86_64(_wheel, tool, _tree):
    wine = shutil.which("wine")
    if not wine:
        raise CheckError("wine is not installed")
    prefix = os.path.join(WORK, "wine")
    command = f"WINEPREFIX={prefix} WINEDEBUG=-all DISPLAY= {wine} {tool}"
    yield lambda: run_here(command, "wine: tool")
    yield lambda: run_experiment(command, "wine: experiment")
    yield lambda: golden_cases(command)


RUNS = {
    "linux-x86_64": check_linux_x86_64,
    "linux-aarch64": check_linux_aarch64,
    "musl-x86_64": check_musl_x86_64,
    "musl-aarch64": check_musl_aarch64,
    "windows-x86_64": check_windows_x86_64,
}


def check_target(target):
    """The cells of the row: state, what was checked, what ran. Raises CheckError."""
    wheel = find_wheel(target)
    if not wheel:
        raise CheckError(f"build/wheels/dist contains no wheel for {target.tag}")
    with tempfile.TemporaryDirectory() as tree:
        tool, checked = check_contents(target, wheel, tree)
        ran = [check() for check in RUNS.get(target.name, lambda *_: ())(wheel, tool, tree)]
    return ["tested" if ran else "built", ", ".join(checked), "; ".join(ran) or "-"]


def write_row(target, cells):
    """Replaces the row of the table on the page."""
    with open(PAGE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    row = next(i for i, line in enumerate(lines) if f"| `{target.tag}` |" in line)
    lines[row] = "| " + " | ".join([target.label, f"`{target.tag}`", *cells]) + " |"
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main(names):
    failed = False
    for target in select(names):
        try:
            cells = check_target(target)
        except (CheckError, OSError, ValueError, IndexError) as error:
            failed = True
            print(f"{target.name}: FAILED: {error}", flush=True)
            continue
        write_row(target, cells)
        print(f"{target.name}: {'; '.join(cells)}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
