#!/usr/bin/env python3
"""What `review` reports about annotators, checked on simulated crowds with known truth and on real crowds with gold.

    PYTHONPATH=build/python python3 bench/truth/annotator_intervals.py intervals    coverage and width on simulated crowds
    PYTHONPATH=build/python python3 bench/truth/annotator_intervals.py real         coverage on real crowds with gold
    PYTHONPATH=build/python python3 bench/truth/annotator_intervals.py weak         equally good annotators that are called weak
    PYTHONPATH=build/python python3 bench/truth/annotator_intervals.py doubtful     equally good annotators that are called doubtful
    PYTHONPATH=build/python python3 bench/truth/annotator_intervals.py verdicts     wrong verdicts on simulated crowds
    PYTHONPATH=build/python python3 bench/truth/annotator_intervals.py power        one bad annotator that is called weak
    PYTHONPATH=build/python python3 bench/truth/annotator_intervals.py choose       the constant of the intervals, by cross-validation

An interval of a simulated annotator covers when it holds the probability of a correct vote, averaged over the crowd's
items. On real crowds it covers when it holds the accuracy against gold of an annotator with MIN_GOLD or more votes on
items with gold; every crowd counts the same. Widths are divided by that of a Wilson interval computed from the truth.
Needs NumPy; `real` and `choose` need the data (label_methods.py). docs/evidence/review.md has the figures."""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import label_methods as sets  # noqa: E402

Z = 1.959963984540054
MIN_GOLD = 10
SIZES = (2, 3, 5, 10)
INDEPENDENT = ("one-coin", "dawid-skene", "spammer", "difficulty")
DEPENDENT = ("hard", "misleading", "camps", "copies", "herding", "spam")
LIMITS = ("even camps", "one source")
DOUBTFUL = ("constant", "random", "confuses")
SHIFTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.6)


# ---- simulated crowds ----


def assign(rng, items, annotators, votes):
    """Item and annotator of each vote: every item gets `votes` different annotators."""
    who = np.argsort(rng.random((items, annotators)), axis=1)[:, :votes]
    return np.repeat(np.arange(items), votes), who.ravel()


def other_class(rng, truth, classes):
    return (truth + rng.integers(1, classes, len(truth))) % classes


def odds_of(share):
    return np.log(share / (1 - share))


def crowd(kind, votes, seed, classes=4, items=1000, annotators=30):
    """item, annotator and label of the votes, the class of each item, and the accuracy of each annotator."""
    key = [seed, votes, classes, annotators, *kind.encode()]
    rng = np.random.default_rng(key)
    item, who = assign(rng, items, annotators, votes)
    truth = rng.integers(0, classes, items)
    camps = "camps" in kind
    skill = np.clip(rng.normal(0.85 if camps else 0.7, 0.08 if camps else 0.15, annotators), 0.5 / classes, 0.999)
    correct = np.repeat(skill[:, None], items, axis=1)  # probability, by annotator and item
    wrong = other_class(rng, truth[item], classes)
    if kind == "dawid-skene":
        tilt = rng.uniform(-0.15, 0.15, (annotators, classes))
        correct = np.clip(skill[:, None] + tilt, 0.5 / classes, 0.999)[:, truth]
        usual = rng.integers(1, classes, (annotators, classes))[who, truth[item]]
        wrong = np.where(rng.random(len(who)) < 0.5, (truth[item] + usual) % classes, wrong)
    elif kind in ("spammer", "spam"):
        spam = rng.random(annotators) < 0.2
        if kind == "spam":
            spam = rng.permutation(annotators) < round(0.3 * annotators)
        always = np.where(rng.random(annotators) < 0.5, rng.integers(0, classes, annotators), -1)
        spam_label = np.where(spam, always, -1)
        correct[spam] = 1 / classes
        correct[spam_label >= 0] = truth[None, :] == spam_label[spam_label >= 0, None]
        wrong = np.where(spam_label[who] >= 0, spam_label[who], wrong)
    elif kind == "difficulty":
        odds = (skill / (1 - skill))[:, None] ** 2.0 ** (rng.integers(0, 5, items) - 2)[None, :]
        correct = odds / (1 + odds)
    elif kind == "hard":
        correct = 1 / (1 + np.exp(-odds_of(skill)[:, None] - rng.normal(0, 1.5, items)[None, :]))
    elif kind == "misleading":
        bad, lure = rng.random(items) < 0.15, other_class(rng, truth, classes)
        correct = np.where(bad[None, :], 0.35, correct)
        wrong = np.where(bad[item], lure[item], wrong)
    elif camps:
        camp = rng.permutation(annotators) < round((0.5 if kind == "even camps" else 0.4) * annotators)
        theirs = rng.random(items) < 0.25
        view = np.where(camp[who] & theirs[item], other_class(rng, truth, classes)[item], truth[item])
        label = np.where(rng.random(len(who)) < skill[who], view, other_class(rng, view, classes))
        dissents = camp[:, None] & theirs[None, :]
        accuracy = np.where(dissents, (1 - correct) / (classes - 1), correct).mean(axis=1)
        return {"item": item, "who": who, "label": label, "truth": truth, "accuracy": accuracy}
    label = np.where(rng.random(len(who)) < correct[who, item], truth[item], wrong)
    if kind == "herding":
        return herded(rng, item, who, truth, label, skill, votes)
    if kind in ("copies", "one source"):
        return copied(rng, kind, item, who, truth, correct, classes)
    return {"item": item, "who": who, "label": label, "truth": truth, "accuracy": correct.mean(axis=1)}


def herded(rng, item, who, truth, label, skill, votes):
    """Three of ten votes copy an earlier vote on the item."""
    label, voter, item_rows = label.reshape(-1, votes), who.reshape(-1, votes), np.arange(len(truth))
    chance = skill[voter]
    for k in range(1, votes):
        source = rng.integers(0, k, len(truth))
        label[:, k] = np.where(rng.random(len(truth)) < 0.3, label[item_rows, source], label[:, k])
        chance[:, k] = 0.3 * chance[:, :k].mean(axis=1) + 0.7 * chance[:, k]
    n = np.maximum(np.bincount(who, minlength=len(skill)), 1)
    accuracy = np.bincount(who, chance.ravel(), minlength=len(skill)) / n
    return {"item": item, "who": who, "label": label.ravel(), "truth": truth, "accuracy": accuracy}


def copied(rng, kind, item, who, truth, correct, classes):
    """Groups of four who copy nine of ten votes of one member, or 30 % of all annotators who copy everything of one."""
    annotators = len(correct)
    members = rng.permutation(annotators)[: round((0.4 if kind == "copies" else 0.3) * annotators)]
    size, share = (4, 0.9) if kind == "copies" else (len(members), 1.0)
    source = np.arange(annotators)
    for first in range(0, len(members), size):
        source[members[first : first + size]] = members[first]
    own = np.where(rng.random(correct.shape) < correct, truth, (truth + rng.integers(1, classes, correct.shape)) % classes)
    copies = (rng.random(len(who)) < share) & (source[who] != who)
    label = np.where(copies, own[source[who], item], own[who, item])
    mixed = np.where(source != np.arange(annotators), share, 0)[:, None]
    accuracy = (mixed * correct[source] + (1 - mixed) * correct).mean(axis=1)
    return {"item": item, "who": who, "label": label, "truth": truth, "accuracy": accuracy}


def equals(kind, votes, seed, accuracy, bad=None, classes=4, items=1000, annotators=20):
    """Annotators of the same accuracy, the first one of accuracy `bad` if given; kind: plain, classes (accuracy differs
    by class), rare (one class has 90 % of the items), hard (item effects on the log-odds)."""
    rng = np.random.default_rng([seed, votes, classes, round(100 * accuracy), *kind.encode()])
    item, who = assign(rng, items, annotators, votes)
    first = {"classes": 0.6, "rare": 0.9}.get(kind, 1 / classes)
    truth = rng.choice(classes, items, p=[first] + [(1 - first) / (classes - 1)] * (classes - 1))
    correct = np.full((annotators, items), accuracy)
    if bad is not None:
        correct[0] = bad
    if kind == "classes":
        correct = np.where(truth == 0, np.minimum(correct + 0.08, 0.99), correct - 0.12)
    if kind == "hard":
        correct = 1 / (1 + np.exp(-odds_of(correct) - rng.normal(0, 1.5, items)[None, :]))
    wrong = other_class(rng, truth[item], classes)
    label = np.where(rng.random(len(who)) < correct[who, item], truth[item], wrong)
    return {"item": item, "who": who, "label": label, "truth": truth}


# ---- what the review reports ----


METHOD: str | None = None  # label method of the reviews; None: the default labels


def reviewed(votes, gold=None):
    """Columns of the workers' table, ordered by the number of the annotator; NaN rows where there are no votes."""
    import dissent

    table = {"task": votes["item"], "worker": votes["who"], "label": votes["label"]}
    known = None if gold is None else dict(enumerate(gold.tolist()))
    rows = dissent.review(table, gold=known, method=METHOD, top=1, n_jobs=1).workers
    n = int(votes["who"].max()) + 1
    place = np.asarray(rows["worker"]).astype(int)
    out = {}
    for name in ("quality", "low", "high", "shared", "difference", "p_adjusted"):
        out[name] = np.full(n, np.nan)
        out[name][place] = np.asarray(rows[name], float)
    out["cause"] = np.full(n, "unjudged", object)
    out["cause"][place] = [str(x) for x in rows["cause"]]
    return out


def wilson(share, n):
    middle, spread = share + Z * Z / (2 * n), Z * np.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return (middle - spread) / (1 + Z * Z / n), (middle + spread) / (1 + Z * Z / n)


def holds(found, truth):
    return (found["low"] <= truth + 1e-9) & (truth <= found["high"] + 1e-9)


def width_ratio(found, truth, n):
    low, high = wilson(truth, np.maximum(n, 1))
    return (found["high"] - found["low"]).mean() / (high - low).mean()


def simulated(kind, votes, runs):
    """Coverage, mean width, and the ratio to Wilson's, over crowds of 2 and 4 classes and 20 and 30 annotators. Crowds
    of which the review says nothing (no agreement beyond chance) are left out."""
    rows = []
    for seed in range(runs):
        for classes in (2, 4):
            c = crowd(kind, votes, seed, classes, annotators=20 if seed % 2 else 30)
            found = reviewed(c)
            if np.isnan(found["quality"]).all():
                continue
            width = (found["high"] - found["low"]).mean()
            rows.append((holds(found, c["accuracy"]).mean(), width, width_ratio(found, c["accuracy"], found["shared"])))
    return np.mean(rows, axis=0)


def print_rows(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def intervals(runs):
    rows = []
    for kind in INDEPENDENT + DEPENDENT + LIMITS:
        cells = [simulated(kind, votes, runs) for votes in SIZES]
        rows.append([kind] + [f"{held:.2f}, {width:.2f}, {ratio:.1f} x" for held, width, ratio in cells])
    print_rows(["crowd"] + [f"{votes} votes per item" for votes in SIZES], rows)


# ---- real crowds ----


def real_crowds():
    folder = sets.data_folder(None)
    if folder is None:
        print("skipped: no data (DISSENT_DATA or ../shared/data)", file=sys.stderr)
        return
    for name, (votes_path, gold_path) in sets.SETS.items():
        if not (folder / votes_path).is_file():
            continue
        gold, seen = sets.read_gold(folder / gold_path), {}
        with open(folder / votes_path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                seen.setdefault((row["task"], row["worker"]), row["label"])
        tasks, who, labels = ({} for _ in range(3))
        rows = [
            (tasks.setdefault(t, len(tasks)), who.setdefault(w, len(who)), labels.setdefault(v, len(labels)))
            for (t, w), v in seen.items()
        ]
        item, worker, label = np.array(sorted(rows)).T
        truth = np.full(len(tasks), -1)
        for task, i in tasks.items():
            if task in gold:
                truth[i] = labels.get(gold[task], len(labels))
        yield name, {"item": item, "who": worker, "label": label, "truth": truth}


def against_gold(c):
    """Accuracy against gold and the number of votes on items with gold, of each annotator."""
    known = c["truth"][c["item"]] >= 0
    right = known & (c["truth"][c["item"]] == c["label"])
    n = np.bincount(c["who"], known)
    return np.bincount(c["who"], right) / np.maximum(n, 1), n


def real(_runs):
    rows, means = [], []
    for name, c in real_crowds():
        found = reviewed(c)
        accuracy, n = against_gold(c)
        cells = []
        for least in (MIN_GOLD, 1):
            use = (n >= least) & ~np.isnan(found["quality"])
            part = {key: found[key][use] for key in ("low", "high", "quality")}
            bias = (part["quality"] - accuracy[use]).mean()
            cells.append((holds(part, accuracy[use]).mean(), width_ratio(part, accuracy[use], n[use]), bias, use.sum()))
        weak = (found["cause"] == "weak") & (n > 0)
        below = behind_peers(c)[weak] < 0
        means.append((cells[0][0], cells[1][0], cells[0][1], cells[0][2], weak.sum(), below.sum()))
        rows.append(
            [name, str(cells[0][3]), f"{cells[0][0]:.2f}", f"{cells[1][0]:.2f}", f"{cells[0][1]:.1f} x"]
            + [f"{cells[0][2]:+.3f}", f"{below.sum()} of {weak.sum()}"]
        )
    if means:
        m = np.array(means)
        held, all_held, ratio, bias = m[:, :4].mean(axis=0)
        rows.append(["mean", "", f"{held:.2f}", f"{all_held:.2f}", f"{ratio:.1f} x", f"{bias:+.3f}"])
        rows[-1].append(f"{m[:, 5].sum():.0f} of {m[:, 4].sum():.0f}")
    head = ["crowd", "annotators", "coverage", "all annotators", "width", "bias", "weak, below peers by gold"]
    print_rows(head, rows)


def behind_peers(c):
    """Accuracy against gold less that of the others on the same items."""
    known = c["truth"][c["item"]] >= 0
    right = (known & (c["truth"][c["item"]] == c["label"])).astype(float)
    n = np.bincount(c["item"], minlength=len(c["truth"]))[c["item"]]
    total = np.bincount(c["item"], right, minlength=len(c["truth"]))[c["item"]]
    gap = np.where(known & (n > 1), right - (total - right) / np.maximum(n - 1, 1), 0)
    return np.bincount(c["who"], gap)


# ---- verdicts ----


def share_called(kind, votes, runs, accuracy, items, gold, wanted=("weak",), annotators=20):
    """Share of equally good annotators with one of the verdicts `wanted`."""
    called = total = 0
    for seed in range(runs):
        c = equals(kind, votes, seed, accuracy, classes=2 if seed % 2 else 4, items=items, annotators=annotators)
        found = reviewed(c, c["truth"] if gold else None)
        called += np.isin(found["cause"], wanted).sum()
        total += len(found["cause"])
    return called / total


def weak(runs):
    rows = []
    for kind in ("plain", "classes", "rare", "hard"):
        for accuracy in (0.9, 0.7):
            for items in (100, 1000):
                for gold in (False, True):
                    shares = [share_called(kind, votes, runs, accuracy, items, gold) for votes in SIZES]
                    rows.append([kind, f"{accuracy}", str(items), "yes" if gold else "no"] + [f"{s:.3f}" for s in shares])
    print_rows(["annotators", "accuracy", "items", "gold"] + [f"{votes} votes per item" for votes in SIZES], rows)


def doubtful(runs):
    """Equally good annotators that are called doubtful, in small and large crowds."""
    rows = []
    for kind in ("plain", "classes", "rare", "hard"):
        for annotators in (20, 200):
            shares = [share_called(kind, votes, runs, 0.7, 1000, False, DOUBTFUL, annotators) for votes in SIZES]
            rows.append([kind, str(annotators)] + [f"{s:.4f}" for s in shares])
    print_rows(["annotators", "number"] + [f"{votes} votes per item" for votes in SIZES], rows)


def verdicts(runs):
    """Annotators called weak or doubtful on simulated crowds, and how many of them are no less accurate than the mean."""
    rows = []
    for kind in INDEPENDENT + DEPENDENT + LIMITS:
        cells = []
        for votes in SIZES:
            called = np.zeros(4, int)
            for seed in range(runs):
                c = crowd(kind, votes, seed, 2 + 2 * (seed % 2))
                cause, good = reviewed(c)["cause"], c["accuracy"] >= c["accuracy"].mean()
                weak_ones, doubtful = cause == "weak", np.isin(cause, DOUBTFUL)
                called += [x.sum() for x in (weak_ones & good, weak_ones, doubtful & good, doubtful)]
            cells.append("{} of {}, {} of {}".format(*called))
        rows.append([kind, *cells])
    print_rows(["weak, doubtful: wrong"] + [f"{votes} votes per item" for votes in SIZES], rows)


def share_found(votes, runs, accuracy, bad, items):
    """Share of crowds in which the one bad annotator is called weak (or doubtful)."""
    found = 0
    for seed in range(runs):
        c = equals("plain", votes, seed, accuracy, bad=bad, classes=2 if seed % 2 else 4, items=items)
        found += reviewed(c)["cause"][0] not in ("fine", "unjudged")
    return found / runs


def power(runs):
    rows = []
    for accuracy, bad in ((0.9, 0.6), (0.9, 0.75), (0.7, 0.5)):
        for items in (100, 300, 1000):
            shares = [share_found(votes, runs, accuracy, bad, items) for votes in SIZES]
            cells = [f"{share:.2f} ({round(items * votes / 20)} votes)" for share, votes in zip(shares, SIZES)]
            rows.append([f"{accuracy}", f"{bad}", str(items), *cells])
    print_rows(["others", "one", "items"] + [f"{votes} votes per item" for votes in SIZES], rows)


# ---- the constant ----


def probabilities(c, tool):
    """The default labels, (items, classes); rows of items in their order."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "votes.csv", Path(folder) / "labels.npy"
        with open(path, "w", newline="", encoding="utf-8") as file:
            rows = zip(c["item"].tolist(), c["who"].tolist(), c["label"].tolist())
            csv.writer(file, lineterminator="\n").writerows([("task", "worker", "label"), *rows])
        classes = ",".join(map(str, range(int(c["label"].max()) + 1)))
        command = [tool, "labels", path, "--classes", classes, "--quiet", "--format", "npy", "-o", out]
        subprocess.run([*map(str, command)], check=True)
        return np.load(out)


def bounds(c, p, shift):
    """The intervals of src/review/annotator_accuracy.c with another shift."""
    n_item = np.bincount(c["item"])
    log_p = np.log(np.maximum(p, 1e-300)) * (np.minimum(n_item, 16) ** 0.48)[:, None]
    sharp = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    sharp /= sharp.sum(axis=1, keepdims=True)
    use = n_item[c["item"]] > 1
    item, who, label = c["item"][use], c["who"][use], c["label"][use]
    size = int(c["who"].max()) + 1
    n = np.maximum(np.bincount(who, minlength=size), 1e-9)
    q, h = p[item, label], sharp[item, label]
    sums = [np.bincount(who, x, minlength=size) for x in (q, q * (1 - q), h, h * (1 - h))]
    means = [(sums[k] + 2 * sums[k].sum() / n.sum()) / (n + 2) for k in (0, 2)]
    ends = []
    for side, mean in ((-1, np.minimum(*means)), (1, np.maximum(*means))):
        spread = np.maximum(mean * (1 - mean), 1e-4)
        missing = np.minimum(sums[3] / n / spread, 0.95)
        variance = (1 + missing / 2) / ((n + 2) * (1 - missing) / spread + 10) + (shift * sums[1] / n) ** 2
        end = wilson(mean, spread / variance)[side > 0] + side * 0.5 / n
        ends.append(np.clip(end, 0, 1))
    return {"low": np.minimum(ends[0], sums[0] / n), "high": np.maximum(ends[1], sums[0] / n)}


def choose(_runs):
    """Mean coverage over the other crowds picks the smallest shift that reaches 95 %; the crowd left out is scored."""
    names, held, width = [], [], []
    for name, c in real_crowds():
        p = probabilities(c, sets.ROOT / "build" / "dissent")
        accuracy, n = against_gold(c)
        use = (n >= MIN_GOLD) & (np.bincount(c["who"], np.bincount(c["item"])[c["item"]] > 1) > 0)
        found = reviewed(c)
        ours = bounds(c, p, 0.3)
        parity = max(np.nanmax(np.abs(ours[key] - found[key])[use]) for key in ours)
        assert parity < 1e-9, (name, parity)
        ends = [{key: x[use] for key, x in bounds(c, p, shift).items()} for shift in SHIFTS]
        names.append(name)
        held.append([holds(e, accuracy[use]).mean() for e in ends])
        width.append([width_ratio(e, accuracy[use], n[use]) for e in ends])
    if not names:
        return
    held, width = np.array(held), np.array(width)
    rows = [["all"] + [f"{x:.3f}, {y:.1f} x" for x, y in zip(held.mean(axis=0), width.mean(axis=0))] + [""]]
    scores = []
    for k, name in enumerate(names):
        others = np.delete(held, k, axis=0).mean(axis=0)
        pick = int(np.argmax(others >= 0.95)) if (others >= 0.95).any() else len(SHIFTS) - 1
        scores.append(held[k, pick])
        rows.append([name] + [f"{x:.2f}, {y:.1f} x" for x, y in zip(held[k], width[k])] + [f"{SHIFTS[pick]}: {held[k, pick]:.2f}"])
    print_rows(["crowd"] + [f"{s}" for s in SHIFTS] + ["chosen by the others"], rows)
    print(f"mean coverage of the crowd left out: {np.mean(scores):.3f}")


PARTS = {"intervals": intervals, "real": real, "weak": weak, "doubtful": doubtful, "verdicts": verdicts, "power": power, "choose": choose}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--runs", type=int, default=10, help="seeds per setting [10]")
    parser.add_argument("--method", help="label method of the reviews [the default labels]")
    args = parser.parse_args()
    globals()["METHOD"] = args.method
    PARTS[args.part](args.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
