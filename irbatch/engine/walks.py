"""Rankings as users walk down them, rank by rank: the C/W/L framework.

A model says how many of the users who come to rank i go on to the next, C_i. Then V_i, the product
of C above i, is the share that comes to i; W_i = V_i / sum of V its share of all that is looked at;
and L_i = V_i (1 - C_i) is the share that stops there (Moffat, Bailey, Scholer & Thomas 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.runtime.threads import cached_property

CELLS_AT_ONCE = 8_192  # ranks of all queries that are walked together: arrays stay in the cache
NUMBERS = ("EU", "ETU", "EC", "ETC", "ED")


class Reading(NamedTuple):
    """What users do at each rank: float64 ``(ranks,)`` or ``(queries, ranks)``."""

    views: Floats  # V: of those who come to rank 1, how many come to each
    stops: Floats  # L
    total: Floats | None = None  # what views are divided by to be W, where that is not their sum


def go_on(chances: Floats) -> Reading:
    """Return the reading of users of whom shares C go on to the next rank."""
    views = np.ones_like(chances)
    np.multiply.accumulate(chances[..., :-1], axis=-1, out=views[..., 1:])
    return Reading(views, views * (1.0 - chances))


def look_at(weights: Floats) -> Reading:
    """Return the reading of users who look at ranks in proportion to weights, the first's not 0.

    None goes beyond the last rank.
    """
    views = weights / weights[..., :1]
    stops = views.copy()
    stops[..., :-1] -= views[..., 1:]
    return Reading(views, stops)


@dataclass(eq=False)
class Walk:
    """What models read: some rankings, to the last rank that counts."""

    documents: Documents
    first: int  # of the queries, which end before `last`
    last: int

    @cached_property
    def ranks(self) -> Floats:
        """1, 2, …: float64 ``(ranks,)``."""
        return np.arange(1.0, self.documents.length + 1.0)

    @cached_property
    def gains(self) -> Floats:
        """The gain of each rank, from 0 to 1: float64 ``(queries, ranks)``."""
        documents = self.documents
        gains = np.full((self.last - self.first, documents.length), documents.of_unjudged)
        begin, end = np.searchsorted(documents.row_index, (self.first, self.last)).tolist()
        ranks = documents.ranks[begin:end]
        near = ranks <= documents.length
        rows = documents.row_index[begin:end][near] - self.first
        gains[rows, ranks[near] - 1] = documents.gains[begin:end][near]
        return gains

    @cached_property
    def costs(self) -> Floats:
        """The cost of each rank: ``(queries, ranks)``, or ``(ranks,)`` where each is 1."""
        documents = self.documents
        if documents.costs is None:
            return np.ones(documents.length)
        costs = np.full((self.last - self.first, documents.length), documents.of_unknown)
        of_ranks = documents.costs[self.first : self.last, : documents.length]
        np.copyto(costs[:, : of_ranks.shape[1]], of_ranks, where=~np.isnan(of_ranks))
        return costs

    @cached_property
    def gained(self) -> Floats:
        """The gains of each rank and those above, together: ``(queries, ranks)``."""
        return np.add.accumulate(self.gains, axis=1)

    @cached_property
    def spent(self) -> Floats:
        """The costs of each rank and those above, together, shaped as `costs`."""
        return np.add.accumulate(self.costs, axis=-1)

    @cached_property
    def spent_before(self) -> Floats:
        """The costs of the ranks above each, together, shaped as `costs`."""
        before = np.zeros_like(self.spent)
        before[..., 1:] = self.spent[..., :-1]
        return before

    @cached_property
    def relevant(self) -> Floats:
        """How many documents have a gain, retrieved or not: ``(queries,)``."""
        judged = self.documents.judged[self.first : self.last]
        counts = np.count_nonzero(self.gains, axis=1)
        return np.asarray(np.maximum(judged, counts), np.float64)


Model = Callable[[Walk], Floats | Reading]
"""Returns C of each rank, ``(ranks,)`` or ``(queries, ranks)``, or what users do."""


@dataclass(frozen=True, eq=False)
class Documents:
    """The judged documents of a block's rankings.

    Args:
        row_index, ranks, gains: int64, int64, float64 ``(documents,)``: the query of each,
            ascending, its rank from 1, its gain from 0 to 1.
        judged: float64 ``(queries,)``, how many documents are judged to have a gain.
        length: how many ranks count; those past the end of a ranking are unjudged documents.
        is_cut: whether users stop at the last rank at the latest.
        costs: float64 ``(queries, depth)``, NaN where a document's is unknown; None: all are 1.
        of_unjudged: the gain of documents that are not judged.
        of_unknown: the cost of documents whose cost is unknown.
    """

    row_index: Ints
    ranks: Ints
    gains: Floats
    judged: Floats
    length: int
    is_cut: bool
    costs: Floats | None = None
    of_unjudged: float = 0.0
    of_unknown: float = 1.0


def expect(documents: Documents, model: Model) -> Floats:
    """Return the framework's five numbers, see `NUMBERS`: float64 ``(5, queries)``."""
    queries = documents.judged.size
    numbers = np.empty((len(NUMBERS), queries))
    step = max(CELLS_AT_ONCE // documents.length, 1)
    for first in range(0, queries, step):
        last = min(first + step, queries)
        walk = Walk(documents, first, last)
        reading = model(walk)
        if not isinstance(reading, Reading):
            if documents.is_cut:
                reading[..., -1] = 0.0
            reading = go_on(reading)
        if reading.views.ndim == walk.costs.ndim == 1:  # it is the same for all rankings
            _sum_by_rank(documents, reading, numbers)
            break
        _sum_up(walk, reading, numbers[:, first:last])
    return numbers


def _sum_up(walk: Walk, reading: Reading, numbers: Floats) -> None:
    """Write the five numbers, ``(5, queries)``, of users who go by what they see."""
    views, stops, total = reading
    looked = views.sum(axis=-1)
    total = looked if total is None else total
    numbers[0] = (views * walk.gains).sum(axis=1) / total
    numbers[1] = (stops * walk.gained).sum(axis=1)
    costs_1 = walk.costs.ndim == 1
    numbers[2] = (looked if costs_1 else (views * walk.costs).sum(axis=1)) / total
    numbers[3] = (stops * walk.spent).sum(axis=1)
    numbers[4] = total


def _sum_by_rank(documents: Documents, reading: Reading, numbers: Floats) -> None:
    """Write the five numbers of users who go by the rank, from the judged documents alone."""
    views, stops, _ = reading
    near = documents.ranks <= documents.length
    rows, places = documents.row_index[near], documents.ranks[near] - 1
    gains = documents.gains[near] - documents.of_unjudged
    total = np.add.accumulate(views)[-1]
    beyond = np.add.accumulate(stops[::-1])[::-1]  # the share that stops at a rank or below it
    ranks_read = np.add.accumulate(beyond)[-1]

    def add_up(terms: Floats, of_all: float) -> Floats:
        sums = np.bincount(rows, terms, documents.judged.size)
        return np.asarray(sums + documents.of_unjudged * of_all, np.float64)

    numbers[0] = add_up(gains * views[places], total) / total
    numbers[1] = add_up(gains * beyond[places], ranks_read)
    numbers[2] = 1.0
    numbers[3] = ranks_read
    numbers[4] = total
