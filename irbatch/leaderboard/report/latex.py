"""A leaderboard as a table for a paper: LaTeX with booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from os import PathLike
from typing import TYPE_CHECKING

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
from irbatch.report.latex import check_label, escape, write_number
from irbatch.report.numbers import check_digits
from irbatch.runtime.files import written

if TYPE_CHECKING:
    from irbatch.leaderboard.board import Leaderboard

__all__ = ["to_latex"]

EXPONENT = re.compile(r"e(-?)\+?0*(\d+)")


def to_latex(
    board: Leaderboard,
    *,
    columns: Iterable[str] | None = None,
    frontier: Iterable[str] | None = None,
    intervals: bool = False,
    digits: int = 4,
    label: str = "tab:leaderboard",
    unicode: bool = False,
    path: str | PathLike[str] | None = None,
) -> str:
    r"""Return, or also write, a table of systems; it needs ``\usepackage{booktabs}``.

    Args:
        board: the leaderboard.
        columns: axes by any of their names, ``"hardware"``, ``"batch_size"`` or ``"source"``;
            default: these where they differ, all measures, and the usual quantities that some
            system has.
        frontier: axes whose Pareto frontier is marked.
        intervals: whether values come with their intervals.
        digits: how many decimals of measures; quantities have four significant digits.
        label: what ``\ref`` calls the table.
        unicode: keep characters beyond ASCII as they are, for XeLaTeX or LuaLaTeX with a font
            that has them.
        path: where to write it; an existing file is replaced whole or not at all.

    Raises:
        InputError: for decimals that are none, a label that ``\label`` doesn't take, an axis that
            there is not or that is given twice, and naming the system that has no value of an
            axis of the frontier.

    >>> from irbatch import EfficiencyRecord, Leaderboard
    >>> board = Leaderboard({"a_b": {"RR@10": 0.19}}, EfficiencyRecord(system="a_b"))
    >>> to_latex(board).splitlines()[-4].strip()
    'a\\_b & 0.1900 \\\\'
    """
    check_digits(digits)
    check_label(label)
    table = lay_out(board, columns, frontier, intervals, digits)
    caption = f"{board.caption()} {legend(table, 'Bold')} {signature(board)}"
    text = "\n".join(_lines(table, " ".join(caption.split()), label, unicode)) + "\n"
    return written(text, path)


def _lines(table: Table, caption: str, label: str, unicode: bool) -> Iterator[str]:
    """Yield the lines of the table."""
    marked = bool(table.frontier)
    kinds = "l" * (marked + 1) + "".join("r" if head.numeric else "l" for head in table.heads)
    heads = [*[""] * marked, "System", *(_escape(head.label, unicode) for head in table.heads)]
    yield r"% needs \usepackage{booktabs}"
    yield r"\begin{table}"
    yield r"  \centering"
    yield rf"  \caption{{{_escape(caption, unicode)}}}"
    yield rf"  \label{{{label}}}"
    yield rf"  \begin{{tabular}}{{{kinds}}}"
    yield r"    \toprule"
    yield f"    {' & '.join(heads)} \\\\"
    yield r"    \midrule"
    for row in table.rows:
        yield f"    {' & '.join(_row(row, table.heads, marked, unicode))} \\\\"
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"


def _row(row: Row, heads: list[Head], marked: bool, unicode: bool) -> Iterator[str]:
    if marked:
        yield _escape(MARK * row.marked, unicode)
    yield _escape(row.system, unicode)
    for head, cell in zip(heads, row.cells, strict=True):
        yield _cell(cell) if head.numeric else _escape(cell.shown.text, unicode)


def _cell(cell: Cell) -> str:
    r"""Write a value: ``\textbf{0.4833} {\scriptsize {[}0.4600, 0.5012{]}}``."""
    number = _number(cell.shown.text)
    written = rf"\textbf{{{number}}}" if cell.shown.stands_out else number
    return f"{written} {{\\scriptsize {_number(cell.interval)}}}" if cell.interval else written


def _number(text: str) -> str:
    r"""Write a number or an interval; powers of ten as such: ``1.5$\cdot10^{-7}$``."""
    parts = EXPONENT.split(text)
    written = [write_number(parts[0])]
    for sign, power, rest in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        written.append(rf"$\cdot10^{{{sign}{power}}}${write_number(rest)}")
    return "".join(written)


def _escape(text: str, unicode: bool) -> str:
    """Take from every character its meaning; the frontier's mark is one that all fonts have."""
    return r"$\bullet$".join(escape(part, unicode) for part in text.split(MARK))
