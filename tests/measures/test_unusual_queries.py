"""Measures that walk the judged documents, and the others new with them, on what is not usual."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import Results, evaluate, evaluate_ids, evaluate_matrix, measure

LEAST = 1e-5  # the floor of geometric means

# What one query with a single relevant document is worth to each when nothing was retrieved.
NOTHING: dict[str, float] = {
    **dict.fromkeys(["Bpref", "InfAP", "IPrec", "IPrecAvg", "RprecMult", "RprecMult(times=0)"], 0),
    **dict.fromkeys(["IPrec(recall=0.5)", "IPrec(recall=1,rounding=up)", "RnDCG", "RBP"], 0),
    **dict.fromkeys(["IPrecAvg(points={0,1},rounding=up)", "BinG", "G", "nDCGrel"], 0),
    **dict.fromkeys(["nDCGrel(gain=exp,discount=ln)", "RnDCG(gain=binary)", "SetAP"], 0),
    **dict.fromkeys(["G(gain=binary)", "RBP(p=0.5,gain=exp)"], 0),
    **dict.fromkeys(["Utility", "Unjudged", "NumNonRelRet"], 0),
    "RBPresid(tail=always)": 1.0,
    "RBPresid": 0.0,
    "GMAP": LEAST,
    "GMBpref": LEAST,
    "YAAP": -math.log(2),
}
ALL = list(NOTHING)
WALKS = [name for name in ALL if measure(name).declaration.reads == "judged"]
RESIDUAL = ["RBPresid(tail=always)", "RBPresid"]
SKIPPED = [name for name in ALL if name not in (*RESIDUAL, "Unjudged", "NumNonRelRet", "Utility")]

QRELS = {"q1": {"a": 1, "b": 0, "c": 2, "d": -1}, "q2": {"x": 0}, "q3": {"y": 1}}
RUN = {"q1": {"a": 1.0, "b": 2.0, "z": 3.0}, "q2": {"x": 1.0}, "q3": {"y": 1.0}}
FAR = 10**18


def check(results: Results) -> None:
    """Check that every value and mean lies in its range."""
    for column, name in enumerate(results.measures):
        low, high = measure(name).declaration.range
        values = results.values[:, column]
        assert np.isfinite(values).all(), name
        assert ((values >= low) & (values <= high)).all(), name
        assert math.isfinite(results[name]), name
    json.loads(results.to_json(), parse_constant=pytest.fail)
    assert "nan" not in repr(results) + results.to_csv()


@pytest.mark.parametrize(
    "call",
    [
        lambda wish, k: evaluate({"q": {"a": 1}}, {"q": {}}, wish, k),
        lambda wish, k: evaluate({"q": {"a": 1}, "r": {"b": 1}}, {"r": {"b": 1.0}}, wish, k),
        lambda wish, k: evaluate({"q": {"a": 1}}, {"q": {"z": 1.0}}, wish, k, judged_only=True),
        lambda wish, k: evaluate_ids([[]], [["a"]], wish, k),
        lambda wish, k: evaluate_ids([[-1, -1]], [[5]], wish, k, pad=-1),
        lambda wish, k: evaluate_matrix([[]], wish, k, n_relevant=[1]),
        lambda wish, k: evaluate_matrix([[], [1]], wish, k, judged=[[1], [1]]),
        lambda wish, k: evaluate_matrix([[1, 1]], wish, k, lengths=[0], judged=[[1]]),
        lambda wish, k: evaluate_matrix(
            np.ma.array([[1, 0]], mask=[[True, True]]), wish, k, judged=[[1]]
        ),
    ],
    ids=["run", "missing", "condensed", "ids", "pad", "n_relevant", "judged", "lengths", "mask"],
)
@pytest.mark.parametrize("cutoff", [None, 1, FAR])
def test_empty_ranking(call: Callable[..., Results], cutoff: int | None) -> None:
    results = call(ALL, cutoff)
    check(results)
    assert results.values[0] == pytest.approx(list(NOTHING.values()))


@pytest.mark.parametrize("name", WALKS)
def test_fractional_grades_need_a_rel(name: str) -> None:
    fractional = {"q": {"a": 0.5, "b": 0, "c": 1.5}}
    run = {"q": {"a": 1.0, "b": 2.0}}
    declared = measure(name).declaration
    if declared.graded or "rel" not in declared.parameters:
        check(evaluate(fractional, run, name))
    else:
        fact = "grade 0.5 is not a whole number"
        input_error(
            lambda: evaluate(fractional, run, name), fact, query="q", document="a", value=0.5
        )
    check(evaluate(fractional, run, name, rel=0.5))


def test_queries_without_relevant_documents_left_out() -> None:
    names = [*SKIPPED, "NumNonRelRet", "Unjudged"]
    results = evaluate(QRELS, RUN, names, no_relevant="skip")
    for name in names:
        values = list(results.per_query(name).values())
        assert [math.isnan(each) for each in values] == [False, name in SKIPPED, False], name
        assert math.isfinite(results[name]), name
    ap, _, one = results.per_query("GMAP").values()
    assert results["GMAP"] == pytest.approx(math.sqrt(ap * one))
    assert pickle.loads(pickle.dumps(results)).to_json() == results.to_json()
    assert json.loads(results.to_json())["per_query"]["q2"]["GMAP"] is None
    alone = evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "GMAP NumNonRelRet", no_relevant="skip")
    assert math.isnan(alone["GMAP"])
    assert alone["NumNonRelRet"] == 1.0
    assert json.loads(alone.to_json())["mean"] == {"GMAP": None, "NumNonRelRet": 1.0}


def test_a_residual_stays_within_1_though_sums_are_rounded() -> None:
    run = {"q": {f"z{i}": 1.0 for i in range(5)}}
    assert evaluate({"q": {"a": 1}}, run, "RBPresid(p=0.2)")["RBPresid(p=0.2)"] == 1.0


TENTHS = "gain={1:0.1,2:0.2,3:0.3,4:0.7}"


@pytest.mark.parametrize("name", [f"nCG({TENTHS})", f"nDCG(discount=none,{TENTHS})", "niRBU(p=1)"])
def test_no_rounding_passes_the_ideal_ranking(name: str) -> None:
    """All orders are worth the same, but their sums are rounded otherwise."""
    found = evaluate_matrix(list(itertools.permutations([1, 1, 2, 4])), name)
    assert found.values.max() == 1
    assert found.values.min() == pytest.approx(1, rel=1e-15)
