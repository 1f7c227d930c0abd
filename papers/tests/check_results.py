"""Checks of papers/results.md: it can be remade from papers/runs, a changed number or run is found, its links lead to files,
and every line of a run has a source."""

import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PAPERS = pathlib.Path(__file__).resolve().parents[1]
TOOL = PAPERS / "tools/write_page.py"
failed = []


def check(ok, message):
    if not ok:
        failed.append(message)
        print(message)


def run_check(papers):
    """Exit code of `write_page.py --check` on a copy of papers/."""
    env = {**os.environ, "DISSENT_PAPERS": str(papers), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, str(TOOL), "--check"], env=env, capture_output=True, text=True)


def copied(work):
    for name in ("runs", "experiments", "figures"):
        shutil.copytree(PAPERS / name, work / name, dirs_exist_ok=True)
    for name in ("results.md", "results.in.md", "comparisons.md"):
        shutil.copy(PAPERS / name, work)
    return work


def replace(path, old, new):
    text = path.read_text()
    assert old in text, (path, old)
    path.write_text(text.replace(old, new, 1))


def changed_numbers(work):
    """A changed digit is found wherever it stands: claims, tables, comparisons, figures, and text."""
    page = (PAPERS / "results.md").read_text()
    row = next(line for line in page.split("\n") if line.startswith("| gold + KL | 86.62"))
    number = re.search(r"\d\d\.\d\d(?= / \d\d\.\d\d \| \.\d+)", row)[0]
    claim = re.search(r"\| S3 \|.*?(\+\d+\.\d\d)", page)
    dot = re.search(r'cx="(\d+\.\d)"', (PAPERS / "figures/mtl-gains.svg").read_text())[0]
    for file, old, new in (
        ("results.md", row, row.replace(number, f"{float(number) + 0.01:.2f}")),
        ("results.md", claim[0], claim[0][:-1] + str((int(claim[0][-1]) + 1) % 10)),
        ("comparisons.md", "[", "[-9"),
        ("figures/mtl-gains.svg", dot, 'cx="1.0"'),
        ("results.in.md", "## Contamination", "Soft labels gain 1.23 points.\n\n## Contamination"),
    ):
        replace(copied(work) / file, old, new)
        check(run_check(work).returncode == 1, f"{file}: a changed number passes: {old[:60]}")


def changed_runs(work):
    """The page depends on every file of runs but that of Le-Wi-Di, which another page reports."""
    sys.path.insert(0, str(PAPERS / "tools"))
    os.environ["DISSENT_PAPERS"] = str(copied(work))
    import results
    import write_page

    all_results = results.Results()
    pages = write_page.files(all_results)
    check(len(all_results.used) > 20, "few files of runs are read")
    for file in sorted(f for f in all_results.used if all_results.runs(f)):
        other = results.Results()
        other.files = {f: runs for f, runs in all_results.files.items() if f != file}
        other.files[file] = {
            cell: {m: {s: x * 1.03 + 0.003 for s, x in seeds.items()} for m, seeds in by.items()}
            for cell, by in all_results.runs(file).items()
        }
        check(write_page.files(other) != pages, f"papers/runs/{file}.tsv: other runs give the same page")


def links():
    for name in ("results.md", "comparisons.md", "errata.md", "README.md", "runs/README.md"):
        path = PAPERS / name
        text = re.sub(r"```.*?```|`[^`]*`", " ", path.read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)]+)\)", text):
            file, _, anchor = target.partition("#")
            at = path.parent / file if file else path
            if target.startswith("http"):
                continue
            check(at.exists(), f"{name}: no file {file}")
            if anchor and at.suffix == ".md":
                to_anchor = lambda h: re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-")
                headings = {to_anchor(h) for h in re.findall(r"(?m)^#+ (.*)$", at.read_text())}
                check(anchor in headings, f"{name}: no heading #{anchor} in {at.name}")


def lines():
    """Each run is one line, with a source; lines of runs after the change of format have key, commit and device."""
    older = {"large-multi-view-pos", "large-multi-view-toxicity", "why-rte"}
    for path in sorted((PAPERS / "runs").glob("*.tsv")):
        with path.open(newline="") as f:
            rows = list(csv.DictReader(f, delimiter="\t"))
        places = [(r["cell"], r["seed"], r["fold"]) for r in rows]
        check(len(places) == len(set(places)), f"{path.name}: two lines of one run")
        for r in rows:
            named = r["key"] and r["commit"] and r["device"]
            all_results = r["source"] == "run" and (named or path.stem in older or r["fold"] == "all")
            ok = all_results or r["source"] in ("figure", "data")
            check(ok, f"{path.name}: {r['cell']}, seed {r['seed']}: no source, or no key, commit and device")


def main():
    found = run_check(PAPERS)
    check(found.returncode == 0, found.stdout[:2000] + found.stderr[-2000:])
    links()
    lines()
    with tempfile.TemporaryDirectory() as work:
        changed_numbers(pathlib.Path(work))
    with tempfile.TemporaryDirectory() as work:
        changed_runs(pathlib.Path(work))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
