"""What was once reported as a defect: input that ended in a traceback, or in a wrong value."""

import functools
import math
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.input_errors import ANYTHING, input_error

from irbatch import Qrels, define_measure, evaluate, evaluate_matrix
from irbatch.integrations import pytrec_eval
from irbatch.integrations.pytrec_eval import RelevanceEvaluator
from irbatch.measures import Measure

JUDGED = {"q1": {"a": 1, "b": 0}}
RANKED = {"q1": {"a": 1.0, "b": 2.0}}


@pytest.fixture
def define() -> Callable[..., Measure]:
    """Define a measure that reads judged documents."""
    return lambda formula, **declared: define_measure(
        "Mine", **{"definition": "", "reads": "judged", **declared}
    )(formula)


@pytest.mark.parametrize("known", [{"n_relevant": [1]}, {"judged": [[1]]}, {"judged": [[1, 0]]}])
def test_ranked_zeros_are_judged(known: dict[str, Any]) -> None:
    results = evaluate_matrix([[0, 1]], "Bpref NumNonRelRet Unjudged", **known)
    assert list(results.mean().values()) == [0.0, 1.0, 0.0]


def test_ties_of_mixed_kinds() -> None:
    assert evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, 1: 1.0}}, "AP")["AP"] == 1.0
    for judged in ({"a": 1, "b": 0}, {1: 1}):
        run = {"q": dict.fromkeys([1, "a", "b", 2], 1.0)}
        input_error(functools.partial(evaluate, {"q": judged}, run, "AP"), "the qrels' ids are",
                source="run", query="q", document=ANYTHING)  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "wish"),
    [
        ([2**53] * 2, "G"),
        ([60, 59, 60, 58], "G(gain=exp)"),
        ([1, 2, 2, 1], "G(gain={1:1e16,2:1e16})"),
        ([2**53 - 1, 2**53 - 1, 3, 2**52], "G"),
    ],
)
def test_large_gains(labels: list[int], wish: str) -> None:
    assert 0 < evaluate_matrix([labels], wish).values[0, 0] <= 1 + 1e-9


@pytest.mark.parametrize(
    ("wish", "fact"),
    [
        ("CG(gain={1:1e308,2:1e308})", "formula of CG returned inf; gains add up to more than"),
        ("nDCG(gain={1:1.7e308,2:1.7e308},discount=none)", "formula of nDCG returned"),
        ("Utility(docs=1e308,d=10)", "formula of Utility returned inf"),
        ("Utility(docs=1e308,d=-10)", "formula of Utility returned -inf"),
        ("F(beta=1e200)", "formula of F returned NaN"),
    ],
)
@pytest.mark.parametrize("cutoff", [None, 3])
def test_values_that_are_not_finite(wish: str, fact: str, cutoff: int | None) -> None:
    input_error(lambda: evaluate_matrix([[1, 2, 1, 2]], ["nDCG", wish], cutoff), fact,
            source="measures")  # fmt: skip


@pytest.mark.parametrize("array", ["matrix.levels", "gains", "codes", "ranks", "row_index"])
def test_formula_that_writes(define: Callable[..., Measure], array: str) -> None:
    def formula(known: Any) -> Any:
        operator.attrgetter(array)(known)[...] = 2
        return known.relevant

    qrels = Qrels({"q": {"a": 1, "b": 0, "c": 3}})
    run = {"q": {"b": 2.0, "a": 1.0, "x": 0.5}}
    others = ["AP", "nDCG", "Bpref", "G", "RBP"]
    expected = evaluate(qrels, run, others).values
    mine = define(formula)
    input_error(lambda: evaluate(qrels, run, [mine, *others]), "formula of Mine", "read-only")
    np.testing.assert_array_equal(qrels.levels, [0, 1, 3])
    np.testing.assert_array_equal(evaluate(qrels, run, others).values, expected)


@pytest.mark.parametrize("json", [False, True])
@pytest.mark.parametrize("value", [1.7e308, -1.7e308])
@pytest.mark.parametrize("how", ["mean", "sum"])
def test_sums_beyond_float64(
    define: Callable[..., Measure], how: str, value: float, json: bool
) -> None:
    mine = define(lambda j: np.full(j.queries, value), aggregate=how, range=(-math.inf, math.inf))
    results = evaluate_matrix([[1], [1], [1]], mine)
    assert abs(results["Mine"]) >= 1.69e308
    assert math.copysign(1.0, results["Mine"]) == math.copysign(1.0, value)
    assert "Mine" in repr(results)
    assert "Infinity" not in results.to_json() or not json


@pytest.mark.parametrize("measures", [["map", "P.1", "ndcg", "bpref", "gm_map"], ["runid"], []])
def test_evaluators_are_pickled(measures: list[str]) -> None:
    evaluator = RelevanceEvaluator(JUDGED | {"q2": {"c": 2}}, measures, 1, True)
    run = RANKED | {"q2": {"x": 2.0, "c": 1.0}}
    fresh = pickle.loads(pickle.dumps(evaluator))
    assert fresh.evaluate(run) == evaluator.evaluate(run)
    assert pickle.loads(pickle.dumps(evaluator)).evaluate(run) == fresh.evaluate(run)


@pytest.mark.parametrize(("name", "none"), [("map", math.nan), ("gm_map", math.nan), ("num_q", 0)])
def test_aggregates(name: str, none: float) -> None:
    aggregate: Callable[..., float] = pytrec_eval.compute_aggregated_measure
    np.testing.assert_equal([aggregate(name, []), aggregate(name, iter(()))], [none, none])
    values: list[Any] = [[None], ["x"], ["1"], [1j], [[1.0]], [10**400], None, 3, "12"]
    for each in values:
        input_error(functools.partial(aggregate, name, each), f"values of {name} are numbers")
