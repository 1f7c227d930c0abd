"""The Python blocks of guides, concepts, evidence and reference pages run in order, each page in a folder with the files of
tests/cli/support/page_files.sh."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess

import pytest

import dissent

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(dissent.__file__).absolute().parents[2] / "dissent"  # links to the sources are not followed
# pytorch.md: test_examples.py, which also compares its losses with the library.
PAGES = [
    page.relative_to(ROOT).as_posix()
    for folder in ("guides", "concepts", "evidence", "reference")
    for page in sorted((ROOT / "docs" / folder).glob("*.md"))
    if page.name != "pytorch.md" and "```python\n" in page.read_text()
]
FILES = 'source=$1\n. "$source/tests/cli/support/page_files.sh"\ncommon_files\npage_files "$2" || true\n'


def test_there_are_pages():
    assert len(PAGES) >= 4 and TOOL.name == "dissent"


@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path, monkeypatch):
    if not TOOL.exists():
        pytest.skip("the command line tool is not next to the package")
    text = (ROOT / page).read_text()
    for module in ("datasets", "matplotlib", "pandas", "polars", "torch", "transformers", "trl"):
        if re.search(rf"^import {module}\b", text, re.M):
            pytest.importorskip(module)
    environment = {**os.environ, "PATH": f"{TOOL.parent}{os.pathsep}{os.environ['PATH']}"}
    command = ["sh", "-eu", "-c", FILES, "files", str(ROOT), pathlib.Path(page).stem]
    subprocess.run(command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, check=True)
    monkeypatch.chdir(tmp_path)
    space: dict = {"__name__": "__main__"}
    for i, block in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)):
        exec(compile(block, f"{page}, block {i + 1}", "exec"), space)
