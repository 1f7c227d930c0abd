"""What a model learns from: items of any kind, and what they are to become, matched by task id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._categories import class_list, declared_by
from ._columns import _is_missing, is_pandas
from ._features import Features, check_array, check_finite, column_names, is_sparse
from ._ids import Ids, id_texts
from ._tables import LabelTable, gold_classes, gold_codes, known_labels
from ._votes import Votes


class Rows:
    """X: what the items are, and their ids where they have some."""

    def __init__(self, X: Any, tasks: Any = None) -> None:
        self.pandas = is_pandas(X)
        self.index: Any = X.index if self.pandas else None
        self.bounds: np.ndarray | None = None  # of sentences
        self.n_texts = 1
        self.texts: list[str] = []
        self.array: np.ndarray | None = None
        self._names = column_names(X)
        if is_sparse(X):
            self._parse_array(X.astype(np.float32).toarray())
        elif self.pandas:
            self._parse_pandas(X)
        else:
            self._parse_any(X)
        self.n = len(self.array) if self.array is not None else len(self.texts) // self.n_texts
        given = tasks if tasks is not None else self.index
        self.ids = None if given is None else Ids(given.tolist() if hasattr(given, "tolist") else list(given))
        if self.ids is not None:
            if len(self.ids.ids) != self.n:
                raise _core.DataError(f"X: {len(self.ids.ids)} task ids for {self.n} items")
            twice = self.ids.twice()
            if twice:
                raise _core.DataError(f"X: the task {twice[0]!r} is repeated; item ids must be unique")

    def _parse_pandas(self, X: Any) -> None:
        if X.ndim == 1:
            self._parse_list(X.tolist())
        elif all(getattr(t, "kind", "O") in "biuf" for t in X.dtypes):
            self._parse_array(X.to_numpy())
        else:
            self._parse_list([tuple(row) for row in X.itertuples(index=False, name=None)])

    def _parse_any(self, X: Any) -> None:
        if hasattr(X, "to_pylist"):  # pyarrow
            X = [tuple(row.values()) for row in X.to_pylist()] if hasattr(X, "column_names") else X.to_pylist()
        elif hasattr(X, "columns") and hasattr(X, "rows"):  # polars
            X = X.rows()
        array = np.asarray(X) if hasattr(X, "__array__") else None  # NumPy, PyTorch, polars
        if array is not None and array.dtype.kind == "c":
            raise _core.DataError("X: Complex data not supported; pass real numbers")
        if array is not None and array.dtype.kind in "biuf":
            self._parse_array(array)
        elif array is not None and array.ndim == 1:
            self._parse_list(array.tolist())
        elif isinstance(X, list) and X and isinstance(X[0], tuple) and not any(isinstance(v, str) for v in X[0]):
            self._parse_list([list(row) for row in X])
        else:
            self._parse_list(X)

    def _parse_array(self, X: np.ndarray) -> None:
        if X.ndim == 3:
            X = X[..., np.newaxis]
        check_array(X)
        scale = X.ndim == 4 and X.dtype == np.uint8
        with np.errstate(over="ignore"):
            self.array = np.ascontiguousarray(X, dtype=np.float32)
        check_finite(X, self.array)
        if scale:
            self.array = self.array * (np.float32(1) / np.float32(255))

    def _parse_list(self, X: Any) -> None:
        if isinstance(X, (str, bytes)) or not hasattr(X, "__iter__"):
            raise TypeError("X: a list of texts, an array of numbers, or a Series or DataFrame of either")
        items = X.tolist() if hasattr(X, "tolist") else list(X)
        if not items:
            raise _core.DataError("X: no items")
        first = items[0]
        if isinstance(first, str):
            self.texts = self._all_texts(items)
        elif isinstance(first, tuple) and first and isinstance(first[0], str):
            self.n_texts = len(first)
            for i, item in enumerate(items):
                if not isinstance(item, tuple) or len(item) != self.n_texts:
                    raise _core.DataError(f"X: item {i} is not {self.n_texts} texts, as the first one is")
            self.texts = self._all_texts([t for item in items for t in item])
        elif isinstance(first, list) and first and isinstance(first[0], str):
            for i, item in enumerate(items):
                if not isinstance(item, list) or not item:
                    raise _core.DataError(
                        f"X: item {i} is not a sentence, a list of one token or more, as the first one is"
                    )
            self.bounds = np.cumsum([0, *(len(s) for s in items)]).astype(np.uint64)
            self.texts = self._all_texts([t for s in items for t in s])
        else:
            try:
                self._parse_array(np.asarray(items, dtype=np.float64))
            except (TypeError, ValueError) as e:
                if isinstance(e, _core.DissentError):
                    raise
                raise TypeError(
                    f"X: items are texts, tuples of texts, lists of tokens or numbers, not {type(first).__name__}"
                ) from None

    @staticmethod
    def _all_texts(texts: Sequence[Any]) -> list[str]:
        for i, t in enumerate(texts):
            if not isinstance(t, str):
                what = "missing" if _is_missing(t) else f"a {type(t).__name__}"
                raise _core.DataError(f"X: text {i} (counted from 0) is {what}, not a text")
        return list(texts)

    @property
    def features(self) -> Features:
        """Number and names of the columns of X, where it has columns."""
        matrix = self.array is not None and self.array.ndim == 2
        return Features(self.array.shape[1] if matrix and self.array is not None else None, self._names)

    @property
    def kind(self) -> str:
        if self.array is not None:
            return "images" if self.array.ndim == 4 else "features"
        return "texts" if self.bounds is None else "tokens"

    def keep(self, rows: np.ndarray) -> None:
        """Only these rows from now on."""
        if self.bounds is not None:
            raise _core.DataError("every token needs a label")
        if self.array is not None:
            self.array = np.ascontiguousarray(self.array[rows])
        else:
            m = self.n_texts
            self.texts = [self.texts[i * m + t] for i in rows.tolist() for t in range(m)]
        if self.ids is not None:
            self.ids = Ids([self.ids.ids[i] for i in rows.tolist()])
        self.n = len(rows)

    def items(self, tasks: list[str] | None = None) -> _core.Items:
        if self.array is not None:
            return _core.items_from_array(self.array, self.array.shape, tasks)
        return _core.items_from_texts(self.texts, self.n_texts, tasks, self.bounds)

    def match(self, ids: Ids | None, what: str, n: int) -> np.ndarray:
        """Where each item stands among other ids, -1: nowhere."""
        if ids is None or (self.ids is None and ids.ids == list(range(self.n))):
            if n != self.n:
                raise _core.DataError(f"{what}: {n} rows for the {self.n} items of X")
            return np.arange(self.n)
        if self.ids is None:
            raise _core.DataError(
                f"{what} has task ids and X has none: give fit(..., tasks=ids of X), "
                f"or {what} as an array in the order of X"
            )
        return ids.find_all(self.ids.ids)


class Targets:
    """What the items are to become: soft labels, gold labels, votes, and the classes of all."""

    def __init__(self, soft: LabelTable | None, hard: Any, votes: Votes | None, classes: Sequence[Any] | None) -> None:
        self.soft, self.hard, self.votes = soft, hard, votes
        self.categories = (
            (soft and soft.categories) or (votes and votes.categories) or (None if hard is None else declared_by(hard))
        )
        if classes is not None:
            self.classes = Ids(class_list(classes) or [])
        elif soft is not None:
            self.classes = soft.classes or Ids(range(soft.p.shape[1]))
        elif votes is not None:
            self.classes = Ids(votes.classes.tolist())
        else:
            self.classes = Ids(gold_classes(hard, "y"))

        if self.categories is not None:
            self.categories = self.categories.of_classes(self.classes.ids)

    def class_texts(self) -> list[str]:
        texts = id_texts(self.classes.ids)
        if self.votes is not None:
            class_ids, names = Ids(self.votes.classes.tolist()), self.votes.core.names("label")
            texts = [names[i] if (i := class_ids.find(c)) >= 0 else t for c, t in zip(self.classes.ids, texts)]
        return texts

    def soft_rows(self, rows: Rows) -> np.ndarray | None:
        """(items, classes), NaN where there is no soft label."""
        if self.soft is None:
            return None
        place = rows.match(self.soft.tasks, "y", len(self.soft.p))
        p = np.full((rows.n, len(self.classes.ids)), np.nan)
        have = place >= 0
        p[have] = 0
        columns = range(self.soft.p.shape[1]) if self.soft.classes is None else self.soft.classes.ids
        for k, c in enumerate(columns):
            to = self.classes.find(c)
            if to < 0:
                raise _core.DataError(f"y: the class {c!r} is not among the classes {self.classes.ids}")
            p[have, to] = self.soft.p[place[have], k]
        return p

    def gold_rows(self, rows: Rows, what: str = "y") -> np.ndarray | None:
        if self.hard is None:
            return None
        ids, labels = known_labels(self.hard, what)
        if ids is None or (rows.ids is None and ids == list(range(rows.n))):
            return gold_codes(labels, Ids(range(rows.n)), self.classes, what=what)
        if rows.ids is None:
            rows.match(Ids(ids), what, len(ids))  # says what is missing
        return gold_codes(dict(zip(ids, labels)), rows.ids or Ids(()), self.classes, what=what)


def is_soft(y: Any) -> bool:
    """Whether y is a table of distributions rather than one label per item."""
    if hasattr(y, "result_") or isinstance(y, LabelTable) or type(y).__name__ == "SoftLabels":
        return True
    if is_pandas(y):
        return y.ndim == 2 and not {"task", "label"} >= set(y.columns)
    if hasattr(y, "__array__") and not hasattr(y, "columns"):  # NumPy, PyTorch
        return np.asarray(y).ndim == 2
    if isinstance(y, Mapping):
        return any(isinstance(v, Mapping) for v in y.values()) or any(str(k).startswith("p:") for k in y)
    if isinstance(y, (list, tuple)):
        return (
            bool(y)
            and isinstance(y[0], (list, tuple, np.ndarray))
            and len(y[0]) > 0
            and isinstance(y[0][0], (float, np.floating, np.ndarray))
        )
    return hasattr(y, "columns") or hasattr(y, "column_names")


def flat_labels(y: Any, rows: Rows) -> Any:
    """Labels of sentences, concatenated."""
    if rows.bounds is None or not isinstance(y, (list, tuple)) or not y or isinstance(y[0], (str, int)):
        return y
    sizes = np.diff(rows.bounds.astype(np.int64)).tolist()
    if len(y) != len(sizes):
        raise _core.DataError(f"y: labels of {len(y)} sentences for {len(sizes)}")
    for s, (labels, n) in enumerate(zip(y, sizes)):
        if len(labels) != n:
            raise _core.DataError(f"y: sentence {s} has {n} tokens and {len(labels)} labels")
    if isinstance(y[0], np.ndarray) and y[0].ndim == 2:
        return np.concatenate(y)
    return [label for labels in y for label in labels]
