"""Crowds that are drawn: those of the tool."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from tool import needs_tool, run

import dissent


@needs_tool
def test_a_crowd_is_that_of_the_tool(tmp_path):
    votes, gold, texts, features = (tmp_path / n for n in ("v.csv", "g.csv", "t.csv", "f.npy"))
    size = ["--items", 60, "--workers", 9, "--classes", 3, "--votes-per-item", 4, "--seed", 5]
    how = ["--model", "spammer", "--accuracy", 0.8, "--spread", 0.1, "--spammers", 0.3, "--shuffle", "--n-features", 2]
    run("synth", *size, *how, "--gold", gold, "--text", texts, "--features", features, "-o", votes)
    crowd = dissent.synth(
        60,
        9,
        3,
        4,
        model="spammer",
        accuracy=0.8,
        spread=0.1,
        spammers=0.3,
        shuffle=True,
        texts=True,
        n_features=2,
        random_state=5,
    )
    read_back = dissent.read_votes(votes)
    assert [a.tolist() for a in crowd.votes.rows()] == [a.tolist() for a in read_back.rows()]
    assert crowd.votes.tasks.tolist() == read_back.tasks.tolist()
    assert list(crowd.gold.items()) == [tuple(row) for row in list(csv.reader(gold.open()))[1:]]
    assert list(crowd.texts.items()) == [tuple(row) for row in list(csv.reader(texts.open()))[1:]]
    assert np.array_equal(crowd.features, np.load(features))


@needs_tool
def test_a_crowd_with_a_theme_and_judges_is_that_of_the_tool(tmp_path):
    votes, gold, texts = (tmp_path / n for n in ("v.csv", "g.csv", "t.csv"))
    how = ["--theme", "reviews", "--classes", 3, "--model", "ambiguous", "--judges", 3, "--human-items", 20]
    run("synth", "--items", 30, *how, "--gold", gold, "--text", texts, "-o", votes)
    crowd = dissent.synth(
        30, n_classes=3, model="ambiguous", theme="reviews", n_judges=3, human_items=20, texts=True
    )
    read_back = dissent.read_votes(votes)
    assert [a.tolist() for a in crowd.votes.rows()] == [a.tolist() for a in read_back.rows()]
    assert crowd.votes.workers.tolist() == read_back.workers.tolist()
    assert {"judge1", "judge2", "judge3"} < set(crowd.votes.workers.tolist())
    assert len(crowd.votes) == 20 * 5 + 30 * 3
    assert list(crowd.gold.items()) == [tuple(row) for row in list(csv.reader(gold.open()))[1:]]
    assert list(crowd.texts.items()) == [tuple(row) for row in list(csv.reader(texts.open()))[1:]]
    assert set(crowd.gold.values()) == {"negative", "neutral", "positive"}


def test_what_was_not_asked_for_is_not_there():
    crowd = dissent.synth(20)
    assert crowd.texts is None and crowd.features is None and len(crowd.gold) == 20 and len(crowd.votes) == 100


def test_wrong_sizes_are_told():
    with pytest.raises(dissent.OptionError, match="n_items=0"):
        dissent.synth(0)
    with pytest.raises(dissent.OptionError, match="between 1 and 3, not 5"):
        dissent.synth(10, 3)
    with pytest.raises(dissent.OptionError, match="nope"):
        dissent.synth(10, model="nope")
    with pytest.raises(dissent.OptionError, match="no theme"):
        dissent.synth(10, theme="nope")
    with pytest.raises(dissent.OptionError, match="need judges"):
        dissent.synth(10, human_items=5)


def test_a_report_without_a_path_says_what_is_meant():
    crowd = dissent.synth(20)
    with pytest.raises(TypeError, match="path: where the page goes, not Votes"):
        dissent.report(crowd.votes)


def test_commands_in_messages_keep_their_dashes(tmp_path):
    with pytest.raises(dissent.FileError, match="--local-dir"):
        dissent.Tokenizer(tmp_path / "nowhere")
    with pytest.raises(dissent.OptionError, match="there are: .*label-studio"):
        dissent.read_votes(tmp_path / "votes.csv", preset="nope")


def test_results_show_themselves_in_a_line_and_in_notebooks():
    crowd = dissent.synth(40, 8, 2, 4, texts=True)
    votes = crowd.votes
    half = {w: "ab"[i % 2] for i, w in enumerate(votes.workers.tolist())}
    groups = dissent.Groups(half, min_group=2)
    rows = votes.rows()
    predicted = list(zip(votes.tasks[rows[0]], votes.workers[rows[1]], votes.classes[rows[2]]))
    fit = dissent.MajorityVote().fit(votes)
    shown = [
        dissent.panel(votes, votes.workers.tolist()[:2]),
        dissent.group_agreement(votes, groups, resamples=20, permutations=20),
        dissent.group_evaluation(fit.result_, votes, groups, resamples=0, permutations=0),
        dissent.perspectives(votes, predicted, resamples=0),
        dissent.review(votes),
    ]
    for result in shown:
        assert len(repr(result)) < 200 and repr(result).startswith(type(result).__name__)
        assert result._repr_html_().count("<table") >= 1
    assert "model=0," in repr(shown[3])
    assert repr(crowd) == f"SyntheticCrowd({votes!r}, texts)"
    watch = dissent.Watch()
    watch.add("t", "w", "a")
    assert repr(watch) == "Watch(1 votes; 0 tasks confident, 0 at the limit, 1 open)"
