"""What commands say to a person on standard error, and what they refuse alike."""

from __future__ import annotations

import sys

from irbatch.errors import InputError, printable


def say(what: str, text: str) -> None:
    """Tell a person something, an error or a warning, on standard error."""
    lines = "\n".join(map(printable, text.split("\n")))
    print(f"irbatch: {what}: {lines}", file=sys.stderr)


def read_text(path: str, source: str) -> str:
    """Return the text of a small file; `source` is what errors call what it holds."""
    from pathlib import Path  # here: it takes 5 ms to import

    try:
        return Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is no UTF-8 text", source=source, path=path) from None
    except OSError as problem:
        said = problem.strerror or str(problem)
        raise InputError(said, source=source, path=path) from None
