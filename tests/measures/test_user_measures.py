"""Measures, gains and discounts of one's own are declared as the catalogue's are."""

from __future__ import annotations

import math

import numpy as np
import pytest

import irbatch
from irbatch import InputError
from irbatch.engine.judged import JudgedRanks
from irbatch.measures import GRADED, Number, PrefixStatistics
from irbatch.measures.parameters import make_weighting


def test_a_measure_with_a_parameter() -> None:
    @irbatch.define_measure(
        "Late",
        definition="1 if the first relevant document among the first k stands after some rank.",
        parameters={"rank": Number(1.0, least=1)},
    )
    def late(s: PrefixStatistics, rank: float) -> np.ndarray:
        return (s.first_hit > rank).astype(float)

    found = irbatch.evaluate_matrix(
        [[0, 0, 1], [0, 1, 0], [0, 0, 0]], ["Late@2", "Late(rank=2)", late @ 3]
    )
    assert found.mean() == {"Late@2": 1 / 3, "Late(rank=2)": 1 / 3, "Late@3": 2 / 3}
    assert str(irbatch.measure("late@3")) == "Late@3"


def test_statistics_know_the_first_k_documents_and_no_more() -> None:
    """A measure's value doesn't depend on what else is asked for."""
    seen: dict[tuple[int, ...], list[float]] = {}

    @irbatch.define_measure("Peek", definition="Looks at everything.")
    def peek(s: PrefixStatistics) -> np.ndarray:
        return s.first_hit + 10 * s.hits_at_relevant + 100 * s.hits + 1000 * s.judged

    for others in ([], ["AP"], ["P@1", "nDCG@3"]):
        found = irbatch.evaluate_matrix(
            [[0, 0, 0, 1, 1, 1]], [peek @ 2, *others], judged=[[0, 0, 0, 1, 1, 1, 1]]
        )
        seen[tuple(others)] = found.values[0, 0]
    assert set(seen.values()) == {2000.0}


def test_a_weighted_mean() -> None:
    """Queries without a value weigh nothing, or count as what was declared."""

    @irbatch.define_measure(
        "Depth",
        definition="The mean rank of hits.",
        reads="relevant",
        aggregate="weighted",
        weight=lambda j: np.diff(j.hit_starts).astype(float) / 4,
        undefined=9.0,
        range=(0.0, math.inf),
    )
    def depth(j: JudgedRanks) -> np.ndarray:
        return j.sum_over_hits(j.mean_hit_ranks) / np.diff(j.hit_starts)

    matrix = [[1, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0]]
    found = irbatch.evaluate_matrix(matrix, [depth, "P@2"])
    assert found.per_query("Depth") == pytest.approx({0: 8 / 3, 1: 3.0, 2: 9.0})
    assert found.mean() == {"Depth": 11 / 4, "P@2": 1 / 6}
    assert found.values.shape == (3, 2)
    skipped = irbatch.evaluate_matrix(matrix, depth, no_relevant="skip")
    assert skipped.mean() == {"Depth": 11 / 4}
    assert math.isnan(skipped.per_query("Depth")[2])


def test_a_graded_measure() -> None:
    @irbatch.define_measure("NCG", definition="CG over the ideal CG.", parameters=GRADED)
    def ncg(s: PrefixStatistics) -> np.ndarray:
        return s.gain / s.ideal_gain

    found = irbatch.evaluate_matrix([[1, 0, 3]], [ncg @ 2, ncg(gain="exp") @ 2])
    assert list(found.mean().values()) == [1 / 4, 1 / 8]


def test_a_gain_and_a_discount() -> None:
    irbatch.measures.define_gain("squared", lambda grades: grades**2)
    irbatch.measures.define_discount("sqrt", lambda rank: rank**0.5)
    found = irbatch.evaluate_matrix([[3, 2]], "DCG(gain=squared,discount=sqrt)")
    assert found.values[0, 0] == 9 + 4 / math.sqrt(2)


def test_names_of_the_catalogue_are_protected() -> None:
    with pytest.raises(InputError, match="'AP' is a measure of the catalogue already"):
        irbatch.define_measure("AP", definition="…")
    with pytest.raises(InputError, match="'log2' is defined already"):
        irbatch.measures.define_discount("log2", float)
    with pytest.raises(InputError, match="not a word"):
        irbatch.measures.define_gain("a-b", lambda grades: grades)


def test_ones_own_measure_may_be_defined_again() -> None:
    for value in (1.0, 2.0):
        irbatch.define_measure("Mine", definition="…")(lambda s, v=value: s.hits * 0 + v)
        assert irbatch.evaluate_matrix([[1]], "Mine")["Mine"] == value


def test_a_formula_that_fails_is_named() -> None:
    @irbatch.define_measure("Broken", definition="…")
    def broken(s: PrefixStatistics) -> np.ndarray:
        raise ZeroDivisionError("oops")

    @irbatch.define_measure("WrongShape", definition="…")
    def wrong_shape(s: PrefixStatistics) -> np.ndarray:
        return np.zeros((7, 7))

    with pytest.raises(InputError, match=r"the formula of Broken failed.*ZeroDivisionError: oops"):
        irbatch.evaluate_matrix([[1]], broken @ 1)
    with pytest.raises(
        InputError, match=r"the formula of WrongShape returned shape \(7, 7\) for \(1, 1\)"
    ):
        irbatch.evaluate_matrix([[1]], "WrongShape")


@pytest.mark.parametrize("gains", [lambda g: g - 5, lambda g: g * math.nan, lambda g: g[:1]])
def test_gains_that_are_no_gains_are_refused(gains: object) -> None:
    irbatch.measures.define_gain("odd", gains)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="odd"):
        irbatch.evaluate_matrix([[1, 2]], "nDCG(gain=odd)")


def test_a_discount_must_be_positive() -> None:
    irbatch.measures.define_discount("sinking", lambda rank: 3.0 - rank)
    with pytest.raises(InputError, match="'sinking' is 0 at rank 3; it must be positive"):
        irbatch.evaluate_matrix([[1, 2]], "DCG(discount=sinking)")


def test_tables_of_discounts_are_read_only() -> None:
    discount = make_weighting("linear", "log2", None).discount
    with pytest.raises(ValueError, match="read-only"):
        discount(3)[0] = 2.0
    assert discount(1)[0] == 1.0


def test_numbers_in_the_signature_are_parameters() -> None:
    @irbatch.define_measure("AtLeast", definition="…")
    def at_least(s: PrefixStatistics, hits: float = 2) -> np.ndarray:
        return (s.hits >= hits).astype(float)

    assert irbatch.evaluate_matrix([[1, 2]], "AtLeast AtLeast(hits=1,rel=2)").values.all()
    with pytest.raises(InputError, match=r"parameter 'p' of Plain is 0\.8; it must be a"):
        irbatch.define_measure("Plain", definition="…", parameters={"p": 0.8})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="'p' of <lambda> has no number for a default"):
        irbatch.define_measure("Odd", definition="…")(lambda s, p: s.hits)


def test_a_measure_of_lists_of_grades() -> None:
    """An nDCG of lists is the catalogue's, wherever grades come from."""

    def dcg(grades: list[float]) -> float:
        return math.fsum(max(grade, 0) / math.log2(1 + r) for r, grade in enumerate(grades, 1))

    seen = []

    @irbatch.define_measure("Plain", definition="nDCG.", reads="grades")
    def plain(grades: list[float], judged: list[float], k: int | None, least: float = 0) -> float:
        seen.append((grades, judged, k))
        best = dcg(judged[:k])
        return max(dcg(grades) / best, least) if best else least

    qrels = {"q1": {"a": 1, "b": 3, "c": -2, "d": 0}, "q2": {"a": 0}, "q3": {"a": 2}}
    run = {"q1": dict(zip("xcabd", range(5, 0, -1), strict=True)), "q2": {"a": 1.0}}
    found = irbatch.evaluate(qrels, run, "Plain@{1,3} Plain nDCG@{1,3} nDCG Plain(least=0.5)@1")
    assert found.values[:, :3] == pytest.approx(found.values[:, 3:6])
    assert found.values[:, 6].tolist() == [0.5] * 3
    assert ([0.0, -1.0, 1.0], [3.0, 1.0, 0.0], 3) in seen
    assert ([0.0, -1.0, 1.0, 3.0, 0.0], [3.0, 1.0, 0.0], None) in seen
    scores, labels = np.array([[3.0, 1, 2], [1, 3, 2]]), np.array([[0, 2, 1], [0, 0, 0]])
    both = irbatch.evaluate_scores(scores, labels, "Plain@2 nDCG@2").values
    assert both[:, 0] == pytest.approx(both[:, 1])


@pytest.mark.parametrize("wrong", [None, "many", [1.0, 2.0], math.nan, math.inf])
def test_what_a_measure_of_lists_may_not_return(wrong: object) -> None:
    @irbatch.define_measure("Wrong", definition="Nothing.", reads="grades")
    def formula(grades: list[float], judged: list[float], k: int | None) -> object:
        return wrong

    with pytest.raises(InputError, match="the formula of Wrong"):
        irbatch.evaluate_matrix([[1, 0]], "Wrong")
