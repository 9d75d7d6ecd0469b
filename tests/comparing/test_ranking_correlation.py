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

import numpy as np
import pytest

from irbatch import InputError
from irbatch.comparing.rankings import (
    kendall_tau,
    ranking_correlation,
    tau_ap,
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
@pytest.mark.parametrize("ties", ["a", "b"])
def test_rankings_are_compared_as_lists_of_scores(levels: int, ties: str) -> None:
    first, second = some_runs(levels)
    found = ranking_correlation(first, second, ties=ties)
    assert found.query_ids == list(first)
    for row, query in enumerate(found.query_ids):
        lists = common(first, second, query)
        assert found.documents[row] == len(lists[0])
        defined = len(lists[0]) > 1
        assert same(found.tau[row], kendall_tau(*lists, ties) if defined else math.nan), query
        if ties == "b" and defined and min(len(set(each)) for each in lists) == 1:
            assert math.isnan(found.tau_ap[row])
        else:
            assert same(found.tau_ap[row], tau_ap(*lists, ties) if defined else math.nan), query
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
    assert tau_ap(x, y, "a") == pytest.approx(fmean(each for each, _ in values), rel=1e-13)
    assert kendall_tau(x, y, "a") == pytest.approx(fmean(each for _, each in values), rel=1e-13)


# Test data and results of the authors' R package: J. Urbano, ircor 1.0 (CRAN; MIT), files
# tests/testthat/helper_data.R, test_tau.R and test_tauAP.R.
SETS = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1],
        [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
        [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4],
        [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
    ),
]
# tau, tau_ap, tau_ap_b of the lists without ties; tau_b, tau_ap_b of those with ties.
COEFFICIENTS = [
    (0.9111, 0.8519, 0.8333, 0.9398, 0.7321),
    (0.2889, 0.2504, 0.2880, 0.3765, 0.2970),
    (-0.6889, -0.6971, -0.6680, -0.6510, -0.7047),
]


@pytest.mark.parametrize(("lists", "expected"), [*zip(SETS, COEFFICIENTS, strict=True)])
def test_coefficients_are_those_of_ircor(
    lists: tuple[list[float], ...], expected: tuple[float, ...]
) -> None:
    x, y, x_ties, y_ties = lists
    found = (
        kendall_tau(x, y),
        tau_ap(x, y),
        tau_ap(x, y, "b"),
        kendall_tau(x_ties, y_ties),
        tau_ap(x_ties, y_ties, "b"),
    )
    assert found == pytest.approx(expected, abs=5e-5)
    assert kendall_tau(y_ties, x_ties) == found[3]
    assert tau_ap(y_ties, x_ties, "b") == found[4]
    assert tau_ap(x, y, "b") == pytest.approx((tau_ap(x, y) + tau_ap(y, x)) / 2, abs=1e-15)


def test_kendall_tau_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    draw = np.random.default_rng(5)
    for size in (2, 3, 10, 60):
        for levels in (2, 5, 1000):
            x, y = draw.integers(0, levels, (2, size)).astype(float)
            if len(set(x)) > 1 < len(set(y)):
                expected = float(stats.kendalltau(x, y).statistic)
                assert kendall_tau(x, y) == pytest.approx(expected, abs=1e-12)
    assert kendall_tau([1, 2, 3], [10, 20, 30]) == 1.0
    assert kendall_tau([1, 2, 3], [3, 2, 1]) == -1.0
    assert math.isnan(kendall_tau([1, 1], [1, 2]))
    assert kendall_tau([-math.inf, 0, math.inf], [1, 2, 3]) == 1.0


def test_tau_ap_counts_the_top_most() -> None:
    assert tau_ap([3, 2, 1], [30, 20, 10]) == 1.0
    assert tau_ap([3, 2, 1], [10, 20, 30]) == -1.0
    # Swapping at the top costs more than at the bottom.
    assert tau_ap([4, 3, 2, 1], [3, 4, 2, 1]) < tau_ap([4, 3, 2, 1], [4, 3, 1, 2])
    assert tau_ap([2, 1, 1], [2, 1, 1], "b") == 1.0
    assert math.isnan(tau_ap([1, 1], [1, 2], "b"))


@pytest.mark.parametrize("coefficient", [kendall_tau, tau_ap])
def test_coefficients_refuse(coefficient: Any) -> None:
    for x, y, what in (
        ([1, 2, 3], [1, 2], "x has 3 scores, y has 2"),
        ([], [], "an order takes at least two systems, not 0"),
        ([1], [1], "not 1"),
        ([1, math.nan], [1, 2], "x: score nan is not a number"),
        ([1, 2], [1, "2"], "y: score '2' is not a number"),
        ([1, 2], None, "y is a list of scores, not a NoneType"),
    ):
        with pytest.raises(InputError, match=what):
            coefficient(x, y)


def test_tau_ap_refuses_ties_and_says_what_takes_them() -> None:
    with pytest.raises(InputError, match=r"y has 1\.0 more than once: ties="):
        tau_ap([1, 2, 3], [1, 1, 3])


@pytest.mark.parametrize(
    ("lists", "expected"), [*zip(SETS, (0.7454, 0.2692, -0.5558), strict=True)]
)
def test_a_is_ircors(lists: tuple[list[float], ...], expected: float) -> None:
    x, _, _, y = lists
    assert tau_ap(x, y, "a") == pytest.approx(expected, abs=5e-5)
    assert tau_ap(x, sorted(x), "a") == pytest.approx(tau_ap(x, sorted(x)), rel=1e-13)


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
