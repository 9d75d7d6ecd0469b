"""Keras' interface: a callback in a real fit, on torch unless another backend is asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import evaluate_matrix, evaluate_scores

# Deprecations inside Keras and torch, which say nothing about us.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

QUERIES, CANDIDATES, FEATURES = 24, 6, 3
MEASURES = ["nDCG@10", "RR"]


@pytest.fixture(scope="module")
def keras() -> Any:
    os.environ.setdefault("KERAS_BACKEND", "torch")
    reason = "pip install 'irbatch[keras]' and a backend"
    module = pytest.importorskip("keras", reason=reason, exc_type=ImportError)
    module.utils.set_random_seed(7)
    return module


@pytest.fixture
def callback(keras: Any) -> Any:
    from irbatch.integrations.keras import EvaluateRanking

    return EvaluateRanking


@pytest.fixture
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(QUERIES, CANDIDATES, FEATURES)).astype("float32")
    labels = (inputs[..., 0] + rng.normal(size=inputs.shape[:2]) > 0.8).astype("float32")
    return inputs, labels


@pytest.fixture
def model(keras: Any) -> Any:
    keras.utils.set_random_seed(7)
    layers = [keras.layers.Input((CANDIDATES, FEATURES)), keras.layers.Dense(1),
              keras.layers.Reshape((CANDIDATES,))]  # fmt: skip
    made = keras.Sequential(layers)
    made.compile(loss="mse", optimizer=keras.optimizers.SGD(0.1))
    return made


def expected_of(model: Any, inputs: Any, labels: Any) -> dict[str, float]:
    """What comes out of labels in the order of the model's scores."""
    order = np.argsort(-model.predict(inputs, verbose=0), axis=1)
    return evaluate_matrix(np.take_along_axis(labels, order, 1).astype(int), MEASURES).mean()


@pytest.mark.smoke
def test_the_history_holds_it(callback: Any, model: Any, data: Any) -> None:
    seen: list[dict[str, float]] = []

    class Watch(callback):  # type: ignore[misc]
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            super().on_epoch_end(epoch, logs)
            seen.append(expected_of(self.model, *data))

    history = model.fit(*data, epochs=3, verbose=0, callbacks=[Watch(data, MEASURES)]).history
    assert len(seen) == 3
    for name in MEASURES:
        assert history[f"val_{name}"] == [each[name] for each in seen]
    assert len(set(history["val_nDCG@10"])) > 1, "the model learns"


def test_early_stopping_and_checkpoints_see_it(
    keras: Any, callback: Any, model: Any, data: Any, tmp_path: Path
) -> None:
    values = iter([0.1, 0.9, 0.3, 0.2, 0.95])  # where the one relevant document stands is ours
    ranking = callback(lambda model: ([[next(values), 0.5, 0.25]], [[0, 1, 0]]), "RR")
    stopping = keras.callbacks.EarlyStopping("val_RR", mode="max", patience=1)
    path = tmp_path / "{epoch}-{val_RR:.2f}.weights.h5"
    saving = keras.callbacks.ModelCheckpoint(
        str(path), "val_RR", mode="max", save_best_only=True, save_weights_only=True
    )
    kept = [ranking, saving, stopping]
    history = model.fit(*data, epochs=5, verbose=0, callbacks=kept).history
    assert history["val_RR"] == [1.0, 0.5]
    assert stopping.stopped_epoch == 1
    assert [each.name for each in tmp_path.iterdir()] == ["1-1.00.weights.h5"]


def test_ways_to_give_what_to_validate(keras: Any, callback: Any, model: Any, data: Any) -> None:
    inputs, labels = data
    halves = [(inputs[:10], labels[:10]), (inputs[10:], labels[10:])]

    class Batches(keras.utils.PyDataset):  # type: ignore[misc, name-defined]
        def __len__(self) -> int:
            return 2

        def __getitem__(self, number: int) -> Any:
            return halves[number]

    def predict(model: Any) -> Any:
        return model.predict(inputs, verbose=0), labels

    def call(model: Any) -> Any:
        return model(inputs)[..., None], labels  # a tensor of the backend, which may want gradients

    ranked = [
        callback(data, MEASURES),
        callback((*data, np.ones(QUERIES)), MEASURES),
        callback(halves, MEASURES),
        callback([(*half, None) for half in halves], MEASURES),
        callback(Batches(), MEASURES),
        callback(predict, MEASURES),
        callback(call, MEASURES),
    ]
    names = [str(number) for number in range(len(ranked))]
    for each, name in zip(ranked, names, strict=True):
        each._prefix = name
    history = model.fit(*data, epochs=2, verbose=0, callbacks=ranked).history
    for name in names:
        found = history[f"{name}nDCG@10"]
        assert found == pytest.approx(history["0nDCG@10"], abs=0 if name != "6" else 1e-12)
    for each in ranked:
        assert each.results.counts.queries == QUERIES


def test_options(callback: Any, model: Any, data: Any) -> None:
    inputs, labels = data
    padded = np.where(np.arange(CANDIDATES) < 4, labels, -100)
    ranking = callback((inputs, padded), "nDCG RR", [1, 3], prefix="dev/", names="beir",
                       no_relevant="skip", ties="optimistic")  # fmt: skip
    history = model.fit(*data, epochs=2, verbose=0, callbacks=[ranking]).history
    assert {len(each) for name, each in history.items() if name.startswith("dev/")} == {2}
    assert {name for name in history if name.startswith("dev/")} == {
        "dev/NDCG@1", "dev/NDCG@3", "dev/MRR@1", "dev/MRR@3",
    }  # fmt: skip
    scores = model.predict(inputs, verbose=0)
    expected = evaluate_scores(scores, padded, "RR@3", no_relevant="skip", ties="optimistic")
    assert ranking.evaluate()["RR@3"] == expected["RR@3"]


def test_bad_scores_reach_whoever_fits(callback: Any, model: Any, data: Any) -> None:
    inputs, labels = data
    ranking = callback((inputs, labels[:, :-1]), MEASURES)
    input_error(lambda: model.fit(*data, epochs=1, verbose=0, callbacks=[ranking]))
    assert ranking.results is None


@pytest.mark.parametrize(
    ("validation", "options", "fact"),
    [
        (5, {}, "an int is neither"),
        (iter([]), {}, "batches that can be had in every epoch"),
        ([], {"measures": "nGCD@10"}, "nGCD"),
        ([], {"ties": "never"}, "never"),
        ([], {"ties": "id"}, "'id'"),
    ],
)
def test_refusals(callback: Any, validation: Any, options: Any, fact: str) -> None:
    input_error(lambda: callback(validation, **{"measures": "RR", **options}), fact)
