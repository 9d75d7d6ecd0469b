"""transformers' interface: by hand, and in a real Trainer of a tiny model."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import evaluate_matrix
from irbatch.integrations.transformers import ComputeMetrics

# Deprecations inside torch and accelerate, which say nothing about us.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*pin_memory.*:UserWarning"),
]

MEASURES = ["nDCG@10", "RR", "P@1"]
LOG3 = math.log2(3)
# Two queries; of the second only two documents are candidates, whatever the padding's score.
SCORES = [[0.1, 0.9, 0.4], [0.2, 0.1, 5.0]]
LABELS = [[0, 0, 1], [0, 1, -100]]
BY_HAND = {"nDCG@10": (1 / LOG3 + 1 / LOG3) / 2, "RR": (1 / 2 + 1 / 2) / 2, "P@1": 0.0}


def given(predictions: Any, label_ids: Any, inputs: Any = None) -> Any:
    return SimpleNamespace(predictions=predictions, label_ids=label_ids, inputs=inputs)


def arrays(dtype: str = "float32") -> tuple[Any, Any]:
    return np.array(SCORES, dtype), np.array(LABELS)


def test_cutoffs_and_spelling() -> None:
    compute = ComputeMetrics("nDCG P", [1, 10], names="sentence-transformers")
    assert list(compute(given(*arrays()))) == ["ndcg@1", "ndcg@10", "precision@1", "precision@10"]
    compute = ComputeMetrics("MRR@10", names="as given")
    assert list(compute(given(*arrays()))) == ["MRR@10"]


def test_of_tuples_the_first_is_meant_and_a_last_axis_of_one_goes() -> None:
    scores, labels = arrays()
    compute = ComputeMetrics(MEASURES)
    expected = compute(given(scores, labels))
    assert compute(given((scores, scores * -1), (labels, labels * 0))) == expected
    assert compute(given(scores[..., None], labels)) == expected


def test_lists_are_batches() -> None:
    scores, labels = arrays()
    narrow = [scores[:1], scores[1:, :2]], [labels[:1], labels[1:, :2]]
    compute = ComputeMetrics(MEASURES, query_ids=[7, 3])
    assert compute(SimpleBatch(*narrow)) == pytest.approx(BY_HAND, abs=1e-15)
    assert compute.results is not None
    assert compute.results.query_ids == [7, 3]


class SimpleBatch(SimpleNamespace):
    """What can be made again of its parts, as an EvalPrediction can."""

    def __init__(self, predictions: Any, label_ids: Any, inputs: Any = None) -> None:
        super().__init__(predictions=predictions, label_ids=label_ids, inputs=inputs)


def test_the_last_batch_computes_and_resets() -> None:
    scores, labels = arrays()
    compute = ComputeMetrics(MEASURES)
    for _ in range(2):
        assert compute(given(scores[:1], labels[:1]), compute_result=False) == {}
        found = compute(given(scores[1:], labels[1:]), compute_result=True)
        assert found == pytest.approx(BY_HAND, abs=1e-15)
        assert {type(value) for value in found.values()} == {float}
        assert compute.results is not None
        assert compute.results.counts.queries == 2
        assert compute.results.per_query("RR") == {0: 0.5, 1: 0.5}


def test_a_failing_evaluation_is_forgotten() -> None:
    scores, labels = arrays()
    compute = ComputeMetrics(MEASURES)
    whole = compute(given(scores, labels))
    compute(given(scores[:1], labels[:1]), compute_result=False)
    input_error(lambda: compute(given(scores[:, :2], labels), compute_result=False))
    assert compute(given(scores, labels), compute_result=True) == whole
    assert compute.results is not None
    assert compute.results.counts.queries == 2
    compute(given(-scores[:1], labels[:1]), compute_result=False)  # interrupted
    assert compute(given(scores, labels)) == whole
    assert compute.results.counts.queries == 2


# The same two queries, a row a document, those of a query apart; rows of -100 are padding.
QUERIES = ["b", "a", "padding", "b", "a", "a", "b"]
PAIR_SCORES = [0.1, 0.2, 1.0, 0.9, 9.0, 0.1, 0.4]
PAIR_LABELS = [0, 0, -100, 0, -100, 1, 1]


def logits(scores: Any) -> Any:
    """Two classes, whose difference is the score."""
    return np.stack([np.full(len(scores), 3.0), 3.0 + np.array(scores)], 1)


@pytest.mark.parametrize(
    "shape", [np.array, lambda scores: np.array(scores)[:, None], logits], ids=["n", "n1", "n2"]
)
@pytest.mark.parametrize("ids", [QUERIES, lambda each: np.array(each.inputs["query"])])
def test_rows_of_pairs(shape: Callable[[Any], Any], ids: Any) -> None:
    compute = ComputeMetrics(MEASURES, query_ids=ids)
    scores, labels = shape(PAIR_SCORES), np.array(PAIR_LABELS)
    whole = compute(given(scores, labels, {"query": QUERIES}))
    assert whole == pytest.approx(BY_HAND, abs=1e-15)
    assert compute.results is not None
    assert sorted(compute.results.query_ids) == ["a", "b"]
    for part, last in ((slice(3), False), (slice(3, None), True)):
        batch = given(scores[part], labels[part, None], {"query": QUERIES[part]})
        found = compute(batch, compute_result=last)
    assert found == whole


@pytest.mark.parametrize(
    ("prediction", "options", "fact"),
    [
        (given(np.array(PAIR_SCORES), np.array(PAIR_LABELS)), {}, "need query_ids"),
        (given(np.array(PAIR_SCORES), np.array(PAIR_LABELS)), {"query_ids": QUERIES[:4]}, "4 ids"),
        (given(np.ones((7, 3)), np.array(PAIR_LABELS)), {"query_ids": QUERIES}, "(7, 3)"),
        (given(np.ones(5), np.array(PAIR_LABELS)), {"query_ids": QUERIES}, "(5,)"),
        (given(None, np.array(LABELS)), {}, "predictions: None is no array"),
        (given(np.array(SCORES), None), {}, "the Trainer passed no labels"),
        (given(np.array([[math.nan, 1.0]]), np.array([[1, 0]])), {}, "nan"),
    ],
)
def test_refusals(prediction: Any, options: dict[str, Any], fact: str) -> None:
    compute = ComputeMetrics(MEASURES, **options)
    input_error(lambda: compute(prediction), fact)
    assert compute.results is None


@pytest.mark.parametrize("options", [{"measures": "nGCD"}, {"ties": "x"}, {"ties": "id"}])
def test_options_are_checked_before_training(options: dict[str, Any]) -> None:
    input_error(lambda: ComputeMetrics(**{"measures": "RR", **options}))


# In a Trainer.


@pytest.fixture(scope="module")
def hf() -> Any:
    pytest.importorskip("accelerate", reason="pip install accelerate")
    return pytest.importorskip("transformers", reason="pip install 'irbatch[transformers]'")


def list_queries(count: int, seed: int, fewest: int = 3) -> list[dict[str, Any]]:
    """Queries of different numbers of candidates; the first feature says what is relevant."""
    torch = pytest.importorskip("torch", reason="pip install torch")
    rng = np.random.default_rng(seed)
    queries = []
    for query in range(count):
        features = rng.normal(size=(int(rng.integers(fewest, 9)), 3)).astype("float32")
        labels = (features[:, 0] > 0.3).astype("int64")
        queries.append({"features": torch.tensor(features), "labels": torch.tensor(labels),
                        "query": 1000 - query})  # fmt: skip
    return queries


def make_ranker(two: bool = False, extra: bool = False) -> Any:
    """A linear model over candidates' features."""
    torch = pytest.importorskip("torch", reason="pip install torch")

    class Ranker(torch.nn.Module):  # type: ignore[misc, name-defined]
        main_input_name = "query"

        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(3)
            self.score = torch.nn.Linear(3, 2 if two else 1)

        def forward(self, features: Any, labels: Any = None, query: Any = None) -> dict[str, Any]:
            found = self.score(features)
            scores = found if two else found[..., 0]
            single = found[..., 1] - found[..., 0] if two else scores
            kept = labels != -100
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                single[kept], labels[kept].float()
            )
            return {"loss": loss, "logits": scores} | ({"more": scores * -1} if extra else {})

    return Ranker()


def pad(batch: list[dict[str, Any]]) -> dict[str, Any]:
    from torch.nn.utils.rnn import pad_sequence

    return {
        "features": pad_sequence([each["features"] for each in batch], batch_first=True),
        "labels": pad_sequence([each["labels"] for each in batch], batch_first=True,
                               padding_value=-100),
    }  # fmt: skip


def make_trainer(hf: Any, path: Path, model: Any, data: Any, compute: Any, **options: Any) -> Any:
    settings = {
        "output_dir": str(path), "report_to": [], "use_cpu": True, "disable_tqdm": True,
        "per_device_train_batch_size": 4, "per_device_eval_batch_size": 4, "seed": 5,
        "remove_unused_columns": False, "learning_rate": 0.05, **options,
    }  # fmt: skip
    args = hf.TrainingArguments(**settings)
    collator = pad if data[0]["labels"].ndim else hf.default_data_collator
    return hf.Trainer(model=model, args=args, train_dataset=data, eval_dataset=data,
                      data_collator=collator, compute_metrics=compute)  # fmt: skip


def expected_of(model: Any, queries: list[dict[str, Any]]) -> dict[str, float]:
    """What comes out of labels in the order of the model's scores, query by query."""
    ordered = []
    for each in queries:
        scores = model.score(each["features"]).detach()
        single = scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores[:, 0]
        ordered.append(each["labels"][single.argsort(descending=True)].tolist())
    return {f"eval_{k}": v for k, v in evaluate_matrix(ordered, MEASURES).mean().items()}


def only_ranking(metrics: dict[str, float]) -> dict[str, float]:
    return {key: value for key, value in metrics.items() if key.partition("_")[2] in MEASURES}


@pytest.mark.smoke
@pytest.mark.parametrize("extra", [False, True])
def test_a_trainer_evaluates(hf: Any, tmp_path: Path, extra: bool) -> None:
    queries, model = list_queries(10, 1), make_ranker(extra=extra)
    found = []
    for options in ({}, {"batch_eval_metrics": True}, {"eval_do_concat_batches": False},
                    {"eval_accumulation_steps": 1}):  # fmt: skip
        compute = ComputeMetrics(MEASURES)
        trainer = make_trainer(hf, tmp_path, model, queries, compute, **options)
        for _ in range(2):
            found.append(only_ranking(trainer.evaluate()))
            assert compute.results is not None
            assert compute.results.counts.queries == 10
    assert found[0] == expected_of(model, queries)
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("batches", [False, True])
def test_the_best_model_is_chosen(hf: Any, tmp_path: Path, batches: bool) -> None:
    queries, model = list_queries(16, 2), make_ranker()
    before = expected_of(model, queries)
    trainer = make_trainer(
        hf, tmp_path, model, queries, ComputeMetrics(MEASURES), num_train_epochs=3,
        eval_strategy="epoch", save_strategy="epoch", load_best_model_at_end=True,
        metric_for_best_model="eval_nDCG@10", greater_is_better=True, batch_eval_metrics=batches,
    )  # fmt: skip
    trainer.train()
    seen = [each["eval_nDCG@10"] for each in trainer.state.log_history if "eval_nDCG@10" in each]
    assert len(seen) == 3
    assert trainer.state.best_metric == max(seen) > before["eval_nDCG@10"]
    assert expected_of(trainer.model, queries)["eval_nDCG@10"] == max(seen)


@pytest.mark.parametrize("two", [False, True])
def test_a_trainer_of_pairs(hf: Any, tmp_path: Path, two: bool) -> None:
    queries, model = list_queries(10, 4), make_ranker(two)
    pairs = [
        {"features": each["features"][row], "labels": each["labels"][row], "query": each["query"]}
        for each in queries
        for row in range(len(each["labels"]))
    ]
    np.random.default_rng(6).shuffle(pairs)  # type: ignore[arg-type]
    ids = [pair["query"] for pair in pairs]
    for query_ids, options in (
        (ids, {}),
        (ids, {"batch_eval_metrics": True}),
        (ids, {"eval_do_concat_batches": False}),
        (lambda each: each.label_ids[1], {"label_names": ["labels", "query"]}),
        (lambda each: each.label_ids[1],
         {"label_names": ["labels", "query"], "batch_eval_metrics": True}),
        (lambda each: each.inputs, {"include_for_metrics": ["inputs"]}),
        (lambda each: each.inputs["query"],
         {"include_for_metrics": ["inputs"], "batch_eval_metrics": True}),
    ):  # fmt: skip
        compute = ComputeMetrics(MEASURES, query_ids=query_ids)
        trainer = make_trainer(hf, tmp_path, model, pairs, compute, **options)
        assert only_ranking(trainer.evaluate()) == expected_of(model, queries)
        assert compute.results is not None
        assert set(compute.results.query_ids) == set(ids)
