"""Reports as text: numbers as people see them, names cut to their room, tables for a terminal.

Markdown is as GitHub reads it.
"""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from os.path import commonprefix

import numpy as np

from irbatch.errors import InputError, printable
from irbatch.report.document import (
    NOTHING,
    Cell,
    Column,
    Document,
    Heading,
    Sentences,
    Table,
    opened,
)
from irbatch.runtime.numbers import is_whole

GAP = "  "  # between columns
WIDTH = 100  # of a terminal
LONGEST = 48  # columns of a name; what is longer is cut in the middle
LONGEST_HEADING = 60  # enough for every quantity with its unit
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
SPECIAL = re.compile(r"[\\`*_{}\[\]|~$#!^]")  # of Markdown
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
WORDY = 1e15  # numbers from here on, whose decimals float64 has not, are written with an exponent
HUGE = 1e9  # quantities from here on are written with an exponent
LEAST_P_DECIMALS, MOST_P_DECIMALS = 3, 12
MORE = 5  # decimals that tell a bound from 0
MOST_DIGITS = 17  # of a float64
MANY_QUERIES = 50  # from which Student's intervals miss about as often as they say

Lines = list[str]  # of a column: its heading and cells, all of the same width


def check_digits(digits: int) -> None:
    """Reject a number of decimals that is not a whole number from 0 to 17."""
    if not is_whole(digits) or not 0 <= digits <= MOST_DIGITS:
        problem = f"decimals are a whole number from 0 to {MOST_DIGITS}, not {digits!r}"
        raise InputError(problem, source="digits", value=digits)


def is_best(values: Sequence[float]) -> list[bool]:
    """Tell which of a column's values are the highest, to the last bit; a single value is not.

    >>> is_best([0.25, 0.5, math.nan, 0.5])
    [False, True, False, True]
    """
    highest = max((value for value in values if not math.isnan(value)), default=math.nan)
    return [len(values) > 1 and value == highest for value in values]


def best_first(values: Iterable[float], sign: int) -> list[int]:
    """Return the places of a column's values, the best first, NaN last; `sign` as `Measure.sign`.

    >>> best_first([0.25, math.nan, 0.5], 1), best_first([0.25, math.nan, 0.5], 0)
    ([2, 0, 1], [0, 1, 2])
    """
    return np.argsort(-np.array([*values]) * (sign or math.nan), kind="stable").tolist()


def show(value: float, digits: int) -> str:
    """Write a mean: a fixed number of decimals; no sign before what is rounded to zero."""
    text = _write(value, digits)
    return text if text.strip("-0.") else text.removeprefix("-")


def show_change(value: float, digits: int) -> str:
    """Write a difference with its sign, which even one that is rounded to zero keeps."""
    return _write(value, digits, "+") if value else _write(0.0, digits)


def show_percent(share: float) -> str:
    """Write a share with its sign as per cent."""
    shown = show_change(100 * share, 1)
    return f"{shown}%" if math.isfinite(share) else shown


def tell_few(queries: int, interval: str = "t") -> str:
    """Say behind "intervals" that Student's of so few queries miss too often; nothing of more."""
    few = interval == "t" and queries < MANY_QUERIES
    return f", which of fewer than {MANY_QUERIES} queries miss more often" if few else ""


def show_interval(low: float, high: float, digits: int, signed: bool = False) -> str:
    """Write both bounds; nothing where there are none.

    A bound of a difference keeps a digit that tells it from 0, where a few more decimals have one.

    >>> show_interval(0.00002, 0.31, 4, signed=True), show_interval(-0.2, 0.0, 2, signed=True)
    ('[+0.00002, +0.3100]', '[-0.20, 0.00]')
    """
    if math.isnan(low) or math.isnan(high):
        return NOTHING
    bounds = []
    for bound in (low, high):
        enough = (decimals for decimals in range(digits, digits + MORE) if round(bound, decimals))
        bounds.append(show_change(bound, next(enough, digits)) if signed else show(bound, digits))
    return f"[{', '.join(bounds)}]"


def show_quantity(value: float) -> str:
    """Write a number with a unit: four significant digits, thousands apart.

    >>> [show_quantity(value) for value in (0, 8.3125, 0.0123, 1234.56, 9.9999e8, 1.5e9, 1.234e-7)]
    ['0', '8.312', '0.0123', '1,235', '1e+09', '1.5e+09', '1.234e-07']
    """
    if not math.isfinite(value):
        return _write(value, 0)
    text = f"{value or 0.0:.4g}"
    if "e-" in text or abs(float(text)) >= HUGE:
        return text
    decimals = 0 if "e" in text else len(text.partition(".")[2])
    return f"{float(text):,.{decimals}f}"


def show_p(p: float, level: float) -> str:
    """Write a p-value: three decimals, more where rounding would move it across the level.

    What would be rounded to zero is written as less than the smallest number it could be.

    >>> [show_p(p, 0.05) for p in (0.25, 0.0496, 0.0501, 0.0004, 0.0, 1.0)]
    ['0.250', '0.0496', '0.050', '<0.001', '<0.001', '1.000']
    """
    if math.isnan(p):
        return NOTHING
    for decimals in range(LEAST_P_DECIMALS, MOST_P_DECIMALS + 1):
        least: float = 10**-decimals
        text = f"<{least:.{decimals}f}" if p < least else f"{p:.{decimals}f}"
        # What is shown compares with the level as the p-value does.
        if least <= level if p < least else (float(text) < level) == (p < level):
            break
    return text


def _write(value: float, digits: int, plus: str = "") -> str:
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return f"{plus}∞" if value > 0 else "-∞"
    return f"{value:{plus}.{digits}{'f' if abs(value) < WORDY else 'e'}}"


def write_text(document: Document, *, ansi: bool = False, width: int = WIDTH) -> str:
    """Write a report for a terminal, without its figures; see `Reported.to_text`."""

    def say(text: str) -> str:  # a terminal would break lines within words
        text = printable(text)
        return textwrap.fill(text, width, break_on_hyphens=False) if ansi else text

    legend = document.explained("Bold" if ansi else "*", marks="letters after a mean")
    parts = [say(document.caption), say(legend)]
    for part in opened(document.parts):
        if isinstance(part, Heading):
            heading = shorten(printable(part.text), width)
            parts.append(f"{heading}\n{'=' * text_width(heading)}")
        elif isinstance(part, Table):
            parts += [write_table(part, ansi=ansi, width=width), say(part.meanings)]
        elif isinstance(part, Sentences):
            parts.append("\n".join(say(text) for text in part.texts))
    return "\n\n".join(filter(None, [*parts, say(document.settings)])) + "\n"


def write_table(table: Table, *, ansi: bool = False, width: int = WIDTH) -> str:
    """Write a table, whose columns go on below where it would be wider than a terminal."""
    texts = _texts(table)
    labels: list[Lines] = []
    others: list[Lines] = []
    for k, (column, lines) in enumerate(zip(table.columns, texts, strict=True)):
        if column.kind == "number":
            lines = _numbers(lines[0], table.column(k), ansi)
        (labels if column.kind in ("mark", "name") else others).append(_fill(lines))
    most = math.inf if table.whole else width
    parts: list[list[Lines]] = [[*labels]]
    for lines in others:
        if len(parts[-1]) > len(labels) and _size([*parts[-1], lines]) > most:
            parts.append([*labels])
        parts[-1].append(lines)
    return "\n\n".join(map(_align, parts))


def _texts(table: Table) -> list[Lines]:
    """Write headings and cells as text; names that are long are cut if they still differ."""
    kinds = [column.kind for column in table.columns]
    heads = ["" if column.kind == "mark" else printable(column.heading) for column in table.columns]
    heads = shorten_all(heads, LONGEST_HEADING)
    columns = [[printable(cell.text) for cell in table.column(k)] for k in range(len(kinds))]
    for kind in ("name", "text"):
        chosen = [k for k, column_kind in enumerate(kinds) if column_kind == kind]
        short = iter(shorten_all([text for k in chosen for text in columns[k]], LONGEST))
        for k in chosen:
            columns[k] = [
                next(short) + (f" ({printable(cell.after)})" if cell.after else "")
                for cell in table.column(k)
            ]
    return [[head, *column] for head, column in zip(heads, columns, strict=True)]


def _numbers(heading: str, cells: Sequence[Cell], ansi: bool) -> Lines:
    """Write numbers under each other, and after each what belongs to it."""
    stars = " " if not ansi and any(cell.stands_out for cell in cells) else ""
    texts = [("*" if cell.stands_out and not ansi else stars) + cell.text for cell in cells]
    lines = []
    for number, cell in zip(_fill(texts, right=True), cells, strict=True):
        if ansi and cell.stands_out:
            number = f"{number.removesuffix(cell.text)}{BOLD}{cell.text}{PLAIN}"
        after = f" {printable(cell.after)}".rstrip() + f" {join_letters(cell.marks)}".rstrip()
        lines.append(number + after)
    heading = " " * (max(map(text_width, texts), default=0) - text_width(heading)) + heading
    # A heading that is longer than the numbers stands above what follows them, too.
    filled = _fill(lines)
    spaces = " " * (text_width(heading) - max(map(text_width, filled), default=0))
    return [heading, *(spaces + line for line in filled)]


def _fill(lines: Lines, right: bool = False) -> Lines:
    """Fill lines with spaces, at their ends or before them, to the width of the widest."""
    most = max(map(text_width, lines), default=0)
    spaces = (" " * (most - text_width(line)) for line in lines)
    return [
        space * right + line + space * (not right)
        for line, space in zip(lines, spaces, strict=True)
    ]


def _size(columns: Sequence[Lines]) -> float:
    return sum(text_width(lines[0]) + len(GAP) for lines in columns) - len(GAP)


def _align(columns: list[Lines]) -> str:
    """Put columns side by side, a line under their headings."""
    lines = [GAP.join(line).rstrip() for line in zip(*columns, strict=True)]
    lines.insert(1, GAP.join("-" * text_width(column[0]) for column in columns))
    return "\n".join(lines)


def write_markdown(document: Document) -> str:
    """Write a report in Markdown; its figures are left out."""
    parts = []
    for part in opened(document.parts):
        if isinstance(part, Heading):
            parts.append(f"### {escape(part.text)}")
        elif isinstance(part, Table):
            columns = part.columns
            head = ["" if column.kind == "mark" else escape(column.heading) for column in columns]
            lines = [list(map(_markdown_cell, columns, row)) for row in part.rows]
            parts.append(write_lines(head, lines, [column.kind == "number" for column in columns]))
            parts.append(escape(part.meanings))
        elif isinstance(part, Sentences):
            parts.append("\n".join(f"- {escape(text)}" for text in part.texts))
    parts.append(escape(f"{document.caption} {document.explained('Bold')}".strip()))
    if document.settings:
        parts.append(f"<sub>{escape(document.settings)}</sub>")
    return "\n\n".join(filter(None, parts)) + "\n"


def write_lines(head: Sequence[str], lines: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Write a table of Markdown; tells of each column whether it is flush right."""
    rule = "|" + "".join("--:|" if is_right else "---|" for is_right in right)
    written = ["| " + " | ".join(line) + " |" for line in (head, *lines)]
    return "\n".join([written[0], rule, *written[1:]])


def escape(text: str) -> str:
    """Take from every character its meaning in Markdown and in HTML."""
    escaped = SPECIAL.sub(r"\\\g<0>", printable(text))
    return "".join(ENTITIES.get(character, character) for character in escaped)


def _markdown_cell(column: Column, cell: Cell) -> str:
    if column.kind != "number":
        return escape(cell.text) + (f" ({escape(cell.after)})" if cell.after else "")
    text = cell.text.replace("<", "&lt;")
    number = f"**{text}**" if cell.stands_out else text
    marks = f"<sup>{join_letters(cell.marks)}</sup>" if cell.marks else ""
    return f"{number}{marks} {cell.after}".rstrip()


def letter(position: int) -> str:
    """Name a position: a, b, … z, aa, ab, … as columns of a spreadsheet are named."""
    name = ""
    position += 1
    while position:
        position, last = divmod(position - 1, len(ALPHABET))
        name = ALPHABET[last] + name
    return name


def join_letters(letters: Sequence[str]) -> str:
    """Write letters together: with commas where one of them is two."""
    return ("," if any(len(mark) > 1 for mark in letters) else "").join(letters)


def text_width(text: str) -> int:
    """Count the columns of a terminal that a printable text takes, but for what makes it bold."""
    return sum(map(_columns, text.replace(BOLD, "").replace(PLAIN, "")))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten(text: str, most: int) -> str:
    """Leave out the middle of a text that takes more columns than there are."""
    if text_width(text) <= most:
        return text
    tail = _start(text[::-1], most // 3)[::-1]
    return f"{_start(text, most - 1 - text_width(tail))}…{tail}"


def shorten_all(names: Sequence[str], most: int) -> list[str]:
    """Leave out parts of names that are too long: where they agree, so that no two become alike.

    Where that cannot be they stay as they are.

    >>> shorten_all(["distilbert-base-v3-on-msmarco", "distilbert-large-v3-on-msmarco"], 16)
    ['disti…base-v…rco', 'disti…large-…rco']
    """
    short = _shorten_apart(list(dict.fromkeys(names)), most)
    return [short[name] for name in names] if len(set(short.values())) == len(short) else [*names]


def _shorten_apart(names: Sequence[str], most: int, common: int = 0) -> dict[str, str]:
    """Shorten names, of which so many first letters are common, so that few become alike."""
    head = f"{_start(names[0], most // 3)}…" if common else ""
    short = {name: head + shorten(name[common:], most - text_width(head)) for name in names}
    by_form: dict[str, list[str]] = {}
    for name, form in short.items():
        by_form.setdefault(form, []).append(name)
    for alike in by_form.values():
        prefix = len(commonprefix(alike))  # noqa: RUF071 - letters are what is meant
        if len(alike) > 1 and prefix > common:
            short |= _shorten_apart(alike, most, prefix)
    return short


def _start(text: str, most: int) -> str:
    end = 0
    while end < len(text) and (most := most - _columns(text[end])) >= 0:
        end += 1
    return text[:end]
