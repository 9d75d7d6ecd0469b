"""Text that is safe to send to a terminal."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str) -> str:
    r"""Show control characters, such as a terminal's escapes in an id, as ``\x1b``."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
