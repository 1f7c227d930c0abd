"""What all estimators share: the conventions of scikit-learn, pickling, seeds and specs."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from . import _core
from ._checks import integer

T = TypeVar("T", bound="Estimator")


class NotFittedError(ValueError, AttributeError):
    """An estimator was used before fit(). If scikit-learn is loaded, its exception of this name is raised as well."""


def not_fitted(message: str) -> AttributeError:
    """The exception for an estimator that is not fitted: also scikit-learn's, if that is loaded."""
    theirs = sys.modules.get("sklearn.exceptions")
    if theirs is None:
        return NotFittedError(message)
    return type("NotFittedError", (NotFittedError, theirs.NotFittedError), {})(message)


def warning_class(name: str) -> type[Warning]:
    """A class of scikit-learn's warnings, if that is loaded; otherwise UserWarning."""
    return getattr(sys.modules.get("sklearn.exceptions"), name, UserWarning)


class FitWarning(UserWarning):
    """Suspicious labels: iterations that did not converge, a frequent class of votes without labels, labels without a
    vote."""


class Estimator:
    """Parameters as in scikit-learn: those of __init__, stored under their names and checked by fit."""

    @classmethod
    def _parameters(cls) -> dict[str, inspect.Parameter]:
        return {k: p for k, p in inspect.signature(cls).parameters.items() if p.kind is not p.VAR_KEYWORD}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; deep adds those of nested estimators as NAME__PARAMETER."""
        params = {name: getattr(self, name) for name in self._parameters()}
        if deep:
            nested = {k: v for k, v in params.items() if hasattr(v, "get_params") and not isinstance(v, type)}
            for name, value in nested.items():
                params.update({f"{name}__{key}": v for key, v in value.get_params().items()})
        return params

    def set_params(self: T, **params: Any) -> T:
        """Sets parameters by name, those of nested estimators as NAME__PARAMETER."""
        known = self._parameters()
        nested: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            first, _, rest = name.partition("__")
            if (rest and first or name) not in known:
                raise _core.OptionError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}")
            if rest:
                nested.setdefault(first, {})[rest] = value
            else:
                setattr(self, name, value)
        for name, values in nested.items():
            estimator = getattr(self, name)
            if not hasattr(estimator, "set_params"):
                raise _core.OptionError(f"{type(self).__name__}: {name}={estimator!r} has no parameters of its own")
            estimator.set_params(**values)
        return self

    def clone(self: T) -> T:
        """A new estimator with the same parameters that is not fitted."""
        copies = {k: v.clone() if isinstance(v, Estimator) else v for k, v in self.get_params(deep=False).items()}
        return type(self)(**copies)

    def __sklearn_clone__(self: T) -> T:
        return self.clone()

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Any:
        """Tags of an estimator whose X is a table of votes; scikit-learn's checks of arrays do not apply."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False),
            no_validation=True,
            _skip_test=True,
        )

    def _is_fitted(self) -> bool:
        return False

    def _not_fitted(self) -> AttributeError:
        return not_fitted(f"this {type(self).__name__} instance is not fitted yet: call fit() first")

    def __repr__(self) -> str:
        given = []
        for name, p in self._parameters().items():
            value = getattr(self, name)
            if not (value is p.default or (type(value) is type(p.default) and bool(np.all(value == p.default)))):
                given.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(given)})"

    def __getstate__(self) -> dict[str, Any]:
        """Parameters, and what was fitted; for pickle, copy.deepcopy and joblib."""
        return {"params": self.get_params(deep=False), "fitted": self._fitted_state() if self._is_fitted() else None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["params"])  # type: ignore[misc]
        if state["fitted"] is not None:
            self._restore_fitted(state["fitted"])

    def _fitted_state(self) -> Any:
        raise NotImplementedError

    def _restore_fitted(self, state: Any) -> None:
        raise NotImplementedError


def in_python(text: str, estimator: Any) -> str:
    """A message of the library about a method, with the Python names of its class and parameters instead of those of
    the command line."""
    text = re.sub(r"^(?:method|combination) [\w-]+: ", "", text)
    for name, option in estimator._options.items():
        text = re.sub(rf"(?<![\w-]){re.escape(option)}(?==)", name, text)
    return text


@contextmanager
def named_in_python(estimator: Any) -> Iterator[None]:
    """Errors of the library about the options of a method, under the names of its class and parameters."""
    try:
        yield
    except _core.OptionError as error:
        text = in_python(str(error), estimator)
        raise _core.OptionError(text if text == str(error) else f"{type(estimator).__name__}: {text}") from None


def seed_of(seed: Any) -> int:
    """A random_state as the library's seed."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if hasattr(seed, "integers"):
        return int(seed.integers(2**63))
    if hasattr(seed, "randint"):
        return int(seed.randint(2**31 - 1))
    return integer("random_state", seed, 0, 2**64 - 1)


def spec_of(name: str, options: Mapping[str, Any]) -> str:
    """NAME:key=value,... as the library and the command line take it."""

    def text(key: str, value: Any) -> str:
        if isinstance(value, bool):
            return str(int(value))
        if isinstance(value, (int, np.integer)):
            return str(int(value))
        if isinstance(value, (float, np.floating)):
            return repr(float(value))
        if isinstance(value, str):
            if not value.replace("-", "").replace("_", "").isalnum():
                raise _core.OptionError(f"method {name}: {key}={value!r}: not a possible value")
            return value
        if isinstance(value, (list, tuple, np.ndarray)) and len(value):
            return "/".join(repr(float(x)) for x in value)
        raise _core.OptionError(f"method {name}: {key}={value!r}: not a possible value")

    given = ",".join(f"{key}={text(key, value)}" for key, value in options.items() if value is not None)
    return f"{name}:{given}" if given else name
