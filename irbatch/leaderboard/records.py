"""A leaderboard for programs: every number with every digit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from irbatch.efficiency import Hardware, Latency
from irbatch.errors import imported
from irbatch.leaderboard.systems import Systems
from irbatch.report.document import Record

CALLS = (  # fields of records
    *("batch_size", "n_queries", "warmup", "warmed_queries", "repeat", "throughput_batch_size"),
    *("sustained_p99", "wall_time", "user_time", "system_time", "children_time", "start_time"),
    *("energy", "emissions", "dataset"),
    *("source", "currency"),
)
LOOP = ("loop", "rate", "arrivals", "errors", "timeouts")  # fields of latencies


def list_systems(board: Systems) -> tuple[list[str], Iterator[Record]]:
    """Return the names of the columns, and a record for each system."""
    names, columns = columns_of(board)
    # By position, as a measure may be called what another column is; NaN is empty.
    records = (
        {str(k): None if cell != cell else cell for k, cell in enumerate(row)}
        for row in zip(*columns, strict=True)
    )
    return names, records


def make_frame(board: Systems) -> Any:
    """Return a pandas frame, one row a system."""
    names, columns = columns_of(board)
    frame = imported("frames", "pandas", "pandas").DataFrame(dict(enumerate(columns)))
    frame.columns = names
    return frame


def columns_of(board: Systems) -> tuple[list[str], list[list[Any]]]:
    """Return names and values of the columns of `Leaderboard.to_csv`, unrounded."""

    def fields_of(owners: list[Any], names: Iterable[str]) -> list[tuple[str, list[Any]]]:
        return [(name, [getattr(each, name) for each in owners]) for name in names]

    machines = [each.hardware for each in board.records]
    latencies = [each.latency or Latency() for each in board.records]
    columns: list[tuple[str, list[Any]]] = [("system", list(board.systems))]
    columns += fields_of(machines, [each.name for each in fields(Hardware)])
    for axis in board.axes:
        columns.append((axis, board.values(axis).tolist()))
        bounds = board.bounds(axis)
        if not np.isnan(bounds).all():
            lows, highs = bounds.T.tolist()
            columns += [(f"{axis} low", lows), (f"{axis} high", highs)]
    if board.significance is not None:
        for measure, p_values in board.significance.p_values.items():
            p = [p_values.get(system) for system in board.systems]
            columns.append((f"{measure} p against the best", p))
    if board.stability is not None:
        columns.append(("on frontier", [board.stability.share(each) for each in board.systems]))
    calls = [
        *fields_of(board.records, CALLS),
        *fields_of(latencies, LOOP),
        ("queries", list(board.n_queries)),
    ]
    columns += [each for each in calls if any(value is not None for value in each[1])]
    return [name for name, _ in columns], [values for _, values in columns]
