"""Text that is safe to send to a terminal."""

from __future__ import annotations

import sys

__all__ = ["printable", "say"]


def printable(text: str) -> str:
    r"""Show control characters, such as a terminal's escapes in an id, as ``\x1b``."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def say(what: str, text: str) -> None:
    """Tell a person something, an error or a warning, on standard error."""
    lines = "\n".join(map(printable, text.split("\n")))
    print(f"irbatch: {what}: {lines}", file=sys.stderr)
