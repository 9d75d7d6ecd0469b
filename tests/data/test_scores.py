"""Scores: which are numbers, and what order they and ties among them make."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import Run, evaluate, evaluate_runs

QRELS = {"q1": {"d1": 1, "d2": 0}}
LONG = {f"x{i}": -float(i) for i in range(5)}  # more documents than judged ones

NOT_NUMBERS = [
    pytest.param(math.nan, id="nan"),
    pytest.param(np.float32("nan"), id="float32 nan"),
    pytest.param(Decimal("NaN"), id="decimal nan"),
    pytest.param(Decimal("sNaN"), id="decimal signalling nan"),
    pytest.param(None, id="None"),
    pytest.param("3", id="text"),
    pytest.param(np.str_("3"), id="numpy text"),
    pytest.param(b"3", id="bytes"),
    pytest.param(1 + 2j, id="complex"),
    pytest.param(np.complex128(1 + 2j), id="numpy complex"),
    pytest.param(np.ma.masked, id="masked"),
    pytest.param([1.0], id="list"),
    pytest.param({}, id="dict"),
    pytest.param(np.array([1.0, 2.0]), id="array"),
    pytest.param(np.datetime64("2020-01-01"), id="date"),
    pytest.param(np.timedelta64(3, "s"), id="duration"),
    pytest.param(10**400, id="beyond float64"),
    pytest.param(-(10**400), id="below float64"),
]


@pytest.mark.filterwarnings("ignore:.*masked element")
@pytest.mark.parametrize("others", [{}, LONG], ids=["short ranking", "long ranking"])
@pytest.mark.parametrize("document", ["d1", "unjudged"])
@pytest.mark.parametrize("score", NOT_NUMBERS)
def test_score_is_no_number(score: object, document: str, others: dict[str, float]) -> None:
    run = {"q1": {**others, "d2": 0.5, document: score}}
    error = input_error(
        lambda: evaluate(QRELS, run, "RR"),
        "run (query 'q1', document ",
        repr(document),
        repr(score),
        source="run",
        query="q1",
        document=document,
    )
    assert error.value is score


def test_score_of_more_digits_than_python_prints() -> None:
    run = {"q1": {"d1": 10**5000}}
    input_error(lambda: evaluate(QRELS, run, "RR"), "run", "'q1'", query="q1", document="d1")


def test_bad_score_names_the_run() -> None:
    run = Run({"q1": {"d1": math.nan}}, name="bm25")
    input_error(lambda: evaluate(QRELS, run, "RR"), "run 'bm25' (query 'q1', document 'd1')")


def test_bad_score_names_the_system_among_several() -> None:
    runs = {"good": {"q1": {"d1": 1.0}}, "dense": {"q1": {"d1": math.nan}}}
    input_error(lambda: evaluate_runs(QRELS, runs, "RR"), "'dense'", query="q1", document="d1")


def test_bad_scores_of_several_queries_are_listed_together() -> None:
    qrels = {f"q{i}": {"d": 1} for i in range(3)}
    run: dict[str, dict[str, object]] = {"q0": {"d": None}, "q1": {"d": 1.0}, "q2": {"d": "x"}}
    error = input_error(
        lambda: evaluate(qrels, run, "RR"), "2 problems", "'q0'", "None", "'q2'", "'x'"
    )
    assert [problem.query for problem in error.problems] == ["q0", "q2"]


def test_scores_of_ignored_queries_are_not_read() -> None:
    run = {"q1": {"d1": 1.0}, "unjudged": {"d": math.nan}}
    assert evaluate(QRELS, run, "RR")["RR"] == 1.0


@pytest.mark.parametrize("others", [{}, LONG], ids=["short ranking", "long ranking"])
@pytest.mark.parametrize(
    ("score", "expected"),
    [
        pytest.param(math.inf, 1.0, id="inf"),
        pytest.param(-math.inf, None, id="-inf"),
        pytest.param(True, 1.0, id="True"),
        pytest.param(False, 0.5, id="False"),
        pytest.param(np.bool_(True), 1.0, id="numpy bool"),
        pytest.param(np.float16(0.75), 1.0, id="float16"),
        pytest.param(np.float32(0.75), 1.0, id="float32"),
        pytest.param(np.longdouble(0.25), 0.5, id="longdouble"),
        pytest.param(np.int64(3), 1.0, id="int64"),
        pytest.param(np.uint8(0), 0.5, id="uint8"),
        pytest.param(np.array(0.75), 1.0, id="array of no dimension"),
        pytest.param(Fraction(2, 3), 1.0, id="fraction"),
        pytest.param(Decimal("0.25"), 0.5, id="decimal"),
        pytest.param(10**300, 1.0, id="large int"),
    ],
)
def test_any_real_number_is_a_score(
    score: Any, expected: float | None, others: dict[str, float]
) -> None:
    run = {"q1": {"d1": score, "d2": 0.5, **others}}
    last = 1.0 / len(run["q1"])
    if expected == 0.5 and others and score == 0:
        expected = 1 / 3  # x0 ties with it, and comes first by its id
    assert evaluate(QRELS, run, "RR")["RR"] == (last if expected is None else expected)


@pytest.mark.parametrize(
    ("relevant", "other", "expected", "as_float32"),
    [
        pytest.param(1 + 1e-9, 1.0, 1.0, 0.5, id="1+1e-9"),
        pytest.param(16777217, 16777216, 1.0, 0.5, id="2^24+1"),
        pytest.param(2e39, 1e39, 1.0, 0.5, id="beyond float32"),
        pytest.param(1e-46, 0.0, 1.0, 0.5, id="below float32"),
        pytest.param(5e-324, -5e-324, 1.0, 0.5, id="subnormal"),
        pytest.param(-0.0, 0.0, 0.5, 0.5, id="-0.0 and 0.0"),
        pytest.param(0.0, -0.0, 0.5, 0.5, id="0.0 and -0.0"),
        pytest.param(math.inf, math.inf, 0.5, 0.5, id="two infinities"),
        pytest.param(math.inf, 1.7e308, 1.0, 0.5, id="inf and largest"),
        pytest.param(2**53 + 2, 2**53, 1.0, 0.5, id="2^53+2"),
        pytest.param(2**53 + 1, 2**53, 0.5, 0.5, id="2^53+1 is no float64"),
        pytest.param(Fraction(1, 3), 1 / 3, 0.5, 0.5, id="fraction and its float64"),
    ],
)
def test_precision_of_comparisons(
    relevant: Any, other: Any, expected: float, as_float32: float
) -> None:
    qrels = {"q": {"a": 1}}
    for run in ({"q": {"a": relevant, "b": other}}, {"q": {"b": other, "a": relevant}}):
        assert evaluate(qrels, run, "RR")["RR"] == expected
        assert evaluate(qrels, run, "RR", score_dtype="float32")["RR"] == as_float32


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(["d3", "d2", "d1"], id="ascii"),
        pytest.param(["a", "Z", "10", "1", "-", ""], id="punctuation, digits"),
        pytest.param(["\U0001f600", "\uffff", "é", "e\u0301", "e", "Z"], id="non-ascii"),
        pytest.param(["\udfff", "\ud800", "z"], id="lone surrogates"),
        pytest.param(["aa", "a\x01", "a\0x", "a\0", "a"], id="prefixes"),
        pytest.param([9, 100, 10, 1, 0, -2, -10, -1], id="integers as decimal text"),
        pytest.param([2**53 + 1, 2**53, 10**30], id="large integers"),
        pytest.param([np.int64(9), 10, np.uint8(1)], id="numpy integers"),
    ],
)
def test_ties_are_broken_by_id_descending(order: Sequence[Any]) -> None:
    for shuffled in (order, order[::-1], order[1::2] + order[::2]):
        run = {"q": dict.fromkeys(shuffled, 0.25)}
        for rank, document in enumerate(order, 1):
            assert _rank(document, run) == rank
            assert _rank(document, {"q": {**run["q"], _last(order): 0.125}}) == rank


def _last(order: Sequence[Any]) -> Any:
    """An id of the same kind as the others."""
    return "last" if isinstance(order[0], str) else 123


def _rank(document: Any, run: Mapping[str, Mapping[Any, float]]) -> int:
    return round(1 / evaluate({"q": {document: 1}}, run, "RR")["RR"])
