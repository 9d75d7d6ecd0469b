"""A comparison as Markdown, as GitHub reads it."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from irbatch.comparing.report.table import (
    Cell,
    Row,
    blocks,
    legend,
    pair_columns,
    pair_rows,
    rows,
)
from irbatch.report.markdown import escape, table, write_number
from irbatch.report.names import join_letters
from irbatch.report.numbers import check_digits
from irbatch.runtime.files import written

if TYPE_CHECKING:
    from irbatch.comparing.comparison import Comparison

__all__ = ["to_markdown"]


def to_markdown(
    comparison: Comparison,
    *,
    digits: int = 4,
    intervals: bool = False,
    pairs: bool = True,
    path: str | PathLike[str] | None = None,
) -> str:
    """Return, or also write, tables of systems and of pairs in GitHub's Markdown.

    Args:
        digits: how many decimals of means and differences.
        intervals: whether means come with their confidence intervals.
        pairs: whether the table of pairs follows.
        path: where to write it; an existing file is replaced whole or not at all.

    Raises:
        InputError: for decimals that are none.
    """
    check_digits(digits)
    parts = []
    for block in blocks(comparison):
        parts.append(block.heading and f"### {escape(block.heading)}")
        parts.append(_means(block.comparison, digits, intervals))
        if pairs and block.comparison.pairs:
            parts.append(_pairs(block.comparison, digits))
    explained = legend(comparison, "Bold", "superscripts")
    parts.append(escape(f"{comparison.caption()} {explained}".strip()))
    parts.append(f"<sub>{escape(comparison.signature)}</sub>")
    text = "\n\n".join(part for part in parts if part) + "\n"
    return written(text, path)


def _means(comparison: Comparison, digits: int, intervals: bool) -> str:
    lettered = comparison.baseline is None
    lines = [
        [*([row.letter] if lettered else []), _name(row), *map(_cell, row.cells)]
        for row in rows(comparison, digits, intervals)
    ]
    head = [*([""] if lettered else []), "system", *map(escape, comparison.measures)]
    return table(head, 1 + lettered, lines)


def _name(row: Row) -> str:
    return f"{escape(row.system)} (baseline)" if row.is_baseline else escape(row.system)


def _cell(cell: Cell) -> str:
    marks = f"<sup>{join_letters(cell.marks)}</sup>" if cell.marks else ""
    return " ".join(filter(None, [write_number(cell.mean) + marks, cell.interval]))


def _pairs(comparison: Comparison, digits: int) -> str:
    lines = [
        [*map(escape, row[:3]), *map(write_number, row.numbers)]
        for row in pair_rows(comparison, digits)
    ]
    head = ["measure", "system", "against", *(each.name for each in pair_columns(comparison))]
    return table(head, 3, lines)
