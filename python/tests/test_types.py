"""The package fits its own types and those that _core.pyi declares."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]


def test_mypy(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "--config-file", str(SOURCE / "pyproject.toml"), str(SOURCE / "python/dissent")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
