"""Small pieces of text for people."""

from __future__ import annotations

__all__ = ["many", "printable"]


def many(number: int, noun: str) -> str:
    """Count in words: ``1 query``, ``2 queries``, ``2 systems``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun.removesuffix('y')}ies" if noun.endswith("y") else f"{number} {noun}s"


def printable(text: object) -> str:
    r"""Show control characters, such as a terminal's escapes or marks of direction, as ``\x1b``."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in str(text))
