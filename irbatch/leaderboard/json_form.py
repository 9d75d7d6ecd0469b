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
left out by reading them), ``"left_out"`` (system to the constraints that it broke, or to what it
lacks) and ``"significance"`` (what tests found).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from irbatch.comparing.report import NAMES
from irbatch.efficiency import EfficiencyRecord
from irbatch.efficiency.interchange import is_text, read_object
from irbatch.efficiency.quantities import check_count, check_text, of_system, refuse
from irbatch.errors import InputError, did_you_mean, printable, shown
from irbatch.evaluation.evaluation import Judgments, Measures, as_qrels
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate_runs
from irbatch.formats.files import why_not
from irbatch.leaderboard.axes import Board, canonical_name, check_directions
from irbatch.leaderboard.joining import MEASURED, name_rows
from irbatch.leaderboard.study import Significance
from irbatch.runtime.numbers import is_number
from irbatch.statistics.resampling import check_level
from irbatch.version import __version__

SOURCE = "leaderboard"
TEXTS, LISTS, NUMBERS = {"": str}, {"": [str]}, {"": {"": float}}  # by names of any kind
FORMS: dict[str, Any] = {  # of what stands beside the systems; None is as if it weren't there
    "irbatch": str,
    "level": float,
    "settings": TEXTS,
    "directions": TEXTS,
    "constraints": [str],
    "left_out": LISTS,
    "significance": {"test": str, "correction": str, "level": float, "queries": int,
                     "best": TEXTS, "p_values": NUMBERS},
    "systems": [dict],
}  # fmt: skip
CALLED = {str: "a text", float: "a number", int: "a whole number", dict: "an object"}
SHARED = ("accuracy", "run", "queries", "typed")
OURS = (*SHARED, "row")  # of a system; the other keys are its record's
RECORD = [each.name for each in fields(EfficiencyRecord)]


def check_form(field: str, value: Any, form: Any) -> Any:
    """Return a value that is of a form: a type, a list of one, or a dict of names to theirs.

    Raises:
        InputError: naming the field that is not.
    """
    kind = type(form) if isinstance(form, dict | list) else form
    is_one = is_number(value) if kind is float else isinstance(value, kind)
    if not is_one or (kind is int and isinstance(value, bool)):
        told = CALLED.get(kind, "a list")
        raise refuse(SOURCE, f"{field}:", f"{shown(value)} is not {told}", value)
    if kind is list:
        return [check_form(f"{field}, {k}", part, form[0]) for k, part in enumerate(value, 1)]
    if not isinstance(form, dict):
        return float(value) if kind is float else value
    if "" not in form and set(form) != set(value):
        raise refuse(SOURCE, field, f"has {', '.join(form)}, not {', '.join(value)}", value)
    return {
        name: check_form(f"{field}: {shown(name)}", part, form.get(name, form.get("")))
        for name, part in value.items()
    }


class Statement(NamedTuple):
    """What JSON says of a leaderboard; of each system a record, and means or a run's results."""

    document: dict[str, Any]
    systems: dict[str, dict[str, Any]]
    records: list[EfficiencyRecord]
    results: dict[str, Any]
    measures: list[Any] | None

    @property
    def level(self) -> float | None:
        """The chance that intervals miss, where it is said."""
        level: float | None = self.document.get("level")
        return level

    def complete(self, board: Board, stated: bool) -> None:
        """Put what is said beside means and records into their leaderboard.

        Directions always count; the rest is of numbers that are `stated`, not of runs.
        """
        if stated:
            self._complete_numbers(board)
        named = [name for each in self.systems.values() for name in _measures_of(each)]
        known = list(dict.fromkeys([*board.measures, *named]))
        directions = check_directions(self.document.get("directions"), known)
        board.directions |= {
            axis: better
            for axis, better in directions.items()
            if axis in board.measures or axis not in known  # not of a measure that isn't shown
        }

    def _complete_numbers(self, board: Board) -> None:
        known = self.document
        board.level = self.level
        board.settings = dict(known.get("settings", {}))
        board.constraints = list(known.get("constraints", []))
        board.left_out = dict(known.get("left_out", {}))
        board.systems, board.n_queries, by_hand = [], [], "irbatch" not in known
        for row, (name, values) in enumerate(self.systems.items()):
            source = of_system(name)
            typed, called = values.get("typed", by_hand), values.get("row", name)
            if not isinstance(typed, bool):
                raise refuse(source, "typed", f"is {shown(typed)}, not true or false", typed)
            check_text(source, "row", called)
            if not typed:
                board.decimals[row] = MEASURED
            board.systems.append(called)
            board.n_queries.append(check_count(source, "queries", values.get("queries"), 0))
        if len(set(board.systems)) < len(board.systems):
            raise refuse(SOURCE, "row", "is the same of two systems", board.systems)
        if "significance" in known:
            board.significance = _read_significance(known["significance"], board)


def _measures_of(values: Mapping[str, Any]) -> list[str]:
    accuracy = values.get("accuracy")
    return list(accuracy) if isinstance(accuracy, dict) else []


def _read_significance(known: dict[str, Any], board: Board) -> Significance:
    """Return what tests found, of the measures that are shown."""
    for name in (known["test"], known["correction"]):
        if name not in NAMES and name != "none":
            raise refuse(SOURCE, "significance", f"has no test {shown(name)}", name)
    check_level(known["level"])
    for measure, by_system in known["p_values"].items():
        field = f"significance: p_values: {shown(measure)}"
        if known["best"].get(measure) not in by_system:
            raise refuse(SOURCE, "significance: best", f"is not known of {shown(measure)}", known)
        for system, p in by_system.items():
            if system not in board.systems:
                raise refuse(SOURCE, field, f"has no system {shown(system)}", system)
            if not 0 <= p <= 1:
                raise refuse(SOURCE, field, f"of {shown(system)} is {p:g}, not 0 to 1", p)
    shown_of = {
        part: {name: each for name, each in known[part].items() if name in board.measures}
        for part in ("best", "p_values")
    }
    return Significance(**{**known, **shown_of})


def read_statement(
    source: str | PathLike[str],
    qrels: Judgments | None,
    measures: Measures | None,
    settings: Mapping[str, Any],
) -> Statement:
    """Read JSON, and evaluate runs; arguments and errors are those of `Leaderboard.from_json`."""
    if not isinstance(source, str | PathLike):
        raise InputError(f"it is a path or JSON, not {shown(source)}", source=SOURCE, value=source)
    document = _read_document(read_object(source, SOURCE))
    systems, records = _read_systems(document["systems"])
    one = isinstance(measures, str) or not isinstance(measures, Iterable)
    wanted: Any = [measures] if one else [*cast(Iterable[Any], measures)]
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


def board_to_dict(board: Board) -> dict[str, Any]:
    """Return what a leaderboard knows, as `read_statement` reads it."""
    tests = {} if board.significance is None else {"significance": asdict(board.significance)}
    return {
        "irbatch": __version__,
        "level": board.level,
        "settings": dict(board.settings),
        "directions": dict(board.directions),
        "constraints": list(board.constraints),
        "left_out": {system: list(broken) for system, broken in board.left_out.items()},
        **tests,
        "systems": [_describe(board, *each) for each in enumerate(name_rows(board.records))],
    }


def _describe(board: Board, row: int, name: str) -> dict[str, Any]:
    """Return what is known of a row, which is called so unless it says otherwise."""
    accuracy: dict[str, Any] = {}
    for k in np.flatnonzero(~np.isnan(board.means[row])).tolist():
        bounds = zip(("low", "high"), board.intervals[row, k].tolist(), strict=True)
        ends = {end: bound for end, bound in bounds if not np.isnan(bound)}
        mean = float(board.means[row, k])
        accuracy[board.measures[k]] = {"mean": mean, **ends} if ends else mean
    queries = board.n_queries[row]
    more: dict[str, Any] = {} if queries is None else {"queries": queries}
    if (board.decimals[row] < MEASURED).any():
        more["typed"] = True
    if board.systems[row] != name:
        more["row"] = board.systems[row]
    return {**board.records[row].to_dict(), **more, "accuracy": accuracy}


def _read_document(read: Any) -> dict[str, Any]:
    """Return the outermost object, which may be only the list of its systems, in its form."""
    document = {"systems": read} if isinstance(read, list) else read
    if not isinstance(document, dict):
        problem = f"it is an object with systems, or their list, not {shown(document)}"
        raise InputError(problem, source=SOURCE, value=document)
    for key, value in document.items():
        if key not in FORMS:
            hint = did_you_mean(key, FORMS) or f": they are {', '.join(FORMS)}"
            hint = "; it stands with each system" if key in RECORD[1:] or key in OURS else hint
            raise refuse(SOURCE, shown(key), f"is not a field of a leaderboard{hint}", value)
    known = {key: value for key, value in document.items() if value is not None}
    if not known.get("systems"):
        problem = "are none" if "systems" in known else "are missing"
        raise refuse(SOURCE, "systems", problem, document.get("systems"))
    return {key: check_form(key, value, FORMS[key]) for key, value in known.items()}


def _read_systems(
    stated: Sequence[dict[str, Any]],
) -> tuple[dict[str, dict[str, Any]], list[EfficiencyRecord]]:
    """Return what is said of each system, by its row's name, and the records."""
    records: list[EfficiencyRecord] = []
    ours: dict[str, dict[str, Any]] = {}  # what the rows of a system share
    systems: list[dict[str, Any]] = []
    for number, values in enumerate(stated, 1):
        name = values.get("system")
        if not isinstance(name, str) or not name.strip():
            problem = f"is called {shown(name)}, which is not a name"
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
        if key in RECORD:
            continue
        hint = "; did you mean accuracy?" if key in ("metrics", "measures", "scores") else ""
        hint = hint or did_you_mean(key.lower(), ("accuracy", "run"))
        if not hint and canonical_name(key) is not None:
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
