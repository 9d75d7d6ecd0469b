"""Collections of the usual size in new processes, from the first call on: processor time."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
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
FIGURES: dict[str, Callable[[list[float]], float]] = {
    "first call": lambda spent: spent[0],
    "later calls": lambda spent: statistics.median(spent[1:]),
    "slowest call": lambda spent: max(spent[1:]),
}


def tables(settings: Settings) -> Iterator[Table]:
    """Compare first calls, later ones and the slowest, where kernels may be loading."""
    irbatch.warmup()
    calls = 3 if settings.quick else CALLS
    table = settings.table(
        f"pytrec_eval's interface in new processes, {calls} calls, {JUDGED} judged a query; CPU"
    )
    missing = absence(PYTREC_EVAL.module, PYTREC_EVAL.package)
    for *sizes, _ in SMALL:
        _compare(table, sizes, calls, missing, settings.rounds)
    yield table


def _compare(table: Table, sizes: list[int], calls: int, missing: str | None, rounds: int) -> None:
    queries, depth, measures = sizes
    modules = [OURS] if missing else [OURS, PYTREC_EVAL.module]
    numbers = map(str, (queries, depth, JUDGED, measures, calls))
    arguments = list(numbers)
    found = rounds_of(
        {each: partial(json_of, ["-m", "benchmarks.calls", each, *arguments]) for each in modules},
        rounds,
    )
    for name, figure in FIGURES.items():
        works = {module: _timed(each, figure) for module, each in found.items()}
        work = f"{queries} × {depth:,}, {measures} measures, {name}"
        key = f"small, {queries} × {depth}, {measures}, {name}"
        if missing:
            table.skip(work, PYTREC_EVAL.name, missing, works[OURS], key=key)
        else:
            table.compare(work, works[OURS], PYTREC_EVAL.name, works[PYTREC_EVAL.module], key=key)


def _timed(rounds: list[dict[str, Any]], figure: Callable[[list[float]], float]) -> Timed:
    return Timed(flat(rounds[0]["values"]), tuple(figure(each["spent"]) for each in rounds))
