"""Reports as text for a terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from irbatch.errors import printable
from irbatch.report.document import (
    Cell,
    Details,
    Document,
    Heading,
    Part,
    Sentences,
    Table,
    split_columns,
    without_marks,
)
from irbatch.report.names import join_letters, shorten, shorten_all, width

GAP = "  "  # between columns
WIDTH = 100  # of a terminal
LONGEST = 48  # columns of a name; what is longer is cut in the middle
LONGEST_HEADING = 60  # enough for every quantity with its unit
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"

Lines = list[str]  # of a column: its heading and cells, all of the same width


def write_document(document: Document, *, ansi: bool = False, width: int = WIDTH) -> str:
    """Write a report without its figures; options are those of `irbatch.Comparison.to_text`."""
    legend = document.explained("Bold" if ansi else "*", marks="letters after a mean")
    said = [printable(each) for each in (document.caption, legend, document.settings)]
    if ansi:  # a terminal would break lines within words
        said = [textwrap.fill(each, width, break_on_hyphens=False) for each in said]
    parts = [*said[:2], *_write_parts(document.parts, ansi, width), said[2]]
    return "\n\n".join(filter(None, parts)) + "\n"


def _write_parts(parts: Sequence[Part], ansi: bool, width: int) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Heading):
            heading = printable(part.text)
            yield f"{heading}\n{'=' * _width(heading)}"
        elif isinstance(part, Table):
            yield write_table(part, ansi=ansi, width=width)
        elif isinstance(part, Sentences):
            yield "\n".join(printable(without_marks(each)) for each in part.texts)
        elif isinstance(part, Details):
            yield write_table(part.table, ansi=ansi, width=width)
            for row, behind in zip(part.table.rows, part.parts, strict=True):
                title = Heading(shorten(printable(part.table.title_of(row)), width))
                yield from _write_parts([title, *behind], ansi, width)


def write_table(table: Table, *, ansi: bool = False, width: int = WIDTH) -> str:
    """Write a table, in as many parts as its width asks for; see `write_document`."""
    texts = _texts(table)
    labels: list[Lines] = []
    others: list[Lines] = []
    for k, (column, lines) in enumerate(zip(table.columns, texts, strict=True)):
        if column.kind == "number":
            lines = _numbers(lines[0], table.column(k), ansi)
        (labels if column.labels else others).append(_fill(lines))
    parts = split_columns(labels, others, _size, math.inf if table.whole else width)
    return "\n\n".join(map(_align, parts))


def _texts(table: Table) -> list[Lines]:
    """Write headings and cells as text; names that are long are cut if they still differ."""
    kinds = [column.kind for column in table.columns]
    heads = ["" if each.kind == "mark" else printable(each.heading) for each in table.columns]
    heads = shorten_all(heads, LONGEST_HEADING)
    columns = [[printable(cell.text) for cell in table.column(k)] for k in range(len(kinds))]
    for kind in ("name", "text"):
        chosen = [k for k, each in enumerate(kinds) if each == kind]
        short = iter(shorten_all([text for k in chosen for text in columns[k]], LONGEST))
        for k in chosen:
            columns[k] = [
                (f"[{printable(cell.badge)}] " if cell.badge else "")
                + next(short)
                + (f" ({printable(cell.after)})" if cell.after else "")
                for cell in table.column(k)
            ]
    return [[head, *column] for head, column in zip(heads, columns, strict=True)]


def _numbers(heading: str, cells: Sequence[Cell], ansi: bool) -> Lines:
    """Write numbers under each other, and after each what belongs to it."""
    stars = "" if ansi else " "
    texts = [("*" if cell.stands_out and not ansi else stars) + cell.text for cell in cells]
    lines = []
    for number, cell in zip(_fill(texts, right=True), cells, strict=True):
        if ansi and cell.stands_out:
            number = f"{number.removesuffix(cell.text)}{BOLD}{cell.text}{PLAIN}"
        after = f" {printable(cell.after)}".rstrip() + f" {join_letters(cell.marks)}".rstrip()
        lines.append(number + after)
    heading = " " * (max(map(_width, texts), default=0) - _width(heading)) + heading
    # A heading that is longer than the numbers stands above what follows them, too.
    filled = _fill(lines)
    spaces = " " * (_width(heading) - max(map(_width, filled), default=0))
    return [heading, *(spaces + line for line in filled)]


def _fill(lines: Lines, right: bool = False) -> Lines:
    """Fill lines with spaces, at their ends or before them, to the width of the widest."""
    most = max(map(_width, lines), default=0)
    spaces = (" " * (most - _width(line)) for line in lines)
    return [
        space * right + line + space * (not right)
        for line, space in zip(lines, spaces, strict=True)
    ]


def _size(columns: Sequence[Lines]) -> float:
    return sum(_width(each[0]) + len(GAP) for each in columns) - len(GAP)


def _align(columns: list[Lines]) -> str:
    """Put columns side by side, a line under their headings."""
    lines = [GAP.join(line).rstrip() for line in zip(*columns, strict=True)]
    lines.insert(1, GAP.join("-" * _width(column[0]) for column in columns))
    return "\n".join(lines)


def _width(line: str) -> int:
    return width(line.replace(BOLD, "").replace(PLAIN, ""))
