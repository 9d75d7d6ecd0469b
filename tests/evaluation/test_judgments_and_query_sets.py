"""Judgments and sets of queries: grades, queries on one side only, nothing in common."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import InputWarning, Qrels, Run, evaluate, evaluate_runs

RUN = {"q1": {"d1": 1.0, "d2": 0.5}}


@pytest.mark.filterwarnings("ignore:.*masked element")
@pytest.mark.parametrize(
    "grade",
    [
        pytest.param(math.nan, id="nan"),
        pytest.param(Decimal("NaN"), id="decimal nan"),
        pytest.param("yes", id="word"),
        pytest.param("1", id="text"),
        pytest.param(b"1", id="bytes"),
        pytest.param(None, id="None"),
        pytest.param(1j, id="complex"),
        pytest.param(np.complex128(1 + 1j), id="numpy complex"),
        pytest.param(np.ma.masked, id="masked"),
        pytest.param([1], id="list"),
        pytest.param(math.inf, id="inf"),
        pytest.param(-math.inf, id="-inf"),
        pytest.param(2**53 + 1, id="2^53+1"),
        pytest.param(2**53 + 2, id="2^53+2"),
        pytest.param(-(2**53) - 2, id="-2^53-2"),
        pytest.param(np.uint64(2**60), id="uint64"),
        pytest.param(10**400, id="beyond float64"),
    ],
)
def test_grade_is_none(grade: Any) -> None:
    qrels = {"q0": {"d1": 1}, "q1": {"d1": 1, "d2": grade}}
    facts = ("qrels", "(query 'q1', document 'd2')", f"grade {grade!r}")
    fields = {"source": "qrels", "query": "q1", "document": "d2"}
    assert input_error(lambda: Qrels(qrels), *facts, **fields).value is grade
    assert input_error(lambda: evaluate(qrels, RUN, "RR"), *facts, **fields).value is grade
    input_error(lambda: Qrels(qrels, "my.qrels"), "qrels 'my.qrels'", path="my.qrels")


@pytest.mark.parametrize(
    ("grade", "ndcg", "rr"),
    [
        pytest.param(True, 1.0, 1.0, id="True"),
        pytest.param(False, 0.0, 0.0, id="False"),
        pytest.param(np.int8(3), 1.0, 1.0, id="int8"),
        pytest.param(np.float32(2), 1.0, 1.0, id="float32"),
        pytest.param(Fraction(4, 2), 1.0, 1.0, id="fraction"),
        pytest.param(Decimal(2), 1.0, 1.0, id="decimal"),
        pytest.param(-0.0, 0.0, 0.0, id="-0.0"),
        pytest.param(10**6, 1.0, 1.0, id="10^6"),
        pytest.param(2**31, 1.0, 1.0, id="2^31"),
        pytest.param(2**32 + 1, 1.0, 1.0, id="2^32+1"),
        pytest.param(2**40, 1.0, 1.0, id="2^40"),
        pytest.param(2**53, 1.0, 1.0, id="2^53"),
        pytest.param(-1, 0.0, 0.0, id="-1"),
        pytest.param(-(2**53), 0.0, 0.0, id="-2^53"),
    ],
)
def test_any_real_number_is_a_grade(grade: Any, ndcg: float, rr: float) -> None:
    means = evaluate({"q1": {"d1": grade}}, RUN, "nDCG RR").mean()
    assert means == {"nDCG": ndcg, "RR": rr}


def test_neighbouring_large_grades_are_told_apart() -> None:
    for base in (2**24, 2**40, 2**53 - 1):
        qrels = {"q1": {"d1": base, "d2": base + 1}}
        assert Qrels(qrels).levels.tolist() == [base, base + 1]
        assert evaluate(qrels, RUN, f"RR(rel={base + 1})").values.tolist() == [[0.5]]


def test_negative_grades_are_judged_and_worth_nothing() -> None:
    results = evaluate({"q1": {"d1": -1, "d2": 1}}, RUN, "nDCG RR P@1 Judged@2 NumRel")
    expected = {"nDCG": 1 / math.log2(3), "RR": 0.5, "P@1": 0.0, "Judged@2": 1.0, "NumRel": 1.0}
    assert results.mean() == expected


def test_query_of_negative_grades_leaves_others_alone() -> None:
    qrels = {"q1": {"d1": 1}, "bad": {"d1": -1, "d2": -2}, "half": {"d1": -0.5}}
    run = RUN | {"bad": RUN["q1"], "half": RUN["q1"]}
    results = evaluate(qrels, run, "nDCG AP")
    assert results.per_query("nDCG") == {"q1": 1.0, "bad": 0.0, "half": 0.0}
    assert results.per_query("AP") == {"q1": 1.0, "bad": 0.0, "half": 0.0}
    assert results.counts.no_relevant == 2


@pytest.mark.parametrize("name", ["RR", "AP@10", "P@5", "R@5", "NumRel", "Success@1"])
def test_fractional_grades_need_a_threshold(name: str) -> None:
    qrels = {"q1": {"d1": 0.9, "d2": 0.1}}
    input_error(
        lambda: evaluate(qrels, RUN, ["nDCG", name]), "0.1", "rel=", value=0.1, source="qrels"
    )
    decided = name.partition("@")[0] + "(rel=0.5)" + "".join(name.partition("@")[1:])
    assert evaluate(qrels, RUN, decided)[decided] > 0
    assert evaluate(qrels, RUN, "nDCG DCG@1").mean() == {"nDCG": 1.0, "DCG@1": 0.9}


def test_exponential_gain_that_overflows() -> None:
    qrels = {"q1": {"d1": 2000}}
    for name in ("nDCG(gain=exp)", "DCG(gain=exp)@5"):
        facts = ("2^2000", "gain=linear")
        input_error(lambda wish=name: evaluate(qrels, RUN, wish), *facts, value=2000.0)
    assert evaluate({"q1": {"d1": 1023}}, RUN, "nDCG(gain=exp)").mean() == {"nDCG(gain=exp)": 1.0}


@pytest.mark.parametrize("wrong", [None, 5, [], [("q1", {})], 3.5, {"q1"}], ids=repr)
def test_no_mapping(wrong: Any) -> None:
    kind = type(wrong).__name__
    input_error(lambda: Qrels(wrong), "qrels", kind, source="qrels")
    input_error(lambda: evaluate(wrong, RUN, "RR"), "qrels", kind, source="qrels")
    input_error(lambda: Run(wrong), "run", kind, source="run")
    input_error(lambda: evaluate({"q1": {"d1": 1}}, wrong, "RR"), "run", kind, source="run")
    input_error(lambda: evaluate_runs({"q1": {"d1": 1}}, {"a": wrong}, "RR"), "run", kind)


@pytest.mark.parametrize("wrong", [None, 1, ["d1"], "d1", {"d1"}], ids=repr)
def test_query_without_a_mapping(wrong: Any) -> None:
    facts = ("(query 'q2')", type(wrong).__name__)
    input_error(lambda: Qrels({"q1": {}, "q2": wrong}), "qrels", *facts, source="qrels", query="q2")
    input_error(lambda: Run({"q1": {}, "q2": wrong}, "a"), "run 'a'", *facts, query="q2", path="a")


def test_no_queries_in_the_qrels() -> None:
    input_error(lambda: Qrels({}), "qrels", "no queries", source="qrels")
    input_error(lambda: evaluate({}, RUN, "RR"), "qrels", "no queries", source="qrels")


def test_empty_run_scores_zero_with_a_warning() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    with pytest.warns(InputWarning, match="bm25.* is empty"):
        results = evaluate(qrels, Run({}, "bm25"), "RR nDCG@10 NumRel")
    assert results.mean() == {"RR": 0.0, "nDCG@10": 0.0, "NumRel": 2.0}
    assert (results.counts.missing, results.counts.answered, results.counts.empty) == (2, 0, 0)
    with pytest.warns(InputWarning):
        input_error(lambda: evaluate(qrels, {}, "RR", missing="error"), "2 of 2", "'q1'")


def test_nothing_in_common_shows_ids_of_both_sides() -> None:
    qrels = {f"judged{i}": {"d": 1} for i in range(5)}
    facts = ("'judged0', 'judged1', 'judged2', …", "'answered'")
    run = {"answered": {"d": 1.0}}
    input_error(lambda: evaluate(qrels, run, "RR"), "run", *facts, source="run")
    input_error(lambda: evaluate(qrels, Run(run, "a"), "RR"), "run 'a'", path="a")
    input_error(lambda: evaluate(qrels, run, "RR", missing="skip"), *facts)


def test_queries_on_one_side_only() -> None:
    qrels = {"q1": {"d1": 1}, "missing": {"d1": 1}}
    run = RUN | {"extra": {"d1": 1.0}, "extra2": {}}
    results = evaluate(qrels, run, "RR")
    assert results.per_query("RR") == {"q1": 1.0, "missing": 0.0}
    counts = results.counts
    assert (counts.queries, counts.judged, counts.answered) == (2, 2, 1)
    assert (counts.missing, counts.extra, counts.empty) == (1, 2, 0)
    skipped = evaluate(qrels, run, "RR", missing="skip")
    assert (skipped["RR"], skipped.counts.queries, skipped.counts.missing) == (1.0, 1, 1)
    input_error(
        lambda: evaluate(qrels, run, "RR", missing="error"), "1 of 2", "'missing'", source="run"
    )


def test_query_without_documents() -> None:
    qrels: dict[str, dict[str, int]] = {"q1": {"d1": 1}, "nothing": {}, "empty": {"d1": 1}}
    run: dict[str, dict[str, float]] = RUN | {"nothing": {"d1": 1.0}, "empty": {}}
    results = evaluate(qrels, run, "RR AP nDCG Judged@5 P@5 Rprec")
    for query in ("nothing", "empty"):
        assert set(results.to_dict()[query].values()) == {0.0}
    assert (results.counts.no_relevant, results.counts.empty) == (1, 1)
    found = evaluate(qrels, run, "RR", no_relevant="skip")
    assert found["RR"] == 0.5
    assert math.isnan(found.per_query("RR")["nothing"])


def test_only_queries_without_judged_documents() -> None:
    results = evaluate({"q1": {}, "q2": {}}, RUN, "RR nDCG")
    assert results.mean() == {"RR": 0.0, "nDCG": 0.0}
    assert results.counts.no_relevant == 2
    alone = evaluate({"q1": {}}, RUN, "RR", no_relevant="skip")
    assert math.isnan(alone["RR"])


def test_prepared_judgments_stay_as_they_were() -> None:
    grades = {"d0": 0, "d1": 1}
    qrels = Qrels({"q1": grades})
    del grades["d0"]  # so that what is left would stand a place before
    grades |= {"d2": 1, "d3": 1}
    assert evaluate(qrels, RUN, "RR R NumRel").mean() == {"RR": 1.0, "R": 1.0, "NumRel": 1.0}
    assert qrels.to_dict() == {"q1": {"d0": 0, "d1": 1}}
