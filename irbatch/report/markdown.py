"""Reports in Markdown, as GitHub reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from irbatch.errors import printable
from irbatch.report.document import (
    Cell,
    Column,
    Details,
    Document,
    Heading,
    Part,
    Sentences,
    Table,
    without_marks,
)
from irbatch.report.names import join_letters

SPECIAL = re.compile(r"[\\`*_{}\[\]|~$#!^]")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def write_document(document: Document) -> str:
    """Write a report; its figures are left out."""
    parts = list(_write_parts(document.parts))
    parts.append(escape(f"{document.caption} {document.explained('Bold')}".strip()))
    if document.settings:
        parts.append(f"<sub>{escape(document.settings)}</sub>")
    return "\n\n".join(filter(None, parts)) + "\n"


def _write_parts(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Heading):
            yield f"### {escape(part.text)}"
        elif isinstance(part, Table):
            yield write_table(part)
        elif isinstance(part, Sentences):
            yield "\n".join(f"- {escape(without_marks(each))}" for each in part.texts)
        elif isinstance(part, Details):
            yield write_table(part.table)
            for row, behind in zip(part.table.rows, part.parts, strict=True):
                yield from _write_parts([Heading(part.table.title_of(row)), *behind])


def write_table(table: Table) -> str:
    """Write a table; the middle of very long names is left out, if they still differ."""
    table = table.shortened()
    head = ["" if each.kind == "mark" else escape(each.heading) for each in table.columns]
    lines = [list(map(_cell, table.columns, row.cells)) for row in table.rows]
    return write_lines(head, lines, [each.kind == "number" for each in table.columns])


def write_lines(head: Sequence[str], lines: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Write a table of Markdown; tells of each column whether it is flush right."""
    rule = "|" + "".join("--:|" if each else "---|" for each in right)
    written = ["| " + " | ".join(line) + " |" for line in (head, *lines)]
    return "\n".join([written[0], rule, *written[1:]])


def escape(text: str) -> str:
    """Take from every character its meaning in Markdown and in HTML."""
    escaped = SPECIAL.sub(r"\\\g<0>", printable(text))
    return "".join(ENTITIES.get(each, each) for each in escaped)


def _cell(column: Column, cell: Cell) -> str:
    if column.kind != "number":
        badge = f"**{escape(cell.badge)}** " if cell.badge else ""
        return badge + escape(cell.text) + (f" ({escape(cell.after)})" if cell.after else "")
    text = cell.text.replace("<", "&lt;")
    number = f"**{text}**" if cell.stands_out else text
    marks = f"<sup>{join_letters(cell.marks)}</sup>" if cell.marks else ""
    return f"{number}{marks} {cell.after}".rstrip()
