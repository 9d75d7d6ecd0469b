"""Systems side by side, put to the tests: what makes a `Comparison`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.comparing.aligning import Aligned
from irbatch.comparing.comparison import Comparison
from irbatch.comparing.groups import find_members, keep_group, make_strata
from irbatch.data.frames import is_series, rows_by_label
from irbatch.errors import InputError, warn
from irbatch.runtime.numbers import check_choice
from irbatch.statistics.differences import Sample
from irbatch.statistics.intervals import INTERVALS, Intervals, as_linear, find_intervals
from irbatch.statistics.margins import MARGIN_TESTS, read_margin
from irbatch.statistics.resampling import check_draws, check_level
from irbatch.statistics.significance import (
    ALTERNATIVES,
    CORRECTIONS,
    DRAWN,
    ENOUGH,
    FAMILIES,
    FAMILY_WISE,
    OF_MEANS,
    TESTS,
    correct,
    honest_difference,
    import_scipy,
    margin_correction,
    p_values,
)
from irbatch.statistics.simultaneous import agree, levels_of, levels_of_all

RARE = f"; p-values by saddlepoint approximation where fewer than {ENOUGH} are as extreme"


@dataclass(frozen=True)
class Options:
    """How systems are compared; the arguments of `compare`."""

    baseline: str | None
    test: str
    correction: str
    level: float
    interval: str
    simultaneous: bool
    draws: int
    seed: int
    margin: float | str | None
    alternative: str
    family: str
    margin_test: str

    def __post_init__(self) -> None:
        check_choice("test", self.test, TESTS)
        import_scipy(self.test)  # before anything is evaluated
        check_choice("correction", self.correction, CORRECTIONS)
        check_choice("interval", self.interval, INTERVALS)
        check_draws(self.draws, self.seed)
        check_level(self.level)
        check_choice("simultaneous", self.simultaneous, (True, False))
        check_choice("alternative", self.alternative, ALTERNATIVES)
        check_choice("family", self.family, FAMILIES)
        check_choice("margin_test", self.margin_test, MARGIN_TESTS)
        if self.margin is not None:
            read_margin(self.margin)
        if self.alternative != "two-sided" and self.baseline is None:
            problem = f"alternative={self.alternative!r} needs a baseline: greater or less than it"
            raise InputError(problem, source="baseline")
        if self.test in FAMILY_WISE:
            for name, plain in (("alternative", "two-sided"), ("family", "pairs")):
                if (value := getattr(self, name)) != plain:
                    problem = f"{name}={value!r} is not for test={self.test!r}"
                    raise InputError(f"{problem}, of all systems on a measure at once", value=value)


def compare_aligned(
    aligned: Aligned, options: Options, groups: Mapping[Any, str] | None
) -> Comparison:
    """Compare systems, all queries and each group of them; see `compare`."""
    groups = rows_by_label(groups) if is_series(groups) else groups
    members = find_members(aligned.query_ids, groups)
    strata = make_strata(members)
    compared: dict[str, Comparison] = {}
    alone: dict[str, Floats] = {}
    for name, rows in members.items():
        if len(rows) < 2:
            warn(f"group {name!r} has one query: it is not compared apart")
            alone[name] = _values_of(aligned, rows[0])
            continue
        part = replace(
            aligned,
            query_ids=[aligned.query_ids[row] for row in rows],
            values=np.ascontiguousarray(aligned.values[:, rows]),
            judged={cutoff: shares[:, rows] for cutoff, shares in aligned.judged.items()},
            weights=None if aligned.weights is None else aligned.weights[rows],
            missing=keep_group(aligned.missing, groups, name),
            unanswered=keep_group(aligned.unanswered, groups, name),
        )
        compared[name] = _make(part, options, None, {})
    return replace(_make(aligned, options, strata, compared), alone=alone)


def _values_of(aligned: Aligned, row: int) -> Floats:
    """Return the means of one query, ``(systems, measures)``; NaN where it weighs nothing."""
    values = aligned.values[:, row].copy()
    if aligned.weights is not None:
        values[:, aligned.weights[row] == 0] = np.nan
    values.flags.writeable = False
    return values


def _make(
    aligned: Aligned, options: Options, strata: Sequence[Any] | None, groups: dict[str, Comparison]
) -> Comparison:
    scaled, geometric, weights = _scale(aligned)
    pairs = _pairs(aligned.systems, options.baseline)
    sample = Sample(scaled, pairs, options.draws, options.seed, options.alternative)
    if options.test in FAMILY_WISE:
        options = replace(options, correction="none")
    p = p_values(sample, options.test)
    corrected = correct(p, options.correction, options.family)
    # Exactly rounded, as the means of results are.
    means = np.array(
        [[math.fsum(each.tolist()) / each.size for each in system.T] for system in scaled]
    )
    means[:, geometric] = np.exp(means[:, geometric])
    significant = corrected < options.level
    found = _intervals(sample, means, significant, options, strata, geometric, weights)
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
    plain = weights is None and not geometric.any()
    return Comparison(
        systems=aligned.systems,
        measures=[str(each) for each in aligned.columns],
        query_ids=aligned.query_ids,
        pairs=pairs,
        settings={**aligned.settings, **_settings(options, stratified=strata is not None)},
        missing=aligned.missing,
        unanswered=aligned.unanswered,
        signs=tuple(each.sign for each in aligned.columns),
        linear=None if plain else as_linear(scaled, geometric, weights),
        judged=aligned.judged,
        groups=groups,
        **vars(options),
        **arrays,
    )


def _intervals(
    sample: Sample,
    means: Floats,
    significant: Bools,
    options: Options,
    strata: Sequence[Any] | None,
    geometric: Bools,
    weights: Floats | None,
) -> Intervals:
    """Find intervals; those of differences agree with the test, if they are to be simultaneous."""
    pairs, test = sample.pairs, options.test
    levels = np.full(significant.shape, options.level)
    if options.simultaneous and test in FAMILY_WISE:
        levels = levels_of_all(significant, len(means), options.level)
    elif options.simultaneous:
        levels = levels_of(significant, options.correction, options.level, options.family)
    if options.alternative != "two-sided":
        levels *= 2.0  # as they miss on one side alone
    how = options.interval, options.level, options.draws, options.seed
    found = find_intervals(sample.values, pairs, *how, strata, geometric, levels, weights)
    bounds = found.differences
    if options.alternative != "two-sided":
        greater = options.alternative == "greater"
        bounds[..., int(greater)] = np.inf if greater else -np.inf
    if not options.simultaneous:
        return Intervals(found.means, bounds)
    differences = means[[a for a, _ in pairs]] - means[[b for _, b in pairs]]
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
    return np.stack([low, np.minimum(intervals[..., 1], np.maximum(highest, means))], axis=-1)


def _settings(options: Options, *, stratified: bool) -> dict[str, str]:
    """Say how systems were compared."""
    stratified = stratified and options.interval != "t"
    settings = {"test": options.test, "correction": options.correction}
    if options.family != "pairs":
        settings["corrected for"] = "all measures"
    if options.alternative != "two-sided":
        settings["alternative"] = options.alternative
    settings["level"] = str(options.level)
    settings["intervals"] = (
        options.interval
        + (", stratified by group" if stratified else "")
        + (", those of differences simultaneous" if options.simultaneous else "")
    )
    if options.margin is not None:
        correction = margin_correction(options.test, options.correction)
        tested = f"test {options.margin_test}, {correction}"
        settings["margin"] = f"{read_margin(options.margin)}, {tested}"
    rare = RARE if options.test == "randomisation" else ""
    drawn = options.test in ("randomisation", *DRAWN) or options.interval != "t"
    if drawn or (options.margin is not None and options.margin_test != "t"):
        settings["draws"] = f"{options.draws}, seed {options.seed}{rare}"
    return settings


def _scale(aligned: Aligned) -> tuple[Floats, Bools, Floats | None]:
    """Return values as their means are taken, which measures' means are geometric, and weights.

    Weights have a mean of 1, and values are multiplied by them: so their plain means are the
    weighted ones, and under the hypothesis that a query's values may change sides their differences
    may change signs, as others do.
    """
    geometric = np.array([each.aggregate == "geometric" for each in aligned.columns])
    weights = aligned.weights
    plain = weights is None and not geometric.any()
    scaled = np.ascontiguousarray(aligned.values) if plain else aligned.values.copy()
    if weights is not None:
        for each in np.flatnonzero(weights.sum(axis=0) == 0).tolist():
            problem = f"no query weighs anything in the mean of {aligned.columns[each]}"
            raise InputError(problem, source="measures")
        weights = weights / weights.mean(axis=0)
        scaled *= weights
    if geometric.any():
        if (scaled[..., geometric] <= 0).any():
            problem = "a geometric mean of values that are 0 cannot be compared"
            raise InputError(problem, source="measures")
        scaled[..., geometric] = np.log(scaled[..., geometric])
    return scaled, geometric, weights


def _pairs(systems: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    """Return which systems are compared: each with the baseline, or with all before it."""
    if baseline is None:
        return [(a, b) for a in range(len(systems)) for b in range(a)]
    check_baseline(baseline, systems)
    position = systems.index(baseline)
    return [(a, position) for a in range(len(systems)) if a != position]


def check_baseline(name: str, systems: Sequence[str]) -> None:
    """Refuse a baseline that is none of the systems."""
    if name not in systems:
        problem = f"baseline {name!r} is none of {', '.join(map(repr, systems))}"
        raise InputError(problem, source="baseline", value=name)
