#!/usr/bin/env python3
"""Writes papers/results.md, comparisons.md and the figures from papers/results.in.md and the kept runs.

    papers/tools/write_page.py [--check]

results.in.md has the text. {table NAME} stands for a table of page_tables.py or claims.py. {range FILE | MEASURE} stands for
the lowest and highest mean of all conditions. A decimal number that is typed must be one that a paper reports, in a
sentence that says so. --check compares instead, and exits with 1 if anything differs.
"""

import difflib
import re
import sys

import claims
from claim_list import PAPERS_IN_ORDER
from figures import FIGURES
from kept_runs import FOLDER, PAPERS
from page_tables import TABLES
from results import Results, shown

TEXT = PAPERS / "results.in.md"
COMPARISONS = """# Every comparison of claims with several

One row per comparison of the claims in [results.md](results.md#claims), with the difference and its 95 % interval.
"""
NUMBER = re.compile(r"(?<![\w.#])[-+]?\d*\.\d+\b")
REPORTED = re.compile(r"publish|paper|report|rule|holds where|at least half|within|margin|learning rate|T = ", re.I)


def tables(results):
    generated = {name: (lambda f=f: f(results)) for name, f in TABLES.items()}
    generated["verdicts"] = lambda: claims.count_table(results)
    generated["claims by log-loss"] = lambda: claims.log_loss_table(results)
    for paper in PAPERS_IN_ORDER.values():
        generated[f"claims {paper}"] = lambda p=paper: claims.claim_table(results, p)
    return generated


def fill(text, results):
    """The text with its placeholders filled."""
    generated = tables(results)

    def replace(match):
        kind, _, rest = match[1].partition(" ")
        if kind == "table":
            return generated[rest]()
        file, measure = (p.strip() for p in rest.split("|"))
        means = [results.mean(file, c, measure) for c in results.runs(file)]
        return f"{shown(min(means), measure)} to {shown(max(means), measure)}"

    return re.sub(r"\{((?:table|range) [^}]+)\}", replace, text)


def comparisons(results):
    parts = [COMPARISONS]
    for paper in PAPERS_IN_ORDER.values():
        table = claims.comparison_table(results, paper)
        parts += [f"## {paper}", table, ""] if table.count("\n") > 1 else []
    return "\n".join(parts)


def files(results):
    """{path: text} of everything that is made from the runs."""
    generated = {PAPERS / "results.md": fill(TEXT.read_text(), results), PAPERS / "comparisons.md": comparisons(results)}
    return {**generated, **{PAPERS / f"figures/{name}.svg": draw(results) for name, draw in FIGURES.items()}}


def typed_numbers(text):
    """Sentences of the text with a decimal number that no placeholder made and that is not said to be reported."""
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|\{[^}]*\}", " ", text, flags=re.S)
    for line in text.split("\n"):
        for sentence in re.split(r"(?<=[.:|])\s+(?=[A-Z(])|\|", line):
            if NUMBER.search(sentence) and not REPORTED.search(line if line.startswith("|") else sentence):
                yield sentence.strip()


def unused(results):
    """Files of runs from which no number of the page comes. perspectives.md has those of Le-Wi-Di."""
    return sorted(
        p.stem for p in FOLDER.glob("*.tsv") if p.stem not in results.used and not p.stem.startswith("lewidi")
    )


def main():
    results = Results()
    generated = files(results)
    wrong = [f"typed by hand: {s}" for s in typed_numbers(TEXT.read_text())]
    wrong += [f"papers/runs/{name}.tsv is used nowhere" for name in unused(results)]
    wrong += [f"{p} is shown nowhere" for p in (PAPERS / "figures").iterdir() if p not in generated]
    for path, text in generated.items():
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            old = path.read_text().split("\n") if path.exists() else []
            wrong += list(difflib.unified_diff(old, text.split("\n"), path.name, "from the runs", n=0))[:20]
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
