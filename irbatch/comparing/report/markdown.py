"""A comparison as Markdown, as GitHub reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from irbatch.comparing.report.names import join_letters, printable
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

__all__ = ["to_markdown"]

SPECIAL = re.compile(r"[\\`*_{}\[\]|~$#!^]")
LINES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


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
        parts.append(block.heading and f"### {_escape(block.heading)}")
        parts.append(_means(block.comparison, digits, intervals))
        if pairs and block.comparison.pairs:
            parts.append(_pairs(block.comparison, digits))
    explained = legend(comparison, "Bold", "superscripts")
    parts.append(_escape(f"{comparison.caption()} {explained}".strip()))
    parts.append(f"<sub>{_escape(comparison.signature)}</sub>")
    text = "\n\n".join(part for part in parts if part) + "\n"
    if path is not None:
        write_text(path, text)
    return text


def _means(comparison: Comparison, digits: int, intervals: bool) -> str:
    lettered = comparison.baseline is None
    lines = [
        [*([row.letter] if lettered else []), _name(row), *map(_cell, row.cells)]
        for row in rows(comparison, digits, intervals)
    ]
    head = [*([""] if lettered else []), "system", *map(_escape, comparison.measures)]
    return _table(head, 1 + lettered, lines)


def _name(row: Row) -> str:
    return f"{_escape(row.system)} (baseline)" if row.is_baseline else _escape(row.system)


def _cell(cell: Cell) -> str:
    marks = f"<sup>{join_letters(cell.marks)}</sup>" if cell.marks else ""
    return " ".join(filter(None, [_bold(cell.mean) + marks, cell.interval]))


def _pairs(comparison: Comparison, digits: int) -> str:
    lines = [
        [*map(_escape, row[:3]), *map(_bold, row.numbers)] for row in pair_rows(comparison, digits)
    ]
    head = ["measure", "system", "against", *(each.name for each in pair_columns(comparison))]
    return _table(head, 3, lines)


def _bold(number: Shown) -> str:
    text = _escape(number.text) if "<" in number.text else number.text
    return f"**{text}**" if number.stands_out else text


def _table(head: Sequence[str], labels: int, lines: Sequence[Sequence[str]]) -> str:
    """Write a table whose first columns are labels and whose others are numbers."""
    rule = "|" + "---|" * labels + "--:|" * (len(head) - labels)
    written = ["| " + " | ".join(line) + " |" for line in (head, *lines)]
    return "\n".join([written[0], rule, *written[1:]])


def _escape(text: str) -> str:
    """Take from every character its meaning in Markdown and in HTML."""
    escaped = SPECIAL.sub(r"\\\g<0>", printable(text))
    return "".join(LINES.get(each, each) for each in escaped)
