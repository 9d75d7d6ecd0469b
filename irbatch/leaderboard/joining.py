"""Results and records of the same systems, brought together by the systems' names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats
from irbatch.comparing.gate import values_behind, within_range
from irbatch.comparing.report import INTERVAL_NAMES
from irbatch.efficiency import EfficiencyRecord, Load, Measurement
from irbatch.efficiency.fields import field_error
from irbatch.efficiency.quantities import ALIASES, QUANTITIES, of_system
from irbatch.errors import InputError, did_you_mean, join_words, kind_of, shown, warn
from irbatch.evaluation.results import Results
from irbatch.evaluation.system_names import name_systems
from irbatch.leaderboard.axes import canonical_name, is_share
from irbatch.measures import Measure, parse_measures
from irbatch.runtime.numbers import is_number, is_whole
from irbatch.statistics.intervals import IntervalOptions, find_intervals

Record = EfficiencyRecord | Measurement | Load
Records = Mapping[str, Record] | Iterable[Record] | Record

Stated = dict[str, tuple[str, Any]]  # measure to what a system calls it, and its value

NAMED = 5  # systems in an error
PERCENT = 100
BOUNDS = ("low", "high")
INTERVALS_ARE = "intervals of measures"  # a setting
MEASURED = 99  # decimals of what was evaluated, more than are ever shown


class Accuracy(NamedTuple):
    """How accurate systems are; `irbatch.leaderboard.Leaderboard` explains the names."""

    measures: list[str]
    means: Floats
    intervals: Floats
    decimals: Floats
    n_queries: list[int | None]
    settings: dict[str, str]
    results: list[Any]


def name_records(records: Any) -> dict[str, EfficiencyRecord]:
    """Return records, given in any of the forms of `Records`, by the names of their rows."""
    if isinstance(records, Record):
        records = [records]
    if isinstance(records, str) or not isinstance(records, Iterable):
        raise InputError(f"records are several, not {shown(records)}", source="records")
    listed: list[EfficiencyRecord] = []
    pairs = records.items() if isinstance(records, Mapping) else enumerate(records)
    for name, given in pairs:
        if not isinstance(given, Record):
            problem = f"a record is an EfficiencyRecord, not {kind_of(given)}"
            raise InputError(problem, source="records", value=given)
        record = given if isinstance(given, EfficiencyRecord) else given.record
        if isinstance(records, Mapping) and record.system != name:
            problem = f"the record of {shown(name)} says that it is of {shown(record.system)}"
            raise InputError(problem, source="records", value=name)
        listed.append(record)
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


def set_prices(
    records: Sequence[EfficiencyRecord], prices: Mapping[str, float], currency: str | None
) -> list[EfficiencyRecord]:
    """Return records with the prices of their instances; errors are those of `priced`."""
    if not isinstance(prices, Mapping):
        problem = f"prices go from instances to numbers, not {shown(prices)}"
        raise InputError(problem, source="prices", value=prices)
    instances = {record.hardware.instance for record in records} - {None}
    for instance in prices:
        if instance not in instances:
            hint = did_you_mean(instance, map(str, instances))
            problem = f"no system was measured on {shown(instance)}{hint}"
            raise InputError(problem, source="prices", value=instance)
    priced = []
    for record in records:
        price = prices.get(record.hardware.instance or "")
        priced.append(record if price is None else record.priced(price, currency))
    return priced


def join_accuracy(
    results: Any,
    records: Mapping[str, EfficiencyRecord],
    measures: Iterable[str] | str | None,
    how: IntervalOptions,
) -> Accuracy:
    """Collect the accuracy of the systems whose records there are; `Leaderboard` has arguments."""
    listed = _results_by_row(results, records)
    systems = list(records)
    spellings = {str(name) for each in listed for name in each}
    canonical = {text: canonical_name(text) or text for text in spellings}
    stated = [_by_measure(each, canonical) for each in listed]
    columns = _choose_columns(measures, stated)
    cells = [
        [_cell(system, each, of_system.get(name)) for name in columns]
        for system, each, of_system in zip(systems, listed, stated, strict=True)
    ]
    table = np.array(cells, np.float64).reshape(len(systems), len(columns), 4)
    means, bounds, decimals = table[..., 0], table[..., 1:3], table[..., 3]
    called = {name: own for each in reversed(stated) for name, (own, _) in each.items()}
    names = [called.get(name, name) for name in columns]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{name} is given twice", source="measures", value=name)
        if name in QUANTITIES or name in ALIASES:
            problem = f"a measure of accuracy cannot be called {name}, as a quantity of records is"
            raise InputError(problem, source="measures", value=name)
    _warn_of_missing(names, means, systems, listed)
    _warn_of_percent(names, means, systems)
    counts = [each.counts.queries if isinstance(each, Results) else None for each in listed]
    settings = _common_settings(systems, listed)
    if how.draws and _find_intervals(bounds, listed, columns, how):
        drawn = "" if how.kind == "t" else f", {how.draws} draws, seed {how.seed}"
        settings[INTERVALS_ARE] = f"{INTERVAL_NAMES[how.kind]}{drawn}"
    return Accuracy(names, means, bounds, decimals, counts, settings, listed)


def _results_by_row(results: Any, records: Mapping[str, EfficiencyRecord]) -> list[Any]:
    """Return each row's results, which are given by row, or by the system that several are of."""
    named = name_systems([results] if isinstance(results, Results) else results, "result")
    systems = {record.system for record in records.values()}
    listed = [named.get(row, named.get(record.system)) for row, record in records.items()]
    for row, each in zip(records, listed, strict=True):
        if each is None:
            others = join_words([shown(name) for name in list(named)[:NAMED]]) or "no system"
            hint = did_you_mean(row, map(str, named))
            problem = f"is missing: there are results of {others}{hint}"
            raise field_error(of_system(row), "accuracy", problem, None)
    for name, each in named.items():
        if name not in records and name not in systems:
            problem = f"system {shown(name)} has results and no efficiency record"
            raise InputError(problem, source="records", value=name)
        if not isinstance(each, Mapping | Results):
            problem = f"is {kind_of(each)}, not of irbatch.evaluate or means by measure"
            raise field_error(of_system(name), "accuracy", problem, each)
    return listed


def _by_measure(results: Any, canonical: Mapping[str, str]) -> Stated:
    """Return a system's results by the measures' canonical names, however they are spelled."""
    stated: Stated = {}
    for name in results:
        text = str(name)
        if canonical[text] in stated:
            raise InputError(f"{text} is given twice", source="measures", value=name)
        stated[canonical[text]] = text, results[name]
    return stated


def _choose_columns(measures: Any, stated: Sequence[Stated]) -> list[str]:
    """Return the canonical names of those that are chosen: by default all that some system has."""
    if measures is None:
        columns = list(dict.fromkeys(name for each in stated for name in each))
    else:
        is_one = isinstance(measures, str) or not isinstance(measures, Iterable)
        columns = []
        for each in [measures] if is_one else measures:
            if not isinstance(each, str | Measure):
                problem = f"measures are names, not {shown(measures)}"
                raise InputError(problem, source="measures", value=measures)
            name = canonical_name(str(each)) or str(each)
            try:  # "P@{5,10}" names two
                columns += [name] if name in stated[0] else map(str, parse_measures(str(each)))
            except InputError:  # a measure of another tool
                columns.append(name)
    if not columns:
        raise InputError("there is no measure of accuracy", source="measures")
    return columns


def _cell(
    system: str, results: Any, stated: tuple[str, Any] | None
) -> tuple[float, float, float, int]:
    """Return a mean, the bounds of its interval where they are given, and typed decimals.

    NaN of what is missing.
    """
    if stated is None:
        return np.nan, np.nan, np.nan, MEASURED
    measure, value = stated
    given = value if isinstance(value, Mapping) else {"mean": value}
    if "mean" not in given or set(given) - {"mean", *BOUNDS}:
        named = ", ".join(map(str, given))
        problem = f"has a mean, and may have low and high bounds; not {named}"
        raise field_error(of_system(system), measure, problem, given)
    numbers = dict.fromkeys(BOUNDS, math.nan)
    for name, number in given.items():
        if number is None and name in BOUNDS:
            continue
        if not is_number(number) or not math.isfinite(number):
            what = "a text, not a number" if isinstance(number, str) else "no finite number"
            field = measure if name == "mean" else f"{name} bound of {measure}"
            problem = f"is {shown(number)}, which is {what}"
            raise field_error(of_system(system), f"accuracy: {field}", problem, number)
        numbers[name] = float(number)
    low, high = numbers["low"], numbers["high"]
    if low > high:  # the mean may lie outside: of few draws it does
        problem = f"lies between {low:g} and {high:g}, which are the wrong way round"
        raise field_error(of_system(system), measure, problem, given)
    typed = MEASURED if isinstance(results, Results) else max(map(_decimals, given.values()))
    return numbers["mean"], low, high, typed


def _decimals(value: Any) -> int:
    """Count the decimals that a number was typed with: 1 of 18.7, none of 18."""
    if value is None or is_whole(value):
        return 0
    return max(0, -int(Decimal(repr(float(value))).as_tuple().exponent))


def _warn_of_missing(
    names: Sequence[str], means: Floats, systems: Sequence[str], results: Sequence[Any]
) -> None:
    """Warn of what some systems lack; reject a system without any value, and such a measure."""
    unknown = [names[k] for k in np.flatnonzero(np.isnan(means).all(axis=0)).tolist()]
    first_rows = {id(each): row for row, each in reversed([*enumerate(results)])}
    for row in sorted(first_rows.values()):  # rows of a system share its results
        of = of_system(systems[row])
        lacking = [name for name, mean in zip(names, means[row], strict=True) if np.isnan(mean)]
        if unknown or (lacking and len(lacking) == len(names)):
            missing = [*unknown, *lacking][0]
            hint = did_you_mean(missing, map(str, results[row]))
            raise field_error(of, missing, f"is missing{hint}", None)
        if lacking:
            warn(f"{of}: {join_words(lacking)} missing, shown as –")


def _find_intervals(
    bounds: Floats, results: Sequence[Any], measures: Sequence[str], how: IntervalOptions
) -> bool:
    """Put intervals of means over queries where there are values of queries; tell if there are any.

    One set of draws serves all systems and measures that have values of as many queries.
    Intervals are written into `bounds`, float64 ``(systems, measures, 2)``, and end where values of
    the measure do.
    """
    alike: dict[int, list[tuple[int, int, Floats, bool]]] = {}
    for i, each in enumerate(results):
        for k, measure in enumerate(
            measures if isinstance(each, Results) and each.has_values else ()
        ):
            if measure in each and (behind := values_behind(each, measure)) is not None:
                alike.setdefault(len(behind[0]), []).append((i, k, *behind))
    for group in alike.values():
        geometric = np.array([each[3] for each in group])
        table = np.stack([each[2] for each in group], axis=1)[None]
        found = find_intervals(table, [], *how, geometric=geometric)
        for (i, k, *_), (low, high) in zip(group, found.means[0].tolist(), strict=True):
            bounds[i, k] = within_range(results[i], measures[k], low, high)
    return bool(alike)


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


def _common_settings(systems: Sequence[str], results: Sequence[Any]) -> dict[str, str]:
    """Return what the results have in common; warn where systems answered other queries."""
    means = {
        system: each
        for system, each in zip(systems, results, strict=True)
        if isinstance(each, Results)
    }
    queries = [set(each.query_ids) for each in means.values() if each.has_values]
    if any(each != queries[0] for each in queries):
        warn("systems on the leaderboard were evaluated on different queries")
    stated = [set(each.settings.items()) for each in means.values()]
    first: dict[str, str] = next(iter(means.values())).settings if means else {}
    settings = {k: v for k, v in first.items() if all((k, v) in each for each in stated)}
    missing = [
        f"{each.counts.missing} of {system}"
        for system, each in means.items()
        if each.counts.missing
    ]
    return {**settings, "queries without a ranking": ", ".join(missing)} if missing else settings
