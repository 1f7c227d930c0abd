#!/usr/bin/env python3
"""How the default labels were chosen: constants of `--combine calibrated`, by cross-validation over real crowds.

    bench/truth/default_labels.py choose      log-loss over a grid of constants; each set scored with the choice of the others
    bench/truth/default_labels.py votes       the best temperature of crowds whose votes are cut to 2, 3, 5 and 8 per item
    bench/truth/default_labels.py price       log-loss on crowds drawn from the models of `dissent synth`
    bench/truth/default_labels.py small       crowds thinned to 50, 100 and 300 items, compared with the majority
    bench/truth/default_labels.py expected    the probability that labels assign to themselves, and the true accuracy
    bench/truth/default_labels.py correlated  simulated small crowds whose errors depend on the item, compared with the majority
    bench/truth/default_labels.py shares      the weight of the vote shares, for whole and thinned crowds
    bench/truth/default_labels.py known       20, 50 and 100 known labels that are pinned, or also calibrate the labels
    bench/truth/default_labels.py priors      the constants of this calibration; each set scored with the choice of the others

Views: dawid-skene (its defaults) and crowd; in shares and priors also others. The tool fits the views and estimates the
overdispersion; tempering and mixing are repeated here, so that a grid costs one fit. Sets, gold, ties and log-loss as in
label_methods.py. Standard library only. docs/concepts/default-labels.md has the results."""

import argparse
import csv
import itertools
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import label_methods as sets

VIEWS = ("dawid-skene", "crowd")
SHARES = (0, 0.2, 0.5, 0.8)  # of `standard` in weights=votes, if annotators have no votes to be judged by
BASES = (0.4, 0.44, 0.48, 0.52, 0.56, 0.6, 0.7)
SLOPES = (0, 0.15, 0.3, 0.45)
LIMITS = (12, 16, 24)
MIXES = (0, 0.02, 0.05)
MAX_SPREAD = 1.5
CUTS = (2, 3, 5, 8)
SIZES = (50, 100, 300)
MAX_ITEMS = 2000  # gold items per set that a grid scores


def read_votes(path):
    """(task, worker, label), the first vote of each pair."""
    seen = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            seen.setdefault((row["task"], row["worker"]), row["label"])
    return [(task, worker, label) for (task, worker), label in seen.items()]


def cut(votes, n, seed=1):
    """At most n votes per task, drawn at random."""
    order = votes[:]
    random.Random(seed).shuffle(order)
    left, remaining = {}, []
    for vote in order:
        left[vote[0]] = left.get(vote[0], n) - 1
        if left[vote[0]] >= 0:
            remaining.append(vote)
    return remaining


def write_votes(path, votes):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("task", "worker", "label"), *votes])


def fit(tool, votes_path, options):
    """Rows of labels by task: {task: {class: p}}."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "labels.csv"
        subprocess.run([str(tool), "labels", str(votes_path), "--quiet", "-o", str(out), *options], check=True)
        with open(out, newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            header = next(rows)
            first = 3
            classes = [name[2:] for name in header[first:]]
            return {row[0]: dict(zip(classes, map(float, row[first:]))) for row in rows}


def overdispersion(tool, path):
    """As `dissent labels` estimates it."""
    with tempfile.TemporaryDirectory() as folder:
        out = [str(Path(folder) / name) for name in ("labels.csv", "labels.json")]
        command = [str(tool), "labels", str(path), "--quiet", "-o", out[0], "--json", out[1]]
        subprocess.run(command, check=True)
        return json.loads(Path(out[1]).read_text())["combination"]["overdispersion"]


def problem(tool, votes, gold):
    """The overdispersion, and per item with gold: votes, index of gold, log p of each view, smoothed shares, votes per class."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        write_votes(path, votes)
        views = [fit(tool, path, ["--method", view]) for view in VIEWS]
        spread = overdispersion(tool, path)
    counts, rate = {}, {}
    for task, _, label in votes:
        of_task = counts.setdefault(task, {})
        of_task[label] = of_task.get(label, 0) + 1
        rate[label] = rate.get(label, 0) + 1 / len(votes)
    items = []
    for task, count in counts.items():
        if task in gold and gold[task] in views[0][task]:
            classes = list(views[0][task])
            n = sum(count.values())
            shares = [(count.get(k, 0) + 2 * rate[k]) / (n + 2) for k in classes]
            logs = [[math.log(max(view[task][k], 1e-300)) for k in classes] for view in views]
            plain = [count.get(k, 0) for k in classes]
            items.append((n, classes.index(gold[task]), logs, shares, plain))
    random.Random(1).shuffle(items)
    return spread, items[:MAX_ITEMS]


def tempered(logs, t):
    top = max(logs)
    terms = [math.exp((x - top) / t) for x in logs]
    total = sum(terms)
    return [x / total for x in terms]


def log_loss(items, temperature, mix=0.0):
    """Mean -log p(gold) where temperature(number of votes) flattens each view before they are averaged and mixed."""
    loss = 0
    for n, truth, views, shares, _ in items:
        t = temperature(n)
        p = sum(tempered(logs, t)[truth] for logs in views) / len(views)
        loss -= math.log(max((1 - mix) * p + mix * shares[truth], sets.FLOOR))
    return loss / len(items)


def load(args):
    folder = sets.data_folder(args.data)
    if folder is None:
        sys.exit("skipped: no data (--data FOLDER, DISSENT_DATA or ../shared/data)")
    found = {}
    for name, (votes, gold) in sets.SETS.items():
        if (folder / votes).is_file() and (folder / gold).is_file():
            found[name] = (read_votes(folder / votes), sets.read_gold(folder / gold))
        else:
            print(f"skipped: {name}, no {folder / votes}", file=sys.stderr)
    return found


def choose(args):
    problems = {name: problem(args.tool, votes, gold) for name, (votes, gold) in load(args).items()}
    print(", ".join(f"{name} {spread:.2f}" for name, (spread, _) in problems.items()))
    grid = list(itertools.product(BASES, SLOPES, LIMITS, MIXES))
    loss = {}
    for base, slope, limit, mix in grid:
        row = loss[base, slope, limit, mix] = {}
        for name, (spread, items) in problems.items():
            power = base + slope * min(spread, MAX_SPREAD)
            row[name] = log_loss(items, lambda n, a=power, m=limit: min(n, m) ** a, mix)
    mean = {g: sum(row.values()) / len(row) for g, row in loss.items()}
    print("| base | " + " | ".join(f"slope {slope:g}" for slope in SLOPES) + " |\n|" + "---|" * (len(SLOPES) + 1))
    for base in BASES:
        print(f"| {base:g} | " + " | ".join(sets.number(mean[base, slope, 16, 0.02]) for slope in SLOPES) + " |")
    print("(limit 16, mix .02)")
    held_out = {}
    for s in problems:
        best = min(grid, key=lambda g: sum(x for other, x in loss[g].items() if other != s))
        held_out[s] = (loss[best][s], best)
    print(
        f"best of all {min(mean, key=mean.get)}: {min(mean.values()):.4f}; each set scored with the choice of the "
        f"others: {sum(x for x, _ in held_out.values()) / len(held_out):.4f}"
    )
    print(", ".join(f"{s} {sets.number(x)} by {g}" for s, (x, g) in held_out.items()))


def best_temperature(items):
    """By golden section on log T; log-loss has one minimum in T for all these crowds."""
    low, high, ratio = -1.0, 4.0, (math.sqrt(5) - 1) / 2
    while high - low > 0.01:
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        if log_loss(items, lambda n: math.exp(a)) < log_loss(items, lambda n: math.exp(b)):
            high = b
        else:
            low = a
    return math.exp((low + high) / 2)


def votes_per_item(args):
    print("| set | " + " | ".join(f"{n} votes" for n in CUTS) + " |\n|" + "---|" * (len(CUTS) + 1))
    for name, (votes, gold) in load(args).items():
        usual = len(votes) / len({task for task, _, _ in votes})
        cells = [
            f"{best_temperature(problem(args.tool, cut(votes, n), gold)[1]):.2f}" if usual > n + 1 else "" for n in CUTS
        ]
        if any(cells):
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print("| n^.7 | " + " | ".join(f"{n**0.7:.2f}" for n in CUTS) + " |")


MODELS = ("dawid-skene", "one-coin", "spammer", "difficulty")
CONDITIONS = {
    "default": [],
    "without tempering": [x for view in VIEWS for x in ("--method", view)] + ["--combine", "average"],
    "papers": ["--method", "papers"],
}


def price(args):
    print("| crowd | votes per item | classes | " + " | ".join(CONDITIONS) + " |\n|" + "---|" * (len(CONDITIONS) + 3))
    means = {name: [] for name in CONDITIONS}
    for model, n, classes in itertools.product(MODELS, (3, 5, 10), (2, 4)):
        rows = {name: [] for name in CONDITIONS}
        for seed in range(args.first_seed, args.first_seed + args.seeds):
            with tempfile.TemporaryDirectory() as folder:
                votes, gold, out = (Path(folder) / f for f in ("votes.csv", "gold.csv", "labels.csv"))
                subprocess.run(
                    [
                        str(args.tool),
                        "synth",
                        "--model",
                        model,
                        "--workers",
                        "30",
                        "--classes",
                        str(classes),
                        "--votes-per-item",
                        str(n),
                        "--seed",
                        str(seed),
                        "-q",
                        "-o",
                        str(votes),
                        "--gold",
                        str(gold),
                    ],
                    check=True,
                )
                for name, options in CONDITIONS.items():
                    subprocess.run([str(args.tool), "labels", str(votes), "-q", "-o", str(out), *options], check=True)
                    rows[name].append(sets.score(out, sets.read_gold(gold))[:2])
        cells = [" / ".join(f"{sum(r[i] for r in row) / len(row):.3f}" for i in (0, 1)) for row in rows.values()]
        for name, row in rows.items():
            means[name].append([sum(x) / len(x) for x in zip(*row)])
        print(f"| {model} | {n} | {classes} | " + " | ".join(cells) + " |", flush=True)
    cells = [" / ".join(f"{sum(x) / len(x):.3f}" for x in zip(*row)) for row in means.values()]
    print("| mean | | | " + " | ".join(cells) + " |")


def small(args):
    """Means over sets of three random subsets of the items each; accuracy / log-loss."""
    conditions = {"majority": ["--method", "majority"], "default": []}
    print("| items | " + " | ".join(conditions) + " | worst difference in accuracy |\n|" + "---|" * (len(conditions) + 2))
    for size in SIZES:
        rows = {name: [] for name in conditions}
        for votes, gold in load(args).values():
            known = sorted({task for task, _, _ in votes if task in gold})
            if len(known) < size:
                continue
            means = {name: [] for name in conditions}
            for seed in range(3):
                chosen = set(random.Random(seed).sample(known, size))
                with tempfile.TemporaryDirectory() as folder:
                    path, out = (Path(folder) / f for f in ("votes.csv", "labels.csv"))
                    write_votes(path, [vote for vote in votes if vote[0] in chosen])
                    for name, options in conditions.items():
                        subprocess.run([str(args.tool), "labels", str(path), "-q", "-o", str(out), *options], check=True)
                        means[name].append(sets.score(out, gold)[:2])
            for name, scores in means.items():
                rows[name].append([sum(x) / len(x) for x in zip(*scores)])
        worst = min(d[0] - m[0] for d, m in zip(rows["default"], rows["majority"]))
        cells = [" / ".join(sets.number(sum(x) / len(x)) for x in zip(*row)) for row in rows.values()]
        print(f"| {size} | " + " | ".join(cells) + f" | {worst:+.3f} |", flush=True)


def expected(args):
    print("| set | expected | true | difference |\n|---|---|---|---|")
    apart = []
    for name, (votes, gold) in load(args).items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "votes.csv"
            write_votes(path, votes)
            labels = fit(args.tool, path, [])
        judged = [
            (max(p.values()), (gold[t] in p) and p[gold[t]] == max(p.values())) for t, p in labels.items() if t in gold
        ]
        confidence, is_so = (sum(x[i] for x in judged) / len(judged) for i in (0, 1))
        apart.append(confidence - is_so)
        print(f"| {name} | {confidence:.3f} | {is_so:.3f} | {confidence - is_so:+.3f} |", flush=True)
    print(f"mean {sum(apart) / len(apart):+.3f}, mean absolute {sum(map(abs, apart)) / len(apart):.3f}")


def subsets(votes, gold, size):
    """Three random subsets of the items with gold; all votes for None."""
    if size is None:
        return [votes]
    known = sorted({task for task, _, _ in votes if task in gold})
    if len(known) < size:
        return []
    chosen = [set(random.Random(seed).sample(known, size)) for seed in range(3)]
    return [[vote for vote in votes if vote[0] in some] for some in chosen]


def shares_loss(tool, votes, gold):
    """Log-loss for each weight of `standard`: weight / (r + 1), r the votes per value of a matrix."""
    n_classes, n_workers = len(classes_of(votes)), len({worker for _, worker, _ in votes})
    r = len(votes) / (n_workers * n_classes**2)
    spread, items = problem(tool, votes, gold)
    power = 0.48 + 0.3 * min(spread, MAX_SPREAD)
    loss = {weight: 0.0 for weight in SHARES}
    for n, truth, views, smoothed, plain in items:
        t = min(n, 16) ** power
        top = max(plain)
        flat = [(x / top) ** (1 / t) for x in plain]
        p = [*(tempered(logs, t)[truth] for logs in views), flat[truth] / sum(flat)]
        for weight in SHARES:
            w = (r / (r + 1), 1, weight / (r + 1))
            mean = sum(x * y for x, y in zip(w, p)) / sum(w)
            loss[weight] -= math.log(0.98 * mean + 0.02 * smoothed[truth]) / len(items)
    return loss


def weight_of_shares(args):
    loaded = load(args)
    loss = {}
    print("| items | " + " | ".join(f"weight {w:g}" for w in SHARES) + " |\n|" + "---|" * (len(SHARES) + 1))
    for size in (*SIZES, None):
        rows = {}
        for name, (votes, gold) in loaded.items():
            parts = [shares_loss(args.tool, some, gold) for some in subsets(votes, gold, size)]
            if parts:
                rows[name] = {w: sum(part[w] for part in parts) / len(parts) for w in SHARES}
        loss[size] = rows
        cells = [sets.number(sum(row[w] for row in rows.values()) / len(rows)) for w in SHARES]
        print(f"| {size or 'all'} | " + " | ".join(cells) + " |", flush=True)
    chosen = {}
    for name in loaded:
        others = {w: [row[w] for rows in loss.values() for s, row in rows.items() if s != name] for w in SHARES}
        best = min(SHARES, key=lambda w: sum(others[w]) / len(others[w]))
        chosen[best] = [*chosen.get(best, []), name]
    print("; ".join(f"{w:g} is chosen by the others for {', '.join(names)}" for w, names in chosen.items()))


# ---- known labels ----

KNOWN = (20, 50, 100)
PINNED = ["--combine", "calibrated:weights=votes"]
OF_GOLD = ("dawid-skene", "crowd", "standard", "ebcc:restarts=2,groups=4,tolerance=1e-4", "mace", "glad")
POWERS = [x / 10 for x in range(11)]
PRIORS = list(itertools.product((0.1, 0.15, 0.25), (0.5, 2 / 3, 0.9), (0.001, 0.2, 0.4)))  # power, base, classes
CHOSEN = (0.15, 2 / 3, 0.2)
MAX_SCORED = 400  # items per draw that `priors` scores


def draws(name, votes, gold, n, repeats):
    """(known, others): n gold labels drawn at random, and the rest, if there are as many of these."""
    classes = {label for _, _, label in votes}
    tasks = sorted({task for task, _, _ in votes if gold.get(task) in classes})
    for repeat in range(repeats if len(tasks) >= 2 * n else 0):
        known = set(random.Random(f"{name} {n} {repeat}").sample(tasks, n))
        yield {t: gold[t] for t in known}, {t: label for t, label in gold.items() if t not in known}


def write_gold(path, gold):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("task", "label"), *gold.items()])


def known(args):
    """Means over sets of five random draws each; accuracy / log-loss of the items whose label is not known."""
    conditions = {"no known labels": None, "pinned only": PINNED, "default": []}
    print("| known labels | sets | " + " | ".join(conditions) + " | expected | worst |\n|" + "---|" * 7)
    for n in KNOWN:
        means, gains, apart = {name: [] for name in conditions}, [], []
        for name, (votes, gold) in load(args).items():
            rows, expected_losses = {c: [] for c in conditions}, []
            with tempfile.TemporaryDirectory() as folder:
                path, truth, out, summary = (Path(folder) / f for f in ("votes.csv", "gold.csv", "l.csv", "l.json"))
                write_votes(path, votes)
                for labels, others in draws(name, votes, gold, n, args.seeds):
                    write_gold(truth, labels)
                    for condition, options in conditions.items():
                        given = [] if options is None else ["--gold", str(truth), *options]
                        command = [str(args.tool), "labels", str(path), "-q", "-o", str(out), "--json", str(summary)]
                        subprocess.run([*command, *given], check=True)
                        rows[condition].append(sets.score(out, others)[:2])
                    did = json.loads(summary.read_text())["combination"]
                    expected_losses.append(did["gold_log_loss"])
            if not expected_losses:
                continue
            for condition, scores in rows.items():
                means[condition].append([sum(x) / len(x) for x in zip(*scores)])
            apart.append(sum(expected_losses) / len(expected_losses) - means["default"][-1][1])
            gains.append((means["default"][-1][1] - means["pinned only"][-1][1], name))
        cells = [" / ".join(sets.number(sum(x) / len(x)) for x in zip(*row)) for row in means.values()]
        worst = max(gains)
        print(f"| {n} | {len(gains)} | " + " | ".join(cells), end="")
        print(f" | {sum(apart) / len(apart):+.3f} | {worst[1]} {worst[0]:+.3f} |", flush=True)


def known_problem(tool, votes, gold, folder):
    """Of every item with gold: index of its class, log-probability tables of the views by power, base weights."""
    path = Path(folder) / "votes.csv"
    write_votes(path, votes)
    views = [fit(tool, path, ["--method", view]) for view in OF_GOLD]
    out = [str(Path(folder) / name) for name in ("labels.csv", "labels.json")]
    subprocess.run([str(tool), "labels", str(path), "-q", "-o", out[0], "--json", out[1]], check=True)
    did = json.loads(Path(out[1]).read_text())["combination"]
    counts, rate = {}, {}
    for task, _, label in votes:
        of_task = counts.setdefault(task, {})
        of_task[label] = of_task.get(label, 0) + 1
        rate[label] = rate.get(label, 0) + 1 / len(votes)

    def tables(task):
        classes = list(views[0][task])
        n = sum(counts[task].values())
        shares = [(counts[task].get(k, 0) + 2 * rate[k]) / (n + 2) for k in classes]
        logs = [[math.log(max(view[task][k], 1e-300)) for k in classes] for view in views]
        by_power = []
        for power in POWERS:
            t = min(n, 16) ** power
            by_power.append([[0.98 * p + 0.02 * s for p, s in zip(tempered(x, t), shares)] for x in logs])
        return classes.index(gold[task]), by_power

    return tables, did["weights"], did["power"]


def chosen_by(labels, base, centre, prior):
    """Weight of each view, power, and offsets of the classes, as src/labels/combine/gold_weights.c chooses them."""
    spread, of_base, of_classes = prior
    n_views = len(OF_GOLD)
    score = {}
    for a, power in enumerate(POWERS):
        start = -0.5 * ((power - centre) / spread) ** 2
        for m in range(n_views):
            score[m, a] = start + math.log((1 - of_base) / n_views) + sum(math.log(t[a][m][y]) for y, t in labels)
        mean = [sum(w * t[a][m][y] for m, w in enumerate(base)) for y, t in labels]
        score[-1, a] = start + math.log(of_base) + sum(map(math.log, mean))
    top = max(score.values())
    p = {h: math.exp(x - top) for h, x in score.items()}
    total = sum(p.values())
    weight = [sum(p[m, a] for a in range(len(POWERS))) / total for m in range(n_views)]
    for m, w in enumerate(base):
        weight[m] += w * sum(p[-1, a] for a in range(len(POWERS))) / total
    power = sum(POWERS[a] * x for (_, a), x in p.items()) / total
    rows = [(y, mixture(t, weight, power)) for y, t in labels]
    offset = [0.0] * len(rows[0][1])
    for _ in range(200):
        gradient, curvature = [-b / of_classes**2 for b in offset], [0.0] * len(offset)
        for y, q in rows:
            q = favoured(q, offset)
            gradient[y] += 1
            for k, x in enumerate(q):
                gradient[k] -= x
                curvature[k] += x * (1 - x)
        steps = [max(-1, min(1, g / (2 * c + 1 / of_classes**2))) for g, c in zip(gradient, curvature)]
        offset = [b + s for b, s in zip(offset, steps)]
        if max(map(abs, steps)) < 1e-6:
            break
    return weight, power, offset


def mixture(table, weight, power):
    """Between the two nearest powers of the table."""
    low = min(int(power * 10), len(POWERS) - 2)
    part = power * 10 - low
    rows = [[(1 - part) * x + part * y for x, y in zip(a, b)] for a, b in zip(table[low], table[low + 1])]
    return [sum(w * row[k] for w, row in zip(weight, rows)) for k in range(len(rows[0]))]


def favoured(q, offset):
    q = [x * math.exp(b) for x, b in zip(q, offset)]
    return [x / sum(q) for x in q]


def priors(args):
    """Without fitting the views again to the pinned labels: log-loss of the other items."""
    loss = {n: {prior: {} for prior in PRIORS} for n in KNOWN}
    for name, (votes, gold) in load(args).items():
        with tempfile.TemporaryDirectory() as folder:
            tables, base, centre = known_problem(args.tool, votes, gold, folder)
        for n in KNOWN:
            rows = {prior: [] for prior in PRIORS}
            for labels, others in draws(name, votes, gold, n, args.seeds):
                fitted = [tables(task) for task in sorted(labels)]
                voted, classes = {task for task, _, _ in votes}, classes_of(votes)
                scored = [t for t in sorted(others) if t in voted and others[t] in classes]
                random.Random(1).shuffle(scored)
                scored = [tables(task) for task in scored[:MAX_SCORED]]
                for prior in PRIORS:
                    weight, power, offset = chosen_by(fitted, base, centre, prior)
                    rows[prior].append(
                        sum(-math.log(favoured(mixture(t, weight, power), offset)[y]) for y, t in scored) / len(scored)
                    )
            for prior, values in rows.items():
                if values:
                    loss[n][prior][name] = sum(values) / len(values)
    print("| known labels | chosen constants | best constants | each set with the choice of the others |\n|---|---|---|---|")
    for n in KNOWN:
        mean = {prior: sum(x.values()) / len(x) for prior, x in loss[n].items()}
        held_out = []
        for name in loss[n][CHOSEN]:
            best = min(PRIORS, key=lambda p: sum(x for n2 in KNOWN for s, x in loss[n2][p].items() if s != name))
            held_out.append(loss[n][best][name])
        best = min(mean, key=mean.get)
        print(f"| {n} | {mean[CHOSEN]:.4f} | {mean[best]:.4f} {best} | {sum(held_out) / len(held_out):.4f} |", flush=True)


SHAPES = {  # items, annotators, votes per item, classes
    "240 items, 53 annotators, 10 votes": (240, 53, 10, 2),
    "240 items, 53 annotators, 40 votes": (240, 53, 40, 3),
    "100 items, 8 readers of all": (100, 8, 8, 2),
    "100 items, 8 readers of all, 4 classes": (100, 8, 8, 4),
}


def correlated_crowd(shape, spread, seed):
    """Log-odds of a correct vote: logit .7 + normal(.7) of the annotator + normal(spread) of the item. Seven of ten
    wrong votes on an item are for the same class."""
    n_items, n_workers, per_item, n_classes = shape
    draw = random.Random(f"{shape} {spread} {seed}")
    skill = [math.log(0.7 / 0.3) + draw.gauss(0, 0.7) for _ in range(n_workers)]
    votes, gold = [], {}
    for i in range(n_items):
        truth, effect = draw.randrange(n_classes), draw.gauss(0, spread)
        misleading = (truth + 1 + draw.randrange(n_classes - 1)) % n_classes
        gold[f"t{i}"] = str(truth)
        for j in draw.sample(range(n_workers), per_item):
            label = truth
            if draw.random() > 1 / (1 + math.exp(-skill[j] - effect)):
                other = (truth + 1 + draw.randrange(n_classes - 1)) % n_classes
                label = misleading if draw.random() < 0.7 else other
            votes.append((f"t{i}", f"w{j}", str(label)))
    return votes, gold


def correlated(args):
    """Means of 8 crowds per row; accuracy / log-loss, and the smallest probability that a true class got."""
    print("| crowd | item effect | majority | default | worst difference in accuracy | smallest p of a true class |")
    print("|" + "---|" * 6)
    for (name, shape), spread in itertools.product(SHAPES.items(), (1, 2)):
        rows, worst, least = {"majority": [], "default": []}, 1.0, 1.0
        for seed in range(8):
            votes, gold = correlated_crowd(shape, spread, seed)
            with tempfile.TemporaryDirectory() as folder:
                path, out = (Path(folder) / f for f in ("votes.csv", "labels.csv"))
                write_votes(path, votes)
                for condition, options in (("majority", ["--method", "majority"]), ("default", [])):
                    subprocess.run([str(args.tool), "labels", str(path), "-q", "-o", str(out), *options], check=True)
                    rows[condition].append(sets.score(out, gold)[:2])
                labels = fit(args.tool, path, [])
            least = min(least, *(labels[task].get(truth, 1.0) for task, truth in gold.items()))
            worst = min(worst, rows["default"][-1][0] - rows["majority"][-1][0])
        cells = [" / ".join(sets.number(sum(x) / len(x)) for x in zip(*row)) for row in rows.values()]
        print(f"| {name} | {spread} | " + " | ".join(cells) + f" | {worst:+.3f} | {least:.1g} |", flush=True)


def classes_of(votes):
    return {label for _, _, label in votes}


def main():
    parts = {
        "choose": choose,
        "votes": votes_per_item,
        "price": price,
        "small": small,
        "expected": expected,
        "correlated": correlated,
        "shares": weight_of_shares,
        "known": known,
        "priors": priors,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=parts)
    parser.add_argument("--data", help="folder of the sets")
    parser.add_argument("--tool", default=sets.ROOT / "build" / "dissent")
    parser.add_argument("--first-seed", type=int, default=11, help="seed of the first crowd of price")
    parser.add_argument("--seeds", type=int, default=4, help="crowds per row of price; draws of known and priors")
    args = parser.parse_args()
    parts[args.part](args)


if __name__ == "__main__":
    main()
