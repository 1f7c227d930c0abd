"""Exports of annotation tools by read_votes: presets, paths and rules, on the files of examples/exports."""

from pathlib import Path

import numpy as np
import pytest

import dissent

EXPORTS = Path(__file__).resolve().parents[2] / "examples" / "exports"


@pytest.mark.parametrize(
    ("preset", "files", "options", "shape"),
    [
        ("label-studio", "label-studio.json", {"label": "sentiment", "duplicates": "last"}, (4, 3, 3)),
        ("label-studio-min", "label-studio-min.csv", {"label": "topics", "several": "join"}, (4, 3, 2)),
        ("prodigy", "prodigy.jsonl", {}, (4, 3, 3)),
        ("doccano", "doccano/*.jsonl", {}, (4, 3, 3)),
        ("argilla", "argilla.json", {"label": "sentiment"}, (4, 3, 3)),
        ("argilla-flat", "argilla-flat.json", {"label": "sentiment"}, (4, 3, 3)),
        ("potato", "potato.jsonl", {"label": "sentiment"}, (4, 3, 3)),
        ("zooniverse", "zooniverse.csv", {}, (3, 3, 3)),
        ("mturk", "mturk.csv", {"label": "Answer.sentiment"}, (4, 3, 3)),
        ("figure-eight", "figure-eight.csv", {"label": "sentiment", "drop": {"_golden": "true"}}, (3, 3, 3)),
        ("mace", "mace.csv", {}, (4, 3, 3)),
        ("lewidi-2023", "lewidi-2023.json", {}, (4, 3, 2)),
        ("lewidi-2025", "lewidi-2025-several.json", {"several": "join"}, (4, 3, 4)),
        ("chaosnli", "chaosnli.jsonl", {}, (3, 0, 3)),
        ("cifar10h", "cifar10h.npy", {}, (3, 0, 10)),
        ("cifar10h-raw", "cifar10h-raw.csv", {}, (4, 3, 6)),
        ("snow", "snow.tsv", {}, (4, 3, 2)),
        ("gimpel", "gimpel.tsv", {}, (4, 4, 7)),
        ("peerannot", "peerannot.json", {}, (4, 3, 3)),
        ("inception", "inception/*/*.json", {"label": "sentiment"}, (4, 3, 3)),
        ("brat", "brat/*/*.ann", {"label": "Sentiment"}, (4, 3, 3)),
        ("mt-bench", "mt-bench.jsonl", {}, (4, 3, 3)),
        ("promptfoo", "promptfoo.json", {}, (4, 3, 2)),
        ("langfuse", "langfuse.json", {"label": "correctness"}, (4, 3, 2)),
        ("langsmith", "langsmith.jsonl", {"label": "correctness"}, (4, 3, 2)),
        ("mlflow", "mlflow.json", {"label": "correctness"}, (4, 3, 2)),
        ("deepeval", "deepeval.json", {}, (4, 3, 2)),
        ("openai-evals", "openai-evals.jsonl", {"label": "choice"}, (4, 3, 2)),
        ("lm-eval", "lm-eval/*/*.jsonl", {}, (4, 3, 2)),
        ("inspect-ai", "inspect-ai.json", {}, (4, 3, 2)),
        ("arena", "arena.jsonl", {}, (4, 3, 4)),
        ("crowd-kit", "crowd-kit.csv", {}, (4, 3, 3)),
    ],
)
def test_presets_read_their_files(preset, files, options, shape):
    votes = dissent.read_votes(*sorted(EXPORTS.glob(files)), preset=preset, **options)
    assert (len(votes.tasks), len(votes.workers), len(votes.classes)) == shape


def test_every_preset_is_read_above():
    marks = [m for m in test_presets_read_their_files.pytestmark if m.name == "parametrize"]
    assert {row[0] for row in marks[0].args[1]} == set(dissent.presets())


def test_paths_and_rules():
    file = EXPORTS / "label-studio.json"
    how = {"task": "id", "worker": "annotations[].completed_by.email", "duplicates": "last", "na": [""]}
    label = "annotations[].result[from_name=sentiment].value.choices[]"
    by_row = dissent.read_votes(file, label=label, **how)
    by_time = dissent.read_votes(file, label=label, time="annotations[].updated_at", **how)
    assert by_row.notes["duplicates"] == by_time.notes["duplicates"] == 1
    neutral = list(by_row.classes).index("neutral")
    for votes, share in ((by_row, 0), (by_time, 1 / 3)):
        row = list(votes.tasks).index("4")
        assert np.asarray(dissent.Standard().fit_predict_proba(votes))[row, neutral] == pytest.approx(share)
    gold = dissent.read_votes(file, label=label, keep={"annotations[].ground_truth": "true"}, **how)
    assert list(gold.tasks) == ["1"] and gold.notes["dropped"] == 13
    wide = dissent.read_votes(EXPORTS / "wide.csv", input="wide", worker="ann,bob,cem")
    assert list(wide.workers) == ["ann", "bob", "cem"]


def test_what_is_wrong_is_said():
    with pytest.raises(dissent.DataError, match="this looks like a Label Studio export"):
        dissent.read_votes(EXPORTS / "label-studio.json")
    with pytest.raises(ValueError, match="did you mean label-studio"):
        dissent.read_votes(EXPORTS / "label-studio.json", preset="label-studoi")
    with pytest.raises(ValueError, match="several must be"):
        dissent.read_votes(EXPORTS / "label-studio.json", several="some")
    with pytest.raises(dissent.DataError, match="no key"):
        dissent.read_votes(EXPORTS / "label-studio.json", task="id", worker="annotations[].who", label="annotations[].id")
