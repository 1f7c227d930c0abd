"""Ids of tasks, workers and classes: their positions in a list, and their texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


class Ids:
    """Where ids stand: by themselves, else by their texts."""

    def __init__(self, ids: Sequence[Any]) -> None:
        self.ids = list(ids)
        self.place = dict(zip(self.ids, range(len(self.ids))))
        self._texts: dict[str, int] | None = None

    def are_numbers_of_rows(self) -> bool:
        """Whether ids are 0, 1, 2, ..., the default index of pandas."""
        return self.ids == list(range(len(self.ids)))

    def twice(self) -> Any:
        """A repeated id, in a list; None when all differ."""
        if len(self.place) == len(self.ids):
            return None
        seen = set()
        for k in self.ids:
            if k in seen:
                return [k]
            seen.add(k)
        return None

    def find(self, key: Any) -> int:
        """-1: not there."""
        i = self.place.get(key)
        if i is not None:
            return i
        if self._texts is None:
            self._texts = {id_text(k): i for k, i in self.place.items()}
        return self._texts.get(id_text(key), -1)

    def find_all(self, keys: Sequence[Any]) -> np.ndarray:
        """Where each of the keys stands, -1: nowhere."""
        if keys == self.ids:
            return np.arange(len(self.ids))
        try:
            return np.fromiter(map(self.place.__getitem__, keys), dtype=np.int64, count=len(keys))
        except KeyError:
            return np.fromiter(map(self.find, keys), dtype=np.int64, count=len(keys))


def id_text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def id_texts(ids: Iterable[Any]) -> list[str]:
    """Ids as the library's texts, different ones for different ids."""
    ids = list(ids)
    texts = [id_text(k) for k in ids]
    if len(set(texts)) != len(texts) or not all(texts):
        texts = [f"{type(k).__name__} {k!r}" for k in ids]
    return texts


def as_list(values: Any) -> list[Any]:
    """The values of an array, a Series or another sequence as a list."""
    return (
        values.tolist()
        if hasattr(values, "tolist")
        else values.to_list()
        if hasattr(values, "to_list")
        else list(values)
    )
