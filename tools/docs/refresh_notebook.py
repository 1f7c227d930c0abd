#!/usr/bin/env python3
"""Runs notebooks and stores the outputs of their cells, or compares them with the stored ones.

    tools/docs/refresh_notebook.py [--check] docs/tutorials/*.ipynb

The value of the last expression of a cell is stored as text, as HTML if it has a table, and as PNG if it is a figure.
--check compares the texts: numbers may differ by a tenth or by .02. Lines that begin with % are commands of Jupyter and are not
executed. The first cell gets a badge that opens the notebook in Colab, if DISSENT_REPOSITORY_URL is the address of the
repository on GitHub; --badges changes nothing else. Needs the dissent package and what the notebook imports; no Jupyter."""

import argparse
import ast
import base64
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]\d+)?")


def run_cell(source, space):
    """What the cell prints, and the value of its last line where that is an expression."""
    tree = ast.parse(re.sub(r"(?m)^%.*$", "", source))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), space)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), space) if last else None
    return printed.getvalue(), value


def picture_of(value):
    """A figure of matplotlib as PNG, in Base64."""
    figure = getattr(value, "figure", value)
    if not hasattr(figure, "savefig"):
        return None
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=80, bbox_inches="tight", metadata={"Software": None})
    return base64.b64encode(file.getvalue()).decode() + "\n"


def outputs_of(printed, value, count):
    outputs = []
    if printed:
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.splitlines(True)})
    if value is not None:
        picture = picture_of(value)
        data = {"text/plain": ["<Figure>"] if picture else repr(value).splitlines(True)}
        if picture:
            data["image/png"] = picture
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


def badge_of(path):
    """The line that opens the notebook in Colab; None while the repository has no address."""
    found = re.match(r"https://github\.com/([^/]+/[^/]+?)(?:\.git)?/?$", os.environ.get("DISSENT_REPOSITORY_URL", ""))
    if not found:
        return None
    address = f"https://colab.research.google.com/github/{found.group(1)}/blob/main/{path.relative_to(ROOT).as_posix()}"
    return f"[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({address})"


def put_badge(notebook, badge):
    lines = [line for line in "".join(notebook["cells"][0]["source"]).split("\n") if "colab-badge" not in line]
    if badge:
        lines[1:1] = ["", badge]
    notebook["cells"][0]["source"] = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).splitlines(True)


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
    parser.add_argument("notebooks", type=Path, nargs="+")
    parser.add_argument("--check", action="store_true", help="compare the outputs and change nothing")
    parser.add_argument("--badges", action="store_true", help="only write the badges")
    args = parser.parse_args()
    failed = False
    for path in [p.resolve() for p in args.notebooks]:
        if args.badges:
            notebook = json.loads(path.read_text())
            put_badge(notebook, badge_of(path))
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            os.chdir(scratch)
            notebook, different = run_notebook(path)
            os.chdir("/")
        if args.check:
            print(f"{path.name}:", "\n\n".join(different) or "the outputs are those of the notebook")
            failed = failed or bool(different)
            continue
        put_badge(notebook, badge_of(path))
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
