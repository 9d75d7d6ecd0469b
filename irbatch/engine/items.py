"""Rankings as rows of a table of items: how often a run recommends each, what groups get."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats, Floats2, Ints, Ints2, NDArray
from irbatch.errors import InputError, shown
from irbatch.runtime.kernels import kernel
from irbatch.runtime.ragged import offsets_of, row_index_of
from irbatch.runtime.threads import cached_property

UNGROUPED = -1  # an item that belongs to no group


class GroupShares(NamedTuple):
    """The groups of the items of a catalogue.

    `vectors` has each distinct membership once, float64 ``(memberships, groups)``; `codes` says
    which of them an item has, int64 ``(items,)``, or `UNGROUPED`. `target` are the shares due
    for every query, float64 ``(groups,)``, or those by query id.
    """

    names: tuple[Any, ...]
    codes: Ints
    vectors: Floats
    target: Floats | Mapping[Any, Floats] | None

    def targets_of(self, queries: Sequence[Any]) -> Floats:
        """Return the shares due for some queries: float64 ``(queries, groups)``.

        Raises:
            InputError: if no target is given, or none for one of them.
        """
        if self.target is None:
            problem = "no target is given: say Groups(…, target=…), or AWRF(target=uniform)"
            raise InputError(f"{problem} and the like", source="groups")
        if isinstance(self.target, np.ndarray):
            return np.tile(self.target, (len(queries), 1))
        for query in queries:
            if query not in self.target:
                raise InputError("it has no target", source="groups", query=query)
        targets = [self.target[query] for query in queries]
        return np.array(targets).reshape(len(queries), len(self.names))

    def place_of(self, name: str) -> int:
        """Return a group's place among the names, as text; InputError if there is no such group."""
        names = list(map(str, self.names))
        if name not in names:
            problem = f"no group is called {shown(name)}: there are {shown(list(self.names), 200)}"
            raise InputError(problem, source="groups", value=name)
        return names.index(name)

    def count_members(self, starts: Ints, rows: Ints) -> Floats:
        """Add up the memberships of the items of some queries: float64 ``(queries, groups)``.

        `rows`, those of one query after the other, begin and end at `starts`; negative ones don't
        count.
        """
        queries = row_index_of(starts)[rows >= 0]
        none = np.zeros((1, len(self.names)))  # has the place `UNGROUPED`
        shares = np.concatenate([self.vectors, none])[self.codes[rows[rows >= 0]]]
        sums = [np.bincount(queries, share, starts.size - 1) for share in shares.T]
        return np.stack(sums, axis=1).astype(np.float64, copy=False)


OUTSIDE = -1  # a document that is not an item of the catalogue
PAST_END = -2  # of the ranking

# What has to be said of items for a formula to read it, see `irbatch.Items`.
GIVEN_BY = {
    "popularity": "popularity= or interactions=",
    "users": "interactions= or users=",
    "histories": "interactions=",
    "cooccurrence": "interactions=",
    "embeddings": "embeddings=",
    "similarity": "similarity=",
    "groups": "groups=",
    "propensities": "propensities=",
}

ItemRows = NDArray[np.int32]


class Vectors(NamedTuple):
    """A vector of length 1, or of zeros, for each item.

    Sparse ones are rows of `columns` and `numbers` that begin and end at `starts`; of dense ones,
    without `columns`, each row has `width` numbers.
    """

    starts: Ints  # (items + 1,)
    columns: Ints
    numbers: Floats
    width: int
    squares: Floats  # (items,): products with themselves, about 1 or 0

    @property
    def per_item(self) -> int:
        """How many numbers an item has, about."""
        return self.numbers.size // max(self.starts.size - 1, 1) + 1


class Histories(NamedTuple):
    """The items that each user had before: `rows`, which begin and end at `starts`."""

    places: Mapping[Any, int]  # of users
    starts: Ints  # (users + 1,)
    rows: Ints


@dataclass(eq=False)
class ItemArrays:
    """What is known of the items of a catalogue; None where nothing is said.

    Args:
        size: how many there are.
        popularity: float64 ``(items,)``, interactions with each.
        reach: float64 ``(items,)``, how many users had each; None: as many as interactions.
        users: how many users these are of.
        histories, cooccurrence, embeddings: see there. Co-occurrence is one of users: two items
            are as similar as the cosine of who had them.
        similarity: float64 ``(items, items)``.
        groups: who belongs to which.
        propensities: float64 ``(items,)``, how likely relevant ones are to be known, above 0 and
            at most 1.
        fingerprint: tells catalogues apart.
    """

    size: int
    popularity: Floats | None = None
    reach: Floats | None = None
    users: float | None = None
    histories: Histories | None = None
    cooccurrence: Vectors | None = None
    embeddings: Vectors | None = None
    similarity: Floats | None = None
    groups: GroupShares | None = None
    propensities: Floats | None = None
    fingerprint: str = ""
    _tables: dict[object, Floats] = field(default_factory=dict)

    def table(self, key: object, make: Callable[[], Floats]) -> Floats:
        """Return what is computed of all items once, float64 ``(items,)``."""
        if key not in self._tables:
            self._tables[key] = make()
        return self._tables[key]

    def need(self, name: str) -> Any:
        """Return one of `GIVEN_BY`, or raise InputError saying how it is given."""
        value = getattr(self, name)
        if value is None:
            problem = f"{name} of items is not known: give Items({GIVEN_BY[name]})"
            raise InputError(problem, source="items")
        return value


class JudgedItems(NamedTuple):
    """Judged documents of some queries, query after query."""

    starts: Ints  # (queries + 1,)
    rows: Ints  # of items; `OUTSIDE` where a document is not an item
    grades: Floats


@dataclass(eq=False)
class ItemRanks:
    """What a measure of items reads: the first documents of some rankings, as rows of the items.

    Args:
        items: what is known of them.
        queries: the queries' ids.
        rows: int64 ``(queries, depth)``, the item at each rank, `OUTSIDE` or `PAST_END`.
        read_judged: returns all judged documents of these queries, as often as it is called.
        cutoff: only documents up to this rank are there; infinite at full depth.
        rel: the least relevant grade.
        threads: how many to use, see `irbatch.runtime.threads.map_ranges`.
        others: more rankings of the same queries, of a system that doesn't rank alike each time;
            an empty one is not a ranking. Only the exposure of groups reads them.
    """

    items: ItemArrays
    queries: Sequence[Any]
    rows: Ints
    read_judged: Callable[[], JudgedItems]
    cutoff: float = math.inf
    rel: float = 1.0
    threads: int | None = None
    others: Sequence[ItemRanks] = ()

    def at(self, cutoff: int | None, rel: float = 1.0) -> ItemRanks:
        """Return the same up to a cutoff (None: none), with a least relevant grade."""
        others = [other.at(cutoff, rel) for other in self.others]
        depth = math.inf if cutoff is None else float(cutoff)
        return replace(self, rows=self.rows[:, :cutoff], cutoff=depth, rel=rel, others=others)

    @cached_property
    def retrieved(self) -> Ints:
        """Documents up to the cutoff, items or not: int64 ``(queries,)``."""
        return (self.rows != PAST_END).sum(axis=1)

    @property
    def longest(self) -> Ints:
        """As `retrieved`, of each query's longest ranking."""
        return np.max([ranking.retrieved for ranking in (self, *self.others)], axis=0)

    @cached_property
    def there(self) -> Bools:
        """Which ranks have items, bool ``(queries, depth)``."""
        return self.rows >= 0

    @cached_property
    def sizes(self) -> Floats:
        """Items up to the cutoff, float64 ``(queries,)``."""
        return np.asarray(self.there.sum(axis=1), np.float64)

    @cached_property
    def listed(self) -> Ints:
        """The items, query after query in rank order: int64 ``(listed,)``."""
        if (self.sizes == self.rows.shape[1]).all():
            return np.ascontiguousarray(self.rows).reshape(-1)
        return self.rows[self.there]

    @cached_property
    def row_index(self) -> Ints:
        """The query of each one listed, its place among these: int64 ``(listed,)``."""
        return np.repeat(np.arange(self.rows.shape[0]), self.there.sum(axis=1))

    @cached_property
    def ranks(self) -> Ints:
        """The rank of each one listed, from 1: int64 ``(listed,)``."""
        return np.nonzero(self.there)[1] + 1

    @cached_property
    def _places(self) -> Ints:
        """Where each one listed stands among those judged, -1 if it does not: ``(listed,)``."""
        starts, rows, _ = self.read_judged()
        size = max(self.items.size, 1)
        places = np.flatnonzero(rows >= 0)
        keys = row_index_of(starts)[places] * size + rows[places]
        order = np.argsort(keys, kind="stable")
        keys, listed = np.append(keys[order], -1), self.row_index * size + self.listed
        at = np.searchsorted(keys[:-1], listed)
        return np.where(keys[at] == listed, np.append(places[order], -1)[at], -1)

    @cached_property
    def grades(self) -> Floats:
        """The grade of each one listed, 0 if it is not judged: float64 ``(listed,)``."""
        return np.append(self.read_judged().grades, 0.0)[self._places]

    @cached_property
    def relevant(self) -> Bools:
        """Which of those listed are relevant, bool ``(listed,)``."""
        return (self._places >= 0) & (self.grades >= self.rel)

    def add_up(self, terms: Floats) -> Floats:
        """Add up a term for each one listed, in rank order: float64 ``(queries,)``."""
        sums = np.bincount(self.row_index, terms, self.rows.shape[0])
        return sums.astype(np.float64, copy=False)

    def mean_of(self, of_items: Floats) -> Floats:
        """Average what is said of items, ``(items,)``, over those listed; 0 of none."""
        return np.asarray(self.add_up(of_items[self.listed]) / np.maximum(self.sizes, 1.0))


@dataclass(eq=False)
class ItemCounts:
    """How often a run recommends each item: what a measure of a whole run reads.

    They are whole numbers, and add up to the same whatever the order. Counts are kept apart by the
    lists' lengths, on which the angle between two users' items depends.

    Args:
        items: what is known of them.
        keys: int64 ``(entries,)``, ascending: length of the list x `ItemArrays.size` + the item.
        numbers: int64 ``(entries,)``, how many lists of that length have the item.
        lists: int64 ``(longest + 1,)``, how many lists there are of each length.
    """

    items: ItemArrays
    keys: Ints
    numbers: Ints
    lists: Ints

    @classmethod
    def of(cls, items: ItemArrays, lists: Sequence[ItemRows], cutoff: float) -> ItemCounts:
        """Count lists of item rows up to a cutoff; their ranks outside the catalogue don't count.

        `lists` are as `ItemRanks` has them, without what is past the end.
        """
        cut = lists if math.isinf(cutoff) else [ranking[: int(cutoff)] for ranking in lists]
        lengths = np.fromiter(map(len, cut), np.int64, len(cut))
        rows = np.concatenate([np.empty(0, np.int32), *cut]).astype(np.int64)
        row_index = np.repeat(np.arange(len(cut)), lengths)
        if (outside := rows < 0).any():
            rows, row_index = rows[~outside], row_index[~outside]
            lengths = np.bincount(row_index, minlength=len(cut))
        of_length = np.bincount(lengths, minlength=1).astype(np.int64)
        columns = [np.empty((2, 0), np.int64)]
        for length in np.flatnonzero(of_length).tolist():
            some = rows if of_length[length] == len(cut) else rows[lengths[row_index] == length]
            counts = np.bincount(some, minlength=items.size)
            listed = np.flatnonzero(counts)
            columns.append(np.stack([length * items.size + listed, counts[listed]]))
        keys, numbers = np.concatenate(columns, axis=1)
        return cls(items, keys, numbers, of_length)

    def __add__(self, other: ItemCounts) -> ItemCounts:
        """Add those of other lists, of the same catalogue."""
        keys = np.concatenate([self.keys, other.keys])
        numbers = np.concatenate([self.numbers, other.numbers])
        order = np.argsort(keys, kind="stable")
        keys, numbers = keys[order], numbers[order]
        firsts = np.flatnonzero(np.diff(keys, prepend=-1))
        numbers = np.add.reduceat(numbers, firsts) if firsts.size else numbers
        lists = np.zeros(max(self.lists.size, other.lists.size), np.int64)
        lists[: self.lists.size] += self.lists
        lists[: other.lists.size] += other.lists
        return ItemCounts(self.items, keys[firsts], numbers, lists)

    @cached_property
    def counts(self) -> Ints:
        """How often each item is recommended, int64 ``(items,)``."""
        counts = np.zeros(self.items.size, np.int64)
        np.add.at(counts, self.keys % max(self.items.size, 1), self.numbers)
        return counts

    @property
    def users(self) -> int:
        """How many lists there are, empty ones among them."""
        return int(self.lists.sum())

    @property
    def total(self) -> int:
        """How many recommendations there are."""
        return int(self.numbers.sum())


def lists_of(rows: Ints) -> list[ItemRows]:
    """Return each ranking of ``(queries, depth)`` as an array of its own length."""
    ranked = rows != PAST_END
    flat = rows[ranked].astype(np.int32)
    bounds = offsets_of(ranked.sum(axis=1)).tolist()
    return [flat[start:stop] for start, stop in itertools.pairwise(bounds)]


def expose(r: ItemRanks, attention: Floats, *, only_relevant: bool = False) -> Floats:
    """Add up what each group gets, the mean over a query's rankings: float64 ``(queries, groups)``.

    Args:
        r: rankings of items whose groups are known.
        attention: float64 ``(depth,)`` or more, what an item gets at each rank.
        only_relevant: others get nothing.
    """
    groups: GroupShares = r.items.need("groups")
    exposure = np.zeros((len(r.queries), len(groups.names)))
    rankings = [r, *r.others]
    for ranking in rankings:
        rows = np.ascontiguousarray(ranking.rows)
        if only_relevant:
            rows = np.full_like(rows, OUTSIDE)
            rows[ranking.there] = np.where(ranking.relevant, ranking.listed, OUTSIDE)
        work = rows.size * (1 + len(groups.names))
        _expose.run(work, rows, groups.codes, groups.vectors, attention, exposure)
    if r.others:
        number = np.sum([ranking.retrieved > 0 for ranking in rankings], axis=0)
        exposure /= np.maximum(number, 1)[:, None]
    return exposure


@kernel
def _expose(
    rows: Ints2, codes: Ints, vectors: Floats2, attention: Floats, exposure: Floats2
) -> None:
    for ranking in range(rows.shape[0]):
        for rank in range(rows.shape[1]):
            row = rows[ranking, rank]
            if row >= 0 and codes[row] >= 0:
                for group in range(exposure.shape[1]):
                    exposure[ranking, group] += attention[rank] * vectors[codes[row], group]
