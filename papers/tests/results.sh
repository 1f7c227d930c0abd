#!/bin/sh
# papers/results.md: figures in its text are those of its tables, links lead somewhere, pictures are there; and the check finds wrong ones.
# Its claims, and the tables that are made from papers/runs alone, are remade from there; seeds of two groups are joined as if they were one.
set -eu
source=${DISSENT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source"
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
failed=0
check() { python3 papers/tools/result_tables.py --check "$1"; }
check papers/results.md || failed=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 - papers/results.md "$work/wrong.md" <<'P' || failed=1
import pathlib, re, sys
page = pathlib.Path(sys.argv[1])
text = page.read_text()
bad = [f for f in re.findall(r"\(figures/([^)]+)\)", text) if not (page.parent / "figures" / f).exists()]
anchor = lambda heading: re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
there = {anchor(h) for h in re.findall(r"(?m)^#+ (.*)$", text)}
bad += [a for a in re.findall(r"\]\(#([^)]+)\)", text) if a not in there]
shown = set(re.findall(r"figures/([\w-]+\.svg)", text))
bad += [f.name + " is shown nowhere" for f in (page.parent / "figures").glob("*.svg") if f.name not in shown]
print("\n".join(bad), end="\n" if bad else "")
table = text.index("<!-- table beyond-targets -->")
wrong = text[:table] + "It gains 1.6 points (.3 to 9.9) and has 12.34.\n\n" + text[table:]
pathlib.Path(sys.argv[2]).write_text(wrong)
# Every third number of the text, a little off: nearly all are named.
sys.path.insert(0, "papers/tools")
import prose_check
places = [(s.line, at, said) for s in prose_check.sentences(text) for said, at in s.found][::3]
lines = text.split("\n")
for line, at, said in sorted(places, reverse=True):
    off = prose_check.shown(prose_check.value_of(said) + 2 * 10 ** -prose_check.places(said), said)
    lines[line - 1] = lines[line - 1][:at] + off + lines[line - 1][at + len(said) :]
named = list(prose_check.compared("\n".join(lines)))
if len(named) < 0.9 * len(places):
    bad.append(f"of {len(places)} changed numbers {len(named)} are named")
    print(bad[-1])
sys.exit(1 if bad else 0)
P
cp papers/results.md "$work/claims.md"
python3 papers/tools/claims.py --write "$work/claims.md"
python3 papers/tools/result_tables.py --lines --write "$work/claims.md"
cmp papers/results.md "$work/claims.md" || { diff papers/results.md "$work/claims.md" | head -20; failed=1; }
python3 - <<'P' || failed=1
import random, sys
sys.path.insert(0, "papers/tools")
from kept_runs import Kept, Summary, joined, later_seeds, summary
random.seed(1)
for n in (2, 3, 7, 20):
    for cut in range(n + 1):
        x = [random.gauss(5, 2) for _ in range(n)]
        whole, both = summary(x), joined(summary(x[:cut]), summary(x[cut:]))
        assert both.n == n and abs(both.mean - whole.mean) < 1e-12 and abs(both.sd - whole.sd) < 1e-12, (n, cut)
assert joined(Summary(5, 1.0), summary([2.0, 2.0])) == Summary(7, 9 / 7)  # a spread that is not known stays so
assert later_seeds(Summary(2, 0.5), {0: 1.0, 3: 4.0}) == (Summary(2, 0.5), [4.0])
assert later_seeds(Summary(2, 0.5), {0: 1.0, 1: 2.0, 3: 4.0}) == (None, [1.0, 2.0, 4.0])
kept = Kept(lambda n, half: half)
seeds = kept.runs("large-multi-view-toxicity")["gold"]["test.macro_f1"]
assert list(seeds) == list(range(20)), list(seeds)

# Lines from a GPU machine: a seed has the figure over all its folds where it has all of them, else none.
import json, pathlib, tempfile
import kept_runs
with tempfile.TemporaryDirectory() as work:
    kept_runs.FOLDER = folder = pathlib.Path(work)
    lines = ["experiment\tcell\tseed\tfold\tset\tmetric\tvalue\tkey"]
    lines += [f"zz\tgold\t{s}\t{f}\ttest\taccuracy\t{s + f / 10}\t{'ab' * 32}" for s in range(3) for f in range(2) if (s, f) != (2, 1)]
    (folder / "runs.tsv").write_text("\n".join(lines) + "\n")
    cells = [{"name": "gold", "measures": [{"set": "test", "metric": "accuracy", "values": [0.5, 1.5, 2.5]}]}]
    (folder / "zz.json").write_text(json.dumps({"cells": cells}))
    kept_runs.ROOT = folder
    (folder / "zz.tsv").touch()
    kept_runs.keep_lines(folder, "c0ffee", "a device")
    kept = kept_runs.Kept(lambda n, half: half)
    assert kept.runs("zz") == {"gold": {"test.accuracy": {0: 0.5, 1: 1.5}}}, kept.runs("zz")
    assert kept.n_runs("zz") == 5
P
if check "$work/wrong.md" >"$work/said"; then echo "a wrong figure passes"; failed=1; fi
for wrong in "12.34" "1.6 (.3 to 9.9)"; do
    grep -qF "$wrong" "$work/said" || { echo "$wrong is not named"; failed=1; }
done
exit $failed
