"""What other tools get wrong, beyond the table of bad input; their values stand in brackets."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import irbatch
from irbatch import Results, evaluate, evaluate_matrix, evaluate_scores
from irbatch.integrations import beir
from irbatch.integrations.pytrec_eval import RelevanceEvaluator

ONE = {"q": {"a": 1}}
LOG3 = 1 / math.log2(3)


def value(qrels: Any, run: Any, wish: str) -> float:
    return evaluate(qrels, run, wish)[wish]


def test_sets_of_queries() -> None:
    results = evaluate({**ONE, "q2": {"a": 1}}, {"q": {"a": 1.0}}, "nDCG P@1 RR R@1 AP")
    assert set(results.mean().values()) == {0.5}  # [1.0 of some measures, or an error]
    assert results.counts.missing == 1
    results = evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "nDCG AP RR")
    assert set(results.mean().values()) == {0.0}  # [1.0]
    assert results.counts.no_relevant == 1
    qrels = {"bad": {"a": -1, "b": -2}, "good": {"a": 1}}
    run = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    found = RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    assert found == {"bad": {"map": 0.0}, "good": {"map": 1.0}}  # [a crash]


def test_ties() -> None:
    results = evaluate_scores([[0.5] * 10], [[1, *[0] * 9]], "RR AP nDCG")
    assert "1 query with ties that matter" in repr(results)
    known = [0.2928968253968254, 0.2928968253968254, 0.45435593]
    assert list(results.mean().values()) == pytest.approx(known, rel=1e-8)  # [1.0, 0.1]
    wishes = ["RR", "RR@1000", "P@1", "RBP(p=0.5)@1"]
    found = evaluate(ONE, {"q": {"a": 1.0, "b": 1.0}}, wishes).mean()
    assert list(found.values()) == [0.5, 0.5, 0.0, 0.0]  # [0.5, 1.0]
    for other in (1.0, 1 - 1e-9, 1 + 1e-9):
        found = evaluate(ONE, {"q": {"a": 1.0, "b": other}}, "RR AP").mean()
        assert found["RR"] == found["AP"]  # [they differ]


def test_average_precision_has_a_name_for_each_divisor() -> None:
    run = {"q": {f"d{i}": -float(i) for i in range(5)}}
    qrels = {"q": dict.fromkeys(["d0", "d1", "x", "y", "z"], 1)}
    assert list(evaluate(qrels, run, "AP@2 AP(norm=min)@2").mean().values()) == [0.4, 1.0]
    assert evaluate_matrix([[1, 0, 0, 0, 1]], "AP@3")["AP@3"] == 0.5  # [1.0]


def test_rows_are_queries() -> None:
    found = evaluate_scores([[0.9, 0.1], [0.9, 0.1]], [[1, 0], [0, 1]], "nDCG")
    assert found["nDCG"] == (1 + LOG3) / 2  # [of one query of four documents]


def test_recall_points_are_counted_in_whole_documents() -> None:
    found = evaluate_matrix([[1, 0, 1]], "IPrec(recall=0.6) IPrec(recall=0.6,rounding=up)")
    assert found.values.tolist() == [[1.0, 2 / 3]]  # [1.0]


def test_holes_are_those_of_the_query() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    assert value(qrels, run, "Unjudged@2") == 0.5
    assert beir.evaluate_custom(qrels, run, [2], "hole") == {"Hole@2": 0.0}  # as BEIR has it


def systems(first: float, second: float) -> tuple[Any, Any]:
    """Return judgments, and two runs that have the relevant document first or not at all."""
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(50)}
    runs = {
        name: {q: {"a" if score else "b": 1.0} for q in qrels}
        for name, score in (("x", first), ("y", second))
    }
    return qrels, runs


def p_value(qrels: Any, runs: Any, **options: Any) -> float:
    return float(irbatch.compare(qrels, runs, "RR", **options).p_values[0, 0])


def test_p_values() -> None:
    assert p_value(*systems(1, 1), draws=100) == 1.0  # [NaN]
    assert p_value(*systems(1, 0), draws=999) == 2 / 2**50  # [0]
    qrels, runs = systems(1, 0)
    runs["y"] |= {f"q{i}": {"a": 1.0} for i in range(40)} | {"q49": {"a": 1.0}}
    found = {p_value(qrels, runs, seed=42, draws=500, threads=n) for n in (1, 8, 1)}
    assert len(found) == 1


def test_a_query_that_retrieves_itself_is_left_alone() -> None:
    qrels, run = {"a": {"a": 1}}, {"a": {"a": 1.0}}
    assert value(qrels, run, "RR") == 1.0
    beir.evaluate(qrels, run, [1])
    assert run == {"a": {"a": 1.0}}  # [{"a": {}}]


def test_a_sample_that_two_processes_have_counts_once() -> None:
    parts = []
    for queries in ((1, 2), (2, 3)):
        evaluator = irbatch.BatchEvaluator("RR")
        for query in queries:
            evaluator.update([[0.1 * query, 0.25]], [[1, 0]], query_ids=[query])
        parts.append(evaluator)
    parts[0].merge(parts[1])
    results = parts[0].compute()
    assert isinstance(results, Results)
    assert results.per_query("RR") == {1: 0.5, 2: 0.5, 3: 1.0}
    assert pickle.loads(pickle.dumps(parts[0])).compute().mean() == results.mean()


def test_names_are_text_in_every_report() -> None:
    qrels, runs = systems(1, 0)
    runs = dict(zip((r"\input{x}", "=1+1"), runs.values(), strict=True))
    found = irbatch.compare(qrels, runs, "RR", draws=50)
    assert r"\input" not in found.to_latex()  # [raw]
    assert "\n=1+1" not in found.to_csv()
    assert "'=1+1" in found.to_csv()


def test_a_masked_score_is_no_candidate() -> None:
    scores = np.ma.array([[0.9, 0.5, 0.1]], mask=[[1, 0, 0]])
    assert evaluate_scores(scores, [[0, 0, 1]], "nDCG")["nDCG"] == LOG3  # [0.5]
