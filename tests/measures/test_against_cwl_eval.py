"""Measures of the C/W/L framework against cwl-eval's own classes, with costs and without."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from oracle.base import order
from support.cwl_eval import NUMBERS, five, meaning

import irbatch

pytest.importorskip("cwl", reason="pip install cwl-eval")

from cwl.ruler import cwl_ruler as theirs
from cwl.ruler.measures.cwl_npv import NPVCWLMetric
from cwl.ruler.measures.cwl_set import SETCWLMetric

COSTS = {"long": 3.5, "short": 0.25, "other": 1.0}
LOWEST, HIGHEST = 0.25, 3.5
TOLERANCE = 1e-12  # of a number; of a residual, that of the two that it is the difference of

Problem = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]], dict[str, str]]


def classes(rng: random.Random) -> list[Any]:
    """Each of its measures, with parameters of all sizes."""

    def some(*options: float) -> float:
        return rng.choice(options)

    k = rng.randint(1, 30)
    return [
        theirs.PrecisionCWLMetric(k), theirs.NDCGCWLMetric(k), theirs.RBPCWLMetric(some(0.1, 0.95)),
        theirs.RRCWLMetric(), theirs.APCWLMetric(), theirs.TrAPCWLMetric(),
        theirs.INSTCWLMetric(some(0.5, 1.0, 7.5)), theirs.INSQCWLMetric(some(0.1, 1.0, 20.0)),
        theirs.BPMCWLMetric(some(0.5, 3.0), some(1.5, 12.0)),
        theirs.BPMDCWLMetric(some(0.5, 3.0), some(1.5, 40.0), some(-0.5, 0.7), some(0.0, 2.0)),
        theirs.TBGCWLMetric(some(1.5, 60.0)), theirs.UMeasureCWLMetric(some(3.0, 500.0)),
        theirs.IFTGoalCWLMetric(some(0.3, 3.0), some(0.1, 2.0), some(0.0, 1.5)),
        theirs.IFTRateCWLMetric(some(0.0, 0.7), some(0.1, 2.0), some(0.0, 8.0)),
        theirs.IFTGoalRateCWLMetric(2.0, some(0.1, 2.0), some(1.5, 3.0), 0.3, 0.8, some(0.0, 8.0)),
        theirs.NERReq8CWLMetric(k), theirs.NERReq9CWLMetric(k),
        theirs.NERReq10CWLMetric(some(0.2, 0.99)), theirs.NERReq11CWLMetric(some(0.5, 4.0)),
        NPVCWLMetric(some(0.01, 2.0)), SETCWLMetric(0.5, k),
    ]  # fmt: skip


def some_problem(rng: random.Random) -> Problem:
    documents = [f"d{i}" for i in range(40)]
    types = {each: rng.choice([*COSTS, "unknown"]) for each in documents}
    qrels = {
        f"q{q}": {each: rng.randint(-1, 4) for each in rng.sample(documents, rng.randint(1, 25))}
        for q in range(5)
    }
    run = {
        query: {each: rng.random() for each in rng.sample(documents, rng.randint(1, 40))}
        for query in qrels
    }
    return qrels, run, types


def their_numbers(problem: Problem, metrics: list[Any], max_n: int, *, costs: bool) -> Any:
    """Return ``(queries, metrics, numbers)``; a negative grade is one of gain 0."""
    qrels, run, types = problem
    found = []
    for query, ranking in run.items():
        grades = {each: max(grade, 0) / 4 for each, grade in qrels[query].items()}
        ordered = order(ranking)
        gains = [grades.get(each, np.nan) for each in ordered]
        cost = [COSTS.get(types[each], np.nan) if costs else np.nan for each in ordered]
        limits = {"max_cost": HIGHEST, "min_cost": LOWEST} if costs else {}
        seen = theirs.Ranking(query, gains, cost, max_n=max_n, **limits)
        seen.total_qrel_rels = float(sum(gain > 0 for gain in grades.values()))
        rows = []
        for each in metrics:
            each.residuals = True
            each.measure(seen)
            residuals = [
                getattr(each, f"residual_expected_{what}")
                for what in ("utility", "total_utility", "cost", "total_cost", "items")
            ]
            rows.append([*each.get_scores(), *residuals])
        found.append(rows)
    return np.array(found)


@pytest.mark.parametrize("costs", [False, True])
def test_random_problems(costs: bool) -> None:
    rng = random.Random(8 + costs)
    for _ in range(4):
        problem, metrics, max_n = some_problem(rng), classes(rng), rng.choice([31, 40, 60])
        qrels, run, types = problem
        printed = their_numbers(problem, metrics, max_n, costs=costs)
        scale = {"max_grade": 4, "max_n": max_n}
        ours = [each(**scale) for one in metrics for each in five(meaning(one.name().strip()))]
        given = irbatch.data.DocumentCosts(COSTS, types=types) if costs else None
        found = irbatch.evaluate(qrels, run, ours, costs=given)
        columns = [found.column_of(each) for each in ours]
        values = found.values[:, columns].reshape(printed.shape)
        largest = np.abs(printed).reshape(len(run), -1, 2, 5).max(axis=2)
        scale_of = np.maximum(np.concatenate([largest, largest], axis=2), 1.0)
        off = np.argwhere(np.abs(values - printed) > TOLERANCE * scale_of)
        assert not off.size, (metrics[off[0][1]].name(), NUMBERS[off[0][2]])
