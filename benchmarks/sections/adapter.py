"""A script with its import changed: `irbatch.integrations.pytrec_eval` against pytrec_eval."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import irbatch
from benchmarks.data import dicts
from benchmarks.names import trec_names, usual
from benchmarks.peers import PYTREC_EVAL
from benchmarks.report import Table, absence
from benchmarks.settings import Settings
from benchmarks.turns import Timed, in_turn
from irbatch.integrations import pytrec_eval as ours

__all__ = ["flat", "tables"]

Nested = dict[str, dict[str, float]]


def tables(settings: Settings) -> Iterator[Table]:
    """Evaluate dicts, dict of dicts out; read lines of a usual collection's size."""
    irbatch.runtime.warmup()
    names = trec_names(usual(settings.depth), ".")
    title = f"pytrec_eval's interface: {settings.queries:,} queries × {settings.depth:,} documents"
    table = settings.table(f"{title}, {len(names)} measures; lines of 50 × 1,000")
    for judged in settings.judged[:2]:
        qrels, run = dicts(settings.problem(settings.queries, settings.depth, judged))

        def evaluate(module: Any, qrels: Nested = qrels, run: Nested = run) -> Nested:
            return module.RelevanceEvaluator(qrels, set(names)).evaluate(run)

        work = f"dicts in and out, {judged} judged"
        _compare(table, work, f"adapter, {judged} judged", evaluate, settings.rounds)
    paths = settings.files(settings.problem(50, 1_000, 460), "typical")
    for function, path in zip(("parse_qrel", "parse_run"), paths, strict=True):

        def parse(module: Any, function: str = function, path: Path = path) -> Nested:
            with path.open() as file:
                return getattr(module, function)(file)

        _compare(table, function, f"adapter, {function}", parse, 2 * settings.rounds + 1)
    yield table


def _compare(table: Table, work: str, key: str, call: Callable[[Any], Nested], rounds: int) -> None:
    """Time both modules' function of one name."""
    works = {"ours": lambda: call(ours)}
    missing = absence(PYTREC_EVAL.module, PYTREC_EVAL.package)
    if missing is None:
        theirs = importlib.import_module("pytrec_eval")
        works["theirs"] = lambda: call(theirs)
    timed = {name: _flat(each) for name, each in in_turn(works, rounds).items()}
    if missing is None:
        table.compare(work, timed["ours"], PYTREC_EVAL.name, timed["theirs"], key=key)
    else:
        table.skip(work, PYTREC_EVAL.name, missing, timed["ours"], key=key)


def _flat(timed: Timed) -> Timed:
    return replace(timed, result=flat(timed.result))


def flat(table: Nested) -> dict[str, float]:
    """Return a value for each pair of keys."""
    return {f"{query} {name}": value for query, row in table.items() for name, value in row.items()}
