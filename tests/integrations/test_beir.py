"""BEIR's interface against BEIR, and BEIR and MTEB on top of pytrec_eval's interface."""

from __future__ import annotations

import copy
import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.other_tools import outcome, without_ties
from support.random_problems import nasty_problems, tamed

from irbatch import InputError
from irbatch.integrations.beir import evaluate, evaluate_custom
from irbatch.integrations.pytrec_eval import RelevanceEvaluator, patched

CUTOFFS = [1, 3, 5, 10, 100, 1000]
METRICS = ["mrr", "recall_cap", "hole", "top_k_accuracy"]
Table = dict[str, dict[str, Any]]

QRELS: Table = {"q": {"a": 2, "b": 0, "c": 1}, "p": {"d": 1}, "m": {"a": 1}}
RUN: Table = {"q": {"b": 3.0, "a": 2.0, "x": 1.5, "c": 1.0}, "p": {"x": 2.0, "d": 1.0}}
IDENTICAL: tuple[Table, Table] = (
    {"q": {"q": 1, "a": 1}, "p": {"p": 1}},
    {"q": {"q": 3.0, "x": 2.0, "a": 1.0}, "p": {"p": 1.0}},
)


def list_problems(seed: int, count: int, both: bool = False) -> list[tuple[Table, Table]]:
    """Nasty problems with a query on both sides; with only those, if asked."""
    found = []
    for problem in nasty_problems(seed, count):
        qrels, run = tamed(*problem)
        shared = (qrels.keys() & run.keys()) - {"no query"}
        keep = shared if both else (qrels.keys() | run.keys()) - {"no query"}
        if shared:
            found.append(tuple({q: e for q, e in s.items() if q in keep} for s in (qrels, run)))
    return found


@pytest.fixture(scope="module")
def theirs() -> Any:
    reason = "BEIR cannot be imported: pip install --no-deps beir; pip install tqdm"
    module = pytest.importorskip("beir.retrieval.evaluation", reason=reason, exc_type=ImportError)
    return module.EvaluateRetrieval


class RetrievalEvaluationResult(NamedTuple):
    """Stands in for MTEB's, whose package needs torch."""

    all_scores: Any
    ndcg: Any
    map: Any
    recall: Any
    precision: Any
    naucs: Any
    mrr: Any
    naucs_mrr: Any
    hit_rate: Any


@pytest.fixture
def mteb(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """MTEB's module of retrieval metrics, without the rest of it."""
    found = importlib.util.find_spec("mteb")
    if found is None or found.origin is None:
        pytest.skip("MTEB is not installed: pip install --no-deps mteb")
    types = ModuleType("mteb.types")
    types.RetrievalEvaluationResult = RetrievalEvaluationResult  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mteb", ModuleType("mteb"))
    monkeypatch.setitem(sys.modules, "mteb.types", types)
    path = Path(found.origin).parent / "_evaluators" / "retrieval_metrics.py"
    spec = importlib.util.spec_from_file_location("mteb_retrieval_metrics", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LOG3, LOG5 = math.log2(3), math.log2(5)
# Of q, ranked b a x c, and of p, ranked x d; m is judged and not ranked.
BY_HAND: dict[str, dict[str, float]] = {
    "NDCG": {
        "NDCG@1": 0,
        "NDCG@3": ((2 / LOG3) / (2 + 1 / LOG3) + 1 / LOG3) / 2,
        "NDCG@4": ((2 / LOG3 + 1 / LOG5) / (2 + 1 / LOG3) + 1 / LOG3) / 2,
    },
    "MAP": {
        "MAP@1": 0,
        "MAP@3": (1 / 2 / 2 + 1 / 2) / 2,
        "MAP@4": ((1 / 2 + 2 / 4) / 2 + 1 / 2) / 2,
    },
    "Recall": {"Recall@1": 0, "Recall@3": (1 / 2 + 1) / 2, "Recall@4": 1},
    "P": {"P@1": 0, "P@3": (1 / 3 + 1 / 3) / 2, "P@4": (2 / 4 + 1 / 4) / 2},
    # The others are averaged over m, too.
    "mrr": {"MRR@1": 0, "MRR@3": (1 / 2 + 1 / 2) / 3, "MRR@4": (1 / 2 + 1 / 2) / 3},
    "recall_cap": {"R_cap@1": 0, "R_cap@3": (1 / 2 + 1) / 3, "R_cap@4": (2 / 2 + 1) / 3},
    "hole": {"Hole@1": 1 / 3, "Hole@3": (1 / 3 + 1 / 3) / 3, "Hole@4": (1 / 4 + 1 / 4) / 3},
    "top_k_accuracy": {"Accuracy@1": 0, "Accuracy@3": 2 / 3, "Accuracy@4": 2 / 3},
}


def check_by_hand(plain: Callable[..., Any], custom: Callable[..., Any]) -> None:
    """Check values, keys and their order, with cutoffs in an order of their own."""
    cutoffs = [4, 1, 3]
    found = dict(zip(BY_HAND, plain(QRELS, copy.deepcopy(RUN), cutoffs), strict=False))
    found |= {metric: custom(QRELS, RUN, cutoffs, metric) for metric in METRICS}
    assert found.keys() == BY_HAND.keys()
    for family, values in BY_HAND.items():
        assert found[family] == {key: round(value, 5) for key, value in values.items()}
        assert [key.partition("@")[2] for key in found[family]] == ["4", "1", "3"]


def test_by_hand() -> None:
    check_by_hand(evaluate, evaluate_custom)


def test_by_hand_of_theirs(theirs: Any) -> None:
    check_by_hand(theirs.evaluate, theirs.evaluate_custom)


@pytest.mark.parametrize("metric", METRICS)
def test_evaluate_custom_changes_nothing(metric: str) -> None:
    for qrels, run in [(QRELS, RUN), IDENTICAL, *list_problems(61, 20)]:
        before = repr((qrels, run))  # orders, too
        evaluate_custom(qrels, run, CUTOFFS, metric)
        assert repr((qrels, run)) == before


@pytest.mark.parametrize("ignore", [True, False])
def test_evaluate(theirs: Any, ignore: bool) -> None:
    for qrels, run in list_problems(41, 100):
        before = copy.deepcopy(run)
        found = evaluate(qrels, run, CUTOFFS, ignore)
        assert run == before
        expected = theirs.evaluate(qrels, before, CUTOFFS, ignore)
        assert found == expected
        assert list(map(list, found)) == list(map(list, expected))


@pytest.mark.parametrize("metric", METRICS)
def test_evaluate_custom(theirs: Any, metric: str) -> None:
    for qrels, ranked in list_problems(43, 100, both=True):
        run = without_ties(ranked)
        if metric == "recall_cap":  # it divides by R
            run = {q: each for q, each in run.items() if max(qrels[q].values()) > 0}
        if run:
            expected = theirs.evaluate_custom(qrels, run, CUTOFFS, metric)
            found = evaluate_custom(qrels, run, CUTOFFS, metric)
            assert found == expected
            assert list(found) == list(expected)


def many_queries() -> tuple[Table, Table]:
    """Queries whose order is another in the run."""
    random = np.random.default_rng(5)
    qrels: Table = {}
    run: Table = {}
    for query in map(str, random.permutation(4000)):
        run[query] = {f"d{d}": 9.0 - i for i, d in enumerate(random.permutation(8))}
        qrels[query] = {f"d{d}": 1 for d in random.choice(8, 3, replace=False)}
    return dict(sorted(qrels.items())), run


def test_means_are_rounded_of_sums_in_the_order_of_the_run(theirs: Any) -> None:
    """A query at a time, so that some of the sums lie just below or above a digit's middle."""
    qrels, run = many_queries()
    asked = list(run)
    for n in range(40, 4000, 40):
        some = {q: run[q] for q in asked[:n]}
        judged = {q: qrels[q] for q in qrels if q in some}
        assert evaluate(judged, some, [1, 3]) == theirs.evaluate(judged, some, [1, 3])
        found = evaluate_custom(judged, some, [1, 3], "mrr")
        assert found == theirs.evaluate_custom(judged, some, [1, 3], "mrr")


def test_a_hole_of_a_query_without_judgments_counts(theirs: Any) -> None:
    run = {**RUN, "not judged": {"x": 1.0, "y": 0.5}}
    found = evaluate_custom(QRELS, run, [1, 3], "hole")
    assert found == theirs.evaluate_custom(QRELS, run, [1, 3], "hole")
    assert found["Hole@1"] == round(2 / 3, 5)


@pytest.mark.parametrize("metric", ["mrr", "MRR@k", "mrr_cut", "recall_cap", "R_cap", "r_cap@k",
    "hole", "Hole@k", "acc", "top_k_acc", "accuracy", "accuracy@k", "top_k_accuracy",
    "MRR@K", "Recall_Cap", "HOLE", "ACC"])  # fmt: skip
def test_spellings(theirs: Any, metric: str) -> None:
    expected = theirs.evaluate_custom(QRELS, RUN, CUTOFFS, metric)
    assert evaluate_custom(QRELS, RUN, CUTOFFS, metric) == expected


@pytest.mark.parametrize("ignore", [True, False])
def test_identical_ids(theirs: Any, ignore: bool) -> None:
    qrels, run = copy.deepcopy(IDENTICAL)
    found = evaluate(qrels, run, [1, 3], ignore_identical_ids=ignore)
    assert (qrels, run) == IDENTICAL
    assert found == theirs.evaluate(qrels, run, [1, 3], ignore_identical_ids=ignore)
    assert (run != IDENTICAL[1]) is ignore, "BEIR does change it"


ONE: Table = {"q": {"a": 1}}
HIT: Table = {"q": {"a": 1.0}}
# Why answers differ: metric, qrels, run, cutoffs, theirs, ours.
ACCEPTED: dict[str, tuple[str, Table, Table, list[int], Any, Any]] = {
    "queries without judgments are ignored": (
        "mrr", ONE, HIT | {"z": {"a": 1.0}}, [1], KeyError, {"MRR@1": 1.0}),
    "nothing to find is found in no share": (
        "r_cap", {"q": {"a": 0}}, HIT, [1], ZeroDivisionError, {"R_cap@1": 0.0}),
    "ties by id descending, not as they come": (
        "mrr", ONE, {"q": {"a": 1.0, "b": 1.0}}, [2], {"MRR@2": 1.0}, {"MRR@2": 0.5}),
    "a level must be said of fractions": (
        "mrr", {"q": {"a": 0.5}}, HIT, [1], {"MRR@1": 1.0}, InputError),
    "a NaN score has no rank": (
        "mrr", ONE, {"q": {"a": math.nan}}, [1], {"MRR@1": 1.0}, InputError),
    "a metric that isn't there is an error": ("recall", ONE, HIT, [1], None, InputError),
    "a cutoff is at least 1": ("hole", ONE, HIT, [0], ZeroDivisionError, InputError),
    "no judgments are bad input": ("mrr", {}, HIT, [1], KeyError, InputError),
}  # fmt: skip


@pytest.mark.parametrize("reason", ACCEPTED)
def test_accepted_disagreements(theirs: Any, reason: str) -> None:
    metric, qrels, run, cutoffs, expected, mine = ACCEPTED[reason]
    found = [outcome(lambda: theirs.evaluate_custom(qrels, run, cutoffs, metric)),
             outcome(lambda: evaluate_custom(qrels, run, cutoffs, metric))]  # fmt: skip
    assert found == [expected, mine]
    assert found[0] != found[1]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The runs that our evaluator is asked to evaluate."""
    runs: list[Any] = []
    evaluate_run = RelevanceEvaluator.evaluate

    def spy(self: RelevanceEvaluator, scores: Any) -> Any:
        runs.append(scores)
        return evaluate_run(self, scores)

    monkeypatch.setattr(RelevanceEvaluator, "evaluate", spy)
    return runs


Problems = list[tuple[Table, Table]]


def check_patched(asked: list[Any], call: Callable[..., Any], problems: Problems) -> None:
    """Check that patching changes who evaluates, once a call, and nothing else."""
    for qrels, run in problems:
        asked.clear()
        plain = repr(call(qrels, run))
        assert asked == []
        with patched():
            assert repr(call(qrels, run)) == plain
        assert len(asked) == 1
        assert repr(call(qrels, run)) == plain
        assert len(asked) == 1


def test_beir_patched(theirs: Any, asked: list[Any]) -> None:
    def call(qrels: Table, run: Table) -> Any:
        return theirs.evaluate(qrels, copy.deepcopy(run), CUTOFFS)

    check_patched(asked, call, list_problems(47, 60))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # its own, of infinite scores
@pytest.mark.parametrize("skip", [False, True])
def test_mteb_patched(mteb: ModuleType, asked: list[Any], skip: bool) -> None:
    def call(qrels: Table, run: Table) -> Any:
        return mteb.calculate_retrieval_scores(run, qrels, CUTOFFS, skip)

    check_patched(asked, call, list_problems(53, 40, both=True))
