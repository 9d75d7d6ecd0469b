"""The public verbs: systems against each other, from runs or from results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.comparing.aligning import Aligned, align
from irbatch.comparing.comparison import Comparison
from irbatch.comparing.groups import find_members, keep_group, make_strata
from irbatch.errors import InputError, warn
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import Cutoffs, Judgments, Measures, Rankings, evaluate_runs
from irbatch.evaluation.settings import EvaluateOptions
from irbatch.runtime.checks import check_choice, check_number
from irbatch.statistics.intervals import INTERVALS, Intervals, find_intervals
from irbatch.statistics.resampling import check_draws, check_level
from irbatch.statistics.significance import (
    CORRECTIONS,
    ENOUGH,
    FAMILY_WISE,
    OF_MEANS,
    TESTS,
    Sample,
    correct,
    honest_difference,
    p_values,
)
from irbatch.statistics.simultaneous import agree, levels_of

RARE = f"; p-values by saddlepoint approximation where fewer than {ENOUGH} are as extreme"


@dataclass(frozen=True)
class _Options:
    """How systems are compared; the arguments of `compare`."""

    baseline: str | None
    test: str
    correction: str
    level: float
    interval: str
    simultaneous: bool
    draws: int
    seed: int
    margin: float | None

    def __post_init__(self) -> None:
        check_choice("test", self.test, TESTS)
        check_choice("correction", self.correction, CORRECTIONS)
        check_choice("interval", self.interval, INTERVALS)
        check_draws(self.draws, self.seed)
        check_level(self.level)
        check_choice("simultaneous", self.simultaneous, (True, False))
        if self.margin is not None:
            check_number("margin", self.margin, above=0)


def compare(
    qrels: Judgments,
    runs: Mapping[str, Rankings] | Iterable[Rankings],
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    baseline: str | None = None,
    test: str = "randomisation",
    correction: str = "holm",
    level: float = 0.05,
    interval: str = "t",
    simultaneous: bool = True,
    draws: int = 10_000,
    seed: int = 0,
    margin: float | None = None,
    groups: Mapping[Any, str] | None = None,
    **settings: Unpack[EvaluateOptions],
) -> Comparison:
    """Evaluate systems on the same queries, and tell which differences are more than chance.

    Args:
        qrels, runs, measures, cutoffs: as in `irbatch.evaluate_runs`.
        baseline: the system that all others are compared with; default: each with each.
        test: of the paired differences, two-sided: ``"randomisation"``, flipping signs, exact where
            up to 24 queries differ, p-values below 0.01 by saddlepoint approximation; ``"t"``,
            ``"wilcoxon"``, ``"sign"``, ``"bootstrap"``; or of all systems at once ``"tukey"``,
            randomised, or ``"anova"``.
        correction: of p-values, for the number of pairs compared on a measure: ``"holm"``,
            ``"bonferroni"``, ``"bh"``, ``"by"`` or ``"none"``. Tests of all systems at once need
            none.
        level: chance of finding a difference that is not there, and of an interval to miss.
        interval: of means and differences: by Student's ``"t"``, or by bootstrap, ``"percentile"``
            or ``"bca"``.
        simultaneous: whether intervals of differences are as wide as the correction asks for, so
            that they agree with the p-values; else each misses by `level` by itself, as those of
            means do.
        draws: of tests and intervals that resample.
        seed: of the draws; the first of more draws are those of fewer.
        margin: differences below it don't matter: tells which systems are equivalent.
        groups: query id to the name of its group; tables are broken down by group, and the
            bootstrap draws from each apart.
        **settings: the keyword arguments of `irbatch.evaluate`.

    Raises:
        InputError: if there are fewer than two systems or two common queries, the baseline or an
            option is unknown, and as `irbatch.evaluate`.

    >>> import irbatch
    >>> qrels = {q: {"d1": 1} for q in "abcdefgh"}
    >>> good = {q: {"d1": 2, "d2": 1} for q in qrels}
    >>> bad = {q: {"d1": 1, "d2": 2} for q in qrels}
    >>> found = irbatch.compare(qrels, {"bad": bad, "good": good}, "RR", baseline="bad")
    >>> found.difference("good", "bad", "RR").p_value  # 2 of 256 assignments of signs
    0.0078125
    """
    options = _Options(
        baseline, test, correction, level, interval, simultaneous, draws, seed, margin
    )
    results = evaluate_runs(qrels, runs, measures, cutoffs, **settings)
    return _compare(align(results), options, groups)


def compare_results(
    results: Mapping[str, Results] | Iterable[Results],
    *,
    baseline: str | None = None,
    test: str = "randomisation",
    correction: str = "holm",
    level: float = 0.05,
    interval: str = "t",
    simultaneous: bool = True,
    draws: int = 10_000,
    seed: int = 0,
    margin: float | None = None,
    groups: Mapping[Any, str] | None = None,
) -> Comparison:
    """Compare systems by results that were evaluated before.

    Args:
        results: system name to results, or results that have names.
        baseline, test, correction, level, interval, simultaneous, draws, seed, margin, groups: as
            in `compare`.

    Raises:
        InputError: as `compare`, and if results are of different measures.

    >>> import irbatch
    >>> first = irbatch.evaluate_matrix([[1, 0], [0, 1], [1, 0]], "RR P@1")
    >>> other = irbatch.evaluate_matrix([[0, 1], [0, 1], [1, 0]], "RR P@1")
    >>> compare_results({"first": first, "other": other}).difference("first", "other", "RR").wins
    1
    """
    options = _Options(
        baseline, test, correction, level, interval, simultaneous, draws, seed, margin
    )
    return _compare(align(results), options, groups)


def _compare(aligned: Aligned, options: _Options, groups: Mapping[Any, str] | None) -> Comparison:
    members = find_members(aligned.query_ids, groups)
    strata = make_strata(members)
    compared = {}
    for name, rows in members.items():
        if len(rows) < 2:
            warn(f"group {name!r} has one query: it is not compared apart")
            continue
        part = replace(
            aligned,
            query_ids=[aligned.query_ids[row] for row in rows],
            values=np.ascontiguousarray(aligned.values[:, rows]),
            missing=keep_group(aligned.missing, groups, name),
            unanswered=keep_group(aligned.unanswered, groups, name),
        )
        compared[name] = _make(part, options, None, {})
    return _make(aligned, options, strata, compared)


def _make(
    aligned: Aligned, options: _Options, strata: Sequence[Any] | None, groups: dict[str, Comparison]
) -> Comparison:
    scaled, geometric = _scale(aligned)
    pairs = _pairs(aligned.systems, options.baseline)
    sample = Sample(scaled, pairs, options.draws, options.seed)
    correction = "none" if options.test in FAMILY_WISE else options.correction
    p = p_values(sample, options.test)
    corrected = correct(p, correction)
    # Exactly rounded, as the means of results are.
    columns = scaled.transpose(0, 2, 1).tolist()
    means = np.array([[math.fsum(column) / len(column) for column in system] for system in columns])
    means[:, geometric] = np.exp(means[:, geometric])
    significant = corrected < options.level
    found = _intervals(sample, means, significant, options, strata, geometric)
    drawn = options.interval != "t"
    settings = {
        **aligned.settings,
        "test": options.test,
        "correction": correction,
        "level": str(options.level),
        "intervals": options.interval
        + (", stratified by group" if strata is not None and drawn else "")
        + (", those of differences simultaneous" if options.simultaneous else ""),
        **({} if options.margin is None else {"margin": f"{options.margin:g}, not corrected"}),
        "draws": f"{options.draws}, seed {options.seed}"
        + (RARE if options.test == "randomisation" else ""),
    }
    arrays: dict[str, Any] = {
        "values": aligned.values,
        "scaled": scaled,
        "means": means,
        "intervals": _within_range(found.means, means, aligned),
        "difference_intervals": found.differences,
        "p_values": p,
        "corrected": corrected,
    }
    for array in arrays.values():
        array.flags.writeable = False
    return Comparison(
        systems=aligned.systems,
        measures=[str(each) for each in aligned.columns],
        query_ids=aligned.query_ids,
        pairs=pairs,
        settings=settings,
        missing=aligned.missing,
        unanswered=aligned.unanswered,
        signs=tuple(each.sign for each in aligned.columns),
        groups=groups,
        **{**vars(options), "correction": correction},
        **arrays,
    )


def _intervals(
    sample: Sample,
    means: Floats,
    significant: Bools,
    options: _Options,
    strata: Sequence[Any] | None,
    geometric: Bools,
) -> Intervals:
    """Find intervals; those of differences agree with the test, if they are to be simultaneous."""
    systems, pairs, test = len(means), sample.pairs, options.test
    levels = None
    if options.simultaneous and test in FAMILY_WISE:
        levels = np.full(significant.shape, options.level / (systems * (systems - 1) / 2))
    elif options.simultaneous:
        levels = levels_of(significant, options.correction, options.level)
    how = options.interval, options.level, options.draws, options.seed
    found = find_intervals(sample.values, pairs, *how, strata, geometric, levels)
    if not options.simultaneous:
        return found
    differences = means[[a for a, _ in pairs]] - means[[b for _, b in pairs]]
    bounds = found.differences
    if test in FAMILY_WISE:
        reach = honest_difference(sample, test, options.level)
        honest = np.stack([differences - reach, differences + reach], axis=-1)
        bounds = np.where(geometric[:, None], bounds, honest)
    if test in OF_MEANS:
        bounds = agree(bounds, differences, significant)
    return Intervals(found.means, bounds)


def _within_range(intervals: Floats, means: Floats, aligned: Aligned) -> Floats:
    """Cut the intervals of means where no value of the measure can be."""
    lowest, highest = np.array([each.range for each in aligned.columns]).T
    low = np.maximum(intervals[..., 0], np.minimum(lowest, means))
    high = np.minimum(intervals[..., 1], np.maximum(highest, means))
    return np.stack([low, high], axis=-1)


def _scale(aligned: Aligned) -> tuple[Floats, Bools]:
    """Return values as their means are taken, and which measures' means are geometric."""
    geometric = np.array([each.aggregate == "geometric" for each in aligned.columns])
    scaled = aligned.values.copy()
    for each in aligned.columns:
        if each.aggregate == "weighted":
            problem = f"the mean of {each} is weighted, which no test here compares: leave it out"
            raise InputError(problem, source="measures", value=str(each))
    if geometric.any():
        if (scaled[..., geometric] <= 0).any():
            problem = "a geometric mean of values that are 0 cannot be compared"
            raise InputError(problem, source="measures")
        scaled[..., geometric] = np.log(scaled[..., geometric])
    return scaled, geometric


def _pairs(systems: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    """Return which systems are compared: each with the baseline, or with all before it."""
    if baseline is None:
        return [(a, b) for a in range(len(systems)) for b in range(a)]
    if baseline not in systems:
        problem = f"baseline {baseline!r} is none of {', '.join(map(repr, systems))}"
        raise InputError(problem, source="baseline", value=baseline)
    position = systems.index(baseline)
    return [(a, position) for a in range(len(systems)) if a != position]
