"""Experiments: a table of conditions from one YAML file, as ``dissent experiment`` runs them (docs/guides/experiments.md).

Results are stored in a folder, the store. Nothing is computed twice, and the command line and Python can share one.
Experiments need a build with libyaml and SQLite; without them, every function fails with an error.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._figures import Table
from ._measuring import Watching
from ._running import ProgressLike, threads_of

__all__ = ["merge", "report", "run", "status", "table"]

_Path = str | os.PathLike[str]


def _where(
    file: _Path, store: _Path | None, data: _Path | None, filters: Sequence[str] | str
) -> tuple[str, dict[str, Any]]:
    return os.fspath(file), {
        "store": None if store is None else os.fspath(store),
        "data_folder": None if data is None else os.fspath(data),
        "filters": [filters] if isinstance(filters, str) else list(filters),
    }


def _table(rows: list[dict[str, Any]], names: Sequence[str]) -> Table:
    """Columns of rows; None becomes NaN in columns of numbers."""
    columns: dict[str, Any] = {}
    for name in names:
        values = [r[name] for r in rows]
        if any(isinstance(v, float) for v in values) or all(v is None for v in values):
            columns[name] = np.array([np.nan if v is None else v for v in values], dtype=np.float64)
        elif all(isinstance(v, (int, bool)) for v in values):
            columns[name] = np.array(values)
        else:
            columns[name] = np.empty(len(values), dtype=object)
            columns[name][:] = values
    return Table(columns)


def run(
    file: _Path,
    *,
    store: _Path | None = None,
    data: _Path | None = None,
    filters: Sequence[str] | str = (),
    jobs: int = 0,
    retry_failed: bool = False,
    device: str = "cpu",
    precision: str = "auto",
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> dict[str, Any]:
    """Executes the missing runs of an experiment; Ctrl-C keeps the completed ones.

    Parameters
    ----------
    file : path
        The YAML file.
    store : path, optional
        Folder of the results; None: NAME.results here, for NAME.yaml.
    data : path, optional
        Folder of relative data paths.
    filters : list of str
        Only some runs: part of a cell's name, or KEY=VALUE (a setting, cell, data, fold, seed). "seed=8..19" is twelve
        seeds; several of one KEY are alternatives.
    jobs : int
        Parallel runs; 0: as many as threads.
    retry_failed : bool
        Try again what failed earlier.
    device, precision : str
        Where models run, "cpu", "cuda", "cuda:N" or "auto", and in what: "auto", "float32" or "bf16". Runs of another
        device or precision are other runs.

    Returns how many runs there are (total), are done, failed, and were computed now, and the seconds it took. A run
    that fails does not stop the others; the first failure is raised at the end.
    """
    path, where = _where(file, store, data, filters)
    with Watching(n_jobs, progress) as watching:
        return _core.experiment_run(
            path, **where, jobs=jobs, retry_failed=retry_failed, device=device, precision=precision, **watching
        )


def table(
    file: _Path,
    *,
    store: _Path | None = None,
    data: _Path | None = None,
    filters: Sequence[str] | str = (),
    n_jobs: int | None = None,
) -> Table:
    """The table of an experiment: one row per cell and measure.

    Columns: cell, data, set, metric, n (seeds), mean, sd, published, stars, best, runs_done and seeds (values of single
    seeds). ci_low and ci_high are a 95 % interval (Student's t over seeds). difference and p compare with the baseline
    by the paired bootstrap.
    """
    path, where = _where(file, store, data, filters)
    rows = _core.experiment_table(path, **where, threads=threads_of(n_jobs))
    names = (
        "cell",
        "data",
        "set",
        "metric",
        "n",
        "mean",
        "sd",
        "ci_low",
        "ci_high",
        "published",
        "difference",
        "p",
        "stars",
        "best",
    )
    return _table(rows, (*names, "runs_done", "seeds"))


def status(
    file: _Path, *, store: _Path | None = None, data: _Path | None = None, filters: Sequence[str] | str = ()
) -> Table:
    """One row per run: cell, fold, seed, key, and state: missing, running, done or failed."""
    path, where = _where(file, store, data, filters)
    return _table(_core.experiment_states(path, **where, threads=1), ("cell", "fold", "seed", "key", "state"))


def report(
    file: _Path,
    output: _Path,
    *,
    store: _Path | None = None,
    data: _Path | None = None,
    filters: Sequence[str] | str = (),
    n_jobs: int | None = None,
) -> None:
    """Writes one HTML page of an experiment: the table, metrics over seeds, training curves, and differences between conditions."""
    path, where = _where(file, store, data, filters)
    _core.experiment_report(path, **where, output=os.fspath(output), threads=threads_of(n_jobs))


def merge(into: _Path, *stores: _Path) -> dict[str, int]:
    """Joins stores made on several machines: runs of ``stores`` into the store ``into``, which is created if it is
    missing.

    Returns how many runs were ``added``, already ``known``, known with other metrics (``differ``; the known ones are kept),
    and not done yet (``waiting``).
    """
    return _core.experiment_merge(os.fspath(into), [os.fspath(s) for s in stores])
