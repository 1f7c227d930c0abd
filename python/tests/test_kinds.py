"""Votes of every scale: as tables, lists and files, what comes back, and what is refused."""

import pickle

import numpy as np
import pytest

import dissent

PAIRS = {"q": ["q1", "q1", "q2"], "model_a": ["g", "l", "g"], "model_b": ["l", "g", "m"], "winner": ["model_a", "g", "tie"], "worker": ["j1", "j1", "j2"]}


def test_scales_are_listed():
    assert list(dissent.scales()) == ["nominal", "ordinal", "multi-label", "numeric", "pairwise", "spans"]


def test_ordinal():
    rng = np.random.default_rng(0)
    place, bias = rng.uniform(0, 4, 80), np.linspace(-1, 1, 6)
    rows = [(f"t{i}", w, int(np.clip(round(place[i] + bias[w] + rng.normal(0, 0.5)), 0, 4))) for i in range(80) for w in range(6)]
    votes = dissent.Votes(rows, scale="ordinal")
    fit = dissent.Ordinal().fit(votes)
    assert votes.scale == pickle.loads(pickle.dumps(votes)).scale == "ordinal"
    assert np.corrcoef([fit.biases_[w] for w in range(6)], bias)[0, 1] > 0.97
    assert np.corrcoef([fit.scores_[f"t{i}"] for i in range(80)], place)[0, 1] > 0.95
    assert dissent.agreement(votes, resamples=0).alpha_ordinal > 0.5
    with pytest.raises(dissent.OptionError, match="not a number"):
        dissent.Votes([("t", "a", "low"), ("t", "b", "high")], scale="ordinal")


def test_numeric():
    s = dissent.scaled([("t1", "a", 3), ("t1", "b", 4.5), ("t2", "a", 7), ("t2", "b", 8)], "numeric", resamples=0)
    assert s["alpha_interval"].value == pytest.approx(0.8446, abs=1e-4)
    assert s.labels["mean"][1] > s.labels["mean"][0]
    with pytest.raises(dissent.DataError, match='row 1: the label "x" is not a number'):
        dissent.scaled([("t", "a", "1"), ("t", "b", "x")], "numeric")


def test_multi_label():
    s = dissent.scaled([("t", "a", ["x", "y"]), ("t", "b", {"x"}), ("u", "a", []), ("u", "b", ("y",))], "multi-label", method="standard", resamples=0)
    assert s.labels["label"].tolist() == ["x+y", "y"]
    assert s.labels["p:x"].tolist() == [1.0, 0.0]
    assert {"joint", "classes"} < set(s.tables)


def test_pairwise(tmp_path):
    votes = dissent.Votes(PAIRS, scale="pairwise", task="q")
    s = dissent.scaled(votes, method="bradley-terry:reliability=no", resamples=0)
    assert s.labels["thing"].tolist()[0] == "g"
    assert s.kept == 1.0
    with pytest.raises(dissent.DataError, match="row 0: the winner"):
        dissent.Votes([("a1", "b1", "c1", "w")], scale="pairwise")
    dissent.report(tmp_path / "r.html", votes=votes)
    assert "Bradley" not in (tmp_path / "r.html").read_text() and (tmp_path / "r.html").stat().st_size > 10000


def test_pairwise_model():
    rng = np.random.default_rng(3)
    rows, length, family = [], {}, {f"w{w}": "ab"[w % 2] for w in range(10)}
    for i in range(600):
        a, b = rng.choice(4, 2, replace=False)
        w, difference = rng.integers(10), rng.normal(0, 20)
        x = (a - b) * (0.5 if w % 2 else -0.5) + 0.05 * difference
        p = np.exp([x / 2, -x / 2, -1])
        rows.append((f"q{i}", f"m{a}", f"m{b}", ("a", "b", "tie")[rng.choice(3, p=p / p.sum())], f"w{w}"))
        length[rows[-1][:3]] = difference
    table = {k: [r[i] for r in rows] for i, k in enumerate(("q", "a", "b", "label", "worker"))}
    votes = dissent.Votes(table, scale="pairwise", task="q")
    s = dissent.scaled(
        votes,
        method="bradley-terry:reliability=no,ties=davidson,camps=2,permutations=19",
        covariates={"length": length},
        groups=dissent.Groups(family, min_group=2),
        resamples=0,
    )
    found = dict(zip(s.tables["coefficients"]["covariate"], s.tables["coefficients"]["coefficient"]))
    assert found["length"] == pytest.approx(0.05, abs=0.015) and found["ties"] == pytest.approx(-1, abs=0.3)
    assert s.camps_p == 0.05 and s.groups_p <= 0.1  # a random permutation may be the true one
    camp = dict(zip(s.workers["worker"], s.workers["camp"]))
    assert len({camp[w] for w in family if family[w] == "a"}) == len({camp[w] for w in family if family[w] == "b"}) == 1
    best = {g: t for t, g, r in zip(*(s.tables["groups"][k] for k in ("thing", "group", "rank"))) if r == 1}
    assert best == {"a": "m0", "b": "m3"}
    with pytest.raises(dissent.DataError, match="no key of 'length'"):
        dissent.scaled(votes, covariates={"length": {("x", "y"): 1.0}}, resamples=0)
    with pytest.raises(dissent.OptionError, match="only the scale pairwise"):
        dissent.scaled([("t", "w", 1)], "numeric", covariates={"x": [1.0]}, resamples=0)


def _integrated(by_scores, won, lost, sd, n=4000):
    """The posterior mean of the preference of a pair, by the trapezoid rule over 8 standard deviations."""
    centre = np.log(by_scores / (1 - by_scores))
    x = np.linspace(-8 * sd, 8 * sd, n)
    p = 1 / (1 + np.exp(-(centre + x)))
    mass = np.exp(won * np.log(p) + lost * np.log1p(-p) - x**2 / (2 * sd**2))
    return (mass * p).sum() / mass.sum()


def test_preferences_are_integrals():
    rng = np.random.default_rng(5)
    rows = []
    for q in range(120):
        a, b = rng.choice(5, 2, replace=False)
        p = 1 / (1 + np.exp(-0.5 * (a - b) - rng.normal(0, 1)))
        rows += [(f"q{q}", f"m{a}", f"m{b}", "ab"[int(rng.random() > p)], f"w{w}") for w in rng.choice(9, 1 + q % 6, replace=False)]
    table = {k: [r[i] for r in rows] for i, k in enumerate(("q", "a", "b", "label", "worker"))}
    votes = dissent.Votes(table, scale="pairwise", task="q")
    s = dissent.scaled(votes, method="bradley-terry:reliability=no,preferences=yes", resamples=0)
    t = s.tables["preferences"]
    assert sum(t["for_a"]) + sum(t["for_b"]) == len(rows) and len(t["p_a"]) == 120
    expected = [_integrated(*row, s.item_sd) for row in zip(t["p_a_scores"], t["for_a"], t["for_b"])]
    assert t["p_a"] == pytest.approx(expected, abs=1e-4)
    assert 0.4 < s.item_sd < 2 and 0.5 < s.score_slope < 1.5
    assert "preferences" not in dissent.scaled(votes, resamples=0).tables


def test_preferences_of_unrelated_pairs():
    """Answers that occur once: without other comparisons, a preference is .5 but for the votes on it."""
    rows = [(f"q{i}", f"{i}x", f"{i}y", "a" if v < (5, 4, 1)[i % 3] else "b", f"w{v}") for i in range(60) for v in range(5)]
    table = {k: [r[i] for r in rows] for i, k in enumerate(("q", "a", "b", "label", "worker"))}
    s = dissent.scaled(dissent.Votes(table, scale="pairwise", task="q"), method="bradley-terry:reliability=no,preferences=yes", resamples=0)
    t = s.tables["preferences"]
    assert t["p_a_scores"] == pytest.approx([0.5] * 60, abs=1e-9)
    p = {n: p for n, p in zip(t["for_a"], t["p_a"])}
    assert p[1] < 0.4 and 0.6 < p[4] < p[5] < 0.95


def test_pairwise_states(tmp_path):
    rng = np.random.default_rng(8)
    rows = []
    for q in range(400):
        a, b = rng.choice(30, 2, replace=False)
        rows.append((f"q{q}", f"m{a}", f"m{b}", ("a", "b", "tie")[rng.integers(3)], f"w{q % 7}"))
    rows += [("q1", "new", "m1", "a", "w0"), ("q900", "new", "m2", "a", "other")]
    method = "bradley-terry:ties=davidson,tolerance=1e-14"

    def votes(part):
        table = {k: [r[i] for r in part] for i, k in enumerate(("q", "a", "b", "label", "worker"))}
        return dissent.Votes(table, scale="pairwise", task="q")

    one, two = tmp_path / "one.safetensors", tmp_path / "two.safetensors"
    dissent.scaled(votes(rows[:350]), method=method, resamples=0, save_state=one)
    s = dissent.scaled(votes(rows[350:]), method=method, resamples=0, append=one, save_state=two)
    all_votes = dissent.scaled(votes(rows), method=method, resamples=0)
    assert s.labels["thing"].tolist() == all_votes.labels["thing"].tolist()
    for name in ("score", "se", "won", "lost", "tied"):
        assert s.labels[name] == pytest.approx(all_votes.labels[name], abs=1e-6)
    assert sorted(s.workers["worker"]) == sorted(all_votes.workers["worker"])
    assert s.n_iter < all_votes.n_iter
    with pytest.raises(dissent.DataError, match='"other" has compared "new" and "m2".*already'):
        dissent.scaled(votes(rows[-1:]), method=method, resamples=0, append=two)
    with pytest.raises(dissent.OptionError, match="no saved states"):
        dissent.scaled([("t", "w", 1)], "numeric", save_state=one)
    one.write_bytes(one.read_bytes()[:-9] + b"damaged!!")
    with pytest.raises(dissent.DataError):
        dissent.scaled(votes(rows[350:]), method=method, resamples=0, append=one)


def test_large_pairwise_states(tmp_path):
    """Above 500 things, standard errors of an update are those of the state, scaled by the information."""
    rng = np.random.default_rng(11)
    rows = [(f"m{a}", f"m{b}", "ab"[rng.integers(2)], f"w{i % 40}") for i, (a, b) in enumerate(rng.integers(0, 700, (6000, 2))) if a != b]
    rows = list({(a, b, w): (a, b, label, w) for a, b, label, w in rows}.values())
    method = "bradley-terry:reliability=no,tolerance=1e-14"

    def votes(part):
        return dissent.Votes({k: [r[i] for r in part] for i, k in enumerate(("a", "b", "label", "worker"))}, scale="pairwise")

    state = tmp_path / "s.safetensors"
    dissent.scaled(votes(rows[:-50]), method=method, resamples=0, save_state=state)
    s = dissent.scaled(votes(rows[-50:]), method=method, resamples=0, append=state)
    whole = dissent.scaled(votes(rows), method=method, resamples=0)
    se = [dict(zip(x.labels["thing"], x.labels["se"])) for x in (s, whole)]
    score = [dict(zip(x.labels["thing"], x.labels["score"])) for x in (s, whole)]
    assert max(abs(score[0][k] - score[1][k]) for k in score[1]) < 1e-6
    assert np.quantile([abs(se[0][k] / se[1][k] - 1) for k in se[1]], 0.95) < 0.1


def test_spans():
    rows = [("d", "a", 0, 4, "PER"), ("d", "b", 0, 4, "PER"), ("e", "a", "", "", ""), ("e", "b", 2, 5, "LOC")]
    s = dissent.scaled(rows, "spans", resamples=0)
    assert s.f1_spans == pytest.approx(2 / 3)
    with pytest.raises(dissent.DataError, match="row 0: a span has a start"):
        dissent.scaled([("d", "a", 4, 4, "PER")], "spans")


def test_files(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("task,worker,label\na,x,1\na,y,2\n")
    assert dissent.scaled(dissent.read_votes(path, scale="numeric"), resamples=0).labels["votes"].tolist() == [2]
    with pytest.raises(dissent.OptionError, match="of which scale"):
        dissent.scaled([("t", "a", 1)])
    with pytest.raises(dissent.OptionError, match="scale='numeric'"):
        dissent.scaled(dissent.Votes([("t", "a", 1)]), "numeric")


def test_review_of_ordered_classes():
    votes = [(f"t{i}", f"w{w}", min(4, max(0, i % 5 + (w == 0)))) for i in range(60) for w in range(4)]
    found = dissent.review(dissent.Votes(votes, scale="ordinal"))
    workers = {row: bias for row, bias in zip(found.workers["worker"], found.workers["bias"])}
    assert max(workers, key=workers.get) == "w0" and found.n_biased == 1
    assert all(found.workers["bias_low"] < found.workers["bias_high"]) and all(found.workers["spread"] > 0)
    assert {"position", "position_se"} <= set(found.items.columns if hasattr(found.items, "columns") else found.items)
    assert found.to_dict()["n_biased"] == 1
    plain = dissent.review(votes)
    assert plain.n_biased == 0 and "bias" not in (plain.workers.columns if hasattr(plain.workers, "columns") else plain.workers)
