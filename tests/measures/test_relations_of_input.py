"""The same problem in other orders, ids, scores, containers or padding, in parts, or again."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from oracle.measures import order
from support.relations import (
    MEASURES,
    assert_same,
    cells,
    evaluate,
    fitting,
    mapped,
    nasty,
    scored,
    seeds,
    shuffled,
    values,
)

import irbatch

# Rankings of a random problem may all be empty.


@seeds
def test_01_order_of_queries(seed: int) -> None:
    """The order of queries, on either side, changes neither values nor means."""
    for rng, qrels, run in nasty(seed):
        before, after = evaluate(qrels, run), evaluate(shuffled(rng, qrels), shuffled(rng, run))
        assert after.to_dict() == before.to_dict()
        assert after.mean() == before.mean()


@seeds
def test_02_order_of_documents(seed: int) -> None:
    """The order in which documents were entered changes nothing, among ties either."""
    for rng, qrels, run in nasty(seed):
        moved = [{q: shuffled(rng, each) for q, each in side.items()} for side in (qrels, run)]
        assert_same(values(qrels, run), values(*moved))


@seeds
def test_03_monotone_scores(seed: int) -> None:
    """An increasing map of the scores changes nothing, nor do ranks in place of scores."""
    for _, qrels, run in nasty(seed):
        before = values(qrels, run)
        assert_same(before, values(qrels, mapped(run, lambda score: score / 8)))
        numbers = mapped(run, float)
        places = {q: sorted(set(each.values())) for q, each in numbers.items()}
        dense = {q: {d: places[q].index(s) for d, s in numbers[q].items()} for q in numbers}
        assert_same(before, values(qrels, dense))
        assert_same(before, values(qrels, scored({q: order(each) for q, each in run.items()})))


@seeds
def test_04_relabelled_ids(seed: int) -> None:
    """New ids change nothing: documents' in the same order, queries' in any."""
    for rng, qrels, run in nasty(seed):
        documents = sorted({d for side in (qrels, run) for each in side.values() for d in each})
        renamed = {document: f"{i:04}" for i, document in enumerate(documents)}
        queries = list({**qrels, **run})
        other = dict(zip(queries, map(str, rng.sample(range(100), len(queries))), strict=True))
        moved = [
            {other[q]: {renamed[d]: x for d, x in each.items()} for q, each in side.items()}
            for side in (qrels, run)
        ]
        after = values(*moved)
        for key, before in values(qrels, run).items():
            assert after[key] == {other[query]: value for query, value in before.items()}, key


@seeds
@pytest.mark.parametrize("times", [2, 4])
def test_20_repeated_queries(seed: int, times: int) -> None:
    """Repeating every query keeps every mean, and multiplies counts."""
    for _, qrels, run in nasty(seed):
        copies = [
            {f"{i} {query}": documents for i in range(times) for query, documents in side.items()}
            for side in (qrels, run)
        ]
        before, after = evaluate(qrels, run), evaluate(*copies)
        for (name, k), each in fitting(qrels).items():
            wanted = before[each] * (times if name.startswith("Num") else 1)
            assert after[each] == wanted or math.isnan(after[each] + wanted), (name, k)


@seeds
def test_21_no_memory(seed: int) -> None:
    """An evaluation leaves nothing behind: A, then B, then A again gives A's values."""
    problems = [(qrels, run) for _, qrels, run in nasty(seed)]
    for (qrels, run), other in itertools.pairwise(problems):
        prepared = irbatch.Qrels(qrels), irbatch.Run(run)
        before = evaluate(qrels, run)
        first = irbatch.evaluate(*prepared, list(fitting(qrels).values()))
        evaluate(*other)
        again = irbatch.evaluate(*prepared, list(fitting(qrels).values()))
        for after in (first, again, evaluate(qrels, run)):
            assert after.to_dict() == before.to_dict()
            assert after.mean() == before.mean()


@seeds
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float64])
def test_24_padding(seed: int, dtype: type[np.generic]) -> None:
    """Cells past a row's length change nothing, whatever they hold, nor do rows of length 0."""
    rng = np.random.default_rng(seed)
    wanted = list(MEASURES.values())
    for queries, depth in ((1, 1), (3, 8), (20, 33)):
        lengths = rng.integers(0, depth + 1, queries)
        labels = rng.choice([-2, 0, 1, 2, 4], (queries, depth)).astype(dtype)
        rows = [row[:length] for row, length in zip(labels, lengths, strict=True)]
        before = cells(irbatch.evaluate_matrix(rows, wanted, lengths=lengths))
        past_end = np.arange(depth) >= lengths[:, None]
        masked = np.ma.masked_array(labels, past_end)
        assert cells(irbatch.evaluate_matrix(masked, wanted)) == before
        for columns in (1, 50):
            wider = np.hstack([labels, np.full((queries, columns), 99, dtype)])
            results = irbatch.evaluate_matrix(wider, wanted, lengths=lengths)
            assert cells(results) == before
        taller = np.vstack([labels, np.full((5, depth), 99, dtype)])
        results = irbatch.evaluate_matrix(taller, wanted, lengths=[*lengths, 0, 0, 0, 0, 0])
        assert cells(results)[:queries] == before
