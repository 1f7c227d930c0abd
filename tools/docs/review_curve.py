#!/usr/bin/env python3
"""Tables and the picture of docs/evidence/review.md from what build/bench/bench_review prints.

    build/bench/bench_review items 40 > items.csv
    build/bench/bench_review workers 200 > workers.csv
    build/bench/bench_review honesty 40 > honesty.csv
    build/bench/bench_review file 10 rte VOTES GOLD > rte.csv          (and other sets)
    tools/docs/review_curve.py items.csv workers.csv honesty.csv docs/images/review.svg [rte.csv ...] > tables.md

Means over seeds with the 95 % interval of the mean (normal). The picture takes its colours from a style sheet of its
own, so that it is readable on light and dark pages."""

import csv
import math
import sys
from collections import defaultdict

POLICIES = {  # as in the program: name for people, colour on light and dark ground (Okabe & Ito 2008), dashes
    "random": ("any item", "#777777", "#aaaaaa", "2 4"),
    "fewest": ("fewest votes", "#009e73", "#2fc99a", "8 4"),
    "shares": ("highest entropy of vote shares", "#d55e00", "#ff8a3d", "6 3 2 3"),
    "doubt": ("highest entropy of one-coin's labels", "#0072b2", "#56b4e9", "4 2"),
    "review": ("dissent review", "#aa3377", "#ee88bb", ""),
}
CROWDS = {
    "good": "good workers, 4 classes",
    "spammers": "a third spammers, 4 classes",
    "hard": "items of very different difficulty, 3 classes",
    "imbalanced": "85 % in one of 2 classes, 15 % spammers",
}
DRAWN = "ibcc"  # whose labels the picture shows
ITEMS = 1000


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def mean_interval(values):
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, 0.0
    sd = math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1))
    return mean, 1.96 * sd / math.sqrt(len(values))


def group(rows, keys, value):
    found = defaultdict(list)
    for row in rows:
        if row[value] != "nan":
            found[tuple(row[k] for k in keys)].append(float(row[value]))
    return {key: mean_interval(values) for key, values in found.items()}


def percent(pair):
    return f"{100 * pair[0]:.1f} ± {100 * pair[1]:.1f}"


def curve_tables(points):
    bought = ["0", "300", "500", "1000", "2000"]
    print(f"Accuracy of the labels in percent ({DRAWN}), by votes bought for each 1,000 items:\n")
    print("| crowd | votes go to | " + " | ".join(bought) + " |")
    print("|---|---|" + "---|" * len(bought))
    for crowd in CROWDS:
        for policy, (name, *_) in POLICIES.items():
            cells = [percent(points[crowd, policy, DRAWN, b]) for b in bought]
            print(f"| {crowd} | {name} | " + " | ".join(cells) + " |")
    labels = list(dict.fromkeys(key[2] for key in points))
    print("\nAccuracy after 1,000 votes, by the label method:\n")
    print("| crowd | votes go to | " + " | ".join(labels) + " |")
    print("|---|---|" + "---|" * len(labels))
    for crowd in CROWDS:
        for policy, (name, *_) in POLICIES.items():
            cells = [f"{100 * points[crowd, policy, l, '1000'][0]:.1f}" for l in labels]
            print(f"| {crowd} | {name} | " + " | ".join(cells) + " |")


def paired_table(rows):
    """Review minus the others, mean over the whole curve, paired by seed: every policy meets the same crowd."""
    curve = defaultdict(list)
    for row in rows:
        if row["labels"] == DRAWN:
            curve[row["crowd"], row["policy"], row["seed"]].append(float(row["accuracy"]))
    others = [p for p in POLICIES if p != "review"]
    print(
        f"\nMean advantage of the review over the whole curve in percentage points ({DRAWN}, paired by seed):\n"
    )
    print("| crowd | " + " | ".join("than " + POLICIES[p][0] for p in others) + " |")
    print("|---|" + "---|" * len(others))
    for crowd in CROWDS:
        seeds = sorted({key[2] for key in curve if key[0] == crowd})
        cells = []
        for policy in others:
            means = [[sum(c) / len(c) for c in (curve[crowd, p, s] for p in ("review", policy))] for s in seeds]
            cells.append(percent(mean_interval([a - b for a, b in means])))
        print(f"| {crowd} | " + " | ".join(cells) + " |")


def worker_table(points):
    names = {
        "majority": "agreement with the majority",
        "one-coin": "quality by one-coin's labels",
        "dawid-skene": "quality by dawid-skene's labels",
        "review": "dissent review",
    }
    crowds = list(dict.fromkeys(key[0] for key in points))
    print("\nShare of spammers among the first k annotators in percent, with k the number of spammers:\n")
    print("| ranked by | " + " | ".join(crowds) + " |")
    print("|---|" + "---|" * len(crowds))
    for key, name in names.items():
        print(f"| {name} | " + " | ".join(percent(points[c, key]) for c in crowds) + " |")


def honesty_table(rows):
    print(
        "\nWhat a review expects and what is true, in per cent (5 votes per item, then one more per item on average):\n"
    )
    print("| crowd | expected now | true | expected after | true |")
    print("|---|---|---|---|---|")
    for crowd in CROWDS:
        cells = [
            percent(group(rows, ["crowd"], k)[crowd,]) for k in ("expected", "right", "expected_after", "right_after")
        ]
        print(f"| {crowd} | " + " | ".join(cells) + " |")
    for name in ("surprise", "hard"):
        area = group(rows, ["crowd"], name + "_area")["hard",]
        print(
            f"\n`{name}` tells hard items from others with an area under the ROC curve of "
            f"{area[0]:.3f} ± {area[1]:.3f}."
        )


def real_table(paths):
    """Mean over the whole curve and the orders in which votes come."""
    print("\nVotes of real crowds: accuracy in percent, mean over the curve:\n")
    print("| set | labels | " + " | ".join(name for name, *_ in POLICIES.values()) + " |")
    print("|---|---|" + "---|" * len(POLICIES))
    for path in paths:
        curve = defaultdict(list)
        for row in read(path):
            curve[row["labels"], row["policy"]].append(float(row["accuracy"]))
            name = row["crowd"]
        for labels in (DRAWN, "majority"):
            cells = [f"{100 * sum(c) / len(c):.1f}" for c in (curve[labels, p] for p in POLICIES)]
            print(f"| {name} | {labels} | " + " | ".join(cells) + " |")


def panel(out, points, crowd, left, top, width, height):
    bought = sorted({int(key[3]) for key in points})
    values = [points[crowd, p, DRAWN, str(b)][0] for p in POLICIES for b in bought]
    step = 0.05 if max(values) - min(values) > 0.08 else 0.02
    low = math.floor(min(values) / step) * step
    high = min(1.0, math.ceil(max(values) / step) * step)

    def x(votes):
        return left + width * votes / bought[-1]

    def y(value):
        return top + height * (high - value) / (high - low)

    out.append(f'<text class="head" x="{left}" y="{top - 14}">{CROWDS[crowd]}</text>')
    ticks = round((high - low) / step)
    for n in range(ticks + 1):
        value = low + n * step
        out.append(f'<line class="grid" x1="{left}" y1="{y(value):.1f}" x2="{left + width}" y2="{y(value):.1f}"/>')
        out.append(
            f'<text class="tick" x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{100 * value:.0f}</text>'
        )
    for votes in range(0, bought[-1] + 1, bought[-1] // 4):
        out.append(
            f'<text class="tick" x="{x(votes):.1f}" y="{top + height + 18}" '
            f'text-anchor="middle">{votes / ITEMS:g}</text>'
        )
    for policy in POLICIES:
        line = [points[crowd, policy, DRAWN, str(b)] for b in bought]
        upper = [f"{x(b):.1f},{y(min(m + i, high)):.1f}" for b, (m, i) in zip(bought, line)]
        lower = [f"{x(b):.1f},{y(max(m - i, low)):.1f}" for b, (m, i) in zip(bought, line)]
        out.append(f'<polygon class="{policy} band" points="{" ".join(upper + lower[::-1])}"/>')
        middle = " ".join(f"{x(b):.1f},{y(m):.1f}" for b, (m, _) in zip(bought, line))
        out.append(f'<polyline class="{policy} line" points="{middle}"/>')


def describe(points):
    parts = []
    for crowd in CROWDS:
        ends = ", ".join(f"{POLICIES[p][0]} {100 * points[crowd, p, DRAWN, '1000'][0]:.1f}" for p in POLICIES)
        parts.append(f"{CROWDS[crowd]}: {ends}")
    return "Per cent of right labels after one more vote per item. " + "; ".join(parts) + "."


def picture(points, path):
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 760" role="img" aria-labelledby="title desc">',
        '<title id="title">Labels get better faster when votes are bought where a review says</title>',
        f'<desc id="desc">{describe(points)}</desc>',
        "<style>",
        "svg{font-family:Helvetica,Arial,sans-serif;background:#fff}",
        ".head{font-size:16px;font-weight:bold;fill:#222}.tick,.axis,.key{font-size:13px;fill:#444}.grid{stroke:#ddd}",
        ".line{fill:none;stroke-width:2.2}.band{stroke:none;fill-opacity:.15}",
    ]
    for policy, (_, light, _, dashes) in POLICIES.items():
        out.append(
            f".{policy}.line{{stroke:{light};stroke-dasharray:{dashes or 'none'}}}.{policy}.band{{fill:{light}}}"
        )
    out.append(
        "@media (prefers-color-scheme:dark){svg{background:#16181c}.head{fill:#eee}"
        ".tick,.axis,.key{fill:#bbb}.grid{stroke:#3a3d44}"
        + "".join(f".{p}.line{{stroke:{dark}}}.{p}.band{{fill:{dark}}}" for p, (_, _, dark, _) in POLICIES.items())
        + "}"
    )
    out.append("</style>")
    for n, crowd in enumerate(CROWDS):
        panel(out, points, crowd, 70 + 470 * (n % 2), 50 + 320 * (n // 2), 400, 235)
    for left in (270, 740):
        out.append(f'<text class="axis" x="{left}" y="660" text-anchor="middle">votes bought per item</text>')
    for top in (170, 490):
        out.append(
            f'<text class="axis" transform="translate(22 {top}) rotate(-90)" text-anchor="middle">'
            "right labels, %</text>"
        )
    left, top = 70, 700
    for policy, (name, *_) in reversed(POLICIES.items()):
        length = 44 + 7 * len(name)
        if left + length > 940:
            left, top = 70, top + 26
        out.append(f'<polyline class="{policy} line" points="{left},{top} {left + 34},{top}"/>')
        out.append(f'<text class="key" x="{left + 42}" y="{top + 4}">{name}</text>')
        left += length + 26
    out.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    rows = read(sys.argv[1])
    points = group(rows, ["crowd", "policy", "labels", "bought"], "accuracy")
    curve_tables(points)
    paired_table(rows)
    worker_table(group(read(sys.argv[2]), ["crowd", "ranking"], "precision"))
    honesty_table(read(sys.argv[3]))
    picture(points, sys.argv[4])
    if len(sys.argv) > 5:
        real_table(sys.argv[5:])


main()
