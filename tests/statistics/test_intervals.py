"""Intervals of means, differences and quantiles, power and tails: against SciPy, by simulation."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from oracle.leaderboard import quantile_ranks as expected_ranks

from irbatch import compare
from irbatch.evaluation.queries import Rows
from irbatch.evaluation.results import Results
from irbatch.statistics import resampling
from irbatch.statistics.intervals import (
    above_zero_bounded_p,
    bounded_intervals,
    detectable_difference,
    find_intervals,
    levels_of,
    normal_tail,
    quantile_ranks,
    queries_needed,
    student_quantile,
    student_tails,
)
from irbatch.statistics.resampling import (
    COUNTED,
    draw_column_means,
    draw_counts,
    draw_means,
    flip_signs,
    generator_of,
)
from irbatch.statistics.tests import CORRECTIONS, TESTS

NORMAL = NormalDist()
SKEWED = np.random.default_rng(5).gamma(1, 0.1, (2, 11, 3))
LEVEL, DRAWS, SEED = 0.1, 900, 2


@pytest.mark.parametrize("kind", ["percentile", "bca"])
@pytest.mark.parametrize("geometric", [False, True])
def test_bounds_are_quantiles_of_what_is_drawn(kind: str, geometric: bool) -> None:
    """Efron (1987), with the acceleration that leaving out each query in turn gives."""
    which = np.array([False, geometric, False])
    values = SKEWED.copy()
    values[..., which] = np.log(values[..., which])
    found = find_intervals(values, [(1, 0)], kind, LEVEL, DRAWS, SEED, geometric=which)
    for measure in range(3):
        means = [_means(each, which[measure]) for each in values[..., measure]]
        (first, drawn_first, left_first), (second, drawn_second, left_second) = means
        pair = second - first, drawn_second - drawn_first, left_second - left_first
        rows = [
            (found.means[0], means[0]),
            (found.means[1], means[1]),
            (found.differences[0], pair),
        ]
        for bounds, (mean, drawn, left_out) in rows:
            shares = np.array([LEVEL / 2, 1 - LEVEL / 2])
            if kind == "bca":
                shares = _adjusted(shares, mean, drawn, left_out)
            expected = np.quantile(drawn, shares)
            assert bounds[measure] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_what_does_not_vary_has_no_width(kind: str) -> None:
    values = np.array([[[0.25]] * 4, [[0.75]] * 4])
    found = find_intervals(values, [(1, 0)], kind, LEVEL, DRAWS, SEED)
    assert found.means[:, 0].tolist() == [[0.25, 0.25], [0.75, 0.75]]
    assert found.differences[0, 0].tolist() == [0.5, 0.5]


def _means(values: np.ndarray, geometric: bool) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the mean, those of the draws, and how far each query moves it (delta method)."""
    observed, drawn = draw_means(values[:, None], DRAWS, SEED)
    if not geometric:
        return observed[0], drawn[0], values
    return np.exp(observed[0]), np.exp(drawn[0]), np.exp(observed[0]) * values


def _adjusted(shares: np.ndarray, mean: float, drawn: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the shares with bias corrected and accelerated."""
    bias = NORMAL.inv_cdf(np.mean((drawn < mean) + 0.5 * (drawn == mean)))
    left_out = (values.sum() - values) / (values.size - 1)
    moved = left_out.mean() - left_out
    acceleration = (moved**3).sum() / (6 * (moved**2).sum() ** 1.5)
    shifted = [bias + NORMAL.inv_cdf(share) for share in shares]
    return np.array([NORMAL.cdf(bias + z / (1 - acceleration * z)) for z in shifted])


FOUND = np.array([[True], [False], [True], [False], [False]])


@pytest.mark.parametrize(
    ("correction", "found", "other"),
    [
        ("none", 0.05, 0.05),
        ("bonferroni", 0.01, 0.01),
        ("holm", 0.01, 0.05 / 3),
        ("bh", 0.02, 0.02),
        ("by", 0.02 * 60 / 137, 0.02 * 60 / 137),
    ],
)
def test_levels(correction: str, found: float, other: float) -> None:
    levels = levels_of(FOUND, correction, 0.05)
    assert levels.ravel() == pytest.approx([found, other, found, other, other])


@pytest.fixture(scope="module")
def systems() -> dict[str, Results]:
    import irbatch

    random = np.random.default_rng(3)
    found = {}
    for i in range(7):
        labels = random.random((40, 8)) < 0.25 + 0.03 * i
        found[f"s{i}"] = irbatch.evaluate_matrix(labels, "AP P@5 RR")
    return found


@pytest.mark.parametrize(
    ("test", "correction"),
    [
        pytest.param(
            test, correction, marks=[pytest.mark.slow] * (test == "anova" and correction != "holm")
        )
        for test in TESTS
        for correction in CORRECTIONS
        if test not in ("wilcoxon", "sign")
    ],
)
def test_intervals_and_p_values_seldom_disagree(
    systems: dict[str, Results], test: str, correction: str
) -> None:
    if test == "anova":
        pytest.importorskip("scipy.stats")
    found = compare(systems, test=test, correction=correction, draws=2000)
    low, high = np.moveaxis(found.difference_intervals, -1, 0)
    disagree = ((low <= 0) & (high >= 0)) == found.significant
    assert disagree.mean() < 0.1
    if test == "t" and correction in ("none", "bonferroni"):
        assert not disagree.any(), "one and the same formula"
    assert 0 < found.significant.mean() < 1
    assert ((low <= found.differences) & (found.differences <= high)).all()
    each = compare(systems, test=test, correction=correction, draws=2000,
                           simultaneous=False)  # fmt: skip
    assert (each.intervals == found.intervals).all(), "means have intervals of their own"
    assert "simultaneous" in found.caption()
    assert "simultaneous" not in each.caption()
    assert "simultaneous: False" in each.signature


def test_honest_differences_are_tukeys(systems: dict[str, Results]) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = compare(systems, test="anova")
    values = found.values[:, :, 0]
    residuals = values - values.mean(axis=0) - values.mean(axis=1)[:, None] + values.mean()
    freedom = 6 * 39
    error = np.sqrt((residuals**2).sum() / freedom / 40)
    reach = stats.studentized_range.ppf(0.95, 7, freedom) * error
    widths = np.ptp(found.difference_intervals[:, 0], axis=1)
    untouched = np.abs(np.abs(found.differences[:, 0]) - reach) > 0.01
    assert widths[untouched] == pytest.approx(2 * reach, rel=1e-6)


def test_all_hold_what_they_promise() -> None:
    """Of families of six differences, all intervals hold the true ones in 95 of 100."""
    random = np.random.default_rng(6)
    truth = np.array([0.0, 0.0, 0.3, 0.8])
    missed = 0
    for _ in range(120):
        values = truth[:, None] + random.normal(0, 1, (4, 30))
        results = {str(i): _results(each) for i, each in enumerate(values)}
        found = compare(results, test="t")
        low, high = found.difference_intervals[:, 0].T
        true = np.array([truth[a] - truth[b] for a, b in found.pairs])
        missed += bool(((true < low) | (true > high)).any())
    assert missed / 120 < 0.08


def _results(values: np.ndarray) -> Results:
    import irbatch

    made = irbatch.evaluate_matrix(np.ones((values.size, 1)), "P@1")
    return Results(Rows(values[:, None]), made.query_ids, made.columns, made.counts, made.settings)


@pytest.mark.parametrize("level", [0.01, 0.05, 0.5])
@pytest.mark.parametrize("percent", [50, 90, 95, 99])
def test_ranks_are_the_twins(percent: int, level: float) -> None:
    for n in (*range(1, 40), 71, 72, 367, 368, 526):
        expected = expected_ranks(n, Fraction(percent, 100), Fraction(level))
        assert quantile_ranks(n, percent / 100, level) == expected, n


stats = pytest.importorskip("scipy.stats")
RATIO = 1.084  # by the approximation 49 queries are enough of it, while it takes 51


@pytest.mark.parametrize("queries", [2, 3, 7, 50, 5000])
def test_the_detectable_difference_is_found_with_the_power(queries: int) -> None:
    """By the non-central t distribution, of few queries too."""
    differences = np.random.default_rng(queries).normal(size=(queries, 1))
    for level in (0.001, 0.05, 0.2):
        shift = detectable_difference(differences, level) / stats.sem(differences)
        edge = stats.t.ppf(1 - level / 2, queries - 1)
        assert stats.nct.sf(edge, queries - 1, shift) == pytest.approx(0.8, abs=1e-4)


def test_queries_needed_of_small_and_of_no_differences() -> None:
    """Above some 50 queries the approximation by t counts: it is consistent with itself."""
    few = np.array([[0.01, 0.0, 1.0], [-0.008, 0.0, 1.0], [0.002, 0.0, 1.0]])
    needed = queries_needed(few, 0.05)
    assert needed[1:].tolist() == [np.inf, 2]
    t = stats.t(needed[0] - 1)
    ratio = few[:, 0].std(ddof=1) / few[:, 0].mean()
    assert needed[0] == np.ceil(((t.ppf(0.975) + t.ppf(0.8)) * ratio) ** 2) > 50


@pytest.mark.parametrize("level", [1e-6, 0.01, 0.05, 0.2])
def test_queries_needed_have_the_power_and_one_less_has_not(level: float) -> None:
    """Up to some 50 the power is that of the t-test, above that of the usual approximation."""
    ratios = np.append(np.geomspace(0.05, 6, 400), RATIO)  # of spread to mean
    needed = queries_needed(1 + np.outer([-1, 1], ratios / math.sqrt(2)), level)

    def is_enough(numbers: np.ndarray) -> np.ndarray:
        t = stats.t(numbers - 1)
        return numbers >= ((t.ppf(1 - level / 2) + t.ppf(0.8)) * ratios) ** 2

    numbers = np.arange(2, 60)[:, None]
    edges = stats.t.ppf(1 - level / 2, numbers - 1)
    power = stats.nct.sf(edges, numbers - 1, np.sqrt(numbers) / ratios)
    exact = 2 + (power < 0.8).sum(axis=0)
    few, many = exact < 50, needed > 52
    assert few.sum() > 100
    assert needed[few].tolist() == exact[few].tolist()
    assert is_enough(needed)[many].all()
    assert not is_enough(needed - 1)[many].any()
    if level == 1e-6:
        assert needed[-1] == exact[-1] == 51


special = pytest.importorskip("scipy.special")


@pytest.mark.parametrize("freedom", [1, 2, 7, 49, 1000, 6979])
def test_student_s_quantiles(freedom: int) -> None:
    for tail in (0.5, 0.4, 0.05, 0.025, 1e-4, 1e-9):
        expected = -special.stdtrit(freedom, tail)
        assert student_quantile(tail, freedom) == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("freedom", [1, 2, 7, 49, 99, 100, 101, 6979, 10**6])
def test_student_of_arrays(freedom: int) -> None:
    """From the smallest to the largest, where the one-by-one form has lost digits."""
    t = np.array([0.0, 1e-9, 1e-4, 0.3, 1.0, 3.0, 6.0, 37.0, 1e4, 1e10])
    t = np.concatenate([t, -t]).reshape(2, -1)
    expected = special.stdtr(freedom, -t)
    if freedom == 1:  # Cauchy's distribution, of which SciPy has nine digits here and there
        expected = np.arctan2(1, t) / np.pi
    found = student_tails(t, freedom)
    shown = expected > 1e-290
    assert found[shown] == pytest.approx(expected[shown], rel=1e-9 if freedom > 10**5 else 1e-11)
    assert (found[~shown] < 1e-290).all()
    assert found.ravel().tolist() == [float(student_tails(each, freedom)) for each in t.ravel()]
    ends = student_tails(np.array([np.inf, -np.inf, np.nan]), freedom)
    assert ends == pytest.approx([0.0, 1.0, np.nan], abs=1e-100, nan_ok=True)


def test_normal() -> None:
    z = np.array([[0.0, 1.0], [3.0, 37.0]])
    assert normal_tail(z) == pytest.approx(special.ndtr(-z), rel=1e-14)


# ---------------------------------------------------------------- bounded values


RNG = np.random.default_rng(7)
RISK = 0.05


def exact_p(values: list[float], lowest: float, highest: float) -> float:
    """The definition: one over the capital of a half on the largest stake, a tenth on five more."""
    most = -1 / lowest
    least = min(5 / ((highest - lowest) * len(values) ** 0.5), most)
    capital = Fraction(0)
    for i in range(6):
        product = Fraction(1, 10) if i else Fraction(1, 2)
        for value in values:
            product *= 1 + Fraction(value) * Fraction(most * (least / most) ** (i / 5))
        capital += product
    return float(min(Fraction(1), 1 / capital)) if capital > 0 else 1.0


@pytest.mark.parametrize("n", [1, 2, 9, 60])
def test_p_is_the_definition(n: int) -> None:
    lowest, highest = -RNG.uniform(0.1, 2, 5), RNG.uniform(0.1, 2, 5)
    values = RNG.uniform(lowest, highest, (n, 5))
    expected = [exact_p(values[:, k].tolist(), lowest[k], highest[k]) for k in range(5)]
    assert above_zero_bounded_p(values, lowest, highest) == pytest.approx(expected, rel=1e-12)


def test_all_stakes_can_be_lost() -> None:
    ends = np.array([-0.5]), np.array([9.0])
    assert above_zero_bounded_p(np.array([[-0.5], [9.0]]), *ends).item() > 0.1
    assert above_zero_bounded_p(np.full((50, 1), -0.5), *ends) == 1
    assert above_zero_bounded_p(np.array([[np.nan], [1.0]]), *ends) == 1


@pytest.mark.parametrize("margin", [0.5, 0.05, 0.01])
def test_so_many_queries_without_a_loss_are_enough(margin: float) -> None:
    least = math.ceil(math.log(2 / RISK) / math.log1p(margin / (1 - margin)))
    ends = np.array([margin - 1]), np.array([margin + 1])
    assert above_zero_bounded_p(np.full((least, 1), margin), *ends) <= RISK
    assert least <= 3.8 / margin  # the rule of three, and what the other stakes cost


def losses(share: float, loss: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two values with their chances: most queries win what a few lose."""
    return np.array([-loss, share * loss / (1 - share)]), np.array([share, 1 - share])


@pytest.mark.parametrize("n", [2, 5, 10, 20, 50, 200])
@pytest.mark.parametrize(("share", "loss"), [(0.01, 1), (0.05, 0.4), (0.1, 0.4), (0.5, 0.5)])
def test_a_mean_of_zero_is_rarely_called_positive(n: int, share: float, loss: float) -> None:
    values, chances = losses(share, loss)
    drawn = RNG.choice(values, (n, 4_000), p=chances)
    p = above_zero_bounded_p(drawn, np.full(4_000, -1.0), np.ones(4_000))
    # The share of 4,000 columns: within four standard errors of the level, or below it.
    assert (p <= RISK).mean() <= RISK + 4 * (RISK * (1 - RISK) / 4_000) ** 0.5


@pytest.mark.parametrize("n", [3, 20, 120])
def test_intervals_hold(n: int) -> None:
    values = (RNG.random((n, 2_000)) < 0.9).astype(float)
    low, high = bounded_intervals(values, np.zeros(2_000), np.ones(2_000), 2 * RISK).T
    assert (low <= values.mean(axis=0)).all()
    assert (values.mean(axis=0) <= high).all()
    assert (low > 0.9).mean() <= RISK
    assert (high < 0.9).mean() <= RISK


def test_intervals_end_where_the_test_turns() -> None:
    values = RNG.random((40, 3))
    low, high = bounded_intervals(values, np.zeros(3), np.ones(3), 2 * RISK).T
    for step, rejected in ((-1e-9, True), (1e-9, False)):
        least = low + step
        p = above_zero_bounded_p(values - least, -least, 1 - least)
        assert ((p <= RISK) == rejected).all()
        most = high - step
        p = above_zero_bounded_p(most - values, most - 1, most)
        assert ((p <= RISK) == rejected).all()


def test_intervals_close_in() -> None:
    values = RNG.beta(5, 5, (7_000, 1))
    low, _ = bounded_intervals(values, np.zeros(1), np.ones(1), 0.05)[0]
    error = values.std() / 7_000**0.5
    assert 1.96 < (values.mean() - low) / error < 3.5


# ---------------------------------------------------------------- draws


@pytest.mark.parametrize("size", [1, 3, 9, 10, 100, 20_000])  # of the last, in several stretches
def test_draws_are_with_replacement(size: int) -> None:
    draws = 300 if size > 1000 else 20_000
    often = np.concatenate(list(draw_counts(size, draws, 7)))
    assert (often.sum(axis=1) == size).all(), "as many as there are"
    # How often a query is drawn is binomial, whichever it is, and two of them rival each other.
    share = np.bincount(often.astype(int).ravel(), minlength=12)[:12] / often.size
    expected = [math.comb(size, k) * (size - 1) ** max(size - k, 0) / size**size for k in range(12)]
    spread = 5 * np.sqrt(np.array(expected) / often.size) + 1e-9
    assert (np.abs(share - expected) < spread).all()
    assert np.abs(often.mean(axis=0) - 1).max() < 5.5 / math.sqrt(draws)
    together = ((often[:, 0] - 1) * (often[:, -1] - 1)).mean()
    variance = 1 - 1 / size
    assert together == pytest.approx(-1 / size if size > 1 else 0, abs=6 * variance / draws**0.5)


@pytest.mark.parametrize("size", [3, 500])
def test_fewer_draws_are_the_first_of_more(size: int) -> None:
    many = np.concatenate(list(draw_counts(size, COUNTED + 2, 7)))
    for draws in (1, 41, COUNTED, COUNTED + 1):
        few = np.concatenate(list(draw_counts(size, draws, 7)))
        assert few.tolist() == many[:draws].tolist()
    assert (many[0] != many[COUNTED]).any(), "no block is like another"
    assert (many[0] != next(draw_counts(size, 1, 9))[0]).any()


@pytest.mark.parametrize("queries", [1, 8, 61, 9000])
def test_means_are_those_of_the_drawn(queries: int) -> None:
    """Exactly rounded, whatever columns there are and however the sums are made."""
    random = np.random.default_rng(1)
    values = random.normal(0, 1, (queries, 5)) * [1e-200, 1, 1e8, 1e200, 0]
    values[:, 1] = 0.3
    observed, drawn = draw_means(values, 3, 4)
    often = next(draw_counts(queries, 3, 4)).astype(int).tolist()
    for column, means in zip(values.T, drawn, strict=True):
        exact = [
            sum(map(operator.mul, counts, map(Fraction, column))) / queries for counts in often
        ]
        close = 2.0 ** (queries.bit_length() - 52) * np.abs(column).max()
        assert means == pytest.approx(list(map(float, exact)), abs=close, rel=0)
    assert observed.tolist() == [math.fsum(column) / queries for column in values.T]
    assert (drawn[1] == observed[1]).all(), "what doesn't vary stays as it is"
    for some in ([1], [3, 0], [0, 1, 2, 3, 4] * 40):
        again = draw_means(values[:, some], 3, 4)
        assert again[0].tolist() == observed[some].tolist()
        assert again[1].tolist() == drawn[some].tolist()


def test_numbers_next_to_zero_may_be_zero() -> None:
    for means in draw_means(np.full((2, 1), 5e-324), 3, 4):
        assert (abs(means) <= 5e-324).all()


def test_strata_are_drawn_from_apart() -> None:
    values = np.concatenate([np.zeros((30, 1)), np.ones((10, 1))])
    groups = [np.arange(30), np.arange(30, 40)]
    observed, drawn = draw_means(values, 50, 0, groups)
    assert observed == 0.25
    assert (drawn == 0.25).all()
    assert len(np.unique(draw_means(values, 50, 0)[1])) > 5
    mixed = np.random.default_rng(2).permutation(40)
    places = np.argsort(mixed)
    moved = draw_means(values[mixed], 50, 0, [places[group] for group in groups])
    assert (moved[1] == 0.25).all()


@pytest.mark.parametrize("queries", [25, 9000])
def test_signs_are_the_bits_of_the_generator(queries: int) -> None:
    differences = np.random.default_rng(4).normal(0.01, 1, (queries, 3))
    signs = []
    for block in range(2):
        stretches = [generator_of(5, block, part) for part in range(-(-queries // 8192))]
        drawn = [np.frombuffer(each.bytes(256 * 1024), np.uint8) for each in stretches]
        bits = [np.unpackbits(each.reshape(256, -1), axis=1) for each in drawn]
        signs.append(2.0 * np.concatenate(bits, axis=1)[:, :queries] - 1)
    sums = np.abs(np.concatenate(signs)[:300] @ differences)
    expected = (sums >= np.abs(differences.sum(axis=0))).sum(axis=0)
    assert flip_signs(differences, 300, 5).tolist() == expected.tolist()


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (3, 4)])
def test_means_are_those_of_the_drawn_columns(shape: tuple[int, int]) -> None:
    values = np.random.default_rng(1).gamma(2, 10, shape)
    found = draw_column_means(values, 20, 3)
    counts = np.concatenate(list(draw_counts(shape[1], 20, 3))).astype(int)
    expected = [np.repeat(values, often, axis=1).mean() for often in counts]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("stretch", [2, 1024])
def test_every_query_permutes_its_systems(stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "TUKEY_STRETCH", stretch)
    values = np.zeros((3, 2, 1))
    values[:, 1, 0] = [1, 2, 4]
    ranges = np.concatenate(list(resampling.draw_ranges(values, 600, 1)))[:, 0] * 3
    found, often = np.unique(np.round(ranges), return_counts=True)
    assert found.tolist() == [1, 3, 5, 7]
    assert often.min() > 100, "of 600 draws 150 each are expected"
