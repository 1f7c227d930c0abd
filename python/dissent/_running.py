"""How work is run: its threads, and how far it is."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable
from typing import Any

from . import _core

ProgressLike = bool | Callable[[str, float], object] | None


def whole(name: str, value: Any, low: int = 0, high: int = 2**31 - 1) -> int:
    """An argument that must be a whole number within bounds; 3.0 counts as one."""
    try:
        number = operator.index(int(value) if isinstance(value, float) and value.is_integer() else value)
    except TypeError:
        raise _core.OptionError(f"{name}={value!r}: must be a whole number from {low} to {high}") from None
    if not low <= number <= high:
        raise _core.OptionError(f"{name}={value!r}: must be a whole number from {low} to {high}")
    return number


def threads_of(n_jobs: int | None) -> int:
    """scikit-learn's n_jobs as a number of threads; None and -1 are all cores, for no result depends on it."""
    if n_jobs is None:
        return 0
    n = whole("n_jobs", n_jobs, -(2**31))
    if n == 0:
        raise _core.OptionError("n_jobs=0: pass a number of threads, or -1 for all cores")
    return 0 if n == -1 else n if n > 0 else max(1, (os.cpu_count() or 1) + 1 + n)


def device_of(device: Any) -> str | None:
    """A device by its name."""
    if device is not None and not isinstance(device, str):
        raise TypeError(f"device={device!r}: must be a text such as 'cpu', 'cuda' or 'cuda:1'")
    return device


class _Bar:
    """Progress on one line of standard error; tqdm's bar, which notebooks draw, where tqdm is there."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._what = ""

    def __call__(self, what: str, done: float) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            sys.stderr.write(f"\r{what} {100 * done:3.0f} %" + ("\n" if done >= 1 else ""))
            sys.stderr.flush()
            return
        if self._bar is None or what != self._what:
            self.close()
            self._what = what
            self._bar = tqdm(
                total=100, desc=what, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}", leave=False
            )
        self._bar.n = round(100 * min(done, 1.0))
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def progress_of(progress: ProgressLike) -> Callable[[str, float], object] | None:
    """What is called with a text and a number while the library works."""
    if progress is True:
        return _Bar()
    return progress or None


def end_progress(watcher: object) -> None:
    """Takes a bar off the screen."""
    if isinstance(watcher, _Bar):
        watcher.close()
