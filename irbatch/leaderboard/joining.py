"""Results and records of the same systems, brought together by the systems' names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.efficiency import EfficiencyRecord, Load, Measurement
from irbatch.efficiency.fields import field_error
from irbatch.efficiency.quantities import ALIASES, QUANTITIES, of_system
from irbatch.errors import InputError, did_you_mean, join_words, kind_of, shown, warn
from irbatch.evaluation.intervals import find_interval
from irbatch.evaluation.results import Results
from irbatch.evaluation.system_names import name_systems
from irbatch.leaderboard.axes import canonical_name
from irbatch.measures import Measure, parse_measures
from irbatch.runtime.numbers import is_number

Record = EfficiencyRecord | Measurement | Load
Records = Iterable[Record] | Record

NAMED = 5  # systems in an error
PARTS = ("mean", "low", "high")  # of what is stated of a measure


def name_records(records: Any) -> dict[str, EfficiencyRecord]:
    """Return records, given in any of the forms of `Records`, by the names of their rows."""
    if isinstance(records, Record):
        records = [records]
    if isinstance(records, str) or not isinstance(records, Iterable):
        raise InputError(f"records are several, not {shown(records)}", source="records")
    listed: list[EfficiencyRecord] = []
    for record in records:
        if not isinstance(record, Record):
            problem = f"a record is an EfficiencyRecord, not {kind_of(record)}"
            raise InputError(problem, source="records", value=record)
        listed.append(record if isinstance(record, EfficiencyRecord) else record.record)
    if not listed:
        raise InputError("there is no record, so there is no system", source="records")
    return dict(zip(name_rows(listed), listed, strict=True))


def name_rows(records: Sequence[EfficiencyRecord]) -> list[str]:
    """Name each record's row: after its system, and of several of a system after the machine, too.

    Raises:
        InputError: naming a system of which two records are of one machine, or of none.

    >>> name_rows([EfficiencyRecord(system="bm25"),
    ...            EfficiencyRecord(system="dense", hardware="c6g.large"),
    ...            EfficiencyRecord(system="dense", hardware="p4d.24xlarge")])
    ['bm25', 'dense on c6g.large', 'dense on p4d.24xlarge']
    """
    often = Counter(record.system for record in records)
    rows: list[str] = []
    for record in records:
        row, several = record.system, often[record.system] > 1
        machine = record.hardware.instance or str(record.hardware)
        row += f" on {machine}" if several and machine else ""
        if row in rows or (several and not machine):
            problem = f"there are two records of {shown(record.system)}"
            advice = "several take an instance each, which tells them apart"
            raise InputError(f"{problem}; {advice}", source="records", value=record.system)
        rows.append(row)
    return rows


def join_accuracy(
    results: Any, records: Mapping[str, EfficiencyRecord], measures: Any, level: float
) -> dict[str, Any]:
    """Return the fields of a `Leaderboard` that say how accurate the systems of records are."""
    listed = _results_by_row(results, records)
    systems = list(records)
    stated = [_by_measure(system_results) for system_results in listed]
    columns = _choose_columns(measures, stated)
    called = {name: own for of_system in reversed(stated) for name, (own, _) in of_system.items()}
    names = [called.get(name, name) for name in columns]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{name} is given twice", source="measures", value=name)
        if name in QUANTITIES or name in ALIASES:
            problem = f"a measure of accuracy cannot be called {name}, as a quantity of records is"
            raise InputError(problem, source="measures", value=name)
    table = np.full((len(systems), len(columns), len(PARTS)), np.nan)
    for i, (system, system_results, by_measure) in enumerate(
        zip(systems, listed, stated, strict=True)
    ):
        for k, column in enumerate(columns):
            if column in by_measure:
                own, value = by_measure[column]
                table[i, k] = _read_value(system, own, value)
                if isinstance(system_results, Results) and system_results.has_values:
                    table[i, k, 1:] = find_interval(system_results, own, "t", level)
    _warn_of_missing(names, table[..., 0], systems, listed)
    return {
        "measures": names,
        "means": table[..., 0],
        "intervals": table[..., 1:],
        "n_queries": [
            own_results.counts.queries if isinstance(own_results, Results) else None
            for own_results in listed
        ],
        "settings": _common_settings(systems, listed),
        "results": listed,
    }


def _results_by_row(results: Any, records: Mapping[str, EfficiencyRecord]) -> list[Any]:
    """Return each row's results, which are given by row, or by the system that several are of."""
    by_name = name_systems([results] if isinstance(results, Results) else results, "result")
    systems = {record.system for record in records.values()}
    listed = [by_name.get(row, by_name.get(record.system)) for row, record in records.items()]
    for row, row_results in zip(records, listed, strict=True):
        if row_results is None:
            others = join_words([shown(name) for name in list(by_name)[:NAMED]]) or "no system"
            hint = did_you_mean(row, map(str, by_name))
            problem = f"is missing: there are results of {others}{hint}"
            raise field_error(of_system(row), "accuracy", problem, None)
    for name, system_results in by_name.items():
        if name not in records and name not in systems:
            problem = f"system {shown(name)} has results and no efficiency record"
            raise InputError(problem, source="records", value=name)
        if not isinstance(system_results, Mapping | Results):
            problem = f"is {kind_of(system_results)}, not of irbatch.evaluate or means by measure"
            raise field_error(of_system(name), "accuracy", problem, system_results)
    return listed


def _by_measure(results: Any) -> dict[str, tuple[str, Any]]:
    """Return what a system calls its measures, and their values, by the canonical names."""
    stated: dict[str, tuple[str, Any]] = {}
    for name in results:
        canonical = canonical_name(str(name)) or str(name)
        if canonical in stated:
            raise InputError(f"{name} is given twice", source="measures", value=name)
        stated[canonical] = str(name), results[name]
    return stated


def _choose_columns(measures: Any, stated: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the canonical names of those that are chosen: by default all that some system has."""
    columns = list(dict.fromkeys(name for by_measure in stated for name in by_measure))
    if measures is not None:
        is_one = isinstance(measures, str) or not isinstance(measures, Iterable)
        columns = []
        for measure in [measures] if is_one else measures:
            if not isinstance(measure, str | Measure):
                problem = f"measures are names, not {shown(measures)}"
                raise InputError(problem, source="measures", value=measures)
            name = canonical_name(str(measure)) or str(measure)
            try:  # "P@{5,10}" names two
                columns += [name] if name in stated[0] else map(str, parse_measures(str(measure)))
            except InputError:  # a measure of another tool
                columns.append(name)
    if not columns:
        raise InputError("there is no measure of accuracy", source="measures")
    return columns


def _read_value(system: str, measure: str, value: Any) -> list[float]:
    """Return a mean and the bounds of its interval, NaN of those that aren't stated."""
    stated = value if isinstance(value, Mapping) else {"mean": value}
    if "mean" not in stated or set(stated) - set(PARTS):
        problem = f"has a mean, and may have low and high bounds; not {', '.join(map(str, stated))}"
        raise field_error(of_system(system), measure, problem, stated)
    numbers = []
    for part in PARTS:
        number = stated.get(part)
        if number is None and part != "mean":
            number = math.nan
        elif not is_number(number) or not math.isfinite(number):  # type: ignore[arg-type]
            field = measure if part == "mean" else f"{part} bound of {measure}"
            problem = f"is {shown(number)}, which is not a finite number"
            raise field_error(of_system(system), f"accuracy: {field}", problem, number)
        numbers.append(float(number))  # type: ignore[arg-type]
    _, low, high = numbers
    if low > high:  # the mean may lie outside
        problem = f"lies between {low:g} and {high:g}, which are the wrong way round"
        raise field_error(of_system(system), measure, problem, stated)
    return numbers


def _warn_of_missing(
    names: Sequence[str], means: Floats, systems: Sequence[str], results: Sequence[Any]
) -> None:
    """Warn of what some systems lack; reject a system without any value, and such a measure."""
    unknown = [names[k] for k in np.flatnonzero(np.isnan(means).all(axis=0)).tolist()]
    first_rows = {
        id(system_results): row for row, system_results in reversed([*enumerate(results)])
    }
    for row in sorted(first_rows.values()):  # rows of a system share its results
        of = of_system(systems[row])
        lacking = [name for name, mean in zip(names, means[row], strict=True) if np.isnan(mean)]
        if unknown or (lacking and len(lacking) == len(names)):
            missing = [*unknown, *lacking][0]
            hint = did_you_mean(missing, map(str, results[row]))
            raise field_error(of, missing, f"is missing{hint}", None)
        if lacking:
            warn(f"{of}: {join_words(lacking)} missing, shown as –")


def _common_settings(systems: Sequence[str], results: Sequence[Any]) -> dict[str, str]:
    """Return what the results have in common; warn where systems answered other queries."""
    evaluated = {
        system: own
        for system, own in zip(systems, results, strict=True)
        if isinstance(own, Results)
    }
    queries = [set(own.query_ids) for own in evaluated.values() if own.has_values]
    if any(query_ids != queries[0] for query_ids in queries):
        warn("systems on the leaderboard were evaluated on different queries")
    first: dict[str, str] = next(iter(evaluated.values())).settings if evaluated else {}
    settings = {
        name: value
        for name, value in first.items()
        if all(own.settings.get(name) == value for own in evaluated.values())
    }
    missing = [
        f"{own.counts.missing} of {system}"
        for system, own in evaluated.items()
        if own.counts.missing
    ]
    return {**settings, "queries without a ranking": ", ".join(missing)} if missing else settings
