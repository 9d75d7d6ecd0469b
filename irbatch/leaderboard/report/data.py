"""A leaderboard for programs: every number with every digit."""

from __future__ import annotations

import math
from dataclasses import fields
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.efficiency import Hardware
from irbatch.leaderboard.json_form import board_to_dict
from irbatch.report.records import write_csv, write_json
from irbatch.runtime.extras import imported

if TYPE_CHECKING:
    from irbatch.leaderboard.board import Leaderboard

__all__ = ["to_csv", "to_json", "to_pandas"]

MACHINE = tuple(each.name for each in fields(Hardware))
CALLS = (
    "batch_size", "n_queries", "warmup", "repeat", "throughput_batch_size", "wall_time",
    "user_time", "system_time", "start_time", "energy", "emissions", "dataset", "source",
    "currency",
)  # fmt: skip


def to_csv(board: Leaderboard, path: str | PathLike[str] | None = None) -> str:
    """Return, or also write, one line a system: its hardware, its values, bounds and calls.

    What isn't known is empty. Names that a spreadsheet would take for a formula get a leading
    apostrophe.

    Args:
        board: the leaderboard.
        path: where to write it; an existing file is replaced whole or not at all.

    >>> from irbatch import EfficiencyRecord, Leaderboard
    >>> board = Leaderboard({"bm25": {"RR@10": 0.19}}, EfficiencyRecord(system="bm25"))
    >>> print(to_csv(board), end="")
    system,instance,cpu,n_cpu,gpu,n_gpu,ram_gb,RR@10,batch_size,repeat,currency
    bm25,,,,,,,0.19,1,1,USD
    """
    names, columns = _columns(board)
    records = (
        # By place, as a measure may be called what another column is.
        {str(k): None if _is_nan(cell) else cell for k, cell in enumerate(line)}
        for line in zip(*columns, strict=True)
    )
    return write_csv(names, records, path)


def to_json(board: Leaderboard, path: str | PathLike[str] | None = None) -> str:
    """Return, or also write, everything as JSON, which `Leaderboard.from_json` reads.

    Args:
        board: the leaderboard.
        path: where to write it; an existing file is replaced whole or not at all.

    >>> from irbatch import EfficiencyRecord, Leaderboard
    >>> board = Leaderboard({"bm25": {"RR@10": 0.19}}, EfficiencyRecord(system="bm25"))
    >>> Leaderboard.from_json(to_json(board)).values("RR@10").tolist()
    [0.19]
    """
    return write_json(board_to_dict(board), path)


def to_pandas(board: Leaderboard) -> Any:
    """Return a pandas frame: one row a system, the columns of `to_csv`.

    Args:
        board: the leaderboard.

    Raises:
        ImportError: naming the extra, when pandas is not installed.
    """
    pd = imported("frames", "pandas", "pandas")
    names, columns = _columns(board)
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = names
    return frame


def _columns(board: Leaderboard) -> tuple[list[str], list[list[Any]]]:
    """Return the columns' names, and each column's values of all systems."""
    named: list[tuple[str, list[Any]]] = [("system", list(board.systems))]
    named += [(name, [getattr(each.hardware, name) for each in board.records]) for name in MACHINE]
    for axis in board.axes:
        named.append((axis, board.values(axis).tolist()))
        bounds = board.bounds(axis)
        if not np.isnan(bounds).all():
            lows, highs = bounds.T.tolist()
            named += [(f"{axis} low", lows), (f"{axis} high", highs)]
    for name in CALLS:
        column = [getattr(each, name) for each in board.records]
        if any(each is not None for each in column):
            named.append((name, column))
    if any(count is not None for count in board.n_queries):
        named.append(("queries", list(board.n_queries)))  # that accuracy is of
    return [name for name, _ in named], [column for _, column in named]


def _is_nan(cell: Any) -> bool:
    return isinstance(cell, float) and math.isnan(cell)
