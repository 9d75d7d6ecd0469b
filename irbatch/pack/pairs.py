"""Two runs' rankings of the same queries, side by side: where each document stands in both."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.data.columns import QueryTable
from irbatch.data.dicts import find_in_rankings, read_judgments
from irbatch.data.ids import kinds_of
from irbatch.data.lookup import KeyedIds, find_rows
from irbatch.data.runs import Run
from irbatch.engine.overlap import Side
from irbatch.engine.ties import id_texts, order_documents, order_rows, within_rows
from irbatch.errors import InputError
from irbatch.runtime.numbers import read_numbers
from irbatch.runtime.ragged import joined_ranges, offsets_of, row_index_of

DOCUMENTS_AT_ONCE = 1 << 20  # of both runs: so that memory stays bounded
NO_RANKS, NO_SCORES = np.empty(0, np.int64), np.empty(0)


class Pairs(NamedTuple):
    """Rankings of some of the queries, those at `first` to `last`, in order.

    Unless ties matter sides have no groups, the first one no partners, and there are no scores.
    """

    first: int
    last: int
    sides: tuple[Side, Side]
    scores: tuple[Floats, Floats]  # each (documents,)


@dataclass
class Unordered:
    """Rankings of some queries as they came in, one after the other."""

    starts: Ints  # (queries + 1,)
    scores: Floats  # (documents,)
    ids_at: Callable[[Ints], Sequence[Any]]  # ids of documents, by their positions
    is_ordered: bool = False  # whether scores are known to descend


def pair_rankings(
    runs: tuple[Run, Run], queries: Sequence[Any], depth: int | None, *, tied: bool
) -> Iterator[Pairs]:
    """Pair two runs' rankings of queries that both have.

    Documents stand in order of their scores; those of one score by id descending, unless they are
    taken to be `tied`, and the depth cannot cut between them.
    """
    tables = _as_tables(*runs)
    ends = np.cumsum(sum(ranking_sizes(run, queries, None) for run in runs))
    start = 0
    while start < len(queries):
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + DOCUMENTS_AT_ONCE, side="right"))
        stop = max(stop, start + 1)
        chosen = queries[start:stop]
        one, other, places = _of_tables(*tables, chosen) if tables else _of_mappings(*runs, chosen)
        yield Pairs(start, stop, *_in_order(one, other, places, depth, tied=tied))
        start = stop


def ranking_sizes(run: Run, queries: Sequence[Any], depth: int | None) -> Ints:
    """Return how long a run's rankings of some queries are, cut at a depth."""
    table = run.rankings
    if isinstance(table, QueryTable):
        places = table.find(queries)
        sizes: Ints = table.ends[places] - table.begins[places]
    else:
        sizes = np.fromiter((len(table[query]) for query in queries), np.int64, len(queries))
    return sizes if depth is None else np.minimum(sizes, depth)


def _as_tables(first: Run, second: Run) -> tuple[QueryTable, QueryTable] | None:
    """Return runs as tables whose documents are of one kind, if one is a table and both can be."""
    if not any(isinstance(run.rankings, QueryTable) for run in (first, second)):
        return None  # dictionaries are looked up in sooner than made columns of
    one, other = first.as_table(), second.as_table()
    empty = not len(one.documents) or not len(other.documents)
    return (one, other) if empty or one.document_kind == other.document_kind else None


def _of_tables(
    first: QueryTable, second: QueryTable, queries: Sequence[Any]
) -> tuple[Unordered, Unordered, Ints]:
    """Take rankings from tables; return with them where the second's documents stand in the first.

    That is int64 ``(documents,)``, positions, -1 for those that it doesn't have.
    """
    sides, bounds = [], []
    for table in (first, second):
        places = table.find(queries)
        begins, sizes = table.begins[places], table.ends[places] - table.begins[places]
        rows = joined_ranges(begins, sizes)

        def ids_at(at: Ints, table: QueryTable = table, rows: Ints = rows) -> Sequence[Any]:
            return table.ids(rows[at])

        sides.append(Unordered(offsets_of(sizes), table.numbers[rows], ids_at, table.is_ordered))
        bounds.append((places, begins, rows))
    (places, begins, _), (_, _, second_rows) = bounds
    one, other = sides
    documents = second.documents.take(second_rows)
    keyed = KeyedIds.of(documents, other.starts[:-1], other.starts[1:])
    rows = find_rows(first.keyed, keyed, places)
    shift = (one.starts[:-1] - begins)[row_index_of(other.starts)]
    return one, other, np.where(rows >= 0, rows + shift, -1)


def _of_mappings(
    first: Run, second: Run, queries: Sequence[Any]
) -> tuple[Unordered, Unordered, Ints]:
    """Do the same with mappings, of documents to scores."""
    rankings = [[run.rankings[query] for query in queries] for run in (first, second)]
    sides = []
    for run, mappings in zip((first, second), rankings, strict=True):
        starts = offsets_of(np.fromiter(map(len, mappings), np.int64, len(mappings)))
        scores = read_judgments(mappings, starts)
        if scores is None:
            names = ((query, document) for query, ranking in zip(queries, mappings, strict=True)
                     for document in ranking)  # fmt: skip
            values = [score for ranking in mappings for score in ranking.values()]
            scores = read_numbers("score", values, names, source="run", path=run.name)

        def ids_at(at: Ints, mappings: Any = mappings, starts: Ints = starts) -> Sequence[Any]:
            return _ids_at(mappings, starts, at)

        sides.append(Unordered(starts, scores, ids_at))
    one, other = sides
    rows = np.full(other.scores.size, -1, np.int64)
    missing = itertools.repeat(-1)
    done = _find_in_order(one, other, rankings[0], rankings[1], rows)
    for q in np.flatnonzero(~done).tolist():
        ranking, other_ranking, start = rankings[0][q], rankings[1][q], int(one.starts[q])
        places = dict(zip(ranking, range(start, start + len(ranking)), strict=True))
        own = map(places.get, other_ranking, missing)
        rows[other.starts[q] : other.starts[q + 1]] = np.fromiter(own, np.int64, len(other_ranking))
    _check_kinds(one, other, rows, queries)
    return one, other, rows


def _find_in_order(
    one: Unordered, other: Unordered, first: Sequence[Any], second: Sequence[Any], rows: Ints
) -> Bools:
    """Write positions in those rankings of the first run that are in order, without ties.

    In these as many documents as score higher stand before one. Tells of which queries it did.
    """
    rising = within_rows(one.starts, one.scores[1:] >= one.scores[:-1])
    done: Bools = np.ones(len(first), bool)
    done[row_index_of(one.starts)[1:][rising]] = False
    picks = np.flatnonzero(done)
    parts = [[rankings[pick] for pick in picks.tolist()] for rankings in (first, second)]
    starts = [offsets_of(np.diff(side.starts)[picks]) for side in (one, other)]
    standings = find_in_rankings(parts[0], starts[0], parts[1], starts[1], "float64")
    if standings is None:
        return np.zeros(len(first), bool)
    places = joined_ranges(other.starts[picks], np.diff(starts[1]))
    shift = np.repeat(one.starts[picks], np.diff(starts[1]))
    rows[places] = np.where(np.isnan(standings.scores), -1, shift + standings.above)
    return done


def _ids_at(rankings: Sequence[Mapping[Any, Any]], starts: Ints, at: Ints) -> list[Any]:
    """Return the ids at some positions, ascending by ranking, of mappings one after the other."""
    rows = np.searchsorted(starts, at, side="right") - 1
    ids: list[Any] = []
    firsts = np.flatnonzero(np.diff(rows, prepend=-1))
    for row, places in zip(rows[firsts].tolist(), np.split(at, firsts[1:]), strict=True):
        ids += map(list(rankings[row]).__getitem__, (places - starts[row]).tolist())
    return ids


def _check_kinds(one: Unordered, other: Unordered, places: Ints, queries: Sequence[Any]) -> None:
    """Reject text beside numbers: no document would be found in both."""
    common = np.bincount(row_index_of(other.starts)[places >= 0], minlength=len(queries))
    both = (np.diff(one.starts) > 0) & (np.diff(other.starts) > 0)
    for q in np.flatnonzero(both & (common == 0)).tolist():
        first, second = (side.ids_at(side.starts[q : q + 1]) for side in (one, other))
        check_kinds(first, second, queries[q])


def check_kinds(first: Sequence[Any], second: Sequence[Any], query: object = None) -> None:
    """Reject text beside numbers: no document would be found in both."""
    if kinds_of(first) != kinds_of(second) and first and second:
        sides = f"document ids are {first[0]!r} on one side and {second[0]!r} on the other"
        raise InputError(f"{sides}: one is text, the other a number", query=query)


def _in_order(
    one: Unordered, other: Unordered, places: Ints, depth: int | None, *, tied: bool
) -> tuple[tuple[Side, Side], tuple[Floats, Floats]]:
    """Order both, cut them, and pair their documents."""
    by_id = not tied or depth is not None
    (starts, own), (other_starts, order) = (_cut(side, depth, by_id=by_id) for side in (one, other))
    ranks = np.full(one.scores.size, -1, np.int64)
    ranks[own] = np.arange(own.size) - np.repeat(starts[:-1], np.diff(starts))
    partners = np.where(places >= 0, ranks[places], -1)[order] if ranks.size else places[order]
    if not tied:
        second = Side(other_starts, partners, NO_RANKS, NO_RANKS)
        return (Side(starts, NO_RANKS, NO_RANKS, NO_RANKS), second), (NO_SCORES, NO_SCORES)
    rows = row_index_of(other_starts)
    common = np.flatnonzero(partners >= 0)
    back = np.full(own.size, -1, np.int64)
    back[starts[rows[common]] + partners[common]] = common - other_starts[rows[common]]
    scores = one.scores[own], other.scores[order]
    sides = _side(starts, scores[0], back), _side(other_starts, scores[1], partners)
    return sides, scores


def _cut(rankings: Unordered, depth: int | None, *, by_id: bool) -> tuple[Ints, Ints]:
    """Return where rankings begin once they are cut, and the positions of documents in order."""
    starts, scores = rankings.starts, rankings.scores
    if by_id:
        is_ordered = rankings.is_ordered
        order = order_documents(
            scores, starts, lambda at: id_texts(rankings.ids_at(at)), is_ordered=is_ordered
        )
    else:
        order = np.arange(scores.size) if rankings.is_ordered else order_rows(scores, starts)
    if depth is None:
        return starts, order
    kept = np.minimum(np.diff(starts), depth)
    return offsets_of(kept), order[joined_ranges(starts[:-1], kept)]


def _side(starts: Ints, scores: Floats, partners: Ints) -> Side:
    """Return one side of pairs, with groups of documents of one score."""
    new = np.ones(scores.size + 1, bool)
    new[1:-1] = ~within_rows(starts, scores[1:] == scores[:-1])
    begins = np.flatnonzero(new)
    sizes = np.diff(begins)
    shift = starts[row_index_of(starts)]
    tops = np.repeat(begins[:-1], sizes) - shift
    return Side(starts, partners, tops, np.repeat(begins[1:] - 1, sizes) - shift)
