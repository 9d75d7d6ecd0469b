"""Systems against each other: put side by side, tested, and made a `Comparison`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, TypedDict, Unpack, cast

import numpy as np

from irbatch.array_types import Bools, Floats, Positions
from irbatch.comparing.comparison import Comparison
from irbatch.comparing.differences import ComparisonOptions, ComparisonSettings
from irbatch.comparing.read import Aligned, align, is_read, read_results
from irbatch.data.frames import is_series, rows_by_label
from irbatch.errors import InputError, kind_of, many, warn
from irbatch.evaluation.evaluation import Cutoffs, Judgments, Measures
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate_runs, name_systems
from irbatch.evaluation.settings import EvaluateOptions
from irbatch.measures import MARKED, Measure, measure, parse_measures
from irbatch.runtime.numbers import check_keywords
from irbatch.statistics.intervals import Intervals, as_linear, cut_intervals, find_intervals
from irbatch.statistics.judges import ENOUGH_QUERIES, FEWEST, ModelValues
from irbatch.statistics.resampling import Pairs, Sample, join_measures, measure_blocks
from irbatch.statistics.tests import FAMILY_WISE, correct, honest_difference, p_values


class Estimate(NamedTuple):
    """What is estimated of systems ``(systems, measures)`` and of pairs ``(pairs, measures)``.

    `varies` tells where differences are not the same in every query; `intervals` takes by how much
    those of differences may miss.
    """

    means: Floats
    differences: Floats
    p_values: Floats
    varies: Bools
    intervals: Callable[[Floats], Intervals]


def plain_estimate(
    scaled: Floats,
    pairs: Pairs,
    settings: ComparisonSettings,
    strata: Sequence[Any] | None,
    geometric: Bools,
    weights: Floats | None,
) -> Estimate:
    """Estimate from the values alone, each measure from the queries that have a value of it."""
    blocks = measure_blocks(scaled)
    values = [scaled] if len(blocks) == 1 else [scaled[:, rows][..., k] for k, rows in blocks]
    sampling = pairs, settings.draws, settings.seed, settings.alternative
    samples = [Sample(np.ascontiguousarray(own), *sampling) for own in values]

    def find(of_sample: Callable[[Sample], Any]) -> Floats:
        return np.asarray(join_measures([of_sample(sample) for sample in samples], blocks))

    means = find(lambda sample: [_exact_means(system) for system in sample.values])
    means[:, geometric] = np.exp(means[:, geometric])
    differences = means[[a for a, _ in pairs]] - means[[b for _, b in pairs]]

    def intervals(levels: Floats) -> Intervals:
        parts = []
        for sample, (columns, rows) in zip(samples, blocks, strict=True):
            places = np.arange(scaled.shape[1])[rows]
            groups = [np.flatnonzero(np.isin(places, group)) for group in strata or ()]
            parts.append(find_intervals(
                sample.values, pairs, settings.interval, settings.level, settings.draws,
                settings.seed, [group for group in groups if group.size] or None,
                geometric[columns], levels[:, columns],
                None if weights is None else weights[rows][:, columns],
            ))  # fmt: skip
        bounds = Intervals(*(join_measures(ends, blocks) for ends in zip(*parts, strict=True)))
        if not settings.simultaneous or settings.test not in FAMILY_WISE:
            return bounds
        reach = find(lambda sample: [honest_difference(sample, settings.test, settings.level)])
        honest = np.stack([differences - reach, differences + reach], axis=-1)
        return Intervals(bounds.means, np.where(geometric[:, None], bounds.differences, honest))

    p = find(lambda sample: p_values(sample, settings.test))
    varies = find(lambda sample: sample.find(lambda flat: np.ptp(flat, axis=0))) > 0
    return Estimate(means, differences, p, varies, intervals)


def _exact_means(values: Floats) -> list[float]:
    """Return means of ``(queries, measures)``, exactly rounded as those of results are."""
    return [math.fsum(column) / len(column) for column in values.T.tolist()]


ONLY = {"test": "t", "interval": "t", "margin_test": "t"}
"""What is defined with a model's judgments: Student's t of the combined means alone."""


def _with_model(settings: Mapping[str, Any], groups: object) -> dict[str, Any]:
    """Return the settings with a model's judgments; reject those that are not defined then."""
    for name, value in {**ONLY, "groups": None}.items():
        asked = groups if name == "groups" else settings.get(name, value)
        if asked != value:
            other = "leave it out" if value is None else f"it takes {value!r}"
            problem = f"{name}={asked!r} is not defined with model_qrels=: {other}"
            raise InputError(problem, source=name, value=asked)
    return {**settings, **ONLY}


def estimate_with_model(
    values: Floats, pairs: Pairs, settings: ComparisonSettings, model: ModelValues
) -> Estimate:
    """Estimate from people's values of some queries, and a model's of these and of others."""
    of_systems, of_pairs = (len(values), values.shape[2]), (len(pairs), values.shape[2])

    def apart(values: Floats) -> Floats:
        return values[[a for a, _ in pairs]] - values[[b for _, b in pairs]]

    means = model.combine(values, lambda values: values, settings.level)
    differences = model.combine(values, apart)
    above = differences.tails
    below = np.where(differences.error > 0, 1.0 - above, 1.0)
    both = np.minimum(2.0 * np.minimum(above, below), 1.0)
    p = {"two-sided": both, "greater": above, "less": below}[settings.alternative]

    def intervals(levels: Floats) -> Intervals:
        of_means = means.combined_bounds.reshape(*of_systems, 2)
        bounds = model.combine(values, apart, levels.ravel()).combined_bounds
        return Intervals(of_means, bounds.reshape(*of_pairs, 2))

    return Estimate(
        means.combined.reshape(of_systems),
        differences.combined.reshape(of_pairs),
        p.reshape(of_pairs),
        (differences.error > 0).reshape(of_pairs),
        intervals,
    )


def model_values(
    results: Mapping[str, Results], queries: Sequence[Any], people: Collection[Any] = ()
) -> ModelValues:
    """Return a model's values of the queries that both judged, and of those that no people did."""
    both = {*queries, *people}
    first = next(iter(results.values()))
    others = [query for query in first.rows if query not in both]
    if len(queries) < FEWEST or len(others) < 2:
        judged = f"both judged {many(len(queries), 'query')}, the model {len(others)} others"
        raise InputError(f"{judged}: it takes {FEWEST} and 2", source="model_qrels")
    for name, own in results.items():
        if own.rows.keys() != first.rows.keys():
            problem = f"{name} has values of other queries than the first system: missing='zero'"
            raise InputError(f"{problem} gives all the same", source="model_qrels", value=name)
    if len(queries) < ENOUGH_QUERIES:
        judged = f"people judged {many(len(queries), 'query')}"
        few = f"intervals of fewer than {ENOUGH_QUERIES}"
        warn(f"{judged}: {few} may miss more often than they say")
    return ModelValues(values_of(results, queries), values_of(results, others))


def values_of(results: Mapping[str, Results], queries: Sequence[Any]) -> Floats:
    """Return values of queries, ``(systems, queries, measures)``; reject missing and NaN ones."""
    values = []
    for name, own in results.items():
        for column in own.columns:
            if column.aggregate != "mean":
                problem = f"{column} has no arithmetic mean of queries"
                raise InputError(problem, source=name, value=column)
        for query in queries:
            if query not in own.rows:
                raise InputError("not judged by both judges", source=name, query=query)
        values.append(own.values[[own.rows[query] for query in queries]])
        if (empty := np.argwhere(np.isnan(values[-1]))).size:
            row, column = empty[0].tolist()
            problem = f"{own.measures[column]} is NaN: evaluate with no_relevant='zero'"
            raise InputError(problem, source=name, query=queries[row])
    return np.stack(values)


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
    model_qrels: Judgments | None = None,
    **settings: Unpack[CompareOptions],
) -> Comparison:
    """Compare systems on the same queries, and tell which differences are more than chance.

    A query that a measure has no value of, for some system, is left out of that measure. A measure
    that some saved results lack is left out with a warning.

    Args:
        qrels, runs, measures, cutoffs: as in `irbatch.evaluate_runs`; results among the runs are
            not evaluated again. Without measures, and then perhaps without judgments,
            ``compare({"old": …, "new": …})`` takes values that are there already: `Results`; a dict
            of queries to measures to values, as pytrec_eval returns it; a `PartialResult`,
            with the judgments unless it had its own; a table of any framework with a column of
            queries and one a measure; or paths of Parquet files or folders of such tables. Files
            of one system may be several, in a list; their queries may stand in any order.
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
        model_qrels: a model's judgments of the same queries and of others, which only it judged:
            means and differences are those of all queries under people's judgments, estimated with
            the model's, see `irbatch.comparing.judges.combine`; tests, intervals and margins are
            those of Student's t, groups are not defined.
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
    own = ComparisonOptions.__annotations__
    chosen = {name: value for name, value in settings.items() if name in own}
    others: Any = {name: value for name, value in settings.items() if name not in own}
    if model_qrels is not None:
        chosen = _with_model(chosen, groups)
    options = ComparisonSettings.choose(**chosen)
    judgments: Any = None if runs is None else qrels
    systems = cast(Systems, qrels) if runs is None else runs
    if measures is None or judgments is None:
        ignored = {**others, "measures": measures, "model_qrels": model_qrels}
        for name, value in ignored.items():
            if value is not None or name in others:
                problem = f"{name}= is for rankings with judgments: values are compared as they are"
                raise InputError(problem, source=name)
        return _compare_groups(align(read_results(systems, judgments)), options, groups)
    columns = parse_measures(measures, cutoffs)
    aligned = _evaluate(judgments, systems, columns, others)
    if model_qrels is None:
        return _compare_groups(aligned, options, groups)
    if np.isnan(aligned.values).any():
        problem = "a query has no value of a measure for some system: leave the measure out"
        raise InputError(problem, source="model_qrels")
    results = evaluate_runs(model_qrels, systems, columns, **others)
    return _make(aligned, options, model=model_values(results, aligned.query_ids))


def _evaluate(
    qrels: Judgments, runs: Systems, measures: Sequence[Measure], settings: EvaluateOptions
) -> Aligned:
    """Evaluate the systems that are rankings, and put all of them side by side."""
    systems = name_systems(runs)
    read = {name: system for name, system in systems.items() if is_read(system)}
    rankings = {name: system for name, system in systems.items() if name not in read}
    hidden = [] if read else _judged_at(measures, settings)
    results: dict[str, Any] = read_results(read, qrels)
    if rankings:
        results |= evaluate_runs(qrels, rankings, [*measures, *hidden], **settings)
    return align({name: results[name] for name in systems}, list(map(str, measures)))


def _judged_at(measures: Sequence[Measure], settings: EvaluateOptions) -> list[Measure]:
    """Return what tells of ordered documents, with plain judgments, how many are judged."""
    if settings.get("ties", "id") not in ("id", "id_ascending", "index"):
        return []
    if any(column.declaration.reads in MARKED for column in measures):
        return []
    cutoffs = sorted({column.cutoff for column in measures if column.cutoff is not None})
    judged = [measure("Judged") @ cutoff for cutoff in cutoffs]
    return [column for column in judged if column not in measures]


def _compare_groups(
    aligned: Aligned, options: ComparisonSettings, groups: Mapping[Any, str] | None
) -> Comparison:
    """Compare systems, all queries and each group of them."""
    if groups is None:
        return _make(aligned, options)
    by_query = rows_by_label(groups) if is_series(groups) else groups
    if not isinstance(by_query, Mapping):
        problem = f"groups go from query ids to names, not {kind_of(groups)}"
        raise InputError(problem, source="groups")
    rows: dict[str, list[int]] = {}
    for row, query in enumerate(aligned.query_ids):
        if query not in by_query:
            raise InputError("it has no group", source="groups", query=query)
        rows.setdefault(str(by_query[query]), []).append(row)
    inside: dict[str, set[Any]] = {}  # with queries that were left out
    for query, name in by_query.items():
        inside.setdefault(str(name), set()).add(query)
    compared: dict[str, Comparison] = {}
    for name, group_rows in rows.items():
        part = aligned.part(group_rows, inside[name])
        if min(part.counts) < 2:
            warn(f"group {name!r} has one query: it is not compared apart")
        else:
            compared[name] = _make(part, options)
    alone = [name for name in rows if name not in compared]
    return _make(aligned, options, _strata(rows.values()), groups=compared, alone=alone)


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


def _make(
    aligned: Aligned,
    options: ComparisonSettings,
    strata: Sequence[Any] | None = None,
    model: ModelValues | None = None,
    **more: Any,
) -> Comparison:
    """Compare systems on all the queries."""
    if options.test in FAMILY_WISE:
        options = replace(options, correction="none")
    measures = list(map(str, aligned.columns))
    ranges = np.array([column.range for column in aligned.columns]).T
    scaled, geometric, weights = _scale(aligned)
    pairs = _pairs(aligned.systems, options.baseline)
    if model is None:
        estimate = plain_estimate(scaled, pairs, options, strata, geometric, weights)
    else:
        estimate = estimate_with_model(aligned.values, pairs, options, model)
    corrected = correct(estimate.p_values, options.correction, options.family)
    significant = corrected < options.level
    intervals = _cut(estimate, options, significant, ranges)
    arrays: dict[str, Any] = {
        "values": aligned.values,
        "scaled": scaled,
        "means": estimate.means,
        "differences": estimate.differences,
        "intervals": intervals.means,
        "difference_intervals": intervals.differences,
        "p_values": estimate.p_values,
        "corrected": corrected,
    }
    for array in arrays.values():
        array.flags.writeable = False
    plain = weights is None and not geometric.any()
    settings = {**aligned.settings, **options.described}
    if strata is not None and options.interval != "t":
        settings["draws"] += ", of each group apart"
    if model is not None:
        settings["model"] = f"{many(model.others.shape[1], 'query')} more; prediction-powered"
    return Comparison(
        systems=aligned.systems,
        measures=measures,
        query_ids=aligned.query_ids,
        pairs=pairs,
        settings=settings,
        missing=aligned.missing,
        unanswered=aligned.unanswered,
        signs=tuple(column.sign for column in aligned.columns),
        ranges=ranges,
        linear=None if plain else _as_linear(scaled, geometric, weights),
        judged_shares=aligned.judged_shares,
        model=model,
        **options.options,
        **arrays,
        **more,
    )


def _cut(
    estimate: Estimate, options: ComparisonSettings, significant: Bools, ranges: Floats
) -> Intervals:
    """Find intervals that end where no mean or difference can be; NaN where nothing varies."""
    levels = np.full(significant.shape, options.level)
    if options.simultaneous:
        levels = options.corrected_levels(significant, len(estimate.means))
    one_sided = options.alternative != "two-sided"
    means, bounds = estimate.intervals(levels * (2.0 if one_sided else 1.0))
    reach = np.subtract(*ranges[::-1])
    bounds = cut_intervals(bounds, estimate.differences, -reach, reach)
    if one_sided:
        greater = options.alternative == "greater"
        bounds[..., int(greater)] = np.inf if greater else -np.inf
    bounds[~estimate.varies] = np.nan
    return Intervals(cut_intervals(means, estimate.means, *ranges), bounds)


def _scale(aligned: Aligned) -> tuple[Floats, Bools, Floats | None]:
    """Return values as their means are taken, which measures' means are geometric, and weights.

    Values are multiplied by weights of mean 1: so their plain means are the weighted ones, and
    under the hypothesis that values may change sides the signs of differences may.
    """
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
    return scaled, geometric, weights


def _as_linear(scaled: Floats, geometric: Bools, weights: Floats | None) -> Floats:
    linear = np.full_like(scaled, np.nan)
    for columns, rows in measure_blocks(scaled):
        part = scaled[:, rows][..., columns]
        of_part = None if weights is None else weights[rows][:, columns]
        at = np.arange(scaled.shape[1])[rows][:, None], columns
        linear[:, *at] = as_linear(part, geometric[columns], of_part)
    return linear


def _pairs(systems: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    """Return which systems are compared: each with the baseline, or with all before it."""
    if baseline is None:
        return [(a, b) for a in range(len(systems)) for b in range(a)]
    check_baseline(baseline, systems)
    position = systems.index(baseline)
    return [(a, position) for a in range(len(systems)) if a != position]


def check_baseline(name: str, systems: Sequence[str]) -> None:
    """Reject a baseline that is none of the systems."""
    if name not in systems:
        problem = f"baseline {name!r} is none of {', '.join(map(repr, systems))}"
        raise InputError(problem, source="baseline", value=name)
