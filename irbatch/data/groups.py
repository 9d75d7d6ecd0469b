"""The groups that items belong to, and the share of attention that is due to each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.data.frames import is_series, rows_by_label
from irbatch.data.ids import check_id, same_kind
from irbatch.engine.items import UNGROUPED, GroupShares
from irbatch.errors import InputError, kind_of, many, shown
from irbatch.runtime.numbers import missed_limit

SOURCE = "groups"  # what errors call them
ROUNDING = 1e-6  # by which shares may miss 1 together, as those of float32 do


class Groups:
    """The groups that items belong to, and the share of the attention that each should get.

    Args:
        members: item id to the name of its group, or to shares of several groups, which add up
            to 1. Names are text or whole numbers. Or a series of pandas, indexed by items. An item
            whose shares are all 0, or ``{}``, has no group: it takes its rank, but no group gets
            that rank's attention.
        target: group to its share, which add up to 1, for all queries; or query id to such shares.
            A group left out should get nothing.

    Raises:
        InputError: naming the item, or the query, and the share that is negative, not a number, or
            doesn't add up.

    >>> groups = Groups({"d1": "new", "d2": {"new": 0.5, "old": 0.5}}, {"new": 0.3, "old": 0.7})
    >>> groups.names, len(groups)
    (['new', 'old'], 2)
    """

    def __init__(self, members: Any, target: Mapping[Any, Any] | None = None) -> None:
        members = rows_by_label(members) if is_series(members) else members
        if not isinstance(members, Mapping):
            problem = "groups are a mapping of items to groups, or to shares of groups, not"
            raise InputError(f"{problem} {kind_of(members)}", source=SOURCE)
        if not members:
            raise InputError("there are no items", source=SOURCE)
        same_kind(members, "document", SOURCE)
        memberships: dict[Any, int] = {}  # each once: items of one group share theirs
        self._codes: dict[Any, int] = {}
        for item, member in members.items():
            if isinstance(member, Mapping):
                _check_shares(member, "share", {"document": item}, may_be_none=True)
            else:
                check_id(member, "group", SOURCE)
                member = {member: 1.0}
            self._codes[item] = memberships.setdefault(tuple(member.items()), len(memberships))
        self.names = list(dict.fromkeys(group for shares in memberships for group, _ in shares))
        same_kind(self.names, "group", SOURCE)
        if not self.names:
            raise InputError("no item belongs to a group", source=SOURCE)
        self._vectors = np.array([self._vector(dict(shares)) for shares in memberships])
        self._target = None if target is None else self._read_target(target)

    def _vector(self, shares: Mapping[Any, Any]) -> Floats:
        return np.array([float(shares.get(name, 0.0)) for name in self.names])

    def _read_target(self, target: Mapping[Any, Any]) -> Floats | dict[Any, Floats]:
        if not isinstance(target, Mapping) or not target:
            problem = f"of groups to shares, or of queries to such mappings, not {shown(target)}"
            raise InputError(f"the target is a mapping {problem}", source=SOURCE, value=target)
        if not any(isinstance(shares, Mapping) for shares in target.values()):
            return self._read_shares(target, {})
        return {query: self._read_shares(own, {"query": query}) for query, own in target.items()}

    def _read_shares(self, shares: Any, place: dict[str, Any]) -> Floats:
        if not isinstance(shares, Mapping):
            problem = f"its target {shown(shares)} is not a mapping of groups to shares"
            raise InputError(problem, source=SOURCE, **place, value=shares)
        _check_shares(shares, "target", place)
        for group in shares:
            if group not in self.names:
                problem = f"no item is of group {shown(group)}: there are {shown(self.names)}"
                raise InputError(problem, source=SOURCE, **place, value=group)
        return self._vector(shares)

    @property
    def ids(self) -> list[Any]:
        """The items, in the order given."""
        return list(self._codes)

    def __len__(self) -> int:
        return len(self._codes)

    def __repr__(self) -> str:
        counts = f"{many(len(self), 'item')}, {many(len(self.names), 'group')}"
        return f"<{type(self).__name__}: {counts}>"

    def align(self, ids: Iterable[Any], *, every: bool = True) -> GroupShares:
        """Return what is known of some items, in their order.

        Raises:
            InputError: naming the first that is not among `ids`, unless not `every` one has to be.
        """
        ids = list(ids)
        codes = np.array([self._codes.get(item, UNGROUPED) for item in ids], np.int64)
        for row in np.flatnonzero(codes == UNGROUPED)[:1].tolist() if every else ():
            problem = "its group is not given; that of an item without one is {}"
            raise InputError(problem, source=SOURCE, document=ids[row])
        belongs = np.asarray(self._vectors.max(axis=1) > 0)
        codes[~belongs[codes]] = UNGROUPED
        return GroupShares(tuple(self.names), codes, self._vectors, self._target)


def _check_shares(
    shares: Mapping[Any, Any], what: str, whose: dict[str, Any], *, may_be_none: bool = False
) -> None:
    """Reject shares that are not numbers or don't add up to 1, or to 0 if there may be none."""
    total = 0.0
    for group, share in shares.items():
        if (bound := missed_limit(share, least=0.0, most=1.0 + ROUNDING)) is not None:
            problem = f"its {what} {shown(share)} of group {shown(group)} must be {bound}"
            raise InputError(problem, source=SOURCE, **whose, value=share)
        total += float(share)
    if abs(total - 1.0) > ROUNDING and not (may_be_none and total == 0):
        problem = f"its {what}s of groups add up to {total:g}, not to 1"
        raise InputError(problem, source=SOURCE, **whose, value=total)
