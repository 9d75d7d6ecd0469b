"""What runs and judgments lack, and how alike two orders are."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import irbatch
from irbatch import InputError
from irbatch.comparing.rankings import (
    kendall_tau,
    overlap,
    rank_correlation,
    rbo,
    tau_ap,
    tau_ap_b,
)

ALPHABET = "abcdefghijklmnopqrstuvwxyz"

# William Webber's own program on the alphabet and another ranking: the extrapolated value. Recorded
# in the tests of M. Petri's rbo (https://github.com/mpetri/rbo, test_data/uneven_abc.json, MIT).
WEBBER = [
    ("drfuoxnpszeva", 0.1, 0.000246),
    ("akdwcjomxrubqitenhspyl", 0.1, 0.948509),
    ("cuxbflnmoj", 0.1, 0.003491),
    ("dnty", 0.1, 0.000250),
    ("bycskjrteguodmvafpqznlw", 0.1, 0.051489),
    ("av", 0.2, 0.900000),
    ("b", 0.2, 0.092574),
    ("aptkn", 0.2, 0.892587),
    ("ma", 0.4, 0.200001),
    ("afdqwtvehcpubinloygrs", 0.4, 0.782330),
    ("iqrveuoxaynlfsdwgjtbczhpk", 0.4, 0.004781),
    ("karfvodcjmwgzlypebunq", 0.9, 0.468431),
    ("f", 0.9, 0.053090),
    ("zclx", 0.9, 0.233312),
    ("bafnecwvlog", 0.9, 0.620766),
    ("bzdmynpquaiflrcojtwsxkvhe", 0.9, 0.449902),
    ("n", 0.9, 0.013063),
    ("ctnzrhablsei", 0.99, 0.713432),
    ("kxcnarvmwyp", 0.99, 0.529392),
    ("cgpadjwrxqzktnmlouhebsfv", 0.99, 0.901064),
    ("jz", 0.99, 0.068312),
    ("lzou", 0.99, 0.132849),
]

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


def in_order(ranking: Any) -> list[Any]:
    return sorted(ranking, key=lambda each: (ranking[each], each), reverse=True)


def sum_of_overlaps(first: Sequence[Any], second: Sequence[Any], p: float, depth: int) -> float:
    """RBO's definition, to some depth."""
    total = 0.0
    for d in range(1, depth + 1):
        total += p ** (d - 1) * len(set(first[:d]) & set(second[:d])) / d
    return (1 - p) * total


def continued(first: Sequence[Any], second: Sequence[Any], depth: int) -> tuple[list[Any], ...]:
    """Continue two rankings so that they agree as soon as they can."""
    short, long = sorted(map(list, (first, second)), key=len)
    for _ in range(len(long) - len(short)):
        short.append(next(each for each in long if each not in short))
    of_short = [each for each in short if each not in long]
    of_long = [each for each in long if each not in short]
    short, long = short + of_long, long + of_short
    more = [f"more {i}" for i in range(depth)]
    return short + more, long + more


def some_rankings() -> list[tuple[list[str], list[str]]]:
    draw = random.Random(7)
    pairs = [(list("abc"), list("abc")), (list("abc"), list("xyz")), (["a"], list("bcda"))]
    for _ in range(30):
        pool = ALPHABET[: draw.randint(3, 26)]
        both = [draw.sample(pool, draw.randint(1, len(pool))) for _ in range(2)]
        pairs.append((both[0], both[1]))
    return pairs


@pytest.mark.parametrize(("other", "p", "expected"), WEBBER)
def test_rbo_is_that_of_its_author(other: str, p: float, expected: float) -> None:
    found = rbo(list(ALPHABET), list(other), p)
    assert found.extrapolated == pytest.approx(expected, abs=1.1e-6)
    assert rbo(list(other), list(ALPHABET), p) == found, "which one is the first doesn't matter"


@pytest.mark.parametrize("p", [0.3, 0.8, 0.9])
def test_minimum_and_maximum_are_those_of_the_worst_and_the_best_continuation(p: float) -> None:
    depth = 400
    for first, second in some_rankings():
        found = rbo(first, second, p)
        apart = [f"left {i}" for i in range(depth)], [f"right {i}" for i in range(depth)]
        least = sum_of_overlaps(first + apart[0], second + apart[1], p, depth)
        most = sum_of_overlaps(*continued(first, second, depth), p, depth)
        assert found.minimum == pytest.approx(least, abs=1e-12)
        assert found.minimum + found.residual == pytest.approx(most, abs=1e-12)
        assert found.minimum <= found.extrapolated <= found.minimum + found.residual + 1e-15


def test_extrapolated_value_is_equation_32() -> None:
    p = 0.85
    for first, second in some_rankings():
        short, long = sorted((first, second), key=len)
        s, n = len(short), len(long)
        x = [len(set(short[:d]) & set(long[:d])) for d in range(n + 1)]
        both = math.fsum(x[d] / d * p**d for d in range(1, n + 1))
        rest = math.fsum(x[s] * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
        expected = (1 - p) / p * (both + rest) + ((x[n] - x[s]) / n + x[s] / s) * p**n
        assert rbo(first, second, p).extrapolated == pytest.approx(expected, abs=1e-14)


def test_rbo_of_identical_and_of_disjoint_rankings_is_exact() -> None:
    for length, p in itertools.product((1, 7, 1000), (1e-300, 0.1, 0.9, 0.98, 1 - 1e-12)):
        ids = list(range(length))
        same = rbo(ids, ids, p)
        assert same.extrapolated == 1.0
        assert same.minimum + same.residual == pytest.approx(1.0, abs=1e-14)
        assert rbo(ids, ids[: length // 2 + 1], p).extrapolated == 1.0, "one begins the other"
        other = rbo(ids, [-1 - each for each in ids], p)
        assert (other.minimum, other.extrapolated) == (0.0, 0.0)
        assert 0 <= other.residual <= 1
    # Known of rankings of length 7 at p = 0.9, Webber, Moffat and Zobel's residual (30).
    assert rbo(list("abcdefg"), list("abcdefg"), 0.9).residual == pytest.approx(0.232861, abs=1e-6)
    assert rbo([], []).extrapolated == 1.0
    assert rbo([], ["d1"])[:3] == (0.0, 1.0, 0.0)


def test_rbo_to_a_depth_is_that_of_the_beginnings() -> None:
    first, second = list("abcdef"), list("badxyzc")
    assert rbo(first, second, 0.9, depth=3) == rbo(first[:3], second[:3], 0.9)
    assert rbo(np.array([1, 2, 3]), [1, 3, 2], 0.9) == rbo([1, 2, 3], [1, 3, 2], 0.9)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((["a", "b", "a"], ["a"]), r"first \(document 'a'\): the ranking has this document twice"),
        ((["a"], [1]), "one is text, the other a number"),
        ((["a"], ["a", 2]), "second: document ids are of two kinds"),
        (([None], ["a"]), "document id None is a NoneType"),
        (("abc", ["a"]), "the first ranking is a list of ids, not a str"),
        ((["a"], ["a"], 1.0), "p=1.0 must be a number below 1"),
        ((["a"], ["a"], 0), "p=0 must be"),
        ((["a"], ["a"], math.nan), "p=nan must be"),
        ((["a"], ["a"], "0.9"), "p='0.9' must be"),
        ((["a"], ["a"], 0.9, 0), "depth=0 must be a whole number of at least 1"),
        ((["a"], ["a"], 0.9, 2.5), r"depth=2\.5 must be"),
    ],
)
def test_rbo_refuses(arguments: tuple[Any, ...], what: str) -> None:
    with pytest.raises(InputError, match=what):
        rbo(*arguments)


def test_overlap_of_runs_is_that_of_their_rankings(digits: Path) -> None:
    paths = digits / "pca10.run", digits / "hamming-binarised.run"
    first, second = map(irbatch.read_run, paths)
    found = overlap(paths[0], paths[1], 0.9, depth=50)
    assert found.query_ids == list(first.queries), "four queries are missing from the first"
    assert len(found.query_ids) == 116
    for row in (0, 57, 115):
        query = found.query_ids[row]
        rankings = [in_order(run.rankings[query])[:50] for run in (first, second)]
        alone = rbo(*rankings, 0.9)
        assert tuple(each[row] for each in found[1:]) == alone
    assert found.per_query() == overlap(second.to_dict(), first, 0.9, depth=50).per_query()
    assert overlap(first, first).extrapolated.tolist() == [1.0] * 116


def test_compiled_overlap_has_the_same_bits(digits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def values() -> list[list[float]]:
        found = overlap(digits / "pca10.run", digits / "pixels-cosine.run")
        return [each.tolist() for each in found[1:]]

    monkeypatch.setenv("IRBATCH_JIT", "0")
    plain = values()
    monkeypatch.setenv("IRBATCH_JIT", "1")
    assert values() == plain


def test_overlap_refuses() -> None:
    with pytest.raises(InputError, match="no query in common: one has 'q1', the other 'q2'"):
        overlap({"q1": {"a": 1}}, {"q2": {"a": 1}})
    with pytest.raises(InputError, match=r"\(query 'q', document 'b'\): score 'x' is not a number"):
        overlap({"q": {"a": 1, "b": "x"}}, {"q": {"a": 1}})
    with pytest.raises(InputError, match=r"query 'q'\): document ids are 'a' on one side and 1"):
        overlap({"q": {"a": 1}}, {"q": {1: 1}})
    with pytest.raises(InputError, match="p=2 must be"):
        overlap({"q": {"a": 1}}, {"q": {"a": 1}}, 2)


@pytest.mark.parametrize(("lists", "expected"), [*zip(SETS, COEFFICIENTS, strict=True)])
def test_coefficients_are_those_of_ircor(
    lists: tuple[list[float], ...], expected: tuple[float, ...]
) -> None:
    x, y, x_ties, y_ties = lists
    found = (
        kendall_tau(x, y),
        tau_ap(x, y),
        tau_ap_b(x, y),
        kendall_tau(x_ties, y_ties),
        tau_ap_b(x_ties, y_ties),
    )
    assert found == pytest.approx(expected, abs=5e-5)
    assert kendall_tau(y_ties, x_ties) == found[3]
    assert tau_ap_b(y_ties, x_ties) == found[4]
    assert tau_ap_b(x, y) == pytest.approx((tau_ap(x, y) + tau_ap(y, x)) / 2, abs=1e-15)


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


def ap_by_definition(truth: Sequence[float], estimate: Sequence[float]) -> float:
    """Yilmaz, Aslam and Robertson's, over ranks from 2."""
    order = sorted(range(len(truth)), key=lambda i: -estimate[i])
    shares = []
    for rank in range(2, len(order) + 1):
        above = order[: rank - 1]
        shares.append(sum(truth[j] > truth[order[rank - 1]] for j in above) / (rank - 1))
    return 2 / (len(order) - 1) * sum(shares) - 1


def test_tau_ap_is_its_definition() -> None:
    draw = np.random.default_rng(2)
    for size in (2, 3, 8, 40):
        x, y = draw.permutation(size).tolist(), draw.permutation(size).tolist()
        assert tau_ap(x, y) == pytest.approx(ap_by_definition(x, y), abs=1e-14)
    assert tau_ap([3, 2, 1], [30, 20, 10]) == 1.0
    assert tau_ap([3, 2, 1], [10, 20, 30]) == -1.0
    # Swapping at the top costs more than at the bottom.
    assert tau_ap([4, 3, 2, 1], [3, 4, 2, 1]) < tau_ap([4, 3, 2, 1], [4, 3, 1, 2])
    assert tau_ap_b([2, 1, 1], [2, 1, 1]) == 1.0
    assert math.isnan(tau_ap_b([1, 1], [1, 2]))


@pytest.mark.parametrize("coefficient", [kendall_tau, tau_ap, tau_ap_b])
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
    with pytest.raises(InputError, match=r"y has 1\.0 more than once.*tau_ap_b is"):
        tau_ap([1, 2, 3], [1, 1, 3])


def test_rank_correlation_of_measures() -> None:
    means = np.array([[0.5, 0.475], [0.425, 0.5], [0.1, 0.2]])
    compared: Any = SimpleNamespace(measures=["nDCG@10", "AP"], means=means)
    found = rank_correlation(compared)
    assert found.measures == ["nDCG@10", "AP"]
    assert found.tau.tolist() == [[1.0, pytest.approx(1 / 3)], [pytest.approx(1 / 3), 1.0]]
    assert found.tau_ap[0, 1] == found.tau_ap[1, 0] == pytest.approx(0.0)
    assert found.tau_ap.diagonal().tolist() == [1.0, 1.0]
    bad = SimpleNamespace(measures=["AP"], means=[[0.5], [math.nan]])
    with pytest.raises(InputError, match="the mean of AP is NaN"):
        rank_correlation(bad)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least two systems"):
        rank_correlation(SimpleNamespace(measures=["AP"], means=[[0.5]]))  # type: ignore[arg-type]
