"""Tables of votes that have more columns than task, worker and label, or lists as labels, as the library wants them.

Parts of a task, and classes of a set, are joined by the character that the library splits them at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import _core
from ._columns import _is_missing, frame_column, is_pandas, missing_column

SHAPED = ("multi-label", "pairwise", "spans")
_PARTS = "\x1f"
_USUAL = {
    "task": ("task", "document", "doc"),
    "worker": ("worker", "performer"),
    "label": ("label", "winner", "preferred"),
    "a": ("a", "model_a", "model_1", "left"),
    "b": ("b", "model_b", "model_2", "right"),
    "start": ("start", "begin"),
    "end": ("end", "stop"),
}
_COLUMNS = {
    "multi-label": ("task", "worker", "label"),
    "pairwise": ("task", "a", "b", "label", "worker"),
    "spans": ("task", "start", "end", "label", "worker"),
}
_ORDER = {  # of rows that are tuples
    "multi-label": ("task", "worker", "label"),
    "pairwise": ("a", "b", "label", "worker"),
    "spans": ("task", "worker", "start", "end", "label"),
}
_WINNERS = {
    **dict.fromkeys(("a", "A", "model_a", "model_1", "left"), "a"),
    **dict.fromkeys(("b", "B", "model_b", "model_2", "right"), "b"),
    **dict.fromkeys(("tie", "Tie", "draw", "both", "tie (bothbad)", "neither", "equal", "same"), "tie"),
}


def _empty(value: Any) -> bool:
    return _is_missing(value) or (isinstance(value, str) and not value)


def _table(data: Any) -> dict[str, list[Any]] | None:
    """Columns by name, or None for rows."""
    if isinstance(data, Mapping):
        return {str(k): list(v) for k, v in data.items()}
    if is_pandas(data):
        return {str(k): frame_column(data, str(k), [k]).tolist() for k in data.columns}
    if hasattr(data, "to_pydict"):  # pyarrow
        return {str(k): v for k, v in data.to_pydict().items()}
    if hasattr(data, "to_dict") and hasattr(data, "schema"):  # polars
        return {str(k): v for k, v in data.to_dict(as_series=False).items()}
    return None


def _rows(data: Any, scale: str, given: Mapping[str, str | None]) -> list[dict[str, Any]]:
    table = _table(data)
    if table is None:
        rows = list(data)
        if rows and isinstance(rows[0], Mapping):
            table = {k: [row.get(k) for row in rows] for k in rows[0]}
        else:
            names = _ORDER[scale]
            for i, row in enumerate(rows):
                if len(row) != len(names):
                    raise _core.DataError(
                        f"row {i}: a row of scale {scale} is ({', '.join(names)}), not {len(row)} values"
                    )
            return [dict(zip(names, row)) for row in rows]
    columns: dict[str, list[Any]] = {}
    for role in _COLUMNS[scale]:
        name = given[role]
        names = _USUAL[role] if name is None else (name,)
        found = next((n for n in names if n in table), None)
        if found is not None:
            columns[role] = table[found]
        elif role != "task" or scale != "pairwise" or given["task"]:
            raise missing_column(role, names[:1], list(table))
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def _set(i: int, row: Mapping[str, Any]) -> tuple[Any, Any, str]:
    label = row["label"]
    if not isinstance(label, (str, bytes)) and isinstance(label, Iterable):
        return row["task"], row["worker"], _PARTS.join(sorted({str(x) for x in label}))
    return row["task"], row["worker"], "" if _empty(label) else str(label)


def _comparison(i: int, row: Mapping[str, Any]) -> tuple[Any, Any, str]:
    a, b, winner = (str(row[k]) for k in ("a", "b", "label"))
    if _empty(row["a"]) or _empty(row["b"]) or a == b:
        raise _core.DataError(f"row {i}: a comparison is of two different things, not of {row['a']!r} and {row['b']!r}")
    verdict = "a" if winner == a else "b" if winner == b else _WINNERS.get(winner)
    if verdict is None:
        raise _core.DataError(f"row {i}: the winner {winner!r} is neither {a!r} nor {b!r}, nor 'a', 'b' or 'tie'")
    task = [str(row["task"])] if "task" in row else []
    return _PARTS.join([*task, a, b]), row["worker"], verdict


def _span(i: int, row: Mapping[str, Any]) -> tuple[Any, Any, str]:
    start, end, label = row["start"], row["end"], row["label"]
    if _empty(start) and _empty(end) and (_empty(label) or label == "O"):
        return f"{row['task']}{_PARTS}{_PARTS}", row["worker"], "O"
    try:
        places = int(start), int(end)
        fine = (
            0 <= places[0] < places[1] and places == (float(start), float(end)) and not _empty(label) and label != "O"
        )
    except (TypeError, ValueError):
        fine = False
    if not fine:
        raise _core.DataError(
            f"row {i}: a span has a start, an end above it and a class, not {start!r}, {end!r} and {label!r}"
        )
    return f"{row['task']}{_PARTS}{places[0]}{_PARTS}{places[1]}", row["worker"], str(label)


_MAKE = {"multi-label": _set, "pairwise": _comparison, "spans": _span}


def shaped(data: Any, scale: str, given: Mapping[str, str | None]) -> tuple[list[Any], list[Any], list[str]]:
    """Columns of tasks, workers and labels."""
    votes = [_MAKE[scale](i, row) for i, row in enumerate(_rows(data, scale, given))]
    if not votes:
        raise _core.DataError("no votes: the table is empty")
    tasks, workers, labels = zip(*votes)
    return list(tasks), list(workers), list(labels)
