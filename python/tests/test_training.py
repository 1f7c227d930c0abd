"""SoftClassifier: every kind of item and target, the command line's models to the last bit, scikit-learn's manners,
being stopped."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool import needs_tool, put_csv, run

import dissent
from dissent import DissentError, SoftClassifier, SoftLabels, _core

SMALL = {"text": "text:width=16,hidden=0,buckets=512", "mlp": "mlp:hidden=8,dropout=0", "tagger": "tagger:word=8,character=4,hidden=4,layers=1,feed=8"}


class Tensor:
    """What PyTorch's tensors are to NumPy."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._array, dtype=dtype)


@pytest.fixture(scope="module")
def world(crowd):
    """Items of a crowd: texts and numbers that say the truth, and what the crowd said."""
    truth = crowd[3]
    rng = np.random.default_rng(1)
    tasks = list(truth)
    words = ["alpha beta", "gamma delta", "epsilon zeta"]
    texts = [f"{words[truth[t]]} item{i % 7}" for i, t in enumerate(tasks)]
    x = np.eye(3)[[truth[t] for t in tasks]] + rng.normal(0, 0.2, (len(tasks), 3))
    votes = dissent.Votes(dict(zip(("task", "worker", "label"), crowd[:3])))
    soft = dissent.Standard().fit(votes).result_
    return {"tasks": tasks, "truth": truth, "texts": texts, "x": x.astype(np.float32), "votes": votes, "soft": soft, "crowd": crowd}


def rows(soft, tasks):
    place = {t: i for i, t in enumerate(soft.tasks.tolist())}
    return soft.p[[place[t] for t in tasks]]


@pytest.mark.parametrize("objective", [o["name"] for o in dissent.objectives()])
def test_every_objective(world, objective):
    row = {o["name"]: o for o in dissent.objectives()}[objective]
    y = world["soft"] if row["needs_labels"] else world["truth"] if row["needs_gold"] else None
    gold = world["truth"] if row["needs_labels"] and row["needs_gold"] else None
    votes = world["votes"] if row["needs_votes"] else None
    model = SoftClassifier(objective, SMALL["mlp"], n_epochs=8, batch_size=8, learning_rate=0.02, random_state=3)
    assert model.fit(world["x"], y, gold=gold, votes=votes, tasks=world["tasks"]) is model
    p = model.predict_proba(world["x"])
    assert p.shape == (60, 3) and np.allclose(p.sum(axis=1), 1) and model.classes_.tolist() == [0, 1, 2]
    assert model.n_epochs_ == len(model.history_) == 8 and model.history_[0]["loss"] is not None and model.history_[0]["dev"] is None
    losses = [e["loss"] for e in model.history_]
    assert losses[-1] < losses[0]
    if not objective.startswith("crowd"):
        assert model.score(world["x"], [world["truth"][t] for t in world["tasks"]]) > 0.6


def test_every_kind_of_item(world):
    gold = [world["truth"][t] for t in world["tasks"]]
    images = (world["x"].clip(0, 1) * 255).astype(np.uint8).reshape(-1, 1, 1, 3).repeat(4, axis=1).repeat(4, axis=2)
    sentences = [[w, "and", "so"] for w in world["texts"]]
    for X, y, model in (
        (world["texts"], gold, SMALL["text"]),
        (np.array(world["texts"], dtype=object), gold, SMALL["text"]),
        ([(t, "x") for t in world["texts"]], gold, SMALL["text"]),
        (world["x"], gold, "auto"),
        (world["x"].tolist(), gold, "auto"),
        (Tensor(world["x"]), Tensor(np.array(gold)), "auto"),
        (images, gold, "resnet:blocks=1/1/1,width=2"),
        (images[..., 0], gold, "resnet:blocks=1/1/1,width=2"),
        (sentences, [[c, 0, 1] for c in gold], SMALL["tagger"]),
    ):
        m = SoftClassifier("gold", model, n_epochs=1).fit(X, y)
        p = m.predict_proba(X)
        assert (sum(map(len, p)) if isinstance(p, list) else len(p)) == (180 if X is sentences else 60)
        assert 0 <= m.score(X, y) <= 1
        if X is sentences:
            assert [len(s) for s in m.predict(X)] == [3] * 60


def test_pandas(world):
    pd = pytest.importorskip("pandas")
    texts = pd.Series(world["texts"], index=world["tasks"])
    model = SoftClassifier(model=SMALL["text"], n_epochs=2).fit(texts, world["soft"])
    plain = SoftClassifier(model=SMALL["text"], n_epochs=2).fit(world["texts"], rows(world["soft"], world["tasks"]))
    shuffled = SoftClassifier(model=SMALL["text"], n_epochs=2).fit(texts, world["soft"].to_pandas().iloc[::-1])
    p = model.predict_proba(texts)
    assert isinstance(p, pd.DataFrame) and list(p.index) == world["tasks"] and list(p.columns) == [0, 1, 2]
    assert np.array_equal(p, plain.predict_proba(world["texts"])) and p.equals(shuffled.predict_proba(texts))
    assert isinstance(model.predict(texts), pd.Series)
    frame = pd.DataFrame(world["x"], index=world["tasks"], columns=list("abc"))
    by_id = SoftClassifier("gold", n_epochs=1).fit(frame, pd.Series(world["truth"]).iloc[::-1])
    by_row = SoftClassifier("gold", n_epochs=1).fit(world["x"], [world["truth"][t] for t in world["tasks"]])
    assert np.array_equal(by_id.predict_proba(frame), by_row.predict_proba(world["x"]))


def test_arrow(world):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    gold = [world["truth"][t] for t in world["tasks"]]
    for model, forms in (
        (SMALL["text"], [world["texts"], pl.Series(world["texts"]), pa.array(world["texts"]), pa.chunked_array([world["texts"]])]),
        (SMALL["text"], [[(t, t) for t in world["texts"]], *(lib({"a": world["texts"], "b": world["texts"]}) for lib in (pl.DataFrame, pa.table))]),
        (SMALL["mlp"], [world["x"], *(lib({c: world["x"][:, k] for k, c in enumerate("abc")}) for lib in (pl.DataFrame, pa.table))]),
    ):
        first = None
        for X in forms:
            p = SoftClassifier("gold", model, n_epochs=1).fit(X, pl.Series(gold) if X is forms[1] else gold).predict_proba(X)
            first = p if first is None else first
            assert np.array_equal(p, first)


def test_votes_as_targets(world):
    model = SoftClassifier(model=SMALL["text"], n_epochs=2).fit(world["texts"], votes=world["votes"], tasks=world["tasks"])
    soft = SoftClassifier(model=SMALL["text"], n_epochs=2).fit(world["texts"], world["soft"], tasks=world["tasks"])
    assert np.array_equal(model.predict_proba(world["texts"]), soft.predict_proba(world["texts"]))
    other = SoftClassifier(model=SMALL["text"], n_epochs=2, aggregator=dissent.DawidSkene())
    other.fit(world["texts"], votes=world["votes"], tasks=world["tasks"])
    assert not np.array_equal(model.predict_proba(world["texts"]), other.predict_proba(world["texts"]))


def test_hard_labels_are_one_hot_soft_ones(world):
    gold = [world["truth"][t] for t in world["tasks"]]
    hard = SoftClassifier("soft-ce", SMALL["mlp"], n_epochs=2).fit(world["x"], gold)
    soft = SoftClassifier("soft-ce", SMALL["mlp"], n_epochs=2).fit(world["x"], np.eye(3)[gold])
    gold = SoftClassifier("gold", SMALL["mlp"], n_epochs=2).fit(world["x"], gold)
    assert np.array_equal(hard.predict_proba(world["x"]), soft.predict_proba(world["x"]))
    assert np.array_equal(hard.predict_proba(world["x"]), gold.predict_proba(world["x"]))


def test_development_set(world):
    gold = [world["truth"][t] for t in world["tasks"]]
    model = SoftClassifier("gold", SMALL["mlp"], n_epochs=30, patience=2, learning_rate=0.05)
    model.fit(world["x"][:40], gold[:40], dev=(world["x"][40:], gold[40:]))
    assert model.keep_ == "macro_f1" and all(e["dev"] is not None for e in model.history_)
    assert model.best_epoch_ == int(np.argmax([e["dev"] for e in model.history_])) and model.n_epochs_ <= 30
    soft = rows(world["soft"], world["tasks"])
    model = SoftClassifier("kl", SMALL["mlp"], n_epochs=3).fit(world["x"][:40], soft[:40], dev=(world["x"][40:], soft[40:]))
    assert model.keep_ == "cross_entropy" and -model.score(world["x"][40:], soft[40:]) == pytest.approx(model.history_[model.best_epoch_]["dev"], rel=1e-6)
    model = SoftClassifier("gold+kl", SMALL["mlp"], n_epochs=2, keep="jsd")
    model.fit(world["x"], soft, gold=gold, dev=(world["x"], soft, gold))
    assert model.keep_ == "jsd" and model.heads_ == ["gold", "soft"]
    assert not np.array_equal(model.predict_proba(world["x"]), model.predict_proba(world["x"], head="soft"))
    with pytest.raises(dissent.OptionError, match="no head"):
        model.predict_proba(world["x"], head="crowd")


def test_messages_name_arguments_not_options_of_the_tool():
    with pytest.raises(dissent.OptionError, match="two texts per item.* with text$"):
        SoftClassifier("kl", "stem-cnn").fit(["a", "b"], [[0.5, 0.5], [0.1, 0.9]])


# ---- the command line's models ----


@needs_tool
def test_the_same_model_as_dissent_train(world, tmp_path):
    items = put_csv(tmp_path / "items.csv", ["task", "text"], list(zip(world["tasks"], world["texts"])))
    dissent.write_labels(world["soft"], tmp_path / "soft.csv")
    run(
        "train", "--items", items, "--labels", tmp_path / "soft.csv", "--model", SMALL["text"], "--objective", "kl",
        "--epochs", 3, "--seed", 7, "-o", tmp_path / "theirs",
    )  # fmt: skip
    run("predict", tmp_path / "theirs", "--items", items, "-o", tmp_path / "theirs.csv")
    ours = SoftClassifier("kl", SMALL["text"], n_epochs=3, random_state=7).fit(world["texts"], world["soft"], tasks=world["tasks"])
    theirs = dissent.read_labels(tmp_path / "theirs.csv")
    assert np.array_equal(ours.predict_proba(world["texts"]), theirs.p)

    ours.save(tmp_path / "ours")
    weights = [sorted(p.name for p in (tmp_path / f).glob("weights-*.safetensors")) for f in ("ours", "theirs")]
    assert weights[0] == weights[1] != []  # called after their SHA-256
    run("predict", tmp_path / "ours", "--items", items, "-o", tmp_path / "ours.csv")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()

    loaded = SoftClassifier.load(tmp_path / "theirs")
    assert loaded.classes_.tolist() == ["0", "1", "2"] and loaded.objective == "kl" and loaded.random_state == 7
    assert np.array_equal(loaded.predict_proba(world["texts"]), theirs.p) and loaded.history_ == ours.history_


@needs_tool
def test_numbers_and_votes_as_dissent_train(world, tmp_path):
    ids = tmp_path / "ids.txt"
    ids.write_text("".join(f"{t}\n" for t in world["tasks"]))
    (tmp_path / "x.f32").write_bytes(world["x"].tobytes())
    votes = put_csv(tmp_path / "votes.csv", ["task", "worker", "label"], list(zip(*world["crowd"][:3])))
    common = ["--items", tmp_path / "x.f32", "--width", 3, "--ids", ids]
    run("train", *common, "--votes", votes, "--model", SMALL["mlp"], "--objective", "crowd:mw", "--epochs", 2, "-o", tmp_path / "m")
    run("predict", tmp_path / "m", *common, "-o", tmp_path / "p.csv")
    ours = SoftClassifier("crowd:mw", SMALL["mlp"], n_epochs=2).fit(world["x"], votes=world["votes"], tasks=world["tasks"])
    assert np.array_equal(ours.predict_proba(world["x"]), dissent.read_labels(tmp_path / "p.csv").p)


def test_folders(world, tmp_path):
    labels = [["no", "yes", "perhaps"][world["truth"][t]] for t in world["tasks"]]
    for y, kind in ((labels, str), ([world["truth"][t] for t in world["tasks"]], int), ([world["truth"][t] > 0 for t in world["tasks"]], bool)):
        model = SoftClassifier("gold", SMALL["mlp"], n_epochs=1).fit(world["x"], y)
        model.save(tmp_path / "m")
        again = SoftClassifier.load(tmp_path / "m", n_jobs=1)
        assert again.classes_.tolist() == model.classes_.tolist() and type(again.classes_.tolist()[0]) is kind
        assert np.array_equal(again.predict_proba(world["x"]), model.predict_proba(world["x"])) and again.n_jobs == 1
    (tmp_path / "m" / "python.json").write_text("[")
    with pytest.raises(dissent.DataError, match=r"python\.json"):
        SoftClassifier.load(tmp_path / "m")
    with pytest.raises(dissent.FileError):
        SoftClassifier.load(tmp_path / "nothing here")
    with pytest.raises(dissent.FileError):
        model.save(tmp_path / "no" / "such" / "folder")
    (tmp_path / "m" / "model.json").write_text(json.dumps({"format": "other"}))
    with pytest.raises(dissent.DataError):
        SoftClassifier.load(tmp_path / "m")


# ---- manners ----


def test_manners(world):
    model = SoftClassifier("kl", SMALL["mlp"], n_epochs=1, random_state=5)
    params = model.get_params()
    assert repr(model).startswith("SoftClassifier(objective='kl'") and model.clone().get_params() == params
    with pytest.raises(AttributeError, match="fit"):
        model.classes_
    with pytest.raises(AttributeError, match="fit"):
        model.predict(world["x"])
    model.fit(world["x"], rows(world["soft"], world["tasks"]))
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params() == params and again.n_parameters_ == model.n_parameters_
    with pytest.raises(TypeError):
        pickle.dumps(model.model_)
    page = model._repr_html_()
    assert "<table" in page and model.n_parameters_ > 10
    assert SoftClassifier()._repr_html_().startswith("<code>")


def test_sklearn(world):
    base = pytest.importorskip("sklearn.base")
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    y = np.array([world["truth"][t] for t in world["tasks"]])
    model = SoftClassifier("gold", SMALL["mlp"], n_epochs=8, batch_size=8, learning_rate=0.02, n_jobs=1)
    assert base.clone(model).get_params() == model.get_params() and base.is_classifier(model)
    assert cross_val_score(model, world["x"], y, cv=3).mean() > 0.8
    search = GridSearchCV(model, {"n_epochs": [1, 8]}, cv=2).fit(world["x"], y)
    assert search.best_params_["n_epochs"] == 8
    assert make_pipeline(StandardScaler(), model).fit(world["x"], y).score(world["x"], y) > 0.8


def test_threads_change_nothing(world):
    y = rows(world["soft"], world["tasks"])
    one = SoftClassifier(model=SMALL["text"], n_epochs=2, n_jobs=1).fit(world["texts"], y)
    p = one.predict_proba(world["texts"])
    for n_jobs in (2, 3):
        more = SoftClassifier(model=SMALL["text"], n_epochs=2, n_jobs=n_jobs).fit(world["texts"], y)
        assert np.array_equal(more.predict_proba(world["texts"]), p)
    found: list = []
    threads = [threading.Thread(target=lambda: found.append(one.predict_proba(world["texts"]))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 4 and all(np.array_equal(f, p) for f in found)


def test_progress_and_stopping(world):
    seen: list = []
    y = rows(world["soft"], world["tasks"])
    SoftClassifier(model=SMALL["mlp"], n_epochs=3000, progress=lambda what, done: seen.append((what, done))).fit(world["x"], y)
    assert seen and all(isinstance(w, str) and 0 <= d <= 1 for w, d in seen)

    class Enough(Exception):
        pass

    def stop(what, done):
        raise Enough

    model = SoftClassifier(model=SMALL["mlp"], n_epochs=10**6, progress=stop)
    with pytest.raises(Enough):
        model.fit(world["x"], y)
    assert not model._is_fitted()


def test_ctrl_c(tmp_path):
    """A long training ends soon after Ctrl-C, with KeyboardInterrupt; with a folder for checkpoints it goes on from
    there."""
    program = textwrap.dedent(
        """
        import sys, numpy as np, dissent
        x = np.random.default_rng(0).normal(size=(400, 5)).astype("f4")
        y = np.full((400, 2), 0.5)
        print("ready", flush=True)
        try:
            dissent.SoftClassifier(model="mlp:hidden=32", n_epochs=10**6, checkpoints=sys.argv[1]).fit(x, y)
        except KeyboardInterrupt:
            print("stopped", flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
    assert any((tmp_path / "run").iterdir())


# ---- bad input ----


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda w: SoftClassifier("wisdom").fit(w["x"], w["soft"].p), dissent.OptionError, "no objective 'wisdom'"),
        (lambda w: SoftClassifier(model="oracle").fit(w["x"], w["soft"].p), dissent.OptionError, "oracle"),
        (lambda w: SoftClassifier(model="mlp:depth=3").fit(w["x"], w["soft"].p), dissent.OptionError, "depth"),
        (lambda w: SoftClassifier(model="text").fit(w["x"], w["soft"].p), dissent.OptionError, "needs texts"),
        (lambda w: SoftClassifier().fit(w["x"]), dissent.OptionError, "needs soft labels"),
        (lambda w: SoftClassifier("gold").fit(w["x"], w["soft"].p), dissent.OptionError, "needs gold"),
        (lambda w: SoftClassifier("crowd:mw").fit(w["x"], w["soft"].p), dissent.OptionError, "needs votes"),
        (lambda w: SoftClassifier("gold+kl").fit(w["x"], [0] * 60), dissent.OptionError, "needs soft labels"),
        (lambda w: SoftClassifier("gold").fit(w["x"], [0] * 60, gold=[0] * 60), dissent.OptionError, "y is soft"),
        (lambda w: SoftClassifier().fit(w["x"], w["soft"].p[:5]), dissent.DataError, "5 rows for the 60 items"),
        (lambda w: SoftClassifier().fit(w["x"], w["soft"]), dissent.DataError, "tasks="),
        (lambda w: SoftClassifier().fit(w["x"], w["soft"], tasks=range(60)), dissent.DataError, "has a label by its id"),
        (lambda w: SoftClassifier(lenient=True).fit(w["x"], w["soft"], tasks=range(60)), dissent.DataError, "do they match"),
        (lambda w: SoftClassifier("crowd:mw").fit(["x"], votes=[("a", "w", 0)]), dissent.DataError, "tasks=ids of X"),
        (lambda w: SoftClassifier().fit(w["x"], w["soft"], tasks=[1, 2]), dissent.DataError, "2 task ids"),
        (lambda w: SoftClassifier().fit(w["x"], w["soft"], tasks=["a"] * 60), dissent.DataError, "repeated"),
        (lambda w: SoftClassifier().fit(w["x"], w["soft"].p * 3), dissent.DataError, "sum to 3"),
        (lambda w: SoftClassifier().fit(w["x"] * np.nan, w["soft"].p), dissent.DataError, "NaN"),
        (lambda w: SoftClassifier().fit(np.zeros((0, 3)), np.zeros((0, 3))), dissent.DataError, "0 sample"),
        (lambda w: SoftClassifier().fit([], []), dissent.DataError, "no items"),
        (lambda w: SoftClassifier().fit("text", [1]), TypeError, "list of texts"),
        (lambda w: SoftClassifier().fit(["a", None], [0, 1]), dissent.DataError, "text 1"),
        (lambda w: SoftClassifier().fit(["a", 3], [0, 1]), dissent.DataError, "text 1"),
        (lambda w: SoftClassifier().fit([("a", "b"), ("a",)], [0, 1]), dissent.DataError, "item 1"),
        (lambda w: SoftClassifier().fit([["a"], []], [[0], []]), dissent.DataError, "not a sentence"),
        (lambda w: SoftClassifier("gold").fit([["a"], ["b"]], [[0], [1, 0]]), dissent.DataError, "1 tokens and 2 labels"),
        (lambda w: SoftClassifier().fit([{"a": 1}], [0]), TypeError, "items are"),
        (lambda w: SoftClassifier().fit(["nul\0"], [0]), TypeError, "NUL"),
        (lambda w: SoftClassifier().fit(["\ud800"], [0]), UnicodeEncodeError, "surrogates"),
        (lambda w: SoftClassifier("gold", classes=[0, 1]).fit(w["x"], [2] * 60), dissent.DataError, "not among the classes"),
        (lambda w: SoftClassifier(n_epochs=-1).fit(w["x"], w["soft"].p), ValueError, "epochs"),
        (lambda w: SoftClassifier(accumulate=0).fit(w["x"], w["soft"].p), dissent.OptionError, "accumulate"),
        (lambda w: SoftClassifier(floor=2).fit(w["x"], w["soft"].p), dissent.OptionError, "floor"),
        (lambda w: SoftClassifier(optimizer="magic").fit(w["x"], w["soft"].p), dissent.OptionError, "magic"),
        (lambda w: SoftClassifier(resume=True).fit(w["x"], w["soft"].p), dissent.OptionError, "folder"),
        (lambda w: SoftClassifier(random_state=-1).fit(w["x"], w["soft"].p), dissent.OptionError, "random_state"),
        (lambda w: SoftClassifier(n_jobs=0).fit(w["x"], w["soft"].p), dissent.OptionError, "n_jobs"),
        (lambda w: SoftClassifier(vectors="/no/such/file").fit(["a", "b"], [0, 1]), dissent.FileError, "no/such"),
        (lambda w: SoftClassifier(model=SMALL["mlp"], n_epochs=1).fit(w["x"], w["soft"].p).predict(["a"]), dissent.OptionError, "another kind"),
        (lambda w: SoftClassifier(model=SMALL["mlp"], n_epochs=1).fit(w["x"], w["soft"].p).predict(np.zeros((2, 9))), DissentError, "9"),
        (lambda w: SoftClassifier().set_params(nonsense=1), dissent.OptionError, "no parameter"),
    ],
)  # fmt: skip
def test_refusals(world, call, error, message):
    with pytest.raises(error, match=message):
        call(world)


def test_lenient(world):
    some = SoftLabels(world["soft"].tasks[10:], world["soft"].classes, world["soft"].p[10:])
    with pytest.raises(dissent.DataError, match="nor have 9 others"):
        SoftClassifier(model=SMALL["text"], n_epochs=1).fit(world["texts"], some, tasks=world["tasks"])
    model = SoftClassifier(model=SMALL["text"], n_epochs=1, lenient=True).fit(world["texts"], some, tasks=world["tasks"])
    assert model.n_left_out_ == 10
    gold = [None if i < 4 else world["truth"][t] for i, t in enumerate(world["tasks"])]
    model = SoftClassifier("soft-ce", SMALL["mlp"], n_epochs=1, lenient=True).fit(world["x"], gold)
    assert model.n_left_out_ == 4


things = st.one_of(
    st.none(),
    st.integers(-3, 2**65),
    st.text(max_size=3),
    st.lists(st.text(max_size=3), max_size=3),
    st.lists(st.lists(st.text(max_size=2), max_size=2), max_size=3),
    st.lists(st.floats(), max_size=3),
    st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), max_size=3),
    st.just(np.zeros((3, 2), dtype=np.float32)),
    st.just(np.zeros((3, 2))[::2]),
    st.just(np.zeros(3, dtype=np.uint64)),
)
FINE = (DissentError, TypeError, ValueError, OverflowError, OSError, BufferError)


@settings(deadline=None, max_examples=60)
@given(things, things, things)
def test_anything_is_fitted_or_refused(X, y, more):
    for call in (
        lambda: SoftClassifier(n_epochs=1, n_jobs=1, model=SMALL["text"]).fit(X, y),
        lambda: SoftClassifier("gold", n_epochs=1, n_jobs=1, model=SMALL["mlp"]).fit(X, y, tasks=more),
        lambda: _core.items_from_texts(X, 2, y, more),
        lambda: _core.items_from_texts(["a", "b"], more, X, y),
        lambda: _core.items_from_array(X, (y, more)),
        lambda: _core.items_from_array(np.zeros(6, dtype=np.float32), (3, 2), X),
        lambda: _core.train((X, y, more, None), ["a"]),
        lambda: _core.train((_core.items_from_texts(["a", "b"]), X, y, more), ["a", "b"]),
        lambda: _core.train((_core.items_from_texts(["a"]), None, None, None), X, dev=y),
        lambda: _core.load_model(X),
    ):
        try:
            call()
        except FINE:
            pass


def test_types_are_not_made_by_hand():
    for cls in (_core.Items, _core.Model):
        with pytest.raises(TypeError):
            cls()


SENTENCES = [["the", "Cat", "sat"], ["a", "dog"], ["the", "dog", "saw", "a", "cat"], ["cat"]]
TAGS = [["D", "N", "V"], ["D", "N"], ["D", "N", "V", "D", "N"], ["N"]]
TINY = "word=4,character=3,hidden=3,layers=2,feed=5,dropout=0,letters=6,positions=8"


def tagged(spec):
    return SoftClassifier("gold", spec, n_epochs=3, batch_size=100, learning_rate=0.05).fit(SENTENCES, TAGS)


def test_tokens_with_their_sentences_are_the_same_step():
    """One batch of all tokens is one of all sentences, whichever of the two batches are drawn from."""
    for recipe in ("default", "released"):
        p = [tagged(f"tagger:recipe={recipe},{TINY},units={units}").predict_proba(SENTENCES) for units in ("sentences", "tokens")]
        for a, b in zip(*p):
            assert np.allclose(a, b, rtol=0, atol=1e-4)


def test_recipes_are_defaults():
    rows = {m["name"]: m for m in dissent.models()}
    for name in ("tagger", "stem-cnn"):
        keys = {o["key"] for o in rows[name]["options"]}
        for recipe in rows[name]["recipes"]:
            settings = dict(pair.split("=") for pair in recipe["settings"].split(",") if pair)
            assert settings.keys() <= keys
    settings = {r["name"]: r["settings"] for r in rows["tagger"]["recipes"]}
    p = [np.concatenate(tagged(f"tagger:{spec}").predict_proba(SENTENCES))
         for spec in (f"recipe=paper,{TINY}", f"{TINY},position=no,final-norm=no", f"recipe=released,{TINY},units=sentences")]
    assert np.array_equal(p[0], p[1]) and not np.array_equal(p[0], p[2])
    assert "position=no" in settings["paper"] and "units=tokens" in settings["released"]
    with pytest.raises(DissentError, match="recipe=new"):
        tagged("tagger:recipe=new")


def test_released_stems():
    pairs = [(w, w[:-1]) for w in ("Cats", "dogs", "runs", "eats", "sits", "naps")] + [(w, w) for w in ("Bus", "gas", "as", "is")]
    labels = ["yes"] * 6 + ["no"] * 4
    model = SoftClassifier("gold", "stem-cnn:recipe=released,width=8,second=8,feed=8,length=8,dropout=0", n_epochs=30, learning_rate=0.01)
    p = model.fit(pairs, labels).predict_proba(pairs)
    assert np.allclose(p.sum(1), 1) and (model.predict(pairs) == np.array(labels)).mean() >= 0.9
    lower = [(w.lower(), s.lower()) for w, s in pairs]
    assert np.array_equal(model.predict_proba(lower), p)
    with pytest.raises(DissentError, match="2 classes, not 3"):
        SoftClassifier("gold", "stem-cnn:recipe=released").fit(pairs[:3], ["a", "b", "c"])


def test_order_of_items():
    x, y = np.eye(4, dtype=np.float32)[[0, 1, 2, 3] * 8], np.array(["a", "b"] * 16)
    one = lambda **more: SoftClassifier("gold", "mlp:hidden=8,dropout=0", batch_size=4, learning_rate=0.05, **more).fit(x, y).predict_proba(x)
    assert np.array_equal(one(n_epochs=1), one(n_epochs=1, order="fixed"))
    p = [one(n_epochs=3, order=order) for order in ("shuffled", "fixed", "file")]
    assert np.array_equal(one(n_epochs=3), p[0])
    assert not np.array_equal(p[0], p[1]) and not np.array_equal(p[1], p[2])
    assert np.array_equal(p[2], one(n_epochs=3, order="file", random_state=0))
    with pytest.raises(DissentError, match="shuffled, fixed or file"):
        one(order="sorted")


def test_the_last_of_equal_epochs():
    x, y = np.eye(2, dtype=np.float32)[[0, 1] * 10], np.array(["a", "b"] * 10)
    for last in (False, True):
        m = SoftClassifier("gold", "mlp:hidden=4", n_epochs=5, learning_rate=1e-12, keep_last=last)
        m.fit(x, y, dev=(x, y))
        assert len({h["dev"] for h in m.history_}) == 1 and m.best_epoch_ == (4 if last else 0)


@pytest.mark.parametrize("objective", ["gold", "kl", "gold+kl"])
def test_class_weights_are_copies_of_rare_items(objective):
    """Two items of one class and six of the other: a weight of 2 and one of 2/3 are three copies of each of the two."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(8, 3)).astype(np.float32), np.array(["a"] * 6 + ["b"] * 2)
    more = [0, 1, 2, 3, 4, 5, 6, 7, 6, 7, 6, 7]

    def fitted(rows, weights):
        hard = y[rows]
        soft = np.stack([hard == "a", hard == "b"], 1).astype(float)
        m = SoftClassifier(objective, "mlp:hidden=4,dropout=0", n_epochs=20, batch_size=100, learning_rate=0.5,
                           optimizer="sgd", class_weights=weights)
        if objective == "gold":
            m.fit(x[rows], hard)
        elif objective == "kl":
            m.fit(x[rows], soft)
        else:
            m.fit(x[rows], soft, gold=(hard == "b").astype(int))
        return m.predict_proba(x)

    rows = list(range(8))
    assert np.allclose(fitted(rows, True), fitted(more, False), atol=1e-5)
    assert not np.allclose(fitted(rows, True), fitted(rows, False), atol=1e-2)
    with pytest.raises(DissentError, match="class_weights"):
        SoftClassifier("crowd:mw", "mlp:hidden=4", class_weights=True).fit(
            x, votes=dissent.Votes({"task": list(range(8)), "worker": list("uvuvuvuv"), "label": list(y)}))
