"""Doctests of the package."""

from __future__ import annotations

import ast
import doctest
import importlib
import pathlib
import pkgutil
import pydoc
import re

import pytest

import dissent

MODULES = ["dissent"] + [f"dissent.{m.name}" for m in pkgutil.iter_modules(dissent.__path__) if m.name != "_core"]

OPTIONAL = ("dissent.torch", "dissent.plot", "dissent._softtrainer")


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name):
    try:
        module = importlib.import_module(name)
    except ImportError as missing:  # torch, plot and hf need packages that are optional
        assert name in OPTIONAL
        pytest.skip(str(missing))
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_everything_public_is_described():
    for name in dissent.__all__:
        thing = getattr(dissent, name)
        assert name == "__version__" or (thing.__doc__ and len(thing.__doc__) > 20), name


def test_help_is_an_overview_that_names_everything():
    text = pydoc.plain(pydoc.render_doc(dissent))
    assert len(text.splitlines()) < 200
    for name in dissent.__all__:
        assert name == "__version__" or re.search(rf"\b{name}\b", dissent.__doc__ or ""), f"the docstring of __init__.py does not describe {name}"


def test_names_are_exported(tmp_path):
    """`import *` gives all names, although help() leaves them to their own pages."""
    space: dict = {}
    exec("from dissent import *", space)
    assert set(dissent.__all__) <= set(space) | {"__version__"} and set(dissent.__all__) <= set(dir(dissent))
    for module in ("dissent.hf", "dissent.measure", "dissent.aggregation"):
        assert pydoc.render_doc(importlib.import_module(module))


def test_the_stub_names_what_is_there():
    """_core.pyi has every function, class and method of the module, and no other."""
    from dissent import _core

    tree = ast.parse((pathlib.Path(dissent.__file__).parent / "_core.pyi").read_text())
    stub = {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    real = {n for n in dir(_core) if not n.startswith("_")}
    assert set(stub) == real
    for name, node in stub.items():
        if isinstance(node, ast.ClassDef):
            methods = {n.name for n in node.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("__")}
            if not issubclass(getattr(_core, name), Exception):
                assert methods == {n for n in dir(getattr(_core, name)) if not n.startswith("_")}, name


@pytest.mark.parametrize("document", ["README.md", "docs/guides/python.md"])
def test_the_examples_of_the_documents_run(document, tmp_path, monkeypatch, columns):
    pytest.importorskip("pandas")
    text = (pathlib.Path(__file__).resolve().parents[2] / document).read_text()
    blocks = [b for b in re.findall(r"```python\n(.*?)```", text, re.S) if 'read_csv("votes.csv")' in b]
    assert blocks
    rows = "".join(f"{t},{w},{c}\n" for t, w, c in zip(*columns.values()))
    (tmp_path / "votes.csv").write_text("task,worker,label\n" + rows)
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(block, {})
