"""A comparison as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING

from irbatch.comparing.report.names import join_letters, printable, shorten_all, width
from irbatch.comparing.report.table import (
    Cell,
    Row,
    Shown,
    blocks,
    check_digits,
    legend,
    pair_columns,
    pair_rows,
    rows,
)
from irbatch.files import write_text

if TYPE_CHECKING:
    from irbatch.comparing.comparison import Comparison

__all__ = ["to_text"]

GAP = "  "  # between columns
WIDTH = 100  # of a terminal
LONGEST = 48  # columns of a system's name; what is longer is cut in the middle
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
STYLES = re.compile(r"\x1b\[\d+m")  # only ours: names have none left


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
        parts.append(block.heading and f"{block.heading}\n{'=' * _width(block.heading)}")
        parts += _means(block.comparison, digits, intervals, ansi, width)
        if pairs and block.comparison.pairs:
            parts.append(_pairs(block.comparison, digits, ansi))
    parts.append(printable(comparison.signature))
    text = "\n\n".join(part for part in parts if part) + "\n"
    if path is not None:
        write_text(path, text)
    return text


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
        if part and _size([*names, *part, column]) > most:
            yield _aligned([*names, *part])
            part = []
        part.append(column)
    yield _aligned([*names, *part])


def _names(table: Sequence[Row]) -> list[str]:
    short = shorten_all([row.system for row in table], LONGEST)
    return [
        f"{name} (baseline)" if row.is_baseline else name
        for name, row in zip(short, table, strict=True)
    ]


def _column(measure: str, cells: Sequence[Cell], ansi: bool) -> list[str]:
    """Write a measure's cells: numbers under each other, and after them what belongs to them."""
    numbers = _stand_out([cell.mean for cell in cells], ansi)
    column = [f"{' ' * (not ansi)}{printable(measure)}"]
    for number, cell in zip(numbers, cells, strict=True):
        column.append(" ".join(filter(None, [number, cell.interval, join_letters(cell.marks)])))
    return column


def _stand_out(numbers: Sequence[Shown], ansi: bool) -> list[str]:
    """Write numbers flush right, some of them bold or starred."""
    most = max((_width(number.text) for number in numbers), default=0)
    written = []
    for text, _, stands_out in numbers:
        space = " " * (most - _width(text))
        if ansi:
            written.append(f"{space}{BOLD}{text}{PLAIN}" if stands_out else space + text)
        else:
            written.append(f"{space}{'*' if stands_out else ' '}{text}")
    return written


def _pairs(comparison: Comparison, digits: int, ansi: bool) -> str:
    table = pair_rows(comparison, digits)
    names = shorten_all([name for row in table for name in (row.system, row.against)], LONGEST)
    columns = [
        ["measure", *(row.measure for row in table)],
        ["system", *names[::2]],
        ["against", *names[1::2]],
    ]
    for i, column in enumerate(pair_columns(comparison)):
        numbers = _stand_out([row.numbers[i] for row in table], ansi)
        most = max(map(_width, [column.name, *numbers]))
        columns.append([" " * (most - _width(each)) + each for each in [column.name, *numbers]])
    return _aligned(columns)


def _aligned(columns: Sequence[Sequence[str]]) -> str:
    """Put columns side by side, a line under their heads."""
    sizes = [max(map(_width, column)) for column in columns]
    lines = [
        GAP.join(
            cell + " " * (size - _width(cell)) for cell, size in zip(line, sizes, strict=True)
        ).rstrip()
        for line in zip(*columns, strict=True)
    ]
    lines.insert(1, GAP.join("-" * size for size in sizes))
    return "\n".join(lines)


def _size(columns: Sequence[Sequence[str]]) -> int:
    return sum(max(map(_width, column)) + len(GAP) for column in columns) - len(GAP)


def _width(cell: str) -> int:
    return width(STYLES.sub("", cell))
