"""Two runs' rankings of the same queries, side by side: where each document stands in both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.columns import QueryTable
from irbatch.data.ids import kinds_of
from irbatch.data.lookup import match_rankings
from irbatch.engine.overlap import Side
from irbatch.engine.ties import id_texts, order_documents, within_rows
from irbatch.errors import InputError
from irbatch.runtime.ragged import joined_ranges, offsets_of, row_index_of

DOCUMENTS_AT_ONCE = 1 << 20  # of both runs: so that memory stays bounded
NO_SCORES = np.empty(0)

Tables = tuple[QueryTable, QueryTable]


class Pairs(NamedTuple):
    """Rankings of some of the queries, in order.

    Unless ties matter sides have no groups, and there are no scores.
    """

    sides: tuple[Side, Side]
    scores: tuple[Floats, Floats]  # each (documents,)


def pair_rankings(
    tables: Tables, queries: Sequence[Any], depth: int | None, *, tied: bool
) -> Iterator[Pairs]:
    """Pair the rankings of queries that two tables, whose rows are by score, both have.

    Documents of one score stand by id, descending, unless they are taken to be `tied`, and the
    depth cannot cut between them.
    """
    if len(tables[0].documents) and len(tables[1].documents):
        one, other = (table.where(0) for table in tables)
        check_kinds([one["document"]], [other["document"]], one["query"])
    places = [table.find(queries) for table in tables]
    ends = np.cumsum(sum(ranking_sizes(table, queries, None) for table in tables))
    start = 0
    while start < len(queries):
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + DOCUMENTS_AT_ONCE, side="right")), start + 1)
        yield _pair(tables, [own[start:stop] for own in places], depth, tied=tied)
        start = stop


def ranking_sizes(table: QueryTable, queries: Sequence[Any], depth: int | None) -> Ints:
    """Return how long the rankings of some queries are, cut at a depth."""
    places = table.find(queries)
    sizes: Ints = table.ends[places] - table.begins[places]
    return sizes if depth is None else np.minimum(sizes, depth)


def check_kinds(first: Sequence[Any], second: Sequence[Any], query: object = None) -> None:
    """Reject text beside numbers: no document would be found in both."""
    if kinds_of(first) != kinds_of(second) and first and second:
        sides = f"document ids are {first[0]!r} on one side and {second[0]!r} on the other"
        raise InputError(f"{sides}: one is text, the other a number", query=query)


def _pair(tables: Tables, places: Sequence[Ints], depth: int | None, *, tied: bool) -> Pairs:
    by_id = not tied or depth is not None
    (starts, rows), (other_starts, other_rows) = (
        _rank(table, own, depth, by_id=by_id) for table, own in zip(tables, places, strict=True)
    )
    one, other = (tables[0].keyed, rows, starts), (tables[1].keyed, other_rows, other_starts)
    ranks, other_ranks = match_rankings(*one, *other)
    if not tied:
        return Pairs((Side(starts, ranks), Side(other_starts, other_ranks)), (NO_SCORES, NO_SCORES))
    scores = tables[0].numbers[rows], tables[1].numbers[other_rows]
    sides = _side(starts, ranks, scores[0]), _side(other_starts, other_ranks, scores[1])
    return Pairs(sides, scores)


def _rank(table: QueryTable, places: Ints, depth: int | None, *, by_id: bool) -> tuple[Ints, Ints]:
    """Order the rankings at some places of a table, and cut them; return `starts`, and the rows."""
    begins, sizes = table.begins[places], table.ends[places] - table.begins[places]
    uncut, rows = offsets_of(sizes), joined_ranges(begins, sizes)
    if by_id:
        scores = table.numbers[rows]
        rows = order_documents(scores, uncut, lambda at: id_texts(table.ids(at)), rows=rows)
    if depth is None:
        return uncut, rows
    kept = np.minimum(sizes, depth)
    return offsets_of(kept), rows[joined_ranges(uncut[:-1], kept)]


def _side(starts: Ints, partners: Ints, scores: Floats) -> Side:
    """Return one side of pairs, with groups of documents of one score."""
    new = np.ones(scores.size + 1, bool)
    new[1:-1] = ~within_rows(starts, scores[1:] == scores[:-1])
    begins = np.flatnonzero(new)
    sizes = np.diff(begins)
    shift = starts[row_index_of(starts)]
    tops = np.repeat(begins[:-1], sizes) - shift
    return Side(starts, partners, tops, np.repeat(begins[1:] - 1, sizes) - shift, starts[:-1])
