"""Means, differences and intervals of the kept runs, and the values that the papers report."""

import collections
import functools
import math
import re

from kept_runs import PAPERS, read_runs

LOWER = {"cross_entropy", "kl", "calibrated_log_likelihood", "log_loss"}  # smaller is better
PERCENT = {"accuracy", "macro_f1", "majority_accuracy"}
Summary = collections.namedtuple("Summary", "n mean sd low high")


@functools.lru_cache
def student(n):
    """Quantile .975 of Student's t with n - 1 degrees of freedom, by bisection of its distribution function."""
    df = n - 1

    def below(t):  # Simpson's rule
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


def summarize(values):
    """Number, mean, standard deviation and 95 % interval of the values of seeds; None without values."""
    values = list(values)
    n = len(values)
    if not n:
        return None
    mean = sum(values) / n
    if n == 1:
        return Summary(1, mean, None, mean, mean)
    sd = math.sqrt(sum((x - mean) ** 2 for x in values) / (n - 1))
    half = student(n) * sd / math.sqrt(n)
    return Summary(n, mean, sd, mean - half, mean + half)


class Results:
    """The kept runs of all experiments."""

    def __init__(self):
        self.files, self.used = {}, set()

    def runs(self, file):
        self.used.add(file)
        if file not in self.files:
            self.files[file] = read_runs(file)
        return self.files[file]

    def by_seed(self, file, cell, measure):
        """{seed: value}"""
        return self.runs(file).get(cell, {}).get(measure, {})

    def summary(self, file, cell, measure):
        return summarize(self.by_seed(file, cell, measure).values())

    def mean(self, file, cell, measure):
        found = self.summary(file, cell, measure)
        return found.mean if found else None

    def difference(self, file, one, other, measure, signed=True):
        """One minus other, paired by seed; `signed`: positive if `one` is better. `other` may be a published value."""
        a = self.by_seed(file, one, measure)
        b = dict.fromkeys(a, other) if isinstance(other, float) else self.by_seed(file, other, measure)
        sign = -1 if signed and measure.partition(".")[2] in LOWER else 1
        return summarize(sign * (a[s] - b[s]) for s in sorted(a.keys() & b.keys()))


@functools.lru_cache
def experiment(file):
    return (PAPERS / f"experiments/{file}.yaml").read_text().split("\n")


def published(file, cell, metric):
    """What the paper reports of this metric of a cell: `published` in the experiment file."""
    for line in experiment(file):
        if re.search(rf'name: "?{re.escape(cell)}"?,', line) or re.match(rf'  "?{re.escape(cell)}"?: {{', line):
            found_value = re.search(rf"{{[^{{]*\b{metric}: ([-.\d]+)", line)
            if found_value:
                return float(found_value[1])
    return None


# ---- text ----


def plain(x, digits=2):
    """.25, 1.25, -.25"""
    text = f"{x:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def signed(x, digits=2):
    return f"{x:+.{digits}f}".replace("+0.", "+.").replace("-0.", "-.")


def shown(x, measure):
    """A mean: percent of accuracy and F1, else two or three digits."""
    metric = measure.partition(".")[2]
    if metric in PERCENT:
        return plain(100 * x)
    return plain(x, 3 if metric in ("kl", "calibrated_log_likelihood", "log_loss") and abs(x) < 1 else 2)


def interval(d, measure):
    """A difference with its 95 % interval, in points for accuracy and F1."""
    if d is None or d.n < 2:
        return "-"
    if d.low == d.high == 0:
        return "0"
    scale = 100 if measure.partition(".")[2] in PERCENT else 1
    mean, low, high = (x * scale for x in (d.mean, d.low, d.high))
    digits = 3 if max(abs(low), abs(high)) < 0.1 else 2
    return f"{signed(mean, digits)} [{signed(low, digits)}, {signed(high, digits)}]"
