"""Docstrings of estimators, from the library's own tables: what a method does, where it comes from, what its options
mean."""

from __future__ import annotations

import inspect
from typing import Any

COMMON = {
    "n_jobs": "Number of threads; None or -1: all cores. Results do not depend on it.",
    "device": "Device of the passes over the votes: cpu, cuda, cuda:N, or auto (a CUDA device if available).",
    "progress": "True shows a progress bar; a function is called with a text and a share from 0 to 1.",
    "random_state": "Random seed: an integer, a NumPy generator, or None for a new seed in every call.",
}


def describe(cls: Any, row: dict[str, Any], own: dict[str, str], see: str = "") -> None:
    """Writes the docstring of a class: its own text, the row of its method, its parameters."""
    options = {o["key"]: o for o in row["options"]}
    summary = row["summary"][0].upper() + row["summary"][1:]
    parts = [f"{summary} ({row['source']}).", ""]
    if row.get("objective", "none") != "none":
        parts += [f"Objective: {row['objective']}. It never decreases between iterations.", ""]
    if cls.__doc__:
        parts += [inspect.cleandoc(cls.__doc__), ""]
    parameters = [p for n, p in inspect.signature(cls).parameters.items() if n != "self"]
    if parameters:
        parts += ["Parameters", "----------"]
    for p in parameters:
        option = options.get(cls._options.get(p.name, ""))
        text = own.get(p.name) or (option and option["summary"]) or COMMON.get(p.name, "")
        parts += [f"{p.name} : default {p.default!r}", f"    {text[0].upper() + text[1:]}" if text else ""]
    cls.__doc__ = "\n".join(parts).rstrip() + "\n"
