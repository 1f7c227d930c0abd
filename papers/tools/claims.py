#!/usr/bin/env python3
"""The table of claims at the top of papers/results.md, from results of runs; the claims are those of claim_list.py.

usage: papers/tools/claims.py [STORES] [--dissent TOOL] [--data FOLDER] [--write papers/results.md]

STORES is a folder with NAME.results for papers/experiments/NAME.yaml; where there is none, or one of fewer runs, results come
from papers/runs (kept_runs.py), where seeds that were run earlier are joined to later ones. Tables that `dissent
experiment table` makes of stores are kept in STORES/tables until a store or its file changes. A claim is one or several
comparisons. Of each, the difference of two conditions (in the direction that is claimed to be better) has a 95 %
interval by Student's t over seeds, paired by seed.
  beats   holds where the interval lies above 0, fails where it lies below
  near    holds where the interval lies above -margin, fails where it lies below
  rank    holds where the condition is among the best few by its mean, fails otherwise
  alike   holds where the interval includes 0, fails otherwise
and is open otherwise: then the number of seeds at which the interval would tell, were mean and spread to stay what they
are. A claim is reproduced as stated when all comparisons hold, in part when some do, not when none does and one fails,
and else it cannot be told; nor can it with fewer than three seeds, nor where an artefact decides, which the claim's
remark then names. Its size is judged apart: a comparison has at least half of the published effect where the interval
lies above that half, less where it lies below, and else it is open. A row that repeats another ("again") is shown and not
counted. Where large-NAME.yaml, the paper's size, has seeds enough, it is taken in place of NAME.yaml.
"""

import argparse
import json
import math
import pathlib
import re
import sqlite3
import subprocess
import sys

from claim_list import CLAIMS
from kept_runs import DATA, PAPERS, ROOT, Kept, Summary, joined, later_seeds, on_gpu, summary

BEGIN, END = "<!-- claims -->", "<!-- /claims -->"
LOWER = {"cross_entropy", "kl", "calibrated_log_likelihood", "log_loss"}
PERCENT = {"accuracy", "macro_f1"}
ENOUGH = 3
MANY = 300


def student(n):
    """Quantile .975 of Student's t with n - 1 degrees of freedom, by bisection of its distribution."""
    df = n - 1

    def below(t):  # by Simpson's rule
        c = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
        steps = 2000
        h = t / steps
        total = sum(
            (1 if i in (0, steps) else 4 if i % 2 else 2) * (1 + (i * h) ** 2 / df) ** (-(df + 1) / 2)
            for i in range(steps + 1)
        )
        return 0.5 + c * total * h / 3

    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < 0.975 else (low, middle)
    return low


class Results:
    def __init__(self, options):
        self.options, self.tables, self.seeds, self.whole = options, {}, {}, {}
        self.kept = Kept(lambda n, half: half * math.sqrt(n) / student(n))

    def store(self, file):
        """Where the store of an experiment would be; it need not be there."""
        return pathlib.Path(self.options.stores or "/nowhere") / f"{file}.results"

    def in_store(self, file):
        """Whether there is a store, with more runs than are kept."""
        if file not in self.whole:
            runs = 0
            if self.store(file).exists():
                db = sqlite3.connect(f"file:{self.store(file)}/results.sqlite?mode=ro", uri=True)
                asked = "select count(*) from runs where state = 'done' and experiment = ?"
                runs = db.execute(asked, (file,)).fetchone()[0]
            self.whole[file] = runs > self.kept.n_runs(file)
        return self.whole[file]

    def values(self, file, cell, measure):
        """Values of single seeds, or None."""
        m = self.measure(file, cell, measure)
        return m["values"] or None if m else None

    def measure(self, file, cell, measure):
        """What `experiment table` says of a measure of a cell; None: nothing, or some seed lacks folds."""
        if file not in self.tables:
            self.tables[file] = self.read(file)
        table = self.tables[file]
        if not table or cell not in table:
            return None
        name, _, metric = measure.partition(".")
        for m in table[cell]["measures"]:
            if (m["set"], m["metric"]) == (name, metric) and m["seeds"]:
                return m if table[cell]["done"] == m["seeds"] * self.folds(file, table[cell]["runs"]) else None
        return None

    def published(self, file, cell, metric):
        """What the paper reports of this metric of a cell, as the experiment's file has it."""
        for line in (PAPERS / f"experiments/{file}.yaml").read_text().split("\n"):
            if re.search(rf'name: "?{re.escape(cell)}"?,', line):
                said = re.search(rf"published: {{[^}}]*\b{metric}: ([-.\d]+)", line)
                return float(said[1]) if said else None
        return None

    def read(self, file, filters=()):
        """The cells of `experiment table`, by name, or what is kept of them; None: nothing of it."""
        store, yaml = self.store(file), PAPERS / f"experiments/{file}.yaml"
        if not self.in_store(file):
            return self.kept.table(file)
        kept = (
            pathlib.Path(self.options.stores) / "tables" / f"{file}{'.'.join(filters)}.json"
        )  # the bootstrap takes its time
        if not kept.exists() or kept.stat().st_mtime < max(f.stat().st_mtime for f in (yaml, store / "results.sqlite")):
            self.make(file, store, filters, kept)
        return {c["name"]: c for c in json.loads(kept.read_text())["cells"]}

    def make(self, file, store, filters, kept):
        done = self.run(file, store, ["table"], ["--json", "-", "-q", *filters])
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(done)

    def run(self, file, store, command, options):
        """Standard output of `dissent experiment COMMAND` on one file and its store."""
        line = [
            self.options.dissent,
            "experiment",
            *command,
            str(PAPERS / f"experiments/{file}.yaml"),
            "--store",
            str(store),
            *options,
            "--data",
            str(self.options.data or DATA),
        ]
        if on_gpu(file):  # which need not be here
            line += ["--device", "cuda"]
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stdout

    def by_seed(self, file, cell, measure):
        """Seed: value, of seeds whose runs are in a store or kept one by one."""
        if not self.in_store(file):
            return self.kept.runs(file).get(cell, {}).get(measure, {})
        values = self.values(file, cell, measure) or []
        db = sqlite3.connect(f"file:{self.store(file)}/results.sqlite?mode=ro", uri=True)
        rows = """select seed, avg(value) from runs join measures using(key) where state = 'done'
                  and experiment = ? and cell = ? and set_name = ? and metric = ? group by seed order by seed"""
        stored = dict(db.execute(rows, (file, cell, *measure.split(".", 1))))
        if len(stored) == len(values) and all(abs(a - b) < 1e-12 for a, b in zip(stored.values(), values)):
            return stored
        found, seed = {}, 0  # tables name no seeds: each is asked for
        while len(found) < len(values):
            if (file, seed) not in self.seeds:
                self.seeds[file, seed] = self.read(file, ("--filter", f"seed={seed}"))
            for m in self.seeds[file, seed][cell]["measures"]:
                if (f"{m['set']}.{m['metric']}") == measure and m["seeds"]:
                    found[seed] = m["values"][0]
            seed += 1
        return found

    def difference(self, file, one, other, measure):
        """By how much `one` is better, over the seeds that both have, earlier ones joined; None: nothing of it. `other` may
        be a published figure."""
        a = self.by_seed(file, one, measure)
        b = dict.fromkeys(a, other) if isinstance(other, float) else self.by_seed(file, other, measure)
        sign = -1 if measure.partition(".")[2] in LOWER else 1
        later = {seed: sign * (a[seed] - b[seed]) for seed in sorted(a.keys() & b.keys())}
        before, later = later_seeds(self.kept.earlier.get((file, one, other, measure)), later)
        return joined(before, summary(later))

    def folds(self, file, runs):
        """Runs per seed of a cell."""
        seeds = re.search(r"^seeds: (\d+)", (PAPERS / f"experiments/{file}.yaml").read_text(), re.M)
        return max(runs // int(seeds[1] if seeds else 1), 1)


def pair(results, file, one, other, measure):
    """The difference of both conditions, from the larger experiment where that has seeds enough; and which it was."""
    small = None
    for name in ([] if file.startswith("large-") else [f"large-{file}"]) + [file]:
        if not (PAPERS / f"experiments/{name}.yaml").exists():
            continue
        found = results.difference(name, one, other, measure)
        if found and found.n >= ENOUGH:
            return found, name
        small = small or ((found, name) if found and found.n > 1 else None)
    return small


def published(results, file, c):
    """The published difference, in the direction that is claimed; None: not reported."""
    if c["gain"]:
        return c["gain"]
    if "relative" in c:
        m = results.measure(file, c["other"], c["measure"])
        return c["relative"] * abs(m["mean"]) if m else None
    metric = c["measure"].partition(".")[2]
    of = lambda cell: cell if isinstance(cell, float) else results.published(file, cell, metric)
    said = [of(cell) for cell in (c["one"], c["other"])]
    return None if None in said else (said[0] - said[1]) * (-1 if metric in LOWER else 1)


def quantile(n):
    """student(n) to three digits, quickly (Cornish-Fisher)."""
    z, df = 1.959964, n - 1
    return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)


def seeds_to_tell(distances, spread, n):
    """Seeds at which the interval is narrower than one of these distances; None: more than MANY."""
    return next(
        (k for k in range(n + 1, MANY + 1) if any(quantile(k) * spread / math.sqrt(k) < d for d in distances)), None
    )


def interval(d):
    """Mean, spread and 95 % interval of values of seeds, or of a summary of them."""
    s = d if isinstance(d, Summary) else summary(d)
    if s.low is not None:
        return s.mean, s.sd, s.low, s.high
    half = student(s.n) * s.sd / math.sqrt(s.n)
    return s.mean, s.sd, s.mean - half, s.mean + half


def judge_one(c, d):
    """One comparison by the differences of its seeds: verdict, the test, and seeds that would tell an open one."""
    mean, spread, low, high = interval(d)
    if c["kind"] == "alike":
        return ("holds", "0 within", None) if low <= 0 <= high else ("fails", "0 outside", None)
    floor = -c["margin"] if c["kind"] == "near" else 0
    if low > floor:
        return "holds", "above 0" if not floor else "at most the margin behind", None
    if high < floor:
        return "fails", "below 0" if not floor else "more than the margin behind", None
    return "open", "0 within" if not floor else "margin within", seeds_to_tell([abs(mean - floor)], spread, d.n)


def half(d, gain):
    """Whether a difference has at least half of the published one: yes, no, open; "": nothing was published."""
    if not gain or gain <= 0 or d.n < ENOUGH:
        return ""
    _, _, low, high = interval(d)
    return "yes" if low > gain / 2 else "no" if high < gain / 2 else "open"


def compare(results, c):
    """What one comparison says, or None: nothing was run."""
    if c["kind"] == "labels":
        return compare_labels(results, c)
    if c["kind"] == "rank":
        return compare_rank(results, c)
    if c["kind"] == "right alone":
        from prediction_tables import differences_alone

        name, metric, gain = c["file"], "kurtosis" if c["kurtosis"] else "entropy", None
        before = results.kept.earlier.get((name, c["one"], c["other"], f"{metric} alone"))
        before, later = later_seeds(before, differences_alone(results, c) or {})
        d = joined(before, summary(later))
        if not d:
            return None
    else:
        found = pair(results, c["file"], c["one"], c["other"], c["measure"])
        if not found:
            return None
        d, name = found
        metric = c["measure"].partition(".")[2]
        gain = published(results, name, c) if c["kind"] == "beats" else None
    verdict, test, need = judge_one(c, d)
    if d.n < ENOUGH:
        verdict, test, need = "open", "too few seeds", None
    scale = 100 if metric in PERCENT else 1
    mean, _, low, high = (x * scale for x in interval(d))
    digits = 3 if max(abs(low), abs(high)) < 0.1 else 2
    return {
        "verdict": verdict,
        "test": test,
        "need": need,
        "n": d.n,
        "one": c["one"],
        "other": number(c["other"] * 100, 1).lstrip("+") if isinstance(c["other"], float) else c["other"],
        "metric": metric,
        "file": name,
        "half": half(d, gain),
        "text": f"{number(mean, digits)} [{number(low, digits)}, {number(high, digits)}]",
    }


def compare_rank(results, c):
    """Where the mean of a condition stands among those of all."""
    for name in (f"large-{c['file']}", c["file"]):
        found = {o: results.measure(name, o, c["measure"]) for o in c["other"]} if (
            PAPERS / f"experiments/{name}.yaml"
        ).exists() else {}
        if found and None not in found.values():
            break
    else:
        return None
    metric = c["measure"].partition(".")[2]
    means = sorted((m["mean"] for m in found.values()), reverse=metric not in LOWER)
    place = 1 + means.index(found[c["one"]]["mean"])
    return {
        "verdict": "holds" if place <= c["most"] else "fails",
        "test": "" if place <= c["most"] else f"number {place} of {len(means)} by its mean",
        "need": None,
        "n": min(m["seeds"] for m in found.values()),
        "one": c["one"],
        "other": "all others",
        "metric": metric,
        "file": name,
        "half": "",
        "text": f"{place} of {len(means)}",
    }


def compare_labels(results, c):
    one, others = (
        results.measure(c["file"], c["one"], c["measure"]),
        [results.measure(c["file"], o, c["measure"]) for o in c["other"]],
    )
    before = results.kept.earlier.get((c["file"], c["one"], "best view", c["measure"]))
    if one and None not in others:
        d = (one["mean"] - max(o["mean"] for o in others)) * 100
    elif before:
        d = before.mean * 100
    else:
        return None
    return {
        "verdict": "holds" if d >= 0 else "fails",
        "test": "",
        "need": None,
        "n": 0,
        "one": c["said"],
        "other": "",
        "metric": "accuracy",
        "file": c["file"],
        "half": "",
        "text": number(d),
    }


def number(x, digits=2):
    text = f"{x:+.{digits}f}"
    return text.replace("+0.", "+.").replace("-0.", "-.")


def judge(found):
    verdicts = [f["verdict"] for f in found]
    if all(v == "holds" for v in verdicts):
        return "reproduced"
    if "holds" in verdicts:
        return "in part"
    return "not" if "fails" in verdicts else "cannot be told"


NAMES = {
    "macro_f1": "F1",
    "entropy_correlation": "correlation",
    "cross_entropy": "cross-entropy",
    "calibrated_log_likelihood": "CLL",
}


def what_is_compared(found):
    """Of each comparison the words that tell it from the others of the claim."""
    several = (
        len({f["other"] for f in found}) > 1,
        len({f["one"] for f in found}) > 1,
        len({f["metric"] for f in found}) > 1,
    )
    again = lambda f: (
        f["other"] != found[0]["other"] and sum((g["one"], g["metric"]) == (f["one"], f["metric"]) for g in found) > 1
    )
    for f in found:
        words = [
            f["one"] if several[1] else "",
            "to " + f["other"].removesuffix(", later recipe") if several[0] and (not several[1] or again(f)) else "",
            NAMES.get(f["metric"], f["metric"]) if several[2] else "",
        ]
        yield ", ".join(w for w in words if w)


def test_behind(found, verdict, artefact):
    """Why a verdict is what it is, in words."""
    if verdict == "cannot be told" and not artefact:
        needs = [f["need"] for f in found if f["need"]]
        return f"about {min(needs)} seeds would tell" if needs else f"more than {MANY} seeds would be needed"
    reasons = {f["test"] for f in found if f["verdict"] == "fails" and f["test"]}
    if verdict == "not":
        return " or ".join(sorted(reasons))
    if verdict != "in part":
        return ""
    needs = [f["need"] or MANY for f in found if f["verdict"] == "open"]
    told = (
        f"{len(needs)} open: all told with about {max(needs)} seeds"
        if needs and max(needs) < MANY
        else f"{len(needs)} open: {MANY} seeds or more would tell all"
        if needs
        else ""
    )
    fails = f"what fails is {' or '.join(sorted(reasons))}" if reasons else ""
    return "; ".join(t for t in (fails, told) if t)


def size_of(found):
    """Of a claim: how many of its comparisons have at least half of the published effect."""
    said = [f["half"] for f in found if f["half"]]
    if not said:
        return ""
    if len(said) == 1:
        return {"yes": "yes", "no": "**no**", "open": "?"}[said[0]]
    return f"{said.count('yes')} of {len(said)}" + (f", {said.count('open')} open" if "open" in said else "")


def spread(found):
    """What came out, in one cell: the difference, or how many comparisons hold and from where to where they go."""
    if len(found) == 1:
        return found[0]["text"].replace(" ", "&nbsp;")  # a difference, or a rank
    count = {v: sum(f["verdict"] == v for f in found) for v in ("holds", "fails", "open")}
    said = f"{count['holds']} of {len(found)} hold" + (
        f", {count['fails']} {'fails' if count['fails'] == 1 else 'fail'}" if count["fails"] else ""
    )
    means = sorted((f["text"].split(" ")[0] for f in found), key=float)
    return said + (
        f"; {means[0]}&nbsp;to&nbsp;{means[-1]}"
        if len({f["metric"] for f in found}) == 1 and means[0] != means[-1]
        else ""
    )


def seeds_of(found):
    seeds = sorted({f["n"] for f in found})
    return "" if seeds == [0] else str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"


def row(results, claim):
    """One claim, judged; None: nothing was run."""
    paper, text, said_published, comparisons, remark = claim
    found = [f for f in (compare(results, c) for c in comparisons) if f]
    if not found:
        return None
    artefact, again = "artefact: " in remark, remark.startswith("again")
    verdict = "again" if again else "cannot be told" if artefact else judge(found)
    if any(f["file"].startswith("large-") for f in found) and not comparisons[0]["file"].startswith("large-"):
        remark = "; ".join(r for r in ("at the paper's size", remark.replace("; a small tagger, no encoder", "")) if r)
    remarks = "; ".join(r for r in (test_behind(found, verdict, artefact), remark) if r)
    return {
        "paper": paper,
        "text": text,
        "published": said_published,
        "found": found,
        "verdict": verdict,
        "remarks": remarks,
    }


MARKS = {
    "reproduced": "\u2713&nbsp;reproduced",
    "in part": "\u25d0&nbsp;in&nbsp;part",
    "not": "\u2717&nbsp;**not**",
    "cannot be told": "?&nbsp;open",
    "again": "(not&nbsp;counted)",
}


def by_paper(rows):
    """How many claims of each paper have which verdict."""
    kinds = ("reproduced", "in part", "not", "cannot be told")
    lines = ["| | " + " | ".join(kinds) + " |", "|---" * (len(kinds) + 1) + "|"]
    for paper in dict.fromkeys(r["paper"] for r in rows):
        lines.append(
            f"| {paper} | "
            + " | ".join(str(sum((r["paper"], r["verdict"]) == (paper, k) for r in rows)) for k in kinds)
            + " |"
        )
    return lines


def reason_of(f):
    """Behind the verdict of a comparison: why it fails."""
    return ": " + f["test"] if f["test"] and f["verdict"] == "fails" else ""


def in_full(f, what, found):
    """Both conditions of a comparison, and the measure and the experiment where the claim has several."""
    if not f["other"]:
        return what
    measure = NAMES.get(f["metric"], f["metric"])
    experiment = f"{f['file']}: " if len({g["file"] for g in found}) > 1 else ""
    return f"{experiment}{f['one']} against {f['other']}" + (f", {measure}" if measure in what.split(", ") else "")


def table_of(paper, rows):
    """The claims of a paper, a line each; all their comparisons behind a fold."""
    lines = [
        f"**{paper}**",
        "",
        "| | as stated | at least half of the effect | claim | published | here | seeds | remarks |",
        "|---|---|---|---|---|---|---|---|",
    ]
    names = [f"{paper[0] if paper != 'MULTI-VIEW' else 'V'}{i}" for i, _ in enumerate(rows, 1)]
    lines += [
        f"| {n} | {MARKS[r['verdict']]} | {size_of(r['found'])} | {r['text']} | {r['published']} | {spread(r['found'])} "
        f"| {seeds_of(r['found'])} | {r['remarks']} |"
        for n, r in zip(names, rows)
    ]
    lines += [
        "",
        f"<details><summary>Every comparison of {paper}, with its interval</summary>",
        "",
        "| | comparison | difference [95 % interval] | seeds | as stated | half of the effect |",
        "|---|---|---|---|---|---|",
    ]
    for n, r in zip(names, rows):
        for what, f in zip(what_is_compared(r["found"]), r["found"]):
            lines.append(
                f"| {n} | {in_full(f, what, r['found'])} | {f['text']} | {f['n'] or ''} "
                f"| {f['verdict']}{reason_of(f)} | {f['half']} |"
            )
    return [re.sub(r"(?<=\|) {2,}(?=\|)", " ", line) for line in [*lines, "", "</details>", ""]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="?")
    parser.add_argument("--dissent", default=str(ROOT / "build/dissent"))
    parser.add_argument("--data")
    parser.add_argument("--write")
    options = parser.parse_args()
    results = Results(options)
    rows = [r for r in (row(results, c) for c in CLAIMS) if r]
    verdicts = [r["verdict"] for r in rows if r["verdict"] != "again"]
    said = ", ".join(
        f"{verdicts.count(v)} {t}"
        for v, t in (
            ("reproduced", "are reproduced"),
            ("in part", "in part"),
            ("not", "not"),
            ("cannot be told", "cannot be told"),
        )
    )
    papers = [
        line
        for p in dict.fromkeys(r["paper"] for r in rows)
        for line in table_of(p, [r for r in rows if r["paper"] == p])
    ]
    table = "\n".join([f"Of {len(verdicts)} claims, as stated, {said}.", "", *by_paper(rows), "", *papers]).rstrip()
    if not options.write:
        print(table)
        return
    path = pathlib.Path(options.write)
    text = path.read_text()
    before, rest = text.split(BEGIN)
    path.write_text(before + BEGIN + "\n" + table + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
