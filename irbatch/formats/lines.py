"""TREC's text formats: ``query iter document grade`` and ``query Q0 document rank score tag``.

As in trec_eval, the columns ``iter``, ``Q0`` and ``rank`` are ignored (score decides the order),
and so are blank lines, words after a run's tag, and, as in its version 10, comment lines: those
whose first word is ``#``, or starts with it on a line that is no data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from irbatch.errors import LISTED_PROBLEMS, InputError, raise_problems
from irbatch.numbers import LARGEST_WHOLE

__all__ = ["QRELS", "RUN", "Format", "parse_table", "read_number"]

_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.I)
_SPACES = re.compile(rb"[ \t]+")  # only these separate
_NUL = b"\x00"  # means that the file is no text

Table = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Format:
    """Where a format's columns are.

    Args:
        source: what the file is, for errors.
        width: number of columns.
        value_at: the column of the grade or score; queries are in 0 and documents in 2.
        value: what the value is called.
        largest: the largest absolute value that is exact.
    """

    source: str
    width: int
    value_at: int
    value: str
    largest: float


QRELS = Format("qrels", 4, 3, "grade", LARGEST_WHOLE)
RUN = Format("run", 6, 4, "score", float("inf"))


def parse_table(
    lines: Iterable[tuple[int, bytes]], form: Format, path: str | None = None
) -> tuple[Table, list[bytes]]:
    """Read lines as query to document to value; raise the first problems all at once.

    Args:
        lines: line numbers and lines.
        form: `QRELS` or `RUN`.
        path: the file, for errors.

    Returns:
        The values, and the columns of the last line that has one.

    Raises:
        InputError: listing the first 20 problems by line.
    """
    table: Table = {}
    last: list[bytes] = []
    problems: list[InputError] = []
    for number, line in lines:
        columns = _columns(line)
        if not columns or columns[0] == b"#":
            continue
        try:
            query, document, value = _parse(columns, form)
            documents = table.setdefault(query, {})
            if document in documents:
                raise InputError("this document was given before", document=document)
            documents[document] = value
            last = columns
        except InputError as problem:
            if not columns[0].startswith(b"#"):
                place = {"source": form.source, "path": path, "line": number}
                problems.append(problem.placed(**place, query=_text(columns[0])))
            if len(problems) == LISTED_PROBLEMS:
                break
    raise_problems(problems)
    if not table:
        raise InputError("there are no data lines", source=form.source, path=path)
    return table, last


def _columns(line: bytes) -> list[bytes]:
    # bytes.split is fast, but also splits at vertical tab, form feed and CR.
    line = line.rstrip(b"\r\n")
    if b"\x0b" in line or b"\x0c" in line or b"\r" in line:
        line = line.strip(b" \t")
        return _SPACES.split(line) if line else []
    return line.split()


def _parse(columns: list[bytes], form: Format) -> tuple[str, str, float]:
    if len(columns) != form.width and not _only_remarks(columns, form):
        hint = "; does an id contain a space?" if len(columns) > form.width else ""
        other = QRELS if form is RUN else RUN
        if len(columns) == other.width:
            hint = f"; is this a {other.source} file?"
        raise InputError(
            f"{len(columns)} column{'s' * (len(columns) != 1)} where {form.width} are expected: "
            f"{_text(b' '.join(columns))[:80]!r}{hint}"
        )
    if _NUL in columns[0] or _NUL in columns[2]:
        raise InputError("contains a NUL byte: this is no text")
    query, document = _id(columns[0]), _id(columns[2])
    try:
        return query, document, read_number(columns[form.value_at], form)
    except InputError as problem:
        raise problem.placed(document=document) from None


def _only_remarks(columns: list[bytes], form: Format) -> bool:
    """Tell whether a run's extra words follow its tag, where trec_eval ignores them.

    Had an id brought them in by a space, a word would stand in the rank's place.
    """
    longer = form is RUN and len(columns) > form.width
    return longer and bool(_NUMBER.fullmatch(columns[3]))


def _id(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise InputError(f"id {raw!r} is not UTF-8 text", value=raw) from None


def read_number(raw: bytes, form: Format) -> float:
    """Read a grade or score, or raise `InputError` saying why it is none."""
    text = _text(raw)
    if not _NUMBER.fullmatch(raw):
        comma = re.fullmatch(rb"[+-]?\d+,\d+", raw)
        hint = "; is it written with a decimal comma?" if comma else ""
        raise InputError(f"{form.value} {text!r} is not a number{hint}", value=text)
    value = float(raw)
    if abs(value) == float("inf") and b"inf" not in raw.lower():
        raise InputError(f"{form.value} {text} overflows float64", value=text)
    whole = raw.lstrip(b"+-").isdigit()  # read exactly: float64 rounds 2^53 + 1 to the limit
    if abs(value) > form.largest or (whole and abs(value) == form.largest != abs(int(raw))):
        raise InputError(
            f"{form.value} {text} is beyond 2^53, where grades are no longer exact", value=text
        )
    return value


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace")
