"""The groups that queries belong to, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from irbatch.errors import InputError, shown


def read_groups(path: str) -> dict[str, str]:
    """Read lines of a query and the name of its group, which may hold spaces.

    Raises:
        InputError: naming the line, if one has no group, or a query has two.
    """
    groups: dict[str, str] = {}
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError("is no UTF-8 text", source="groups", path=path) from None
    for number, line in enumerate(lines, 1):
        query, _, group = line.strip().replace("\t", " ").partition(" ")
        place: dict[str, Any] = {"source": "groups", "path": path, "line": number}
        if query and not group.strip():
            problem = f"a line is of a query and its group, not {shown(line.strip())}"
            raise InputError(problem, query=query, **place)
        if groups.setdefault(query, group.strip()) != group.strip():
            raise InputError(f"is in group {groups[query]!r} already", query=query, **place)
    groups.pop("", None)  # of blank lines
    return groups
