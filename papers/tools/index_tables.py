"""Tables of papers/results.md on where each table and figure of the papers is, and on how long runs took."""

import re

from claims import PAPERS
from kept_runs import on_gpu
from analysis_tables import opened

# ---- where each table and figure of the papers is ----

INDEX = [
    ("SOFT-LOSS", "table 1, figure 1: the crowds", "#the-crowds-table-1-and-figure-1", None, "all votes"),
    (
        "SOFT-LOSS",
        "tables 2 and 3: POS",
        "#part-of-speech-tags-of-tweets-tables-2-and-3",
        "large-pos-soft-loss",
        "the paper's, word vectors of 25 numbers instead of 300",
    ),
    (
        "SOFT-LOSS",
        "tables 2 and 3: LabelMe",
        "#labelme-features-of-vgg-16-tables-2-and-3",
        "labelme",
        "the paper's net, one copy of each image instead of ten",
    ),
    (
        "SOFT-LOSS",
        "tables 2 and 3: CIFAR-10H",
        "#cifar-10h-tables-2-and-3",
        "cifar10h",
        "the paper's, two readings of the recipe; no rows that need ids of workers",
    ),
    (
        "MTL",
        "tables 1 and 2: POS, five folds",
        "#networks-pos-five-folds",
        "large-mtl-pos-released",
        "as released, word vectors of 25 dimensions instead of 300",
    ),
    ("MTL", "tables 1 and 2: POS, other tweets", "#networks-pos-other-tweets", "large-mtl-pos-test-released", "the same"),
    ("MTL", "tables 1 and 2: stemming", "#networks-stemming", "large-mtl-stemming-released", "as released"),
    (
        "MTL",
        "table 3: who is right where, POS",
        "#part-of-speech-tags-of-tweets-five-folds-tables-1-to-3",
        "large-mtl-pos",
        "the paper's; all losses",
    ),
    (
        "MTL",
        "table 3 in words: stemming",
        "#stemming-tables-1-to-3",
        "large-mtl-stemming",
        "entropy in place of kurtosis",
    ),
    ("MULTI-VIEW", "table 1: labels", "#soft-labels-table-1", "multi-view-labels", "the paper's data but for toxicity"),
    ("MULTI-VIEW", "appendix B: agreement", "#soft-labels-table-1", None, "all votes but toxicity's"),
    (
        "MULTI-VIEW",
        "figure 4, section 5.4: distances",
        "#distances-between-views-section-54-figure-4",
        "multi-view-labels",
        "the same",
    ),
    (
        "MULTI-VIEW",
        "figures 1 and 2: RTE",
        "#the-conditions-with-mpnet-base-on-a-gpu-figures-1-to-3",
        "large-multi-view-rte",
        "MPNet-base instead of RoBERTa-base",
    ),
    (
        "MULTI-VIEW",
        "figures 1 and 2: MRE",
        "#the-conditions-with-mpnet-base-on-a-gpu-figures-1-to-3",
        "large-multi-view-mre-released",
        "the same; class weights and strength 3 as in the released code",
    ),
    (
        "MULTI-VIEW",
        "figures 1 to 3: POS",
        "#the-conditions-with-mpnet-base-on-a-gpu-figures-1-to-3",
        "large-multi-view-pos",
        "the same; with and without traces",
    ),
    (
        "MULTI-VIEW",
        "figures 1 to 3: toxicity",
        "#the-conditions-with-mpnet-base-on-a-gpu-figures-1-to-3",
        "large-multi-view-toxicity",
        "the same; another data set",
    ),
    ("EPISTEMIC", "figure 1: low and high entropy", "#low-and-high-entropy-figure-1", None, "all votes"),
    (
        "EPISTEMIC",
        "figures 2 to 5, the abstract's figures: ChaosNLI",
        "#with-mpnet-base-and-on-images",
        "encoder-chaosnli",
        "MPNet-base; the paper's four tables are not in what can be had of it",
    ),
    ("EPISTEMIC", "the same: POPQUORN", "#with-mpnet-base-and-on-images", "encoder-popquorn", "MPNet-base"),
    (
        "EPISTEMIC",
        "the same: CIFAR-10H",
        "#with-mpnet-base-and-on-images",
        "cifar10h",
        "SOFT-LOSS's runs: soft shares against the majority",
    ),
]
PUBLISHED_SEEDS = {
    "large-pos-soft-loss": "30",
    "labelme": "30",
    "cifar10h": "10",
    "large-mtl-pos": "10",
    "large-mtl-pos-released": "10",
    "large-mtl-pos-test-released": "10",
    "large-mtl-stemming-released": "10",
    "large-mtl-stemming": "10",
    "large-multi-view-rte": "20",
    "large-multi-view-mre": "20",
    "large-multi-view-mre-released": "20",
    "large-multi-view-pos": "20",
    "large-multi-view-toxicity": "20",
}


def seeds_of(results, file):
    """Fewest and most seeds of the cells of an experiment that are whole."""
    if file not in results.tables:
        results.tables[file] = results.read(file)
    cells = results.tables[file] or {}
    found = [
        m["seeds"]
        for name, c in cells.items()
        for m in c["measures"][:1]
        if m["seeds"] and c["done"] == m["seeds"] * results.folds(file, c["runs"])
    ]
    return "" if not found else str(max(found)) if min(found) == max(found) else f"{min(found)} to {max(found)}"


def share_of(results, file):
    """How many of the runs at the published number of seeds have been made, where some are missing."""
    wanted = int(PUBLISHED_SEEDS.get(file, 0))
    cells = results.tables.get(file) or {}
    done = sum(min(wanted, m["seeds"] or 0) for c in cells.values() for m in c["measures"][:1])
    return f" ({100 * done // (wanted * len(cells))} %)" if cells and done < wanted * len(cells) else ""


def row_of(results, begins, has=""):
    """A row of the document as it is; None: it has no such row."""
    rows = [r for r in results.page.split("\n") if r.startswith(begins) and has in r]
    return rows[0] if rows else None


def index(results, _):
    lines = [
        "| paper | table or figure | experiment | seeds, published / here (part of all runs) | size |",
        "|---|---|---|---|---|",
    ]
    for paper, what, anchor, file, size in INDEX:
        link = f"[{what}]({anchor})"
        known = row_of(results, f"| {paper} | {link} |")
        if known and file and not seeds_of(results, file):
            lines.append(known)
            continue
        seeds = (
            f"{PUBLISHED_SEEDS.get(file, '-')} / {seeds_of(results, file)}{share_of(results, file)}"
            if file and file != "multi-view-labels"
            else "nothing is drawn"
        )
        lines.append(
            f"| {paper} | {link} | {f'`{file}.yaml`' if file else '`dissent agree`'} | {seeds} | {size} |"
        )
    return "\n".join(lines)


# ---- times ----


def seconds(x):
    return f"{x:.2g} s" if x < 10 else f"{x:.0f} s" if x < 120 else f"{x / 60:.0f} min"


def quick(results, name):
    """Runs in the store, and what one takes on average: of each cell its quickest tenth, since others waited."""
    _, db = opened(results, name)
    took = {}
    done = "select cell, seconds from runs where state = 'done' and experiment = ?"
    for cell, s in db.execute(done, (name,)) if db else ():
        took.setdefault(cell, []).append(s)
    runs = sum(map(len, took.values()))
    return runs, sum(len(s) * sorted(s)[len(s) // 10] for s in took.values()) / runs if runs else None


def times(results, _):
    """Runs in the stores, and how long they take one by one."""
    lines = ["| experiment | runs | where | a run | all, one after the other |", "|---|---|---|---|---|"]
    for yaml in sorted((PAPERS / "experiments").glob("*.yaml")):
        runs, one = quick(results, yaml.stem)
        known = row_of(results, f"| {yaml.stem} |", has=" s |")
        if not runs and known:
            lines.append(known)
        if runs:
            runs = max(runs, results.kept.n_runs(yaml.stem))
            where = "H200, beside others" if on_gpu(yaml.stem) else "processor"
            lines.append(f"| {yaml.stem} | {runs:,} | {where} | {seconds(one)} | {seconds(one * runs)} |")
    return "\n".join(lines)


def small_times(results, _):
    """Of each paper what two cores do: files, all their runs, and how long these take, by the same seconds."""
    found = {}
    for yaml in sorted((PAPERS / "experiments").glob("*.yaml")):
        text = yaml.read_text()
        paper = re.search(r"(?m)^paper: (\S+)", text)
        if not paper or not re.search(r"(?m)^size: small", text):
            continue
        _, one = quick(results, yaml.stem)
        cells = results.read(yaml.stem) if one else None
        if cells:
            runs = sum(c["runs"] for c in cells.values())
            found.setdefault(paper[1], []).append((yaml.stem, runs, runs * one))
    if any(p not in found for p in ("soft-loss", "mtl", "multi-view", "epistemic", "beyond")):
        return None  # all or none
    lines = ["| paper | files | runs | one after the other | longest |", "|---|---|---|---|---|"]
    for paper, files in found.items():
        longest = max(files, key=lambda f: f[2])
        total = sum(f[2] for f in files)
        lines.append(
            f"| {paper} | {len(files)} | {sum(f[1] for f in files):,} | {seconds(total)} "
            f"| {longest[0]}, {seconds(longest[2])} |"
        )
    return "\n".join(lines) if found else None


INDEXES = {"index": index, "times": times, "times-small": small_times}
