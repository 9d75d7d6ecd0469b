"""Judgments: grades of every type, and what is no mapping; see bad_input/ for the rest."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import Qrels, Run, evaluate, evaluate_runs

RUN = {"q1": {"d1": 1.0, "d2": 0.5}}


NOT_GRADES = [
    math.nan, Decimal("NaN"), "yes", "1", b"1", None, 1j, np.complex128(1 + 1j), np.ma.masked, [1],
    math.inf, -math.inf, 2**53 + 1, 2**53 + 2, -(2**53) - 2, np.uint64(2**60), 10**400,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*masked element")
@pytest.mark.parametrize("grade", NOT_GRADES, ids=lambda grade: repr(grade)[:20])
def test_grade_is_none(grade: Any) -> None:
    qrels = {"q0": {"d1": 1}, "q1": {"d1": 1, "d2": grade}}
    facts = ("qrels", "(query 'q1', document 'd2')", f"grade {grade!r}")
    fields = {"source": "qrels", "query": "q1", "document": "d2"}
    assert input_error(lambda: Qrels(qrels), *facts, **fields).value is grade
    assert input_error(lambda: evaluate(qrels, RUN, "RR"), *facts, **fields).value is grade
    input_error(lambda: Qrels(qrels, "my.qrels"), "qrels 'my.qrels'", path="my.qrels")


GAINFUL = [True, np.int8(3), np.float32(2), Fraction(4, 2), Decimal(2), 2**31, 2**53]
WORTHLESS = [False, -0.0, -1, -(2**53)]


@pytest.mark.parametrize("grade", [*GAINFUL, *WORTHLESS], ids=repr)
def test_any_real_number_is_a_grade(grade: Any) -> None:
    value = float(grade > 0)
    assert evaluate({"q1": {"d1": grade}}, RUN, "nDCG RR").mean() == {"nDCG": value, "RR": value}


@pytest.mark.parametrize("wrong", [None, 5, [], [("q1", {})], 3.5, {"q1"}], ids=repr)
def test_no_mapping(wrong: Any) -> None:
    kind = type(wrong).__name__
    input_error(lambda: Qrels(wrong), "qrels", kind, source="qrels")
    fact = "None" if wrong is None else kind
    input_error(lambda: evaluate(wrong, RUN, "RR"), "qrels", fact, source="qrels")
    input_error(lambda: Run(wrong), "run", kind, source="run")
    input_error(lambda: evaluate({"q1": {"d1": 1}}, wrong, "RR"), "run", kind, source="run")
    input_error(lambda: evaluate_runs({"q1": {"d1": 1}}, {"a": wrong}, "RR"), "run", kind)


@pytest.mark.parametrize("wrong", [None, 1, ["d1"], "d1", {"d1"}], ids=repr)
def test_query_without_a_mapping(wrong: Any) -> None:
    facts = ("(query 'q2')", type(wrong).__name__)
    input_error(lambda: Qrels({"q1": {}, "q2": wrong}), "qrels", *facts, source="qrels", query="q2")
    input_error(lambda: Run({"q1": {}, "q2": wrong}, "a"), "run 'a'", *facts, query="q2", path="a")


def test_prepared_judgments_stay_as_they_were() -> None:
    grades = {"d0": 0, "d1": 1}
    qrels = Qrels({"q1": grades})
    del grades["d0"]  # so that what is left would stand a place before
    grades |= {"d2": 1, "d3": 1}
    assert evaluate(qrels, RUN, "RR R NumRel").mean() == {"RR": 1.0, "R": 1.0, "NumRel": 1.0}
    assert qrels.to_dict() == {"q1": {"d0": 0, "d1": 1}}
