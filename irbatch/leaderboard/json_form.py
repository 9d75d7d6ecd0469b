"""Leaderboards as JSON: what a leaderboard writes of itself, and tables that people type.

It is an object with ``"systems"``, or only their list. A system has the keys of a record, see
`EfficiencyRecord.to_json`, and ``"accuracy"``: measure to number, or to ``{"mean": 0.187, "low":
0.18, "high": 0.19}``; with it may stand ``"queries"``, how many it is the mean of, and ``"typed"``,
whether it is shown with the digits it has here: not by default in what a leaderboard has written.
In place of it, or beside it, ``"run"`` is the path of a run file, from the JSON's folder on.

A system that was measured on several machines is listed once for each, with the name of an instance
in its hardware; accuracy or a run, and how many queries, need to stand with the first of them.
``"row"`` keeps what a row is called where the system's others have been left out.

Beside ``"systems"`` may stand ``"level"`` (of intervals), ``"settings"`` (how the numbers came
about, texts by name), ``"directions"``, ``"constraints"`` (which these systems have met; none is
left out by reading them) and ``"left_out"`` (system to the constraints that it broke, or to
what it has no value of). What a leaderboard has found by tests and by drawing queries stands under
``"significance"`` and ``"stability"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from irbatch.efficiency import EfficiencyRecord
from irbatch.efficiency.interchange import is_text, read_object
from irbatch.efficiency.quantities import check_count, check_text, of_system, refuse
from irbatch.errors import InputError, did_you_mean, printable, shown
from irbatch.evaluation.evaluation import Judgments, Measures, as_qrels
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate_runs
from irbatch.formats.files import why_not
from irbatch.leaderboard.axes import canonical_name, check_directions
from irbatch.leaderboard.findings import (
    SOURCE,
    read_list,
    read_significance,
    read_stability,
    write_findings,
)
from irbatch.leaderboard.instances import name_rows, row_on_machine
from irbatch.leaderboard.joining import MEASURED
from irbatch.leaderboard.systems import Systems
from irbatch.version import __version__

Board = TypeVar("Board", bound=Systems)

KEYS = (
    *("irbatch", "level", "settings", "directions", "constraints", "left_out", "significance"),
    *("stability", "systems"),
)
SHARED = ("accuracy", "run", "queries", "typed")
OURS = (*SHARED, "row")  # of a system; the other keys are its record's
RECORD = [each.name for each in fields(EfficiencyRecord)]
CALLED = ("metrics", "measures", "scores")  # what people call accuracy


class Statement(NamedTuple):
    """What JSON says of a leaderboard; of each system a record, and means or a run's results."""

    document: dict[str, Any]
    systems: dict[str, dict[str, Any]]
    records: list[EfficiencyRecord]
    results: dict[str, Any]
    measures: list[Any] | None

    # What is stated beside the systems is checked where it is read: it counts only without qrels.

    @property
    def settings(self) -> dict[str, str]:
        """How the means that are stated came about."""
        settings = self._object("settings")
        for name, value in settings.items():
            if not isinstance(value, str):
                problem = f"is {shown(value)}, which is no text"
                raise refuse(SOURCE, f"settings: {shown(name)}", problem, value)
        return settings

    @property
    def n_queries(self) -> list[int | None]:
        """How many queries each system's means are said to be of."""
        return [
            check_count(of_system(name), "queries", values.get("queries"), 0)
            for name, values in self.systems.items()
        ]

    @property
    def rows(self) -> list[str]:
        """What rows are called: of a system that is on one machine now its machine may be told."""
        names = []
        for (name, values), record in zip(self.systems.items(), self.records, strict=True):
            row = values.get("row", name)
            if row not in (name, row_on_machine(record)):
                problem = f"is {shown(row)}, not {shown(row_on_machine(record))}"
                raise refuse(of_system(name), "row", problem, row)
            names.append(row)
        return names

    @property
    def typed(self) -> list[bool]:
        """Whether each system's means are shown with the digits that they have."""
        by_hand = "irbatch" not in self.document
        typed = {name: values.get("typed", by_hand) for name, values in self.systems.items()}
        for name, each in typed.items():
            if not isinstance(each, bool):
                problem = f"is {shown(each)}, not true or false"
                raise refuse(of_system(name), "typed", problem, each)
        return list(typed.values())

    @property
    def constraints(self) -> list[str]:
        """What the systems have met."""
        return _texts("constraints", self.document.get("constraints"))

    @property
    def left_out(self) -> dict[str, list[str]]:
        """Other systems, with the constraints that they broke."""
        left_out = self._object("left_out")
        return {name: _texts(f"left_out: {shown(name)}", each) for name, each in left_out.items()}

    def directions(self, measures: Sequence[str]) -> dict[str, str]:
        """Return which way is better; of measures that aren't shown, nothing."""
        accuracies = [values.get("accuracy") for values in self.systems.values()]
        stated = [name for each in accuracies if isinstance(each, dict) for name in each]
        known = list(dict.fromkeys([*measures, *stated]))
        given = check_directions(self._object("directions"), known)
        return {
            axis: better for axis, better in given.items() if axis in measures or axis not in known
        }

    def _object(self, field: str) -> dict[str, Any]:
        value = self.document.get(field)
        if value is not None and not isinstance(value, dict):
            raise refuse(SOURCE, field, f"are {shown(value)}, not an object", value)
        return dict(value or {})


def read_statement(
    source: str | PathLike[str],
    qrels: Judgments | None,
    measures: Measures | None,
    settings: Mapping[str, Any],
) -> Statement:
    """Read JSON, and evaluate runs; arguments and errors are those of `Leaderboard.from_json`."""
    if not isinstance(source, str | PathLike):
        raise InputError(f"it is a path or JSON, not {shown(source)}", source=SOURCE, value=source)
    document = _check_document(read_object(source, SOURCE))
    systems, records = _read_systems(document)
    one = isinstance(measures, str) or not isinstance(measures, Iterable)
    wanted: list[Any] | None = [measures] if one else [*cast(Iterable[Any], measures)]
    wanted = None if measures is None else wanted
    found: dict[str, Results] = {}
    if qrels is not None:
        folder = Path() if is_text(source) else Path(source).parent  # where paths of runs start
        runs = {
            name: _find_run(name, values, folder)
            for name, values in systems.items()
            if "run" in values or "accuracy" not in values
        }
        found = _evaluate(qrels, runs, wanted, settings)
        wanted = next(iter(found.values())).measures if found else wanted
    elif settings:
        problem = f"{', '.join(settings)}: only where runs are evaluated, which takes qrels"
        raise InputError(problem, source=SOURCE, value=settings)
    results = {
        name: found[name] if name in found else _read_accuracy(name, values)
        for name, values in systems.items()
    }
    return Statement(document, systems, records, results, wanted)


def read_board(
    kind: type[Board],
    source: str | PathLike[str],
    qrels: Judgments | None,
    measures: Measures | None,
    directions: Mapping[str, str] | None,
    settings: Mapping[str, Any],
    **drawn: Any,
) -> Board:
    """Return the leaderboard that JSON is of; see `Leaderboard.from_json`."""
    read = read_statement(source, qrels, measures, settings)
    if qrels is None:
        stated = read.document.get("level")
        drawn |= {"level": drawn["level"] if stated is None else stated, "draws": 0}
    board = kind(read.results, read.records, measures=read.measures, **drawn)
    board.systems = read.rows
    if qrels is None:  # or settings are those of now, and constraints were met by other numbers
        board.level, board.settings, board.n_queries = stated, read.settings, read.n_queries
        board.constraints, board.left_out = read.constraints, read.left_out
        board.decimals[~np.array(read.typed)] = MEASURED
        known = board.systems, board.measures
        board.significance = read_significance(read.document.get("significance"), *known)
        board.stability = read_stability(read.document.get("stability"), *known)
    first = check_directions(directions, board.measures)
    board.directions |= {**read.directions(board.measures), **first}
    return board


def board_to_dict(board: Systems) -> dict[str, Any]:
    """Return what a leaderboard knows, as `read_statement` reads it."""
    return {
        "irbatch": __version__,
        "level": board.level,
        "settings": dict(board.settings),
        "directions": dict(board.directions),
        "constraints": list(board.constraints),
        "left_out": {system: list(broken) for system, broken in board.left_out.items()},
        **write_findings(board.significance, board.stability),
        "systems": [_describe(board, *each) for each in enumerate(name_rows(board.records))],
    }


def _describe(board: Systems, row: int, name: str) -> dict[str, Any]:
    """Return what is known of a row, which is called so unless it says otherwise."""
    accuracy: dict[str, Any] = {}
    for k in np.flatnonzero(~np.isnan(board.means[row])).tolist():
        measure = board.measures[k]
        bounds = zip(("low", "high"), board.intervals[row, k].tolist(), strict=True)
        ends = {end: each for end, each in bounds if not np.isnan(each)}
        mean = float(board.means[row, k])
        accuracy[measure] = {"mean": mean, **ends} if ends else mean
    queries = board.n_queries[row]
    counted: dict[str, Any] = {} if queries is None else {"queries": queries}
    if (board.decimals[row] < MEASURED).any():
        counted["typed"] = True
    if board.systems[row] != name:
        counted["row"] = board.systems[row]
    return {**board.records[row].to_dict(), **counted, "accuracy": accuracy}


def _check_document(read: Any) -> dict[str, Any]:
    """Return the outermost object; it may be only the list of its systems."""
    document = {"systems": read} if isinstance(read, list) else read
    if not isinstance(document, dict):
        problem = f"it is an object with systems, or their list, not {shown(document)}"
        raise InputError(problem, source=SOURCE, value=document)
    for key in document:
        if key not in KEYS:
            hint = did_you_mean(key, KEYS) or f": they are {', '.join(KEYS)}"
            hint = "; it stands with each system" if key in RECORD[1:] or key in OURS else hint
            raise refuse(SOURCE, shown(key), f"is no field of a leaderboard{hint}", document[key])
    return document


def _read_systems(
    document: dict[str, Any],
) -> tuple[dict[str, dict[str, Any]], list[EfficiencyRecord]]:
    """Return what is said of each system, by its row's name, and the records."""
    stated = document.get("systems")
    if not isinstance(stated, list):
        problem = "are missing" if stated is None else f"are {shown(stated)}, not a list"
        raise refuse(SOURCE, "systems", problem, stated)
    if not stated:
        raise refuse(SOURCE, "systems", "are none", stated)
    records: list[EfficiencyRecord] = []
    ours: dict[str, dict[str, Any]] = {}  # what the rows of a system share
    systems: list[dict[str, Any]] = []
    for number, values in enumerate(stated, 1):
        if not isinstance(values, dict):
            raise refuse(SOURCE, f"system {number}", f"is {shown(values)}, not an object", values)
        name = values.get("system")
        if not isinstance(name, str) or not name.strip():
            problem = f"is called {shown(name)}, which is no name"
            problem = 'has no "system", which is its name' if name is None else problem
            raise refuse(SOURCE, f"system {number}", problem, name)
        own = {key: values[key] for key in SHARED if key in values}
        has_accuracy = "accuracy" in own or "run" in own
        systems.append(values if has_accuracy else {**ours.get(name, {}), **values})
        if has_accuracy:
            ours.setdefault(name, own)
        records.append(_read_record(name, values))
    return dict(zip(name_rows(records), systems, strict=True)), records


def _read_record(system: str, values: dict[str, Any]) -> EfficiencyRecord:
    record = {key: value for key, value in values.items() if key not in OURS}
    for key, value in record.items():
        near = get_close_matches(key.lower(), ("accuracy", "run"), 1, cutoff=0.75)
        near = ["accuracy"] if key in CALLED else near
        hint = f"; did you mean {near[0]}?" if near else ""
        if key not in RECORD and not hint and canonical_name(key) is not None:
            hint = f'; write "accuracy": {{"{printable(key)}": …}}'
        if hint:
            raise refuse(of_system(system), shown(key), f"is not known{hint}", value)
    return EfficiencyRecord.from_dict(record)


def _read_accuracy(system: str, values: dict[str, Any]) -> dict[str, Any]:
    accuracy = values.get("accuracy")
    if isinstance(accuracy, dict) and accuracy:
        return accuracy
    problem = f"is {shown(accuracy)}, not an object of measures to numbers"
    if accuracy is None:
        hint = ": its run is evaluated where qrels are given" if "run" in values else ""
        problem = f"is missing{hint}"
    elif isinstance(accuracy, dict):
        problem = "has no measure"
    raise refuse(of_system(system), "accuracy", problem, accuracy)


def _find_run(system: str, values: dict[str, Any], folder: Path) -> Path:
    """Return where a system's run is."""
    run = values.get("run")
    if run is None:
        raise refuse(of_system(system), "run", "is missing: qrels are given to evaluate it", None)
    check_text(of_system(system), "run", run)
    path: Path = folder / run
    try:
        is_there = path.exists() and not path.is_dir()
    except OSError:  # as of names that are too long
        is_there = False
    if not is_there:
        problem = f"is {shown(run)}: there is no file {str(path)!r}"
        raise refuse(of_system(system), "run", problem, run)
    return path


def _evaluate(
    qrels: Judgments, runs: Mapping[str, Path], measures: Any, settings: Mapping[str, Any]
) -> dict[str, Results]:
    """Evaluate each system's run; what is wrong with it names the system."""
    if not measures:
        raise InputError("there is no measure to evaluate runs with", source="measures")
    prepared = as_qrels(qrels, settings.get("columns"))
    results: dict[str, Results] = {}
    for system, run in runs.items():
        try:
            results |= evaluate_runs(prepared, {system: run}, measures, **settings)
        except InputError as problem:
            if problem.source != "run":
                raise
            source = f"run of {shown(system)}"
            reason, line = why_not(run) if run.is_file() else ("", None)
            if reason:
                # Not quoted: who wrote the JSON, and sees this, perhaps may not read that file.
                reason = f"no run: {reason}"
                raise InputError(reason, source=source, path=str(run), line=line) from None
            raise problem.with_fields(source=source) from None
    return results


def _texts(field: str, value: Any) -> list[str]:
    return [] if value is None else read_list(field, value)
