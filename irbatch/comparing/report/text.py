"""A comparison as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from irbatch.errors import printable
from irbatch.report.names import join_letters, shorten_all
from irbatch.report.numbers import check_digits
from irbatch.report.text import (
    LONGEST,
    WIDTH,
    align,
    flush_right,
    stand_out,
    table_width,
    underline,
)
from irbatch.runtime.files import written

if TYPE_CHECKING:
    from irbatch.comparing.comparison import Comparison

__all__ = ["to_text"]


def to_text(
    comparison: Comparison,
    *,
    digits: int = 4,
    intervals: bool = False,
    pairs: bool = True,
    ansi: bool = False,
    width: int = WIDTH,
    path: str | PathLike[str] | None = None,
) -> str:
    """Return, or also write, tables of systems and of pairs, for a terminal.

    Args:
        digits: how many decimals of means and differences.
        intervals: whether means come with their confidence intervals.
        pairs: whether the table of pairs follows.
        ansi: whether the best means and significant p-values are bold, by a terminal's escapes;
            if not, they are starred.
        width: measures that would make lines longer than this go on in a further table.
        path: where to write it; an existing file is replaced whole or not at all.

    Raises:
        InputError: for decimals that are none.
    """
    check_digits(digits)
    parts = [printable(comparison.caption()), legend(comparison, "Bold" if ansi else "*")]
    for block in blocks(comparison):
        parts.append(block.heading and underline(block.heading))
        parts += _means(block.comparison, digits, intervals, ansi, width)
        if pairs and block.comparison.pairs:
            parts.append(_pairs(block.comparison, digits, ansi))
    parts.append(printable(comparison.signature))
    text = "\n\n".join(part for part in parts if part) + "\n"
    return written(text, path)


def _means(
    comparison: Comparison, digits: int, intervals: bool, ansi: bool, most: int
) -> Iterator[str]:
    """Yield the table of systems and measures, in as many parts as its width asks for."""
    table = rows(comparison, digits, intervals)
    names = [["", *(row.letter for row in table)], ["system", *_names(table)]]
    if comparison.baseline is not None:
        del names[0]
    measures = [
        _column(measure, [row.cells[k] for row in table], ansi)
        for k, measure in enumerate(comparison.measures)
    ]
    part: list[list[str]] = []
    for column in measures:
        if part and table_width([*names, *part, column]) > most:
            yield align([*names, *part])
            part = []
        part.append(column)
    yield align([*names, *part])


def _names(table: Sequence[Row]) -> list[str]:
    short = shorten_all([row.system for row in table], LONGEST)
    return [
        f"{name} (baseline)" if row.is_baseline else name
        for name, row in zip(short, table, strict=True)
    ]


def _column(measure: str, cells: Sequence[Cell], ansi: bool) -> list[str]:
    """Write a measure's cells: numbers under each other, and after them what belongs to them."""
    numbers = stand_out([cell.mean for cell in cells], ansi)
    column = [f"{' ' * (not ansi)}{printable(measure)}"]
    for number, cell in zip(numbers, cells, strict=True):
        column.append(" ".join(filter(None, [number, cell.interval, join_letters(cell.marks)])))
    return column


def _pairs(comparison: Comparison, digits: int, ansi: bool) -> str:
    table = pair_rows(comparison, digits)
    names = shorten_all([name for row in table for name in (row.system, row.against)], LONGEST)
    columns = [
        ["measure", *(row.measure for row in table)],
        ["system", *names[::2]],
        ["against", *names[1::2]],
    ]
    for i, column in enumerate(pair_columns(comparison)):
        numbers = stand_out([row.numbers[i] for row in table], ansi)
        columns.append(flush_right([column.name, *numbers]))
    return align(columns)
