"""Reports as a page of HTML that stands alone: it works offline and loads nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from html import escape

from irbatch.errors import printable
from irbatch.report.document import (
    BETTER,
    ISOLATED,
    WORSE,
    Cell,
    Column,
    Document,
    Figures,
    Heading,
    Part,
    Row,
    Table,
)
from irbatch.report.embedding import embed
from irbatch.report.names import join_letters
from irbatch.report.page import STYLE, write_page

FIGURE_SPACE = "\u2007"  # as wide as a digit
TAGS = dict(zip(ISOLATED, ("<bdi>", "</bdi>"), strict=True))
COLOURS = {BETTER: ' class="up"', WORSE: ' class="down"'}


def write_document(document: Document, *, fragment: bool = False) -> str:
    """Write a report: sortable tables, and pictures where matplotlib is installed.

    Args:
        document: the report.
        fragment: leave out what makes it a page, its script too, to stand in a notebook.
    """
    title = escape(printable(document.title))
    said = [f"<h1>{title}</h1>", f"<p>{_words(document.caption)}</p>"]
    said += [_soft(document.explained("Bold")), *_parts(document.parts), _soft(document.settings)]
    body = "\n".join(filter(None, said))
    if fragment:
        return f'<style>{STYLE}</style>\n<div class="irbatch">\n{body}\n</div>\n'
    return write_page(title, body)


def _parts(parts: Sequence[Part]) -> Iterator[str]:
    """Write all parts; in place of pictures, if there is no matplotlib, how to get them."""
    drawable = True
    for position, part in enumerate(parts):
        if isinstance(part, Heading):
            yield f"<h2>{_name(part.text)}</h2>"
        elif isinstance(part, Table):
            yield _table(part)
        elif drawable:
            try:
                yield _figures(part, position)
            except ImportError as problem:
                drawable = False
                yield _soft(str(problem))


def _figures(part: Figures, position: int) -> str:
    heading = f"<h3>{_name(part.heading)}</h3>\n" if part.heading else ""
    figures = [
        f"<figure>\n{embed(each, f'figure-{position}-{number}')}\n"
        f"<figcaption>{_words(each.caption)}</figcaption>\n</figure>\n"
        for number, each in enumerate(part.figures)
    ]
    return f'{heading}<div class="plots">\n{"".join(figures)}</div>'


def _table(table: Table) -> str:
    """Write a table that is scrolled where it is too wide."""
    places = range(len(table.columns))
    annotated = [table.annotated(k) for k in places]
    sizes = [max((len(cell.text) for cell in table.column(k)), default=0) for k in places]
    head = "".join(map(_heading, table.columns, annotated))
    rows = "\n".join(_row(row, table.columns, annotated, sizes) for row in table.rows)
    caption = escape(printable(table.caption))
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}">\n<table>\n'
        f"<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _heading(column: Column, annotated: bool) -> str:
    kind, first = "", ""
    if column.kind == "number":
        kinds = [*([] if annotated else ["n"]), *(["wrap"] if " " in column.heading else [])]
        kind = f' class="{" ".join(kinds)}"' if kinds else ""
    if column.kind in ("number", "mark"):
        first = f' data-first="{"descending" if column.descends else "ascending"}"'
    return f'<th scope="col"{kind}{first}>{_name(column.heading)}</th>'


def _row(
    row: Row, columns: Sequence[Column], annotated: Sequence[bool], sizes: Sequence[int]
) -> str:
    faint = ' class="behind"' if row.faint else ""
    cells = "".join(map(_cell, columns, row.cells, annotated, sizes))
    return f"<tr{faint}>{cells}</tr>"


def _cell(column: Column, cell: Cell, annotated: bool, size: int) -> str:
    after = f" <small>{_number(cell.after)}</small>" if cell.after else ""
    if column.kind == "name":
        return f'<th scope="row">{_name(cell.text)}{after}</th>'
    if column.kind == "text":
        return f'<td class="name">{_name(cell.text)}</td>'
    exact = "" if math.isnan(cell.value) else repr(cell.value).replace("inf", "Infinity")
    if column.kind == "mark":
        return f'<td data-v="{exact}">{escape(cell.text)}</td>'
    number = _number(cell.text)
    if cell.stands_out:
        number = f"<strong>{number}</strong>"
    if not annotated:
        return f'<td class="n" data-v="{exact}">{number}</td>'
    # Numbers stand under each other, whatever is after them.
    room = FIGURE_SPACE * (size - len(cell.text))
    marks = join_letters(cell.marks)
    above = f"<sup{COLOURS.get(marks, '')}>{marks}</sup>" if marks else ""
    return f'<td class="mean" data-v="{exact}">{room}{number}{above}{after}</td>'


def _words(text: str) -> str:
    """Escape text, and write the names marked in it as elements of their own."""
    parts = re.split(f"([{''.join(ISOLATED)}])", text)
    return "".join(TAGS.get(part) or escape(printable(part)) for part in parts)


def _soft(text: str) -> str:
    return f'<p class="soft">{_words(text)}</p>' if text else ""


def _name(name: str) -> str:
    return f"<bdi>{_words(name)}</bdi>"


def _number(text: str) -> str:
    return escape(printable(text).replace("-", "−"))
