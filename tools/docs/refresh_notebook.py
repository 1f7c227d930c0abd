#!/usr/bin/env python3
"""Runs a notebook and stores the outputs of its cells, or compares them with the stored ones.

    tools/docs/refresh_notebook.py [--check] docs/tutorials/votes-to-a-model.ipynb

The value of the last expression of a cell is stored as text, and as HTML where it has a table. --check compares the texts:
numbers may differ by a tenth or by .02. Needs the dissent package and what the notebook imports; no Jupyter."""

import argparse
import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]\d+)?")


def run_cell(source, space):
    """What the cell prints, and the value of its last line where that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), space)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), space) if last else None
    return printed.getvalue(), value


def outputs_of(printed, value, count):
    outputs = []
    if printed:
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        html = getattr(value, "_repr_html_", None)
        if html and html():
            data["text/html"] = html().splitlines(True)
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def texts_of(outputs):
    return "\n".join("".join(o.get("text") or o["data"]["text/plain"]) for o in outputs)


def alike(stored, now):
    if re.sub(r"[\s-]+", " ", NUMBER.sub("N", stored)) != re.sub(r"[\s-]+", " ", NUMBER.sub("N", now)):
        return False
    pairs = zip(NUMBER.findall(stored), NUMBER.findall(now))
    return all(abs(float(a) - float(b)) <= max(0.02, abs(float(a)) / 10) for a, b in pairs)


def run_notebook(path):
    """The notebook with fresh outputs, and the sources of cells whose outputs differ from the stored ones."""
    notebook = json.loads(path.read_text())
    space, different, count = {"__name__": "__main__"}, [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        source = "".join(cell["source"])
        outputs = outputs_of(*run_cell(source, space), count)
        if not alike(texts_of(cell["outputs"]), texts_of(outputs)):
            different.append(f"{source}\n--- stored:\n{texts_of(cell['outputs'])}\n--- now:\n{texts_of(outputs)}")
        cell["outputs"], cell["execution_count"] = outputs, count
    return notebook, different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--check", action="store_true", help="compare the outputs and change nothing")
    args = parser.parse_args()
    path = args.notebook.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        notebook, different = run_notebook(path)
        os.chdir("/")
    if args.check:
        print("\n\n".join(different) or "the outputs are those of the notebook")
        return 1 if different else 0
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
