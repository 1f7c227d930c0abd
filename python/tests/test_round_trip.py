"""Labels as annotation tools import them, checked by what the tools themselves accept. Each test runs where its tool is
installed."""

from __future__ import annotations

import json
from xml.sax.saxutils import quoteattr

import pytest
from tool import needs_tool, put_csv, run

CLASSES = ['a "quoted": class', "- yes", "null", "1", "ä, ö", "~"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("round_trip")
    rows = [(str(i + 1), f"w{w}", CLASSES[(i + (w == 2)) % len(CLASSES)]) for i in range(12) for w in range(4)]
    put_csv(folder / "votes.csv", ["task", "worker", "label"], rows)
    put_csv(folder / "items.csv", ["task", "text"], [(str(i + 1), f'text {i}\nsecond "line"') for i in range(12)])
    source = [{"id": i + 1, "data": {"text": f"text {i}"}, "annotations": [], "fields": {"text": f"text {i}"}} for i in range(12)]
    (folder / "source.json").write_text(json.dumps(source))
    run("labels", folder / "votes.csv", "--method", "standard", "-o", folder / "labels.csv")
    return folder


def exported(folder, target, *more):
    out = folder / f"{target}{len(more)}"
    out = out.with_suffix(".json") if target != "huggingface" else out
    run("convert", folder / "labels.csv", "--to", target, *more, "-o", out)
    return out


@needs_tool
def test_label_studio_takes_predictions(files):
    interface = pytest.importorskip("label_studio_sdk.label_interface", reason="label-studio-sdk is not installed")
    choices = "".join(f"<Choice value={quoteattr(c)}/>" for c in CLASSES)
    config = f'<View><Text name="text" value="$text"/><Choices name="mood" toName="text">{choices}</Choices></View>'
    check = interface.LabelInterface(config)
    tasks = json.loads(exported(files, "label-studio", "--source", files / "source.json", "--control", "mood").read_text())
    assert [t["id"] for t in tasks] == list(range(1, 13))
    for task in tasks:
        (prediction,) = task.pop("predictions")
        assert check.validate_task(task)
        assert check.validate_prediction(prediction, return_errors=True) == []
    alone = json.loads(exported(files, "label-studio", "--control", "mood").read_text())
    assert all(check.validate_prediction(p, return_errors=True) == [] for p in alone)
    wrong = json.loads(exported(files, "label-studio").read_text())  # a control that the project does not have
    assert all(check.validate_prediction(p, return_errors=True) for p in wrong)


@needs_tool
def test_argilla_takes_suggestions(files):
    argilla = pytest.importorskip("argilla", reason="argilla is not installed")
    records = json.loads(exported(files, "argilla", "--source", files / "source.json", "--control", "mood").read_text())
    assert len(records) == 12
    for i, given in enumerate(records):
        record = argilla.Record.from_dict(given)
        (suggestion,) = record.suggestions
        assert record.id == str(i + 1) and record.fields["text"] == f"text {i}"
        assert suggestion.question_name == "mood" and suggestion.value in CLASSES
        assert suggestion.agent == "dissent" and 0 < suggestion.score <= 1


@needs_tool
def test_hugging_face_loads_the_folder(files, tmp_path):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    folder = exported(files, "huggingface", "--texts", files / "items.csv")
    loaded = datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path))
    names = loaded.features["label"].names
    assert sorted(names) == sorted(CLASSES) and loaded.num_rows == 12
    assert loaded.column_names == ["task", "text", "label", "soft_label"]
    for row in loaded:
        i = int(row["task"]) - 1
        assert row["text"] == f'text {i}\nsecond "line"'
        assert names[row["label"]] == CLASSES[i % len(CLASSES)]
        assert row["soft_label"][row["label"]] == max(row["soft_label"]) and abs(sum(row["soft_label"]) - 1) < 1e-12
