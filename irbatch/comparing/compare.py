"""Systems against each other: put side by side, tested, and made a `Comparison`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypedDict, Unpack, cast

import numpy as np

from irbatch.array_types import Floats, Positions
from irbatch.comparing.comparison import Comparison, Scaled
from irbatch.comparing.read import Aligned, align, is_read, read_results
from irbatch.comparing.settings import ComparisonOptions, ComparisonSettings
from irbatch.data.frames import is_series, rows_by_label
from irbatch.errors import InputError, kind_of, warn
from irbatch.evaluation.evaluation import Cutoffs, Judgments, Measures
from irbatch.evaluation.runs import evaluate_runs, name_systems
from irbatch.evaluation.settings import EvaluateOptions
from irbatch.measures import parse_measures
from irbatch.runtime.numbers import check_keywords
from irbatch.statistics.intervals import Intervals, cut_intervals, find_intervals
from irbatch.statistics.resampling import Sample, join_measures
from irbatch.statistics.tests import FAMILY_WISE, correct, honest_difference, p_values

# Rankings of several systems, or values by query of each: `compare` tells the forms.
Systems: TypeAlias = Mapping[str, Any] | Iterable[Any]


class CompareOptions(ComparisonOptions, EvaluateOptions, TypedDict, total=False):
    """The keyword options of `compare`: its own, and those of `irbatch.evaluate`."""


def compare(
    qrels: Judgments | Systems,
    runs: Systems | None = None,
    measures: Measures | None = None,
    cutoffs: Cutoffs = None,
    *,
    groups: Mapping[Any, str] | None = None,
    **settings: Unpack[CompareOptions],
) -> Comparison:
    """Compare systems on the same queries, and tell which differences are more than chance.

    A query that a measure has no value of, for some system, is left out of that measure. A measure
    that some saved results lack is left out with a warning.

    Args:
        qrels, runs, measures, cutoffs: as in `irbatch.evaluate_runs`; results among the runs are
            not evaluated again. Without measures, and then perhaps without judgments,
            ``compare({"old": …, "new": …})`` takes values that are there already: `Results`; a dict
            of queries to measures to values, as pytrec_eval returns it; a table of any framework
            with a column of queries and one a measure; or the path of results in JSON, or of a
            Parquet file or folder of such tables, with queries in any order.
        baseline: the system that all others are compared with; default: each with each.
        test: of the paired differences: ``"randomisation"`` (default), flipping signs, exact where
            up to 24 queries differ, p-values below 0.01 by saddlepoint approximation; ``"t"``,
            ``"wilcoxon"``, ``"sign"``, ``"bootstrap"``; or of all systems at once ``"tukey"``,
            randomised, or ``"anova"``. Of a million queries ``"t"`` takes a minute where those that
            resample take several.
        correction: of p-values, for the number of pairs compared on a measure: ``"holm"``
            (default), ``"bonferroni"``, ``"bh"``, ``"by"`` or ``"none"``. Tests of all systems at
            once need none.
        level: chance of finding a difference that is not there, and of an interval to miss (0.05).
        interval: of means and differences: by Student's ``"t"`` (default), or by bootstrap,
            ``"percentile"`` or ``"bca"``.
        simultaneous: whether intervals of differences are as wide as the correction asks for
            (default), so that they seldom disagree with the p-values; else each misses by `level`
            by itself, as those of means do.
        draws: of tests and intervals that resample (10,000).
        seed: of the draws (0); the first of more draws are those of fewer.
        margin: differences below it don't matter: tells which systems are equivalent, and which
            are not worse. A number, or a share of the other system's mean such as ``"1%"``.
        alternative: what a test is to find: any difference (``"two-sided"``, default), or that a
            system's mean is ``"greater"`` than the baseline's, or ``"less"``; intervals are
            one-sided, too.
        family: what a correction is for: the ``"pairs"`` on a measure (default), or ``"all"`` pairs
            on all measures.
        margin_test: of differences against the margin: ``"bounded"`` (default) holds whatever the
            differences, as it counts on losses that these queries do not show, and takes some 370
            queries for a margin of 0.01 of a measure between 0 and 1; ``"t"`` and
            ``"randomisation"`` take fewer and trust that what was not seen is like what was, which
            is wrong where few queries lose much. Measures without a known range, and weighted and
            geometric means, are tested by ``"t"`` from 30 queries on.
        groups: query id to the name of its group, a mapping or a series of pandas; tables are
            broken down by group, and the bootstrap draws from each apart.
        **settings: the keyword arguments of `irbatch.evaluate`, too.

    Raises:
        InputError: if there are fewer than two systems or two common queries, the baseline or an
            option is unknown, results have no measure in common, a table has a query twice or
            columns that are not measures, and as `irbatch.evaluate`.

    >>> import irbatch
    >>> qrels = {q: {"d1": 1} for q in "abcdefgh"}
    >>> good = {q: {"d1": 2, "d2": 1} for q in qrels}
    >>> bad = {q: {"d1": 1, "d2": 2} for q in qrels}
    >>> found = irbatch.compare(qrels, {"bad": bad, "good": good}, "RR", baseline="bad")
    >>> found.difference("good", "bad", "RR").p_value  # 2 of 256 assignments of signs
    0.0078125
    >>> first = irbatch.evaluate_matrix([[1, 0], [0, 1], [1, 0]], "RR P@1")
    >>> other = irbatch.evaluate_matrix([[0, 1], [0, 1], [1, 0]], "RR P@1")
    >>> irbatch.compare({"first": first, "other": other}).difference("first", "other", "RR").wins
    1
    """
    check_keywords(compare, settings, CompareOptions.__annotations__)
    others: dict[str, Any] = {**settings}
    own = [name for name in ComparisonOptions.__annotations__ if name in others]
    options = ComparisonSettings.choose(**{name: others.pop(name) for name in own})
    if runs is None or measures is None:
        for name in (*others, *(["measures"] if measures is not None else [])):
            problem = f"{name}= is for rankings with judgments: values are compared as they are"
            raise InputError(problem, source=name)
        systems = name_systems(cast(Systems, qrels if runs is None else runs), "result")
        options.check_baseline(systems)
        return compare_aligned(align(read_results(systems)), options, groups)
    systems = name_systems(runs)
    options.check_baseline(systems)
    columns = parse_measures(measures, cutoffs)
    results = read_results({name: run for name, run in systems.items() if is_read(run)})
    if rankings := {name: run for name, run in systems.items() if name not in results}:
        results |= evaluate_runs(cast(Judgments, qrels), rankings, columns, **others)
    aligned = align({name: results[name] for name in systems}, list(map(str, columns)))
    return compare_aligned(aligned, options, groups)


def _read_groups(
    aligned: Aligned, groups: Mapping[Any, str] | None
) -> Iterator[tuple[str, list[int], Aligned]]:
    """Yield each group's name, rows and part of the systems' values."""
    by_query = rows_by_label(groups) if is_series(groups) else groups or {}
    if not isinstance(by_query, Mapping):
        problem = f"groups go from query ids to names, not {kind_of(groups)}"
        raise InputError(problem, source="groups")
    rows: dict[str, list[int]] = {}
    for row, query in enumerate(aligned.query_ids if groups is not None else ()):
        if query not in by_query:
            raise InputError("it has no group", source="groups", query=query)
        rows.setdefault(str(by_query[query]), []).append(row)
    inside: dict[str, set[Any]] = {}  # with queries that were left out
    for query, name in by_query.items():
        inside.setdefault(str(name), set()).add(query)
    for name, of_group in rows.items():
        yield name, of_group, aligned.part(of_group, inside[name])


def _strata(rows: Iterable[list[int]]) -> list[Positions] | None:
    """Return the groups to draw from; those of one query, without chance in it, are joined."""
    several = [np.array(group) for group in rows if len(group) > 1]
    single = [group[0] for group in rows if len(group) == 1]
    if len(single) == 1 and several:
        largest = max(range(len(several)), key=lambda i: several[i].size)
        several[largest] = np.append(several[largest], single)
    elif single:
        several.append(np.array(single))
    return several or None


def compare_aligned(
    aligned: Aligned, options: ComparisonSettings, groups: Mapping[Any, str] | None = None
) -> Comparison:
    """Compare systems on all queries and on each group, each measure on those that have a value."""
    if options.test in FAMILY_WISE:
        options = replace(options, correction="none")
    compared: dict[str, Comparison] = {}
    rows_of_groups = []
    for name, rows, part in _read_groups(aligned, groups):
        rows_of_groups.append(rows)
        if min(part.counts) < 2:
            warn(f"group {name!r} has one query: it is not compared apart")
        else:
            compared[name] = compare_aligned(part, options)
    strata = _strata(rows_of_groups)
    ranges = np.array([column.range for column in aligned.columns]).T
    scaled = _scale(aligned)
    pairs = _pairs(aligned.systems, options.baseline)
    sampling = pairs, options.draws, options.seed, options.alternative
    samples = [Sample(np.ascontiguousarray(values), *sampling) for *_, values in scaled.parts()]

    def find(find: Callable[[Sample], Any]) -> Floats:
        return np.asarray(join_measures([find(sample) for sample in samples], scaled.blocks))

    means = find(lambda sample: [_exact_means(system) for system in sample.values])
    means[:, scaled.geometric] = np.exp(means[:, scaled.geometric])
    differences = means[[a for a, _ in pairs]] - means[[b for _, b in pairs]]
    p = find(lambda sample: p_values(sample, options.test))
    corrected = correct(p, options.correction, options.family)
    levels = np.full(p.shape, options.level)
    if options.simultaneous:
        levels = options.corrected_levels(corrected < options.level, len(means))
    bounds = _find_intervals(scaled, samples, options, levels, strata)
    if options.simultaneous and options.test in FAMILY_WISE:
        reach = find(lambda sample: [honest_difference(sample, options.test, options.level)])
        honest = np.stack([differences - reach, differences + reach], axis=-1)
        plain = ~scaled.geometric
        bounds.differences[:, plain] = honest[:, plain]
    reach = np.subtract(*ranges[::-1])
    of_differences = cut_intervals(bounds.differences, differences, -reach, reach)
    if options.alternative != "two-sided":  # open to the side that the test does not look at
        is_greater = options.alternative == "greater"
        of_differences[..., int(is_greater)] = np.inf if is_greater else -np.inf
    settings = {**aligned.settings, **options.described}
    if strata is not None and options.interval != "t":
        settings["draws"] += ", of each group apart"
    is_plain = scaled.weights is None and not scaled.geometric.any()
    comparison = Comparison(
        systems=aligned.systems,
        measures=list(map(str, aligned.columns)),
        query_ids=aligned.query_ids,
        pairs=pairs,
        values=aligned.values,
        means=means,
        differences=differences,
        intervals=cut_intervals(bounds.means, means, *ranges),
        difference_intervals=of_differences,
        p_values=p,
        corrected=corrected,
        settings=settings,
        missing=aligned.missing,
        unanswered=aligned.unanswered,
        groups=compared,
        signs=np.array([float(column.sign) for column in aligned.columns]),
        ranges=ranges if is_plain else np.add(ranges, [[-np.inf], [np.inf]]),
        scaled=scaled,
        **options.options,
    )
    of_differences[~comparison.varies] = np.nan
    for array in (aligned.values, scaled.values, *vars(comparison).values()):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return comparison


def _exact_means(values: Floats) -> list[float]:
    """Return means of ``(queries, measures)``, exactly rounded as those of results are."""
    return [math.fsum(column) / len(column) for column in values.T.tolist()]


def _find_intervals(
    scaled: Scaled,
    samples: Sequence[Sample],
    options: ComparisonSettings,
    levels: Floats,
    strata: Sequence[Positions] | None,
) -> Intervals:
    """Find intervals of means, and of differences that miss by levels ``(pairs, measures)``."""
    levels = levels * (1.0 if options.alternative == "two-sided" else 2.0)
    parts = []
    for sample, (columns, rows, _) in zip(samples, scaled.parts(), strict=True):
        places = np.arange(scaled.values.shape[1])[rows]
        groups = [np.flatnonzero(np.isin(places, group)) for group in strata or ()]
        parts.append(find_intervals(
            sample.values, sample.pairs, options.interval, options.level, options.draws,
            options.seed, [group for group in groups if group.size] or None,
            scaled.geometric[columns], levels[:, columns], scaled.weights_of(columns, rows),
        ))  # fmt: skip
    return Intervals(*(join_measures(ends, scaled.blocks) for ends in zip(*parts, strict=True)))


def _scale(aligned: Aligned) -> Scaled:
    geometric = np.array([column.aggregate == "geometric" for column in aligned.columns])
    weights = aligned.weights
    plain = weights is None and not geometric.any()
    scaled = np.ascontiguousarray(aligned.values) if plain else aligned.values.copy()
    if weights is not None:
        for k in np.flatnonzero(weights.sum(axis=0) == 0).tolist():
            problem = f"no query weighs anything in the mean of {aligned.columns[k]}"
            raise InputError(problem, source="measures")
        weights = np.where(np.isnan(aligned.values[0]), 0.0, weights)
        weights = weights / (weights.sum(axis=0) / aligned.counts)
        scaled *= weights
    if geometric.any():
        if (scaled[..., geometric] <= 0).any():
            problem = "a geometric mean of values that are 0 cannot be compared"
            raise InputError(problem, source="measures")
        scaled[..., geometric] = np.log(scaled[..., geometric])
    return Scaled(scaled, geometric, weights)


def _pairs(systems: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    """Return which systems are compared: each with the baseline, or with all before it."""
    if baseline is None:
        return [(a, b) for a in range(len(systems)) for b in range(a)]
    position = systems.index(baseline)
    return [(a, position) for a in range(len(systems)) if a != position]
