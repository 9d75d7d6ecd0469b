"""A leaderboard as Markdown, as GitHub reads it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from os import PathLike
from typing import TYPE_CHECKING

from irbatch.leaderboard.report.old_markdown import escape, table, write_number
from irbatch.leaderboard.report.table import (
    MARK,
    Cell,
    Head,
    Table,
    lay_out,
    legend,
    signature,
)
from irbatch.runtime.files import written

if TYPE_CHECKING:
    from irbatch.leaderboard.board import Leaderboard

__all__ = ["to_markdown"]


def to_markdown(
    board: Leaderboard,
    *,
    columns: Iterable[str] | None = None,
    frontier: Iterable[str] | None = None,
    intervals: bool = False,
    digits: int = 4,
    path: str | PathLike[str] | None = None,
) -> str:
    """Return, or also write, a table of systems in GitHub's Markdown.

    Args:
        board: the leaderboard.
        columns: axes by any of their names, ``"hardware"``, ``"batch_size"`` or ``"source"``;
            default: these where they differ, all measures, and the usual quantities that some
            system has.
        frontier: axes whose Pareto frontier is marked.
        intervals: whether values come with their intervals.
        digits: how many decimals of measures; quantities have four significant digits.
        path: where to write it; an existing file is replaced whole or not at all.

    Raises:
        InputError: for decimals that are none, an axis that there is not or that is given twice,
            and naming the system that has no value of an axis of the frontier.

    >>> from irbatch import EfficiencyRecord, Leaderboard
    >>> board = Leaderboard({"bm25": {"RR@10": 0.19}}, EfficiencyRecord(system="bm25"))
    >>> print(to_markdown(board))
    | system | RR@10 |
    |---|--:|
    | bm25 | 0.1900 |
    <BLANKLINE>
    1 system.
    <BLANKLINE>
    """
    laid_out = lay_out(board, columns, frontier, intervals, digits)
    settings = escape(signature(board))
    parts = [
        _table(laid_out),
        escape(f"{board.caption()} {legend(laid_out, 'Bold')}".strip()),
        settings and f"<sub>{settings}</sub>",
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    return written(text, path)


def _table(laid_out: Table) -> str:
    heads, marked = laid_out.heads, bool(laid_out.frontier)
    texts = len(list(takewhile(lambda head: not head.numeric, heads)))
    names = [*[""] * marked, "system", *(escape(each.label) for each in heads)]
    lines = [
        [*[MARK * row.marked] * marked, escape(row.system), *map(_cell, heads, row.cells)]
        for row in laid_out.rows
    ]
    return table(names, marked + 1 + texts, lines)


def _cell(head: Head, cell: Cell) -> str:
    if not head.numeric:
        return escape(cell.shown.text)
    return f"{write_number(cell.shown)} {cell.interval}".rstrip()
