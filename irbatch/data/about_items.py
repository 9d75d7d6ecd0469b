"""What is said of items: who had them, how similar they are, their propensities and groups."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.column_names import POPULARITIES
from irbatch.data.columns import as_ids, read_sparse
from irbatch.data.frames import by_label, is_series, names_of_columns, read_named, rows_by_label
from irbatch.data.ids import IdColumn, check_id, same_kind
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.items import UNGROUPED, GroupShares, QueryPropensities, Vectors
from irbatch.errors import ErrorsIn, InputError, kind_of, many, shown
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import (
    check_choice,
    check_number,
    is_real,
    is_whole,
    missed_limit,
    read_numbers,
)
from irbatch.runtime.ragged import offsets_of


def unit_vectors(embeddings: Floats) -> Vectors:
    """Return float64 ``(items, dimensions)`` at length 1; zeros stay zeros."""
    # Divided by the largest first: squares of enormous or tiny numbers would leave float64.
    largest = np.abs(embeddings).max(axis=1, initial=0.0, keepdims=True)
    scaled = embeddings / np.where(largest == 0, 1.0, largest)
    lengths = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    numbers = scaled / np.where(lengths == 0, 1.0, lengths)
    width = embeddings.shape[1]
    starts = np.arange(len(embeddings) + 1) * width
    squares = (numbers * numbers).sum(axis=1)
    return Vectors(starts, np.empty(0, np.int64), numbers.reshape(-1), width, squares)


def cooccurrence_of(users: Ints, items: Ints, n_items: int, n_users: int) -> Vectors:
    """Return each item's users, distinct pairs, as a vector of length 1.

    The cosine of two items' is n_ij / sqrt(n_i n_j), where n_ij users had both.
    """
    order = np.argsort(items, kind="stable")
    sizes = np.bincount(items, minlength=n_items)
    numbers = 1.0 / np.sqrt(sizes[items[order]])
    # As the kernel adds up: of the same terms, so that a list of one item is like no other.
    squares = np.bincount(items[order], numbers * numbers, n_items).astype(np.float64)
    return Vectors(offsets_of(sizes), users[order], numbers, n_users, squares)


SOURCE = "items"  # what errors call all that is said of items


class Interactions(NamedTuple):
    """Who had what: `of_user` and `items`, one an interaction."""

    users: list[Any]
    of_user: Ints  # places among the users
    items: IdColumn
    columns: int | None = None  # of a matrix, which is how many items there are

    @property
    def catalogue(self) -> Any:
        """The items there are, where it is not said which."""
        return self.columns or list(dict.fromkeys(self.items.tolist()))


def read_interactions(given: Any, items: Any = None) -> Interactions:
    """Return who had what, see `irbatch.ItemStatistics`; `items` are ids of a matrix's columns."""
    if is_series(given):
        given = rows_by_label(given)
    if isinstance(given, Qrels | Run):
        given = given.to_dict()
    if isinstance(given, Mapping):
        return _read_mapping(given)
    if hasattr(given, "tocsr"):
        return _read_matrix(given, items)
    columns = read_named(given, "interactions", {}, "")
    users, listed = as_ids(columns[0], "user", SOURCE), as_ids(columns[1], "item", SOURCE)
    if len(users) != len(listed):
        problem = f"columns differ in length: {len(users)} users, {len(listed)} items"
        raise InputError(problem, source=SOURCE)
    places: dict[Any, int] = {}
    of_user = [places.setdefault(each, len(places)) for each in users.tolist()]
    return Interactions(list(places), np.array(of_user, np.int64), listed)


def read_popularity(given: Any) -> Any:
    """Return how often each item was had: a mapping of ids, or what is in the order of items.

    Raises:
        InputError: if a table has neither counts nor users.
    """
    if is_series(given):
        return by_label(given)
    if isinstance(given, Mapping) or not _is_table(given):
        return given
    if not set(names_of_columns(given, "popularity")) & {*POPULARITIES}:
        return Counter(read_interactions(given).items.tolist())
    ids, counts = read_named(given, "popularity", {}, "")
    items = as_ids(ids, "item", SOURCE).tolist()
    if len(set(items)) < len(items):
        twice = Counter(items).most_common(1)[0][0]
        raise InputError("this item has two popularities", source=SOURCE, document=twice)
    return dict(zip(items, counts, strict=True))


def _is_table(given: Any) -> bool:
    """Tell a table of columns from an array or a series."""
    named = hasattr(given, "columns") or hasattr(given, "column_names")
    return named or getattr(getattr(given, "dtype", None), "names", None) is not None


def _read_mapping(given: Mapping[Any, Any]) -> Interactions:
    sizes: list[int] = []
    listed: list[Any] = []
    for user, some in given.items():
        if isinstance(some, Mapping):  # of a grade of 0 or less there was nothing
            some = [item for item, grade in some.items() if not _is_nothing(grade)]
        if isinstance(some, str | bytes) or not isinstance(some, Iterable):
            problem = f"interactions are user to items, not to {kind_of(some)}"
            raise InputError(problem, source=SOURCE, query=user, value=some)
        before = len(listed)
        listed += some
        sizes.append(len(listed) - before)
    of_user = np.repeat(np.arange(len(sizes)), sizes)
    return Interactions(list(given), of_user, as_ids(listed, "item", SOURCE))


def _read_matrix(matrix: Any, items: Any) -> Interactions:
    """Read users by items; what is 0 or less was not had."""
    ids = None if items is None or is_whole(items) else items
    with ErrorsIn(source=SOURCE):
        table = read_sparse(matrix, "qrels", None, ids, with_empty=True)
    had = table.numbers > 0
    of_user = np.repeat(np.arange(len(table)), table.ends - table.begins)[had]
    found = list(table), of_user, table.documents.take(np.flatnonzero(had))
    return Interactions(*found, matrix.shape[1] if items is None else None)


def _is_nothing(grade: object) -> bool:
    return is_real(grade) and float(grade) <= 0


LIMITS = {"above": 0.0, "most": 1.0}  # of a propensity


def label_propensities(frequencies: Any, instances: float, a: float = 0.55, b: float = 1.5) -> Any:
    """Return each label's propensity: 1 / (1 + C (n + b)^-a), C = (ln instances - 1) (b + 1)^a.

    Args:
        frequencies: how many of the training instances have each label, n: a mapping of ids to
            numbers, which a series indexed by ids is, too, or numbers ``(labels,)``.
        instances: how many training instances there are, 3 or more.
        a, b: as fits the data. The authors have a 0.5, b 0.4 for Wikipedia and 0.6, 2.6 for
            Amazon; the defaults are theirs for anything else.

    Returns:
        The propensities, above 0 and at most 1: a mapping of the same ids, or float64
        ``(labels,)``.

    Raises:
        InputError: if a frequency is negative or no number, or another number is out of range.

    Source: Jain, Prabhu & Varma 2016.

    >>> label_propensities({"common": 250, "rare": 1}, instances=610)
    {'common': 0.6999890020082942, 'rare': 0.15592210173613888}
    """
    size = check_number("instances", instances, least=3.0)
    a, b = check_number("a", a, least=0.0), check_number("b", b, above=0.0)
    scale = (math.log(size) - 1.0) * (b + 1.0) ** a
    limits = {"least": 0.0, "most": size}
    return _of_each(frequencies, lambda n: 1.0 / (1.0 + scale * (n + b) ** -a), **limits)


def popularity_propensities(frequencies: Any, gamma: float = 2.0) -> Any:
    """Return each item's propensity by popularity: (n / the largest n)^((gamma + 1) / 2).

    Args:
        frequencies: how often each item was interacted with, n, above 0, as in
            `label_propensities`.
        gamma: how much more popular items are shown than they are liked, 0 or more; the authors
            look at 1.5 to 3.

    Returns, raises: as `label_propensities`.

    Source: Yang et al. 2018, whose propensities are these up to a factor, which SNIPS doesn't see.

    >>> popularity_propensities({"a": 100, "b": 25}, gamma=2)
    {'a': 1.0, 'b': 0.125}
    """
    power = (check_number("gamma", gamma, least=0.0) + 1.0) / 2.0

    def propensities(n: Floats) -> Floats:
        return (n / n.max(initial=0.0)) ** power

    return _of_each(frequencies, propensities, above=0.0)


def read_by_id(
    name: str,
    values: Any,
    id_at: Callable[[int], Any],
    source: str,
    limits: Mapping[str, float],
    queries: Sequence[Any] | None = None,
) -> Floats:
    """Read a number of each id: float64 ``(ids,)``.

    Args:
        name: what one is called.
        values: a collection of numbers, or an array.
        id_at: returns the id that a place is of.
        source: what errors call them.
        limits: as `irbatch.runtime.numbers.check_number` takes them.
        queries: the query of each, if they are of queries.

    Raises:
        InputError: naming the first that is not a finite number within the limits.
    """
    of_queries = itertools.repeat(None) if queries is None else queries
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf":
        names = zip(of_queries, map(id_at, range(len(values))), strict=False)
        values = read_numbers(name, list(values), names, source=source)
    numbers = np.asarray(values, np.float64)
    wrong = ~np.isfinite(numbers) | (numbers <= limits.get("above", -math.inf))
    wrong |= numbers < limits.get("least", -math.inf)
    wrong |= numbers > limits.get("most", math.inf)
    for row in np.flatnonzero(wrong)[:1].tolist():
        query = None if queries is None else queries[row]
        with ErrorsIn(source=source, query=query, document=id_at(row)):
            check_number(name, float(numbers[row]), **limits)
    return numbers


def _of_each(frequencies: Any, formula: Any, **limits: float) -> Any:
    """Apply a formula to frequencies, whatever they come in."""
    frequencies = by_label(frequencies)
    by_id = isinstance(frequencies, Mapping)
    numbers = frequencies.values() if by_id else to_numpy(frequencies, "frequencies")
    if not by_id and (numbers.ndim != 1 or numbers.dtype.kind not in "iuf"):
        problem = f"numbers, one a label, not {numbers.dtype} of shape {numbers.shape}"
        raise InputError(problem, source="frequencies")
    ids = list(frequencies) if by_id else range(len(numbers))
    numbers = read_by_id("frequency", numbers, ids.__getitem__, "frequencies", limits)
    found: Floats = formula(numbers)
    return dict(zip(ids, found.tolist(), strict=True)) if by_id else found


def are_by_query(given: object) -> TypeGuard[Mapping[Any, Mapping[Any, Any]]]:
    """Tell propensities of queries' items from those of items."""
    return isinstance(given, Mapping) and any(isinstance(each, Mapping) for each in given.values())


def propensity_ids(given: Mapping[Any, Any]) -> list[Any]:
    """List the items that have a propensity, in any query."""
    if not are_by_query(given):
        return list(given)
    listed = (item for query, each in given.items() for item in _items_of(each, query))
    return list(dict.fromkeys(listed))


def read_by_query(
    given: Mapping[Any, Mapping[Any, Any]],
    size: int,
    rows_of: Callable[[str, Sequence[Any]], Ints],
    id_at: Callable[[int], Any],
) -> QueryPropensities:
    """Read query to item to propensity.

    `rows_of` returns the rows of items in a catalogue of some size, and rejects others; `id_at` the
    other way round.
    """
    places = {query: place for place, query in enumerate(given)}
    pairs = [(query, item) for query, each in given.items() for item in _items_of(each, query)]
    of_query, items = [query for query, _ in pairs], [item for _, item in pairs]
    listed = [value for each in given.values() for value in each.values()]
    values = read_by_id("propensity", listed, items.__getitem__, "propensities", LIMITS, of_query)
    rows = rows_of("propensities", items)
    keys = np.array([places[query] for query in of_query], np.int64) * size + rows
    order = np.argsort(keys, kind="stable")
    return QueryPropensities(size, places, keys[order], values[order], id_at)


def _items_of(given: Any, query: Any) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        problem = f"propensities by query are items to numbers, not {shown(given)}"
        raise InputError(problem, source="propensities", query=query, value=given)
    return given


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
            raise InputError(f"groups are {problem}", source="groups")
        if not members:
            raise InputError("there are no items", source="groups")
        self.ungrouped = ungrouped
        same_kind(members, "document", "groups")
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
        """Forget memberships that are none, or reject the first item that has one."""
        nothing = np.flatnonzero(~self._vectors.any(axis=1))
        if not nothing.size:
            return
        without = frozenset(nothing.tolist())
        for item, code in self._codes.items():
            if code in without:
                self._reject_ungrouped(item)
                self._codes[item] = UNGROUPED

    def _reject_ungrouped(self, item: Any) -> None:
        if self.ungrouped == "error":
            problem = 'it belongs to no group; Groups(…, ungrouped="ignore") leaves such items out'
            raise InputError(problem, source="groups", document=item)

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
            self._reject_ungrouped(ids[int(np.argmax(codes == UNGROUPED))])
        return GroupShares(tuple(self.names), codes, self._vectors, self._target, self._targets)


def _kind_of(item: Any, given: Any, kinds: dict[Any, int]) -> int:
    """Return the number of a membership, a new one if it is new."""
    if isinstance(given, Mapping):
        _check_shares(given, "share", {"document": item}, may_be_none=True)
        given = tuple(given.items())
    else:
        check_id(given, "group", "groups")
    return kinds.setdefault(given, len(kinds))


def _shares_of(kind: Any) -> Iterable[tuple[Any, float]]:
    return kind if isinstance(kind, tuple) else ((kind, 1.0),)


def _names_of(kinds: Iterable[Any]) -> list[Any]:
    """List groups in the order that items name them."""
    names = dict.fromkeys(name for kind in kinds for name, _ in _shares_of(kind))
    same_kind(names, "group", "groups")
    if not names:
        raise InputError("no item belongs to a group", source="groups")
    return list(names)


def _check_shares(
    shares: Mapping[Any, Any], what: str, whose: dict[str, Any], *, may_be_none: bool = False
) -> None:
    """Reject shares that are no numbers or don't add up to 1, or to 0 if there may be none."""
    total = 0.0
    for group, share in shares.items():
        if (wanted := missed_limit(share, least=0.0, most=1.0 + ROUNDING)) is not None:
            problem = f"its {what} {shown(share)} of group {shown(group)} must be {wanted}"
            raise InputError(problem, source="groups", **whose, value=share)
        total += float(share)
    if abs(total - 1.0) > ROUNDING and not (may_be_none and total == 0):
        problem = f"its {what}s of groups add up to {total:g}, not to 1"
        raise InputError(problem, source="groups", **whose, value=total)


def _read_target(
    target: Mapping[Any, Any] | None, place: Mapping[Any, int]
) -> tuple[Floats | None, dict[Any, Floats] | None]:
    """Return the shares wanted of all queries, or of each; None of what is not given."""
    if target is None:
        return None, None
    if not isinstance(target, Mapping) or not target:
        kind = f"not {shown(target)}"
        problem = f"a mapping of groups to shares, or of queries to such mappings, {kind}"
        raise InputError(f"the target is {problem}", source="groups", value=target)
    nested = [isinstance(each, Mapping) for each in target.values()]
    if not any(nested):
        return _target_of(target, place, {}), None
    for query, shares in target.items():
        if not isinstance(shares, Mapping):
            problem = f"its target {shown(shares)} is no mapping of groups to shares"
            raise InputError(problem, source="groups", query=query, value=shares)
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
            raise InputError(f"{problem} {known}", source="groups", **whose, value=group)
        wanted[place[group]] = float(share)
    return wanted


def as_groups(groups: Any) -> Groups:
    """Return groups, whatever they come as."""
    return groups if isinstance(groups, Groups) else Groups(groups)
