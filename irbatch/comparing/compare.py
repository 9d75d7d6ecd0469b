"""Systems against each other: put side by side, tested, and made a `Comparison`."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, TypedDict, Unpack, cast

import numpy as np

from irbatch.array_types import Bools, Floats, Positions
from irbatch.comparing.comparison import Comparison, ComparisonOptions, Options
from irbatch.data.frames import is_series, rows_by_label
from irbatch.errors import InputError, kind_of, shown, warn
from irbatch.evaluation.evaluation import Cutoffs, Judgments, Measures, Rankings
from irbatch.evaluation.queries import QueryMark
from irbatch.evaluation.results import Results, weight_column
from irbatch.evaluation.runs import evaluate_runs
from irbatch.evaluation.settings import EvaluateOptions
from irbatch.evaluation.system_names import name_systems
from irbatch.measures import MARKED, Measure, measure, parse_measures
from irbatch.runtime.numbers import check_keywords
from irbatch.statistics.intervals import (
    Intervals,
    as_linear,
    find_intervals,
    levels_of,
    levels_of_all,
)
from irbatch.statistics.resampling import Sample
from irbatch.statistics.tests import (
    DRAWN,
    ENOUGH,
    FAMILY_WISE,
    correct,
    honest_difference,
    margin_correction,
    p_values,
    read_margin,
)

# Values by query of one system: results or partial ones, a dict, an Arrow table, paths of Parquet.
QueryValues: TypeAlias = Any


def compare(
    qrels: Judgments,
    runs: Mapping[str, Rankings] | Iterable[Rankings],
    measures: Measures,
    cutoffs: Cutoffs = None,
    *,
    groups: Mapping[Any, str] | None = None,
    **settings: Unpack[CompareOptions],
) -> Comparison:
    """Evaluate systems on the same queries, and tell which differences are more than chance.

    Args:
        qrels, runs, measures, cutoffs: as in `irbatch.evaluate_runs`.
        baseline: the system that all others are compared with; default: each with each.
        test: of the paired differences: ``"randomisation"`` (default), flipping signs, exact where
            up to 24 queries differ, p-values below 0.01 by saddlepoint approximation; ``"t"``,
            ``"wilcoxon"``, ``"sign"``, ``"bootstrap"``; or of all systems at once ``"tukey"``,
            randomised, or ``"anova"``. Of a million queries ``"t"`` takes a minute where those that
            resample take several.
        correction: of p-values, for the number of pairs compared on a measure: ``"holm"``
            (default), ``"bonferroni"``, ``"bh"``, ``"by"`` or ``"none"``. Tests of all systems at
            once need none. Names of SciPy and statsmodels, such as ``"fdr_bh"``, are understood.
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
            option is unknown, and as `irbatch.evaluate`.

    >>> import irbatch
    >>> qrels = {q: {"d1": 1} for q in "abcdefgh"}
    >>> good = {q: {"d1": 2, "d2": 1} for q in qrels}
    >>> bad = {q: {"d1": 1, "d2": 2} for q in qrels}
    >>> found = irbatch.compare(qrels, {"bad": bad, "good": good}, "RR", baseline="bad")
    >>> found.difference("good", "bad", "RR").p_value  # 2 of 256 assignments of signs
    0.0078125
    """
    check_keywords(compare, settings, CompareOptions.__annotations__)
    chosen, of_evaluation = _split(settings)
    options = Options.choose(**chosen)
    wanted = parse_measures(measures, cutoffs)
    hidden = _judged_at(wanted, of_evaluation)
    results = evaluate_runs(qrels, runs, [*wanted, *hidden], **of_evaluation)
    return _compare_aligned(align(results, len(hidden)), options, groups)


def _split(settings: CompareOptions) -> tuple[ComparisonOptions, EvaluateOptions]:
    """Part the options of the comparison from those of the evaluation."""
    own = ComparisonOptions.__annotations__
    chosen = {name: value for name, value in settings.items() if name in own}
    others = {name: value for name, value in settings.items() if name not in own}
    return cast(ComparisonOptions, chosen), cast(EvaluateOptions, others)


def _judged_at(wanted: Sequence[Measure], settings: EvaluateOptions) -> list[Measure]:
    """Return what tells, beside the measures, how many of the documents they see are judged.

    It takes an order of the documents, and plain judgments.
    """
    if settings.get("ties", "id") not in ("id", "id_ascending", "index"):
        return []
    if any(each.declaration.reads in MARKED for each in wanted):
        return []
    cutoffs = sorted({each.cutoff for each in wanted if each.cutoff is not None})
    judged = [measure("Judged") @ cutoff for cutoff in cutoffs]
    return [each for each in judged if each not in wanted]


def compare_results(
    results: Mapping[str, QueryValues] | Iterable[QueryValues],
    *,
    groups: Mapping[Any, str] | None = None,
    qrels: Judgments | None = None,
    **options: Unpack[ComparisonOptions],
) -> Comparison:
    """Compare systems by results that were evaluated before, wherever their values are.

    Args:
        results: system name to results, or results that have names. In their place: a dict of
            queries to measures to values, as pytrec_eval returns it; a `PartialResult` or a table
            that it became (`PartialResult.to_arrow`); a table of any framework with a column of
            queries and one a measure, as the engines' ``per_query(…)`` make; or paths of Parquet
            files or folders of such tables. Files of one system may be several, in a list; their
            queries may stand in any order.
        groups, **options: as in `compare`, from `baseline` to `margin_test`.
        qrels: the judgments that partial results were evaluated with, unless each had its own.

    Raises:
        InputError: as `compare`, and if results are of different measures, or a table has a query
            twice, or columns that are no measures.

    >>> import irbatch
    >>> first = irbatch.evaluate_matrix([[1, 0], [0, 1], [1, 0]], "RR P@1")
    >>> other = irbatch.evaluate_matrix([[0, 1], [0, 1], [1, 0]], "RR P@1")
    >>> compare_results({"first": first, "other": other}).difference("first", "other", "RR").wins
    1
    """
    check_keywords(compare_results, options, ComparisonOptions.__annotations__)
    chosen = Options.choose(**options)
    if not _are_results(results):
        from irbatch.comparing.read import read_results

        results = read_results(results, qrels)
    return _compare_aligned(align(results), chosen, groups)


def _are_results(given: Any) -> bool:
    """Tell whether there is nothing to be read."""
    each = given.values() if isinstance(given, Mapping) else given
    return isinstance(each, Collection) and all(isinstance(some, Results) for some in each)


RARE = f"; p-values by saddlepoint approximation where fewer than {ENOUGH} are as extreme"


def _compare_aligned(
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
        ranges=np.array([each.range for each in aligned.columns]).T,
        linear=None if plain else as_linear(scaled, geometric, weights),
        judged=aligned.judged,
        groups=groups,
        **options.options,
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
    """Find intervals; those of differences are as wide as the correction asks for, if asked."""
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
    if options.simultaneous and test in FAMILY_WISE:
        differences = means[[a for a, _ in pairs]] - means[[b for _, b in pairs]]
        reach = honest_difference(sample, test, options.level)
        honest = np.stack([differences - reach, differences + reach], axis=-1)
        bounds = np.where(geometric[:, None], bounds, honest)
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
    if drawn or (options.margin is not None and options.margin_test == "randomisation"):
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


class CompareOptions(ComparisonOptions, EvaluateOptions, TypedDict, total=False):
    """The keyword options of `compare`: its own, and those of `irbatch.evaluate`."""


@dataclass(frozen=True, eq=False)
class Aligned:
    """Results of several systems, of the queries that all have; see `irbatch.Comparison`."""

    systems: list[str]
    columns: tuple[Measure, ...]
    query_ids: list[Any]
    values: Floats
    settings: dict[str, str]
    missing: dict[str, list[Any]]
    unanswered: dict[str, list[Any]]
    judged: dict[int, Floats]  # by cutoff, see `Comparison.judged`
    weights: Floats | None = None  # (queries, measures): of weighted means; None: all alike


def align(results: Mapping[str, Results] | Iterable[Results], hidden: int = 0) -> Aligned:
    """Put results side by side, by query id; queries skipped for every system are left out.

    The last measures, so many as are `hidden`, are not compared: they tell how much is judged.
    """
    named = _name(results)
    refuse = partial(InputError, source="results")
    first = next(iter(named.values()))
    for name, each in named.items():
        if odd := sorted(set(each.measures) ^ set(first.measures)):
            raise refuse(f"{odd[0]} was not evaluated for every system", path=name)
    if whole := [each for each in first.columns if each.aggregate == "run"]:
        problem = f"{whole[0]} is a value of the whole run: it has none of queries to compare"
        raise refuse(problem, value=str(whole[0]))
    _check_ids(named)
    lengths = {len(each.query_ids) for each in named.values()}
    if len(lengths) > 1 and not all(each.has_ids for each in named.values()):
        many = " and ".join(map(str, sorted(lengths)))
        raise refuse(f"queries without ids are joined by their places, but there are {many}")
    common = _common(list(named.values()))
    if not common:
        samples = [f"{name!r} has {_sample(each.query_ids)}" for name, each in named.items()]
        raise refuse(f"the systems have no query in common: {samples[0]}, {samples[-1]}")
    names = first.measures[: len(first.measures) - hidden]
    values = np.empty((len(named), len(common), len(names)))
    for place, each in enumerate(named.values()):
        values[place] = _take(each, common, names)
    common, values = _without_nan(list(named), common, values, names)
    if len(common) < 2:
        problem = "the systems have one query in common, which says nothing of others"
        raise refuse(problem, query=common[0] if common else None)
    alike = all(each.query_ids == first.query_ids for each in named.values())
    every = dict.fromkeys(
        () if alike else (query for each in named.values() for query in each.query_ids)
    )
    return Aligned(
        systems=list(named),
        columns=first.columns[: len(names)],
        query_ids=common,
        values=values,
        settings=_join_settings(named),
        missing={
            name: [query for query in every if query not in each.rows]
            for name, each in named.items()
        },
        unanswered={
            name: [query for query in common if marked[each.rows[query]]] if marked.any() else []
            for name, each in named.items()
            for marked in [QueryMark.MISSING.holds(each.marks)]
        },
        judged=_judged(named, common),
        weights=_weights(named, common, names),
    )


def _check_ids(named: Mapping[str, Results]) -> None:
    """Refuse results of queries with ids beside others that know their queries by place alone."""
    placed = [name for name, each in named.items() if not each.has_ids]
    if placed and len(placed) < len(named):
        other = next(name for name, each in named.items() if each.has_ids)
        problem = (
            f"its queries have no ids, only places 0, 1, …, and {shown(other)} has "
            f"{_sample(named[other].query_ids)}: give query_ids= where it is evaluated"
        )
        raise InputError(problem, source="results", path=placed[0])


def _common(results: Sequence[Results]) -> list[Any]:
    """Return the queries that all have, in the order of the first."""
    first = results[0].query_ids
    if all(each.query_ids == first for each in results):
        return first
    shared = set.intersection(*(set(each.query_ids) for each in results))
    return [query for query in first if query in shared]


def _judged(named: Mapping[str, Results], queries: Sequence[Any]) -> dict[int, Floats]:
    """Return the shares of documents that are judged, by cutoff: ``(systems, queries)``.

    NaN of queries without a ranking.
    """
    found: dict[int, Floats] = {}
    for each in next(iter(named.values())).columns:
        if each.name != "Judged" or each.cutoff is None:
            continue
        shares = np.stack([_take(some, queries, [str(each)])[:, 0] for some in named.values()])
        for row, some in zip(shares, named.values(), strict=True):
            missing = QueryMark.MISSING.holds(some.marks)
            row[[bool(missing[some.rows[query]]) for query in queries]] = np.nan
        found[each.cutoff] = shares
    return found


def _weights(
    named: Mapping[str, Results], queries: Sequence[Any], measures: Sequence[str]
) -> Floats | None:
    """Return what weighted means weigh queries by, ``(queries, measures)``, which all must share.

    Where systems weigh queries alike their weighted means differ by that of the differences, which
    can be tested. Else a query counts more for one than for the other.
    """
    first = next(iter(named.values()))
    columns = [first.columns[first.measures.index(name)] for name in measures]
    if not any(each.aggregate == "weighted" for each in columns):
        return None
    weights = np.ones((len(queries), len(columns)))
    for k, each in enumerate(columns):
        if each.aggregate != "weighted":
            continue
        of_systems = [_weights_of(some, queries, each) for some in named.values()]
        for name, others in zip(named, of_systems, strict=True):
            if (odd := np.flatnonzero(others != of_systems[0])).size:
                row = int(odd[0])
                problem = (
                    f"the mean of {each} weighs it {others[row]:g} for {name!r}, and "
                    f"{of_systems[0][row]:g} for {next(iter(named))!r}: such means cannot be "
                    "compared query by query"
                )
                raise InputError(problem, source="measures", query=queries[row], value=str(each))
        weights[:, k] = of_systems[0]
    return weights


def _weights_of(results: Results, queries: Sequence[Any], measure: Measure) -> Floats:
    column = weight_column(results.columns, results.measures.index(str(measure)))
    rows = [results.rows[query] for query in queries]
    return np.asarray(results.weighted_values[rows, column], np.float64)


def _name(results: Mapping[str, Results] | Iterable[Results]) -> dict[str, Results]:
    """Return results by the systems' names: those of two systems or more."""
    named = name_systems(results, "result")
    for name, each in named.items():
        if not isinstance(name, str) or not isinstance(each, Results):
            problem = f"names go to Results, not {name!r} to {kind_of(each)}"
            raise InputError(problem, source="results")
    if len(named) < 2:
        problem = f"a comparison is of two systems or more, not {len(named)}"
        raise InputError(problem, source="results")
    return named


def _take(results: Results, queries: Sequence[Any], measures: Sequence[str]) -> Floats:
    """Return values ``(queries, measures)``, in the order of both."""
    columns = [results.measures.index(name) for name in measures]
    if queries is results.query_ids or queries == results.query_ids:
        return results.values[:, columns]
    return results.values[[results.rows[query] for query in queries]][:, columns]


def _without_nan(
    systems: Sequence[str], queries: list[Any], values: Floats, measures: Sequence[str]
) -> tuple[list[Any], Floats]:
    """Leave out queries that a measure leaves out for all; refuse any other NaN."""
    nan: Bools = np.isnan(values)
    kept = np.flatnonzero(~np.any(nan.all(axis=0), axis=1))
    if nan[:, kept].any():
        system, row, column = (int(each[0]) for each in np.nonzero(nan[:, kept]))
        problem = f"{measures[column]} of system {systems[system]!r} is NaN, that of others is not"
        raise InputError(problem, source="results", query=queries[kept[row]])
    if kept.size == len(queries):
        return [*queries], values
    return [queries[row] for row in kept], values[:, kept]


def _join_settings(named: Mapping[str, Results]) -> dict[str, str]:
    """Return the settings; warn of those that differ, and tell each."""
    joined: dict[str, str] = {}
    for name in dict.fromkeys(name for each in named.values() for name in each.settings):
        said = list(dict.fromkeys(each.settings.get(name, "not set") for each in named.values()))
        joined[name] = " / ".join(said)
        if len(said) > 1 and name != "order":
            warn(f"systems were evaluated differently: {name} is {' and '.join(map(repr, said))}")
    return joined


def _sample(ids: Sequence[Any]) -> str:
    return ", ".join(map(repr, ids[:3])) + (", …" if len(ids) > 3 else "")


def find_members(queries: Sequence[Any], groups: Mapping[Any, str] | None) -> dict[str, list[int]]:
    """Return the rows of each group's queries."""
    members: dict[str, list[int]] = {}
    if groups is None:
        return members
    if not isinstance(groups, Mapping):
        problem = f"groups go from query ids to names, not {kind_of(groups)}"
        raise InputError(problem, source="groups")
    for row, query in enumerate(queries):
        if query not in groups:
            raise InputError("it has no group", source="groups", query=query)
        members.setdefault(str(groups[query]), []).append(row)
    return members


def keep_group(
    queries: Mapping[str, list[Any]], groups: Mapping[Any, str] | None, name: str
) -> dict[str, list[Any]]:
    """Keep each system's queries of one group; a query that was left out need not have any."""
    named = groups or {}
    return {
        system: [query for query in some if query in named and str(named[query]) == name]
        for system, some in queries.items()
    }


def make_strata(members: Mapping[str, list[int]]) -> list[Positions] | None:
    """Return the groups to draw from; those of one query, without chance in it, are joined."""
    several = [np.array(rows) for rows in members.values() if len(rows) > 1]
    single = [row for rows in members.values() if len(rows) == 1 for row in rows]
    if len(single) == 1 and several:
        largest = max(range(len(several)), key=lambda i: several[i].size)
        several[largest] = np.append(several[largest], single)
    elif single:
        several.append(np.array(single))
    return several or None
