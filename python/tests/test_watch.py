"""Votes as they come, in Python: the rows of the tool."""

from __future__ import annotations

import csv
import io

import pytest
from tool import needs_tool, put_csv, run

import dissent


def crowd():
    rows = []
    for n in range(6):
        for i in range(60):
            worker = (i + 5 * n) % 11
            label = "abc"[(i + (worker * i * 7 + n) % 5 // 4) % 3]
            rows.append((f"t{i}", f"w{worker}", label))
    return rows


@needs_tool
def test_rows_are_those_of_the_tool(tmp_path):
    path = put_csv(tmp_path / "votes.csv", ["task", "worker", "label"], crowd())
    out = run("watch", path, "--power", 0, "-o", tmp_path / "open.csv")
    expected_rows = [(r["task"], r["label"], float(r["p"]), int(r["votes"]), r["reason"]) for r in csv.DictReader(io.StringIO(out))]
    watch = dissent.Watch(power=0)
    rows = [row for vote in crowd() for row in watch.add(*vote)] + watch.finalize()
    assert [tuple(row) for row in rows] == expected_rows and expected_rows
    watch.write(tmp_path / "mine.csv")
    assert (tmp_path / "mine.csv").read_bytes() == (tmp_path / "open.csv").read_bytes()
    assert watch.counts["votes"] == len(crowd())


def test_what_is_refused():
    watch = dissent.Watch(classes=["a", "b"])
    with pytest.raises(dissent.DataError, match="declared"):
        watch.add("t", "w", "c")
    watch.add("t", "w", "a")
    with pytest.raises(dissent.DataError, match="again"):
        watch.add("t", "w", "b")
    with pytest.raises(dissent.OptionError):
        dissent.Watch(retire=2)
    with pytest.raises(dissent.OptionError):
        dissent.Watch(duplicates="never")
    with pytest.raises(dissent.OptionError):
        dissent.Watch(classes=["a", "a"])


def test_memory_is_bounded():
    watch = dissent.Watch(retire=1, ask_from=0, memory=1 << 20)
    with pytest.raises(dissent.LimitError, match="memory"):
        for i in range(100_000):
            watch.add(f"t{i}", "w", "a")
    assert 0 < watch.counts["open"] < 100_000
