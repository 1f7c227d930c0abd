"""Do the figures in the text of docs/results.md agree with its tables?

Of every section (### or ##) the numbers with a decimal point that stand in sentences are looked for in what the section's tables, or
those of the section that a #### belongs to, or the claims, say: as they are or rounded; small ones may be a difference of two numbers of one
column or one row. "1.6 (.6 to 2.5)" must be one cell of a table. What is found nowhere is told. Numbers within `code`, of settings and of other sources are named in SAID.
"""
import itertools
import re

NUMBER = re.compile(r"(?<![\w.,#-])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?\.\d+(?![\w])")
# Settings, bounds, the share of the most frequent class, a figure of a unit test: no results of the stores.
SAID = {".001", ".05", ".01", ".1", ".9", ".95", "1.5", ".83", ".75", "5.4", "74.87", ".942"}


def cells_of(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def numbers(text):
    return [(m, float(m.replace(",", ""))) for m in NUMBER.findall(text)]


def places(text):
    return len(text.partition(".")[2])


def sections(text):
    """(heading, number of its line, body), a subsection with the level above it."""
    parts = re.split(r"(?m)^(?=#{2,4} )", text)
    at = 1
    for part in parts:
        yield part.split("\n", 1)[0], at, part
        at += part.count("\n")


def tables(body):
    """Tables as lists of rows of lists of numbers per cell."""
    for block in re.findall(r"(?m)(?:^\|.*\|\n?)+", body):
        yield [[[x for _, x in numbers(" " + re.sub(r"[*\[\]]", " ", c))] for c in cells_of(line)] for line in block.strip().split("\n")]


def told(body):
    """All numbers that tables say, and differences within a row or a column (of the same place within cells)."""
    plain, apart = set(), set()
    for table in tables(body):
        flat = [[x for x in row] for row in table]
        plain |= {x for row in flat for cell in row for x in cell}
        for row in flat:
            for a, b in itertools.combinations([c for c in row if c], 2):
                apart |= {x - y for x, y in zip(a, b)}
        width = max((len(r) for r in flat), default=0)
        for k in range(width):
            column = [r[k] for r in flat if len(r) > k and r[k]]
            for a, b in itertools.combinations(column, 2):
                apart |= {x - y for x, y in zip(a, b)}
    return plain, apart


def near(said, values, slack=1e-9):
    x, half = abs(float(said.replace(",", ""))), 10 ** -places(said) / 2
    return any(abs(abs(y) - x) <= half + slack or abs(abs(y) / 100 - x) <= half + slack for y in values)


def fits(said, plain, apart):
    """Large numbers, and those with two places, must be in a table; small ones may be a difference of two that are."""
    small = places(said) < 2 and abs(float(said.replace(",", ""))) < 20
    return near(said, plain) or (small and near(said, apart, 0.011))


TRIPLE = re.compile(r"([-+]?\d*\.\d+)[^.()\d]{0,60}\(([-+]?\d*\.\d+) to ([-+]?\d*\.\d+)")


def intervals(body):
    """Of each table cell "mean [low, high]" its three numbers, and those of the difference the other way round."""
    found = [[abs(float(x)) for x in m] for m in re.findall(r"([-+]\d*\.\d+) \[([-+]\d*\.\d+), ([-+]\d*\.\d+)\]", body)]
    return found + [[m, high, low] for m, low, high in found]


def wrong_intervals(line, known):
    """Differences with an interval that no table has in the same three numbers."""
    for m in TRIPLE.findall(line):
        if not any(all(near(s, [y]) for s, y in zip(m, k)) for k in known):
            yield f"{m[0]} ({m[1]} to {m[2]})"


def sentences(body):
    """Lines of text: no tables, code, pictures, links or comments."""
    for i, line in enumerate(body.split("\n")):
        if not line.startswith(("|", "#", "<", "!")):
            yield i, re.sub(r"`[^`]*`|\(figures/[^)]*\)|\]\([^)]*\)", " ", line)


def check(text):
    """(line, number) of all that no table has."""
    claims = re.search(r"<!-- claims -->(.*?)<!-- /claims -->", text, re.S)
    claimed = told(claims[1])[0] if claims else set()
    above, missing = "", []
    for heading, at, body in sections(text):
        own = told((above if heading.startswith("#### ") else "") + body)
        known = intervals(text)
        for i, line in sentences(body):
            missing += [(at + i, w) for w in wrong_intervals(line, known)]
            for said, _ in numbers(line):
                if said.lstrip("+-") in SAID or fits(said, *own) or fits(said, claimed, ()):
                    continue
                missing.append((at + i, said))
        above = above if heading.startswith("#### ") else body
    return missing
