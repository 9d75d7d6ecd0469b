"""Tables in Markdown, as GitHub reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from irbatch.errors import printable
from irbatch.report.numbers import Shown

__all__ = ["escape", "table", "write_number"]

SPECIAL = re.compile(r"[\\`*_{}\[\]|~$#!^]")
LINES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def escape(text: str) -> str:
    """Take from every character its meaning in Markdown and in HTML."""
    escaped = SPECIAL.sub(r"\\\g<0>", printable(text))
    return "".join(LINES.get(each, each) for each in escaped)


def write_number(number: Shown) -> str:
    """Write a number, bold if it stands out."""
    text = escape(number.text) if "<" in number.text else number.text
    return f"**{text}**" if number.stands_out else text


def table(head: Sequence[str], labels: int, lines: Sequence[Sequence[str]]) -> str:
    """Write a table whose first columns are labels and whose others are numbers."""
    rule = "|" + "---|" * labels + "--:|" * (len(head) - labels)
    written = ["| " + " | ".join(line) + " |" for line in (head, *lines)]
    return "\n".join([written[0], rule, *written[1:]])
