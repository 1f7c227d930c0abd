"""The rules of scikit-learn for X and y: number and names of features, finite values, classes as targets."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _core
from ._columns import is_pandas
from ._estimator import warning_class


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy."""
    return hasattr(X, "toarray") and hasattr(X, "nnz")


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a table of pandas, polars or pyarrow, if all are texts."""
    if is_pandas(X):
        names = list(X.columns) if X.ndim == 2 else []
    elif hasattr(X, "column_names"):
        names = list(X.column_names)
    elif hasattr(X, "columns") and hasattr(X, "rows"):
        names = list(X.columns)
    else:
        return None
    return names if names and all(isinstance(name, str) for name in names) else None


def check_array(array: np.ndarray) -> None:
    """Fails for a shape that is neither features nor images, and for values that are not finite."""
    if array.ndim < 2:
        raise _core.DataError(
            f"X: expected a 2D array (items, features), got the shape {array.shape}. Reshape your data: "
            "X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one item"
        )
    if array.ndim == 2 and array.shape[0] and not array.shape[1]:
        raise _core.DataError(f"X: 0 feature(s) (shape={array.shape}) while a minimum of 1 is required; pass a column")
    if array.ndim == 2 and not array.shape[0]:
        raise _core.DataError(f"X: 0 sample(s) (shape={array.shape}) while a minimum of 1 is required; pass an item")
    if array.ndim not in (2, 4) or 0 in array.shape:
        raise _core.DataError(
            f"X: features are (items, numbers) and images (items, height, width[, channels]), not {array.shape}"
        )


def check_finite(given: np.ndarray, array: np.ndarray) -> None:
    """Fails for values of `given` that are not finite in `array`, the same as 32-bit floats."""
    if array.dtype.kind != "f" or np.isfinite(array.sum(dtype=np.float64)):
        return
    bad = ~np.isfinite(array)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        value = "NaN" if np.isnan(array[at]) else "inf, infinity or a value too large for 32-bit floats"
        raise _core.DataError(
            f"X: item {at[0]} (counted from 0) has {value} in column {at[1]} ({given[at]}); fill in a number, or leave "
            "such items out"
        )


class Features:
    """Number and names of the features that an estimator was fitted with."""

    def __init__(self, n: int | None = None, names: list[str] | None = None) -> None:
        self.n, self.names = n, names

    def check(self, other: Features, estimator: str) -> None:
        """Fails if the features of `other` differ from those of fit()."""
        if self.names is not None and other.names is not None and self.names != other.names:
            raise _core.DataError(self._difference(other.names))
        if (self.names is None) != (other.names is None) and self.n is not None:
            which = ("has feature names", "without") if self.names is None else ("does not have valid feature names", "with")
            warnings.warn(f"X {which[0]}, but {estimator} was fitted {which[1]} feature names", UserWarning, stacklevel=4)
        if self.n is not None and other.n is not None and self.n != other.n:
            raise _core.DataError(f"X has {other.n} features, but {estimator} is expecting {self.n} features as input")

    def _difference(self, names: list[str]) -> str:
        known, given = set(self.names or ()), set(names)

        def listed(title: str, some: list[str]) -> str:
            rest = ["- ..."] if len(some) > 5 else []
            return "\n".join([f"{title}:", *(f"- {name}" for name in some[:5]), *rest, ""]) if some else ""

        text = listed("Feature names unseen at fit time", sorted(given - known))
        text += listed("Feature names seen at fit time, yet now missing", sorted(known - given))
        text = text or "Feature names must be in the same order as they were in fit.\n"
        return f"The feature names should match those that were passed during fit.\n{text}"


def as_column(y: Any) -> Any:
    """y with one column as one label per item, with scikit-learn's warning; everything else unchanged."""
    if not hasattr(y, "__array__") or hasattr(y, "columns") or hasattr(y, "result_") or hasattr(y, "classes"):
        return y
    array = np.asarray(y)
    if array.ndim != 2 or array.shape[1] != 1:
        return y
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; its one column is used as the labels",
        warning_class("DataConversionWarning"),
        stacklevel=4,
    )
    return array[:, 0]


def check_classes(labels: list[Any], declared: Any) -> None:
    """Fails for targets of a regression: fractions and values that are not finite, unless classes= declares them."""
    known = set() if declared is None else set(declared)
    for label in labels:
        if isinstance(label, (float, np.floating)) and label not in known and not float(label).is_integer():
            if not np.isfinite(label):
                raise _core.DataError(f"y contains {label} (inf or NaN), which is not a class")
            raise _core.DataError(
                f"Unknown label type: continuous. y has the value {label!r}; a classifier learns classes. Pass classes= "
                "if such numbers are classes, or soft labels (items, classes)"
            )


def item_weights(weights: Any, n: int) -> np.ndarray | None:
    """sample_weight as an array of n numbers."""
    if weights is None:
        return None
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise _core.DataError("sample_weight: a number per item of X, 0 or more") from None
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise _core.DataError(f"sample_weight.shape == {array.shape}, expected {(n,)}: a number per item of X")
    return np.ascontiguousarray(array)
