"""Small pieces of text for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

__all__ = ["did_you_mean", "join_words", "many", "printable"]


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Name what is spelled nearly so, or goes on where it ends; nothing where nothing is.

    >>> did_you_mean("nDGC@10", ["nDCG@10", "AP"])
    '; did you mean nDCG@10?'
    """
    listed, text = list(known), str(name)
    longer = [each for each in listed if text and each.startswith(text)]
    near = get_close_matches(text, listed, 1) or longer
    return f"; did you mean {near[0]}?" if near else ""


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Write a list as people do.

    >>> join_words(["ms", "s", "h"], "or")
    'ms, s or h'
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def many(number: int, noun: str) -> str:
    """Count in words: ``1 query``, ``2 queries``, ``2 systems``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun.removesuffix('y')}ies" if noun.endswith("y") else f"{number} {noun}s"


def printable(text: object) -> str:
    r"""Show control characters, such as a terminal's escapes or marks of direction, as ``\x1b``."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in str(text))
