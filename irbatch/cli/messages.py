"""What commands say to a person on standard error."""

from __future__ import annotations

import sys

from irbatch.errors import printable


def say(what: str, text: str) -> None:
    """Tell a person something, an error or a warning, on standard error."""
    lines = "\n".join(map(printable, text.split("\n")))
    print(f"irbatch: {what}: {lines}", file=sys.stderr)
