"""A slow reader of judgments and runs, written from what the formats are said to be.

It decides line by line, with no regard to speed, memory or good messages.
"""

from __future__ import annotations

import functools
import json
import re
from decimal import Decimal
from typing import Any

from irbatch.data.column_names import choose_columns
from irbatch.errors import InputError

Rows = list[tuple[str, str, float]]

NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
INFINITY = re.compile(rb"[+-]?inf(inity)?", re.I)
WIDTHS = {"qrels": 4, "run": 6}


class RefusedError(Exception):
    """The file has no meaning: the first line that is wrong, from 1; None if it is not one line."""


def read(data: bytes, source: str) -> Rows:
    """Return queries, documents, and grades or scores, in the order of the lines."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    kind, names, first = tell_form(lines, source)
    rows: Rows = []
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate(lines[first:], first + 1):
        try:
            row = read_line(line.rstrip(b"\r\n"), kind, names, source)
        except (ValueError, RecursionError, OverflowError):
            raise RefusedError(number) from None
        if row is not None:
            if row[:2] in seen:
                raise RefusedError(number)
            seen.add(row[:2])
            rows.append(row)
    if not rows:
        raise RefusedError(None)
    return rows


def tell_form(lines: list[bytes], source: str) -> tuple[str, list[str], int]:
    """Return the kind of form, the names of its columns or keys, and its header's lines."""
    for number, line in enumerate(lines):
        parts = [part for part in re.split(rb"[ \t]+", line.rstrip(b"\r\n")) if part]
        if not parts or (parts[0].startswith(b"#") and len(parts) != WIDTHS[source]):
            continue
        words = line.split()  # of a form feed, for one, none
        if words and words[0].startswith(b"{"):
            try:
                keys = list(json.loads(line.strip()))
            except (ValueError, RecursionError):
                keys = []
            if keys:
                if not (roles := _roles(tuple(keys), source)):
                    raise RefusedError(number + 1)
                return "json", roles, 0
        sign = "\t" if b"\t" in line.strip() else ","
        try:
            names = [each.strip() for each in _cells(line.strip().decode(errors="replace"), sign)]
        except ValueError:
            names = []
        if _roles(tuple(names), source):
            return "tabs" if sign == "\t" else "commas", names, number + 1
        parts = [word for name in names for word in name.split() or [""]]
        if len(names) > 1 and all(word and not _is_number(word.encode()) for word in parts):
            raise RefusedError(number + 1)  # names that are not known
        if source == "run" and len(words) == 3 and words[2].isdigit():
            return "marco", [], 0
        break
    return "trec", [], 0


@functools.cache
def _roles(names: tuple[str, ...], source: str) -> list[str]:
    """Return which columns are the query, the document and the value; none if it is unclear.

    There may be no grade; ranks in place of scores are called so.
    """
    try:
        return list(choose_columns(names, source, {}).values())
    except InputError:
        return []


def _cells(line: str, sign: str) -> list[str]:
    """Split a line at tabs or commas, these not within double quotes."""
    if sign == "\t" or '"' not in line:
        return line.split(sign)
    cells, quoted, at = [""], False, 0
    while at < len(line):
        if quoted and line[at : at + 2] == '""':
            cells[-1] += '"'
            at += 1
        elif line[at] == '"' and (quoted or not cells[-1]):
            quoted = not quoted
            if not quoted and line[at + 1 : at + 2] not in ("", sign):
                raise ValueError(line)
        elif line[at] == "\r" and not quoted:
            raise ValueError(line)
        elif line[at] == sign and not quoted:
            cells.append("")
        else:
            cells[-1] += line[at]
        at += 1
    if quoted:
        raise ValueError(line)
    return cells


def read_line(
    line: bytes, kind: str, names: list[str], source: str
) -> tuple[str, str, float] | None:
    """Return a row, or None if there is none; a ValueError says that it is wrong."""
    if kind == "json":
        return _read_json(line, names, source)
    if kind in ("tabs", "commas"):
        if not line.strip(b" \t"):
            return None
        sign = "\t" if kind == "tabs" else ","
        listed = [each.encode("latin-1") for each in _cells(line.decode("latin-1"), sign)]
        cells = dict(zip(names, listed, strict=True))
        query, document, *value = (cells[each] for each in _roles(tuple(names), source))
        return _id(query), _id(document), _value(value, names, source)
    words = re.findall(rb"[^ \t]+", line)
    if not words or words[0] == b"#":
        return None
    try:
        if kind == "marco":
            query, document, rank = words
            value = _number(rank, "qrels")
            if value < 0 or value % 1:
                raise ValueError(rank)
            return _id(query), _id(document), -value
        width = WIDTHS[source]
        if len(words) != width and not (source == "run" and _are_remarks(words)):
            raise ValueError(words)
        value = _number(words[3 if source == "qrels" else 4], source)
        return _id(words[0]), _id(words[2]), value
    except ValueError:
        if words[0].startswith(b"#"):
            return None
        raise


def _value(found: list[bytes], names: list[str], source: str) -> float:
    """Return a grade, 1 where there is none, or a score, which may come as a rank."""
    if not found:
        return 1.0
    by_rank = "rank" in choose_columns(names, source, {})
    value = _number(found[0], "qrels" if by_rank else source)
    if by_rank and (value < 0 or value % 1):
        raise ValueError(value)
    return -value if by_rank else value


def _are_remarks(words: list[bytes]) -> bool:
    """Tell whether words behind a run's tag are remarks."""
    if len(words) < 7 or any(b"\r" in each for each in words):
        return False
    return _is_number(words[3]) and not _is_number(words[5])


def _read_json(line: bytes, keys: list[str], source: str) -> tuple[str, str, float] | None:
    if not line.strip() or line.lstrip().startswith(b"#"):
        return None

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("twice")
        return dict(pairs)

    found = json.loads(line, parse_float=_Literal,
                       parse_constant=_Literal, object_pairs_hook=unique)  # fmt: skip
    if not isinstance(found, dict) or any(key not in found for key in keys):
        raise ValueError(found)
    query, document, *values = (found[key] for key in keys)
    for each in (query, document):
        if isinstance(each, bool | _Literal) or not isinstance(each, str | int):
            raise ValueError(each)
    if any(isinstance(each, bool) or not isinstance(each, str | int) for each in values):
        raise ValueError(values)
    texts = [str(each).encode(errors="surrogatepass") for each in (query, document, *values)]
    # The roles of keys by their names: those of the value are known ones.
    value = _value(texts[2:], keys, source)
    return _id(texts[0]), _id(texts[1]), value


class _Literal(str):
    """A number with a point, or NaN, as it stands in JSON."""


def _id(raw: bytes) -> str:
    if not raw or b"\x00" in raw:
        raise ValueError(raw)
    return raw.decode()


def _is_number(raw: bytes) -> bool:
    return bool(NUMBER.fullmatch(raw) or INFINITY.fullmatch(raw))


def _number(raw: bytes, source: str) -> float:
    if not _is_number(raw):
        raise ValueError(raw)
    value = float(raw)
    if INFINITY.fullmatch(raw):
        if source == "qrels":
            raise ValueError(raw)
        return value
    if abs(value) == float("inf"):
        raise ValueError(raw)
    if source == "qrels" and abs(value) >= 2**53 and Decimal(raw.decode()).copy_abs() > 2**53:
        raise ValueError(raw)
    return value
