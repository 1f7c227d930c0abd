"""Messages of the library in Python's words: no option of the command line (--word) and no key of a method that is a
parameter of another name here. The sources are searched for messages; the spelling itself is tested on real errors."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import dissent
from dissent import _estimator

ROOT = Path(__file__).resolve().parents[2]
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# Fields of messages that nothing in Python can cause: MPI ranks, `dissent convert`, labels --save-growing, files of items.
UNREACHABLE = {"anonymise", "control", "gold_columns", "ids", "memory", "min_side", "number_file", "numbers", "object", "dis_incremental_write"}
UNREACHABLE |= {"sentence", "source", "whole"}
# Texts that are not messages: style sheets, and commands of other programs.
# Summaries of presets and scales are spelled when Python asks for them, which is tested below.
NO_MESSAGES = ("page_style.c", "tokenizer_config.c", "text_format.h", "presets.c", "scales.c")


def literals() -> Iterator[tuple[Path, str]]:
    """Texts of the C sources, those that stand one after the other joined."""
    for folder, pattern in (("src", "*.[ch]"), ("src", "*.cu"), ("python/core", "*.[ch]")):
        for path in sorted((ROOT / folder).rglob(pattern)):
            code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            code = re.sub(r'(?<!\\)"\s*\n\s*"', "", code)
            for found in LITERAL.finditer(code):
                yield path, found.group(0)


def parameters() -> set[str]:
    """All parameters of the public classes, their methods, and functions."""
    names: set[str] = set()
    for module in (dissent, dissent.experiment, dissent.measure):
        for thing in (getattr(module, name) for name in dir(module) if not name.startswith("_")):
            members = [getattr(thing, m) for m in dir(thing) if not m.startswith("_")] if inspect.isclass(thing) else []
            for function in [thing, *members]:
                try:
                    names |= set(inspect.signature(function).parameters) if callable(function) else set()
                except ValueError:
                    pass
    return names


def renamed() -> dict[str, str]:
    """The table of fields that have another name in Python."""
    table = re.search(r"\} arguments\[\] = \{(.*?)\};", (ROOT / "python/core/py_call.c").read_text(), flags=re.DOTALL)
    assert table
    return dict(re.findall(r'\{"(\w+)", "([\w ]+)",', table.group(1)))


needs_sources = pytest.mark.skipif(not (ROOT / "src").is_dir(), reason="the sources of the library are not here")


@needs_sources
def test_no_message_of_the_library_has_an_option_of_the_command_line():
    found = [
        (path.name, text)
        for path, text in literals()
        if path.name not in NO_MESSAGES and re.search(r"(?<![\w-])--[a-z]", text) and "<!--" not in text
    ]
    assert found == []


@needs_sources
def test_every_field_that_a_message_names_is_a_parameter():
    known, other = parameters(), renamed()
    fields: dict[str, str] = {}
    for path, text in literals():
        if "soft_label" not in text:  # the README of an export, in Markdown
            fields.update(dict.fromkeys(re.findall(r"(?<![\w`])`([a-z_]+)`", text), f"{path.name}: {text}"))
    assert len(fields) > 30
    unknown = {f: where for f, where in fields.items() if not set(other.get(f, f).split(" and ")) <= known and f not in UNREACHABLE}
    assert unknown == {}


@needs_sources
def test_keys_in_messages_about_methods_are_options_of_methods():
    keys = {option["key"] for row in dissent._base.METHODS.values() for option in row["options"]}
    keys |= {option["key"] for row in dissent._base.COMBINERS.values() for option in row["options"]}
    for path, text in literals():
        if "src/labels" in path.as_posix():
            assert set(re.findall(r"\b([a-z-]+)=(?:N|X)\b", text)) <= keys, (path, text)


def test_lists_of_what_there_is_have_no_options_of_the_command_line():
    lists = (dissent.presets, dissent.scales, dissent.metrics, dissent.agreement_measures, dissent.objectives, dissent.models)
    for function in lists:
        assert "--" not in str(function()), function.__name__


CLASSES = [getattr(dissent, n) for n in (*dissent.aggregation.__all__, *dissent.combination.__all__)]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_options_of_methods_are_named_as_parameters(cls):
    signature = inspect.signature(cls).parameters
    assert set(cls._options) <= set(signature)
    for name, option in cls._options.items():
        assert _estimator.in_python(f"method {cls._method}: {option}=3: too much (other-{option}=N)", cls).startswith(f"{name}=3: ")


def test_warnings_name_parameters(crowd):
    tasks, workers, labels, _ = crowd
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dissent.DawidSkene(n_iter=1).fit((tasks, workers, labels))
    texts = [str(w.message) for w in caught if "did not converge" in str(w.message)]
    assert texts and "n_iter=N" in texts[0] and "tol=X" in texts[0] and "iterations=" not in texts[0]


FILES = {
    "a missing label": ("b.csv", "task,worker,label\n1,a,\n", {}, "na"),
    "not in the classes": ("c.csv", "task,worker,label\n1,a,x\n", {"classes": ["y"]}, "classes"),
    "a vote twice": ("d.csv", "task,worker,label\n1,a,x\n1,a,y\n", {}, "duplicates"),
    "no such column": ("e.csv", "task,worker,label\n1,a,x\n", {"label": "nope"}, "label"),
    "a list of labels": ("f.jsonl", '{"task": 1, "worker": "a", "label": ["x", "y"]}\n', {}, r'several="all"'),
    "sums of soft labels": ("g.csv", "task,p:a,p:b\n1,0.5,0.6\n", {"input": "soft"}, "renormalise=True"),
}


@pytest.mark.parametrize("name, text, options, match", FILES.values(), ids=FILES.keys())
def test_errors_about_files_name_arguments(tmp_path, name, text, options, match):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(dissent.DissentError, match=match) as caught:
        dissent.read_votes(path, **options)
    assert " --" not in str(caught.value) and "`" not in str(caught.value)
