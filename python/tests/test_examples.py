"""The examples, the notebook and the code of the manual run as they stand."""

from __future__ import annotations

import ast
import json
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


def needs(path: Path) -> None:
    """Skips where something that the code imports is not installed."""
    for name in re.findall(r"^(?:import|from) (\w+)", path.read_text(), re.MULTILINE):
        pytest.importorskip(name, reason=f"{name} is not installed")


def run_code(source: str, where: str, space: dict) -> object:
    """Runs statements; the value of a last line that is an expression, as notebooks show it."""
    tree = ast.parse(source, where)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), space)
    return eval(compile(ast.Expression(last.value), where, "eval"), space) if last else None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_example(path, tmp_path, monkeypatch, capsys):
    needs(path)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "examples" / "python" / "tour.ipynb").read_text())
    space: dict = {"__name__": "__main__"}
    shown = []
    for i, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None  # kept without outputs
        value = run_code("".join(cell["source"]), f"cell {i}", space)
        html = getattr(value, "_repr_html_", None)
        shown.append(html() if html else repr(value))
    assert len(shown) > 10 and sum("<table" in s for s in shown) >= 7


def test_there_are_five_notebooks():
    assert {p.stem for p in NOTEBOOKS} >= {"votes-to-a-model", "images", "ratings", "judges", "perspectives"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebooks_of_the_tutorials_have_their_outputs(path, tmp_path, monkeypatch):
    source = json.loads(path.read_text())
    code = "".join("".join(cell["source"]) for cell in source["cells"] if cell["cell_type"] == "code")
    for name in set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)) | {"matplotlib"} - {"dissent"}:
        pytest.importorskip(name, reason=f"{name} is not installed")
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "docs"))
    from refresh_notebook import run_notebook

    notebook, different = run_notebook(path)
    assert not different, "\n\n".join(different)
    assert sum(bool(cell.get("outputs")) for cell in notebook["cells"]) >= 6
    pictures = ["image/png" in o.get("data", {}) for cell in source["cells"] for o in cell.get("outputs", [])]
    assert sum(pictures) == {"images.ipynb": 3, "ratings.ipynb": 1}.get(path.name, 0)
    assert code.startswith("%pip install -q dissent-labels ")


def test_badges_of_notebooks(monkeypatch, tmp_path):
    """A badge for Colab needs the address of the repository, and is not added twice."""
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "docs"))
    import refresh_notebook

    monkeypatch.setattr(refresh_notebook, "ROOT", tmp_path)
    monkeypatch.delenv("DISSENT_REPOSITORY_URL", raising=False)
    assert refresh_notebook.badge_of(tmp_path / "docs" / "a.ipynb") is None
    monkeypatch.setenv("DISSENT_REPOSITORY_URL", "https://github.com/me/it.git")
    badge = refresh_notebook.badge_of(tmp_path / "docs" / "a.ipynb")
    assert badge.endswith("(https://colab.research.google.com/github/me/it/blob/main/docs/a.ipynb)")
    notebook = {"cells": [{"source": ["# Title\n", "\n", "Text."]}]}
    for put in (badge, badge, None):
        refresh_notebook.put_badge(notebook, put)
        assert "".join(notebook["cells"][0]["source"]) == "# Title\n\n" + (f"{put}\n\n" if put else "") + "Text."


@pytest.mark.parametrize("page", ["pytorch.md"])
def test_page(page, tmp_path, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "guides" / page).read_text(), re.MULTILINE | re.DOTALL)
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(tmp_path)
    space: dict = {"__name__": "__main__"}
    for i, block in enumerate(blocks):
        run_code(block, f"{page}, block {i + 1}", space)
    assert space["two"].soft.weight.grad.abs().sum() > 0 and space["crowd"].matrix.grad.abs().sum() > 0
    assert space["result"].kl >= 0
    check_losses(torch)


def check_losses(torch) -> None:
    """The losses are the metrics of the library."""
    import numpy as np

    import dissent.torch

    rng = np.random.default_rng(0)
    z = torch.tensor(rng.normal(size=(40, 3)), requires_grad=True)
    p = rng.dirichlet([2, 2, 2], size=40)
    e = dissent.evaluate(torch.softmax(z.detach(), -1).numpy(), human=p, resamples=0)
    for name, metric in (("soft-ce", "cross_entropy"), ("kl", "kl"), ("inverse-kl", "inverse_kl"), ("js", "jsd")):
        loss = dissent.torch.loss(name)(z, torch.from_numpy(p))
        assert abs(loss.item() - e[metric].value) < 1e-9, name
        assert torch.autograd.grad(loss, z)[0].abs().sum() > 0
    assert abs(dissent.torch.InverseKLLoss()(z, torch.eye(3).double()[[0] * 40]).item()) < 20
