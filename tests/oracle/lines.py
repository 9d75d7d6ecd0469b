"""A slow reader of judgments and runs, written from what the formats are said to be.

It decides line by line, with no regard to speed, memory or good messages.
"""

from __future__ import annotations

import functools
import json
import re
from decimal import Decimal
from typing import Any

from irbatch.data.column_names import find_columns
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
                    raise RefusedError(None)
                return "json", roles, 0
        names = [each.strip() for each in line.strip().decode(errors="replace").split("\t")]
        if len(names) > 2 and _roles(tuple(names), source):
            return "header", names, number + 1
        if source == "run" and len(words) == 3 and words[2].isdigit():
            return "marco", [], 0
        break
    return "trec", [], 0


@functools.cache
def _roles(names: tuple[str, ...], source: str) -> list[str]:
    """Return which columns are the query, the document and the value; none if it is unclear."""
    try:
        return list(find_columns(names, source, {}).values())
    except InputError:
        return []


def read_line(
    line: bytes, kind: str, names: list[str], source: str
) -> tuple[str, str, float] | None:
    """Return a row, or None if there is none; a ValueError says that it is wrong."""
    if kind == "json":
        return _read_json(line, names, source)
    if kind == "header":
        if not line.strip(b" \t"):
            return None
        cells = dict(zip(names, line.split(b"\t"), strict=True))
        query, document, value = (cells[each] for each in _roles(tuple(names), source))
        return _id(query), _id(document), _number(value, source)
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
    query, document, value = (found[key] for key in keys)
    for each in (query, document):
        if isinstance(each, bool | _Literal) or not isinstance(each, str | int):
            raise ValueError(each)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(value)
    texts = [str(each).encode(errors="surrogatepass") for each in (query, document, value)]
    return _id(texts[0]), _id(texts[1]), _number(texts[2], source)


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
