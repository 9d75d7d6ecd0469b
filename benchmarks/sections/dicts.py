"""Judgments and runs as dicts of dicts, and what ranx and irbatch have prepared of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import irbatch
from benchmarks.data import Table as Dicts
from benchmarks.data import dicts
from benchmarks.names import usual
from benchmarks.peers import PEERS, RANX, Peer, ranx_values
from benchmarks.report import Table, absence
from benchmarks.settings import Settings
from benchmarks.turns import Timed, in_turn

__all__ = ["tables"]

Sides = tuple[Dicts, Dicts]


def tables(settings: Settings) -> Iterator[Table]:
    """Compare on each number of judged documents."""
    names = usual(settings.depth)
    for judged in settings.judged:
        table = settings.table(f"dicts of dicts: {settings.size(judged)}; {len(names)} measures")
        qrels, run = dicts(settings.problem(settings.queries, settings.depth, judged))
        small = dicts(settings.small(judged))
        irbatch.runtime.warmup()
        key = f"dicts, {judged} judged"
        _compare_dicts(table, key, (qrels, run), small, names, settings.rounds)
        _compare_prepared(table, key, (qrels, run), names, settings.rounds)
        yield table


def _compare_dicts(
    table: Table, key: str, sides: Sides, small: Sides, names: list[str], rounds: int
) -> None:
    """Time everything a tool does from dicts to means (pytrec_eval: to values of queries)."""
    works: dict[str, Callable[[], Any]] = {
        "irbatch": lambda: irbatch.evaluate(*sides, names).mean()
    }
    present = [peer for peer in PEERS if absence(peer.module, peer.package) is None]
    for peer in present:
        peer.evaluate(*small, names)
        works[peer.name] = lambda peer=peer: peer.evaluate(*sides, names)
    timed = in_turn(works, rounds)
    for peer in PEERS:
        work, ours, row = "dicts to means", timed["irbatch"], f"{key}, {peer.module}"
        if peer in present:
            theirs = _means(timed[peer.name], peer, names)
            table.compare(work, ours, peer.name, theirs, key=row)
        else:
            missing = absence(peer.module, peer.package) or ""
            table.skip(work, peer.name, missing, ours, key=row)


def _means(timed: Timed, peer: Peer, names: list[str]) -> Timed:
    return replace(timed, result=peer.means(timed.result, names))


def _compare_prepared(table: Table, key: str, sides: Sides, names: list[str], rounds: int) -> None:
    """Time evaluation alone, of what either tool keeps between evaluations."""
    work, peer, key = "prepared, to means", "ranx, prepared", f"{key}, prepared, ranx"
    missing = absence(RANX.module, RANX.package)
    if missing:
        table.skip(work, peer, missing, key=key)
        return
    ranx = importlib.import_module("ranx")
    qrels, run = sides
    ours = irbatch.Qrels(qrels), irbatch.Run(run).prepared()
    prepared = ranx.Qrels(qrels), ranx.Run(run)
    timed = in_turn(
        {
            "irbatch": lambda: irbatch.evaluate(*ours, names).mean(),
            "ranx": lambda: ranx_values(*prepared, names),
        },
        rounds,
    )
    theirs = _means(timed["ranx"], RANX, names)
    table.compare(work, timed["irbatch"], peer, theirs, key=key)
