"""Groups of queries: which belong to each, and which are drawn from together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Positions
from irbatch.errors import InputError, kind_of


def find_members(queries: Sequence[Any], groups: Mapping[Any, str] | None) -> dict[str, list[int]]:
    """Return the rows of each group's queries."""
    members: dict[str, list[int]] = {}
    if groups is None:
        return members
    if not isinstance(groups, Mapping):
        problem = f"groups go from query ids to names, not {kind_of(groups)}"
        raise InputError(problem, source="groups")
    for row, query in enumerate(queries):
        if query not in groups:
            raise InputError("it has no group", source="groups", query=query)
        members.setdefault(str(groups[query]), []).append(row)
    return members


def keep_group(
    queries: Mapping[str, list[Any]], groups: Mapping[Any, str] | None, name: str
) -> dict[str, list[Any]]:
    """Keep each system's queries of one group; a query that was left out need not have any."""
    named = groups or {}
    return {
        system: [query for query in some if query in named and str(named[query]) == name]
        for system, some in queries.items()
    }


def make_strata(members: Mapping[str, list[int]]) -> list[Positions] | None:
    """Return the groups to draw from; those of one query, without chance in it, are joined."""
    several = [np.array(rows) for rows in members.values() if len(rows) > 1]
    single = [row for rows in members.values() if len(rows) == 1 for row in rows]
    if len(single) == 1 and several:
        largest = max(range(len(several)), key=lambda i: several[i].size)
        several[largest] = np.append(several[largest], single)
    elif single:
        several.append(np.array(single))
    return several or None
