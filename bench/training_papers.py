#!/usr/bin/env python3
"""Models trained on the papers' data, condition by condition, beside what the papers report.

usage: bench/training_papers.py labelme|pos|stemming [--seeds N] [--jobs N] [--folds N] [--tool PATH] [--data FOLDER]

Needs the data sets (DISSENT_DATA or --data) and nothing beyond Python's standard library. Sizes that differ from the
papers' are printed with the result. Means over seeds (and folds), with the standard deviation over runs."""
import argparse
import csv
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

PUBLISHED = {  # Uma et al. 2020, tables 3; Fornaciari et al. 2021, tables 1 and 2
    "labelme": {"gold": "97.21 / 4.86 / -.01", "majority": "80.36 / 3.07 / .15", "d&s": "83.43 / 2.90 / .11",
                "crowd layer": "83.54 / 2.80 / .28", "soft": "84.85 / 1.64 / .39"},
    "pos": {"gold": "85.73 / 85.00", "gold+kl": "86.62 / 85.90", "gold+inverse-kl": "86.55 / 85.88",
            "gold+ce": "86.76 / 85.98"},
    "stemming": {"gold": "73.59 / 57.57", "gold+kl": "75.63 / 55.58", "gold+inverse-kl": "77.09 / 58.41",
                 "gold+ce": "75.26 / 55.92"},
}


def call(tool, *args):
    done = subprocess.run([tool, *map(str, args)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join([tool, *map(str, args)])}\n{done.stderr}")
    return done.stdout


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def write(path, header, lines):
    with open(path, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f)
        writer.writerow(header)
        writer.writerows(lines)
    return path


def some_rows(source, path, wanted):
    """The rows of a label file whose task is wanted."""
    with open(source, newline="", encoding="utf-8") as f:
        reader = csv.reader(f)
        header = next(reader)
        at = header.index("task")
        return write(path, header, (row for row in reader if row[at] in wanted))


def measure(tool, predicted, gold, human, metrics, scratch, name):
    summary = os.path.join(scratch, name + ".json")
    args = ["eval", predicted, "--gold", gold, "--lenient", "--bootstrap", 0, "--quiet", "--json", summary,
            "-o", os.path.join(scratch, name + ".metrics.csv")]
    if human:
        args += ["--human", human]
    call(tool, *args)
    with open(summary, encoding="utf-8") as f:
        return find_metrics(json.load(f), metrics)


def find_metrics(summary, metrics):
    values = summary["predictions"][0]["metrics"]
    return [values[m]["value"] for m in metrics]


def table(title, conditions, results, published, digits):
    print(f"\n{title}")
    for condition in conditions:
        runs = results[condition]
        means = [statistics.fmean(column) for column in zip(*runs)]
        sds = [statistics.stdev(column) if len(runs) > 1 else float("nan") for column in zip(*runs)]
        ours = " / ".join(f"{100 * m:.2f}" if p else f"{m:.3f}" for m, p in zip(means, digits))
        spread = " / ".join(f"{100 * s:.2f}" if p else f"{s:.3f}" for s, p in zip(sds, digits))
        print(f"  {condition:18s} ours {ours:28s} sd {spread:24s} published {published.get(condition, '-')}")


def labelme(o, scratch):
    """888 of the 1,000 images with votes to train on, 112 for the soft metrics; 500 others choose the epoch."""
    data = os.path.join(o.data, "labelme")
    votes, gold = os.path.join(data, "annotations.csv"), os.path.join(data, "gold.csv")
    labels = {}
    for method in ("softmax", "majority", "dawid-skene"):
        labels[method] = os.path.join(scratch, method + ".csv")
        call(o.tool, "labels", votes, "--method", method, "--quiet", "-o", labels[method])
    items = rows(os.path.join(data, "items.csv"))
    other = {s: write(os.path.join(scratch, s + ".csv"), ["task", "label"],
                      [(r["index"], r["label"]) for r in items if r["split"] == s]) for s in ("valid", "test")}
    conditions = {"gold": ("gold", None), "majority": ("silver", "majority"), "d&s": ("silver", "dawid-skene"),
                  "crowd layer": ("crowd:mw", None), "crowd, over all": ("crowd:mw", None), "soft": ("soft-ce", "softmax")}

    def one(job):
        condition, seed = job
        objective, method = conditions[condition]
        name = f"{condition.replace(' ', '-').replace('&', '').replace(',', '')}-{seed}"
        tasks = [str(i) for i in range(1000)]
        random.Random(seed).shuffle(tasks)
        train, held = set(tasks[:888]), set(tasks[888:])
        folder = os.path.join(scratch, name)
        args = ["train", "--model", "mlp", "--items", os.path.join(data, "vgg_avg_train.f32"), "--width", 512, "--lenient",
                "--objective", objective, "--dev-items", os.path.join(data, "vgg_avg_valid.f32"), "--dev-gold",
                other["valid"], "--keep", "weighted_f1", "--seed", seed, "--threads", 1, "--quiet", "-o", folder]
        if objective == "gold":
            args += ["--gold", some_rows(gold, folder + ".gold.csv", train)]
        elif objective == "crowd:mw":
            args += ["--votes", some_rows(votes, folder + ".votes.csv", train)]
        else:
            args += ["--labels", some_rows(labels[method], folder + ".labels.csv", train)]
        if condition == "crowd, over all":
            args.append("--over-all")
        call(o.tool, *args)
        out = folder + ".pred.csv"
        call(o.tool, "predict", folder, "--items", os.path.join(data, "vgg_avg_train.f32"), "--width", 512, "--quiet", "-o", out)
        soft = measure(o.tool, out, some_rows(gold, folder + ".held.csv", held),
                       some_rows(labels["softmax"], folder + ".human.csv", held),
                       ["accuracy", "cross_entropy", "entropy_correlation"], scratch, name)
        call(o.tool, "predict", folder, "--items", os.path.join(data, "vgg_avg_test.f32"), "--width", 512, "--quiet", "-o", out)
        return condition, soft + measure(o.tool, out, other["test"], None, ["accuracy"], scratch, name + "-test")

    results = run(o, one, [(c, s) for c in conditions for s in range(o.seeds)])
    table(f"LabelMe, mlp 128, {o.seeds} seeds: accuracy / cross-entropy / entropy correlation on 112 held-out images, accuracy "
          "on 1,188 test images (published: the first three)", conditions, results, PUBLISHED["labelme"], [1, 0, 0, 1])


def folds_of(tasks, labels, n, seed):
    """Stratified folds: tasks of each label shuffled and dealt out in turn."""
    by_label = {}
    for t in tasks:
        by_label.setdefault(labels[t], []).append(t)
    folds = [set() for _ in range(n)]
    at = 0
    for label in sorted(by_label):
        members = by_label[label]
        random.Random(f"{seed} {label}").shuffle(members)
        for t in members:
            folds[at % n].add(t)
            at += 1
    return folds


def multi_task(o, scratch, name, items_args, gold, labels, folds, test_of, extra):
    conditions = ["gold", "gold+kl", "gold+inverse-kl", "gold+ce"]

    def one(job):
        condition, fold, seed = job
        run_name = f"{name}-{condition.replace('+', '-')}-{fold}-{seed}"
        folder = os.path.join(scratch, run_name)
        test, dev, train = test_of(fold)
        args = ["train", *items_args, *extra, "--lenient", "--objective", condition, "--gold",
                some_rows(gold, folder + ".gold.csv", train), "--dev-items", items_args[items_args.index("--items") + 1],
                "--dev-gold", some_rows(gold, folder + ".dev.csv", dev), "--seed", seed, "--threads", 1, "--quiet", "-o", folder]
        if condition != "gold":
            args += ["--base", 2, "--labels", some_rows(labels, folder + ".labels.csv", train)]
        call(o.tool, *args)
        out = folder + ".pred.csv"
        call(o.tool, "predict", folder, *[a for a in items_args if a not in ("--model", o.model)], "--quiet", "-o", out)
        return condition, measure(o.tool, out, some_rows(gold, folder + ".test.csv", test), None, ["accuracy", "macro_f1"],
                                  scratch, run_name)

    results = run(o, one, [(c, f, s) for c in conditions for f in range(folds) for s in range(o.seeds)])
    table(f"{name}, {o.model}, {o.seeds} seeds x {folds} folds: accuracy / macro-F1 (published: larger sizes, other vectors)",
          conditions, results, PUBLISHED[name], [1, 1])


def pos(o, scratch):
    data = os.path.join(o.data, "pos_gimpel")
    gold = os.path.join(data, "gold.csv")
    labels = os.path.join(scratch, "soft.csv")
    call(o.tool, "labels", os.path.join(data, "annotations.csv"), "--method", "softmax", "--quiet", "-o", labels)
    truth = {r["task"]: r["label"] for r in rows(gold)}
    folds = folds_of([r["id_word"] for r in rows(os.path.join(data, "items.csv")) if r["source"] == "gimpel"], truth, 5, 0)
    o.model = o.model or "tagger:hidden=64,character=32,layers=1,feed=256"
    items = ["--model", o.model, "--items", os.path.join(data, "items.csv"), "--task", "id_word", "--text", "token",
             "--sentence", "id_sent", "--where", "source=gimpel"]
    extra = ["--vectors", os.path.join(o.data, "glove_twitter_25d_subset", "glove.twitter.25d.subset.txt"), "--batch", 1024,
             "--epochs", 10]

    def split(fold):
        test, dev = folds[fold], folds[(fold + 1) % 5]
        return test, dev, set().union(*folds) - test - dev

    multi_task(o, scratch, "pos", items, gold, labels, o.folds or 5, split, extra)


def stemming(o, scratch):
    data = os.path.join(o.data, "stemming")
    gold = os.path.join(data, "gold.csv")
    labels = os.path.join(scratch, "soft.csv")
    call(o.tool, "labels", os.path.join(data, "annotations.csv"), "--method", "softmax", "--quiet", "-o", labels)
    fold_of = {r["task"]: int(r["fold10"]) for r in rows(os.path.join(data, "items.csv"))}
    names = sorted(set(fold_of.values()))
    o.model = o.model or "stem-cnn:width=64,feed=256"
    items = ["--model", o.model, "--items", os.path.join(data, "items.csv"), "--text", "word", "--text", "stem"]

    def split(fold):
        test = {t for t, f in fold_of.items() if f == names[fold]}
        dev = {t for t, f in fold_of.items() if f == names[(fold + 1) % len(names)]}
        return test, dev, set(fold_of) - test - dev

    multi_task(o, scratch, "stemming", items, gold, labels, o.folds or len(names), split, ["--batch", 1024, "--epochs", 10])


def run(o, one, jobs):
    results = {}
    begun = time.time()
    with ThreadPoolExecutor(o.jobs) as pool:
        for condition, figures in pool.map(one, jobs):
            results.setdefault(condition, []).append(figures)
    print(f"{len(jobs)} runs in {time.time() - begun:.1f} s, {o.jobs} at a time, one thread each")
    return results


def main():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["labelme", "pos", "stemming"])
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--folds", type=int, default=0)
    p.add_argument("--model", default=None)
    p.add_argument("--tool", default=os.path.join(here, "build", "dissent"))
    p.add_argument("--data", default=os.environ.get("DISSENT_DATA", os.path.join(here, "..", "shared", "data")))
    o = p.parse_args()
    if not os.path.isdir(o.data):
        print(f"skipped: no data sets in {o.data}")
        return
    with tempfile.TemporaryDirectory() as scratch:
        globals()[o.what](o, scratch)


if __name__ == "__main__":
    main()
