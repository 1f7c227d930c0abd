"""Tables as people have them: column names, labels that are no classes, notes."""

import warnings

import dissent
import numpy as np
import pytest

ROWS = [(f"i{i}", w, "yes" if (i + (w == "c")) % 2 else "no") for i in range(10) for w in "abc"]


def table(task="item_id", worker="annotator", label="answer"):
    return {task: [r[0] for r in ROWS], worker: [r[1] for r in ROWS], label: [r[2] for r in ROWS]}


def kinds(columns):
    yield columns
    yield [dict(zip(columns, row)) for row in zip(*columns.values())]
    for name in ("pandas", "polars", "pyarrow"):
        try:
            module = __import__(name)
        except ImportError:
            continue
        yield module.table(columns) if name == "pyarrow" else module.DataFrame(columns)


def test_synonyms_are_accepted_in_every_kind_of_table():
    for data in kinds(table()):
        votes = dissent.Votes(data)
        assert (len(votes.tasks), len(votes.workers), list(votes.classes)) == (10, 3, ["no", "yes"])


def test_standard_names_take_precedence():
    data = {**table(), "task": [r[0] + "!" for r in ROWS]}
    assert dissent.Votes(data).tasks[0] == "i0!"


def test_two_synonyms_are_ambiguous():
    data = {**table(), "category": ["x"] * len(ROWS)}
    for each in kinds(data):
        with pytest.raises(dissent.DataError, match="two columns could be the label.*label='category'"):
            dissent.Votes(each)
    assert list(dissent.Votes(data, label="answer").classes) == ["no", "yes"]


def test_most_labels_different_is_an_error():
    data = {**table(), "answer": [f"reason {i}" for i in range(len(ROWS))]}
    with pytest.raises(dissent.DataError, match="30 different labels in 30 votes.*allow_many_classes"):
        dissent.Votes(data)
    assert len(dissent.Votes(data, allow_many_classes=True).classes) == 30


def test_numbers_that_are_not_classes():
    data = {**table(), "answer": np.linspace(0, 1, len(ROWS))}
    with pytest.raises(dissent.DataError, match='scale="numeric"'):
        dissent.Votes(data)
    assert len(dissent.Votes(data, scale="numeric").tasks) == 10


def test_labels_that_differ_in_case_alone():
    data = {**table(), "answer": [[label, label.upper(), f" {label}"][i % 3] for i, (_, _, label) in enumerate(ROWS)]}
    with pytest.warns(dissent.VotesWarning, match='differ only in case or spaces.*"NO".*use fold_case, trim'):
        votes = dissent.Votes(data)
    assert len(votes.classes) == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        votes = dissent.Votes(data, fold_case=True, trim=True)
    assert list(votes.classes) == ["no", "yes"]


def test_one_worker():
    with pytest.warns(dissent.VotesWarning, match="all votes are by one worker"):
        dissent.Votes({**table(), "annotator": ["a"] * len(ROWS)}, duplicates="first")


def test_files(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("title\nitem;annotator;answer\n" + "".join(";".join(row) + "\n" for row in ROWS))
    with pytest.raises(dissent.DataError, match="\n  skip=1$"):
        dissent.read_votes(path)
    votes = dissent.read_votes(path, skip=1)
    assert len(votes.tasks) == 10
    assert any("using columns" in text for text in votes.messages)
    path.write_text("Satz,Leser,Urteil\n" + "".join(",".join(row) + "\n" for row in ROWS))
    with pytest.raises(dissent.DataError, match='\n  task="Satz", worker="Leser", label="Urteil"$'):
        dissent.read_votes(path)
    path.write_text("item,rater,answer\n" + "".join(",".join((t, w, label.title())) + "\n" for t, w, label in ROWS))
    assert list(dissent.read_votes(path, fold_case=True).classes) == ["no", "yes"]


@pytest.mark.parametrize(("word", "character"), [("space", " "), ("tab", "\t"), (";", ";")])
def test_delimiters(tmp_path, word, character):
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(character.join(row) for row in [("task", "worker", "label"), *ROWS]) + "\n")
    assert len(dissent.read_votes(path, delimiter=word).tasks) == len(dissent.read_votes(path, delimiter=character).tasks) == 10
    with pytest.raises(dissent.DataError, match=f"the table has one column.*use:\n *delimiter=\"{word}\""):
        dissent.read_votes(path, delimiter="|")
    with pytest.raises(ValueError, match='delimiter must be one character, "tab" or "space", not "tabs"'):
        dissent.read_votes(path, delimiter="tabs")


def test_soft_labels_are_no_votes(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("task,label,entropy,p:no,p:yes\na,no,0,1,0\n")
    with pytest.raises(dissent.DataError, match="these are soft labels.*give the file of the votes"):
        dissent.read_votes(path)
