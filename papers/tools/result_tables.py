#!/usr/bin/env python3
"""The tables of papers/results.md that hold published rows against ours, from stores of results.

    papers/tools/result_tables.py [STORES] [--dissent build/dissent] [--data FOLDER] [--write papers/results.md]
                                   [--figures papers/figures] [--lines]

STORES has NAME.results for papers/experiments/NAME.yaml, as papers/tools/claims.py reads them. Each table of TABLES stands between
<!-- table KEY --> and <!-- /table --> of the document, or is printed. A table, or a row of those that have one per
experiment, stays as it is where neither a store nor papers/runs has anything of it. Means over seeds (of each the
mean over its folds), accuracies and F1 in percent, stars as `dissent experiment table` has them; a condition of which a
seed lacks folds is left empty. Other tables come from papers/tools/analysis_tables.py, prediction_tables.py, cause_tables.py, mtl_tables.py and index_tables.py.
--lines fills only those tables that are made from papers/runs alone.
--figures draws anew those figures that papers/results.md shows.
"""

import argparse
import pathlib
import re
import shutil
import sys
import tempfile

from claims import PAPERS, PERCENT, ROOT, Results
from claims import number as signed
from index_tables import INDEXES
from analysis_tables import MORE
from mtl_tables import LINES, MTL
from prediction_tables import PEOPLE
from condition_rows import ALSO, TABLES, value
from cause_tables import WHY
from prose_check import check


def from_published(results, file, cell, measures, published):
    """What we have less what is published, measure by measure."""
    shown = []
    for m, text in zip(measures, published.replace("*", "").split(" / ") if published else []):
        found = results.measure(file, cell, m)
        scale = 100 if m.partition(".")[2] in PERCENT else 1
        shown.append(signed(found["mean"] * scale - float(text), 2) if found else "-")
    return " / ".join(shown) if set(shown) != {"-"} else ""


def column(results, rows, spec):
    """The cells of a column, and its header; None: nothing of it is there."""
    header, file, name_of, measures, what = spec
    cells, seeds = [], set()
    for _, cell, *said in rows:
        if cell is None:
            cells.append("")
            continue
        if what == "difference":
            cells.append(from_published(results, file, name_of(cell), measures, said[0]))
            continue
        got = [value(results, file, name_of(cell), m, what) for m in measures]
        found = results.measure(file, name_of(cell), measures[0])
        seeds |= {found["seeds"]} if found else set()
        cells.append("" if not any(got) else " / ".join(g or "-" for g in got))
    n = f"{min(seeds)} to {max(seeds)}" if len(seeds) > 1 else str(max(seeds, default=0))
    return None if not any(cells) else (header.format(n=n), cells)


def table(results, key):
    rows, published, specs = TABLES[key]
    columns = [c for c in (column(results, rows, s) for s in specs) if c]
    if not columns:
        return None
    if published:
        columns.insert(0, (published, [r[2] for r in rows]))
        if any(len(r) > 3 for r in rows):
            columns.insert(1, ("its sd", [r[3].split(" / ")[0] if len(r) > 3 else "" for r in rows]))
    lines = ["| | " + " | ".join(h for h, _ in columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for i, (label, cell, *_) in enumerate(rows):
        if cell is None or any(c[i] for h, c in columns if h not in (published, "its sd")):
            lines.append(f"| {label} | " + " | ".join(c[i] for _, c in columns) + " |")
    lines += [ALSO[key]] if key in ALSO else []
    return "\n".join(re.sub(r"(?<=\|) {2,}(?=\|)", " ", line) for line in lines)


def columns(text):
    """Of a table in Markdown."""
    return max((line.count("|") for line in text.split("\n") if line.startswith("|")), default=0)


OTHERS = {**MORE, **PEOPLE, **WHY, **MTL, **INDEXES}


# ---- figures ----


# Lines that tell nothing new are left out: a file, part of a figure's name, the filter of `dissent experiment report`.
ONLY = [
    ("cifar10h", "divide", "model=resnet"),
    ("cifar10h", "divided", "model=resnet"),
    ("cifar10h", "held-out", "model=resnet"),
    ("epistemic-popquorn", "held-out", "keep=cross_entropy"),
    ("why-labelme-crowd", "epochs", "model=mlp:scale=standard"),
]


def draw(results, folder):
    """The figures that papers/results.md shows, each by `dissent experiment report` of the file that begins its name."""
    shown = sorted(set(re.findall(r"\(figures/([^)]+\.svg)\)", (PAPERS / "results.md").read_text())))
    files = sorted((f.stem for f in (PAPERS / "experiments").glob("*.yaml")), key=len, reverse=True)
    by_file = {}
    for name in shown:
        file = next((f for f in files if name.startswith(f + "-")), None)
        only = next((o for f, part, o in ONLY if f == file and part in name), None)
        by_file.setdefault((file, only), []).append(name)
    for (file, only), names in by_file.items():
        store = results.store(file)
        if not file or not store.exists():
            print(f"no store: {', '.join(names)}")
            continue
        with tempfile.TemporaryDirectory() as made:
            results.run(file, store, ["report"], ["--figures", made, *(["--filter", only] if only else [])])
            for name in names:
                if (pathlib.Path(made) / name).exists():
                    shutil.copy(pathlib.Path(made) / name, folder)
                else:
                    print(f"not drawn: {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="?")
    parser.add_argument(
        "--check", metavar="DOCUMENT", help="look for figures in its text that its tables do not have; needs no stores"
    )
    parser.add_argument("--dissent", default=str(ROOT / "build/dissent"))
    parser.add_argument("--data")
    parser.add_argument("--write")
    parser.add_argument("--figures")
    parser.add_argument("--lines", action="store_true")
    options = parser.parse_args()
    if options.check:
        missing = check(pathlib.Path(options.check).read_text())
        for line, said in missing:
            print(f"{options.check}:{line}: {said}")
        sys.exit(1 if missing else 0)
    results = Results(options)
    if options.figures:
        draw(results, options.figures)
        return
    text = (
        pathlib.Path(options.write).read_text()
        if options.write
        else "".join(f"<!-- table {k} -->\n<!-- /table -->\n" for k in (*TABLES, *OTHERS))
    )

    results.page = text

    def fill(match):
        if options.lines and match[1] not in LINES:
            return match[0]
        made = OTHERS.get(match[1], table)(results, match[1])
        if not made or (not options.lines and columns(made) < columns(match[2])):  # something of it is neither in stores nor kept
            return match[0]
        return f"<!-- table {match[1]} -->\n{made}\n<!-- /table -->"

    text = re.sub(r"<!-- table (\S+) -->\n(.*?)<!-- /table -->", fill, text, flags=re.S)
    if options.write:
        pathlib.Path(options.write).write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
