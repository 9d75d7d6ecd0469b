"""What commands say to a person on standard error."""

from __future__ import annotations

import sys

from irbatch.errors import printable


def say(what: str, text: object) -> None:
    """Tell a person something, such as an error or a warning."""
    lines = "\n".join(map(printable, str(text).split("\n")))
    print(f"irbatch: {what}: {lines}", file=sys.stderr)


def note(text: str) -> None:
    """Tell a person what there is to know of a result."""
    print(f"note: {printable(text)}", file=sys.stderr)
