"""Names of systems as people see them: safe, of known width, of any number."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def letter(position: int) -> str:
    """Name a position: a, b, … z, aa, ab, … as columns of a spreadsheet are named.

    >>> [letter(position) for position in (0, 25, 26, 701, 702)]
    ['a', 'z', 'aa', 'zz', 'aaa']
    """
    name = ""
    position += 1
    while position:
        position, last = divmod(position - 1, len(ALPHABET))
        name = ALPHABET[last] + name
    return name


def join_letters(letters: Sequence[str]) -> str:
    """Write letters together: with commas where one of them is two."""
    return ("," if any(len(each) > 1 for each in letters) else "").join(letters)


def width(text: str) -> int:
    """Count the columns of a terminal that a printable text takes."""
    return sum(map(_columns, text))


def _columns(each: str) -> int:
    if unicodedata.category(each) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(each) in "WF" else 1


def shorten(text: str, most: int) -> str:
    """Leave out the middle of a text that takes more columns than there are."""
    if width(text) <= most:
        return text
    tail = _start(text[::-1], most // 3)[::-1]
    return f"{_start(text, most - 1 - width(tail))}…{tail}"


def shorten_all(names: Sequence[str], most: int) -> list[str]:
    """Leave out the middle of names that are too long, if that leaves them all different."""
    short = [shorten(name, most) for name in names]
    return short if len(set(short)) == len(set(names)) else list(names)


def _start(text: str, most: int) -> str:
    end = 0
    while end < len(text) and (most := most - _columns(text[end])) >= 0:
        end += 1
    return text[:end]
