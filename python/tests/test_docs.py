"""Doctests of the package."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import dissent

MODULES = ["dissent"] + [f"dissent.{m.name}" for m in pkgutil.iter_modules(dissent.__path__) if m.name != "_core"]


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_everything_public_is_described():
    for name in dissent.__all__:
        thing = getattr(dissent, name)
        assert name == "__version__" or (thing.__doc__ and len(thing.__doc__) > 20), name
