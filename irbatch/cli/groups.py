"""The groups that queries belong to, from a file."""

from __future__ import annotations

from typing import Any

from irbatch.cli.messages import read_text
from irbatch.errors import InputError, shown


def read_groups(path: str) -> dict[str, str]:
    """Read lines of a query and the name of its group, which may hold spaces.

    Raises:
        InputError: naming the line, if one has no group, or a query has two.
    """
    groups: dict[str, str] = {}
    for number, line in enumerate(read_text(path, "groups").splitlines(), 1):
        query, _, group = line.strip().replace("\t", " ").partition(" ")
        place: dict[str, Any] = {"source": "groups", "path": path, "line": number}
        if query and not group.strip():
            problem = f"a line is of a query and its group, not {shown(line.strip())}"
            raise InputError(problem, query=query, **place)
        if groups.setdefault(query, group.strip()) != group.strip():
            raise InputError(f"is in group {groups[query]!r} already", query=query, **place)
    groups.pop("", None)  # of blank lines
    return groups
