"""A leaderboard as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING

from irbatch.errors import printable
from irbatch.leaderboard.old_text import (
    LONGEST,
    WIDTH,
    align,
    flush_right,
    stand_out,
    table_width,
)
from irbatch.leaderboard.report.table import (
    MARK,
    Cell,
    Head,
    Table,
    lay_out,
    legend,
    signature,
)
from irbatch.report.names import shorten, shorten_all
from irbatch.runtime.files import written

if TYPE_CHECKING:
    from irbatch.leaderboard.board import Leaderboard

__all__ = ["to_text"]

LONGEST_HEAD = 60  # columns; enough for every quantity with its unit


def to_text(
    board: Leaderboard,
    *,
    columns: Iterable[str] | None = None,
    frontier: Iterable[str] | None = None,
    intervals: bool = False,
    digits: int = 4,
    ansi: bool = False,
    width: int = WIDTH,
    path: str | PathLike[str] | None = None,
) -> str:
    r"""Return, or also write, a table of systems for a terminal.

    Args:
        board: the leaderboard.
        columns: axes by any of their names, ``"hardware"``, ``"batch_size"`` or ``"source"``;
            default: these where they differ, all measures, and the usual quantities that some
            system has.
        frontier: axes whose Pareto frontier is marked.
        intervals: whether values come with their intervals.
        digits: how many decimals of measures; quantities have four significant digits.
        ansi: whether the best of each column is bold, by a terminal's escapes; if not, it is
            starred.
        width: columns that would make lines longer than this go on in a further table.
        path: where to write it; an existing file is replaced whole or not at all.

    Raises:
        InputError: for decimals that are none, an axis that there is not or that is given twice,
            and naming the system that has no value of an axis of the frontier.

    >>> from irbatch import EfficiencyRecord, Leaderboard
    >>> records = [EfficiencyRecord(system="bm25", index_memory=1500),
    ...            EfficiencyRecord(system="dense", index_memory=26000)]
    >>> board = Leaderboard({"bm25": {"RR@10": 0.19}, "dense": {"RR@10": 0.33}}, records)
    >>> print(to_text(board).split("\n\n")[0])
    system    RR@10  index in memory (MB)
    ------  -------  --------------------
    bm25     0.1900                *1,500
    dense   *0.3300                26,000
    """
    table = lay_out(board, columns, frontier, intervals, digits)
    parts = [
        *_tables(table, ansi, width),
        printable(board.caption()),
        legend(table, "Bold" if ansi else "*"),
        signature(board),
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    return written(text, path)


def _tables(table: Table, ansi: bool, most: int) -> Iterator[str]:
    """Yield the table, in as many parts as its width asks for."""
    names = [["system", *shorten_all([row.system for row in table.rows], LONGEST)]]
    if table.frontier:
        names.insert(0, ["", *(MARK * row.marked for row in table.rows)])
    part: list[list[str]] = []
    for k, head in enumerate(table.heads):
        column = _column(head, [row.cells[k] for row in table.rows], ansi)
        if part and table_width([*names, *part, column]) > most:
            yield align([*names, *part])
            part = []
        part.append(column)
    yield align([*names, *part])


def _column(head: Head, cells: Sequence[Cell], ansi: bool) -> list[str]:
    """Write a column: numbers under each other, and after them their intervals."""
    label = shorten(head.label, LONGEST_HEAD)
    if not head.numeric:
        return [label, *shorten_all([cell.shown.text for cell in cells], LONGEST)]
    numbers = stand_out([cell.shown for cell in cells], ansi)
    most = max((len(cell.interval) for cell in cells), default=0)
    if most:
        numbers = [
            f"{number} {cell.interval:{most}}" for number, cell in zip(numbers, cells, strict=True)
        ]
    return flush_right([label, *numbers])
