"""A leaderboard for programs: columns of every number with every digit."""

from __future__ import annotations

from dataclasses import fields
from os import PathLike
from typing import Any

import numpy as np

from irbatch.efficiency import Hardware
from irbatch.leaderboard.systems import Systems
from irbatch.report.records import write_csv
from irbatch.runtime.extras import imported

MACHINE = tuple(each.name for each in fields(Hardware))
CALLS = (
    "batch_size", "n_queries", "warmup", "repeat", "throughput_batch_size", "wall_time",
    "user_time", "system_time", "start_time", "energy", "emissions", "dataset", "source",
    "currency",
)  # fmt: skip


def write_values(board: Systems, path: str | PathLike[str] | None) -> str:
    """Return, or also write, one line a system; see `Leaderboard.to_csv`."""
    names, columns = _list_columns(board)
    rows = (
        # By position, as a measure may be called what another column is; NaN is empty.
        {str(k): None if cell != cell else cell for k, cell in enumerate(row)}
        for row in zip(*columns, strict=True)
    )
    return write_csv(names, rows, path)


def make_frame(board: Systems) -> Any:
    """Return a pandas frame, one row a system; see `Leaderboard.to_pandas`."""
    pd = imported("frames", "pandas", "pandas")
    names, columns = _list_columns(board)
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = names
    return frame


def _list_columns(board: Systems) -> tuple[list[str], list[list[Any]]]:
    """Return the columns' names, and each column's values of all systems."""
    named: list[tuple[str, list[Any]]] = [("system", list(board.systems))]
    named += [(name, [getattr(each.hardware, name) for each in board.records]) for name in MACHINE]
    for axis in board.axes:
        named.append((axis, board.values(axis).tolist()))
        bounds = board.bounds(axis)
        if not np.isnan(bounds).all():
            lows, highs = bounds.T.tolist()
            named += [(f"{axis} low", lows), (f"{axis} high", highs)]
    calls = ((name, [getattr(each, name) for each in board.records]) for name in CALLS)
    accurate = ("queries", list(board.n_queries))  # that accuracy is of
    named += [
        (name, column)
        for name, column in (*calls, accurate)
        if any(each is not None for each in column)
    ]
    return [name for name, _ in named], [column for _, column in named]
