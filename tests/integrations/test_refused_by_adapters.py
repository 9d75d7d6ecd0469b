"""The interfaces of pytrec_eval and BEIR on what cannot be evaluated."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import InputError
from irbatch.integrations import beir
from irbatch.integrations.pytrec_eval import (
    RelevanceEvaluator,
    parse_qrel,
    parse_run,
    patched,
)

JUDGED = {"q1": {"a": 1, "b": 0}}
RANKED = {"q1": {"a": 1.0, "b": 2.0}}


# pytrec_eval's interface


def evaluated(
    qrels: Any = JUDGED, scores: Any = RANKED, measures: Any = ("map",), level: Any = 1
) -> Any:
    """Evaluate as pytrec_eval does."""
    return RelevanceEvaluator(qrels, measures, level).evaluate(scores)


def rejected() -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Arguments of `evaluated`, a word of the error, and its fields."""
    place = {"query": "q1", "document": "a"}
    for value in (None, "1", math.nan, math.inf, 2**60, 10**400, [1], 1j):
        qrels = {"q": {"a": 1}, "q1": {"b": 1, "a": value}}
        yield {"qrels": qrels}, "grade", {"source": "qrels", "value": value, **place}
    for value in (None, "x", "1", math.nan, 10**400, [1], 1j):
        run = {"q1": {"b": 1.0, "a": value}}
        yield {"scores": run}, "score", {"source": "run", "value": value, **place}
    for name, source in (("qrels", "qrels"), ("scores", "run")):
        for ids in ({1: {"a": 1}, "q": {"a": 1}}, {None: {"a": 1}}, {b"q": {"a": 1}}):
            yield {name: ids}, "query id", {"source": source}
        for documents in ({None: 1}, {b"a": 1}, {1.5: 1}, {True: 1}, ["a"], "ab"):
            yield {name: {"q1": documents}}, "", {"source": source, "query": "q1"}
    yield {"qrels": {"q1": {"a": 1, 1: 1}}}, "two kinds", {"source": "qrels", "query": "q1"}
    yield {"qrels": {"q1": {1: 1}}}, "document id 'a' is text", {"query": "q1"}
    yield {"scores": {"q1": {1: 1.0}}}, "is a whole number", {"query": "q1", "document": 1}
    for name, source in (("qrels", "qrels"), ("scores", "run")):
        for table in ("x", 3, [("q1", {})], iter(["q1"]), np.array(1)):
            yield {name: table}, "a mapping of", {"source": source}
    for ranking in (None, 3, [], "ab"):
        yield {"scores": {"q1": ranking}}, "ranking", {"source": "run", "query": "q1"}
    for names in (None, 3, "map"):
        yield {"measures": names}, "", {"source": "measures"}
    for names in ([1], [None], [b"map"], [("map",)], ["map", "nope"], ["P."], ["P.x"], ["rbp"]):
        yield {"measures": names}, "unsupported measure", {"source": "measures"}
    for name in ("P.0", "P_0", "utility.1,2", "set_F.0", "11pt_avg.2"):
        yield {"measures": ["map", name]}, "must be", {}
    yield {"qrels": {"q1": {"a": 1.5}}}, "not a whole number", {"query": "q1", "document": "a"}
    for level in (None, 0, -1, 1.5, "1", True, math.nan, np.array(1), np.True_):
        fact = f"relevance_level {level!r} must be a whole number of at least 1"
        yield {"level": level}, fact, {"value": level}


@pytest.mark.parametrize(("given", "fact", "fields"), list(rejected()))
def test_rejected(given: dict[str, Any], fact: str, fields: dict[str, Any]) -> None:
    input_error(lambda: evaluated(**given), fact, **fields)


@pytest.mark.parametrize("number", [True, -5, np.int64(3), np.float32(1), 2**40])
def test_numbers_of_all_kinds(number: Any) -> None:
    value = float(number >= 1)
    assert evaluated({"q1": {"a": number}}) == {"q1": {"map": value / 2}}
    assert evaluated(scores={"q1": {"a": number}}) == {"q1": {"map": 1.0}}


@pytest.mark.parametrize("score", [math.inf, -math.inf, 10**30, 2e39])
def test_scores_beyond_float32(score: float) -> None:
    assert evaluated(scores={"q1": {"a": score, "b": 1.0}})["q1"]["map"] == (1 + (score > 1)) / 2


@pytest.mark.parametrize("scores", [{}, {"zz": {"a": 1.0}}, {1: {"a": 1.0}}])
def test_nothing_to_evaluate(scores: Any) -> None:
    assert evaluated(scores=scores) == {}
    assert evaluated({}) == evaluated({"q1": {}}) == {}
    assert evaluated(measures=set()) == {"q1": {}}


def test_measures_from_a_generator() -> None:
    assert evaluated(measures=(wish for wish in ["map", "P.1"])) == {"q1": {"map": 0.5, "P_1": 0.0}}


def test_arguments_are_left_alone() -> None:
    qrels, run, wishes = copy.deepcopy(JUDGED), copy.deepcopy(RANKED), {"P.5", "official"}
    evaluator = RelevanceEvaluator(qrels, wishes)
    expected = evaluator.evaluate(run)
    assert (qrels, run, wishes) == (JUDGED, RANKED, {"P.5", "official"})
    qrels["q1"]["a"] = 0
    qrels["q2"] = {}
    assert evaluator.evaluate(run) == expected


@pytest.mark.parametrize(
    ("lines", "fact"),
    [
        (["x"], "line 1 (query 'x'): 1 column where"),
        (["", " "], "no data lines"),
        (["q 0 a 1.5"], "grade 1.5 is not a whole number"),
        (["q 0 a nan"], "grade 'nan'"),
        (["q 0 a 1", "q 0 a 1"], "line 2 (query 'q', document 'a')"),
        (["q 0 a\0 1"], "NUL"),
        ([b"q 0 \xff 1"], "UTF-8"),
        (["q 0 \ud800 1"], ""),
    ],
)
def test_lines_of_judgments(lines: Any, fact: str) -> None:
    input_error(lambda: parse_qrel(lines), fact, source="qrels")
    input_error(lambda: parse_run(lines), source="run")
    for others in (None, 3, [1], [None], [["q 0 a 1"]]):
        input_error(partial(parse_qrel, others))
        input_error(partial(parse_run, others))


def test_patches_that_are_nested_or_fail() -> None:
    import pytrec_eval

    before = pytrec_eval.RelevanceEvaluator
    with patched(), patched():
        assert pytrec_eval.RelevanceEvaluator is RelevanceEvaluator
    assert pytrec_eval.RelevanceEvaluator is before
    with pytest.raises(InputError), patched():
        pytrec_eval.RelevanceEvaluator(JUDGED, ["nope"])
    assert pytrec_eval.RelevanceEvaluator is before


# BEIR's interface


BEIR: list[Callable[..., Any]] = [
    beir.evaluate,
    *(partial(beir.evaluate_custom, metric=metric) for metric in beir.CUSTOM),
]


@pytest.mark.parametrize("call", BEIR, ids=["evaluate", *beir.CUSTOM])
class TestBeir:
    def test_cutoffs(self, call: Callable[..., Any]) -> None:
        for k in (0, -1, 1.5, 1.0, "1", True, None, [1]):
            error = input_error(partial(call, JUDGED, RANKED, [10, k]), f"cutoff {k!r}")
            assert error.value is k
        for cutoffs in ([], 5, None, "12"):
            input_error(partial(call, JUDGED, RANKED, cutoffs))

    def test_cutoffs_in_any_order(self, call: Callable[..., Any]) -> None:
        found = call(JUDGED, RANKED, [10, 1, np.int64(10)])
        for each in found if isinstance(found, tuple) else [found]:
            assert [name.partition("@")[2] for name in each] == ["10", "1"]
        assert call(JUDGED, RANKED, range(1, 3)) == call(JUDGED, RANKED, np.array([1, 2]))
        call(JUDGED, RANKED, [10**18])

    def test_numbers_and_tables(self, call: Callable[..., Any]) -> None:
        where: dict[str, Any] = {"query": "q1", "document": "a"}
        for number in (None, "x", math.nan):
            table = {"q1": {"b": 1, "a": number}}
            input_error(partial(call, table, RANKED, [1]), source="qrels", **where)
            input_error(partial(call, JUDGED, table, [1]), source="run", **where)
        for table in (None, [], "x", 3, np.array(1), {"q1": None}, {"q1": []}):
            input_error(partial(call, table, RANKED, [1]), source="qrels")
            input_error(partial(call, JUDGED, table, [1]), source="run")

    def test_nothing_in_common(self, call: Callable[..., Any]) -> None:
        input_error(
            lambda: call(JUDGED, {"zz": {"a": 1.0}}, [1]), "no query of it is judged", "'q1'"
        )
        input_error(lambda: call({}, RANKED, [1]), "no queries")

    def test_arguments_are_left_alone(self, call: Callable[..., Any]) -> None:
        qrels, run = {"q1": {"a": 1, "q1": 1}}, {"q1": {"q1": 2.0, "a": 1.0}, "q2": {"q2": 1.0}}
        before = copy.deepcopy((qrels, run))
        call(qrels, run, [1])
        assert (qrels, run) == before


@pytest.mark.parametrize("metric", [None, "nope", "", 3, ["mrr"], "MRR@10"])
def test_beirs_metrics(metric: Any) -> None:
    fact = f"metric {metric!r} must be one of"
    assert (
        input_error(lambda: beir.evaluate_custom(JUDGED, RANKED, [1], metric), fact).value is metric
    )
