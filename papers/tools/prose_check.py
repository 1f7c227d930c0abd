"""Do the figures in the text of papers/results.md agree with its tables?

Every number with a decimal point that stands in a sentence is bound to where it comes from: a number of a cell of a
table, or the difference of two of one row or one column. papers/results_sources.tsv has these sources, a line per number,
and the check reads each of them again: a number of the text, or of a table, that has changed alone is named.
"1.6 (.6 to 2.5)" must be one cell. Numbers within `code` and those of seconds are left out; a setting, or what a paper
says and no table has, has the source "said NUMBER", written by hand. "12 seeds" must be what a table, a file or a claim
of the section has.

    papers/tools/prose_check.py papers/results.md            what does not agree, a line each; status 1 where there is something
    papers/tools/prose_check.py papers/results.md --mend     sentences get what their tables now say, and are printed: read them
    papers/tools/prose_check.py papers/results.md --bind     sources of sentences that are new or have other words

Of several places with the same number, --bind takes one of the sentence's own section whose row and column share most
words with the sentence. Look at the difference of papers/results_sources.tsv before you believe it.
"""

import argparse
import csv
import itertools
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1]
CELLS = FOLDER / "results_sources.tsv"
NUMBER = re.compile(r"(?<![\w.,#-])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?\.\d+(?![\w])")
DECIMAL = r"([-+]?\d*\.\d+)"
TRIPLE = re.compile(
    DECIMAL + r"(?:[^.()\d]{0,60}\(|(?: points| nats)?, (?:95 % over seeds )?(?:from )?)" + f"{DECIMAL} to {DECIMAL}"
)
UNITS = re.compile(r" (?:s|ms|min|GHz)\b")
COUNTS = re.compile(r"(?:(?<=,) |^)\d+(?: to \d+)?(?= (?:seeds|images))")


LONG = 90  # letters of a sentence that tell it from the others of its section


def places(text):
    return len(text.partition(".")[2])


def value_of(text):
    return float(text.replace(",", ""))


# ---- tables ----


def cells_of(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def numbers_of(cell):
    return [(value_of(m), places(m)) for m in NUMBER.findall(" " + re.sub(r"[*\[\]()]", " ", cell))]


def named(labels):
    """Labels made unique: a second "sd" is "sd#2"; numbers of seeds and images are no part of a label."""
    seen, found = {}, []
    for label in labels:
        label = COUNTS.sub(" n", label)
        seen[label] = seen.get(label, 0) + 1
        found.append(label if seen[label] == 1 else f"{label}#{seen[label]}")
    return found


def label_of(row):
    """The first cell, and the second where the first is the number of a claim and the second not its verdict."""
    claim = re.fullmatch(r"[A-Z]\d+", row[0]) and len(row) > 3 and "&nbsp;" not in row[1]
    return f"{row[0]}: {row[1]}" if claim else row[0]


def tables(text):
    """Name of the section, name of the table, rows, columns, cells as lists of numbers."""
    section, key, count = "", None, {}
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        line = lines[i]
        if re.match(r"#{2,4} ", line):
            section, key = line.lstrip("# "), None
        mark = re.match(r"<!-- (?:table (\S+)|(claims)) -->", line)
        if mark:
            key = mark[1] or mark[2]
        elif line.startswith(("<!-- /table", "<!-- /claims")):
            key = None
        if not line.startswith("|"):
            i += 1
            continue
        end = next((j for j in range(i, len(lines)) if not lines[j].startswith("|")), len(lines))
        rows = [cells_of(x) for x in lines[i:end]]
        name = key or section
        count[name] = count.get(name, 0) + 1
        name = name if count[name] == 1 else f"{name}#{count[name]}"
        body = rows[2:]
        cells = [[numbers_of(c) for c in r] for r in body]
        yield section, name, named([label_of(r) for r in body]), named(rows[0]), cells
        i = end


class Places:
    """All numbers of all tables of a document by where they stand."""

    def __init__(self, text):
        self.at, self.sections, self.claims = {}, {}, {}
        for number, claim in re.findall(r"(?m)^\| ([A-Z]\d+) \| [^|]*&nbsp;[^|]*\| ([^|]*) \|", text):
            self.claims[number] = words(claim)
        for section, name, rows, columns, cells in tables(text):
            for row, line in zip(rows, cells):
                for column, found in zip(columns, line):
                    if column == "here" and name.startswith("claims"):
                        continue  # its comparisons have the same
                    for k, (x, digits) in enumerate(found):
                        self.at[name, row, column, str(k + 1)] = (x, digits)
            self.sections[name] = section

    def only(self, fits):
        """Those that a function of the place takes."""
        rest = Places("")
        rest.at = {p: x for p, x in self.at.items() if fits(p)}
        rest.sections, rest.claims = self.sections, self.claims
        return rest

    def value(self, source):
        """What a source says now, and to how many places; None: it is gone."""
        if source.startswith("said "):
            return value_of(source[5:]), places(source)
        parts = [tuple(s.split(" | ")) for s in source.split(" -- ")]
        found = [self.at.get(p) for p in parts]
        if None in found:
            return None
        return (found[0][0] if len(found) == 1 else found[0][0] - found[1][0]), min(d for _, d in found)


# ---- sentences ----


def sentences(text):
    """Sentences that have numbers, but for those that a program has written between marks."""
    chapter = section = above = ""
    made = False
    for i, line in enumerate(text.split("\n")):
        made = (made or line.startswith(("<!-- table", "<!-- claims"))) and not line.startswith("<!-- /")
        if re.match(r"#{2,4} ", line):
            section = line.lstrip("# ")
            chapter, above = (
                section if line.startswith("## ") else chapter,
                above if line.startswith("#### ") else section,
            )
        if made or line.startswith(("|", "#", "<", "!")):
            continue
        hidden = re.sub(r"`[^`]*`|\(figures/[^)]*\)|\]\([^)]*\)", lambda m: " " * len(m[0]), line)
        start = 0
        for stop in [m.end() for m in re.finditer(r"[.:;](?= [A-Z(*`])|$", hidden)]:
            found = [
                (m[0], m.start()) for m in NUMBER.finditer(hidden, start, stop) if not UNITS.match(hidden, m.end())
            ]
            if found:
                yield Sentence(chapter, section, above, i + 1, hidden[start:stop], start, found)
            start = stop


def agrees(said, x, digits):
    """A number of the text is what a source says, rounded; without a sign it may be either way round."""
    mine = value_of(said) if said[0] in "+-" else abs(value_of(said))
    x = x if said[0] in "+-" else abs(x)
    slack = 0.5 * 10 ** -places(said) + 1e-9
    return abs(mine - x) <= slack + (10**-digits / 2 if digits < places(said) else 0)


# ---- binding ----

WORDS = re.compile(r"[a-z]{2,}\d?|\d+")
ALIKE = {"shares": "standard", "votes": "standard", "second": "two", "labels": "label", "points": "point"}
IDLE = set("the and with that for are against of in to by on is it an or at as be has have which than not from".split())


def words(text):
    return {ALIKE.get(w, w) for w in WORDS.findall(text.lower())} - IDLE


def odd(column, told):
    """A column that a sentence means only when it says so."""
    if "less published" in column:
        return "publish" not in told
    return re.match(r"(its )?sd\b", column) and not re.search(r"deviat|vary|\bsd\b", told)


def candidates(at, said):
    """Sources that say this number: single ones, and differences of two within a row or a column."""
    for place, (x, digits) in at.items():
        if agrees(said, x, digits):
            yield " | ".join(place), place


def differences(at, said):
    for (a, (x, da)), (b, (y, db)) in itertools.combinations(at.items(), 2):
        if a[3] == b[3] and (a[1] == b[1]) != (a[2] == b[2]) and agrees(said, x - y, min(da, db)):
            one, other = (a, b) if said[0] not in "+-" or agrees(said, x - y, min(da, db)) else (b, a)
            yield f"{' | '.join(one)} -- {' | '.join(other)}", (*one[:3], other[1], other[2])


PAPERS = {"S": "Uma", "M": "Fornaciari", "V": "Wright", "E": "Singh"}


def weights(told, at, said, section):
    """Words of a sentence by how near they stand to the number, then those of the heading."""
    found = {w: 0.5 for w in words(section)}
    found |= {w: 1 for w in words(told)}
    return found | {w: 2 for w in words(told[max(0, at - 80) : at + len(said) + 50])}


def score(places_, place, mine, sentence):
    label = words(" ".join(place[1:])) | places_.claims.get(place[1].partition(":")[0], set())
    return sum(mine.get(w, -0.3) for w in label) - 5 * bool(odd(place[2], sentence.told))


class Sentence:
    """A sentence with numbers: its section and chapter, the section above a ####, and what it says."""

    def __init__(self, chapter, section, above, line, text, start, found):
        self.chapter, self.section, self.above, self.line = chapter, section, above, line
        self.told, self.start, self.found = text, start, found
        self.key = re.sub(r"\s+", " ", NUMBER.sub("#", text)).strip()[:LONG]


def near(places_, sentence, place):
    """How near a table stands to a sentence: in its section, above it, a claim of its paper, elsewhere."""
    if place[0].startswith("claims"):
        return 2 if sentence.chapter.startswith(PAPERS.get(place[1][:1], "?")) or "Claims" in sentence.chapter else 0
    section = places_.sections[place[0]]
    return 4 if section == sentence.section else 3 if section == sentence.above else 0


def bind(places_, sentence, said, at):
    """The source of one number of a sentence; None: there is none."""
    mine = weights(sentence.told, at - sentence.start, said, sentence.section)
    own = {p: x for p, x in places_.at.items() if near(places_, sentence, p)}
    rank = lambda place: score(places_, place, mine, sentence) + near(places_, sentence, place)
    found = [(rank(place), source) for source, place in candidates(own, said)]
    if not found:
        for name in {p[0] for p in own if near(places_, sentence, p) > 2}:
            table = {p: x for p, x in own.items() if p[0] == name}
            found += [(rank(place), source) for source, place in differences(table, said)]
    if not found:
        found = [(rank(place), source) for source, place in candidates(places_.at, said)]
    return max(found)[1] if found else None


def bind_intervals(places_, sentence, line):
    """Sources of "1.6 (.6 to 2.5)": three numbers of one cell, by the index of the number."""
    bound = {}
    for m in TRIPLE.finditer(line):
        which = [next((k for k, (_, at) in enumerate(sentence.found) if at == m.start(g)), None) for g in (1, 2, 3)]
        for order in ((0, 1, 2), (0, 2, 1)) if None not in which else ():
            cell = lambda p: [(*p[:3], str(int(p[3]) + o)) for o in order]
            same = lambda g, q: q in places_.at and agrees(m[g].lstrip("+-"), *places_.at[q])
            fits = lambda p: all(same(g, q) for g, q in zip((1, 2, 3), cell(p)))
            source = bind(places_.only(fits), sentence, m[1].lstrip("+-"), m.start(1))
            if source:
                bound |= {k: " | ".join(q) for k, q in zip(which, cell(tuple(source.split(" | "))))}
                break
    return bound


def read(path=None):
    """Sources by (section, sentence, place within it)."""
    path = path or CELLS
    if not path.exists():
        return {}
    with open(path, newline="") as f:
        return {(r[0], r[1], int(r[2])): r[3] for r in csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE)}


def write(text):
    """Sources of all numbers; those that are known stay. What could not be bound is returned."""
    known, at, rows, lost, lines = read(), Places(text), [], [], text.split("\n")
    for s in sentences(text):
        whole = bind_intervals(at, s, lines[s.line - 1])
        for k, (said, place) in enumerate(s.found):
            source = known.get((s.section, s.key, k)) or whole.get(k) or bind(at, s, said, place)
            if source:
                rows.append((s.section, s.key, k, source))
            else:
                lost.append((s.line, said))
    with open(CELLS, "w", newline="") as f:
        csv.writer(f, delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n", quotechar=None).writerows(rows)
    return lost


# ---- the check ----


def intervals(text):
    """Of each table cell "mean [low, high]" its three numbers, and those of the difference the other way round."""
    cells = re.findall(r"([-+]\d*\.\d+) \[([-+]\d*\.\d+), ([-+]\d*\.\d+)\]", text)
    found = [[abs(float(x)) for x in m] for m in cells]
    return found + [[m, high, low] for m, low, high in found]


def wrong_intervals(line, known):
    """Differences with an interval that no table has in the same three numbers."""
    for m in TRIPLE.findall(line):
        if not any(all(agrees(s.lstrip("+-"), y, 9) for s, y in zip(m, k)) for k in known):
            yield f"{m[0]} ({m[1]} to {m[2]})"


SEEDS = re.compile(r"(\d+)(?: (?:to|and) (\d+))? seeds")


def seeds_told(text):
    """How many seeds the tables of a section, the files that it names and the claims of its paper have."""
    told, claimed, section, chapter = {}, {}, "", ""
    for number, *seeds in re.findall(r"(?m)^\| ([SMVE])\d+ \|.*?\| (\d+)(?: to (\d+))? \| [^|]*\|$", text):
        claimed.setdefault(PAPERS[number], set()).update(filter(None, seeds))
    for line in text.split("\n"):
        if re.match(r"#{2,4} ", line):
            section = line.lstrip("# ")
            chapter = section if line.startswith("## ") else chapter
            told[section] = set().union(*(s for paper, s in claimed.items() if chapter.startswith(paper)))
        elif line.startswith("|"):
            told.setdefault(section, set()).update(x for m in SEEDS.findall(line) for x in m if x)
        for file in re.findall(r"`([\w-]+)\.yaml`", line):
            found = re.search(r"(?m)^seeds: (\d+)", (FOLDER / f"experiments/{file}.yaml").read_text())
            told.setdefault(section, set()).update(found.groups() if found else ())
    return told


def wrong_seeds(text):
    """(line, words) of sentences with a number of seeds that nothing in their section has."""
    told, section, above, made = seeds_told(text), "", "", False
    for i, line in enumerate(text.split("\n")):
        made = (made or line.startswith(("<!-- table", "<!-- claims"))) and not line.startswith("<!-- /")
        if re.match(r"#{2,4} ", line):
            section = line.lstrip("# ")
            above = above if line.startswith("#### ") else section
        if made or section in ("Claims", "Reading the tables") or line.startswith(("|", "#", "<", "!")):
            continue
        known = told.get(section, set()) | told.get(above, set())
        for m in SEEDS.finditer(line):
            if not {x for x in m.groups() if x} <= known:
                yield i + 1, f"{m[0]}: no table, file or claim of the section has so many"


def shown(x, said):
    """A value in the form of the number that stands there."""
    text = f"{abs(x) if said[0] not in '+-' else x:{'+' if said[0] in '+-' else ''}.{places(said)}f}"
    return re.sub(r"^([-+]?)0\.", r"\1.", text)


def compared(text):
    """Line, place within it, number, source and what that says (None: it is gone) of all numbers that do not agree."""
    known, at = read(), Places(text)
    for s in sentences(text):
        for k, (said, place) in enumerate(s.found):
            source = known.get((s.section, s.key, k))
            now = at.value(source) if source else None
            if not now or not agrees(said, *now):
                yield s.line, place, said, source, now


def check(text):
    """(line, what is wrong) of all that no table has."""
    wrong = []
    for line, _, said, source, now in compared(text):
        told = "it is bound to no table (--bind)"
        if source:
            told = f"its source says {shown(now[0], said)} ({source})" if now else f"its source is gone ({source})"
        wrong.append((line, f"{said}: {told}"))
    known = intervals(text)
    for i, line in enumerate(text.split("\n")):
        if not line.startswith(("|", "#", "<", "!")):
            odd_ones = wrong_intervals(re.sub(r"`[^`]*`", " ", line), known)
            wrong += [(i + 1, f"{w} is the interval of no table") for w in odd_ones]
    return sorted(wrong + list(wrong_seeds(text)))


def mend(text):
    """The text with what its sources say now; lines that were changed."""
    lines, changed = text.split("\n"), set()
    for line, place, said, _, now in sorted(compared(text), key=lambda c: (c[0], -c[1])):
        if now:
            old = lines[line - 1]
            lines[line - 1] = old[:place] + shown(now[0], said) + old[place + len(said) :]
            changed.add(line)
    return "\n".join(lines), changed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document")
    parser.add_argument("--bind", action="store_true")
    parser.add_argument("--mend", action="store_true")
    options = parser.parse_args()
    path = pathlib.Path(options.document)
    text = path.read_text()
    if options.bind:
        lost = write(text)
        for line, said in lost:
            print(f"{path}:{line}: {said} is in no table")
        sys.exit(1 if lost else 0)
    if options.mend:
        text, changed = mend(text)
        path.write_text(text)
        for line in sorted(changed):
            print(f"{path}:{line}: {text.splitlines()[line - 1]}")
        return
    wrong = check(text)
    for line, said in wrong:
        print(f"{path}:{line}: {said}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
