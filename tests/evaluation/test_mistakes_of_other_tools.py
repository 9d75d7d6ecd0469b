"""What other tools get wrong, beyond the table of bad input; their values stand in brackets."""

from __future__ import annotations

import math
from typing import Any

from irbatch import evaluate, evaluate_matrix, evaluate_scores
from irbatch.integrations import beir

LOG3 = 1 / math.log2(3)


def value(qrels: Any, run: Any, wish: str) -> float:
    return evaluate(qrels, run, wish)[wish]


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


def test_a_query_that_retrieves_itself_is_left_alone() -> None:
    qrels, run = {"a": {"a": 1}}, {"a": {"a": 1.0}}
    assert value(qrels, run, "RR") == 1.0
    beir.evaluate(qrels, run, [1])
    assert run == {"a": {"a": 1.0}}  # [{"a": {}}]
