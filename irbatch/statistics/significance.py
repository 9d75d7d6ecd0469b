"""Tests of the paired differences between systems, and corrections for testing several pairs.

Resampling is our own, over all pairs and measures at once; the distributions of the sign test and
of ANOVA are SciPy's (extra ``stats``).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.errors import imported
from irbatch.statistics import differences, resampling
from irbatch.statistics.differences import Sample, row_blocks
from irbatch.statistics.distributions import student_tails
from irbatch.statistics.flips import ROUNDING, share_of_flips, tail_of_flips
from irbatch.statistics.ranks import signed_ranks_p
from irbatch.statistics.resampling import extremes_to_p

CORRECTIONS = ("none", "bonferroni", "holm", "bh", "by")
FAMILIES = ("pairs", "all")  # what is corrected for together: a measure's pairs, or all of them
ALTERNATIVES = ("two-sided", "greater", "less")

BY_SCIPY = {"sign": "the sign test", "anova": "ANOVA"}

# What other tools call them: SciPy, statsmodels, ranx, R.
OTHER_NAMES = {
    **dict.fromkeys(("randomization", "permutation", "fisher"), "randomisation"),
    **dict.fromkeys(("ttest", "ttestrel", "student", "pairedttest"), "t"),
    "signedrank": "wilcoxon",
    "signtest": "sign",
    "tukeyhsd": "tukey",
    "hsd": "tukey",
    **dict.fromkeys(("fdrbh", "fdr", "benjaminihochberg"), "bh"),
    **dict.fromkeys(("fdrby", "benjaminiyekutieli"), "by"),
}

MOST_EXACT = 24  # queries that differ, of which all signs are tried
ENOUGH = 100  # extreme draws, from which on their share is the p-value
AT_ONCE = 1 << 22  # differences


def plain_name(given: object) -> Any:
    """Return what a test or a correction is called here; what is unknown as it is.

    >>> plain_name("t-test"), plain_name("fdr_bh"), plain_name(None)
    ('t', 'bh', 'none')
    """
    if given is None:
        return "none"
    if not isinstance(given, str) or given in TESTS or given in CORRECTIONS:
        return given
    name = re.sub(r"[-_ ]", "", given.lower())
    return OTHER_NAMES.get(name, name if name in TESTS or name in CORRECTIONS else given)


def import_scipy(test: str) -> Any:
    """Import the distributions of SciPy that a test takes, if it takes any.

    Raises:
        ImportError: naming the extra, if SciPy is not installed.
    """
    if test in BY_SCIPY:
        return imported(BY_SCIPY[test], "stats", "scipy.stats")
    return None


def p_values(sample: Sample, test: str) -> Floats:
    """Test every pair on every measure: float64 ``(pairs, measures)``."""
    return TESTS[test](sample)


def _randomise(sample: Sample) -> Floats:
    """Test by flipping signs (Fisher 1935; Smucker, Allan & Carterette 2007).

    All signs are tried where few queries differ, else some are drawn; where hardly any draw is as
    extreme the p-value is an approximation of its own, as draws cannot tell how small it is.
    """
    one_sided = sample.alternative != "two-sided"
    how = sample.draws, sample.seed, one_sided
    if len(row_blocks(len(sample.pairs), sample.values)) == 1:
        flat = _turned(sample.flat(), sample)
        return sample.shaped(randomised_p(flat, *how[:2], one_sided=one_sided))
    differ = np.concatenate([np.count_nonzero(some, axis=0) for some in sample.blocks()])
    found = _randomised(
        lambda some: _turned(sample.columns(some), sample), sample.queries, differ, *how
    )
    return sample.shaped(found)


def randomised_p(flat: Floats, draws: int, seed: int, *, one_sided: bool) -> Floats:
    """Test whether means of ``(queries, columns)`` are 0, or `one_sided` whether at most 0."""
    differ = np.count_nonzero(flat, axis=0)
    return _randomised(lambda some: flat[:, some], len(flat), differ, draws, seed, one_sided)


def _randomised(
    columns: Callable[[Ints], Floats],
    queries: int,
    differ: Ints,
    draws: int,
    seed: int,
    one_sided: bool,
) -> Floats:
    """Test columns, of which `columns` returns some; `differ` tells in how many queries."""
    p = np.ones(differ.size)
    for column in np.flatnonzero(differ <= MOST_EXACT):
        p[column] = share_of_flips(columns(np.array([column]))[:, 0], one_sided=one_sided)
    drawn = np.flatnonzero(differ > MOST_EXACT)
    if not drawn.size:
        return p
    wide = drawn.size >= resampling.WIDE
    flip = functools.partial(resampling.flip_signs, one_sided=one_sided, wide=wide)
    parts = np.array_split(drawn, -(-drawn.size * queries // (4 * differences.BLOCK)))
    counts = np.concatenate([flip(columns(some), draws, seed) for some in parts if some.size])
    p[drawn] = extremes_to_p(counts, draws)
    rare = drawn[counts < min(ENOUGH, draws / 10)]
    for some in np.array_split(rare, -(-rare.size * queries // AT_ONCE) or 1):
        p[some] = tail_of_flips(columns(some)) / (2.0 if one_sided else 1.0)
    return p


def _turned(flat: Floats, sample: Sample) -> Floats:
    """Turn differences so that a one-sided test is of their being above 0."""
    return -flat if sample.alternative == "less" else flat


def _bootstrap(sample: Sample) -> Floats:
    """Test by studentised resampling of queries (Efron & Tibshirani 1993, 16.4; Sakai 2006)."""
    return sample.find(lambda flat: _bootstrapped(_turned(flat, sample), sample))


def _bootstrapped(flat: Floats, sample: Sample) -> Floats:
    n = sample.queries
    mean = flat.mean(axis=0)
    mean[np.abs(mean) <= ROUNDING * np.abs(flat).mean(axis=0)] = 0.0
    centred = flat - mean
    observed = _studentise(mean, (centred**2).mean(axis=0), n)
    both = np.concatenate([centred, centred**2], axis=1)
    _, means = resampling.draw_means(both, sample.draws, sample.seed)
    drawn, squares = np.split(means, 2)
    sizes = _studentise(drawn, np.maximum(squares - drawn**2, 0.0), n)
    if sample.alternative != "two-sided":
        sizes, observed = np.copysign(sizes, drawn), np.copysign(observed, mean)
    as_large = sizes >= (observed * (1 - ROUNDING * np.sign(observed)))[:, None]
    return extremes_to_p(as_large.sum(axis=1), sample.draws)


def _studentise(mean: Floats, variance: Floats, n: int) -> Floats:
    """Return |t|; 0 of means that are 0, infinite of others without any spread."""
    error = np.sqrt(variance / max(n - 1, 1))
    tiny = error <= ROUNDING * np.abs(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(mean) / error
    return np.where(tiny, np.where(np.abs(mean) > 0, np.inf, 0.0), t)


def _student(sample: Sample) -> Floats:
    """Test by Student's paired t (Student 1908)."""
    n = sample.queries

    def find(flat: Floats) -> Any:
        flat = _turned(flat, sample)
        mean = flat.mean(axis=0)
        t = _studentise(mean, flat.var(axis=0), n)
        if sample.alternative == "two-sided":
            return 2.0 * student_tails(t, n - 1)
        return np.where(flat.any(axis=0), student_tails(np.copysign(t, mean), n - 1), 1.0)

    return sample.find(find)


def _wilcoxon(sample: Sample) -> Floats:
    """Test by signed ranks, zeros left out (Wilcoxon 1945)."""
    return sample.find(lambda flat: [signed_ranks_p(each, sample.alternative) for each in flat.T])


def _sign(sample: Sample) -> Floats:
    """Test by the number of queries won, ties left out (Arbuthnot 1710)."""
    stats = import_scipy("sign")
    flat = _turned(sample.flat(), sample)
    wins, losses = (flat > 0).sum(axis=0), (flat < 0).sum(axis=0)
    if sample.alternative != "two-sided":
        return sample.shaped(stats.binom.cdf(losses, wins + losses, 0.5))
    found = 2.0 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5)
    return sample.shaped(np.minimum(found, 1.0))


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
    found = stats.studentized_range.sf(ranges, len(sample.values), freedom)
    exact = np.where(sizes > ROUNDING, 0.0, 1.0)
    return np.where(tiny[None, :], exact, found).reshape(len(sample.pairs), -1)


def _residual_error(sample: Sample) -> tuple[Floats, int]:
    """Return a mean's standard error ``(measures,)``, and the degrees of freedom of that."""
    systems, n, _ = sample.values.shape
    by_system, by_query, overall = (
        sample.values.mean(axis=axis, keepdims=True) for axis in (1, 0, (0, 1))
    )
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


TESTS: dict[str, Callable[[Sample], Floats]] = {
    "randomisation": _randomise,
    "bootstrap": _bootstrap,
    "t": _student,
    "wilcoxon": _wilcoxon,
    "sign": _sign,
    "tukey": _randomised_tukey,
    "anova": _anova,
}

# Their p-values are of all pairs together: there is nothing to correct, and no side to take.
FAMILY_WISE = ("tukey", "anova")
DRAWN = ("bootstrap", "tukey")  # their p-values are shares of draws
OF_MEANS = ("randomisation", "bootstrap", "t", *FAMILY_WISE)  # others compare more than means


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
