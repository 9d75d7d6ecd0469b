"""The groups that queries belong to, from a file."""

from __future__ import annotations

from typing import Any

from irbatch.cli.messages import read_text
from irbatch.data.column_names import QUERIES, USERS
from irbatch.errors import InputError, shown


def read_groups(path: str) -> dict[str, str]:
    """Read lines of a query and the name of its group, which may hold spaces.

    In a file named ``.csv`` a comma is between them, and a first line may name the columns.

    Raises:
        InputError: naming the line, if one has no group, or a query has two.
    """
    groups: dict[str, str] = {}
    lines = read_text(path, "groups").splitlines()
    commas = path.lower().endswith(".csv") and bool(lines) and "," in lines[0]
    for number, line in enumerate(lines, 1):
        if commas:
            query, group = _split_csv(line)
            if number == 1 and query.lower() in (*QUERIES, *USERS):
                continue
        else:
            query, _, group = line.strip().replace("\t", " ").partition(" ")
        place: dict[str, Any] = {"source": "groups", "path": path, "line": number}
        if query and not group.strip():
            problem = f"a line is of a query and its group, not {shown(line.strip())}"
            raise InputError(problem, query=query, **place)
        if groups.setdefault(query, group.strip()) != group.strip():
            raise InputError(f"is in group {groups[query]!r} already", query=query, **place)
    groups.pop("", None)  # of blank lines
    return groups


def _split_csv(line: str) -> tuple[str, str]:
    """Return the first field of a line and what is behind it; quotes go, and spaces around."""
    import csv  # for those who have such a file

    first, *others = next(csv.reader([line], skipinitialspace=True), [""])
    return first.strip(), ",".join(others)
