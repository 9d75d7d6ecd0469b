"""Results and records of the same systems, brought together by the systems' names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency import EfficiencyRecord, Measurement
from irbatch.efficiency.checks import of_system, refuse
from irbatch.efficiency.quantities import ALIASES, QUANTITIES
from irbatch.errors import InputError, did_you_mean, join_words, shown, warn
from irbatch.evaluation.means import Means
from irbatch.evaluation.results import Results
from irbatch.evaluation.system_names import name_systems
from irbatch.leaderboard.axes import canonical_name, is_share
from irbatch.measures import Measure, parse_measures
from irbatch.runtime.numbers import is_number
from irbatch.statistics.intervals import find_intervals

Record = EfficiencyRecord | Measurement
Records = Mapping[str, Record] | Iterable[Record] | Record

NAMED = 5  # systems in an error
PERCENT = 100
BOUNDS = ("low", "high")


class Accuracy(NamedTuple):
    """How accurate systems are.

    Args:
        measures: names.
        means: float64 ``(systems, measures)``.
        intervals: float64 ``(systems, measures, 2)``; NaN where there are none.
        n_queries: of each system; None where that isn't known.
        settings: how the values came about.
    """

    measures: list[str]
    means: Floats
    intervals: Floats
    n_queries: list[int | None]
    settings: dict[str, str]


def name_records(records: Records) -> dict[str, EfficiencyRecord]:
    """Return records by their systems' names.

    Raises:
        InputError: if there is no record, two are of one system, or one is something else.
    """
    if isinstance(records, EfficiencyRecord | Measurement):
        records = [records]
    if isinstance(records, Mapping):
        for name, each in records.items():
            each = each.record if isinstance(each, Measurement) else each
            if isinstance(each, EfficiencyRecord) and each.system != name:
                problem = f"the record of {shown(name)} says that it is of {shown(each.system)}"
                raise InputError(problem, source="records", value=name)
        records = list(records.values())
    if isinstance(records, str) or not isinstance(records, Iterable):
        raise InputError(f"records are several, not {shown(records)}", source="records")
    named: dict[str, EfficiencyRecord] = {}
    for given in records:
        each = given.record if isinstance(given, Measurement) else given
        if not isinstance(each, EfficiencyRecord):
            problem = f"a record is an EfficiencyRecord, not a {type(each).__name__}"
            raise InputError(problem, source="records", value=each)
        if each.system in named:
            problem = f"there are two records of {shown(each.system)}"
            raise InputError(problem, source="records", value=each.system)
        named[each.system] = each
    if not named:
        raise InputError("there is no record, so there is no system", source="records")
    return named


def join_accuracy(
    results: Any,
    systems: Sequence[str],
    measures: Iterable[str] | str | None,
    level: float,
    draws: int,
    seed: int,
) -> Accuracy:
    """Collect the accuracy of systems.

    Args:
        results: `Results` of each system by name, or named ones; or its means by measure, as
            numbers or as ``{"mean": …, "low": …, "high": …}``.
        systems: whose records there are.
        measures: those wanted; default: all that some system has.
        level, draws, seed: of the bootstrap over queries, for intervals.

    Raises:
        InputError: naming the system and the measure, if a value is missing or not finite.
    """
    named = name_systems([results] if isinstance(results, Means) else results, "result")
    for system in systems:
        if system not in named:
            known = join_words([shown(each) for each in list(named)[:NAMED]])
            hint = did_you_mean(system, [each for each in named if isinstance(each, str)])
            problem = f"is missing: there are results of {known or 'no system'}{hint}"
            raise refuse(of_system(system), "accuracy", problem, None)
    for system, each in named.items():
        if system not in systems:
            problem = f"system {shown(system)} has results and no efficiency record"
            raise InputError(problem, source="records", value=system)
        if not isinstance(each, Mapping | Means):
            problem = f"is a {type(each).__name__}, not of irbatch.evaluate or means by measure"
            raise refuse(of_system(system), "accuracy", problem, each)
    in_order = [named[system] for system in systems]
    columns = _columns(measures, in_order)
    cells = [[_cell(system, named[system], measure) for measure in columns] for system in systems]
    table = np.array(cells, np.float64).reshape(len(systems), len(columns), 3)
    if draws:
        _find_intervals(table[..., 1:], in_order, columns, level, draws, seed)
    names = [_name(in_order[0], measure) for measure in columns]
    _warn_of_percent(names, table[..., 0], systems)
    _check_names(names)
    counts = [each.counts.queries if isinstance(each, Means) else None for each in in_order]
    return Accuracy(names, table[..., 0], table[..., 1:], counts, _settings(named, systems))


def _columns(measures: Any, results: Sequence[Any]) -> list[str]:
    """Return the measures that are wanted: by default all that some system has."""
    if measures is None:
        columns: list[str] = []
        for each in results:
            known = [_name(each, column) for column in columns if _has(each, column)]
            columns += [str(name) for name in each if str(name) not in known]
    else:
        wanted = [measures] if isinstance(measures, str) else measures
        listed = list(wanted) if isinstance(wanted, Iterable) else [wanted]
        if not all(isinstance(each, str | Measure) for each in listed):
            problem = f"measures are names, not {shown(measures)}"
            raise InputError(problem, source="measures", value=measures)
        columns = [name for each in listed for name in _spread(str(each), results[0])]
    if not columns:
        raise InputError("there is no measure of accuracy", source="measures")
    return columns


def _has(results: Any, measure: str) -> bool:
    return measure in results if isinstance(results, Means) else _name(results, measure) in results


def _spread(name: str, results: Any) -> list[str]:
    """Return the measures that one text names: ``"P@{5,10}"`` names two."""
    if _has(results, name):
        return [name]
    try:
        return [str(each) for each in parse_measures(name)]
    except InputError:  # a measure of somebody else's
        return [name]


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{name} is given twice", source="measures", value=name)
        if name in QUANTITIES or name in ALIASES:
            problem = f"a measure of accuracy cannot be called {name}, as a quantity of records is"
            raise InputError(problem, source="measures", value=name)


def _name(results: Any, measure: str) -> str:
    """Name a measure as the results do, which may spell it otherwise."""
    if isinstance(results, Means):
        return results.measures[results.column_of(measure)]
    wanted = str(measure)
    canonical = canonical_name(wanted)
    alike = (name for name in results if canonical and canonical_name(str(name)) == canonical)
    return wanted if wanted in results else str(next(alike, wanted))


def _cell(system: str, results: Any, measure: str) -> tuple[float, float, float]:
    """Return a mean, and the bounds of its interval where they are given."""
    if isinstance(results, Mapping):
        measure = _name(results, measure)
    if measure not in results:
        hint = did_you_mean(measure, map(str, results))
        raise refuse(of_system(system), str(measure), f"is missing{hint}", None)
    given = results[measure]
    if not isinstance(given, Mapping):
        return _number(system, measure, given), np.nan, np.nan
    if "mean" not in given or set(given) - {"mean", *BOUNDS}:
        named = ", ".join(map(str, given))
        problem = f"has a mean, and may have low and high bounds; not {named}"
        raise refuse(of_system(system), str(measure), problem, given)
    mean = _number(system, measure, given["mean"])
    low, high = (
        np.nan
        if (value := given.get(bound)) is None
        else _number(system, f"{bound} bound of {measure}", value)
        for bound in BOUNDS
    )
    if low > high:  # the mean may lie outside: of few draws it does
        problem = f"lies between {low:g} and {high:g}, which are the wrong way round"
        raise refuse(of_system(system), str(measure), problem, given)
    return mean, low, high


def _number(system: str, field: str, value: Any) -> float:
    if not is_number(value) or not np.isfinite(value):
        problem = f"is {shown(value)}, which is no finite number"
        raise refuse(of_system(system), str(field), problem, value)
    return float(value)


def _find_intervals(
    bounds: Floats,
    results: Sequence[Any],
    measures: Sequence[str],
    level: float,
    draws: int,
    seed: int,
) -> None:
    """Put bootstrap intervals of means over queries where there are values of queries.

    One set of draws serves all systems and measures that have values of as many queries.

    Args:
        bounds: float64 ``(systems, measures, 2)``, which are written.
        results, measures, level, draws, seed: as `join_accuracy` has them.
    """
    alike: dict[int, list[tuple[int, int, Floats, bool]]] = {}
    for i, each in enumerate(results):
        for k, measure in enumerate(measures if isinstance(each, Results) else ()):
            place = each.column_of(measure)
            values, how = each.values[:, place], each.columns[place].aggregate
            values = values[~np.isnan(values)]
            is_geometric = how == "geometric"
            if how == "sum" or len(values) < 2 or (is_geometric and values.min() <= 0):
                continue
            scaled = np.log(values) if is_geometric else values
            alike.setdefault(len(values), []).append((i, k, scaled, is_geometric))
    for group in alike.values():
        geometric = np.array([each[3] for each in group])
        table = np.stack([each[2] for each in group], axis=1)[None]
        found = find_intervals(table, [], "percentile", level, draws, seed, geometric=geometric)
        for (i, k, *_), ends in zip(group, found.means[0], strict=True):
            bounds[i, k] = ends


def _warn_of_percent(measures: Sequence[str], means: Floats, systems: Sequence[str]) -> None:
    """Warn where a measure that is never above 1 is so for some systems: per cent, perhaps."""
    for name, column in zip(measures, means.T, strict=True):
        above, within = (column > 1) & (column <= PERCENT), column <= 1
        if above.any() and within.any() and is_share(name):
            one, other = int(np.argmax(above)), int(np.argmax(within))
            others = f"that of {shown(systems[other])} is {column[other]:g}"
            warn(
                f"{name} of {shown(systems[one])} is {column[one]:g}, and {others}: is one of "
                "them in per cent?"
            )


def _settings(named: Mapping[str, Any], systems: Sequence[str]) -> dict[str, str]:
    """Return what the results have in common; warn where systems answered other queries."""
    evaluated = [named[system] for system in systems if isinstance(named[system], Means)]
    if not evaluated:
        return {}
    queries = [set(each.query_ids) for each in evaluated if isinstance(each, Results)]
    if any(each != queries[0] for each in queries):
        warn("systems on the leaderboard were evaluated on different queries")
    first: dict[str, str] = evaluated[0].settings
    settings = {
        name: value
        for name, value in first.items()
        if all(each.settings.get(name) == value for each in evaluated)
    }
    missing = [
        f"{each.counts.missing} of {system}"
        for system in systems
        if isinstance(each := named[system], Means) and each.counts.missing
    ]
    return {**settings, "queries without a ranking": ", ".join(missing)} if missing else settings
