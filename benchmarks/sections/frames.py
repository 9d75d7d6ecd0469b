"""Frames of pandas and polars and tables of Arrow, a row a document."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import irbatch
from benchmarks.data import columns
from benchmarks.engines import polars_values
from benchmarks.names import IN_QUERIES, usual
from benchmarks.peers import IR_MEASURES, RANX, ranx_values
from benchmarks.report import Table, absence
from benchmarks.settings import Settings
from benchmarks.turns import in_turn

__all__ = ["tables"]

Frames = tuple[Any, Any]
Columns = tuple[dict[str, Any], dict[str, Any]]
Work = Callable[[], dict[str, float]]


def tables(settings: Settings) -> Iterator[Table]:
    """Compare on a fifth of the queries: making rows of pandas' frames takes peers long."""
    judged = settings.usual
    queries = max(20, settings.queries // 5)
    rows = queries * settings.depth
    table = settings.table(f"frames of {rows:,} rows, {judged} judged a query; frames to means")
    whole = columns(settings.problem(queries, settings.depth, judged))
    small = columns(settings.small(judged))
    names = usual(settings.depth)
    irbatch.runtime.warmup()
    for kind, module, package in (
        ("pandas", "pandas", "pandas"),
        ("polars", "polars", "polars"),
        ("Arrow", "pyarrow", "pyarrow"),
    ):
        peers = PEERS.get(kind, {})
        missing = absence(module, package)
        if missing:
            for key in peers or [""]:
                table.skip(f"{kind} frames", "", missing, key=key)
            continue
        frames = FRAMES[kind](whole)
        _time_ours(table, kind, frames, names, settings.rounds)
        for key, compare in peers.items():
            compare(table, key, frames, FRAMES[kind](small), names, settings.rounds)
    yield table


def _time_ours(table: Table, kind: str, frames: Frames, names: list[str], rounds: int) -> None:
    """Show that frames and what is made of them once give the same, and what each takes."""
    qrels, run = frames
    made = irbatch.Qrels.from_table(qrels), irbatch.Run.from_table(run)
    timed = in_turn(
        {
            "made": lambda: irbatch.evaluate(*made, names).mean(),
            "frames": lambda: irbatch.evaluate(qrels, run, names).mean(),
        },
        rounds,
    )
    table.compare(f"{kind}, by from_table before", timed["made"], "irbatch, from frames",
                  timed["frames"])  # fmt: skip


def _pandas(sides: Columns) -> Frames:
    pandas = importlib.import_module("pandas")
    return pandas.DataFrame(sides[0]), pandas.DataFrame(sides[1])


def _polars(sides: Columns) -> Frames:
    polars = importlib.import_module("polars")
    made = [
        polars.DataFrame({name: list(each) if each.dtype == object else each
                          for name, each in side.items()})
        for side in sides
    ]  # fmt: skip
    return made[0], made[1]


def _arrow(sides: Columns) -> Frames:
    arrow = importlib.import_module("pyarrow")
    return arrow.table(sides[0]), arrow.table(sides[1])


def _against(
    table: Table, key: str, peer: str, frames: Frames, work: Work, names: list[str], rounds: int
) -> None:
    """Time irbatch on the same frames and in turn with the peer."""
    ours = partial(irbatch.evaluate, *frames, names)
    timed = in_turn({"ours": lambda: ours().mean(), "theirs": work}, rounds)
    kind = type(frames[1]).__module__.partition(".")[0]
    title = f"{kind}, {len(names)} measures"
    table.compare(title, timed["ours"], peer, timed["theirs"], key=key)


def _against_ir_measures(
    table: Table, key: str, frames: Frames, small: Frames, names: list[str], rounds: int
) -> None:
    missing = absence(IR_MEASURES.module, IR_MEASURES.package)
    if missing:
        table.skip("pandas", IR_MEASURES.name, missing, key=key)
        return

    def theirs(qrels: Any, run: Any) -> dict[str, float]:
        return IR_MEASURES.means(IR_MEASURES.evaluate(qrels, run, names), names)

    theirs(*small)
    _against(table, key, IR_MEASURES.name, frames, lambda: theirs(*frames), names, rounds)


def _against_ranx(
    table: Table, key: str, frames: Frames, small: Frames, names: list[str], rounds: int
) -> None:
    missing = absence(RANX.module, RANX.package)
    if missing:
        table.skip("pandas", "ranx", missing, key=key)
        return
    ranx = importlib.import_module("ranx")
    ids = {"q_id_col": "query_id", "doc_id_col": "doc_id"}

    def theirs(qrels: Any, run: Any) -> dict[str, float]:
        sides = (
            ranx.Qrels.from_df(qrels, **ids, score_col="relevance"),
            ranx.Run.from_df(run, **ids, score_col="score"),
        )
        return RANX.means(ranx_values(*sides, names), names)

    # ranx refuses pandas' own text columns; what it takes to change them isn't timed.
    plain = [side.astype(dict.fromkeys(ids.values(), object)) for side in frames]
    theirs(*(side.astype(dict.fromkeys(ids.values(), object)) for side in small))
    peer = "ranx from_df (ids changed to objects before)"
    _against(table, key, peer, frames, lambda: theirs(*plain), names, rounds)


def _against_polars(
    table: Table, key: str, frames: Frames, small: Frames, names: list[str], rounds: int
) -> None:
    polars_values(*(side.lazy() for side in small))

    def theirs() -> dict[str, float]:
        return polars_values(*(side.lazy() for side in frames))

    _against(table, key, "polars expressions", frames, theirs, list(IN_QUERIES), rounds)


FRAMES: dict[str, Callable[[Columns], Frames]] = {
    "pandas": _pandas,
    "polars": _polars,
    "Arrow": _arrow,
}
PEERS = {
    "pandas": {"frames, ir_measures": _against_ir_measures, "frames, ranx": _against_ranx},
    "polars": {"frames, polars": _against_polars},
}
