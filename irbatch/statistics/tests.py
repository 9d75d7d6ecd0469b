"""Tests of paired differences between systems, against 0 or a margin; corrections for several.

Resampling is our own, over all pairs and measures at once; the distributions of the sign test and
of ANOVA are SciPy's (extra ``stats``).
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.errors import InputError, imported, shown
from irbatch.runtime.numbers import check_number
from irbatch.statistics.intervals import above_zero_bounded_p, normal_tail, student_tails
from irbatch.statistics.resampling import (
    ROUNDING,
    Pairs,
    Sample,
    draw_means,
    extremes_to_p,
    flip_signs,
    grain_of,
)

CORRECTIONS = ("none", "bonferroni", "holm", "bh", "by")
FAMILIES = ("pairs", "all")  # what is corrected for together: a measure's pairs, or all of them
ALTERNATIVES = ("two-sided", "greater", "less")

BY_SCIPY = {"sign": "the sign test", "anova": "ANOVA"}

MOST_EXACT = 24  # queries that differ, of which all signs are tried
ENOUGH = 100  # extreme draws, from which on their share is the p-value
AT_ONCE = 1 << 22  # differences


def import_scipy(test: str) -> Any:
    """Import SciPy's distributions if a test takes any; ImportError names the extra."""
    if test in BY_SCIPY:
        return imported(BY_SCIPY[test], "stats", "scipy.stats")
    return None


def p_values(sample: Sample, test: str) -> Floats:
    """Test every pair on every measure: float64 ``(pairs, measures)``.

    One-sided tests are of differences above 0, so where lower ones are looked for they are turned.
    """
    if test in FAMILY_WISE:
        return FAMILY_WISE[test](sample)
    turn = sample.alternative == "less"
    return sample.find(lambda flat: PAIRED[test](-flat if turn else flat, sample))


def randomised_p(flat: Floats, draws: int, seed: int, *, one_sided: bool) -> Floats:
    """Test whether means of ``(queries, columns)`` are 0, or `one_sided` whether at most 0.

    All signs are tried where few queries differ, else some are drawn; where hardly any draw is as
    extreme p is approximated, as draws cannot tell how small it is (Fisher 1935; Smucker, Allan &
    Carterette 2007).
    """
    differ = np.count_nonzero(flat, axis=0)
    p = np.ones(differ.size)
    for column in np.flatnonzero(differ <= MOST_EXACT):
        p[column] = share_of_flips(flat[:, column], one_sided=one_sided)
    drawn = np.flatnonzero(differ > MOST_EXACT)
    if not drawn.size:
        return p
    counts = flip_signs(flat[:, drawn], draws, seed, one_sided=one_sided)
    p[drawn] = extremes_to_p(counts, draws)
    rare = drawn[counts < min(ENOUGH, draws / 10)]
    for columns in np.array_split(rare, -(-rare.size * len(flat) // AT_ONCE) or 1):
        p[columns] = tail_of_flips(flat[:, columns]) / (2.0 if one_sided else 1.0)
    return p


def _bootstrap(flat: Floats, sample: Sample) -> Floats:
    """Test by studentised resampling of queries (Efron & Tibshirani 1993, 16.4; Sakai 2006)."""
    n = sample.queries
    mean = flat.mean(axis=0)
    mean[np.abs(mean) <= ROUNDING * np.abs(flat).mean(axis=0)] = 0.0
    centred = flat - mean
    observed = _studentise(mean, (centred**2).mean(axis=0), n)
    both = np.concatenate([centred, centred**2], axis=1)
    _, means = draw_means(both, sample.draws, sample.seed)
    drawn, squares = np.split(means, 2)
    sizes = _studentise(drawn, np.maximum(squares - drawn**2, 0.0), n)
    if sample.one_sided:
        sizes, observed = np.copysign(sizes, drawn), np.copysign(observed, mean)
    as_large = sizes >= (observed * (1 - ROUNDING * np.sign(observed)))[:, None]
    p = extremes_to_p(as_large.sum(axis=1), sample.draws)
    return _not_below_signs(p, observed, sample)


def _not_below_signs(p: Floats, t: Floats, sample: Sample) -> Floats:
    """Let p be no less than that of all signs alike, where t is infinite as nothing varies."""
    agreeing = math.ldexp(1.0 if sample.one_sided else 2.0, -sample.queries)
    return np.where(np.isinf(t), np.maximum(p, agreeing), p)


def _studentise(mean: Floats, variance: Floats, n: int) -> Floats:
    """Return |t|; 0 of means that are 0, infinite of others without any spread."""
    error = np.sqrt(variance / max(n - 1, 1))
    tiny = error <= ROUNDING * np.abs(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(mean) / error
    return np.where(tiny, np.where(np.abs(mean) > 0, np.inf, 0.0), t)


def _student(flat: Floats, sample: Sample) -> Floats:
    """Test by Student's paired t (Student 1908)."""
    n, mean = sample.queries, flat.mean(axis=0)
    t = _studentise(mean, flat.var(axis=0), n)
    if not sample.one_sided:
        return _not_below_signs(2.0 * student_tails(t, n - 1), t, sample)
    p = _not_below_signs(student_tails(np.copysign(t, mean), n - 1), t, sample)
    return np.where(flat.any(axis=0), p, 1.0)


def _sign(flat: Floats, sample: Sample) -> Any:
    """Test by the number of queries won, ties left out (Arbuthnot 1710)."""
    binomial = import_scipy("sign").binom
    wins, losses = (flat > 0).sum(axis=0), (flat < 0).sum(axis=0)
    if sample.one_sided:
        return binomial.cdf(losses, wins + losses, 0.5)
    return np.minimum(2.0 * binomial.cdf(np.minimum(wins, losses), wins + losses, 0.5), 1.0)


def _randomised_tukey(sample: Sample) -> Floats:
    """Test all systems at once, by the largest differences of permuted ones (Carterette 2012)."""
    sizes = np.abs(sample.find(lambda flat: flat.mean(axis=0)))
    least = sizes - ROUNDING * np.abs(sample.values).sum(axis=(0, 1)) / sample.queries
    columns = zip(sample.ranges.T, least.T, strict=True)
    below = [np.searchsorted(ranges, limits, "left") for ranges, limits in columns]
    return extremes_to_p(sample.draws - np.stack(below, axis=1), sample.draws)


def _anova(sample: Sample) -> Floats:
    """Test by two-way ANOVA, systems and queries, and Tukey's honest differences (Tukey 1953)."""
    error, freedom = _residual_error(sample)
    sizes = np.abs(sample.find(lambda flat: flat.mean(axis=0)))
    tiny = error <= ROUNDING * np.abs(sample.values).max(axis=(0, 1))
    ranges = sizes / np.where(tiny, 1.0, error)
    stats = import_scipy("anova")
    p = stats.studentized_range.sf(ranges, len(sample.values), freedom)
    exact = np.where(sizes > ROUNDING, math.ldexp(2.0, -sample.queries), 1.0)
    return np.where(tiny[None, :], exact, p).reshape(len(sample.pairs), -1)


def _residual_error(sample: Sample) -> tuple[Floats, int]:
    """Return a mean's standard error ``(measures,)``, and the degrees of freedom of that."""
    systems, n, _ = sample.values.shape
    axes = 1, 0, (0, 1)
    by_system, by_query, overall = (sample.values.mean(axis, keepdims=True) for axis in axes)
    residuals = sample.values - by_query - by_system + overall
    freedom = (systems - 1) * (n - 1)
    return np.sqrt((residuals**2).sum(axis=(0, 1)) / freedom / n), freedom


def margin_correction(test: str, correction: str) -> str:
    """Return how p-values of margins are corrected, which no test of all systems at once does."""
    return "holm" if test in FAMILY_WISE else correction


def honest_difference(sample: Sample, test: str, level: float) -> Floats:
    """Return the least difference that a test of all systems at once finds, ``(measures,)``."""
    if test == "tukey":
        place = min(int(np.ceil((1.0 - level) * (sample.draws + 1))), sample.draws) - 1
        return np.asarray(sample.ranges[place])
    error, freedom = _residual_error(sample)
    stats = import_scipy("anova")
    return error * float(stats.studentized_range.isf(level, len(sample.values), freedom))


PAIRED: dict[str, Callable[[Floats, Sample], Any]] = {
    "randomisation": lambda flat, sample: randomised_p(
        flat, sample.draws, sample.seed, one_sided=sample.one_sided
    ),
    "bootstrap": _bootstrap,
    "t": _student,
    "wilcoxon": lambda flat, sample: [
        signed_ranks_p(column, one_sided=sample.one_sided) for column in flat.T
    ],
    "sign": _sign,
}
# Their p-values are of all pairs together: there is nothing to correct, and no side to take.
FAMILY_WISE = {"tukey": _randomised_tukey, "anova": _anova}
TESTS = (*PAIRED, *FAMILY_WISE)
DRAWN = ("bootstrap", "tukey")  # their p-values are shares of draws


def least_p(
    test: str, correction: str, pairs: int, queries: int, draws: int, alternative: str = "two-sided"
) -> float:
    """Return the least corrected p-value that can come out, however clear differences are.

    `pairs` are those corrected for together.

    >>> least_p("bootstrap", "holm", pairs=528, queries=50, draws=10_000)
    0.05279472052794721
    """
    if test in DRAWN:
        least = 1.0 / (draws + 1)
    elif test in ("randomisation", "wilcoxon", "sign"):
        both = 2.0 if alternative == "two-sided" else 1.0
        least = float(np.ldexp(both, -queries))  # of all assignments of signs
    else:
        return 0.0
    return float(correct(np.full((pairs, 1), least), correction).max(initial=0.0))


def correct(p: Floats, correction: str, family: str = "pairs") -> Floats:
    """Correct p-values ``(pairs, measures)``, each measure's or all, by a name in `CORRECTIONS`.

    The chance of any false finding stays below the level by Bonferroni (1936; Dunn 1961), and
    stepwise from the smallest p-value up by Holm (1979); the expected share of false findings does
    by Benjamini & Hochberg (1995), and under any dependence by Benjamini & Yekutieli (2001).

    >>> correct(np.array([[0.01], [0.04], [0.03]]), "holm").ravel().tolist()
    [0.03, 0.06, 0.06]
    """
    if family == "all":
        return correct(p.reshape(-1, 1), correction).reshape(p.shape)
    n = len(p)
    if correction == "none":
        return p.copy()
    if correction == "bonferroni":
        return np.minimum(p * n, 1.0)
    ranks = np.arange(1.0, n + 1)
    factors = n + 1 - ranks if correction == "holm" else n / ranks
    if correction == "by":
        factors *= (1.0 / ranks).sum()
    order = np.argsort(p, axis=0, kind="stable")
    ordered = np.take_along_axis(p, order, axis=0) * factors[:, None]
    if correction == "holm":
        ordered = np.maximum.accumulate(ordered, axis=0)
    else:
        ordered = np.minimum.accumulate(ordered[::-1], axis=0)[::-1]
    corrected = np.empty_like(p)
    np.put_along_axis(corrected, order, np.minimum(ordered, 1.0), axis=0)
    return corrected


FINE, COARSE = 1e-9, 1e-3  # parts of the largest difference: rounding, and a step that is small
STEPS = 200  # of Newton's method; as a rule a dozen are enough


def share_of_flips(differences: Floats, *, one_sided: bool = False) -> float:
    """Return the share of all assignments of signs to ``(queries,)`` whose sum is as large.

    Sums of one half of the queries are looked up among the other's: 24 take two tables of 4,096.
    """
    differing = differences[differences != 0]
    total = differing.sum() if one_sided else np.abs(differing.sum())
    reach = total - ROUNDING * np.abs(differing).sum()
    first, second = (_sums_of_flips(half) for half in np.array_split(differing, 2))
    first.sort()
    above = first.size - np.searchsorted(first, reach - second, "left")
    below = np.searchsorted(first, -reach - second, "right")
    assignments = first.size * second.size
    if one_sided:
        return float(above.sum() / assignments)
    return min(float((above + below).sum() / assignments), 1.0)  # a sum of 0 is counted twice


def _sums_of_flips(differences: Floats) -> Floats:
    sums = np.zeros(1)
    for difference in differences.tolist():
        sums = np.concatenate([sums + difference, sums - difference])
    return sums


def tail_of_flips(differences: Floats) -> Floats:
    """Approximate that share for ``(queries, columns)``, where it is small: ``(columns,)``."""
    sizes = np.abs(differences)
    largest = sizes.max(axis=0)
    sizes /= largest
    total, whole = np.abs(differences.sum(axis=0)) / largest, sizes.sum(axis=0)
    shares = np.ldexp(2.0, -np.count_nonzero(sizes, axis=0))  # of those that have one sign all
    mixed = np.flatnonzero(whole - total > FINE)
    shares[mixed] = 2.0 * _saddlepoint(sizes[:, mixed], total[mixed])
    return np.asarray(np.minimum(shares, 1.0), np.float64)


def _saddlepoint(sizes: Floats, total: Floats) -> Floats:
    """Return the chance that sizes with random signs add up to a total, or more."""
    tilt = _tilt(sizes, total)
    shrunk = np.exp(-2.0 * tilt * sizes)
    cumulant = (tilt * sizes + np.log1p(shrunk) - np.log(2.0)).sum(axis=0)
    spread = np.sqrt((sizes**2 * 4.0 * shrunk / (1.0 + shrunk) ** 2).sum(axis=0))
    signed = np.sqrt(2.0 * np.maximum(tilt * total - cumulant, 0.0))
    step = _step(sizes)
    width = np.where(step > 0, -np.expm1(-tilt * step) / np.where(step > 0, step, 1.0), tilt)
    density = np.exp(-0.5 * signed**2) / np.sqrt(2.0 * np.pi)
    return np.asarray(normal_tail(signed) + density * (1.0 / (width * spread) - 1.0 / signed))


def _tilt(sizes: Floats, total: Floats) -> Floats:
    """Return the tilt of the signs under which the expected sum is the total."""
    tilt = total / (sizes**2).sum(axis=0)  # too small, as is what every step of Newton's leads to
    for _ in range(STEPS):
        tanh = np.tanh(tilt * sizes)
        missing = total - (sizes * tanh).sum(axis=0)
        going_on = missing > ROUNDING * total
        if not going_on.any():
            break
        # What is found stays as it is: it does not depend on the columns beside it.
        slope = (sizes**2 * (1.0 - tanh**2)).sum(axis=0)
        tilt += np.divide(missing, slope, out=np.zeros_like(tilt), where=going_on)
    return np.asarray(tilt)


def _step(sizes: Floats) -> Floats:
    """Return how far sums lie apart if sizes, up to 1, are multiples of a number; 0 if not."""
    common = np.ones(sizes.shape[1])
    while True:  # by Euclid's algorithm
        left = np.abs(sizes - common * np.rint(sizes / common))
        left = np.where(left > FINE, left, np.inf).min(axis=0)
        going_on = (left < np.inf) & (common >= COARSE)
        if not going_on.any():
            return np.where(common >= COARSE, 2.0 * common, 0.0)
        common = np.where(going_on, left, common)


MOST_RANKED = 100  # queries that differ, of which all signs of ranks are counted


def signed_ranks_p(differences: Floats, *, one_sided: bool = False) -> float:
    """Return the p-value of differences ``(queries,)``, without zeros (Wilcoxon 1945).

    Differences of one size share the mean of their ranks. Up to `MOST_RANKED` queries the p-value
    is the share of all assignments of signs whose sum of ranks is as far from its mean, or
    `one_sided` as high; beyond, by the normal approximation of that sum, whose variance is a
    quarter of the sum of squared ranks, shared ones among them.
    """
    differing = differences[differences != 0]
    if not differing.size:
        return 1.0
    _, place, counts = np.unique(np.abs(differing), return_inverse=True, return_counts=True)
    doubled = (2 * np.cumsum(counts) - counts + 1)[place]  # ranks, twice: those of equals are means
    if differing.size > MOST_RANKED:
        ranks = doubled.astype(np.float64)
        z = (2.0 * ranks[differing > 0].sum() - ranks.sum()) / math.sqrt(np.square(ranks).sum())
        tail = float(normal_tail(np.array(z if one_sided else abs(z))))
        return tail if one_sided else 2.0 * tail
    positive, total = int(doubled[differing > 0].sum()), int(doubled.sum())
    shares = _shares_up_to(tuple(np.sort(doubled).tolist()))
    opposed = total - positive
    if not one_sided:
        return float(min(2.0 * shares[min(positive, opposed)], 1.0))
    if opposed <= positive:
        return float(shares[opposed])
    return float(1.0 - shares[positive - 1]) if positive else 1.0


@functools.lru_cache(64)  # without ties all samples of a size share it
def _shares_up_to(doubled: tuple[int, ...]) -> Floats:
    """Return, for every sum up to half of all, the share of assignments with at most that sum."""
    shares = np.zeros(sum(doubled) // 2 + 1)
    shares[0] = 1.0
    for rank in doubled:
        if rank < shares.size:
            shares[rank:] += shares[:-rank].copy()
        shares /= 2.0
    return np.cumsum(shares)


MARGIN_TESTS = ("bounded", "t", "randomisation")
FEWEST = 30  # queries that Student's t takes in place of a test that knows the measure's range
SHARE = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*%")


class Margin(NamedTuple):
    """How large a difference has to be to matter."""

    amount: float
    relative: bool  # whether that is a share of the second mean

    def __str__(self) -> str:
        """Write it: ``0.01``, or ``1%``."""
        return f"{100 * self.amount:g}%" if self.relative else f"{self.amount:g}"


def read_margin(margin: object) -> Margin:
    """Read a margin: a number above 0, or a text, a share of the second mean below 100%.

    >>> read_margin("1%")
    Margin(amount=0.01, relative=True)
    """
    if not isinstance(margin, str):
        return Margin(check_number("margin", margin, above=0), relative=False)
    share = SHARE.fullmatch(margin.strip())
    amount = float(share[1]) / 100 if share else math.nan
    if not 0 < amount < 1:
        problem = f"margin={shown(margin)} must be a number, or a share such as '1%' below 100%"
        raise InputError(problem, value=margin)
    return Margin(amount, relative=True)


def beyond_margin(values: Floats, pairs: Pairs, margin: Margin, signs: Floats) -> Floats:
    """Return by how much the first of each pair is not worse: ``(pairs, queries, measures)``.

    Of values ``(systems, queries, measures)`` of which higher ones are better where `signs`
    ``(measures,)`` are 1, and lower ones where they are -1. The means are above 0 where the first
    is not worse by the margin.

    Raises:
        InputError: if the margin is a share of a mean below 0.
    """
    firsts, seconds = (values[[pair[side] for pair in pairs]] for side in (0, 1))
    if not margin.relative:
        return grain_of(values)((firsts - seconds) * signs + margin.amount)
    means = seconds.mean(axis=1)
    if means.size and means.min() < 0:
        problem = f"a mean of {means.min():g} has no share that could be a margin"
        raise InputError(problem, source="margin", value=str(margin))
    return grain_of(values)((firsts - seconds) * signs + margin.amount * seconds)


def ends_beyond(ranges: Floats, margin: Margin, signs: Floats) -> Floats:
    """Return the least and the most of `beyond_margin`, of values in `ranges` ``(2, measures)``."""
    low, high = ranges
    if not margin.relative:
        return np.stack([low - high, high - low]) + margin.amount
    better, share = signs > 0, 1 - signs * margin.amount  # of the second mean
    least = np.where(better, low - share * high, share * low - high)
    most = np.where(better, high - share * low, share * high - low)
    return np.stack([least, most])


def above_zero_p(
    beyond: Floats, test: str, draws: int, seed: int, ends: Floats, vary: Bools
) -> Floats:
    """Test whether means of ``(pairs, queries, measures)`` are above 0: ``(pairs, measures)``.

    ``"bounded"`` holds for all values between `ends` ``(2, measures)``; where these are infinite
    Student's t takes its place, from `FEWEST` queries on. Student's t, and flipping signs, trust
    that what was not seen is like what was: where differences do not `vary` ``(pairs, measures)``
    they say nothing, which is 1.
    """
    pairs, n, measures = beyond.shape
    flat = np.ascontiguousarray(np.moveaxis(beyond, 1, 0)).reshape(n, -1)
    mean, error = flat.mean(axis=0), flat.std(axis=0, ddof=1) / np.sqrt(n)
    if test == "randomisation":
        p = randomised_p(flat, draws, seed, one_sided=True)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            p = student_tails(mean / error, n - 1)
    p = np.where((error > 0) & vary.ravel(), p, 1.0)
    if test == "bounded":
        lowest, highest = np.tile(ends, pairs)
        bounded = np.isfinite(lowest) & np.isfinite(highest)
        p[bounded | (n < FEWEST)] = 1.0
        can_lose = bounded & (lowest < 0)
        p[can_lose] = above_zero_bounded_p(flat[:, can_lose], lowest[can_lose], highest[can_lose])
        p[bounded & (lowest >= 0)] = 0.0  # no value can be as far below
    return np.asarray(p).reshape(pairs, measures)
