"""Measures, gains and discounts of one's own, and what is said where they fail."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch import define_measure, evaluate, evaluate_matrix
from irbatch.engine.judged import JudgedRanks
from irbatch.measures import (
    CATALOGUE,
    GRADED,
    Choice,
    Measure,
    Number,
    Points,
    PrefixStatistics,
    define_discount,
    define_gain,
)
from irbatch.measures.parameters import make_weighting

# Relevant are 2 documents of q1, none of q2 and 1 of q3.
QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 0}, "q3": {"y": 1}}
RUN = {"q1": {"a": 1.0, "b": 2.0, "z": 3.0}, "q2": {"x": 1.0}, "q3": {"y": 1.0}}


def define(formula: Callable[..., Any], **declared: Any) -> Measure:
    return define_measure("Mine", **{"definition": "", "reads": "judged", **declared})(formula)


def test_parameters_are_read_off_the_formula() -> None:
    @define_measure("Late", definition="1 if the first relevant document stands after some rank.")
    def late(s: PrefixStatistics, rank: float = Number(1.0, least=1), least: float = 0) -> Any:
        return np.maximum((s.reciprocal_rank > 0) & (s.reciprocal_rank < 1 / rank), least)

    found = evaluate_matrix(
        [[0, 0, 1], [0, 1, 0], [0, 0, 0]], ["Late@2", "Late(rank=2)", late @ 3, late(least=1)]
    )
    assert found.values.mean(axis=0) == pytest.approx([1 / 3, 1 / 3, 2 / 3, 1])
    assert str(irbatch.measure("late(rel=2)@3")) == "Late(rel=2)@3"
    input_error(lambda: late(rank=0), "at least 1")


def test_parameters_that_are_listed() -> None:
    mine = define(
        lambda j, points, word, least=1: np.full(j.queries, sum(points) + least + len(word)),
        parameters={"points": Points((0.5,), most=3), "word": Choice("a", ("a", "bb"))},
    )
    wish = mine(points=[3, 1], least=2, word="bb")
    assert str(wish) == "Mine(least=2,points={1,3},word=bb)"
    assert evaluate(QRELS, RUN, str(wish))[wish] == 8.0
    input_error(lambda: mine(points=[4]), "at most 3")
    input_error(lambda: mine(word="c"), "one of a, bb")


def test_statistics_know_the_first_k_documents_and_no_more() -> None:
    """A measure's value doesn't depend on what else is asked for."""

    @define_measure("Peek", definition="Looks at everything.")
    def peek(s: PrefixStatistics) -> np.ndarray:
        return s.reciprocal_rank + 10 * s.hits_at_relevant + 100 * s.hits + 1000 * s.judged

    judged = [[0, 0, 0, 1, 1, 1, 1]]
    for others in ([], ["AP"], ["P@1", "nDCG@3"]):
        found = evaluate_matrix([[0, 0, 0, 1, 1, 1]], [peek @ 2, *others], judged=judged)
        assert found.values[0, 0] == 2000.0


def test_a_weighted_mean() -> None:
    """Queries without a value weigh nothing, or count as what was declared."""

    @define_measure(
        "Depth", definition="The mean rank of hits.", reads="relevant", aggregate="weighted",
        weight=lambda j: np.diff(j.hits.starts).astype(float) / 4, undefined=9.0,
        range=(0.0, math.inf),
    )  # fmt: skip
    def depth(j: JudgedRanks) -> np.ndarray:
        return j.hits.add_up(j.mean_hit_ranks) / np.diff(j.hits.starts)

    matrix = [[1, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0]]
    found = evaluate_matrix(matrix, [depth, "P@2"])
    assert found.per_query("Depth") == pytest.approx({0: 8 / 3, 1: 3.0, 2: 9.0})
    assert found.mean() == {"Depth": 11 / 4, "P@2": 1 / 6}
    skipped = evaluate_matrix(matrix, depth, no_relevant="skip")
    assert skipped.mean() == {"Depth": 11 / 4}
    assert math.isnan(skipped.per_query("Depth")[2])


def test_gains_and_discounts() -> None:
    @define_measure("NCG", definition="CG over the ideal CG.", parameters=GRADED)
    def ncg(s: PrefixStatistics) -> np.ndarray:
        return s.gain / s.ideal_gain

    found = evaluate_matrix([[1, 0, 3]], [ncg @ 2, ncg(gain="exp") @ 2])
    assert list(found.mean().values()) == [1 / 4, 1 / 8]
    define_gain("squared", lambda grades: grades**2)
    define_discount("sqrt", lambda rank: rank**0.5)
    found = evaluate_matrix([[3, 2]], "DCG(gain=squared,discount=sqrt)")
    assert found.values[0, 0] == 9 + 4 / math.sqrt(2)
    with pytest.raises(ValueError, match="read-only"):
        make_weighting("linear", "log2", None).discount(3)[0] = 2.0


def test_a_measure_of_lists_of_grades() -> None:
    """An nDCG of lists is the catalogue's, wherever grades come from."""

    def dcg(grades: list[float]) -> float:
        return math.fsum(max(grade, 0) / math.log2(1 + r) for r, grade in enumerate(grades, 1))

    seen = []

    @define_measure("Plain", definition="nDCG.", reads="grades")
    def plain(grades: list[float], judged: list[float], k: int | None, least: float = 0) -> float:
        seen.append((grades, judged, k))
        best = dcg(judged[:k])
        return max(dcg(grades) / best, least) if best else least

    qrels = {"q1": {"a": 1, "b": 3, "c": -2, "d": 0}, "q2": {"a": 0}, "q3": {"a": 2}}
    run = {"q1": dict(zip("xcabd", range(5, 0, -1), strict=True)), "q2": {"a": 1.0}}
    found = evaluate(qrels, run, "Plain@{1,3} Plain nDCG@{1,3} nDCG Plain(least=0.5)@1")
    assert found.values[:, :3] == pytest.approx(found.values[:, 3:6])
    assert found.values[:, 6].tolist() == [0.5] * 3
    assert ([0.0, -1.0, 1.0], [3.0, 1.0, 0.0], 3) in seen
    assert ([0.0, -1.0, 1.0, 3.0, 0.0], [3.0, 1.0, 0.0], None) in seen
    scores, labels = np.array([[3.0, 1, 2], [1, 3, 2]]), np.array([[0, 2, 1], [0, 0, 0]])
    both = irbatch.evaluate_scores(scores, labels, "Plain@2 nDCG@2").values
    assert both[:, 0] == pytest.approx(both[:, 1])


def test_ones_own_measure_may_be_defined_again() -> None:
    for value in (1.0, 2.0):
        define_measure("Mine", definition="…")(lambda s, v=value: s.hits * 0 + v)
        assert evaluate_matrix([[1]], "Mine")["Mine"] == value
    pickled = pickle.dumps(evaluate(QRELS, RUN, "Mine"))
    del CATALOGUE["Mine"]
    input_error(lambda: pickle.loads(pickled), "'Mine' is not defined in this process")
    input_error(lambda: evaluate_matrix([[1]], "Mine"), "unknown measure 'Mine'")


@pytest.mark.parametrize("reads", ["judged", "prefix"])
def test_geometric_means(reads: str) -> None:
    mine = define(lambda known: known.retrieved * 0.0, aggregate="geometric", reads=reads)
    results = evaluate(QRELS, RUN, mine)
    assert results["Mine"] == json.loads(results.to_json())["mean"]["Mine"] == 0.0
    mine = define(lambda known: known.relevant + known.retrieved * 0, aggregate="geometric",
                  reads=reads)  # fmt: skip
    assert evaluate(QRELS, RUN, mine)["Mine"] == 0.0  # of 2, 0, 1
    assert evaluate(QRELS, RUN, mine, no_relevant="skip")["Mine"] == pytest.approx(math.sqrt(2))
    for value in (5e-324, 1e300):
        mine = define(returning([value] * 3), aggregate="geometric")
        assert evaluate(QRELS, RUN, mine)["Mine"] == pytest.approx(value, rel=1e-9)


def returning(value: Any) -> Callable[..., Any]:
    return lambda j: value


# What is wrong, and what is said of it.


@pytest.mark.parametrize("name", ["", "a b", "a-b", "1a", "a@5", None, 5, "nDCG", "exp", "log2"])
def test_names_that_cannot_be(name: Any) -> None:
    if name not in ("exp", "log2"):
        input_error(lambda: define_measure(name, definition="-"), repr(name), value=name)
    if name not in ("nDCG", "log2"):
        input_error(lambda: define_gain(name, lambda grades: grades), repr(name), value=name)
    if name not in ("nDCG", "exp"):
        input_error(lambda: define_discount(name, float), repr(name), value=name)


def test_a_measure_is_still_a_function() -> None:
    @define_measure("Best", definition="The best grade.", reads="grades")
    def best(grades: list[float], judged: list[float], k: int | None, least: float = 0.5) -> float:
        return max([*grades, least])

    assert best([0, 2.0], [2.0], None) == 2.0
    assert best([0.0], [], 1) == best(least=0.5)([0.0], [], 1) == 0.5
    assert best([0.0], [], 1, 0.75) == best([0.0], [], 1, least=0.75) == 0.75


GAINS: dict[str, Callable[[Any], Any]] = {
    "-1": lambda grades: -grades, "nan": lambda grades: grades + math.nan,
    "inf": lambda grades: grades + math.inf, "shape (0,)": lambda grades: grades[:0],
    "shape ()": lambda grades: None,
}  # fmt: skip


def test_gains_and_discounts_of_no_use() -> None:
    for fact, gain in GAINS.items():
        name = f"gain{fact.encode().hex()}"
        define_gain(name, gain)
        input_error(lambda n=name: evaluate(QRELS, RUN, f"nDCG(gain={n})"), repr(name), fact)
    for number, worth in enumerate([0, -1, math.nan, math.inf, None]):
        name = f"discount{number}"
        define_discount(name, lambda rank, worth=worth: worth if rank == 3 else 1.0)
        use = f"nDCG(discount={name})"
        input_error(lambda use=use: evaluate(QRELS, RUN, use), repr(name), "rank 3")


def returning_where(weight: float) -> Callable[..., Any]:
    return lambda j: np.where(j.relevant > 1, weight, 1.0)


def fails_at_two(s: PrefixStatistics) -> Any:
    return 1 / (s.hits - 2) if (s.hits - 2).all() else [][0]


JUDGED, GRADES, PREFIX = ({"reads": each} for each in ("judged", "grades", "prefix"))
# A formula, what is declared of it, and what is said where it is evaluated.
FAILING: list[tuple[Any, dict[str, Any], str]] = [
    *((returning(value), JUDGED, "returned shape") for value in (1.0, [], np.ones(2))),
    (returning(None), JUDGED, "returned None"),
    *((returning(np.ones(shape)), JUDGED, "for (3,)") for shape in ((4,), (3, 1), (1, 3))),
    (lambda j: j.relevant * math.nan, JUDGED, "returned NaN"),
    (lambda j: np.where(j.relevant > 1, math.nan, 1.0), JUDGED, "(query 'q1')"),
    (lambda j: "abc", JUDGED, "ValueError"),
    (lambda j: [object()] * j.queries, JUDGED, "TypeError"),
    (lambda j: QRELS["x"], JUDGED, "KeyError: 'x'"),
    (lambda j: j.hits_at_relevant, JUDGED, "no attribute 'hits_at_relevant'"),
    (None, JUDGED, "not a function"), (lambda: 1, JUDGED, "TypeError"),
    (fails_at_two, PREFIX, "(query 'q4'): the formula of Mine failed: IndexError"),
    (lambda grades, *_: [0.0, 1.0][int(sum(grades))], GRADES, "(query 'q4')"),
    *((lambda *_, value=value: value, GRADES, "the formula of Mine")
      for value in (None, "many", [1.0, 2.0], math.nan, math.inf)),
    *((lambda j: j.relevant, {"aggregate": "weighted", "weight": returning_where(weight)}, fact)
      for weight, fact in ((-1.0, "-1"), (math.nan, "weight of Mine returned NaN"),
                           (math.inf, "inf"))),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "declared", "fact"), FAILING)
def test_formulas_that_fail(formula: Any, declared: dict[str, Any], fact: str) -> None:
    more = declared in (PREFIX, GRADES)
    qrels = QRELS | ({"q4": {"a": 1, "b": 1}} if more else {})
    run = RUN | {"q4": {"a": 1.0, "b": 0.5}}
    input_error(lambda: evaluate(qrels, run, ["Bpref", define(formula, **declared)]), "Mine", fact)


@pytest.mark.parametrize(
    ("declared", "fact"),
    [
        ({"aggregate": "median"}, "'mean', 'geometric', 'sum'"),
        ({"aggregate": []}, "aggregate="),
        ({"reads": "scores"}, "'prefix', 'grades', 'judged'"),
        ({"reads": None}, "reads="),
        ({"parameters": {"points": (1, 2)}}, "parameter 'points' of Mine is (1, 2)"),
        ({"aggregate": "weighted"}, "weights are for a weighted mean"),
        ({"aggregate": "run"}, "aggregate='run' is for reads='items'"),
        ({"weight": lambda j: j.relevant}, "weights are for a weighted mean"),
        ({"reads": "subtopics", "undefined": 0.0}, "reads='subtopics'"),
    ],
)
def test_declarations(declared: dict[str, Any], fact: str) -> None:
    input_error(lambda: define(lambda j: j.relevant, **declared), fact)
    input_error(lambda: define(lambda j, points=(1, 2): 0), "'points'", "parameters=")
