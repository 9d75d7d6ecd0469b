"""Matrices of whole-number ids, against copying them and against plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

import irbatch
from benchmarks.data import numbers
from benchmarks.report import Table
from benchmarks.settings import Settings
from benchmarks.timing import seconds
from benchmarks.turns import in_turn

__all__ = ["tables"]

Ids = npt.NDArray[np.int64]
MEASURES = "nDCG@10 R@100 RR P@10"
RELEVANT = 20
LONGEST = 20.0  # seconds that one evaluation may take
SAMPLE = 1_000


def tables(settings: Settings) -> Iterator[Table]:
    """Compare at full size, or at as much of it as one evaluation gets through."""
    queries, depth = (500, 100) if settings.quick else (50_000, 1_000)
    ranked, relevant = numbers(queries, depth, RELEVANT)
    irbatch.runtime.warmup()
    few = queries // 50
    irbatch.evaluate_ids(ranked[:few], relevant[:few], MEASURES)
    expected = 50 * seconds(lambda: irbatch.evaluate_ids(ranked[:few], relevant[:few], MEASURES))
    if expected > LONGEST:
        kept = int(queries * LONGEST / expected)
        ranked, relevant = ranked[:kept], relevant[:kept]
    table = settings.table(
        f"matrices of int64 ids: {len(ranked):,} × {depth:,}, {RELEVANT} relevant each; {MEASURES}"
    )
    _compare_copy(table, ranked, relevant, settings.rounds)
    _compare_plain(table, ranked[:SAMPLE], relevant[:SAMPLE], settings.rounds)
    yield table


def _compare_copy(table: Table, ranked: Ids, relevant: Ids, rounds: int) -> None:
    """Copying the ids is the least that reading and writing them once can cost (see `scan`)."""
    timed = in_turn(
        {"ours": lambda: irbatch.evaluate_ids(ranked, relevant, MEASURES), "copy": ranked.copy},
        rounds,
        patience=math.inf,
    )
    work = f"{len(ranked):,} queries"
    table.measure_by(work, timed["ours"], "ranked.copy()", timed["copy"], key="ids, copy")


def _compare_plain(table: Table, ranked: Ids, relevant: Ids, rounds: int) -> None:
    """A sample, since plain Python takes long."""
    timed = in_turn(
        {
            "ours": lambda: irbatch.evaluate_ids(ranked, relevant, MEASURES).mean(),
            "plain": lambda: plain_values(ranked, relevant),
        },
        rounds,
    )
    table.compare(f"{len(ranked):,} queries", timed["ours"], "np.isin row by row", timed["plain"])


def plain_values(ranked: Ids, relevant: Ids) -> dict[str, float]:
    """Return the means as a script would compute them, one query after the other."""
    sums = dict.fromkeys(MEASURES.split(), 0.0)
    discounts = 1 / np.log2(np.arange(2, 12))
    for row, wanted in zip(ranked, relevant, strict=True):
        hits = np.isin(row, wanted)
        sums["nDCG@10"] += hits[:10] @ discounts / discounts[: len(wanted)].sum()
        sums["R@100"] += hits[:100].sum() / len(wanted)
        sums["RR"] += 1 / (hits.argmax() + 1) if hits.any() else 0.0
        sums["P@10"] += hits[:10].sum() / 10
    return {name: float(total) / len(ranked) for name, total in sums.items()}
