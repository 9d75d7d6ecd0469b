"""Parts of a page: text, names, numbers, tables and figures, all of them escaped."""

from __future__ import annotations

import math
from html import escape

from irbatch.errors import printable
from irbatch.report.numbers import Shown

__all__ = [
    "minus",
    "sorted_by",
    "write_figure",
    "write_name",
    "write_number",
    "write_soft",
    "write_table",
    "write_words",
]


def write_words(words: object) -> str:
    """Write text."""
    return escape(printable(words))


def write_soft(words: str) -> str:
    """Write a paragraph that stands back."""
    return f'<p class="soft">{write_words(words)}</p>'


def write_name(name: str) -> str:
    """Write a name, which may run from right to left, so that it turns nothing else round."""
    return f"<bdi>{write_words(name)}</bdi>"


def write_number(number: Shown) -> str:
    """Write a number, bold if it stands out."""
    written = escape(minus(number.text))
    return f"<strong>{written}</strong>" if number.stands_out else written


def sorted_by(number: Shown) -> str:
    """Write the attribute that says what a number is sorted by; nothing for what is none."""
    value = float(number.value)
    exact = "" if math.isnan(value) else repr(value).replace("inf", "Infinity")
    return f' data-v="{exact}"'


def minus(written: str) -> str:
    """Put minus signs in place of hyphens."""
    return written.replace("-", "−")


def write_table(caption: str, head: str, body: list[str]) -> str:
    """Write a table that is scrolled where it is too wide; `head` and the rows are HTML."""
    lines = "\n".join(body)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}">\n<table>\n'
        f"<caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{lines}\n</tbody>\n</table>\n</div>"
    )


def write_figure(picture: str, caption: str) -> str:
    """Write a picture and what it shows, both HTML."""
    return f"<figure>\n{picture}\n<figcaption>{caption}</figcaption>\n</figure>"
