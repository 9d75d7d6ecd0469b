"""Ties, threads, precision, ids of another kind, residuals, and what is told of two systems."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from support.relations import (
    MEASURES,
    Rankings,
    Values,
    assert_at_least,
    assert_same,
    evaluate,
    fitting,
    having,
    keys,
    mapped,
    nasty,
    of_queries,
    plain,
    scored,
    seeds,
    values,
)

import irbatch

# Rankings of a random problem may all be empty.
pytestmark = pytest.mark.filterwarnings("ignore:run has empty rankings alone")
Tied = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


@seeds
def test_19_unjudged_documents_turn_out_relevant(seed: int) -> None:
    """Precision, success and reciprocal rank don't fall; what is divided by all relevant may."""
    for _, qrels, rankings in plain(seed):
        more = {
            q: {**each, **{d: 1 for d in rankings[q] if each.get(d, -1) < 0}}
            for q, each in qrels.items()
        }
        before, after = values(qrels, scored(rankings)), values(more, scored(rankings))
        for key in keys():
            if key[0] in ("P", "Success", "RR", "NumRelRet", "Judged"):
                assert_at_least(before[key], after[key], key)


def test_19_what_is_divided_by_all_relevant_may_fall() -> None:
    """So these are no bounds: a document of little gain above takes ranks from the others."""
    run, qrels = scored({"q": ["a", "b", "c", "d"]}), {"q": {"a": 1}}
    more = {"q": {"a": 1, "d": 1}}
    before, after = values(qrels, run), values(more, run)
    for name in ("AP", "nDCG"):
        assert after[name, None]["q"] < before[name, None]["q"]


def tied_problems(seed: int) -> Iterator[Tied]:
    """Small problems in which several documents share a score."""
    rng = Random(seed)
    for _ in range(3):
        documents = [f"d{i}" for i in range(rng.randint(2, 5))]
        judged = {d: rng.choice((-1, 0, 1, 2, 3)) for d in rng.sample(documents, 2)} | {"x": 1}
        yield {"q": judged}, {"q": {d: rng.choice((0.5, 0.25)) for d in documents}}


def of_policy(qrels: Any, run: Any, ties: str) -> Values:
    results = irbatch.evaluate(qrels, run, list(MEASURES.values()), ties=ties)
    return {key: of_queries(results, each) for key, each in MEASURES.items()}


def refinements(run: dict[str, dict[str, float]]) -> Rankings:
    """List all rankings without ties that a query's scores admit, as queries of their own."""
    groups = [
        list(group)
        for _, group in itertools.groupby(
            sorted(run["q"], key=lambda d: -run["q"][d]), key=lambda d: run["q"][d]
        )
    ]
    orders = itertools.product(*map(itertools.permutations, groups))
    return {f"q{i}": [d for part in order for d in part] for i, order in enumerate(orders)}


@seeds
def test_22_ties(seed: int) -> None:
    """What is expected is the mean over all orders; no policy leaves what they range over."""
    for qrels, run in tied_problems(seed):
        orders = refinements(run)
        each = values(dict.fromkeys(orders, qrels["q"]), scored(orders))
        names = ("expected", "pessimistic", "optimistic", "id", "id_ascending", "index")
        found = {ties: of_policy(qrels, run, ties) for ties in names}
        for key, values_of in each.items():
            one = {ties: by_key[key]["q"] for ties, by_key in found.items()}
            mean = math.fsum(values_of.values()) / len(values_of)
            assert one["expected"] == pytest.approx(mean, rel=1e-12, abs=1e-12), key
            for ties in names[1:]:
                assert one[ties] in values_of.values(), (key, ties)
        for key in (key for key in keys("climbs") if key[0] not in having("pooled")):
            low, expected, high = (
                found[ties][key]["q"] for ties in ("pessimistic", "expected", "optimistic")
            )
            assert low == min(each[key].values()), key
            assert high == max(each[key].values()), key
            assert low - 1e-12 <= expected <= high + 1e-12, key


@seeds
def test_22_ties_of_equal_gain_do_not_show(seed: int) -> None:
    for _, qrels, rankings in itertools.islice(plain(seed), 2):
        run = {
            q: {d: -float(max(qrels[q].get(d, -9), -9)) for d in ranking}
            for q, ranking in rankings.items()
        }
        found = [of_policy(qrels, run, t) for t in ("expected", "pessimistic", "optimistic", "id")]
        for key in MEASURES:
            by_policy = [each[key] for each in found]
            for other in by_policy[1:]:
                assert other == pytest.approx(by_policy[0], rel=1e-12, abs=1e-12), key


@seeds
def test_25_threads(seed: int) -> None:
    """That compiling and the size of blocks don't show is in runtime/test_compiled_and_plain.py."""
    for _, qrels, run in itertools.islice(nasty(seed), 8):
        wanted = list(fitting(qrels).values())
        one, *others = (irbatch.evaluate(qrels, run, wanted, threads=n) for n in (1, 2, 5))
        for other in others:
            assert other.values.tobytes() == one.values.tobytes()
            assert other.mean() == one.mean()


@seeds
@pytest.mark.parametrize("p", [0.3, 0.5, 0.8])
def test_26_residual_of_rank_biased_precision(seed: int, p: float) -> None:
    """It is what the value would rise by if all that is not judged were relevant."""
    wishes = [f"RBP(p={p},gain=binary)", f"RBPresid(p={p},tail=always)"]
    for rng, qrels, rankings in plain(seed):
        run = scored(rankings)
        all_relevant = {
            q: {**each, **{d: 1 for d in rankings[q] if each.get(d, -1) < 0}}
            for q, each in qrels.items()
        }
        some = {
            q: {**each, **{d: rng.choice((0, 1)) for d in rankings[q][::2] if each.get(d, -1) < 0}}
            for q, each in qrels.items()
        }
        now, best, later = (irbatch.evaluate(q, run, wishes) for q in (qrels, all_relevant, some))
        for query, (base, residual) in zip(now.query_ids, now.values.tolist(), strict=True):
            assert base >= 0
            assert base + residual <= 1 + 1e-12
            tail = p ** len(rankings[query])
            assert best.per_query(wishes[0])[query] - base + tail == pytest.approx(residual)
            assert later.per_query(wishes[1])[query] <= residual + 1e-15


@seeds
def test_27_one_relevant_document_for_readers_who_stop(seed: int) -> None:
    """Of one relevant document ERR is the chance to stop there over its rank."""
    rng = Random(seed)
    for _ in range(25):
        rank, grade = rng.randint(1, 30), rng.randint(1, 4)
        run = scored({"q": [f"d{i}" for i in range(1, 31)]})
        wishes = ["ERR(max_grade=4)", *(f"ERR(max_grade=4)@{k}" for k in (1, 5, 10, 40))]
        found = irbatch.evaluate({"q": {f"d{rank}": grade}}, run, wishes).values[0].tolist()
        assert found[0] == pytest.approx((2**grade - 1) / 16 / rank, rel=1e-14)
        assert 0 <= found[1] <= found[2] <= found[3] <= found[4] == found[0] <= 1


def compared(first: Any, second: Any, **options: Any) -> Any:
    """Compare two systems of which each query has a value."""
    runs = {
        name: {f"q{i}": dict.fromkeys("xyz"[: round(2 * value)], 1.0) | {"a": 0.5 + value}
               for i, value in enumerate(values)}
        for name, values in (("first", first), ("second", second))
    }  # fmt: skip
    return irbatch.compare({q: {"a": 1} for q in runs["first"]}, runs, "RR", **options)


@seeds
@pytest.mark.parametrize("test", ["t", "randomisation", "wilcoxon", "sign", "bootstrap"])
def test_28_two_systems(seed: int, test: str) -> None:
    """Told the other way round, in another order of queries, or of one system twice."""
    if test in ("t", "wilcoxon"):
        pytest.importorskip("scipy")
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 2, (2, 15)) / 2
    second[0] = 0.5 - first[0]
    found = compared(first, second, test=test, draws=300)
    again = compared(second, first, test=test, draws=300)
    p, difference = found.p_values[0, 0], found.differences[0, 0]
    assert again.differences[0, 0] == -difference
    assert 0 < p <= 1
    if test != "bootstrap":
        assert again.p_values[0, 0] == pytest.approx(p, rel=1e-12)
        order = rng.permutation(15)
        moved = compared(first[order], second[order], test=test, draws=300)
        assert moved.p_values[0, 0] == pytest.approx(p, rel=1e-9)
    assert compared(first, first, test=test, draws=300).p_values[0, 0] == 1
    low, high = found.difference_intervals[0, 0]
    assert low <= difference <= high
    assert (found.corrected >= found.p_values).all()


def test_28_sampled_tests_go_on_where_fewer_draws_end() -> None:
    """And are never 0: the data themselves are one of the draws."""
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 2, (2, 40)) / 2
    found = {n: compared(first, second, draws=n).p_values[0, 0] for n in (99, 199)}
    hits = {n: round(p * (n + 1)) - 1 for n, p in found.items()}
    assert 0 <= hits[199] - hits[99] <= 100
    assert min(found.values()) >= 1 / 200
    exact = compared(first[:12], second[:12], draws=10).p_values[0, 0]
    assert exact == compared(first[:12], second[:12], draws=5000).p_values[0, 0]


@seeds
def test_29_precision_of_scores(seed: int) -> None:
    """Rounding scores to float32 is what score_dtype="float32" does."""
    for _, qrels, run in nasty(seed):
        with np.errstate(over="ignore"):
            rounded = mapped(run, lambda score: float(np.float32(score)))
        wanted = list(fitting(qrels).values())
        as_float32 = irbatch.evaluate(qrels, run, wanted, score_dtype="float32")
        assert as_float32.to_dict() == evaluate(qrels, rounded).to_dict()
        before, after = ({q: set(map(float, each.values())) for q, each in side.items()}
                         for side in (run, rounded))  # fmt: skip
        if all(len(before[q]) == len(after[q]) for q in run):
            assert as_float32.to_dict() == evaluate(qrels, run).to_dict()


@seeds
def test_30_ids_that_are_whole_numbers(seed: int) -> None:
    """Whole numbers in place of text change nothing, where no ids are compared."""
    for _, qrels, rankings in plain(seed):
        run = scored(rankings)
        sides = [
            {int(q[1:]): {int(d[1:]): x for d, x in each.items()} for q, each in side.items()}
            for side in (qrels, run)
        ]
        before, after = values(qrels, run), values(*sides)
        assert_same({k: {int(q[1:]): v for q, v in each.items()} for k, each in before.items()},
                    after)  # fmt: skip
