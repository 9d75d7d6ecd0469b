"""Equal scores: every measure under every policy, against the slow twin and what is known of it."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from oracle import measures as reference
from oracle import ties as reference_ties
from support.measure_variants import VARIANTS

import irbatch
from irbatch.measures import CATALOGUE, Measure, measure

POLICIES = ("expected", "pessimistic", "optimistic", "index", "id", "id_ascending")
IDS = ["d9", "d10", "é", "D2", "", "z", "d1"]  # of columns; in no order
TOLERANCE = 1e-12

# Linear in statistics whose expectations are known; orders are gone through for the others.
CLOSED = {"P", "R", "Rcap", "F", "Success", "RR", "AP", "Rprec", "CG", "DCG", "IDCG", "nDCG",
          "Utility", "Judged", "Unjudged", "NumQ", "NumRet", "NumRel", "NumRelRet",
          "NumNonRelRet"}  # fmt: skip
Wish = tuple[str, int, int | None]  # a measure's name, the number of a variant of it, a cutoff
pytestmark = pytest.mark.filterwarnings("ignore:scores")  # all candidates have the same
policies = pytest.mark.parametrize("policy", POLICIES)


class Query(NamedTuple):
    """What the twin is told of a query."""

    scores: Sequence[float]
    grades: Sequence[float | None]
    ids: Sequence[str] | None = IDS
    unlisted: Sequence[float] = ()


def wishes(
    cutoffs: Iterable[int | None], names: Iterable[str] = VARIANTS, most: int = 99
) -> tuple[Wish, ...]:
    """The measures with at most so many variants of each, at each cutoff they take."""
    return tuple(
        (name, number, k)
        for name in names
        for number in range(min(most, len(VARIANTS[name])))
        for k in (cutoffs if CATALOGUE[name].takes_cutoff else (None,))
    )


@functools.cache
def as_measure(wish: Wish) -> Measure:
    name, number, k = wish
    plain = measure(name)(**VARIANTS[name][number])
    return plain if k is None else plain @ k


@functools.cache
def of_ranking(wish: Wish, ranking: tuple[float, ...], judged: tuple[float, ...]) -> Fraction:
    name, number, k = wish
    query = reference.Query(ranking, judged, k)
    return Fraction(reference.MEASURES[name](query, **VARIANTS[name][number]))


@functools.cache
def of_orders(wanted: tuple[Wish, ...], orders: Any, judged: tuple[float, ...]) -> list[float]:
    mean = functools.partial(reference_ties.mean, dict(orders))
    return [float(mean(functools.partial(of_ranking, wish, judged=judged))) for wish in wanted]


def compare(
    found: irbatch.Results, wanted: tuple[Wish, ...], queries: Sequence[Query], policy: str
) -> None:
    twin = np.array([
        of_orders(
            wanted,
            frozenset(reference_ties.rankings(each.scores, each.grades, policy, each.ids).items()),
            tuple(sorted(g for g in [*each.grades, *each.unlisted] if g is not None)),
        )
        for each in queries
    ])  # fmt: skip
    off = np.argwhere(~np.isclose(found.values, twin, rtol=TOLERANCE, atol=TOLERANCE))
    if off.size:
        row, column = off[0]
        names = sorted({found.measures[each] for each in off[:, 1]})
        pytest.fail(
            f"{found.measures[column]} is {found.values[row, column]}, not {twin[row, column]}, of "
            f"{queries[row]}, ties={policy!r}; {len(off)} values off, of {', '.join(names)}"
        )


def evaluated(scores: Any, labels: Any, wanted: Any, policy: str, **given: Any) -> irbatch.Results:
    if policy.startswith("id"):
        given.setdefault("document_ids", IDS[: np.shape(scores)[1]])
    if isinstance(wanted, tuple):
        wanted = list(map(as_measure, wanted))
    return irbatch.evaluate_scores(scores, labels, wanted, ties=policy, **given)


def weak_orders(n: int) -> list[tuple[int, ...]]:
    """All ways in which n documents can be ordered with ties, as scores."""
    every = itertools.product(range(n), repeat=n)
    return [each for each in every if set(each) == set(range(max(each) + 1))]


@policies
@pytest.mark.parametrize(
    ("n", "wanted"),
    [
        (1, wishes((1, None))),
        *((n, wishes((1, 2, 5, None))) for n in (2, 3)),
        (4, wishes((1, 3, None), CLOSED, most=2)),
        (4, wishes((2,), [each for each in VARIANTS if each not in CLOSED], most=1)),
        pytest.param(5, wishes((1, 3, None), CLOSED, most=1), marks=pytest.mark.slow),
    ],
    ids=["1", "2", "3", "4, closed forms", "4, the others", "5, closed forms"],
)
def test_every_pattern_of_ties_and_labels(n: int, wanted: tuple[Wish, ...], policy: str) -> None:
    labels = itertools.product((0, 1), repeat=n)
    queries = [Query(*each) for each in itertools.product(weak_orders(n), labels)]
    scores, grades = (np.array(part) for part in list(zip(*queries, strict=True))[:2])
    compare(evaluated(scores, grades, wanted, policy), wanted, queries, policy)


@pytest.mark.parametrize("name", VARIANTS)
@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(data=st.data())
def test_grades(name: str, data: st.DataObject) -> None:
    n = data.draw(st.sampled_from((6, 5, 4, 3, 2, 1)))
    grades = st.lists(st.sampled_from((-1, 0, 1, 2, 3)), min_size=n, max_size=n)
    scores = st.sampled_from((1, 2, 3, 0)).flatmap(
        lambda top: st.lists(st.integers(-top, top).map(float), min_size=n, max_size=n)
    )
    drawn = data.draw(st.lists(st.tuples(scores, grades), min_size=2, max_size=4))
    queries = [Query(*each) for each in drawn]
    wanted = wishes((data.draw(st.integers(1, 8)), None), [name])
    for policy in POLICIES:
        matrices = [each.scores for each in queries], [each.grades for each in queries]
        compare(evaluated(*matrices, wanted, policy), wanted, queries, policy)


@policies
def test_relevant_documents_that_are_no_candidates(policy: str) -> None:
    rng = np.random.default_rng(1)
    scores, labels = rng.integers(0, 3, (8, 6)), rng.integers(0, 2, (8, 6))
    more = rng.integers(0, 4, 8)
    rows = zip(scores.tolist(), labels.tolist(), more.tolist(), strict=True)
    queries = [Query(*each, IDS, [1] * k) for *each, k in rows]
    wanted = wishes((1, 4, 10, None), most=2)
    found = evaluated(scores, labels, wanted, policy, n_relevant=labels.sum(axis=1) + more)
    compare(found, wanted, queries, policy)


@policies
@pytest.mark.parametrize("way", ["mask", "masked array", "exclude", "-100"])
def test_what_is_no_candidate_ties_with_nothing(policy: str, way: str) -> None:
    rng = np.random.default_rng(2)
    scores, labels = rng.integers(0, 3, (8, 7)), rng.choice([-1, 0, 0, 1, 2], (8, 7))
    mask = rng.random((8, 7)) < 0.6
    mask[np.arange(8), rng.integers(0, 7, 8)] = True
    ids = [rng.permutation(IDS).tolist() for _ in range(8)]
    columns = scores.tolist(), labels.tolist(), ids
    queries = [
        Query(*(list(itertools.compress(each[i], kept)) for each in columns))
        for i, kept in enumerate(mask)
    ]
    given: dict[str, Any] = {"mask": {"mask": mask}, "exclude": {"exclude": ~mask}}.get(way, {})
    if policy.startswith("id"):
        given["document_ids"] = ids
    if way == "masked array":
        scores = np.ma.array(scores, mask=~mask)
    if way == "-100":
        labels = np.where(mask, labels, -100)
    wanted = wishes((1, 3, None), most=1)
    compare(evaluated(scores, labels, wanted, policy, **given), wanted, queries, policy)


def test_without_ties_all_policies_give_the_same_bits() -> None:
    rng = np.random.default_rng(3)
    scores = rng.permuted(np.tile(np.arange(7), (50, 1)), axis=1)
    labels = rng.choice([-1, 0, 1, 2, 3], (50, 7))
    wanted = wishes((1, 2, 3, 5, 10, None))
    found = [evaluated(scores, labels, wanted, policy) for policy in (*POLICIES, "error")]
    assert len({each.values.tobytes() for each in found}) == 1
    assert {each.counts.tied for each in found} == {0}


def test_tied_queries_are_counted() -> None:
    scores = [[3, 2, 1], [1, 1, 0], [1, 1, 0], [2, 1, 1], [5, 5, 5]]
    labels = [[1, 0, 1], [1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 1]]
    for policy in POLICIES:
        tied = 0 if policy.startswith("id") else 2  # ids decide
        assert evaluated(scores, labels, "AP nDCG", policy).counts.tied == tied, policy


@pytest.mark.parametrize(("n", "r"), [(1, 1), (10, 1), (10, 3), (200, 7), (3000, 1), (3000, 400)])
def test_a_constant_scorer(n: int, r: int) -> None:
    """All measures have closed forms here; P(the first hit is at i) = C(n - i, r - 1) / C(n, r)."""
    k = min(5, n)
    labels = np.zeros((1, n), np.int8)
    labels[0, np.random.default_rng(n).choice(n, r, replace=False)] = 1
    first = [Fraction(math.comb(n - i, r - 1), math.comb(n, r)) for i in range(1, n + 1)]
    above = [Fraction((i - 1) * (r - 1), max(n - 1, 1)) for i in range(1, n + 1)]
    discounts = [1 / math.log2(i + 1) for i in range(1, n + 1)]
    expected = {
        f"P@{k}": Fraction(r, n),
        f"R@{k}": Fraction(k, n),
        f"Success@{k}": 1 - Fraction(math.comb(n - k, r), math.comb(n, r)),
        "RR": sum(p / i for i, p in enumerate(first, 1)),
        f"RR@{k}": sum(p / i for i, p in enumerate(first[:k], 1)),
        "AP": sum((1 + more) / i for i, more in enumerate(above, 1)) / n,
        "Rprec": Fraction(r, n),
        "nDCG": math.fsum(discounts) * r / n / math.fsum(discounts[:r]),
        f"nDCG@{k}": math.fsum(discounts[:k]) * r / n / math.fsum(discounts[: min(r, k)]),
        "AUC": Fraction(1, 2) if r < n else 0,
        "RankingLoss": Fraction(1, 2) if r < n else 0,
        "FirstRank": Fraction(n + 1, r + 1),
        "MeanRank": Fraction(n + 1, 2),
        "MedianRank": Fraction(n + 1, 2),
        "CoverageError": Fraction(r * (n + 1), r + 1),
    }
    found = irbatch.evaluate_scores(np.full((1, n), 0.25), labels, list(expected)).mean()
    wanted = {name: float(value) for name, value in expected.items()}
    assert found == pytest.approx(wanted, rel=TOLERANCE)


def test_cutoffs_that_are_averaged_beside_full_depth_which_is_not() -> None:
    """Only at full depth is the number of hits, and GMAP's floor, the same in every order."""
    scores, labels = [[1, 1, 1, 0]], [[1, 0, 0, 1]]
    for name in ("GMAP", "AUC", "LRAP"):
        together = evaluated(scores, labels, [name, f"{name}@1", f"{name}@2"], "expected").values
        apart = [evaluated(scores, labels, [f"{name}{at}"], "expected").values[0, 0]
                 for at in ("", "@1", "@2")]  # fmt: skip
        assert together.tolist() == [apart]


def test_a_query_that_is_undefined_in_some_order_is_left_out() -> None:
    """At a cutoff, ties decide whether there is a pair at all."""
    scores, labels = [[1, 1, 1], [2, 1, 1]], [[1, 0, 0], [1, 0, 0]]
    options = {"measures": "AUC@2 AUC"}
    counted = irbatch.evaluate_scores(scores, labels, **options)
    assert counted.per_query("AUC@2")[0] == pytest.approx(1 / 3)  # of six orders, two of 1
    skipped = irbatch.evaluate_scores(scores, labels, **options, no_relevant="skip")
    assert skipped.mean() == {"AUC@2": 1.0, "AUC": 0.75}


def test_orders_are_drawn_where_there_are_too_many() -> None:
    """RBP of a constant scorer is known; of 60 documents with 20 relevant ones it's estimated."""
    labels = np.repeat([[1, 0, 0]], 20, axis=0).reshape(1, 60)
    scores = np.zeros((1, 60))
    found = irbatch.evaluate_scores(scores, labels, "RBP(p=0.5) IPrec P@3")
    assert found["RBP(p=0.5)"] == pytest.approx(1 / 3, abs=0.05)
    assert found["P@3"] == pytest.approx(1 / 3, rel=TOLERANCE)
    again = irbatch.evaluate_scores(
        np.vstack([scores, -scores, scores]), np.vstack([labels] * 3), "IPrec RBP(p=0.5)", threads=2
    )
    assert again.values.tolist() == [[found["IPrec"], found["RBP(p=0.5)"]]] * 3


@policies
def test_dicts_and_matrices_are_alike(policy: str) -> None:
    rng = np.random.default_rng(7)
    scores, labels = rng.integers(0, 3, (40, 7)), rng.choice([-1, 0, 1, 2], (40, 7))
    run, qrels = (
        {f"q{i}": dict(zip(IDS, row, strict=True)) for i, row in enumerate(matrix.tolist())}
        for matrix in (scores.astype(float), labels)
    )
    wanted = wishes((1, 3, None), most=1)
    by_id = irbatch.evaluate(qrels, run, list(map(as_measure, wanted)), ties=policy)
    by_column = evaluated(scores, labels, wanted, policy)
    assert by_id.values.tolist() == by_column.values.tolist()
    if policy in ("expected", "pessimistic", "optimistic"):  # the others are not asked
        assert by_id.counts.tied == by_column.counts.tied


@pytest.mark.parametrize("judged_only", [False, True])
def test_unjudged_documents_tie_with_judged_ones(judged_only: bool) -> None:
    rng = random.Random(8)
    grades = (None, -1, 0, 1, 2)
    rows = [[(rng.randrange(3), rng.choice(grades)) for _ in range(5)] for _ in range(8)]
    run = {i: {d: s for d, (s, _) in zip(IDS, row, strict=False)} for i, row in enumerate(rows)}
    qrels = {i: {d: g for d, (_, g) in zip(IDS, row, strict=False) if g is not None} | {"else": 1}
             for i, row in enumerate(rows)}  # fmt: skip
    queries = []
    for row in rows:
        gone = [(s, g) for s, g in row if judged_only and (g is None or g < 0)]
        scores, labels = ([each[at] for each in row if each not in gone] for at in (0, 1))
        queries.append(Query(scores, labels, IDS, [1, *(g for _, g in gone)]))
    wanted = wishes((1, 3, None), most=1)
    found = irbatch.evaluate(qrels, run, list(map(as_measure, wanted)), ties="expected",
                             judged_only=judged_only)  # fmt: skip
    compare(found, wanted, queries, "expected")


@pytest.mark.parametrize("size", [5, 9])  # of which all orders are tried, and of which some
def test_orders_in_parts_give_the_same_values(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.arange(27).reshape(3, 9)[:, :size] % 5
    whole = evaluated(np.zeros((3, size)), labels, "Bpref IPrec RBP", "expected").values
    monkeypatch.setattr("irbatch.engine.expected.BLOCK_BYTES", 100)
    parts = evaluated(np.zeros((3, size)), labels, "Bpref IPrec RBP", "expected").values
    assert parts == pytest.approx(whole, rel=1e-13)


def test_orders_drawn_are_balanced() -> None:
    """What is a sum over ranks comes out exactly from the orders, though most are not tried."""
    found = evaluated([[0] * 100], [[1] * 10 + [0] * 90], "RBP RBP(p=0.5) RBP@10", "expected")
    exact = [0.1 * (1 - p**k) for p, k in ((0.9, 100), (0.5, 100), (0.9, 10))]
    assert found.values[0].tolist() == pytest.approx(exact, abs=1e-12)


def test_draws_don_t_depend_on_the_grades_of_other_queries() -> None:
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 4, (12, 60)).astype(np.uint8)
    labels = np.where(rng.random(scores.shape) < 0.3, rng.integers(-1, 6, scores.shape), 0)
    labels[6:] //= 2
    averaged = "G@3 IPrec(recall=0.3) RprecMult nDCGrel YAAP InfAP RBP RnDCG AP(norm=found) Bpref"
    whole = evaluated(scores, labels, averaged, "expected")
    every_query = irbatch.BatchEvaluator(averaged)
    for row in range(12):
        part = slice(row, row + 1)
        alone = evaluated(scores[part], labels[part], averaged, "expected").values
        assert alone.tolist() == whole.values[part].tolist()
        every_query.update(scores[part], labels[part])
    assert every_query.compute().mean() == whole.mean()


def test_documents_with_ids_tie_by_id_in_every_verb() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    evaluator = irbatch.BatchEvaluator("RR")
    evaluator.update_columns(["q", "q"], ["a", "b"], [1.0, 1.0], [1, 0])
    named: dict[str, Any] = {"document_ids": ["a", "b"]}
    batch = irbatch.BatchEvaluator("RR")
    batch.update([[1.0, 1.0]], [[1, 0]], **named)
    batch.update([[1.0, 1.0]], [[1, 0]])  # without ids
    ones = np.ones((1, 1)), np.ones((2, 1))
    found = [
        irbatch.evaluate(qrels, run, "RR"),
        evaluator.compute(),
        irbatch.evaluate_scores([[1.0, 1.0]], [[1, 0]], "RR", **named),
        irbatch.evaluate_embeddings(*ones, [[1, 0]], "RR", **named),
    ]
    assert [each["RR"] for each in found] == [0.5] * 4
    assert list(batch.compute().per_query("RR").values()) == [0.5, 0.75]
    assert irbatch.evaluate_scores([[1.0, 1.0]], [[1, 0]], "RR")["RR"] == 0.75


def test_every_verb_has_a_least_relevant_grade() -> None:
    asked: dict[str, Any] = {"measures": "P@2 RR", "rel": 2}
    scores, labels, grades = [[2.0, 1.0]], [[1, 2]], {"x": 1, "y": 2}
    evaluator = irbatch.BatchEvaluator(**asked)
    evaluator.update(scores, labels, query_ids=["a"])
    evaluator.update_ids({"b": ["x", "y"]}, {"b": grades})
    evaluator.update_columns(["c", "c"], ["x", "y"], scores[0], labels[0])
    for found in (
        evaluator.compute(),
        irbatch.evaluate({"q": grades}, {"q": {"x": 2.0, "y": 1.0}}, **asked),
        irbatch.evaluate_scores(scores, labels, **asked),
        irbatch.evaluate_ids({"b": ["x", "y"]}, {"b": grades}, **asked),
        irbatch.evaluate_matrix(labels, **asked),
        irbatch.evaluate_embeddings(scores, np.eye(2), labels, **asked),
    ):
        assert found.mean() == {"P@2": 0.5, "RR": 0.5}
        assert "relevant: grade >= 2" in found.signature
