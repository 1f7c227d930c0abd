"""Texts of the items, shown with their ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _core
from ._ids import Ids
from ._tables import known_labels


def item_texts(texts: Any, tasks: Ids) -> list[str]:
    """One text per task, empty if it is missing. texts: by task (a dict, a Series), columns task and text, or a list
    in the order of the tasks."""
    columns = texts if isinstance(texts, Mapping) else getattr(texts, "columns", getattr(texts, "column_names", ()))
    if "task" in columns and "text" in columns:
        texts = {"task": _values(texts["task"]), "label": _values(texts["text"])}
    ids, known_texts = known_labels(texts, "texts")
    if ids is None:
        if len(known_texts) != len(tasks.ids):
            raise _core.DataError(f"texts: {len(known_texts)} texts without task ids for {len(tasks.ids)} tasks")
        return ["" if s is None else str(s) for s in known_texts]
    found = [""] * len(tasks.ids)
    for place, s in zip(tasks.find_all(ids).tolist(), known_texts):
        if place >= 0 and s is not None:
            found[place] = str(s)
    return found


def _values(column: Any) -> list[Any]:
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)
