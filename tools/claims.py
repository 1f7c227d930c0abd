#!/usr/bin/env python3
"""The table of claims at the top of docs/results.md, from stores of results.

usage: tools/claims.py STORES [--dissent TOOL] [--data FOLDER] [--write docs/results.md]

STORES is a folder with NAME.results for experiments/NAME.yaml; those that are not there are passed over. A claim is one
or several comparisons. Of each, the difference of two conditions (in the direction that is claimed to be better) has a
95 % interval by Student's t over seeds, paired by seed: it holds where the interval lies above 0, fails where it lies
below, and is open otherwise. Equality holds where the interval lies within the margin. A claim is reproduced when all
comparisons hold, in part when some do, not when none does and one fails, and else it cannot be told; nor can it with
fewer than three seeds, nor where an artefact decides, which the claim's remark then names. Where large-NAME.yaml, the
paper's size, has as many seeds, it is taken in place of NAME.yaml.
"""
import argparse
import json
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- claims -->", "<!-- /claims -->"
LOWER = {"cross_entropy", "kl", "calibrated_log_likelihood", "log_loss"}
PERCENT = {"accuracy", "macro_f1"}
ENOUGH = 3
ON_GPU = {"cifar10h", "encoder-chaosnli", "encoder-popquorn", "why-inverse-kl"}


def beats(file, better, worse, measure):
    """`better` is claimed to be better than each of `worse`."""
    return [("beats", file, better, w, measure) for w in ([worse] if isinstance(worse, str) else worse)]


def equals(file, one, other, measure, margin):
    return [("equals", file, one, other, measure, margin)]


SILVER = ["majority", "d&s"]
MTL = ["kl", "inverse-kl", "ce"]
VIEWS = ["standard", "softmax", "mace", "dawid-skene"]
COMBINED = ["average", "centroid", "temperature", "hybrid"]

# paper, claim, published, comparisons, remark (what decides besides, or why it fails)
CLAIMS = [
    ("SOFT-LOSS", "POS: soft labels are more accurate than both silver labels", "80.0 against 77.9 and 77.5",
     beats("pos-soft-loss", "soft", SILVER, "test.accuracy"), ""),
    ("SOFT-LOSS", "POS: and than the crowd layer", "80.0 against 76.5",
     beats("pos-soft-loss", "soft", "crowd layer", "test.accuracy"), ""),
    ("SOFT-LOSS", "POS: gold is more accurate than soft labels", "89.2 against 80.0",
     beats("pos-soft-loss", "gold", "soft", "test.accuracy"), ""),
    ("SOFT-LOSS", "POS: soft labels are nearest to people in cross-entropy", "1.67; others 2.16 to 3.34",
     beats("pos-soft-loss", "soft", ["gold", *SILVER, "crowd layer"], "test.cross_entropy"), ""),
    ("SOFT-LOSS", "POS: and in the correlation of entropies", ".67; others .41 to .60",
     beats("pos-soft-loss", "soft", ["gold", *SILVER, "crowd layer"], "test.entropy_correlation"), ""),
    ("SOFT-LOSS", "POS: softmax of votes is a better target than shares", "80.0 against 79.0",
     beats("pos-soft-loss", "soft", "soft, standard", "test.accuracy"), ""),
    ("SOFT-LOSS", "LabelMe: soft labels are more accurate than both silver labels", "84.9 against 80.4 and 83.4",
     beats("labelme", "soft", SILVER, "images.accuracy"), "on the 1,188 test images"),
    ("SOFT-LOSS", "LabelMe: and than the crowd layer", "84.9 against 83.5",
     beats("labelme", "soft", "crowd layer", "images.accuracy"), "on the 1,188 test images"),
    ("SOFT-LOSS", "LabelMe: gold is the most accurate", "97.2 against 84.9",
     beats("labelme", "gold", "soft", "images.accuracy"), "on the 1,188 test images"),
    ("SOFT-LOSS", "LabelMe: soft labels are nearest to people in cross-entropy", "1.64; others 2.80 to 4.86",
     beats("labelme", "soft", ["gold", *SILVER, "crowd layer"], "test.cross_entropy"), ""),
    ("SOFT-LOSS", "LabelMe: and in the correlation of entropies", ".39; others -.01 to .28",
     beats("labelme", "soft", ["gold", *SILVER, "crowd layer"], "test.entropy_correlation"),
     "holds on images that were trained on alone: [why](#why-labelme-differs)"),
    ("SOFT-LOSS", "LabelMe: softmax of votes is a better target than shares", "84.9 against 83.5",
     beats("labelme", "soft", "soft, standard", "images.accuracy"), ""),
    ("SOFT-LOSS", "CIFAR-10H: soft labels are more accurate than gold and majority", "66.6 against 65.2 and 65.7",
     beats("cifar10h", "soft, standard", ["gold", "majority"], "test.accuracy"), ""),
    ("SOFT-LOSS", "CIFAR-10H: shares of votes are a better target than their softmax", "66.6 against 65.5",
     beats("cifar10h", "soft, standard", "soft, softmax", "test.accuracy"), ""),
    ("SOFT-LOSS", "CIFAR-10H: soft labels are nearest to people", "1.11 / .22; others 2.6 / .13",
     beats("cifar10h", "soft, standard", ["gold", "majority"], "test.cross_entropy")
     + beats("cifar10h", "soft, standard", ["gold", "majority"], "test.entropy_correlation"), ""),
    ("MTL", "POS, 5 folds, gold: a second head helps, with each loss", "+.8 to +1.0 accuracy, +.9 to +1.0 F1",
     [c for m in MTL for k in ("accuracy", "macro_f1") for c in beats("mtl-pos", f"gold+{m}", "gold", f"test.{k}")],
     "inverse KL: [why](#part-of-speech-tags-of-tweets-five-folds-tables-1-to-3)"),
    ("MTL", "POS, 5 folds, silver: the same", "+.6 to +.8 accuracy, +.7 to +.8 F1",
     [c for m in MTL for k in ("accuracy", "macro_f1") for c in beats("mtl-pos", f"silver+{m}", "silver", f"test.{k}")], ""),
    ("MTL", "POS, other tweets, gold: a second head helps", "+.1 to +.5 accuracy, +.5 to +.6 F1",
     [c for m in MTL for k in ("accuracy", "macro_f1") for c in beats("mtl-pos-test", f"gold+{m}", "gold", f"lowlands.{k}")], ""),
    ("MTL", "POS, other tweets, silver: the same", "+.7 to +1.4 accuracy, +.9 to +1.4 F1",
     [c for m in MTL for k in ("accuracy", "macro_f1")
      for c in beats("mtl-pos-test", f"silver+{m}", "silver", f"lowlands.{k}")], ""),
    ("MTL", "Stemming, gold: a second head raises accuracy, most by inverse KL", "+1.7 to +3.5",
     [c for m in MTL for c in beats("mtl-stemming", f"gold+{m}", "gold", "test.accuracy")]
     + beats("mtl-stemming", "gold+inverse-kl", "gold+kl", "test.accuracy"), ""),
    ("MTL", "Stemming, silver: the same", "+1.8 to +6.1",
     [c for m in MTL for c in beats("mtl-stemming", f"silver+{m}", "silver", "test.accuracy")]
     + beats("mtl-stemming", "silver+inverse-kl", "silver+kl", "test.accuracy"), ""),
    ("MULTI-VIEW", "POS to newspapers: training on the centroid beats single views in F1", "best or near best",
     beats("multi-view-pos", "centroid", VIEWS, "words.macro_f1"), "traces left out; a small tagger, no encoder"),
    ("MULTI-VIEW", "the same with traces", "best or near best",
     beats("multi-view-pos", "centroid", VIEWS, "treebank.macro_f1"), "6,592 traces tagged X take part"),
    ("MULTI-VIEW", "POS: gold is best in F1", "gold above all crowd labels",
     beats("multi-view-pos", "gold", [*VIEWS, "centroid"], "words.macro_f1"), "traces left out; a small tagger, no encoder"),
    ("MULTI-VIEW", "POS: and in calibrated log-likelihood", "gold above all crowd labels",
     beats("multi-view-pos", "gold", [*VIEWS, "centroid"], "words.calibrated_log_likelihood"), "traces left out; a small tagger, no encoder"),
    ("MULTI-VIEW", "POS: combining Dawid-Skene and MACE alone beats all four, in F1", "figure 3",
     [c for k in COMBINED for c in beats("multi-view-pos", f"{k} of two", k, "words.macro_f1")], "traces left out; a small tagger, no encoder"),
    ("MULTI-VIEW", "RTE to SNLI: soft labels beat gold in F1", "gold lowest",
     [c for v in (*VIEWS, "centroid") for c in beats("large-multi-view-rte", v, "gold", "snli.macro_f1")], "MPNet-base"),
    ("MULTI-VIEW", "RTE to SNLI: Gold + KLD is worse than KLD", "figure 1",
     [c for v in (*VIEWS, "centroid") for c in beats("large-multi-view-rte", v, f"gold + {v}", "snli.macro_f1")], "MPNet-base"),
    ("MULTI-VIEW", "RTE to SNLI: training on the centroid beats single views in F1", "best or near best",
     beats("large-multi-view-rte", "centroid", VIEWS, "snli.macro_f1"), "MPNet-base"),
    ("MULTI-VIEW", "MRE to press releases: soft labels beat gold in F1", "gold lower",
     [c for v in (*VIEWS, "centroid") for c in beats("large-multi-view-mre", v, "gold", "insciout.macro_f1")],
     "artefact: calibrated log-likelihood is that of guessing in all conditions; MPNet-base"),
    ("MULTI-VIEW", "Toxicity: silver labels are far below gold in F1", "almost 20 points",
     beats("multi-view-toxicity", "gold", "silver", "test.macro_f1"), "another data set; MPNet-base"),
    ("MULTI-VIEW", "Toxicity: training on the centroid beats single views in F1", "best or near best",
     beats("multi-view-toxicity", "centroid", VIEWS, "test.macro_f1"), "another data set; MPNet-base"),
    ("MULTI-VIEW", "Toxicity: combining Dawid-Skene and MACE alone beats all four, in F1", "nearer to the best",
     [c for k in COMBINED for c in beats("multi-view-toxicity", f"{k} of two", k, "test.macro_f1")], "another data set; MPNet-base"),
    *[("EPISTEMIC", f"{name}: soft training {text}", published, make(file, soft, hard),
       "artefact: hard training gives the most frequent answer always; MPNet-base" if (name, text[:5]) == ("POPQUORN", "keeps")
       else "MPNet-base" if "mpnet" in soft else "")
      for name, file, soft, hard in (("ChaosNLI, SNLI", "encoder-chaosnli", "snli, mpnet, soft", "snli, mpnet, hard"),
                                     ("ChaosNLI, MNLI", "encoder-chaosnli", "mnli, mpnet, soft", "mnli, mpnet, hard"),
                                     ("ChaosNLI, alphaNLI", "encoder-chaosnli", "alphanli, mpnet, soft", "alphanli, mpnet, hard"),
                                     ("POPQUORN", "encoder-popquorn", "mpnet, soft", "mpnet, hard"),
                                     ("CIFAR-10H", "cifar10h", "soft, standard", "majority"))
      for text, published, make in (("lowers KL to people", "-32 % (three sets together)", lambda f, a, b: beats(f, a, b, "test.kl")),
                                    ("raises the correlation of entropies", "+61 % (three sets together)",
                                     lambda f, a, b: beats(f, a, b, "test.entropy_correlation")),
                                    ("keeps accuracy, within 2 points", "equal", lambda f, a, b: equals(f, a, b, "test.accuracy", .02)))],
    ("EPISTEMIC", "POPQUORN, words alone: soft training lowers KL to people", "-32 % (three sets together)",
     beats("epistemic-popquorn", "soft", "hard", "test.kl"), ""),
    ("EPISTEMIC", "POPQUORN, words alone: and raises the correlation of entropies", "+61 % (three sets together)",
     beats("epistemic-popquorn", "soft", "hard", "test.entropy_correlation"), ""),
    ("EPISTEMIC", "POPQUORN, words alone: at equal accuracy", "equal",
     equals("epistemic-popquorn", "soft", "hard", "test.accuracy", .01), "artefact: both give the most frequent answer nearly always"),
]  # fmt: skip


def student(n):
    """Quantile .975 of Student's t with n - 1 degrees of freedom, by bisection of its distribution."""
    df = n - 1

    def below(t):  # by Simpson's rule
        c = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
        steps = 2000
        h = t / steps
        total = sum((1 if i in (0, steps) else 4 if i % 2 else 2) * (1 + (i * h) ** 2 / df) ** (-(df + 1) / 2) for i in range(steps + 1))
        return 0.5 + c * total * h / 3

    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < 0.975 else (low, middle)
    return low


class Results:
    def __init__(self, options):
        self.options, self.tables, self.seeds = options, {}, {}

    def values(self, file, cell, measure):
        """Values of single seeds, or None."""
        m = self.measure(file, cell, measure)
        return m["values"] or None if m else None

    def measure(self, file, cell, measure):
        """What `experiment table` says of one measure of a cell; None: nothing, or of some seed not all folds are done."""
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

    def read(self, file, filters=()):
        """The cells of `experiment table`, by name; None: no store."""
        store = pathlib.Path(self.options.stores) / f"{file}.results"
        if not store.exists():
            return None
        command = [self.options.dissent, "experiment", "table", str(ROOT / f"experiments/{file}.yaml"), "--store", str(store), "--json", "-", "-q", *filters]
        if self.options.data:
            command += ["--data", self.options.data]
        if file.startswith("large-") or file in ON_GPU:  # which need not be here
            command += ["--device", "cuda"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return {c["name"]: c for c in json.loads(done.stdout)["cells"]}

    def by_seed(self, file, cell, measure):
        """Seed: value. A table names no seeds, so each one is asked for."""
        found, n, seed = {}, len(self.values(file, cell, measure)), 0
        while len(found) < n:
            if (file, seed) not in self.seeds:
                self.seeds[file, seed] = self.read(file, ("--filter", f"seed={seed}"))
            for m in self.seeds[file, seed][cell]["measures"]:
                if (f"{m['set']}.{m['metric']}") == measure and m["seeds"]:
                    found[seed] = m["values"][0]
            seed += 1
        return found

    def folds(self, file, runs):
        """Runs per seed of a cell."""
        seeds = re.search(r"^seeds: (\d+)", (ROOT / f"experiments/{file}.yaml").read_text(), re.M)
        return max(runs // int(seeds[1] if seeds else 1), 1)


def pair(results, file, one, other, measure):
    """Values of both conditions, from the larger experiment where that has seeds enough; and which it was."""
    small = None
    for name in ([] if file.startswith("large-") else [f"large-{file}"]) + [file]:
        if not (ROOT / f"experiments/{name}.yaml").exists():
            continue
        a, b = results.values(name, one, measure), results.values(name, other, measure)
        if a and b and len(a) != len(b):  # seeds that both have
            a, b = (results.by_seed(name, cell, measure) for cell in (one, other))
            both = sorted(a.keys() & b.keys())
            a, b = [a[s] for s in both], [b[s] for s in both]
        n = min(len(a or []), len(b or []))
        if n >= ENOUGH:
            return a[:n], b[:n], n, name
        small = small or ((a[:n], b[:n], n, name) if n > 1 else None)
    return small


def compare(results, comparison):
    kind, file, one, other, measure = comparison[:5]
    found = pair(results, file, one, other, measure)
    if not found:
        return None
    a, b, n, name = found
    metric = measure.partition(".")[2]
    sign = -1 if metric in LOWER else 1
    d = [sign * (x - y) for x, y in zip(a, b)]
    mean = sum(d) / n
    half = student(n) * math.sqrt(sum((x - mean) ** 2 for x in d) / (n - 1) / n)
    low, high = mean - half, mean + half
    if kind == "equals":
        margin = comparison[5]
        verdict = "holds" if -margin < low and high < margin else "fails" if low > margin or high < -margin else "open"
    else:
        verdict = "holds" if low > 0 else "fails" if high < 0 else "open"
    if n < ENOUGH:
        verdict = "open"
    scale = 100 if metric in PERCENT else 1
    return {"verdict": verdict, "n": n, "text": f"{number(mean * scale)} [{number(low * scale)}, {number(high * scale)}]", "other": other, "one": one,
            "metric": metric, "file": name}  # fmt: skip


def number(x):
    text = f"{x:+.2f}"
    return text.replace("+0.", "+.").replace("-0.", "-.")


def judge(found):
    verdicts = [f["verdict"] for f in found]
    if all(v == "holds" for v in verdicts):
        return "reproduced"
    if "holds" in verdicts:
        return "in part"
    return "not" if "fails" in verdicts else "cannot be told"


NAMES = {"macro_f1": "F1", "entropy_correlation": "correlation", "cross_entropy": "cross-entropy", "calibrated_log_likelihood": "CLL"}


def row(results, claim):
    paper, text, published, comparisons, remark = claim
    found = [f for f in (compare(results, c) for c in comparisons) if f]
    if not found:
        return None
    several = len({f["other"] for f in found}) > 1, len({f["one"] for f in found}) > 1, len({f["metric"] for f in found}) > 1
    again = lambda f: f["other"] != found[0]["other"] and sum((g["one"], g["metric"]) == (f["one"], f["metric"]) for g in found) > 1
    said = []
    for f in found:
        what = [f["one"] if several[1] else "", "to " + f["other"] if several[0] and (not several[1] or again(f)) else "", NAMES.get(f["metric"], f["metric"]) if several[2] else ""]
        what = ", ".join(w for w in what if w)
        said.append(f"{what + ': ' if what else ''}{f['text']}")
    holds = sum(f["verdict"] == "holds" for f in found)
    verdict = "cannot be told" if remark.startswith("artefact") else judge(found)
    test = f"{holds} of {len(found)} hold" if len(found) > 1 else {"holds": "above 0", "fails": "below 0", "open": "0 within"}[found[0]["verdict"]]
    if found[0]["n"] < ENOUGH:
        test = "too few seeds"
    if any(f["file"].startswith("large-") for f in found) and not comparisons[0][1].startswith("large-"):
        remark = "; ".join(r for r in ("at the paper's size", remark.replace("; a small tagger, no encoder", "")) if r)
    if comparisons[0][0] == "equals":
        test = {"holds": "within the margin", "fails": "beyond the margin", "open": "margin within"}[found[0]["verdict"]]
    return f"| {paper} | {text} | {published} | {'; '.join(said)} | {found[0]['n']} | **{verdict}** ({test}){'; ' + remark if remark else ''} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores")
    parser.add_argument("--dissent", default=str(ROOT / "build/dissent"))
    parser.add_argument("--data")
    parser.add_argument("--write")
    options = parser.parse_args()
    results = Results(options)
    rows = [r for r in (row(results, c) for c in CLAIMS) if r]
    verdicts = [re.search(r"\*\*(.+?)\*\*", r)[1] for r in rows]
    said = ", ".join(f"{verdicts.count(v)} {t}" for v, t in (("reproduced", "are reproduced"), ("in part", "in part"), ("not", "not"), ("cannot be told", "cannot be told")))
    table = "\n".join([f"Of {len(rows)} claims {said}.", "", "| paper | claim | published | here: difference [95 % interval] | seeds | verdict |", "|---|---|---|---|---|---|", *rows])
    if not options.write:
        print(table)
        return
    path = pathlib.Path(options.write)
    text = path.read_text()
    before, rest = text.split(BEGIN)
    path.write_text(before + BEGIN + "\n" + table + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
