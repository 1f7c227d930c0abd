"""The command line tool of the same build, where there is one: its answers must be the package's, to the last bit."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import pytest

from dissent import _core

TOOL = Path(_core.__file__).resolve().parents[2] / "dissent"
needs_tool = pytest.mark.skipif(not TOOL.is_file(), reason="the command line tool was not built beside the package")


def run(*arguments: object) -> str:
    done = subprocess.run([str(TOOL), *map(str, arguments), "-q"], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def summary(folder: Path, *arguments: object) -> dict:
    """What --json says."""
    path = folder / "summary.json"
    run(*arguments, "--json", path)
    return json.loads(path.read_text())


def put_csv(path: Path, header: list[str], rows: list) -> Path:
    with path.open("w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def same_metrics(ours: dict, theirs: dict) -> None:
    """Metrics of to_dict() and of the JSON, bit for bit."""
    assert set(theirs) <= set(ours)
    for name, m in theirs.items():
        for key in ("value", "ci_low", "ci_high", "n"):
            value = m.get(key)
            assert ours[name].get(key) == (float(value) if value == "inf" else value), (name, key)
        assert ours[name].get("reason") == m.get("reason")
