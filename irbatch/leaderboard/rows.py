"""Rows of a leaderboard: results and records of the same systems, their axes, and their JSON.

`Leaderboard.from_json` tells what may stand in JSON.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from irbatch.efficiency import QUANTITIES, EfficiencyRecord, Load, Measurement, Quantity
from irbatch.efficiency.interchange import (
    HIGHER,
    LOWER,
    Whole,
    check_fields,
    field_error,
    is_json,
    of_system,
    read_fields,
    read_object,
    to_known,
)
from irbatch.efficiency.record import ALIASES, OPEN
from irbatch.errors import ErrorsIn, InputError, did_you_mean, join_words, kind_of, shown, warn
from irbatch.evaluation.evaluation import as_qrels
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate_runs, name_systems
from irbatch.evaluation.tables import find_interval
from irbatch.measures import Measure, measure, parse_measures
from irbatch.report.document import Column
from irbatch.report.text import show_quantity
from irbatch.runtime.numbers import check_number
from irbatch.statistics.resampling import check_level
from irbatch.version import __version__

Records = Iterable[EfficiencyRecord | Measurement | Load] | EfficiencyRecord | Measurement | Load
Figure = tuple[float, float, float]  # a value, and the bounds of its interval; NaN where unknown
Named = TypeVar("Named", Quantity, Column)
Board = Any  # an `irbatch.leaderboard.Leaderboard`, whose module imports those that take one

SOURCE = "leaderboard"
UNKNOWN: Figure = (math.nan, math.nan, math.nan)
UNSAID = "a machine unsaid"  # of conditions
PARTS = ("mean", "low", "high")  # of what is stated of a measure


@dataclass(frozen=True)
class Row:
    """A system as it was measured on one machine."""

    name: str
    record: EfficiencyRecord
    results: Any  # `Results`, or means by measure
    accuracy: Mapping[str, Figure]  # of the measures that it has
    queries: int | None  # that the accuracy is the mean of

    @property
    def has_values(self) -> bool:
        """Whether values of queries are known."""
        return isinstance(self.results, Results) and self.results.has_values

    def figure(self, axis: str) -> Figure:
        """Return the value of a measure or a quantity, which is finite, and its bounds."""
        value = self.record.value(axis) if axis in QUANTITIES else None
        if value is None:
            return self.accuracy.get(axis, UNKNOWN)
        if math.isinf(value):
            raise field_error(of_system(self.name), axis, "is not finite", value)
        low, high = self.record.interval(axis) or UNKNOWN[1:]
        return value, low, high


@dataclass(frozen=True)
class Pareto:
    """Which systems are on the frontier, and which others beat those that are not.

    A system is dominated by one that is at least as good along every axis and better along one
    (Santhanam et al. 2022). Systems that are equal along every axis are on the frontier together
    or not at all. Where axes are times or rates that were measured under several conditions, such
    as on several machines, there is a frontier of each, and `conditions` says of which.
    """

    axes: list[str]
    frontier: list[str]  # systems that nothing dominates, in the leaderboard's order
    dominated_by: dict[str, list[str]]  # each of the others, with all that dominate it
    left_out: dict[str, list[str]] = field(default_factory=dict)  # not compared: axes it lacks
    conditions: dict[str, str] = field(default_factory=dict)  # systems to how they were measured


@dataclass(frozen=True)
class Significance:
    """What `Leaderboard.tested` found: of each measure the best system, and all others against it.

    Attributes:
        level: p-values below it are significant.
        queries: how many were compared.
        best: measure to the system of the best mean, of those tested.
        p_values: measure to system to the p-value of its difference from the best, corrected for
            all pairs of systems, as which is the best is known from the same values.
    """

    level: float
    queries: int
    best: dict[str, str]
    p_values: dict[str, dict[str, float]]

    def __post_init__(self) -> None:
        check_fields(self, "significance")
        check_level(self.level)

    def not_worse(self, measure: str) -> list[str]:
        """Name the systems that are not significantly worse than the best, which is among them."""
        p_values = self.p_values.get(measure, {})
        return [system for system, p in p_values.items() if p >= self.level]

    def caption(self) -> str:
        """Say what was tested, and how."""
        how = "paired randomisation test, Holm correction over all pairs"
        return f"{how}, {self.queries} queries, level {self.level:g}"


def name_rows(records: Sequence[EfficiencyRecord]) -> list[str]:
    """Name rows after their systems, and of several of a system after the machine, too.

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


def join_rows(
    results: Any, records: Any, measures: Any, level: float
) -> tuple[list[Row], list[str]]:
    """Return the rows of a `Leaderboard`, and its measures; arguments and errors are its own."""
    listed = _list_records(records)
    names = name_rows(listed)
    of_rows = _results_of_rows(results, dict(zip(names, listed, strict=True)))
    spelled = [_spellings(of_row) for of_row in of_rows]
    first_names: dict[str, str] = {}  # canonical names to those of the first system
    for spellings in spelled:
        for canonical, own in spellings.items():
            first_names.setdefault(canonical, own)
    chosen = list(first_names) if measures is None else _choose(measures)
    if not chosen:
        raise InputError("there is no measure of accuracy", source="measures")
    shown_names = [first_names.get(name, name) for name in chosen]
    for name in shown_names:
        if shown_names.count(name) > 1:
            raise InputError(f"{name} is given twice", source="measures", value=name)
        if name in QUANTITIES or name in ALIASES:
            problem = f"a measure of accuracy cannot be called {name}, as a quantity of records is"
            raise InputError(problem, source="measures", value=name)
    rows = []
    for name, record, of_row, spellings in zip(names, listed, of_rows, spelled, strict=True):
        accuracy = {
            shown_name: _read_figure(name, of_row, spellings[canonical], level)
            for canonical, shown_name in zip(chosen, shown_names, strict=True)
            if canonical in spellings
        }
        queries = of_row.counts.queries if isinstance(of_row, Results) else None
        rows.append(Row(name, record, of_row, accuracy, queries))
    _warn_of_missing(rows, shown_names)
    return rows, shown_names


def _list_records(records: Any) -> list[EfficiencyRecord]:
    """Return records that are given in any of the forms of `Records`, one at least."""
    is_one = isinstance(records, Measurement) or not isinstance(records, Iterable)
    several = [records] if is_one else records
    listed: list[Any] = [getattr(record, "record", record) for record in several]
    for record in listed:
        if not isinstance(record, EfficiencyRecord):
            problem = f"a record is an EfficiencyRecord, not {kind_of(record)}"
            raise InputError(problem, source="records", value=record)
    if not listed:
        raise InputError("there is no record, so there is no system", source="records")
    return listed


def _results_of_rows(results: Any, records: Mapping[str, EfficiencyRecord]) -> list[Any]:
    """Return each row's results, which are given by row, or by the system that several are of."""
    by_name = name_systems([results] if isinstance(results, Results) else results, "result")
    systems = {record.system for record in records.values()}
    listed = [by_name.get(row, by_name.get(record.system)) for row, record in records.items()]
    for row, of_row in zip(records, listed, strict=True):
        if of_row is None:
            problem = f"is missing{did_you_mean(row, map(str, by_name))}"
            raise field_error(of_system(row), "accuracy", problem, None)
    for name, of_row in by_name.items():
        if name not in records and name not in systems:
            problem = f"system {shown(name)} has results and no efficiency record"
            raise InputError(problem, source="records", value=name)
        if not isinstance(of_row, Mapping | Results):
            problem = f"is {kind_of(of_row)}, not of irbatch.evaluate or means by measure"
            raise field_error(of_system(name), "accuracy", problem, of_row)
    return listed


def _spellings(results: Any) -> dict[str, str]:
    """Return what a system calls its measures, by their canonical names."""
    spellings: dict[str, str] = {}
    for name in map(str, results):
        canonical = canonical_name(name) or name
        if canonical in spellings:
            raise InputError(f"{name} is given twice", source="measures", value=name)
        spellings[canonical] = name
    return spellings


def _choose(measures: Any) -> list[str]:
    """Return the canonical names of the measures that are asked for."""
    chosen: list[str] = []
    is_one = isinstance(measures, str) or not isinstance(measures, Iterable)
    for name in [measures] if is_one else measures:
        try:  # "P@{5,10}" names two
            chosen += map(str, parse_measures(str(name)))
        except InputError:  # a measure of another tool
            chosen.append(str(name))
    return chosen


def _read_figure(system: str, results: Any, measure: str, level: float) -> Figure:
    """Return a mean and the bounds of its interval, which is worked out where it isn't stated."""
    stated = results[measure]
    stated = stated if isinstance(stated, Mapping) else {"mean": stated}
    if "mean" not in stated or set(stated) - set(PARTS):
        problem = f"has a mean, and may have low and high bounds; not {', '.join(map(str, stated))}"
        raise field_error(of_system(system), measure, problem, stated)
    with ErrorsIn(source=of_system(system)):
        mean = check_number(f"accuracy: {measure}", stated["mean"])
        if isinstance(results, Results) and results.has_values:
            return mean, *find_interval(results, measure, "t", level)
        low, high = (
            math.nan if stated.get(end) is None
            else check_number(f"accuracy: {end} bound of {measure}", stated[end])
            for end in PARTS[1:]
        )  # fmt: skip
    if low > high:  # the mean may lie outside
        problem = f"lies between {low:g} and {high:g}, which are the wrong way round"
        raise field_error(of_system(system), measure, problem, stated)
    return mean, low, high


def _warn_of_missing(rows: Sequence[Row], measures: Sequence[str]) -> None:
    """Warn of what some systems lack; reject a system without any value, and such a measure."""
    unknown = [name for name in measures if not any(name in row.accuracy for row in rows)]
    for row in rows:
        lacking = [name for name in measures if name not in row.accuracy]
        if unknown or not row.accuracy:
            missing = [*unknown, *lacking][0]
            hint = did_you_mean(missing, map(str, row.results))
            raise field_error(of_system(row.name), missing, f"is missing{hint}", None)
        if lacking:
            warn(f"{of_system(row.name)}: {join_words(lacking)} missing, shown as –")


def one_currency(rows: Iterable[Row]) -> str | None:
    """Return the currency of prices; None where none is said; reject several."""
    owners = {
        row.record.currency: row.name for row in rows if row.record.price_per_hour is not None
    }
    if len(owners) > 1:
        (one, system), (other, owner), *_ = owners.items()
        problem = f"is {one or 'not said'}, and that of {shown(owner)} {other or 'not said'}"
        raise field_error(of_system(system), "currency", problem, one)
    return next(iter(owners), None)


def common_settings(rows: Sequence[Row]) -> dict[str, str]:
    """Return what evaluated results have in common; warn where systems answered other queries."""
    evaluated = {row.name: row.results for row in rows if isinstance(row.results, Results)}
    queries = [set(results.query_ids) for results in evaluated.values() if results.has_values]
    if any(query_ids != queries[0] for query_ids in queries):
        warn("systems on the leaderboard were evaluated on different queries")
    settings = [dict(results.settings) for results in evaluated.values()] or [{}]
    common = {
        name: value
        for name, value in settings[0].items()
        if all(other.get(name) == value for other in settings)
    }
    counts = {system: results.counts.missing for system, results in evaluated.items()}
    missing = ", ".join(f"{count} of {system}" for system, count in counts.items() if count)
    return {**common, "queries without a ranking": missing} if missing else common


# ---------------------------------------------------------------- axes


def find_axis(name: object, measures: Sequence[str]) -> Quantity:
    """Find a measure in any spelling, or a quantity; of unknown measures higher is better."""
    if isinstance(name, str):
        if name in measures:
            is_lower = canonical_name(name) is not None and measure(name).sign < 0
            return Quantity(name, "", LOWER if is_lower else HIGHER, name)
        words = "_".join(name.split())
        if words in QUANTITIES or words in ALIASES:
            return QUANTITIES[ALIASES.get(words, words)]
        canonical = canonical_name(name)
        for own in measures if canonical is not None else ():
            if canonical_name(own) == canonical:
                return find_axis(own, measures)
    hint = did_you_mean(name, [*measures, *QUANTITIES, *ALIASES])
    hint = hint or f"; measures here: {', '.join(measures)}"
    raise InputError(f"there is no axis {shown(name)}{hint}", source="axis", value=name)


def find_all(names: Iterable[Any], find: Callable[[Any], Named], kind: str) -> list[Named]:
    """Find several axes, or columns, by their names: one at least and none twice."""
    if not isinstance(names, Iterable):
        raise InputError(f"{kind} names are not {shown(names)}", source=kind, value=names)
    by_name: dict[str, Named] = {}
    for name in [names] if isinstance(names, str) else names:
        item = find(name)
        if item.name in by_name:
            raise InputError(f"{item.name} is given twice", source=kind, value=item.name)
        by_name[item.name] = item
    if not by_name:
        raise InputError(f"there is no {kind}", source=kind)
    return list(by_name.values())


def conditions_of(record: EfficiencyRecord, names: Iterable[str]) -> str:
    """Say under what conditions the times and rates among some axes were measured, if any are.

    Only under the same ones are they comparable.
    """
    times = [name for name in names if is_of_machine(name)]
    if not times:
        return ""
    conditions, latency = [str(record.hardware) or UNSAID], record.latency
    if latency is not None and any(QUANTITIES[name].unit == "ms" for name in times):
        conditions += [f"calls of {record.batch_size} queries"] * (record.batch_size > 1)
        if latency.loop == OPEN:
            at = "" if latency.rate is None else f" at {show_quantity(latency.rate)} queries/s"
            conditions.append(f"an open loop{at}")
    return ", ".join(conditions)


def is_of_machine(name: str) -> bool:
    """Tell whether an axis is a time or a rate, which another machine would change."""
    return name in QUANTITIES and QUANTITIES[name].unit in ("ms", "s", "queries/s")


@functools.cache
def canonical_name(name: str) -> str | None:
    """Return a measure's own name for one in any spelling; None if it is not a measure's."""
    try:
        return str(measure(name))
    except InputError:
        return None


# ---------------------------------------------------------------- JSON


@dataclass(frozen=True, kw_only=True)
class System:
    """What JSON says of a system: its record, and what stands beside the record's keys."""

    record: EfficiencyRecord
    accuracy: Any = None  # means by measure
    run: str | None = None  # the path of a run to evaluate, from the JSON's folder on
    queries: Whole | None = None  # that the accuracy is the mean of
    row: str | None = None  # its row's name, where that follows from rows that were left out

    def __post_init__(self) -> None:
        check_fields(self, of_system(self.record.system))


BESIDE = ("accuracy", "run", "queries", "row")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What JSON says of a leaderboard, as `Leaderboard` has it."""

    systems: list[dict[str, Any]]  # a row each
    irbatch: str | None = None  # the version that wrote it
    level: float | None = None
    settings: dict[str, str] = field(default_factory=dict)
    constraints: list[str] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    significance: Significance | None = None
    gates: Any = None  # what conditions gave; not read back

    def __post_init__(self) -> None:
        check_fields(self, SOURCE)
        check_level(0.05 if self.level is None else self.level)
        if not self.systems:
            raise field_error(SOURCE, "systems", "are none", self.systems)


def read_statement(source: str | PathLike[str]) -> tuple[Statement, dict[str, System]]:
    """Read JSON, and of it the systems by the names of their rows; errors are `from_json`'s."""
    document = read_object(source, SOURCE)
    document = {"systems": document} if isinstance(document, list) else document
    with ErrorsIn(path=None if is_json(source) else str(source)):
        if not isinstance(document, dict):
            problem = f"it is an object with systems, or their list, not {shown(document)}"
            raise InputError(problem, source=SOURCE, value=document)
        with ErrorsIn(source=SOURCE):
            statement: Statement = read_fields(Statement, document)
        systems = [_read_system(values, k) for k, values in enumerate(statement.systems, 1)]
        names = name_rows([system.record for system in systems])
    return statement, dict(zip(names, systems, strict=True))


def _read_system(values: dict[str, Any], number: int) -> System:
    name = values.get("system")
    if not isinstance(name, str) or not name.strip():
        problem = f'has no name: its "system" is {shown(name)}'
        raise field_error(SOURCE, f"system {number}", problem, name)
    record = EfficiencyRecord.from_dict({k: v for k, v in values.items() if k not in BESIDE})
    return System(record=record, **{key: values.get(key) for key in BESIDE})


def find_accuracy(
    systems: Mapping[str, System],
    source: str | PathLike[str],
    qrels: Any,
    measures: Sequence[Measure],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Return how accurate systems are: their runs with qrels, or else what is stated."""
    folder = Path() if is_json(source) else Path(source).parent  # where paths of runs start
    accuracy: dict[str, Any] = {}
    runs: dict[str, Path] = {}
    for name, system in systems.items():
        if qrels is not None and system.run is not None:
            runs[name] = folder / system.run
        elif system.accuracy is None:
            problem = "is missing: give it, or a run, and qrels to evaluate that with"
            raise field_error(of_system(name), "accuracy", problem, None)
        accuracy[name] = system.accuracy
    prepared = None if qrels is None else as_qrels(qrels, settings.get("columns"))
    for name, run in runs.items():
        accuracy |= _evaluate(name, run, prepared, measures, settings)
    return accuracy


def _evaluate(
    name: str, run: Path, qrels: Any, measures: Sequence[Measure], settings: Mapping[str, Any]
) -> Mapping[str, Results]:
    """Evaluate the run of a system, which is named in what is wrong with it."""
    try:
        return evaluate_runs(qrels, {name: run}, measures, **settings)
    except InputError as problem:
        if problem.source != "run":
            raise
        source = f"run of {shown(name)}"
        if (line := problem.problems[0].line) is not None:
            # Not quoted: who wrote the JSON, and sees this, perhaps may not read that file.
            text = "this is not a line of a run"
            raise InputError(text, source=source, path=str(run), line=line) from None
        raise problem.with_fields(source=source) from None


def board_to_dict(board: Board, *, gates: Iterable[Any] = ()) -> dict[str, Any]:
    """Return what a leaderboard knows, as `read_statement` reads it, and outcomes of `gates`."""
    systems = []
    for row, name in zip(board.rows, name_rows(board.records), strict=True):
        accuracy: dict[str, Any] = {}
        for measure_name, (mean, *ends) in row.accuracy.items():
            bounds = {end: x for end, x in zip(PARTS[1:], ends, strict=True) if x == x}
            accuracy[measure_name] = {"mean": mean, **bounds} if bounds else mean
        more = {"queries": row.queries, "row": row.name if row.name != name else None}
        systems.append({**row.record.to_dict(), **to_known(more), "accuracy": accuracy})
    judged = {"gates": [outcome._asdict() for outcome in gates]} if gates else {}
    tests = {} if board.significance is None else {"significance": asdict(board.significance)}
    return {
        **judged,
        "irbatch": __version__,
        "level": board.level,
        "settings": dict(board.settings),
        "constraints": list(board.constraints),
        "left_out": {system: list(broken) for system, broken in board.left_out.items()},
        **tests,
        "systems": systems,
    }
