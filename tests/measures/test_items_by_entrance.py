"""Fairness and propensities through every entrance, at once and in batches: the same bits."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import numpy as np
import pytest

import irbatch

NAMES = "AWRF@3 FairnDCG@5 EEL@5 EER ExposureParity(target=relevant)@4 PSP@3 PSnDCG@5 PSR "
NAMES += "SNIPS(over=all)@4 SNIPS IPS(discount=rank) PSP(norm=none)@2 nDCG@5"
QUERIES, ITEMS = 12, 9


def problem() -> tuple[np.ndarray, np.ndarray, irbatch.Items]:
    """Scores, labels, and what is known of the columns; one query has no relevant item."""
    rng = Random(3)
    scores = np.array([rng.sample(range(100), ITEMS) for _ in range(QUERIES)], float)
    labels = np.array([[rng.choice((0, 0, 1)) for _ in range(ITEMS)] for _ in range(QUERIES)])
    labels[4] = 0
    groups = {i: rng.choice(("A", "B", {"A": 0.25, "B": 0.75})) for i in range(ITEMS)}
    given = [rng.choice((0.1, 0.5, 1.0)) for _ in range(ITEMS)]
    known = irbatch.Groups(groups, {"A": 0.4, "B": 0.6})
    return scores, labels, irbatch.Items(ITEMS, groups=known, propensities=given)


def test_entrances() -> None:
    scores, labels, items = problem()
    qrels = {q: {i: int(each) for i, each in enumerate(row)} for q, row in enumerate(labels)}
    run: Any = {q: dict(enumerate(row.tolist())) for q, row in enumerate(scores)}
    ranked = np.argsort(-scores, axis=1)
    expected = irbatch.evaluate(qrels, run, NAMES, items=items)
    prepared = irbatch.evaluate(qrels, irbatch.Run(run).prepared(), NAMES, items=items)
    for found in (
        prepared,
        irbatch.evaluate_ids(ranked, [*qrels.values()], NAMES, items=items),
        irbatch.evaluate_scores(scores, labels, NAMES, items=items),
    ):
        assert found.values.tolist() == expected.values.tolist()
        assert found.mean() == expected.mean()


@pytest.mark.parametrize("skip", ["zero", "skip"])
@pytest.mark.parametrize("keep", ["queries", "sums"])
def test_batches(keep: Any, skip: str) -> None:
    scores, labels, items = problem()
    expected = irbatch.evaluate_scores(scores, labels, NAMES, items=items, no_relevant=skip).mean()
    options: dict[str, Any] = {"items": items, "keep": keep, "no_relevant": skip}
    whole = irbatch.BatchEvaluator(NAMES, **options)
    others = irbatch.BatchEvaluator(NAMES, **options)
    for first, last in itertools.pairwise([0, 1, 5, 7]):
        whole.update(scores[first:last], labels[first:last])
    others.update(scores[7:], labels[7:])
    whole.merge(others)
    assert whole.compute().mean() == expected


def test_ties_are_refused_where_they_matter() -> None:
    _, labels, items = problem()
    with pytest.raises(irbatch.InputError, match="rank 1 is open"):
        irbatch.evaluate_scores(np.ones((QUERIES, ITEMS)), labels, "AWRF@3", items=items)


@pytest.mark.parametrize("seed", range(3))
def test_rows_in_order_are_taken_as_they_stand(seed: int) -> None:
    """Unless documents share a score there, or across the cutoff: ids decide then."""
    rng = Random(seed)
    _, labels, items = problem()
    qrels = {q: dict(enumerate(row.tolist())) for q, row in enumerate(labels)}
    for _ in range(60):
        most = rng.choice((9, 30, 1000))
        rows = [
            (query, item, float(rng.randrange(most)))
            for query in range(rng.choice((1, QUERIES)))
            for item in rng.sample(range(ITEMS), rng.randint(1, ITEMS))
        ]
        in_order = sorted(rows, key=lambda row: (row[0], -row[2]))
        rng.shuffle(rows)
        columns = [zip(*each, strict=True) for each in (rows, in_order)]
        runs = [irbatch.Run.from_columns(*each) for each in columns]
        options: dict[str, Any] = {"items": items, "missing": "skip"}
        found = [
            irbatch.evaluate(qrels, each, "AWRF@3 PSP@2 EEL@4", **options).values.tolist()
            for each in runs
        ]
        assert found[0] == found[1]


def test_enormous_cutoffs() -> None:
    """As at full depth, but for measures whose k stands in a divisor, or is summed to."""
    scores, labels, items = problem()
    names = ["AWRF", "FairnDCG", "Exposure(group=A)", "EED", "PSR", "PSnDCG", "IPS", "SNIPS"]
    full = irbatch.evaluate_scores(scores, labels, names, items=items)
    for k in (10**10, 10**30, 10**300):
        cut = irbatch.evaluate_scores(scores, labels, names, k, items=items)
        assert cut.values.tolist() == full.values.tolist()
        with pytest.raises(irbatch.InputError, match="beyond 10,000,000"):
            irbatch.evaluate_scores(scores, labels, "EEL", k, items=items)
