"""A leaderboard as a page of HTML that stands alone: it works offline and loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from irbatch.errors import many, printable
from irbatch.leaderboard.frontier import Frontier, find_frontier, percent
from irbatch.leaderboard.report.old_html import (
    minus,
    sorted_by,
    write_figure,
    write_name,
    write_number,
    write_soft,
    write_table,
    write_words,
)
from irbatch.leaderboard.report.svg import draw_frontier
from irbatch.leaderboard.report.table import (
    MARK,
    Cell,
    Head,
    Row,
    Table,
    lay_out,
    legend,
    signature,
)
from irbatch.report.page import STYLE, write_page
from irbatch.runtime.files import written

if TYPE_CHECKING:
    from irbatch.leaderboard.board import Leaderboard

__all__ = ["to_html"]

COSTS = ("cost_per_million", "latency_mean", "latency_p50")  # the first that all systems have
NAMED = 6  # systems that dominate another one


def to_html(
    board: Leaderboard,
    path: str | PathLike[str] | None = None,
    *,
    columns: Iterable[str] | None = None,
    frontier: Iterable[str] | None = None,
    intervals: bool = False,
    digits: int = 4,
    x: str | None = None,
    y: str | None = None,
    plots: bool = True,
    title: str | None = None,
    fragment: bool = False,
) -> str:
    """Return, or also write, a page: a sortable table, a picture of the Pareto frontier.

    Args:
        board: the leaderboard.
        path: where to write it; an existing file is replaced whole or not at all.
        columns: axes by any of their names, ``"hardware"``, ``"batch_size"`` or ``"source"``;
            default: these where they differ, all measures, and the usual quantities that some
            system has.
        frontier: axes whose Pareto frontier is marked in the table.
        intervals: whether the table has the intervals of values, as the picture does.
        digits: how many decimals of measures; quantities have four significant digits.
        x: the axis across the picture; default: that of a `frontier` of two axes; or else the cost,
            the mean latency or the median that all systems have; without any there is no picture.
        y: the axis along it; default: the first measure.
        plots: whether there is a picture.
        title: of the page.
        fragment: leave out what makes it a page, its script too, to stand in a notebook.

    Raises:
        InputError: for decimals that are none, an axis that there is not or that is given twice,
            and naming the system that has no value of an axis of a frontier.

    >>> from irbatch import EfficiencyRecord, Leaderboard
    >>> board = Leaderboard({"bm25": {"RR@10": 0.19}}, EfficiencyRecord(system="bm25"))
    >>> "<bdi>bm25</bdi>" in to_html(board)
    True
    """
    table = lay_out(board, columns, frontier, intervals, digits)
    heading = printable(title or f"Leaderboard of {many(len(board), 'system')}")
    parts = [f"<h1>{escape(heading)}</h1>\n<p>{write_words(board.caption())}</p>"]
    if explained := legend(table, "Bold"):
        parts.append(write_soft(explained))
    parts.append(_table(table))
    if plots:
        if x is None and y is None and len(table.axes) == 2:
            y, x = _upright(board, table.axes)
        parts += _picture(board, x, y, digits)
    if settings := signature(board):
        parts.append(write_soft(settings))
    body = "\n".join(parts)
    text = write_page(escape(heading), body)
    if fragment:
        text = f'<style>{STYLE}</style>\n<div class="irbatch">\n{body}\n</div>\n'
    return written(text, path)


def _table(table: Table) -> str:
    marked = bool(table.frontier)
    mark = f'<th scope="col" data-first="descending">{MARK}</th>' if marked else ""
    head = f'{mark}<th scope="col">system</th>{"".join(map(_head, table.heads))}'
    body = [_row(row, table.heads, marked) for row in table.rows]
    return write_table(f"Values of {many(len(table.rows), 'system')}", head, body)


def _head(head: Head) -> str:
    name = write_name(head.label)
    if not head.numeric:
        return f'<th scope="col">{name}</th>'
    first = "descending" if head.descends else "ascending"
    kind = "n wrap" if " " in head.label else "n"
    return f'<th scope="col" class="{kind}" data-first="{first}">{name}</th>'


def _row(row: Row, heads: list[Head], marked: bool) -> str:
    mark = f'<td data-v="{int(row.marked)}">{MARK * row.marked}</td>' if marked else ""
    kind = ' class="behind"' if marked and not row.marked else ""
    cells = "".join(map(_cell, heads, row.cells))
    return f'<tr{kind}>{mark}<th scope="row">{write_name(row.system)}</th>{cells}</tr>'


def _cell(head: Head, cell: Cell) -> str:
    if not head.numeric:
        return f'<td class="name">{write_name(cell.shown.text)}</td>'
    within = f" <small>{minus(cell.interval)}</small>" if cell.interval else ""
    return f'<td class="n"{sorted_by(cell.shown)}>{write_number(cell.shown)}{within}</td>'


def _picture(board: Leaderboard, x: str | None, y: str | None, digits: int) -> Iterator[str]:
    """Yield the picture, and which systems dominate which; nothing where there is none to draw."""
    if x is None:
        known = (name for name in COSTS if not np.isnan(board.values(name)).any())
        x = next(known, None)
    if x is None or not len(board):
        return
    found = find_frontier(board, x, y)
    picture, left_out = draw_frontier(board.systems, found, "frontier", digits)
    yield write_figure(picture, _tell(board, found, left_out))
    if found.dominated_by:
        rows = [
            f'<tr><th scope="row">{write_name(system)}</th><td class="name">{_list(others)}</td>'
            "</tr>"
            for system, others in found.dominated_by.items()
        ]
        head = '<th scope="col">system</th><th scope="col">dominated by</th>'
        yield write_table("Systems that others dominate", head, rows)


def _upright(board: Leaderboard, axes: list[str]) -> list[str]:
    """Return two axes, the one that goes along the picture first: a measure, if one is."""
    return sorted(axes, key=lambda name: name not in board.measures)


def _tell(board: Leaderboard, found: Frontier, left_out: int) -> str:
    """Say what the picture shows, as HTML."""
    strong = [system for system in board.systems if system not in found.dominated_by]
    axes = " and ".join(write_name(axis.label) for axis in (found.y, found.x))
    said = [f"Pareto frontier of {axes}: {', '.join(map(write_name, strong))}."]
    if found.dominated_by:
        said.append("Grey: dominated.")
    if sure := percent(board, found, found.bounds):
        said.append(f"Bars: {sure}.")
    if left_out:
        said.append(f"There was no room for {many(left_out, 'name')}.")
    return " ".join(said)


def _list(others: list[str]) -> str:
    """Name systems, the first of them where they are many."""
    named = ", ".join(map(write_name, others[:NAMED]))
    more = len(others) - NAMED
    return f"{named} and {more} more" if more > 0 else named
