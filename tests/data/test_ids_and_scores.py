"""Ids, scores and grades: what is one, that ids match by equality alone, and what is no mapping.

Every entrance is asked for the same in `tests/bad_input`; here are more kinds of values.
"""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch import Qrels, Run, evaluate, evaluate_ids, evaluate_runs

QRELS = {"q1": {"d1": 1, "d2": 0}}
RUN = {"q1": {"d1": 1.0, "d2": 0.5}}
LONG = {f"x{i}": -float(i) for i in range(5)}  # more documents than judged ones
NOT_IDS = [1.0, math.nan, np.float64(1.0), True, np.bool_(True), None, b"1", (1, 2), frozenset()]


@pytest.mark.parametrize("name", NOT_IDS, ids=repr)
def test_what_is_not_an_id(name: Any) -> None:
    calls: list[tuple[Callable[[], object], str, str, Any]] = [
        (lambda: Qrels({"q": {"d": 1}, name: {"d": 1}}), "query", "qrels", None),
        (lambda: evaluate({name: {"d": 1}}, {"q": {"d": 1.0}}, "RR"), "query", "qrels", None),
        (lambda: Run({"q": {"d": 1.0}, name: {"d": 1.0}}), "query", "run", None),
        (lambda: evaluate({1: {"d": 1}}, {name: {"d": 1.0}}, "RR"), "query", "run", None),
        (lambda: Qrels({"q": {"d": 1, name: 1}}), "document", "qrels", "q"),
        (lambda: evaluate({"q": {"d": 1}}, {"q": {name: 1.0}}, "RR"), "document", "run", "q"),
        # 1.0 and True equal 1, so all ids are looked at where ids are numbers.
        (lambda: evaluate({"q": {1: 1}}, {"q": {5: 2.0, name: 1.0}}, "RR"), "document", "run", "q"),
    ]
    for call, what, source, query in calls:
        fields = {"source": source} | ({"query": query} if query else {})
        error = input_error(call, f"{what} id", repr(name), type(name).__name__, **fields)
        assert error.value is name
    # It equals no text: only the first id of each ranking is looked at, for speed.
    run = {"q": {"x": 3.0, name: 2.0, "d": 1.0}}
    assert evaluate({"q": {"d": 1}}, run, "RR")["RR"] == 1 / 3
    if not isinstance(name, tuple | frozenset | float):
        relevant, facts = {2: [5], name: [5]}, ("query id", repr(name))
        input_error(lambda: evaluate_ids(relevant, {2: [5], 3: [5]}, "RR"), *facts)


def test_numpy_ids_equal_python_ids() -> None:
    qrels = {np.int64(1): {np.uint8(5): 1}, 2: {np.int32(6): 1}}
    run = {1: {5: 1.0}, np.int16(2): {6: 1.0}}
    assert evaluate(qrels, run, "RR")["RR"] == 1.0
    assert evaluate({np.str_("q"): {np.str_("d"): 1}}, {"q": {"d": 1.0}}, "RR")["RR"] == 1.0


# ---------------------------------------------------------------- scores and grades

NOT_NUMBERS = [
    math.nan, np.float32("nan"), Decimal("NaN"), Decimal("sNaN"), None, "3", np.str_("3"), b"3",
    1 + 2j, np.complex128(1 + 2j), np.ma.masked, [1.0], {}, np.array([1.0, 2.0]),
    np.datetime64("2020-01-01"), np.timedelta64(3, "s"), 10**400, -(10**400),
]  # fmt: skip
NOT_GRADES = [math.inf, -math.inf, 2**53 + 1, 2**53 + 2, -(2**53) - 2, np.uint64(2**60)]


@pytest.mark.filterwarnings("ignore:.*masked element")
@pytest.mark.parametrize("score", NOT_NUMBERS, ids=lambda each: repr(each)[:20])
def test_score_is_not_a_number(score: object) -> None:
    for others, document in itertools.product(({}, LONG), ("d1", "unjudged")):
        run = Run({"q1": {**others, "d2": 0.5, document: score}}, name="bm25")
        fields = {"source": "run", "query": "q1", "document": document, "path": "bm25"}
        error = input_error(lambda run=run: evaluate(QRELS, run, "RR"), repr(score), **fields)
        assert error.value is score


@pytest.mark.filterwarnings("ignore:.*masked element")
@pytest.mark.parametrize("grade", [*NOT_NUMBERS, *NOT_GRADES], ids=lambda each: repr(each)[:20])
def test_what_is_not_a_grade(grade: Any) -> None:
    qrels = {"q0": {"d1": 1}, "q1": {"d1": 1, "d2": grade}}
    facts = ("qrels", "(query 'q1', document 'd2')", f"grade {grade!r}")
    fields = {"source": "qrels", "query": "q1", "document": "d2"}
    assert input_error(lambda: Qrels(qrels), *facts, **fields).value is grade
    assert input_error(lambda: evaluate(qrels, RUN, "RR"), *facts, **fields).value is grade
    input_error(lambda: Qrels(qrels, "my.qrels"), "qrels 'my.qrels'", path="my.qrels")


def test_score_of_more_digits_than_python_prints() -> None:
    runs: Any = {"good": {"q1": {"d1": 1.0}}, "long": {"q1": {"d1": 10**5000}}}
    input_error(lambda: evaluate_runs(QRELS, runs, "RR"), "'long'", query="q1", document="d1")


def test_texts_of_two_unicode_forms_are_told() -> None:
    composed, decomposed = (unicodedata.normalize(form, "é") for form in ("NFC", "NFD"))
    other = {decomposed: {"d1": 1.0}}
    input_error(lambda: evaluate({composed: {"d1": 1}}, other, "RR"), "NFC or NFD")
    qrels = {f"q{i}": {composed: 1} for i in range(12)}
    with pytest.warns(irbatch.InputWarning, match="NFC or NFD"):
        evaluate(qrels, {query: {decomposed: 1.0} for query in qrels}, "RR")


# ---------------------------------------------------------------- mappings


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
