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


def named(metric: Any, ids: Any) -> dict[str, Any]:
    """The queries' ids, for metrics that keep queries."""
    first = next(iter(metric.values())) if hasattr(metric, "values") else metric
    return {"query_ids": ids} if first._keep == "queries" else {}


def feed(metric: Any, parts: Any = PARTS, **more: Any) -> Any:
    for part in parts:
        ids = named(metric, np.arange(QUERIES)[part])
        metric.update(SCORES[part], LABELS[part], **ids, **more)
    return metric


KEEPS = pytest.mark.parametrize("keep", ["sums", "queries"])


@KEEPS
def test_by_hand(ours: Any, torch: Any, keep: str) -> None:
    metric = ours.RankingMetric("nDCG RR", [1, 10], keep=keep)
    metric.update(torch.tensor([[0.1, 0.9, 0.4]]), torch.tensor([[0, 0, 1]]), **named(metric, [8]))
    ids = named(metric, torch.tensor([9]))
    metric.update(torch.tensor([[0.3, 0.1]]), torch.tensor([[1, 0]]), **ids)
    assert plain(metric.compute()) == pytest.approx(
        {"nDCG@1": 0.5, "nDCG@10": (1 / math.log2(3) + 1) / 2, "RR@1": 0.5, "RR@10": 0.75}
    )


@KEEPS
def test_one_measure_is_a_number(ours: Any, keep: str) -> None:
    assert plain(feed(ours.RankingMetric("RR", keep=keep)).compute()) == WHOLE["RR"]
    metric = feed(ours.RankingMetric(MEASURES, report="mrr", keep=keep))
    assert plain(metric.compute()) == WHOLE["RR"]


@pytest.mark.parametrize(
    "options",
    [{}, {"ties": "pessimistic"}, {"ties": "index"}, {"no_relevant": "skip"},
     {"measures": [*MEASURES, "NumRel", "NumRet", "GMAP"]}],
)  # fmt: skip
@KEEPS
def test_options(ours: Any, options: dict[str, Any], keep: str) -> None:
    options = {"measures": MEASURES, **options}
    expected = evaluate_scores(SCORES, LABELS, **options).mean()
    metric = feed(ours.RankingMetric(keep=keep, **options))
    assert plain(metric.compute()) == expected
    assert (list(metric.compute()), metric.update_count) == (list(expected), 3)
    backwards = feed(ours.RankingMetric(keep=keep, **options), PARTS[::-1])
    assert plain(backwards.compute()) == expected


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
    metric.update(SCORES, **arguments)
    expected = evaluate_scores(SCORES, measures=MEASURES, ties=ties, **arguments).mean()
    assert plain(metric.compute()) == expected


@KEEPS
def test_forward_is_the_batch_s(ours: Any, keep: str) -> None:
    metric = ours.RankingMetric(MEASURES, keep=keep)
    for part in PARTS:
        ids = named(metric, np.arange(QUERIES)[part])
        found = metric(SCORES[part], LABELS[part], **ids)
        assert plain(found) == evaluate_scores(SCORES[part], LABELS[part], MEASURES).mean()
    assert plain(metric.compute()) == WHOLE


def states(metric: Any) -> Any:
    return {
        name: [each.tolist() for each in state] if isinstance(state, list) else state.tolist()
        for name, state in metric.metric_state.items()
    }


@KEEPS
@pytest.mark.parametrize("way", ["update", "forward"])
def test_bad_input_leaves_the_state(ours: Any, keep: str, way: str) -> None:
    metric = feed(ours.RankingMetric(MEASURES, keep=keep))
    before = states(metric)
    bad = SCORES.copy()
    bad[3, 4] = math.nan
    ids = named(metric, np.arange(QUERIES))
    input_error(lambda: getattr(metric, way)(bad, LABELS, **ids), "nan")
    input_error(lambda: getattr(metric, way)(SCORES, LABELS[:, 1:], **ids))
    assert states(metric) == before
    assert plain(metric.compute()) == WHOLE
    metric.reset()
    assert plain(feed(metric).compute()) == WHOLE


@KEEPS
def test_before_the_first_batch_and_one_of_nothing(ours: Any, torch: Any, keep: str) -> None:
    metric = ours.RankingMetric(MEASURES, keep=keep)
    with pytest.warns(UserWarning, match="before the ``update`` method"):
        assert all(map(math.isnan, plain(metric.compute()).values()))
    metric.update(torch.zeros(0, 4), torch.zeros(0, 4), **named(metric, []))
    assert plain(feed(metric).compute()) == WHOLE


@KEEPS
def test_states_travel(ours: Any, torch: Any, keep: str, tmp_path: Path) -> None:
    metric = feed(ours.RankingMetric(MEASURES, keep=keep), PARTS[:1])
    partial = plain(metric.compute())
    assert partial == evaluate_scores(SCORES[:5], LABELS[:5], MEASURES).mean()
    assert metric.state_dict() == {}
    metric.persistent(True)
    torch.save(torch.nn.ModuleDict({"validation": metric}).state_dict(), tmp_path / "saved")
    loaded, merged = (ours.RankingMetric(MEASURES, keep=keep) for _ in range(2))
    saved = torch.load(tmp_path / "saved", weights_only=True)
    torch.nn.ModuleDict({"validation": loaded}).load_state_dict(saved)
    merged.merge_state(metric)
    copies = [metric.clone(), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), loaded]
    for each in (*copies, merged):
        assert plain(feed(each, PARTS[1:]).compute()) == WHOLE
        each.reset()
        assert plain(feed(each, PARTS[:1]).compute()) == partial
    assert plain(metric.compute()) == partial
    other = feed(ours.RankingMetric(MEASURES[::-1], keep=keep), PARTS[1:])
    with pytest.raises(ValueError, match="Expected state variable"):
        metric.merge_state(other)


@KEEPS
def test_types_of_models_do_not_reach_it(ours: Any, torch: Any, keep: str) -> None:
    metric = feed(ours.RankingMetric(MEASURES, keep=keep), PARTS[:1])
    module = torch.nn.ModuleDict({"validation": metric, "layer": torch.nn.Linear(1, 1)})
    module.half()
    module.to(torch.bfloat16)
    metric.set_dtype(torch.float16)
    assert module["layer"].weight.dtype == torch.bfloat16
    assert plain(feed(metric, PARTS[1:]).compute()) == WHOLE


def test_tensors_that_want_gradients(ours: Any, torch: Any) -> None:
    scores = torch.tensor(SCORES, requires_grad=True)
    metric = ours.RankingMetric(MEASURES)
    metric(scores * 1, torch.tensor(LABELS))
    assert plain(metric.compute()) == WHOLE
    assert not metric.is_differentiable
    assert metric.higher_is_better


def test_metrics_of_different_measures_are_not_merged(ours: Any, theirs: Any) -> None:
    """One document a query: every measure's first values, and so their sums, are the same."""
    settings: dict[str, dict[str, Any]] = {
        "a": {"measures": "nDCG@10"}, "b": {"measures": "RR"}, "c": {"measures": "P@1"},
        "d": {"measures": "RR", "ties": "pessimistic"},
        "e": {"measures": "RR", "no_relevant": "skip"}, "f": {"measures": "RR"},
    }  # fmt: skip
    collection = theirs.MetricCollection(
        {name: ours.RankingMetric(**each) for name, each in settings.items()}, prefix="val/"
    )
    collection.update([[1.0]], [[1]])
    assert sorted(map(sorted, collection.compute_groups.values())) == [
        ["a"], ["b", "f"], ["c"], ["d"], ["e"],
    ]  # fmt: skip
    collection.update(SCORES, LABELS)
    found = plain(collection.compute())
    for name, each in settings.items():
        metric = ours.RankingMetric(**each)
        metric.update([[1.0]], [[1]])
        metric.update(SCORES, LABELS)
        assert found[f"val/{name}"] == plain(metric.compute())
    assert len(set(found.values())) == 5


def test_collections_that_share_the_work(ours: Any, theirs: Any) -> None:
    collection = ours.make_collection("nDCG RR", [1, 5], prefix="val/", ties="pessimistic")
    for part in PARTS:
        found = plain(collection(SCORES[part], LABELS[part]))
        expected = evaluate_scores(SCORES[part], LABELS[part], "nDCG RR", [1, 5],
                                   ties="pessimistic").mean()  # fmt: skip
        assert found == {f"val/{name}": value for name, value in expected.items()}
    collection.reset()
    feed(collection)
    expected = evaluate_scores(SCORES, LABELS, "nDCG RR", [1, 5], ties="pessimistic").mean()
    assert plain(collection.compute()) == {f"val/{name}": v for name, v in expected.items()}
    assert list(collection.compute_groups.values()) == [list(expected)]
    assert {each.update_count for each in collection.values()} == {3}
    collection.reset()
    assert plain(feed(collection.clone(prefix="x/"), PARTS[:1]).compute()).keys() == {
        f"x/{name}" for name in expected
    }
    assert list(ours.make_collection("RBP(p=0.8)")) == ["RBP(p=0,8)"]
    flat = theirs.MetricCollection([ours.RankingMetric(MEASURES)], prefix="val/")
    assert plain(feed(flat).compute()) == {f"val/{name}": v for name, v in WHOLE.items()}


def test_names_as_they_were_given(ours: Any, theirs: Any) -> None:
    options: dict[str, Any] = {"measures": "MRR@10 hit_rate@5", "names": "as given"}
    expected = evaluate_scores(SCORES, LABELS, options["measures"]).mean("as given")
    assert plain(feed(ours.RankingMetric(**options)).compute()) == expected
    collection = ours.make_collection(prefix="val/", **options)
    assert plain(feed(collection).compute()) == {f"val/{k}": v for k, v in expected.items()}
    input_error(lambda: ours.RankingMetric("RR", names="theirs"), "names")


@KEEPS
def test_torchmetrics_keywords(ours: Any, theirs: Any, torch: Any, keep: str) -> None:
    """A collection with torchmetrics' own metrics is called by keyword."""
    scores, labels = torch.tensor(SCORES), torch.tensor(LABELS)
    each = torch.arange(QUERIES)
    own = theirs.retrieval.RetrievalMRR()
    both = theirs.MetricCollection({"ours": ours.RankingMetric("RR", keep=keep), "theirs": own})
    indexes = each[:, None].expand(-1, CANDIDATES)
    ids = {"query_ids": each} if keep == "queries" else {}
    both(preds=scores, target=labels > 0, indexes=indexes, **ids)
    found = both.compute()
    assert plain(found["ours"]) == evaluate_scores(SCORES, LABELS > 0, "RR")["RR"]
    metric = ours.RankingMetric("RR", keep=keep)
    metric.update(preds=scores, target=labels > 0, **ids)
    assert plain(metric.compute()) == plain(found["ours"])
    for wrong, said in (
        ({"preds": scores, "scores": scores}, "scores as well"),
        ({"target": labels}, "the score of each candidate"),
    ):
        input_error(lambda wrong=wrong: metric.update(**wrong), said)


def test_plot(ours: Any) -> None:
    pytest.importorskip("matplotlib", reason="pip install matplotlib")
    figure, _ = feed(ours.RankingMetric("RR")).plot()
    assert figure.axes


def test_repeated_queries_count_once(ours: Any) -> None:
    metric = feed(ours.RankingMetric(MEASURES, keep="queries"))
    feed(metric, PARTS[:2])
    assert plain(metric.compute()) == WHOLE
    metric.update(-SCORES[:1], LABELS[:1], query_ids=[0])
    input_error(metric.compute, "0")


@pytest.mark.parametrize("ids", [None, ["a", "b"], [1.5, 2], [True, False], [1, 1 << 64], [1], 1])
def test_ids_of_queries(ours: Any, ids: Any) -> None:
    metric = ours.RankingMetric("RR", keep="queries")
    input_error(lambda: metric.update(SCORES[:2], LABELS[:2], query_ids=ids), "id")
    assert states(metric) == {name: [] for name in metric.metric_state}
    metric.update(SCORES[:2], LABELS[:2], query_ids=[-(1 << 63), (1 << 63) - 1])
    assert plain(metric.compute()) == evaluate_scores(SCORES[:2], LABELS[:2], "RR")["RR"]


@pytest.mark.parametrize(("name", "options"), [
    *(("RankingMetric", each) for each in (
        {"measures": "nGCD"}, {"keep": "all"}, {"ties": "x"}, {"no_relevant": "x"},
        {"report": "AP"}, {"measures": "RR AP", "report": "RR AP"})),
    *(("RetrievalMetric", each) for each in (
        {"empty_target_action": "x"}, {"ignore_index": 0.5}, {"aggregation": "x"}, {"ties": "id"})),
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


def test_a_weighted_mean_of_columns(ours: Any, torch: Any) -> None:
    """GAUC weights queries by their relevant documents; one without others counts nothing."""
    metric = ours.RetrievalMetric("GAUC")
    metric.update(preds=[3.0, 2.0, 1.0, 2.0, 1.0, 0.0, 1.0], target=[1, 1, 0, 0, 1, 0, 1],
                  indexes=[1, 1, 1, 2, 2, 2, 3])  # fmt: skip
    assert metric.compute().item() == (2 * 1 + 1 * 0.5) / 3


@pytest.mark.parametrize("action", ["neg", "pos", "skip"])
def test_queries_without_pairs(ours: Any, theirs: Any, torch: Any, action: str) -> None:
    """One of relevant documents alone has no pair; it is not one without relevant documents."""
    given = (
        torch.tensor([0.3, 0.2, 0.1, 0.2]),
        torch.tensor([1, 1, 1, 0]),
        torch.tensor([1, 1, 2, 2]),
    )
    metrics = [theirs.retrieval.RetrievalAUROC(empty_target_action=action),
               ours.RetrievalMetric("AUC", empty_target_action=action)]  # fmt: skip
    assert metrics[0](*given).item() == metrics[1](*given).item()


@pytest.mark.parametrize("action", ["neg", "pos", "skip"])
@pytest.mark.parametrize("nothing", [False, True])
def test_queries_without_relevant_documents(
    ours: Any, theirs: Any, torch: Any, action: str, nothing: bool
) -> None:
    scores, grades, index = map(torch.tensor, flat(5))
    target = (grades > 0).long() * (index % 3 > 0) * (not nothing)
    metrics = [theirs.retrieval.RetrievalMRR(empty_target_action=action),
               ours.RetrievalMetric("RR", empty_target_action=action)]  # fmt: skip
    told = nothing and action == "neg"
    expected = metrics[0](scores, target, index).item()
    with pytest.warns(InputWarning, match="no query has a rel") if told else nullcontext():
        found = metrics[1](scores, target, index).item()
    assert found == pytest.approx(expected, abs=1e-6)


def test_queries_without_relevant_documents_may_be_errors(ours: Any, torch: Any) -> None:
    metric = ours.RetrievalMetric("RR", empty_target_action="error")
    metric.update([0.1, 0.2, 0.3], [1, 0, 0], [4, 4, 7])
    input_error(metric.compute, "no relevant document", query=7)


def test_ignore_index(ours: Any, theirs: Any, torch: Any) -> None:
    scores, grades, index = map(torch.tensor, flat(6))
    target = (grades > 0).long()
    target[::5] = -1
    metrics = [theirs.retrieval.RetrievalMAP(ignore_index=-1),
               ours.RetrievalMetric("AP", ignore_index=-1)]  # fmt: skip
    expected, found = (metric(scores, target, index).item() for metric in metrics)
    assert found == pytest.approx(expected, abs=1e-6)


def test_several_measures_of_columns(ours: Any) -> None:
    scores, grades, index = flat(7)
    metric = ours.RetrievalMetric("nDCG RR", [2, 10], aggregation=lambda values: values.sum())
    metric.update(scores, grades, index)
    found = plain(metric.compute())
    means = ours.RetrievalMetric("nDCG RR", [2, 10])
    means.update(scores, grades, index)
    assert list(found) == ["nDCG@2", "nDCG@10", "RR@2", "RR@10"]
    expected = {name: value * 15 for name, value in plain(means.compute()).items()}
    assert found == pytest.approx(expected)


def test_columns_and_matrices_agree(ours: Any) -> None:
    index = np.repeat(np.arange(QUERIES), CANDIDATES).reshape(SCORES.shape)
    for ties in ("expected", "pessimistic", "index"):
        metric = ours.RetrievalMetric(MEASURES, ties=ties)
        metric.update(SCORES[:, :5], LABELS[:, :5], index[:, :5])
        metric.update(SCORES[:, 5:], LABELS[:, 5:], index[:, 5:])
        expected = evaluate_scores(SCORES, LABELS, MEASURES, ties=ties).mean()
        assert plain(metric.compute()) == expected


def test_states_of_columns(ours: Any, torch: Any) -> None:
    scores, grades, index = flat(8)
    parts = [slice(30), slice(30, None)]

    def take(metric: Any, part: slice) -> Any:
        metric.update(scores[part], grades[part], index[part])
        return metric

    def make() -> Any:
        return ours.RetrievalMetric(MEASURES)

    whole = plain(take(make(), slice(None)).compute())
    first = take(make(), parts[0])
    for each in (first.clone(), pickle.loads(pickle.dumps(first))):
        each.to(torch.bfloat16).set_dtype(torch.float16)
        assert plain(take(each, parts[1]).compute()) == whole
    input_error(lambda: first(scores[:3] * math.nan, grades[:3], index[:3]), "nan")
    first.merge_state(take(make(), parts[1]))
    assert plain(first.compute()) == whole
    first.reset()
    assert plain(take(first, slice(None)).compute()) == whole


@pytest.mark.parametrize(
    ("columns", "fact"),
    [
        (([0.1, 0.2], [1], [0, 0]), "shape"),
        (([0.1, 0.2], [1, 0], None), "indexes"),
        (([0.1, 0.2], [1, 0], [0.5, 0.0]), "indexes"),
        (([0.1, math.nan], [1, 0], [0, 0]), "nan"),
        (([0.1, 0.2], [1, math.nan], [0, 0]), "nan"),
        ((["a", "b"], [1, 0], [0, 0]), "preds"),
    ],
)
def test_bad_columns(ours: Any, columns: Any, fact: str) -> None:
    metric = ours.RetrievalMetric("RR")
    metric.update([0.1, 0.2], [1, 0], [3, 3])
    before = states(metric)
    input_error(lambda: metric.update(*columns), fact)
    assert states(metric) == before


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


def test_without_torchmetrics() -> None:
    code = ("import sys; sys.modules['torchmetrics'] = None; "
            "import irbatch.integrations.torchmetrics")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert b"pip install 'irbatch[torchmetrics]'" in done.stderr


def test_scores_that_are_nan_on_request(ours: Any, theirs: Any, torch: Any) -> None:
    scores, labels = torch.tensor([[math.nan, 1.0, 2.0]]), torch.tensor([[1, 0, 0]])
    strict, lenient = ours.RankingMetric("RR"), ours.RankingMetric("RR", nan="last")
    input_error(lambda: strict.update(scores, labels), "nan")
    lenient.update(scores, labels)
    assert lenient.compute().item() == pytest.approx(1 / 3)
    both = theirs.MetricCollection({"strict": strict, "lenient": lenient})
    both.reset()
    both.update(torch.tensor([[3.0, 1.0, 2.0]]), labels)
    assert len(both.compute_groups) == 2, "they don't share a state"
