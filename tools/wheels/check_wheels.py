"""Checks the wheels of build/wheels/dist and writes docs/reference/platforms.md: the second half of `./run wheels`.

Every wheel is opened: size, tag, stable ABI, the symbols and libraries that it needs. Linux wheels are also installed and
run in bare Debian systems (debootstrap), those of other CPUs under qemu-user. What this machine cannot run is listed as
built. Checks need root; without it, nothing is run.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import pefile
from macholib.MachO import MachO
from targets import MAX_MB, PYTHON_TAG, TARGETS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, "build", "wheels")
PAGE = os.path.join(ROOT, "docs", "reference", "platforms.md")
INSTALLED = os.path.join(ROOT, "tests", "packaging", "installed_package.py")
BEGIN, END = "<!-- wheels: begin -->\n", "<!-- wheels: end -->\n"
IMPORT_SECONDS = 0.3

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
    """The folder of a bare Debian system. Of another architecture, packages are unpacked but not configured."""
    folder = os.path.join(WORK, "roots", architecture or release)
    if os.path.isdir(folder):
        return folder
    new = folder + ".new"
    if os.path.exists(new):
        raise CheckError(f"{new} is left of an interrupted run; unmount what is mounted below it and remove it")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    foreign = ["--foreign", f"--arch={architecture}"] if architecture else []
    packages = ",".join(["ca-certificates", *include])
    run(["unshare", "--mount", "debootstrap", *foreign, "--variant=minbase", f"--include={packages}", release, new, mirror()])
    if architecture:
        for package in sorted(glob.glob(os.path.join(new, "var/cache/apt/archives/*.deb"))):
            run(["dpkg-deb", "-x", package, new])
    os.rename(new, folder)
    return folder


def inside(root, command):
    """A shell command in a Debian system, without network and without this machine's environment."""
    return run(["unshare", "--net", "--mount", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8",
                "chroot", root, "sh", "-ec", command])


def numpy_wheels(folder, version, machine):
    """NumPy for a Python version, downloaded once."""
    os.makedirs(folder, exist_ok=True)
    tag = f"cp{version.replace('.', '')}"
    if not glob.glob(os.path.join(folder, f"numpy-*-{tag}-{tag}-*{machine}.whl")):
        platforms = [f"--platform=manylinux_2_{minor}_{machine}" for minor in (28, 27, 17)] + [f"--platform=manylinux2014_{machine}"]
        run([sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:", *platforms, f"--python-version={version}",
             "--no-deps", "-d", folder, "numpy"])


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
        checked.append("load commands")
    return tool, checked


def check_macos(tool, module, target):
    """Only the system library is linked, the oldest macOS is that of the tag, and arm64 code is signed."""
    version = tuple(int(part) for part in re.search(r"macosx_(\d+)_(\d+)", target.tag).groups())
    for path in (tool, module):
        for header in MachO(path).headers:
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


def install_and_run(release, wheel, python, machine="x86_64"):
    """pip installs the wheel in a bare Debian system, and the package and the tool run."""
    root = debian(release, ["python3", "python3-venv"])
    packages = os.path.join(root, "wheels")
    shutil.rmtree(packages, ignore_errors=True)
    cache = os.path.join(WORK, "numpy")
    numpy_wheels(cache, python, machine)
    os.makedirs(packages)
    for path in [wheel, *glob.glob(os.path.join(cache, f"*{machine}.whl"))]:
        shutil.copy(path, packages)
    shutil.copy(INSTALLED, os.path.join(root, "wheels", "installed_package.py"))
    with open(os.path.join(packages, "import.py"), "w", encoding="utf-8") as file:
        file.write(IMPORT)
    output = inside(root, "cd /tmp && rm -rf venv && python3 -m venv venv && venv/bin/pip install -q --no-index "
                    "--find-links /wheels dissent-labels && venv/bin/python /wheels/installed_package.py && "
                    "for i in 1 2 3; do venv/bin/python /wheels/import.py; done; ! command -v cc gcc clang")
    seconds = min(float(value) for value in re.findall(r"^import ([0-9.]+)$", output, re.M))
    if seconds > IMPORT_SECONDS:
        raise CheckError(f"the import takes {seconds} s; at most {IMPORT_SECONDS} s are allowed")
    return f"pip, import ({seconds:.2f} s), tool"


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


def check_linux_x86_64(wheel, tool, _tree):
    yield lambda: run_tool(debian("bullseye", []), tool, "Debian 11")
    yield lambda: "Debian 12: " + install_and_run("bookworm", wheel, "3.11")
    yield lambda: "Debian 13: " + install_and_run("trixie", wheel, "3.13")


def check_linux_aarch64(wheel, tool, tree):
    del wheel
    qemu = shutil.which("qemu-aarch64-static")
    if not qemu:
        raise CheckError("qemu-aarch64-static is not installed")
    root = debian("bookworm", ["python3"], "arm64")
    prefix = f"{qemu} -L {root}"
    yield lambda: run_here(f"{prefix} {tool}", "Debian 12 under qemu: tool")

    def imports():
        cache = os.path.join(WORK, "numpy")
        numpy_wheels(cache, "3.11", "aarch64")
        for path in glob.glob(os.path.join(cache, "*cp311*aarch64.whl")):
            with zipfile.ZipFile(path) as archive:
                archive.extractall(tree)
        environment = {**os.environ, "PYTHONPATH": tree, "PYTHONHOME": os.path.join(root, "usr")}
        run([*prefix.split(), os.path.join(root, "usr/bin/python3.11"), "-c", IMPORT], env=environment)
        return "Debian 12 under qemu: import"

    yield imports


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


RUNS = {
    "linux-x86_64": check_linux_x86_64,
    "linux-aarch64": check_linux_aarch64,
    "musl-x86_64": check_musl_x86_64,
    "musl-aarch64": check_musl_aarch64,
    "windows-x86_64": check_windows_x86_64,
}


def check_target(target):
    """What was seen: {"state", "checked", "ran"}, with "failed" where a check failed."""
    wheel = find_wheel(target)
    if not wheel:
        return {"state": "planned", "checked": [], "ran": []}
    row = {"state": "built", "checked": [], "ran": []}
    with tempfile.TemporaryDirectory() as tree:
        try:
            tool, row["checked"] = check_contents(target, wheel, tree)
            for check in RUNS.get(target.name, lambda *_: ())(wheel, tool, tree):
                row["ran"].append(check())
                row["state"] = "tested"
        except (CheckError, OSError, ValueError, IndexError) as error:
            row["failed"] = str(error)
    return row


# ---- the table ----


def table(rows):
    lines = ["| platform | wheel | state | checked | run |", "|---|---|---|---|---|"]
    for target in TARGETS:
        row = rows[target.name]
        lines.append(f"| {target.label} | `{target.tag}` | {row['state']} | {', '.join(row['checked']) or '-'} | "
                     f"{'; '.join(row['ran']) or '-'} |")
    return "\n".join(lines) + "\n"


def write_page(rows):
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + table(rows) + END + rest.split(END)[1])


def main(names):
    results = os.path.join(WORK, "results.json")
    rows = {}
    if os.path.exists(results):
        with open(results, encoding="utf-8") as file:
            rows = json.load(file)
    failed = False
    for target in TARGETS:
        if names and target.name not in names and target.name in rows:
            continue
        row = rows[target.name] = check_target(target)
        print(f"{target.name:16} {row['state']:8} {', '.join(row['checked'] + row['ran'])}", flush=True)
        if "failed" in row:
            failed = True
            print(f"    FAILED: {row['failed']}", flush=True)
    with open(results, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
    if failed:
        sys.exit(1)
    write_page(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
