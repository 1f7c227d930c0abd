"""Arguments that must be numbers, texts or lists: errors that name the argument and its value."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

from . import _core


def integer(name: str, value: Any, low: int = 0, high: int = 2**31 - 1) -> int:
    """An argument that must be an integer within bounds; 3.0 counts as one."""
    try:
        number = operator.index(int(value) if isinstance(value, float) and value.is_integer() else value)
    except TypeError:
        number = low - 1
    if not low <= number <= high:
        raise _core.OptionError(f"{name}={value!r}: must be an integer from {low} to {high}")
    return number


def real(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """An argument that must be a finite number within bounds."""
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or not low <= number <= high:
        bounds = "" if low == -math.inf else f" from {low:g} to {high:g}" if high < math.inf else f" from {low:g} on"
        raise _core.OptionError(f"{name}={value!r}: must be a number{bounds}")
    return number


def word(name: str, value: Any, example: str = "") -> str:
    """An argument that must be a text."""
    if not isinstance(value, str):
        such = f" such as {example}" if example else ""
        raise TypeError(f"{name}={value!r}: must be a text{such}")
    return value


def listed(name: str, value: Any, of: str) -> list[Any]:
    """An argument that must be a list, not one text."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{name}={value!r}: must be a list of {of}")
    return list(value)


def device_of(device: Any) -> str | None:
    return None if device is None else word("device", device, "'cpu', 'cuda' or 'cuda:1'")
