"""plan: the same figures as the command line, targets, the split with a judge, mistakes."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest

import dissent


def pilot(seed=0, n=80, people=10, votes=4):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        truth = rng.integers(2)
        rows += [(f"t{i}", f"p{w}", int(truth if rng.random() < 0.8 else 1 - truth)) for w in rng.choice(people, votes, replace=False)]
        rows += [(f"t{i}", m, int(truth if rng.random() < a else 1 - truth)) for m, a in (("good", 0.9), ("bad", 0.7))]
    return rows


def test_same_figures_as_the_tool(tmp_path):
    tool = os.environ.get("DISSENT")
    if not tool:
        pytest.skip("skipped: DISSENT does not name the tool")
    rows = pilot()
    path = tmp_path / "votes.csv"
    path.write_text("task,worker,label\n" + "".join(f"{t},{w},{k}\n" for t, w, k in rows))
    options = ["--metric", "difference", "--judge", "good", "--second-judge", "bad", "--effect", ".1", "--annotators", "10,20"]
    subprocess.run([tool, "plan", str(path), *options, "-q", "--json", str(tmp_path / "plan.json")], check=True, capture_output=True)
    theirs = json.loads((tmp_path / "plan.json").read_text())
    ours = dissent.plan(rows, metric="difference", judge="good", second_judge="bad", effect=0.1, annotators=[10, 20])
    assert [d["half_width"] for d in theirs["designs"]] == ours.designs["half_width"].tolist()
    assert theirs["answer"] == ours.answer
    assert (theirs["items_low"], theirs["items_high"]) == (ours.items_low, ours.items_high)
    assert ours.n_items == 80 and ours.n_annotators == 10 and ours.n_votes == 320


def test_half_width_shrinks_with_the_root_of_items():
    found = dissent.plan(metric="share", value=0.5, kappa=0.3, spread=0, items=[400, 1600], annotators=[100], votes_per_item=[2])
    first, second = found.designs["half_width"]
    assert abs(first / second - 2) < 0.03


def test_without_a_pilot_there_is_no_range():
    found = dissent.plan(metric="alpha", kappa=0.5, n_classes=3, half_width=0.06)
    assert found.answer["votes_per_item"] > 1
    assert found.items_low is None and found.n_items == 0


def test_split_of_a_budget_uses_the_judge():
    found = dissent.plan(pilot(n=200), metric="share", judge="good", people=[f"p{w}" for w in range(10)], class_name="1", budget=500)
    assert found.split["judge_items"] > 0
    assert found.split["half_width"] < found.split["half_width_people"]


def test_labels_become_more_accurate_with_votes():
    found = dissent.plan(metric="labels", value=0.75, kappa=0.1, votes_per_item=[1, 3, 9], items=[100], annotators=[20])
    assert np.all(np.diff(found.designs["value"]) > 0.02)


def test_page(tmp_path):
    dissent.plan(metric="judge", value=0.8, kappa=0.5, effect=0.05, page=tmp_path / "plan.html")
    assert "You need" in (tmp_path / "plan.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "alhpa", "kappa": 0.5}, "did you mean alpha"),
        ({"metric": "judge", "value": 0.8}, "kappa"),
        ({"metric": "judge", "value": 0.8, "kappa": 0.5, "judge": "gpt"}, "pass votes"),
        ({"metric": "alpha", "kappa": 0.5, "annotators": [2]}, "annotators has 2"),
        ({"votes": pilot(), "metric": "share", "class_name": "maybe"}, 'no class "maybe"'),
        ({"votes": pilot(n=5), "metric": "share"}, "at least 10"),
    ],
)
def test_mistakes_are_named(arguments, message):
    with pytest.raises(dissent.DissentError, match=message):
        dissent.plan(**arguments)
