"""A comparison as a table for a paper: LaTeX with booktabs."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING

from irbatch.comparing.report.table import BETTER, WORSE, Block, Cell, blocks, legend, rows
from irbatch.report.latex import check_label, escape, write_number
from irbatch.report.names import join_letters
from irbatch.report.numbers import check_digits
from irbatch.runtime.files import written

if TYPE_CHECKING:
    from irbatch.comparing.comparison import Comparison

__all__ = ["to_latex"]


def to_latex(
    comparison: Comparison,
    *,
    digits: int = 4,
    intervals: bool = False,
    label: str = "tab:comparison",
    unicode: bool = False,
    path: str | PathLike[str] | None = None,
) -> str:
    r"""Return, or also write, a table of systems; it needs ``\usepackage{booktabs}``.

    Args:
        digits: how many decimals of means.
        intervals: whether means come with their confidence intervals.
        label: what ``\ref`` calls the table.
        unicode: keep characters beyond ASCII as they are, for XeLaTeX or LuaLaTeX with a font
            that has them.
        path: where to write it; an existing file is replaced whole or not at all.

    Raises:
        InputError: for decimals that are none, or a label that ``\label`` doesn't take.
    """
    check_digits(digits)
    check_label(label)
    text = "\n".join(_table(comparison, digits, intervals, label, unicode)) + "\n"
    return written(text, path)


def _table(
    comparison: Comparison, digits: int, intervals: bool, label: str, unicode: bool
) -> Iterator[str]:
    """Yield the lines of the table."""
    lettered = comparison.baseline is None
    columns = len(comparison.measures) + 1 + lettered
    explained = legend(comparison, "Bold", "superscripts")
    caption = f"{comparison.caption()} {explained} {comparison.signature}"
    head = [*([""] if lettered else []), "System",
            *(escape(each, unicode) for each in comparison.measures)]  # fmt: skip
    yield r"% needs \usepackage{booktabs}"
    yield r"\begin{table}"
    yield r"  \centering"
    yield rf"  \caption{{{escape(caption, unicode)}}}"
    yield rf"  \label{{{label}}}"
    yield rf"  \begin{{tabular}}{{{'l' * columns}}}"
    yield r"    \toprule"
    yield f"    {' & '.join(head)} \\\\"
    for block in blocks(comparison):
        yield from _block(block, columns, digits, intervals, unicode)
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"


def _block(
    block: Block, columns: int, digits: int, intervals: bool, unicode: bool
) -> Iterator[str]:
    """Yield the lines of a group of queries."""
    yield r"    \midrule"
    if block.heading:
        heading = escape(block.heading, unicode)
        yield rf"    \multicolumn{{{columns}}}{{l}}{{\emph{{{heading}}}}} \\"
    for row in rows(block.comparison, digits, intervals):
        name = escape(row.system, unicode) + " (baseline)" * row.is_baseline
        cells = [*([row.letter] if row.letter else []), name, *map(_cell, row.cells)]
        yield f"    {' & '.join(cells)} \\\\"


def _cell(cell: Cell) -> str:
    r"""Write a mean: ``\textbf{0.4833}\textsuperscript{ac}``."""
    mean = write_number(cell.mean.text)
    written = rf"\textbf{{{mean}}}" if cell.mean.stands_out else mean
    if cell.marks in ([BETTER], [WORSE]):
        written += rf"$^{{{escape(cell.marks[0], unicode=False).strip('$')}}}$"
    elif cell.marks:
        written += rf"\textsuperscript{{{join_letters(cell.marks)}}}"
    return f"{written} {{\\scriptsize {write_number(cell.interval)}}}" if cell.interval else written
