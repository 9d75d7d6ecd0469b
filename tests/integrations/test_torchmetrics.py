"""torchmetrics' interface: by hand, against torchmetrics, and over two processes."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import ddp_worker
from support.ddp_worker import MEASURES
from support.input_errors import input_error

from irbatch import InputWarning, evaluate_scores

# Deprecations inside torch, which say nothing about us.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:torch.*"),
]

SCORES, LABELS = ddp_worker.make_data()
QUERIES, CANDIDATES = SCORES.shape
PARTS = [slice(5), slice(5, 6), slice(6, None)]
WHOLE = evaluate_scores(SCORES, LABELS, MEASURES).mean()


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="pip install torch")


@pytest.fixture(scope="module")
def theirs(torch: Any) -> Any:
    return pytest.importorskip("torchmetrics", reason="pip install 'irbatch[torchmetrics]'")


@pytest.fixture(scope="module")
def ours(theirs: Any) -> Any:
    from irbatch.integrations import torchmetrics

    return torchmetrics


def plain(values: Any) -> Any:
    """Tensors as numbers."""
    if isinstance(values, dict):
        return {name: plain(value) for name, value in values.items()}
    assert str(values.dtype) == "torch.float64"
    assert values.shape == ()
    return values.item()


def ids_of(metric: Any, queries: Any) -> dict[str, Any]:
    """The queries' ids, for metrics that take them: one a query, or one a document."""
    first = next(iter(metric.values())) if hasattr(metric, "values") else metric
    if not hasattr(first, "_by_id"):
        return {"indexes": np.repeat(queries, CANDIDATES).reshape(-1, CANDIDATES)}
    return {"query_ids": queries} if first._by_id else {}


def feed(metric: Any, parts: Any = PARTS) -> Any:
    for part in parts:
        metric.update(SCORES[part], LABELS[part], **ids_of(metric, np.arange(QUERIES)[part]))
    return metric


KINDS = pytest.mark.parametrize("kind", ["sums", "queries", "columns"])


def make(ours: Any, kind: str, measures: Any = MEASURES, **options: Any) -> Any:
    if kind == "columns":
        return ours.RetrievalMetric(measures, **options)
    return ours.RankingMetric(measures, by_id=kind == "queries", **options)


def states(metric: Any) -> Any:
    return {
        name: [each.tolist() for each in state] if isinstance(state, list) else state.tolist()
        for name, state in metric.metric_state.items()
    }


@KINDS
@pytest.mark.parametrize(
    "options",
    [{}, {"ties": "pessimistic"}, {"ties": "index"}, {"no_relevant": "skip"},
     {"measures": [*MEASURES, "NumRel", "NumRet", "GMAP"]},
     {"measures": "nDCG RR", "cutoffs": [1, 10]}],
)  # fmt: skip
def test_options(ours: Any, options: dict[str, Any], kind: str) -> None:
    if kind == "columns" and "GMAP" in options.get("measures", ""):
        pytest.skip("the mean of columns is arithmetic")
    expected = evaluate_scores(SCORES, LABELS, **{"measures": MEASURES, **options}).mean()
    skips = options == {"no_relevant": "skip"} and kind == "columns"
    options = {"empty_target_action": "skip"} if skips else options
    metric = feed(make(ours, kind, **options))
    assert plain(metric.compute()) == expected
    assert (list(metric.compute()), metric.update_count) == (list(expected), 3)
    assert plain(feed(make(ours, kind, **options), PARTS[::-1]).compute()) == expected


@KINDS
def test_one_measure_is_a_number(ours: Any, kind: str) -> None:
    assert plain(feed(make(ours, kind, "RR")).compute()) == WHOLE["RR"]
    if kind != "columns":
        assert plain(feed(make(ours, kind, report="mrr")).compute()) == WHOLE["RR"]


@KINDS
@pytest.mark.filterwarnings("ignore:.*no query has a rel")
def test_forward_is_the_batch_s(ours: Any, kind: str) -> None:
    metric = make(ours, kind)
    for part in PARTS:
        found = metric(SCORES[part], LABELS[part], **ids_of(metric, np.arange(QUERIES)[part]))
        assert plain(found) == evaluate_scores(SCORES[part], LABELS[part], MEASURES).mean()
    assert plain(metric.compute()) == WHOLE


BAD = np.where(np.arange(CANDIDATES) == 4, math.nan, SCORES)
BAD_COLUMNS: list[tuple[Any, str]] = [
    (([0.1, 0.2], [1], [0, 0]), "shape"),
    (([0.1, 0.2], [1, 0], None), "indexes"),
    (([0.1, 0.2], [1, 0], [0.5, 0.0]), "indexes"),
    (([0.1, 0.2], [1, math.nan], [0, 0]), "nan"),
    ((["a", "b"], [1, 0], [0, 0]), "preds"),
]


@KINDS
@pytest.mark.parametrize("way", ["update", "forward"])
def test_bad_input_leaves_the_state(ours: Any, kind: str, way: str) -> None:
    metric = feed(make(ours, kind))
    before, call = states(metric), getattr(metric, way)
    ids = ids_of(metric, np.arange(QUERIES))
    input_error(lambda: call(BAD, LABELS, **ids), "nan")
    input_error(lambda: call(SCORES, LABELS[:, 1:], **ids))
    for columns, fact in BAD_COLUMNS if kind == "columns" else []:
        input_error(lambda columns=columns: call(*columns), fact)
    assert states(metric) == before
    assert plain(metric.compute()) == WHOLE
    metric.reset()
    assert plain(feed(metric).compute()) == WHOLE


@KINDS
def test_before_the_first_batch_and_one_of_nothing(ours: Any, torch: Any, kind: str) -> None:
    metric = make(ours, kind)
    with pytest.warns(UserWarning, match="before the ``update`` method"):
        assert all(map(math.isnan, plain(metric.compute()).values()))
    nothing = torch.zeros(0, CANDIDATES)
    metric.update(nothing, nothing, **ids_of(metric, np.zeros(0, np.int64)))
    assert plain(feed(metric).compute()) == WHOLE


@KINDS
def test_states_travel(ours: Any, torch: Any, kind: str, tmp_path: Path) -> None:
    """As copies, through files and merged; the types of models do not reach them."""
    metric = feed(make(ours, kind), PARTS[:1])
    partial = plain(metric.clone().compute())
    assert partial == evaluate_scores(SCORES[:5], LABELS[:5], MEASURES).mean()
    assert metric.state_dict() == {}
    metric.persistent(True)
    model = torch.nn.ModuleDict({"validation": metric, "layer": torch.nn.Linear(1, 1)})
    model.half().to(torch.bfloat16)
    metric.set_dtype(torch.float16)
    torch.save(model.state_dict(), tmp_path / "saved")
    loaded, merged = make(ours, kind), make(ours, kind)
    saved = torch.load(tmp_path / "saved", weights_only=True)
    torch.nn.ModuleDict({"validation": loaded, "layer": model["layer"]}).load_state_dict(saved)
    merged.merge_state(metric)
    copies = [metric.clone(), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), loaded]
    for each in (*copies, merged):
        assert plain(feed(each, PARTS[1:]).compute()) == WHOLE
        each.reset()
        assert plain(feed(each, PARTS[:1]).compute()) == partial
    assert plain(metric.compute()) == partial
    if kind != "columns":
        other = feed(make(ours, kind, MEASURES[::-1]), PARTS[1:])
        with pytest.raises(ValueError, match="Expected state variable"):
            metric.merge_state(other)


def test_metrics_of_different_measures_are_not_merged(ours: Any, theirs: Any) -> None:
    """One document a query: every measure's first values, and so their sums, are the same."""
    settings: dict[str, dict[str, Any]] = {
        "a": {"measures": "nDCG@10"}, "b": {"measures": "RR"}, "c": {"measures": "P@1"},
        "d": {"measures": "RR", "ties": "pessimistic"}, "e": {"measures": "RR", "nan": "last"},
        "f": {"measures": "RR", "no_relevant": "skip"}, "g": {"measures": "RR"},
    }  # fmt: skip
    metrics = {name: ours.RankingMetric(**each) for name, each in settings.items()}
    collection = theirs.MetricCollection(metrics, prefix="val/")
    collection.update([[1.0]], [[1]])
    groups = sorted(map(sorted, collection.compute_groups.values()))
    assert groups == [["a"], ["b", "g"], ["c"], ["d"], ["e"], ["f"]]
    collection.reset()
    found = plain(feed(collection).compute())
    for name, each in settings.items():
        (expected,) = evaluate_scores(SCORES, LABELS, **each).mean().values()
        assert found[f"val/{name}"] == expected


@pytest.mark.parametrize("names", [[], ["as given"]])
def test_collections_share_the_work_and_names(ours: Any, theirs: Any, names: list[str]) -> None:
    options: dict[str, Any] = {"measures": "MRR hit_rate", "cutoffs": [1, 5], "ties": "pessimistic"}
    named = options | dict(zip(["names"], names, strict=False))

    def expected(part: slice) -> Any:
        return evaluate_scores(SCORES[part], LABELS[part], **options).mean(*names)

    collection = ours.make_collection(prefix="val/", **named)
    for part in PARTS:
        found = plain(collection(SCORES[part], LABELS[part]))
        assert found == {f"val/{name}": value for name, value in expected(part).items()}
    whole = expected(slice(None))
    flat = theirs.MetricCollection([ours.RankingMetric(**named)], prefix="val/")
    for each in (collection, feed(flat)):
        assert plain(each.compute()) == {f"val/{name}": value for name, value in whole.items()}
    collection.reset()
    feed(collection)
    assert list(collection.compute_groups.values()) == [list(whole)]
    assert {each.update_count for each in collection.values()} == {3}
    clone = collection.clone(prefix="x/")
    assert plain(clone.compute()).keys() == {f"x/{name}" for name in whole}


@KINDS
def test_torchmetrics_keywords(ours: Any, theirs: Any, torch: Any, kind: str) -> None:
    """A collection with torchmetrics' own metrics is called by keyword; gradients may be wanted."""
    scores, labels = torch.tensor(SCORES, requires_grad=True), torch.tensor(LABELS)
    own, metric = theirs.retrieval.RetrievalMRR(), make(ours, kind, "RR")
    both = theirs.MetricCollection({"ours": metric.clone(), "theirs": own})
    indexes = torch.arange(QUERIES)[:, None].expand(-1, CANDIDATES)
    ids = {"query_ids": torch.arange(QUERIES)} if kind == "queries" else {}
    both(preds=scores * 1, target=labels > 0, indexes=indexes, **ids)
    found = both.compute()
    assert plain(found["ours"]) == evaluate_scores(SCORES, LABELS > 0, "RR")["RR"]
    assert not metric.is_differentiable
    assert metric.higher_is_better
    if kind != "columns":
        metric.update(preds=scores, target=labels > 0, **ids)
        assert plain(metric.compute()) == plain(found["ours"])


def test_scores_that_are_nan_on_request(ours: Any, torch: Any) -> None:
    metric = ours.RankingMetric("RR", nan="last")
    metric.update(torch.tensor([[math.nan, 1.0, 2.0]]), torch.tensor([[1, 0, 0]]))
    assert metric.compute().item() == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    "arguments",
    [
        {"positives": [list(np.flatnonzero(row)) for row in LABELS]},
        {"relevance": LABELS, "mask": np.arange(CANDIDATES) < np.full((QUERIES, 1), 9)},
        {"relevance": LABELS, "lengths": np.full(QUERIES, 9)},
        {"relevance": LABELS, "exclude": [[0, 2]] * QUERIES},
        {"relevance": LABELS, "n_relevant": LABELS.sum(1) + 1},
        {"relevance": LABELS, "document_ids": [f"d{i}" for i in range(CANDIDATES)]},
    ],
)
def test_arguments(ours: Any, arguments: dict[str, Any]) -> None:
    ties = "id" if "document_ids" in arguments else "expected"
    metric = ours.RankingMetric(MEASURES, ties=ties)
    target = arguments.pop("relevance", None)
    metric.update(SCORES, target, **arguments)
    expected = evaluate_scores(SCORES, target, MEASURES, ties=ties, **arguments).mean()
    assert plain(metric.compute()) == expected


def test_plot(ours: Any) -> None:
    pytest.importorskip("matplotlib", reason="pip install matplotlib")
    figure, _ = feed(ours.RankingMetric("RR")).plot()
    assert figure.axes


def test_repeated_queries_count_once(ours: Any) -> None:
    metric = feed(ours.RankingMetric(MEASURES, by_id=True))
    feed(metric, PARTS[:2])
    assert plain(metric.compute()) == WHOLE
    twice = ours.RankingMetric(MEASURES, by_id=True)
    twice.update(SCORES[[3, 4, 3]], LABELS[[3, 4, 3]], query_ids=[3, 4, 3])
    assert plain(twice.compute()) == evaluate_scores(SCORES[3:5], LABELS[3:5], MEASURES).mean()
    metric.update(-SCORES[:1], LABELS[:1], query_ids=[0])
    input_error(metric.compute, "0", "repeated='first'")
    first = feed(ours.RankingMetric(MEASURES, by_id=True, repeated="first"))
    first.update(-SCORES[:1], LABELS[:1], query_ids=[0])
    assert plain(first.compute()) == WHOLE
    sums = ours.RankingMetric(MEASURES)
    input_error(lambda: sums.update(SCORES[:1], LABELS[:1], query_ids=[0]), "by_id=True")


@pytest.mark.parametrize("ids", [None, ["a", "b"], [1.5, 2], [True, False], [1, 1 << 64], [1], 1])
def test_ids_of_queries(ours: Any, ids: Any) -> None:
    metric = ours.RankingMetric("RR", by_id=True)
    input_error(lambda: metric.update(SCORES[:2], LABELS[:2], query_ids=ids), "id")
    assert states(metric) == {name: [] for name in metric.metric_state}
    metric.update(SCORES[:2], LABELS[:2], query_ids=[-(1 << 63), (1 << 63) - 1])
    assert plain(metric.compute()) == evaluate_scores(SCORES[:2], LABELS[:2], "RR")["RR"]


@pytest.mark.parametrize(("name", "options"), [
    *(("RankingMetric", each) for each in (
        {"measures": "nGCD"}, {"by_id": "all"}, {"ties": "x"}, {"no_relevant": "x"},
        {"report": "AP"}, {"measures": "RR AP", "report": "RR AP"})),
    *(("RetrievalMetric", each) for each in (
        {"empty_target_action": "x"}, {"aggregation": "x"}, {"ties": "id"})),
])  # fmt: skip
def test_options_are_checked(ours: Any, name: str, options: dict[str, Any]) -> None:
    input_error(lambda: getattr(ours, name)(**{"measures": "RR", **options}))


# Flat columns.


def flat(seed: int, queries: int = 15) -> tuple[Any, Any, Any]:
    """Complete lists without equal scores, all positive; grades; every query has a relevant one."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 20, queries)
    index = np.repeat(rng.permutation(100)[:queries], sizes)
    scores = (rng.permutation(len(index)) + 1) / 1000
    grades = np.concatenate([rng.permutation(np.r_[3, 1, np.zeros(size - 2)]) for size in sizes])
    order = rng.permutation(len(index))
    return scores[order].astype("float32"), grades[order].astype("int64"), index[order]


PAIRS = [
    ("RetrievalMAP", {}, "AP", 0), ("RetrievalMAP", {"top_k": 3}, "AP(norm=found)@3", 0),
    ("RetrievalMRR", {}, "RR", 0), ("RetrievalMRR", {"top_k": 2}, "RR@2", 0),
    ("RetrievalNormalizedDCG", {}, "nDCG", 1),
    ("RetrievalNormalizedDCG", {"top_k": 4}, "nDCG@4", 1),
    ("RetrievalPrecision", {"top_k": 3}, "P@3", 0), ("RetrievalRecall", {"top_k": 3}, "R@3", 0),
    ("RetrievalPrecision", {"top_k": 9, "adaptive_k": True}, "P(norm=retrieved)@9", 0),
    ("RetrievalHitRate", {"top_k": 1}, "Success@1", 0), ("RetrievalRPrecision", {}, "Rprec", 0),
    ("RetrievalAUROC", {}, "AUC", 0), ("RetrievalAUROC", {"top_k": 4}, "AUC@4", 0),
    ("RetrievalFallOut", {"top_k": 3, "empty_target_action": "neg"}, "FallOut@3", 0),
]  # fmt: skip


@pytest.mark.smoke
@pytest.mark.parametrize(("name", "options", "measure", "graded"), PAIRS)
@pytest.mark.parametrize("aggregation", ["mean", "median", "min", "max"])
def test_retrieval_is_torchmetrics(
    ours: Any, theirs: Any, torch: Any,
    name: str, options: Any, measure: str, graded: int, aggregation: str,
) -> None:  # fmt: skip
    for seed in range(3):
        scores, grades, index = map(torch.tensor, flat(seed))
        target = grades if graded else (grades > 0).long()
        metrics = [getattr(theirs.retrieval, name)(aggregation=aggregation, **options),
                   ours.RetrievalMetric(measure, aggregation=aggregation)]  # fmt: skip
        for metric in metrics:
            for part in (slice(20), slice(20, None)):
                metric.update(scores[part], target[part], indexes=index[part])
        expected, found = (metric.compute().item() for metric in metrics)
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "measure", "ties"),
    [
        ("multilabel_coverage_error", "CoverageError", "pessimistic"),
        ("multilabel_ranking_loss", "RankingLoss", None),
        ("multilabel_ranking_average_precision", "LRAP", None),
    ],
)
def test_measures_of_labels(
    ours: Any, theirs: Any, torch: Any, name: str, measure: str, ties: str | None
) -> None:
    """Ties are a full error to the first; to the others what no policy makes of them: none here."""
    rng = np.random.default_rng(3)
    scores = rng.permutation(12 * 9).reshape(12, 9) / 200  # probabilities: no sigmoid is applied
    labels = (rng.random(scores.shape) < 0.4).astype("int64")
    labels[0], labels[1] = 0, 1
    if ties:
        scores = np.round(scores, 1)
    scores, labels = torch.tensor(scores), torch.tensor(labels)
    expected = getattr(theirs.functional.classification, name)(scores, labels, num_labels=9)
    metric = ours.RankingMetric(measure, ties=ties or "error")
    metric.update(scores, labels)
    assert metric.compute().item() == pytest.approx(expected.item(), abs=1e-6)


@pytest.mark.parametrize("action", ["neg", "pos", "skip"])
@pytest.mark.parametrize("nothing", [False, True])
@pytest.mark.parametrize(("name", "measure"), [("RetrievalMRR", "RR"), ("RetrievalAUROC", "AUC")])
def test_queries_without_relevant_documents_or_others(
    ours: Any, theirs: Any, torch: Any, action: str, nothing: bool, name: str, measure: str
) -> None:
    scores, grades, index = map(torch.tensor, flat(5))
    target = (((grades > 0) | (index % 3 == 2)) & (index % 3 > 0)).long() * (not nothing)
    told = nothing and action == "neg"
    metrics = [getattr(theirs.retrieval, name)(empty_target_action=action),
               ours.RetrievalMetric(measure, empty_target_action=action)]  # fmt: skip
    expected = metrics[0](scores, target, index).item()
    with pytest.warns(InputWarning, match="no query has a rel") if told else nullcontext():
        found = metrics[1](scores, target, index).item()
    assert found == pytest.approx(expected, abs=1e-6)


def test_ignore_index(ours: Any, theirs: Any, torch: Any) -> None:
    scores, grades, index = map(torch.tensor, flat(6))
    target = (grades > 0).long()
    target[::5] = -1
    metrics = [theirs.retrieval.RetrievalMAP(ignore_index=-1),
               ours.RetrievalMetric("AP", ignore_index=-1)]  # fmt: skip
    expected, found = (metric(scores, target, index).item() for metric in metrics)
    assert found == pytest.approx(expected, abs=1e-6)


def test_what_columns_alone_have(ours: Any) -> None:
    """GAUC weights queries by their relevant documents; one without others counts nothing."""
    columns = [3.0, 2.0, 1.0, 2.0, 1.0, 0.0, 1.0], [1, 1, 0, 0, 1, 0, 1], [1, 1, 1, 2, 2, 2, 3]
    assert ours.RetrievalMetric("GAUC")(*columns).item() == (2 * 1 + 1 * 0.5) / 3
    total = ours.RetrievalMetric("nDCG RR", [2, 10], aggregation=lambda values: values.sum())
    total.update(*columns)
    mean = ours.RetrievalMetric("nDCG RR", [2, 10])
    mean.update(*columns)
    assert list(plain(total.compute())) == ["nDCG@2", "nDCG@10", "RR@2", "RR@10"]
    expected = {name: value * 3 for name, value in plain(mean.compute()).items()}
    assert plain(total.compute()) == pytest.approx(expected)
    metric = ours.RetrievalMetric("RR", empty_target_action="error")
    metric.update([0.1, 0.2, 0.3], [1, 0, 0], [4, 4, 7])
    input_error(metric.compute, "no relevant document", query=7)


# Several processes.


@pytest.fixture(scope="module")
def processes(ours: Any, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each of two processes computed, over gloo."""
    folder = tmp_path_factory.mktemp("ddp")
    worker = Path(ddp_worker.__file__)
    command = [sys.executable, str(worker), "2", str(folder)]
    done = subprocess.run(command, stderr=subprocess.PIPE, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


@pytest.mark.smoke
def test_two_processes_have_the_bits_of_one(processes: list[dict[str, Any]]) -> None:
    alone = ddp_worker.run(0, 1)
    assert processes[0].keys() == alone.keys()
    assert processes[0] == processes[1] == alone
    expected = {name: value.hex() for name, value in WHOLE.items()}
    alone["collection"] = {n.replace(",", "."): v for n, v in alone["collection"].items()}
    others = alone.keys() - {"skip", "went on"}
    assert {name: alone[name] for name in others} == dict.fromkeys(others, expected)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", ["RankingMetric", "RetrievalMetric"])
def test_modules_with_metrics_can_be_scripted(ours: Any, torch: Any, name: str) -> None:
    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.metric = getattr(ours, name)("RR nDCG@10")

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    Model.forward.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    scripted = torch.jit.script(Model())
    assert scripted(torch.zeros(1)).item() == 1
