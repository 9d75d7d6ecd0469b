"""Collections of the usual size in new processes, from the first call on: processor time."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import irbatch
from benchmarks.aims import SMALL
from benchmarks.peers import PYTREC_EVAL
from benchmarks.processes import json_of, rounds_of
from benchmarks.report import Table, absence
from benchmarks.sections.adapter import flat
from benchmarks.settings import Settings
from benchmarks.turns import Timed

__all__ = ["tables"]

JUDGED, CALLS = 50, 30
OURS = "irbatch.integrations.pytrec_eval"
# What is taken of the seconds of all calls.
Figure = Callable[[list[float]], float]
FIGURES: dict[str, Figure] = {
    "first call": lambda spent: spent[0],
    "later calls": lambda spent: statistics.median(spent[1:]),
    "slowest call": lambda spent: max(spent[1:]),
}


def tables(settings: Settings) -> Iterator[Table]:
    """Compare first calls, later ones and the slowest, where kernels may be loading."""
    irbatch.runtime.warmup()
    calls, rounds = (3, 1) if settings.quick else (CALLS, settings.rounds + 2)
    table = settings.table(
        f"pytrec_eval's interface in new processes, {calls} calls, {JUDGED} judged a query; CPU"
    )
    missing = absence(PYTREC_EVAL.module, PYTREC_EVAL.package)
    modules = [OURS] if missing else [OURS, PYTREC_EVAL.module]
    for *sizes, _ in SMALL:
        works = {each: partial(_calls, each, sizes, calls) for each in modules}
        _rows(table, sizes, rounds_of(works, rounds), missing)
    yield table


def _calls(module: str, sizes: Sequence[int], calls: int) -> dict[str, Any]:
    """Call again and again in a new process."""
    queries, depth, measures = sizes
    numbers = map(str, (queries, depth, JUDGED, measures, calls))
    command = ["-m", "benchmarks.calls", module, *numbers]
    return json_of(command)


def _rows(
    table: Table, sizes: Sequence[int], found: dict[str, list[Any]], missing: str | None
) -> None:
    queries, depth, measures = sizes
    for name, figure in FIGURES.items():
        works = {module: _timed(each, figure) for module, each in found.items()}
        work = f"{queries} × {depth:,}, {measures} measures, {name}"
        key = f"small, {queries} × {depth}, {measures}, {name}"
        if missing:
            table.skip(work, PYTREC_EVAL.name, missing, works[OURS], key=key)
        else:
            table.compare(work, works[OURS], PYTREC_EVAL.name, works[PYTREC_EVAL.module], key=key)


def _timed(rounds: list[dict[str, Any]], figure: Figure) -> Timed:
    return Timed(flat(rounds[0]["values"]), tuple(figure(each["spent"]) for each in rounds))
