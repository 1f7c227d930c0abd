"""scikit-learn: its own checks of estimators, and the rules that they do not cover."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import dissent
from dissent import SoftClassifier

sklearn = pytest.importorskip("sklearn", minversion="1.6")
SMALL = "mlp:hidden=8,dropout=0"
EXPECTED = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "stochastic gradient descent: other batches give another model; scikit-learn has the same exceptions for SGDClassifier. "
    "test_weights_of_a_full_batch_are_repetitions checks the equivalence for full batches in a fixed order",
)


@pytest.mark.parametrize("objective", ["soft-ce", "gold"])
def test_check_estimator(objective):
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = check_estimator(SoftClassifier(objective), on_fail=None, expected_failed_checks=EXPECTED)
    status = {row["check_name"]: row["status"] for row in rows}
    print(f"check_estimator: {sum(s == 'passed' for s in status.values())} of {len(status)} checks passed")
    assert len(rows) > 50
    assert {name for name, s in status.items() if s == "xfail"} == set(EXPECTED)
    assert [(r["check_name"], r["exception"]) for r in rows if r["status"] == "failed"] == []
    assert {name for name, s in status.items() if s == "skipped"} <= {"check_array_api_input"}


PARAMETER_CHECKS = (
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_do_not_raise_errors_in_init_or_set_param",
)


@pytest.mark.parametrize("name", [*dissent.aggregation.__all__, *dissent.combination.__all__])
def test_label_methods_keep_the_rules_for_parameters(name):
    from sklearn.base import clone
    from sklearn.utils import estimator_checks

    estimator = getattr(dissent, name)()
    for check in PARAMETER_CHECKS:
        if hasattr(estimator_checks, check):
            getattr(estimator_checks, check)(name, clone(estimator))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that checks of arrays do not apply: X is a table of votes
        rows = estimator_checks.check_estimator(estimator, on_fail=None)
    assert {row["status"] for row in rows} == {"passed"}


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=240)
    x = np.eye(3)[y] * 2 + rng.normal(0, 0.5, (240, 3))
    x[:, 2] *= 10
    return x, y


def test_swapped_columns_fail(blobs):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    x, y = blobs
    for make in (lambda a, c: pd.DataFrame(a, columns=c), lambda a, c: pl.DataFrame(a, schema=c)):
        model = SoftClassifier("gold", SMALL, n_epochs=20, learning_rate=0.01).fit(make(x, list("abc")), y)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"] and model.n_features_in_ == 3
        assert model.score(make(x, list("abc")), y) > 0.9
        swapped = make(x, list("abc"))[["c", "a", "b"]]
        for call in (model.predict, model.predict_proba, model.predict_log_proba):
            with pytest.raises(ValueError, match="same order as they were in fit"):
                call(swapped)
        with pytest.raises(ValueError, match="unseen at fit time:\n- d\n.*now missing:\n- b"):
            model.predict(make(x, ["a", "d", "c"]))
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.predict(x)
        again = pickle.loads(pickle.dumps(model))
        with pytest.raises(ValueError, match="same order"):
            again.predict(swapped)


def test_names_of_features_are_in_the_folder(blobs, tmp_path):
    pd = pytest.importorskip("pandas")
    x, y = blobs
    frame = pd.DataFrame(x, columns=list("abc"))
    SoftClassifier("gold", SMALL, n_epochs=1).fit(frame, y.astype(str)).save(tmp_path / "model")
    model = SoftClassifier.load(tmp_path / "model")
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[["b", "a", "c"]])
    assert model.classes_.tolist() == ["0", "1", "2"]


def test_sparse_is_dense(blobs):
    sparse = pytest.importorskip("scipy.sparse")
    x, y = blobs
    dense = SoftClassifier("gold", SMALL, n_epochs=2).fit(x, y).predict_proba(x)
    for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        assert np.array_equal(SoftClassifier("gold", SMALL, n_epochs=2).fit(make(x), y).predict_proba(make(x)), dense)


@pytest.mark.parametrize("objective", ["gold", "soft-ce", "kl", "inverse-kl", "js", "gold+kl"])
def test_weights_of_a_full_batch_are_repetitions(blobs, objective):
    """With one batch in a fixed order, weights 0, 1 and 2 give the model of items left out, kept and repeated."""
    x, y = blobs
    times = np.arange(len(y)) % 3
    soft = np.full((len(y), 3), 0.1)
    soft[np.arange(len(y)), y] = 0.8
    settings = {"n_epochs": 40, "batch_size": 1000, "learning_rate": 0.01, "order": "file"}

    def fit(rows, **weights):
        model = SoftClassifier(objective, SMALL, **settings)
        if objective == "gold":
            return model.fit(x[rows], y[rows], **weights)
        return model.fit(x[rows], soft[rows], gold=y[rows] if "gold" in objective else None, **weights)

    weighted = fit(np.arange(len(y)), sample_weight=times).predict_proba(x)
    repeated = fit(np.repeat(np.arange(len(y)), times)).predict_proba(x)
    plain = fit(np.arange(len(y))).predict_proba(x)
    assert np.abs(weighted - repeated).max() < 1e-3 < 1e-2 < np.abs(weighted - plain).max()
    assert np.allclose(fit(np.arange(len(y)), sample_weight=np.full(len(y), 2.0)).predict_proba(x), plain, atol=1e-3)


def test_weights_select_what_is_learned(blobs):
    """Two labels for the same items: the model learns those that have the weight, in out-of-fold predictions too."""
    x, y = blobs
    other = (y + 1) % 3
    both, labels = np.concatenate([x, x]), np.concatenate([y, other])
    weight = np.repeat([1.0, 0.01], len(y))
    model = SoftClassifier("gold", SMALL, n_epochs=30, learning_rate=0.01)
    assert model.fit(both, labels, sample_weight=weight).score(x, y) > 0.9
    assert model.fit(both, labels, sample_weight=weight[::-1]).score(x, other) > 0.9
    p = model.out_of_fold(both, labels, folds=3, sample_weight=weight)
    assert (p[: len(y)].argmax(axis=1) == y).mean() > 0.9
    assert model.score(x, other, sample_weight=(other == 0) + 0.0) > 0.8


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1.0], "sample_weight"), (-1.0, "negative|0 or more"), (0.0, "zero"), (np.nan, "finite"), ("a", "number per item")],
)
def test_refused_weights(blobs, weights, message):
    x, y = blobs
    with pytest.raises(dissent.DissentError, match=message):
        SoftClassifier("gold", SMALL, n_epochs=1).fit(x, y, sample_weight=weights)


def test_objectives_of_votes_refuse_weights(crowd):
    x = np.eye(60, 3)
    votes = dissent.Votes(dict(zip(("task", "worker", "label"), crowd[:3])))
    for objective in ("crowd:mw", "annotator"):
        with pytest.raises(dissent.OptionError, match="weights of items"):
            SoftClassifier(objective, SMALL, n_epochs=1).fit(
                x, votes=votes, tasks=votes.tasks.tolist(), sample_weight=np.ones(60)
            )


def test_continuous_targets_fail_unless_declared(blobs):
    x, _ = blobs
    y = np.where(np.arange(len(x)) % 2, 1.5, 2.0)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        SoftClassifier("gold", SMALL, n_epochs=1).fit(x, y)
    assert SoftClassifier("gold", SMALL, n_epochs=1, classes=[1.5, 2.0]).fit(x, y).classes_.tolist() == [1.5, 2.0]


def test_tags(blobs):
    from sklearn.utils import get_tags

    tags = get_tags(SoftClassifier())
    assert tags.estimator_type == "classifier" and tags.target_tags.required and tags.classifier_tags.multi_class
    assert tags.input_tags.sparse and tags.input_tags.string and not tags.input_tags.allow_nan
    x, y = blobs
    with pytest.raises(ValueError, match="NaN"):
        SoftClassifier("gold", SMALL, n_epochs=1).fit(np.where(x > 20, np.nan, x) * np.nan, y)


def test_log_probabilities(blobs):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    x, y = blobs
    model = SoftClassifier("gold", SMALL, n_epochs=3).fit(x, y)
    p = model.predict_proba(x)
    assert np.allclose(np.exp(model.predict_log_proba(x)), p, rtol=1e-6) and np.allclose(p.sum(axis=1), 1)
    assert np.array_equal(model.predict_log_proba(scipy_sparse.csr_matrix(x)), model.predict_log_proba(x))


def test_not_fitted():
    from sklearn.exceptions import NotFittedError

    for call in (
        lambda: SoftClassifier().predict(np.eye(2)),
        lambda: dissent.DawidSkene().probas_,
        lambda: dissent.Average().labels_,
    ):
        with pytest.raises(NotFittedError, match="not fitted") as caught:
            call()
        assert isinstance(caught.value, dissent.NotFittedError)
    assert not hasattr(SoftClassifier(), "classes_")


def test_nested_parameters():
    from sklearn.base import clone

    model = SoftClassifier(aggregator=dissent.DawidSkene(n_iter=7))
    assert model.get_params()["aggregator__n_iter"] == 7 and "aggregator__n_iter" not in model.get_params(deep=False)
    model.set_params(aggregator__n_iter=9, n_epochs=2)
    assert model.aggregator.n_iter == 9 and model.n_epochs == 2
    copy = clone(model)
    assert copy.aggregator is not model.aggregator and copy.aggregator.n_iter == 9
    with pytest.raises(dissent.OptionError, match="no parameter"):
        model.set_params(aggregator__nonsense=1)
    with pytest.raises(dissent.OptionError, match="no parameters of its own"):
        SoftClassifier().set_params(aggregator__n_iter=1)


def test_in_a_pipeline_and_a_search(blobs):
    from sklearn.base import is_classifier
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = blobs
    model = SoftClassifier("gold", SMALL, n_epochs=10, learning_rate=0.01)
    assert is_classifier(model)
    search = GridSearchCV(make_pipeline(StandardScaler(), model), {"softclassifier__learning_rate": [1e-5, 0.01]}, cv=3)
    assert search.fit(x, y).best_params_ == {"softclassifier__learning_rate": 0.01}
    assert CalibratedClassifierCV(model, cv=3).fit(x, y).score(x, y) > 0.9
