"""Judge: the same figures as the command line, certificates that are read back, drift, samples, mistakes."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest

import dissent
from dissent import Judge


def crowd(seed, accuracy=0.85, n=240, people=8, first=0, labelled=None, repeat=0.0):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        truth = rng.integers(3)
        for w in range(3 if labelled is None or i < labelled else 0):
            rows.append((f"t{first + i}", f"p{(i + w) % people}", int(truth if rng.random() < 0.8 else rng.integers(3))))
        for _ in range(2 if rng.random() < repeat else 1):
            rows.append((f"t{first + i}", "gpt", int(truth if rng.random() < accuracy else rng.integers(3))))
    return rows


def test_same_figures_as_the_tool(tmp_path):
    tool = os.environ.get("DISSENT")
    if not tool:
        pytest.skip("DISSENT does not name the tool")
    rows = crowd(1, repeat=0.3)
    (tmp_path / "votes.csv").write_text("task,worker,label\n" + "".join(f"{t},{w},{k}\n" for t, w, k in rows))
    subprocess.run(
        [tool, "judge", "certify", "votes.csv", "--judge", "gpt", "-q", "-o", "tool.json"], cwd=tmp_path, check=True, capture_output=True
    )
    theirs = json.loads((tmp_path / "tool.json").read_text())
    ours = Judge.certify(rows, "gpt", certificate=tmp_path / "ours.json", page=tmp_path / "page.html")
    mine = json.loads((tmp_path / "ours.json").read_text())
    assert mine["coefficients"] == theirs["coefficients"] and mine["baselines"] == theirs["baselines"]
    assert ours.consistency.value == theirs["consistency"]["value"] and ours.n_repeated > 40
    assert list(ours.coefficients["judge"]) == [c["judge"]["value"] for c in theirs["coefficients"]]
    assert "Certificate of the judge" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_kappa_of_one_person():
    rows = [r for r in crowd(2) if r[1] in ("gpt", "p0")]
    table = {}
    for task, worker, label in rows:
        table.setdefault(task, {})[worker] = label
    pairs = np.array([(v["p0"], v["gpt"]) for v in table.values() if "p0" in v])
    agree = np.mean(pairs[:, 0] == pairs[:, 1])
    chance = sum(np.mean(pairs[:, 0] == k) * np.mean(pairs[:, 1] == k) for k in range(3))
    found = Judge.certify(rows, "gpt")
    np.testing.assert_allclose(list(found.coefficients["judge"])[:2], [agree, (agree - chance) / (1 - chance)], atol=1e-14)
    assert found.few_people and found.certified is None


def test_requirements():
    rows = crowd(3)
    good = Judge.certify(rows, "gpt", min_kappa=0.3, max_bias=0.3)
    bad = Judge.certify(rows, "gpt", min_kappa=0.3, min_agreement=0.99)
    assert good.certified and not bad.certified
    assert list(bad.requirements["outcome"]) == ["not met", "met"]  # in the order of the library
    length = {f"t{i}": float(i % 50) for i in range(240)}
    assert len(Judge.certify(rows, "gpt", covariates={"length": length}).contrasts["p"]) == 3


def test_drift(tmp_path):
    path = tmp_path / "judge.json"
    Judge.certify(crowd(4, n=400), "gpt", certificate=path)
    same = Judge.check(path, crowd(5, n=400, first=1000), judge="gpt")
    worse = Judge.check(path, crowd(6, accuracy=0.2, n=400, first=1000), judge="gpt")
    assert not same.drifted and worse.drifted
    assert worse.rows["since"][0] is not None and worse.rows["p"][0] < 0.05
    people = [f"p{i}" for i in range(8)]
    assert Judge.check(path, crowd(6, accuracy=0.2, n=400), people=people).rows["p"][0] == worse.rows["p"][0]
    with pytest.raises(dissent.OptionError, match="name the judge"):
        Judge.check(path, crowd(5))
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(dissent.DataError, match="not a certificate"):
        Judge.check(tmp_path / "other.json", crowd(5), judge="gpt")


def test_weights_estimate_all_items():
    rows = [*crowd(7, n=600, labelled=0), ("other", "p0", 0)]
    chosen = Judge.sample(rows, "gpt", 120, random_state=1)
    weights = dict(zip(list(chosen.index) if hasattr(chosen, "index") else chosen["task"], chosen["weight"]))
    assert len(weights) == 120 and abs(sum(weights.values()) - 600) < 1e-9
    people = [(t, f"p{w}", int(k)) for t in weights for w, k in enumerate(np.random.default_rng(8).integers(3, size=5))]
    found = Judge.certify(rows + people, "gpt", weights=weights)
    assert found.n_shared == 120 and np.isfinite(found.rates["powered"]).all()
    with pytest.raises(dissent.DataError, match="with a weight"):
        Judge.certify(rows + people, "gpt", weights={"nowhere": 1.0})
    with pytest.raises(dissent.DataError, match="cast no vote"):
        Judge.certify(rows, "claude")
