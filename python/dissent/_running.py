"""How work is run: its threads, and how far it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from . import _core
from ._checks import integer

ProgressLike = bool | Callable[[str, float], object] | None


def threads_of(n_jobs: int | None) -> int:
    """scikit-learn's n_jobs as a number of threads; None and -1 are all cores, for no result depends on it."""
    if n_jobs is None:
        return 0
    n = integer("n_jobs", n_jobs, -(2**31))
    if n == 0:
        raise _core.OptionError("n_jobs=0: pass a number of threads, or -1 for all cores")
    return 0 if n == -1 else n if n > 0 else max(1, (os.cpu_count() or 1) + 1 + n)


class _Bar:
    """Progress on one line of standard error; tqdm's bar, which notebooks draw, if tqdm is installed."""

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
