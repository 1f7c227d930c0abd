"""The page, the command line and Python say the same of the same votes: who is doubtful, how often each worker is
right, how many labels are expected to be right."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import urllib.parse

import numpy as np
import pytest
from tool import needs_tool, run

import dissent


def _careful(rng):
    """Twelve careful workers, one who says "a" whatever the item, one who does not look, and a newcomer with one
    vote."""
    rows = []
    for i in range(300):
        truth = rng.integers(3)
        for w in rng.choice(14, 5, replace=False):
            guess = truth if rng.random() < 0.8 else rng.integers(3)
            label = 0 if w == 12 else rng.integers(3) if w == 13 else guess
            rows.append((f"t{i}", f"w{w}", "abc"[label]))
    return [*rows, ("t0", "newcomer", "b")]


def _alone(rng):
    """Nobody else votes on these items."""
    return [(f"t{i}", f"w{i % 2}", "ab"[rng.integers(2)]) for i in range(40)]


def _noise(rng):
    return [(f"t{i}", f"w{w}", "abcd"[rng.integers(4)]) for i in range(200) for w in rng.choice(20, 5, replace=False)]


def _few(rng):
    return [(f"t{i}", f"w{w}", "xy"[(i + (w == 2 and i == 0)) % 2]) for i in range(3) for w in range(3)]


CROWDS = {"careful": _careful, "alone": _alone, "noise": _noise, "few": _few}


def _page(path):
    text = path.read_text(encoding="utf-8")
    main = html.unescape(re.sub(r"<[^>]+>", " ", text[text.index('class="says"') : text.index("</section>", text.index('class="says"'))]))
    tiles = {html.unescape(a): html.unescape(b) for a, b in re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", text)}
    tables = {}
    for name, uri in re.findall(r'download="([^"]+)\.csv" href="data:text/csv;charset=utf-8,([^"]*)"', text):
        tables[name] = list(csv.DictReader(io.StringIO(urllib.parse.unquote(uri), newline="")))
    return re.sub(r"[\s\u00a0]+", " ", main), tiles, tables


@needs_tool
@pytest.mark.parametrize("crowd", CROWDS)
def test_report_review_and_python_say_the_same(crowd, tmp_path):
    rows = CROWDS[crowd](np.random.default_rng(5))
    votes = tmp_path / "votes.csv"
    votes.write_text("task,worker,label\n" + "".join(",".join(r) + "\n" for r in rows))
    run("review", votes, "--json", tmp_path / "review.json", "--workers", tmp_path / "workers.csv", "-o", tmp_path / "items.csv", "-q")
    run("report", "--votes", votes, "-o", tmp_path / "page.html", "--resamples", "0", "-q")
    tool = json.loads((tmp_path / "review.json").read_text())
    with open(tmp_path / "workers.csv", newline="") as f:
        listed = {r["worker"]: r for r in csv.DictReader(f)}
    says, tiles, tables = _page(tmp_path / "page.html")
    ours = dissent.review(dissent.read_votes(votes))
    verdicts = dict(zip(ours.workers["worker"], ours.workers["cause"]))
    doubtful = {w for w, v in verdicts.items() if v in ("constant", "random", "confuses")}

    assert {w: r["verdict"] for w, r in listed.items()} == verdicts
    assert tool["unreliable_workers"] == len(doubtful)
    unreliable_line = re.search(r"(\d+) of \d+ annotators (?:is|are) unreliable", says)
    assert (int(unreliable_line.group(1)) if unreliable_line else 0) == len(doubtful)
    if "unreliable annotator" in tiles or "unreliable annotators" in tiles:
        assert int(tiles.get("unreliable annotators", tiles.get("unreliable annotator"))) == len(doubtful)
    weak = {w for w, v in verdicts.items() if v == "weak"}
    assert {r["annotator"] for r in tables.get("look-at-workers", [])} == doubtful | weak
    assert {r["worker"] for r in tool["workers_to_check"]} == doubtful | weak

    # the share of right votes of each worker, digit for digit, and its interval
    python = {w: (q, low, high) for w, q, low, high in zip(*(ours.workers[c] for c in ("worker", "quality", "low", "high")))}
    for r in tables.get("worker-quality", []):
        w = r["annotator"]
        assert r["correct"] == listed[w]["quality"] and r["95 % from"] == listed[w]["ci_low"] and r["to"] == listed[w]["ci_high"]
        if r["correct"]:
            assert (float(r["correct"]), float(r["95 % from"]), float(r["to"])) == python[w]
        else:
            assert np.isnan(python[w][0])
    right = tool["metrics"]["expected_accuracy"]["value"]
    assert right == (None if crowd in ("alone", "noise") else ours.expected_accuracy)
    if right is None:
        assert "labels expected correct" not in tiles and ours.n_unjudged == len(verdicts) and ours.expected_accuracy is None
    elif crowd == "few":  # the page judges no labels of so few votes
        assert "labels expected correct" not in tiles
    else:
        assert f"{100 * right:.0f} %" == tiles["labels expected correct"].replace("\u00a0", " ")
    assert (tool["unreliable_workers"], tool["weak_workers"], tool["unjudged_workers"]) == (ours.n_unreliable, ours.n_weak, ours.n_unjudged)
    assert ours.n_weak == (int(m.group(1)) if (m := re.search(r"(\d+) (?:is|are) less accurate than the others", says)) else 0)
    assert (tool["chance"]["verdict"] != "noise") == ours.beyond_chance and tool["chance"]["p"] == ours.chance["p"]
    assert ours.beyond_chance or "No verdict on single annotators" in says
    items = {r["item"]: r["correct"] for r in tables.get("label-next", [])}
    with open(tmp_path / "items.csv", newline="") as f:
        assert all(items.get(r["task"], r["p_correct"]) == r["p_correct"] for r in csv.DictReader(f))

    if crowd == "careful":  # and what they say is true
        assert verdicts["w12"] == "constant" and verdicts["w13"] == "random" and doubtful == {"w12", "w13"}
        assert 0.7 < python["w3"][0] < 0.95 and python["w12"][2] < 0.6
    if crowd in ("alone", "noise"):
        assert not doubtful and "No verdict on single annotators" in says
        assert "worker-quality" not in tables


@needs_tool
def test_accuracy_against_gold_is_the_same_everywhere(tmp_path):
    rows = _careful(np.random.default_rng(9))
    votes, gold = tmp_path / "votes.csv", tmp_path / "gold.csv"
    votes.write_text("task,worker,label\n" + "".join(",".join(r) + "\n" for r in rows))
    known = {task: label for task, _, label in rows[::7]}
    gold.write_text("task,label\n" + "".join(f"{task},{label}\n" for task, label in known.items()))
    run("review", votes, "--gold", gold, "--workers", tmp_path / "workers.csv", "-o", tmp_path / "items.csv", "-q")
    run("report", "--votes", votes, "--gold", gold, "-o", tmp_path / "page.html", "--resamples", "0", "-q")
    with open(tmp_path / "workers.csv", newline="") as f:
        listed = {r["worker"]: r for r in csv.DictReader(f)}
    page = {r["annotator"]: r for r in _page(tmp_path / "page.html")[2]["worker-quality"]}
    ours = dissent.review(dissent.read_votes(votes), gold=known).workers
    assert set(page) == set(listed) == set(ours["worker"])
    for i, worker in enumerate(ours["worker"]):
        right = [label == known[task] for task, who, label in rows if who == worker and task in known]
        tool, shown = listed[worker], page[worker]
        assert int(tool["gold_votes"]) == int(shown["on items with gold"]) == ours["gold_votes"][i] == len(right) > 0
        assert float(tool["gold_accuracy"]) == float(shown["accuracy against gold"]) == pytest.approx(np.mean(right))
        assert float(tool["gold_low"]) == float(shown["gold 95 % from"]) == ours["gold_low"][i] <= np.mean(right)
        assert float(tool["gold_high"]) == float(shown["gold to"]) == ours["gold_high"][i] >= np.mean(right)
        assert "against gold" in ours["reason"][i]
