"""Rank correlation of two runs' rankings, and of lists of scores with ties."""

from __future__ import annotations

import csv
import gzip
import itertools
import math
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest

from irbatch import InputError
from irbatch.comparing.rankings import (
    kendall_tau,
    kendall_tau_a,
    ranking_correlation,
    tau_ap,
    tau_ap_a,
    tau_ap_b,
)

Run = dict[str, dict[str, float]]


def some_runs(levels: int) -> tuple[Run, Run]:
    draw = Random(levels)

    def scores() -> dict[str, float]:
        chosen = draw.sample(range(30), draw.choice((0, 3, 20, 28)))
        return {f"d{i:02}": float(draw.randrange(levels)) for i in chosen}

    one, other = ({f"q{q}": scores() for q in range(12)} for _ in range(2))
    return one, other


def common(first: Run, second: Run, query: str) -> tuple[list[float], list[float]]:
    both = [each for each in first[query] if each in second[query]]
    return [first[query][each] for each in both], [second[query][each] for each in both]


def same(found: float, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(found)
    return found == pytest.approx(expected, rel=1e-13, abs=1e-14)


@pytest.mark.parametrize("levels", [2, 5, 1000])
@pytest.mark.parametrize(
    ("ties", "tau", "ap"), [("a", kendall_tau_a, tau_ap_a), ("b", kendall_tau, tau_ap_b)]
)
def test_rankings_are_compared_as_lists_of_scores(
    levels: int, ties: str, tau: Any, ap: Any
) -> None:
    first, second = some_runs(levels)
    found = ranking_correlation(first, second, ties=ties)
    assert found.query_ids == list(first)
    for row, query in enumerate(found.query_ids):
        lists = common(first, second, query)
        assert found.documents[row] == len(lists[0])
        defined = len(lists[0]) > 1
        assert same(found.tau[row], tau(*lists) if defined else math.nan), query
        if ties == "b" and defined and min(len(set(each)) for each in lists) == 1:
            assert math.isnan(found.tau_ap[row])
        else:
            assert same(found.tau_ap[row], ap(*lists) if defined else math.nan), query
    known = [each for each in found.tau.tolist() if not math.isnan(each)]
    assert found.mean() == pytest.approx(fmean(known))


@pytest.mark.parametrize("depth", [None, 10])
def test_ties_are_ordered_by_id_unless_told(depth: int | None) -> None:
    first, second = some_runs(4)

    def ranks(scores: dict[str, float]) -> dict[str, float]:
        ordered = sorted(scores, key=lambda each: (scores[each], each), reverse=True)[:depth]
        return {document: -float(rank) for rank, document in enumerate(ordered)}

    ranked = [{query: ranks(each) for query, each in run.items()} for run in (first, second)]
    found = ranking_correlation(first, second, depth)
    for row, query in enumerate(found.query_ids):
        lists = common(*ranked, query)
        if len(lists[0]) > 1:
            assert same(found.tau[row], kendall_tau(*lists))
            assert same(found.tau_ap[row], tau_ap(*lists))


def test_a_is_the_mean_over_all_orders() -> None:
    x, y = [3.0, 2.0, 2.0, 1.0, 1.0], [5.0, 5.0, 4.0, 5.0, 1.0]

    def orders(scores: list[float]) -> list[tuple[float, ...]]:
        every = itertools.permutations(range(5))
        return [each for each in every if all(  # more for a higher score
            each[i] > each[j] for i in range(5) for j in range(5) if scores[i] > scores[j]
        )]  # fmt: skip

    values = [(tau_ap(a, b), kendall_tau(a, b)) for a in orders(x) for b in orders(y)]
    assert len(values) == 4 * 6
    assert tau_ap_a(x, y) == pytest.approx(fmean(each for each, _ in values), rel=1e-13)
    assert kendall_tau_a(x, y) == pytest.approx(fmean(each for _, each in values), rel=1e-13)


# Test data and results of the authors' R package: J. Urbano, ircor 1.0 (CRAN; MIT), files
# tests/testthat/helper_data.R and test_tauAP.R: x, y with ties, tauAP_a.
IRCOR = [
    ([0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
     [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1], 0.7454),
    ([0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
     [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6], 0.2692),
    ([0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
     [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2], -0.5558),
]  # fmt: skip


@pytest.mark.parametrize(("x", "y", "expected"), IRCOR)
def test_ircor(x: list[float], y: list[float], expected: float) -> None:
    assert tau_ap_a(x, y) == pytest.approx(expected, abs=5e-5)
    assert tau_ap_a(x, sorted(x)) == pytest.approx(tau_ap(x, sorted(x)), rel=1e-13)


def test_refused() -> None:
    with pytest.raises(InputError, match="no query in common"):
        ranking_correlation({"q": {"a": 1}}, {"p": {"a": 1}})
    with pytest.raises(InputError, match="ties='w' must be one of"):
        ranking_correlation({"q": {"a": 1}}, {"q": {"a": 1}}, ties="w")
    with pytest.raises(InputError, match="depth=0 must be"):
        ranking_correlation({"q": {"a": 1}}, {"q": {"a": 1}}, 0)
    with pytest.raises(InputError, match="value='p' must be"):
        ranking_correlation({"q": {"a": 1}}, {"q": {"a": 1}}).mean("p")
    assert math.isnan(ranking_correlation({"q": {"a": 1}}, {"q": {"a": 1}}).mean())


def test_tau_ap_of_systems(more_reference_data: Path) -> None:
    """What tau-ap prints of systems ordered by means that trec_eval printed.

    Its first list is the one whose ranks are gone through, which is our second, the estimate.
    """
    data = more_reference_data.parent / "data" / "dl19_passage" / "expected"
    means: dict[str, dict[str, float]] = {}
    for path in sorted(data.glob("*.v10_q.15digits.txt.gz")):
        with gzip.open(path, "rt") as file:
            for measure, query, value in map(str.split, file):
                if query == "all" and measure in ("map", "ndcg_cut_10", "recip_rank", "bpref"):
                    means.setdefault(measure, {})[path.name] = float(value)
    path = more_reference_data / "e_compat_rbo" / "expected" / "dl19.tau_ap.systems.tsv.gz"
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 12
    for row in rows:
        lists = [list(means[row[name]].values()) for name in ("second", "first(truth)")]
        assert len(lists[0]) == int(row["n"])
        assert tau_ap(*lists) == pytest.approx(float(row["tau_ap"]), rel=1e-12)
