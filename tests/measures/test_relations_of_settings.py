"""Ties, containers, ids of another kind, parts of a run, and what is told of two systems."""

from __future__ import annotations

import gzip
import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from support.relations import (
    MEASURES,
    Rankings,
    Values,
    assert_same,
    cells,
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
Tied = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


@seeds
def test_20_parts_and_whole(seed: int) -> None:
    """Evaluating the queries in parts gives the values of the whole, and its mean by weight."""
    for rng, qrels, run in nasty(seed):
        whole = evaluate(qrels, run)
        half = set(rng.sample(list(qrels), rng.randint(0, len(qrels))))
        parts: list[irbatch.Results] = []
        for inside in (True, False):
            part = {query: each for query, each in qrels.items() if (query in half) == inside}
            if part:
                answers = {query: run.get(query, {}) for query in part}
                parts.append(irbatch.evaluate(part, answers, list(fitting(qrels).values())))
        joined: dict[Any, Any] = {}
        for each in parts:
            joined |= each.to_dict()
        assert joined == whole.to_dict()
        for name, mean in whole.mean().items():
            if name.startswith(
                ("GM", "GAUC", "CoverageError", "FirstRank", "MeanRank", "MedianRank")
            ):
                continue  # their mean is geometric, or queries differ in weight or are left out
            weights = [
                1 if name.startswith("Num") else each.counts.queries / whole.counts.queries
                for each in parts
            ]
            weighted = sum(each[name] * w for each, w in zip(parts, weights, strict=True))
            assert weighted == pytest.approx(mean, rel=1e-14)


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
def test_23_containers(seed: int, tmp_path: Path) -> None:
    """Dicts, TREC files, compressed files, lists of ids and labels give the same bits."""
    for rng, qrels, rankings in plain(seed):
        run = scored(rankings)
        judgments = [f"{q} 0 {d} {g}\n" for q, each in qrels.items() for d, g in each.items()]
        answers = [f"{q} Q0 {d} 7 {s!r} tag\n" for q, each in run.items() for d, s in each.items()]
        if not answers:
            continue
        paths = []
        for name, lines in (("qrels", judgments), ("run", answers)):
            text = "".join(rng.sample(lines, len(lines))).encode()
            (tmp_path / name).write_bytes(text)
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text))
            paths.append(tmp_path / name)
        wanted = list(MEASURES.values())
        before = evaluate(qrels, run).to_dict()
        assert irbatch.evaluate(*paths, wanted).to_dict() == before
        packed = [f"{path}.gz" for path in paths]
        assert irbatch.evaluate(*packed, wanted).to_dict() == before
        assert irbatch.evaluate_ids(rankings, qrels, wanted).to_dict() == before
        numpy_run = mapped(run, np.float32)
        assert irbatch.evaluate(mapped(qrels, np.int16), numpy_run, wanted).to_dict() == before
        labels = [[qrels[q].get(d, 0) for d in rankings[q]] for q in qrels]
        judged = [list(each.values()) for each in qrels.values()]
        seen = [each for key, each in MEASURES.items() if key[0] not in having("pooled")]
        with_labels = irbatch.evaluate_matrix(
            labels, seen, lengths=[len(row) for row in labels], judged=judged, query_ids=list(qrels)
        )
        assert cells(with_labels) == cells(irbatch.evaluate(qrels, run, seen))


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
