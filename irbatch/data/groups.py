"""Groups of items, for measures of fairness: who belongs to which, and what each should get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from irbatch.array_types import Floats
from irbatch.data.arguments.ids import check_id, same_kind
from irbatch.data.labelled import is_series, rows_by_label
from irbatch.engine.items import UNGROUPED, GroupShares
from irbatch.errors import InputError, kind_of, many, shown
from irbatch.runtime.numbers import check_choice, missed_limit

SOURCE = "groups"  # what errors call them
ROUNDING = 1e-6  # by which shares may miss 1 together, as those of float32 do

Shares = Mapping[Any, float]


class Groups:
    """The groups that items belong to, and the share of the attention that each should get.

    Args:
        members: item id to the name of its group, or to shares of several groups, which add up
            to 1. Names are text or whole numbers. Or a series of pandas, indexed by items.
        target: group to its share, which add up to 1, for all queries; or query id to such shares.
            A group left out should get nothing.
        ungrouped: what an item without a group is, an ``"error"``, or left out (``"ignore"``): it
            takes its rank, but no group gets that rank's attention. Items whose shares are all 0
            have no group.

    Raises:
        InputError: naming the item, or the query, and the share that is negative, no number, or
            doesn't add up.

    >>> groups = Groups({"d1": "new", "d2": {"new": 0.5, "old": 0.5}}, {"new": 0.3, "old": 0.7})
    >>> groups.names, len(groups)
    (['new', 'old'], 2)
    """

    def __init__(
        self,
        members: Any,
        target: Mapping[Any, Any] | None = None,
        ungrouped: str = "error",
    ) -> None:
        check_choice("ungrouped", ungrouped, ("error", "ignore"))
        members = rows_by_label(members) if is_series(members) else members
        if not isinstance(members, Mapping):
            kind = kind_of(members)
            problem = f"a mapping of items to groups, or to shares of groups, not {kind}"
            raise InputError(f"groups are {problem}", source=SOURCE)
        if not members:
            raise InputError("there are no items", source=SOURCE)
        self.ungrouped = ungrouped
        same_kind(members, "document", SOURCE)
        # Each kind of membership once: items of one group share theirs.
        kinds: dict[Any, int] = {}
        self._codes = {item: _kind_of(item, each, kinds) for item, each in members.items()}
        self.names = _names_of(kinds)
        place = {name: i for i, name in enumerate(self.names)}
        self._vectors = np.zeros((len(kinds), len(place)))
        for row, kind in enumerate(kinds):
            for name, share in _shares_of(kind):
                self._vectors[row, place[name]] += share
        self._find_ungrouped()
        self._target, self._targets = _read_target(target, place)

    def _find_ungrouped(self) -> None:
        """Forget memberships that are none, or refuse the first item that has one."""
        nothing = np.flatnonzero(~self._vectors.any(axis=1))
        if not nothing.size:
            return
        without = frozenset(nothing.tolist())
        for item, code in self._codes.items():
            if code in without:
                self._refuse_ungrouped(item)
                self._codes[item] = UNGROUPED

    def _refuse_ungrouped(self, item: Any) -> None:
        if self.ungrouped == "error":
            problem = 'it belongs to no group; Groups(…, ungrouped="ignore") leaves such items out'
            raise InputError(problem, source=SOURCE, document=item)

    @property
    def ids(self) -> list[Any]:
        """The items, in the order given."""
        return list(self._codes)

    def __len__(self) -> int:
        return len(self._codes)

    def __repr__(self) -> str:
        counts = f"{many(len(self), 'item')}, {many(len(self.names), 'group')}"
        return f"<{type(self).__name__}: {counts}>"

    def align(self, ids: Iterable[Any]) -> GroupShares:
        """Return what is known of some items, in their order.

        Raises:
            InputError: naming the first that belongs to no group, if that is an error.
        """
        ids = list(ids)
        codes = np.array([self._codes.get(each, UNGROUPED) for each in ids], np.int64)
        if self.ungrouped == "error" and (codes == UNGROUPED).any():
            self._refuse_ungrouped(ids[int(np.argmax(codes == UNGROUPED))])
        return GroupShares(tuple(self.names), codes, self._vectors, self._target, self._targets)


def _kind_of(item: Any, given: Any, kinds: dict[Any, int]) -> int:
    """Return the number of a membership, a new one if it is new."""
    if isinstance(given, Mapping):
        _check_shares(given, "share", {"document": item}, may_be_none=True)
        given = tuple(given.items())
    else:
        check_id(given, "group", SOURCE)
    return kinds.setdefault(given, len(kinds))


def _shares_of(kind: Any) -> Iterable[tuple[Any, float]]:
    return kind if isinstance(kind, tuple) else ((kind, 1.0),)


def _names_of(kinds: Iterable[Any]) -> list[Any]:
    """List groups in the order that items name them."""
    names = dict.fromkeys(name for kind in kinds for name, _ in _shares_of(kind))
    same_kind(names, "group", SOURCE)
    if not names:
        raise InputError("no item belongs to a group", source=SOURCE)
    return list(names)


def _check_shares(
    shares: Mapping[Any, Any], what: str, whose: dict[str, Any], *, may_be_none: bool = False
) -> None:
    """Refuse shares that are no numbers or don't add up to 1, or to 0 if there may be none."""
    total = 0.0
    for group, share in shares.items():
        if (wanted := missed_limit(share, least=0.0, most=1.0 + ROUNDING)) is not None:
            problem = f"its {what} {shown(share)} of group {shown(group)} must be {wanted}"
            raise InputError(problem, source=SOURCE, **whose, value=share)
        total += float(share)
    if abs(total - 1.0) > ROUNDING and not (may_be_none and total == 0):
        problem = f"its {what}s of groups add up to {total:g}, not to 1"
        raise InputError(problem, source=SOURCE, **whose, value=total)


def _read_target(
    target: Mapping[Any, Any] | None, place: Mapping[Any, int]
) -> tuple[Floats | None, dict[Any, Floats] | None]:
    """Return the shares wanted of all queries, or of each; None of what is not given."""
    if target is None:
        return None, None
    if not isinstance(target, Mapping) or not target:
        kind = f"not {shown(target)}"
        problem = f"a mapping of groups to shares, or of queries to such mappings, {kind}"
        raise InputError(f"the target is {problem}", source=SOURCE, value=target)
    nested = [isinstance(each, Mapping) for each in target.values()]
    if not any(nested):
        return _target_of(target, place, {}), None
    for query, shares in target.items():
        if not isinstance(shares, Mapping):
            problem = f"its target {shown(shares)} is no mapping of groups to shares"
            raise InputError(problem, source=SOURCE, query=query, value=shares)
    return None, {
        query: _target_of(each, place, {"query": query}) for query, each in target.items()
    }


def _target_of(
    shares: Mapping[Any, Any], place: Mapping[Any, int], whose: dict[str, Any]
) -> Floats:
    _check_shares(shares, "target", whose)
    wanted = np.zeros(len(place))
    for group, share in shares.items():
        if group not in place:
            known = ", ".join(repr(each) for each in list(place)[:10])
            problem = f"the target names group {shown(group)}, of which no item is: there are"
            raise InputError(f"{problem} {known}", source=SOURCE, **whose, value=group)
        wanted[place[group]] = float(share)
    return wanted


def as_groups(groups: Any) -> Groups:
    """Return groups, whatever they come as."""
    return groups if isinstance(groups, Groups) else Groups(groups)
