"""Groups that the items of a catalogue belong to, and what each of them should get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.errors import InputError, shown
from irbatch.runtime.ragged import row_index_of

UNGROUPED = -1  # an item that belongs to no group


class GroupShares(NamedTuple):
    """The groups of the items of a catalogue.

    `vectors` has each distinct membership once, float64 ``(memberships, groups)``; `codes` says
    which of them an item has, int64 ``(items,)``, or `UNGROUPED`. `target` are the shares wanted
    for every query, float64 ``(groups,)``, `targets` those by query id.
    """

    names: tuple[Any, ...]
    codes: Ints
    vectors: Floats
    target: Floats | None
    targets: Mapping[Any, Floats] | None

    def wanted(self, queries: Sequence[Any]) -> Floats:
        """Return the shares wanted for some queries: float64 ``(queries, groups)``.

        Raises:
            InputError: if no target is given, or none for one of them.
        """
        if self.target is not None:
            return np.tile(self.target, (len(queries), 1))
        if self.targets is None:
            problem = "no target is given: say Groups(…, target=…), or AWRF(target=uniform)"
            raise InputError(f"{problem} and the like", source="groups")
        for query in queries:
            if query not in self.targets:
                raise InputError("it has no target", source="groups", query=query)
        found = [self.targets[query] for query in queries]
        return np.array(found).reshape(len(queries), len(self.names))

    def place_of(self, name: str) -> int:
        """Return a group's place among the names, as text; InputError if there is no such group."""
        known = list(map(str, self.names))
        if name not in known:
            there = shown(list(self.names), 200)
            problem = (
                f"say which group: there are {there}"
                if not name
                else f"no group is called {shown(name)}: there are {there}"
            )
            raise InputError(problem, source="groups", value=name)
        return known.index(name)

    def count_members(self, starts: Ints, rows: Ints) -> Floats:
        """Add up the memberships of the items of some queries: float64 ``(queries, groups)``.

        `rows`, those of one query after the other, begin and end at `starts`; negative ones don't
        count.
        """
        queries = row_index_of(starts)[rows >= 0]
        none = np.zeros((1, len(self.names)))  # has the place `UNGROUPED`
        shares = np.concatenate([self.vectors, none])[self.codes[rows[rows >= 0]]]
        sums = [np.bincount(queries, each, starts.size - 1) for each in shares.T]
        return np.stack(sums, axis=1).astype(np.float64, copy=False)
