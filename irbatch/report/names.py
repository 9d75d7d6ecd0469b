"""Names of systems as people see them: safe, of known width, of any number."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from os.path import commonprefix

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
BETWEEN_WORDS = "-_/. "


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
    """Leave out parts of names that are too long: where they agree, so that no two become alike.

    Where that cannot be they stay as they are.

    >>> shorten_all(["distilbert-base-v3-on-msmarco", "distilbert-large-v3-on-msmarco"], 16)
    ['disti…base-v…rco', 'disti…large-…rco']
    """
    different = list(dict.fromkeys(names))
    short = {name: shorten(name, most) for name in different}
    for alike in _alike(short):
        short |= _shorten_apart(alike, most)
    if len(set(short.values())) < len(different):
        return list(names)
    return [short[name] for name in names]


def _alike(short: Mapping[str, str]) -> list[list[str]]:
    """Return the names that share a short form."""
    by_form: dict[str, list[str]] = {}
    for name, form in short.items():
        by_form.setdefault(form, []).append(name)
    return [names for names in by_form.values() if len(names) > 1]


def _shorten_apart(names: Sequence[str], most: int) -> dict[str, str]:
    """Leave out what names have in common before they first differ, but for their beginning."""
    differ = len(commonprefix(names))  # noqa: RUF071 - letters are what is meant
    word = max(names[0].rfind(each, 0, differ) for each in BETWEEN_WORDS) + 1
    begin = word if width(names[0][word:differ]) <= most // 4 else differ
    head = f"{_start(names[0], most // 3)}…"
    short = {name: head + shorten(name[begin:], most - width(head)) for name in names}
    for alike in _alike(short):
        short |= _shorten_apart(alike, most)  # fewer: they first differ further on
    return short


def _start(text: str, most: int) -> str:
    end = 0
    while end < len(text) and (most := most - _columns(text[end])) >= 0:
        end += 1
    return text[:end]
