"""Leaderboards as JSON: what a leaderboard writes of itself, and tables that people type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from irbatch.efficiency import EfficiencyRecord
from irbatch.efficiency.checks import check_count, check_text, of_system, refuse
from irbatch.efficiency.interchange.json_form import is_text, read_object
from irbatch.errors import InputError, did_you_mean, shown
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import Judgments, as_qrels, evaluate_runs
from irbatch.leaderboard.axes import check_directions
from irbatch.leaderboard.board import Leaderboard
from irbatch.version import __version__

__all__ = ["board_to_dict", "read_leaderboard"]

SOURCE = "leaderboard"
KEYS = ("irbatch", "level", "settings", "directions", "constraints", "left_out", "systems")
OURS = ("accuracy", "run", "queries")  # of a system; the other keys are its record's


def board_to_dict(board: Leaderboard) -> dict[str, Any]:
    """Return what a leaderboard knows as JSON has it; see `read_leaderboard`."""
    return {
        "irbatch": __version__,
        "level": board.level,
        "settings": dict(board.settings),
        "directions": dict(board.directions),
        "constraints": list(board.constraints),
        "left_out": {system: list(broken) for system, broken in board.left_out.items()},
        "systems": [_system(board, i) for i in range(len(board))],
    }


def _system(board: Leaderboard, place: int) -> dict[str, Any]:
    accuracy = {}
    for k, measure in enumerate(board.measures):
        mean, bounds = float(board.means[place, k]), board.intervals[place, k].tolist()
        ends = {end: each for end, each in zip(("low", "high"), bounds, strict=True)
                if not np.isnan(each)}  # fmt: skip
        accuracy[measure] = {"mean": mean, **ends} if ends else mean
    queries = board.n_queries[place]
    counted = {} if queries is None else {"queries": queries}
    return {**board.records[place].to_dict(), **counted, "accuracy": accuracy}


def read_leaderboard(
    source: str | PathLike[str],
    *,
    qrels: Judgments | None = None,
    measures: Iterable[str] | str | None = None,
    level: float = 0.05,
    draws: int = 2000,
    seed: int = 0,
    directions: Mapping[str, str] | None = None,
    **settings: Any,
) -> Leaderboard:
    """Read a leaderboard: what `Leaderboard.to_json` wrote, or a table that somebody typed.

    It is an object with ``"systems"``, or only their list. A system has the keys of a record, see
    `EfficiencyRecord.to_json`, and ``"accuracy"``: measure to number, or to ``{"mean": 0.187,
    "low": 0.18, "high": 0.19}``; with it may stand ``"queries"``, how many it is the mean of. In
    place of it, or beside it, ``"run"`` is the path of a run file, from the JSON's folder on.

    Beside ``"systems"`` may stand ``"level"`` (of intervals), ``"settings"`` (how the numbers came
    about, texts by name), ``"directions"``, ``"constraints"`` (which these systems have met; none
    is left out by reading them) and ``"left_out"`` (system to the constraints that it broke).

    Args:
        source: a path, or the JSON itself, whose runs' paths start from the current folder.
        qrels: judgments in any form of `irbatch.evaluate`. With them the runs are evaluated, and
            accuracy that is stated counts where there is no run.
        measures: those shown, or with `qrels` those evaluated; default: all that some have;
            with `qrels` they must be given.
        level: the chance that an interval misses, with `qrels`; without it is the JSON's.
        draws, seed: of the bootstrap over queries, with `qrels`.
        directions: axis to ``"higher"`` or ``"lower"``, before what the JSON says.
        **settings: of `irbatch.evaluate`, with `qrels`.

    Raises:
        InputError: naming the system and the field of what can't be.
        OSError: as the system says, when the file can't be read.

    >>> board = read_leaderboard('''[
    ...     {"system": "bm25", "accuracy": {"RR@10": 0.187}, "latency": {"mean": 8}},
    ...     {"system": "dense", "accuracy": {"RR@10": 0.33}, "latency": {"mean": 30}}]''')
    >>> board.pareto(["RR@10", "latency"]).frontier
    ['bm25', 'dense']
    """
    if not isinstance(source, str | PathLike):
        raise InputError(f"it is a path or JSON, not {shown(source)}", source=SOURCE, value=source)
    document = _document(read_object(source, SOURCE))
    systems = _systems(document)
    records = [_record(system, values) for system, values in systems.items()]
    wanted = None if measures is None else _listed(measures)
    if qrels is not None:
        runs = {name: _run(name, each, _folder(source)) for name, each in systems.items()
                if "run" in each or "accuracy" not in each}  # fmt: skip
        found = _evaluate(qrels, runs, wanted, settings)
        results: dict[str, Any] = {name: found[name] if name in found else _accuracy(name, each)
                                   for name, each in systems.items()}  # fmt: skip
        wanted = next(iter(found.values())).measures if found else wanted
        board = Leaderboard(results, records, measures=wanted, level=level, draws=draws, seed=seed)
    elif settings:
        raise InputError(f"{', '.join(settings)}: only where runs are evaluated, which takes qrels",
                         source=SOURCE, value=settings)  # fmt: skip
    else:
        results = {name: _accuracy(name, each) for name, each in systems.items()}
        stated = document.get("level")
        board = Leaderboard(results, records, measures=wanted,
                            level=level if stated is None else stated)  # fmt: skip
        board.level = stated
        board.settings = _settings(document)
        board.n_queries = [_count(name, each) for name, each in systems.items()]
    chosen = check_directions(directions, board.measures)
    board.directions = {**_directions(document, systems, board), **chosen}
    if qrels is None:  # or they were met, and broken, by other numbers
        board.constraints = _texts("constraints", document.get("constraints"))
        left_out = _object("left_out", document.get("left_out"))
        board.left_out = {system: _texts(f"left_out: {shown(system)}", broken)
                          for system, broken in left_out.items()}  # fmt: skip
    return board


def _document(read: Any) -> dict[str, Any]:
    """Check the outermost object."""
    document = {"systems": read} if isinstance(read, list) else read
    if not isinstance(document, dict):
        raise InputError(f"it is an object with systems, or their list, not {shown(document)}",
                         source=SOURCE, value=document)  # fmt: skip
    for key in document:
        if key not in KEYS:
            hint = did_you_mean(key, KEYS) or f": they are {', '.join(KEYS)}"
            raise refuse(SOURCE, shown(key), f"is no field of a leaderboard{hint}", document[key])
    systems = document.get("systems")
    if not isinstance(systems, list):
        problem = "are missing" if systems is None else f"are {shown(systems)}, not a list"
        raise refuse(SOURCE, "systems", problem, systems)
    if not systems:
        raise refuse(SOURCE, "systems", "are none", systems)
    return document


def _systems(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what is said of each system, by its name."""
    systems: dict[str, dict[str, Any]] = {}
    for number, values in enumerate(document["systems"], 1):
        if not isinstance(values, dict):
            raise refuse(SOURCE, f"system {number}", f"is {shown(values)}, not an object", values)
        name = values.get("system")
        if not isinstance(name, str) or not name.strip():
            what = f"is called {shown(name)}, which is no name"
            what = 'has no name, which is its "system"' if name is None else what
            raise refuse(SOURCE, f"system {number}", what, name)
        if name in systems:
            raise refuse(SOURCE, f"system {shown(name)}", "is there twice", name)
        systems[name] = values
    return systems


def _record(system: str, values: dict[str, Any]) -> EfficiencyRecord:
    for key in values:
        near = get_close_matches(key, ("accuracy", "run"), 1, cutoff=0.75)
        if near and key not in OURS:
            raise refuse(of_system(system), shown(key), f"is not known; did you mean {near[0]}?",
                         values[key])  # fmt: skip
    return EfficiencyRecord.from_dict({key: each for key, each in values.items()
                                       if key not in OURS})  # fmt: skip


def _accuracy(system: str, values: dict[str, Any]) -> dict[str, Any]:
    accuracy = values.get("accuracy")
    if accuracy is None:
        hint = ": its run is evaluated where qrels are given" if "run" in values else ""
        raise refuse(of_system(system), "accuracy", f"is missing{hint}", None)
    if not isinstance(accuracy, dict):
        problem = f"is {shown(accuracy)}, not an object of measures to numbers"
        raise refuse(of_system(system), "accuracy", problem, accuracy)
    if not accuracy:
        raise refuse(of_system(system), "accuracy", "has no measure", accuracy)
    return accuracy


def _count(system: str, values: dict[str, Any]) -> int | None:
    return check_count(of_system(system), "queries", values.get("queries"), 0)


def _run(system: str, values: dict[str, Any], folder: Path) -> Path:
    """Return where a system's run is."""
    run = values.get("run")
    if run is None:
        raise refuse(of_system(system), "run", "is missing: qrels are given to evaluate it", None)
    check_text(of_system(system), "run", run)
    path: Path = folder / run
    if not _is_there(path):
        raise refuse(of_system(system), "run", f"is {shown(run)}: there is no file {str(path)!r}",
                     run)  # fmt: skip
    return path


def _is_there(path: Path) -> bool:
    try:
        return path.exists() and not path.is_dir()
    except OSError:  # as of names that are too long
        return False


def _folder(source: str | PathLike[str]) -> Path:
    """Return where paths of runs start."""
    return Path() if is_text(source) else Path(source).parent


def _evaluate(
    qrels: Judgments, runs: Mapping[str, Path], measures: list[Any] | None,
    settings: Mapping[str, Any],
) -> dict[str, Results]:  # fmt: skip
    """Evaluate each system's run; what is wrong with it names the system."""
    if not measures:
        raise InputError("there is no measure to evaluate runs with", source="measures")
    prepared = as_qrels(qrels)
    results: dict[str, Results] = {}
    for system, run in runs.items():
        try:
            results |= evaluate_runs(prepared, {system: run}, measures, **settings)
        except InputError as problem:
            if problem.source != "run":
                raise
            raise problem.placed(source=f"run of {shown(system)}") from None
    return results


def _directions(
    document: dict[str, Any], systems: dict[str, dict[str, Any]], board: Leaderboard
) -> dict[str, str]:
    """Return which way is better as the document says; of measures that aren't shown, nothing."""
    accuracies = [values.get("accuracy") for values in systems.values()]
    stated = [each for each in accuracies if isinstance(each, dict)]
    known = list(dict.fromkeys([*board.measures, *(name for each in stated for name in each)]))
    directions = check_directions(_object("directions", document.get("directions")), known)
    return {axis: better for axis, better in directions.items()
            if axis in board.measures or axis not in known}  # fmt: skip


def _settings(document: dict[str, Any]) -> dict[str, str]:
    settings = _object("settings", document.get("settings"))
    for name, value in settings.items():
        if not isinstance(value, str):
            raise refuse(SOURCE, f"settings: {shown(name)}", f"is {shown(value)}, which is no text",
                         value)  # fmt: skip
    return settings


def _object(field: str, value: Any) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise refuse(SOURCE, field, f"are {shown(value)}, not an object", value)
    return dict(value or {})


def _texts(field: str, value: Any) -> list[str]:
    texts = [] if value is None else value
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise refuse(SOURCE, field, f"are {shown(value)}, not a list of texts", value)
    return texts


def _listed(measures: Any) -> list[Any]:
    many = isinstance(measures, Iterable) and not isinstance(measures, str)
    return list(measures) if many else [measures]
