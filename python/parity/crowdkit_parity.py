"""crowd-kit beside dissent: its published examples run with the import changed, and every aggregator of both on the
same crowds.

    PYTHONPATH=build/python python python/parity/crowdkit_parity.py        (needs crowd-kit and pandas)

Prints one row a comparison and, below, every difference that is wanted with its reason. Exit 1 for one that is not. The
data sets that the examples download are replaced by synthetic crowds under the same ids and columns.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
import warnings

import numpy as np
import pandas as pd

import crowdkit.aggregation as theirs
import crowdkit.aggregation.classification.majority_vote as majority
import crowdkit.aggregation.classification.wawa as wawa
import crowdkit.aggregation.classification.zero_based_skill as zbs
import dissent

# crowd-kit 1.4.1 asks scikit-learn whether its own classes are fitted, which newer versions refuse to say. With pandas
# 3 its majority vote has tasks and classes in the order of counts, which also decides ties; before, they were sorted.
plain_rows = majority.normalize_rows
majority.normalize_rows = lambda scores: plain_rows(scores.sort_index(axis=0).sort_index(axis=1))
wawa.check_is_fitted = zbs.check_is_fitted = lambda *args, **kwargs: None

warnings.simplefilter("ignore")
SHARED = ["MajorityVote", "Wawa", "ZeroBasedSkill", "DawidSkene", "OneCoinDawidSkene", "GLAD", "MACE"]
# What is different on purpose; docs/guides/python.md says why.
WANTED = {
    "stop": "DawidSkene, OneCoinDawidSkene, GLAD stop on the relative change of the true likelihood; crowd-kit on the change of "
    "a sum that counts the prior once per vote. At a fixed number of iterations both give the same numbers.",
    "glad": "GLAD takes Newton steps on the same objective; crowd-kit stops conjugate gradients early.",
    "mace": "MACE starts restarts from numbers keyed by each worker's votes; crowd-kit uses one seed for all restarts and mixes up workers "
    "whose ids are not sorted by first appearance.",
    "rows": "errors_ has all K x K cells of a worker; crowd-kit only the labels the worker used.",
    "order": "Tasks are sorted where crowd-kit sorts them with pandas before 3 (MajorityVote, Wawa, ZeroBasedSkill, GLAD), else in order of first "
    "appearance; columns are in class order. With pandas 3, crowd-kit's MajorityVote has both in the order of counts.",
    "start": "With n_iter=0, crowd-kit's DawidSkene gives its majority vote, sorted; ours stays in order of first appearance.",
    "random": "MMSR: on some crowds, crowd-kit's skills depend on its random start. Ours does not start at random.",
    "arguments": "fit() takes crowd-kit's arguments in the same positions, then predictions and predictions_weight, which are optional.",
    "ties": "A tie takes the first class in class order; crowd-kit's takes the first column, whose order depends on the data and on pandas.",
}


def crowd(n_tasks: int, n_workers: int, labels: list, seed: int, per_task: int = 5, shuffle: bool = True) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(len(labels), size=n_tasks)
    skill = rng.uniform(0.45, 0.95, n_workers)
    workers = np.array(["w851", "w6991", *(f"w{i}" for i in range(n_workers - 2))])
    rows = []
    for t in range(n_tasks):
        for w in rng.choice(n_workers, per_task, replace=False):
            right = rng.random() < skill[w]
            rows.append((f"t{t}", workers[w], labels[truth[t] if right else rng.integers(len(labels))]))
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    if shuffle:
        frame = frame.sample(frac=1, random_state=seed).reset_index(drop=True)
    return frame, pd.Series({f"t{t}": labels[k] for t, k in enumerate(truth)}, name="true_label").rename_axis("task")


CROWDS = {
    "binary int": crowd(300, 20, [0, 1], 1),
    "three texts": crowd(200, 15, ["goose", "parrot", "chicken"], 2),
    "bools": crowd(100, 9, [False, True], 3),
    "ten classes": crowd(250, 25, list(range(10)), 4, per_task=7),
    "small": crowd(60, 8, ["a", "b"], 6),
    "two votes": crowd(150, 12, ["a", "b"], 5, per_task=2),
}
failures: list[str] = []


def report(what: str, good: bool, figure: str, note: str = "") -> None:
    mark = "same" if good and not note else f"wanted: {note}" if good else "DIFFERENT"
    print(f"{what:58s} {figure:>34s}  {mark}")
    if not good:
        failures.append(what)


# ---- published examples ----


def examples(cls: type) -> list[str]:
    """The programs in a docstring; prompts may be missing where a statement goes on."""
    programs, lines = [], []
    for line in (inspect.getdoc(cls) or "").splitlines() + [""]:
        found = re.match(r"\s*(>>>|\.\.\.) ?(.*)", line)
        if found:
            text = found.group(2)
            if text.startswith(("from ", "import ")) and lines and not lines[-1].startswith(("from ", "import ")):
                programs.append("\n".join(lines))
                lines = []
            lines.append(text)
    return [*programs, "\n".join(lines)] if lines else programs


def run_examples() -> None:
    data, truth = crowd(400, 12, [0, 1], 7)
    loader = types.ModuleType("crowdkit.datasets")
    loader.load_dataset = lambda name: (data.copy(), truth.copy())  # type: ignore[attr-defined]
    sys.modules["crowdkit.datasets"] = loader
    for name in SHARED:
        for k, program in enumerate(examples(getattr(theirs, name))):
            results = []
            for package in ("crowdkit.aggregation", "dissent"):
                scope: dict = {}
                try:
                    exec(program.replace("crowdkit.aggregation", package), scope)
                    results.append(scope["result"])
                except Exception as e:
                    results.append(e)
            a, b = results
            if isinstance(a, Exception) or isinstance(b, Exception):
                report(f"example {k + 1} of {name}", False, f"{type(a).__name__} / {type(b).__name__}: {b}")
                continue
            same = (a.sort_index() == b.sort_index()).mean()
            note = {"GLAD": "glad", "MACE": "mace", "DawidSkene": "stop", "OneCoinDawidSkene": "stop"}.get(name, "")
            alike = type(a) is type(b) and a.name == b.name and a.index.name == b.index.name and a.dtype == b.dtype
            report(f"example {k + 1} of {name}", alike and same >= (0.97 if note else 1), f"labels {same:.4f} equal", note if same < 1 else "")


# ---- every aggregator on every crowd ----


def distance(a: pd.DataFrame, b: pd.DataFrame) -> float:
    return float(np.abs(a.astype(float) - b.reindex(index=a.index, columns=a.columns).astype(float)).to_numpy().max())


def compare(name: str, label: str, make_a, make_b, tolerance: float, note: str = "", skills: float = 1e-9, few: bool = False) -> None:
    for crowd_name, (frame, _) in [("small", CROWDS["small"])] if few else CROWDS.items():
        a, b = make_a().fit(frame.copy()), make_b().fit(frame.copy())
        if name in ("Wawa", "ZeroBasedSkill"):
            a.predict(frame.copy())
        what = f"{name} {label}, {crowd_name}"
        d = distance(a.probas_, b.probas_)
        figure = f"max |dP| {d:.1e}"
        agree = float((a.labels_.sort_index().to_numpy() == b.labels_.sort_index().to_numpy()).mean())
        p = np.sort(a.probas_.to_numpy(dtype=float), axis=1)
        tied = pd.Series(p[:, -1] - p[:, -2] < 1e-12, index=a.probas_.index)
        differ = a.labels_ != b.labels_.reindex(a.labels_.index)
        ties = "ties" if differ.any() else ""
        if tolerance < 1:
            report(what, d <= tolerance and not (differ & ~tied).any(), figure, note or ties)
        else:
            report(what, agree >= 0.9, f"{figure}, labels {agree:.3f}", note)
        for attribute in ("probas_", "labels_", "skills_", "priors_", "alphas_", "betas_"):
            if not hasattr(a, attribute) or (name == "GLAD" and attribute == "priors_"):  # a Series without names
                continue
            x, y = getattr(a, attribute), getattr(b, attribute)
            if isinstance(x, pd.Series):
                alike = x.name == y.name and set(x.index) == set(y.index) and x.dtype == y.dtype
                report(f"  {attribute} of {what}", alike, f"{x.name}, {x.index.name}, {x.dtype}") if not alike else None
            else:
                alike = set(x.columns) == set(y.columns) and x.columns.dtype == y.columns.dtype and set(x.index) == set(y.index)
                report(f"  {attribute} of {what}", alike, f"{x.columns.dtype}") if not alike else None
            ordered = list(x.index) == list(y.index)
            if not ordered and label != "0 iterations":
                report(f"  order of {attribute} of {what}", name == "MACE", "", "order")
        if hasattr(a, "skills_") and tolerance < 1:
            s = float(np.abs(a.skills_ - b.skills_.reindex(a.skills_.index)).max())
            report(f"  skills_ of {what}", s <= skills or bool(ties), f"max |d| {s:.1e}", ties)
        if hasattr(a, "errors_") and tolerance < 1:
            e = float(np.nanmax(np.abs(a.errors_ - b.errors_.reindex(index=a.errors_.index, columns=a.errors_.columns)).to_numpy()))
            report(f"  errors_ of {what}", e <= tolerance, f"max |d| {e:.1e}", "rows" if len(a.errors_) != len(b.errors_) else "")
        if hasattr(a, "priors_") and tolerance < 1 and name != "GLAD":
            e = float(np.abs(a.priors_ - b.priors_.reindex(a.priors_.index)).max())
            report(f"  priors_ of {what}", e <= tolerance, f"max |d| {e:.1e}")


def aggregators() -> None:
    for name in ("MajorityVote", "Wawa", "ZeroBasedSkill"):
        compare(name, "defaults", getattr(theirs, name), getattr(dissent, name), 1e-12)
    never = -1e9
    for n in (0, 1, 2, 10):
        for name in ("DawidSkene", "OneCoinDawidSkene"):
            compare(name, f"{n} iterations", lambda: getattr(theirs, name)(n, tol=never), lambda: getattr(dissent, name)(n, tol=0), 1e-9)
    for name in ("DawidSkene", "OneCoinDawidSkene"):
        compare(name, "defaults", getattr(theirs, name), getattr(dissent, name), 1, "stop")
    compare("GLAD", "defaults", theirs.GLAD, dissent.GLAD, 1, "glad", few=True)
    for method in ("vb", "em"):
        compare("MACE", method, lambda: theirs.MACE(n_restarts=2, method=method), lambda: dissent.MACE(n_restarts=2, method=method), 1, "mace", few=True)


def newer_methods() -> None:
    """KOS, MMSR and GoldMajorityVote."""
    two = crowd(120, 12, ["no", "yes"], seed=5, per_task=6)
    for name, (frame, truth) in {**CROWDS, "two classes": two}.items():
        a, b = dissent.MMSR().fit(frame.copy()), theirs.MMSR().fit(frame.copy())
        skills = float(np.abs(a.skills_ - b.skills_.reindex(a.skills_.index)).max())
        labels = b.predict(frame.copy())
        other = theirs.MMSR(random_state=1).fit(frame.copy())
        depends = float(np.abs(b.skills_ - other.skills_.reindex(b.skills_.index)).max()) > 1e-6
        same = skills < 1e-6 and (a.labels_ == labels.reindex(a.labels_.index)).mean() > 0.99
        report(f"MMSR, {name}", same or depends, f"skills max |d| {skills:.1e}", "" if same or not depends else "random")
        gold = truth.iloc[::2]
        c, d = dissent.GoldMajorityVote().fit(frame.copy(), gold), theirs.GoldMajorityVote().fit(frame.copy(), gold)
        skills = float(np.abs(c.skills_ - d.skills_.reindex(c.skills_.index)).max())
        report(f"GoldMajorityVote, {name}", skills < 1e-9, f"skills max |d| {skills:.1e}")
        if frame.label.nunique() == 2:
            e, f = dissent.KOS().fit(frame.copy()), theirs.KOS().fit(frame.copy())
            same = float((e.labels_ == f.labels_.reindex(e.labels_.index)).mean())
            report(f"KOS, {name}", same == 1, f"labels {same:.3f}")


def initial_errors() -> None:
    frame, truth = CROWDS["three texts"]
    labels, workers = sorted(frame.label.unique()), sorted(frame.worker.unique())
    index = pd.MultiIndex.from_product([workers, labels], names=["worker", "label"])
    rng = np.random.default_rng(0)
    counts = pd.DataFrame(rng.integers(1, 20, (len(index), len(labels))).astype(float), index=index, columns=labels)
    shares = counts / counts.groupby("worker").transform("sum")
    for strategy, table in (("addition", counts), ("assign", counts), ("assign", shares), ("addition", counts[:5])):
        for n in (0, 1, 5):
            a = theirs.DawidSkene(n, tol=-1e9, initial_error_strategy=strategy).fit(frame, initial_error=table.copy())
            b = dissent.DawidSkene(n, tol=0, initial_error_strategy=strategy).fit(frame, initial_error=table.copy())
            d = distance(a.probas_, b.probas_)
            report(f"DawidSkene, initial_error by {strategy}, {len(table)} rows, {n} iterations", d <= 1e-9, f"max |dP| {d:.1e}")
    known = truth[:30]
    for n in (1, 5):
        a, b = theirs.DawidSkene(n, tol=-1e9).fit(frame, known), dissent.DawidSkene(n, tol=0).fit(frame, known)
        report(f"DawidSkene with known labels, {n} iterations", distance(a.probas_, b.probas_) <= 1e-9, f"max |dP| {distance(a.probas_, b.probas_):.1e}")


def signatures() -> None:
    for name in SHARED:
        a = [p.name for p in inspect.signature(getattr(theirs, name)).parameters.values()]
        b = inspect.signature(getattr(dissent, name)).parameters
        here = [p.name for p in b.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        report(f"parameters of {name}", a == here, ", ".join(a)[:34])
        for method in ("fit", "fit_predict", "fit_predict_proba", "predict", "predict_proba"):
            if hasattr(getattr(theirs, name), method):
                x = list(inspect.signature(getattr(getattr(theirs, name), method)).parameters)
                y = list(inspect.signature(getattr(getattr(dissent, name), method)).parameters.values())
                added = y[len(x) :]
                compatible = [p.name for p in y[: len(x)]] == x and all(p.default is not p.empty for p in added)
                note = "arguments" if added else ""
                report(f"arguments of {name}.{method}", compatible, ", ".join(p.name for p in added), note)


if __name__ == "__main__":
    signatures()
    run_examples()
    aggregators()
    newer_methods()
    initial_errors()
    print("\nWanted differences:")
    for key, reason in WANTED.items():
        print(f"  {key}: {reason}")
    print(f"\n{len(failures)} unexpected difference(s)" + "".join(f"\n  {f}" for f in failures))
    sys.exit(bool(failures))
