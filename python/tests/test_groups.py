"""Groups of people: what the command line says, whatever the table is."""

from __future__ import annotations

import numpy as np
import pytest
from tool import needs_tool, put_csv, summary

import dissent


@pytest.fixture(scope="module")
def people(crowd):
    workers = sorted(set(crowd[1]))
    return {"worker": workers, "side": ["left" if i % 2 else "right" for i in range(len(workers))], "age": [20 + i for i in range(len(workers))]}


@pytest.fixture(scope="module")
def votes(crowd):
    return dissent.Votes(dict(zip(("task", "worker", "label"), crowd[:3])))


@needs_tool
def test_is_dissent_agree(votes, crowd, people, tmp_path):
    table = put_csv(tmp_path / "people.csv", list(people), list(zip(*people.values())))
    path = put_csv(tmp_path / "votes.csv", ["task", "worker", "label"], list(zip(*crowd[:3])))
    more = ["--worker-table", table, "--group", "side", "--min-group", 2, "--seed", 3, "--resamples", 100, "--permutations", 100]
    theirs = summary(tmp_path, "agree", path, *more)["groups"]
    for given in (people, str(table), [dict(zip(people, row)) for row in zip(*people.values())]):
        ours = dissent.group_agreement(votes, dissent.Groups(given, "side", min_group=2), random_state=3, resamples=100, permutations=100)
        assert ours.names == [g["group"] for g in theirs["by_group"]]
        for name in ("within", "across", "index"):
            assert ours.groups[name].tolist() == [g[name]["value"] for g in theirs["by_group"]]
            assert ours.groups[name + "_ci_low"].tolist() == [g[name]["ci_low"] for g in theirs["by_group"]]
        assert ours.groups["q_index"].tolist() == [g["q_index"] for g in theirs["by_group"]]
        assert ours.pairs["p"].tolist() == [p["p"] for p in theirs["pairs"]]
        assert ours.apart.value == theirs["apart"]["value"] and ours.p_apart == theirs["p_apart"]
        assert len(ours.divided["task"]) == theirs["items_compared"]


def test_votes_of_groups(votes, people):
    parts = dissent.group_votes(votes, dissent.Groups(dict(zip(people["worker"], people["side"])), min_group=2))
    assert sorted(parts) == ["left", "right"]
    assert sum(map(len, parts.values())) == len(votes)
    all_groups = dissent.group_agreement(votes, dissent.Groups(people, "side", min_group=2), permutations=0, resamples=0)
    for name, within in zip(all_groups.names, all_groups.groups["within"].tolist()):
        assert parts[name].classes.tolist() == votes.classes.tolist()
        assert dissent.agreement(parts[name], resamples=0, pairs=False).alpha_nominal == pytest.approx(within, abs=1e-12)
        assert dissent.Standard().fit(parts[name]).result_.p.shape[1] == len(votes.classes)


def test_small_groups_and_cuts(votes, people):
    n = len(people["worker"])
    found = dissent.group_agreement(votes, dissent.Groups(people, "age", cuts=[22, 20 + n - 1], min_group=3), permutations=0, resamples=0)
    assert "other" in found.names and found.merged == 2  # two below 22, one above: three people together
    assert np.bincount(found.group[found.group >= 0]).min() >= 3
    with pytest.raises(dissent.DataError, match="min_group"):
        dissent.group_agreement(votes, dissent.Groups(people, "age", min_group=2))


def test_what_is_refused(votes, people):
    with pytest.raises(dissent.OptionError, match="no column 'sid'"):
        dissent.group_agreement(votes, dissent.Groups(people, "sid"))
    with pytest.raises(dissent.DataError, match="none of the workers"):
        dissent.group_agreement(votes, {"nobody": "x"})
    with pytest.raises(dissent.OptionError, match="small_groups"):
        dissent.Groups(people, "side", small_groups="keep")


@needs_tool
def test_is_dissent_eval(votes, crowd, people, tmp_path):
    labels = dissent.Softmax().fit(votes).result_
    dissent.write_labels(labels, tmp_path / "model.csv")
    table = put_csv(tmp_path / "people.csv", list(people), list(zip(*people.values())))
    path = put_csv(tmp_path / "votes.csv", ["task", "worker", "label"], list(zip(*crowd[:3])))
    more = ["--worker-table", table, "--group", "side", "--min-group", 2, "--seed", 3, "--resamples", 100, "--permutations", 100]
    theirs = summary(tmp_path, "eval", tmp_path / "model.csv", "--votes", path, "--human-labels", "standard", *more)
    rows = theirs["people"]["predictions"][0]["by_group"]
    ours = dissent.group_evaluation(labels, votes, dissent.Groups(people, "side", min_group=2), random_state=3, resamples=100, permutations=100)
    assert ours.names == [r["group"] for r in rows]
    for name in ("log_loss", "agreement", "apart"):
        assert ours.groups[name].tolist() == pytest.approx([r[name]["value"] for r in rows], abs=1e-12)
    assert ours.groups["q"].tolist() == [r["q"] for r in rows]


def test_report_has_the_groups(votes, people, tmp_path):
    dissent.report(tmp_path / "r.html", votes, groups=dissent.Groups(people, "side", min_group=2), resamples=0)
    page = (tmp_path / "r.html").read_text()
    assert "Groups of people" in page and "groups-within" in page
    with pytest.raises(dissent.OptionError, match="give votes"):
        dissent.report(tmp_path / "n.html", labels=dissent.SoftLabels(["a"], ["x"], [[1.0]]), groups=dissent.Groups(people, "side"))


def test_predictions_of_nobody_knows_whom():
    votes = [("t1", "a", "x"), ("t1", "b", "y"), ("t2", "a", "x"), ("t2", "b", "x")]
    with pytest.raises(dissent.DataError, match="give a table with tasks"):
        dissent.group_evaluation(np.array([[0.5, 0.5], [0.1, 0.9]]), votes, {"a": "g", "b": "h"})
