"""Tables for a terminal: columns of text side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence

from irbatch.report.names import width
from irbatch.report.numbers import Shown

__all__ = [
    "GAP",
    "LONGEST",
    "WIDTH",
    "align",
    "flush_right",
    "stand_out",
    "table_width",
    "underline",
]

GAP = "  "  # between columns
WIDTH = 100  # of a terminal
LONGEST = 48  # columns of a system's name; what is longer is cut in the middle
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
STYLES = re.compile(r"\x1b\[\d+m")  # only ours: names have none left


def underline(heading: str) -> str:
    """Write a heading with a line under it."""
    return f"{heading}\n{'=' * width(heading)}"


def align(columns: Sequence[Sequence[str]]) -> str:
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


def stand_out(numbers: Sequence[Shown], ansi: bool) -> list[str]:
    """Write numbers flush right, some of them bold (by a terminal's escapes) or starred."""
    most = max((_width(number.text) for number in numbers), default=0)
    written = []
    for text, _, stands_out in numbers:
        space = " " * (most - _width(text))
        if ansi:
            written.append(f"{space}{BOLD}{text}{PLAIN}" if stands_out else space + text)
        else:
            written.append(f"{space}{'*' if stands_out else ' '}{text}")
    return written


def flush_right(column: Sequence[str]) -> list[str]:
    """Fill cells with spaces on their left, to the width of the widest."""
    most = max(map(_width, column))
    return [" " * (most - _width(each)) + each for each in column]


def table_width(columns: Sequence[Sequence[str]]) -> int:
    """Count the columns of a terminal that a table takes."""
    return sum(max(map(_width, column)) + len(GAP) for column in columns) - len(GAP)


def _width(cell: str) -> int:
    return width(STYLES.sub("", cell))
