"""What every format shows: systems, the axes asked for, and which systems are on the frontier."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats
from irbatch.efficiency.quantities import HIGHER
from irbatch.errors import InputError, join_words, printable, shown
from irbatch.leaderboard.axes import find_axis, list_axes
from irbatch.report.numbers import NOTHING, Shown, check_digits, show, show_levels, show_quantity

if TYPE_CHECKING:
    from irbatch.leaderboard.board import Leaderboard

__all__ = ["HARDWARE", "MARK", "Cell", "Head", "Row", "Table", "lay_out", "legend", "signature"]

HARDWARE = "hardware"  # a column that is no axis
MARK = "●"  # of systems on the frontier
# Not the peak of memory: it is the process', which mostly holds several systems.
USUAL = (
    "latency_mean", "latency_p95", "throughput", "index_memory", "index_disk", "energy_per_query",
    "cost_per_million",
)  # fmt: skip
BATCH, SOURCE = "batch_size", "source"  # columns that are no axes either


class Head(NamedTuple):
    """A column.

    Args:
        name: of the axis, or `HARDWARE`.
        label: what people read, with the unit; printable.
        descends: whether the largest is what one looks for.
        numeric: whether its cells are numbers; if not, they are text.
    """

    name: str
    label: str
    descends: bool
    numeric: bool


class Cell(NamedTuple):
    """What a system has in a column.

    Args:
        shown: see `Shown`; the best of a column stands out. Text is printable, of value NaN.
        interval: of the value, as in ``"[0.31, 0.35]"``; empty where none is known or asked for.
    """

    shown: Shown
    interval: str


class Row(NamedTuple):
    """A system: its name (printable), whether it is on the frontier, and one cell a column."""

    system: str
    marked: bool
    cells: list[Cell]


class Table(NamedTuple):
    """What is shown.

    Args:
        heads: columns.
        rows: systems.
        frontier: labels of the axes whose frontier is marked; none: nothing is.
        axes: their names.
        sure: how sure the intervals are that are shown, ``"95%"``; empty where it isn't known.
    """

    heads: list[Head]
    rows: list[Row]
    frontier: list[str]
    axes: list[str]
    sure: str


def lay_out(
    board: Leaderboard,
    columns: Iterable[str] | None = None,
    frontier: Iterable[str] | None = None,
    intervals: bool = False,
    digits: int = 4,
) -> Table:
    """Lay out one row a system, in the leaderboard's order.

    Args:
        board: the leaderboard.
        columns: axes by any of their names, ``"hardware"``, ``"batch_size"`` or ``"source"``;
            default: these where they differ, all measures, and the usual quantities that some
            system has.
        frontier: axes whose Pareto frontier is marked.
        intervals: whether values come with their intervals.
        digits: how many decimals of measures.

    Raises:
        InputError: for decimals that are none, an axis that there is not or that is given twice,
            and naming the system that has no value of an axis of the frontier.
    """
    check_digits(digits)
    heads = _usual(board) if columns is None else _chosen(board, columns)
    found = [] if frontier is None else list_axes(frontier, board.measures)
    marked = board.pareto([each.name for each in found]).frontier if found and len(board) else []
    cells = [_cells(board, head, intervals, digits) for head in heads]
    rows = [
        Row(printable(system), system in marked, [column[i] for column in cells])
        for i, system in enumerate(board.systems)
    ]
    labels = [printable(each.label) for each in found] if rows else []
    names = [each.name for each in found] if rows else []
    return Table(heads, rows, labels, names, _sure(board, heads, rows))


def legend(table: Table, best: str) -> str:
    """Explain what stands out and what is marked.

    Args:
        table: what is shown.
        best: how the best stand out, as in ``"Bold"``.
    """
    said = []
    if any(cell.shown.stands_out for row in table.rows for cell in row.cells):
        said.append(f"{best}: the best of its column.")
    if table.frontier:
        axes = join_words(table.frontier)
        said.append(f"{MARK}: on the Pareto frontier of {axes}, where no other system is as good "
                    "along every axis and better along one.")  # fmt: skip
    if any(cell.interval for row in table.rows for cell in row.cells):
        said.append(f"[low, high]: {table.sure or 'bounds of'} intervals.")
    return " ".join(said)


def signature(board: Leaderboard) -> str:
    """Name the settings behind the measures; empty where they aren't known."""
    return printable(" | ".join(f"{name}: {value}" for name, value in board.settings.items()))


def _sure(board: Leaderboard, heads: list[Head], rows: list[Row]) -> str:
    """Say how sure the intervals that are shown are."""
    levels: set[float | None] = set()
    for k, head in enumerate(heads):
        for i, row in enumerate(rows):
            if row.cells[k].interval:
                timed = None if head.name in board.measures else board.records[i].latency
                levels.add(board.level if timed is None else timed.level)
    return show_levels(levels)


def _usual(board: Leaderboard) -> list[Head]:
    """Choose columns where nobody else does."""
    machines = {str(each.hardware) for each in board.records}
    known = [name for name in board.axes if name in USUAL]
    heads = [_head(board, name) for name in (*board.measures, *known)]
    sizes = {each.batch_size for each in board.records}
    published = any(each.source is not None for each in board.records)
    return [*([_hardware()] if len(machines) > 1 else []), *([_batch()] if len(sizes) > 1 else []),
            *heads, *([_source()] if published else [])]  # fmt: skip


def _chosen(board: Leaderboard, columns: Iterable[str]) -> list[Head]:
    """Find the columns that are asked for."""
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, Iterable):
        raise InputError(f"columns are names, not {shown(columns)}", source="columns",
                         value=columns)  # fmt: skip
    heads: list[Head] = []
    for name in columns:
        other = TOLD.get(name) if isinstance(name, str) and name not in board.measures else None
        head = _head(board, name) if other is None else other()
        if head in heads:
            raise InputError(f"{head.name} is given twice", source="columns", value=name)
        heads.append(head)
    if not heads:
        raise InputError("there is no column to show", source="columns")
    return heads


def _hardware() -> Head:
    return Head(HARDWARE, HARDWARE, descends=False, numeric=False)


def _batch() -> Head:
    return Head(BATCH, "batch size", descends=False, numeric=True)


def _source() -> Head:
    return Head(SOURCE, SOURCE, descends=False, numeric=False)


TOLD = {HARDWARE: _hardware, BATCH: _batch, SOURCE: _source}  # columns that are no axes


def _head(board: Leaderboard, name: str) -> Head:
    axis = board.axis(find_axis(name, board.measures).name)
    return Head(axis.name, printable(axis.heading), axis.better == HIGHER, numeric=True)


def _cells(board: Leaderboard, head: Head, intervals: bool, digits: int) -> list[Cell]:
    """Write a column."""
    if not head.numeric:
        texts = [printable(getattr(each, head.name) or "") or NOTHING for each in board.records]
        return [Cell(Shown(text, np.nan), "") for text in texts]
    if head.name == BATCH:
        return [Cell(Shown(f"{each.batch_size:,}", each.batch_size), "") for each in board.records]
    is_measure = head.name in board.measures
    values = board.values(head.name)
    comparable = len(board.currencies(head.name)) < 2
    best = _is_best(values if head.descends else -values) & comparable
    cells = []
    for value, (low, high), is_best in zip(
        values.tolist(), board.bounds(head.name).tolist(), best.tolist(), strict=True
    ):
        texts = [show(each, digits) if is_measure else show_quantity(each)
                 for each in (value, low, high)]  # fmt: skip
        known = intervals and not (np.isnan(low) and np.isnan(high))
        within = f"[{texts[1]}, {texts[2]}]" if known else ""
        cells.append(Cell(Shown(texts[0], value, is_best), within))
    return cells


def _is_best(values: Floats) -> Bools:
    """Tell which values are the highest, to the last bit; one alone is not."""
    known = ~np.isnan(values)
    if known.sum() < 2:
        return np.zeros(values.shape, np.bool_)
    best: Bools = values == values[known].max()
    return best
