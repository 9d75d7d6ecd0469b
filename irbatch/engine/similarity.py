"""How similar the items of a list are, to each other and to what its user had before.

A list's vectors are added up: over pairs their products sum to |sum|^2 less the squares of each, so
that no pair is looked at, and no matrix of items by items is made.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats, Floats2, Ints
from irbatch.engine.items import Histories, ItemArrays, ItemRanks, Vectors
from irbatch.errors import InputError
from irbatch.runtime.kernels import Kernel, as_input, kernel
from irbatch.runtime.ragged import offsets_of
from irbatch.runtime.threads import map_ranges

AS_GIVEN = "given"
SIMILARITIES = ("embeddings", "cooccurrence", "similarity")
"""What similarity is by; columns of `irbatch.engine.items.ItemArrays`."""

NO_HISTORY = -1


class Lists(NamedTuple):
    """The items of queries: `rows`, which begin and end at `starts`."""

    starts: Ints  # (queries + 1,)
    rows: Ints


def similarity_of_pairs(ranks: ItemRanks, by: str) -> Floats:
    """Average the similarity of pairs of items of each list: float64 ``(queries,)``; 0 of none."""
    lists, sizes, table = _lists(ranks), ranks.sizes, ranks.items.need(by)
    sums = np.zeros(sizes.size)
    if isinstance(table, Vectors):
        _run(_add_pairs, lists.rows.size * table.per_item, ranks, table, lists, sums)
    else:
        _run(_look_up_pairs, int((sizes * sizes).sum()), ranks, table, lists, sums)
    pairs = sizes * (sizes - 1.0)
    return np.asarray(sums / np.maximum(pairs, 1.0))


def similarity_to_histories(ranks: ItemRanks, by: str) -> Floats:
    """Average each listed item's similarity to what the user had: float64 ``(listed,)``.

    It is 0 for a user that had nothing.
    """
    lists, table = _lists(ranks), ranks.items.need(_choose(ranks.items, by))
    histories: Histories = ranks.items.need("histories")
    users, before = _users(ranks, histories), Lists(histories.starts, histories.rows)
    means = np.zeros(lists.rows.size)
    had = int((np.diff(histories.starts)[users[users != NO_HISTORY]]).sum())
    if isinstance(table, Vectors):
        work = (had + lists.rows.size) * table.per_item
        _run(_add_histories, work, ranks, table, lists, users, before, means)
    else:
        work = had * max(lists.rows.size // max(users.size, 1), 1)
        _run(_look_up_histories, work, ranks, table, lists, users, before, means)
    return means


def _choose(items: ItemArrays, by: str) -> str:
    """Return what similarity is by; of `AS_GIVEN` what is given, or else co-occurrence."""
    if by != AS_GIVEN:
        return by
    names = [name for name in ("embeddings", "similarity") if getattr(items, name) is not None]
    if len(names) > 1:
        problem = "embeddings and similarity are both given: say which, by=embeddings or"
        raise InputError(f"{problem} by=similarity", source="items")
    return names[0] if names else "cooccurrence"


def _lists(ranks: ItemRanks) -> Lists:
    return Lists(offsets_of(ranks.there.sum(axis=1)), as_input(ranks.listed))


def _run(
    loop: Kernel, work: int, ranks: ItemRanks, table: Vectors | Floats, *arguments: Any
) -> None:
    """Run a kernel on some rankings at a time; one of vectors gets zeros to add them up in."""

    def run(first: int, last: int) -> None:
        if isinstance(table, Vectors):
            loop.run(work, table, np.zeros(table.width), *arguments, first, last)
        else:
            loop.run(work, as_input(table), *arguments, first, last)

    map_ranges(run, ranks.rows.shape[0], cells=work, threads=ranks.threads)


def _users(ranks: ItemRanks, histories: Histories) -> Ints:
    """Return the place of each query's user among the histories."""
    places, queries = histories.places, ranks.queries
    if places and len(queries):
        user, query = next(iter(places)), queries[0]
        if isinstance(user, str) != isinstance(query, str):
            problem = f"the users of interactions are such as {user!r}, and queries {query!r}"
            raise InputError(problem, source="items", query=query)
    return np.array([places.get(query, NO_HISTORY) for query in queries], np.int64)


@kernel
def _add_vectors(vectors: Vectors, rows: Ints, first: int, last: int, space: Floats) -> None:
    starts, columns, numbers, _, _ = vectors
    for i in range(first, last):
        begin = starts[rows[i]]
        if columns.size > 0:
            for e in range(begin, starts[rows[i] + 1]):
                space[columns[e]] += numbers[e]
        else:
            row = numbers[begin : begin + space.size]
            for c in range(space.size):
                space[c] += row[c]


@kernel
def _product(vectors: Vectors, item: int, space: Floats) -> float:
    starts, columns, numbers, _, _ = vectors
    begin = starts[item]
    total = 0.0
    if columns.size > 0:
        for e in range(begin, starts[item + 1]):
            total += space[columns[e]] * numbers[e]
    else:
        row = numbers[begin : begin + space.size]
        for c in range(space.size):
            total += space[c] * row[c]
    return total


@kernel
def _square_and_clear(vectors: Vectors, rows: Ints, first: int, last: int, space: Floats) -> float:
    """Sum the squares of `space`, to which some items' vectors were added, and set it to 0."""
    starts, columns, _, _, _ = vectors
    total = 0.0
    if columns.size == 0:
        for c in range(space.size):
            total += space[c] * space[c]
        space[:] = 0.0
        return total
    for i in range(first, last):
        own = 0.0
        for e in range(starts[rows[i]], starts[rows[i] + 1]):
            own += space[columns[e]] * space[columns[e]]
            space[columns[e]] = 0.0
        total += own
    return total


@kernel
def _add_pairs(
    vectors: Vectors, space: Floats, lists: Lists, sums: Floats, first: int, last: int
) -> None:
    """Write the sum over ordered pairs of different items of some lists; `space` is zeros."""
    starts, rows = lists
    for q in range(first, last):
        _add_vectors(vectors, rows, starts[q], starts[q + 1], space)
        own = 0.0
        for i in range(starts[q], starts[q + 1]):
            own += vectors.squares[rows[i]]
        sums[q] = _square_and_clear(vectors, rows, starts[q], starts[q + 1], space) - own


@kernel
def _look_up_pairs(matrix: Floats2, lists: Lists, sums: Floats, first: int, last: int) -> None:
    starts, rows = lists
    for q in range(first, last):
        total = 0.0
        for i in range(starts[q], starts[q + 1]):
            for j in range(starts[q], starts[q + 1]):
                if i != j:
                    total += matrix[rows[i], rows[j]]
        sums[q] = total


@kernel
def _add_histories(
    vectors: Vectors,
    space: Floats,
    lists: Lists,
    users: Ints,
    before: Lists,
    means: Floats,
    first: int,
    last: int,
) -> None:
    """Write the mean similarity of some lists' items to users' histories; `space` is zeros."""
    starts, rows = lists
    for q in range(first, last):
        if users[q] < 0:
            continue
        begin, end = before.starts[users[q]], before.starts[users[q] + 1]
        _add_vectors(vectors, before.rows, begin, end, space)
        for i in range(starts[q], starts[q + 1]):
            means[i] = _product(vectors, rows[i], space) / (end - begin)
        _square_and_clear(vectors, before.rows, begin, end, space)


@kernel
def _look_up_histories(
    matrix: Floats2, lists: Lists, users: Ints, before: Lists, means: Floats, first: int, last: int
) -> None:
    starts, rows = lists
    for q in range(first, last):
        if users[q] < 0:
            continue
        begin, end = before.starts[users[q]], before.starts[users[q] + 1]
        for i in range(starts[q], starts[q + 1]):
            total = 0.0
            for h in range(begin, end):
                total += matrix[rows[i], before.rows[h]]
            means[i] = total / (end - begin)
