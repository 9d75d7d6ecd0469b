"""Leaderboards as JSON: what a leaderboard writes of itself, and tables that people type.

It is an object with ``"systems"``, or only their list; what stands beside ``"systems"`` are the
fields of a `Statement`. A system has the keys of a record, see `EfficiencyRecord.to_json`; one that
was measured on several machines is listed once for each, with the name of an instance in its
hardware. Beside these it has ``accuracy``, measure to number, or to ``{"mean": 0.187, "low": 0.18,
"high": 0.19}``; in place of it, or beside it, ``run``, the path of a run file, from the JSON's
folder on; ``queries``, how many the accuracy is the mean of; and ``row``, what it is called, where
that isn't clear without rows that were left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from irbatch.efficiency import EfficiencyRecord
from irbatch.efficiency.fields import (
    Whole,
    check_fields,
    check_value,
    field_error,
    is_json,
    of_system,
    only_known,
    read_fields,
    read_object,
)
from irbatch.errors import ErrorsIn, InputError, shown
from irbatch.evaluation.evaluation import Judgments, as_qrels
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate_runs
from irbatch.leaderboard.rows import Board, name_rows
from irbatch.leaderboard.study import Significance
from irbatch.statistics.resampling import check_level
from irbatch.version import __version__

SOURCE = "leaderboard"
BESIDE = {"accuracy": Any, "run": str, "queries": Whole, "row": str}  # a record


class System(NamedTuple):
    """A system of a table."""

    record: EfficiencyRecord
    beside: dict[str, Any]  # values of keys of `BESIDE`


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What JSON says of a leaderboard.

    Attributes:
        systems: objects, one a row.
        irbatch: the version that wrote it; None of what people typed.
        level: the chance that intervals miss.
        settings: how the numbers came about, texts by name.
        constraints: what these systems have met; none is left out by reading them.
        left_out: system to the constraints that it broke, or to what it lacks.
        significance: what tests found.
        gates: what conditions gave, as `irbatch.comparing.gate.Outcome` has it; not read back.
    """

    systems: list[dict[str, Any]]
    irbatch: str | None = None
    level: float | None = None
    settings: dict[str, str] = field(default_factory=dict)
    constraints: list[str] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    significance: Significance | None = None
    gates: Any = None

    def __post_init__(self) -> None:
        check_fields(self, SOURCE)
        check_level(0.05 if self.level is None else self.level)
        if not self.systems:
            raise field_error(SOURCE, "systems", "are none", self.systems)


Systems = dict[str, System]  # by the names of their rows


def read_statement(source: str | PathLike[str]) -> tuple[Statement, Systems]:
    """Read JSON, and of it the systems; errors are `Leaderboard.from_json`'s."""
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
    with ErrorsIn(source=of_system(name)):
        beside = {
            key: check_value(key, kind, values[key])
            for key, kind in BESIDE.items()
            if values.get(key) is not None
        }
    return System(record, beside)


def stated_accuracy(name: str, system: System) -> Any:
    """Return how accurate a system is said to be."""
    accuracy = system.beside.get("accuracy")
    if not isinstance(accuracy, dict) or not accuracy:
        problem = f"is {shown(accuracy)}, not an object of measures to numbers"
        if accuracy is None:
            hint = ": its run is evaluated where qrels are given" if "run" in system.beside else ""
            problem = f"is missing{hint}"
        raise field_error(of_system(name), "accuracy", problem, accuracy)
    return accuracy


def evaluate_systems(
    systems: Systems,
    source: str | PathLike[str],
    qrels: Judgments,
    measures: Any,
    settings: Mapping[str, Any],
) -> dict[str, Results]:
    """Evaluate the runs of systems that have one; what is wrong with it names the system."""
    one = isinstance(measures, str) or not isinstance(measures, Iterable)
    measures = [measures] if one else list(measures)
    if measures in ([], [None]):
        raise InputError("there is no measure to evaluate runs with", source="measures")
    folder = Path() if is_json(source) else Path(source).parent  # where paths of runs start
    runs: dict[str, Path] = {}
    for name, system in systems.items():
        if "run" in system.beside:
            runs[name] = folder / system.beside["run"]
        elif "accuracy" not in system.beside:
            problem = "is missing: qrels are given to evaluate it"
            raise field_error(of_system(name), "run", problem, None)
    prepared = as_qrels(qrels, settings.get("columns"))
    results: dict[str, Results] = {}
    for name, run in runs.items():
        try:
            results |= evaluate_runs(prepared, {name: run}, measures, **settings)
        except InputError as problem:
            if problem.source != "run":
                raise
            source = f"run of {shown(name)}"
            if (line := problem.problems[0].line) is not None:
                # Not quoted: who wrote the JSON, and sees this, perhaps may not read that file.
                text = "this is not a line of a run"
                raise InputError(text, source=source, path=str(run), line=line) from None
            raise problem.with_fields(source=source) from None
    return results


def board_to_dict(board: Board) -> dict[str, Any]:
    """Return what a leaderboard knows, as `read_statement` reads it."""
    systems = []
    for row, name in zip(board.rows, name_rows(board.records), strict=True):
        accuracy: dict[str, Any] = {}
        for measure, (mean, *ends) in row.accuracy.items():
            bounds = {end: x for end, x in zip(("low", "high"), ends, strict=True) if x == x}
            accuracy[measure] = {"mean": mean, **bounds} if bounds else mean
        own = row.name if row.name != name else None
        more = only_known({"queries": row.queries, "row": own})
        systems.append({**row.record.to_dict(), **more, "accuracy": accuracy})
    tests = {} if board.significance is None else {"significance": asdict(board.significance)}
    return {
        "irbatch": __version__,
        "level": board.level,
        "settings": dict(board.settings),
        "constraints": list(board.constraints),
        "left_out": {system: list(broken) for system, broken in board.left_out.items()},
        **tests,
        "systems": systems,
    }
